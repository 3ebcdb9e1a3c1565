//! Questions about commands, and the rules that answer them.

use std::path::PathBuf;

use serde_json::{Map, Value};
use stockade_guard::Session;
use stockade_guard::admission::decide_on_disk;
use stockade_guard::command::Suggestion;
use stockade_guard::command::shell::{ReadOptions, Shell, quote_argv};
use stockade_guard::command::{CommandContext, CommandDecision};

use super::ShellName;
use super::rules::OwnRules;
use crate::Server;
use crate::bounds::{MAX_COMMAND, at_most};
use crate::fault::Fault;

/// The common parameters of methods that decide on commands.
pub(super) struct Question {
    pub(super) command: Option<String>,
    pub(super) argv: Option<Vec<String>>,
    pub(super) shell: ShellName,
    pub(super) rules: Vec<Map<String, Value>>,
    pub(super) rules_toml: Option<String>,
    pub(super) default_action: Option<String>,
    pub(super) detect_dangerous: Option<bool>,
    pub(super) cwd: Option<PathBuf>,
    pub(super) workspace: Option<PathBuf>,
}

/// A decision with its inputs.
pub(super) struct Asked<'a, 't, 'p> {
    pub(super) decision: &'a CommandDecision<'t, 'p>,
    pub(super) shell: Shell,
    pub(super) place: &'a CommandContext,
    /// Returns tested rules that would make the decision milder.
    pub(super) suggest: &'a dyn Fn() -> Vec<Suggestion>,
    pub(super) options: &'a ReadOptions,
}

impl Question {
    /// Decides by the rules of the server, those of the request, and the built-in ones.
    pub(super) fn decided<R>(
        self,
        server: &Server,
        then: impl FnOnce(&CommandDecision<'_, '_>) -> R,
    ) -> Result<R, Fault> {
        self.answered(server, None, |asked| then(asked.decision))
    }

    /// Decides likewise, and keeps the inputs for suggestions. For an agent the agent's configuration decides, and rules of the
    /// request or server can only make it stricter.
    pub(super) fn answered<R>(
        self,
        server: &Server,
        of_agent: Option<&Session>,
        then: impl FnOnce(&Asked<'_, '_, '_>) -> R,
    ) -> Result<R, Fault> {
        always_detects(self.detect_dangerous)?;
        let rules =
            OwnRules { rules: self.rules, toml: self.rules_toml, default_action: self.default_action };
        let operator = server.rules.now()?;
        let own = if rules.is_empty() { None } else { Some(server.compiled_rules.get(rules, &operator)?) };
        let text = text(self.command, self.argv.as_deref())?;
        let place = match of_agent {
            Some(session) => place_of(session, self.cwd, self.workspace)?,
            None => CommandContext::new(self.cwd.clone(), self.workspace.or(self.cwd)),
        };
        let policy = own.as_deref().unwrap_or(operator.policy.all_rules());
        let options = self.shell.options();
        let by_rules = || decide_on_disk(place.clone(), |place| policy.decide(&text, &options, place));
        let Some(session) = of_agent else {
            let (decision, place) = by_rules();
            let suggest = || policy.suggest(&decision, &options, &place);
            return Ok(then(&Asked::of(&decision, &options, &place, &suggest)));
        };
        let commands = session.guard().commands();
        let (decision, found) =
            decide_on_disk(place.clone(), |place| commands.decide(&text, &options, place));
        if own.is_some() || operator.decide() {
            let (stricter, found) = by_rules();
            if stricter.effect > decision.effect {
                let suggest = || policy.suggest(&stricter, &options, &found);
                return Ok(then(&Asked::of(&stricter, &options, &found, &suggest)));
            }
        }
        let suggest = || commands.suggest(&decision, &options, &found);
        Ok(then(&Asked::of(&decision, &options, &found, &suggest)))
    }
}

impl<'a, 't, 'p> Asked<'a, 't, 'p> {
    fn of(
        decision: &'a CommandDecision<'t, 'p>,
        options: &'a ReadOptions,
        place: &'a CommandContext,
        suggest: &'a dyn Fn() -> Vec<Suggestion>,
    ) -> Self {
        Self { decision, shell: options.shell, place, suggest, options }
    }
}

/// Returns where a command of an agent would run: in its workspace, or in the requested directory.
fn place_of(
    session: &Session,
    cwd: Option<PathBuf>,
    workspace: Option<PathBuf>,
) -> Result<CommandContext, Fault> {
    let own = session.guard().workspace();
    if workspace.is_some_and(|asked| asked != own) {
        let message = "the session of an agent has a workspace of its own: leave `workspace` out";
        return Err(Fault::parameters(message));
    }
    let cwd = cwd.map_or_else(|| own.to_owned(), |cwd| own.join(cwd));
    Ok(CommandContext::new(Some(cwd), Some(own.to_owned())))
}

/// Refuses to disable the detection of dangerous commands: the client may be the program that is supervised.
fn always_detects(requested: Option<bool>) -> Result<(), Fault> {
    match requested {
        Some(false) => Err(Fault::parameters(
            "`detectDangerous` cannot be false: dangerous commands are found whatever the rules say; the rules of an \
             admin may switch off a single hazard, see `stockade policy --help`",
        )),
        Some(true) | None => Ok(()),
    }
}

/// Returns the text to judge.
pub(in crate::methods) fn text(command: Option<String>, argv: Option<&[String]>) -> Result<String, Fault> {
    let text = match (command, argv) {
        (Some(command), None) => command,
        (None, Some(argv)) if !argv.is_empty() => quote_argv(argv.iter().map(String::as_str)),
        (None, Some(_)) => return Err(Fault::parameters("`argv` is empty; its first word is the program")),
        _ => return Err(Fault::parameters("give either `command` or `argv`")),
    };
    bounded(&text)?;
    Ok(text)
}

/// Refuses a command that no system would start.
pub(in crate::methods) fn bounded(command: &str) -> Result<(), Fault> {
    at_most("bytes of the command", command.len(), MAX_COMMAND, "write it to a script and run that")
}
