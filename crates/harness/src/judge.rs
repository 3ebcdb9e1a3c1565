//! Decisions about a tool call: the same checks as at every other entry point, with the configuration of the agent.
#![expect(clippy::disallowed_methods, reason = "asks which shell the user has")]

use std::env;
use std::path::{Path, PathBuf};

use serde_json::Value;
use stockade_guard::admission::answers::{AnsweredCommand, AskedCommand};
use stockade_guard::admission::decide_on_disk;
use stockade_guard::command::shell::{ReadOptions, Shell, quote_argv};
use stockade_guard::command::{CommandContext, CommandDecision, Effect};
use stockade_guard::config::{Config, ConfigSources, HookMode, Isolation};
use stockade_guard::exec::SandboxMode;
use stockade_guard::policy::{Access, ToolCatalog, ToolPolicyConfig};
use stockade_guard::{Decision, DecisionRule, Guard, GuardError, GuardOptions, Session};

use super::answer::{HookVerdict, Objection, ObjectionBasis, is_shown_whole};
use super::call::{Origin, ToolCall};
use super::rewrite::Contained;
use super::tools::{ToolKind, feeds, is_tool_name, known_in, own_tools};
use super::{Harness, addresses, heartbeat, patch, paths};
use stockade_state::{agents, executions, nap, refusals, saved_answers, tickets, trail};

/// Names of arguments with a command, and with its working directory.
pub(super) const COMMANDS: &[&str] = &["command", "commands", "cmd", "command_line", "CommandLine", "script"];
const FOLDERS: &[&str] = &["cwd", "workdir", "dir_path", "directory", "working_directory", "Cwd"];

/// Reason for refusing a command that cannot be rewritten.
const TOO_LONG: &str = "stockade: this may only run in the sandbox, and the command line for that is too long, or has characters that \
                        cannot be shown. Write the command to a file in the project and run that file";

/// Question about writing to a running program.
const FEEDS: &str = "stockade: input for a running program may be a command, which cannot be checked, so the user has to agree; to avoid \
                     this, start a new command with all of its input";

/// What a model must not do after a refusal.
const NO_RETRY: &str = "do not try another spelling";

/// Maximum number of commands in one call.
const MAX_COMMANDS: usize = 64;

/// Number of refusals by one rule in a session from which on the model is told to stop.
const MAX_REFUSALS: u32 = 3;

/// An agent in the project of its harness.
#[derive(Debug)]
pub struct Agent<'a> {
    harness: &'a Harness,
    name: &'a str,
    guard: Guard,
    /// The task whose steps the calls are. By default, it is that of the harness's session, if a step limit is set.
    task: Option<String>,
    /// The session of the agent's guard.
    pub session: Session,
}

/// A decision about a command.
#[derive(Debug)]
pub(super) struct JudgedCommand {
    pub(super) decision: Decision,
    /// The effect after the user's saved answers.
    pub(super) effect: Effect,
    /// What a stop is based on. It is only found out while the hook observes; otherwise each is a floor.
    pub(super) basis: ObjectionBasis,
    /// Whether it names what only the sandbox protects. It is only found out while the hook observes.
    pub(super) names_protected: bool,
}

/// Returns the arguments of a tool with other commands.
fn with_commands(input: &Value, lines: &[String]) -> Result<Value, String> {
    let mut input = input.clone();
    let members = input.as_object_mut().ok_or("the tool's arguments are not a JSON object")?;
    for name in COMMANDS {
        match members.get_mut(*name) {
            Some(Value::Array(all)) => *all = lines.iter().cloned().map(Value::String).collect(),
            Some(one) => *one = lines.first().cloned().map_or(Value::Null, Value::String),
            None => {}
        }
    }
    Ok(input)
}

impl<'a> Agent<'a> {
    /// Opens the agent's guard, with the configuration in the directory of the call.
    ///
    /// # Errors
    /// When the configuration or the trail cannot be used.
    pub fn open(harness: &'a Harness, name: &'a str, origin: &Origin) -> Result<Self, String> {
        let sources = ConfigSources {
            agents: vec![name.to_owned()],
            session: heartbeat::session_id(origin),
            ..ConfigSources::of_process(&origin.workspace)
        };
        let config = Config::load(&sources).map_err(|error| error.to_string())?;
        let settings = config.agent(name).map_err(|unknown| format!("{unknown}; {}", unknown.fix()))?;
        let trail = trail::open(&config).map_err(|error| error.to_string())?;
        // Each tool call is a process of its own.
        trail.keep_journal();
        let options = GuardOptions {
            agent: name.to_owned(),
            workspace: origin.workspace.clone(),
            catalog: tool_catalog(&settings.tools),
            rules: Vec::new(),
        };
        let guard = Guard::open(&config, options).map_err(|error| error.to_string())?;
        let session = agents::session(&guard, trail);
        Ok(Self { harness, name, guard, task: None, session })
    }

