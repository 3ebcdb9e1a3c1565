//! Rows of the table: names of one tool with the same meaning and treatment.

use crate::secrecy::{Needed, Read, SandboxView, Secrecy};

/// A row: names of one tool, their meaning and their treatment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name {
    /// Stable identifier.
    pub id: &'static str,
    /// The program that reads these files.
    pub tool: &'static str,
    /// Effect of the files.
    pub kind: Kind,
    /// The directory that the paths are relative to.
    pub scope: Scope,
    /// The paths below the scope: components separated by `/`, case-insensitive; `*` matches any part of one
    /// component. Everything below a path is covered too.
    pub paths: &'static [&'static str],
    /// Suffixes of paths that look the same and are excepted.
    pub but: &'static [&'static str],
    /// Consequence for a command that writes such a file.
    pub write: Write,
    /// How secret it is.
    pub secrecy: Secrecy,
    /// What sandboxed commands need of it.
    pub needed: Needed,
    /// Why such a file matters.
    pub why: &'static str,
    /// Example paths that match, relative to the scope.
    pub matches: &'static [&'static str],
    /// Look-alikes that no row matches.
    pub clean: &'static [&'static str],
}

/// Effect of a file on its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Some program of the host runs what the file names.
    StartsPrograms,
    /// Some agent obeys its text.
    InstructsAgents,
    /// It contains passwords, tokens or other secrets.
    HoldsSecrets,
    /// It is a private key, or lists who may log in.
    GrantsAccess,
    /// It records past actions.
    KeepsTraces,
}

impl Kind {
    /// Every kind, in the order of the documentation.
    pub const ALL: &[Self] = &[
        Self::StartsPrograms,
        Self::InstructsAgents,
        Self::HoldsSecrets,
        Self::GrantsAccess,
        Self::KeepsTraces,
    ];

    /// Returns a short label: `agent instructions`.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::StartsPrograms => "starts programs",
            Self::InstructsAgents => "agent instructions",
            Self::HoldsSecrets => "secrets",
            Self::GrantsAccess => "keys and logins",
            Self::KeepsTraces => "history",
        }
    }
}

/// The directory that the paths of a row are relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Any directory, at any depth.
    Anywhere,
    /// The user's home directory.
    Home,
    /// The directory in which git keeps a repository: `.git`, that of a submodule or a worktree, or a bare one.
    Repository,
    /// The root directory of the machine.
    Machine,
}

/// Consequence of writing a file, from mildest to strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Write {
    /// Writing has no consequence.
    #[default]
    Free,
    /// A sandboxed command's change is reported to the user, and no command is asked about: developers write such files
    /// all day, as they write source code.
    Note,
    /// The change is reported to the user: projects change such files daily, so it is neither refused nor moved.
    Report,
    /// Existing files are read-only, and new ones are refused or put into quarantine; the user may be asked.
    Protect,
    /// Refused without a question.
    Refuse,
}

/// The strictest treatment of several rows, for each kind of access separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Treatment {
    /// Consequence of writing.
    pub write: Write,
    /// How secret it is.
    pub secrecy: Secrecy,
    /// Consequence for a command or file tool that reads it.
    pub read: Read,
    /// What a sandboxed command sees of it.
    pub view: SandboxView,
}

impl Treatment {
    /// Returns the stricter of both, for each kind of access.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            write: self.write.max(other.write),
            secrecy: self.secrecy.max(other.secrecy),
            read: self.read.max(other.read),
            view: self.view.max(other.view),
        }
    }

    /// Whether this is at least as strict as `other` for each kind of access.
    #[must_use]
    pub fn covers(self, other: Self) -> bool {
        self.or(other) == self
    }
}

impl Name {
    /// Returns the treatment of the row.
    #[must_use]
    pub const fn treatment(&self) -> Treatment {
        Treatment { write: self.write, secrecy: self.secrecy, read: self.read(), view: self.view() }
    }

    /// Returns the consequence for a command or file tool that reads the files.
    #[must_use]
    pub const fn read(&self) -> Read {
        self.secrecy.read(self.scope)
    }

    /// Returns what a sandboxed command sees of the files.
    #[must_use]
    pub const fn view(&self) -> SandboxView {
        self.secrecy.view(self.needed, self.scope)
    }

    /// Whether the files are obeyed, as opposed to merely stored.
    #[must_use]
    pub const fn is_obeyed(&self) -> bool {
        matches!(self.kind, Kind::StartsPrograms | Kind::InstructsAgents)
    }

    /// Returns a short label: `agent instructions`, or `starts programs: VS Code`.
    #[must_use]
    pub fn label(&self) -> String {
        match self.kind {
            Kind::InstructsAgents => self.kind.label().to_owned(),
            _ => format!("{}: {}", self.kind.label(), self.tool),
        }
    }
}
