//! What is chosen by a word, in options, in configurations and in requests. The words stand here and nowhere else.

/// Gives an enum its table: each value, its word, and what a person who chooses is told of it. Where the values have an
/// order, the strictest is the last.
macro_rules! words {
    ($choice:ident { $($value:ident $word:literal $meaning:literal,)+ }) => {
        impl $choice {
            /// Every value, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$value),+];
            /// The word of every value, in the same order.
            pub const NAMES: &'static [&'static str] = &[$($word),+];

            /// Returns its word.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$value => $word),+ }
            }

            /// Returns the value of a word.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.name() == name)
            }

            /// Returns what it means, as the help of an option says it.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$value => $meaning),+ }
            }
        }
    };
}

/// What makes a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum SandboxBackend {
    /// The first of those below that works on this machine and enforces what is required.
    #[default]
    Auto,
    /// The launcher of this crate: namespaces, a filter of system calls, and Landlock.
    Native,
    /// Bubblewrap, with our filter of system calls and limits.
    Bwrap,
    /// Landlock and a filter of system calls, where namespaces are forbidden. It enforces less, and says what.
    Landlock,
    /// A container of Docker's, from an image that is named. It is never chosen by itself.
    Docker,
    /// A container of Podman's, from an image that is named. It is never chosen by itself.
    Podman,
    /// One that somebody added to a registry, by its name. It is never chosen by itself unless whoever added it says so.
    Added(BackendName),
}

/// A backend that comes with this crate, its word, and what a person who chooses is told of it.
type BackendRow = (SandboxBackend, &'static str, &'static str);

#[rustfmt::skip]
const BACKENDS: &[BackendRow] = &[
    (SandboxBackend::Auto, "auto", "The first that works and enforces what is required"),
    (SandboxBackend::Native, "native", "This program: namespaces, a filter of system calls, Landlock"),
    (SandboxBackend::Bwrap, "bwrap", "Bubblewrap, with our filter and limits; not for root"),
    (SandboxBackend::Landlock, "landlock", "Landlock and a filter of system calls, where namespaces are forbidden"),
    (SandboxBackend::Docker, "docker", "A container of Docker's, from --image; never taken by itself"),
    (SandboxBackend::Podman, "podman", "A container of Podman's, from --image; never taken by itself"),
];

impl SandboxBackend {
    /// Those that come with this crate and say what holds from a plan alone, in the order of the table.
    pub const ALL: &'static [Self] =
        &[Self::Auto, Self::Native, Self::Bwrap, Self::Landlock, Self::Docker, Self::Podman];

    fn row(&self) -> Option<&'static BackendRow> {
        BACKENDS.iter().find(|row| row.0 == *self)
    }

    /// Returns its word.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Added(name) => name.as_str(),
            builtin => builtin.row().map_or("auto", |row| row.1),
        }
    }

    /// Returns the backend of a word: one of those that come with this crate, or one that a registry may know.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let builtin = BACKENDS.iter().find(|row| row.1 == name).map(|row| row.0);
        builtin.or_else(|| BackendName::new(name).map(Self::Added))
    }

    /// Returns what it means, as the help of an option says it.
    #[must_use]
    pub fn meaning(&self) -> &'static str {
        self.row().map_or("A backend that was added", |row| row.2)
    }
}

/// How long the name of a backend may be.
const MAX_NAME: usize = 31;

/// The name of a backend that somebody added: a letter, then small letters, digits and `-`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BackendName {
    letters: [u8; MAX_NAME],
    count: u8,
}

impl BackendName {
    /// Takes a text for a name, if it can be one.
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if !name.starts_with(|first: char| first.is_ascii_lowercase()) || !name.bytes().all(plain) {
            return None;
        }
        let mut letters = [0; MAX_NAME];
        letters.get_mut(..name.len())?.copy_from_slice(name.as_bytes());
        Some(Self { letters, count: u8::try_from(name.len()).ok()? })
    }

    /// Returns it as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let letters = self.letters.get(..usize::from(self.count)).unwrap_or_default();
        std::str::from_utf8(letters).unwrap_or_default()
    }
}

/// Reads what a backend is told besides, `NAME=VALUE`. A name is of letters, digits and `._-`, and begins with a letter.
#[must_use]
pub fn backend_option(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.len() <= 64
        && name.bytes().all(plain);
    (is_name && !value.contains('\0')).then(|| (name.to_owned(), value.to_owned()))
}

impl std::fmt::Debug for BackendName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

impl std::fmt::Display for BackendName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What becomes of a command where no sandbox can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OnUnavailable {
    /// The command runs like any other program, and the enforcement says that nothing holds.
    Warn,
    /// A person is asked about this one run. Who plans and runs has nobody to ask, and refuses: the caller asks, and plans
    /// again with [`Warn`](Self::Warn) when the person agreed.
    Ask,
    /// Nothing is run, and the refusal says why there is no sandbox.
    #[default]
    Refuse,
}

