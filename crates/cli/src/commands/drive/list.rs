//! Text output about presets and planned runs.

use stockade_guard::driven::{Driven, DrivenCli};

/// Lists all presets.
pub(super) fn presets() -> String {
    let mut text = String::new();
    for cli in DrivenCli::all() {
        text.push_str(&format!("{:<9} {}\n", cli.name, cli.title));
        for key in cli.keys {
            text.push_str(&format!(
                "{:<9}   {} for {}: {}\n",
                "",
                key.variable,
                key.host,
                key.places().join(", or ")
            ));
        }
    }
    text
}

/// Lists the hosts that a CLI can reach, and what was decided for it.
pub(super) fn driven(driven: &Driven, more: &[String]) -> String {
    let hosts = driven.hosts.iter().map(|host| format!("allowed host: {} ({})", host.entry, host.why));
    let more = more.iter().map(|entry| match entry.strip_prefix('!') {
        Some(host) => format!("denied host: {host} (--allow-host)"),
        None => format!("allowed host: {entry} (--allow-host)"),
    });
    let notes = driven.notes.iter().cloned();
    hosts.chain(more).chain(notes).map(|line| line + "\n").collect()
}
