//! What is allowed runs with the toolchain of its user: one default of what is seen of the home, at every entry point, and a
//! program
//! that stays hidden is named with the command that shows it.
#![expect(clippy::disallowed_methods, reason = "runs the binary, in folders of its own")]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::support::STOCKADE;

/// A home with a toolchain where an installer put it, and a project.
struct Developer {
    folder: tempfile::TempDir,
}

impl Developer {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path();
        fs::create_dir_all(home.join("project")).unwrap();
        let program = |path: &Path| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "#!/bin/sh\necho it ran\n").unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        };
        program(&home.join(".nvm/versions/node/v20/bin/compiler"));
        program(&home.join("elsewhere/far"));
        fs::create_dir_all(home.join(".local/bin")).unwrap();
        symlink(home.join("elsewhere/far"), home.join(".local/bin/far")).unwrap();
        Self { folder }
    }

    fn home(&self) -> PathBuf {
        fs::canonicalize(self.folder.path()).unwrap()
    }

    fn run(&self, words: &[&str], input: &str) -> Output {
        let home = self.home();
        let path = format!("{0}/.local/bin:{0}/.nvm/versions/node/v20/bin:/usr/bin:/bin", home.display());
        let mut child = Command::new(STOCKADE)
            .args(words)
            .current_dir(home.join("project"))
            .env_clear()
            .env("HOME", &home)
            .env("PATH", path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn every_entry_point_has_the_same_default_home_view() {
    let developer = Developer::new();
    let project = developer.home().join("project");
    let workspace = project.to_str().unwrap();
    fs::create_dir_all(project.join("skill")).unwrap();
    fs::write(project.join("skill/SKILL.md"), "---\nname: skill\ndescription: Builds.\n---\n\nBuild it.\n")
        .unwrap();
    let exec = |agent: &[&'static str], command: &[&'static str]| {
        [&["exec", "--quiet"], agent, &["--"], command].concat()
    };
    let in_shell = &["bash", "-c", "compiler"][..];
    let commands = [
        exec(&[], &["compiler"]),
        exec(&[], in_shell),
        exec(&["--agent", "claude"], &["compiler"]),
        // What a hook writes.
        exec(&["--agent", "claude"], in_shell),
        vec!["run", "skill", "--", "compiler"],
    ];
    for words in commands {
        let ran = developer.run(&words, "");
        assert_eq!(text(&ran.stdout), "it ran\n", "{words:?}: {}", text(&ran.stderr));
    }
    let line = |params: serde_json::Value| {
        format!("{}\n", serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": "exec", "params": params }))
    };
    let requests = [
        line(serde_json::json!({ "command": "compiler", "agent": "bot" })),
        line(serde_json::json!({ "command": "compiler", "spec": { "workspace": workspace } })),
    ];
    for request in requests {
        let answer = text(&developer.run(&["serve"], &request).stdout);
        // `it ran`, as the answer has it.
        assert!(answer.contains("aXQgcmFuCg"), "{request}: {answer}");
    }
}

#[test]
fn a_hidden_program_is_reported_with_the_option_that_shows_it() {
    let developer = Developer::new();
    let folder = developer.home().join("elsewhere").display().to_string();
    let hook = ["exec", "--quiet", "--agent", "bot", "--", "bash", "-c", "cd . && far --version | cat; far"];
    let ran = developer.run(&hook, "");
    assert_eq!(ran.status.code(), Some(127));
    let fix = format!("stockade config add agents.bot.skills.execSandbox.readOnlyAllowPaths {folder}");
    let told =
        format!("stockade: far is in {folder}, which is not visible in the sandbox; to add it: {fix}\n");
    assert!(text(&ran.stderr).ends_with(&told), "{}", text(&ran.stderr));

    let by_name = developer.run(&["exec", "--quiet", "--", "far"], "");
    assert!(
        text(&by_name.stderr).contains(&format!("to add it: stockade exec --ro {folder} -- ")),
        "{}",
        text(&by_name.stderr)
    );

    let words: Vec<&str> = fix.split(' ').skip(1).collect();
    let shown = developer.run(&words, "");
    assert!(shown.status.success(), "{}", text(&shown.stderr));
    let ran = developer.run(&hook, "");
    assert_eq!(
        (text(&ran.stdout).as_str(), ran.status.code()),
        ("it ran\nit ran\n", Some(0)),
        "{}",
        text(&ran.stderr)
    );
    let by_name = developer.run(&["exec", "--quiet", "--ro", &folder, "--", "far"], "");
    assert_eq!(text(&by_name.stdout), "it ran\n");
}

#[test]
fn the_output_of_a_command_is_not_taken_for_a_program_name() {
    let developer = Developer::new();
    let words = ["exec", "--quiet", "--", "sh", "-c", "echo 'far: command not found' >&2; exit 127"];
    let ran = developer.run(&words, "");
    assert_eq!(text(&ran.stderr), "far: command not found\n");
}