words! { OnUnavailable {
    Warn "warn" "Run the command without a sandbox, and say so",
    Ask "ask" "Ask a person about this one run",
    Refuse "refuse" "Run nothing",
} }

/// What the command sees of the folders that tools keep at home. Credentials are never among it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum HomeView {
    /// The toolchains and libraries that are installed there, without what holds credentials, and the settings of git.
    #[default]
    Tools,
    /// The settings of git; otherwise an empty folder that goes away with the command.
    Private,
}

words! { HomeView {
    Tools "tools" "Settings of git, and programs that are installed there, without credentials",
    Private "private" "Settings of git",
} }

/// Whether a command works on a view of the workspace, and what becomes of what it changes there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum ReviewMode {
    /// It changes the workspace itself.
    #[default]
    Off,
    /// What it changed is applied when it is over, and can be undone.
    Undoable,
    /// What it changed waits until somebody applies it.
    Hold,
}

words! { ReviewMode {
    Off "off" "The command changes the workspace itself",
    Undoable "undoable" "What it changed is applied when it is over, and can be undone",
    Hold "hold" "What it changed waits until somebody applies it",
} }

/// Which commands of an agent work on a view of the workspace, and what becomes of what they change there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum ReviewPolicy {
    /// No command works on a view.
    #[default]
    Off,
    /// Those that delete or overwrite by their nature; what they changed is applied, and can be undone.
    Destructive,
    /// All of them; what they changed is applied, and can be undone.
    Undoable,
    /// All of them; what they changed waits until somebody applies it.
    Hold,
}

words! { ReviewPolicy {
    Off "off" "No command works on a view",
    Destructive "destructive" "What commands that delete or overwrite changed is applied, and can be undone",
    Undoable "undoable" "What commands changed is applied when they are over, and can be undone",
    Hold "hold" "What commands changed waits until somebody applies it",
} }

impl ReviewPolicy {
    /// Returns what that means for a command.
    #[must_use]
    pub const fn of(self, destroys: bool) -> ReviewMode {
        match self {
            Self::Off => ReviewMode::Off,
            Self::Destructive if !destroys => ReviewMode::Off,
            Self::Destructive | Self::Undoable => ReviewMode::Undoable,
            Self::Hold => ReviewMode::Hold,
        }
    }
}

/// How much a command may do, in the words of other agents: what each means for a [`SandboxSpec`](crate::SandboxSpec) stands
/// in one table, beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum SandboxMode {
    /// There is no sandbox: the command may do whatever whoever runs it may. It is chosen by name or not at all.
    DangerFullAccess,
    /// It may change the workspace, and of everything else nothing.
    #[default]
    WorkspaceWrite,
    /// It may change nothing that outlasts it.
    ReadOnly,
}

words! { SandboxMode {
    DangerFullAccess "danger-full-access" "No sandbox: the command may do whatever you may, and that is on record as a warning",
    WorkspaceWrite "workspace-write" "The command changes the workspace and nothing else",
    ReadOnly "read-only" "The command changes nothing that outlasts it",
} }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_means_one_value_and_back() {
        for backend in SandboxBackend::ALL {
            assert_eq!(SandboxBackend::from_name(backend.name()), Some(*backend));
        }
        assert_eq!(BACKENDS.iter().map(|row| row.0).collect::<Vec<_>>(), SandboxBackend::ALL);
        let (name, value) = backend_option("api.url=https://x?a=b").unwrap();
        assert_eq!((name.as_str(), value.as_str()), ("api.url", "https://x?a=b"));
        for odd in ["", "x", "=1", "1=1", "a b=1", "-x=1", "x=\0"] {
            assert_eq!(backend_option(odd), None, "{odd:?}");
        }
        for choice in OnUnavailable::ALL {
            assert_eq!(OnUnavailable::from_name(choice.name()), Some(*choice));
        }
        for view in HomeView::ALL {
            assert_eq!(HomeView::from_name(view.name()), Some(*view));
        }
        for mode in SandboxMode::ALL {
            assert_eq!(SandboxMode::from_name(mode.name()), Some(*mode));
        }
        assert!(SandboxMode::ALL.is_sorted(), "the strictest is the last");
        assert_eq!(SandboxBackend::from_name("Native"), None);
        assert_eq!(SandboxBackend::from_name("my-cluster").unwrap().name(), "my-cluster");
        let longest = "b".repeat(MAX_NAME);
        assert_eq!(BackendName::new(&longest).unwrap().as_str(), longest);
        for odd in ["", "-x", "1x", "a b", "a/b", "..", "a\n", "\u{e4}", &"b".repeat(MAX_NAME + 1)] {
            assert_eq!(SandboxBackend::from_name(odd), None, "{odd:?}");
        }
        assert_eq!(OnUnavailable::NAMES, ["warn", "ask", "refuse"], "from the mildest to the strictest");
        assert_eq!(HomeView::NAMES.last(), Some(&"private"));
    }
}
