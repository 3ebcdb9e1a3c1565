//! Where a command runs: directly, in a sandbox, after a question, or not at all.
//!
//! The answer depends on the decision, the configuration and what the host has, and on nothing else. A command that
//! needs a sandbox never runs directly because there is none: then a person is asked for this one run, or it does not
//! run.

use std::fmt;

use super::decision::CommandDecision;
use super::decision::part::{Because, Does, Part};
use super::rules::effect::Effect;
use super::rules::matcher::{base, trusted};
use crate::shown::Shown;
use stockade_shell::Called;

/// How commands are routed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouterConfig {
    /// Whether commands are put into a sandbox at all. Where they are not, a person is asked about those that need one.
    pub enabled: bool,
    /// Programs that always run in a sandbox, by name.
    pub always: Vec<String>,
    /// Programs that need none while nothing about them is dangerous. A program in both lists is in `always`.
    pub never: Vec<String>,
    /// What happens to a command that needs a sandbox when there is none.
    pub unavailable: Unavailable,
    /// The sandboxes to use, the best first.
    pub backends: Vec<Backend>,
    /// Whether somebody can be asked.
    pub asker: Asker,
}

/// What happens to a command that needs a sandbox when there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Unavailable {
    /// It does not run.
    #[default]
    Block,
    /// A person is asked about this one run.
    Ask,
}

/// Whether somebody can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Asker {
    /// Somebody is there.
    #[default]
    Present,
    /// Nobody is: every question is answered with no.
    Absent,
}

/// A kind of sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Backend {
    /// One that the operating system provides.
    Native,
    /// A container.
    Container,
    /// Another machine.
    Remote {
        /// Its name.
        host: String,
    },
}

/// Where a command goes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum Route {
    /// It runs as the agent's other programs do.
    Direct,
    /// It runs in a sandbox.
    Sandbox(Backend),
    /// A person is asked, and if they agree it runs there: in the sandbox, or directly where there is none.
    AskFirst(Option<Backend>),
    /// It does not run.
    Blocked(Blocked),
}

/// Why a command does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Blocked {
    /// The decision says so.
    Denied,
    /// It needs a sandbox, and there is none.
    NoSandbox,
    /// A person would have to be asked, and nobody is there.
    NobodyToAsk,
}

/// Why a command needs a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Need {
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
pub struct Routing {
    /// Where it goes.
    pub route: Route,
    /// Why it needs a sandbox, when it does.
    pub need: Option<Need>,
}

impl Default for RouterConfig {
    fn default() -> Self {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self {
            enabled: false,
            always: owned(&["npm", "npx", "yarn", "pnpm", "pip", "pip3", "cargo", "make", "cmake"]),
            never: owned(&[
                "ls", "cat", "head", "tail", "wc", "echo", "pwd", "date", "grep", "rg", "ag", "find",
                "which", "file", "stat", "git", "cd",
            ]),
            unavailable: Unavailable::Block,
            backends: vec![Backend::Native, Backend::Container],
            asker: Asker::Present,
        }
    }
}

impl RouterConfig {
    /// Reads the variables that other tools of this kind use: `AUTO_SANDBOX`, `AUTO_SANDBOX_FAIL_CLOSED`, and with the
    /// prefix `CODEBUDDY_` that one, `SANDBOX_BACKEND` and `SSH_HOST`. Only `true` switches something on.
    ///
    /// Without a word about it, a person is asked where there is no sandbox.
    #[must_use]
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let is_true = |name: &str| variable(name).as_deref() == Some("true");
        let fail_closed =
            is_true("AUTO_SANDBOX_FAIL_CLOSED") || is_true("CODEBUDDY_AUTO_SANDBOX_FAIL_CLOSED");
        let mut config = Self {
            enabled: is_true("AUTO_SANDBOX"),
            unavailable: if fail_closed { Unavailable::Block } else { Unavailable::Ask },
            ..Self::default()
        };
        let backend = variable("CODEBUDDY_SANDBOX_BACKEND").unwrap_or_default().trim().to_ascii_lowercase();
        match backend.as_str() {
            "ssh" => {
                let host = variable("CODEBUDDY_SSH_HOST").unwrap_or_default().trim().to_owned();
                config.backends = vec![Backend::Remote { host }];
            }
            "native" | "os" => config.backends = vec![Backend::Native],
            "docker" | "container" => config.backends = vec![Backend::Container],
            _ => {}
        }
        config
    }

    /// Returns the machine that all commands run on, when there is one.
    #[must_use]
    pub fn remote_host(&self) -> Option<&str> {
        match self.backends.as_slice() {
            [Backend::Remote { host }] => Some(host),
            _ => None,
        }
    }
}

