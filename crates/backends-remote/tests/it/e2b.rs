//! Sandboxes of E2B, on a server of our own: by the client of this crate, and by the official SDKs, which keep the server honest.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "starts servers and programs that ask them, and prints what it skips"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use stockade_backends_remote::e2b::{
    E2bClient, E2bCommand, E2bEntryKind, E2bError, E2bKey, E2bRequest, E2bSandbox, E2bSettings, E2bStream,
    Packages,
};

/// A server that speaks as E2B does.
pub(crate) struct Fake {
    child: Child,
    pub(crate) port: u16,
    /// It serves until its input ends.
    _folder: tempfile::TempDir,
}

impl Fake {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/e2b/fake.py");
        let mut child = Command::new("/usr/bin/python3")
            .arg(script)
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        Self { child, port: line.trim().parse().unwrap(), _folder: folder }
    }

    fn settings(&self) -> E2bSettings {
        let address = format!("http://127.0.0.1:{}", self.port);
        let mut settings = E2bSettings::new(E2bKey::new(&format!("e2b_{}", "0".repeat(40))).unwrap());
        settings.api = Some(address.clone());
        settings.gateway = Some(address);
        settings.request_time = Duration::from_secs(20);
        settings
    }

    fn sandbox(&self) -> E2bSandbox {
        let request =
            E2bRequest { variables: [("A".to_owned(), "b c".to_owned())].into(), ..E2bRequest::default() };
        E2bClient::new(self.settings()).unwrap().create(&request).unwrap()
    }

    /// Plans what goes wrong from now on.
    fn plan(&self, faults: &str) {
        let asked = format!("PUT /-/faults HTTP/1.0\r\nContent-Length: {}\r\n\r\n{faults}", faults.len());
        assert!(self.say(&asked).contains(" 204 "));
    }

    fn say(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// How often something was asked for.
    pub(crate) fn asked(&self, method: &str, path: &str) -> usize {
        self.count(|one| one["method"] == method && one["path"] == path)
    }

    /// How often a sandbox was to be deleted.
    pub(crate) fn deleted(&self) -> usize {
        self.count(|one| one["method"] == "DELETE")
    }

    fn count(&self, is_meant: impl Fn(&serde_json::Value) -> bool) -> usize {
        let seen = self.say("GET /-/seen HTTP/1.0\r\n\r\n");
        let seen: serde_json::Value = serde_json::from_str(seen.split("\r\n\r\n").nth(1).unwrap()).unwrap();
        seen.as_array().unwrap().iter().filter(|one| is_meant(one)).count()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn shell(script: &str) -> E2bCommand {
    E2bCommand::of(["/bin/sh", "-c", script].map(str::to_owned))
}

fn printed(sandbox: &E2bSandbox, command: &E2bCommand) -> (Option<i32>, String, String) {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut print = |stream, bytes: &[u8]| match stream {
        E2bStream::Stdout => stdout.extend_from_slice(bytes),
        E2bStream::Stderr => stderr.extend_from_slice(bytes),
    };
    let end = sandbox.run(command, &mut print).unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (end.code, text(stdout), text(stderr))
}

#[test]
fn a_sandbox_is_created_used_and_deleted() {
    let fake = Fake::start();
    let sandbox = fake.sandbox();
    assert!(!format!("{sandbox:?}").contains("token"), "{sandbox:?}");
    let mut command = shell("echo \"$A $B\"; pwd >&2; exit 3");
    command.variables = [("B".to_owned(), "d".to_owned())].into();
    let (code, stdout, stderr) = printed(&sandbox, &command);
    assert_eq!((code, stdout.as_str()), (Some(3), "b c d\n"));
    assert!(stderr.contains(sandbox.id()), "{stderr}");
    // No shell reads the words of a command.
    let words = ["echo", "$(id)", ";", "a b"].map(str::to_owned);
    assert_eq!(printed(&sandbox, &E2bCommand::of(words)).1, "$(id) ; a b\n");
    assert_eq!(printed(&sandbox, &shell("kill -9 $$")).0, None);

    let bytes: Vec<u8> = (0..=255).collect();
    sandbox.write("/home/user/a b/ä.bin", &bytes).unwrap();
    assert_eq!(sandbox.read("/home/user/a b/ä.bin", 256).unwrap(), bytes);
    assert_eq!(sandbox.read("/home/user/a b/ä.bin", 255), Err(E2bError::TooLong(255)));
    let listed = sandbox.list("/home/user/a b").unwrap();
    assert_eq!((listed[0].name.as_str(), listed[0].kind, listed[0].size), ("ä.bin", E2bEntryKind::File, 256));
    assert_eq!(sandbox.list("/home/user").unwrap()[0].kind, E2bEntryKind::Folder);
    assert!(matches!(sandbox.read("/home/user/x", 1), Err(E2bError::NotFound(_))));
    assert!(matches!(sandbox.write("/home/user/../../x", b""), Err(E2bError::Plain(_))));

    sandbox.keep_for(Duration::from_secs(100)).unwrap();
    assert!(sandbox.is_there().unwrap());
    sandbox.delete().unwrap();
    assert!(!sandbox.is_there().unwrap());
    sandbox.delete().unwrap();
    assert_eq!(sandbox.run(&shell("true"), &mut |_, _| {}), Err(E2bError::Gone));
}

#[test]
fn output_comes_as_it_is_printed_and_is_bounded() {
    let fake = Fake::start();
    let sandbox = fake.sandbox();
    let begun = Instant::now();
    let mut first = None;
    let end = sandbox.run(&shell("echo one; sleep 2; echo two"), &mut |_, _| {
        first.get_or_insert_with(|| begun.elapsed());
    });
    assert_eq!(end.unwrap().code, Some(0));
    assert!(first.unwrap() < Duration::from_secs(2), "{first:?}");
    let mut command = shell("head -c 3000000 /dev/zero");
    command.output = 1_000_000;
    let mut length = 0;
    let end = sandbox.run(&command, &mut |_, bytes| length += bytes.len()).unwrap();
    assert_eq!((end.code, end.dropped, length), (Some(0), 2_000_000, 1_000_000));
}

#[test]
fn timeouts_end_commands_and_sandboxes() {
    let fake = Fake::start();
    let sandbox = fake.sandbox();
    let mut command = shell("sleep 60");
    command.time = Duration::from_secs(1);
    let end = sandbox.run(&command, &mut |_, _| {}).unwrap();
    assert_eq!((end.code, end.timed_out), (None, true));
    // A server that does not end it is asked to.
    fake.plan(r#"[{"path": "/process.Process/Start", "deaf": true, "times": 1}]"#);
    let end = sandbox.run(&command, &mut |_, _| {}).unwrap();
    assert!(end.timed_out);
    assert_eq!(fake.asked("POST", "/process.Process/SendSignal"), 2);
    sandbox.keep_for(Duration::from_secs(1)).unwrap();
    std::thread::sleep(Duration::from_millis(1100));
    assert!(!sandbox.is_there().unwrap());
}

#[test]
fn only_requests_without_effect_are_retried() {
    let fake = Fake::start();
    let client = E2bClient::new(fake.settings()).unwrap();
    let create = |faults: &str| {
        fake.plan(faults);
        client.create(&E2bRequest::default()).map(drop)
    };
    let busy =
        r#"[{"path": "/v2/sandboxes", "status": 429, "headers": {"Retry-After": "0"}, "times": TIMES}]"#;
    assert_eq!(create(&busy.replace("TIMES", "3")), Ok(()));
    assert_eq!(create(&busy.replace("TIMES", "9")), Err(E2bError::TooMany));
    let before = fake.asked("POST", "/v2/sandboxes");
    let no =
        r#"[{"path": "/v2/sandboxes", "status": 503, "headers": {"Should-Retry": "false"}, "times": 9}]"#;
    assert!(matches!(create(no), Err(E2bError::Away(_))));
    assert!(matches!(
        create(r#"[{"path": "/v2/sandboxes", "status": 500, "times": 9}]"#),
        Err(E2bError::Away(_))
    ));
    assert!(matches!(
        create(r#"[{"path": "/v2/sandboxes", "cut": true, "times": 1}]"#),
        Err(E2bError::Away(_))
    ));
    assert_eq!(fake.asked("POST", "/v2/sandboxes"), before + 3);
    // A stream that breaks off says nothing of how the command ended.
    let sandbox = fake.sandbox();
    fake.plan(r#"[{"path": "/process.Process/Start", "half": true, "times": 1}]"#);
    assert!(matches!(sandbox.run(&shell("true"), &mut |_, _| {}), Err(E2bError::Away(_))));
}

#[test]
fn errors_include_a_fix() {
    let fake = Fake::start();
    let mut settings = fake.settings();
    settings.key = E2bKey::new("e2b_wrong_and_secret").unwrap();
    let client = E2bClient::new(settings).unwrap();
    let error = client.create(&E2bRequest::default()).unwrap_err();
    assert_eq!(error, E2bError::Unauthorised);
    assert!(!format!("{error:?} {error} {} {client:?}", error.fix()).contains("wrong_and_secret"));
    let client = E2bClient::new(fake.settings()).unwrap();
    let request = E2bRequest { template: "none".to_owned(), ..E2bRequest::default() };
    assert_eq!(
        client.create(&request).unwrap_err(),
        E2bError::NotFound("template 'none' not found".to_owned())
    );
    let sandbox = fake.sandbox();
    let missing = sandbox.run(&E2bCommand::of(["no-such-program".to_owned()]), &mut |_, _| {});
    assert!(matches!(missing, Err(E2bError::Refused(_))), "{missing:?}");
    assert!(matches!(sandbox.run(&E2bCommand::of([]), &mut |_, _| {}), Err(E2bError::Plain(_))));
    let mut settings = fake.settings();
    settings.api = Some("http://127.0.0.1:9".to_owned());
    assert!(matches!(
        E2bClient::new(settings).unwrap().create(&E2bRequest::default()),
        Err(E2bError::Away(_))
    ));
    let mut settings = fake.settings();
    settings.api = Some("http://api.e2b.app".to_owned());
    assert!(matches!(E2bClient::new(settings), Err(E2bError::Address(_))));
    // Packages are words of a command.
    assert!(Packages::Pip.install(&["--index-url=https://evil.example"]).is_err());
}

/// Runs an official SDK on the server, if `cargo xtask setup` has put it there.
fn official(program: &Path, script: &str, folder: &Path, is_there: bool) {
    if !is_there {
        eprintln!("skipped: the official SDK for {script} is not there; `cargo xtask setup` fetches it");
        return;
    }
    let fake = Fake::start();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/e2b").join(script);
    let said =
        Command::new(program).arg(script).arg(fake.port.to_string()).current_dir(folder).output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    assert_eq!(said.stdout, b"ok\n");
}

fn tools() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools")
}

#[test]
fn the_official_python_sdk_accepts_the_test_server() {
    let python = tools().join("python/bin/python");
    official(&python, "sdk.py", Path::new("/"), python.exists());
}

#[test]
fn the_official_javascript_sdk_accepts_the_test_server() {
    let folder = tools().join("node");
    official(Path::new("node"), "sdk.mjs", &folder, folder.join("node_modules/e2b").exists());
}

/// A request for the row of a registry, which asks this server.
#[cfg(target_os = "linux")]
fn request(fake: &Fake, folder: &Path, words: &[&str]) -> stockade_exec_sandbox::SandboxSpec {
    use std::os::unix::fs::PermissionsExt as _;
    let key = folder.join("key");
    std::fs::write(&key, format!("e2b_{}\n", "0".repeat(40))).unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let workspace = folder.join("work");
    std::fs::create_dir_all(&workspace).unwrap();
    let mut spec = stockade_exec_sandbox::SandboxSpec::new(workspace, words);
    spec.backend = stockade_exec_sandbox::SandboxBackend::from_name("e2b").unwrap();
    let address = format!("http://127.0.0.1:{}", fake.port);
    let options = [("key-file", key.to_str().unwrap()), ("api", &address), ("gateway", &address)];
    spec.backend_options = options.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    spec
}

#[cfg(target_os = "linux")]
fn run(
    spec: &stockade_exec_sandbox::SandboxSpec,
) -> Result<stockade_exec_sandbox::Outcome, stockade_exec_sandbox::RunError> {
    use stockade_backends_remote::e2b::E2bBackend;
    use stockade_exec_sandbox::backends::{BackendRegistry, Selection};
    use stockade_exec_sandbox::run::{RunControl, Streams};
    let registry = BackendRegistry::builtin();
    registry.register(Box::new(E2bBackend), 0, Selection::ByNameOnly);
    registry.plan_and_run(spec, Streams::default(), &RunControl::default()).map(|(_, outcome)| outcome)
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_runs_on_a_copy_and_the_machine_is_deleted() {
    use stockade_exec_sandbox::{End, Property};
    let (fake, folder) = (Fake::start(), tempfile::tempdir().unwrap());
    let folder = folder.path().canonicalize().unwrap();
    let script = "cat sub/a; ls -A; cat .env; printenv GIVEN; echo new > made; echo err >&2; exit 7";
    let mut spec = request(&fake, &folder, &["sh", "-c", script]);
    std::fs::create_dir(spec.workspace.join("sub")).unwrap();
    std::fs::write(spec.workspace.join("sub/a"), "here\n").unwrap();
    std::fs::write(spec.workspace.join(".env"), "TOKEN=s3cret\n").unwrap();
    spec.environment.set.push(("GIVEN".into(), "value".into()));
    let outcome = run(&spec).unwrap();
    let said = String::from_utf8_lossy(&outcome.output.stdout).into_owned();
    assert_eq!(
        (outcome.end, said.as_str()),
        (End::Exited(7), "here\nsub\nvalue\n"),
        "a secret is not copied"
    );
    assert!(String::from_utf8_lossy(&outcome.output.stderr).ends_with("err\n"));
    assert!(!spec.workspace.join("made").exists(), "the workspace on this machine cannot be changed");
    assert!(
        outcome.enforcement.holds(Property::Files)
            && outcome.enforcement.gaps.iter().any(|gap| gap.property == Property::Privileges)
    );
    assert!(fake.deleted() > 0);
    // What it holds in part only is refused where it is required by name.
    spec.require_by_name = [Property::Privileges].into();
    assert!(matches!(run(&spec), Err(stockade_exec_sandbox::RunError::Refused(_))));
}

#[cfg(target_os = "linux")]
#[test]
fn a_timed_out_command_is_ended_with_its_machine() {
    let (fake, folder) = (Fake::start(), tempfile::tempdir().unwrap());
    let mut spec = request(&fake, &folder.path().canonicalize().unwrap(), &["sleep", "600"]);
    spec.limits.wall_time = stockade_exec_sandbox::Limit::AtMost(Duration::from_secs(1));
    let begun = Instant::now();
    assert_eq!(run(&spec).unwrap().end, stockade_exec_sandbox::End::TimedOut);
    assert!(begun.elapsed() < Duration::from_secs(15) && fake.deleted() > 0);
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_private_key_no_request_is_sent() {
    use std::os::unix::fs::PermissionsExt as _;
    use stockade_exec_sandbox::RunError;
    let (fake, folder) = (Fake::start(), tempfile::tempdir().unwrap());
    let folder = folder.path().canonicalize().unwrap();
    let refused = |change: &dyn Fn(&mut stockade_exec_sandbox::SandboxSpec)| {
        let mut spec = request(&fake, &folder, &["true"]);
        change(&mut spec);
        let Err(RunError::Refused(refusal)) = run(&spec) else { panic!("it ran") };
        assert!(!refusal.fix.is_empty() && !format!("{refusal:?}").contains("000000"), "{refusal:?}");
        refusal.to_string()
    };
    let option = |name: &'static str, value: &'static str| {
        move |spec: &mut stockade_exec_sandbox::SandboxSpec| {
            spec.backend_options.insert(name.to_owned(), value.to_owned());
        }
    };
    assert!(refused(&option("key-file", "/no/such")).contains("cannot be read"));
    assert!(refused(&option("key-file", "key")).contains("not absolute"));
    assert!(refused(&option("tempalte", "x")).contains("unknown option"));
    assert!(refused(&option("api", "http://elsewhere.example")).contains("without encryption"));
    assert!(
        refused(&|spec| spec.spawn = stockade_exec_sandbox::Spawn::Threads)
            .contains("starting other programs")
    );
    assert!(
        refused(&|_| {
            std::fs::set_permissions(folder.join("key"), std::fs::Permissions::from_mode(0o644)).unwrap();
        })
        .contains("other users can read")
    );
    assert_eq!(fake.asked("POST", "/v2/sandboxes"), 0);
}
