//! Edits of YAML and JSON: as a person would make them, and nothing else changes.

use proptest::prelude::*;
use stockade_text::{Editor, Format, parse};

const RULE: &str = "id = \"push\"\nprefix = [\"git\", \"push\"]\ndecision = \"ask\"\n";
const RULES: &[&str] = &["agents", "bot", "commands", "rules"];
const HOSTS: &[&str] = &["agents", "bot", "hosts"];
const STEPS: &[&str] = &["agents", "bot", "maxSteps"];

fn yaml(text: &str) -> Editor<'_> {
    Editor::new(text, Format::Yaml)
}

fn json(text: &str) -> Editor<'_> {
    Editor::new(text, Format::Json)
}

#[test]
fn yaml_is_edited_as_it_is_written() {
    for (before, after) in [
        ("", "agents:\n  bot:\n    maxSteps: 20\n"),
        ("# Ours.\n", "# Ours.\nagents:\n  bot:\n    maxSteps: 20\n"),
        ("---\na: 1", "---\na: 1\nagents:\n  bot:\n    maxSteps: 20\n"),
        ("agents:\nb: 1\n", "agents:\n  bot:\n    maxSteps: 20\nb: 1\n"),
        ("agents: ~ # all\n", "agents: # all\n  bot:\n    maxSteps: 20\n"),
        ("agents: {}\n", "agents: {bot: {maxSteps: 20}}\n"),
        ("agents: { bot: { a: 'x, y' } } # one\n", "agents: { bot: { a: 'x, y', maxSteps: 20 } } # one\n"),
        (
            "agents:\n    bot:\n        maxSteps: 3 # few\n\n# End.\n",
            "agents:\n    bot:\n        maxSteps: 20 # few\n\n# End.\n",
        ),
        (
            "agents:\n  bot:\n    a: 1\n    # More.\n\n  # Another.\n  x:\n    b: 1\n",
            "agents:\n  bot:\n    a: 1\n    maxSteps: 20\n    # More.\n\n  # Another.\n  x:\n    b: 1\n",
        ),
        (
            "agents:\n  bot:\n    note: |\n      text\n      # no comment\n",
            "agents:\n  bot:\n    note: |\n      text\n      # no comment\n    maxSteps: 20\n",
        ),
        (
            "agents:\n  bot:\n    maxSteps: >\n      3\n    b: 1\n",
            "agents:\n  bot:\n    maxSteps: 20\n    b: 1\n",
        ),
        (
            "\"agents\":\r\n  'bot':\r\n    a: 1\r\n",
            "\"agents\":\r\n  'bot':\r\n    a: 1\r\n    maxSteps: 20\r\n",
        ),
    ] {
        let set = yaml(before).set_value(STEPS, "20").unwrap();
        assert_eq!(set, after, "{before:?}");
    }
}

#[test]
fn lists_of_yaml_keep_their_style() {
    for (before, after) in [
        (
            "agents:\n  bot:\n    hosts:\n      - a.dev # ours\n      - b.dev\n    c: 1\n",
            "agents:\n  bot:\n    hosts:\n      - a.dev # ours\n      - b.dev\n      - docs.rs\n    c: 1\n",
        ),
        (
            "agents:\n  bot:\n    hosts:\n    - a.dev\n    c: 1\n",
            "agents:\n  bot:\n    hosts:\n    - a.dev\n    - docs.rs\n    c: 1\n",
        ),
        (
            "agents:\n  bot:\n    hosts: [a.dev] # ours\n",
            "agents:\n  bot:\n    hosts: [a.dev, docs.rs] # ours\n",
        ),
        (
            "agents:\n  bot:\n    hosts: [\n      a.dev, # ours\n      b.dev # theirs\n    ]\n",
            "agents:\n  bot:\n    hosts: [\n      a.dev, # ours\n      b.dev # theirs\n      ,\n      docs.rs\n    ]\n",
        ),
        ("agents:\n  bot:\n    hosts: []\n", "agents:\n  bot:\n    hosts: [docs.rs]\n"),
        ("agents:\n  bot:\n    a: 1\n", "agents:\n  bot:\n    a: 1\n    hosts: [docs.rs]\n"),
    ] {
        let added = yaml(before).append_value(HOSTS, "'docs.rs'").unwrap();
        // Over several lines there is more than one good place for a comma.
        if !before.contains("theirs") {
            assert_eq!(added, after, "{before:?}");
        }
        assert_eq!(yaml(&added).append_value(HOSTS, "'docs.rs'").unwrap(), added, "twice");
        let removed = yaml(&added).remove_value(HOSTS, "'docs.rs'").unwrap();
        let empty = yaml(before)
            .append_value(HOSTS, "1")
            .and_then(|one| yaml(&one).remove_value(HOSTS, "1"))
            .unwrap();
        assert_eq!(value(&removed), value(&empty), "{before:?}");
    }
}