    /// Judges by a session that is open already. Each call counts as a step of `task`. `name` is the agent of the session.
    pub fn of_session(harness: &'a Harness, name: &'a str, session: Session, task: String) -> Self {
        Self { harness, name, guard: session.guard().clone(), task: Some(task), session }
    }

    /// Decides about a tool call, and records all of its decisions at once before it answers.
    pub fn before(&self, call: &ToolCall) -> Result<HookVerdict, String> {
        let name = call.name();
        // A server may give its tools the names of the harness's own tools.
        let (tool, kind) = if call.server.is_some() {
            (name.as_str(), ToolKind::Other)
        } else {
            known_in(self.harness, &name)
        };
        let mut verdict = self.before_known(call, tool, kind)?;
        if self.observes(call) {
            verdict = self.let_through(verdict)?;
        }
        match &mut verdict {
            HookVerdict::Deny(objection) => self.count(call, objection),
            HookVerdict::Ask(objection) if self.naps(call, objection)? => return Ok(HookVerdict::Silent),
            // That it cannot be noted costs another question.
            HookVerdict::Ask(_) if kind == ToolKind::Web => drop(self.asked(call)),
            _ => {}
        }
        Ok(verdict)
    }

    /// Returns the guard of the agent.
    pub(super) const fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Returns the id of the agent.
    pub(super) const fn agent_name(&self) -> &str {
        self.name
    }

    /// Returns the harness of the agent.
    pub(super) const fn harness(&self) -> &Harness {
        self.harness
    }

    /// Whether the calls are steps of a program's task, and not calls of a hook.
    pub(super) const fn has_task(&self) -> bool {
        self.task.is_some()
    }

    /// Whether a question is left to the harness, because the user takes a nap. That is recorded first.
    fn naps(&self, call: &ToolCall, objection: &Objection) -> Result<bool, String> {
        // A program that has a session of its own asks itself, and a test call must be stopped.
        let Some(decision) = objection.decision.as_ref().filter(|_| self.task.is_none()) else {
            return Ok(false);
        };
        if call.origin.session == heartbeat::REPLAY || nap::remaining().is_none() {
            return Ok(false);
        }
        self.session.record_answer(decision, "nap").map_err(|error| error.to_string())?;
        Ok(true)
    }

    /// Adds to a refusal how often its rule has refused calls of this session, if that is often.
    fn count(&self, call: &ToolCall, objection: &mut Objection) {
        // A program that has a session of its own counts itself.
        let Some(decision) = objection.decision.as_ref().filter(|_| self.task.is_none()) else { return };
        if call.origin.session == heartbeat::REPLAY {
            return;
        }
        let session = format!("{}/{}", self.harness.name, call.origin.session);
        // Another spelling of a command is refused by the same rule for the same reason.
        let rule = format!("{} {} {}", decision.layer.name(), decision.rule, decision.reason);
        let count = refusals::count(&session, &rule);
        if count >= MAX_REFUSALS {
            objection.text.push_str(&format!(
                "\nThis is refusal {count} by the same rule in this session. Stop: do not try it in any other way. Tell the user \
                 what you wanted to do and why, and wait."
            ));
        }
    }

    /// Decides about a call of a tool with this name in rules and this kind.
    pub(super) fn before_known(
        &self,
        call: &ToolCall,
        tool: &str,
        kind: ToolKind,
    ) -> Result<HookVerdict, String> {
        let decided = self.session.at_once(|session| {
            let agent = Self {
                session: session.clone(),
                guard: self.guard.clone(),
                task: self.task.clone(),
                harness: self.harness,
                name: self.name,
            };
            agent.decided(call, tool, kind)
        });
        decided.map_err(|error| error.to_string())?
    }

