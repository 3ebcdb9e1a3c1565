//! Commands of the programs in a text.

use std::borrow::Cow;
use std::ops::Range;

use stockade_shell::{Actions, ReadOptions, Script};

/// Maximum length of a program that is read. A longer one is read in parts, which end with a line.
const MAX_PROGRAM: usize = 32 << 10;

/// The shortest string that is read as commands: one that downloads is longer.
const MIN_QUOTED: usize = 8;

/// A part of a text that is or may be a program in a shell.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    /// Where it is.
    pub(crate) span: Range<usize>,
    /// Whether each line is a command of its own, as in a Makefile.
    pub(crate) is_listed: bool,
    /// Whether it is a string of another language, with that language's escapes.
    pub(crate) is_string: bool,
}

/// Maximum length of a line that is looked through for signs. Many words of one line would be looked behind, each to its end.
const MAX_LINE: usize = 512;

/// Returns the line that a text begins with; nothing if it is longer than any that is worth a look.
pub(super) fn rest_of_line(text: &str) -> Option<&str> {
    let near = text.get(..text.floor_char_boundary(MAX_LINE)).unwrap_or_default();
    near.split_once('\n').map(|(line, _)| line).or((near.len() == text.len()).then_some(near))
}

/// Returns the quoted strings of a file that may be commands, such as those of a `package.json` or of a program that starts
/// others, and whether the text before each passes it to a shell.
pub(crate) fn quoted(text: &str) -> impl Iterator<Item = (Program, bool)> {
    let mut open: Option<(usize, u8)> = None;
    let mut bytes = text.bytes().enumerate();
    std::iter::from_fn(move || {
        while let Some((at, byte)) = bytes.next() {
            match (open, byte) {
                (_, b'\\') => drop(bytes.next()),
                (_, b'\n') => open = None,
                (Some((start, quote)), _) if byte == quote => {
                    open = None;
                    let inside = text.get(start..at).unwrap_or_default();
                    if inside.len() >= MIN_QUOTED && inside.contains(' ') {
                        let program = Program { span: start..at, is_listed: false, is_string: true };
                        return Some((program, inside.starts_with('!') || is_called(text, start)));
                    }
                }
                (None, b'"' | b'\'') => open = Some((at + 1, byte)),
                _ => {}
            }
        }
        None
    })
}

/// Functions and keys whose string a shell runs.
const CALLS: &[&str] = &[
    "system",
    "popen",
    "run",
    "call",
    "check_call",
    "check_output",
    "Popen",
    "getoutput",
    "exec",
    "execSync",
    "spawn",
    "spawnSync",
    "sh",
    "bash",
    "shell",
    "script",
    "command",
    "cmd",
    "preinstall",
    "install",
    "postinstall",
    "prepare",
    "prepublish",
    "prepublishOnly",
    "start",
    "test",
    "build",
    "postCreateCommand",
    "postStartCommand",
    "postAttachCommand",
    "onCreateCommand",
    "updateContentCommand",
    "initializeCommand",
];

/// How far before a string its function or key is searched.
const MAX_BEFORE: usize = 64;

/// Whether the string that begins at `start` belongs to one of these.
fn is_called(text: &str, start: usize) -> bool {
    let from = text.floor_char_boundary(start.saturating_sub(MAX_BEFORE));
    let before = text.get(from..start).unwrap_or_default();
    let name = before.trim_end_matches([' ', '\t', '"', '\'', ':', '=', '(', '[', '`', 'f', 'r', 'b']);
    let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    // The letters before a string of Python may also end a name, so both are tried.
    let names = [name, before.trim_end_matches([' ', '\t', '"', '\'', ':', '=', '(', '[', '`'])];
    names
        .iter()
        .any(|name| name.rsplit(|letter| !is_of_name(letter)).next().is_some_and(|it| CALLS.contains(&it)))
}

