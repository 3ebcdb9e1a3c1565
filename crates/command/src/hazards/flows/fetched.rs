//! Downloaded files that are run: `curl -o f …; sh f`.

use std::collections::HashSet;

use super::table::RUN_DOWNLOAD;
use super::{Count, Taint, runs_input};
use crate::hazards::command::{Command, name_of};
use crate::hazards::{Hazard, code};
use stockade_shell::lookup;
use stockade_shell::{Actions, Arg, Redirect, Run};

/// Maximum number of programs with one redirected input that are checked, because there can be as many as redirections.
const MAX_READERS: usize = 64;

/// Finds files that were downloaded and are run.
pub(super) fn run_from_files(actions: &Actions<'_>, taints: &[Taint], found: &mut Vec<Hazard>) {
    if !taints.iter().any(|taint| taint.has(Taint::FETCHED)) {
        return;
    }
    let count = Count::of(taints, Taint::FETCHED);
    let fetched = |index: usize| taints.get(index).is_some_and(|taint| taint.has(Taint::FETCHED));
    let mut files: HashSet<String> = HashSet::new();
    for (_, run) in actions.runs.iter().enumerate().filter(|(index, _)| fetched(*index)) {
        outputs(run, &mut files);
    }
    for redirect in actions.redirects.iter().filter(|redirect| redirect.writes()) {
        if count.in_range(&redirect.runs) {
            files.extend(redirect.target.known().map(last_name));
        }
    }
    if files.is_empty() {
        return;
    }
    let runs_file = |run: &&Run<'_>| {
        let Some(name) = name_of(run) else { return false };
        let runs_others = code::is_interpreter(name) || matches!(name, "source" | ".");
        files.contains(name)
            || (runs_others && script(name, run).is_some_and(|script| files.contains(&last_name(script))))
    };
    found.extend(actions.runs.iter().filter(runs_file).map(|run| RUN_DOWNLOAD.at(run.span)));
    let reads_file = |redirect: &&Redirect<'_>| {
        let file = redirect.target.known().filter(|_| redirect.opens_file() && !redirect.writes());
        file.is_some_and(|file| files.contains(&last_name(file)))
    };
    for redirect in actions.redirects.iter().filter(reads_file) {
        let readers = actions.runs.get(redirect.runs.clone()).unwrap_or_default();
        let last = readers.iter().rev().take(MAX_READERS);
        found.extend(last.filter(|run| runs_input(run)).map(|run| RUN_DOWNLOAD.at(run.span)));
    }
}

/// Returns the file that an interpreter runs. Code in an argument is not a file: it is analysed by itself, and further words are
/// arguments of that code.
fn script<'r>(name: &str, run: &'r Run<'_>) -> Option<&'r str> {
    let is_code = |word: &str| match code::is_shell(name) {
        true => !word.starts_with("--") && word.contains('c'),
        false => word == "-e" || word == "-c",
    };
    let mut words = run.argv.iter().skip(1).filter_map(Arg::known);
    let first = words.find(|word| !word.starts_with('-') || is_code(word))?;
    (!first.starts_with('-')).then_some(first)
}

/// Returns the names of files that a download writes: from an option, or the end of the URL.
fn outputs(run: &Run<'_>, files: &mut HashSet<String>) {
    let Some(command) = Command::of(run) else { return };
    let named = command.texts("-o -O --output --output-document").map(last_name);
    let addressed = command
        .operands()
        .filter_map(Arg::known)
        .filter(|word| command.name == "tee" || word.contains('/'))
        .map(last_name);
    files.extend(named.chain(addressed).filter(|name| !name.is_empty() && name != "-"));
}

/// Returns a file's name without its directory, so that `./f`, `f` and `/tmp/f` are the same.
fn last_name(file: &str) -> String {
    let file = file.split(['?', '#']).next().unwrap_or(file);
    lookup::last_name(file).to_owned()
}
