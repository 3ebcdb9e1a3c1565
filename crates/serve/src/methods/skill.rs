//! `skill.manifest` and `skill.admit`: front matter and admission of skills.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stockade_guard::admission::{
    Admission, AdmitOptions, Dialect, OnCritical, ProblemLevel, SkillFinding, SkillManifest, SkillProblem,
    SkillReport, SkillSource, Surface, admit,
};
use stockade_guard::policy::SkillTools;
use stockade_guard::scanner::Scanner;

use super::{AskedBy, Json, Lane, Parameters};
use crate::Server;
use crate::bounds::{MAX_BODY, MAX_SCANNED, at_most};
use crate::fault::Fault;

/// The fix for a text that is too long.
const SHORTER: &str = "give the `path` of a file, or split it";

/// The default name of a text.
const NAME: &str = "SKILL.md";

/// Parse the front matter of a skill.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Manifest {
    /// The whole SKILL.md.
    text: String,
    /// The dialect of its front matter: `agentskills` (the default), `claude`, `openclaw`, `comis` or `lenient`.
    dialect: Option<String>,
}

/// Decide whether a skill may be used, and return its text for a model. In the session of an agent its configuration decides,
/// `config` can only make it stricter, and with `activate` the agent has only the tools that the skill lists from then on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Admit {
    /// The whole SKILL.md.
    text: Option<String>,
    /// A file, or a directory with a SKILL.md, whose other files are scanned as well.
    path: Option<PathBuf>,
    /// A session of an agent.
    session: Option<String>,
    /// Whether to activate the admitted skill in the session; false by default.
    #[serde(default)]
    activate: bool,
    #[serde(default)]
    config: Config,
}

/// Options of the admission.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "AdmissionConfig")]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Config {
    /// The dialect of the front matter: `agentskills` (the default), `claude`, `openclaw`, `comis` or `lenient`.
    dialect: Option<String>,
    /// Whether notes are errors; false by default.
    #[serde(default)]
    strict: bool,
    /// The maximum number of characters for a model; 20000 by default, 1000000 at most.
    max_body_length: Option<usize>,
    /// Whether a critical finding blocks the skill; true by default. Otherwise the skill is flagged.
    block_on_critical: Option<bool>,
}

/// The front matter of a skill.
#[derive(Serialize, JsonSchema)]
pub(super) struct Read {
    /// Whether it is valid in its dialect.
    valid: bool,
    /// Missing if it is not valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    manifest: Option<Value>,
    errors: Vec<Wrong>,
    /// Its text, cleaned; missing if it is not valid.
    body: Option<String>,
}

/// A problem of a skill.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SkillProblem")]
struct Wrong {
    path: String,
    message: String,
    line: usize,
    rule: &'static str,
    /// `error`, `warning` or `note`.
    level: Value,
    /// The fix.
    fix: String,
}

/// The result of an admission.
#[derive(Serialize, JsonSchema)]
pub(super) struct Admitted<'r> {
    /// `accepted`, `flagged`, `malformed` if its format is not permitted, or `blocked` if it contains an attack.
    admission: &'static str,
    name: &'r str,
    #[schemars(with = "Vec<Value>")]
    findings: &'r [SkillFinding],
    /// Its parts that run programs or instruct agents: commands, hooks, servers, scripts, machine code, archives.
    #[schemars(with = "Vec<Value>")]
    surfaces: &'r [Surface],
    /// Its text, cleaned; missing if it is blocked.
    sanitized: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    manifest: Option<Value>,
    /// Why it is not simply accepted, in sentences.
    reasons: Vec<String>,
    problems: Vec<Wrong>,
    /// Scanner rules that the configuration disables, each with the position of the setting.
    #[serde(rename = "rulesOff", skip_serializing_if = "<[String]>::is_empty")]
    #[schemars(default)]
    rules_off: &'r [String],
}

impl Parameters for Manifest {
    const METHOD: &'static str = "skill.manifest";
    const LANE: Lane = Lane::Work;
    type Answer = Read;

    fn answer(self, _: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        at_most("bytes of `text`", self.text.len(), MAX_SCANNED, SHORTER)?;
        // Scanning is part of the admission, not of parsing.
        let options = AdmitOptions {
            dialect: dialect(self.dialect.as_deref())?,
            on_critical: OnCritical::Flag,
            ..AdmitOptions::default()
        };
        let source = SkillSource::Text { name: NAME, text: &self.text };
        let admission =
            admit(&source, Scanner::builtin(), &options).map_err(|error| Fault::internal(&error))?;
        let errors = admission.report().problems.iter().filter(|one| one.level == ProblemLevel::Error);
        let errors = errors.map(Wrong::of).collect();
        let loaded = admission.loaded();
        Ok(Json::of(&Read {
            valid: loaded.is_some(),
            manifest: loaded.as_ref().map(|skill| manifest(skill.manifest(), skill.tools())),
            errors,
            body: loaded.map(|skill| skill.body().to_owned()),
        }))
    }
}

