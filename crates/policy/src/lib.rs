#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod access;
mod commands;
mod exec;
mod nearest;
mod paths;
mod shell;
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
pub use exec::hazards::{Floor, Hazard as Danger, all_hazards, hazards, script_hazards};
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
pub use shell::{
    Actions, Arg, Assignment, AssignmentScope, Called, Flow, Function, Hazard, HazardKind, Obstacle,
    ReadOptions, Redirect, RedirectOperator, Run, Script, Shell, Span, Substitution, SubstitutionForm,
    Through, Unanalysable, WordCount,
};
pub use tools::groups::Group;
pub use tools::profiles::{Profile, ToolSet};
pub use tools::resolve::{
    AllowedTool, ArgumentLimit, FilteredTool, Removal, Resolution, ToolFix, ToolVerdict,
};
pub use tools::skill::{ArgumentScope, SkillTool, SkillTools, SkillToolsError};
pub use tools::{ToolCatalog, ToolList, ToolPolicy, ToolPolicyConfig, ToolPolicyError, ToolProblem};
