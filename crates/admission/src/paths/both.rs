//! Combines a workspace's sandbox with an optional restricting one: both must allow a request.

use std::path::Path;

use stockade_policy::access::Permit;
use stockade_policy::paths::ResolveError;
use stockade_policy::{Access, AccessRequest, Ask, Caller, Reply, Sandbox, Verdict, Violation};

/// The configured sandbox, and an optional one that only narrows.
#[derive(Debug)]
pub(super) struct Sandboxes {
    pub(super) own: Sandbox,
    pub(super) narrower: Option<Sandbox>,
}

/// A question of either sandbox, or of both about the same request. One answer counts for both.
#[derive(Debug)]
#[must_use = "a request that waits for an answer is not allowed"]
pub struct PathAsk {
    first: Box<Ask>,
    /// Whether the first question is that of the configured sandbox.
    is_own: bool,
    second: Option<Box<Ask>>,
}

/// Decision on a request that opens nothing, such as a command.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub enum Judgement {
    /// Allowed, for this object.
    Allowed(Box<Permit>),
    /// The user must be asked first.
    Pending(PathAsk),
    /// Denied, with the reason.
    Denied(Box<Violation>),
}

impl PathAsk {
    /// Returns the question for the user.
    pub fn ask(&self) -> &Ask {
        &self.first
    }
}

impl Sandboxes {
    pub(super) fn decide(
        &mut self,
        tool: &str,
        request: &AccessRequest<'_>,
        caller: &Caller<'_>,
    ) -> Judgement {
        let own = self.own.guard_for(tool).decide(request, caller);
        let narrower = self.narrower.as_mut().map(|sandbox| sandbox.guard_for(tool).decide(request, caller));
        match (own, narrower) {
            (Verdict::Denied(why), _) | (_, Some(Verdict::Denied(why))) => Judgement::Denied(why),
            (Verdict::Pending(first), Some(Verdict::Pending(second))) => {
                Judgement::Pending(PathAsk { first, is_own: true, second: Some(second) })
            }
            (Verdict::Pending(first), _) => Judgement::Pending(PathAsk { first, is_own: true, second: None }),
            (_, Some(Verdict::Pending(first))) => {
                Judgement::Pending(PathAsk { first, is_own: false, second: None })
            }
            (Verdict::Allowed(permit), None | Some(Verdict::Allowed(_))) => {
                Judgement::Allowed(Box::new(permit))
            }
            // An unknown verdict is not a permission.
            _ => Judgement::Denied(self.own.guard_for(tool).refuse(
                Access::Write,
                Path::new("."),
                ResolveError::Unreadable,
            )),
        }
    }

    /// Continues after an answer. A request of both sandboxes is allowed if both accept the answer.
    pub(super) fn answer(&mut self, tool: &str, asked: &PathAsk, reply: Reply) -> Verdict {
        let first = match (&mut self.narrower, asked.is_own) {
            (_, true) => self.own.guard_for(tool).answer(&asked.first, reply),
            (Some(narrower), false) => narrower.guard_for(tool).answer(&asked.first, reply),
            // The restricting sandbox is gone, so its question cannot be answered.
            (None, false) => self.own.guard_for(tool).answer(&asked.first, Reply::Unreadable),
        };
        match (first, &asked.second, &mut self.narrower) {
            (Verdict::Allowed(_), Some(second), Some(narrower)) => {
                narrower.guard_for(tool).answer(second, reply)
            }
            (first, ..) => first,
        }
    }
}
