//! Commands on machines of E2B, by the built program beside `stockade`, on the server of the tests of `backends-remote`.
#![expect(clippy::disallowed_methods, reason = "starts servers and commands, and looks at their time")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{STOCKADE, build_remote_backends, repository};

/// A key that the server accepts.
fn key() -> String {
    format!("e2b_{}", "0".repeat(40))
}

/// A workspace, a home, and a server that speaks as E2B does.
struct Place {
    folder: TempDir,
    server: Child,
    port: u16,
}

impl Place {
    fn new() -> Self {
        build_remote_backends();
        let folder = tempfile::tempdir().unwrap();
        for name in ["work", "home", "machines"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let script = repository().join("crates/backends-remote/tests/it/e2b/fake.py");
        let mut server = Command::new("/usr/bin/python3")
            .arg(script)
            .arg(folder.path().join("machines"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        Self { folder, server, port: line.trim().parse().unwrap() }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn exec(&self, options: &[&str], command: &[&str]) -> Command {
        let mut exec = self.stockade(STOCKADE, &["exec", "--no-rules", "--backend", "e2b"]);
        for name in ["api", "gateway"] {
            exec.args(["--backend-option", &format!("{name}=http://127.0.0.1:{}", self.port)]);
        }
        exec.args(options).arg("--").args(command).env("E2B_API_KEY", key());
        exec
    }

    fn stockade(&self, program: impl AsRef<std::ffi::OsStr>, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(words).current_dir(self.at("work")).env_clear().env("HOME", self.at("home"));
        command.env("PATH", "/usr/bin:/bin").stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// How often a machine was made, and how often one was deleted.
    fn machines(&self) -> (usize, usize) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(b"GET /-/seen HTTP/1.0\r\n\r\n").unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let seen: Value = serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
        let count = |method: &str, path: Option<&str>| {
            let is_it = |one: &&Value| one["method"] == method && path.is_none_or(|path| one["path"] == path);
            seen.as_array().unwrap().iter().filter(is_it).count()
        };
        (count("POST", Some("/v2/sandboxes")), count("DELETE", None))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.server.kill().ok();
        self.server.wait().ok();
    }
}

fn said(ran: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (ran.status.code(), text(&ran.stdout), text(&ran.stderr))
}

#[test]
fn a_command_runs_on_a_remote_machine_with_the_same_output() {
    let place = Place::new();
    fs::write(place.at("work/a"), "copied\n").unwrap();
    fs::write(place.at("work/.env"), "TOKEN=s3cret\n").unwrap();
    let script = "cat a; ls -A; printenv GIVEN; printenv E2B_API_KEY; echo err >&2; echo new > made; exit 7";
    let ran = place.exec(&["--env", "GIVEN=value"], &["sh", "-c", script]).output().unwrap();
    let (code, stdout, stderr) = said(&ran);
    assert_eq!((code, stdout.as_str()), (Some(7), "copied\na\nvalue\n"), "{stderr}");
    assert!(stderr.contains("err\n"), "{stderr}");
    assert!(!place.at("work/made").exists(), "the workspace on this machine cannot be changed");
    // What the program reports is not an untrusted claim: it comes with this release, so it counts for what is required.
    let ran = place.exec(&["--require", "files", "--format", "json"], &["true"]).output().unwrap();
    let document: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let text = document.to_string();
    assert!(text.contains("virtual machine") && !text.contains("claims are untested"), "{document}");
    let (made, deleted) = place.machines();
    assert!(made == 2 && deleted >= 2, "{made} {deleted}");
}

#[test]
fn large_output_arrives_complete_and_in_order_up_to_its_limit() {
    let place = Place::new();
    let script = "i=0; while [ $i -lt 40000 ]; do echo line $i; i=$((i+1)); done";
    let ran = place.exec(&[], &["sh", "-c", script]).output().unwrap();
    let expected: String = (0..40000).map(|number| format!("line {number}\n")).collect();
    assert!(ran.status.success() && ran.stdout == expected.as_bytes(), "{} bytes", ran.stdout.len());
    let ran = place.exec(&["--format", "json"], &["sh", "-c", "printf abc"]).output().unwrap();
    let document: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(
        (&document["end"], &document["stdout"]["text"]),
        (&"exited".into(), &"abc".into()),
        "{document}"
    );
}

#[test]
fn a_timed_out_command_is_ended_with_its_machine() {
    let place = Place::new();
    let begun = Instant::now();
    let ran = place.exec(&["--timeout", "1s"], &["sleep", "600"]).output().unwrap();
    assert_eq!(ran.status.code(), Some(124), "{:?}", said(&ran));
    assert!(begun.elapsed() < Duration::from_secs(30) && place.machines().1 > 0);
}

/// Whether `stockade` is asked to end or killed, the program of the backend ends the machine.
#[test]
fn a_cancelled_command_leaves_no_machine() {
    use rustix::process::{Pid, Signal, kill_process};
    for signal in [Signal::TERM, Signal::KILL] {
        let place = Place::new();
        let mut child = place.exec(&[], &["sh", "-c", "echo begun; sleep 600"]).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "begun\n");
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert!(!child.wait().unwrap().success());
        let late = Instant::now() + Duration::from_secs(20);
        while place.machines().1 == 0 {
            assert!(Instant::now() < late, "{signal:?}: the machine is still there");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn requests_that_cannot_be_enforced_are_refused_with_a_fix() {
    let place = Place::new();
    let rows: [(&[&str], &str); 4] = [
        (&["--no-spawn"], "cannot prevent a command from starting other programs"),
        (&["--backend-option", "tempalte=x"], "unknown option"),
        (&["--backend-option", "key-file=key"], "not absolute"),
        (&["--require", "privileges"], "can become root"),
    ];
    for (options, wanted) in rows {
        let (code, stdout, stderr) = said(&place.exec(options, &["true"]).output().unwrap());
        assert!(
            code == Some(126) && stderr.contains(wanted) && stdout.is_empty(),
            "{options:?}: {code:?} {stderr}"
        );
        assert!(!stderr.contains(&key()), "{stderr}");
    }
    assert_eq!(place.machines().0, 0);
}

/// The program is looked for beside `stockade`, and neither in the workspace nor on the search path.
#[test]
fn without_its_program_the_error_names_it_and_how_to_install_it() {
    let place = Place::new();
    fs::create_dir(place.at("bin")).unwrap();
    // By another process: a child of another test could inherit the file while it is open to be written, which then is busy.
    assert!(Command::new("cp").arg(STOCKADE).arg(place.at("bin/stockade")).status().unwrap().success());
    for folder in ["work", "elsewhere"] {
        fs::create_dir_all(place.at(folder)).unwrap();
        let decoy = place.at(folder).join("stockade-backend-e2b");
        fs::write(&decoy, "#!/bin/sh\ntouch \"$0.ran\"\n").unwrap();
        fs::set_permissions(&decoy, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut exec =
        place.stockade(place.at("bin/stockade"), &["exec", "--no-rules", "--backend", "e2b", "--", "true"]);
    let path = std::env::join_paths([place.at("work"), place.at("elsewhere"), "/usr/bin".into()]).unwrap();
    let (code, _, stderr) = said(&exec.env("PATH", path).env("E2B_API_KEY", key()).output().unwrap());
    assert_eq!(code, Some(126), "{stderr}");
    for word in
        ["stockade-backend-e2b, is not installed", "cargo install --locked --path crates/backends-remote"]
    {
        assert!(stderr.contains(word), "{stderr}");
    }
    for folder in ["work", "elsewhere"] {
        assert!(!place.at(folder).join("stockade-backend-e2b.ran").exists(), "{folder}");
    }
}
