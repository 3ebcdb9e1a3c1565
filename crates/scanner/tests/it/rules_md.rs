//! `RULES.md` is the rule table for people: made from the table, never by hand.

#![expect(clippy::disallowed_methods, reason = "writes and compares a generated file")]

use std::fmt::Write as _;
use std::{env, fs};

use stockade_scanner::{FRAGMENTS, Region, Regions, RuleBuf, Scanner, ShapeBuf};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/RULES.md");

#[test]
fn rules_md_is_fresh() {
    let wanted = document(Scanner::builtin().rules());
    if env::var_os("STOCKADE_BLESS").is_some_and(|value| value == "1") {
        fs::write(PATH, &wanted).unwrap();
    }
    assert!(
        fs::read_to_string(PATH).unwrap_or_default() == wanted,
        "RULES.md is not fresh: run `cargo xtask generate`"
    );
}

fn document(rules: &[RuleBuf]) -> String {
    let mut out = String::from(
        "# The rules\n\n\
         Generated from `src/rules/`; `stockade rules show ID` prints the patterns too. CRITICAL is an attempt to attack, and \
         blocks; WARN has possible honest uses, and is shown to a person. A rule fires on any of the things that it looks for.\n\n\
         | rule | severity | category | what it finds |\n|---|---|---|---|\n",
    );
    for rule in rules {
        let anchor = rule.id.to_lowercase();
        let _ = writeln!(
            out,
            "| [{}](#{anchor}) | {} | {} | {} |",
            rule.id, rule.severity, rule.category, rule.summary
        );
    }
    rules.iter().for_each(|rule| section(&mut out, rule));
    fragments(&mut out);
    out
}

fn section(out: &mut String, rule: &RuleBuf) {
    let _ = writeln!(out, "\n## {}\n\n{} · {} · {}\n", rule.id, rule.severity, rule.category, rule.summary);
    let _ = writeln!(out, "What to do: {}\n\nIt looks for\n", rule.remedy);
    for shape in &rule.shapes {
        let _ = writeln!(out, "- {}{}{}", shape.note, place(shape.regions), conditions(shape));
    }
    examples(out, "It fires in", &rule.matches);
    examples(out, "It stays silent in", &rule.clean);
}

/// Where the shape is looked for, if not everywhere.
fn place(regions: Regions) -> String {
    if regions == Regions::ANY {
        return String::new();
    }
    let names: Vec<_> =
        Region::ALL.into_iter().filter(|&region| regions.contains(region)).map(Region::name).collect();
    format!(" — only in {}", names.join(", "))
}

fn conditions(shape: &ShapeBuf) -> String {
    match shape.unless.len() {
        0 => String::new(),
        1 => " (unless a condition holds)".to_owned(),
        count => format!(" (unless one of {count} conditions holds)"),
    }
}

/// One example a line, in a fence that no example can close. What could not be seen is spelled.
fn examples(out: &mut String, title: &str, texts: &[String]) {
    let _ = writeln!(out, "\n{title}\n\n~~~~~~text");
    for text in texts {
        let shown: String = text.chars().map(visible).collect();
        let _ = writeln!(out, "{}", shown.trim_end());
    }
    let _ = writeln!(out, "~~~~~~");
}

fn visible(letter: char) -> String {
    match letter {
        '\n' => " ⏎ ".to_owned(),
        ' '..='~' => letter.to_string(),
        _ => letter.escape_unicode().to_string(),
    }
}

fn fragments(out: &mut String) {
    let _ = writeln!(
        out,
        "\n## Fragments\n\nA pattern may use these by name, also in rules of your own: `\\|\\s*{{shell}}\\b`.\n"
    );
    let _ = writeln!(out, "| name | what it matches |\n|---|---|");
    for fragment in FRAGMENTS {
        let _ = writeln!(out, "| `{{{}}}` | {} |", fragment.name, fragment.meaning);
    }
}
