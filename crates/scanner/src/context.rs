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

/// Words of an attack, of a warning or of what is wrong.
static SPEAKS_OF_ATTACKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile_list(&[
        // A word of a sentence, and none of an address.
        r#"(?i)(?:^|[\s("'*_`>#:,;|-])(?:bad|wrong|unsafe|insecure|danger\w{0,6}|malicious\w{0,3}|attack\w{0,5}|exploit\w{0,7}|suspicious\w{0,3}|flagged|blocked|red[ \t]+flags?|threats?|vulnerab\w{0,8}|injections?|forbidden|prohibited|anti-?patterns?|indicators?|iocs?|pentest\w{0,4}|red[ \t-]+team\w{0,3}|adversar\w{0,4}|exfiltrat\w{0,4}|backdoors?|malware|phish\w{0,3}|evil|hostile|destructive|what[ \t]+to[ \t]+(?:look|watch)[ \t]+for|warning[ \t]+signs?)(?:$|[\s)"'*_`:,;!?|]|\.(?:\s|$))|\xE2\x9D\x8C|\xF0\x9F\x9A\xAB|\xE2\x9B\x94|\xF0\x9F\x9A\xA9"#,
    ])
    .ok()
});

/// Words of those who look for attacks. In a heading they say no more than that something is looked at.
static SPEAKS_OF_CHECKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile_list(&[
        r#"(?i)(?:^|[\s("'*_`>#:,;|-])(?:detect\w{0,5}|flags|blocks?|reject\w{0,3}|signatures?|payloads?|compromised?|security[ \t]+(?:checks?|scans?|rules?|patterns?|audits?|reviews?|tests?|findings?))(?:$|[\s)"'*_`:,;!?|]|\.(?:\s|$))"#,
    ])
    .ok()
});

/// What forbids to run or to use what follows it, and what may stand between it and that.
struct Forbids {
    head: LazyLock<Option<Regex>>,
    gap: LazyLock<Option<Regex>>,
}

static FORBIDS_IT: [Forbids; 2] = [
    Forbids {
        head: LazyLock::new(|| {
            compile_list(&[
                r#"(?i){told-not-to}(?:(?:run|use|execute|pipe|paste|type|enter|install|copy|call|invoke|do|write|allow|trust|follow|send|put|pass|eval\w{0,5}|start|accept|recommend|suggest|include|download|fetch|add|embed|generate|produce|issue|read|load|open|access|apply|perform|construct|build)\b|["'`(\[])"#,
            ])
            .ok()
        }),
        gap: LazyLock::new(|| {
            compile_list(&[r#"^(?:[^.!?;,\n]|[.!?;]\S|,[ \t]*(?:or[ \t]+|and[ \t]+)?["'`]){0,120}$"#]).ok()
        }),
    },
    Forbids {
        head: LazyLock::new(|| {
            compile_list(&[
                r"(?i)(?:\b(?:instead[ \t]+of|rather[ \t]+than)|(?:^|[.!?:;(*_>|-])[ \t*_]*avoid)[ \t]+",
            ])
            .ok()
        }),
        gap: LazyLock::new(|| compile_list(&[r"^(?:[^.!?;,\n]|[.!?;]\S){0,80}$"]).ok()),
    },
];

/// A word behind which a clause says the opposite of what it began with.
static TURNS_ROUND: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile_list(&[
        r"(?i)\b(?:but|without|except|simply|just)\b|\binstead(?:[ \t]*$|[^\w \t]|[ \t]+(?:[^o\s]|o[^f]))",
    ])
    .ok()
});

/// Where a clause ends and another begins, of which it says nothing: at a conjunction, a colon or a dash.
static ENDS_CLAUSE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile_list(&[
        r"(?i)\b(?:and|then|so)\b|:(?:[ \t*_]|$)|[ \t](?:-{1,3}|\xE2\x80[\x92-\x95]|\xE2\x88\x92|=?>|\xE2\x86\x92)[ \t]|\xE2\x80\x94",
    ])
    .ok()
});

