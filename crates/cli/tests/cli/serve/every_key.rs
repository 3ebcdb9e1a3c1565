//! Every key of the configuration: changing it changes an answer, and the crate, the command line and the server give the same one.
//!
//! The keys are those of the schema, so that a new key without a row fails here.
#![expect(clippy::disallowed_methods, reason = "lays out homes, and runs the program")]

mod doors;
mod rows;

use std::collections::BTreeSet;

use serde_json::Value;
use stockade_guard::config::config_schema;

use doors::{Door, House};
use rows::{Needs, ROWS};

/// The paths of all keys of a schema, as its rows are written.
fn keys_of(schema: &Value, prefix: &str, found: &mut BTreeSet<String>) {
    let below = |name: &str| if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
    for (name, value) in schema["properties"].as_object().into_iter().flatten() {
        match name.as_str() {
            "$schema" => {}
            _ if value.get("default").is_some() => {
                found.insert(below(name));
            }
            _ => keys_of(value, &below(name), found),
        }
    }
    for (pattern, value) in schema["patternProperties"].as_object().into_iter().flatten() {
        let name = if pattern.contains(r"\*") { "bot" } else { "bash" };
        keys_of(value, &below(name), found);
    }
}

#[test]
fn every_key_of_the_schema_has_a_row() {
    let mut keys = BTreeSet::new();
    keys_of(&config_schema(), "", &mut keys);
    assert!(keys.len() > 50, "{keys:?}");
    let rows: BTreeSet<String> = ROWS.iter().map(|row| row.key.to_owned()).collect();
    let missing: Vec<_> = keys.difference(&rows).collect();
    let unknown: Vec<_> = rows.difference(&keys).collect();
    assert!(missing.is_empty() && unknown.is_empty(), "without a row: {missing:?}; no key: {unknown:?}");
    assert_eq!(rows.len(), ROWS.len(), "a key has two rows");
}

#[test]
fn changing_a_key_changes_an_answer_through_every_door() {
    let is_root = rustix::process::geteuid().is_root();
    let mut wrong = Vec::new();
    for row in ROWS {
        if row.needs == Needs::Root && !is_root {
            println!("skipped: {}: only root is refused by bubblewrap for sure", row.key);
            continue;
        }
        let sides = row.values.map(|value| {
            let config = [row.with, &[(row.key, value)][..]].concat();
            Door::ALL.map(|door| row.doors.contains(&door).then(|| House::new(&config).ask(door, &row.probe)))
        });
        let [left, right] = &sides;
        for (side, value) in sides.iter().zip(row.values) {
            let answers: BTreeSet<&String> = side.iter().flatten().collect();
            if answers.len() != 1 {
                wrong.push(format!("{} = {value}: the doors differ: {side:?}", row.key));
            }
        }
        for (index, door) in Door::ALL.iter().enumerate() {
            if left[index].is_some() && left[index] == right[index] {
                wrong.push(format!("{}: {door:?} answers {:?} to both values", row.key, left[index]));
            }
        }
    }
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
}
