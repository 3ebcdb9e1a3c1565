//! Secrets that a command uses and never sees: a real client within, and a server that keeps what it was sent.
#![expect(clippy::disallowed_methods, reason = "serves requests, writes secrets and runs programs")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

use super::support::STOCKADE;

const REAL: &str = "ghp_REALrealREALrealREALrealREALreal0001";

/// A server that keeps every request, and answers with what it was sent.
pub(super) struct Echo {
    pub(super) port: u16,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Echo {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, heard) = (listener.local_addr().unwrap().port(), Arc::<Mutex<Vec<String>>>::default());
        let keep = Arc::clone(&heard);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let keep = Arc::clone(&keep);
                std::thread::spawn(move || drop(answer(client, &keep)));
            }
        });
        Self { port, heard }
    }

    /// What it was sent since it was last asked.
    pub(super) fn heard(&self) -> String {
        std::mem::take(&mut *self.heard.lock().unwrap()).concat()
    }
}

fn answer(mut client: TcpStream, heard: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let (mut request, mut room) = (Vec::new(), [0; 4096]);
    let length = loop {
        let read = client.read(&mut room)?;
        // What is refused is connected to and not asked.
        if read == 0 {
            return Ok(());
        }
        request.extend_from_slice(&room[..read]);
        let text = String::from_utf8_lossy(&request).to_ascii_lowercase();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
        if body.len() >= length.trim().parse().unwrap_or(0) {
            break body.len();
        }
    };
    let text = String::from_utf8_lossy(&request).into_owned();
    heard.lock().unwrap().push(text.clone());
    // In two pieces, so that what is echoed is cut somewhere.
    let echoed = format!("you said: {text}");
    let head = format!(
        "HTTP/1.1 200 {REAL}\r\nContent-Length: {}\r\nX-Echo: {REAL}\r\nSet-Cookie: a=b\r\nConnection: close\r\n\r\n",
        echoed.len()
    );
    client.write_all(head.as_bytes())?;
    let (first, second) =
        echoed.as_bytes().split_at(echoed.find("ghp_").map_or(length, |at| at + 7).min(echoed.len()));
    client.write_all(first)?;
    client.flush()?;
    std::thread::sleep(std::time::Duration::from_millis(50));
    client.write_all(second)
}

/// Runs a script within, with a secret for the server.
fn run(echo: &Echo, folder: &Path, more: &[&str], script: &str) -> Output {
    let file = folder.join("token");
    fs::write(&file, format!("{REAL}\n")).unwrap();
    fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
    let work = folder.join("work");
    fs::create_dir_all(&work).unwrap();
    let to = format!("127.0.0.1:{}", echo.port);
    let secret = format!("TOKEN=file:{}@{to}/v1/**", file.display());
    Command::new(STOCKADE)
        .args(["exec", "--no-rules", "-w", work.to_str().unwrap(), "--allow-host", &to])
        .args(if more.contains(&"--secret") { Vec::new() } else { vec!["--secret", &secret] })
        .args(more)
        .args(["--", "sh", "-c", &script.replace("{to}", &to)])
        .env("HOME", folder)
        .current_dir(&work)
        .output()
        .unwrap()
}

pub(super) fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn a_server_gets_the_secret_and_the_command_does_not() {
    if !Path::new("/usr/bin/curl").is_file() {
        println!("skipped: there is no curl");
        return;
    }
    let (echo, folder) = (Echo::start(), tempfile::tempdir().unwrap());
    let trail = format!("--audit={}", folder.path().join("trail.jsonl").display());
    let output = run(
        &echo,
        folder.path(),
        &[&trail],
        "echo \"it is $TOKEN\"; curl -siS -H \"Authorization: Bearer $TOKEN\" http://{to}/v1/x; cat /proc/*/environ /proc/*/cmdline 2>/dev/null",
    );
    let (said, heard) = (text(&output), echo.heard());
    assert!(heard.contains(&format!("Bearer {REAL}\r\n")), "{said}\n{heard}");
    assert!(said.contains("it is ghp_") && said.contains("you said: GET /v1/x"), "{said}");
    assert!(!said.contains(REAL) && !said.contains("REALreal"), "{said}");
    assert!(!said.to_ascii_lowercase().contains("set-cookie"), "{said}");
    assert!(said.matches("ghp_").count() >= 3, "the placeholder stands where the secret stood: {said}");
    let recorded = fs::read_to_string(folder.path().join("trail.jsonl")).unwrap();
    let rows: Vec<&str> = recorded.lines().filter(|row| row.contains("\"network_")).collect();
    let request = "\"method\":\"GET\"";
    assert!(
        rows.len() == 2 && rows.iter().all(|row| row.contains(request) && row.contains("[\"TOKEN\"]")),
        "{rows:?}"
    );
    assert!(rows[1].contains("\"status\":200") && rows[1].contains("\"urlPath\":\"/v1/x\""), "{rows:?}");

    // The same by the user and password of an address.
    let output = run(&echo, folder.path(), &[], "curl -sS http://me:$TOKEN@{to}/v1/x");
    let expected = {
        use base64::Engine as _;
        base64::engine::general_purpose::STANDARD.encode(format!("me:{REAL}"))
    };
    let heard = echo.heard();
    assert!(heard.contains(&format!("Basic {expected}")), "{}\n{heard}", text(&output));
    assert!(!text(&output).contains(&expected), "{}", text(&output));
}

