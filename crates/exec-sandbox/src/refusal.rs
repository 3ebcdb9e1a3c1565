//! Why a command is refused.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

use crate::choices::SandboxBackend;
use crate::enforcement::Property;

/// The verdict that a command is not started. Nothing ran.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The refused part of the request.
    pub what: What,
    /// The rule that refuses it.
    pub rule: SandboxRule,
    /// The narrowest change of the request that would be accepted.
    pub fix: String,
}

impl Refusal {
    /// Returns a refusal of a part of a request, with the rule and the narrowest change that would be accepted.
    pub fn new(what: What, rule: SandboxRule, fix: impl Into<String>) -> Self {
        Self { what, rule, fix: fix.into() }
    }
}

/// Returns a command as text, with shell quotes around words that contain special characters.
pub(crate) fn as_text(program: &OsStr, arguments: &[OsString]) -> String {
    let plain = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c))
    };
    let quoted = |word: &OsStr| match word.to_string_lossy() {
        word if plain(&word) => word.into_owned(),
        word => format!("'{}'", word.replace('\'', "'\\''")),
    };
    let words: Vec<String> =
        std::iter::once(program).chain(arguments.iter().map(OsString::as_os_str)).map(quoted).collect();
    words.join(" ")
}

/// The part of a request that is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// Write access to a path.
    Write(PathBuf),
    /// Read access to a path.
    Read(PathBuf),
    /// The working directory of the command.
    Cwd(PathBuf),
    /// The command that was requested.
    Command,
    /// An environment variable to pass.
    Variable(String),
    /// A property that is required.
    Property(Property),
    /// The backend that was requested.
    Backend(SandboxBackend),
}

/// A rule that refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SandboxRule {
    /// Paths are absolute, without `..` and NUL bytes.
    PlainPath,
    /// The path does not exist, or has the wrong type.
    Exists,
    /// The path is a symlink, or contains one, and could be redirected later.
    NoLinks,
    /// The path is the root directory.
    WholeMachine,
    /// The path is the home of the user, or contains it.
    WholeHome,
    /// The path is, contains or lies in a system directory that is never shared.
    SystemFolder(&'static str),
    /// The path is, contains or lies in a directory of credentials.
    CredentialFolder(&'static str),
    /// The path is a credential file in a directory that may be shared without it.
    CredentialFile(&'static str),
    /// The path is a directory from which programs of the machine run, or that all users share.
    NeverWritable(&'static str),
    /// The working directory must be visible.
    VisibleCwd,
    /// The command names a program, and contains no NUL bytes.
    PlainCommand,
    /// A variable has a name without `=`, and contains no NUL bytes.
    PlainVariable,
    /// A required property cannot be enforced on this machine.
    CannotEnforce(&'static str),
    /// No backend with that name is registered.
    UnknownBackend,
}

impl fmt::Display for SandboxRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PlainPath => f.write_str("a path must be absolute, without `..` and NUL bytes"),
            Self::Exists => f.write_str("it does not exist, or has the wrong type"),
            Self::NoLinks => f.write_str("it contains a symlink, which could be redirected later"),
            Self::WholeMachine => f.write_str("it is the root directory"),
            Self::WholeHome => {
                f.write_str("it is or contains your home, and everything at home would be shared")
            }
            Self::SystemFolder(folder) => {
                write!(f, "{folder} is never shared, nor any path above or below it")
            }
            Self::CredentialFolder(folder) => {
                write!(
                    f,
                    "~/{folder} contains credentials and is never shared, nor any path above or below it"
                )
            }
            Self::CredentialFile(file) => write!(f, "~/{file} contains credentials and is never shared"),
            Self::NeverWritable(folder) => write!(f, "{folder} is never writable for commands"),
            Self::VisibleCwd => f.write_str("it is not visible in the sandbox"),
            Self::PlainCommand => f.write_str("it must name a program, and contain no NUL bytes"),
            Self::PlainVariable => {
                f.write_str("a variable has a name without `=`, and contains no NUL bytes")
            }
            Self::CannotEnforce(why) => f.write_str(why),
            Self::UnknownBackend => f.write_str("no backend has that name"),
        }
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write(path) => write!(f, "cannot make {} writable", path.display()),
            Self::Read(path) => write!(f, "cannot make {} readable", path.display()),
            Self::Cwd(path) => write!(f, "cannot start in {}", path.display()),
            Self::Command => f.write_str("cannot run this command"),
            Self::Variable(name) => write!(f, "cannot pass the variable {name:?}"),
            Self::Property(property) => write!(f, "cannot enforce {property}"),
            Self::Backend(backend) => write!(f, "cannot use the backend {}", backend.name()),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.rule)
    }
}

impl std::error::Error for Refusal {}
