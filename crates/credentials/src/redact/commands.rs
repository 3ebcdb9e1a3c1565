//! Secrets among the words of commands, as a shell reads them.

use std::ops::Range;
use std::sync::LazyLock;

use stockade_shell::{Actions, Arg, Assignment, DataFlow, ReadOptions, Run, Script, Span, quote_argv};

use super::evidence::names_of;
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
    let is_text = |word: &str| word.bytes().any(|byte| b" \t\n;|&".contains(&byte)) && holds(word);
    words.iter().enumerate().skip(1).filter(|(_, word)| is_text(word)).map(|(at, _)| at).collect()
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
        let printed = printed_of(before, word);
        let Some(place) = place else { continue };
        if place.len() != word.len() {
            // Where in the quotes it stands is not known: all behind the name is taken.
            let value = text.get(place.clone()).and_then(|spelled| spelled.find('=')).map_or(0, |at| at + 1);
            found.secrets.extend((!printed.is_empty()).then_some(place.start + value..place.end));
            continue;
        }
        let mut inner = InCommand::default();
        within(word, depth + 1, &mut inner);
        inner.secrets.extend(printed);
        let moved = |range: Range<usize>| place.start + range.start..place.start + range.end;
        found.secrets.extend(inner.secrets.into_iter().map(moved));
        found.ordinary.extend(inner.ordinary.into_iter().map(moved));
    }
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

/// Where these parts of words stand, as far as they are spelled as they are read.
fn exactly(text: &str, span: Span, words: &[&str], parts: &[words::Found]) -> Vec<Range<usize>> {
    let places = locate(text, span, words);
    let exact = |(place, part): &words::Found| {
        let word = places
            .get(*place)?
            .as_ref()
            .filter(|at| Some(at.len()) == words.get(*place).map(|word| word.len()))?;
        Some(word.start + part.start..word.start + part.end)
    };
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
            add(text, run.span, &words, &words::printed(&words), found);
        }
    }
    for run in actions.runs.iter().filter(|run| words::reads_secret(&words_of(run))) {
        found.extend(written_there(text, run.span));
    }
}

/// Finds what a command is given to read in its own line (`<<<`), or in the lines behind it (`<<`).
fn written_there(text: &str, span: Span) -> Option<Range<usize>> {
    let line = text.get(span.start..)?.split('\n').next()?;
    let at = line.find("<<")?;
    let start = |rest: &str| span.start + line.len() - rest.len();
    if let Some(word) = line.get(at..)?.strip_prefix("<<<") {
        return Some(value(text, start(word.trim_start())));
    }
    let end = line.get(at + 2..)?.trim_start_matches('-').trim_start().trim_matches(['"', '\'', '\\']);
    let end = end.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    let from = span.start + line.len() + 1;
    let body = text.get(from..)?;
    let lines = body.split_inclusive('\n').take_while(|line| line.trim() != end);
    Some(from..from + lines.map(str::len).sum::<usize>())
}

/// Adds where these parts of words stand in the text. A word that is spelled in another way than it is read, and so is not found,
/// takes everything with it up to the next one.
fn add(text: &str, span: Span, words: &[&str], secrets: &[words::Found], found: &mut Vec<Range<usize>>) {
    if secrets.is_empty() {
        return;
    }
    let places = locate(text, span, words);
    for (place, part) in secrets {
        let at = |place: usize| places.get(place).cloned().flatten();
        found.push(match at(*place) {
            Some(word) if word.len() == words.get(*place).map_or(0, |word| word.len()) => {
                word.start + part.start..word.start + part.end
            }
            Some(word) => word,
            None => {
                let before = (0..*place).rev().find_map(at).map_or(span.start, |word| word.end);
                let next = (place + 1..places.len()).find_map(at).map_or(span.end, |word| word.start);
                before..next
            }
        });
    }
}

/// Finds each word behind the one before.
fn locate(text: &str, span: Span, words: &[&str]) -> Vec<Option<Range<usize>>> {
    let mut at = span.start;
    let mut places = Vec::with_capacity(words.len());
    for word in words {
        let place = next(text, at..span.end.min(text.len()), word);
        at = place.as_ref().map_or(at, |place| place.end);
        places.push(place);
    }
    places
}

/// How far behind the word before a word is looked for: a long search for each of many words would take too long.
const NEAR: usize = 512;

fn next(text: &str, within: Range<usize>, word: &str) -> Option<Range<usize>> {
    let end = text.floor_char_boundary(within.end.min(within.start.saturating_add(NEAR + word.len())));
    let (searched, mut at) = (text.get(within.start..end).filter(|_| !word.is_empty())?, 0);
    let is_sign = |byte: Option<&u8>| {
        byte.is_none_or(|byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'_' | b'-' | b'.' | b'/'))
    };
    let bytes = text.as_bytes();
    while let Some(hit) = searched.get(at..)?.find(word) {
        let start = within.start + at + hit;
        let place = start..start + word.len();
        let before = start.checked_sub(1).filter(|_| start > within.start).and_then(|at| bytes.get(at));
        if is_sign(before) && is_sign(bytes.get(place.end)) {
            return Some(place);
        }
        at += hit + word.chars().next().map_or(1, char::len_utf8);
    }
    let mut starts =
        (0..searched.len().min(NEAR)).filter_map(|at| Some(searched.get(at..)?.len()).map(|_| at));
    starts.find_map(|at| Some(within.start + at..within.start + at + spelled(searched.get(at..)?, word)?))
}

/// The longest word that is looked for in another spelling.
const MAX_SPELLED: usize = 1024;

/// Returns how long a spelling of the word is with which a text begins: between its characters there are signs that quote.
fn spelled(text: &str, word: &str) -> Option<usize> {
    let mut rest = text;
    if word.len() > MAX_SPELLED {
        return None;
    }
    for c in word.chars() {
        while !rest.starts_with(c) {
            rest = rest.strip_prefix(['\\', '\'', '"'])?;
        }
        rest = rest.strip_prefix(c)?;
    }
    Some(text.len() - rest.len())
}
