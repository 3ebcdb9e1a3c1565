//! Where a command goes: by what was decided, what the configuration says, and whether this machine can make a sandbox.

use stockade_policy::commands::router::{BlockReason, Fallback, Route, RouterConfig, route};
use stockade_policy::{CommandDecision, Effect};

use crate::config::{Backend, OnUnavailable};

/// Where a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RunPlace {
    /// In a sandbox.
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
    /// It runs there.
    Runs(RunPlace),
    /// It runs there if a person agrees.
    Asks(RunPlace),
    /// It needs a sandbox, and there is none.
    NoSandbox,
    /// It does not run.
    Refused,
}

/// The sandbox of this machine. Which backend makes it is decided where it is started.
#[derive(Debug, Clone, PartialEq)]
struct LocalSandbox;

/// Returns where a command goes. Without a sandbox it runs only where the configuration says so by name, or a person does.
pub(super) fn way(decision: &CommandDecision<'_, '_>, backend: Backend, sandboxes: Sandboxes) -> Way {
    use RunPlace::{Sandbox, Unsandboxed};
    let there: &[LocalSandbox] = if sandboxes == Sandboxes::Some { &[LocalSandbox] } else { &[] };
    match (route(decision, &config(backend), there).route, backend) {
        (Route::Sandbox(_), _) => Way::Runs(Sandbox),
        (Route::AskFirst(Some(_)), _) => Way::Asks(Sandbox),
        (Route::Direct, Backend::Direct) => Way::Runs(Unsandboxed),
        // What is simply allowed needs no sandbox, and gets one all the same: `always` means every command.
        (Route::Direct, Backend::Sandbox(_)) if sandboxes == Sandboxes::Some => Way::Runs(Sandbox),
        (Route::Direct, Backend::Sandbox(OnUnavailable::Refuse)) => Way::NoSandbox,
        (Route::Direct, Backend::Sandbox(OnUnavailable::Warn)) => Way::Runs(Unsandboxed),
        (Route::AskFirst(None), Backend::Sandbox(OnUnavailable::Warn)) if decision.effect < Effect::Ask => {
            Way::Runs(Unsandboxed)
        }
        (Route::Direct | Route::AskFirst(None), _) => Way::Asks(Unsandboxed),
        (Route::Blocked(BlockReason::NoSandbox), _) => Way::NoSandbox,
        _ => Way::Refused,
    }
}

/// The same in the words of the router. No program is exempt from the sandbox by its name.
fn config(backend: Backend) -> RouterConfig<LocalSandbox> {
    RouterConfig {
        enabled: matches!(backend, Backend::Sandbox(_)),
        always: Vec::new(),
        never: Vec::new(),
        fallback: match backend {
            Backend::Sandbox(OnUnavailable::Refuse) => Fallback::Block,
            Backend::Sandbox(OnUnavailable::Ask | OnUnavailable::Warn) | Backend::Direct => Fallback::Ask,
        },
        backends: vec![LocalSandbox],
        ..RouterConfig::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent_commands::AgentCommands;

    const NEVER: Backend = Backend::Direct;
    const REFUSE: Backend = Backend::Sandbox(OnUnavailable::Refuse);
    const ASK: Backend = Backend::Sandbox(OnUnavailable::Ask);
    const WARN: Backend = Backend::Sandbox(OnUnavailable::Warn);

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
            for ((backend, sandboxes), wanted) in columns.into_iter().zip(wanted) {
                assert_eq!(way(&decision, backend, sandboxes), wanted, "{text} {backend:?} {sandboxes:?}");
            }
        }
    }
}
