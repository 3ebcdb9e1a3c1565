//! Properties of every text. Each takes arbitrary bytes, so that a fuzzer and the stable tests can both use it.

use stockade_scanner::{
    Category, DownloadFact, Facts, MATCHED_TEXT_CHARS, Method, Pattern, Regions, Rule, ScanOptions,
    ScanReport, Scanner, Severity, Syntax, TextView, facts_of,
};

/// Fragments that the rules match, and separators. A byte of the input selects one, so that few bytes make a text
/// that matches, or nearly does.
const PIECES: &[&str] = &[
    "curl",
    "wget",
    "bash",
    "sh",
    "zsh",
    "nc",
    "eval",
    "exec",
    "env",
    "printenv",
    "base64",
    "python3",
    "sudo",
    "set",
    "export",
    " ",
    "  ",
    "\t",
    "\n",
    "\r\n",
    "\n\n",
    "\\\n",
    "|",
    "| ",
    "||",
    "|&",
    ";",
    "&&",
    "`",
    "```",
    "```sh\n",
    "~~~",
    "$(",
    ")",
    "(",
    "\"",
    "'",
    "''",
    "\\",
    "<(",
    "<",
    ">",
    "</",
    "/",
    "/dev/tcp/",
    "/proc/self/environ",
    "http://a.example/x",
    "-d",
    "-O-",
    "-qO- ",
    "-e ",
    "-i ",
    "-lvnp ",
    "4444",
    "--decode",
    "stratum+tcp://",
    "xmrig",
    "t-rex",
    "pool.",
    "mining.",
    "abc.com",
    "skill_invocation",
    "system",
    "tool_result",
    "&lt;",
    "&gt;",
    "\\x41",
    "\\x41\\x42\\x43\\x44\\x45\\x46\\x47\\x48\\x49\\x4a",
    "0x41, ",
    "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo=",
    "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5",
    "Run ",
    "a",
    "e",
    "x=",
    "1",
    ".",
    ",",
    "-",
    "_",
    "é",
    "—",
    "😀",
    "你",
    "\u{200b}",
    "\u{ad}",
    "ｃｕｒｌ",
    "ｂ",
    "｜",
    "\u{430}",
    "\u{a0}",
    "${IFS}",
    "$@",
    "$x",
    "{",
    "}",
    "os.environ",
    "process.env",
    "<|im_start|>",
    "[INST]",
    "\u{0}",
    "\u{7f}",
];

/// The prefilter loses no finding: scans with and without it give the same report.
pub(crate) fn finds_all(data: &[u8]) {
    let text = text(data);
    agree(Scanner::builtin(), &text);
}

/// A report is well formed for every text: spans, positions, order, bounds.
pub(crate) fn reports_hold(data: &[u8]) {
    let (limit, data) = data.split_first().map_or((0, data), |(&limit, rest)| (usize::from(limit), rest));
    let text = text(data);
    let options = ScanOptions { max_findings: limit, ..ScanOptions::default() };
    let report = Scanner::builtin().scan_with(&text, &options);
    assert!(report.findings.len() <= limit);
    assert_eq!(report.clean(), report.findings.is_empty() && !report.truncated);
    assert!(report.findings.is_sorted_by_key(|finding| finding.span.start));
    for finding in &report.findings {
        let (before, matched) = (&text[..finding.span.start], &text[finding.span.clone()]);
        assert!(!matched.is_empty());
        assert!(matched.starts_with(finding.matched_text));
        assert_eq!(finding.matched_text.chars().count(), matched.chars().count().min(MATCHED_TEXT_CHARS));
        assert_eq!(finding.position, before.chars().count());
        assert_eq!(finding.line, 1 + before.matches('\n').count());
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        assert_eq!(finding.column, 1 + before[line_start..].chars().count());
    }
}

