//! Every key of the configuration: changing it changes an answer, and the crate, the command line and the server give the same one.
//!
//! The keys are those of the schema, so that a new key without a row fails here.
#![expect(clippy::disallowed_methods, reason = "lays out homes, and runs the program")]

mod entry_points;
mod rows;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::Value;
use stockade_guard::config::config_schema;

use entry_points::{EntryPoint, House};
use rows::{Needs, ROWS, Row};

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
        let name = match pattern {
            _ if pattern.contains(r"\*") => "bot",
            _ if pattern.contains("a-z") => "bash",
            _ => "EXEC_PIPE_BASH",
        };
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
fn changing_a_key_changes_an_answer_through_every_entry_point() {
    let tried = std::process::Command::new("unshare").args(["-Ur", "true"]).status();
    let has_namespaces = tried.is_ok_and(|status| status.success());
    let (here, elsewhere): (Vec<&Row>, Vec<&Row>) =
        ROWS.iter().partition(|row| has_namespaces || row.needs != Needs::NoSandbox);
    for row in elsewhere {
        println!("skipped: {}: user namespaces are needed for one that permits no others", row.key);
    }
    // Some rows wait: for a command that sleeps, for a server that starts.
    let next = AtomicUsize::new(0);
    let asking = || {
        let rows = std::iter::from_fn(|| here.get(next.fetch_add(1, Ordering::Relaxed)));
        rows.flat_map(|row| wrong_with(row)).collect::<Vec<String>>()
    };
    let wrong: Vec<String> = thread::scope(|scope| {
        let askers: Vec<_> = (0..ASKERS).map(|_| scope.spawn(asking)).collect();
        askers.into_iter().flat_map(|asker| asker.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
}

/// How many rows are asked about at once.
const ASKERS: usize = 4;

/// Says where the entry points differ, and where both values have the same answer.
fn wrong_with(row: &Row) -> Vec<String> {
    let mut wrong = Vec::new();
    let sides = row.values.map(|value| {
        let config = [row.with, &[(row.key, value)][..]].concat();
        EntryPoint::ALL.map(|entry_point| {
            row.entry_points
                .contains(&entry_point)
                .then(|| House::new(&config, row.needs).ask(entry_point, &row.probe))
        })
    });
    let [left, right] = &sides;
    for (side, value) in sides.iter().zip(row.values) {
        let answers: BTreeSet<&String> = side.iter().flatten().collect();
        if answers.len() != 1 {
            wrong.push(format!("{} = {value}: the entry points differ: {side:?}", row.key));
        }
    }
    for (index, entry_point) in EntryPoint::ALL.iter().enumerate() {
        if left[index].is_some() && left[index] == right[index] {
            wrong.push(format!("{}: {entry_point:?} answers {:?} to both values", row.key, left[index]));
        }
    }
    wrong
}
