//! Choices that have the same names in options, configurations and requests. Only this file lists the names.

/// Defines the table of an enum: each value, its name, and its help text. Where the values have an order, the strictest is
/// last.
macro_rules! words {
    ($choice:ident { $($value:ident $word:literal $meaning:literal,)+ }) => {
        impl $choice {
            /// Every value, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$value),+];
            /// The name of every value, in the same order.
            pub const NAMES: &'static [&'static str] = &[$($word),+];

            /// Returns the name in options and configurations.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$value => $word),+ }
            }

            /// Returns the value with this name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.name() == name)
            }

            /// Returns the help text.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$value => $meaning),+ }
            }
        }

        #[cfg(feature = "clap")]
        impl clap::ValueEnum for $choice {
            fn value_variants<'a>() -> &'a [Self] {
                Self::ALL
            }

            fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
                Some(clap::builder::PossibleValue::new(self.name()).help(self.meaning()))
            }
        }
    };
}

pub(crate) use words;

/// A backend that creates sandboxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum SandboxBackend {
    /// The first of native, bubblewrap and Landlock that works on this machine and enforces what is required.
    #[default]
    Auto,
    /// The launcher of this crate: namespaces, a seccomp filter, and Landlock.
    Native,
    /// Bubblewrap, with the seccomp filter and limits of this crate.
    Bwrap,
    /// Landlock and a seccomp filter, where namespaces are forbidden. It enforces less, and reports the gaps.
    Landlock,
    /// A Docker container, from an image that the caller names. It is never auto-selected.
    Docker,
    /// A Podman container, from an image that the caller names. It is never auto-selected.
    Podman,
    /// A backend of a registry, by its name. It is only auto-selected if its registration allows that.
    Added(BackendName),
}

/// A backend of this crate, its name, and its help text.
type BackendRow = (SandboxBackend, &'static str, &'static str);

#[rustfmt::skip]
const BACKENDS: &[BackendRow] = &[
    (SandboxBackend::Auto, "auto", "First backend that works and enforces what is required"),
    (SandboxBackend::Native, "native", "Namespaces, a seccomp filter and Landlock; nothing to install"),
    (SandboxBackend::Bwrap, "bwrap", "Bubblewrap, with a seccomp filter and limits; not for root"),
    (SandboxBackend::Landlock, "landlock", "Landlock and a seccomp filter, where namespaces are forbidden"),
    (SandboxBackend::Docker, "docker", "Docker container from --image; never auto-selected"),
    (SandboxBackend::Podman, "podman", "Podman container from --image; never auto-selected"),
];

impl SandboxBackend {
    /// The backends of this crate, whose enforcement is known from the plan alone, in the order of the table.
    pub const ALL: &'static [Self] =
        &[Self::Auto, Self::Native, Self::Bwrap, Self::Landlock, Self::Docker, Self::Podman];

    fn row(&self) -> Option<&'static BackendRow> {
        BACKENDS.iter().find(|row| row.0 == *self)
    }

    /// Returns the name in options and configurations.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Added(name) => name.as_str(),
            builtin => builtin.row().map_or("auto", |row| row.1),
        }
    }

    /// Returns the backend with this name: one of this crate, or one that a registry may know.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let builtin = BACKENDS.iter().find(|row| row.1 == name).map(|row| row.0);
        builtin.or_else(|| BackendName::new(name).map(Self::Added))
    }

    /// Returns the help text.
    #[must_use]
    pub fn meaning(&self) -> &'static str {
        self.row().map_or("Registered backend", |row| row.2)
    }
}

/// Maximum length of a backend's name.
const MAX_NAME: usize = 31;

/// The name of a registered backend: a lowercase letter, then lowercase letters, digits and `-`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BackendName {
    letters: [u8; MAX_NAME],
    count: u8,
}

impl BackendName {
    /// Parses a name; nothing if it is invalid.
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

    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let letters = self.letters.get(..usize::from(self.count)).unwrap_or_default();
        std::str::from_utf8(letters).unwrap_or_default()
    }
}

