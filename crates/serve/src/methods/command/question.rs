//! What is asked about a command, and by which rules it is answered.

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

/// What every method that decides is asked.
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

/// A decision, and what it was made of.
pub(super) struct Asked<'a, 't, 'p> {
    pub(super) decision: &'a CommandDecision<'t, 'p>,
    pub(super) shell: Shell,
    pub(super) place: &'a CommandContext,
    /// Returns the rules that would make the decision milder: each was tried.
    pub(super) suggest: &'a dyn Fn() -> Vec<Suggestion>,
    pub(super) options: &'a ReadOptions,
}

impl Question {
    /// Decides by the rules of the server, by those that the request brings along, and by the built-in ones.
    pub(super) fn decided<R>(
        self,
        server: &Server,
        then: impl FnOnce(&CommandDecision<'_, '_>) -> R,
    ) -> Result<R, Fault> {
        self.answered(server, None, |asked| then(asked.decision))
    }

    /// Decides likewise, and can say which rules would make the decision milder: each was tried. For an agent, its configuration
    /// decides about its workspace, and the rules that the request or the server has besides only make that stricter.
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

/// Where a command of an agent would run: in its workspace, or in a folder that the request names.
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

/// A client that could switch the floor off would be the one who is to be watched.
fn always_detects(wish: Option<bool>) -> Result<(), Fault> {
    match wish {
        Some(false) => Err(Fault::parameters(
            "`detectDangerous` cannot be false: dangerous commands are found whatever the rules say; the rules of an \
             admin may switch off a single hazard, see `stockade policy --help`",
        )),
        Some(true) | None => Ok(()),
    }
}

/// The text to judge.
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
