//! Downloads that are saved and run later.

use std::collections::BTreeMap;
use std::ops::Range;

use stockade_shell::{Actions, Run};

use super::cloned;
use super::commands::{Program, each_actions, rest_of_line};
use super::fetchers::{FETCHERS, fetcher_of};
use super::known::is_known;
use super::runners::{CodeFrom, RUNNERS, SHELLS, may_run, run_files};
use super::wiring::{MAX_BEHIND, Wiring, last_part, spelled};

/// Maximum number of tracked downloads of a text, and of files with one name.
const MAX_FILES: usize = 64;
const MAX_NAMESAKES: usize = 16;

/// Programs that give a file another name: all but the last argument are the files.
pub(super) const MOVERS: &[&str] = &["mv", "cp", "install", "ln", "rsync"];

/// A command that downloads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fetch {
    pub(crate) span: Range<usize>,
    /// The addresses, and the files or the directory that it writes.
    pub(crate) addresses: Vec<String>,
    pub(crate) files: Vec<String>,
    /// Whether all addresses are of vendors from whom everybody downloads.
    pub(crate) is_known: bool,
    /// Whether it copies a repository.
    pub(crate) is_clone: bool,
    /// The command that runs what was downloaded. For one that is not tracked any more this is the download itself.
    pub(crate) run_by: Option<Range<usize>>,
}

/// The downloads that are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Those that something runs, from places that are not known. What a shell reads from a pipe has rules of its own.
    RunLater,
    /// Every download, also from known vendors and those that nothing runs.
    All,
}

/// Returns the commands that download, in their order.
pub(crate) fn fetches(text: &str, programs: &[Program], wanted: Wanted) -> Vec<Fetch> {
    let mut files = Files { wanted, fetches: Vec::new(), by_name: BTreeMap::new() };
    let may_fetch = |program: &&Program| {
        let part = text.get(program.span.clone()).unwrap_or_default();
        let mut signs = FETCHERS.iter().map(|fetcher| fetcher.program).chain([cloned::SIGN]);
        signs.any(|sign| memchr::memmem::find(part.as_bytes(), sign.as_bytes()).is_some())
    };
    let fetching: Vec<Program> = programs.iter().filter(may_fetch).cloned().collect();
    each_actions(text, &fetching, |actions, offset| files.saved_by(actions, offset));
    if !files.by_name.is_empty() {
        // Twice, because a file may get its name behind the command that runs it: steps are not always in order.
        for _ in 0..2 {
            each_actions(text, programs, |actions, offset| files.used_by(actions, offset));
        }
    }
    let mut found = files.fetches;
    if wanted == Wanted::RunLater {
        found.retain(|fetch| fetch.run_by.is_some());
    }
    // What is read in two ways is one download, and runs if it runs in either.
    found.sort_by_key(|fetch| (fetch.span.start, fetch.span.end, fetch.run_by.is_none()));
    found.dedup_by_key(|fetch| fetch.span.clone());
    found
}

/// Whether a download of a text has a sign that it is saved, or that an interpreter runs it. Most downloads of documentation have
/// none, and the text is not read as commands then.
pub(crate) fn may_save(text: &str) -> bool {
    cloned::may_clone(text)
        || FETCHERS.iter().any(|fetcher| {
            let places = memchr::memmem::find_iter(text.as_bytes(), fetcher.program.as_bytes());
            let behind = |at: usize| text.get(at + fetcher.program.len()..).unwrap_or_default();
            let mut behind =
                places.map(behind).filter(|rest| rest.starts_with([' ', '\t', '"', '\'', '\\', '$']));
            behind.any(|rest| fetcher.address.contains(&"") || rest_of_line(rest).is_none_or(has_sign))
        })
}

/// Whether the rest of a line names a file to write, or a program that runs what it reads.
fn has_sign(line: &str) -> bool {
    let is_continued = line.trim_end().ends_with('\\');
    let has_option = || {
        let mut words = line.split_ascii_whitespace();
        words.any(|word| word.starts_with('-') && word.contains(['o', 'O', 'd']))
    };
    let is_written = || {
        let mut before = ' ';
        line.chars().any(|c| {
            let is_sign = c == '>' && before != '-';
            before = c;
            is_sign
        })
    };
    let is_piped = || line.split_once('|').is_some_and(|(_, rest)| rest.contains("tee") || may_run(rest));
    is_continued || has_option() || is_written() || is_piped()
}

