//! A rule, as it is written.

use super::effect::Effect;

/// A rule for commands: which commands it matches, and their effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRule {
    /// The id, for messages and the audit trail. It is unique in its layer.
    pub id: String,
    /// The commands that it matches.
    pub pattern: CommandPattern,
    /// The effect for these commands.
    pub effect: Effect,
    /// The reason, a sentence that is shown with the decision.
    pub reason: String,
    /// Priority between equally specific rules; the higher one wins.
    pub priority: i32,
    /// Further conditions.
    pub guards: Guards,
    /// Whether the rule is enabled. Disabled rules are validated as well.
    pub enabled: bool,
    /// Whether the author confirms that it allows a program that runs other programs from its arguments.
    pub i_know: bool,
    /// Commands that it must match.
    pub matches: Vec<Example>,
    /// Commands that it must not match.
    pub not_matches: Vec<Example>,
}

/// The commands that a rule matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandPattern {
    /// Commands that start with these words; each position has a list of alternatives. `*` and `?` match characters, `\*` an
    /// asterisk.
    Prefix(Vec<Vec<String>>),
    /// Commands with exactly these words.
    Exact(Vec<Vec<String>>),
    /// Commands in which a regular expression matches. Such a rule can only make a decision stricter.
    Regex {
        /// The expression.
        pattern: String,
        /// The text that is searched.
        over: RegexScope,
    },
}

/// The text that the expression of a rule searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum RegexScope {
    /// The words of one command after all quotes are removed, joined by spaces.
    #[default]
    Argv,
    /// The file names of redirections.
    Redirect,
    /// The whole text as it is written.
    Raw,
}

impl RegexScope {
    /// Every scope, and its name.
    pub(crate) const ALL: [Self; 3] = [Self::Argv, Self::Redirect, Self::Raw];
    #[cfg(feature = "rule-files")]
    pub(crate) const NAMES: &[&str] = &["argv", "redirect", "raw"];

    /// Returns the stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Argv => "argv",
            Self::Redirect => "redirect",
            Self::Raw => "raw",
        }
    }
}

/// Conditions of a rule besides its words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Guards {
    /// Options or words that are all required: `--dry-run`, `-n`, `staging`.
    pub require: Vec<String>,
    /// Options or words that are forbidden. `-o` is found in `-uo`, `--output` in `--outp=f`.
    pub deny: Vec<String>,
    /// Maximum number of operands after the prefix.
    pub operands: Option<usize>,
    /// Variables that may be set for the command although they change what programs run or read: `GIT_*`.
    pub env: Vec<String>,
    /// Which files may be written by redirection.
    pub redirects: Redirects,
    /// The directories that the command must run in, or below. `workspace` means the workspace.
    pub cwd: Vec<String>,
    /// The directories that the command must not run in, or below.
    pub not_cwd: Vec<String>,
}

impl Guards {
    /// Returns the number of conditions. More conditions make a rule more specific.
    pub(crate) fn count(&self) -> usize {
        let lists = [&self.require, &self.deny, &self.cwd, &self.not_cwd];
        lists.iter().filter(|list| !list.is_empty()).count() + usize::from(self.operands.is_some())
    }
}

/// Which files a command may write by redirection. `/dev/null` and copies of descriptors are always fine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Redirects {
    /// No file: a redirection that writes one is checked separately.
    #[default]
    Null,
    /// Files named relative to the workspace, without `..`.
    Workspace,
    /// Any file, inside the workspace or not.
    Any,
}

impl Redirects {
    #[cfg(feature = "rule-files")]
    pub(crate) const ALL: [Self; 3] = [Self::Null, Self::Workspace, Self::Any];
    #[cfg(feature = "rule-files")]
    pub(crate) const NAMES: &[&str] = &["null", "workspace", "any"];

    /// Returns the stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Workspace => "workspace",
            Self::Any => "any",
        }
    }
}

/// An example of a rule: a command that it must or must not match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Example {
    /// The command line, which is parsed as a shell does.
    Text(String),
    /// The words of the command, already split.
    Argv(Vec<String>),
}

impl CommandRule {
    /// Returns a rule for commands that start with `words`, without conditions.
    #[must_use]
    pub fn prefix<W: AsRef<str>>(id: impl Into<String>, words: &[W], effect: Effect) -> Self {
        let words = words.iter().map(|word| vec![word.as_ref().to_owned()]).collect();
        Self::new(id, CommandPattern::Prefix(words), effect)
    }

    /// Returns a rule without conditions.
    #[must_use]
    pub fn new(id: impl Into<String>, pattern: CommandPattern, effect: Effect) -> Self {
        Self {
            id: id.into(),
            pattern,
            effect,
            reason: String::new(),
            priority: 0,
            guards: Guards::default(),
            enabled: true,
            i_know: false,
            matches: Vec::new(),
            not_matches: Vec::new(),
        }
    }
}