/// A second verb of running, which governs what follows it instead of the first: one more of the same stands behind `or`.
static RUNS_AGAIN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile_list(&[
        r"(?i)\b(?:run|execute|use|type|paste|enter|invoke|launch|start|call|install|try|do|pipe|fetch|download|copy|perform|apply)(?:ning|ting|ing)?\b",
    ])
    .ok()
});

/// Verbs behind an `or`, which are forbidden with the one before it.
static OR_RUNS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile_list(&[r"(?i)(?:/|\bn?or[ \t]+)(?:run|execute|use|type|paste|enter|invoke|launch|start|call|install|try|do|pipe|fetch|download|copy|perform|apply)(?:ning|ting|ing)?\b"]).ok()
});

/// A colon behind which stands what is forbidden: `Never run:`, `Do not use the following commands:`.
static POINTS_AT_IT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile_list(&[
        r"(?i)^[^:]{0,60}\b(?:this|these|those|such|following|commands?|like|things?|patterns?|e\.g\.)[ \t*_]*:[ \t*_]*$|^[ \t*_]*:[ \t*_]*$",
    ])
    .ok()
});

/// A line that forbids what stands below it or beside it: nothing else is what must not be run.
static FORBIDS_THIS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile_list(&[
        r"(?i){told-not-to}(?:(?:run|use|execute|pipe|paste|type|install|copy|call|invoke|do|write|allow|trust|follow|send|accept|suggest|include|generate|apply|perform)\b)?[ \t*_]*(?:$|[:.!]|[^.!?\n]{0,60}\b(?:this|these|such|following|commands?|code|anything|like|it|that|things?|patterns?|below|untrusted)\b)",
    ])
    .ok()
});

/// What makes of a prohibition the order to do it in another way.
static HAS_CONDITION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile_list(&[
        r"(?i)\b(?:unless|until|before|twice|again|if|when|while|sudo|root|admin\w{0,10}|once|other|else|different|another|worry|hesitate|without[ \t]+(?:first|this|it|these|\w{1,16}ing[ \t]+(?:this|it|these|the)))\b",
    ])
    .ok()
});

/// A clause that forbids something else: `DO NOT REMOVE`.
static TELLS_WHAT_TO_KEEP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile_list(&[
        r"(?i)\b(?:do[ \t]+not|don\W{1,3}t|never)[ \t]+(?:remove|delete|edit|change|touch|modify|skip|move|disable|forget|commit|print|log|display|interrupt|worry|hesitate|omit|miss|ignore)",
    ])
    .ok()
});

/// The rule whose order becomes a bound behind `only`: `Only send your key to`. Of any other order `only` takes nothing.
const SENDS: &str = "INJ_SEND_SECRETS";

/// What makes of an order to send a bound on it.
static SAYS_TO_WHOM: LazyLock<Option<Regex>> =
    LazyLock::new(|| compile_list(&[r"(?i)\bonly(?:[ \t]+ever)?[ \t*_]+$"]).ok());

/// An order that begins with sending, and not with what is gathered for it.
static BEGINS_WITH_SENDING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile_list(&[
        r"(?i)^(?:send|post|upload|forward|transmit|submit|deliver|email|mail|relay|pass)(?:s|es|ed|ing|ting|ted)?\b",
    ])
    .ok()
});

/// Words of what somebody says, asks for or writes: what is quoted behind them is spoken of.
static SPEAKS_OF_SAYING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile_list(&[
        r"(?i)\b(?:say(?:s|ing)?|said|asks?|asking|asked|tells?|telling|told|claims?|claiming|states?|stating|writes?|wrote|written|tr(?:y|ies|ying)|attempts?|attempting|contain(?:s|ed|ing)?|requests?|phrases?|wordings?|strings?|such[ \t]+as|like|e\.g\.?|i\.e\.?|for[ \t]+(?:example|instance)|examples?|quot(?:e[sd]?|ing)|mention(?:s|ed|ing)?|match(?:es|ed|ing)?|keywords?|called|titled|named)(?:\W|$)",
    ])
    .ok()
});

