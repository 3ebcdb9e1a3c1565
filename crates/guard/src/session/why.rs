//! Explanations of decisions: the session's own decision, and the origin of the rule behind it.

use std::path::Path;

use serde::Serialize;
use stockade_admission::{Judgement, PathGuard, PathRequest, decide_on_disk};
use stockade_command::Cause;
use stockade_command::shell::ReadOptions;
use stockade_command::{CommandDecision, Effect, Layer};
use stockade_files::Resolver;
use stockade_policy::access::{Fix, PolicyRule};
use stockade_policy::paths::STANDARD_FORBIDDEN_GLOBS;
use stockade_policy::tools::Removal;
use stockade_policy::{Access, Caller, ToolCatalog, ToolPolicy, ToolPolicyConfig, ToolVerdict};

use super::hosts::{LIST, own_list};
use super::paths::{PathOutcome, words_of};
use super::{Decision, GuardError, Session};
use stockade_config::{Config, ConfigLayer, ConfigOrigin};

/// The origin of built-in rules.
const BUILT_IN: &str = "built-in";

/// Maximum number of changes that are combined to allow something.
const MAX_FIXES: usize = 8;

/// The origin of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RuleOrigin {
    /// The layer: `built-in`, or a configuration layer.
    pub layer: String,
    /// The configuration key that contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The file with line and column, the variable, or the option.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

/// One part of a command, with its decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WhyPart {
    /// The part, as written.
    pub text: String,
    /// The effect.
    pub effect: Effect,
    /// The deciding rule.
    pub rule: String,
    /// Why, in a sentence.
    pub reason: String,
    /// The origin of the rule.
    pub from: RuleOrigin,
}

/// A decision of a session, explained.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Why {
    /// The decision.
    pub decision: Decision,
    /// The rule in a sentence, if it adds to the reason.
    pub by: Option<String>,
    /// The origin of the rule.
    pub from: RuleOrigin,
    /// The changes that together would allow it, each as narrow as possible.
    pub fixes: Vec<String>,
    /// Why no setting allows it, if that is so.
    pub never: Option<String>,
    /// Additional notes.
    pub notes: Vec<String>,
    /// The parts of a command, each with its decision.
    pub parts: Vec<WhyPart>,
}

impl RuleOrigin {
    /// A built-in rule.
    #[must_use]
    pub fn built_in() -> Self {
        built_in()
    }
}

impl Session {
    /// Decides on a tool like [`Session::tool`], and returns the origin of the decision in the configuration.
    ///
    /// # Errors
    /// As [`Session::tool`].
    pub fn why_tool(&self, config: &Config, name: &str) -> Result<Why, GuardError> {
        let decision = self.tool(name, None)?;
        let key = |rest: &str| self.key(&format!("toolPolicy.{rest}"));
        let from = match self.decide_tool(name) {
            ToolVerdict::Removed(Removal::ExplicitDeny { entry }) => of_entry(config, key("deny"), entry),
            ToolVerdict::Removed(Removal::NotInSkill { skill }) => {
                RuleOrigin { layer: format!("skill `{skill}`"), key: None, place: None }
            }
            ToolVerdict::Removed(_) => of_key(config, key("profile")),
            _ if self.is_in_profile(name) => of_key(config, key("profile")),
            _ => of_key(config, key("allow")),
        };
        Ok(why(decision, from, "no setting of the configuration grants it"))
    }

    /// Whether the configured profile contains a tool, which then needs no allowlist entry.
    fn is_in_profile(&self, name: &str) -> bool {
        let tools = &self.guard.config().tools;
        let config = ToolPolicyConfig { profile: tools.profile.clone(), ..ToolPolicyConfig::default() };
        let catalog = ToolCatalog { tools: vec![name.to_owned()], mcp_servers: Vec::new() };
        ToolPolicy::compile(&config, &catalog).is_ok_and(|policy| policy.decide(name).is_allowed())
    }

    /// Decides on a path like [`Session::path`] without opening it, and returns the origin of the decision.
    ///
    /// # Errors
    /// As [`Session::path`].
    pub fn why_path(
        &self,
        config: &Config,
        tool: &str,
        access: Access,
        path: &Path,
    ) -> Result<Why, GuardError> {
        let caller = Caller { agent: self.guard.agent(), ..Caller::default() };
        let request = PathRequest { tool, access, path, caller };
        let judged = self.with_paths(|paths| paths.judge(&request))?;
        let (said, rule) = match &judged {
            Judgement::Allowed(permit) => {
                (PathOutcome::Granted(permit.object.path().unwrap_or(path)), Some(&permit.rule))
            }
            Judgement::Pending(asked) => (PathOutcome::Pending(asked.ask()), Some(asked.ask().rule())),
            Judgement::Denied(violation) => (PathOutcome::Denied(violation), Some(&violation.rule)),
            _ => (PathOutcome::Unknown, None),
        };
        let decision = self.path_decision(path, &said)?;
        let from = rule.map_or_else(built_in, |rule| self.origin_of_path_rule(config, rule, access));
        let by = rule.map(ToString::to_string).filter(|by| *by != decision.reason);
        let mut answer = Why { by, ..why(decision, from, "") };
        if !answer.decision.is_allowed() {
            let fixed = self.fixes_of_path(tool, access, path)?;
            (answer.fixes, answer.never) =
                fixed.map_or_else(|never| (Vec::new(), Some(never)), |fixes| (fixes, None));
        }
        Ok(answer)
    }