    fn decided(&self, call: &ToolCall, tool: &str, kind: ToolKind) -> Result<HookVerdict, String> {
        if kind == ToolKind::Own {
            let decision = self.session.own_tool(tool).map_err(|error| error.to_string())?;
            return Ok(self.stopped(&decision));
        }
        let limits = self.step(&call.origin).map_err(|error| error.to_string())?;
        if !limits.is_allowed() {
            return Ok(self.stopped(&limits));
        }
        let commands = match kind {
            ToolKind::Shell => commands(&call.input)?,
            _ => Vec::new(),
        };
        let arguments = commands.first().filter(|_| commands.len() == 1).map(String::as_str);
        let decision = self.session.tool_or_question(tool, arguments).map_err(|error| error.to_string())?;
        if decision.effect == Effect::Ask && !call.input.is_object() {
            return Err("the arguments of the tool are no table".to_owned());
        }
        // A page is asked for by its host, which may be listed although the tool is not.
        if kind == ToolKind::Web && decision.effect <= Effect::Ask {
            return self.hosts(call, &addresses::among(&call.input)?);
        }
        let verdict = self.stopped(&decision);
        // While the hook observes, what the call accesses may still be a floor.
        let is_over = !(self.observes(call) && verdict.basis() == Some(ObjectionBasis::Rules));
        if !decision.is_allowed() && is_over {
            return Ok(verdict);
        }
        Ok(verdict.and(self.accessed(call, tool, kind, &commands)?))
    }

    /// Decides about what a call of an allowed tool accesses.
    fn accessed(
        &self,
        call: &ToolCall,
        tool: &str,
        kind: ToolKind,
        commands: &[String],
    ) -> Result<HookVerdict, String> {
        match kind {
            ToolKind::Shell => self.shell(call, commands),
            ToolKind::OtherShell => Ok(HookVerdict::Ask(
                "stockade: commands of this shell cannot be parsed, so the user has to agree".into(),
            )),
            ToolKind::Feed if feeds(&call.tool, &call.input) => Ok(HookVerdict::Ask(FEEDS.into())),
            ToolKind::Read => self.read(call, tool, &named(&call.input)?),
            ToolKind::Look => self.look(call, tool),
            ToolKind::Write => self.paths(call, tool, Access::Write, &named(&call.input)?),
            ToolKind::Patch => self.paths(call, tool, Access::Write, &patched(&call.input)?),
            ToolKind::Feed | ToolKind::Web | ToolKind::Search | ToolKind::Own | ToolKind::Other => {
                Ok(HookVerdict::Silent)
            }
        }
    }

    /// Counts the call as a step of its task, or of the harness's session if a step limit is set, and checks the remaining budget.
    fn step(&self, origin: &Origin) -> Result<Decision, GuardError> {
        let name = match &self.task {
            Some(task) => task.clone(),
            None if self.guard.config().steps_are_set => {
                executions::of_harness(self.harness.name, &origin.session)
            }
            None => return self.session.check_limits(),
        };
        self.session.take_step(&self.session.begin(name))
    }

    /// Decides about paths.
    pub(super) fn paths(
        &self,
        call: &ToolCall,
        tool: &str,
        access: Access,
        paths: &[String],
    ) -> Result<HookVerdict, String> {
        strictest(paths, |path| {
            let path = paths::asked(&call.origin, path);
            let answer = self.session.path(tool, access, &path).map_err(|error| error.to_string())?;
            let verdict = self.stopped(&answer.decision);
            let could_be_allowed =
                self.observes(call) && self.is_only_outside(&call.origin, &path, &answer.authorization);
            Ok(if could_be_allowed { verdict.on(ObjectionBasis::Rules) } else { verdict })
        })
    }