/// Parses a backend option, `NAME=VALUE`. A name consists of letters, digits and `._-`, and begins with a letter.
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

/// What happens to a command where no sandbox can be created. A backend that was selected by name is never replaced by a run
/// without a sandbox: planning refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OnUnavailable {
    /// The command runs without a sandbox, and its [`Enforcement`](crate::Enforcement) lists every property as a gap.
    Warn,
    /// The caller asks the user about this run. This crate cannot ask, so planning refuses; the caller asks, and plans again with
    /// [`Warn`](Self::Warn) if the user agrees.
    Ask,
    /// The command is refused, with the reason why no sandbox can be created.
    #[default]
    Refuse,
}

words! { OnUnavailable {
    Warn "warn" "Run the command without a sandbox, with a warning",
    Ask "ask" "Ask the user about each run",
    Refuse "refuse" "Refuse to run the command",
} }

/// Which directories of tools at home the command sees. Credentials are never visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum HomeView {
    /// Installed toolchains and libraries, without their credentials, and git settings.
    #[default]
    Tools,
    /// Git settings only; the home is otherwise an empty directory that is deleted when the command ends.
    Private,
}

words! { HomeView {
    Tools "tools" "Git settings, and toolchains installed at home, without credentials",
    Private "private" "Git settings only",
} }

/// Whether a command works on an overlay of the workspace, and when its changes are applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(
    feature = "schema",
    derive(serde::Deserialize, schemars::JsonSchema),
    serde(rename_all = "kebab-case")
)]
pub enum ReviewMode {
    /// No overlay: it changes the workspace directly.
    #[default]
    Off,
    /// Its changes are applied when it ends, and can be undone.
    Undoable,
    /// Its changes stay pending until the user applies them.
    Hold,
}

words! { ReviewMode {
    Off "off" "The command changes the workspace directly",
    Undoable "undoable" "Changes are applied when the command ends, and can be undone",
    Hold "hold" "Changes stay pending until you apply them",
} }

/// Which commands of an agent work on an overlay of the workspace, and when their changes are applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum ReviewPolicy {
    /// No command works on an overlay.
    #[default]
    Off,
    /// Commands that delete or overwrite files; their changes are applied when they end, and can be undone.
    Destructive,
    /// All commands; their changes are applied when they end, and can be undone.
    Undoable,
    /// All commands; their changes stay pending until the user applies them.
    Hold,
}

words! { ReviewPolicy {
    Off "off" "No review: commands change the workspace directly",
    Destructive "destructive" "Changes of commands that delete or overwrite are applied, and can be undone",
    Undoable "undoable" "Changes of all commands are applied when they end, and can be undone",
    Hold "hold" "Changes of all commands stay pending until you apply them",
} }

impl ReviewPolicy {
    /// Returns the mode for a command, given whether it deletes or overwrites files.
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

/// The access level of a command, with the names that other agents use.
///
/// [`SandboxMode::apply`] defines what each means for a [`SandboxSpec`](crate::SandboxSpec).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(
    feature = "schema",
    derive(serde::Deserialize, schemars::JsonSchema),
    // Without the links of the documentation.
    schemars(description = "The access level of a command, with the names that other agents use."),
    serde(rename_all = "kebab-case")
)]
pub enum SandboxMode {
    /// No sandbox: the command has all rights of the user that runs it. It must be chosen explicitly.
    DangerFullAccess,
    /// The command may change the workspace and nothing else.
    #[default]
    WorkspaceWrite,
    /// The command may change nothing that persists after it ends.
    ReadOnly,
}

words! { SandboxMode {
    DangerFullAccess "danger-full-access" "No sandbox: the command has all your rights; recorded as a warning",
    WorkspaceWrite "workspace-write" "The command changes the workspace and nothing else",
    ReadOnly "read-only" "The command changes nothing that persists",
} }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_choices_round_trip() {
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
