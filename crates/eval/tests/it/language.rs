//! The language: a table of expressions and their values. `node.rs` asks a real engine whether the table is right.

use stockade_eval::{Data, EvalOptions, eval};

/// A row: the expression, and its value as JSON; `throws` where it has none.
pub(crate) fn rows() -> Vec<(String, &'static str)> {
    let lines = include_str!("language.txt").lines();
    let rows = lines.filter(|line| line.starts_with('"')).map(|line| {
        let mut values = serde_json::Deserializer::from_str(line).into_iter::<String>();
        let source = values.next().unwrap().unwrap();
        (source, line[values.byte_offset()..].strip_prefix(" => ").unwrap())
    });
    rows.collect()
}

/// The variables of the table.
pub(crate) const VARS: &str = r#"{"a": 1, "b": 2, "z": 0, "n": null, "s": "text", "xs": [1, 2, 3],
    "o": {"a": 1, "b": {"c": 2}},
    "people": [{"name": "Eve", "age": 30}, {"name": "Al", "age": 25, "tags": ["x"]}, {"name": "Bo", "age": 41, "tags": []}]}"#;

pub(crate) fn vars() -> Vec<(&'static str, Data)> {
    let person = |name: &str, age: i32, tags: Option<Vec<&str>>| {
        let mut fields = vec![("name".to_owned(), Data::from(name)), ("age".to_owned(), Data::from(age))];
        fields.extend(tags.map(|tags| ("tags".to_owned(), Data::from(tags))));
        Data::Object(fields)
    };
    vec![
        ("a", Data::from(1)),
        ("b", Data::from(2)),
        ("z", Data::from(0)),
        ("n", Data::Null),
        ("u", Data::Undefined),
        ("s", Data::from("text")),
        ("xs", Data::from(vec![1, 2, 3])),
        ("o", Data::from([("a", Data::from(1)), ("b", Data::from([("c", Data::from(2))]))])),
        (
            "people",
            Data::Array(vec![
                person("Eve", 30, None),
                person("Al", 25, Some(vec!["x"])),
                person("Bo", 41, Some(vec![])),
            ]),
        ),
    ]
}

/// Results that differ from JavaScript on purpose, with the reason.
const OTHERWISE: &[(&str, &str, &str)] = &[
    ("08", "throws", "a number that begins with 0 is octal to some and decimal to others"),
    ("undefined = 5", "throws", "what is assigned must not be lost silently, as it is without 'use strict'"),
    ("NaN = 1", "throws", "what is assigned must not be lost silently, as it is without 'use strict'"),
    (
        "(() => { const f = function g() { try { g = 1 } catch (e) { return e.name } return 'set' }; return f() })()",
        "\"TypeError\"",
        "what is assigned must not be lost silently, as it is without 'use strict'",
    ),
    ("(function () { return this })() === undefined || true", "throws", "there is no global object"),
];

#[test]
fn every_row_of_the_table_holds() {
    let (vars, mut wrong) = (vars(), Vec::new());
    let rows = rows();
    for (source, expected) in &rows {
        let found = eval(source, &vars, &EvalOptions::default());
        let found_text = found.as_ref().map_or_else(|_| "throws".to_owned(), ToString::to_string);
        let expected = OTHERWISE.iter().find(|row| row.0 == source).map_or(*expected, |row| row.1);
        if found_text != expected {
            wrong.push(format!("{source}\n  expected {expected}\n  found    {found_text} {:?}", found.err()));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn what_differs_on_purpose_is_in_the_table() {
    for (source, ours, why) in OTHERWISE {
        let row = rows().into_iter().find(|row| row.0 == *source);
        assert!(row.is_some_and(|row| row.1 != *ours), "{source}: {why}");
    }
}
