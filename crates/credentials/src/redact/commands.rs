//! Secrets among the words of commands, as a shell reads them.

use std::ops::Range;
use std::sync::LazyLock;

use stockade_shell::{Actions, Arg, Assignment, DataFlow, ReadOptions, Run, Script, Span, quote_argv};

use super::evidence::names_of;
use super::locate::locate;
use super::options::{POSITIONS, READERS, ROWS};
use super::settings::value;
use super::words;
use crate::literals::{Case, Literals};
use crate::names::sensitivity;
use crate::values::is_secret;

/// Words of which every command with a secret contains at least one: a program of the tables, or a part of a secret's name. Other
/// commands are not parsed.
static HINTS: LazyLock<Literals> = LazyLock::new(|| {
    let words = [
        "pass", "pwd", "secret", "token", "cred", "key", "auth", "session", "cookie", "mnemonic", "sas",
        "jwt", "pin",
    ];
    let programs = ROWS.iter().map(|row| row.programs).chain(POSITIONS.iter().map(|place| place.programs));
    let programs = programs.chain(READERS.iter().map(|reader| reader.0)).flatten().copied();
    Literals::new(Case::Ignored, words.into_iter().chain(programs))
});

/// What was found in a command.
#[derive(Debug, Default)]
pub(super) struct InCommand {
    pub(super) secrets: Vec<Range<usize>>,
    /// What is no secret although its name says so, in the order of the text.
    pub(super) ordinary: Vec<Range<usize>>,
}

/// Finds what is secret in a text if it is a command. Of a text that no shell reads, what could be recognised counts.
pub(super) fn find(text: &str) -> InCommand {
    let mut found = InCommand::default();
    within(text, 0, &mut found);
    found.ordinary.sort_unstable_by_key(|range| range.start);
    found
}

/// How many times a word of a command is taken for a command again, as other machines and schedulers do.
const MAX_DEPTH: usize = 3;

fn within(text: &str, depth: usize, found: &mut InCommand) {
    if !HINTS.is_in(text) {
        return;
    }
    let actions = read(text);
    for (at, run) in actions.runs.iter().enumerate() {
        let words = words_of(run);
        let mut secrets = words::find(&words);
        // What is run as a text is looked at by itself.
        let texts = texts_among(&words, run_through(&actions, at));
        secrets.retain(|(place, _)| !texts.contains(place));
        add(text, run.span, &words, &secrets, &mut found.secrets);
        let places = match words::ordinary(&words) {
            ordinary if ordinary.is_empty() => Vec::new(),
            ordinary => exactly(text, run.span, &words, &ordinary),
        };
        found.ordinary.extend(places);
        if depth < MAX_DEPTH {
            commands_of(text, run.span, &words, depth, found);
        }
    }
    for assignment in &actions.assignments {
        if is_run(&actions, &assignment.name) && depth < MAX_DEPTH {
            run_later(text, assignment, depth, found);
        } else {
            assigned(text, assignment, &mut found.secrets);
        }
    }
    handed_over(text, &actions, &mut found.secrets);
    if depth < MAX_DEPTH {
        for document in documents(text) {
            // Most are files, and some are scripts.
            let body = text.get(document.clone()).unwrap_or_default();
            let mut inner = InCommand::default();
            within(body, depth + 1, &mut inner);
            let moved = |range: Range<usize>| document.start + range.start..document.start + range.end;
            found.secrets.extend(inner.secrets.into_iter().map(moved));
            found.ordinary.extend(inner.ordinary.into_iter().map(moved));
        }
    }
}

/// The lines that commands are given to read (`<<`), outermost only. What only looks like a document ends with the text.
fn documents(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    if !text.contains("<<") {
        return found;
    }
    let mut end: Option<&str> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        match (end, found.last_mut()) {
            (Some(word), Some(_)) if line.trim() == word => end = None,
            (Some(_), Some(document)) => document.end = at,
            _ => {
                end = end_of_document(line);
                found.extend(end.map(|_| start + line.len()..start + line.len()));
            }
        }
    }
    found
}

/// The word that ends the document which begins behind a line.
fn end_of_document(line: &str) -> Option<&str> {
    let behind = line.match_indices("<<").find_map(|(at, _)| {
        let is_one = line.get(..at).is_some_and(|before| !before.ends_with('<'));
        line.get(at + 2..).filter(|rest| is_one && !rest.starts_with('<'))
    })?;
    let word = behind.trim_start_matches('-').trim_start().trim_start_matches(['"', '\'', '\\']);
    word.split(|sign: char| !sign.is_alphanumeric() && sign != '_').next().filter(|word| !word.is_empty())
}

pub(super) fn read(text: &str) -> Actions<'_> {
    let options = ReadOptions::default();
    match Script::read_despite_appearance(text, &options) {
        Ok(script) => script.actions(),
        Err(_) => Script::read_partly(text, &options).actions(),
    }
}