/// The files that a text downloads.
#[derive(Debug)]
struct Files {
    wanted: Wanted,
    /// The commands that download.
    fetches: Vec<Fetch>,
    /// The commands by the last part of the names of their files, with the whole names.
    by_name: BTreeMap<String, Vec<(String, usize)>>,
}

impl Files {
    fn saved_by(&mut self, actions: &Actions<'_>, offset: usize) {
        let wiring = Wiring::of(actions);
        for number in 0..actions.runs.len() {
            if self.fetches.len() > MAX_FILES {
                return;
            }
            self.saved_by_run(actions, &wiring, number, offset);
        }
    }

    fn saved_by_run(&mut self, actions: &Actions<'_>, wiring: &Wiring, number: usize, offset: usize) {
        let Some(run) = actions.runs.get(number) else { return };
        let clone = cloned::directory(run);
        let fetcher = fetcher_of(run);
        if clone.is_none() && fetcher.is_none() {
            return;
        }
        let is_known = is_from_known_places(run, wiring);
        if is_known && self.wanted == Wanted::RunLater {
            return;
        }
        let mut files = fetcher.map(|fetcher| fetcher.names(run)).unwrap_or_default();
        files.extend(clone.clone());
        if clone.is_none() {
            files.extend(written_behind(actions, wiring, number));
        }
        let place = |run: &Run<'_>| offset + run.span.start..offset + run.span.end;
        let piped = piped_into_runner(actions, wiring, number, self.wanted).map(place);
        if files.is_empty() && piped.is_none() && self.wanted == Wanted::RunLater {
            return;
        }
        let number = self.fetches.len();
        // What is not tracked any more counts as run.
        let is_over = number == MAX_FILES && self.wanted == Wanted::RunLater;
        let run_by = piped.or_else(|| is_over.then(|| place(run)));
        if run_by.is_none() {
            files.iter().for_each(|name| self.name(name, number));
        }
        self.fetches.push(Fetch {
            span: place(run),
            addresses: addresses(run, wiring).collect(),
            files,
            is_known,
            is_clone: clone.is_some(),
            run_by,
        });
    }

    fn name(&mut self, name: &str, number: usize) {
        let name = normal(name);
        let last = last_part(&name);
        if last.is_empty() || last == "-" || name.starts_with("/dev/") || self.by_name.len() >= 4 * MAX_FILES
        {
            return;
        }
        let known = self.by_name.entry(last.to_owned()).or_default();
        if !known.iter().any(|one| *one == (name.clone(), number)) && known.len() < MAX_NAMESAKES {
            known.push((name, number));
        }
    }

    /// Returns the commands that download a file of this name. One without a directory may be in any.
    fn named(&self, name: &str) -> Vec<usize> {
        let name = normal(name);
        let same = |(known, _): &&(String, usize)| *known == name || !is_placed(known) || !is_placed(&name);
        let known = self.by_name.get(last_part(&name)).map(Vec::as_slice).unwrap_or_default();
        known.iter().filter(same).map(|(_, number)| *number).collect()
    }

    /// Returns the commands that download a program of this name into a directory of programs.
    fn installed(&self, name: &str) -> Vec<usize> {
        let known = self.by_name.get(name).map(Vec::as_slice).unwrap_or_default();
        known.iter().filter(|(path, _)| path.contains("/bin/")).map(|(_, number)| *number).collect()
    }

    /// Returns the clones that contain a file, by one of the directories in its path.
    fn cloned(&self, name: &str) -> Vec<usize> {
        let name = normal(name);
        let above = name.match_indices('/').take(MAX_BEHIND).filter_map(|(end, _)| name.get(..end));
        let is_clone = |number: &usize| self.fetches.get(*number).is_some_and(|fetch| fetch.is_clone);
        above.flat_map(|directory| self.named(directory)).filter(is_clone).collect()
    }

    fn used_by(&mut self, actions: &Actions<'_>, offset: usize) {
        let wiring = Wiring::of(actions);
        // The clone in which the commands run.
        let mut inside: Vec<usize> = Vec::new();
        for (number, run) in actions.runs.iter().enumerate() {
            let program = run.program().map(last_part).unwrap_or_default();
            if MOVERS.contains(&program) {
                self.renamed_by(run);
            }
            if let Some(directory) = cloned::entered(run) {
                let goes_on = !is_placed(&directory);
                let entered = [self.named(&directory), self.cloned(&directory)].concat();
                inside = if entered.is_empty() && goes_on { inside } else { entered };
                inside.retain(|number| self.fetches.get(*number).is_some_and(|fetch| fetch.is_clone));
                continue;
            }
            let files = run_files(actions, &wiring, number);
            let mut numbers: Vec<usize> =
                files.iter().flat_map(|name| [self.named(name), self.cloned(name)].concat()).collect();
            if files.iter().any(|name| !is_placed(name)) {
                numbers.extend(&inside);
            }
            numbers.extend(run.program().into_iter().flat_map(|name| self.installed(name)));
            for number in numbers {
                if let Some(fetch) = self.fetches.get_mut(number) {
                    fetch.run_by.get_or_insert(offset + run.span.start..offset + run.span.end);
                }
            }
        }
    }

