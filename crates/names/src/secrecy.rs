//! How secret files are, and what every entry point derives from that.

use crate::name::Scope;

/// How secret the content of a file is, from mildest to strictest.
///
/// Every entry point derives its answer from this level: commands and file tools from [`Secrecy::read`], sandboxes from
/// [`Secrecy::view`], and uploads to other machines leave everything here but [`Secrecy::Public`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Secrecy {
    /// Sources, documents and everything else without secrets.
    #[default]
    Public,
    /// Settings that programs and agents read all the time, and in which a secret is rare.
    Settings,
    /// Files that often contain a password or token, besides other content.
    MayHoldSecret,
    /// Keys, passwords, tokens or sessions, and nothing else that an agent needs.
    Secret,
}

/// What commands in a sandbox need of a file with secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Needed {
    /// Neither the file nor its directory.
    #[default]
    Nothing,
    /// The other files of its directory, such as the cache of a package manager.
    Around,
    /// The file itself: builds read it.
    Itself,
}

/// Consequence for a command or file tool that reads a file, from mildest to strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Read {
    /// Reading has no consequence.
    #[default]
    Free,
    /// A command reads it only in a sandbox, where the file is absent. A file tool, which has no sandbox, asks the user.
    Contain,
    /// The user is asked.
    Ask,
    /// Refused without a question.
    Refuse,
}

/// What a sandboxed command sees of a file, from mildest to strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum SandboxView {
    /// The file, where its directory is visible.
    #[default]
    Shown,
    /// The file; a secret in it is reported. Programs that the command needs would not work without it.
    Reported,
    /// As [masked](Self::Masked), if it contains a secret. Most files of this name do not.
    MaskedWithSecret,
    /// A device that cannot be opened in place of the file, also where its directory is visible, unless the
    /// repository contains the file with the same content. In the home, a request to share it by name is refused.
    Masked,
    /// Nothing; a request to share it, or a directory that contains it, is refused.
    Withheld,
}

impl Secrecy {
    /// Every level, from mildest to strictest.
    pub const ALL: &[Self] = &[Self::Public, Self::Settings, Self::MayHoldSecret, Self::Secret];

    /// Returns a short label: `may hold a secret`.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Settings => "settings",
            Self::MayHoldSecret => "may hold a secret",
            Self::Secret => "secret",
        }
    }

    /// Returns the consequence of reading a file of this level.
    ///
    /// A workspace is what an agent works on, so the user decides about its files. A home and a machine are not: a
    /// sandbox, which does not show them, is enough.
    #[must_use]
    pub const fn read(self, scope: Scope) -> Read {
        match (self, scope) {
            (Self::Public, _) | (Self::Settings, Scope::Anywhere | Scope::Repository) => Read::Free,
            (Self::Settings, Scope::Home | Scope::Machine) | (Self::MayHoldSecret, Scope::Home) => {
                Read::Contain
            }
            (Self::MayHoldSecret, Scope::Anywhere | Scope::Repository | Scope::Machine) => Read::Ask,
            (Self::Secret, _) => Read::Refuse,
        }
    }

    /// Returns what a sandbox shows of a file of this level.
    #[must_use]
    pub const fn view(self, needed: Needed, scope: Scope) -> SandboxView {
        match (scope, self, needed) {
            // Directories of the machine are shown by an allowlist, which has none of these.
            (_, Self::Public, _) | (Scope::Machine, _, _) => SandboxView::Shown,
            (Scope::Home, _, Needed::Nothing) => SandboxView::Withheld,
            (Scope::Home, _, Needed::Around | Needed::Itself) => SandboxView::Masked,
            (_, Self::Settings, _) => SandboxView::Reported,
            (_, _, Needed::Itself) => SandboxView::MaskedWithSecret,
            (_, _, Needed::Nothing | Needed::Around) => SandboxView::Masked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCOPES: [Scope; 4] = [Scope::Anywhere, Scope::Home, Scope::Repository, Scope::Machine];

    #[test]
    fn a_higher_level_is_nowhere_milder() {
        for levels in Secrecy::ALL.windows(2) {
            let [lower, higher] = levels else { panic!("two levels") };
            for scope in SCOPES {
                assert!(lower.read(scope) <= higher.read(scope), "{higher:?} {scope:?}");
                for needed in [Needed::Nothing, Needed::Around, Needed::Itself] {
                    let views = (lower.view(needed, scope), higher.view(needed, scope));
                    assert!(views.0 <= views.1, "{higher:?} {needed:?} {scope:?}");
                }
            }
        }
    }

    /// What no command may read is hidden in every sandbox, and what is read only in a sandbox is absent there.
    #[test]
    fn what_is_not_read_is_not_shown() {
        for level in Secrecy::ALL {
            for scope in [Scope::Anywhere, Scope::Home] {
                let (read, view) = (level.read(scope), level.view(Needed::Itself, scope));
                assert_eq!(read == Read::Free, view <= SandboxView::Reported, "{level:?} {scope:?}");
            }
        }
    }
}
