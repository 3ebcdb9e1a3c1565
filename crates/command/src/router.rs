//! Where a command runs: directly, in a sandbox, after a question, or not at all.
//!
//! The route depends only on the decision, the configuration and the sandboxes of the host. A command that needs a sandbox never
//! runs directly because none is available: the user is asked for this run, or it does not run.

use std::fmt;

use stockade_text::Shown;

use super::decision::CommandDecision;
use super::decision::part::{Action, Cause, Part};
use super::rules::effect::Effect;
use super::rules::program::{base, trusted};
use stockade_shell::InvocationKind;

/// Configuration of the router. `B` is the caller's type for sandboxes, which the router only compares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouterConfig<B> {
    /// Whether sandboxes are used at all. If not, the user is asked about commands that need one.
    pub enabled: bool,
    /// Programs that always run in a sandbox, by name.
    pub always: Vec<String>,
    /// Programs that need no sandbox unless they are used dangerously. `always` takes precedence.
    pub never: Vec<String>,
    /// What happens to a command that needs a sandbox when no sandbox is available.
    pub fallback: Fallback,
    /// The sandboxes to use, in order of preference.
    pub backends: Vec<B>,
    /// Whether commands run on this machine or on another one.
    pub machine: Machine,
    /// Whether the user can be asked.
    pub prompter: Prompter,
}

/// What happens to a command that needs a sandbox when no sandbox is available.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Fallback {
    /// The command does not run.
    #[default]
    Block,
    /// The user is asked whether this run may go without one.
    Ask,
}

/// The machine that runs commands.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Machine {
    /// This machine, where a command that needs no sandbox runs directly.
    #[default]
    Local,
    /// Another machine, reached by the only backend: no command runs here.
    Remote {
        /// The name of the other machine.
        host: String,
    },
}

/// Whether the user can be asked before a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Prompter {
    /// A user is present.
    #[default]
    Present,
    /// No user is present, so every question is a denial.
    Absent,
}

/// The route of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum Route<B> {
    /// The command runs like the agent's other programs.
    Direct,
    /// The command runs in this sandbox.
    Sandbox(B),
    /// The user is asked, and an approved command runs in this sandbox, or directly without one.
    AskFirst(Option<B>),
    /// The command does not run, for this reason.
    Blocked(BlockReason),
}

/// Why a command does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BlockReason {
    /// The decision on the command denies it.
    Denied,
    /// It needs a sandbox, and no sandbox is available.
    NoSandbox,
    /// The user would have to be asked, but no user is present.
    NobodyToAsk,
}

/// Why a command needs a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum IsolationNeed {
    /// Its program always runs in a sandbox.
    Always(String),
    /// The decision on a part requires it, or asks.
    Part(String),
    /// All commands run on another machine.
    Remote,
}

/// A route with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Routing<B> {
    /// The route.
    pub route: Route<B>,
    /// Why it needs a sandbox, if it does.
    pub need: Option<IsolationNeed>,
}

impl<B> Default for RouterConfig<B> {
    fn default() -> Self {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self {
            enabled: false,
            // These install, build or download untrusted code, and run it.
            always: owned(&["npm", "npx", "yarn", "pnpm", "pip", "pip3", "cargo", "make", "cmake"]),
            never: owned(&[
                "ls", "cat", "head", "tail", "wc", "echo", "pwd", "date", "grep", "rg", "ag", "find",
                "which", "file", "stat", "git", "cd",
            ]),
            fallback: Fallback::Block,
            backends: Vec::new(),
            machine: Machine::Local,
            prompter: Prompter::Present,
        }
    }
}

