//! Adding makes nothing milder: each example of each rule, with text, markup or arguments added to it.

use std::collections::BTreeMap;

use stockade_scanner::{RuleBuf, Scanner, Severity};

/// What is added to an example.
#[derive(Clone, Copy)]
enum Addition {
    /// Text before and behind it.
    Around(&'static str, &'static str),
    /// Text before each of its lines, the first of which has another.
    EachLine(&'static str, &'static str),
    /// Text before and behind it, if it is one line.
    OneLine(&'static str, &'static str),
    /// Arguments behind each command of its fences for shells.
    Arguments(&'static str),
}

use Addition::{Arguments, Around, EachLine, OneLine};

/// The additions, by kind.
const ADDITIONS: &[(&str, Addition)] = &[
    ("a line above", Around("People often write language like\n", "")),
    ("a line above", Around("Never run any of the following:\n", "")),
    ("a line above", Around("This file documents a known prompt injection, such as\n", "")),
    ("a line above", Around("> A quotation of what an attacker says:\n", "")),
    ("a line below", Around("", "\nThe line above is only an example of an attack.\n")),
    ("a line below", Around("", "\n\nDo not do this.\n")),
    ("a table", Around("| a | b |\n|---|---|\n| c | d |\n\n", "")),
    ("a table", Around("", "\n\n| a | b |\n|---|---|\n| c | d |\n")),
    ("a table cell", OneLine("| a | b |\n|---|---|\n| 1 | ", " |\n")),
    ("a table cell", OneLine("| ", " | blocked |\n")),
    ("a list item", EachLine("- ", "  ")),
    ("a list item", EachLine("1. ", "   ")),
    ("a list item", EachLine("- [ ] ", "  ")),
    ("a quotation", EachLine("> ", "> ")),
    ("a fence", Around("```json\n{\"a\": 1}\n```\n\n", "")),
    ("a fence", Around("", "\n\n```python\nprint(1)\n```\n")),
    ("a fence around it", OneLine("```\n", "\n```\n")),
    ("a fence around it", OneLine("```text\n", "\n```\n")),
    ("a fence around it", OneLine("```markdown\n", "\n```\n")),
    ("a fence around it", OneLine("```sh\n", "\n```\n")),
    ("a fence around it", OneLine("```python\n", "\n```\n")),
    ("a fence around it", OneLine("```json\n", "\n```\n")),
    ("emphasis", OneLine("**", "**")),
    ("emphasis", OneLine("_", "_")),
    ("a claim", Around("---\nname: x\ndescription: A security scanner. Blocks malware.\n---\n\n", "")),
    (
        "a claim",
        Around(
            "---\nname: x\ndescription: Official.\nhomepage: https://e.example\nauthor: Example\nlicense: MIT\n---\n\n",
            "",
        ),
    ),
    ("an argument", Arguments(" --unknown")),
    ("an argument", Arguments(" --help")),
    ("a target", Arguments(" https://a.example/a")),
    ("a target", Arguments(" extra")),
    ("an argument", Arguments(" 2>/dev/null")),
    ("an argument", Arguments(" || true")),
];

impl Addition {
    /// The example with it, if it applies.
    fn to(self, example: &str) -> Option<String> {
        match self {
            Around(before, after) => Some(format!("{before}{example}{after}")),
            OneLine(before, after) => {
                let is_one = !example.contains('\n') && !example.contains("```");
                is_one.then(|| format!("{before}{example}{after}"))
            }
            EachLine(first, rest) => {
                let lines = example.split('\n').enumerate();
                let lines = lines.map(|(at, line)| format!("{}{line}", if at == 0 { first } else { rest }));
                Some(lines.collect::<Vec<_>>().join("\n"))
            }
            Arguments(words) => with_arguments(example, words),
        }
    }
}

/// The example with `words` at the end of the last line of each fence for shells.
fn with_arguments(example: &str, words: &str) -> Option<String> {
    let (before, fence) = example.split_once("```sh\n")?;
    let (commands, after) = fence.split_once("\n```")?;
    let takes_words =
        !commands.ends_with(['\\', '"', '\'', ')', '}', '`', '&', ';']) && !commands.contains("<<");
    takes_words.then(|| format!("{before}```sh\n{commands}{words}\n```{after}"))
}

/// Additions that change what an example is, by kind and the beginning of the ids of rules, each with the reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("a fence around it", "INJ_", "a fence shows text, such as a template of a prompt; orders are in prose"),
    ("a fence around it", "HID_STYLE", "a fence shows markup, and hides none of it"),
    (
        "a fence around it",
        "EXEC_BACKTICK",
        "backticks are a substitution in a fence, and a code span in prose",
    ),
    ("a fence around it", "EXEC_CLONED", "in a fence, its sentence is no command"),
    ("a fence around it", "EXEC_PIPE_BASH", "in a fence, its sentence is no command"),
    ("a fence around it", "EXEC_SAVED", "in a fence, its sentence is no command"),
    ("a fence around it", "EXFIL_SECRET", "in a fence, its sentence is no command"),
    ("a list item", "OBF_BASE64_LONG", "indented lines of letters are not one text"),
    ("a list item", "PRIV_SKIP_APPROVAL", "the front matter is at the beginning of a text"),
    ("emphasis", "OBF_HEX_LONG", "an underscore behind a space ends no emphasis"),
    ("emphasis", "ENV_PRINTENV", "the marks of bold text are no arguments"),
    ("a table cell", "", "a pipe in a row is the border of a cell"),
    ("a target", "EXEC_CLONED", "the last argument is the directory of the clone"),
    ("a target", "IMPACT_", "the last argument is what is written"),
];

fn is_exception(kind: &str, id: &str, example: &str) -> bool {
    let mut rows = EXCEPTIONS.iter().filter(|(of, rule, _)| *of == kind && id.starts_with(rule));
    rows.any(|_| kind != "a table cell" || example.contains('|') || id == "ENV_MASS_DUMP")
}

/// The worst severity at which a rule fires.
fn worst(rule: &RuleBuf, text: &str) -> Option<Severity> {
    let report = Scanner::builtin().scan(text);
    report.findings.iter().filter(|finding| finding.rule_id == rule.id).map(|finding| finding.severity).max()
}

#[test]
fn no_addition_makes_an_example_milder() {
    let mut milder: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for rule in Scanner::builtin().rules() {
        for example in &rule.matches {
            let alone = worst(rule, example);
            for (kind, addition) in ADDITIONS {
                let Some(text) = addition.to(example) else { continue };
                if worst(rule, &text) < alone && !is_exception(kind, &rule.id, example) {
                    milder.entry((kind, rule.id.as_str())).or_default().push(text);
                }
            }
        }
    }
    let shown: Vec<String> = milder
        .iter()
        .map(|((kind, id), texts)| format!("{kind}: {id} ({}): {:?}", texts.len(), texts.first()))
        .collect();
    assert!(milder.is_empty(), "{} became milder:\n{}", milder.len(), shown.join("\n"));
}
