//! Secrets that a command uses and does not see: it gets what stands for them, and nothing that it is given holds one.

use std::ffi::OsStr;
use std::io;

use super::Egress;
use crate::egress::{SecretError, Secrets};
use crate::exec::{HostFacts, SandboxSpec};

/// Gets the secrets of a command from where they are, if it has any.
pub(super) fn open(egress: &Egress) -> io::Result<Option<Secrets>> {
    if egress.secrets.is_empty() {
        return Ok(None);
    }
    let opened = Secrets::open(&egress.secrets, &egress.hosts, &egress.options.list_name);
    opened.map(Some).map_err(|SecretError { name, why, fix, .. }| {
        io::Error::other(format!("the secret `{}` {why}; {fix}", name.escape_debug()))
    })
}

/// Gives a command what stands for its secrets.
///
/// # Errors
/// When the command would be given one of them all the same.
pub(super) fn keep_out(secrets: &Secrets, spec: &mut SandboxSpec, facts: &HostFacts) -> io::Result<()> {
    let given = |name: &str, how: &str, fix: &str| {
        Err(io::Error::other(format!("the secret `{name}` is given to the command {how}; {fix}")))
    };
    let named = |text: &OsStr| secrets.named_in(text.as_encoded_bytes());
    let variables = secrets.variables();
    let handed_on = spec.environment.pass.iter().filter_map(|name| facts.environment.get_key_value(name));
    let set = spec.environment.set.iter().map(|(name, value)| (name, value));
    for (variable, value) in handed_on.chain(set) {
        let shown = variable.to_string_lossy();
        if let Some(name) = named(value) {
            let how = format!("in the variable `{}`", shown.escape_debug());
            return given(name, &how, "leave that variable out");
        }
        if variables.iter().any(|(name, _)| name == variable) {
            let how = format!("and the variable `{}` as well", shown.escape_debug());
            return given(&shown, &how, "give one of them another name");
        }
    }
    if let Some(name) = spec.command.iter().find_map(|word| named(word)) {
        return given(name, "in its arguments", "write the name of its variable there");
    }
    spec.environment.set.extend(variables);
    Ok(())
}
