#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod access;
pub mod paths;
pub mod tools;

pub use access::ask::{Ask, PermissionDecision, Reply};
pub use access::request::{AccessRequest, Caller};
pub use access::sandbox::{Sandbox, SandboxError};
pub use access::tool_guard::{ToolGuard, Verdict};
pub use access::violation::Violation;
pub use paths::config::{Answer, SandboxConfig};
pub use paths::facts::PathFacts;
pub use paths::jail::Workspace;
pub use stockade_names::Access;
pub use tools::policy::{ToolCatalog, ToolPolicy, ToolPolicyConfig, ToolPolicyError};
pub use tools::profiles::Profile;
pub use tools::resolve::ToolVerdict;
pub use tools::skill::SkillTools;