    /// Decides about shell commands: the strictest decision applies to all.
    fn shell(&self, call: &ToolCall, commands: &[String]) -> Result<HookVerdict, String> {
        let origin = &Origin { cwd: folder(call)?, ..call.origin.clone() };
        let contained = Contained::of(self.name, origin);
        let mut worst = Effect::Allow;
        let (mut asked, mut bases, mut is_protected) = (None, ObjectionBasis::Rules, false);
        for command in commands {
            let ours = contained.as_ref().ok().and_then(|contained| contained.command_of(command));
            let judged = self.command(ours.as_ref().unwrap_or(command), origin)?;
            let JudgedCommand { decision, effect, basis, names_protected } = judged;
            is_protected |= names_protected;
            // A line that runs it in the sandbox, exactly as this program writes it, already does what is required.
            let effect = if ours.is_some() && effect == Effect::Sandbox { Effect::Allow } else { effect };
            if effect == Effect::Deny {
                return Ok(self.stopped(&decision).on(basis));
            }
            if effect == Effect::Ask {
                bases = bases.max(basis);
            }
            if effect > worst {
                (worst, asked) = (effect, Some(decision));
            }
        }
        let Some(decision) = asked else { return Ok(HookVerdict::Silent) };
        match worst {
            Effect::Ask if self.observes(call) && !is_protected => Ok(self.stopped(&decision).on(bases)),
            Effect::Ask if self.observes(call) => Ok(self.stopped(&decision).on(ObjectionBasis::Floor)),
            _ if self.observes(call) && !is_protected => self.observed(&decision),
            Effect::Ask => self.asked_contained(call, commands, &contained, self.stopped(&decision)),
            _ => self.contain(call, commands, &contained?),
        }
    }

    /// Completes the question about an installation: after a yes it runs in the sandbox, where it reaches its registry.
    fn asked_contained(
        &self,
        call: &ToolCall,
        commands: &[String],
        contained: &Result<Contained, String>,
        verdict: HookVerdict,
    ) -> Result<HookVerdict, String> {
        let (HookVerdict::Ask(objection), Ok(contained), [command]) = (&verdict, contained, commands) else {
            return Ok(verdict);
        };
        let is_shown = self.harness.asks_rewritten || self.is_contained_elsewhere(call);
        if !is_shown || !self.session.only_installs(command) {
            return Ok(verdict);
        }
        let judged = contained.judged(command)?;
        let ticket = tickets::issue(self.name, self.guard.workspace(), &judged);
        let Some(ticket) = ticket.map_err(|error| error.to_string())? else { return Ok(verdict) };
        let input = with_commands(&call.input, &[contained.agreed_line(command, &ticket)?])?;
        let text = format!(
            "{}; after a yes it runs in the sandbox, which reaches its package registry and the agent's allowed hosts",
            objection.text
        );
        Ok(HookVerdict::Ask(Objection { text, instead: Some(input), ..objection.clone() }))
    }

    /// Decides about a command, as every shell of the user would read it: the strictest decision applies.
    pub(super) fn command(&self, text: &str, origin: &Origin) -> Result<JudgedCommand, String> {
        let place = CommandContext::new(Some(origin.cwd.clone()), Some(self.guard.workspace().to_owned()));
        let (mut strictest, mut basis, mut names_protected) = (None, ObjectionBasis::Rules, false);
        let is_observed = self.guard.config().hook_mode == HookMode::Observe;
        for shell in shells() {
            let options = ReadOptions::for_shell(*shell);
            let commands = self.guard.commands();
            let (decided, place) =
                decide_on_disk(place.clone(), |place| commands.decide(text, &options, place));
            let decision =
                self.session.decided_on(&decided, &options, &place).map_err(|error| error.to_string())?;
            let asked = AskedCommand { agent: self.name, shell: *shell, place: &place, variables: None };
            let said = saved_answers::recalled(&decided, &asked, self.guard.config().kept_answers)
                .map_err(|failure| failure.to_string())?;
            let said = self.spent(&decided, &asked, said)?;
            if let Some(said) = &said {
                let recorded = self.session.record_answer(&decision, said.answer.name());
                recorded.map_err(|error| error.to_string())?;
            }
            let effect = self.by_need(&decided, said.map_or(decision.effect, |said| said.effect));
            names_protected |=
                is_observed && effect > Effect::Allow && self.names_protected(&decided, &place);
            // Another reading by another shell may be stopped for another reason.
            if effect > Effect::Sandbox
                && !(is_observed && self.rules_could_allow(&decided, &options, &place))
            {
                basis = ObjectionBasis::Floor;
            }
            if strictest.as_ref().is_none_or(|(_, known)| effect > *known) {
                strictest = Some((decision, effect));
            }
        }
        let (decision, effect) = strictest.ok_or_else(|| "unknown shell".to_owned())?;
        Ok(JudgedCommand { decision, effect, basis, names_protected })
    }

