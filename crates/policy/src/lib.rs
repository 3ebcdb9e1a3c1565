#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod access;
mod commands;
mod exec;
mod nearest;
mod paths;
mod shown;
mod tools;

pub use access::ask::{Ask, PermissionDecision, Reply};
pub use access::chain::{
    ChainChange, ChainError, FORBIDDEN_GLOBS, Policy, PolicyDecision, Position, READ_PATH_POLICY, Subject,
    WRITE_PATH_POLICY,
};
pub use access::fix::Fix;
pub use access::request::{AccessRequest, Caller, Object, Operation, RunState};
pub use access::tool_guard::{Permit, ToolGuard, Verdict};
pub use access::violation::{Reason, Rule, Violation};
pub use access::{Sandbox, SandboxError};
pub use commands::CommandPatternError;
pub use exec::audit::{AuditEntry, AuditPart};
pub use exec::decision::CommandDecision;
pub use exec::decision::explain::{Consideration, Considered};
pub use exec::decision::part::{Because, Does, Part};
pub use exec::decision::policy::{CommandDefaults, CommandPolicy, FloorOverride, RuleLayer};
pub use exec::decision::suggest::Suggestion;
pub use exec::hazards::{Floor, Hazard as Danger, all_hazards, hazards, script_hazards};
pub use exec::router::{Asker, Backend, Blocked, Need, Route, RouterConfig, Routing, Unavailable, route};
pub use exec::rules::check::{CommandRuleError, CommandRuleProblem};
pub use exec::rules::effect::{Effect, Layer};
#[cfg(feature = "rule-files")]
pub use exec::rules::file::error::{CommandRuleFileError, CommandRuleFileProblem};
#[cfg(feature = "rule-files")]
pub use exec::rules::file::{CommandRuleFile, CommandRuleFormat, CommandTest, MAX_COMMAND_RULE_FILE_BYTES};
pub use exec::rules::lint::{Lint, lint as lint_rules};
pub use exec::rules::place::CommandPlace;
pub use exec::rules::rule::{CommandPattern, CommandRule, Example, Guards, Over, Redirects};
#[cfg(feature = "rule-files")]
pub use exec::store::CustomRules;
pub use exec::validator::{
    Rejection, RejectionKind, Validated, Validation, ValidatorChecks, ValidatorOptions, validate,
};
pub use paths::config::{
    AbsolutePaths, Answer, HardLinks, Jail, PathPolicy, PathPolicyPatch, Preset, SandboxConfig,
};
pub use paths::globs::{GlobError, GlobErrorKind};
pub use paths::jail::{Case, Workspace};
pub use paths::lexical::{Malformed, TraversalError, safe_join};
pub use paths::presets::STANDARD_FORBIDDEN_GLOBS;
pub use paths::{Access, OtherNames, PathFacts, ResolvedPath, Target, Trouble};
pub use stockade_shell as shell;
pub use tools::groups::Group;
pub use tools::profiles::{Profile, ToolSet};
pub use tools::resolve::{
    AllowedTool, ArgumentLimit, FilteredTool, Removal, Resolution, ToolFix, ToolVerdict,
};
pub use tools::skill::{ArgumentScope, SkillTool, SkillTools, SkillToolsError};
pub use tools::{ToolCatalog, ToolList, ToolPolicy, ToolPolicyConfig, ToolPolicyError, ToolProblem};
