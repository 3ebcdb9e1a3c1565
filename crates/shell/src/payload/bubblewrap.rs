//! Bubblewrap, whose options take up to three words each.

use super::start;
use crate::actions::{Arg, HazardKind, Run};
use crate::runs::{Context, Walk};

/// The options of bubblewrap take up to three words each.
pub(super) fn follow<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, context: Context<'_, 't>) {
    let mut at = 1;
    while let Some(word) = run.argv.get(at).and_then(Arg::known) {
        if !word.starts_with("--") {
            break;
        }
        at += 1;
        let values =
            BUBBLEWRAP.iter().find(|(_, options)| options.contains(&word)).map(|(values, _)| *values);
        // The arity of an unknown option is unknown, so the program may come later.
        if values.is_none() && word != "--" {
            walk.hazard(HazardKind::UnknownOption, run.span);
        }
        if word == "--" {
            break;
        }
        at += values.unwrap_or(0);
    }
    start(walk, run, at, context);
}

/// How many words follow an option of bubblewrap.
const BUBBLEWRAP: &[(usize, &[&str])] = &[
    (
        0,
        &[
            "--unshare-all",
            "--unshare-user",
            "--unshare-user-try",
            "--unshare-ipc",
            "--unshare-pid",
            "--unshare-net",
            "--unshare-uts",
            "--unshare-cgroup",
            "--unshare-cgroup-try",
            "--share-net",
            "--clearenv",
            "--new-session",
            "--die-with-parent",
            "--as-pid-1",
            "--disable-userns",
            "--assert-userns-disabled",
            "--not-a-tty",
        ],
    ),
    (
        1,
        &[
            "--args",
            "--argv0",
            "--level-prefix",
            "--userns",
            "--userns2",
            "--pidns",
            "--uid",
            "--gid",
            "--hostname",
            "--chdir",
            "--unsetenv",
            "--lock-file",
            "--sync-fd",
            "--remount-ro",
            "--exec-label",
            "--file-label",
            "--proc",
            "--dev",
            "--tmpfs",
            "--mqueue",
            "--dir",
            "--seccomp",
            "--add-seccomp-fd",
            "--block-fd",
            "--userns-block-fd",
            "--info-fd",
            "--json-status-fd",
            "--cap-add",
            "--cap-drop",
            "--perms",
            "--size",
            "--overlay-src",
            "--tmp-overlay",
            "--ro-overlay",
        ],
    ),
    (
        2,
        &[
            "--setenv",
            "--bind",
            "--bind-try",
            "--dev-bind",
            "--dev-bind-try",
            "--ro-bind",
            "--ro-bind-try",
            "--file",
            "--bind-data",
            "--ro-bind-data",
            "--symlink",
            "--chmod",
            "--bind-fd",
            "--ro-bind-fd",
        ],
    ),
    (3, &["--overlay"]),
];
