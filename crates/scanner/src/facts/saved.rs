//! Downloads that are saved and run later.

use std::collections::BTreeMap;
use std::ops::Range;

use stockade_shell::{Actions, Run};

use super::commands::{Program, each_actions, rest_of_line};
use super::known::is_known;
use super::wiring::{Wiring, spelled};

/// Maximum number of tracked downloads of a text, and of files with one name.
const MAX_FILES: usize = 64;
const MAX_NAMESAKES: usize = 16;

/// Maximum number of connections of a command that are followed.
const MAX_BEHIND: usize = 16;

/// Programs that download, and how they name the file.
const FETCHERS: &[Fetcher] = &[
    Fetcher {
        program: "curl",
        file: &["-o", "--output"],
        address: &["-O", "--remote-name", "--remote-name-all"],
    },
    Fetcher { program: "wget", file: &["-O", "--output-document"], address: &[""] },
    Fetcher { program: "aria2c", file: &["-o", "--out"], address: &[""] },
    Fetcher { program: "xh", file: &["-o", "--output"], address: &["-d", "--download"] },
    Fetcher { program: "http", file: &["-o", "--output"], address: &["-d", "--download"] },
    Fetcher { program: "https", file: &["-o", "--output"], address: &["-d", "--download"] },
    Fetcher { program: "lwp-download", file: &[], address: &[""] },
];

/// A program that downloads.
struct Fetcher {
    program: &'static str,
    /// Options before the name of a file.
    file: &'static [&'static str],
    /// Options by which a file is named by the address; an empty one if it always is.
    address: &'static [&'static str],
}

/// Programs that run a file of code: the options that take a value of their own, and those without a file to run.
const RUNNERS: &[Runner] = &[
    Runner {
        programs: SHELLS,
        with_value: &["-o", "-O", "+o", "+O", "--rcfile", "--init-file"],
        no_file: &["-c"],
    },
    Runner { programs: &["source", "."], with_value: &[], no_file: &[] },
    Runner {
        programs: &["python", "python2", "python3", "pypy", "pypy3"],
        with_value: &["-W", "-X"],
        no_file: &["-c", "-m"],
    },
    Runner { programs: &["node", "nodejs", "bun", "tsx"], with_value: &[], no_file: &["-e", "-p", "--eval"] },
    Runner { programs: &["perl", "ruby", "php", "lua", "luajit"], with_value: &[], no_file: &["-e", "-r"] },
    Runner {
        programs: &["pwsh", "powershell", "osascript", "Rscript", "deno", "crontab"],
        with_value: &[],
        no_file: &["-e"],
    },
    Runner { programs: &["at", "batch"], with_value: &[], no_file: &[] },
];

const SHELLS: &[&str] =
    &["sh", "bash", "rbash", "zsh", "dash", "ash", "ksh", "mksh", "fish", "csh", "tcsh", "yash", "posh"];

/// Subcommands and words before the file that a program runs.
const BEFORE_FILE: &[&str] = &["run", "-f", "-File", "-file"];

struct Runner {
    programs: &'static [&'static str],
    with_value: &'static [&'static str],
    no_file: &'static [&'static str],
}

/// Programs that give a file another name: all but the last argument are the files.
const MOVERS: &[&str] = &["mv", "cp", "install", "ln", "rsync"];

/// Returns the commands that download a file which some command of the text runs, in their order.
pub(crate) fn run_later(text: &str, programs: &[Program]) -> Vec<Range<usize>> {
    let mut files = Files::default();
    let may_fetch = |program: &&Program| {
        let part = text.get(program.span.clone()).unwrap_or_default();
        FETCHERS
            .iter()
            .any(|fetcher| memchr::memmem::find(part.as_bytes(), fetcher.program.as_bytes()).is_some())
    };
    let fetching: Vec<Program> = programs.iter().filter(may_fetch).cloned().collect();
    each_actions(text, &fetching, |actions, offset| files.saved_by(actions, offset));
    if !files.by_name.is_empty() {
        // Twice, because a file may get its name behind the command that runs it: steps are not always in order.
        for _ in 0..2 {
            each_actions(text, programs, |actions, _| files.used_by(actions));
        }
    }
    let mut found: Vec<_> =
        files.fetches.into_iter().filter_map(|(span, is_run)| is_run.then_some(span)).collect();
    found.sort_by_key(|span| span.start);
    found.dedup();
    found
}

