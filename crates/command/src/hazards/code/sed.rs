//! Sed scripts that run commands or write files.

use std::collections::HashSet;

use crate::hazards::Floor::{Ask, Sandbox};
use crate::hazards::command::Command;
use crate::hazards::shape::Shape;

pub(in crate::hazards) const SHAPES: &[Shape] = &[
    Shape {
        // GNU sed's `e` runs a command, and the flag `e` of `s` runs the result of a replacement.
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
            "sed '/x/b;e id' f",
            "sed ':a;s/x/y/;ta;e id' f",
            "sed '1{b;};e id' f",
            "sed '/x/{bq};:q;e id' f",
            "sed -n '/x/T end\n:end\ne id' f",
            "sed 'w out\ne id' f",
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
        // `w` writes to any file, although sed looks like a filter.
        id: "stream-editor-writes",
        floor: Ask,
        programs: &["sed", "gsed"],
        fires: |command| scripts(command).any(|script| effect(script) == Some(SedEffect::Writes)),
        reason: "makes sed write a file",
        fix: "redirect the output of sed instead",
        matches: &[
            "sed -n 'w /etc/cron.d/evil' file",
            "sed 's/a/b/w out' f",
            "sed '1,$w x' f",
            "sed '/a/W x' f",
            "sed '/x/b;w out' f",
            "sed ':a w out' f",
        ],
        clean: &["sed s/a/b/ f", "sed 's/w/x/' f", "sed -n '5p' w", "sed 's/^/w /' f"],
    },
    Shape {
        // The remaining commands of sed are harmless in a sandbox.
        id: "stream-editor-unclear",
        floor: Sandbox,
        programs: &["sed", "gsed"],
        fires: |command| !only_prints(command),
        reason: "runs a sed script that may do more than change text",
        fix: "use only the commands p, d, q, s and y",
        matches: &[
            "sed 'r /etc/shadow' f",
            "sed \"$x\" f",
            "sed \"s/a/$x/\" f",
            "sed 's/[/]/w x/' f",
            "sed 's/a/b/;e' f",
            "sed -f x f",
            "sed",
            "sed -e p -e \"$x\" f",
            "sed ':x;r .env' f",
            "sed '/x/t r .env' f",
        ],
        clean: &[
            "sed s/a/b/ f",
            "sed -n 15p f",
            "sed -n '10,20p' f",
            "sed -n '/a/,/b/p;$p' f",
            "sed -E 's/(a|b)+/\\1/g; s,x,y,' f",
            "sed -e '1d' -e '$!N' f",
            "sed 's/[a-z]*$//' f",
            "sed -n '/^a/{p;q}' f",
            "sed '/^#/d' f",
            "sed -i s/a/b/ f",
            "sed ':a;N;$!ba;s/\\n/ /g' f",
            "sed -e :a -e '/x/b' -e 's/a/b/;ta' f",
        ],
    },
];

/// Whether the script is known and only changes the output.
fn only_prints(command: &Command<'_, '_>) -> bool {
    let given = command.values("-e --expression").count();
    let operand = usize::from(given == 0);
    let texts: Vec<&str> = scripts(command).collect();
    let is_all = texts.len() == given + operand && !command.has("-f --file");
    command.has("--sandbox") || (is_all && texts.iter().all(|script| is_plain(script)))
}

/// Whether a script only changes the output, in every interpretation by implementations of sed.
fn is_plain(script: &str) -> bool {
    let mut readings = Readings::of(script);
    while let Some(rest) = readings.next() {
        if !is_plain_until_label(rest, &mut readings) {
            return false;
        }
    }
    !readings.are_too_many
}

fn is_plain_until_label<'s>(script: &'s str, readings: &mut Readings<'s>) -> bool {
    let mut rest = script;
    loop {
        let at = after_address(rest);
        let addresses = rest.get(..rest.len() - at.len()).unwrap_or_default();
        rest = at;
        let Some(letter) = rest.chars().next() else { return has_whole_brackets(addresses) };
        if !has_whole_brackets(addresses) {
            return false;
        }
        let after = rest.get(letter.len_utf8()..).unwrap_or_default();
        rest = match letter {
            's' | 'y' => {
                let Some(next) = after_plain_substitution(letter, after) else { return false };
                next
            }
            ':' | 'b' | 't' | 'T' => {
                readings.go_on_after_label(after);
                return true;
            }
            // The text of these ends with the line.
            'a' | 'i' | 'c' | '#' => after.split_once('\n').map_or("", |(_, rest)| rest),
            'p' | 'P' | 'd' | 'D' | 'q' | 'Q' | '=' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | 'l' | 'z' => {
                after
            }
            _ => return false,
        };
    }
}

/// Returns what follows `s` or `y`, if it only changes text.
fn after_plain_substitution(letter: char, after: &str) -> Option<&str> {
    let next = after_delimited(after, 2)?;
    let texts = after.get(..after.len() - next.len()).unwrap_or_default();
    let end = next.find([';', '\n', '}', ' ']).unwrap_or(next.len());
    let (flags, next) = next.split_at_checked(end)?;
    let is_flag = |flag: u8| flag.is_ascii_digit() || (letter == 's' && b"gpIiMm".contains(&flag));
    (flags.bytes().all(is_flag) && has_whole_brackets(texts)).then_some(next)
}

