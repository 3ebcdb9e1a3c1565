//! The guard of one tool: its chain of policies and the answers given for it.

use std::path::Path;
use std::sync::Arc;
use stockade_text::resolve_path;

use super::ask::{Ask, Asked, PermissionDecision, Reply};
use super::chain::{Chain, ChainChange, ChainError, FORBIDDEN_GLOBS, Policy, Position, Subject};
use super::execute::Execute;
use super::fix::Fix;
use super::request::{AccessRequest, Caller, Object, Operation, RunState};
use super::rule::PolicyRule;
use super::session::{Memory, Remembered};
use super::violation::{Reason, Violation};
use crate::paths::boundary::{Boundary, Hit};
use crate::paths::config::{Answer, DangerousNames, PathPolicyPatch};
use crate::paths::facts::{PathFacts, ResolveError, ResolvedPath};
use crate::paths::named;
use crate::paths::rules::{PathRules, Said};
use stockade_command::AgentCommands;
use stockade_command::hazards::DangerousName;
use stockade_names::Access;

/// The decision on a request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum Verdict {
    /// Go ahead, with this object.
    Allowed(Permit),
    /// A person must be asked first: see [`ToolGuard::answer`].
    Pending(Box<Ask>),
    /// The request is refused, for this reason.
    Denied(Box<Violation>),
}

/// A permission for one object.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Permit {
    /// What may be done.
    pub operation: Operation,
    /// To what: the real path, or the command.
    pub object: Object,
    /// What decided in its favour.
    pub rule: PolicyRule,
}

/// The guard of one tool.
#[derive(Debug, Clone)]
pub struct ToolGuard {
    tool: String,
    boundary: Arc<Boundary>,
    chain: Chain,
    execute: Execute,
    memory: Memory,
}

/// A request, judged as far as the configuration goes.
struct Judged {
    answer: Answer,
    rule: PolicyRule,
    object: Object,
}

impl Verdict {
    /// Whether the request is allowed now.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allowed(_))
    }
}

impl ToolGuard {
    pub(super) fn new(tool: &str, boundary: Arc<Boundary>, chain: Chain, execute: Execute) -> Self {
        Self { tool: tool.to_owned(), boundary, chain, execute, memory: Memory::default() }
    }

    pub(super) fn set_commands(&mut self, commands: Arc<AgentCommands>) {
        self.execute.rules = commands;
    }

    /// Returns the name of the tool.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Decides on a request.
    pub fn decide(&self, request: &AccessRequest<'_>, caller: &Caller<'_>) -> Verdict {
        let judged = match self.judge(request) {
            Ok(judged) => judged,
            Err(violation) => return Verdict::Denied(violation),
        };
        match judged.answer {
            Answer::Allow => permit(request, judged),
            Answer::Deny => self.deny(request, judged.rule, Reason::denied(request.operation())),
            Answer::Ask => self.ask(request, caller, judged),
        }
    }

    /// Whether a request is allowed without asking anybody. For walking folders, where what is not allowed is skipped.
    #[must_use]
    pub fn can_access(&self, request: &AccessRequest<'_>) -> bool {
        self.decide(request, &Caller::default()).is_allowed()
    }

    /// Decides on a request whose question has been answered. The request is judged again first: whatever the
    /// policies have come to deny meanwhile, an answer does not allow.
    pub fn answer(&mut self, ask: &Ask, reply: Reply) -> Verdict {
        let request = ask.request.borrowed();
        let judged = match self.judge(&request) {
            Ok(judged) => judged,
            Err(violation) => return Verdict::Denied(violation),
        };
        // A question of another tool's guard was never asked here.
        if judged.answer == Answer::Deny || ask.tool != self.tool {
            return self.deny(&request, judged.rule, Reason::denied(ask.operation));
        }
        let denied = Reason::denied(ask.operation);
        match reply {
            Reply::Aborted => self.deny(&request, judged.rule, Reason::AskAborted),
            Reply::NoHandler => self.deny(&request, judged.rule, Reason::AskNoHandler),
            Reply::Unreadable => self.deny(&request, PolicyRule::UnknownAnswer, denied),
            Reply::Decision(decision) => {
                self.remember(ask, decision);
                match decision {
                    PermissionDecision::Allow | PermissionDecision::AllowSession => {
                        permit(&request, Judged { rule: PolicyRule::Answer, ..judged })
                    }
                    PermissionDecision::Deny | PermissionDecision::DenySession => {
                        self.deny(&request, PolicyRule::Answer, denied)
                    }
                }
            }
        }
    }

