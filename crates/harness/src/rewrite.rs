//! Rewriting of a command so that it runs in the sandbox.
#![expect(clippy::disallowed_methods, reason = "asks where this program lies, and where a folder really is")]

use std::env;
use std::fs;
use std::path::{Component, Path, PathBuf};

use stockade_guard::command::shell::quote_argv;
use stockade_guard::config::chosen_config_file;
use stockade_text::escape_path;

use super::call::Origin;

/// Path of this program for shell lines. A path that is not UTF-8 or not absolute cannot be used.
pub fn program() -> Result<String, String> {
    let own = env::current_exe().map_err(|error| format!("cannot find the path of this program: {error}"))?;
    // Linux appends this when the file was replaced while it runs.
    match own.to_str() {
        Some(path) if own.is_absolute() && !path.ends_with(" (deleted)") => Ok(path.to_owned()),
        _ => Err(format!("{} contains characters that cannot be quoted in a command", own.display())),
    }
}

/// A command that runs in the sandbox, for the shell of a harness.
#[derive(Debug)]
pub struct Contained {
    head: String,
    /// Working directory of the command below the workspace.
    folder: Option<PathBuf>,
}

impl Contained {
    /// Determines the program and the directories for the sandbox of a call.
    ///
    /// # Errors
    /// When a path cannot be written into a shell line.
    pub fn of(agent: &str, origin: &Origin) -> Result<Self, String> {
        let workspace = origin.workspace.to_str().ok_or("the path of the workspace is not valid UTF-8")?;
        let (program, file) = (program()?, chosen_config_file());
        let file = match &file {
            Some(file) => Some(file.to_str().ok_or("the path of the config file is not valid UTF-8")?),
            None => None,
        };
        let config = file.map(|file| ["--config", file]).into_iter().flatten();
        let options = ["--quiet", "--agent", agent, "--workspace", workspace];
        let words: Vec<&str> = [program.as_str(), "exec"]
            .into_iter()
            .chain(config)
            .chain(options)
            .chain(["--", "bash", "-c"])
            .collect();
        let folder = below(&origin.workspace, &origin.cwd).ok_or_else(|| {
            let (cwd, workspace) = (escape_path(&origin.cwd), escape_path(&origin.workspace));
            format!("it would run in {cwd}, which is not visible in the sandbox; run it in {workspace}")
        })?;
        let folder = Some(folder).filter(|folder| !folder.as_os_str().is_empty());
        Ok(Self { head: quote_argv(words), folder })
    }

    /// Returns the line that runs a command in the sandbox.
    pub fn line(&self, command: &str) -> Result<String, String> {
        Ok(format!("{} {}", self.head, quote_argv([self.text(command)?.as_str()])))
    }

    /// Returns the line that runs a command in the sandbox after the user has agreed, with the ticket that proves it.
    pub(super) fn agreed_line(&self, command: &str, ticket: &str) -> Result<String, String> {
        let (before, after) = self.head.rsplit_once(" -- ").ok_or("the line has no command")?;
        Ok(format!("{before} --agreed {ticket} -- {after} {}", quote_argv([self.text(command)?.as_str()])))
    }

    /// Returns the command as `exec` judges it.
    pub(super) fn judged(&self, command: &str) -> Result<String, String> {
        Ok(quote_argv(["bash", "-c", self.text(command)?.as_str()]))
    }

    fn text(&self, command: &str) -> Result<String, String> {
        Ok(match self.gone_to()? {
            Some(head) => format!("{head}{command}{TAIL}"),
            None => command.to_owned(),
        })
    }

    /// Returns the command of a line, if the line is exactly what [`Self::line`] would write.
    pub fn command_of(&self, line: &str) -> Option<String> {
        let quoted = line.strip_prefix(self.head.as_str())?.strip_prefix(' ')?;
        let whole = unquoted(quoted)?;
        let command = match self.gone_to().ok()? {
            Some(head) => whole.strip_prefix(head.as_str())?.strip_suffix(TAIL)?.to_owned(),
            None => whole,
        };
        // A single word in this program's quoting; other text could run more than the command.
        (self.line(&command).ok()? == line).then_some(command)
    }

    /// Returns the part before a command that runs in a directory below the workspace.
    fn gone_to(&self) -> Result<Option<String>, String> {
        let Some(folder) = &self.folder else { return Ok(None) };
        let folder = folder.to_str().ok_or("the path of the directory is not valid UTF-8")?;
        Ok(Some(format!("cd -- {} && {{\n", quote_argv([folder]))))
    }
}

/// Returns the part after it.
const TAIL: &str = "\n}";

/// Returns a directory relative to one above it, with symlinks resolved.
fn below(workspace: &Path, folder: &Path) -> Option<PathBuf> {
    let is_plain = |rest: &&Path| !rest.components().any(|part| part == Component::ParentDir);
    if let Some(rest) = folder.strip_prefix(workspace).ok().filter(is_plain) {
        return Some(rest.to_owned());
    }
    let (workspace, folder) = (fs::canonicalize(workspace).ok()?, fs::canonicalize(folder).ok()?);
    Some(folder.strip_prefix(workspace).ok()?.to_owned())
}

/// Unquotes a word.
pub(super) fn unquoted(quoted: &str) -> Option<String> {
    let inner = quoted.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    Some(inner.map_or_else(|| quoted.to_owned(), |inner| inner.replace("'\\''", "'")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contained(cwd: &str) -> Contained {
        let origin = Origin { cwd: cwd.into(), workspace: "/w s".into(), session: String::new() };
        Contained::of("claude", &origin).unwrap()
    }

    #[test]
    fn a_line_of_ours_is_known_again_and_no_other_is() {
        let commands = ["npm test", "echo 'a b'; rm x", "'", "a\nb", "x", "$(x)", "it's '\\'' so", "a\n}"];
        let folders = ["/w s", "/w s/sub", "/w s/a 'b"];
        for (folder, command) in folders.into_iter().flat_map(|folder| commands.map(|one| (folder, one))) {
            let ours = contained(folder);
            let line = ours.line(command).unwrap();
            assert_eq!(ours.command_of(&line).as_deref(), Some(command), "{line}");
            for other in [
                format!("{line}; rm -rf ~"),
                format!("{line} x"),
                format!(" {line}"),
                format!("{line}'"),
                line.replace("--agent claude", "--agent other"),
            ] {
                assert_eq!(ours.command_of(&other), None, "{other}");
            }
        }
        // A line for another directory would run there.
        let (ours, below) = (contained("/w s"), contained("/w s/sub"));
        assert_eq!(below.command_of(&ours.line("make").unwrap()), None);
        assert_eq!(contained("/w s/other").command_of(&below.line("make").unwrap()), None);
        assert_eq!(ours.command_of(&format!("{} npm;evil", ours.head)), None);
        assert_eq!(ours.command_of(&format!("{} npm evil", ours.head)), None);
    }

    /// A command that was checked in one directory does not run in another.
    #[test]
    fn nothing_outside_of_the_workspace_is_contained() {
        for cwd in ["/", "/etc", "/w", "/w sub", "/w s/../etc"] {
            let origin = Origin { cwd: cwd.into(), workspace: "/w s".into(), session: String::new() };
            assert!(Contained::of("claude", &origin).is_err_and(|why| why.contains(cwd)), "{cwd}");
        }
    }

    #[test]
    fn a_folder_below_the_workspace_is_gone_to() {
        let line = contained("/w s/a b").line("make").unwrap();
        assert!(line.ends_with("bash -c 'cd -- '\\''a b'\\'' && {\nmake\n}'"), "{line}");
    }
}
