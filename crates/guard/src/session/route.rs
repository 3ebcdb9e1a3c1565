//! Where a command runs: by the decision, the configuration, and whether this machine can create a sandbox.

use stockade_command::router::{BlockReason, Fallback, Route, RouterConfig, route};
use stockade_command::{CommandDecision, Effect};

use crate::exec::{OnUnavailable, SandboxBackend};
use stockade_config::{ExecConfig, Isolation, SandboxNeed};

/// Where a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RunPlace {
    /// In a sandbox of its own.
    Sandbox,
    /// Like any other program, with all privileges of the calling user.
    Unsandboxed,
}

/// Whether this machine can create the requested sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sandboxes {
    Some,
    None,
}

/// The route of a judged command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunRoute {
    /// It runs there without a question.
    Runs(RunPlace),
    /// It runs there if the user agrees.
    Asks(RunPlace),
    /// It needs a sandbox, and no sandbox is available.
    NoSandbox,
    /// It does not run.
    Refused,
}

/// Returns the route of a command. It runs without a sandbox only if the configuration or the user permits that explicitly.
pub(super) fn run_route(
    decision: &CommandDecision<'_, '_>,
    exec: &ExecConfig,
    sandboxes: Sandboxes,
) -> RunRoute {
    use RunPlace::{Sandbox, Unsandboxed};
    // The requested backend represents the one that `auto` selects when the sandbox is made.
    let there: &[SandboxBackend] = if sandboxes == Sandboxes::Some { &[exec.spec.backend] } else { &[] };
    match (route(decision, &config(exec), there).route, exec.isolation) {
        (Route::Sandbox(_), _) => RunRoute::Runs(Sandbox),
        (Route::AskFirst(Some(_)), _) => RunRoute::Asks(Sandbox),
        (Route::Direct, Isolation::Direct) => RunRoute::Runs(Unsandboxed),
        // An allowed command needs no sandbox, but gets one anyway: `always` means every command.
        (Route::Direct, Isolation::Sandbox(_)) if sandboxes == Sandboxes::Some => RunRoute::Runs(Sandbox),
        (Route::Direct, Isolation::Sandbox(OnUnavailable::Refuse)) => RunRoute::NoSandbox,
        (Route::Direct, Isolation::Sandbox(OnUnavailable::Warn)) => RunRoute::Runs(Unsandboxed),
        (Route::AskFirst(None), Isolation::Sandbox(OnUnavailable::Warn)) if decision.effect < Effect::Ask => {
            RunRoute::Runs(Unsandboxed)
        }
        (Route::Direct | Route::AskFirst(None), _) => RunRoute::Asks(Unsandboxed),
        (Route::Blocked(BlockReason::NoSandbox), _) => RunRoute::NoSandbox,
        _ => RunRoute::Refused,
    }
}

/// Whether a command runs without a sandbox when only commands that need one get it: rules allow all of it, and none of its
/// programs always needs one. With a remote backend the workspace is elsewhere, so nothing runs here.
pub(super) fn needs_none(decision: &CommandDecision<'_, '_>, exec: &ExecConfig) -> bool {
    let Some(SandboxNeed { always }) = &exec.need else { return false };
    let here = !matches!(exec.spec.backend, SandboxBackend::Added(_));
    let config = RouterConfig { always: always.clone(), ..config(exec) };
    let routed = route(decision, &config, &[exec.spec.backend]).route;
    here && decision.effect == Effect::Allow && matches!(routed, Route::Direct)
}

