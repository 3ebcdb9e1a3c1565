//! Resolves paths, lets the policy decide, and opens the decided file.
//!
//! Between a decision and its use a path may be replaced by a link. So decisions are made on handles: every directory
//! on the way is held open, and the opened file is compared with the one that was judged. A tool gets the open file,
//! never a name to open again.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use stockade_command::AgentCommands;
use stockade_files::{HeldName, Resolver, RootFolder};
use stockade_policy::paths::ResolveError;
use stockade_policy::{
    Access, AccessRequest, Ask, Caller, PathFacts, Reply, Sandbox, SandboxConfig, SandboxError, Verdict,
    Violation, Workspace,
};
use thiserror::Error;

mod both;
mod facts;
mod granted;
mod reads;

pub use both::{Judgement, PathAsk};
pub use granted::Granted;
pub use reads::Reads;

use both::Sandboxes;
use facts::{facts_of, workspace_of};
use granted::Opened;

/// How often a path that changes during the lookup is tried again before it is refused.
const ATTEMPTS: usize = 4;

/// A sandbox with a disk: decides on paths and opens them.
#[derive(Debug)]
pub struct PathGuard {
    sandboxes: Sandboxes,
    root: RootFolder,
}

/// Facts about a path, and its target, held open.
type Looked = (PathFacts, Option<HeldName>);

/// A tool's request for a path.
#[derive(Debug, Clone, Copy)]
pub struct PathRequest<'a> {
    /// The tool.
    pub tool: &'a str,
    /// The requested access.
    pub access: Access,
    /// The path as the tool received it.
    pub path: &'a Path,
    /// The caller.
    pub caller: Caller<'a>,
}

/// Result of a request.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub enum Authorization {
    /// The tool may proceed with this object only.
    Granted(Box<Granted>),
    /// The user must be asked first: see [`PathGuard::answer`].
    Pending(Box<PendingPath>),
    /// The path is denied, with the reason.
    Denied(Box<Violation>),
}

/// A request that waits for an answer. It pins the target of the question, so that it cannot be replaced meanwhile.
#[derive(Debug)]
#[must_use = "a request that waits for an answer is not allowed"]
pub struct PendingPath {
    asked: PathAsk,
    tool: String,
    access: Access,
    path: PathBuf,
    facts: PathFacts,
    held: HeldName,
}

/// Why a workspace cannot be guarded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PathGuardError {
    /// The workspace cannot be opened.
    #[error("cannot open the workspace {}", path.display())]
    Workspace {
        /// The workspace.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] SandboxError),
}

impl PathGuard {
    /// Opens a workspace under a configuration. A relative `cwd` is relative to the current directory.
    ///
    /// # Errors
    /// When the workspace cannot be opened or the configuration cannot be used.
    pub fn open(config: &SandboxConfig, cwd: &Path, resolver: Resolver) -> Result<Self, PathGuardError> {
        let fail = |source| PathGuardError::Workspace { path: cwd.to_owned(), source };
        let root = RootFolder::open(cwd, resolver).map_err(fail)?;
        let own = Sandbox::compile(config, &workspace_of(&root))?;
        Ok(Self { sandboxes: Sandboxes { own, narrower: None }, root })
    }

    /// Adds a second configuration: from now on, both must allow a request. Replaces an earlier second one.
    ///
    /// # Errors
    /// When the configuration cannot be used. Nothing changes then.
    pub fn narrow(&mut self, config: &SandboxConfig) -> Result<(), PathGuardError> {
        self.sandboxes.narrower = Some(Sandbox::compile(config, &workspace_of(&self.root))?);
        Ok(())
    }

    /// Returns the sandbox, to add policies for a tool.
    pub fn sandbox(&mut self) -> &mut Sandbox {
        &mut self.sandboxes.own
    }

    /// Sets the rules that decide commands.
    pub fn set_commands(&mut self, commands: &Arc<AgentCommands>) {
        self.sandboxes.own.set_commands(Arc::clone(commands));
        if let Some(narrower) = &mut self.sandboxes.narrower {
            narrower.set_commands(Arc::clone(commands));
        }
    }

    /// Decides on a command of a tool.
    pub fn command(&mut self, tool: &str, text: &str, caller: Caller<'_>) -> Judgement {
        self.sandboxes.decide(tool, &AccessRequest::Command { text }, &caller)
    }

    /// Decides on a command after an answer.
    pub fn answer_command(&mut self, tool: &str, asked: &PathAsk, reply: Reply) -> Verdict {
        self.sandboxes.answer(tool, asked, reply)
    }