    fn renamed_by(&mut self, run: &Run<'_>) {
        let words: Vec<String> = run.argv.iter().skip(1).map(spelled).collect();
        let mut files = words.iter().filter(|word| !word.starts_with('-'));
        let Some(target) = files.next_back() else { return };
        let moved: Vec<(String, usize)> = files
            .flat_map(|file| self.named(file).into_iter().map(|number| (last_part(file).to_owned(), number)))
            .collect();
        for (last, number) in moved {
            // Into a directory, or under another name.
            self.name(target, number);
            self.name(&format!("{}/{last}", target.trim_end_matches('/')), number);
        }
    }
}

/// Returns the addresses in the words of a command. Variables that the text sets are replaced.
fn addresses(run: &Run<'_>, wiring: &Wiring) -> impl Iterator<Item = String> {
    let words = run.argv.iter().skip(1).map(|arg| wiring.with_value(spelled(arg)));
    words.filter(|word| word.contains("://")).take(MAX_BEHIND)
}

/// Whether a call downloads from places alone that are known.
fn is_from_known_places(run: &Run<'_>, wiring: &Wiring) -> bool {
    let words = run.argv.iter().skip(1).map(|arg| wiring.with_value(spelled(arg)));
    let mut addresses = words.filter(|word| word.contains("://")).peekable();
    addresses.peek().is_some() && addresses.all(|address| is_known(&address))
}

/// Returns the program that runs the output of a command as it comes.
fn piped_into_runner<'a, 't>(
    actions: &'a Actions<'t>,
    wiring: &Wiring,
    number: usize,
    wanted: Wanted,
) -> Option<&'a Run<'t>> {
    let into = wiring.at(number).map(|ends| ends.into.as_slice()).unwrap_or_default();
    into.iter().take(MAX_BEHIND).filter_map(|at| actions.runs.get(*at)).find(|run| {
        let program = run.program().map(last_part).unwrap_or_default();
        let runner = RUNNERS.iter().find(|runner| runner.programs.contains(&program));
        let runner = runner.filter(|_| wanted == Wanted::All || !SHELLS.contains(&program));
        runner.is_some_and(|runner| matches!(runner.code_of(run), CodeFrom::Input))
    })
}

/// Returns the files that receive the output of a command, also through others.
fn written_behind(actions: &Actions<'_>, wiring: &Wiring, number: usize) -> Vec<String> {
    let mut reached = vec![number];
    let mut files = Vec::new();
    let mut next = 0;
    while let Some(&at) = reached.get(next) {
        next += 1;
        let Some(ends) = wiring.at(at) else { continue };
        files.extend(ends.written.iter().take(MAX_BEHIND).cloned());
        let run = actions.runs.get(at);
        if let Some(run) = run.filter(|run| run.program().map(last_part) == Some("tee")) {
            let words = run.argv.iter().skip(1).map(spelled);
            files.extend(words.filter(|word| !word.starts_with('-')).take(MAX_BEHIND));
        }
        for into in &ends.into {
            if reached.len() < MAX_BEHIND && !reached.contains(into) {
                reached.push(*into);
            }
        }
    }
    files
}

/// Returns a path without what changes nothing: `./x` and `x` are one file.
fn normal(path: &str) -> String {
    let path = path.trim_matches(['"', '\'']);
    let mut path = path
        .strip_prefix("$HOME/")
        .or_else(|| path.strip_prefix("${HOME}/"))
        .map_or_else(|| path.to_owned(), |rest| format!("~/{rest}"));
    while let Some(rest) = path.strip_prefix("./") {
        path = rest.trim_start_matches('/').to_owned();
    }
    path.replace("/./", "/").replace("//", "/")
}

/// Whether a path names its directory from the root, or by a variable.
fn is_placed(path: &str) -> bool {
    path.starts_with(['/', '~', '$'])
}

#[cfg(test)]
mod tests;