    /// Returns the changes that together allow the path, each one tested; or why no change is offered.
    fn fixes_of_path(
        &self,
        tool: &str,
        access: Access,
        path: &Path,
    ) -> Result<Result<Vec<String>, String>, GuardError> {
        let mut config = self.guard.config().files.clone();
        let (mut path, mut fixes) = (path.to_owned(), Vec::new());
        while fixes.len() < MAX_FIXES {
            let mut guard = PathGuard::open(&config, self.guard.workspace(), Resolver::Kernel)?;
            let caller = Caller { agent: self.guard.agent(), ..Caller::default() };
            let (rule, fix) = match guard.judge(&PathRequest { tool, access, path: &path, caller }) {
                Judgement::Allowed(_) => return Ok(Ok(fixes)),
                Judgement::Pending(asked) => (asked.ask().rule().clone(), asked.ask().fix().cloned()),
                Judgement::Denied(violation) => (violation.rule.clone(), violation.fix.clone()),
                _ => break,
            };
            let Some((words, fix)) = fix.and_then(|fix| Some((words_of(&fix)?, fix))) else {
                return Ok(Err(format!("{rule}; {}", never_of_path(&rule))));
            };
            fixes.push(words);
            match fix {
                Fix::UseRelativePath { path: relative } => path = relative.into(),
                fix if fix.apply(&mut config) => {}
                _ => break,
            }
        }
        Ok(Err("no change of settings allows it".to_owned()))
    }

    /// Returns the key of a path rule: one of the user's own lists if it contains the rule, otherwise the preset.
    fn origin_of_path_rule(&self, config: &Config, rule: &PolicyRule, access: Access) -> RuleOrigin {
        let key = |name: &str| self.key(&format!("files.{name}"));
        let of_access = |read: &str, write: &str| key(if access == Access::Read { read } else { write });
        let preset = || of_key(config, key("preset"));
        let listed = |key: String, glob: &str| {
            config.origin_of_entry(&key, glob).map(|origin| from_origin(Some(key), &origin))
        };
        let set = |key: String| {
            let value = config.get(&key)?;
            (value.origin.layer != ConfigLayer::Default).then(|| from_origin(Some(key), &value.origin))
        };
        let own = match rule {
            PolicyRule::AbsolutePaths => set(key("relativeOnly")),
            PolicyRule::Jail
            | PolicyRule::HardLink
            | PolicyRule::HardLinkNotFound
            | PolicyRule::SpecialFile => set(key("jail")),
            PolicyRule::ForbiddenGlob { glob } => listed(key("forbiddenGlobs"), glob),
            PolicyRule::DenyGlob { glob, .. } => listed(of_access("denyRead", "denyWrite"), glob),
            PolicyRule::AllowGlob { glob, .. } => listed(of_access("allowRead", "allowWrite"), glob),
            PolicyRule::Default { .. } => set(of_access("reads", "writes")),
            PolicyRule::DangerousName { .. } | PolicyRule::Unresolvable(_) => Some(built_in()),
            _ => None,
        };
        own.unwrap_or_else(preset)
    }

    /// Decides on a host like [`Session::host`], and returns the origin of the decision.
    ///
    /// # Errors
    /// As [`Session::host`].
    pub fn why_host(&self, config: &Config, host: &str) -> Result<Why, GuardError> {
        let (decision, answer) = self.host_answer(host)?;
        let network = self.key("skills.execSandbox.network");
        let from = match (&answer.written, decision.rule.name()) {
            (Some(written), _) if self.is_own_host(config, written) => {
                of_entry(config, own_list(self.guard.agent()), written)
            }
            (Some(written), _) => of_entry(config, LIST.to_owned(), written),
            (None, "no-network" | "open") => of_key(config, network),
            (None, "not-listed") => of_key(config, LIST.to_owned()),
            _ => built_in(),
        };
        let never = "no entry of a list allows it";
        Ok(Why { notes: answer.notes, ..why(decision, from, never) })
    }

    /// Whether the agent's own list has an entry.
    fn is_own_host(&self, config: &Config, written: &str) -> bool {
        let own = config.get(&own_list(self.guard.agent()));
        own.is_some_and(|own| own.value.as_array().is_some_and(|all| all.iter().any(|one| one == written)))
    }

    /// Returns the origin of a rule by which the sandbox or its absence decides.
    #[must_use]
    pub fn origin_of_sandbox_rule(&self, config: &Config, rule: &str) -> RuleOrigin {
        match rule.starts_with("execSandbox.") {
            true => of_key(config, self.key(&format!("skills.{rule}"))),
            false => built_in(),
        }
    }

