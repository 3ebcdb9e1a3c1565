//! Data flow in the programs of a text: from a secret file through variables into a request.
//!
//! A light analysis, the same for shells, Python and JavaScript: a program is a sequence of statements, a statement
//! receives what its names hold, and assigned names carry it on. An unrecognised construct ends the flow at its
//! statement. The analysis makes no decision: a pattern that matches a sink asks, by
//! [`Exception::Without`](crate::Exception::Without), what reaches it. Time is linear: every statement is read twice,
//! and is bounded.

mod contents;
mod hashed;
mod names;
mod paths;
mod set;
mod sources;
mod statements;
mod uses;

use std::ops::Range;

use crate::rule::Region;
use names::Names;
pub(crate) use paths::names_a;
use sources::may_hold;
use statements::statements;

/// Data that can flow into a command or a call, and what becomes of its output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum Inflow {
    /// The content of a secret file, of a keychain, a browser's profile, a wallet or the clipboard.
    SecretFile = 1,
    /// Every variable of the environment, with its value.
    Environment = 2,
    /// A secret of the environment that goes to a host other than the one that issued it.
    ForeignSecret = 4,
    /// A secret in base64 or another spelling that hides it.
    EncodedSecret = 8,
    /// Something that was downloaded.
    Download = 16,
    /// Something that was decoded.
    Decoded = 32,
    /// Several secrets of the environment for different hosts, in one value.
    ManySecrets = 64,
    /// The name of a file that starts programs.
    StartupFile = 128,
    /// The name of a file that instructs agents.
    AgentFile = 256,
    /// One value of the settings of a project or a program, which is often meant for the service that receives the
    /// request.
    Setting = 512,
    /// The program downloads a file that the text runs later.
    RunLater = 1024,
    /// The program removes the files of a home, or of the machine.
    RemovesData = 2048,
    /// The command installs a package from an address of an unknown vendor.
    PackageAddress = 4096,
    /// The command installs a package whose name is easily taken for a popular one.
    LookAlikePackage = 8192,
    /// The command writes a file that the whole machine or every login trusts.
    TrustedFile = 16384,
    /// The command pushes a repository to which a secret was added.
    PushesSecret = 32768,
}

impl Inflow {
    /// Every kind of inflow.
    pub const ALL: [Self; 16] = [
        Self::SecretFile,
        Self::Environment,
        Self::ForeignSecret,
        Self::EncodedSecret,
        Self::Download,
        Self::Decoded,
        Self::ManySecrets,
        Self::StartupFile,
        Self::AgentFile,
        Self::Setting,
        Self::RunLater,
        Self::RemovesData,
        Self::PackageAddress,
        Self::LookAlikePackage,
        Self::TrustedFile,
        Self::PushesSecret,
    ];

    /// The name used in rule files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SecretFile => "secret_file",
            Self::Environment => "environment",
            Self::ForeignSecret => "foreign_secret",
            Self::EncodedSecret => "encoded_secret",
            Self::Download => "download",
            Self::Decoded => "decoded",
            Self::ManySecrets => "many_secrets",
            Self::StartupFile => "startup_file",
            Self::AgentFile => "agent_file",
            Self::Setting => "setting",
            Self::RunLater => "run_later",
            Self::RemovesData => "removes_data",
            Self::PackageAddress => "package_address",
            Self::LookAlikePackage => "look_alike_package",
            Self::TrustedFile => "trusted_file",
            Self::PushesSecret => "pushes_secret",
        }
    }
}

/// A set of [`Inflow`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Inflows(u16);

bit_set!(Inflows(u16) of Inflow);

impl Inflows {
    /// Whether the set contains any of `flows`.
    #[must_use]
    pub const fn has_any_of(self, flows: Self) -> bool {
        self.0 & flows.0 != 0
    }

    /// The set without any inflow.
    pub(crate) const NONE: Self = Self(0);

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn without(self, flow: Inflow) -> Self {
        Self(self.0 & !(flow as u16))
    }

    pub(crate) const fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) const fn with(self, more: Self) -> Self {
        Self(self.0 | more.0)
    }
}

/// Inflows of every statement of a program.
#[derive(Debug, Default)]
pub(crate) struct FlowMap {
    /// Disjoint statements by their start. Statements without inflows are omitted.
    carrying: Vec<(Range<usize>, Inflows)>,
    /// The same, read in another language: for shells that pass a program to another interpreter, and for fences
    /// without a language.
    inner: Vec<(Range<usize>, Inflows)>,
}

impl FlowMap {
    /// Whether any of these can flow in a program.
    pub(crate) fn may_hold(program: &str, needed: Inflows) -> bool {
        may_hold(program, needed)
    }

    /// Reads the program at `span`: a fence, a code span, or all of a text.
    pub(crate) fn of(text: &str, span: &Range<usize>, language: Language) -> Self {
        let mut map = Self::default();
        let Some(program) = text.get(span.clone()) else { return map };
        let (region, other) = match language {
            Language::Of(region) => (region, hands_on(program, region).then_some(Region::Code)),
            Language::Unknown => (Region::Code, Some(Region::Shell)),
        };
        read(program, region, span.start, &mut map.carrying);
        if let Some(other) = other {
            read(program, other, span.start, &mut map.inner);
        }
        map
    }

    /// Returns the inflows of the statement at `offset`.
    pub(crate) fn at(&self, offset: usize) -> Inflows {
        at(&self.carrying, offset).with(at(&self.inner, offset))
    }
}

/// Language of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Of(Region),
    /// Not stated, so it is read both as a program and as shell commands.
    Unknown,
}

/// Whether a program may contain one in another language.
fn hands_on(program: &str, region: Region) -> bool {
    region == Region::Decoded || region == Region::Shell && HANDS_ON.iter().any(|sign| program.contains(sign))
}

/// Signs of a program in another language within a shell script.
const HANDS_ON: &[&str] = &["node -e", "python -c", "python3 -c", "python3 -", "python -", "node -", "<<"];

/// Reads a program at `offset`, and adds its statements with inflows.
fn read(program: &str, region: Region, offset: usize, carrying: &mut Vec<(Range<usize>, Inflows)>) {
    let mut names = Names::new(region);
    let found = statements(program, region);
    let begin = carrying.len();
    // A function may be called before its definition was read, so everything is read twice, unless no name holds
    // anything.
    for _ in 0..2 {
        carrying.truncate(begin);
        for statement in &found {
            let flows = names.read(program, statement);
            if !flows.is_empty() {
                carrying.push((offset + statement.start..offset + statement.end, flows));
            }
        }
        if names.hold_nothing() {
            break;
        }
        names.begin_again();
    }
}

fn at(carrying: &[(Range<usize>, Inflows)], offset: usize) -> Inflows {
    let after = carrying.partition_point(|(span, _)| span.start <= offset);
    let last = after.checked_sub(1).and_then(|index| carrying.get(index));
    last.filter(|(span, _)| offset < span.end).map_or(Inflows::NONE, |(_, flows)| *flows)
}

#[cfg(test)]
mod tests;
