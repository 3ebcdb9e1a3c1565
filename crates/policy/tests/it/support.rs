//! Short constructors for tests.

use std::path::Path;

use stockade_policy::access::Reason;
use stockade_policy::paths::{OtherNames, ResolvedPath, Target};
use stockade_policy::{
    Access, AccessRequest, Caller, PathFacts, Sandbox, SandboxConfig, ToolGuard, Verdict, Workspace,
};

/// The workspace of every test.
pub(crate) const WS: &str = "/base/ws";

pub(crate) fn sandbox(config: &SandboxConfig) -> Sandbox {
    Sandbox::compile(config, &Workspace::plain(WS)).unwrap()
}

/// What a disk without any link would say about a path.
pub(crate) fn plain(path: &str) -> PathFacts {
    let config = SandboxConfig::default();
    match sandbox(&config).locate(Path::new(path)) {
        Some(located) => PathFacts::Resolved(ResolvedPath::file(located)),
        None => PathFacts::Resolved(ResolvedPath::file(WS)),
    }
}

/// What the disk says about a path that is really another.
pub(crate) fn really(path: &str) -> PathFacts {
    PathFacts::Resolved(ResolvedPath::file(path))
}

pub(crate) fn linked(path: &str, names: OtherNames) -> PathFacts {
    PathFacts::Resolved(ResolvedPath { target: Target::File(names), ..ResolvedPath::file(path) })
}

pub(crate) fn decide(guard: &ToolGuard, access: Access, path: &str, facts: &PathFacts) -> Verdict {
    guard.decide(&AccessRequest::Path { access, path: Path::new(path), facts }, &Caller::default())
}

/// A verdict in one word: `allow`, `ask`, or the reason of the refusal.
pub(crate) fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Allowed(_) => "allow",
        Verdict::Pending(_) => "ask",
        Verdict::Denied(violation) => Reason::name(violation.reason),
        _ => "unknown",
    }
}
