//! Messages about the outcome of a command, each with the narrowest option that changes it.
#![expect(clippy::disallowed_methods, reason = "writes to standard error")]

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::path::Path;

use stockade_guard::RunReport;
use stockade_guard::audit::AuditError;
use stockade_guard::egress::HostList;
use stockade_guard::exec::provider::Provider;
use stockade_guard::exec::{Denial, End, Network, Outcome, Plan, Refusal, Reviewed};

use stockade_text::{escape, escape_path};

use super::{hidden_programs, left_files, withheld};

/// Bytes written to disk that are worth a message: few builds write as much.
const MUCH: u64 = 4 << 30;

/// Maximum number of paths that are listed.
const SHOWN: usize = 20;

/// Number of new files that is worth a message: few package installations create as many.
const MANY: u64 = 50_000;

/// Reports everything unusual, and what was enforced.
pub(in crate::commands) fn outcome(report: &RunReport, agent: Option<&str>) {
    let RunReport { plan, outcome, hosts_observed, broker_lost, .. } = report;
    begin_a_line(outcome);
    ended(plan, outcome, agent);
    if let Some(written) = outcome.usage.written.filter(|written| *written >= MUCH) {
        say(&format!("the command wrote {} MiB to disk, including deleted files", written >> 20));
    }
    if outcome.usage.files >= MANY {
        let files = outcome.usage.files;
        say(&format!("the command's file systems have {files} more files and directories than before"));
    }
    outcome.denials.iter().for_each(|denial| say(&denied(denial)));
    for refused in report.distinct_refusals() {
        let fix = refused.fix.as_deref().map(|fix| format!("; {fix}")).unwrap_or_default();
        let (subject, reason, rule) = (&refused.subject, &refused.reason, &refused.rule);
        say(&format!("connection to {subject} refused: {reason} ({rule}){fix}"));
    }
    hosts_observed.iter().flat_map(super::hosts::needed).for_each(|line| say(&line));
    broker_lost.iter().for_each(|lost| say(lost));
    withheld::hints(plan, outcome, agent).iter().for_each(|hint| say(hint));
    left_files::exposed(&outcome.exposed).iter().for_each(|line| say(line));
    left(outcome);
    say(&enforced(plan, outcome));
}

/// Reports the outcome of a package, whose manifest sets the limits, so that no option is suggested.
pub(in crate::commands) fn outcome_of_package(report: &RunReport) {
    let RunReport { plan, outcome, .. } = report;
    begin_a_line(outcome);
    let end = end_of_package(outcome.end);
    if !end.is_empty() {
        say(end);
    }
    if outcome.output.dropped > 0 {
        let dropped = outcome.output.dropped;
        say(&format!("{dropped} bytes of output were dropped: the limit of a package is 10 MiB"));
    }
    say(&enforced(plan, outcome));
}

/// Reports dropped output, quarantined files and changed files that other programs obey. Printed even with --quiet.
pub(in crate::commands) fn left(outcome: &Outcome) {
    cut(outcome);
    left_files::quarantined(&outcome.quarantine).iter().for_each(|line| say(line));
    for path in outcome.quarantine_dropped.iter().flat_map(|group| &group.paths) {
        say(&format!("deleted from quarantine (too old, or no room): {}", escape_path(path)));
    }
    outcome.review.iter().for_each(reviewed);
    left_files::changed(&outcome.changed).iter().for_each(|line| say(line));
}