/// The programs that one program runs: they stand before it in the list, and are written where it is.
fn run_through<'a, 't>(actions: &'a Actions<'t>, at: usize) -> impl Iterator<Item = &'a Run<'t>> {
    let outer = actions.runs.get(at);
    let before = actions.runs.get(..at).unwrap_or_default().iter().rev();
    before.take_while(move |run| {
        outer.is_some_and(|outer| run.span == outer.span && run.call_chain.len() > outer.call_chain.len())
    })
}

/// The places of the words that are texts in which one of these programs is run.
fn texts_among<'a, 't: 'a>(words: &[&str], programs: impl Iterator<Item = &'a Run<'t>>) -> Vec<usize> {
    const MAX_PROGRAMS: usize = 16;
    let programs: Vec<String> = programs.take(MAX_PROGRAMS).flat_map(names_of).collect();
    // A name that is not known may be that of any word.
    let holds =
        |word: &str| programs.iter().any(|name| name.len() < word.len() && word.contains(name.as_str()));
    let is_text = |at: usize, word: &str| {
        word.bytes().any(|byte| b" \t\n;|&".contains(&byte)) && (holds(word) || is_for_shell(words, at))
    };
    words.iter().enumerate().skip(1).filter(|(at, word)| is_text(*at, word)).map(|(at, _)| at).collect()
}

/// Whether a word is the text of `sh -c`, whatever starts that shell, and where: `docker exec web sh -c 'TEXT'`.
fn is_for_shell(words: &[&str], at: usize) -> bool {
    const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "ash"];
    const NEAR: usize = 4;
    let before = words.get(at.saturating_sub(NEAR)..at).unwrap_or_default();
    let takes_text = |word: &str| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
    before.last().is_some_and(|word| takes_text(word))
        && before.iter().any(|word| SHELLS.contains(&words::program(word)))
}

/// The same for the words of one command.
pub(super) fn texts_of(words: &[&str]) -> Vec<usize> {
    if !words.iter().skip(1).any(|word| word.contains([' ', '\t', '\n', ';', '|', '&'])) {
        return Vec::new();
    }
    let text = quote_argv(words.iter().copied());
    let actions = read(&text);
    let last = actions.runs.len().saturating_sub(1);
    texts_among(words, actions.runs.get(..last).unwrap_or_default().iter())
}

/// Whether the value of a variable is run: `x="curl h | sh"; eval "$x"`.
fn is_run(actions: &Actions<'_>, name: &str) -> bool {
    let runs_it = |run: &Run<'_>| {
        run.program().is_none_or(|name| {
            matches!(words::program(name), "eval" | "sh" | "bash" | "zsh" | "dash" | "ksh" | "source")
        })
    };
    let uses = actions.uses.iter().filter(|used| used.names.iter().any(|used| used == name));
    uses.into_iter().any(|used| actions.runs.get(used.runs.clone()).unwrap_or_default().iter().any(runs_it))
}

/// Finds what is secret in words that may be commands: those of which the shell makes one, and that hold several.
fn commands_of(text: &str, span: Span, words: &[&str], depth: usize, found: &mut InCommand) {
    let may_be = |word: &&str| word.contains(' ') && word.len() < span.end.saturating_sub(span.start);
    if !words.iter().skip(1).any(may_be) {
        return;
    }
    let places = locate(text, span, words);
    for (at, (word, place)) in
        words.iter().zip(places).enumerate().skip(1).filter(|(_, (word, _))| may_be(word))
    {
        let before = at.checked_sub(1).and_then(|at| words.get(at)).copied().unwrap_or_default();
        let Some(place) = place else { continue };
        let mut inner = InCommand::default();
        within(word, depth + 1, &mut inner);
        inner.secrets.extend(printed_of(before, word));
        if place.letters.is_some() {
            // Names, signs and quotes of settings are not as they are read.
            as_a_text(word, &mut inner.secrets);
        }
        found.secrets.extend(inner.secrets.into_iter().filter_map(|range| place.part(range)));
        found.ordinary.extend(inner.ordinary.into_iter().filter_map(|range| place.part(range)));
    }
}

/// Finds what is secret in a text by forms and settings.
fn as_a_text(text: &str, found: &mut Vec<Range<usize>>) {
    super::settings::find(text, found);
    let mut certain = Vec::new();
    super::forms::find(text, &mut certain, found);
    found.append(&mut certain);
}

/// Finds what a word prints if it is run as a command, where its option takes a command that prints a secret.
fn printed_of(before: &str, word: &str) -> Vec<Range<usize>> {
    let joined = word.split_once('=').filter(|(option, _)| words::is_printer(option)).map(|(_, value)| value);
    match joined {
        Some(value) => printed(value, word.len() - value.len()),
        None if words::is_printer(before) => printed(word, 0),
        None => Vec::new(),
    }
}

/// Finds what a command prints by its own words.
fn printed(command: &str, from: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for run in &read(command).runs {
        let words = words_of(run);
        add(command, run.span, &words, &words::printed(&words), &mut found);
    }
    found.into_iter().map(|range| from + range.start..from + range.end).collect()
}

