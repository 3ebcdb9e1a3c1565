//! A rule: a row of data. No code of the engine refers to a rule by its name.

mod owned;

use std::fmt;

use crate::flow::Inflows;

pub use owned::{ExceptionBuf, PatternBuf, RuleBuf};

/// One row of the rule table: its meaning, its patterns, and texts that prove both.
#[derive(Debug, Clone, Copy)]
pub struct Rule<'a> {
    /// Stable name, upper snake case. Its meaning never changes, and it is never reused.
    pub id: &'a str,
    /// The family that the rule belongs to.
    pub category: Category,
    /// Severity of a match.
    pub severity: Severity,
    /// Description in one line, without a final stop.
    pub summary: &'a str,
    /// What the author of the text can do, in one sentence.
    pub remedy: &'a str,
    /// Variants of the attack. A match of any of them is a finding.
    pub patterns: &'a [Pattern<'a>],
    /// Texts that the rule must match.
    pub matches: &'a [&'a str],
    /// Texts that it must not match: look-alikes, documentation, past false positives.
    pub clean: &'a [&'a str],
}

/// One variant of an attack.
#[derive(Debug, Clone, Copy)]
pub struct Pattern<'a> {
    /// Description for the reader of the table.
    pub note: &'a str,
    /// A linear-time regular expression over bytes. Classes are ASCII, `.` stops at a line end, `^` and `$` match at
    /// line ends, case matters unless the pattern has `(?i)`, and `{name}` is replaced by a fragment of
    /// `fragments.rs`.
    pub regex: &'a str,
    /// Regions in which the match must begin.
    pub regions: Regions,
    /// Conditions that excuse a match.
    pub exceptions: &'a [Exception<'a>],
}

/// A reason to drop a match.
///
/// An attacker reads the exceptions too. One must apply only where the attack cannot work: to a whole command rather
/// than a word in it, to the clause that governs the match rather than the sentence around it.
///
/// The text around a match is inspected up to 256 bytes away, so that a flood of matches on one line stays linear.
/// `\A` and `\z` are the ends of the inspected text.
#[derive(Debug, Clone, Copy)]
pub enum Exception<'a> {
    /// The pattern occurs in the matched text.
    Match(&'a str),
    /// The pattern occurs in the line of the match, before it.
    Before(&'a str),
    /// The pattern occurs in the line where the match ends, after it.
    After(&'a str),
    /// None of these flows into the command or call in which the match begins.
    Without(Inflows),
}

/// Kind of text at a byte of a Markdown document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Region {
    /// Running text, headings, lists, quotes.
    Prose = 1,
    /// A row of a table, except for code spans with an escaped bar.
    TableRow = 2,
    /// Between the backticks of an inline code span.
    InlineCode = 4,
    /// A fenced block without a language, or with one that is not a shell.
    Code = 8,
    /// A fenced block of a shell language, or a shell script.
    Shell = 16,
    /// A decoded text. Patterns for prose, programs or shells all count in it.
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

    /// Every kind of text except these.
    #[must_use]
    pub const fn but(regions: &[Region]) -> Self {
        Self(Self::ANY.0 & !Self::of(regions).0)
    }

    /// Whether a match that begins in `region` counts.
    pub(crate) const fn count_in(self, region: Region) -> bool {
        const READ_AS: Regions = Regions::of(&[Region::Decoded, Region::Prose, Region::Code, Region::Shell]);
        match region {
            Region::Decoded => self.0 & READ_AS.0 != 0,
            _ => self.contains(region),
        }
    }
}

/// Severity of a match, from mildest to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "UPPERCASE"))]
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

/// The family of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Category {
    /// Commands that run when the text is used.
    ExecInjection,
    /// Reading the environment, which contains secrets.
    EnvHarvesting,
    /// Cryptocurrency mining on the user's machine.
    CryptoMining,
    /// Code from the network, or a connection out.
    NetworkExfiltration,
    /// Text that hides its purpose.
    ObfuscatedEncoding,
    /// Escaping from the frame that the harness puts around the text.
    XmlBreakout,
    /// Sending away secret data.
    DataExfiltration,
    /// A program to be downloaded by hand, which the skill does not need.
    FakePrerequisite,
    /// Orders to the model against the user or the system.
    PromptInjection,
    /// Text that a model reads and a person does not see.
    HiddenText,
    /// Programs that start again on their own.
    Persistence,
    /// Changes to the memory and instructions of agents.
    AgentState,
    /// More privileges than the user granted.
    Privilege,
    /// Packages from unreviewed origins.
    SupplyChain,
    /// Damage to the machine or its data.
    Impact,
    /// A custom rule that fits none of the above.
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

    /// Returns its identifiers in other catalogues: weaknesses (CWE), the OWASP Agentic Skills Top 10 (AST), MITRE
    /// ATLAS (AML) and ATT&CK (T).
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
