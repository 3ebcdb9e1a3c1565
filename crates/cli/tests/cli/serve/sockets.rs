//! The socket: whom it lets in, and what it does about what lies in its place.

use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::support::STOCKADE;

/// A server on a socket, and the folder that the socket is in.
struct Listening {
    child: Child,
    folder: tempfile::TempDir,
}

impl Listening {
    fn start(folder: tempfile::TempDir) -> Self {
        let mut child = serve(&folder.path().join("s")).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("stockade: listening on "), "{line}");
        Self { child, folder }
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("s")
    }

    fn stop(mut self) -> tempfile::TempDir {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let empty = tempfile::tempdir().unwrap();
        std::mem::replace(&mut self.folder, empty)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn serve(socket: &Path) -> Command {
    let mut command = Command::new(STOCKADE);
    command.args(["serve", "--socket"]).arg(socket).env_clear().stdin(Stdio::null());
    command.env("HOME", socket.parent().unwrap()).env("PATH", "/usr/bin:/bin");
    command
}

fn ask(socket: &Path) -> Value {
    let mut stream = UnixStream::connect(socket).unwrap();
    writeln!(stream, r#"{{"jsonrpc":"2.0","id":1,"method":"sanitize","params":{{"text":"a"}}}}"#).unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

#[test]
fn several_clients_are_served_and_a_stale_socket_is_replaced() {
    let listening = Listening::start(tempfile::tempdir().unwrap());
    assert_eq!(fs::metadata(listening.socket()).unwrap().permissions().mode() & 0o777, 0o600);
    let idle = UnixStream::connect(listening.socket()).unwrap();
    for _ in 0..3 {
        assert_eq!(ask(&listening.socket())["result"]["body"], "a");
    }
    drop(idle);
    let second = serve(&listening.socket()).output().unwrap();
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(second.status.code() == Some(2) && said.contains("another server already listens on"), "{said}");
    // Killed, it leaves its socket behind; the next one takes its place.
    let folder = listening.stop();
    assert!(folder.path().join("s").exists());
    let listening = Listening::start(folder);
    assert_eq!(ask(&listening.socket())["id"], 1);
}

#[test]
fn a_socket_of_another_user_or_in_a_shared_directory_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let refused = |why: &str| {
        let output = serve(&path).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains(why), "{why}: {said}");
    };
    fs::write(&path, "mine").unwrap();
    refused("already exists");
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("elsewhere", &path).unwrap();
    refused("already exists");
    fs::remove_file(&path).unwrap();
    let held = UnixListener::bind(&path).unwrap();
    refused("another server already listens on");
    drop(held);
    for mode in [0o777, 0o1777, 0o770] {
        fs::set_permissions(folder.path(), Permissions::from_mode(mode)).unwrap();
        refused("other users can write to the directory");
    }
}

/// Even where the permissions of the socket let it in.
#[test]
fn a_program_of_another_user_gets_no_answer() {
    if !rustix::process::geteuid().is_root() || Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: only root can try to connect as another user, with python3");
        return;
    }
    let listening = Listening::start(tempfile::tempdir().unwrap());
    fs::set_permissions(listening.folder.path(), Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(listening.socket(), Permissions::from_mode(0o666)).unwrap();
    let script = "import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); \
                  s.sendall(b'{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"sanitize\",\"params\":{\"text\":\"a\"}}\\n'); \
                  print('got', s.recv(100))";
    let python = Command::new("/usr/bin/env")
        .args(["python3", "-c", script])
        .arg(listening.socket())
        .uid(65_534)
        .gid(65_534)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&python.stdout).into_owned();
    let said = String::from_utf8_lossy(&python.stderr).into_owned();
    assert!(!printed.contains("result"), "{printed}");
    if !python.status.success() && !said.contains("ConnectionResetError") && !said.contains("BrokenPipeError")
    {
        println!("skipped: python3 cannot be run as another user here: {said}");
    }
    assert_eq!(ask(&listening.socket())["result"]["body"], "a");
}

/// The process ids of the commands with this word among their arguments.
fn running(word: &str) -> usize {
    let all = fs::read_dir("/proc").unwrap().flatten();
    let lines = all.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| line.split(|byte| *byte == 0).any(|one| one == word.as_bytes())).count()
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..1000 {
        if is_so() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("{what} did not come about");
}

/// A client that has begun a command which does not end by itself.
fn begin(listening: &Listening, word: &str) -> UnixStream {
    let workspace = listening.folder.path().canonicalize().unwrap().join("work");
    fs::create_dir_all(&workspace).unwrap();
    let mut client = UnixStream::connect(listening.socket()).unwrap();
    let params =
        serde_json::json!({"argv": ["sleep", word], "spec": {"workspace": workspace}, "timeoutMs": 600_000});
    let request = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "exec", "params": params});
    writeln!(client, "{request}").unwrap();
    wait_until("the command", || running(word) > 0);
    client
}

/// The server goes on for others, and what ran for one that left is really gone.
#[test]
fn the_commands_of_a_client_end_with_it() {
    let listening = Listening::start(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap());
    let word = format!("86401.{}", std::process::id());
    drop(begin(&listening, &word));
    wait_until("its end", || running(&word) == 0);
    // Who has only said all there is to say still listens.
    let client = begin(&listening, &word);
    client.shutdown(std::net::Shutdown::Write).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(600));
    assert!(running(&word) > 0);
    drop(client);
    wait_until("its end", || running(&word) == 0);
    assert_eq!(ask(&listening.socket())["result"]["body"], "a");
}

/// Told to end, it takes its socket away when its commands are over.
#[test]
fn a_terminated_server_leaves_neither_commands_nor_a_socket() {
    let mut listening = Listening::start(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap());
    let word = format!("86402.{}", std::process::id());
    let client = begin(&listening, &word);
    let tell = || {
        rustix::process::kill_process(
            rustix::process::Pid::from_child(&listening.child),
            rustix::process::Signal::TERM,
        )
    };
    tell().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(100));
    tell().unwrap();
    let mut line = String::new();
    BufReader::new(client).read_line(&mut line).unwrap();
    assert!(line.contains("cancelled"), "{line}");
    assert_eq!(listening.child.wait().unwrap().code(), Some(0));
    assert_eq!((running(&word), listening.socket().exists()), (0, false));
}

#[test]
fn too_many_connections_are_refused_with_a_reason() {
    let listening = Listening::start(tempfile::tempdir().unwrap());
    let held: Vec<UnixStream> = (0..64).map(|_| UnixStream::connect(listening.socket()).unwrap()).collect();
    let mut refused = UnixStream::connect(listening.socket()).unwrap();
    let mut said = String::new();
    refused.read_to_string(&mut said).unwrap();
    assert!(said.contains("-32000"), "{said}");
    drop(held);
}