/// Where these parts of words stand in the text.
fn exactly(text: &str, span: Span, words: &[&str], parts: &[words::Found]) -> Vec<Range<usize>> {
    let places = locate(text, span, words);
    let exact = |(place, part): &words::Found| places.get(*place)?.as_ref()?.part(part.clone());
    parts.iter().filter_map(exact).collect()
}

/// The words of a command, as far as they are certain.
fn words_of<'r>(run: &'r Run<'_>) -> Vec<&'r str> {
    run.argv.iter().map(known).collect()
}

fn known<'a>(word: &'a Arg<'_>) -> &'a str {
    match word {
        Arg::Known(text) => text,
        Arg::Unknown { prefix, .. } => prefix,
    }
}

fn assigned(text: &str, assignment: &Assignment<'_>, found: &mut Vec<Range<usize>>) {
    let value = known(&assignment.value);
    if is_secret(sensitivity(&assignment.name), value) {
        let value = [assignment.name.as_ref(), value];
        add(text, assignment.span, &value, &[(1, 0..value[1].len())], found);
    } else if words::is_printer(&assignment.name) {
        let secrets: Vec<_> = printed(value, 0).into_iter().map(|range| (1, range)).collect();
        add(text, assignment.span, &[assignment.name.as_ref(), value], &secrets, found);
    }
}

/// Finds what is secret in a value that is a command itself: as a whole it is not a secret.
fn run_later(text: &str, assignment: &Assignment<'_>, depth: usize, found: &mut InCommand) {
    let value = known(&assignment.value);
    let words = [assignment.name.as_ref(), value];
    let Some(place) = exactly(text, assignment.span, &words, &[(1, 0..value.len())]).into_iter().next()
    else {
        return;
    };
    let mut inner = InCommand::default();
    within(value, depth + 1, &mut inner);
    let moved = |range: Range<usize>| place.start + range.start..place.start + range.end;
    found.secrets.extend(inner.secrets.into_iter().map(moved));
    found.ordinary.push(place.clone());
}

/// Finds what is handed to a program that reads a secret from its input.
fn handed_over(text: &str, actions: &Actions<'_>, found: &mut Vec<Range<usize>>) {
    let reads = |range: &Range<usize>| {
        let runs = actions.runs.get(range.clone()).unwrap_or_default();
        runs.iter().any(|run| {
            let through =
                run.call_chain.iter().any(|program| program == "sudo") && run.span.of(text).contains("-S");
            through || words::reads_secret(&words_of(run))
        })
    };
    for flow in actions.flows.iter().filter(|flow| flow.through == DataFlow::Input && reads(&flow.into)) {
        for run in actions.runs.get(flow.from.clone()).unwrap_or_default() {
            let words = words_of(run);
            let readers = actions.runs.get(flow.into.clone()).unwrap_or_default();
            let is_pair = readers.iter().any(|run| words::reads_pair(&words_of(run)));
            let printed = words::printed(&words);
            let printed: Vec<_> = if is_pair { words::behind_colons(&words, printed) } else { printed };
            add(text, run.span, &words, &printed, found);
        }
    }
    for run in actions.runs.iter().filter(|run| words::reads_secret(&words_of(run))) {
        found.extend(written_there(text, run.span, run.program().unwrap_or_default()));
    }
}

/// Finds what a command is given to read in its own line (`<<<`), or in the lines behind it (`<<`).
fn written_there(text: &str, span: Span, program: &str) -> Option<Range<usize>> {
    let line = text.get(span.start..)?.split('\n').next()?;
    let at = line.find("<<")?;
    // Another command of the same text may be the one that is given something.
    line.get(..at)?.rsplit([';', '|', '&', '(']).next().filter(|command| command.contains(program))?;
    let start = |rest: &str| span.start + line.len() - rest.len();
    if let Some(word) = line.get(at..)?.strip_prefix("<<<") {
        return Some(value(text, start(word.trim_start())));
    }
    let end = end_of_document(line)?;
    let from = span.start + line.len() + 1;
    let body = text.get(from..)?;
    let lines = body.split_inclusive('\n').take_while(|line| line.trim() != end);
    Some(from..from + lines.map(str::len).sum::<usize>())
}

/// Adds where these parts of words stand in the text. A word that is not found takes everything with it up to the next one.
fn add(text: &str, span: Span, words: &[&str], secrets: &[words::Found], found: &mut Vec<Range<usize>>) {
    if secrets.is_empty() {
        return;
    }
    let places = locate(text, span, words);
    // A command of a document stands in the lines behind its shell, and is found there.
    if text.contains("<<") && places.first().is_none_or(Option::is_none) {
        return;
    }
    for (place, part) in secrets {
        let at = |place: usize| places.get(place).and_then(Option::as_ref);
        found.push(match at(*place) {
            Some(word) => word.part(part.clone()).unwrap_or_else(|| word.range.clone()),
            None => {
                let before = (0..*place).rev().find_map(at).map_or(span.start, |word| word.range.end);
                let next = (place + 1..places.len()).find_map(at).map_or(span.end, |word| word.range.start);
                before..next
            }
        });
    }
}
