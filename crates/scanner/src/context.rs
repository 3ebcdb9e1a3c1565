//! What is said around a match, and makes an attack something that is spoken of: it is shown then, and blocks no more.
//!
//! One level down and never out: whoever writes a text may write what stands around it, too, so nothing said there makes a finding
//! go away. What is hidden, and what a person is asked to fetch and start, is told of as it is, whatever is said around it.

use std::ops::Range;
use std::sync::LazyLock;

use regex_automata::meta::Regex;

use crate::exact::compile_list;
use crate::rule::{Category, Region};

/// How far before a match it is looked for what introduces it.
const REACH: usize = 1500;
/// How far into its line.
const LINE: usize = 240;

/// A clause that forbids, warns of or looks for what follows.
static SPEAKS_OF_ATTACKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile_list(&[
        // A word of a sentence, and none of an address.
        r#"(?i)(?:^|[\s("'*_`>#:,;|-])(?:never|do[ \t]+not|don\W{1,3}t|avoid\w{0,3}|must[ \t]+not|should[ \t]+not|instead[ \t]+of|rather[ \t]+than|bad|wrong|unsafe|insecure|danger\w{0,6}|malicious\w{0,3}|attack\w{0,5}|exploit\w{0,7}|suspicious\w{0,3}|detect\w{0,5}|flag(?:s|ged)|blocks?|blocked|reject\w{0,3}|red[ \t]+flags?|threats?|vulnerab\w{0,8}|injections?|forbidden|prohibited|anti-?patterns?|indicators?|iocs?|signatures?|payloads?|pentest\w{0,4}|red[ \t-]+team\w{0,3}|adversar\w{0,4}|compromised?|exfiltrat\w{0,4}|backdoors?|malware|phish\w{0,3}|evil|hostile|destructive|what[ \t]+to[ \t]+(?:look|watch)[ \t]+for|warning[ \t]+signs?|security[ \t]+(?:checks?|scans?|rules?|patterns?|audits?|reviews?|tests?|findings?))(?:$|[\s)"'*_`:,;!?|]|\.(?:\s|$))|\xE2\x9D\x8C|\xF0\x9F\x9A\xAB|\xE2\x9B\x94|\xF0\x9F\x9A\xA9"#,
    ])
    .ok()
});

/// A comment that forbids something else: `DO NOT REMOVE`.
static TELLS_WHAT_TO_KEEP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile_list(&[
        r"(?i)\b(?:do[ \t]+not|don\W{1,3}t|never)[ \t]+(?:remove|delete|edit|change|touch|modify|skip|move|disable|forget|commit|print|log|display|interrupt)",
    ])
    .ok()
});

/// A name or a key under which patterns, tests and examples of attacks are kept.
static KEEPS_PATTERNS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile_list(&[
        r#"(?i)\w{0,40}(?:patterns?|rules?|signatures?|indicators?|danger\w{0,5}|suspicious|malicious|blocked|blocklist|denied|denylist|attacks?|payloads?|examples?|vectors?|regex\w{0,3}|checks?|cases?|tests?|samples?|threats?|detect\w{0,5}|forbidden|injections?)\w{0,40}["'`]?[ \t]*(?:[:=]|\.(?:push|append)\()"#,
    ])
    .ok()
});

/// What regular expressions are written with, and commands are not.
static IS_EXPRESSION: LazyLock<Option<Regex>> =
    LazyLock::new(|| compile_list(&[r"\\[bsSdwW][+*]?|\(\?[:i=!]|\.\*|\.\{[0-9]|\[\^|\\[.|(]|\.\+"]).ok());

