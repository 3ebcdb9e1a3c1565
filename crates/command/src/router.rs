//! Where a command runs: directly, in a sandbox, after a question, or not at all.
//!
//! The answer depends on the decision, the configuration and the sandboxes of the host alone. A command that
//! needs a sandbox never runs directly because no sandbox is available: then a person is asked for this one run, or it
//! does not run.

use std::fmt;

use stockade_text::Shown;

use super::decision::CommandDecision;
use super::decision::part::{Action, Cause, Part};
use super::rules::effect::Effect;
use super::rules::program::{base, trusted};
use stockade_shell::InvocationKind;

/// How commands are routed. `B` is what the caller calls a sandbox: the router only compares one with another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouterConfig<B> {
    /// Whether commands are put into a sandbox at all. Where they are not, a person is asked about those that need one.
    pub enabled: bool,
    /// Programs that always run in a sandbox, by name.
    pub always: Vec<String>,
    /// Programs that need none while nothing about them is dangerous. A program in both lists is in `always`.
    pub never: Vec<String>,
    /// What happens to a command that needs a sandbox when no sandbox is available.
    pub fallback: Fallback,
    /// The sandboxes to use, the best first.
    pub backends: Vec<B>,
    /// Whether commands run on this machine, or all of them on another one.
    pub machine: Machine,
    /// Whether a person can be asked.
    pub prompter: Prompter,
}

/// What happens to a command that needs a sandbox when no sandbox is available.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Fallback {
    /// The command does not run.
    #[default]
    Block,
    /// A person is asked whether this one run may go without.
    Ask,
}

/// The machine that commands run on.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Machine {
    /// This one, where a command that needs no sandbox runs directly.
    #[default]
    Local,
    /// Another one, which the only backend leads to: no command runs here.
    Remote {
        /// The name of the other machine.
        host: String,
    },
}

/// Whether a person can be asked before a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Prompter {
    /// A person is there and will answer.
    #[default]
    Present,
    /// No person can answer, so that every question is answered with no.
    Absent,
}

/// Where a command goes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum Route<B> {
    /// The command runs as the agent's other programs do.
    Direct,
    /// The command runs in this sandbox.
    Sandbox(B),
    /// A person is asked, and after a yes it runs in this sandbox, or directly without one.
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
    /// A person would have to be asked, but no person can answer.
    NobodyToAsk,
}

/// Why a command needs a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum IsolationNeed {
    /// Its program is one that always runs in a sandbox.
    Always(String),
    /// The decision on a part says so, or asks.
    Part(String),
    /// All commands run on another machine.
    Remote,
}

/// A route and the reasons for it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Routing<B> {
    /// Where the command goes.
    pub route: Route<B>,
    /// Why it needs a sandbox, when it does.
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
    /// Reads the variables that other tools of this kind use: `AUTO_SANDBOX`, `AUTO_SANDBOX_FAIL_CLOSED`, and with the
    /// prefix `CODEBUDDY_` that one, `SANDBOX_BACKEND` and `SSH_HOST`. Only `true` switches something on. `named` says
    /// which backend a name in lower case means; without one, none is set.
    ///
    /// Without a word about it, a person is asked where there is no sandbox.
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
        // Without a sandbox the answer to the question is all there is.
        Effect::Ask | Effect::Deny => config.enabled && !is_exempt(part, config),
    };
    decision.parts.iter().find(needs).map(|part| IsolationNeed::Part(part.cause.to_string()))
}

/// Returns whether the program of a part is one that needs no sandbox, and is used as such.
fn is_exempt<B>(part: &Part<'_, '_>, config: &RouterConfig<B>) -> bool {
    let Action::Run(run) = &part.action else { return false };
    let is_plain = run.invocation == InvocationKind::AsWritten && run.is_known();
    let by_rule = match &part.cause {
        Cause::Unmatched => true,
        // A rule that puts the program into a sandbox knows why.
        Cause::Rule { rule, .. } => rule.effect != Effect::Sandbox,
        _ => false,
    };
    let name = run.program().map(trusted).filter(|name| !name.contains('/'));
    // What no rule takes for harmless is so only where nothing is said but what to work on: an option, wherever it stands, may
    // name a file to write or a program to run, and so does a command of a program that has its own.
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
            Self::NoSandbox => "it needs a sandbox, and no sandbox is available: install one, or have it ask (unavailable: ask)",
            Self::NobodyToAsk => "a person would have to be asked, but no person can answer: use a client that answers questions",
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