#[test]
fn other_uses_of_a_placeholder_are_refused_and_recorded() {
    if !Path::new("/usr/bin/curl").is_file() {
        println!("skipped: there is no curl");
        return;
    }
    let (echo, folder) = (Echo::start(), tempfile::tempdir().unwrap());
    let trail = format!("--audit={}", folder.path().join("trail.jsonl").display());
    for (rule, script) in [
        ("secret-elsewhere", "curl -sS -H \"Authorization: Bearer $TOKEN\" http://{to}/v2/x"),
        ("secret-elsewhere", "curl -sS -H \"X-Note: $TOKEN\" http://{to}/v1/x"),
        ("secret-elsewhere", "curl -sS http://{to}/v1/$TOKEN"),
        ("secret-elsewhere", "curl -sS \"http://{to}/v1/x?q=$TOKEN\""),
        ("secret-elsewhere", "curl -sS --data \"$TOKEN\" http://{to}/v1/x"),
        ("secret-elsewhere", "echo $TOKEN | base64 | curl -sS --data-binary @- http://{to}/v1/x"),
        ("secret-elsewhere", "curl -sS --data $(echo $TOKEN | tr a-z A-Z) http://{to}/v1/x"),
        ("other-credential", "curl -sS -H 'X-Api-Key: mine' http://{to}/v1/x"),
        ("other-credential", "curl -sS -b a=b http://{to}/x"),
        ("other-credential", "curl -sS -u me:mine http://{to}/v1/x"),
    ] {
        let output = run(&echo, folder.path(), &[&trail], script);
        let (said, heard) = (text(&output), echo.heard());
        assert!(said.contains(rule), "{script}: {said}");
        assert!(!heard.contains(REAL) && !heard.contains("mine"), "{script}: {heard}");
    }
    let recorded = fs::read_to_string(folder.path().join("trail.jsonl")).unwrap();
    assert!(
        recorded.contains("attempted exfiltration") && recorded.contains("other-credential"),
        "{recorded}"
    );
    assert!(!recorded.contains(REAL), "a secret is on record");
}

#[test]
fn a_secret_that_cannot_be_protected_is_refused_before_the_command() {
    let (echo, folder) = (Echo::start(), tempfile::tempdir().unwrap());
    let missing = format!("T=env:NO_SUCH@127.0.0.1:{}", echo.port);
    for (more, why) in [
        (&["--env", &format!("OTHER={REAL}")][..], "is given to the command in the variable `OTHER`"),
        (&["--env", "TOKEN=x"], "and the variable `TOKEN` as well"),
        (&["--secret", "T=env:NO_SUCH@127.0.0.1:1"], "not in the host list"),
        (&["--dry-run", "--secret", &missing], "which is not set"),
        (&["--secret", "T=env:NO_SUCH@http://a"], "a scheme before its host"),
        (&["--secret", "T=nothing"], "has no host"),
    ] {
        let output = run(&echo, folder.path(), more, "echo RAN");
        let said = text(&output);
        assert!(said.contains(why) && !said.contains("RAN") && !said.contains(REAL), "{more:?}: {said}");
        assert_eq!(output.status.code(), Some(125), "{said}");
    }
    assert_eq!(echo.heard(), "");
}