/// Routes a command. `available` says which sandboxes the host really has.
#[must_use]
pub fn route(decision: &CommandDecision<'_, '_>, config: &RouterConfig, available: &[Backend]) -> Routing {
    let need = need(decision, config);
    let backend = config.backends.iter().find(|backend| available.contains(backend)).cloned();
    let wants_sandbox = need.is_some();
    let can = config.enabled || config.remote_host().is_some();
    let route = match (decision.effect, wants_sandbox, backend.filter(|_| can)) {
        (Effect::Deny, ..) => Route::Blocked(Blocked::Denied),
        (Effect::Ask, true, Some(backend)) => Route::AskFirst(Some(backend)),
        (_, true, Some(backend)) => Route::Sandbox(backend),
        (_, true, None) if can && config.unavailable == Unavailable::Block => {
            Route::Blocked(Blocked::NoSandbox)
        }
        (_, true, None) | (Effect::Ask, false, _) => Route::AskFirst(None),
        (_, false, _) => Route::Direct,
    };
    let route = match route {
        Route::AskFirst(_) if config.asker == Asker::Absent => Route::Blocked(Blocked::NobodyToAsk),
        route => route,
    };
    Routing { route, need }
}

/// Returns why a command needs a sandbox.
fn need(decision: &CommandDecision<'_, '_>, config: &RouterConfig) -> Option<Need> {
    if config.remote_host().is_some() {
        return Some(Need::Remote);
    }
    if config.enabled {
        let always = decision.parts.iter().filter_map(|part| part.run()?.program());
        let mut always = always.filter(|name| is_listed(&config.always, name));
        if let Some(name) = always.next() {
            return Some(Need::Always(base(name).to_owned()));
        }
    }
    let needs = |part: &&Part<'_, '_>| match part.effect {
        Effect::Allow => false,
        Effect::Sandbox => !is_exempt(part, config),
        // Without a sandbox the answer to the question is all there is.
        Effect::Ask | Effect::Deny => config.enabled && !is_exempt(part, config),
    };
    decision.parts.iter().find(needs).map(|part| Need::Part(part.because.to_string()))
}

/// Returns whether the program of a part is one that needs no sandbox, and is used as such.
fn is_exempt(part: &Part<'_, '_>, config: &RouterConfig) -> bool {
    let Does::Run(run) = &part.does else { return false };
    let is_plain = run.called == Called::AsWritten && run.is_known();
    let by_rule = match &part.because {
        Because::Unmatched => true,
        // A rule that puts the program into a sandbox knows why.
        Because::Rule { rule, .. } => rule.effect != Effect::Sandbox,
        _ => false,
    };
    let name = run.program().map(trusted).filter(|name| !name.contains('/'));
    let has_options = run.argv.get(1).and_then(|arg| arg.known()).is_some_and(|word| word.starts_with('-'));
    // What an option before anything else makes of a program is not known.
    let is_usual = !(matches!(part.because, Because::Unmatched) && has_options);
    config.enabled
        && is_plain
        && by_rule
        && is_usual
        && name.is_some_and(|name| is_listed(&config.never, name))
}

fn is_listed(list: &[String], name: &str) -> bool {
    list.iter().any(|one| one.eq_ignore_ascii_case(base(name)))
}

impl Routing {
    /// Returns whether the command must not run outside a sandbox without a question.
    #[must_use]
    pub const fn needs_sandbox(&self) -> bool {
        self.need.is_some()
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Always(name) => write!(f, "`{}` always runs in a sandbox", Shown(name)),
            Self::Part(reason) => f.write_str(reason),
            Self::Remote => f.write_str("all commands run on another machine"),
        }
    }
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Denied => "it is denied",
            Self::NoSandbox => "it needs a sandbox, and there is none: install one, or let it be asked about (unavailable: ask)",
            Self::NobodyToAsk => "a person would have to be asked, and nobody is there: connect somebody who can answer",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::context::CommandPlace;
    use crate::commands::decision::policy::CommandPolicy;
    use stockade_shell::ReadOptions;

    fn routed(text: &str, config: &RouterConfig, available: &[Backend]) -> Routing {
        let policy = CommandPolicy::builtin();
        route(&policy.decide(text, &ReadOptions::default(), &CommandPlace::default()), config, available)
    }

    #[test]
    fn nothing_runs_directly_for_want_of_a_sandbox() {
        let on = RouterConfig { enabled: true, ..RouterConfig::default() };
        let off = RouterConfig::default();
        let lenient = RouterConfig { unavailable: Unavailable::Ask, ..on.clone() };
        let alone = RouterConfig { asker: Asker::Absent, ..lenient.clone() };
        let native = [Backend::Native];
        let rows: &[(&str, &RouterConfig, &[Backend], Route)] = &[
            ("ls", &on, &native, Route::Direct),
            ("ls", &off, &[], Route::Direct),
            ("cargo test", &on, &native, Route::Sandbox(Backend::Native)),
            ("cargo test", &on, &[], Route::Blocked(Blocked::NoSandbox)),
            ("cargo test", &lenient, &[], Route::AskFirst(None)),
            ("cargo test", &alone, &[], Route::Blocked(Blocked::NobodyToAsk)),
            ("cargo test", &off, &native, Route::AskFirst(None)),
            ("git push", &on, &native, Route::AskFirst(None)),
            ("npm install", &on, &native, Route::AskFirst(Some(Backend::Native))),
            ("npm install", &on, &[], Route::Blocked(Blocked::NoSandbox)),
            ("rm -rf /", &on, &native, Route::Blocked(Blocked::Denied)),
            ("ls $(npm test)", &on, &native, Route::Sandbox(Backend::Native)),
        ];
        for (text, config, available, expected) in rows {
            assert_eq!(routed(text, config, available).route, *expected, "{text} {config:?} {available:?}");
        }
    }
}
