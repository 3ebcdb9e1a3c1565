//! What presets there are, and what one makes of a run, for a person.

use stockade_guard::driven::{Driven, DrivenCli};

/// All presets: a paragraph each.
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

/// What a CLI reaches and what was decided for it: a line each.
pub(super) fn driven(driven: &Driven, more: &[String]) -> String {
    let hosts = driven.hosts.iter().map(|host| format!("it reaches {} ({})", host.entry, host.why));
    let more = more.iter().map(|entry| match entry.strip_prefix('!') {
        Some(host) => format!("it does not reach {host} (--allow-host)"),
        None => format!("it reaches {entry} (--allow-host)"),
    });
    let notes = driven.notes.iter().cloned();
    hosts.chain(more).chain(notes).map(|line| line + "\n").collect()
}
