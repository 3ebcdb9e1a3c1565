//! A row of the table: some names of one tool that mean the same and are treated alike.

/// Some names of one tool, what they mean, and what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name {
    /// Its stable identifier.
    pub id: &'static str,
    /// Who reads these files.
    pub tool: &'static str,
    /// What the files do to whoever reads them.
    pub kind: Kind,
    /// Where the paths begin.
    pub scope: Scope,
    /// The paths, below where they begin: names with `/` between them, in small letters or not; `*` stands for any part of
    /// one name. What lies below one of them is meant too.
    pub paths: &'static [&'static str],
    /// Ends of paths that look the same and are not meant.
    pub but: &'static [&'static str],
    /// What whoever writes there suffers.
    pub write: Write,
    /// What a command that reads there suffers.
    pub read: Read,
    /// What the file tools of an agent may do there.
    pub tools: Tools,
    /// What a sandboxed command sees of it.
    pub view: SandboxView,
    /// What happens because such a file is there.
    pub why: &'static str,
    /// Paths that are meant, from where the scope begins.
    pub matches: &'static [&'static str],
    /// Look-alikes that are not meant by any row.
    pub clean: &'static [&'static str],
}

/// What a file does to whoever reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Some program of the host runs what the file says.
    StartsPrograms,
    /// Some agent obeys what the file says.
    InstructsAgents,
    /// Passwords, tokens or other secrets are kept in it.
    HoldsSecrets,
    /// It is a private key, or says who may log in.
    GrantsAccess,
    /// It records what was done.
    KeepsTraces,
}

impl Kind {
    /// Every kind, in the order of the documents.
    pub const ALL: &[Self] = &[
        Self::StartsPrograms,
        Self::InstructsAgents,
        Self::HoldsSecrets,
        Self::GrantsAccess,
        Self::KeepsTraces,
    ];

    /// Returns a few words for a person: `agent instructions`.
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

/// Where the paths of a row begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// In any folder, at any depth.
    Anywhere,
    /// In the home of the user.
    Home,
    /// In the folder in which git keeps a repository: `.git`, that of a submodule or a worktree, or a bare one.
    Repository,
    /// At the root of the machine.
    Machine,
}

/// What whoever writes a file suffers, from mildest to strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Write {
    /// Nothing follows from the name.
    #[default]
    Free,
    /// The change is reported to a person: projects change such files daily, so they are neither refused nor moved.
    Report,
    /// What is there stays as it is, and what appears is refused, or put into quarantine; a person may be asked.
    Protect,
    /// It is refused, and nobody is asked.
    Refuse,
}

/// What a command that reads a file suffers, from mildest to strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Read {
    /// Nothing follows from the name.
    #[default]
    Free,
    /// A person is asked.
    Ask,
    /// It is refused, and nobody is asked.
    Refuse,
}

/// What the file tools of an agent may do with a file, from mildest to strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Tools {
    /// What is configured for any other file.
    #[default]
    Configured,
    /// Neither to read nor to write it.
    Forbidden,
}

/// What a sandboxed command sees of a file, from mildest to strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum SandboxView {
    /// The file, where the folder around it is visible.
    #[default]
    Shown,
    /// The file; whoever runs the command is told if a secret stands in it. Programs that the command needs would not work
    /// without it.
    Told,
    /// As [masked](Self::Masked), if a secret stands in it. Most files of this name hold none.
    MaskedWithSecret,
    /// A device that cannot be opened in its place, also where the folder around it is visible, unless the repository around it
    /// holds it just so. In the home, a request to share it by its name is refused.
    Masked,
    /// Nothing, and a request to share it, or what is around it, is refused.
    Withheld,
}

/// The strictest of what several rows say, each way apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Treatment {
    /// What whoever writes there suffers.
    pub write: Write,
    /// What a command that reads there suffers.
    pub read: Read,
    /// What the file tools of an agent may do there.
    pub tools: Tools,
    /// What a sandboxed command sees of it.
    pub view: SandboxView,
}

impl Treatment {
    /// Returns the stricter of both, each way apart.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            write: self.write.max(other.write),
            read: self.read.max(other.read),
            tools: self.tools.max(other.tools),
            view: self.view.max(other.view),
        }
    }

    /// Whether this is at least as strict as the other, each way.
    #[must_use]
    pub fn covers(self, other: Self) -> bool {
        self.or(other) == self
    }
}

impl Name {
    /// Returns what the row says of its files.
    #[must_use]
    pub const fn treatment(&self) -> Treatment {
        Treatment { write: self.write, read: self.read, tools: self.tools, view: self.view }
    }

    /// Whether the files are obeyed, and not only kept.
    #[must_use]
    pub const fn is_obeyed(&self) -> bool {
        matches!(self.kind, Kind::StartsPrograms | Kind::InstructsAgents)
    }

    /// Returns a few words for a person: `agent instructions`, or `starts programs: VS Code`.
    #[must_use]
    pub fn label(&self) -> String {
        match self.kind {
            Kind::InstructsAgents => self.kind.label().to_owned(),
            _ => format!("{}: {}", self.kind.label(), self.tool),
        }
    }
}
