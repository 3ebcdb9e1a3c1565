//! The hosts that a command may talk to, as they were typed.

use stockade_guard::egress::{BrokerOptions, HostList};
use stockade_guard::{Decision, Egress};

/// What the list of hosts is called in the fix of a refusal.
const LIST: &str = "what it may reach with --allow-host";

/// The most refusals that are shown.
const MAX_SHOWN: usize = 20;

/// Returns the refusals to show: each once, since a program that is refused tries again.
pub(super) fn shown(refused: &[Decision]) -> Vec<&Decision> {
    let mut shown: Vec<&Decision> = Vec::new();
    for one in refused {
        let is_same = |other: &&Decision| {
            (&other.subject, &other.rule, &other.reason) == (&one.subject, &one.rule, &one.reason)
        };
        if shown.len() < MAX_SHOWN && !shown.iter().any(is_same) {
            shown.push(one);
        }
    }
    shown
}

/// Returns what lets the command out to the hosts that were named; nothing, if none was.
pub(super) fn egress(hosts: &[String]) -> Result<Option<Egress>, String> {
    if hosts.is_empty() {
        return Ok(None);
    }
    let hosts = HostList::compile(hosts).map_err(|error| format!("--allow-host: {error}: {}", error.fix))?;
    let options = BrokerOptions { list_name: LIST.to_owned(), ..BrokerOptions::default() };
    Ok(Some(Egress { hosts, options }))
}
