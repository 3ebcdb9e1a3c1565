//! The text of a profile.

use std::fmt::Write as _;
use std::path::Path;

use super::rules::{Does, View};
use super::table::{ALWAYS, OPEN_NETWORK};
use super::text::{anywhere_below, in_repositories_below, quoted};
use crate::mounts::BROKER;
use crate::protect::{Answer, IN_ANY_FOLDER, answer, in_a_repository};
use crate::refusal::Refusal;
use crate::spec::{Network, Protection, SandboxSpec, Spawn};

/// Formats a profile, with one rule and its reason per line.
pub(super) fn profile(view: &View, spec: &SandboxSpec, program: &Path) -> Result<String, Refusal> {
    let mut text = "(version 1)\n".to_owned();
    let mut say = |rule: &str, reason: &str| writeln!(text, "{rule} ; {reason}").unwrap_or_default();
    ALWAYS.iter().for_each(|(rule, reason)| say(rule, reason));
    match spec.spawn {
        Spawn::Free => say("(allow process-exec process-fork)", "programs that the command can read"),
        Spawn::Threads if program.is_absolute() => {
            say(&format!("(allow process-exec (literal {}))", quoted(program)?), "the one program");
        }
        Spawn::Threads => say("(allow process-exec)", "the one program; which one is unknown"),
    }
    match &spec.network {
        Network::None | Network::Proxy(_) => {}
        Network::Open => OPEN_NETWORK.iter().for_each(|(rule, reason)| say(rule, reason)),
        Network::Broker { socket } => {
            say("(allow system-socket)", "sockets");
            say(&format!("(allow network-outbound (literal {}))", quoted(socket)?), BROKER);
        }
    }
    for folder in view.ancestors() {
        say(
            &format!("(allow file-read-metadata (literal {}))", quoted(folder)?),
            "parent directories of visible paths",
        );
    }
    for rule in &view.rules {
        let path = quoted(&rule.path)?;
        for line in lines(rule.does) {
            say(&line.replace("PATH", &path), rule.reason);
        }
    }
    if spec.protection == Protection::Names {
        for folder in &view.guarded {
            names_below(folder).into_iter().for_each(|(rule, reason)| say(&rule, reason));
        }
    }
    Ok(text)
}

/// Returns the templates of a path rule.
fn lines(does: Does) -> &'static [&'static str] {
    match does {
        Does::AllowRead => &["(allow file-read* (subpath PATH))"],
        Does::AllowWrite => &["(allow file-write* (subpath PATH))"],
        Does::DenyWrite => &["(deny file-write* (subpath PATH))"],
        Does::DenyAll => &["(deny file-read* file-write* (subpath PATH))"],
    }
}

/// Returns the rules for protected names in a directory that other programs open.
fn names_below(folder: &Path) -> Vec<(String, &'static str)> {
    let mut said = Vec::new();
    let mut paths: Vec<_> =
        IN_ANY_FOLDER.paths().filter_map(|(name, path)| Some((path, name, answer(name)?))).collect();
    paths.sort_unstable_by_key(|(path, ..)| *path);
    for (path, name, answer) in paths {
        let (operations, reason) = match answer {
            Answer::Protect => ("file-write*", "other programs obey it"),
            Answer::Hide => ("file-read-data file-write*", "it contains secrets"),
            Answer::HideWithSecret | Answer::ReportSecrets | Answer::Report => continue,
        };
        let but: Vec<String> = name
            .but
            .iter()
            .map(|end| format!(" (require-not (regex {}))", anywhere_below(folder, end)))
            .collect();
        let place = format!("(regex {})", anywhere_below(folder, path));
        let place = if but.is_empty() { place } else { format!("(require-all {place}{})", but.concat()) };
        said.push((format!("(deny {operations} {place})"), reason));
    }
    for (name, path) in in_a_repository() {
        if answer(name) == Some(Answer::Protect) {
            let place = in_repositories_below(folder, path);
            said.push((format!("(deny file-write* (regex {place}))"), "git obeys it"));
        }
    }
    // A repository cannot be renamed, or another one could take its place.
    let repository = anywhere_below(folder, ".git").replace("(/.*)?$", "$");
    said.push((format!("(deny file-write-unlink (regex {repository}))"), "git obeys it"));
    said
}