/// Returns why a match blocks no more, if something around it says so, and how many bytes were looked at.
pub(crate) fn lowered(
    text: &str,
    span: &Range<usize>,
    region: Region,
    category: Category,
) -> (Option<&'static str>, usize) {
    if matches!(category, Category::FakePrerequisite | Category::HiddenText) {
        return (None, 0);
    }
    let around = Around::new(text, span);
    let looked = REACH + 2 * LINE;
    let why = match region {
        Region::Prose | Region::InlineCode if says(&SPEAKS_OF_ATTACKS, around.before) => {
            Some("the clause before it speaks of attacks")
        }
        Region::TableRow
            if says(&SPEAKS_OF_ATTACKS, around.before) || says(&SPEAKS_OF_ATTACKS, around.after) =>
        {
            Some("the row speaks of attacks")
        }
        Region::Code | Region::Shell if around.is_signature(region) => {
            Some("it is a pattern in a list of such")
        }
        _ if around.is_introduced(region) => Some("what introduces it speaks of attacks"),
        _ => None,
    };
    (why, looked)
}

/// What stands around a match.
struct Around<'t> {
    /// The text before its line, as far as it is looked at.
    above: &'t str,
    /// Its line, up to it and behind it.
    before: &'t str,
    after: &'t str,
}

impl<'t> Around<'t> {
    fn new(text: &'t str, span: &Range<usize>) -> Self {
        let near = text
            .get(text.floor_char_boundary(span.start.saturating_sub(REACH))..span.start)
            .unwrap_or_default();
        let (above, before) = near.rfind('\n').map_or(("", near), |end| near.split_at(end + 1));
        let rest = text
            .get(span.end..text.ceil_char_boundary((span.end + LINE).min(text.len())))
            .unwrap_or_default();
        let after = rest.split('\n').next().unwrap_or_default();
        let before =
            before.get(before.ceil_char_boundary(before.len().saturating_sub(LINE))..).unwrap_or_default();
        Self { above, before, after }
    }

    /// Whether a match in a program stands in quotes, as one of the patterns that a program looks for.
    fn is_signature(&self, region: Region) -> bool {
        let quote = self.before.bytes().rev().find(|byte| matches!(byte, b'"' | b'\'' | b'`' | b'/'));
        let Some(quote) = quote else { return false };
        let is_closed = self.after.bytes().any(|byte| byte == quote);
        let line = || says(&IS_EXPRESSION, self.before) || says(&IS_EXPRESSION, self.after);
        let kept = || {
            says(&KEEPS_PATTERNS, self.before)
                || self.above.lines().rev().take(12).any(|line| says(&KEEPS_PATTERNS, line))
        };
        is_closed && (line() && region == Region::Code || kept())
    }

    /// Whether the line before, the comment before, the sentence before the list or the fence, or the heading speaks of attacks.
    fn is_introduced(&self, region: Region) -> bool {
        let is_program = matches!(region, Region::Code | Region::Shell);
        let mut lines = self.above.lines().rev().peekable();
        if is_program {
            // Comments right above, and then what stands before the fence.
            for (at, line) in lines.by_ref().enumerate() {
                let line = line.trim_start();
                if line.starts_with("```") || line.starts_with("~~~") {
                    break;
                }
                let is_comment = line.starts_with('#') || line.starts_with("//") || line.starts_with("REM ");
                if at < 2 && is_comment && says(&SPEAKS_OF_ATTACKS, line) && !says(&TELLS_WHAT_TO_KEEP, line)
                {
                    return true;
                }
            }
        }
        let mut sentences = 0;
        for line in lines {
            let line = line.trim();
            if line.is_empty() {
                continue;
            }
            if line.starts_with('#') {
                return says(&SPEAKS_OF_ATTACKS, line);
            }
            let is_item = line.starts_with(['-', '*', '|', '+'])
                || line.starts_with(|first: char| first.is_ascii_digit());
            let introduces = sentences == 0 && (!is_item || is_program || line.ends_with(':'));
            if introduces {
                sentences += 1;
                if says(&SPEAKS_OF_ATTACKS, line) {
                    return true;
                }
            }
        }
        false
    }
}

fn says(regex: &Option<Regex>, text: &str) -> bool {
    regex.as_ref().is_some_and(|regex| regex.is_match(text))
}
