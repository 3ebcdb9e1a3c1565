//! A broker that serves a socket: real commands within, and a real client at the socket.
#![expect(clippy::disallowed_methods, reason = "serves requests, runs programs and ends them")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::support::STOCKADE;

const REAL: &str = "ghp_REALrealREALrealREALrealREALreal0002";

/// Answers every request with `hello` and the value of its `Authorization`.
fn host() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let (mut said, mut room) = (Vec::new(), [0; 4096]);
                while !said.windows(4).any(|end| end == b"\r\n\r\n") {
                    match client.read(&mut room) {
                        Ok(read) if read > 0 => said.extend_from_slice(&room[..read]),
                        _ => return,
                    }
                }
                let said = String::from_utf8_lossy(&said).to_ascii_lowercase();
                if said.starts_with("get /slow ") {
                    std::thread::sleep(Duration::from_millis(50));
                }
                let has = if said.contains(&REAL.to_ascii_lowercase()) { "real" } else { "none" };
                let asks = if said.contains("proxy-authorization") { "leaked" } else { "hello" };
                let text = format!("{asks} {has}\n");
                let head =
                    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", text.len());
                client.write_all(format!("{head}{text}").as_bytes()).ok();
            });
        }
    });
    port
}

/// A broker at work, in a folder of its own.
struct Served {
    child: Child,
    folder: tempfile::TempDir,
    port: u16,
}

impl Served {
    fn start(more: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        let port = host();
        let child = serve(folder.path(), port, more);
        let served = Self { child, folder, port };
        let began = Instant::now();
        while !served.asked(&["status"]).status.success() {
            assert!(began.elapsed() < Duration::from_secs(30), "no egress proxy serves");
            std::thread::sleep(Duration::from_millis(50));
        }
        served
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("b.sock")
    }

    /// What `stockade broker` says.
    fn asked(&self, words: &[&str]) -> Output {
        let mut command = stockade(self.folder.path());
        command.arg("broker").args(words).arg("--socket").arg(self.socket()).output().unwrap()
    }

    fn exec(&self, more: &[&str], script: &str) -> Output {
        let mut command = stockade(self.folder.path());
        command.args(["exec", "--network", "broker", "--broker"]).arg(self.socket()).args(more);
        command.args(["--", "sh", "-c", script]).env("PORT", self.port.to_string());
        command.current_dir(self.folder.path().join("work")).output().unwrap()
    }

    /// What a client at the socket is told: the first line and the body.
    fn client(&self, token: Option<&str>, first: &str) -> (String, String) {
        let mut client = UnixStream::connect(self.socket()).unwrap();
        let token = token.map(|token| format!("Proxy-Authorization: Bearer {token}\r\n")).unwrap_or_default();
        let host = format!("Host: localhost:{}", self.port);
        client.write_all(format!("{first}\r\n{host}\r\n{token}\r\n").as_bytes()).unwrap();
        let mut said = String::new();
        client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        client.read_to_string(&mut said).ok();
        let (head, body) = said.split_once("\r\n\r\n").unwrap_or((&said, ""));
        (head.lines().next().unwrap_or_default().to_owned(), body.to_owned())
    }