impl Parameters for Admit {
    const METHOD: &'static str = "skill.admit";
    const LANE: Lane = Lane::Work;
    type Answer = Admitted<'static>;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let source = match (&self.text, &self.path) {
            (Some(text), None) => {
                at_most("bytes of `text`", text.len(), MAX_SCANNED, SHORTER)?;
                SkillSource::Text { name: NAME, text }
            }
            (None, Some(path)) => SkillSource::Path(path),
            _ => return Err(Fault::parameters("give either `text` or `path`")),
        };
        let usual = AdmitOptions::default();
        let options = AdmitOptions {
            dialect: dialect(self.config.dialect.as_deref())?,
            strict: self.config.strict,
            max_chars: self.config.max_body_length.unwrap_or(usual.max_chars).min(MAX_BODY),
            on_critical: match self.config.block_on_critical {
                Some(false) => OnCritical::Flag,
                Some(true) | None => OnCritical::Block,
            },
            ..usual
        };
        let session = server.session_of(self.session.as_deref())?;
        let guarded = session.as_ref().and_then(|session| session.of_agent());
        if guarded.is_none() && self.activate {
            return Err(Fault::parameters("a skill is made active in the `session` of an agent"));
        }
        let admission = match guarded {
            Some(guarded) => {
                let guard = guarded.now(server)?;
                if self.config.dialect.is_some() && options.dialect != guard.guard().config().skills.dialect {
                    return Err(Fault::parameters("`dialect` comes from the configuration of the agent"));
                }
                // A setting that the request omits is no stricter than the configuration.
                let options = match self.config.block_on_critical {
                    None => AdmitOptions { on_critical: OnCritical::Flag, ..options },
                    Some(_) => options,
                };
                let options =
                    AdmitOptions { max_chars: self.config.max_body_length.unwrap_or(usize::MAX), ..options };
                guard
                    .admit_within(&source, Scanner::builtin(), &options)
                    .map_err(|error| Fault::of(&error))?
            }
            None => {
                let scanner = server.scanner_rules.of(Scanner::builtin())?;
                admit(&source, &scanner, &options).map_err(|error| Fault::of(&error))?
            }
        };
        let loaded = match &admission {
            Admission::Accepted(skill) | Admission::Flagged(skill) => Some(skill),
            _ => None,
        };
        if let (Some(guarded), Some(skill), true) = (guarded, loaded, self.activate) {
            guarded.change(|session| session.activate(skill));
        }
        let report = admission.report();
        Ok(Json::of(&Admitted {
            admission: admission.name(),
            name: &report.name,
            findings: &report.findings,
            surfaces: &report.surfaces,
            sanitized: loaded.map(|skill| skill.body()),
            manifest: loaded.map(|skill| manifest(skill.manifest(), skill.tools())),
            reasons: reasons(report),
            problems: report.problems.iter().map(Wrong::of).collect(),
            rules_off: &report.rules_off,
        }))
    }
}

fn dialect(name: Option<&str>) -> Result<Dialect, Fault> {
    let Some(name) = name else { return Ok(Dialect::default()) };
    Dialect::from_name(name)
        .ok_or_else(|| Fault::unknown("dialect", name, Dialect::ALL.iter().map(|one| one.name())))
}

fn reasons(report: &SkillReport) -> Vec<String> {
    let problems = report.problems.iter().filter(|problem| problem.level >= ProblemLevel::Warning);
    let problems = problems.map(|problem| format!("{}: {}", problem.rule, problem.message));
    let findings =
        report.findings.iter().map(|finding| format!("{}: {}", finding.rule_id, finding.description));
    problems.chain(findings).collect()
}

impl Wrong {
    fn of(problem: &SkillProblem) -> Self {
        Self {
            path: problem.path.clone(),
            message: problem.message.clone(),
            line: problem.line,
            rule: problem.rule,
            level: serde_json::to_value(problem.level).unwrap_or_default(),
            fix: problem.fix.clone(),
        }
    }
}

/// Returns the manifest as JSON, without missing members.
fn manifest(manifest: &SkillManifest, tools: &SkillTools) -> Value {
    let tools = match tools {
        SkillTools::Unlisted => Value::Null,
        SkillTools::Listed(tools) => tools.iter().map(|tool| Value::from(tool.name())).collect(),
    };
    let mut written = json!({
        "name": manifest.name,
        "description": manifest.description,
        "whenToUse": manifest.when_to_use,
        "version": manifest.version,
        "license": manifest.license,
        "compatibility": manifest.compatibility,
        "argumentHint": manifest.argument_hint,
        "arguments": manifest.arguments,
        "userInvocable": manifest.user_invocable,
        "disableModelInvocation": manifest.disable_model_invocation,
        "allowedTools": tools,
        "disallowedTools": manifest.disallowed_tools,
        "permissions": {
            "fsRead": manifest.permissions.fs_read,
            "fsWrite": manifest.permissions.fs_write,
            "net": manifest.permissions.net,
            "env": manifest.permissions.env,
        },
        "requires": {
            "os": manifest.requires.os,
            "bins": manifest.requires.bins,
            "anyBins": manifest.requires.any_bins,
            "env": manifest.requires.env,
            "config": manifest.requires.config,
        },
        "metadata": manifest.metadata,
        "inputSchema": manifest.input_schema,
    });
    if let Some(fields) = written.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    written
}
