//! Secrets that lie in a workspace: what is hidden, what is said, and that git works all the same.

#![expect(clippy::disallowed_methods, reason = "makes files to find, and runs git")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use stockade_exec_sandbox::host::ProtectionMode;
use stockade_exec_sandbox::{End, SandboxSpec, probe};
use stockade_names::{Name, SandboxView, Scope, names};

use crate::live::{Live, read};

/// The content of files with a secret.
const SECRET: &str = "token = \"PRIVATE-0123456789\"\n";

fn put(live: &Live, path: &str, text: &str) {
    let path = live.workspace().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn git(live: &Live, arguments: &[&str]) -> String {
    let who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "safe.directory=*"];
    let output =
        Command::new("git").args(who).args(arguments).current_dir(live.workspace()).output().unwrap();
    assert!(output.status.success(), "{arguments:?} {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Each path of the rows with a view, as a file eight folders deep.
fn paths_with(view: SandboxView) -> Vec<(&'static Name, PathBuf)> {
    let rows = names().filter(move |name| name.view() == view && name.scope == Scope::Anywhere);
    let paths = rows.flat_map(|name| name.paths.iter().map(move |path| (name, path.replace('*', "x"))));
    let deep = move |(at, (name, path)): (usize, (&'static Name, String))| {
        (name, Path::new(&format!("a/b/c/d/e/f/{view:?}/{at}")).join(path))
    };
    paths.enumerate().map(deep).collect()
}

#[test]
fn every_row_of_secrets_is_hidden_or_shown_as_documented() {
    let live = Live::bare();
    let rows = [
        (SandboxView::Masked, "harmless = true\n", true, false),
        (SandboxView::MaskedWithSecret, "harmless = true\n", false, false),
        (SandboxView::MaskedWithSecret, SECRET, true, false),
        (SandboxView::Reported, "harmless = true\n", false, false),
        (SandboxView::Reported, SECRET, false, true),
    ];
    for (view, text, is_hidden, is_told) in rows {
        for (_, path) in paths_with(view) {
            put(&live, path.to_str().unwrap(), text);
        }
        let facts = probe(&SandboxSpec::new(live.workspace(), ["true"]));
        for (name, path) in paths_with(view) {
            let mut hidden = facts.protected.iter().filter(|entry| entry.mode == ProtectionMode::Hide);
            assert_eq!(hidden.any(|entry| entry.path == path), is_hidden, "{}: {path:?}", name.id);
            assert_eq!(facts.exposed.iter().any(|it| it.path == path), is_told, "{}: {path:?}", name.id);
        }
    }
}

#[test]
fn git_adds_everything_but_what_is_hidden() {
    let Some(live) = Live::new() else { return };
    git(&live, &["init", "-q"]);
    let secrets =
        [".env", "a b/*.pem/server.pem", "x/.npmrc", "infra/terraform.tfstate", "sub/.aws/credentials"];
    for path in secrets {
        put(&live, path, &format!("{SECRET}-----BEGIN PRIVATE KEY-----\n"));
    }
    put(&live, "sub/.npmrc", "registry = https://registry.example/\n");
    let who = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b";
    let said = live.script(&format!(
        "{who}; echo x > new; git status --short; git add -A && git commit -qm all; echo $?; \
         cat .env a*/*/server.pem x/.npmrc infra/* sub/.aws/credentials"
    ));
    assert!(!said.contains("PRIVATE") && said.contains("\n0\n"), "{said}");
    assert_eq!(git(&live, &["ls-files"]), "new\nsub/.npmrc\n");
    assert_eq!(git(&live, &["status", "--short", "-uall"]).lines().count(), secrets.len());
}

/// A key that a command created itself stays visible for later ones; hidden files stay hidden by any path.
#[test]
fn files_of_a_command_are_visible_to_the_next() {
    let Some(live) = Live::new() else { return };
    put(&live, "app/old.pem", "-----BEGIN PRIVATE KEY-----\nPRIVATE\n");
    live.script("printf '%s' '-----BEGIN PRIVATE KEY-----' > new.pem; mv app other; mkdir app");
    assert!(live.workspace().join("other/old.pem").exists());
    let said = live.script("cat new.pem other/old.pem");
    assert!(said.starts_with("-----BEGIN PRIVATE KEY-----") && !said.contains("PRIVATE\n"), "{said}");
}

#[test]
fn secrets_in_visible_git_settings_are_reported() {
    let Some(live) = Live::new() else { return };
    git(&live, &["init", "-q"]);
    git(&live, &["remote", "add", "origin", "https://me:hunter22@example.org/x.git"]);
    let outcome = live.run(&["git", "remote", "get-url", "origin"], |_| ()).unwrap();
    assert_eq!(outcome.end, End::Exited(0), "{outcome:?}");
    let told: Vec<_> =
        outcome.exposed.iter().map(|it| (it.path.to_str().unwrap(), it.label.as_str())).collect();
    assert_eq!(told, [(".git/config", "secrets: Git")]);
    assert!(read(&live.workspace().join(".git/config")).contains("hunter22"));
}
