//! The hosts that a command may talk to, as they were typed.

use stockade_guard::Egress;
use stockade_guard::command::shell::quote_argv;
use stockade_guard::egress::{BrokerOptions, HostList, Observed, SecretBinding};

use super::{ExecArgs, Reach};

/// What the list of hosts is called in the fix of a refusal.
const LIST: &str = "what it may reach with --allow-host";

/// Returns what lets the command out to the hosts that were named, or to all so that it is seen which it needs; nothing, if neither
/// was asked for.
pub(super) fn egress(args: &ExecArgs) -> Result<Option<Egress>, String> {
    let observes = args.network == Reach::Observe;
    if args.allow_host.is_empty() && !observes {
        return match (args.secret.is_empty(), args.proxy.is_some()) {
            (true, false) => Ok(None),
            (false, _) => {
                Err("--secret goes to a host that the command reaches, and no --allow-host names one"
                    .to_owned())
            }
            (true, true) => Err("--max-connections and --max-requests bound the egress proxy of --allow-host, and there is none".to_owned()),
        };
    }
    let egress = listed(&args.allow_host, &args.secret, LIST, observes)?;
    Ok(Some(Egress { options: args.proxy.apply(egress.options), ..egress }))
}

/// Reads a list of hosts, and the secrets for them. `list` is what the list is called where somebody could change it.
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

/// Says which options let the command reach again what it reached.
pub(super) fn needed(observed: &Observed) -> Vec<String> {
    let Observed { entries, unwritten, left_out, .. } = observed;
    let option = |entry: &String| format!("  {}", quote_argv(["--allow-host", entry.as_str()]));
    let first = match entries.len() {
        0 => "the command reached no host that a list could name".to_owned(),
        _ => "the command needs these options to reach what it reached; they let it reach nothing else:"
            .to_owned(),
    };
    let wide = unwritten.iter().map(|request| {
        format!("no --allow-host says `{request}` without others; write one with `*`, or with the host and port alone")
    });
    let more = (*left_out > 0)
        .then(|| format!("{left_out} requests more were not looked at, so these may not be all"));
    std::iter::once(first).chain(entries.iter().map(option)).chain(wide).chain(more).collect()
}