    /// Uses up a saved answer that is for one use. The sandbox asks again, and uses it up itself.
    fn spent(
        &self,
        decided: &CommandDecision<'_, '_>,
        asked: &AskedCommand<'_>,
        said: Option<AnsweredCommand>,
    ) -> Result<Option<AnsweredCommand>, String> {
        let Some(said) = said else { return Ok(None) };
        if self.by_need(decided, said.effect) == Effect::Sandbox {
            return Ok(Some(said));
        }
        let holds = saved_answers::spend(decided, asked, &said).map_err(|failure| failure.to_string())?;
        Ok(holds.then_some(said))
    }

    /// Returns the effect under `enabled: auto`: a command that needs a sandbox gets one even if a rule allows it.
    fn by_need(&self, decided: &CommandDecision<'_, '_>, effect: Effect) -> Effect {
        let is_let_out = self.guard.config().exec.need.is_none() || self.session.needs_no_sandbox(decided);
        if effect == Effect::Allow && !is_let_out { Effect::Sandbox } else { effect }
    }

    /// Rewrites commands to run in the sandbox.
    fn contain(
        &self,
        call: &ToolCall,
        commands: &[String],
        contained: &Contained,
    ) -> Result<HookVerdict, String> {
        let exec = &self.guard.config().exec;
        if exec.isolation == Isolation::Direct || exec.mode == SandboxMode::DangerFullAccess {
            let why = "stockade: the configuration turns the sandbox off for it, so the user has to agree";
            return Ok(HookVerdict::Ask(why.into()));
        }
        let lines: Vec<String> =
            commands.iter().map(|command| contained.line(command)).collect::<Result<_, _>>()?;
        if !self.harness.rewrites {
            let line = lines.join("\n");
            let named =
                format!("stockade: this command must run in the sandbox. Run exactly this instead:\n{line}");
            // A truncated or escaped line would be another command.
            let reason = if is_shown_whole(&named) { named } else { TOO_LONG.to_owned() };
            return Ok(HookVerdict::Deny(reason.into()));
        }
        Ok(HookVerdict::Rewrite(with_commands(&call.input, &lines)?))
    }

    /// Returns the verdict for a decision that does not allow the call.
    pub fn stopped(&self, decision: &Decision) -> HookVerdict {
        let Decision { id, layer, effect, reason, rule, .. } = decision;
        let text =
            format!("stockade: {reason} ({} {rule}); {} [{id}]", layer.name(), self.next_step(decision));
        // A question about a command has its basis from the rules that were tried.
        let could_be_asked_away = *effect == Effect::Ask && decision.fix.is_some();
        let basis = if could_be_asked_away { ObjectionBasis::Rules } else { ObjectionBasis::Floor };
        let objection = Objection { text, decision: Some(Box::new(decision.clone())), instead: None, basis };
        match effect {
            Effect::Allow | Effect::Sandbox => HookVerdict::Silent,
            Effect::Ask => HookVerdict::Ask(objection),
            Effect::Deny => HookVerdict::Deny(objection),
        }
    }

    /// Returns the narrowest change that would allow what a decision stops: a command line where there is one.
    pub fn fix(&self, decision: &Decision) -> Option<String> {
        self.approval_line(decision).or_else(|| decision.fix.clone())
    }

    /// Describes what to do about a question or refusal. A model that reads a refusal must not look for another way to the same
    /// effect, and a user who reads it wants the exact command.
    fn next_step(&self, decision: &Decision) -> String {
        let line = self.approval_line(decision);
        match (decision.effect, line, &decision.fix) {
            (Effect::Deny, Some(line), _) => format!("{NO_RETRY}; ask the user to run: {line}"),
            // A command that hides another one is to be written openly.
            (Effect::Deny, None, Some(fix)) if decision.rule == DecisionRule::Validator => fix.clone(),
            (Effect::Deny, None, Some(fix)) => {
                format!("{NO_RETRY}; to allow it: {fix} (agent `{}`)", self.name)
            }
            (Effect::Deny, None, None) => format!("no setting allows it; {NO_RETRY}, and tell the user"),
            (_, Some(line), _) => format!("the user can allow it from now on: {line}"),
            (_, None, Some(fix)) => format!("to allow it from now on: {fix} (agent `{}`)", self.name),
            (_, None, None) => "no setting allows it without a question".to_owned(),
        }
    }

    /// Returns the command that allows what was decided about.
    fn approval_line(&self, decision: &Decision) -> Option<String> {
        let subject = decision.subject.as_str();
        if decision.rule == DecisionRule::ToolUnlisted && is_tool_name(subject) {
            return Some(quote_argv(["stockade", "allow", self.name, subject]));
        }
        decision.fix.clone().filter(|fix| fix.starts_with("stockade "))
    }
}

