//! What is kept of servers, and what a change of it comes to.
#![expect(clippy::disallowed_methods, reason = "looks at the files")]

use std::fs;

use super::*;

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn pin(pins: &Pins, command: &[String], tool: &str, written: &str) -> Result<Pinned, String> {
    let seen = Definition { tool: tool.to_owned(), written: written.to_owned() };
    pins.pin(command, &[seen]).map(|mut pinned| pinned.pop().unwrap())
}

#[test]
fn the_first_definition_is_pinned_and_a_change_waits_for_approval() {
    let folder = tempfile::tempdir().unwrap();
    let pins = Pins::within(&folder.path().join("mcp"), "fs");
    let (one, other) = (words(&["a"]), words(&["b"]));
    let (first, second) = (r#"{"description":"Reads."}"#, r#"{"description":"Reads and sends."}"#);
    assert_eq!(pin(&pins, &one, "read", first), Ok(Pinned::Same));
    assert_eq!(pin(&pins, &one, "read", first), Ok(Pinned::Same));
    // Another server may have another tool of the name.
    assert_eq!(pin(&pins, &other, "read", second), Ok(Pinned::Same));
    let Ok(Pinned::Changed(why)) = pin(&pins, &one, "read", second) else { panic!() };
    assert!(why.contains("description") && why.contains("and sends"), "{why}");
    let waiting = || -> Vec<DefinitionChange> {
        let servers = pins.servers().unwrap();
        servers.iter().filter_map(|server| server.tools["read"].change("read")).collect()
    };
    let change = waiting().pop().unwrap();
    assert!(why.contains(&format!("accept fs {}", change.ticket)), "{why}");
    assert_eq!(pins.accept(&words(&["write@0"])), Ok(Err("write@0".to_owned())));
    // The same again is the same change, and another one is not what was read.
    pin(&pins, &one, "read", second).unwrap();
    assert_eq!(waiting(), std::slice::from_ref(&change));
    pin(&pins, &one, "read", r#"{"description":"Sends all."}"#).unwrap();
    assert_eq!(pins.accept(std::slice::from_ref(&change.ticket)), Ok(Err(change.ticket)));
    assert!(matches!(pin(&pins, &one, "read", second), Ok(Pinned::Changed(_))));
    let change = waiting().pop().unwrap();
    assert_eq!(pins.accept(std::slice::from_ref(&change.ticket)), Ok(Ok(vec![change])));
    assert_eq!(pin(&pins, &one, "read", second), Ok(Pinned::Same));
    assert!(matches!(pin(&pins, &one, "read", first), Ok(Pinned::Changed(_))));
    // It has changed back, and nothing waits any more.
    assert_eq!(pin(&pins, &one, "read", second), Ok(Pinned::Same));
    assert_eq!(waiting(), []);
    assert_eq!(pins.forget(&words(&["read"])), Ok(2));
    assert_eq!(pin(&pins, &one, "read", first), Ok(Pinned::Same));
}

#[test]
fn a_broken_file_grants_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let pins = Pins::within(folder.path(), "fs");
    pin(&pins, &[], "t", "{}").unwrap();
    for broken in
        ["{", r#"{"servers":[{"tools":{}}]}"#, r#"{"servers":[{"command":[],"digest":"a","tools":{}}]}"#]
    {
        fs::write(pins.file.path(), broken).unwrap();
        let why = pin(&pins, &[], "t", "{}").unwrap_err();
        assert!(why.contains("is not a pins file"), "{why}");
    }
}

/// What was not read is not agreed to: a change is told whole, or its name is not told beside it.
#[test]
fn a_change_that_is_too_long_to_show_is_not_accepted_there() {
    let folder = tempfile::tempdir().unwrap();
    let pins = Pins::within(folder.path(), "fs");
    pin(&pins, &[], "t", "{}").unwrap();
    let long = format!(r#"{{"description":"{} and sends."}}"#, "Reads. ".repeat(1000));
    let Ok(Pinned::Changed(why)) = pin(&pins, &[], "t", &long) else { panic!() };
    let change = pins.servers().unwrap()[0].tools["t"].change("t").unwrap();
    assert!(!why.contains(&change.ticket) && why.contains("pins list fs"), "{why}");
    assert!(change.difference.contains("and sends."), "{}", change.difference);
}

#[test]
fn too_many_servers_are_refused_with_a_fix() {
    let folder = tempfile::tempdir().unwrap();
    let pins = Pins::within(folder.path(), "fs");
    for at in 0..MAX_SERVERS {
        pin(&pins, &words(&["server", &at.to_string()]), "t", "{}").unwrap();
    }
    let why = pin(&pins, &words(&["server", "more"]), "t", "{}").unwrap_err();
    assert!(why.contains("--name NAME") && why.contains("pins forget fs"), "{why}");
    assert_eq!(pin(&pins, &words(&["server", "0"]), "t", "{}"), Ok(Pinned::Same));
}

/// No secret of a command line is written down, and those that an earlier version has written go with the next change.
#[test]
fn a_stored_command_line_contains_no_secrets() {
    const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let folder = tempfile::tempdir().unwrap();
    let pins = Pins::within(folder.path(), "gh");
    let text = || fs::read_to_string(pins.file.path()).unwrap();
    let command = words(&["server", "--api-key", TOKEN, "--password=hunter2hunter2", "stdio"]);
    let old = serde_json::json!({"servers": [{"command": command, "tools": {"t": {"definition": "{}"}}}]});
    fs::write(pins.file.path(), old.to_string()).unwrap();
    let mut mode = fs::metadata(pins.file.path()).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o600);
    fs::set_permissions(pins.file.path(), mode).unwrap();
    // What it was agreed to holds on.
    assert!(matches!(pin(&pins, &command, "t", r#"{"a":1}"#), Ok(Pinned::Changed(_))));
    assert!(!text().contains(TOKEN) && !text().contains("hunter2"), "{}", text());
    let servers = pins.servers().unwrap();
    assert!(servers.len() == 1 && servers[0].shown.starts_with("server --api-key"), "{servers:?}");
    // Another secret is another server.
    let other = words(&["server", "--api-key", "ghp_other", "--password=hunter2hunter2", "stdio"]);
    assert_eq!(pin(&pins, &other, "t", "{}"), Ok(Pinned::Same));
    assert_eq!(pins.servers().unwrap().len(), 2);
}

/// A tool list changes the file once, and an unchanged list does not change it.
#[test]
fn unchanged_pins_are_not_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let pins = Pins::within(folder.path(), "fs");
    let list: Vec<Definition> = (0..500)
        .map(|at| Definition { tool: format!("t{at}"), written: format!("{{\"a\":{at}}}") })
        .collect();
    let is_same = |pinned: Result<Vec<Pinned>, String>| {
        pinned.is_ok_and(|pinned| pinned.len() == list.len() && pinned.iter().all(|one| *one == Pinned::Same))
    };
    assert!(is_same(pins.pin(&words(&["s"]), &list)));
    let file = |path: &Path| std::os::unix::fs::MetadataExt::ino(&fs::metadata(path).unwrap());
    let before = file(pins.file.path());
    assert!(is_same(pins.pin(&words(&["s"]), &list)));
    // A write replaces the file, and so changes the inode.
    assert_eq!(file(pins.file.path()), before);
}