    /// Returns the origin of the paths that commands may read outside of their workspace.
    #[must_use]
    pub fn origin_of_view(&self, config: &Config) -> RuleOrigin {
        of_key(config, self.key("skills.execSandbox.readOnlyAllowPaths"))
    }

    /// Decides on a command like [`Session::command`], and returns the origin of the decision on each part.
    ///
    /// # Errors
    /// As [`Session::command`].
    pub fn why_command(&self, config: &Config, text: &str) -> Result<Why, GuardError> {
        let options = ReadOptions::default();
        let commands = self.guard.commands();
        let (decided, place) =
            decide_on_disk(self.guard.command_place(), |place| commands.decide(text, &options, place));
        let decision = self.decided_on(&decided, &options, &place)?;
        let cause = decided.decisive().next().map(|part| &part.cause);
        let from = cause.map_or_else(built_in, |cause| self.origin_of_cause(config, cause));
        let never = match cause {
            Some(Cause::Hazard(hazard)) => format!("no rule allows it; instead: {}", hazard.fix),
            _ => "no rule allows it".to_owned(),
        };
        let parts = self.why_parts(config, &decided);
        Ok(Why { parts, ..why(decision, from, &never) })
    }

    fn why_parts(&self, config: &Config, decided: &CommandDecision<'_, '_>) -> Vec<WhyPart> {
        let part = |part: &stockade_command::Part<'_, '_>| WhyPart {
            text: part.span.of(decided.text).to_owned(),
            effect: part.effect,
            rule: part.cause.id().to_owned(),
            reason: part.cause.to_string(),
            from: self.origin_of_cause(config, &part.cause),
        };
        decided.parts.iter().map(part).collect()
    }

    /// Returns the origin of the rule that decided on a part of a command.
    fn origin_of_cause(&self, config: &Config, cause: &Cause<'_>) -> RuleOrigin {
        let key = |name: &str| of_key(config, self.key(&format!("commands.{name}")));
        match cause {
            Cause::Rule { rule, layer }
            | Cause::MayMatch { rule, layer }
            | Cause::Carries { rule, layer }
                if *layer != Layer::BuiltIn =>
            {
                let mut rules = config.rules(self.guard.agent());
                let found = rules.find(|one| one.layer == *layer && one.rule.id == rule.id);
                match found {
                    Some(found) => from_origin(Some(self.key("commands.rules")), &found.origin),
                    None => RuleOrigin { layer: layer.name().to_owned(), key: None, place: None },
                }
            }
            Cause::Unmatched => key("unmatched"),
            Cause::ComputedName | Cause::Uncertain(_) | Cause::NotRead(_) => key("unanalysable"),
            Cause::Rejected(_) => key("substitutions"),
            _ => built_in(),
        }
    }

    fn key(&self, rest: &str) -> String {
        format!("agents.{}.{rest}", self.guard.agent())
    }
}

/// Assembles an explanation. `never` is used if the request is not allowed and no setting would allow it.
fn why(decision: Decision, from: RuleOrigin, never: &str) -> Why {
    let is_final = !decision.is_allowed() && decision.fix.is_none();
    let never = is_final.then(|| never.to_owned());
    let fixes = decision.fix.iter().filter(|_| !decision.is_allowed()).cloned().collect();
    Why { decision, by: None, from, fixes, never, notes: Vec::new(), parts: Vec::new() }
}

fn never_of_path(rule: &PolicyRule) -> &'static str {
    match rule {
        PolicyRule::ForbiddenGlob { glob } if STANDARD_FORBIDDEN_GLOBS.contains(glob) => {
            "the preset forbids it without exceptions; only `files.preset: permissive` allows it, and that \
             restricts nothing"
        }
        _ => "no setting gives a tool access to it",
    }
}

const fn layer_name(layer: ConfigLayer) -> &'static str {
    match layer {
        ConfigLayer::Default => BUILT_IN,
        other => other.name(),
    }
}

fn built_in() -> RuleOrigin {
    RuleOrigin { layer: BUILT_IN.to_owned(), key: None, place: None }
}

fn from_origin(key: Option<String>, origin: &ConfigOrigin) -> RuleOrigin {
    RuleOrigin { layer: layer_name(origin.layer).to_owned(), key, place: origin.place.clone() }
}

fn of_key(config: &Config, key: String) -> RuleOrigin {
    match config.get(&key) {
        Some(value) => from_origin(Some(key), &value.origin),
        None => RuleOrigin { key: Some(key), ..built_in() },
    }
}

/// Returns the origin of a list entry, or of the list if the entry's is unknown.
fn of_entry(config: &Config, key: String, entry: &str) -> RuleOrigin {
    match config.origin_of_entry(&key, entry) {
        Some(origin) => from_origin(Some(key), &origin),
        None => of_key(config, key),
    }
}
