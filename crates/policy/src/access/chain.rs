//! The ordered chain of policies: the first that says anything decides.
//!
//! One thing is stricter than the plain rule. A path policy always has an answer, its default, and whatever stands
//! behind it would never be heard. So a default holds unless a later policy is *stricter*: a denial that was added at
//! run time counts, a permission that was added behind a denying default does not.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use stockade_text::nearest;
use thiserror::Error;

use super::patterns::{CommandPatternError, CommandPatterns};
use super::rule::PolicyRule;
use crate::paths::config::{Answer, PathPolicy, PathPolicyPatch};
use crate::paths::facts::ResolvedPath;
use crate::paths::globs::GlobError;
use crate::paths::jail::Workspace;
use crate::paths::rules::{PathRules, Said};
use stockade_names::Access;

/// The name under which the forbidden globs are listed. They stand outside the chain: no policy can be put before
/// them, replace them or take them away.
pub const FORBIDDEN_GLOBS: &str = "forbidden-globs";

/// The path policy for reading.
pub const READ_PATH_POLICY: &str = "read-path-policy";

/// The path policy for writing.
pub const WRITE_PATH_POLICY: &str = "write-path-policy";

/// One policy of a chain.
#[derive(Clone)]
pub struct Policy {
    name: String,
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    Paths { access: Access, rules: Box<PathRules> },
    Commands { patterns: CommandPatterns, answer: Answer },
    Custom(Arc<dyn Fn(&Subject<'_>) -> PolicyDecision + Send + Sync>),
}

/// What a policy of the host's own may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyDecision {
    /// Nothing: the next policy decides.
    Pass,
    /// The policy answers with this.
    Answer(Answer),
}

/// What a policy is asked about.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Subject<'a> {
    /// A path that is to be read or written.
    #[non_exhaustive]
    Path {
        /// What is done to it.
        access: Access,
        /// The path as it was named, absolute.
        located: &'a Path,
        /// Where it really leads.
        found: &'a ResolvedPath,
    },
    /// A command that is to be run.
    #[non_exhaustive]
    Command {
        /// Its text.
        text: &'a str,
    },
}

/// Where a policy goes in a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position<'a> {
    /// Asked after all other policies.
    Last,
    /// Right before the policy of this name.
    Before(&'a str),
}

/// The chain after a change, for observers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChainChange {
    /// The tool whose chain changed.
    pub tool: String,
    /// The names of its policies, in order; the forbidden globs come first.
    pub policies: Vec<String>,
}

/// Why a chain cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ChainError {
    /// The forbidden globs stand outside the chain.
    #[error("`{FORBIDDEN_GLOBS}` is not part of the chain and cannot be removed, replaced or preceded")]
    Fixed,
    /// There is no policy of that name.
    #[error("no policy `{name}` in the chain{}", nearest.as_deref().map_or_else(String::new, |name| format!("; did you mean `{name}`?")))]
    Unknown {
        /// What was asked for.
        name: String,
        /// The name that was probably meant.
        nearest: Option<String>,
    },
    /// A glob of a patch cannot be used.
    #[error(transparent)]
    Glob(#[from] GlobError),
}

/// What one policy says.
enum Statement {
    Nothing,
    This(Answer, PolicyRule),
    ByDefault(Answer, PolicyRule),
}

impl Policy {
    /// A policy that denies the commands that match one of these regular expressions anywhere.
    ///
    /// # Errors
    /// When a pattern cannot be parsed.
    pub fn deny_commands<P: AsRef<str>>(patterns: &[P]) -> Result<Self, CommandPatternError> {
        Ok(Self::commands("deny-commands", CommandPatterns::compile(patterns)?, Answer::Deny))
    }

    /// A policy that asks before commands that match one of these regular expressions anywhere.
    ///
    /// # Errors
    /// When a pattern cannot be parsed.
    pub fn approve_commands<P: AsRef<str>>(patterns: &[P]) -> Result<Self, CommandPatternError> {
        Ok(Self::commands("approve-commands", CommandPatterns::compile(patterns)?, Answer::Ask))
    }

    /// A policy that denies the commands that no agent should ever run, as
    /// [`all_hazards`](stockade_command::hazards::all_hazards) finds them: wiping the disk or the home folder, fork bombs,
    /// running what was just downloaded, reading keys, changing what runs at the next start, switching the machine off. A command
    /// that cannot be read is denied too.
    #[must_use]
    pub fn deny_dangerous_commands() -> Self {
        Self::commands("deny-commands", CommandPatterns::dangerous(), Answer::Deny)
    }