    fn token(&self, more: &[&str]) -> String {
        let told = self.asked(&[&["token"], more].concat());
        assert!(told.status.success(), "{}", text(&told.stderr));
        text(&told.stdout).trim().to_owned()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn stockade(folder: &Path) -> Command {
    let mut command = Command::new(STOCKADE);
    command.env("XDG_STATE_HOME", folder.join("state")).env("TOK", "").stdin(Stdio::null());
    command
}

fn serve(folder: &Path, port: u16, more: &[&str]) -> Child {
    let mut command = stockade(folder);
    command.args(["broker", "serve", "--socket"]).arg(folder.join("b.sock"));
    command.arg("--allow-host").arg(format!("localhost:{port}")).args(more).env("TOK", REAL);
    command.stderr(Stdio::null()).spawn().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_proxy_treats_commands_and_other_clients_alike() {
    let served = Served::start(&[]);
    let (port, other) = (served.port, served.port ^ 1);
    let ran = served.exec(
        &["--env", "PORT", "--audit"],
        "curl -sS http://localhost:$PORT/; printf '%s\\n' \"$STOCKADE_BROKER_SOCKET\" $STOCKADE_BROKER_TOKEN",
    );
    let said = text(&ran.stdout);
    assert!(said.starts_with("hello none\n"), "{said}{}", text(&ran.stderr));
    let mut lines = said.lines().skip(1);
    assert_eq!(lines.next().map(PathBuf::from), Some(served.socket().canonicalize().unwrap()));
    let ended = lines.next().unwrap().to_owned();

    let token = served.token(&[]);
    assert_ne!(token, ended);
    let asked = |token: Option<&str>, first: &str| served.client(token, first);
    // As a proxy is asked, and as a host is.
    for url in [format!("http://localhost:{port}/"), "/".to_owned()] {
        let (first, body) = asked(Some(&token), &format!("GET {url} HTTP/1.1"));
        assert_eq!((first.as_str(), body.as_str()), ("HTTP/1.1 200 OK", "hello none\n"), "{url}");
    }
    let tunnel = format!("CONNECT localhost:{port} HTTP/1.1");
    // The token of a run that is over is worth as much as none.
    for wrong in [None, Some("x"), Some(""), Some(&*ended), token.get(..31)] {
        for first in [tunnel.as_str(), "GET / HTTP/1.1"] {
            let (first, body) = asked(wrong, first);
            assert_eq!(first, "HTTP/1.1 403 Refused by stockade (no-token)", "{wrong:?}");
            assert!(body.contains("stockade broker token"), "{body}");
        }
    }
    let refused = format!("GET http://localhost:{other}/ HTTP/1.1\r\nX: y");
    let (_, body) = asked(Some(&token), &refused);
    assert!(body.contains("other-host") || body.contains("not-listed"), "{body}");

    let status = text(&served.asked(&["status", "--json"]).stdout);
    let status: serde_json::Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["hosts"][0], format!("localhost:{port}"));
    assert_eq!((status["allRuns"].as_u64(), status["withoutToken"].as_u64()), (Some(2), Some(10)));
    assert_eq!(status["runs"].as_array().unwrap().len(), 1);
    assert!(!status.to_string().contains(&token), "a token is told of");
    let trail = Command::new(STOCKADE)
        .args(["audit", "export"])
        .env("XDG_STATE_HOME", served.folder.path().join("state"))
        .output()
        .unwrap();
    let trail = text(&trail.stdout);
    assert!(trail.contains("no-token") && trail.contains("startedBy") && !trail.contains(&token), "{trail}");
}

#[test]
fn runs_and_tokens_can_use_secrets() {
    let probe = Served::start(&[]);
    drop(probe);
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("work")).unwrap();
    let port = host();
    let secret = format!("GH=env:TOK@localhost:{port}");
    let child = serve(folder.path(), port, &["--secret", &secret]);
    let served = Served { child, folder, port };
    let began = Instant::now();
    while !served.asked(&["status"]).status.success() {
        assert!(began.elapsed() < Duration::from_secs(30), "no egress proxy serves");
        std::thread::sleep(Duration::from_millis(50));
    }
    let ran = served.exec(
        &["--env", "PORT"],
        "echo $GH; curl -sS -H \"Authorization: Bearer $GH\" http://localhost:$PORT/",
    );
    let said = text(&ran.stdout);
    assert!(said.ends_with("hello real\n") && !said.contains(REAL), "{said}{}", text(&ran.stderr));
    // What a command is given must not hold the secret.
    let given = served.exec(&["--env", &format!("X={REAL}")], "true");
    assert_eq!(given.status.code(), Some(125), "{}", text(&given.stderr));
    assert!(text(&given.stderr).contains("`GH` is visible to the command"), "{}", text(&given.stderr));

    let told = text(&served.asked(&["token", "--json"]).stdout);
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    let (token, placeholder) = (told["token"].as_str().unwrap(), told["variables"]["GH"].as_str().unwrap());
    let with = |value: &str| format!("GET / HTTP/1.1\r\nAuthorization: Bearer {value}");
    assert_eq!(served.client(Some(token), &with(placeholder)).1, "hello real\n");
    // The placeholder of one run is of no use to another.
    let other = served.token(&[]);
    assert!(served.client(Some(&other), &with(placeholder)).1.contains("other-credential"));
    let status = text(&served.asked(&["status"]).stdout);
    assert!(
        status.contains("GH for localhost") && !status.contains(REAL) && !status.contains(placeholder),
        "{status}"
    );
}

#[test]
fn one_token_is_revoked_and_the_others_stay() {
    let served = Served::start(&[]);
    let issued = |_| {
        let told = served.asked(&["token", "--format", "json"]).stdout;
        let told: serde_json::Value = serde_json::from_slice(&told).unwrap();
        ["name", "token"].map(|member| told[member].as_str().unwrap().to_owned())
    };
    let [[first, one], [second, other]] = [0, 1].map(issued);
    let status = text(&served.asked(&["status"]).stdout);
    assert!(status.contains(&first) && status.contains(&second) && !status.contains(&one), "{status}");
    let answer = |token: &str| served.client(Some(token), "GET / HTTP/1.1");
    assert_eq!(answer(&one).1, "hello none\n");
    let revoked = served.asked(&["revoke", &first]);
    assert_eq!(text(&revoked.stdout), format!("revoked {first}\n"));
    assert!(answer(&one).0.contains("no-token"));
    assert_eq!(answer(&other).1, "hello none\n");
    let again = served.asked(&["revoke", &first]);
    assert!(
        !again.status.success() && text(&again.stderr).contains("broker status"),
        "{}",
        text(&again.stderr)
    );
}

#[test]
fn tokens_and_the_proxy_expire() {
    let mut served = Served::start(&[]);
    let token = served.token(&["--for", "2s"]);
    assert_eq!(served.client(Some(&token), "GET / HTTP/1.1").1, "hello none\n");
    std::thread::sleep(Duration::from_millis(3_500));
    assert!(served.client(Some(&token), "GET / HTTP/1.1").0.contains("no-token"));
    for wrong in ["0s", "25h"] {
        let told = served.asked(&["token", "--for", wrong]);
        assert!(!told.status.success(), "{wrong}");
    }

    // There is one broker at a socket.
    let second = serve(served.folder.path(), served.port, &[]).wait_with_output().unwrap();
    assert_eq!(second.status.code(), Some(2));
    assert!(served.asked(&["status"]).status.success());

    // A signal ends it in order, and nothing of it is left.
    let pid = rustix::process::Pid::from_child(&served.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(served.child.wait().unwrap().code(), Some(0));
    let left: Vec<_> =
        fs::read_dir(served.folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with("b.sock")), "{left:?}");
    assert_eq!(served.asked(&["status"]).status.code(), Some(1));
}

#[test]
fn a_killed_proxy_leaves_no_connection_open() {
    let mut served = Served::start(&[]);
    let script = "curl -sS http://localhost:$PORT/; touch began; while [ ! -e killed ]; do sleep 0.1; done; \
                  curl -sS --max-time 20 http://localhost:$PORT/; echo $?";
    let work = served.folder.path().join("work");
    let ran = std::thread::scope(|scope| {
        let ran = scope.spawn(|| served.exec(&["--env", "PORT", "--format", "json"], script));
        let began = Instant::now();
        while !work.join("began").exists() {
            assert!(began.elapsed() < Duration::from_secs(60), "it does not begin");
            std::thread::sleep(Duration::from_millis(50));
        }
        let pid = rustix::process::Pid::from_child(&served.child);
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        std::thread::sleep(Duration::from_millis(500));
        fs::write(work.join("killed"), "").unwrap();
        ran.join().unwrap()
    });
    let told: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    let said = told["stdout"]["text"].as_str().unwrap();
    assert!(said.starts_with("hello none\n") && said.matches("hello").count() == 1, "{told}");
    assert!(!said.ends_with("\n0\n"), "{told}");
    assert!(told["brokerLost"].as_str().unwrap().contains("ended while the command ran"), "{told}");

    // What it left is recognised: nothing runs by it, and another takes its place.
    served.child.wait().unwrap();
    let without = served.exec(&[], "true");
    assert_eq!(without.status.code(), Some(125));
    assert!(text(&without.stderr).contains("stockade broker serve --socket"), "{}", text(&without.stderr));
    served.child = serve(served.folder.path(), served.port, &[]);
    let began = Instant::now();
    while !served.asked(&["status"]).status.success() {
        assert!(began.elapsed() < Duration::from_secs(30), "no egress proxy serves");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(served.exec(&[], "true").status.success());
}

#[test]
fn silent_clients_do_not_block_others() {
    let served = Served::start(&[]);
    let token = served.token(&[]);
    let silent: Vec<_> = (0..300).map(|_| UnixStream::connect(served.socket()).ok()).collect();
    let began = Instant::now();
    assert_eq!(served.client(Some(&token), "GET / HTTP/1.1").1, "hello none\n");
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    drop(silent);
}

#[test]
fn a_sandbox_cannot_start_runs_at_the_proxy() {
    let served = Served::start(&[]);
    let ran = served.exec(&[], "ls -A \"$(dirname \"$STOCKADE_BROKER_SOCKET\")\"");
    assert!(!text(&ran.stdout).contains("control"), "{}", text(&ran.stdout));
    // Where it would see what begins runs, it does not run.
    let folder = served.folder.path().join("seen");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    let mut other = stockade(served.folder.path());
    other.args(["broker", "serve", "--allow-host", "a.example", "--socket"]).arg(folder.join("b.sock"));
    let mut other = other.stderr(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    while !folder.join("b.sock").exists() && began.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(50));
    }
    let mut seen = stockade(served.folder.path());
    seen.args(["exec", "--network", "broker", "--broker"]).arg(folder.join("b.sock"));
    let seen = seen.args(["--", "true"]).current_dir(&folder).output().unwrap();
    other.kill().ok();
    other.wait().ok();
    assert_eq!(seen.status.code(), Some(125), "{}", text(&seen.stderr));
    assert!(text(&seen.stderr).contains("visible to the command"), "{}", text(&seen.stderr));
}

#[test]
fn invalid_combinations_are_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let open = folder.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    for (socket, more, says) in [
        (path("open/b.sock"), vec!["--allow-host", "a.example"], "mkdir -m 700"),
        (path("file"), vec!["--allow-host", "a.example"], "not a socket of this user"),
        (path("none/b.sock"), vec!["--allow-host", "a.example"], "cannot use the directory"),
        (path("b.sock"), vec!["--allow-host", "https://a.example"], "--allow-host"),
        (path("b.sock"), vec!["--allow-host", "a.example:0"], "--allow-host"),
        (path("b.sock"), vec![], "--allow-host"),
        (
            path("b.sock"),
            vec!["--allow-host", "a.example", "--secret", "X=env:NOT_SET_ANYWHERE@a.example"],
            "`X`",
        ),
        (path("b.sock"), vec!["--allow-host", "a.example", "--secret", "X=env:TOK@b.example"], "b.example"),
    ] {
        let mut command = stockade(folder.path());
        command.args(["broker", "serve", "--socket", &socket]).args(&more);
        let told = command.output().unwrap();
        assert_eq!(told.status.code(), Some(2), "{more:?}: {}", text(&told.stderr));
        assert!(text(&told.stderr).contains(says), "{more:?}: {}", text(&told.stderr));
        assert!(!Path::new(&socket).exists() || socket.ends_with("file"), "{socket}");
    }
}

/// More clients of a run than it may have open at a time wait, and each is served.
#[test]
fn a_burst_of_one_run_waits_and_is_served() {
    let served = Served::start(&["--max-connections", "2"]);
    let token = served.token(&[]);
    std::thread::scope(|scope| {
        // Longer than any of them was once let wait, and more than may wait that have not said whose they are.
        let ask = || scope.spawn(|| served.client(Some(&token), "GET /slow HTTP/1.1"));
        let burst: Vec<_> = (0..150).map(|_| ask()).collect();
        for one in burst {
            let (first, body) = one.join().unwrap();
            assert_eq!(body, "hello none\n", "{first}");
        }
    });
}

/// Requests have the bound that was set, which the refusal names.
#[test]
fn requests_are_limited_on_request() {
    let served = Served::start(&["--max-requests", "2"]);
    let token = served.token(&[]);
    for _ in 0..2 {
        assert_eq!(served.client(Some(&token), "GET / HTTP/1.1").1, "hello none\n");
    }
    let (first, body) = served.client(Some(&token), "GET / HTTP/1.1");
    assert!(first.contains("429") && body.contains("--max-requests"), "{first} {body}");
}
