//! Secrets that a command can use but not read: it gets placeholders, and none of its inputs contains a secret.
use std::ffi::OsStr;
use std::io;
use std::path::Path;

use stockade_files::real_path;

use super::Egress;
use crate::egress::{SecretError, Secrets};
use crate::exec::host::HostFacts;
use crate::exec::mounts::{Mount, MountKind};
use crate::exec::provider::Provider;
use crate::exec::{Plan, SandboxSpec};

/// The fix for a secret that the command could read.
pub(crate) const OUT_OF_SIGHT: &str =
    "move it to a file that the command cannot see, such as one in `~/.config/stockade/` with the mode 600";

/// Checks the secrets of a command without reading them.
pub(crate) fn lend(egress: &Egress) -> io::Result<Option<Secrets>> {
    if egress.secrets.is_empty() {
        return Ok(None);
    }
    let lent = Secrets::new(&egress.secrets, &egress.hosts, &egress.options.list_name);
    lent.map(Some).map_err(|error| io::Error::other(format!("{error}; {}", error.fix)))
}

/// Reads the secrets of a command from their sources, and gives it placeholders. This is the last step before its start.
///
/// # Errors
/// When a secret cannot be read, or the command could see it anyway.
pub(super) fn get(
    secrets: &Secrets,
    plan: &Plan,
    spec: &mut SandboxSpec,
    facts: &HostFacts,
) -> Result<(), SecretError> {
    out_of_sight(secrets, plan)?;
    can_have_files(secrets, plan, facts)?;
    secrets.get()?;
    for (below, copy) in secrets.login_copies()? {
        let file = spec.home_files.iter_mut().find(|(path, _)| *path == Path::new(&below));
        file.into_iter().for_each(|(_, text)| text.clone_from(&copy));
    }
    keep_out(secrets, spec, facts)
}

/// Checks that the command gets the copies of login files.
fn can_have_files(secrets: &Secrets, plan: &Plan, facts: &HostFacts) -> Result<(), SecretError> {
    let is_made = |below: &str| {
        let path = facts.home.join(below);
        let is_it = |mount: &Mount| mount.target == path && matches!(mount.kind, MountKind::Generated { .. });
        plan.mounts.iter().any(is_it)
    };
    match secrets.login_files().into_iter().find(|below| !is_made(below)) {
        None => Ok(()),
        Some(below) => Err(SecretError::new(
            &format!("~/{below}"),
            "cannot be shown to the command with placeholders: its home directory is not private, or is that of a container",
            "choose the native backend and a workspace inside your home directory, or use --secret",
        )),
    }
}

/// Checks whether the command could read the source of a secret.
fn out_of_sight(secrets: &Secrets, plan: &Plan) -> Result<(), SecretError> {
    if plan.provider == Provider::Nothing {
        let name = secrets.names().next().unwrap_or_default();
        let fix = "run it in a sandbox, or remove its secrets";
        return Err(SecretError::new(name, "could be read by a command without a sandbox", fix));
    }
    secrets.files().try_for_each(|(name, path)| unseen(name, path, plan, OUT_OF_SIGHT))
}

/// Refuses a source that the command could read.
pub(crate) fn unseen(name: &str, path: &Path, plan: &Plan, fix: &'static str) -> Result<(), SecretError> {
    // A missing file exposes nothing; the error is reported when it is read.
    let Ok(real) = real_path(path) else { return Ok(()) };
    let Some(seen) = plan.may_see(&real) else { return Ok(()) };
    let (path, seen) = (path.display(), seen.display());
    let why = format!("is in `{path}`, which is visible to the command through `{seen}`");
    Err(SecretError::new(name, why, fix))
}

/// Checks that the command's inputs contain no secret, and gives it placeholders.
fn keep_out(secrets: &Secrets, spec: &mut SandboxSpec, facts: &HostFacts) -> Result<(), SecretError> {
    let given = |name: &str, how: &str, fix: &str| {
        Err(SecretError::new(name, format!("is given to the command {how}"), fix))
    };
    let named = |text: &OsStr| secrets.named_in(text.as_encoded_bytes());
    let variables = secrets.variables();
    let handed_on = spec.environment.pass.iter().filter_map(|name| facts.environment.get_key_value(name));
    let set = spec.environment.set.iter().map(|(name, value)| (name, value));
    for (variable, value) in handed_on.chain(set) {
        let shown = variable.to_string_lossy();
        if let Some(name) = named(value) {
            let how = format!("in the variable `{}`", shown.escape_debug());
            return given(name, &how, "remove that variable");
        }
        if variables.iter().any(|(name, _)| name == variable) {
            let how = format!("and the variable `{}` as well", shown.escape_debug());
            return given(&shown, &how, "rename one of them");
        }
    }
    if let Some(name) = spec.command.iter().find_map(|word| named(word)) {
        return given(name, "in its arguments", "use its variable instead");
    }
    spec.environment.set.extend(variables);
    Ok(())
}
