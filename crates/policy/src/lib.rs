#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod access;
pub mod commands;
pub mod paths;
pub mod tools;

pub use access::ask::{Ask, PermissionDecision, Reply};
pub use access::request::{AccessRequest, Caller};
pub use access::sandbox::{Sandbox, SandboxError};
pub use access::tool_guard::{ToolGuard, Verdict};
pub use access::violation::Violation;
pub use commands::context::CommandContext;
pub use commands::decision::CommandDecision;
pub use commands::decision::policy::{CommandDefaults, CommandPolicy, Substitutions};
pub use commands::rules::check::CommandRuleError;
pub use commands::rules::effect::{Effect, Layer};
pub use commands::rules::layer::RuleLayer;
pub use commands::rules::rule::CommandRule;
pub use paths::config::{Answer, SandboxConfig};
pub use paths::facts::{Access, PathFacts};
pub use paths::jail::Workspace;
pub use stockade_shell as shell;
pub use tools::policy::{ToolCatalog, ToolPolicy, ToolPolicyConfig, ToolPolicyError};
pub use tools::profiles::Profile;
pub use tools::resolve::ToolVerdict;
pub use tools::skill::SkillTools;
