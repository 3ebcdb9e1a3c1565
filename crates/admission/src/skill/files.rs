//! Surfaces of one file beside a skill: by its name, its content, and its first bytes.

use std::path::Path;

use stockade_files::Gap;
use stockade_names::{Kind, Name, Root, obeyed};
use stockade_scanner::{Syntax, syntax_of};
use stockade_skill::{
    FilePosition, SkillProblems, SurfaceKind, binary, first_chars, is_program, settings_surfaces,
};
use stockade_text::TextPosition;

use crate::scan_files::FileScan;

/// A surface of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileSurface {
    /// Its kind.
    pub kind: SurfaceKind,
    /// The file, relative to the examined directory.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// Its text.
    pub text: String,
    /// Whether the text is a command to be judged.
    pub is_command: bool,
    problem: Option<Message>,
}

/// The message about a surface that runs without a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Message {
    rule: &'static str,
    message: &'static str,
    fix: &'static str,
}

/// Returns the surfaces of a file. `below` is its path relative to the examined directory.
#[must_use]
pub fn file_surfaces(file: &FileScan<'_>, below: &Path) -> Vec<FileSurface> {
    // A file that was not opened has no surfaces.
    if matches!(file.gap, Some(Gap::Unreadable(_) | Gap::Special | Gap::LinkOutside { .. } | Gap::Excluded)) {
        return Vec::new();
    }
    let path = below.to_string_lossy().into_owned();
    let surface = |kind, text: String| FileSurface {
        kind,
        path: path.clone(),
        line: 1,
        text,
        is_command: false,
        problem: message(kind),
    };
    let row = obeyed(Root::Folder, below.components().map(|part| part.as_os_str().to_string_lossy()));
    let mut found: Vec<FileSurface> = row.into_iter().map(|row| surface(kind_of(row), said(row))).collect();
    if let Some(binary) = binary(file.head) {
        let one = surface(binary.kind, binary.format.to_owned());
        let problem = one.problem.filter(|_| !file.is_unpacked);
        found.push(FileSurface { problem, ..one });
        return found;
    }
    match settings_surfaces(&path, file.text, row.is_some()) {
        Ok(started) => found.extend(started.into_iter().map(|one| FileSurface {
            kind: one.kind,
            path: path.clone(),
            line: one.line,
            text: one.text,
            is_command: one.is_command,
            problem: match one.kind {
                SurfaceKind::StartsPrograms => Some(STARTUP),
                // A file that installation runs is a script like others, at a well-known place.
                SurfaceKind::Installer if !one.is_command => None,
                kind => message(kind),
            },
        })),
        Err(unread) => found.push(FileSurface {
            line: unread.line,
            problem: Some(UNREAD),
            ..surface(SurfaceKind::StartsPrograms, format!("it cannot be read: {}", unread.reason))
        }),
    }
    if is_program(&path, file.text) || syntax_of(file.path, file.text) == Syntax::Shell {
        let first_line = file.text.lines().next().unwrap_or_default();
        found.push(surface(SurfaceKind::Script, first_line.chars().take(200).collect()));
    }
    found
}

const fn kind_of(row: &Name) -> SurfaceKind {
    match row.kind {
        Kind::InstructsAgents => SurfaceKind::InstructsAgents,
        _ => SurfaceKind::StartsPrograms,
    }
}

fn said(row: &Name) -> String {
    format!("{}: {}", row.tool, row.why)
}

const STARTUP: Message = Message {
    rule: "startup-code",
    message: "every Python process with this directory on its path runs the line",
    fix: "put the code into a module that is imported explicitly",
};

const UNREAD: Message = Message {
    rule: "settings-unread",
    message: "these settings could not be parsed, but another program may obey them",
    fix: "write them in plain JSON, YAML or TOML, without a key that is given twice",
};

/// Messages about each kind that runs without a question, or that cannot be examined.
const MESSAGES: &[(SurfaceKind, Message)] = &[
    (
        SurfaceKind::Hook,
        Message {
            rule: "hook",
            message: "the file registers a command with programs that use the directory",
            fix: "let the operator register hooks, after reading what they run",
        },
    ),
    (
        SurfaceKind::Server,
        Message {
            rule: "tool-server",
            message: "the file registers a tool server, which is started or contacted without a question",
            fix: "let the operator register servers, after reading what they run",
        },
    ),
    (
        SurfaceKind::Installer,
        Message {
            rule: "install-script",
            message: "installing the package in this directory runs a command",
            fix: "remove the script, and list the required commands in the text",
        },
    ),
    (
        SurfaceKind::MachineCode,
        Message {
            rule: "machine-code",
            message: "compiled code cannot be reviewed",
            fix: "ship the source with build instructions",
        },
    ),
    (
        SurfaceKind::Bytecode,
        Message {
            rule: "bytecode",
            message: "bytecode runs without its source",
            fix: "ship the source instead",
        },
    ),
    (
        SurfaceKind::Archive,
        Message {
            rule: "archive",
            message: "the archive was not scanned",
            fix: "ship the files unpacked, so that they are scanned",
        },
    ),
];

fn message(kind: SurfaceKind) -> Option<Message> {
    MESSAGES.iter().find(|(known, _)| *known == kind).map(|(_, message)| *message)
}

impl FileSurface {
    /// Reports what runs without a question.
    pub(crate) fn tell(&self, problems: &mut SkillProblems) {
        let Some(Message { rule, message, fix }) = self.problem else { return };
        let position = FilePosition { path: &self.path, at: TextPosition { line: self.line, column: 1 } };
        problems.add(rule, position, format_args!("{message}: {}", first_chars(&self.text)), fix);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stockade_skill::Dialect;

    /// Every problem that is reported has its levels.
    #[test]
    fn every_rule_has_its_levels() {
        for message in MESSAGES.iter().map(|(_, message)| message).chain([&STARTUP, &UNREAD]) {
            assert!(Dialect::rules().any(|known| known == message.rule), "{}", message.rule);
        }
    }
}
