//! Where a command goes: by what was decided, what the configuration says, and whether this machine can make a sandbox.

use stockade_policy::commands::router::{BlockReason, Fallback, Route, RouterConfig, route};
use stockade_policy::{CommandDecision, Effect};

use crate::config::{ExecConfig, Isolation};
use crate::exec::{OnUnavailable, SandboxBackend};

/// Where a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RunPlace {
    /// In a sandbox that is made for it.
    Sandbox,
    /// Like any other program, with all rights of whoever runs it.
    Unsandboxed,
}

/// Whether this machine can make the sandbox that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sandboxes {
    Some,
    None,
}

/// Where a command goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// It runs there, and nobody is asked.
    Runs(RunPlace),
    /// It runs there if a person agrees.
    Asks(RunPlace),
    /// It needs a sandbox, and there is none.
    NoSandbox,
    /// It does not run.
    Refused,
}

/// Returns where a command goes. Without a sandbox it runs only where the configuration says so by name, or a person does.
pub(super) fn way(decision: &CommandDecision<'_, '_>, exec: &ExecConfig, sandboxes: Sandboxes) -> Way {
    use RunPlace::{Sandbox, Unsandboxed};
    // The backend that is asked for stands for whatever `auto` turns out to be when the sandbox is made.
    let there: &[SandboxBackend] = if sandboxes == Sandboxes::Some { &[exec.backend] } else { &[] };
    match (route(decision, &config(exec), there).route, exec.isolation) {
        (Route::Sandbox(_), _) => Way::Runs(Sandbox),
        (Route::AskFirst(Some(_)), _) => Way::Asks(Sandbox),
        (Route::Direct, Isolation::Direct) => Way::Runs(Unsandboxed),
        // What is simply allowed needs no sandbox, and gets one all the same: `always` means every command.
        (Route::Direct, Isolation::Sandbox(_)) if sandboxes == Sandboxes::Some => Way::Runs(Sandbox),
        (Route::Direct, Isolation::Sandbox(OnUnavailable::Refuse)) => Way::NoSandbox,
        (Route::Direct, Isolation::Sandbox(OnUnavailable::Warn)) => Way::Runs(Unsandboxed),
        (Route::AskFirst(None), Isolation::Sandbox(OnUnavailable::Warn)) if decision.effect < Effect::Ask => {
            Way::Runs(Unsandboxed)
        }
        (Route::Direct | Route::AskFirst(None), _) => Way::Asks(Unsandboxed),
        (Route::Blocked(BlockReason::NoSandbox), _) => Way::NoSandbox,
        _ => Way::Refused,
    }
}

/// The same in the words of the router. No program is exempt from the sandbox by its name.
fn config(exec: &ExecConfig) -> RouterConfig<SandboxBackend> {
    RouterConfig {
        enabled: matches!(exec.isolation, Isolation::Sandbox(_)),
        always: Vec::new(),
        never: Vec::new(),
        fallback: match exec.isolation {
            Isolation::Sandbox(OnUnavailable::Refuse) => Fallback::Block,
            Isolation::Sandbox(OnUnavailable::Ask | OnUnavailable::Warn) | Isolation::Direct => Fallback::Ask,
        },
        backends: vec![exec.backend],
        ..RouterConfig::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::AgentConfig;
    use stockade_policy::commands::AgentCommands;

    const NEVER: Isolation = Isolation::Direct;
    const REFUSE: Isolation = Isolation::Sandbox(OnUnavailable::Refuse);
    const ASK: Isolation = Isolation::Sandbox(OnUnavailable::Ask);
    const WARN: Isolation = Isolation::Sandbox(OnUnavailable::Warn);

    /// Every effect, every configuration, with and without a sandbox.
    #[test]
    #[rustfmt::skip]
    fn every_combination_has_its_way() {
        use Sandboxes::{None, Some};
        const BOX: Way = Way::Runs(RunPlace::Sandbox);
        const ASK_BOX: Way = Way::Asks(RunPlace::Sandbox);
        const BARE: Way = Way::Runs(RunPlace::Unsandboxed);
        const ASK_BARE: Way = Way::Asks(RunPlace::Unsandboxed);
        const NO: Way = Way::NoSandbox;
        const DENIED: Way = Way::Refused;
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
        let commands = AgentCommands::from(stockade_policy::CommandPolicy::builtin());
        for (text, wanted) in rows {
            let decision = commands.decide(text, &Default::default(), &Default::default());
            for ((isolation, sandboxes), wanted) in columns.into_iter().zip(wanted) {
                for backend in SandboxBackend::ALL.iter().copied() {
                    let exec = ExecConfig { isolation, backend, ..AgentConfig::default().exec };
                    assert_eq!(way(&decision, &exec, sandboxes), wanted, "{text} {exec:?} {sandboxes:?}");
                }
            }
        }
    }
}
