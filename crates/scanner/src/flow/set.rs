//! Assignments of a statement: names, and functions with their arguments.

use arrayvec::ArrayVec;

use super::names::MAX_ARGUMENTS;
use crate::rule::Region;

/// Keywords before an assigned name.
const SETS: &[&str] = &[
    "export", "const", "let", "var", "local", "readonly", "declare", "my", "typeset", "global", "then", "do",
    "await", "async", "with", "for", "if",
];

/// Returns the names that a statement sets.
pub(super) fn set_by(text: &str, region: Region) -> ArrayVec<&str, MAX_ARGUMENTS> {
    let mut set = ArrayVec::new();
    let text = text.trim_start();
    let line = text.split('\n').next().unwrap_or_default();
    let left = assigned_side(line);
    for name in left
        .into_iter()
        .flat_map(|left| left.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_'))
    {
        if !name.is_empty()
            && !SETS.contains(&name)
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && name != "self"
            && name != "this"
        {
            let _ = set.try_push(name);
        }
    }
    for (mark, end) in
        [(" as ", ':'), ("while read ", ';'), ("read -r ", ';'), ("| read ", ';'), ("for ", ' ')]
    {
        if let Some((_, rest)) = line.split_once(mark) {
            let names = rest.split(end).next().unwrap_or_default();
            let is_loop = mark == "for ";
            for name in names
                .split([' ', ','])
                .filter(|name| !name.is_empty() && !name.starts_with('-'))
                .take(if is_loop { 2 } else { 3 })
            {
                let name = name.trim_matches(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
                if !name.is_empty() && name != "in" && name != "of" {
                    let _ = set.try_push(name);
                }
            }
        }
    }
    if region == Region::Code {
        for method in [".append(", ".update(", ".push(", ".extend(", ".add(", ".write(", ".set("] {
            if let Some((object, _)) = line.split_once(method) {
                let name = object
                    .rsplit(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
                    .next()
                    .unwrap_or_default();
                if !name.is_empty() {
                    let _ = set.try_push(name);
                }
            }
        }
    }
    set
}

/// Returns the left side of an assignment, if the line is one.
fn assigned_side(line: &str) -> Option<&str> {
    let at = line.find('=')?;
    let (left, right) = (line.get(..at)?, line.get(at + 1..)?);
    let is_match = right.starts_with('~') && !right.starts_with("~/");
    let is_comparison = is_match || right.starts_with(['=', '>']) || left.ends_with(['=', '!', '<', '>']);
    let left = left.trim_end_matches(['+', ':', '|', '?', ' ', '\t']);
    // Drop a key in square brackets, or a type behind a colon.
    let left = left.split(['[', ':']).next().unwrap_or_default();
    let is_plain = left.bytes().all(|byte| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'_' | b'.' | b' ' | b',' | b'{' | b'}' | b'$' | b'\t' | b'(' | b')')
    });
    let has_call = left.contains('(') && !left.trim_start().starts_with('(');
    (is_plain && !is_comparison && !has_call && left.len() <= 160 && !left.trim().is_empty()).then_some(left)
}

/// Returns the name and the arguments of a function definition that begins here.
pub(super) fn function(text: &str) -> Option<(&str, ArrayVec<&str, MAX_ARGUMENTS>)> {
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let text = text.trim_start();
    let text = text.strip_prefix("export ").unwrap_or(text).trim_start();
    let text = text.strip_prefix("async ").unwrap_or(text).trim_start();
    let rest = ["def ", "function ", "fn ", "func "].iter().find_map(|word| text.strip_prefix(word));
    let (name, rest) = match rest {
        Some(rest) => {
            let end = rest.find(|letter| !is_of_name(letter))?;
            rest.split_at(end)
        }
        None if is_arrow(text) => {
            let rest = ["const ", "let ", "var "].iter().find_map(|word| text.strip_prefix(word))?;
            let end = rest.find(|letter| !is_of_name(letter))?;
            rest.split_at(end)
        }
        None => return None,
    };
    let arguments = rest.split_once('(').map_or("", |(_, rest)| rest.split(')').next().unwrap_or_default());
    let mut names = ArrayVec::new();
    for argument in arguments.split(',') {
        let end =
            argument.trim_start().find(|letter| !is_of_name(letter)).unwrap_or(argument.trim_start().len());
        let argument = argument.trim_start().get(..end).unwrap_or_default();
        if !argument.is_empty() && argument != "self" {
            let _ = names.try_push(argument);
        }
    }
    (!name.is_empty()).then_some((name, names))
}

/// Whether the assigned value is a function: arguments in brackets, or one, before an arrow.
fn is_arrow(text: &str) -> bool {
    let head = text.split_once("=>").and_then(|(head, _)| head.split_once('='));
    head.is_some_and(|(_, arguments)| {
        let arguments = arguments.trim_start().trim_start_matches("async").trim();
        arguments.starts_with('(')
            || arguments.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}
