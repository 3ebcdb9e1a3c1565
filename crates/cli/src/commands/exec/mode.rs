//! The sandbox mode, and options that conflict with it.

use stockade_guard::exec::{HomeView, OnUnavailable, SandboxBackend, SandboxMode};

use super::{ExecArgs, Reach};

/// Warning before a command runs without a sandbox, printed even with --quiet.
pub(super) const WARNING: &str =
    "--sandbox danger-full-access: the command runs WITHOUT A SANDBOX, with all of your rights";

/// Returns the sandbox mode.
pub(super) fn mode(args: &ExecArgs) -> SandboxMode {
    args.spec.asked_mode().unwrap_or_default()
}

/// Returns the error for an option that has no effect in this mode, and would promise protection that is missing.
pub(super) fn pointless(args: &ExecArgs) -> Option<String> {
    const FULL: SandboxMode = SandboxMode::DangerFullAccess;
    let rows = [
        ("--rw", SandboxMode::ReadOnly, !args.spec.shared_paths.is_empty()),
        ("--review", SandboxMode::ReadOnly, args.spec.review.is_some()),
        ("--review", FULL, args.spec.review.is_some()),
        // Without a sandbox, the rules are the only protection.
        ("--no-rules", FULL, args.no_rules),
        ("--ro", FULL, !args.spec.read_only_paths.is_empty()),
        ("--env-names", FULL, !args.spec.env_names_paths.is_empty()),
        ("--rw", FULL, !args.spec.shared_paths.is_empty()),
        ("--network broker", FULL, args.network == Reach::Broker),
        ("--network observe", FULL, args.network == Reach::Observe),
        ("--allow-host", FULL, !args.allow_host.is_empty()),
        ("--secret", FULL, !args.secret.is_empty()),
        ("--home", FULL, args.home != HomeView::Tools),
        ("--backend", FULL, args.spec.backend.is_some_and(|backend| backend != SandboxBackend::Auto)),
        ("--backend-option", FULL, !args.backend_option.is_empty()),
        ("--on-unavailable", FULL, args.on_unavailable != OnUnavailable::Refuse),
        ("--require", FULL, !args.require.is_empty()),
        ("--no-spawn", FULL, args.no_spawn),
    ];
    let backend = args.spec.backend.unwrap_or_default();
    if !args.backend_option.is_empty() && SandboxBackend::ALL.contains(&backend) {
        let name = backend.name();
        return Some(format!(
            "--backend-option has no effect with --backend {name}; remove it, or name the backend that it is for ('stockade backends')"
        ));
    }
    let mode = mode(args);
    let (option, ..) = rows.into_iter().find(|(_, of, is_given)| *of == mode && *is_given)?;
    Some(format!("{option} has no effect with --sandbox {}; remove one of them", mode.name()))
}
