//! How a command went, for a person. Every line says what happened and the narrowest option that changes it.
#![expect(clippy::disallowed_methods, reason = "writes to standard error")]

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::path::Path;

use stockade_guard::RunReport;
use stockade_guard::audit::AuditError;
use stockade_guard::egress::HostList;
use stockade_guard::exec::provider::Provider;
use stockade_guard::exec::{
    Denial, End, Explain, LeftBy, Network, Outcome, Plan, Quarantined, Refusal, Reviewed,
};

use stockade_text::{escape, escape_path};

use super::hidden_programs;

/// So many bytes written to disks are worth a line: few builds write as much.
const MUCH: u64 = 4 << 30;

/// So many paths are named one by one.
const SHOWN: usize = 20;

/// So many new files are worth a line: few sets of packages have as many.
const MANY: u64 = 50_000;

/// What a person would wonder about, and what was enforced.
pub(in crate::commands) fn outcome(report: &RunReport, agent: Option<&str>) {
    let RunReport { plan, outcome, hosts_observed, broker_lost, .. } = report;
    begin_a_line(outcome);
    ended(plan, outcome, agent);
    if let Some(written) = outcome.usage.written.filter(|written| *written >= MUCH) {
        say(&format!("the command wrote {} MiB to disks, also what is gone again", written >> 20));
    }
    if outcome.usage.files >= MANY {
        let files = outcome.usage.files;
        say(&format!("there are {files} files and folders more on the disks of the command than before"));
    }
    outcome.denials.iter().for_each(|denial| say(&denied(denial)));
    for refused in report.distinct_refusals() {
        let fix = refused.fix.as_deref().map(|fix| format!("; {fix}")).unwrap_or_default();
        let (subject, reason, rule) = (&refused.subject, &refused.reason, &refused.rule);
        say(&format!("the command does not reach {subject}: {reason} ({rule}){fix}"));
    }
    hosts_observed.iter().flat_map(super::hosts::needed).for_each(|line| say(&line));
    broker_lost.iter().for_each(|lost| say(lost));
    if let Some(hint) = unexplained(plan, outcome) {
        say(hint);
    }
    for exposed in &outcome.exposed {
        let path = escape_path(&exposed.path);
        say(&format!("the command could read {path}, and a secret stands in it ({})", exposed.label));
    }
    left(outcome);
    say(&enforced(plan, outcome));
}

/// What a person would wonder about where the bounds are those of a manifest, which no option widens.
pub(in crate::commands) fn outcome_of_package(report: &RunReport) {
    let RunReport { plan, outcome, .. } = report;
    begin_a_line(outcome);
    let end = end_of_package(outcome.end);
    if !end.is_empty() {
        say(end);
    }
    if outcome.output.dropped > 0 {
        let dropped = outcome.output.dropped;
        say(&format!("{dropped} bytes of output were dropped: a package may print 10 MiB"));
    }
    say(&enforced(plan, outcome));
}

/// What is missing of the output, and what lay in the workspace afterwards that other programs obey: said however quiet everything else
/// is to be.
pub(in crate::commands) fn left(outcome: &Outcome) {
    cut(outcome);
    outcome.quarantine.iter().for_each(|found| say(&taken(found)));
    for path in outcome.quarantine_dropped.iter().flat_map(|group| &group.paths) {
        say(&format!("dropped from quarantine, as the oldest or too old: {}", escape_path(path)));
    }
    outcome.review.iter().for_each(reviewed);
    for changed in &outcome.changed {
        say(&format!("changed: {} ({})", escape_path(&changed.path), changed.label));
    }
}

/// What became of what the command changed in its view. The text of a file name is the command's.
fn reviewed(reviewed: &Reviewed) {
    let Reviewed { id, changed, applied, view, .. } = reviewed;
    match (reviewed.failed.as_deref(), *changed, *applied) {
        (Some(why), ..) => {
            say(&format!("what the command changed is kept as {id}, and is not applied: {why}"));
        }
        (None, 0, _) => say("the command changed nothing in the workspace"),
        (None, changed, 0) => say(&format!(
            "{changed} changes wait, in a view ({view}) that nobody else sees: `stockade changes diff {id}` shows them, \
             `stockade changes apply {id}` lets them into the workspace"
        )),
        (None, changed, applied) => say(&format!(
            "{applied} of {changed} changes are applied; `stockade changes undo {id}` takes them back"
        )),
    }
    for (path, why) in reviewed.conflicts.iter().take(SHOWN) {
        say(&format!("not applied: {}: {why}", escape_path(path)));
    }
    for (path, why) in reviewed.refused.iter().take(SHOWN) {
        say(&format!("never applied: {}: {why}", escape_path(path)));
    }
    for path in &reviewed.empty {
        say(&format!("{} is another file system, and was empty in the view", escape_path(path)));
    }
    for (id, waiting) in reviewed.dropped.iter().filter(|(_, waiting)| *waiting > 0) {
        say(&format!(
            "the {waiting} changes of {id} waited for too long, or there was no more room: they are gone"
        ));
    }
}