/// An order to follow what is quoted.
static ORDERS_TO_FOLLOW: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile_list(&[
        r"(?i)\b(?:follow|obey|do|execute|comply|perform|apply|adopt|accept|carry|act|now|must|shall|always|heed|respect|honou?r|treat|believe|(?:tell|told|ask|asked|telling|asking)[ \t]+you|you[ \t]+(?:are|have|were|will))\b",
    ])
    .ok()
});

/// Whether a text speaks of attacks, and forbids nothing else.
fn speaks(text: &str) -> bool {
    (says(&SPEAKS_OF_ATTACKS, text) || says(&SPEAKS_OF_CHECKS, text)) && !says(&TELLS_WHAT_TO_KEEP, text)
}

/// Whether a line forbids what stands below it or beside it.
fn forbids(line: &str) -> bool {
    says(&FORBIDS_THIS, line)
        && !says(&HAS_CONDITION, line)
        && !says(&TELLS_WHAT_TO_KEEP, line)
        && !says(&TURNS_ROUND, line)
}

/// Whether what stands before a match, in its line, speaks of attacks or forbids it.
fn warns(before: &str) -> bool {
    speaks(before) || forbids_it(before) && !says(&TELLS_WHAT_TO_KEEP, before)
}

/// Whether the clause in which a match stands forbids it, as its beginning says.
fn forbids_it(before: &str) -> bool {
    FORBIDS_IT.iter().any(|Forbids { head, gap }| {
        let heads = head.iter().flat_map(|head| head.find_iter(before)).map(|found| {
            // The quote that follows a head is the first of what it forbids.
            let quote = before.get(found.range()).is_some_and(|head| head.ends_with(BEGINS_QUOTE));
            before.get(found.end() - usize::from(quote)..).unwrap_or_default()
        });
        heads.into_iter().any(|between| says(gap, between) && governs(between))
    })
}

const BEGINS_QUOTE: [char; 5] = ['"', '\'', '`', '(', '['];

/// Whether a prohibition reaches over what stands between it and a match.
fn governs(between: &str) -> bool {
    let said = without_spans(between);
    let verbs =
        |regex: &Option<Regex>| regex.iter().map(|regex| regex.find_iter(&said).count()).sum::<usize>();
    !says(&TURNS_ROUND, between)
        && !says(&HAS_CONDITION, &said)
        && verbs(&RUNS_AGAIN) <= verbs(&OR_RUNS)
        && (!says(&ENDS_CLAUSE, &said) || says(&POINTS_AT_IT, &said))
}

/// What is said outside of code spans, of which the last may be open: a command in it is no clause. The `and` between two of a list
/// goes with them.
fn without_spans(text: &str) -> String {
    let outside: Vec<&str> = text.split('`').step_by(2).collect();
    let is_open = text.bytes().filter(|byte| *byte == b'`').count() % 2 == 1;
    let spans = outside.len().saturating_sub(usize::from(!is_open));
    let is_and = |at: usize, part: &str| at > 0 && at < spans && matches!(part.trim(), "and" | ", and");
    let parts = outside.iter().enumerate().map(|(at, part)| if is_and(at, part) { "," } else { part });
    parts.collect::<Vec<_>>().join("`")
}

/// A name or a key under which patterns, tests and examples of attacks are kept.
static KEEPS_PATTERNS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // A word of the name, and no part of one: `latest` keeps no tests.
    compile_list(&[
        r#"(?:(?i:(?:\b|_)(?:patterns?|rules?|signatures?|indicators?|danger\w{0,5}|suspicious|malicious|blocked|blocklist|denied|denylist|attacks?|payloads?|examples?|vectors?|regex\w{0,3}|checks?|cases?|tests?|samples?|threats?|detect\w{0,5}|forbidden|injections?))|[a-z0-9](?:Patterns?|Rules?|Signatures?|Indicators?|Danger\w{0,5}|Blocklist|Denylist|Attacks?|Payloads?|Examples?|Vectors?|Regex\w{0,3}|Checks?|Cases?|Tests?|Samples?|Threats?|Detect\w{0,5}|Injections?))(?:[_A-Z]\w{0,40})?["'`]?[ \t]*(?::[^\n=]{0,40}=|[:=]|\.(?:push|append)\()"#,
    ])
    .ok()
});