/// Reports what happened to changes in an overlay. File names are untrusted text.
fn reviewed(reviewed: &Reviewed) {
    let Reviewed { id, changed, applied, .. } = reviewed;
    match (reviewed.failed.as_deref(), *changed, *applied) {
        (Some(why), ..) => {
            say(&format!("changes are saved as {id} but not applied: {why}"));
        }
        (None, 0, _) => say("the command changed nothing in the workspace"),
        (None, changed, 0) => say(&format!(
            "{changed} pending. Show: `stockade changes diff {id}`  Apply: `stockade changes apply {id}`",
            changed = changes(changed)
        )),
        (None, changed, applied) => say(&format!(
            "{applied} of {changed} applied. Undo: `stockade changes undo {id}`",
            changed = changes(changed)
        )),
    }
    for (path, why) in reviewed.conflicts.iter().take(SHOWN) {
        say(&format!("not applied: {}: {why}", escape_path(path)));
    }
    for (path, why) in reviewed.refused.iter().take(SHOWN) {
        say(&format!("never applied: {}: {why}", escape_path(path)));
    }
    for path in &reviewed.empty {
        say(&format!("{} is another file system, and was empty in the overlay", escape_path(path)));
    }
    for (id, waiting) in reviewed.dropped.iter().filter(|(_, waiting)| *waiting > 0) {
        say(&format!("{waiting} pending changes of {id} were deleted (too old, or no room)"));
    }
}

fn changes(count: usize) -> String {
    format!("{count} change{}", if count == 1 { "" } else { "s" })
}

/// Reports dropped output, which is otherwise invisible.
fn cut(outcome: &Outcome) {
    let (dropped, untaken) = (outcome.output.dropped, outcome.output.untaken);
    if dropped > 0 {
        say(&format!(
            "{dropped} bytes of output were dropped; raise --max-output, or `execSandbox.maxOutputBytes` of an agent"
        ));
    }
    if untaken > 0 {
        say(&format!("{untaken} bytes of output could not be written to their destination"));
    }
}

/// Reports why the command was stopped or did not start, and which of its programs are hidden.
pub(super) fn ended(plan: &Plan, outcome: &Outcome, agent: Option<&str>) {
    let hidden = hidden_programs::find(plan, outcome.end);
    let end = end(outcome.end);
    if !end.is_empty() {
        say(end);
    }
    hidden.iter().for_each(|program| say(&program.text(agent)));
}

/// Reports that a server did not start because its program is not in the sandbox. A client shows at most this.
pub(in crate::commands) fn server_not_found(report: &RunReport) {
    let RunReport { plan, outcome, .. } = report;
    if !matches!(outcome.end, End::NotFound | End::NotExecutable | End::Exited(127)) {
        return;
    }
    let program = plan.program.to_string_lossy();
    let program = escape(&program);
    let hidden = hidden_programs::find(plan, outcome.end);
    if hidden.is_empty() {
        say(&format!(
            "the server did not start: {program} was not found, or needs a program that was not found"
        ));
    }
    for program in hidden {
        say(&format!(
            "the server did not start: {} is in {}, which is not visible in the sandbox; put `--ro {1}` before the `--` of its arguments",
            program.name,
            escape_path(&program.folder)
        ));
    }
}

/// Returns the directory to make writable: the parent, except for an entry of the root directory.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|around| around.parent().is_some()).unwrap_or(path)
}

/// Returns the narrowest option that allows an access, if one does.
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

/// Describes a refused access and the narrowest option that allows it.
pub(super) fn denied(denial: &Denial) -> String {
    let shown = |path: &Path| escape_path(path);
    let option = option(denial).unwrap_or_default();
    match denial {
        Denial::Read(path) => {
            format!("{} is not visible to the command; if it exists, add {option}", shown(path))
        }
        Denial::Write(path) => {
            format!("{} is not writable; to make its directory writable, add {option}", shown(path))
        }
        Denial::Never(path, why) => format!("{} is never shared with a command: {why}", shown(path)),
        Denial::Name(path, why) => {
            format!(
                "{} cannot be created or changed, because {why}; do that outside of the sandbox",
                shown(path)
            )
        }
        Denial::Socket(path) => {
            format!(
                "{} is not reachable; add {option} to allow it, with everything that the service allows",
                shown(path)
            )
        }
        Denial::Lock(path) => {
            format!(
                "{} is read-only, so it may not be locked: other programs would wait for the lock",
                shown(path)
            )
        }
        Denial::Reach(host) => {
            let (host, named) = (host.as_deref().unwrap_or("other machines"), "--allow-host HOST");
            let one = if option.starts_with("--allow-host") { &option } else { named };
            format!(
                "{host} is not reachable; add {one} to allow one host, or --network open to allow every host"
            )
        }
        Denial::Processes => "the process limit was reached; raise --processes".to_owned(),
        Denial::Memory => "the memory limit was reached; raise --memory".to_owned(),
        Denial::FileSize => "the file size limit was reached; raise --file-size".to_owned(),
        Denial::Scratch => "the private /tmp is full; write to the workspace instead".to_owned(),
        _ => "an access was refused".to_owned(),
    }
}

