//! Decisions that would be made, and how to change them, from the same session that decides about real calls.
#![expect(clippy::disallowed_methods, reason = "resolves paths")]

use std::path::{Path, PathBuf};

use serde::Serialize;
use stockade_guard::command::Effect;
use stockade_guard::config::{Config, ConfigSources};
use stockade_guard::policy::Access;
use stockade_guard::{Decision, GuardError, RuleOrigin, Session, Why, WhyPart};
use tempfile::TempDir;

use super::asked::Kind;
use crate::agent_run::undecided;
use crate::failure::Failure;
use stockade_state::agents;

/// Tool name for calls of file tools.
const TOOLS: [(&str, &str, Access); 2] = [("read", "read", Access::Read), ("write", "write", Access::Write)];

/// The decision about one use of the argument.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answer {
    /// The use: `read`, `write`, `run` and so on.
    #[serde(rename = "use")]
    pub(super) wanted: &'static str,
    pub(super) decision: Effect,
    pub(super) layer: &'static str,
    pub(super) rule: String,
    pub(super) reason: String,
    /// The rule as a sentence, where that says more than its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) by: Option<String>,
    pub(super) from: RuleOrigin,
    /// Changes that together would allow it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) to_allow: Vec<String>,
    /// Why no setting can allow it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) never: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) parts: Vec<WhyPart>,
}

/// A session of an agent whose decisions are not recorded.
pub(super) struct Asked {
    config: Config,
    session: Session,
    /// Directory of the temporary trail that the session requires.
    _folder: TempDir,
}

impl Asked {
    pub(super) fn open(agent: &str, workspace: &Path) -> Result<Self, Failure> {
        let sources = ConfigSources {
            agents: vec![agent.to_owned()],
            session: stockade_harness::heartbeat::session_of(agent),
            ..ConfigSources::of_process(workspace)
        };
        let config = Config::load(&sources).map_err(|error| crate::commands::config::failure(&error))?;
        let (session, folder) = agents::unrecorded(&config, agent, workspace)?;
        Ok(Self { session, config, _folder: folder })
    }

    pub(super) fn workspace(&self) -> &Path {
        self.session.guard().workspace()
    }

    /// Returns all decisions about an argument.
    pub(super) fn answers(&self, kind: Kind, word: &str) -> Result<Vec<Answer>, Failure> {
        let answers = match kind {
            Kind::Tool => self.session.why_tool(&self.config, word).map(|why| vec![told("use", why)]),
            Kind::Host => self.session.why_host(&self.config, word).map(|why| vec![told("reach", why)]),
            Kind::Path => self.path(word),
            Kind::Command | Kind::Id => self.command(word),
        };
        answers.map_err(|error| undecided(&error))
    }

    fn path(&self, word: &str) -> Result<Vec<Answer>, GuardError> {
        let asked = in_home(word);
        let path = asked.strip_prefix(self.workspace()).unwrap_or(&asked);
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let mut answers = Vec::new();
        for (wanted, tool, access) in TOOLS {
            let why = match access {
                Access::Read => self.session.why_reading(&self.config, tool, path)?,
                Access::Write => self.session.why_path(&self.config, tool, access, path)?,
            };
            answers.push(told(wanted, why));
        }
        self.seen(&real(&self.workspace().join(&asked)), &mut answers)?;
        Ok(answers)
    }