    /// Refuses a path for a reason that only the caller can know, like one that changed while it was being judged.
    #[must_use]
    pub fn refuse(&self, access: Access, path: &Path, error: ResolveError) -> Box<Violation> {
        let facts = PathFacts::Unresolvable(error);
        let request = AccessRequest::Path { access, path, facts: &facts };
        self.violation(&request, PolicyRule::Unresolvable(error), Reason::denied(request.operation()))
    }

    /// Forgets every answer that was to hold for the run.
    pub fn end_session(&mut self) {
        self.memory.forget();
    }

    /// Adds a policy to the chain; one of the same name is replaced.
    ///
    /// # Errors
    /// When the position does not exist, or would touch the forbidden globs.
    pub fn add(&mut self, policy: Policy, position: Position<'_>) -> Result<ChainChange, ChainError> {
        self.chain.add(policy, position).map(|()| self.policies())
    }

    /// Whether the chain has this policy already, so that adding it at the end changes nothing.
    #[must_use]
    pub fn has(&self, policy: &Policy) -> bool {
        self.chain.has(policy)
    }

    /// Removes the policy of this name.
    ///
    /// # Errors
    /// When it does not exist, or is the forbidden globs.
    pub fn remove(&mut self, name: &str) -> Result<ChainChange, ChainError> {
        self.chain.remove(name).map(|()| self.policies())
    }

    /// Adds to a path policy: what it denies it goes on denying.
    ///
    /// # Errors
    /// When a glob cannot be used, or the path policy was removed.
    pub fn extend(&mut self, access: Access, patch: &PathPolicyPatch) -> Result<ChainChange, ChainError> {
        let workspace = self.boundary.workspace.clone();
        self.chain.extend(access, patch, &workspace).map(|()| self.policies())
    }

    /// Returns the chain as it is: the forbidden globs, which nothing changes, and the policies in order.
    #[must_use]
    pub fn policies(&self) -> ChainChange {
        let policies =
            std::iter::once(FORBIDDEN_GLOBS).chain(self.chain.names()).map(str::to_owned).collect();
        ChainChange { tool: self.tool.clone(), policies }
    }

    fn judge(&self, request: &AccessRequest<'_>) -> Result<Judged, Box<Violation>> {
        match *request {
            AccessRequest::Command { text } => {
                let said = self.chain.say(&Subject::Command { text }, &self.boundary.workspace);
                let said = said.unwrap_or((self.execute.unmatched, PolicyRule::NothingDecided));
                let (answer, rule) = stricter(said, self.execute.judge(text, &self.boundary.workspace));
                Ok(Judged { answer, rule, object: Object::Command(text.to_owned()) })
            }
            AccessRequest::Path { access, path, facts } => {
                let located = self.boundary.locate(path).map_err(|hit| self.struck(request, hit))?;
                let found = self.boundary.admit(&located, facts).map_err(|hit| self.struck(request, hit))?;
                let subject = Subject::Path { access, located: &located, found };
                let said = self.chain.say(&subject, &self.boundary.workspace);
                let said = said.unwrap_or((Answer::Allow, PolicyRule::NothingDecided));
                let (answer, rule) = stricter(said, self.by_name(access, &located, found));
                Ok(Judged { answer, rule, object: Object::Path(found.real.clone()) })
            }
        }
    }

    /// What the name of a file says, unless a glob of the path policy means just this file.
    fn by_name(&self, access: Access, located: &Path, found: &ResolvedPath) -> Option<(Answer, PolicyRule)> {
        let workspace = &self.boundary.workspace;
        if self.boundary.names == DangerousNames::Free {
            return None;
        }
        let (answer, DangerousName { id, reason, .. }) = named::worst(workspace, access, located, found)?;
        let policy = self.chain.path_rules(access).map(PathRules::written);
        let is_meant = policy.is_some_and(|policy| named::is_meant(policy, workspace, located, found));
        (!is_meant).then_some((answer, PolicyRule::DangerousName { id, reason }))
    }

    fn ask(&self, request: &AccessRequest<'_>, caller: &Caller<'_>, judged: Judged) -> Verdict {
        match self.memory.recall(request.operation(), &judged.object) {
            Some(Remembered::Allowed) => {
                return permit(request, Judged { rule: PolicyRule::SessionAnswer, ..judged });
            }
            Some(Remembered::Denied) => {
                return self.deny(request, PolicyRule::SessionAnswer, Reason::denied(request.operation()));
            }
            None => {}
        }
        if caller.run == RunState::Aborted {
            return self.deny(request, judged.rule, Reason::AskAborted);
        }
        let fix = self.violation(request, judged.rule.clone(), Reason::denied(request.operation())).fix;
        Verdict::Pending(Box::new(Ask {
            fix,
            tool: self.tool.clone(),
            agent: caller.agent.to_owned(),
            operation: request.operation(),
            object: judged.object,
            rule: judged.rule,
            request: Asked::from(request),
        }))
    }

