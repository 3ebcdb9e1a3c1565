//! Files of environment variables that are shown with the names of the variables and without the values.

use std::ffi::OsString;
use std::path::Path;

use super::{Mount, MountKind};
use crate::binds::is_plain;
use crate::host::HostFacts;
use crate::provider::Provider;
use crate::refusal::{Refusal, SandboxRule, What, as_text};
use crate::spec::{MountAccess, SandboxSpec};

/// The reason of their mounts.
const WHY_NAMES: &str = "the names of variables, without values";

/// Returns the read-only files that are mounted over the requested ones, unless one of these mounts hides them: their path is denied,
/// or contains credentials.
pub(super) fn mounts(spec: &SandboxSpec, facts: &HostFacts, mounts: &[Mount]) -> Vec<Mount> {
    let hidden = super::hidden(mounts);
    let wanted = spec.env_names.iter().filter(|path| !hidden.iter().any(|hidden| path.starts_with(hidden)));
    let shown = wanted.filter_map(|path| {
        let text = facts.env_names.get(path)?.clone()?;
        Some(Mount::new(path, MountKind::Replaced { text }, WHY_NAMES))
    });
    shown.collect()
}

/// Whether a file is shown in this way.
pub(super) fn are_shown(path: &Path, facts: &HostFacts) -> bool {
    facts.env_names.get(path).is_some_and(Option::is_some)
}

/// Checks that the requested files can be shown in this way.
pub(crate) fn can_be_shown(
    spec: &SandboxSpec,
    facts: &HostFacts,
    provider: Option<&Provider>,
) -> Result<(), Refusal> {
    for path in &spec.env_names {
        let refuse = |rule, fix: &str| Err(Refusal::new(What::Read(path.clone()), rule, fix));
        if !is_plain(path) {
            return refuse(SandboxRule::PlainPath, "use an absolute path without `..`");
        }
        if facts.env_names.get(path) == Some(&None) {
            return refuse(SandboxRule::Exists, "name a text file of at most 1 MiB, and no symlink");
        }
        if facts.tracked_env_names.contains(path) && spec.workspace_access == MountAccess::ReadWrite {
            let why = "git tracks it, and a commit of the command would record the names without the values";
            let words =
                ["rm", "--cached"].map(OsString::from).into_iter().chain([path.clone().into_os_string()]);
            let untrack = as_text("git".as_ref(), &words.collect::<Vec<_>>());
            let fix = format!("show all of it with --ro, or untrack it: `{untrack}`");
            return refuse(SandboxRule::CannotEnforce(why), &fix);
        }
        if !matches!(provider, Some(Provider::Native | Provider::Bwrap { .. })) {
            let why = "only the native and bwrap backends show the names in a file without its values";
            return refuse(SandboxRule::CannotEnforce(why), "choose the native backend");
        }
    }
    Ok(())
}