/// What stands before the quote of an item, of a value with a key, or of a pattern that is compiled; nothing that runs it.
static BEGINS_ITEM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile_list(&[
        r#"^[ \t]*(?:[-*][ \t]+)?[\[({]?[ \t]*[rbfu]{0,2}$"#,
        r#"^[^(]*[\[,{|][ \t]*[rbfu]{0,2}$"#,
        r#"^[^(]*\w["'`]?[ \t]*(?::|=>)[ \t]*[\[({]?[ \t]*[rbfu]{0,2}$"#,
        r#"(?i)\b\w{0,30}(?:pattern|regex|signature|rule|danger|suspicious|malicious|blocked|denied|attack|payload|example|indicator|threat|forbidden|injection)\w{0,30}(?:[ \t]*:[^\n=]{1,40})?[ \t]*=[ \t]*[\[({]{0,2}[ \t]*[rbfu]{0,2}$"#,
        r#"\b(?:re\.(?:compile|search|match|findall|sub|split|finditer)|RegExp|regex\w{0,12}|pattern\w{0,12}|\w{1,40}\.(?:push|append|add|test|match|search|includes|contains))\([ \t]*[rbfu]{0,2}$"#,
        r#"[\[,][ \t]*\([ \t]*[rbfu]{0,2}$"#,
    ])
    .ok()
});