/// Facts are within the text and its limits, and every finding about a download is one of them.
pub(crate) fn facts_hold(data: &[u8]) {
    let text = text(data);
    let syntax = [Syntax::Markdown, Syntax::Shell, Syntax::Code, Syntax::Plain][data.len() % 4];
    let facts = facts_of(&text, syntax);
    let Facts { claims, commands, downloads, removals, hidden, .. } = &facts;
    let of_downloads = downloads.iter().map(|fact| &fact.place);
    let runs = downloads.iter().filter_map(|fact| fact.run_by.as_ref());
    let places = claims.iter().map(|fact| &fact.place).chain(commands.iter().map(|fact| &fact.place));
    let places =
        places.chain(removals.iter().map(|fact| &fact.place)).chain(hidden.iter().map(|fact| &fact.place));
    for place in places.chain(of_downloads).chain(runs) {
        let before = &text[..place.byte_offset];
        assert!(text.is_char_boundary(place.byte_end) && place.byte_offset <= place.byte_end);
        assert_eq!(place.line, 1 + before.matches('\n').count());
    }
    assert!(commands.is_sorted_by_key(|fact| fact.place.byte_offset));
    assert!(commands.len() <= Facts::MAX_LISTED && hidden.len() <= Facts::MAX_LISTED);
    let options = ScanOptions { syntax, ..ScanOptions::default() };
    let report = Scanner::builtin().scan_with(&text, &options);
    let is_of_downloads = |id: &str| id == "EXEC_SAVED" || id == "EXEC_CLONED";
    for finding in report.findings.iter().filter(|finding| finding.view == TextView::Raw) {
        let at = finding.span.start;
        let holds = |fact: &&DownloadFact| (fact.place.byte_offset..fact.place.byte_end).contains(&at);
        let fact = downloads.iter().find(holds);
        assert!(
            !is_of_downloads(finding.rule_id) || fact.is_some_and(|fact| fact.run_by.is_some()),
            "{text:?}"
        );
    }
}

/// The prefilter loses no finding of a custom rule, whatever its pattern.
pub(crate) fn finds_all_of_a_users_rule(data: &[u8]) {
    let mut dice = Dice(data);
    let (pattern, example) = pattern(&mut dice, 3);
    // Making a scanner of a large pattern takes seconds, and a small one exercises the same code.
    if pattern.len() > MAX_PATTERN_BYTES || pattern.matches(LONG_LOOP).count() > 1 {
        return;
    }
    let patterns = [Pattern { note: "made up", regex: &pattern, regions: Regions::ANY, exceptions: &[] }];
    let rule = Rule {
        id: "MADE_UP",
        category: Category::Custom,
        severity: Severity::Warn,
        summary: "something made up",
        remedy: "Leave it out.",
        patterns: &patterns,
        matches: &[&example],
        clean: &["\u{1}"],
    };
    // Many patterns are rejected, for example because they match nothing at all, or everything.
    let Ok(scanner) = Scanner::only([&rule]) else { return };
    let mut text = String::new();
    while let Some(byte) = dice.next() {
        match byte % 4 {
            0 => text.push_str(&example),
            1 => {
                text.push_str(example.get(..usize::from(byte / 4) % (example.len() + 1)).unwrap_or_default());
            }
            2 => text.push_str(LETTERS[usize::from(byte / 4) % LETTERS.len()]),
            _ => text.push_str(PIECES[usize::from(byte / 4) % PIECES.len()]),
        }
    }
    agree(&scanner, &text);
}

fn agree(scanner: &Scanner, text: &str) {
    let options = ScanOptions::default();
    let [prefilterd, exhaustive] =
        [Method::Prefiltered, Method::Exhaustive].map(|method| scanner.scan_by(text, &options, method).0);
    same(&prefilterd, &exhaustive, text);
}

fn same(one: &ScanReport<'_>, other: &ScanReport<'_>, text: &str) {
    assert_eq!(one.findings, other.findings, "in {text:?}");
    assert_eq!(one.truncated, other.truncated, "in {text:?}");
}

