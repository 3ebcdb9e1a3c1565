//! What may become of a command.
//!
//! A text is read by the crate `shell`; [`rules`] say what may become of its parts, [`hazards`] are what is dangerous
//! whatever rules say, `decision` puts both together, and [`router`] says where the command runs. The [`validator`] is
//! stricter than the rest: it refuses a text for what hides in it. [`answers`] remember what a person said about a command.

pub(crate) mod agent_commands;
pub mod answers;
mod audit;
pub(crate) mod context;
pub(crate) mod decision;
mod depends;
mod exclusions;
pub mod hazards;
pub(crate) mod patterns;
mod repository;
pub mod router;
pub mod rules;
pub mod validator;
mod variables;

pub use agent_commands::AgentCommands;
pub use audit::{AuditEntry, AuditPart};
pub use decision::explain::{ConsideredRule, RuleOutcome};
pub use decision::part::{Action, Cause, Part};
pub use decision::suggest::Suggestion;
pub use depends::{Dependencies, Undetermined};
pub use exclusions::{ExclusionError, Exclusions};
pub use patterns::CommandPatternError;
pub use repository::{FoundRepository, RepositoryFacts};