    /// Describes what the agent's commands can see of a path.
    #[cfg(target_os = "linux")]
    fn seen(&self, real: &Path, answers: &mut Vec<Answer>) -> Result<(), GuardError> {
        for (wanted, access) in [("command-read", Access::Read), ("command-write", Access::Write)] {
            let (decision, never) = self.session.seen_by_commands(access, real)?;
            let from = self.session.origin_of_view(&self.config);
            answers.push(of_decision(wanted, decision, from, never));
        }
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "nothing runs a command here")]
    fn seen(&self, _: &Path, _: &mut Vec<Answer>) -> Result<(), GuardError> {
        Ok(())
    }

    fn command(&self, word: &str) -> Result<Vec<Answer>, GuardError> {
        // Running a command is a call of this tool.
        let tool = self.session.why_tool(&self.config, "exec")?;
        let why = match tool.decision.is_allowed() {
            true => self.session.why_command(&self.config, word)?,
            false => return Ok(vec![told("run", tool)]),
        };
        #[cfg(target_os = "linux")]
        return self.ran(word, why);
        #[cfg(not(target_os = "linux"))]
        Ok(vec![told("run", why)])
    }

    /// Returns the decisions about a command of the agent, and about the same command under `stockade exec --`.
    #[cfg(target_os = "linux")]
    fn ran(&self, word: &str, why: Why) -> Result<Vec<Answer>, GuardError> {
        use stockade_guard::command::CommandPolicy;
        use stockade_guard::exec::SandboxSpec;
        use stockade_guard::{DecisionLayer, RunPlace};

        let would = self.session.would_run(word)?;
        let parts = why.parts.clone();
        let mut run = match would.decision.layer {
            DecisionLayer::Commands => told("run", why),
            _ => {
                let rule = would.decision.rule.name();
                let from = self.session.origin_of_sandbox_rule(&self.config, rule);
                Answer { parts: parts.clone(), ..of_decision("run", would.decision, from, None) }
            }
        };
        match would.place {
            Some(RunPlace::Sandbox) => run.notes.push("it runs in a sandbox".to_owned()),
            Some(RunPlace::Unsandboxed) => run.notes.push("it runs WITHOUT A SANDBOX".to_owned()),
            None => {}
        }
        let policy = CommandPolicy::builtin();
        let spec = SandboxSpec::new(self.workspace(), ["true"]);
        let denied = stockade_state::command_check::denied(&policy, word, &spec);
        let cause = denied.as_ref().and_then(|decision| decision.decisive().next()).map(|part| &part.cause);
        let exec = Answer {
            wanted: "exec",
            decision: if denied.is_some() { Effect::Deny } else { Effect::Sandbox },
            layer: "commands",
            rule: cause.map_or("typed", |cause| cause.id()).to_owned(),
            reason: cause.map_or_else(
                || "the user typed it, and no rule denies it".to_owned(),
                |cause| format!("the rules for commands deny this: {cause}"),
            ),
            by: None,
            from: RuleOrigin::built_in(),
            to_allow: Vec::new(),
            never: denied.is_some().then(|| {
                "no setting changes the built-in rules for commands that the user types; to run it anyway, add \
                                             --no-rules"
                    .to_owned()
            }),
            notes: Vec::new(),
            parts: Vec::new(),
        };
        Ok(vec![run, exec])
    }
}

fn told(wanted: &'static str, why: Why) -> Answer {
    let Why { decision, by, from, fixes, never, notes, parts, .. } = why;
    Answer { by, to_allow: fixes, notes, parts, ..of_decision(wanted, decision, from, never) }
}

fn of_decision(wanted: &'static str, decision: Decision, from: RuleOrigin, never: Option<String>) -> Answer {
    Answer {
        wanted,
        decision: decision.effect,
        layer: decision.layer.name(),
        rule: decision.rule.name().to_owned(),
        reason: decision.reason,
        by: None,
        from,
        to_allow: decision.fix.into_iter().collect(),
        never,
        notes: Vec::new(),
        parts: Vec::new(),
    }
}

/// Expands a path in the home directory as a shell does.
fn in_home(word: &str) -> PathBuf {
    let home = || std::env::var_os("HOME").map(PathBuf::from);
    match word.strip_prefix('~') {
        Some("") => home().unwrap_or_else(|| word.into()),
        Some(rest) => match (rest.strip_prefix('/'), home()) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => word.into(),
        },
        None => word.into(),
    }
}

/// Resolves the existing part of a path.
fn real(path: &Path) -> PathBuf {
    let above = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    match above {
        Some((above, real)) => match path.strip_prefix(above) {
            Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
            _ => real,
        },
        None => path.to_path_buf(),
    }
}