    /// A policy of the host's own.
    pub fn custom(
        name: impl Into<String>,
        evaluate: impl Fn(&Subject<'_>) -> PolicyDecision + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), kind: Kind::Custom(Arc::new(evaluate)) }
    }

    pub(super) fn paths(
        access: Access,
        policy: &PathPolicy,
        workspace: &Workspace,
    ) -> Result<Self, GlobError> {
        let rules = Box::new(PathRules::compile(policy, workspace)?);
        Ok(Self { name: path_policy(access).to_owned(), kind: Kind::Paths { access, rules } })
    }

    fn commands(name: &str, patterns: CommandPatterns, answer: Answer) -> Self {
        Self { name: name.to_owned(), kind: Kind::Commands { patterns, answer } }
    }

    /// Returns the policy under another name. A chain has one policy of a name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Returns the name of the policy.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the other one has the same name and decides the same. Policies of a host cannot be compared.
    fn is_same(&self, other: &Self) -> bool {
        let decides_the_same = match (&self.kind, &other.kind) {
            (Kind::Commands { patterns, answer }, Kind::Commands { patterns: theirs, answer: other }) => {
                answer == other && patterns.is_same(theirs)
            }
            _ => false,
        };
        self.name == other.name && decides_the_same
    }

    fn say(&self, subject: &Subject<'_>, workspace: &Workspace) -> Statement {
        let policy = || self.name.clone();
        match (&self.kind, subject) {
            (Kind::Paths { access, rules }, Subject::Path { access: wanted, located, found })
                if access == wanted =>
            {
                match rules.say(workspace, located, found) {
                    Said::Denied { glob } => {
                        Statement::This(Answer::Deny, PolicyRule::DenyGlob { policy: policy(), glob })
                    }
                    Said::Allowed { glob } => {
                        Statement::This(Answer::Allow, PolicyRule::AllowGlob { policy: policy(), glob })
                    }
                    Said::Default(answer) => {
                        Statement::ByDefault(answer, PolicyRule::Default { policy: policy() })
                    }
                }
            }
            (Kind::Commands { patterns, answer }, Subject::Command { text }) => match patterns.find(text) {
                Some(pattern) => Statement::This(
                    *answer,
                    PolicyRule::CommandPattern { policy: policy(), pattern: pattern.into() },
                ),
                None => Statement::Nothing,
            },
            (Kind::Custom(evaluate), subject) => match evaluate(subject) {
                PolicyDecision::Pass => Statement::Nothing,
                PolicyDecision::Answer(answer) => {
                    Statement::This(answer, PolicyRule::Custom { policy: policy() })
                }
            },
            (Kind::Paths { .. } | Kind::Commands { .. }, _) => Statement::Nothing,
        }
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.kind {
            Kind::Paths { .. } => "paths",
            Kind::Commands { .. } => "commands",
            Kind::Custom(_) => "custom",
        };
        formatter.debug_struct("Policy").field("name", &self.name).field("kind", &kind).finish()
    }
}

/// The policies of one tool.
#[derive(Debug, Clone)]
pub(super) struct Chain(Vec<Policy>);

impl Chain {
    pub(super) fn new(policies: Vec<Policy>) -> Self {
        Self(policies)
    }

    /// Returns what the chain says: nothing when no policy decides.
    pub(super) fn say(&self, subject: &Subject<'_>, workspace: &Workspace) -> Option<(Answer, PolicyRule)> {
        let mut default: Option<(Answer, PolicyRule)> = None;
        for policy in &self.0 {
            let (answer, rule, decides) = match policy.say(subject, workspace) {
                Statement::Nothing => continue,
                Statement::This(answer, rule) => (answer, rule, true),
                Statement::ByDefault(answer, rule) => (answer, rule, false),
            };
            if default.as_ref().is_none_or(|(so_far, _)| answer > *so_far) {
                default = Some((answer, rule));
            }
            if decides {
                break;
            }
        }
        default
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(Policy::name)
    }

    /// Whether the path policy allows a path by itself.
    pub(super) fn path_rules(&self, access: Access) -> Option<&PathRules> {
        self.0.iter().find_map(|policy| match &policy.kind {
            Kind::Paths { access: of, rules } if *of == access && policy.name == path_policy(access) => {
                Some(&**rules)
            }
            Kind::Paths { .. } | Kind::Commands { .. } | Kind::Custom(_) => None,
        })
    }

    /// Adds a policy. One of the same name is replaced where it stands, unless a position is given.
    pub(super) fn add(&mut self, policy: Policy, position: Position<'_>) -> Result<(), ChainError> {
        if policy.name == FORBIDDEN_GLOBS {
            return Err(ChainError::Fixed);
        }
        let present = self.index(&policy.name).ok();
        match (position, present) {
            (Position::Last, Some(index)) => self.replace(index, policy),
            (Position::Last, None) => self.0.push(policy),
            (Position::Before(next), present) => {
                let next = self.index(next)?;
                if let Some(index) = present {
                    self.0.remove(index);
                }
                let moved = usize::from(present.is_some_and(|index| index < next));
                self.0.insert(next - moved, policy);
            }
        }
        Ok(())
    }

    /// Whether adding this policy at the end would change nothing.
    pub(super) fn has(&self, policy: &Policy) -> bool {
        self.0.iter().any(|one| one.is_same(policy))
    }

    pub(super) fn remove(&mut self, name: &str) -> Result<(), ChainError> {
        let index = self.index(name)?;
        self.0.remove(index);
        Ok(())
    }

    /// Adds to a path policy. What it denies it goes on denying.
    pub(super) fn extend(
        &mut self,
        access: Access,
        patch: &PathPolicyPatch,
        workspace: &Workspace,
    ) -> Result<(), ChainError> {
        let index = self.index(path_policy(access))?;
        let mut policy = self.path_rules(access).map(|rules| rules.written().clone()).unwrap_or_default();
        policy.default = patch.default.unwrap_or(policy.default);
        policy.allow.extend_from_slice(&patch.allow);
        policy.deny.extend_from_slice(&patch.deny);
        self.replace(index, Policy::paths(access, &policy, workspace)?);
        Ok(())
    }

    fn replace(&mut self, index: usize, policy: Policy) {
        if let Some(place) = self.0.get_mut(index) {
            *place = policy;
        }
    }

    fn index(&self, name: &str) -> Result<usize, ChainError> {
        if name == FORBIDDEN_GLOBS {
            return Err(ChainError::Fixed);
        }
        self.0.iter().position(|policy| policy.name == name).ok_or_else(|| ChainError::Unknown {
            name: name.to_owned(),
            nearest: nearest(name, self.names()).map(str::to_owned),
        })
    }
}

fn path_policy(access: Access) -> &'static str {
    match access {
        Access::Read => READ_PATH_POLICY,
        Access::Write => WRITE_PATH_POLICY,
    }
}
