//! Decisions on requests for access: the fixed limits, then the chain of policies, then a person.

pub(crate) mod ask;
pub(crate) mod chain;
mod execute;
mod fix;
mod patterns;
pub(crate) mod request;
mod rule;
pub(crate) mod sandbox;
mod session;
pub(crate) mod tool_guard;
pub(crate) mod violation;

pub use chain::{
    ChainChange, ChainError, FORBIDDEN_GLOBS, Policy, PolicyDecision, Position, READ_PATH_POLICY, Subject,
    WRITE_PATH_POLICY,
};
pub use fix::Fix;
pub use patterns::CommandPatternError;
pub use request::{Object, Operation, RunState};
pub use rule::PolicyRule;
pub use tool_guard::Permit;
pub use violation::Reason;