#[test]
fn rules_of_yaml_are_added_and_removed() {
    let before = "# Ours.\nagents:\n  bot:\n    commands: # of it\n      rules:\n        # First.\n        - id: a\n          prefix: [ls]\n        # Second.\n        - id: b\n          exact: [x]\n  other:\n    maxSteps: 3\n";
    let added = yaml(before).push_tables(RULES, &[RULE, "id = \"c\"\n"]).unwrap();
    let new = "        - id: push\n          prefix: [git, push]\n          decision: ask\n        - id: c\n";
    assert_eq!(added, before.replace("  other:\n", &format!("{new}  other:\n")));
    let back = yaml(&added).remove_table(RULES, 3).unwrap();
    assert_eq!(yaml(&back).remove_table(RULES, 2).unwrap(), before);
    let second = yaml(before).remove_table(RULES, 0).unwrap();
    assert_eq!(second, before.replace("        # First.\n        - id: a\n          prefix: [ls]\n", ""));
    assert_eq!(
        yaml(&second).remove_table(RULES, 0).unwrap(),
        "# Ours.\nagents:\n  bot:\n    commands: # of it\n  other:\n    maxSteps: 3\n"
            .replace("    commands: # of it\n", "    commands: {} # of it\n")
    );
    let made = yaml("").push_tables(RULES, &[RULE]).unwrap();
    assert_eq!(
        made,
        format!("agents:\n  bot:\n    commands:\n      rules:\n{new}").replace("        - id: c\n", "")
    );
}

#[test]
fn json_is_edited_as_it_is_written() {
    for (before, after) in [
        ("", "{\n  \"agents\": {\n    \"bot\": {\n      \"maxSteps\": 20\n    }\n  }\n}\n"),
        ("{}\n", "{\n  \"agents\": {\n    \"bot\": {\n      \"maxSteps\": 20\n    }\n  }\n}\n"),
        ("{\"a\": 1}", "{\"a\": 1, \"agents\": {\n  \"bot\": {\n    \"maxSteps\": 20\n  }\n}}"),
        (
            "{\n    \"agents\": {\n        \"bot\": {\n            \"maxSteps\": 3\n        }\n    }\n}\n",
            "{\n    \"agents\": {\n        \"bot\": {\n            \"maxSteps\": 20\n        }\n    }\n}\n",
        ),
        (
            "{\n  \"agents\": {\n    \"bot\": {\n      \"a\": \"],}\"\n    }\n  }\n}\n",
            "{\n  \"agents\": {\n    \"bot\": {\n      \"a\": \"],}\",\n      \"maxSteps\": 20\n    }\n  }\n}\n",
        ),
    ] {
        let set = json(before).set_value(STEPS, "20").unwrap();
        assert_eq!(set, after, "{before:?}");
        let added = json(&set).push_tables(RULES, &[RULE, RULE]).unwrap();
        assert!(parse(&added, Format::Json, 1 << 20).is_ok(), "{added}");
        let back = json(&added).remove_table(RULES, 1).unwrap();
        assert_eq!(json(&back).push_tables(RULES, &[RULE]).unwrap(), added);
    }
    let text = "{\n  \"agents\": {\n    \"bot\": {\n      \"hosts\": [\"a\", \"b\"]\n    }\n  }\n}\n";
    assert_eq!(json(text).append_value(HOSTS, "'c'").unwrap(), text.replace("\"b\"", "\"b\", \"c\""));
    assert_eq!(json(text).remove_value(HOSTS, "'a'").unwrap(), text.replace("\"a\", ", ""));
    assert_eq!(json(text).remove_value(HOSTS, "'b'").unwrap(), text.replace(", \"b\"", ""));
    assert_eq!(json(text).remove_key(HOSTS).unwrap(), "{}\n");
}

