//! A rule, as it is written.

use super::effect::Effect;

/// A rule for commands: which it is about, and what may become of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRule {
    /// The name, for people and for the audit. No two rules of a layer share one.
    pub id: String,
    /// Which commands it is about.
    pub pattern: CommandPattern,
    /// What may become of them.
    pub effect: Effect,
    /// Why, in a sentence that is shown with the decision.
    pub reason: String,
    /// Decides between rules that are equally specific; the higher one wins.
    pub priority: i32,
    /// What else must hold.
    pub guards: Guards,
    /// Whether the rule counts. A rule that does not is still checked.
    pub enabled: bool,
    /// Whether the author knows that it allows a program which runs whatever it is told to.
    pub i_know: bool,
    /// Commands that it must match.
    pub matches: Vec<Example>,
    /// Commands that it must not match.
    pub not_matches: Vec<Example>,
}

/// Which commands a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandPattern {
    /// Commands whose first words are these; each place holds its alternatives. `*` and `?` match characters,
    /// `\*` an asterisk.
    Prefix(Vec<Vec<String>>),
    /// Commands of exactly these words.
    Exact(Vec<Vec<String>>),
    /// Commands in which a regular expression is found. Such a rule can only make a decision stricter.
    Regex {
        /// The expression.
        pattern: String,
        /// Where it looks.
        over: RegexScope,
    },
}

/// Where the expression of a rule looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum RegexScope {
    /// The words of one command after all quotes are removed, joined by spaces.
    #[default]
    Argv,
    /// The files that redirections name.
    Redirect,
    /// The whole text as it is written.
    Raw,
}

impl RegexScope {
    /// Every place, and its name.
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

/// What must hold beside the words, for a rule to match.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Guards {
    /// Options, or words, of which all must be there: `--dry-run`, `-n`, `staging`.
    pub require: Vec<String>,
    /// Options, or words, of which none may be there. `-o` is found in `-uo`, `--output` in `--outp=f`.
    pub deny: Vec<String>,
    /// The most words after the prefix that are no options.
    pub operands: Option<usize>,
    /// Variables that may be set for the command although they change what programs run or read: `GIT_*`.
    pub env: Vec<String>,
    /// Which files may be written by redirection.
    pub redirects: Redirects,
    /// The directories that the command must run in, or below. `workspace` means the workspace.
    pub cwd: Vec<String>,
    /// The folders that it must not run in, or below.
    pub not_cwd: Vec<String>,
}

impl Guards {
    /// Returns how many conditions there are: the more, the more specific the rule is.
    pub(crate) fn count(&self) -> usize {
        let lists = [&self.require, &self.deny, &self.cwd, &self.not_cwd];
        lists.iter().filter(|list| !list.is_empty()).count() + usize::from(self.operands.is_some())
    }
}

/// Which files a command may write by redirection. `/dev/null` and copies of descriptors are always fine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Redirects {
    /// No file: a redirection that writes one is judged on its own.
    #[default]
    Null,
    /// Files named relative to the workspace, without `..`.
    Workspace,
    /// Any file, wherever it lies.
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

/// A command that a rule must match, or must not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Example {
    /// As it would be typed.
    Text(String),
    /// The words of the command, already split.
    Argv(Vec<String>),
}

impl CommandRule {
    /// Returns a rule for commands that begin with `words`, with nothing else set.
    #[must_use]
    pub fn prefix<W: AsRef<str>>(id: impl Into<String>, words: &[W], effect: Effect) -> Self {
        let words = words.iter().map(|word| vec![word.as_ref().to_owned()]).collect();
        Self::new(id, CommandPattern::Prefix(words), effect)
    }

    /// Returns a rule with nothing else set.
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
