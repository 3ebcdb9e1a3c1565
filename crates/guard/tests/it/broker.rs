//! Commands that are held to single hosts, with the programs that people use: nothing leads around the list, and every
//! connection is on record.
#![expect(clippy::disallowed_methods, reason = "serves files, and lays out what is served")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use stockade_guard::admission::SkillSource;
use stockade_guard::audit::{AuditOptions, AuditQuery, AuditTrail};
use stockade_guard::config::{Config, ConfigSources};
use stockade_guard::exec::End;
use stockade_guard::exec::run::Streams;
use stockade_guard::limits::store::MemoryStore;
use stockade_guard::policy::ToolCatalog;
use stockade_guard::scanner::Scanner;
use stockade_guard::{Guard, GuardOptions, RunAnswer, SessionOptions};

struct Site {
    folder: tempfile::TempDir,
    trail: AuditTrail,
}

/// What a command printed, and which hosts it was not let through to.
struct Run {
    end: End,
    printed: String,
    refused: Vec<String>,
}

impl Site {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["work", "served"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("served/hello"), "hello from outside\n").unwrap();
        let trail = AuditTrail::open(&folder.path().join("audit.jsonl"), AuditOptions::default()).unwrap();
        Self { folder, trail }
    }

    /// Runs a script; nothing where this machine cannot create a sandbox, which is said.
    fn run(&self, hosts: &[String], script: &str) -> Option<Run> {
        let work = self.folder.path().join("work");
        fs::write(work.join("Makefile"), "check:\n\t@bash script.sh\n").unwrap();
        fs::write(work.join("script.sh"), format!("unset NO_PROXY no_proxy\n{script}\n")).unwrap();
        let flags = [
            ("security.permission.enableNodePermissions", "true".to_owned()),
            ("security.permission.allowedNetHosts", format!("{hosts:?}")),
        ];
        let flags = flags.map(|(key, value)| (key.to_owned(), value)).to_vec();
        let config = Config::load(&ConfigSources { flags, ..ConfigSources::default() }).unwrap();
        let options = GuardOptions {
            agent: "bot".into(),
            workspace: work,
            catalog: ToolCatalog::default(),
            rules: Vec::new(),
        };
        let limits = Box::new(MemoryStore::new(|| Duration::ZERO));
        let mut session = Guard::open(&config, options)
            .unwrap()
            .session(SessionOptions { limits, trail: self.trail.clone() });
        let text = "---\nname: builder\ndescription: Builds.\n---\nBuild it.\n";
        let skill = SkillSource::Text { name: "SKILL.md", text };
        session.activate(&session.admit(&skill, Scanner::builtin()).unwrap().loaded().unwrap());
        match session.run("make check", Streams::default()).unwrap() {
            RunAnswer::Ran(ran) => {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                let output = &ran.report.outcome.output;
                let refused = ran.report.hosts_refused.iter().map(|refused| refused.subject.clone());
                Some(Run {
                    end: ran.report.outcome.end,
                    printed: text(&output.stdout) + &text(&output.stderr),
                    refused: refused.collect(),
                })
            }
            RunAnswer::Refused(decision) => {
                println!("skipped: no sandbox on this machine: {}", decision.reason);
                None
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Serves the files below a directory, one request a connection. Returns its address.
fn serve(folder: PathBuf) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            answer(client.unwrap(), &folder);
        }
    });
    address
}

fn answer(mut client: TcpStream, folder: &Path) {
    let mut bytes = Vec::new();
    let mut room = [0; 1024];
    while !bytes.ends_with(b"\r\n\r\n") {
        match client.read(&mut room) {
            Ok(read @ 1..) => bytes.extend_from_slice(&room[..read]),
            _ => return,
        }
    }
    let head = String::from_utf8_lossy(&bytes).into_owned();
    let path = head.split([' ', '?']).nth(1).unwrap_or("/").trim_start_matches('/');
    let (status, body) = match fs::read(folder.join(path)) {
        Ok(body) => ("200 OK", body),
        Err(_) => ("404 Not Found", Vec::new()),
    };
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    client.write_all(head.as_bytes()).and_then(|()| client.write_all(&body)).ok();
}

/// A program that is ended with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// What was printed, with each refusal in a few words.
fn told(printed: &str) -> String {
    let lines = printed.lines().map(|line| {
        let Ok(refused) = serde_json::from_str::<serde_json::Value>(line) else { return format!("{line}\n") };
        let member = |name: &str| refused[name].as_str().unwrap_or_default();
        assert!(
            member("why").ends_with(&format!("/v1/why/{}", member("id"))) && !member("id").is_empty(),
            "{line}"
        );
        let entry = refused["entry"].as_str().map(|entry| format!(" -> {entry}")).unwrap_or_default();
        let (effect, subject, rule, reason) =
            (member("effect"), member("subject"), member("rule"), member("reason"));
        format!("{effect} {subject} ({rule}): {reason}{entry}\n")
    });
    lines.collect()
}

