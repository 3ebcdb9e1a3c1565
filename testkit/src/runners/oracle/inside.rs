//! Behaviour of this program inside the jail: it starts the shells there, and it replaces every program that they
//! start.

use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// This program, in the jail.
pub(super) const PROGRAM: &str = "/oracle/testkit";
/// The same, for a shell that reports a program that it did not find.
pub(super) const NAMES: &str = "/oracle/names";
/// The same, for programs in a directory that only untrusted data names.
pub(super) const EVIL: &str = "/oracle/evil";
/// The directory of those programs.
pub(super) const EVIL_FOLDER: &str = "/evil";
/// The programs that run for real after they are logged.
pub(super) const REAL: &str = "/real";
/// Where commands run.
pub(super) const WORK: &str = "/work";
/// Log of the runs.
pub(super) const LOG: &str = "/log";
/// The variable that names the shell to start.
pub(super) const DRIVE: &str = "STOCKADE_ORACLE_DRIVES";

const RUNS: &str = "/log/runs";
/// While it exists, programs fail.
const FAIL: &str = "/log/fail";
/// File that shells read before a text.
const PRELUDE: &str = "/log/.zshenv";

/// Time limit of a text. After it, the text is killed, and its runs until then count.
const PATIENCE: Duration = Duration::from_secs(2);

/// Interval of checks for running texts.
const LOOK: Duration = Duration::from_millis(10);

/// A text with more processes than this is killed at once: the machine belongs to others too.
const MAX_PROCESSES: usize = 250;

/// The most that one text may write down.
const MAX_LOG: u64 = 64 * 1024;

/// Descriptor 9 stays open as long as any process of a text runs. Disabled builtins become programs, and missing
/// programs are logged too.
const IN_BASH: &str = "{ : >&9; } 2>/dev/null || exec 9>&1\nenable -n echo\nFUNCNEST=3\n\
                       command_not_found_handle() { /oracle/names \"$@\"; }\n";
const IN_ZSH: &str = "{ : >&9 } 2>/dev/null || exec 9>&1\ndisable echo\nFUNCNEST=3\n\
                      command_not_found_handler() { /oracle/names \"$@\" }\n";
const IN_SH: &str = "exec 9>&1\n";

/// Runs the jail's part, if this process is inside one.
pub(crate) fn run_if_jailed() -> Option<ExitCode> {
    let program = std::env::current_exe().ok()?;
    if program == Path::new(EVIL) {
        return Some(log(&["evil"]).unwrap_or(ExitCode::FAILURE));
    }
    if program != Path::new(PROGRAM) {
        return None;
    }
    let done = match std::env::var_os(DRIVE) {
        Some(shell) => drive(&shell.to_string_lossy()).map(|()| ExitCode::SUCCESS),
        None => log(&[]),
    };
    Some(done.unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::FAILURE
    }))
}

/// Data that harms a program that evaluates it, uses it as the name of a variable, looks up programs in it, or takes
/// it for options.
const DATA: &[(&str, &str, &str)] = &[
    ("h1", "HOSTILE", "path[$(curl data)]"),
    ("h2", "NAMED", "PATH=/evil"),
    ("h3", "FOLDER", "/evil"),
    ("h4", "OPTIONS", "-vPATH"),
];

/// Writes down how this program was called, after the words `first`, and runs the real one if there is one.
fn log(first: &[&str]) -> io::Result<ExitCode> {
    let mut words: Vec<OsString> = first.iter().map(OsString::from).chain(std::env::args_os()).collect();
    if words.first().is_some_and(|name| name == NAMES) {
        words.remove(0);
    }
    let Some((name, arguments)) = words.split_first() else { return Ok(ExitCode::FAILURE) };
    let mut record = words.len().to_string().into_bytes();
    for word in &words {
        record.push(0);
        record.extend(word.as_bytes());
    }
    record.push(0);
    let mut file = OpenOptions::new().create(true).append(true).open(RUNS)?;
    if file.metadata()?.len() < MAX_LOG {
        file.write_all(&record)?;
    }
    let base = Path::new(name).file_name().unwrap_or(name);
    let real = Path::new(REAL).join(base);
    if real.exists() {
        return Err(Command::new(real).arg0(name).args(arguments).exec());
    }
    Ok(ExitCode::from(u8::from(Path::new(FAIL).exists())))
}

/// Runs the texts of the standard input twice each: once all programs succeed, once all fail.
fn drive(shell: &str) -> io::Result<()> {
    let mut texts = Vec::new();
    io::stdin().read_to_end(&mut texts)?;
    std::fs::write(
        PRELUDE,
        match shell {
            "zsh" => IN_ZSH,
            "bash" => IN_BASH,
            _ => IN_SH,
        },
    )?;
    let mut out = io::stdout().lock();
    for text in texts.strip_suffix(b"\0").unwrap_or(&texts).split(|&byte| byte == 0) {
        let mut log = Vec::new();
        for fails in [false, true] {
            prepare(fails)?;
            run(shell, text)?;
            log.extend(std::fs::read(RUNS).unwrap_or_default());
        }
        let runs = distinct(&log);
        out.write_all(format!("{}\0", runs.len()).as_bytes())?;
        runs.iter().try_for_each(|run| out.write_all(run))?;
    }
    out.flush()
}

