//! A row of the tables: an attack, its files on the disk, and the required answers.

/// An attack that was published.
#[derive(Debug)]
pub(super) struct Case {
    /// Its published name: `CVE-2026-45033`, or a product and its version if there is no number.
    pub(super) id: &'static str,
    /// How it works, in a few words.
    pub(super) attack: &'static str,
    /// Files in the workspace, and beside it.
    pub(super) on_disk: &'static [OnDisk],
    /// The questions.
    pub(super) tries: &'static [Try],
}

/// Something on the disk. Names start at the workspace.
#[derive(Debug)]
pub(super) enum OnDisk {
    /// An empty directory, with its parents.
    Folder(&'static str),
    /// A file and its content; `{marker}` is the file that records the start of a program.
    File(&'static str, &'static str),
    /// A directory that git accepts as a repository, with its settings.
    Repository(&'static str, &'static str),
    /// A link and its target, as written.
    Link(&'static str, &'static str),
}

/// A question, and the required answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Try {
    pub(super) question: Question,
    /// The directory in which it is asked, below the workspace.
    pub(super) folder: &'static str,
    pub(super) must: Must,
}

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub(super) enum Question {
    /// Decision about a command, in which `{blanks}` is longer than many displays; `rules` is a file of the user's
    /// own rules.
    Command { text: &'static str, shell: &'static str, rules: &'static str },
    /// Whether a tool may read or write a path, where one more glob is denied.
    Path { access: &'static str, path: &'static str, deny: &'static str },
    /// Display of a command to its approver: complete, with `./payload` visible and not hidden by anything.
    Shown(&'static str),
    /// No question: the program is run with these arguments, and must not start another.
    Run(&'static [&'static str]),
}

/// Requirement on an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Must {
    /// It is at least as strict as this.
    BeAtLeast(Strictness),
    /// It is allowed: the ordinary neighbour of an attack.
    BeAllowed,
}

/// How strict an answer is, the mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strictness {
    /// It runs, or is opened, as it is.
    Allow,
    /// It runs in a sandbox.
    Sandbox,
    /// A person is asked.
    Ask,
    /// It is refused.
    Deny,
}

impl Strictness {
    /// Parses the word that both entry points use.
    pub(super) fn of(word: &str) -> Option<Self> {
        let all = [Self::Allow, Self::Sandbox, Self::Ask, Self::Deny];
        all.into_iter().find(|one| one.word() == word)
    }

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Sandbox => "sandbox",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// A command that must not be allowed to run as it is.
pub(super) const fn command(text: &'static str) -> Try {
    let question = Question::Command { text, shell: "bash", rules: "" };
    Try { question, folder: "", must: Must::BeAtLeast(Strictness::Sandbox) }
}

/// A path that must not be read.
pub(super) const fn read(path: &'static str) -> Try {
    access("read", path)
}

/// A path that must not be written.
pub(super) const fn write(path: &'static str) -> Try {
    access("write", path)
}

/// A command that must be displayed truthfully.
pub(super) const fn shown(text: &'static str) -> Try {
    let must = Must::BeAtLeast(Strictness::Allow);
    Try { question: Question::Shown(text), folder: "", must }
}

/// Arguments with which the program must start no other.
pub(super) const fn program(arguments: &'static [&'static str]) -> Try {
    let must = Must::BeAtLeast(Strictness::Allow);
    Try { question: Question::Run(arguments), folder: "", must }
}

const fn access(access: &'static str, path: &'static str) -> Try {
    let question = Question::Path { access, path, deny: "" };
    Try { question, folder: "", must: Must::BeAtLeast(Strictness::Deny) }
}

impl Try {
    /// The same, asked in a directory below the workspace.
    pub(super) const fn below(self, folder: &'static str) -> Self {
        Self { folder, ..self }
    }

    /// The same; at least a person must be asked.
    pub(super) const fn asked(self) -> Self {
        Self { must: Must::BeAtLeast(Strictness::Ask), ..self }
    }

    /// The same, to be refused.
    pub(super) const fn denied(self) -> Self {
        Self { must: Must::BeAtLeast(Strictness::Deny), ..self }
    }

    /// The ordinary neighbour of an attack, to be allowed.
    pub(super) const fn allowed(self) -> Self {
        Self { must: Must::BeAllowed, ..self }
    }

    /// The same for another shell.
    pub(super) const fn by(self, shell: &'static str) -> Self {
        match self.question {
            Question::Command { text, rules, .. } => {
                Self { question: Question::Command { text, shell, rules }, ..self }
            }
            Question::Path { .. } | Question::Shown(_) | Question::Run(_) => self,
        }
    }

    /// The same with rules of the user's own, or with a glob that is denied as well.
    pub(super) const fn with(self, more: &'static str) -> Self {
        let question = match self.question {
            Question::Command { text, shell, .. } => Question::Command { text, shell, rules: more },
            Question::Path { access, path, .. } => Question::Path { access, path, deny: more },
            Question::Shown(_) | Question::Run(_) => self.question,
        };
        Self { question, ..self }
    }

    /// Whether it is an attack, as opposed to an ordinary neighbour.
    #[cfg(test)]
    pub(super) fn is_attack(&self) -> bool {
        self.must != Must::BeAllowed
    }
}