/// Converts the configuration for the router. No program is exempt from the sandbox by its name.
fn config(exec: &ExecConfig) -> RouterConfig<SandboxBackend> {
    RouterConfig {
        enabled: matches!(exec.isolation, Isolation::Sandbox(_)),
        always: Vec::new(),
        never: Vec::new(),
        fallback: match exec.isolation {
            Isolation::Sandbox(OnUnavailable::Refuse) => Fallback::Block,
            Isolation::Sandbox(OnUnavailable::Ask | OnUnavailable::Warn) | Isolation::Direct => Fallback::Ask,
        },
        backends: vec![exec.spec.backend],
        ..RouterConfig::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::SandboxSpec;
    use stockade_command::AgentCommands;
    use stockade_config::AgentConfig;

    const NEVER: Isolation = Isolation::Direct;
    const REFUSE: Isolation = Isolation::Sandbox(OnUnavailable::Refuse);
    const ASK: Isolation = Isolation::Sandbox(OnUnavailable::Ask);
    const WARN: Isolation = Isolation::Sandbox(OnUnavailable::Warn);

    /// Every effect, every configuration, with and without a sandbox.
    #[test]
    #[rustfmt::skip]
    fn every_combination_has_its_route() {
        use Sandboxes::{None, Some};
        const BOX: RunRoute = RunRoute::Runs(RunPlace::Sandbox);
        const ASK_BOX: RunRoute = RunRoute::Asks(RunPlace::Sandbox);
        const BARE: RunRoute = RunRoute::Runs(RunPlace::Unsandboxed);
        const ASK_BARE: RunRoute = RunRoute::Asks(RunPlace::Unsandboxed);
        const NO: RunRoute = RunRoute::NoSandbox;
        const DENIED: RunRoute = RunRoute::Refused;
        let columns = [
            (REFUSE, Some), (REFUSE, None), (ASK, Some), (ASK, None), (WARN, Some), (WARN, None), (NEVER, Some), (NEVER, None),
        ];
        let rows = [
            // allow
            ("ls",                [BOX,     NO,     BOX,     ASK_BARE, BOX,     BARE,     BARE,     BARE]),
            // sandbox: no rule matches
            ("fallocate -l 1 x",  [BOX,     NO,     BOX,     ASK_BARE, BOX,     BARE,     ASK_BARE, ASK_BARE]),
            ("ls; make test",     [BOX,     NO,     BOX,     ASK_BARE, BOX,     BARE,     ASK_BARE, ASK_BARE]),
            // ask
            ("git push",          [ASK_BOX, NO,     ASK_BOX, ASK_BARE, ASK_BOX, ASK_BARE, ASK_BARE, ASK_BARE]),
            // deny
            ("rm -rf /",          [DENIED,  DENIED, DENIED,  DENIED,   DENIED,  DENIED,   DENIED,   DENIED]),
        ];
        let commands = AgentCommands::from(stockade_command::CommandPolicy::builtin());
        for (text, wanted) in rows {
            let decision = commands.decide(text, &Default::default(), &Default::default());
            for ((isolation, sandboxes), wanted) in columns.into_iter().zip(wanted) {
                for backend in SandboxBackend::ALL.iter().copied() {
                    let default = AgentConfig::default().exec;
                    let spec = SandboxSpec { backend, ..default.spec.clone() };
                    let exec = ExecConfig { isolation, spec, ..default };
                    assert_eq!(run_route(&decision, &exec, sandboxes), wanted, "{text} {exec:?} {sandboxes:?}");
                }
            }
        }
    }

    /// Commands that run without a sandbox when only those that need one get it.
    #[test]
    fn what_always_needs_a_sandbox_gets_one_whatever_a_rule_allows() {
        let key = stockade_config::Config::key("agents.x.skills.execSandbox.alwaysSandbox").unwrap();
        let always: Vec<String> = serde_json::from_str(key.default).unwrap();
        // One table: what the router always puts into a sandbox is among them.
        let of_router = RouterConfig::<SandboxBackend>::default().always;
        assert!(of_router.iter().all(|name| always.contains(name)));
        let exec = |backend: SandboxBackend| ExecConfig {
            isolation: REFUSE,
            spec: SandboxSpec { backend, ..AgentConfig::default().exec.spec },
            need: Some(SandboxNeed { always: always.clone() }),
            ..AgentConfig::default().exec
        };
        let commands = AgentCommands::from(stockade_command::CommandPolicy::builtin());
        let is_free = |text: &str, exec: &ExecConfig| {
            needs_none(&commands.decide(text, &Default::default(), &Default::default()), exec)
        };
        let auto = exec(SandboxBackend::Auto);
        for text in ["ls", "cat README.md", "ls; pwd", "cat a.txt | head -3"] {
            assert!(is_free(text, &auto), "{text}");
            assert!(!is_free(text, &exec(SandboxBackend::from_name("e2b").unwrap())), "{text}");
            assert!(!is_free(text, &ExecConfig { need: None, ..auto.clone() }), "{text}");
        }
        for text in INSIDE.iter().chain(OF_NO_RULE) {
            assert!(!is_free(text, &auto), "{text}");
            // Whatever the list says, what no rule allows is not let out.
            let none = ExecConfig { need: Some(SandboxNeed { always: Vec::new() }), ..auto.clone() };
            assert!(!OF_NO_RULE.contains(text) || !is_free(text, &none), "{text}");
        }
        let own = SandboxNeed { always: vec!["ls".to_owned()] };
        assert!(!is_free("ls", &ExecConfig { need: Some(own), ..auto }));
    }

    const INSIDE: &[&str] = &[
        "make test",
        "npm ci",
        "ls; make",
        "ls $(npm test)",
        "env make",
        "grep -r x .",
        "rg -uu x",
        "git status",
        "find . -name x",
    ];

    /// Commands by which an attacker could use commonly allowed programs.
    const OF_NO_RULE: &[&str] = &[
        "fallocate -l 1 x",
        "unknown-tool x",
        "rm -rf /",
        "git push",
        "bash -c ls; ./x",
        "find . -exec sh x {} +",
        "ls `./x`",
        "git remote-ext a ./payload < in",
        "git merge-index ./x -a",
        "git send-pack host:repo HEAD",
        "git http-push x",
        "git merge-file --union a /dev/null b",
        "git log --output=f",
        "find . -maxdepth 0 -fprintf f x",
        "find . -fls f",
        "ag x . --pager ./payload",
        "ls > ~/.bashrc",
    ];
}