impl<B> RouterConfig<B> {
    /// Reads the environment variables of similar tools: `AUTO_SANDBOX`, `AUTO_SANDBOX_FAIL_CLOSED`, and with the prefix
    /// `CODEBUDDY_` the latter, `SANDBOX_BACKEND` and `SSH_HOST`. Only `true` enables a setting. `named` maps a lower-case name
    /// to a backend; without one, no backend is set.
    ///
    /// By default, the user is asked if no sandbox is available.
    #[must_use]
    pub fn from_variables(
        variable: impl Fn(&str) -> Option<String>,
        named: impl FnOnce(&str) -> Option<B>,
    ) -> Self {
        let is_true = |name: &str| variable(name).as_deref() == Some("true");
        let fail_closed =
            is_true("AUTO_SANDBOX_FAIL_CLOSED") || is_true("CODEBUDDY_AUTO_SANDBOX_FAIL_CLOSED");
        let name = variable("CODEBUDDY_SANDBOX_BACKEND").unwrap_or_default().trim().to_ascii_lowercase();
        let host = || variable("CODEBUDDY_SSH_HOST").unwrap_or_default().trim().to_owned();
        Self {
            enabled: is_true("AUTO_SANDBOX"),
            fallback: if fail_closed { Fallback::Block } else { Fallback::Ask },
            backends: named(&name).into_iter().collect(),
            machine: if name == "ssh" { Machine::Remote { host: host() } } else { Machine::Local },
            ..Self::default()
        }
    }

    const fn is_remote(&self) -> bool {
        matches!(self.machine, Machine::Remote { .. })
    }
}

/// Routes a command. `available` lists the sandboxes of the host.
#[must_use]
pub fn route<B: Clone + PartialEq>(
    decision: &CommandDecision<'_, '_>,
    config: &RouterConfig<B>,
    available: &[B],
) -> Routing<B> {
    let need = need(decision, config);
    let backend = config.backends.iter().find(|backend| available.contains(backend)).cloned();
    let wants_sandbox = need.is_some();
    let can = config.enabled || config.is_remote();
    let route = match (decision.effect, wants_sandbox, backend.filter(|_| can)) {
        (Effect::Deny, ..) => Route::Blocked(BlockReason::Denied),
        (Effect::Ask, true, Some(backend)) => Route::AskFirst(Some(backend)),
        (_, true, Some(backend)) => Route::Sandbox(backend),
        (_, true, None) if can && config.fallback == Fallback::Block => {
            Route::Blocked(BlockReason::NoSandbox)
        }
        (_, true, None) | (Effect::Ask, false, _) => Route::AskFirst(None),
        (_, false, _) => Route::Direct,
    };
    let route = match route {
        Route::AskFirst(_) if config.prompter == Prompter::Absent => Route::Blocked(BlockReason::NobodyToAsk),
        route => route,
    };
    Routing { route, need }
}

/// Returns why a command needs a sandbox.
fn need<B>(decision: &CommandDecision<'_, '_>, config: &RouterConfig<B>) -> Option<IsolationNeed> {
    if config.is_remote() {
        return Some(IsolationNeed::Remote);
    }
    if config.enabled {
        let always = decision.parts.iter().filter_map(|part| part.run()?.program());
        let mut always = always.filter(|name| is_listed(&config.always, name));
        if let Some(name) = always.next() {
            return Some(IsolationNeed::Always(base(name).to_owned()));
        }
    }
    let needs = |part: &&Part<'_, '_>| match part.effect {
        Effect::Allow => false,
        Effect::Sandbox => !is_exempt(part, config),
        // Without a sandbox, the user's answer is the only protection.
        Effect::Ask | Effect::Deny => config.enabled && !is_exempt(part, config),
    };
    decision.parts.iter().find(needs).map(|part| IsolationNeed::Part(part.cause.to_string()))
}