fn taken(found: &Quarantined) -> String {
    let place = match &found.moved_to {
        Some(path) => {
            let back =
                found.id.as_ref().map(|id| format!("; `stockade quarantine restore {id}` brings it back"));
            format!("moved to {}{}", escape_path(path), back.unwrap_or_default())
        }
        None => "could not be moved; look at it before you use the workspace".to_owned(),
    };
    let whose = match found.left_by {
        LeftBy::ThisCommand => "runs programs outside of the sandbox",
        LeftBy::EarlierCommand => "was left by an earlier command and runs programs outside of the sandbox",
    };
    format!("{} {whose}: {place}", escape_path(&found.path))
}

/// What is missing of the output, which nothing else shows.
fn cut(outcome: &Outcome) {
    let (dropped, untaken) = (outcome.output.dropped, outcome.output.untaken);
    if dropped > 0 {
        say(&format!(
            "{dropped} bytes of output were dropped; --max-output, or `execSandbox.maxOutputBytes` of an agent, lets more through"
        ));
    }
    if untaken > 0 {
        say(&format!("{untaken} bytes of output could not be written where they were to go"));
    }
}

/// Why the command did not end by itself, or never began, and which of its programs it does not see.
pub(super) fn ended(plan: &Plan, outcome: &Outcome, agent: Option<&str>) {
    let hidden = hidden_programs::find(plan, outcome.end);
    let end = end(outcome.end);
    if !end.is_empty() {
        say(end);
    }
    hidden.iter().for_each(|program| say(&program.text(agent)));
}

/// What to do about a command that failed and did not say why.
fn unexplained(plan: &Plan, outcome: &Outcome) -> Option<&'static str> {
    let is_a_question = matches!(outcome.end, End::Exited(1..)) && outcome.denials.is_empty();
    // Nobody looks on at what a command in a container asks for.
    if !is_a_question || plan.provider == Provider::Nothing || plan.provider.container().is_some() {
        return None;
    }
    Some(match plan.explain {
        Explain::Ends => "the command failed; run it again with --explain to see what it was refused",
        Explain::Asked => "the command failed, and no path or address that it asked for was refused",
    })
}

/// The folder that would have to be writable: what lies at the root is one itself.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|around| around.parent().is_some()).unwrap_or(path)
}

/// The narrowest option that allows what was refused; nothing where no option does.
pub(super) fn option(denial: &Denial) -> Option<String> {
    let shown = |path: &Path| escape_path(path);
    Some(match denial {
        Denial::Read(path) => format!("--ro {}", shown(path)),
        Denial::Write(path) => format!("--rw {}", shown(folder(path))),
        Denial::Socket(path) => format!("--network broker --broker {}", shown(path)),
        Denial::Reach(Some(host)) if HostList::compile(std::slice::from_ref(host)).is_ok() => {
            format!("--allow-host {host}")
        }
        Denial::Reach(_) => "--network open".to_owned(),
        Denial::Processes => "--processes".to_owned(),
        Denial::Memory => "--memory".to_owned(),
        Denial::FileSize => "--file-size".to_owned(),
        _ => return None,
    })
}