/// What stands before the quote of a value that settings of a program run.
static RUNS_VALUE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile_list(&[
        r#"(?i)\b(?:run|scripts?|commands?|cmd|exec|execute|entrypoint|args|shell|start|test|build|prepare|(?:pre|post)\w{1,20}|install|on\w{1,20}|hooks?)["'`]?[ \t]*(?:[:=]|=>)[ \t]*[\[({]?[ \t]*$"#,
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
    (category, rule): (Category, &str),
) -> (Option<&'static str>, usize) {
    if matches!(category, Category::FakePrerequisite | Category::HiddenText) {
        return (None, 0);
    }
    let around = Around::new(text, span);
    let looked = REACH + 2 * LINE;
    let why = match region {
        Region::Prose | Region::InlineCode | Region::TableRow if warns(around.before) => {
            Some("the clause before it speaks of attacks")
        }
        Region::TableRow | Region::InlineCode
            if around.is_in_row(region) && (speaks(around.after) || forbids(around.after)) =>
        {
            Some("the row speaks of attacks")
        }
        Region::Prose | Region::TableRow | Region::InlineCode
            if category == Category::PromptInjection && around.is_cited() =>
        {
            Some("it is quoted as what somebody says")
        }
        Region::Prose | Region::TableRow | Region::InlineCode
            if rule == SENDS
                && says(&SAYS_TO_WHOM, around.before)
                && says(&BEGINS_WITH_SENDING, text.get(span.clone()).unwrap_or_default()) =>
        {
            Some("it says to whom alone")
        }
        _ if category == Category::XmlBreakout && ends_what_it_began(text, span) => {
            Some("it ends what the text itself began, and nothing stands behind it")
        }
        Region::Code | Region::Shell if around.is_signature(region) => {
            Some("it is a pattern in a list of such")
        }
        _ if around.is_introduced(region) => Some("what introduces it speaks of attacks"),
        _ => None,
    };
    (why, looked)
}

/// Quotes, as they open and as they close.
const QUOTES: &[(char, char)] = &[
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('“', '”'),
    ('„', '“'),
    ('‘', '’'),
    ('«', '»'),
    ('「', '」'),
    ('『', '』'),
];

/// Whether a closing tag is the last of a text in which it was opened: nothing stands behind it that could be out of it.
fn ends_what_it_began(text: &str, span: &Range<usize>) -> bool {
    let is_last = text.get(span.end..).is_some_and(|rest| rest.trim_start().is_empty());
    let tag = text.get(span.clone()).unwrap_or_default().trim_start_matches(['<', '/', ' ', '\t', '\n']);
    let name =
        tag.split(|letter: char| !letter.is_ascii_alphanumeric() && !matches!(letter, '-' | '_')).next();
    is_last
        && name.filter(|name| !name.is_empty()).is_some_and(|name| {
            let opening = format!("<{name}");
            memchr::memmem::find(text.as_bytes().get(..span.start).unwrap_or_default(), opening.as_bytes())
                .is_some()
        })
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

    /// Whether its line is a row of a table.
    fn is_in_row(&self, region: Region) -> bool {
        region == Region::TableRow || self.before.trim_start().starts_with('|')
    }

    /// Whether it stands in quotes or in a code span, and the clause before them speaks of somebody who says it. Quotes alone say
    /// nothing: an order in them is still an order.
    fn is_cited(&self) -> bool {
        let opens = |(at, quote): &(usize, char)| {
            let before = self.before.get(..*at).unwrap_or_default().chars().next_back();
            QUOTES.iter().any(|(open, _)| open == quote)
                && before.is_none_or(|letter| !letter.is_alphanumeric() && letter != *quote)
        };
        let Some((at, quote)) = self.before.char_indices().rfind(opens) else { return false };
        let Some((_, close)) = QUOTES.iter().find(|(open, _)| *open == quote) else { return false };
        let inside = self.before.get(at + quote.len_utf8()..).unwrap_or_default();
        let is_quoted = !inside.contains(*close) && self.after.contains(*close);
        let ahead = self.before.get(..at).unwrap_or_default();
        let ends = [". ", "! ", "? ", "; "].iter().filter_map(|end| ahead.rfind(end)).max();
        let clause = ends.and_then(|end| ahead.get(end + 1..)).unwrap_or(ahead);
        is_quoted && says(&SPEAKS_OF_SAYING, clause) && !says(&ORDERS_TO_FOLLOW, clause)
    }

    /// Whether a match in a program stands in quotes, as one of the patterns that a program looks for.
    fn is_signature(&self, region: Region) -> bool {
        let is_quote = |letter: char| matches!(letter, '"' | '\'' | '`' | '/');
        let Some((ahead, inside)) = self.before.rfind(is_quote).map(|at| self.before.split_at(at)) else {
            return false;
        };
        let quote = inside.chars().next().unwrap_or_default();
        let Some((behind, _)) = self.after.split_once(quote) else { return false };
        // What a program does with a text in quotes is said before it: what begins no item may be what runs it.
        if !says(&BEGINS_ITEM, ahead) || says(&RUNS_VALUE, ahead) {
            return false;
        }
        let is_expression = || says(&IS_EXPRESSION, inside) || says(&IS_EXPRESSION, behind);
        // What another fence keeps is nothing of this one.
        let is_fence =
            |line: &&str| line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        let mut above = self.above.lines().rev().take(12).take_while(|line| !is_fence(line));
        let mut kept = || says(&KEEPS_PATTERNS, ahead) || above.any(|line| says(&KEEPS_PATTERNS, line));
        is_expression() && region == Region::Code || kept()
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
                let said = line.trim_start_matches("REM ").trim_start_matches(['#', '/', ' ', '\t']);
                if at < 2 && is_comment && (speaks(line) || forbids(said)) {
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
                let said = line.trim_start_matches(['#', ' ', '\t']);
                return says(&SPEAKS_OF_ATTACKS, line) && !says(&TELLS_WHAT_TO_KEEP, line) || forbids(said);
            }
            let is_item = line.starts_with(['-', '*', '|', '+'])
                || line.starts_with(|first: char| first.is_ascii_digit());
            let introduces = sentences == 0 && (!is_item || is_program || line.ends_with(':'));
            if introduces {
                sentences += 1;
                if speaks(line) || forbids(line) {
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