/// Decides about each item. The strictest verdict applies to all; nothing is asked once one is denied.
pub(super) fn strictest<I>(
    items: &[I],
    decide: impl Fn(&I) -> Result<HookVerdict, String>,
) -> Result<HookVerdict, String> {
    let mut worst = HookVerdict::Silent;
    for item in items {
        match decide(item)? {
            HookVerdict::Silent => {}
            HookVerdict::Deny(denied) if denied.basis == ObjectionBasis::Floor => {
                return Ok(HookVerdict::Deny(denied));
            }
            stopped => worst = worst.and(stopped),
        }
    }
    Ok(worst)
}

/// Returns the known tools: those of the harness, and MCP tools that a rule names. An entry that allows an unknown tool grants
/// nothing; one that denies an unknown tool would protect nothing, and is an error.
#[must_use]
pub fn tool_catalog(tools: &ToolPolicyConfig) -> ToolCatalog {
    let entries = || tools.allow.iter().chain(&tools.deny);
    let server = |entry: &String| Some(entry.strip_prefix("mcp__")?.split_once("__")?.0.to_owned());
    let is_name = |entry: &&String| !entry.contains([':', '*']);
    let allowed = tools.allow.iter().filter(is_name);
    let of_servers = tools.deny.iter().filter(is_name).filter(|entry| server(entry).is_some());
    let own = own_tools().map(str::to_owned);
    ToolCatalog {
        tools: allowed.chain(of_servers).cloned().chain(own).collect(),
        mcp_servers: entries().filter_map(server).filter(|server| !server.contains('*')).collect(),
    }
}

/// Shells that may run a command: the harness uses the user's own.
fn shells() -> &'static [Shell] {
    let own = env::var_os("SHELL").map(PathBuf::from);
    match own.as_deref().and_then(Path::file_name).is_some_and(|name| name == "zsh") {
        true => &[Shell::Bash, Shell::Zsh],
        false => &[Shell::Bash],
    }
}

/// Returns the commands among the arguments: a string, or a list of strings where the member is for commands.
pub(super) fn commands(input: &Value) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for name in COMMANDS {
        match input.get(name) {
            None => {}
            Some(Value::String(command)) => found.push(command.clone()),
            Some(Value::Array(all)) if *name == "commands" => {
                for command in all {
                    let command = command.as_str().ok_or("a command of the list is not a string")?;
                    found.push(command.to_owned());
                }
            }
            Some(_) => return Err(format!("`{name}` is not a string")),
        }
    }
    match found.len() {
        0 => Err("missing command in its arguments".to_owned()),
        many if many > MAX_COMMANDS => Err(format!("it has more than {MAX_COMMANDS} commands")),
        _ if found.iter().any(|command| command.trim().is_empty()) => Err("a command is empty".to_owned()),
        _ => Ok(found),
    }
}

/// Returns the working directory of a command.
fn folder(call: &ToolCall) -> Result<PathBuf, String> {
    match FOLDERS.iter().find_map(|name| Some((name, call.input.get(name)?))) {
        Some((_, Value::String(folder))) if !folder.is_empty() => Ok(call.origin.cwd.join(folder)),
        Some((_, Value::Null | Value::String(_))) | None => Ok(call.origin.cwd.clone()),
        Some((name, _)) => Err(format!("`{name}` is not a directory")),
    }
}

/// Returns the paths among the arguments of a tool that requires one.
fn named(input: &Value) -> Result<Vec<String>, String> {
    let paths = paths::among(input)?;
    if paths.is_empty() { Err("missing path in its arguments".to_owned()) } else { Ok(paths) }
}

/// Returns the files of a patch, in any argument.
fn patched(input: &Value) -> Result<Vec<String>, String> {
    let members = input.as_object().ok_or("the tool's arguments are not a JSON object")?;
    let mut files = paths::among(input)?;
    for text in members.values().filter_map(Value::as_str).filter(|text| text.contains("*** ")) {
        let named = patch::files(text).ok_or("the patch cannot be parsed")?;
        files.extend(named.into_iter().map(str::to_owned));
    }
    if files.is_empty() { Err("missing file name in its arguments".to_owned()) } else { Ok(files) }
}
