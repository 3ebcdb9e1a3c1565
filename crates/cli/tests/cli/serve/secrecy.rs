//! One level of secrecy per name, and one answer at every entry point: each path of the table of names is read, written and
//! listed by commands and by file tools, in different spellings.
#![expect(clippy::disallowed_methods, reason = "lays out files of every name")]

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use stockade_names::{Name, Read, Root, Scope, Secrecy, names, treatment};

use super::tool_calls::Tools;
use crate::hook::Answer;

/// What becomes of a call, from mildest to strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Allowed,
    Contained,
    Asked,
    Denied,
}
use Outcome::{Allowed, Asked, Contained, Denied};

impl From<Answer> for Outcome {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Silent => Allowed,
            Answer::Rewrite(_) => Contained,
            Answer::Ask(_) => Asked,
            Answer::Deny(_) => Denied,
            Answer::Open(text) => panic!("no answer: {text}"),
        }
    }
}

impl From<Read> for Outcome {
    fn from(read: Read) -> Self {
        match read {
            Read::Free => Allowed,
            Read::Contain => Contained,
            Read::Ask => Asked,
            Read::Refuse => Denied,
        }
    }
}

/// A path of a row in its place, and what the table says about reading it.
struct Place {
    name: &'static Name,
    /// The path with `~` or from the workspace.
    word: String,
    read: Outcome,
}

