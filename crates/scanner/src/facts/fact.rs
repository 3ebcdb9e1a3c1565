//! The facts of a text, as values.

use std::ops::Range;

/// What a text says, runs, downloads, removes and hides: the input of rules about behaviour.
///
/// A fact holds however a text is written: commands joined by `&&` or on two lines, in one fence or two, and strings that a
/// program passes to a shell give the same facts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Facts {
    /// What the text claims about itself. A claim never makes a finding milder.
    pub claims: Vec<ClaimFact>,
    /// The commands that it contains, in order.
    pub commands: Vec<CommandFact>,
    /// The commands that download, with what becomes of it.
    pub downloads: Vec<DownloadFact>,
    /// The packages that commands install.
    pub packages: Vec<PackageFact>,
    /// The commands that remove the files of a home, or of the machine.
    pub removals: Vec<RemovalFact>,
    /// Text that a model reads and a person does not see.
    pub hidden: Vec<HiddenFact>,
    /// Whether a list reached its limit ([`Facts::MAX_LISTED`]).
    pub truncated: bool,
}

impl Facts {
    /// Maximum number of facts of one kind.
    pub const MAX_LISTED: usize = 4096;

    /// Whether there are no facts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Position of a fact in the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct FactPlace {
    /// The line of its start, from 1.
    pub line: usize,
    /// The byte of its start.
    pub byte_offset: usize,
    /// The byte behind its end.
    pub byte_end: usize,
}

impl FactPlace {
    /// A place whose line is not known yet.
    pub(super) fn of(span: &Range<usize>) -> Self {
        Self { line: 0, byte_offset: span.start, byte_end: span.end }
    }
}

/// Something that a text claims about itself in its front matter.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct ClaimFact {
    /// What it is.
    pub kind: ClaimKind,
    /// The value as written.
    pub value: String,
    /// Where it is.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub place: FactPlace,
}

/// Kind of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub enum ClaimKind {
    /// The name of the skill.
    Name,
    /// The address of the website that it claims to belong to.
    Homepage,
    /// The address of the repository that it claims to come from.
    Repository,
    /// Its author or publisher.
    Publisher,
    /// The tools that it wants to use without being asked.
    AllowedTools,
}

impl ClaimKind {
    /// The name used in output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Homepage => "homepage",
            Self::Repository => "repository",
            Self::Publisher => "publisher",
            Self::AllowedTools => "allowedTools",
        }
    }
}

/// A command that a fence, code span, script or string contains.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct CommandFact {
    /// The program, as far as the text determines it.
    pub program: String,
    /// Its arguments. What depends on a variable or on other output is as written.
    pub arguments: Vec<String>,
    /// The programs that it runs through, the outermost first.
    pub through: Vec<String>,
    /// The files that it reads, by redirections, as a program to run, or by the arguments of a known program.
    pub reads: Vec<String>,
    /// The files that it writes, by redirections or as downloads.
    pub writes: Vec<String>,
    /// The hosts that its arguments name.
    pub hosts: Vec<String>,
    /// Where it is.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub place: FactPlace,
}

/// A command that downloads.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct DownloadFact {
    /// The addresses.
    pub addresses: Vec<String>,
    /// The files, or the directory of a repository, that it writes.
    pub files: Vec<String>,
    /// Whether all addresses are places of known vendors, where no author of a skill can put a file.
    pub known_vendor: bool,
    /// The command that runs what was downloaded.
    pub run_by: Option<FactPlace>,
    /// Where it is.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub place: FactPlace,
}

/// A package that a command installs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct PackageFact {
    /// The program that installs it.
    pub manager: String,
    /// The name without a version, or the address.
    pub name: String,
    /// Where it comes from.
    pub source: PackageSource,
    /// Whether it comes from a registry or from a known vendor.
    pub known_vendor: bool,
    /// The popular package that its name is easily taken for.
    pub resembles: Option<String>,
    /// Where the command is.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub place: FactPlace,
}

/// Origin of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub enum PackageSource {
    /// A registry of packages.
    Registry,
    /// An address or a repository, which no registry has checked or can withdraw.
    Address,
}

/// A command that removes the files of a home, or of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct RemovalFact {
    /// The directories.
    pub directories: Vec<String>,
    /// Where it is.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub place: FactPlace,
}

/// Text that a model reads and a person does not see.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct HiddenFact {
    /// How it is hidden.
    pub kind: HiddenKind,
    /// The text, at most [`MATCHED_TEXT_CHARS`](crate::MATCHED_TEXT_CHARS) characters.
    pub text: String,
    /// Where it is.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub place: FactPlace,
}

/// How a text is hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub enum HiddenKind {
    /// A comment of HTML, which no reader of the page sees.
    Comment,
    /// Characters that are not drawn.
    Invisible,
    /// An encoding, such as base64.
    Encoded,
}

impl HiddenKind {
    /// The name used in output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Comment => "comment",
            Self::Invisible => "invisible",
            Self::Encoded => "encoded",
        }
    }
}
