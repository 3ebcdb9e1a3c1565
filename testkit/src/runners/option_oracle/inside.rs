//! Behaviour of this program inside the jail: it runs each command in a fresh folder, and compares what is there afterwards.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use super::hostile_files;

/// This program, in the jail.
pub(super) const PROGRAM: &str = "/option-oracle";
/// Where commands run: a workspace with a repository.
pub(super) const WORK: &str = "/work";
/// A directory outside of the workspace.
pub(super) const OUTSIDE: &str = "/outside";
/// The directory of the program that must not run.
pub(super) const EVIL: &str = "/evil";
/// The program that must not run.
pub(super) const MARKER: &str = "/evil/run";
const HOME: &str = "/home/me";
const BASH: &str = "/bin/bash";
/// Everything that can be written, and is compared.
pub(super) const WRITABLE: &[&str] = &[WORK, OUTSIDE, HOME, "/tmp"];

/// What programs write for themselves, whatever they are asked: git refreshes its index, and `git add` stores what is added; clients
/// of clouds note when they ran.
const OWN: &[&str] =
    &["/work/.git/index", "/work/.git/objects", "/home/me/.terraform.d", "/home/me/.config/gcloud"];

/// What secrets contain.
const SECRET: &str = "c4narySecret";
/// Written by the program that must not run.
const RAN: &str = "/outside/ran";

/// Time limit of a command. Whatever it has done until then counts.
const PATIENCE: Duration = Duration::from_millis(1500);
/// The most output that is searched for secrets.
const MAX_OUTPUT: u64 = 1 << 20;

/// Programs of the workspace that a search path without system directories finds.
const LURES: &[&str] = &["ls", "git", "gzip", "pr", "less", "sh", "grep", "cat"];

/// Runs the jail's part, if this process is inside one.
pub(crate) fn run_if_jailed() -> Option<ExitCode> {
    let is_jailed = std::env::current_exe().ok()? == Path::new(PROGRAM);
    is_jailed.then(|| match drive() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    })
}

fn drive() -> io::Result<()> {
    let chosen = std::env::args().nth(1).unwrap_or_else(|| BASH.to_owned());
    let mut texts = Vec::new();
    io::stdin().read_to_end(&mut texts)?;
    program(Path::new(MARKER), &format!("#!/bin/sh\necho ran > {RAN}\n"))?;
    let mut out = io::stdout().lock();
    let mut before = prepare()?;
    for text in texts.strip_suffix(b"\0").unwrap_or(&texts).split(|&byte| byte == 0) {
        let output = run(&chosen, text)?;
        let after = contents()?;
        out.write_all(harm(&before, &after, &output).as_bytes())?;
        out.write_all(b"\0")?;
        if after != before {
            before = prepare()?;
        }
    }
    out.flush()
}

/// What a command did that no allowed command may do; empty if nothing.
fn harm(before: &Contents, after: &Contents, output: &[u8]) -> String {
    let secret = SECRET.as_bytes();
    if after.contains_key(Path::new(RAN)) {
        return "ran a program".to_owned();
    }
    if output.windows(secret.len()).any(|window| window == secret) {
        return "printed a secret".to_owned();
    }
    let changed = after.iter().find(|(path, content)| before.get(*path) != Some(content));
    let gone = before.keys().find(|path| !after.contains_key(*path));
    match (changed, gone) {
        (Some((path, _)), _) => format!("wrote {}", path.display()),
        (None, Some(path)) => format!("deleted {}", path.display()),
        (None, None) => String::new(),
    }
}

/// The files and their contents.
type Contents = BTreeMap<PathBuf, Vec<u8>>;

/// Restores all directories to their first state.
fn prepare() -> io::Result<Contents> {
    for folder in WRITABLE {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let is_folder = path.symlink_metadata()?.is_dir();
            if is_folder { std::fs::remove_dir_all(path)? } else { std::fs::remove_file(path)? }
        }
    }
    for (path, text) in hostile_files::all() {
        Path::new(&path).parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(&path, text)?;
    }
    for name in LURES {
        program(&Path::new(WORK).join(name), &format!("#!/bin/sh\necho ran > {RAN}\n"))?;
    }
    let git = "git init -q && git config user.name me && git config user.email me@x && git add f src && git commit -qm x";
    let made = shell(BASH, git.as_bytes()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    // Without git, its commands are not found either.
    let _without_git = made;
    contents()
}

fn program(path: &Path, text: &str) -> io::Result<()> {
    std::fs::write(path, text)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}

fn contents() -> io::Result<Contents> {
    let mut found = Contents::new();
    let mut folders: Vec<PathBuf> = WRITABLE.iter().map(PathBuf::from).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let about = path.symlink_metadata()?;
            if about.is_dir() {
                folders.push(path);
            } else if about.is_file() {
                let is_own = OWN.iter().any(|own| path.starts_with(own));
                let content = if is_own { None } else { std::fs::read(&path).ok() };
                content.map(|content| found.insert(path, content));
            }
        }
    }
    Ok(found)
}

fn shell(path: &str, text: &[u8]) -> Command {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let mut command = Command::new(path);
    command
        .args([OsStr::new("-c"), OsStr::from_bytes(text)])
        .env_clear()
        .current_dir(WORK)
        .stdin(Stdio::null());
    command.envs([
        ("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"),
        ("HOME", HOME),
        ("API_TOKEN", SECRET),
        ("LANG", "C.UTF-8"),
    ]);
    command
}

/// Runs a command and returns its output, errors included.
fn run(path: &str, text: &[u8]) -> io::Result<Vec<u8>> {
    let (reader, writer) = io::pipe()?;
    let mut child: Child = {
        let mut command = shell(path, text);
        command.stdout(writer.try_clone()?).stderr(writer);
        command.spawn()?
    };
    let (ended, end) = mpsc::channel();
    std::thread::spawn(move || {
        let mut output = Vec::new();
        let mut reader = reader;
        let read = (&mut reader).take(MAX_OUTPUT).read_to_end(&mut output);
        // A program that prints without end is stopped by the time limit.
        let drained = read.and_then(|_| io::copy(&mut reader, &mut io::sink()));
        // The receiver is gone if the command was killed and did not end.
        let _gone = ended.send(drained.map(|_| output));
    });
    let output = end.recv_timeout(PATIENCE).or_else(|_| {
        // We are the first process of the jail, the only one that this does not reach.
        let _killed = Command::new(BASH).args(["-c", "kill -9 -1"]).env_clear().status();
        end.recv_timeout(PATIENCE)
    });
    child.wait()?;
    output.unwrap_or_else(|_| Ok(Vec::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harm_is_what_ran_was_written_or_shown() {
        let state = |files: &[(&str, &str)]| -> Contents {
            files.iter().map(|(path, text)| (PathBuf::from(path), text.as_bytes().to_vec())).collect()
        };
        let before = state(&[("/work/f", "a")]);
        assert_eq!(harm(&before, &before, b"a"), "");
        assert_eq!(harm(&before, &state(&[("/work/f", "b")]), b""), "wrote /work/f");
        assert_eq!(harm(&before, &state(&[]), b""), "deleted /work/f");
        assert_eq!(harm(&before, &before, b"xc4narySecret\n"), "printed a secret");
        assert_eq!(harm(&before, &state(&[("/work/f", "a"), (RAN, "ran")]), b""), "ran a program");
    }

    #[test]
    fn outside_the_jail_it_does_nothing() {
        assert!(run_if_jailed().is_none());
    }
}
