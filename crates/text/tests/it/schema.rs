//! Schema errors: the messages name the place, the problem and the fix.

use stockade_text::{Format, Node, SchemaError, TableReader, item_text, parse};

const KNOWN: &[&str] = &["name", "names", "level", "strict", "severity"];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Severity {
    Low,
    High,
}

fn document(toml: &str) -> Node {
    parse(toml, Format::Toml, 1 << 10).unwrap()
}

fn problem<T: std::fmt::Debug>(
    toml: &str,
    read: impl Fn(&TableReader<'_>) -> Result<T, SchemaError>,
) -> String {
    let node = document(toml);
    let table = TableReader::new(&node, "rule", "a rule", KNOWN).unwrap();
    match table.has_known_keys_only().and_then(|table| read(&table)) {
        Ok(value) => format!("{value:?}"),
        Err(error) => error.to_string(),
    }
}

fn name(table: &TableReader<'_>) -> Result<String, SchemaError> {
    table.required("name", "add its name")?.text().map(str::to_owned)
}

fn severity(table: &TableReader<'_>) -> Result<Severity, SchemaError> {
    let entry = table.required("severity", "say how bad it is")?;
    entry.choice("severity", &["low", "high"], &[Severity::Low, Severity::High])
}

#[test]
fn what_is_expected_is_read() {
    assert_eq!(problem("name = 'a'", name), "\"a\"");
    assert_eq!(problem("severity = 'HIGH'", severity), "High");
    assert_eq!(problem("level = 7", |table| table.required("level", "")?.integer()), "7");
    assert_eq!(problem("strict = true", |table| table.required("strict", "")?.flag()), "true");
    let names = |table: &TableReader<'_>| table.required("names", "")?.texts().map(|names| names.len());
    assert_eq!(problem("names = ['a', 'b']", names), "2");
}

#[test]
fn what_is_not_expected_is_refused_with_its_position_and_what_was_meant() {
    for (toml, message) in [
        ("name = 'a'\nnmae = 'b'", "2:1: unknown key `nmae` in a rule: did you mean `name`?"),
        (
            "quite_another = 1",
            "1:1: unknown key `quite_another` in a rule: choose one of name, names, level, strict, severity",
        ),
        ("level = 1", "1:1: a rule has no `name`: add its name"),
        ("name = 7", "1:8: `name` must be a text, not a number: put it in quotes"),
        ("name = ['a']", "1:8: `name` must be a text, not a list"),
    ] {
        assert_eq!(problem(toml, name), message, "{toml}");
    }
    assert_eq!(problem("severity = 'hihg'", severity), "1:12: `hihg` is no severity: did you mean `high`?");
    let names = |table: &TableReader<'_>| table.required("names", "")?.texts().map(|names| names.len());
    assert_eq!(
        problem("names = ['a',\n 2]", names),
        "2:2: `names` must be a text in each place of its list, not a number: put it in quotes"
    );
}

#[test]
fn a_value_that_is_no_table_and_two_keys_that_exclude_each_other_are_named() {
    let node = document("rule = 'x'");
    let entry = &node.value.get("rule").unwrap().node;
    let error = TableReader::new(entry, "rule", "a rule", KNOWN).unwrap_err();
    assert_eq!(error.to_string(), "1:8: `rule` must be a table, not a text");
    assert_eq!(item_text(entry, "rule"), Ok("x"));
    let conflict = SchemaError::conflict(entry.at, "name", "names", "give one of them");
    assert_eq!(conflict.to_string(), "1:8: `name` and `names` cannot both be given: give one of them");
}

#[test]
fn untrusted_words_are_escaped() {
    let said = problem(r#""na\u001bme" = 1"#, name);
    assert!(!said.contains('\u{1b}') && said.contains("unknown key"), "{said}");
}