/// The remaining parts of a script. A label ends at a blank or semicolon in GNU sed, in some versions at a brace, and elsewhere
/// with the line (POSIX.1): each interpretation is followed, and the worst one counts.
#[derive(Debug)]
struct Readings<'s> {
    waiting: Vec<&'s str>,
    /// Start positions of the interpretations, by the length of the rest.
    seen: HashSet<usize>,
    are_too_many: bool,
}

impl<'s> Readings<'s> {
    /// Maximum number of labels. The rest of a script with more is not parsed, and counts as the worst.
    const MAX: usize = 256;

    fn of(script: &'s str) -> Self {
        Self { waiting: vec![script], seen: HashSet::from([script.len()]), are_too_many: false }
    }

    fn next(&mut self) -> Option<&'s str> {
        self.waiting.pop()
    }

    fn go_on_after_label(&mut self, label: &'s str) {
        let name = label.trim_start_matches([' ', '\t']);
        let in_gnu = |end: char| end.is_whitespace() || end == ';';
        let ends = [name.find(in_gnu), name.find(|end| in_gnu(end) || end == '}'), name.find('\n')];
        for rest in ends.into_iter().flatten().filter_map(|end| name.get(end..)) {
            self.are_too_many |= self.seen.len() >= Self::MAX;
            if !self.are_too_many && self.seen.insert(rest.len()) {
                self.waiting.push(rest);
            }
        }
    }
}

/// Whether every bracket expression ends before the delimiter. Implementations differ in the meaning of a delimiter in brackets.
fn has_whole_brackets(texts: &str) -> bool {
    let texts = texts.trim_start_matches(|letter: char| {
        !letter.is_ascii_punctuation() || b";{}$!,".contains(&u8::try_from(letter).unwrap_or_default())
    });
    let mut letters = texts.chars();
    let end = match letters.next() {
        Some('\\') => letters.next(),
        first => first,
    };
    let is_whole = |text: &str| {
        text.rfind('[').is_none_or(|open| text.get(open..).is_some_and(|rest| rest.contains(']')))
    };
    end.is_none_or(|end| texts.split(end).all(is_whole))
}

/// Returns the scripts: the first operand, unless options contain them.
fn scripts<'c>(command: &'c Command<'_, '_>) -> impl Iterator<Item = &'c str> {
    let sandboxed = command.has("--sandbox");
    let operand = command.operand(0).filter(|_| !command.has("-e --expression -f --file"));
    command.texts("-e --expression").chain(operand).filter(move |_| !sandboxed)
}

/// Effects of a script besides changing text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SedEffect {
    Writes,
    Runs,
}

/// Parses a script as far as needed to tell commands from text, in every interpretation by implementations of sed.
fn effect(script: &str) -> Option<SedEffect> {
    let mut readings = Readings::of(script);
    let mut worst = None;
    while let Some(rest) = readings.next() {
        worst = worst.max(effect_until_label(rest, &mut readings));
        if worst == Some(SedEffect::Runs) {
            return worst;
        }
    }
    if readings.are_too_many { Some(SedEffect::Runs) } else { worst }
}

fn effect_until_label<'s>(script: &'s str, readings: &mut Readings<'s>) -> Option<SedEffect> {
    let mut rest = script;
    let mut worst = None;
    while !rest.is_empty() {
        rest = after_address(rest);
        let Some(letter) = rest.chars().next() else { break };
        let after = rest.get(letter.len_utf8()..).unwrap_or_default();
        let after_line = after.split_once('\n').map_or("", |(_, rest)| rest);
        match letter {
            'e' => return Some(SedEffect::Runs),
            // The name of the file ends with the line.
            'w' | 'W' => (worst, rest) = (Some(SedEffect::Writes), after_line),
            's' => {
                let Some(after) = after_delimited(after, 2) else { break };
                let end = after.find([';', '\n', '}', ' ']).unwrap_or(after.len());
                let flags = after.get(..end).unwrap_or_default();
                if flags.contains('e') {
                    return Some(SedEffect::Runs);
                }
                if flags.contains('w') {
                    worst = Some(SedEffect::Writes);
                }
                rest = after.get(end..).unwrap_or_default();
            }
            'y' => match after_delimited(after, 2) {
                Some(next) => rest = next,
                None => break,
            },
            ':' | 'b' | 't' | 'T' => {
                readings.go_on_after_label(after);
                break;
            }
            // The text of these ends with the line.
            'a' | 'i' | 'c' | 'r' | 'R' | '#' => rest = after_line,
            _ => rest = after,
        }
    }
    worst
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

/// Returns what follows the first unescaped `end`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_labels_is_the_worst() {
        let flood = |count: usize| "bx;".repeat(count);
        assert_eq!(effect(&flood(10)), None);
        assert!(is_plain(&flood(10)));
        assert_eq!(effect(&format!("{}e id", flood(10))), Some(SedEffect::Runs));
        assert_eq!(effect(&format!("{}e id", flood(100_000))), Some(SedEffect::Runs));
        assert!(!is_plain(&flood(100_000)));
    }
}
