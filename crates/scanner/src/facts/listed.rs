//! The commands of a text, as facts.

use std::collections::BTreeMap;

use stockade_shell::{Actions, Run};

use super::commands::{Program, each_actions};
use super::fact::{CommandFact, DownloadFact, FactPlace, PackageFact, RemovalFact};
use super::fetchers::fetcher_of;
use super::packages::packages;
use super::removed::removed_directories;
use super::runners::run_files;
use super::saved::{Wanted, fetches};
use super::wiring::{MAX_BEHIND, Wiring, last_part, spelled};

/// Maximum number of arguments of a command that are listed.
const MAX_ARGUMENTS: usize = 64;

/// Programs whose arguments are files that they read.
const READERS: &[&str] = &[
    "cat", "head", "tail", "less", "more", "base64", "base32", "xxd", "od", "strings", "tar", "zip", "gzip",
    "cp", "mv", "scp", "rsync", "grep", "sed", "awk", "jq",
];

/// The facts about commands: those in order, and those that remove something.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    pub(crate) commands: Vec<CommandFact>,
    pub(crate) removals: Vec<RemovalFact>,
    pub(crate) packages: Vec<PackageFact>,
}

/// Returns the commands of programs.
pub(crate) fn listed(text: &str, programs: &[Program]) -> Listed {
    // By place, because a part that is no shell is read in two ways.
    let mut commands = BTreeMap::new();
    let mut removals = BTreeMap::new();
    let mut installed = BTreeMap::new();
    each_actions(text, programs, |actions, offset| {
        let wiring = Wiring::of(actions);
        for (number, run) in actions.runs.iter().enumerate() {
            let span = offset + run.span.start..offset + run.span.end;
            let key = (span.start, span.end, number);
            if let Some(command) = command(actions, &wiring, number, &span) {
                commands.entry(key).or_insert(command);
            }
            let place = FactPlace::of(&span);
            for package in packages(run, &place) {
                installed.entry((span.start, package.name.clone())).or_insert(package);
            }
            let directories = removed_directories(run);
            if !directories.is_empty() {
                removals.entry(span.start).or_insert(RemovalFact { directories, place });
            }
        }
    });
    Listed {
        commands: commands.into_values().collect(),
        removals: removals.into_values().collect(),
        packages: installed.into_values().collect(),
    }
}

/// Returns the downloads of programs.
pub(crate) fn downloads(text: &str, programs: &[Program]) -> Vec<DownloadFact> {
    let found = fetches(text, programs, Wanted::All).into_iter();
    let fact = |fetch: super::saved::Fetch| DownloadFact {
        addresses: fetch.addresses,
        files: fetch.files,
        known_vendor: fetch.is_known,
        run_by: fetch.run_by.as_ref().map(FactPlace::of),
        place: FactPlace::of(&fetch.span),
    };
    found.map(fact).collect()
}

fn command(
    actions: &Actions<'_>,
    wiring: &Wiring,
    number: usize,
    span: &std::ops::Range<usize>,
) -> Option<CommandFact> {
    let run = actions.runs.get(number)?;
    let mut words = run.argv.iter().take(MAX_ARGUMENTS + 1).map(|arg| wiring.with_value(spelled(arg)));
    let program = words.next().filter(|program| !program.is_empty())?;
    let arguments: Vec<String> = words.collect();
    let ends = wiring.at(number);
    let mut reads: Vec<String> = ends.map(|ends| ends.read.clone()).unwrap_or_default();
    reads.extend(run_files(actions, wiring, number).into_iter().filter(|file| *file != program));
    if READERS.contains(&last_part(&program)) {
        reads.extend(arguments.iter().filter(|word| is_path(word)).cloned());
    }
    let mut writes: Vec<String> = ends.map(|ends| ends.written.clone()).unwrap_or_default();
    writes.extend(fetcher_of(run).map(|fetcher| fetcher.names(run)).unwrap_or_default());
    for files in [&mut reads, &mut writes] {
        files.dedup();
        files.truncate(MAX_BEHIND);
    }
    let hosts = hosts(run, &arguments);
    let through = run.call_chain.iter().map(ToString::to_string).collect();
    Some(CommandFact { program, arguments, through, reads, writes, hosts, place: FactPlace::of(span) })
}

fn is_path(word: &str) -> bool {
    !word.starts_with('-') && !word.contains("://") && (word.contains('/') || word.contains('.'))
}

/// Returns the hosts that the arguments of a command name.
fn hosts(run: &Run<'_>, arguments: &[String]) -> Vec<String> {
    let is_fetcher = fetcher_of(run).is_some();
    let mut hosts: Vec<String> = Vec::new();
    for word in arguments {
        let host = match word.split_once("://") {
            Some((_, rest)) => Some(host_of(rest)),
            // `me@host:file`, and a fetcher's address without a scheme.
            None => word
                .split_once('@')
                .filter(|_| !word.starts_with('-'))
                .map(|(_, rest)| host_of(rest))
                .or_else(|| {
                    is_fetcher.then(|| host_of(word)).filter(|_| !word.starts_with(['-', '/', '.', '@']))
                }),
        };
        let is_host = |host: &&str| {
            host.contains('.')
                && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_[]:".contains(&byte))
        };
        if let Some(host) = host.filter(is_host).map(str::to_ascii_lowercase)
            && !hosts.contains(&host)
            && hosts.len() < MAX_BEHIND
        {
            hosts.push(host);
        }
    }
    hosts
}

/// Returns the host at the start of the rest of an address.
fn host_of(rest: &str) -> &str {
    let authority = rest.split(['/', '?', '#', ' ', '"', '\'', ')', '>', ',']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    host.split(':').next().unwrap_or_default()
}
