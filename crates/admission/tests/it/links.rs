//! A path is judged by where it leads as well as by its name.
#![expect(clippy::disallowed_methods, reason = "lays out a home with links")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use stockade_admission::decide_on_disk;
use stockade_command::{CommandContext, CommandPolicy, Effect};

/// A home with secrets, and a workspace with links to them.
struct Home {
    _base: tempfile::TempDir,
    home: PathBuf,
    workspace: PathBuf,
}

impl Home {
    fn new() -> Self {
        let base = tempfile::tempdir().unwrap();
        let home = base.path().canonicalize().unwrap().join("user");
        let workspace = home.join("project");
        for folder in [".ssh", ".cargo", "other", "project/src", "project/docs", "project/deep/er"] {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        fs::write(home.join(".ssh/id_rsa"), "key").unwrap();
        fs::write(home.join(".cargo/credentials.toml"), "token").unwrap();
        for file in ["other/notes.md", "project/README.md", "project/src/main.rs", "project/.env"] {
            fs::write(home.join(file), "text").unwrap();
        }
        for (to, link) in [
            ("../.ssh/id_rsa", "key"),
            ("../.ssh", "folder"),
            ("folder/id_rsa", "twice"),
            ("../../.ssh/id_rsa", "docs/guide.md"),
            ("../../../.ssh/id_rsa", "deep/er/x.md"),
            (".env", "settings"),
            ("README.md", "readme"),
            ("src", "source"),
            ("loop", "loop"),
            ("../.ssh/not-yet", "dangling"),
        ] {
            symlink(to, workspace.join(link)).unwrap();
        }
        Self { _base: base, home, workspace }
    }

    fn effect_in(&self, workspace: &Path, text: &str) -> Effect {
        let policy = CommandPolicy::builtin();
        let place = CommandContext {
            home: Some(self.home.clone()),
            ..CommandContext::new(Some(workspace.to_owned()), Some(workspace.to_owned()))
        };
        decide_on_disk(place, |place| policy.decide(text, &Default::default(), place)).0.effect
    }

    fn effect(&self, text: &str) -> Effect {
        self.effect_in(&self.workspace, text)
    }
}

#[test]
fn a_link_is_judged_by_where_it_leads() {
    let home = Home::new();
    for text in [
        "cat key",
        "cat ./key",
        "cat twice",
        "cat folder/id_rsa",
        "cd folder && cat id_rsa",
        "cd docs && cat guide.md",
        "(cd docs; cat guide.md)",
        "cat < key",
        "head -n 1 key README.md",
        "grep -f key README.md",
        "grep -fkey README.md",
        "wc -l --files0-from=key",
        "cat docs/*.md",
        "cat */guide.md",
        "cat k*",
        "cat k?y",
        "cat [k]ey",
        "cat fold*/id_rsa",
        "cat folder/*_rsa",
        "cat deep/*/*.md",
        "cat src/../key",
        "cat ~+/key",
        "cat ~/project/key",
        "cat folder/../.cargo/credentials.toml",
        "cat source/../key",
        "grep -r x folder",
        "jq . key",
        "cat dangling",
        "for i in 1 2; do cat key; done",
        "echo $(cat key)",
    ] {
        assert_eq!(home.effect(text), Effect::Deny, "{text}");
    }
    assert_eq!(home.effect("cat settings"), home.effect("cat .env"));
    for text in ["cd src && cat ~-/key", "cat ~me/project/key"] {
        assert!(home.effect(text) >= Effect::Sandbox, "{text}");
    }
}

#[test]
fn a_home_has_one_answer_for_all_its_names() {
    let home = Home::new();
    let absolute = format!("cat {}/.cargo/credentials.toml", home.home.display());
    for text in ["cat ~/.cargo/credentials.toml", "cat ../.cargo/credentials.toml", &absolute] {
        assert_eq!(home.effect(text), Effect::Deny, "{text}");
    }
    assert_eq!(home.effect("cd src && cat ../../.ssh/id_rsa"), Effect::Deny);
}

#[test]
fn a_link_to_what_may_be_read_changes_nothing() {
    let home = Home::new();
    for text in [
        "cat readme",
        "cat source/main.rs",
        "ls source",
        "cd source && cat main.rs",
        "cat src/*.rs",
        "cat *.md",
        "ls */",
        "grep -n '[a-z]*' README.md",
        "sed -n '/k*/p' README.md",
        "cat [A-Z]*.md",
        "cat loop",
        "ls -la",
        "echo key",
        "cat ../other/notes.md",
        "git log -- key",
        "cd docs && ls && cd .. && cat README.md",
        "ls /bin/sh",
    ] {
        let by_name = CommandPolicy::builtin();
        let place = CommandContext::new(Some(home.workspace.clone()), Some(home.workspace.clone()));
        let expected = by_name.decide(text, &Default::default(), &place).effect;
        assert_eq!(home.effect(text), expected, "{text}");
        assert_eq!(expected, Effect::Allow, "{text}");
    }
}

/// What lies above the workspace leads to the workspace itself, whichever of its names is used.
#[test]
fn a_workspace_may_be_reached_through_a_link() {
    let home = Home::new();
    let link = home.home.join("current");
    symlink("project", &link).unwrap();
    assert_eq!(home.effect_in(&link, "cat README.md source/main.rs"), Effect::Allow);
    assert_eq!(home.effect_in(&link, "cat key"), Effect::Deny);
    assert_eq!(home.effect_in(&link, "cat settings"), home.effect("cat .env"));
}

/// What is too much to be looked at is not known, and what is not known is not run outside of the sandbox.
#[test]
fn a_bound_does_not_open_what_lies_behind_it() {
    let home = Home::new();
    let many: Vec<String> = (0..2000).map(|number| format!("src/{number}")).collect();
    assert_eq!(home.effect(&format!("cat {} key", many.join(" "))), Effect::Sandbox);
    let full = home.workspace.join("full");
    fs::create_dir(&full).unwrap();
    for number in 0..10_001 {
        fs::write(full.join(number.to_string()), "").unwrap();
    }
    assert_eq!(home.effect("cat full/*.md"), Effect::Sandbox);
}
