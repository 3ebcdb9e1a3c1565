//! Hosts and secrets from command-line arguments.

use std::path::PathBuf;

use stockade_guard::Egress;
use stockade_guard::command::shell::quote_argv;
use stockade_guard::egress::{BrokerOptions, HostList, Observed, SecretBinding, UserLoginFile};

use super::{ExecArgs, Reach};

/// Name of the host list in the fix of a refusal.
const LIST: &str = "what it may reach with --allow-host";

/// Returns the egress settings for --allow-host or --network observe; `None` if neither was given.
pub(super) fn egress(args: &ExecArgs) -> Result<Option<Egress>, String> {
    let observes = args.network == Reach::Observe;
    if args.allow_host.is_empty() && !observes {
        return match (args.secret.is_empty(), args.login.is_empty(), args.proxy.first()) {
            (true, true, None) => Ok(None),
            (false, ..) => Err("--secret needs a host: add --allow-host".to_owned()),
            (true, false, _) => Err("--login needs a host: add --allow-host".to_owned()),
            (true, true, Some(option)) => Err(format!("{option} requires --allow-host or --network observe")),
        };
    }
    let mut egress = listed(&args.allow_host, &args.secret, LIST, observes)?;
    egress.secrets.extend(logins(&args.login, &egress.hosts)?);
    Ok(Some(Egress { options: args.proxy.apply(egress.options)?, ..egress }))
}

/// Parses a host list and its secrets. `list` is the name of the list in fixes.
pub(crate) fn listed(
    hosts: &[String],
    secrets: &[String],
    list: &str,
    observes: bool,
) -> Result<Egress, String> {
    let hosts = HostList::compile(hosts);
    let hosts = hosts.map_err(|error| format!("--allow-host: {error}: {}", error.fix))?;
    let read = |text: &String| {
        SecretBinding::read(text).map_err(|error| format!("--secret: {error}: {}", error.fix))
    };
    let secrets = secrets.iter().map(read).collect::<Result<_, _>>()?;
    let options = BrokerOptions { list_name: list.to_owned(), observes, ..BrokerOptions::default() };
    Ok(Egress { hosts, options, secrets })
}

/// Returns the bindings of the logins in these files, each of which must have one for an allowed host.
fn logins(files: &[PathBuf], hosts: &HostList) -> Result<Vec<SecretBinding>, String> {
    let mut bindings = Vec::new();
    for path in files {
        let file =
            std::path::absolute(path).map_err(|error| format!("--login {}: {error}", path.display()))?;
        let found = UserLoginFile::at(&file).and_then(|file| file.bindings(hosts, LIST));
        let found = found.and_then(|found| found.none.map_or(Ok(found.bindings), Err));
        bindings.extend(found.map_err(|error| format!("--login: {error}: {}", error.fix))?);
    }
    Ok(bindings)
}

/// Lists the options that the observed requests need.
pub(super) fn needed(observed: &Observed) -> Vec<String> {
    let Observed { entries, unwritten, left_out, .. } = observed;
    let option = |entry: &String| format!("  {}", quote_argv(["--allow-host", entry.as_str()]));
    let first = match entries.len() {
        0 => "the command connected to no host that --allow-host can express".to_owned(),
        _ => "the command needs these options, which allow only the observed requests:".to_owned(),
    };
    let wide = unwritten.iter().map(|request| {
        format!("no --allow-host entry matches only `{request}`; use `*`, or allow the whole host and port")
    });
    let more = (*left_out > 0)
        .then(|| format!("{left_out} more requests were not observed, so the list may be incomplete"));
    std::iter::once(first).chain(entries.iter().map(option)).chain(wide).chain(more).collect()
}