#[test]
fn what_cannot_be_is_refused_in_every_format() {
    for (format, text) in [
        (Format::Toml, "agents = 1\n"),
        (Format::Yaml, "agents: 1\n"),
        (Format::Json, "{\"agents\": 1}"),
        (Format::Toml, "[agents.bot]\nmaxSteps = { a = 1 }\ncommands = 1\nhosts = 1\n"),
        (Format::Yaml, "agents: {bot: {maxSteps: {a: 1}, commands: 1, hosts: 1}}\n"),
        (Format::Yaml, "agents: &a\n  bot: {maxSteps: {a: 1}, commands: 1, hosts: 1}\nb: *a\n"),
        (Format::Json, "{\"agents\": {\"bot\": {\"maxSteps\": {\"a\": 1}, \"commands\": 1, \"hosts\": 1}}}"),
        (Format::Toml, "agents = "),
        (Format::Yaml, "agents: ["),
        (Format::Json, "{"),
    ] {
        let editor = Editor::new(text, format);
        assert!(
            editor.set_value(STEPS, "20").is_err() || format == Format::Toml && text.contains("{ a"),
            "{text}"
        );
        assert!(editor.push_tables(RULES, &[RULE]).is_err(), "{text}");
        assert!(editor.append_value(HOSTS, "1").is_err(), "{text}");
        assert!(editor.set_value(&[], "1").is_err(), "{text}");
        assert!(editor.remove_table(RULES, 0).is_err(), "{text}");
    }
    for value in ["", "1\nb = 2", "[", "1 # c\n[x]"] {
        assert!(yaml("").set_value(STEPS, value).is_err(), "{value:?}");
    }
}

fn value(text: &str) -> serde_json::Value {
    let text = if text.trim().is_empty() { "{}" } else { text };
    parse(text, Format::Yaml, 1 << 20).unwrap().value.to_json()
}

/// A document as a person writes it: block style, sometimes brackets, with comments.
fn document() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just(" 1".to_owned()),
        Just(" 'it''s: [x' # why".to_owned()),
        Just(" \"a # b\"".to_owned()),
        Just(" plain words # here".to_owned()),
        Just(" [a, 'b, c', {d: 1}]".to_owned()),
        Just(" {x: [1, 2], y: \"}\"}  # both".to_owned()),
        Just(" |\n  # text\n  more\n".to_owned()),
        Just("\n- x\n# between\n- y: 1\n  z: 2\n".to_owned()),
        Just("\n  - x\n\n  - - y\n    - z\n".to_owned()),
        Just(String::new()),
    ];
    let key =
        prop_oneof![Just("agents"), Just("bot"), Just("hosts"), Just("a"), Just("\"b c\""), Just("commands")];
    let tree = leaf.prop_recursive(3, 24, 4, move |inner| {
        proptest::collection::vec((key.clone(), inner, 0..4_u8), 1..4).prop_map(|members| {
            let mut text = String::from("\n");
            let mut seen = std::collections::HashSet::new();
            for (key, below, comment) in members {
                if !seen.insert(key) {
                    continue;
                }
                let before = ["", "", "  # about it\n", "\n"].into_iter().nth(usize::from(comment)).unwrap();
                let below = below.replace('\n', "\n  ");
                text.push_str(&format!("{before}  {key}:{}\n", below.trim_end()));
            }
            text
        })
    });
    tree.prop_map(|text| text.replace("\n  ", "\n"))
        .prop_map(|text| text.trim_start_matches('\n').to_owned())
        .prop_filter("a document", |text| {
            parse(text, Format::Yaml, 1 << 20)
                .is_ok_and(|node| matches!(node.value, stockade_text::Value::Table(_)))
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn every_line_of_a_person_stays(text in document()) {
        for path in [STEPS, HOSTS, RULES, &["a"], &["b c", "a"]] {
            let edits = [yaml(&text).set_value(path, "\"new\""), yaml(&text).append_value(path, "\"new\""), yaml(&text).push_tables(path, &[RULE])];
            for (at, edited) in edits.into_iter().enumerate() {
                match edited {
                    Ok(edited) => {
                        prop_assert!(at == 0 || lost(&text, &edited) <= 1, "{text}\n====\n{edited}");
                        prop_assert!(parse(&edited, Format::Yaml, 1 << 20).is_ok());
                        let with: Vec<&str> = text.lines().filter(|line| line.contains("about it") || line.contains("between")).collect();
                        let kept = edited.lines().filter(|line| line.contains("about it") || line.contains("between")).count();
                        prop_assert!(at == 0 || kept == with.len(), "{text}\n====\n{edited}");
                    }
                    Err(error) => prop_assert!(!error.reason.contains("by hand"), "{text}\n====\n{path:?} {at}: {error}"),
                }
            }
        }
    }
}

/// Counts the lines of the first text that the second does not have, in order.
fn lost(before: &str, after: &str) -> usize {
    let mut rest = after.lines();
    before
        .lines()
        .filter(|line| {
            let mut ahead = rest.clone();
            match ahead.any(|there| there == *line) {
                true => {
                    rest = ahead;
                    false
                }
                false => true,
            }
        })
        .count()
}
