//! Test starts of MCP servers in the sandbox, before their settings are changed.
//!
//! A server that does not answer there would be lost, so it is left as it is. The package of a launcher such as `npx` is installed
//! once, outside of the sandbox, which the server then reads without a network.
#![expect(clippy::disallowed_methods, reason = "installs packages, starts servers, and ends them")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use stockade_guard::command::shell::quote_argv;
use stockade_harness::mcp_servers::{ServerProgram, words};
use stockade_text::escape;

use crate::commands::mcp::launchers::{Launched, PackageKind, launched};

/// Time for the answer of a server.
const PATIENCE: Duration = Duration::from_secs(20);

/// Time for a wrapper to end by itself.
const GRACE: Duration = Duration::from_secs(8);

/// Time for the installation of a package.
const DOWNLOAD: Duration = Duration::from_secs(120);

/// Maximum output of a server that is read.
const MAX_OUTPUT: u64 = 1 << 20;

/// Maximum length of a reason in characters.
const MAX_REASON: usize = 300;

/// Maximum length of the digest in the name of a package's directory.
const MAX_DIGEST: usize = 16;

/// Programs whose servers run outside of every sandbox of the caller.
const ELSEWHERE: &[(&str, &str)] = &[
    ("docker", "its daemon runs the server outside of the sandbox"),
    ("podman", "it makes a container, which is impossible in the sandbox"),
];

/// Starts servers of one harness.
pub(super) struct Trial<'t> {
    /// This program.
    pub(super) program: &'t str,
    /// The agent.
    pub(super) agent: &'t str,
    /// The directory of the project, in which servers start.
    pub(super) project: &'t Path,
    /// The user's home directory.
    pub(super) home: &'t Path,
}

impl Trial<'_> {
    /// Returns the options with which a server answers in the sandbox, or why it does not.
    pub(super) fn options(&self, server: &ServerProgram) -> Result<Vec<String>, String> {
        let name = program_name(&server.command);
        if let Some((_, why)) = ELSEWHERE.iter().find(|(program, _)| *program == name) {
            return Err((*why).to_owned());
        }
        let mut options: Vec<String> =
            hosts(server).into_iter().flat_map(|host| ["--allow-host".to_owned(), host]).collect();
        if let Some(launched) = launched(&server.command, &server.args) {
            let folder = self.folder(server);
            install(&launched, &folder)?;
            options.extend(["--installed".to_owned(), folder.display().to_string()]);
        }
        self.answers(server, &options).map(|()| options)
    }

    /// Returns the directory for the package of a server. Another server of this name, such as that of another project, has another
    /// one: each starts the package that its own settings name.
    fn folder(&self, server: &ServerProgram) -> PathBuf {
        let words = [&server.command].into_iter().chain(&server.args);
        let words: Vec<&str> = words.map(String::as_str).collect();
        let digest = Sha256::digest(quote_argv(words).as_bytes());
        let digest: String = stockade_text::to_hex(&digest).chars().take(MAX_DIGEST).collect();
        let folder = self.home.join(".cache/stockade/mcp").join(self.agent);
        folder.join(format!("{}-{digest}", server.name))
    }

    /// Starts a server in the sandbox, as the harness would, and asks it to initialize.
    fn answers(&self, server: &ServerProgram, options: &[String]) -> Result<(), String> {
        let mut command = Command::new(self.program);
        command.args(words(&server.name, self.agent, server, true, options));
        command.arg(&server.command).args(&server.args);
        command.envs(server.env.iter().map(|(name, value)| (name, value))).current_dir(self.project);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(|error| format!("it cannot be started: {error}"))?;
        let stderr = read_all(child.stderr.take());
        let answer = first_answer(child.stdout.take());
        // Kept open: a server ends with its input.
        let mut input = child.stdin.take();
        let asked = format!("{}\n", initialize());
        let is_asked = input.as_mut().is_some_and(|input| input.write_all(asked.as_bytes()).is_ok());
        let answered = if is_asked { answer.recv_timeout(PATIENCE).ok() } else { None };
        drop(input);
        if matches!(answered, Some(Err(_))) {
            // The wrapper prints at its end what it knows.
            wait(&mut child, GRACE);
        }
        let is_slow = answered.is_none() && matches!(child.try_wait(), Ok(None));
        end(&mut child);
        match answered {
            Some(Ok(())) => Ok(()),
            Some(Err(why)) => Err(reason(&why, &stderr)),
            None if is_slow => {
                let seconds = PATIENCE.as_secs();
                Err(reason(&format!("it did not answer in the sandbox within {seconds} seconds"), &stderr))
            }
            None => Err(reason("it ends in the sandbox without an answer", &stderr)),
        }
    }
}

/// Installs the package of a server into a directory, without running any script of it.
fn install(launched: &Launched, folder: &Path) -> Result<(), String> {
    // An earlier version goes, so that the directory has this package alone.
    fs::remove_dir_all(folder).ok();
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let npm = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", "."];
    let venv = ["python3", "-m", "venv", "."];
    let pip = ["bin/pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"];
    match launched.kind {
        PackageKind::Npm => {
            fs::write(folder.join("package.json"), "{\"private\": true}\n")
                .map_err(|error| error.to_string())?;
            ran(&npm, Some(&launched.package), folder)
        }
        PackageKind::Python => {
            ran(&venv, None, folder)?;
            ran(&pip, Some(&launched.package), folder)
        }
    }
}