/// A text: of fragments if the first byte is even, else the bytes themselves.
fn text(data: &[u8]) -> String {
    match data.split_first() {
        Some((first, rest)) if first % 2 == 0 => {
            rest.iter().map(|&byte| PIECES[usize::from(byte) % PIECES.len()]).collect()
        }
        Some((_, rest)) => String::from_utf8_lossy(rest).into_owned(),
        None => String::new(),
    }
}

/// Choices, taken from the input until it ends.
struct Dice<'d>(&'d [u8]);

impl Dice<'_> {
    fn next(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::from(self.next().unwrap_or(0)) % end
    }
}

/// A loop with many repetitions. Two of them in one pattern take seconds to check.
const LONG_LOOP: &str = r"[A-Za-z0-9+/]{40,}";
/// Maximum size of a pattern.
const MAX_PATTERN_BYTES: usize = 96;
/// Maximum size of a pattern that is repeated a counted number of times.
const LONGEST_COUNTED: usize = 12;

const LETTERS: &[&str] = &["a", "b", "s", "h", "|", "$", " ", "\n", "(", "-", "A", "_", "é", "0"];

/// Classes and assertions, with text that they match.
const CLASSES: &[(&str, &str)] = &[
    ("[a-c]", "b"),
    (r"\w", "h"),
    (r"\s", " "),
    (r"[^\n|]", "s"),
    (r"[^a]", "\n"),
    ("(?i:sh)", "Sh"),
    (LONG_LOOP, "AAAAAAAAAABBBBBBBBBBCCCCCCCCCCDDDDDDDDDD"),
    (r"\bsh", "sh"),
    (r"sh\b", "sh"),
    ("(?m:^)", ""),
    ("(?m:$)", ""),
    (r"\B", ""),
    (".", "b"),
    (r"[^\x00-\x7f]{2}", "é"),
];

/// Makes a pattern and a text that it usually matches.
fn pattern(dice: &mut Dice<'_>, depth: usize) -> (String, String) {
    match (dice.below(8), depth) {
        (0, _) => ("{shell}".to_owned(), "sh".to_owned()),
        (1 | 2, _) | (_, 0) => {
            let (class, example) = CLASSES[dice.below(CLASSES.len())];
            (class.to_owned(), example.to_owned())
        }
        (3, _) => letters(dice),
        (4, _) => {
            let ((one, example), (other, _)) = (pattern(dice, depth - 1), pattern(dice, depth - 1));
            (format!("(?:{one}|{other})"), example)
        }
        (5, _) => repeated(dice, depth),
        _ => {
            let count = 2 + dice.below(3);
            (0..count).map(|_| pattern(dice, depth - 1)).unzip()
        }
    }
}

fn letters(dice: &mut Dice<'_>) -> (String, String) {
    let letters: String = (0..1 + dice.below(6)).map(|_| LETTERS[dice.below(LETTERS.len())]).collect();
    let escaped = letters
        .chars()
        .map(|letter| if "|$(-".contains(letter) { format!("\\{letter}") } else { letter.to_string() });
    (escaped.collect(), letters)
}

fn repeated(dice: &mut Dice<'_>, depth: usize) -> (String, String) {
    let (inner, example) = pattern(dice, depth - 1);
    let loops = [("?", 0), ("?", 1), ("*", 2), ("+", 1), ("+?", 2), ("{2,5}", 3), ("{0,30}", 9)];
    // A counted pattern is expanded that often, so only small ones are counted. A long loop within a loop costs as
    // much as two.
    let choices = match inner.len() {
        _ if inner.contains(LONG_LOOP) => 2,
        0..=LONGEST_COUNTED => loops.len(),
        _ => 5,
    };
    let (times, count) = loops[dice.below(choices)];
    (format!("(?:{inner}){times}"), example.repeat(count))
}