    fn remember(&mut self, ask: &Ask, decision: PermissionDecision) {
        let answer = match decision {
            PermissionDecision::AllowSession => Remembered::Allowed,
            PermissionDecision::DenySession => Remembered::Denied,
            PermissionDecision::Allow | PermissionDecision::Deny => return,
        };
        self.memory.remember(ask.operation, ask.object.clone(), answer);
    }

    /// The refusal of a request that violates a fixed limit.
    fn struck(&self, request: &AccessRequest<'_>, hit: Hit) -> Box<Violation> {
        let denied = Reason::denied(request.operation());
        let (reason, rule) = match hit {
            Hit::Absolute => (Reason::AbsolutePath, PolicyRule::AbsolutePaths),
            Hit::Unresolvable(error) => (denied, PolicyRule::Unresolvable(error)),
            Hit::Outside => (Reason::Jail, PolicyRule::Jail),
            Hit::LinkedOutside => (Reason::Jail, PolicyRule::HardLink),
            Hit::LinkedSomewhere => (Reason::Jail, PolicyRule::HardLinkNotFound),
            Hit::Special => (Reason::Jail, PolicyRule::SpecialFile),
            Hit::Forbidden(glob) => (Reason::ForbiddenGlob, PolicyRule::ForbiddenGlob { glob }),
        };
        self.violation(request, rule, reason)
    }

    fn deny(&self, request: &AccessRequest<'_>, rule: PolicyRule, reason: Reason) -> Verdict {
        Verdict::Denied(self.violation(request, rule, reason))
    }

    fn violation(&self, request: &AccessRequest<'_>, rule: PolicyRule, reason: Reason) -> Box<Violation> {
        let operation = request.operation();
        let (object, real, fix) = match *request {
            AccessRequest::Command { text } => {
                (Object::Command(text.to_owned()), None, Fix::for_command(&rule))
            }
            AccessRequest::Path { access, path, facts } => {
                let located = resolve_path(&self.boundary.workspace.cwd, path);
                let found = found(facts);
                let real = found.map(|found| &found.real).filter(|real| **real != located);
                let real = real.map(|real| Object::Path(real.clone()));
                let fix = self.fix_path(&rule, access, &located, found);
                (Object::Path(located), real, fix)
            }
        };
        let fix = if reason == Reason::AskNoHandler { Some(Fix::ConnectAsker) } else { fix };
        Box::new(Violation { reason, operation, object, real, rule, fix })
    }

    fn fix_path(
        &self,
        rule: &PolicyRule,
        access: Access,
        located: &Path,
        found: Option<&ResolvedPath>,
    ) -> Option<Fix> {
        let workspace = &self.boundary.workspace;
        let allowed = |path: &Path| {
            let rules = self.chain.path_rules(access);
            let itself = ResolvedPath::file(path);
            let is_meant = |rules: &PathRules| match rule {
                PolicyRule::DangerousName { .. } => {
                    named::is_meant(rules.written(), workspace, path, &itself)
                }
                _ => matches!(rules.say(workspace, path, &itself), Said::Allowed { .. }),
            };
            rules.is_some_and(is_meant)
        };
        Fix::for_path(rule, access, located, found, allowed, workspace)
    }
}

/// The stricter of both; the first where they are alike.
fn stricter(said: (Answer, PolicyRule), other: Option<(Answer, PolicyRule)>) -> (Answer, PolicyRule) {
    other.filter(|other| other.0 > said.0).unwrap_or(said)
}

fn permit(request: &AccessRequest<'_>, judged: Judged) -> Verdict {
    Verdict::Allowed(Permit { operation: request.operation(), object: judged.object, rule: judged.rule })
}

fn found(facts: &PathFacts) -> Option<&ResolvedPath> {
    match facts {
        PathFacts::Resolved(found) => Some(found),
        PathFacts::Unresolvable(_) => None,
    }
}

impl From<&AccessRequest<'_>> for Asked {
    fn from(request: &AccessRequest<'_>) -> Self {
        match *request {
            AccessRequest::Path { access, path, facts } => {
                Self::Path { access, path: path.to_owned(), facts: facts.clone() }
            }
            AccessRequest::Command { text } => Self::Command { text: text.to_owned() },
        }
    }
}

impl Asked {
    fn borrowed(&self) -> AccessRequest<'_> {
        match self {
            Self::Path { access, path, facts } => AccessRequest::Path { access: *access, path, facts },
            Self::Command { text } => AccessRequest::Command { text },
        }
    }
}