/// Runs a package manager in a directory.
fn ran(words: &[&str], package: Option<&str>, folder: &Path) -> Result<(), String> {
    let (program, arguments) = words.split_first().ok_or("no program")?;
    // A program of the directory itself is named by its path.
    let program = if program.contains('/') { folder.join(program) } else { PathBuf::from(program) };
    let mut command = Command::new(program);
    command.args(arguments).args(package.map(|_| "--")).args(package).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().map_err(|error| format!("its package cannot be installed: {error}"))?;
    let stderr = read_all(child.stderr.take());
    let ended = wait(&mut child, DOWNLOAD);
    end(&mut child);
    match ended {
        Some(true) => Ok(()),
        Some(false) => Err(reason("its package cannot be installed", &stderr)),
        None => Err(format!("its package was not installed within {} seconds", DOWNLOAD.as_secs())),
    }
}

fn initialize() -> Value {
    let client = json!({"name": "stockade", "version": env!("CARGO_PKG_VERSION")});
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client
    }})
}

/// Returns the name of a program without its directory.
fn program_name(command: &str) -> &str {
    Path::new(command).file_name().and_then(|name| name.to_str()).unwrap_or(command)
}

/// Returns the hosts of the URLs among the arguments and variables of a server.
fn hosts(server: &ServerProgram) -> BTreeSet<String> {
    let texts = server.args.iter().chain(server.env.iter().map(|(_, value)| value));
    texts.filter_map(|text| host(text)).collect()
}

/// Returns the host and port of a URL, also behind `NAME=`.
fn host(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once("://")?;
    let port = match scheme.rsplit('=').next()? {
        "https" | "wss" => "443",
        "http" | "ws" => "80",
        _ => return None,
    };
    let host = rest.split(['/', '?', '#']).next()?.rsplit('@').next()?;
    let is_host = |c: char| c.is_ascii_alphanumeric() || "-.:".contains(c);
    let is_named = !host.is_empty() && host.chars().all(is_host);
    is_named.then(|| if host.contains(':') { host.to_owned() } else { format!("{host}:{port}") })
}

/// Returns a reason with the last line of a program's errors.
fn reason(what: &str, stderr: &mpsc::Receiver<String>) -> String {
    let said = stderr.recv_timeout(Duration::from_secs(2)).unwrap_or_default();
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let last: String = last.trim().chars().take(MAX_REASON).collect();
    if last.is_empty() { what.to_owned() } else { format!("{what}: {}", escape(&last)) }
}

/// Reads an output on a thread.
pub(super) fn read_all(out: Option<impl std::io::Read + Send + 'static>) -> mpsc::Receiver<String> {
    let (send, receive) = mpsc::sync_channel(1);
    thread::spawn(move || {
        let mut bytes = Vec::new();
        out.map(|out| out.take(MAX_OUTPUT).read_to_end(&mut bytes));
        send.send(String::from_utf8_lossy(&bytes).into_owned()).ok();
    });
    receive
}

/// Reads the answer to the first request on a thread. The channel ends with the output.
fn first_answer(out: Option<impl std::io::Read + Send + 'static>) -> mpsc::Receiver<Result<(), String>> {
    let (send, receive) = mpsc::sync_channel(1);
    thread::spawn(move || {
        let lines = out.map(|out| BufReader::new(out.take(MAX_OUTPUT)).lines());
        for line in lines.into_iter().flatten().map_while(Result::ok) {
            let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
            if message.get("id") != Some(&json!(0)) {
                continue;
            }
            let said = match message.pointer("/error/message").and_then(Value::as_str) {
                None => Ok(()),
                Some(why) => {
                    let why: String = why.chars().take(MAX_REASON).collect();
                    Err(format!("it answers with an error ({})", escape(&why)))
                }
            };
            send.send(said).ok();
            return;
        }
    });
    receive
}

/// Waits for a program, and returns whether it succeeded; nothing if it did not end in time.
pub(super) fn wait(child: &mut Child, patience: Duration) -> Option<bool> {
    let begin = Instant::now();
    while begin.elapsed() < patience {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.success()),
            Ok(None) => thread::sleep(Duration::from_millis(20)),
            Err(_) => return Some(false),
        }
    }
    None
}

/// Ends a program and all that it has started.
pub(super) fn end(child: &mut Child) {
    let group = rustix::process::Pid::from_child(child);
    // First politely, so that this program removes its sandbox.
    rustix::process::kill_process_group(group, rustix::process::Signal::TERM).ok();
    if wait(child, Duration::from_secs(3)).is_none() {
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).ok();
        child.wait().ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_those_of_urls() {
        for (text, found) in [
            ("https://api.example.com/v1?x", Some("api.example.com:443")),
            ("--url=http://localhost:8080", Some("localhost:8080")),
            ("https://user:pass@a.example/", Some("a.example:443")),
            ("file:///etc/passwd", None),
            ("https://", None),
            ("https://[::1]/", None),
            ("just text", None),
        ] {
            assert_eq!(host(text).as_deref(), found, "{text}");
        }
    }
}