/// What the command was refused, and the narrowest option that allows it.
pub(super) fn denied(denial: &Denial) -> String {
    let shown = |path: &Path| escape_path(path);
    let option = option(denial).unwrap_or_default();
    match denial {
        Denial::Read(path) => {
            format!("the command does not see {}; {option} lets it read that, if it is there", shown(path))
        }
        Denial::Write(path) => {
            format!("the command may not change {}; {option} would let it change that folder", shown(path))
        }
        Denial::Never(path, why) => format!("{} is shared with no command: {why}", shown(path)),
        Denial::Name(path, why) => {
            format!(
                "the command may not make or change {}: {why}; do that outside of the sandbox",
                shown(path)
            )
        }
        Denial::Socket(path) => {
            format!(
                "the command does not reach {}; {option} lets it, and whatever answers there",
                shown(path)
            )
        }
        Denial::Lock(path) => {
            format!(
                "the command may not lock {}, which it can only read: other programs would wait for it",
                shown(path)
            )
        }
        Denial::Reach(host) => {
            let (host, named) = (host.as_deref().unwrap_or("other machines"), "--allow-host HOST");
            let one = if option.starts_with("--allow-host") { &option } else { named };
            format!(
                "the command does not reach {host}; {one} lets it reach one host, --network open everything"
            )
        }
        Denial::Processes => "the command had too many processes; --processes gives it more".to_owned(),
        Denial::Memory => "the command ran out of memory; --memory gives it more".to_owned(),
        Denial::FileSize => "a file became too large; --file-size gives it more".to_owned(),
        Denial::Scratch => {
            "there is no more room; files in the workspace take none of the private /tmp".to_owned()
        }
        _ => "the command was refused something".to_owned(),
    }
}

fn end(end: End) -> &'static str {
    match end {
        End::TimedOut => "the command took too long and was ended; --timeout gives it more time",
        End::OutOfMemory => "the command used too much memory and was ended; --memory gives it more",
        End::OutOfCpuTime => {
            "the command used too much time of processors and was ended; --cpu-time gives it more"
        }
        End::OutOfDisk => {
            "the file systems of the command grew by too much and it was ended; --disk and --files give it more"
        }
        End::NotFound => "program not found in the sandbox",
        End::NotExecutable => "the program cannot be run",
        _ => "",
    }
}

/// The same for a package.
fn end_of_package(end: End) -> &'static str {
    match end {
        End::TimedOut => "the package took longer than its manifest says and was ended (`timeoutMs`)",
        End::OutOfMemory => "the package used more memory than its manifest says and was ended (`memoryMb`)",
        End::NotFound => "there is no such program in the image, and no such file in the package",
        End::NotExecutable => "the program cannot be run",
        _ => "",
    }
}

/// One line: what was enforced, and what was not.
fn enforced(plan: &Plan, outcome: &Outcome) -> String {
    let network = match &plan.network {
        Network::None => "no network".to_owned(),
        Network::Broker { socket } => format!("network only by {}", escape_path(socket)),
        Network::Proxy(handoff) if handoff.observes() => "every public host, seen by a broker".to_owned(),
        Network::Proxy(_) => "network only by a broker".to_owned(),
        Network::Open => "open network".to_owned(),
    };
    let enforcement = &outcome.enforcement;
    let names: Vec<&str> = unique(enforcement.enforced.iter().map(|(property, _)| property.name()));
    let mut line = match plan.provider {
        Provider::Nothing => format!("WITHOUT A SANDBOX; enforced: {}", names.join(", ")),
        _ => format!("sandbox {}; {network}; enforced: {}", plan.provider.name(), names.join(", ")),
    };
    for gap in &enforcement.gaps {
        let how = if enforcement.holds(gap.property) { "in part" } else { "not enforced" };
        line.push_str(&format!("; {how}: {} ({})", gap.property.name(), gap.why));
    }
    line
}

fn unique<'n>(names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let mut seen = BTreeSet::new();
    names.filter(|name| seen.insert(*name)).collect()
}

/// Says that the end of the command is not on record. The trail ends it as interrupted when it is opened next.
pub(in crate::commands) fn unrecorded(why: Option<&AuditError>) {
    if let Some(error) = why {
        say(&format!("the end of the command is not on record: {error}"));
    }
}

/// Says what stands against it, and what to do.
pub(in crate::commands) fn refused(refusal: &Refusal) {
    refused_for(&refusal.to_string(), &refusal.fix);
}

/// Says why nothing runs, and what to do.
pub(in crate::commands) fn refused_for(why: &str, fix: &str) {
    say(why);
    write(&format!("  help: {}\n", escape(fix)));
}

/// How this program begins its lines on standard error, before a colon. No line of a command there begins so.
pub(in crate::commands) const SPEAKER: &str = "stockade";

/// Says one thing.
pub(in crate::commands) fn say(text: &str) {
    write(&format!("{SPEAKER}: {}\n", escape(text)));
}

/// Ends the line that the command left open, so that what is said next begins one.
fn begin_a_line(outcome: &Outcome) {
    if outcome.output.ends_within_a_line {
        write("\n");
    }
}

fn write(text: &str) {
    // Nobody is left to tell when even this fails.
    io::stderr().write_all(text.as_bytes()).ok();
}
