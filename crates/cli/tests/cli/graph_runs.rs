//! A folder that the commands of several agents share, at the entry point of a person.
#![expect(clippy::disallowed_methods, reason = "runs the binary, and lays out what it works on")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::support::STOCKADE;

struct Home(TempDir);

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        Self(folder)
    }

    fn stockade(&self, args: &[&str]) -> Output {
        let mut command = Command::new(STOCKADE);
        command.args(args).current_dir(self.0.path().join("work")).env_clear().env("PATH", "/usr/bin:/bin");
        command.env("HOME", self.0.path()).stdin(Stdio::null()).output().unwrap()
    }

    /// Whether a command of an agent ended well.
    fn ran(&self, agent: &str, graph: Option<&str>, command: &[&str]) -> bool {
        let graph = graph.map(|graph| ["--graph", graph]);
        let args =
            [&["exec", "--agent", agent][..], graph.as_ref().map_or(&[], |words| words), &["--"], command];
        self.stockade(&args.concat()).status.success()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

#[test]
fn nodes_of_a_graph_share_a_directory_until_the_run_ends() {
    let home = Home::new();
    let begun = home.stockade(&["graph", "begin"]);
    assert!(begun.status.success(), "{begun:?}");
    let folder = text(&begun.stdout);
    let name = Path::new(&folder).file_name().unwrap().to_str().unwrap().to_owned();
    let file = format!("{folder}/data");
    let (write, read) = (["cp", "/etc/hostname", &file], ["cat", &file]);
    if !home.ran("a", None, &["true"]) {
        println!("skipped: no sandbox on this machine");
        return;
    }
    assert!(!home.ran("a", None, &write), "a command that was not given the run does not join it");
    assert!(home.ran("a", Some(&folder), &write));
    assert!(home.ran("b", Some(&name), &read), "a run is known by its name too");
    assert!(!home.ran("b", None, &read));
    let skill = home.0.path().join("SKILL.md");
    fs::write(&skill, "---\nname: reader\ndescription: Reads what others wrote.\n---\nRead it.\n").unwrap();
    let skill = skill.display().to_string();
    let run = home.stockade(&["run", "--agent", "b", "--graph", &folder, &skill, "--", "cat", &file]);
    assert!(run.status.success(), "{run:?}");
    assert_eq!(text(&home.stockade(&["graph", "list"]).stdout), folder);

    assert!(home.stockade(&["graph", "end", &folder]).status.success());
    assert!(!PathBuf::from(&folder).exists());
    assert_eq!(text(&home.stockade(&["graph", "list"]).stdout), "");
}

/// What is no run of this user is refused with what would be one, and is left alone.
#[test]
fn only_existing_graph_runs_can_be_joined_or_removed() {
    let home = Home::new();
    let folder = text(&home.stockade(&["graph", "begin"]).stdout);
    let name = Path::new(&folder).file_name().unwrap().to_str().unwrap().to_owned();
    let alike = home.0.path().join(&name);
    fs::create_dir(&alike).unwrap();
    let work = home.0.path().join("work").display().to_string();
    let alike = alike.display().to_string();
    for meant in ["/", ".", "..", "/etc", &work, &alike, &"0".repeat(32)] {
        let ended = home.stockade(&["graph", "end", meant]);
        assert_eq!(ended.status.code(), Some(2), "{meant}: {ended:?}");
        assert!(text(&ended.stderr).contains("stockade graph begin"), "{meant}: {ended:?}");
        let joined = home.stockade(&["exec", "--agent", "a", "--graph", meant, "--", "true"]);
        assert!(!joined.status.success(), "{meant}: {joined:?}");
    }
    // Where one of several is wrong, none is removed.
    assert_eq!(home.stockade(&["graph", "end", &folder, "/etc"]).status.code(), Some(2));
    assert!(Path::new(&folder).is_dir() && Path::new(&alike).is_dir());
    let without = home.stockade(&["exec", "--graph", &folder, "--", "true"]);
    assert_eq!(without.status.code(), Some(125), "{without:?}");
    assert!(text(&without.stderr).contains("--agent"), "{without:?}");
}