/// Whether a download of a text has a sign that it is saved, or that an interpreter runs it. Most downloads of documentation have
/// none, and the text is not read as commands then.
pub(crate) fn may_save(text: &str) -> bool {
    FETCHERS.iter().any(|fetcher| {
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

/// Whether a text names an interpreter other than a shell.
fn may_run(text: &str) -> bool {
    let mut programs = RUNNERS.iter().flat_map(|runner| runner.programs).copied();
    programs.any(|program| program.len() > 2 && !SHELLS.contains(&program) && text.contains(program))
}

/// The files that a text downloads.
#[derive(Debug, Default)]
struct Files {
    /// The commands that download, and whether something runs their file.
    fetches: Vec<(Range<usize>, bool)>,
    /// The commands by the last part of the names of their files, with the whole names.
    by_name: BTreeMap<String, Vec<(String, usize)>>,
}

impl Files {
    fn saved_by(&mut self, actions: &Actions<'_>, offset: usize) {
        let wiring = Wiring::of(actions);
        for (number, run) in actions.runs.iter().enumerate() {
            if self.fetches.len() > MAX_FILES {
                return;
            }
            let Some(fetcher) = fetcher_of(run).filter(|_| !is_from_known_places(run, &wiring)) else {
                continue;
            };
            let mut names = fetcher.names(run);
            names.extend(written_behind(actions, &wiring, number));
            if is_piped_into_runner(actions, &wiring, number) {
                self.fetches.push((offset + run.span.start..offset + run.span.end, true));
                continue;
            }
            if names.is_empty() {
                continue;
            }
            let number = self.fetches.len();
            // What is not tracked any more counts as run.
            let is_over = number == MAX_FILES;
            self.fetches.push((offset + run.span.start..offset + run.span.end, is_over));
            names.into_iter().for_each(|name| self.name(&name, number));
        }
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

    fn used_by(&mut self, actions: &Actions<'_>) {
        let wiring = Wiring::of(actions);
        for (number, run) in actions.runs.iter().enumerate() {
            if run.program().map(last_part).is_some_and(|program| MOVERS.contains(&program)) {
                self.renamed_by(run);
            }
            let mut numbers: Vec<usize> =
                run_files(actions, &wiring, number).iter().flat_map(|name| self.named(name)).collect();
            numbers.extend(run.program().into_iter().flat_map(|name| self.installed(name)));
            for number in numbers {
                if let Some((_, is_run)) = self.fetches.get_mut(number) {
                    *is_run = true;
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

fn fetcher_of(run: &Run<'_>) -> Option<&'static Fetcher> {
    let program = last_part(run.program()?);
    FETCHERS.iter().find(|fetcher| fetcher.program == program)
}

impl Fetcher {
    /// Returns the names of the files that a call writes by its options.
    fn names(&self, run: &Run<'_>) -> Vec<String> {
        let words: Vec<String> = run.argv.iter().skip(1).map(spelled).collect();
        let mut names = Vec::new();
        let mut by_address = self.address.contains(&"");
        let mut waits = false;
        for word in &words {
            if std::mem::take(&mut waits) {
                names.push(word.clone());
                by_address = false;
                continue;
            }
            by_address |= self.address.iter().any(|option| !option.is_empty() && has_option(word, option));
            for option in self.file {
                match value_of(word, option) {
                    Some("") => waits = true,
                    Some(name) => names.push(name.to_owned()),
                    None => continue,
                }
                by_address = false;
                break;
            }
        }
        if by_address {
            let addresses = words.iter().filter(|word| word.contains("://") || word.contains('.'));
            names.extend(addresses.filter(|word| !word.starts_with('-')).map(|word| of_address(word)));
        }
        names
    }
}

/// Whether a word is an option, also among other letters: `-fsSLO`.
fn has_option(word: &str, option: &str) -> bool {
    word == option
        || is_cluster(word) && option.len() == 2 && word.ends_with(option.trim_start_matches('-'))
        || is_cluster(word) && option.len() == 2 && word.contains(option.trim_start_matches('-'))
}

/// Returns the value of an option in its word, empty if the next word is the value.
fn value_of<'w>(word: &'w str, option: &str) -> Option<&'w str> {
    if let Some(rest) = word.strip_prefix(option) {
        let is_long = option.starts_with("--");
        return match rest.strip_prefix('=') {
            Some(value) if is_long => Some(value),
            _ if is_long && !rest.is_empty() => None,
            _ => Some(rest),
        };
    }
    // Letters without values before it: `-fsSLo FILE`.
    let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1 && is_cluster(word))?;
    word.split_once(letter).map(|(_, value)| value)
}

fn is_cluster(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.len() > 1
}

/// Whether a call downloads from places alone that are known. Variables that the text sets are replaced.
fn is_from_known_places(run: &Run<'_>, wiring: &Wiring) -> bool {
    let words = run.argv.iter().skip(1).map(|arg| wiring.with_value(spelled(arg)));
    let mut addresses = words.filter(|word| word.contains("://")).peekable();
    addresses.peek().is_some() && addresses.all(|address| is_known(&address))
}

/// Returns the name that a download gets from its address.
fn of_address(address: &str) -> String {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    last_part(path).to_owned()
}

/// Whether a program other than a shell runs the output of a command as it comes. Rules on pipes are about shells.
fn is_piped_into_runner(actions: &Actions<'_>, wiring: &Wiring, number: usize) -> bool {
    let into = wiring.at(number).map(|ends| ends.into.as_slice()).unwrap_or_default();
    into.iter().take(MAX_BEHIND).filter_map(|at| actions.runs.get(*at)).any(|run| {
        let program = run.program().map(last_part).unwrap_or_default();
        let runner = RUNNERS.iter().find(|runner| runner.programs.contains(&program));
        let runner = runner.filter(|_| !SHELLS.contains(&program));
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

/// Returns the files that a command runs.
fn run_files(actions: &Actions<'_>, wiring: &Wiring, number: usize) -> Vec<String> {
    let (Some(run), Some(ends)) = (actions.runs.get(number), wiring.at(number)) else { return Vec::new() };
    let Some(first) = run.argv.first().map(spelled) else { return Vec::new() };
    let mut files = Vec::new();
    // An address that stands alone, such as in a table, is no program.
    if first.contains('/') && !first.contains("://") {
        files.push(first.clone());
    }
    let program = last_part(&first);
    let print = |numbers: &[usize]| -> Vec<String> {
        let runs = numbers.iter().take(MAX_BEHIND).filter_map(|at| actions.runs.get(*at));
        runs.flat_map(|run| run.argv.iter().skip(1).take(MAX_BEHIND).map(spelled)).collect()
    };
    if program == "eval" {
        files.extend(print(&ends.in_words));
    }
    let Some(runner) = RUNNERS.iter().find(|runner| runner.programs.contains(&program)) else {
        return files;
    };
    match runner.code_of(run) {
        CodeFrom::File(file) => files.push(file),
        // Its input is code: from a file, or from a program that prints one.
        CodeFrom::Input => {
            files.extend(ends.read.iter().take(MAX_BEHIND).cloned());
            files.extend(print(&ends.from));
        }
        CodeFrom::Arguments if SHELLS.contains(&program) => files.extend(print(&ends.in_words)),
        CodeFrom::Arguments => {}
    }
    files
}

/// Where a program gets the code that it runs.
enum CodeFrom {
    File(String),
    Arguments,
    Input,
}

impl Runner {
    /// Returns where a call has its code.
    fn code_of(&self, run: &Run<'_>) -> CodeFrom {
        let mut waits = false;
        for word in run.argv.iter().skip(1).map(spelled) {
            let is_value = std::mem::take(&mut waits);
            if self.no_file.contains(&word.as_str()) {
                return CodeFrom::Arguments;
            }
            waits = self.with_value.contains(&word.as_str());
            if !is_value && !word.starts_with(['-', '+']) && !BEFORE_FILE.contains(&word.as_str()) {
                return CodeFrom::File(word);
            }
        }
        CodeFrom::Input
    }
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

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// Whether a path names its directory from the root, or by a variable.
fn is_placed(path: &str) -> bool {
    path.starts_with(['/', '~', '$'])
}

#[cfg(test)]
mod tests;
