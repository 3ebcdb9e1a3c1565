//! Scripts of sed, as far as they run commands or write files.

use crate::commands::hazards::Floor::Ask;
use crate::commands::hazards::command::Command;
use crate::commands::hazards::shape::Shape;

pub(in crate::commands::hazards) const SHAPES: &[Shape] = &[
    Shape {
        id: "stream-editor",
        floor: Ask,
        programs: &["sed", "gsed"],
        fires: |command| scripts(command).any(|script| effect(script) == Some(SedEffect::Runs)),
        reason: "makes sed run a command",
        fix: "use sed only to change text, and add --sandbox",
        matches: &[
            "sed -e 'e ls' file",
            "sed '1e id' f",
            "sed 's/a/id/e' f",
            "sed -n 's/.*/id/gep' f",
            "sed --expression='$e id' f",
            "sed '/x/{e id' f",
        ],
        clean: &[
            "sed s/a/b/ f",
            "sed -ne '5p' file",
            "sed 's/h/H/'",
            "sed -n '/re/p' f",
            "sed 's/a/e/g' f",
            "sed --sandbox 's/a/b/e' f",
            "sed 'y/abe/xyz/' f",
        ],
    },
    Shape {
        id: "stream-editor-writes",
        floor: Ask,
        programs: &["sed", "gsed"],
        fires: |command| scripts(command).any(|script| effect(script) == Some(SedEffect::Writes)),
        reason: "makes sed write a file that is named in its script",
        fix: "redirect the output of sed instead",
        matches: &[
            "sed -n 'w /etc/cron.d/evil' file",
            "sed 's/a/b/w out' f",
            "sed '1,$w x' f",
            "sed '/a/W x' f",
        ],
        clean: &["sed s/a/b/ f", "sed 's/w/x/' f", "sed -n '5p' w", "sed 's/^/w /' f"],
    },
];

/// The scripts of sed: the first operand, unless options hold them.
fn scripts<'c>(command: &'c Command<'_, '_>) -> impl Iterator<Item = &'c str> {
    let sandboxed = command.has("--sandbox");
    let operand = command.operand(0).filter(|_| !command.has("-e --expression -f --file"));
    command.texts("-e --expression").chain(operand).filter(move |_| !sandboxed)
}

/// What a script of sed does beside changing text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SedEffect {
    Runs,
    Writes,
}

/// Reads a script of sed as far as needed to tell its commands from its texts.
fn effect(script: &str) -> Option<SedEffect> {
    let mut rest = script;
    while !rest.is_empty() {
        rest = after_address(rest);
        let letter = rest.chars().next()?;
        let after = rest.get(letter.len_utf8()..).unwrap_or_default();
        match letter {
            'e' => return Some(SedEffect::Runs),
            'w' | 'W' => return Some(SedEffect::Writes),
            's' => {
                let after = after_delimited(after, 2)?;
                let end = after.find([';', '\n', '}', ' ']).unwrap_or(after.len());
                let flags = after.get(..end).unwrap_or_default();
                if flags.contains('e') {
                    return Some(SedEffect::Runs);
                }
                if flags.contains('w') {
                    return Some(SedEffect::Writes);
                }
                rest = after.get(end..).unwrap_or_default();
            }
            'y' => rest = after_delimited(after, 2)?,
            // The text of these ends with the line.
            'a' | 'i' | 'c' | 'r' | 'R' | ':' | '#' | 'b' | 't' | 'T' => {
                rest = after.split_once('\n').map_or("", |(_, rest)| rest);
            }
            _ => rest = after,
        }
    }
    None
}

/// Skips spaces and the address before a command.
fn after_address(script: &str) -> &str {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches(|letter: char| {
            letter.is_whitespace()
                || letter.is_ascii_digit()
                || matches!(letter, ';' | '{' | '}' | ',' | '$' | '!' | '~' | '+')
        });
        let slashed = match rest.chars().next() {
            Some('/') => rest.get(1..).map(|rest| (rest, '/')),
            Some('\\') => rest.get(1..).and_then(|rest| {
                let end = rest.chars().next()?;
                Some((rest.get(end.len_utf8()..)?, end))
            }),
            _ => None,
        };
        let Some((inside, end)) = slashed else { return rest };
        rest = after_end(inside, end).unwrap_or_default().trim_start_matches(['I', 'M']);
    }
}

/// Returns what follows `count` texts between delimiters, the first of which begins here.
fn after_delimited(text: &str, count: usize) -> Option<&str> {
    let end = text.chars().next()?;
    let mut rest = text.get(end.len_utf8()..)?;
    for _ in 0..count {
        rest = after_end(rest, end)?;
    }
    Some(rest)
}

/// Returns what follows the first `end` that no backslash protects.
fn after_end(text: &str, end: char) -> Option<&str> {
    let mut protected = false;
    for (at, letter) in text.char_indices() {
        if letter == end && !protected {
            return text.get(at + letter.len_utf8()..);
        }
        protected = letter == '\\' && !protected;
    }
    None
}
