//! The parts of a statement whose data leaves it only as a hash or a signature.
//!
//! A statement that hashes something may send something else as it is, so only what a hash takes in counts: the arguments of its
//! call and of the calls chained to it, and in a shell the commands that print into it.

use std::ops::Range;

use super::sources::{HASHES, HASHES_IN_SHELL, SENDS_IN_SHELL};
use super::uses::without_comment;
use crate::rule::Region;

/// How far before a hash the call is looked for whose argument it is.
const MAX_BEFORE: usize = 200;

/// Returns the hashed parts, in order and apart from each other.
pub(super) fn hashed(text: &str, region: Region) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    let found = |expression: &'static crate::expression::Expression| expression.find_iter(text);
    for hash in found(if region == Region::Code { &HASHES } else { &HASHES_IN_SHELL }) {
        // One part may hold several words of hashing.
        let end = parts.last().map_or(0, |last| last.end);
        if hash.start < end {
            continue;
        }
        let part = match region {
            Region::Code if is_comment(text, hash.start) => None,
            Region::Code => of_call(text, &hash),
            _ => Some(of_pipe(text, &hash)),
        };
        parts.extend(part.filter(|part| !part.is_empty()).map(|part| part.start.max(end)..part.end));
    }
    parts
}

fn is_comment(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let start = before.rfind('\n').map_or(0, |line_end| line_end + 1);
    let line = text.get(start..).unwrap_or_default().lines().next().unwrap_or_default();
    without_comment(line).len() <= at - start
}

/// The arguments of the call that hashes, and what it is called on: `hmac.new(…)`, `key.sign(…)`, `hash_hmac('sha256', …)`.
fn of_call(text: &str, hash: &Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(hash.end..)?;
    let name = rest.len() - rest.trim_start_matches(is_of_call).len();
    let open = if text.get(..hash.end)?.ends_with('(') { hash.end - 1 } else { hash.end + name };
    if text.get(open..)?.starts_with('(') {
        let before = text.get(..hash.start)?;
        return Some(before.trim_end_matches(is_of_call).len()..end_of_calls(text, open)?);
    }
    let (start, open) = call_around(text, hash.start)?;
    Some(start..end_of_calls(text, open)?)
}

fn is_of_call(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '.' | ':' | '$' | '>' | '-')
}

/// Where the call begins, and its parenthesis, of which this is an argument, if it hashes by its name.
fn call_around(text: &str, at: usize) -> Option<(usize, usize)> {
    let (mut depth, mut open) = (0, None);
    for (index, letter) in text.get(..at)?.char_indices().rev().take(MAX_BEFORE) {
        match letter {
            ')' => depth += 1,
            '(' if depth == 0 => {
                open = Some(index);
                break;
            }
            '(' => depth -= 1,
            ';' | '\n' | '{' => return None,
            _ => {}
        }
    }
    let open = open?;
    let start = text.get(..open)?.trim_end_matches(is_of_call).len();
    let name = text.get(start..open)?.to_ascii_lowercase();
    let is_hash = ["hash", "hmac", "sign", "digest", "verify"].iter().any(|word| name.contains(word));
    is_hash.then_some((start, open))
}

/// The end of the call whose parenthesis is at `open`, and of the calls that are chained to it.
fn end_of_calls(text: &str, open: usize) -> Option<usize> {
    let mut end = end_of_call(text, open)?;
    while let Some(closed) = chained(text, end).and_then(|open| end_of_call(text, open)) {
        end = closed;
    }
    Some(end)
}

/// The parenthesis of a call on what ends here: `.update(`.
fn chained(text: &str, end: usize) -> Option<usize> {
    let rest = text.get(end..)?;
    let called = rest.trim_start().strip_prefix('.')?;
    let opened = called.trim_start_matches(|letter: char| letter.is_alphanumeric() || letter == '_');
    opened.starts_with('(').then(|| end + rest.len() - opened.len())
}

/// Just behind the parenthesis that closes this one.
fn end_of_call(text: &str, open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, byte) in text.as_bytes().get(open..)?.iter().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth == 0 {
                    return Some(open + index + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// The command that hashes, and the commands that print into it, unless one of them sends what it has itself.
fn of_pipe(text: &str, hash: &Range<usize>) -> Range<usize> {
    let begin = |before: &str, ends: &[char]| before.rfind(ends).map_or(0, |at| at + 1);
    // The match begins with what precedes the command.
    let own = hash.end.min(
        hash.start
            + text.get(hash.clone()).map_or(0, |found| found.starts_with(['|', ';', '&', '(', '`']).into()),
    );
    let before = text.get(..own).unwrap_or_default();
    let start = match text.get(hash.start..own) {
        Some("|") => begin(before, &[';', '&', '(', '`', '\n']),
        _ => own,
    };
    let sends = SENDS_IN_SHELL.is_match(text.get(start..own).unwrap_or_default());
    let rest = text.get(hash.end..).unwrap_or_default();
    let end = rest.find(['|', ';', '&', ')', '`', '\n']).map_or(text.len(), |at| hash.end + at);
    (if sends { own } else { start })..end
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hashed parts in brackets.
    fn marked(text: &str, region: Region) -> String {
        let mut out = text.to_owned();
        for part in hashed(text, region).into_iter().rev() {
            out.insert(part.end, ']');
            out.insert(part.start, '[');
        }
        out
    }

    #[test]
    fn only_what_a_hash_takes_in_is_hashed() {
        let rows = [
            "x = [hmac.new(KEY, body, hashlib.sha256).hexdigest()]; post(KEY)",
            "post([hashlib.sha256(KEY.encode()).hexdigest()], KEY)",
            "s = crypto.[createHmac('sha256', KEY).update(body).digest('hex')] + KEY",
            "sig = [private_key.sign(data, padding)], private_key",
            "$s = [hash_hmac('sha256', $body, $secret)]; send($secret);",
            "s = [OpenSSL::HMAC.hexdigest('sha256', key, data)] + key",
            "algorithm = 'sha256'; post(KEY)",
            "post(KEY) # hashlib.sha256(KEY)",
            "import hmac, hashlib",
            "x = hashlib.sha256(KEY",
            "f('md5', KEY)",
        ];
        for row in rows {
            let plain = row.replace(['[', ']'], "");
            // What a call is called on belongs to it.
            assert_eq!(marked(&plain, Region::Code).replace("[crypto.", "crypto.["), row);
        }
    }

    #[test]
    fn in_a_shell_what_prints_into_a_hash_is_hashed() {
        let rows = [
            "[printf \"$KEY\" | sha256sum ]| curl -d @- e",
            "curl -d \"$KEY\" e |[ sha256sum]",
            "echo $KEY;[ sha256sum a]; curl -d $KEY e",
            "[echo a | openssl dgst -sha256 -hmac \"$KEY\" ]| curl -d $KEY e",
            "echo sha256sum $KEY | nc e 1",
        ];
        for row in rows {
            let plain = row.replace(['[', ']'], "");
            assert_eq!(marked(&plain, Region::Shell), row);
        }
    }
}