/// Restores the directory to its state before the last text.
fn prepare(fails: bool) -> io::Result<()> {
    for entry in std::fs::read_dir(WORK)? {
        let path = entry?.path();
        // Leftovers are harmless: a name that a pattern may match.
        let _kept = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    }
    // Empty, because a shell that receives it as a script runs its content.
    std::fs::write(format!("{WORK}/a"), "")?;
    std::fs::write(format!("{WORK}/b.txt"), "")?;
    std::os::unix::fs::symlink(PROGRAM, format!("{WORK}/evil.sh"))?;
    for (file, _, data) in DATA {
        std::fs::write(format!("{WORK}/{file}"), format!("{data}\n"))?;
    }
    // Directories whose names are numbers: `((PATH=7))`.
    for folder in ["5", "7"] {
        std::os::unix::fs::symlink(EVIL_FOLDER, format!("{WORK}/{folder}"))?;
    }
    let _none = std::fs::remove_file(RUNS);
    if fails { std::fs::write(FAIL, "") } else { std::fs::remove_file(FAIL).or(Ok(())) }
}

/// Runs a text and waits until all its processes have ended.
fn run(shell: &str, text: &[u8]) -> io::Result<()> {
    let (mut reader, writer) = io::pipe()?;
    let mut child = {
        let mut command = Command::new(format!("{REAL}/{shell}"));
        // Settings for dash and ash, which read no file, go before the text, on a line that cannot join it.
        let whole =
            if matches!(shell, "sh" | "ash") { [IN_SH.as_bytes(), text].concat() } else { text.to_vec() };
        command.arg0(shell).args([OsStr::new("-c"), &OsString::from_vec(whole)]).env_clear();
        command.envs([("PATH", "/bin"), ("HOME", "/home/me"), ("BASH_ENV", PRELUDE), ("ZDOTDIR", LOG)]);
        command.envs(DATA.iter().map(|(_, variable, data)| (variable, data)));
        command.current_dir(WORK).stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        command.spawn()?
    };
    let (ended, end) = mpsc::channel();
    std::thread::spawn(move || {
        let read = io::copy(&mut reader, &mut io::sink());
        // The receiver is gone if the text was killed.
        let _gone = ended.send(read);
    });
    if !ends_soon(&end)? {
        // We are the first process of the jail, the only one that this does not reach.
        let kill = Command::new(format!("{REAL}/bash")).args(["-c", "kill -9 -1"]).env_clear().status();
        let _late = (kill, end.recv_timeout(PATIENCE));
    }
    child.wait().map(drop)
}

/// Waits for a text to end, within the time limit and unless it multiplies.
fn ends_soon(end: &mpsc::Receiver<io::Result<u64>>) -> io::Result<bool> {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if end.recv_timeout(LOOK).is_ok() {
            return Ok(true);
        }
        if processes()? > MAX_PROCESSES {
            return Ok(false);
        }
    }
    Ok(false)
}

/// How many processes there are in the jail.
fn processes() -> io::Result<usize> {
    let is_process = |name: &OsStr| name.as_bytes().iter().all(u8::is_ascii_digit);
    Ok(std::fs::read_dir("/proc")?.flatten().filter(|entry| is_process(&entry.file_name())).count())
}

/// Returns the distinct runs in a log. A truncated entry is not a run.
fn distinct(log: &[u8]) -> Vec<Vec<u8>> {
    let mut runs: Vec<Vec<u8>> = Vec::new();
    let mut rest = log;
    while let Some((run, after)) = first_run(rest) {
        if !runs.iter().any(|known| known == run) {
            runs.push(run.to_vec());
        }
        rest = after;
    }
    runs
}

fn first_run(log: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut ends = log.iter().enumerate().filter(|(_, byte)| **byte == 0).map(|(at, _)| at + 1);
    let first = ends.next()?;
    let count: usize = std::str::from_utf8(log.get(..first - 1)?).ok()?.parse().ok()?;
    let end = ends.nth(count.checked_sub(1)?)?;
    log.split_at_checked(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_counted_once_and_whole() {
        let runs = distinct(b"2\0rm\0a\x001\0ls\x002\0rm\0a\x003\0cut\0off\0");
        assert_eq!(runs, [b"2\0rm\0a\0".to_vec(), b"1\0ls\0".to_vec()]);
        assert!(distinct(b"").is_empty() && distinct(b"x\0").is_empty());
    }

    #[test]
    fn outside_the_jail_it_does_nothing() {
        assert!(run_if_jailed().is_none());
    }
}