#[test]
fn programs_reach_what_is_listed_and_nothing_else() {
    let site = Site::new();
    let served = serve(site.folder.path().join("served"));
    let other = serve(site.folder.path().join("served"));
    let script = format!(
        "curl -s http://{served}/hello
         curl -s -p http://{served}/hello
         python3 -c 'import urllib.request as u; print(u.urlopen(\"http://{served}/hello\").read())'
         python3 -c 'import urllib.request as u; u.urlopen(\"https://evil.test/\")' 2>&1 | tail -n 1
         curl -s http://{other}/hello
         exec 3<>/dev/tcp/127.0.0.1/3128
         printf 'GET http://2130706433:{port}/hello HTTP/1.1\\r\\n\\r\\n' >&3
         tail -n 1 <&3
         curl -s -H 'Host: evil.test' http://{served}/hello
         curl -sS https://evil.test/ 2>&1
         curl -s http://169.254.169.254/latest/meta-data/
         curl -sS --noproxy '*' http://{served}/hello
         curl -sS --noproxy '*' http://{other}/hello 2>&1 | cut -c -30",
        port = served.port()
    );
    let Some(run) = site.run(&[served.to_string()], &script) else { return };
    let expected = format!(
        "hello from outside
hello from outside
b'hello from outside\\n'
urllib.error.URLError: <urlopen error Tunnel connection failed: 403 Refused by stockade (not-listed)>
deny {other} (not-listed): the list has it with another port; it is this machine itself -> {other}
deny the request (disguised-address): `2130706433:{port}` names no host: it is an unusual notation of the address \
127.0.0.1, which programs parse differently
deny the request (other-host): its URL is for `{served}`, and its `Host` is `evil.test`
curl: (56) CONNECT tunnel failed, response 403
deny 169.254.169.254:80 (metadata): no host list allows it; it is a cloud metadata service, which returns credentials
hello from outside
curl: (7) Failed to connect to
",
        port = served.port()
    );
    assert_eq!(told(&run.printed), expected);
    assert_eq!(run.end, End::Exited(0));
    let other = other.to_string();
    let refused =
        ["evil.test:443", &other, "the request", "the request", "evil.test:443", "169.254.169.254:80"];
    assert_eq!(run.refused, refused);

    let records = site.trail.query(&AuditQuery { limit: 100, ..AuditQuery::default() }).unwrap();
    let kinds: Vec<&str> = records.iter().rev().map(|record| record.event.as_str()).collect();
    let allowed = kinds.iter().filter(|kind| **kind == "network_allowed").count();
    let denied = kinds.iter().filter(|kind| **kind == "network_denied").count();
    assert_eq!((allowed, denied), (4, 6), "{kinds:?}");
    let of_run = kinds.iter().filter(|kind| kind.starts_with("sandbox_")).collect::<Vec<_>>();
    assert_eq!(
        (of_run, kinds.last()),
        (vec![&"sandbox_started", &"sandbox_completed"], Some(&"sandbox_completed"))
    );
    let connections = records.iter().filter(|record| record.event.as_str().starts_with("network_"));
    assert!(connections.map(|record| record.skill.as_deref()).all(|skill| skill == Some("builder")));
    assert!(format!("{:?}", records[0]).contains("hosts_refused"), "{:?}", records[0]);
}

#[test]
fn git_clones_through_it() {
    let site = Site::new();
    let at = |folder: &str| site.folder.path().join(folder);
    let git = |folder: &str, arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=u", "-c", "user.email=u@example.com"]).args(arguments);
        assert!(git.current_dir(at(folder)).stdout(Stdio::null()).status().unwrap().success());
    };
    fs::create_dir(at("origin")).unwrap();
    fs::write(at("origin/file"), "in the repository\n").unwrap();
    git("origin", &["init", "-q"]);
    git("origin", &["add", "file"]);
    git("origin", &["commit", "-qm", "first"]);
    git("served", &["clone", "-q", "--bare", "../origin", "repo.git"]);
    git("served/repo.git", &["update-server-info"]);
    let served = serve(at("served"));
    let script = format!("git clone -q http://{served}/repo.git && cat repo/file");
    let Some(run) = site.run(&[served.to_string()], &script) else { return };
    assert_eq!((run.printed.as_str(), run.end), ("in the repository\n", End::Exited(0)));
}

#[test]
fn tls_goes_through_a_tunnel() {
    let site = Site::new();
    let request =
        "req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -keyout key.pem -out cert.pem -days 2";
    let made = Command::new("openssl").args(request.split(' ')).current_dir(site.folder.path()).output();
    if !made.is_ok_and(|made| made.status.success()) {
        println!("skipped: no openssl");
        return;
    }
    // A port that was free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut server = Command::new("openssl");
    server.args(["s_server", "-www", "-quiet", "-cert", "cert.pem", "-key", "key.pem", "-accept"]);
    server.arg(port.to_string()).current_dir(site.folder.path()).stdin(Stdio::null());
    let _server = Server(server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let is_up = || TcpStream::connect(("127.0.0.1", port)).is_ok();
    assert!((0..100).any(|_| is_up() || (std::thread::sleep(Duration::from_millis(100)), false).1));
    let script = format!("curl -sk https://127.0.0.1:{port}/ | grep -c 'Secure Renegotiation'");
    let Some(run) = site.run(&[format!("127.0.0.1:{port}")], &script) else { return };
    assert_eq!(run.end, End::Exited(0), "{}", run.printed);
}