/// Every path of a row with secrets, with a letter where it has a star. Files are created, except those of the machine.
fn places(tools: &Tools) -> Vec<Place> {
    let rows = names().filter(|name| name.secrecy > Secrecy::Public);
    let paths = rows.flat_map(|name| name.paths.iter().map(move |path| (name, path.replace('*', "x"))));
    let place = |(at, (name, path)): (usize, (&'static Name, String))| {
        let (root, word, file) = match name.scope {
            Scope::Anywhere => {
                let word = format!("n{at}/{path}");
                (Root::Folder, word.clone(), Some(tools.home.project().join(word)))
            }
            Scope::Home => (Root::Home, format!("~/{path}"), Some(tools.home.path().join(&path))),
            Scope::Machine => (Root::Machine, format!("/{path}"), None),
            Scope::Repository => (Root::Repository, format!("n{at}/.git/{path}"), None),
        };
        file.iter().for_each(|file| create(file));
        let read = treatment(root, path.split('/')).read.into();
        Place { name, word, read }
    };
    paths.enumerate().map(place).collect()
}

/// Creates a file, unless a row has a file where another has a directory.
fn create(file: &Path) {
    let made = file.parent().is_some_and(|around| fs::create_dir_all(around).is_ok());
    if made && !file.exists() {
        fs::write(file, "harmless = true\n").unwrap();
    }
}

fn bash(tools: &mut Tools, command: &str) -> Outcome {
    tools.before(&json!({"name": "Bash", "arguments": {"command": command, "description": "d"}})).into()
}

fn tool(tools: &mut Tools, name: &str, arguments: &Value) -> Outcome {
    tools.before(&json!({"name": name, "arguments": arguments})).into()
}

/// Quotes a word and leaves its tilde to the shell.
fn quoted(word: &str) -> String {
    word.strip_prefix("~/").map_or_else(|| format!("'{word}'"), |rest| format!("~/'{rest}'"))
}

/// A file tool has no sandbox: it asks about a file that is hidden there, and opens one that is not.
fn is_alike(command: Outcome, tool: Outcome) -> bool {
    command == tool || command == Contained && tool <= Asked
}

#[test]
fn every_name_is_read_alike_at_every_entry_point() {
    let mut tools = Tools::new("", &json!({}));
    let (mut wrong, mut seen) = (Vec::new(), None);
    let places = places(&tools);
    assert!(places.len() > 500, "{}", places.len());
    for place in &places {
        tools.renew();
        let word = quoted(&place.word);
        let by_command = bash(&mut tools, &format!("cat -- {word}"));
        // Other rows may be about a directory around it.
        let is_as_listed = match place.name.scope {
            Scope::Anywhere | Scope::Repository => by_command == place.read,
            Scope::Home | Scope::Machine => by_command >= place.read,
        };
        if !is_as_listed {
            wrong.push(format!("{}: cat {word}: {by_command:?}, not {:?}", place.name.id, place.read));
        }
        let read = tool(&mut tools, "Read", &json!({"file_path": place.word}));
        if !is_alike(by_command, read) {
            wrong.push(format!("{}: Read {word}: {read:?}, and cat {by_command:?}", place.name.id));
        }
        // Other readers are asked about one path of each row.
        if seen.replace(place.name.id) == Some(place.name.id) {
            continue;
        }
        for command in
            [format!("head -1 < {word}"), format!("grep -n KEY {word}"), format!("tail -n 2 {word}")]
        {
            let other = bash(&mut tools, &command);
            if other != by_command {
                wrong.push(format!("{}: {command}: {other:?}, and cat {by_command:?}", place.name.id));
            }
        }
        let searched = tool(&mut tools, "Grep", &json!({"pattern": "KEY", "path": place.word}));
        if !is_alike(by_command, searched) {
            wrong.push(format!("{}: Grep {word}: {searched:?}, and cat {by_command:?}", place.name.id));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_spelling_of_a_name_is_milder() {
    let mut tools = Tools::new("", &json!({}));
    let (home, project) = (tools.home.path().to_owned(), tools.home.project());
    fs::create_dir_all(project.join("sub")).unwrap();
    let mut wrong = Vec::new();
    let mut seen = None;
    for place in places(&tools) {
        // One path of each row.
        if seen.replace(place.name.id) == Some(place.name.id) {
            continue;
        }
        tools.renew();
        let word = &place.word;
        let mut spelled = match (place.name.scope, word.strip_prefix("~/")) {
            (Scope::Anywhere, _) => vec![
                format!("./{word}"),
                format!("sub/../{word}"),
                project.join(word).display().to_string(),
                word.to_uppercase(),
            ],
            (_, Some(rest)) => {
                vec![home.join(rest).display().to_string(), format!("{}/../{rest}", project.display())]
            }
            _ => Vec::new(),
        };
        spelled.extend(word.starts_with('/').then(|| format!("/tmp/..{word}")));
        let plain = bash(&mut tools, &format!("cat -- {}", quoted(word)));
        for word in spelled {
            let by_command = bash(&mut tools, &format!("cat -- '{word}'"));
            let by_tool = tool(&mut tools, "Read", &json!({"file_path": word}));
            if by_command < plain || !is_alike(by_command, by_tool) {
                wrong.push(format!("{}: {word}: {by_command:?}, {by_tool:?}, not {plain:?}", place.name.id));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// A name is listed by every tool that may list its directory; a file that a tool may not write is not written by a command outside
/// the sandbox.
#[test]
fn every_name_is_written_and_listed_alike() {
    let mut tools = Tools::new("", &json!({}));
    let mut wrong = Vec::new();
    for place in places(&tools) {
        tools.renew();
        let word = quoted(&place.word);
        let by_command = bash(&mut tools, &format!("echo x > {word}"));
        let by_tool = tool(&mut tools, "Write", &json!({"file_path": place.word, "content": "x"}));
        let edited = tool(
            &mut tools,
            "Edit",
            &json!({"file_path": place.word, "old_string": "harmless", "new_string": "x"}),
        );
        if by_command == Allowed
            || by_tool != edited && by_tool.max(edited) > Asked && by_tool.min(edited) < Asked
        {
            wrong.push(format!(
                "{}: {word}: {by_command:?}, Write {by_tool:?}, Edit {edited:?}",
                place.name.id
            ));
        }
        let listed = bash(&mut tools, &format!("ls -la {word}"));
        if listed > Contained {
            wrong.push(format!("{}: ls {word}: {listed:?}", place.name.id));
        }
        // A list shows names, and no content.
        for (name, arguments) in [
            ("LS", json!({"path": place.word})),
            ("Glob", json!({"pattern": "*", "path": place.word})),
            ("Glob", json!({"pattern": place.word})),
        ] {
            let by_tool = tool(&mut tools, name, &arguments);
            if !is_alike(listed, by_tool) {
                wrong.push(format!("{}: {name} {arguments}: {by_tool:?}, and ls {listed:?}", place.name.id));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
