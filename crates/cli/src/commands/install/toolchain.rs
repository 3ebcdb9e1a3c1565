//! Test of the user's toolchain in the sandbox: the first thing that would be missed is a compiler that is not found.
#![expect(clippy::disallowed_methods, reason = "looks up programs in PATH, and starts them in the sandbox")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use std::{env, fmt::Write as _};

use stockade_text::escape;

use super::server_trials::{end, read_all, wait};

/// Time for all programs together, and for one of them.
const PATIENCE: Duration = Duration::from_secs(20);

/// Maximum number of programs that are looked at one by one.
const MAX_ALONE: usize = 4;

/// Programs of toolchains, with the argument that only prints their version.
const TOOLS: &[(&str, &str)] = &[
    ("node", "--version"),
    ("npm", "--version"),
    ("pnpm", "--version"),
    ("yarn", "--version"),
    ("bun", "--version"),
    ("deno", "--version"),
    ("python3", "--version"),
    ("pip", "--version"),
    ("uv", "--version"),
    ("cargo", "--version"),
    ("rustc", "--version"),
    ("go", "version"),
    ("java", "-version"),
    ("ruby", "--version"),
    ("php", "--version"),
    ("dotnet", "--version"),
    ("gcc", "--version"),
    ("make", "--version"),
];

/// Runs the programs that exist on this machine in the sandbox of an agent, and returns which of them work there.
pub(super) fn tried(program: &str, agent: &str) -> String {
    let present: Vec<(&str, &str)> = TOOLS.iter().copied().filter(|(name, _)| is_in_path(name)).collect();
    let Ok(folder) = tempfile::tempdir() else { return String::new() };
    if present.is_empty() {
        return String::new();
    }
    let exec = ["exec", "--quiet", "--agent", agent, "--", "bash", "-c"];
    let script: String = present
        .iter()
        .map(|(name, argument)| format!("{name} {argument} >/dev/null 2>&1; echo \"{name} $?\"\n"))
        .collect();
    let ran = run(program, &[&exec[..], &[&script]].concat(), folder.path());
    let code = |name: &str| {
        let line = ran.stdout.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|code| code.parse::<u8>().ok())
    };
    let (works, fails): (Vec<_>, Vec<_>) = present.into_iter().partition(|(name, _)| code(name) == Some(0));
    let mut out = String::new();
    if works.is_empty() {
        let why = if ran.is_late { "it took too long".to_owned() } else { last_line(&ran.stderr) };
        writeln!(out, "warn  no program could be run in the sandbox: {why}\n      fix: stockade doctor").ok();
        return out;
    }
    let names: Vec<&str> = works.iter().map(|(name, _)| *name).collect();
    writeln!(out, "ok    in the sandbox: {}", names.join(", ")).ok();
    // What does not work outside either is no fault of the sandbox.
    let lost = fails.into_iter().filter(|(name, argument)| run(name, &[argument], folder.path()).is_well);
    for (name, argument) in lost.take(MAX_ALONE) {
        let alone = run(program, &["exec", "--agent", agent, "--", name, argument], folder.path());
        let why = last_line(&alone.stderr);
        writeln!(out, "warn  {name} does not work in the sandbox: {why}").ok();
    }
    out
}

/// How a program ended.
#[derive(Default)]
struct Ran {
    is_well: bool,
    is_late: bool,
    stdout: String,
    stderr: String,
}

fn run(program: &str, arguments: &[&str], folder: &Path) -> Ran {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let Ok(mut child) = command.spawn() else { return Ran::default() };
    let (stdout, stderr) = (read_all(child.stdout.take()), read_all(child.stderr.take()));
    let ended = wait(&mut child, PATIENCE);
    end(&mut child);
    let text = |from: &mpsc::Receiver<String>| from.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
    Ran {
        is_well: ended == Some(true),
        is_late: ended.is_none(),
        stdout: text(&stdout),
        stderr: text(&stderr),
    }
}

/// Returns the last line of a program's errors, without the name of this program.
fn last_line(text: &str) -> String {
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no reason was printed");
    // A decision begins with the command, which is long.
    let reason = last.split_once("`: ").map_or(last, |(_, reason)| reason);
    escape(reason.trim().trim_start_matches("stockade: ")).into_owned()
}

fn is_in_path(name: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.is_absolute() && folder.join(name).is_file())
}