    /// Returns the workspace as resolved.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        self.sandboxes.own.workspace()
    }

    /// Decides on a request; an allowed one is returned with its target open.
    pub fn authorize(&mut self, request: &PathRequest<'_>) -> Authorization {
        let PathRequest { tool, access, path, caller } = *request;
        for _ in 0..ATTEMPTS {
            let (facts, judged) = self.look(&PathRequest { tool, access, path, caller });
            let held = match judged {
                Err(violation) => return Authorization::Denied(violation),
                Ok((Judgement::Allowed(_), held)) => held,
                Ok((Judgement::Pending(asked), held)) => {
                    let (tool, path) = (tool.to_owned(), path.to_owned());
                    let pending = PendingPath { asked, tool, access, path, facts, held };
                    return Authorization::Pending(Box::new(pending));
                }
                Ok((Judgement::Denied(violation), _)) => return Authorization::Denied(violation),
            };
            if let Opened::As(granted) = granted::open(held, access, &facts) {
                return Authorization::Granted(granted);
            }
        }
        self.refuse(tool, access, path, ResolveError::Changed)
    }

    /// Decides as [`PathGuard::authorize`] would, without opening anything.
    pub fn judge(&mut self, request: &PathRequest<'_>) -> Judgement {
        self.look(request).1.map_or_else(Judgement::Denied, |(judgement, _)| judgement)
    }

    /// Looks up the path and decides on it.
    fn look(
        &mut self,
        request: &PathRequest<'_>,
    ) -> (PathFacts, Result<(Judgement, HeldName), Box<Violation>>) {
        let PathRequest { tool, access, path, caller } = *request;
        let (facts, held) = self.find(path);
        let asked = AccessRequest::Path { access, path, facts: &facts };
        let judged = match (self.sandboxes.decide(tool, &asked, &caller), held) {
            (Judgement::Denied(violation), _) => Err(violation),
            (judgement, Some(held)) => Ok((judgement, held)),
            // Nothing was found that could be opened, so nothing is allowed.
            (_, None) => Err(self.violation(tool, access, path, ResolveError::Unreadable)),
        };
        (facts, judged)
    }

    /// Decides on a request after an answer. The answer applies to what the user was shown: if the path leads
    /// elsewhere by now, it is void.
    pub fn answer(&mut self, pending: PendingPath, reply: Reply) -> Authorization {
        let PendingPath { asked, tool, access, path, facts, held } = pending;
        let unchanged = self.find(&path).0 == facts;
        match self.sandboxes.answer(&tool, &asked, reply) {
            Verdict::Denied(violation) => Authorization::Denied(violation),
            Verdict::Allowed(_) if unchanged => match granted::open(held, access, &facts) {
                Opened::As(granted) => Authorization::Granted(granted),
                Opened::Changed => self.refuse(&tool, access, &path, ResolveError::Changed),
            },
            _ => self.refuse(&tool, access, &path, ResolveError::Changed),
        }
    }

    /// Whether a path is allowed without a question. For walking directories, where other paths are skipped; a file
    /// that is used afterwards must be authorised.
    #[must_use]
    pub fn can_access(&mut self, tool: &str, access: Access, path: &Path) -> bool {
        let facts = self.find(path).0;
        let request = AccessRequest::Path { access, path, facts: &facts };
        matches!(self.sandboxes.decide(tool, &request, &Caller::default()), Judgement::Allowed(_))
    }

    /// Returns the facts about a path.
    #[must_use]
    pub fn facts(&self, path: &Path) -> PathFacts {
        self.find(path).0
    }

    fn find(&self, path: &Path) -> Looked {
        let (Some(located), Some(named)) =
            (self.sandboxes.own.locate(path), self.sandboxes.own.as_named(path))
        else {
            // It is refused in any case, so nothing is looked up.
            return (PathFacts::Unresolvable(ResolveError::Unreadable), None);
        };
        let by_kernel = facts_of(self.root.find(&named));
        if !path.components().any(|component| component == Component::ParentDir) {
            return by_kernel;
        }
        self.agreed(by_kernel, facts_of(self.root.find(&located)))
    }

    /// Combines two readings of a path: that of the kernel, which follows a link before it goes up, and that of
    /// programs which normalise the text before opening it. The tool may be either, so a path with two different
    /// targets is refused.
    fn agreed(&self, by_kernel: Looked, by_text: Looked) -> Looked {
        let where_to = |facts: &PathFacts| match facts {
            PathFacts::Resolved(found) => Some(found.real.clone()),
            PathFacts::Unresolvable(_) => None,
        };
        match (where_to(&by_kernel.0), where_to(&by_text.0)) {
            // The kernel opens nothing there; its reason counts.
            (None, _) => by_kernel,
            (kernel, text) if kernel == text => by_kernel,
            // Prefer the most informative reason: it lies outside.
            _ if self.sandboxes.own.lies_outside(&by_kernel.0) => by_kernel,
            _ if self.sandboxes.own.lies_outside(&by_text.0) => by_text,
            _ => (PathFacts::Unresolvable(ResolveError::UpBehindLink), None),
        }
    }

    fn refuse(&mut self, tool: &str, access: Access, path: &Path, why: ResolveError) -> Authorization {
        Authorization::Denied(self.violation(tool, access, path, why))
    }

    fn violation(&mut self, tool: &str, access: Access, path: &Path, why: ResolveError) -> Box<Violation> {
        self.sandboxes.own.guard_for(tool).refuse(access, path, why)
    }
}

impl PendingPath {
    /// Returns the question for the user.
    pub fn ask(&self) -> &Ask {
        self.asked.ask()
    }

    /// Returns the path as the tool received it.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Authorization {
    /// Returns the grant, if there is one.
    #[must_use]
    pub fn granted(self) -> Option<Box<Granted>> {
        match self {
            Self::Granted(granted) => Some(granted),
            Self::Pending(_) | Self::Denied(_) => None,
        }
    }
}
