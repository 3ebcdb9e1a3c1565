//! What a rule is: a row of data. No code of the engine knows a rule by its name.

mod owned;

use std::fmt;

use crate::flow::Inflows;

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
    /// None of these flows into the command or the call that the match begins in.
    Without(Inflows),
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
    /// A text that was decoded. Whatever counts in prose, in a program or in a shell counts in it.
    Decoded = 32,
}

impl Region {
    /// Every kind of text.
    pub const ALL: [Self; 6] =
        [Self::Prose, Self::TableRow, Self::InlineCode, Self::Code, Self::Shell, Self::Decoded];

    /// The name used in reports and rule files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prose => "prose",
            Self::TableRow => "table_row",
            Self::InlineCode => "inline_code",
            Self::Code => "code",
            Self::Shell => "shell",
            Self::Decoded => "decoded",
        }
    }
}

/// A set of [`Region`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Regions(u8);

bit_set!(Regions(u8) of Region);

impl Regions {
    /// Every kind of text.
    pub const ANY: Self = Self(63);

    /// Every kind of text but these.
    #[must_use]
    pub const fn but(regions: &[Region]) -> Self {
        Self(Self::ANY.0 & !Self::of(regions).0)
    }

    /// Whether a match counts that begins in `region`.
    pub(crate) const fn count_in(self, region: Region) -> bool {
        const READ_AS: Regions = Regions::of(&[Region::Decoded, Region::Prose, Region::Code, Region::Shell]);
        match region {
            Region::Decoded => self.0 & READ_AS.0 != 0,
            _ => self.contains(region),
        }
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
    /// Sending away what is secret.
    DataExfiltration,
    /// A program to be fetched by hand, which the skill has no need of.
    FakePrerequisite,
    /// Orders to the model against the user or the system.
    PromptInjection,
    /// Text that no person sees and a model reads.
    HiddenText,
    /// What starts again by itself.
    Persistence,
    /// Changes to what agents remember and obey.
    AgentState,
    /// More rights than the user gave.
    Privilege,
    /// Packages from where nobody looks.
    SupplyChain,
    /// Damage to what is on the machine.
    Impact,
    /// A rule of the user's own that fits none of the above.
    Custom,
}

impl Category {
    /// Every category, in the order of the rule table.
    pub const ALL: [Self; 16] = [
        Self::ExecInjection,
        Self::EnvHarvesting,
        Self::CryptoMining,
        Self::NetworkExfiltration,
        Self::ObfuscatedEncoding,
        Self::XmlBreakout,
        Self::DataExfiltration,
        Self::FakePrerequisite,
        Self::PromptInjection,
        Self::HiddenText,
        Self::Persistence,
        Self::AgentState,
        Self::Privilege,
        Self::SupplyChain,
        Self::Impact,
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
            Self::DataExfiltration => "data_exfiltration",
            Self::FakePrerequisite => "fake_prerequisite",
            Self::PromptInjection => "prompt_injection",
            Self::HiddenText => "hidden_text",
            Self::Persistence => "persistence",
            Self::AgentState => "agent_state",
            Self::Privilege => "privilege",
            Self::SupplyChain => "supply_chain",
            Self::Impact => "impact",
            Self::Custom => "custom",
        }
    }

    /// What other catalogues call it: weaknesses (CWE), the OWASP Agentic Skills Top 10 (AST), MITRE ATLAS (AML) and ATT&CK (T).
    #[must_use]
    pub const fn references(self) -> &'static [&'static str] {
        match self {
            Self::ExecInjection => &["CWE-78", "CWE-94", "AST01", "AML.T0053", "T1059"],
            Self::EnvHarvesting => &["CWE-200", "CWE-526", "AST01", "T1552"],
            Self::CryptoMining => &["CWE-400", "CWE-506", "AST01", "T1496"],
            Self::NetworkExfiltration => &["CWE-494", "CWE-829", "AST01", "AST02", "T1105"],
            Self::ObfuscatedEncoding => &["CWE-506", "AST05", "T1027", "T1140"],
            Self::XmlBreakout => &["CWE-74", "CWE-1427", "AST04", "AML.T0051"],
            Self::DataExfiltration => &["CWE-201", "CWE-522", "AST01", "AML.T0057", "T1041", "T1048"],
            Self::FakePrerequisite => &["CWE-506", "CWE-1357", "AST01", "T1036", "T1204"],
            Self::PromptInjection => &["CWE-1427", "AST01", "AST04", "AML.T0051", "AML.T0110"],
            Self::HiddenText => &["CWE-451", "CWE-1007", "AST04", "T1027"],
            Self::Persistence => &["CWE-506", "AST01", "T1053", "T1098", "T1546"],
            Self::AgentState => &["CWE-829", "CWE-913", "AST07"],
            Self::Privilege => &["CWE-250", "CWE-269", "CWE-732", "AST03", "T1548"],
            Self::SupplyChain => &["CWE-427", "CWE-1357", "AST02", "AML.T0010", "T1195"],
            Self::Impact => &["CWE-400", "CWE-506", "AST01", "T1485", "T1490"],
            Self::Custom => &[],
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
