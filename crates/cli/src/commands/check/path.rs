//! `stockade check path`: resolves paths, and checks them against the rules.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use stockade_guard::Resolver;
use stockade_guard::admission::PathGuard;
use stockade_guard::policy::access::Fix;
use stockade_guard::policy::paths::{PathPolicy, Preset};
use stockade_guard::policy::{self, Access, AccessRequest, Caller, PathFacts, SandboxConfig, Verdict};
use stockade_text::escape_path;

use super::{Answer, Decision};
use crate::failure::{Failure, with_causes};
use stockade_state::command_rules::{configuration, of_agent};

/// Check whether a tool may read or write paths
#[derive(Debug, clap::Args)]
pub(super) struct PathArgs {
    /// Paths, as a tool would receive them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Check reading (default)
    #[arg(long, conflicts_with = "write")]
    read: bool,

    /// Check writing, creating, renaming and deleting
    #[arg(long)]
    write: bool,

    /// Workspace that relative paths and globs refer to
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    cwd: PathBuf,

    /// Agent whose configuration to use instead of a preset; --deny options still apply
    #[arg(long, value_name = "ID", value_parser = stockade_state::agents::parse_name, conflicts_with_all = ["preset", "allow", "otherwise"])]
    agent: Option<String>,

    /// Preset to start from
    #[arg(long, value_name = "PRESET", default_value = "default")]
    preset: PresetChoice,

    /// Additional glob to allow; repeatable
    #[arg(long, value_name = "GLOB")]
    allow: Vec<String>,

    /// Additional glob to deny, even if another glob allows it; repeatable
    #[arg(long, value_name = "GLOB")]
    deny: Vec<String>,

    /// Glob to forbid, which nothing overrides; repeatable
    #[arg(long, value_name = "GLOB")]
    forbid: Vec<String>,

    /// Decision if no glob matches
    #[arg(long, value_name = "ANSWER")]
    otherwise: Option<AnswerChoice>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum PresetChoice {
    Default,
    Permissive,
    Daemon,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum AnswerChoice {
    Allow,
    Ask,
    Deny,
}

/// Maximum number of obstacles for which fixes are collected.
const MAX_FIXES: usize = 8;

/// Placeholder name of the tool that would use the path.
const TOOL: &str = "check";

pub(super) fn check(args: &PathArgs) -> Result<Vec<Answer>, Failure> {
    let access = if args.write { Access::Write } else { Access::Read };
    let config = config(args, access)?;
    args.paths.iter().map(|path| answer(&config, &args.cwd, access, path)).collect()
}

fn config(args: &PathArgs, access: Access) -> Result<SandboxConfig, Failure> {
    let mut config = match (&args.agent, args.preset) {
        (Some(agent), _) => of_agent(&configuration(Some(agent))?, agent)?.files,
        (None, PresetChoice::Default) => SandboxConfig::from(Preset::Default),
        (None, PresetChoice::Permissive) => SandboxConfig::from(Preset::Permissive),
        (None, PresetChoice::Daemon) => SandboxConfig::from(Preset::Daemon),
    };
    config.forbidden_globs.extend_from_slice(&args.forbid);
    let policy: &mut PathPolicy = match access {
        Access::Read => &mut config.read,
        Access::Write => &mut config.write,
    };
    policy.allow.extend_from_slice(&args.allow);
    policy.deny.extend_from_slice(&args.deny);
    match args.otherwise {
        Some(AnswerChoice::Allow) => policy.default = policy::Answer::Allow,
        Some(AnswerChoice::Ask) => policy.default = policy::Answer::Ask,
        Some(AnswerChoice::Deny) => policy.default = policy::Answer::Deny,
        None => {}
    }
    Ok(config)
}

fn answer(config: &SandboxConfig, cwd: &Path, access: Access, path: &Path) -> Result<Answer, Failure> {
    let (verdict, real) = decide(config, cwd, access, path)?;
    let (decision, reason, rule) = match &verdict {
        Verdict::Allowed(permit) => (Decision::Allow, None, permit.rule.to_string()),
        Verdict::Pending(ask) => (Decision::Ask, Some(ask.reason().to_owned()), ask.rule().to_string()),
        Verdict::Denied(refused) => {
            (Decision::Deny, Some(refused.reason.name().to_owned()), refused.rule.to_string())
        }
        _ => (Decision::Deny, None, "unknown verdict".to_owned()),
    };
    let fixes = fixes(config.clone(), cwd, access, path, verdict)?;
    let name = escape_path(path);
    Ok(Answer { name, decision, reason, rule, real_path: real, limits: Vec::new(), fixes })
}

/// Returns the decision, and the real path if it differs.
fn decide(
    config: &SandboxConfig,
    cwd: &Path,
    access: Access,
    path: &Path,
) -> Result<(Verdict, Option<String>), Failure> {
    let mut guard = PathGuard::open(config, cwd, Resolver::Kernel).map_err(|error| failure(&error))?;
    let facts = guard.facts(path);
    let real = match &facts {
        PathFacts::Resolved(found) if Some(&found.real) != guard.sandbox().locate(path).as_ref() => {
            Some(escape_path(&found.real))
        }
        _ => None,
    };
    let request = AccessRequest::Path { access, path, facts: &facts };
    Ok((guard.sandbox().guard_for(TOOL).decide(&request, &Caller::default()), real))
}

/// Returns the changes that would allow the path, one for each obstacle.
fn fixes(
    mut config: SandboxConfig,
    cwd: &Path,
    access: Access,
    path: &Path,
    mut verdict: Verdict,
) -> Result<Vec<String>, Failure> {
    let mut path = path.to_owned();
    let mut fixes = Vec::new();
    while fixes.len() < MAX_FIXES {
        let fix = match &verdict {
            Verdict::Pending(ask) => ask.fix().cloned(),
            Verdict::Denied(violation) => violation.fix.clone(),
            _ => return Ok(fixes),
        };
        let Some(fix) = fix else { return Ok(Vec::new()) };
        fixes.push(fix.to_string());
        match fix {
            Fix::UseRelativePath { path: relative } => path = relative.into(),
            fix if fix.apply(&mut config) => {}
            _ => return Ok(fixes),
        }
        verdict = decide(&config, cwd, access, &path)?.0;
    }
    Ok(fixes)
}

fn failure(error: &dyn std::error::Error) -> Failure {
    Failure::usage(with_causes(error))
}