/// Returns whether the program of a part needs no sandbox, and is used harmlessly.
fn is_exempt<B>(part: &Part<'_, '_>, config: &RouterConfig<B>) -> bool {
    let Action::Run(run) = &part.action else { return false };
    let is_plain = run.invocation == InvocationKind::AsWritten && run.is_known();
    let by_rule = match &part.cause {
        Cause::Unmatched => true,
        // A rule that requires a sandbox for the program takes precedence.
        Cause::Rule { rule, .. } => rule.effect != Effect::Sandbox,
        _ => false,
    };
    let name = run.program().map(trusted).filter(|name| !name.contains('/'));
    // Without a rule, a program is harmless only if all words are operands: an option may name a file to write or a program to
    // run, and so may a subcommand.
    let is_operand = |word: &str| !word.starts_with(['-', '+']);
    let has_operands = run.argv.iter().skip(1).all(|arg| arg.known().is_some_and(is_operand));
    let is_usual = !matches!(part.cause, Cause::Unmatched) || (has_operands && name != Some("git"));
    config.enabled
        && is_plain
        && by_rule
        && is_usual
        && name.is_some_and(|name| is_listed(&config.never, name))
}

fn is_listed(list: &[String], name: &str) -> bool {
    list.iter().any(|one| one.eq_ignore_ascii_case(base(name)))
}

impl<B> Routing<B> {
    /// Returns whether the command must not run outside a sandbox without a question.
    #[must_use]
    pub const fn needs_sandbox(&self) -> bool {
        self.need.is_some()
    }
}

impl fmt::Display for IsolationNeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Always(name) => write!(f, "`{}` always runs in a sandbox", Shown(name)),
            Self::Part(reason) => f.write_str(reason),
            Self::Remote => f.write_str("all commands run on another machine"),
        }
    }
}

impl fmt::Display for BlockReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Denied => "it is denied",
            Self::NoSandbox => "it must run in a sandbox, and none is available: run `stockade doctor`, or set `execSandbox.onUnavailable` to `ask`",
            Self::NobodyToAsk => "the user has to agree and cannot be asked here: use a client that supports questions",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::CommandContext;
    use crate::decision::policy::CommandPolicy;
    use stockade_shell::ReadOptions;

    /// What a caller calls its sandboxes.
    #[derive(Debug, Clone, PartialEq)]
    enum Kind {
        Native,
        Container,
    }

    fn routed(text: &str, config: &RouterConfig<Kind>, available: &[Kind]) -> Routing<Kind> {
        let policy = CommandPolicy::builtin();
        route(&policy.decide(text, &ReadOptions::default(), &CommandContext::default()), config, available)
    }

    #[test]
    fn nothing_runs_directly_for_want_of_a_sandbox() {
        let off = RouterConfig { backends: vec![Kind::Native, Kind::Container], ..RouterConfig::default() };
        let on = RouterConfig { enabled: true, ..off.clone() };
        let lenient = RouterConfig { fallback: Fallback::Ask, ..on.clone() };
        let alone = RouterConfig { prompter: Prompter::Absent, ..lenient.clone() };
        let native = [Kind::Native];
        type Row<'r> = (&'r str, &'r RouterConfig<Kind>, &'r [Kind], Route<Kind>);
        let rows: &[Row<'_>] = &[
            ("ls", &on, &native, Route::Direct),
            ("ls", &off, &[], Route::Direct),
            ("cargo test", &on, &native, Route::Sandbox(Kind::Native)),
            ("cargo test", &on, &[], Route::Blocked(BlockReason::NoSandbox)),
            ("cargo test", &lenient, &[], Route::AskFirst(None)),
            ("cargo test", &alone, &[], Route::Blocked(BlockReason::NobodyToAsk)),
            ("cargo test", &off, &native, Route::AskFirst(None)),
            ("git push", &on, &native, Route::AskFirst(None)),
            ("npm install", &on, &native, Route::AskFirst(Some(Kind::Native))),
            ("npm install", &on, &[], Route::Blocked(BlockReason::NoSandbox)),
            ("rm -rf /", &on, &native, Route::Blocked(BlockReason::Denied)),
            ("ls $(npm test)", &on, &native, Route::Sandbox(Kind::Native)),
        ];
        for (text, config, available, expected) in rows {
            assert_eq!(routed(text, config, available).route, *expected, "{text} {config:?} {available:?}");
        }
    }
}