/// Calls `each` with the actions of every program, and the offset of their positions.
pub(super) fn each_actions(text: &str, programs: &[Program], mut each: impl FnMut(&Actions<'_>, usize)) {
    for program in programs {
        for span in parts(text, &program.span) {
            let part = text.get(span.clone()).unwrap_or_default();
            let plain = if program.is_string { unescaped(part) } else { plain(part, program.is_listed) };
            // A part of this length never reaches these limits, so no filler in it hides a command behind it.
            let options = ReadOptions {
                max_bytes: 2 * MAX_PROGRAM,
                max_commands: MAX_PROGRAM,
                max_words: MAX_PROGRAM,
                ..ReadOptions::default()
            };
            let script = Script::read_partly(&plain, &options);
            each(&script.actions(), span.start);
            // Some of it is no shell, such as a quote that never ends: then each line is read alone as well.
            let (mut start, mut rest) = (span.start, plain.as_ref());
            while !script.is_whole() && !rest.is_empty() {
                let (line, behind) = rest.split_at(line_end(rest));
                each(&Script::read_partly(line, &options).actions(), start);
                (start, rest) = (start + line.len(), behind);
            }
        }
    }
}

/// Returns the end of the first line that no backslash continues.
fn line_end(text: &str) -> usize {
    let mut ends = memchr::memchr_iter(b'\n', text.as_bytes());
    let is_continued =
        |end: usize| text.get(..end).is_some_and(|line| line.trim_end_matches('\r').ends_with('\\'));
    ends.find(|end| !is_continued(*end)).map_or(text.len(), |end| end + 1)
}

/// Splits a long program at line ends.
fn parts(text: &str, span: &Range<usize>) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = span.start;
    while start < span.end {
        let rest = text.get(start..span.end).unwrap_or_default();
        let limit = rest.floor_char_boundary(MAX_PROGRAM);
        let is_last = rest.len() <= MAX_PROGRAM;
        let at_line = rest.get(..limit).and_then(|part| part.rfind('\n')).map_or(limit, |end| end + 1);
        let end = if is_last { span.end } else { start + at_line.max(1) };
        parts.push(start..end);
        start = end;
    }
    parts
}

/// Returns a program without what surrounds its commands: fences, prompts and words of other formats become blanks, so
/// that positions stay.
fn plain(program: &str, is_listed: bool) -> Cow<'_, str> {
    let mut plain = String::with_capacity(program.len());
    for line in program.split_inclusive('\n') {
        let body = line.trim_start_matches([' ', '\t', '>', '`', '~']);
        let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        let skipped = match () {
            () if is_fence => line.trim_end_matches(['\r', '\n']).len(),
            () => line.len() - body.len() + before_command(body, is_listed),
        };
        let rest = line.get(skipped..).unwrap_or_default();
        // Each line of a list is a command of its own: what ends before it must not swallow it.
        plain.extend(std::iter::repeat_n(' ', skipped));
        match rest.strip_suffix("\r\n") {
            // A shell would take the carriage return for a letter of the last word.
            Some(line) => {
                let is_continued = line.ends_with('\\');
                plain.push_str(line.strip_suffix('\\').unwrap_or(line));
                plain.push_str(if is_continued { " \\\n" } else { " \n" });
            }
            None => plain.push_str(rest),
        }
    }
    // The end of a code span.
    let trimmed = plain.trim_end_matches(['`', '\n', ' ']).len();
    plain.truncate(trimmed);
    Cow::Owned(plain)
}

/// Returns a string with its escapes replaced, at the same positions.
fn unescaped(string: &str) -> Cow<'_, str> {
    let string = match string.strip_prefix('!') {
        Some(command) => Cow::Owned(format!(" {command}")),
        None => Cow::Borrowed(string),
    };
    if !string.contains('\\') {
        return string;
    }
    Cow::Owned(string.replace("\\n", " \n").replace("\\t", "  ").replace("\\\"", " \"").replace("\\'", " '"))
}

/// Words before a command: prompts, and keywords of files that list commands.
const PROMPTS: &[&str] = &["$ ", "% ", "# ", "❯ ", "➜ "];
const KEYWORDS: &[&str] = &["- run: ", "run: ", "RUN ", "CMD ", "ENTRYPOINT ", "- ", "@", "-@", "command: "];

/// Returns the length of what precedes a command in its line.
fn before_command(line: &str, is_listed: bool) -> usize {
    let mut words = PROMPTS.iter().chain(KEYWORDS.iter().filter(|_| is_listed));
    words.find(|word| line.starts_with(**word)).map_or(0, |word| word.len())
}