fn end(end: End) -> &'static str {
    match end {
        End::TimedOut => "the time limit was reached and the command was stopped; raise --timeout",
        End::OutOfMemory => "the memory limit was reached and the command was stopped; raise --memory",
        End::OutOfCpuTime => "the CPU time limit was reached and the command was stopped; raise --cpu-time",
        End::OutOfDisk => "the disk limit was reached and the command was stopped; raise --disk or --files",
        End::NotFound => "program not found in the sandbox",
        End::NotExecutable => "the program is not executable",
        _ => "",
    }
}

/// Describes the end of a package.
fn end_of_package(end: End) -> &'static str {
    match end {
        End::TimedOut => {
            "the time limit of the manifest was reached and the package was stopped (`timeoutMs`)"
        }
        End::OutOfMemory => {
            "the memory limit of the manifest was reached and the package was stopped (`memoryMb`)"
        }
        End::NotFound => "program not found in the image or the package",
        End::NotExecutable => "the program is not executable",
        _ => "",
    }
}

/// Returns one line that lists what was enforced and what was not.
fn enforced(plan: &Plan, outcome: &Outcome) -> String {
    let network = match &plan.network {
        Network::None => "no network".to_owned(),
        Network::Broker { socket } => format!("network only through {}", escape_path(socket)),
        Network::Proxy(handoff) if handoff.observes() => {
            "every public host, observed by an egress proxy".to_owned()
        }
        Network::Proxy(_) => "network only through an egress proxy".to_owned(),
        Network::Open => "open network".to_owned(),
    };
    let enforcement = &outcome.enforcement;
    let names: Vec<&str> = unique(enforcement.enforced.iter().map(|(property, _)| property.name()));
    let mut line = match plan.provider {
        Provider::Nothing => format!("WITHOUT A SANDBOX; enforced: {}", names.join(", ")),
        _ => format!("sandbox {}; {network}; enforced: {}", plan.provider.name(), names.join(", ")),
    };
    for gap in &enforcement.gaps {
        let how = if enforcement.holds(gap.property) { "partly enforced" } else { "not enforced" };
        line.push_str(&format!("; {how}: {} ({})", gap.property.name(), gap.why));
    }
    line
}

fn unique<'n>(names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let mut seen = BTreeSet::new();
    names.filter(|name| seen.insert(*name)).collect()
}

/// Reports that the end of the command was not recorded. The trail marks it as interrupted when it is opened next.
pub(in crate::commands) fn unrecorded(why: Option<&AuditError>) {
    if let Some(error) = why {
        say(&format!("cannot record the end of the command: {error}"));
    }
}

/// Reports a refusal and its fix.
pub(in crate::commands) fn refused(refusal: &Refusal) {
    refused_for(&refusal.to_string(), &refusal.fix);
}

/// Reports why nothing runs, and the fix.
pub(in crate::commands) fn refused_for(why: &str, fix: &str) {
    say(why);
    write(&format!("  help: {}\n", escape(fix)));
}

/// Prefix of this program's messages on standard error. No output line of a command can start with it.
pub(in crate::commands) const SPEAKER: &str = "stockade";

/// Prints one message.
pub(in crate::commands) fn say(text: &str) {
    write(&format!("{SPEAKER}: {}\n", escape(text)));
}

/// Ends a line that the command left open, so that the next message starts on a new one.
fn begin_a_line(outcome: &Outcome) {
    if outcome.output.ends_within_a_line {
        write("\n");
    }
}

fn write(text: &str) {
    // A failure to write to standard error cannot be reported anywhere.
    io::stderr().write_all(text.as_bytes()).ok();
}
