//! No-op shell quoting: `c''url`, `cu\rl`, `ba$@sh` and `${IFS}` mean `curl`, `bash` and a space to a shell.

use std::ops::Range;

use arrayvec::ArrayString;

use super::layer::{Editor, Layer};
use super::token::{is_in_token, is_quote, tokens};

/// The words that are worth deobfuscating: those that the rules match as commands.
pub(super) const WORDS: &[&str] = &[
    "bash", "sh", "zsh", "ksh", "dash", "curl", "wget", "eval", "env", "base64", "python", "python3", "perl",
    "php", "ruby", "node", "nc", "ncat", "socat", "iex", "iwr", "xmrig", "printenv", "tcp", "udp",
];
/// Length of the longest of them.
const MAX_WORD_BYTES: usize = 8;

/// A longer token is no obfuscated word.
const MAX_TOKEN_BYTES: usize = 256;

/// An obfuscated part of a token.
struct Quoted {
    range: Range<usize>,
    /// Its plain spelling.
    plain: &'static str,
}

/// Removes the no-op quoting that hides a word of the rules; `None` without such quoting.
pub(super) fn unquote(text: &str) -> Option<Layer> {
    let mut editor = Editor::new(text);
    for Range { start: mut at, end } in tokens(text, can_be_idle) {
        while let Some(Quoted { range, plain }) = text.get(at..end).and_then(first_quoted) {
            editor.replace(at + range.start..at + range.end, plain);
            at += range.end;
        }
    }
    editor.finish()
}

/// Whether a byte between these two can be no-op quoting: around a word it is honest. A variable can be a space.
#[inline]
fn can_be_idle(before: u8, byte: u8, after: u8) -> bool {
    let is_within = |byte| is_in_token(byte) | (byte == b'\n') | (byte == b'\r');
    (byte == b'$') | (is_quote(byte) & is_within(before) & is_within(after))
}

/// Whether `word` is one that the rules match, in lower or upper case.
pub(super) fn is_word(word: &str) -> bool {
    WORDS.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// Finds the first no-op quoting in a token that is worth removing, if any.
fn first_quoted(token: &str) -> Option<Quoted> {
    let separator = field_separator(token);
    let end = separator.as_ref().map_or(token.len(), |range| range.start);
    match token.get(..end).and_then(unquoted_word) {
        Some(plain) => Some(Quoted { range: 0..end, plain }),
        None => separator.map(|range| Quoted { range, plain: " " }),
    }
}

/// Finds `$IFS`, `${IFS}` or `${IFS%…}`.
fn field_separator(token: &str) -> Option<Range<usize>> {
    const MAX_BYTES: usize = 32;
    let starts =
        memchr::memchr_iter(b'$', token.as_bytes()).map(|at| (at, token.get(at..).unwrap_or_default()));
    for (at, rest) in starts {
        if rest.starts_with("${IFS") {
            let close = rest.bytes().take(MAX_BYTES).position(|byte| byte == b'}')?;
            return Some(at..at + close + 1);
        }
        // `$IFSx` is a different variable.
        if let Some(after) = rest.strip_prefix("$IFS")
            && !after.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '_')
        {
            return Some(at..at + "$IFS".len());
        }
    }
    None
}

/// Returns the word of the rules that a shell reads, if there is quoting inside it.
fn unquoted_word(token: &str) -> Option<&'static str> {
    if token.len() > MAX_TOKEN_BYTES {
        return None;
    }
    let mut plain = ArrayString::<MAX_WORD_BYTES>::new();
    // Quotes around the whole word are honest, however many; inside the word they hide it.
    let (mut after_idle, mut inside, mut rest) = (false, false, token);
    while let Some(first) = rest.chars().next() {
        let length = idle_length(rest);
        if length == 0 {
            inside |= after_idle && !plain.is_empty();
            plain.try_push(first).ok()?;
        }
        after_idle = length > 0;
        rest = rest.get(length.max(first.len_utf8())..)?;
    }
    // Command names are case-sensitive.
    if inside { WORDS.iter().copied().find(|known| *known == plain.as_str()) } else { None }
}

/// Returns how many bytes at the start of `rest` a shell would drop from a word. Variables count: an unset one is
/// empty.
fn idle_length(rest: &str) -> usize {
    const IDLE: &[&str] = &["\\\r\n", "\\\n", "\\", "'", "\"", "$@", "$*", "${@}", "${*}"];
    const MAX_NAME_BYTES: usize = 16;
    if !rest.starts_with(['\\', '\'', '"', '$']) {
        return 0;
    }
    if let Some(idle) = IDLE.iter().find(|idle| rest.starts_with(**idle)) {
        return idle.len();
    }
    match rest.as_bytes() {
        [b'$', b'0'..=b'9', ..] => 2,
        [b'$', b'{', name @ ..] => {
            let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
            let length = name.iter().take(MAX_NAME_BYTES + 1).take_while(is_name).count();
            let closed = (1..=MAX_NAME_BYTES).contains(&length) && name.get(length) == Some(&b'}');
            if closed { length + 3 } else { 0 }
        }
        _ => 0,
    }
}
