//! What a rule is: a row of data. No code of the engine knows a rule by its name.

mod owned;

use std::fmt;

pub use owned::{ExceptionBuf, PatternBuf, RuleBuf};

/// One row of the rule table: what it means, what it looks like, and texts that prove both.
#[derive(Debug, Clone, Copy)]
pub struct Rule<'a> {
    /// Stable name, upper snake case. It never changes its meaning and is never used again for another.
    pub id: &'a str,
    /// The family that the rule belongs to.
    pub category: Category,
    /// How bad a hit is.
    pub severity: Severity,
    /// What was found, in one line and without a final stop.
    pub summary: &'a str,
    /// What the author of the text can do about it, in one sentence.
    pub remedy: &'a str,
    /// The ways in which the attack is written. A hit of any one of them is a finding.
    pub patterns: &'a [Pattern<'a>],
    /// Texts in which the rule must fire.
    pub matches: &'a [&'a str],
    /// Texts in which it must stay silent: look-alikes, documentation, past false alarms.
    pub clean: &'a [&'a str],
}

/// One way in which an attack is written.
#[derive(Debug, Clone, Copy)]
pub struct Pattern<'a> {
    /// What it is, for the reader of the table.
    pub note: &'a str,
    /// A linear-time regular expression over bytes. Classes are ASCII, `.` stops at a line end, `^` and `$` are line
    /// ends, case matters unless the pattern says `(?i)`, and `{name}` stands for a fragment of `fragments.rs`.
    pub regex: &'a str,
    /// Where in a document the match must begin.
    pub regions: Regions,
    /// What makes a match innocent after all.
    pub exceptions: &'a [Exception<'a>],
}

/// A reason to drop a match.
///
/// An attacker reads the exceptions too. One must hold only where the attack cannot work: of a whole command rather than a
/// word in it, of the clause that governs the match rather than the sentence around it.
///
/// What stands around a match is looked at no further than 256 bytes away, so that a flood of matches on one line stays
/// linear. `\A` and `\z` are the ends of what is looked at.
#[derive(Debug, Clone, Copy)]
pub enum Exception<'a> {
    /// The pattern occurs in the matched text.
    Match(&'a str),
    /// The pattern occurs in the line of the match, before it.
    Before(&'a str),
    /// The pattern occurs in the line where the match ends, after it.
    After(&'a str),
}

/// The kind of text that a byte of a Markdown document stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Region {
    /// Running text, headings, lists, quotes.
    Prose = 1,
    /// A row of a table, outside code spans that hold an escaped bar.
    TableRow = 2,
    /// Between the backticks of an inline code span.
    InlineCode = 4,
    /// A fenced block without a language, or with one that is not a shell.
    Code = 8,
    /// A fenced block of a shell language, or a shell script.
    Shell = 16,
}

impl Region {
    /// Every kind of text.
    pub const ALL: [Self; 5] = [Self::Prose, Self::TableRow, Self::InlineCode, Self::Code, Self::Shell];

    /// The name used in reports and rule files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prose => "prose",
            Self::TableRow => "table_row",
            Self::InlineCode => "inline_code",
            Self::Code => "code",
            Self::Shell => "shell",
        }
    }
}

/// A set of [`Region`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Regions(u8);

impl Regions {
    /// Every kind of text.
    pub const ANY: Self = Self(31);

    /// The set of just these.
    #[must_use]
    pub const fn of(regions: &[Region]) -> Self {
        let mut bits = 0;
        let mut rest = regions;
        while let [first, others @ ..] = rest {
            bits |= *first as u8;
            rest = others;
        }
        Self(bits)
    }

    /// Every kind of text but these.
    #[must_use]
    pub const fn but(regions: &[Region]) -> Self {
        Self(Self::ANY.0 & !Self::of(regions).0)
    }

    /// Whether `region` is in the set.
    #[must_use]
    pub const fn contains(self, region: Region) -> bool {
        self.0 & region as u8 != 0
    }
}

/// How bad a hit is, from mildest to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Suspicious, with possible honest uses: show it to a person.
    Warn,
    /// An attempt to attack: do not load the text.
    Critical,
}

impl Severity {
    /// Every severity, from mildest to worst.
    pub const ALL: [Self; 2] = [Self::Warn, Self::Critical];

    /// The name used in reports and rule files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warn => "WARN",
            Self::Critical => "CRITICAL",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The family that a rule belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Category {
    /// Commands that run as soon as the text is used.
    ExecInjection,
    /// Reading the environment, where secrets live.
    EnvHarvesting,
    /// Mining on somebody else's machine.
    CryptoMining,
    /// Code from the network, or a connection out.
    NetworkExfiltration,
    /// Text that hides what it does.
    ObfuscatedEncoding,
    /// Leaving the frame that the harness put around the text.
    XmlBreakout,
    /// A rule of the user's own that fits none of the above.
    Custom,
}

impl Category {
    /// Every category, in the order of the rule table.
    pub const ALL: [Self; 7] = [
        Self::ExecInjection,
        Self::EnvHarvesting,
        Self::CryptoMining,
        Self::NetworkExfiltration,
        Self::ObfuscatedEncoding,
        Self::XmlBreakout,
        Self::Custom,
    ];

    /// The name used in reports and rule files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ExecInjection => "exec_injection",
            Self::EnvHarvesting => "env_harvesting",
            Self::CryptoMining => "crypto_mining",
            Self::NetworkExfiltration => "network_exfiltration",
            Self::ObfuscatedEncoding => "obfuscated_encoding",
            Self::XmlBreakout => "xml_breakout",
            Self::Custom => "custom",
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
