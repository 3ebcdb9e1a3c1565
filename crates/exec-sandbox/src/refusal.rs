//! Why a command was not started.

use std::fmt;
use std::path::PathBuf;

use crate::choices::SandboxBackend;
use crate::enforcement::Property;

/// A command was not started. This is a verdict, and nothing ran.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// What was asked for.
    pub what: What,
    /// The rule that stands against it.
    pub rule: SandboxRule,
    /// The narrowest change that would be accepted.
    pub fix: String,
}

impl Refusal {
    /// Makes a refusal: what was asked for, the rule that stands against it, and the narrowest change that would be accepted.
    pub fn new(what: What, rule: SandboxRule, fix: impl Into<String>) -> Self {
        Self { what, rule, fix: fix.into() }
    }
}

/// What was asked for and refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// To let the command change this path.
    Write(PathBuf),
    /// To let the command read this path.
    Read(PathBuf),
    /// To start in this folder.
    Cwd(PathBuf),
    /// To run this command.
    Command,
    /// To hand on this variable.
    Variable(String),
    /// To enforce a property that is required.
    Property(Property),
    /// To let this backend make the sandbox.
    Backend(SandboxBackend),
}

/// A rule that refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SandboxRule {
    /// Paths are absolute and plain: no `..`, no byte 0.
    PlainPath,
    /// The path does not exist, or is not of the kind that is needed.
    Exists,
    /// A path that is a link, or lies behind one, may lead somewhere else tomorrow.
    NoLinks,
    /// The path is the root of the whole machine.
    WholeMachine,
    /// The path is the home of the user, or holds it.
    WholeHome,
    /// The path is at, under or above a folder of the system that is never shared.
    SystemFolder(&'static str),
    /// The path is at, under or above a place where credentials are kept.
    CredentialFolder(&'static str),
    /// The path is a file of credentials in a folder that may be shared without it.
    CredentialFile(&'static str),
    /// The path is a folder that programs of the machine are run from, or that belongs to everybody.
    NeverWritable(&'static str),
    /// The folder to start in must be visible.
    VisibleCwd,
    /// There must be a program, without byte 0 in it or its arguments.
    PlainCommand,
    /// A variable has a name, without `=` and byte 0, and a value without byte 0.
    PlainVariable,
    /// What is required cannot be enforced on this machine.
    CannotEnforce(&'static str),
    /// Nobody added a backend of that name.
    UnknownBackend,
}

impl fmt::Display for SandboxRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PlainPath => f.write_str("a path must be absolute, without `..` and without byte 0"),
            Self::Exists => f.write_str("it does not exist, or is not of the kind that is needed"),
            Self::NoLinks => f.write_str("a path that leads through a link may lead elsewhere tomorrow"),
            Self::WholeMachine => f.write_str("it is the whole machine"),
            Self::WholeHome => {
                f.write_str("it is your home, or holds it, and everything at home would be shared")
            }
            Self::SystemFolder(folder) => {
                write!(f, "{folder} is never shared, nor what is above or below it")
            }
            Self::CredentialFolder(folder) => {
                write!(f, "~/{folder} holds credentials and is never shared, nor what is above or below it")
            }
            Self::CredentialFile(file) => write!(f, "~/{file} holds credentials and is never shared"),
            Self::NeverWritable(folder) => write!(f, "{folder} is never writable for a command"),
            Self::VisibleCwd => f.write_str("the command would not see it"),
            Self::PlainCommand => {
                f.write_str("there must be a program, and no byte 0 in it or its arguments")
            }
            Self::PlainVariable => f.write_str("a variable has a name without `=`, and no byte 0"),
            Self::CannotEnforce(why) => f.write_str(why),
            Self::UnknownBackend => f.write_str("there is no backend of that name"),
        }
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write(path) => write!(f, "cannot let the command write {}", path.display()),
            Self::Read(path) => write!(f, "cannot let the command read {}", path.display()),
            Self::Cwd(path) => write!(f, "cannot start in {}", path.display()),
            Self::Command => f.write_str("cannot run this command"),
            Self::Variable(name) => write!(f, "cannot hand on the variable {name:?}"),
            Self::Property(property) => write!(f, "cannot enforce {property}"),
            Self::Backend(backend) => write!(f, "cannot use {}", backend.name()),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.rule)
    }
}

impl std::error::Error for Refusal {}
