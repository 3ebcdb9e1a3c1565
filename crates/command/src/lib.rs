#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod agent_commands;
pub mod answers;
mod context;
mod context_deps;
mod decision;
mod exclusions;
pub mod hazards;
mod package_managers;
mod repository;
pub mod router;
pub mod rules;
pub mod validator;
mod variables;

pub use agent_commands::AgentCommands;
pub use context::{CommandContext, LinkEnds, NamedPath};
pub use context_deps::{Dependencies, Undetermined};
pub use decision::CommandDecision;
pub use decision::explain::{ConsideredRule, RuleOutcome};
pub use decision::part::{Action, Cause, Part};
pub use decision::policy::{CommandDefaults, CommandPolicy, Substitutions};
pub use decision::suggest::Suggestion;
pub use exclusions::{ExclusionError, Exclusions};
pub use package_managers::{PackageRegistry, PackageUse, package_use};
pub use repository::{FoundRepository, RepositoryFacts};
pub use rules::check::CommandRuleError;
pub use rules::effect::{Effect, Layer};
pub use rules::layer::RuleLayer;
pub use rules::rule::CommandRule;
pub use stockade_names::Access;
pub use stockade_shell as shell;
