//! Commands in a cluster, through the entry points that people and programs use, on the server of the tests of `backends-remote`.
#![expect(
    clippy::disallowed_methods,
    clippy::string_slice,
    reason = "a test may panic; it starts servers and commands"
)]

#[path = "../../../backends-remote/tests/it/kubernetes/schema.rs"]
mod schema;
#[path = "../../../backends-remote/tests/it/kubernetes/server.rs"]
mod server;
#[path = "../../../backends-remote/tests/it/kubernetes/world.rs"]
mod world;

use std::fs;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use server::{Faults, Server};
use tempfile::TempDir;

use crate::support::{STOCKADE, build_remote_backends};

const IMAGE: &str =
    "registry.example/tools@sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc";

struct Place {
    folder: TempDir,
    server: Server,
}

impl Place {
    fn new() -> Self {
        build_remote_backends();
        let (folder, server) = (tempfile::tempdir().unwrap(), Server::start(Faults::default()));
        fs::create_dir(folder.path().join("work")).unwrap();
        fs::create_dir(folder.path().join("home")).unwrap();
        fs::write(folder.path().join("kubeconfig"), server.kubeconfig()).unwrap();
        Self { folder, server }
    }

    fn command(&self, words: &[&str]) -> Command {
        let at = |name: &str| self.folder.path().canonicalize().unwrap().join(name);
        let mut command = Command::new(STOCKADE);
        command.args(words).current_dir(at("work")).env_clear().env("HOME", at("home"));
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("KUBECONFIG", at("kubeconfig"));
        command.stdin(Stdio::null());
        command
    }

    fn exec(&self, options: &[&str], command: &[&str]) -> Output {
        let fixed = ["exec", "--no-rules", "--backend", "kubernetes", "--image", IMAGE];
        let words: Vec<&str> = fixed.iter().chain(options).chain(&["--"]).chain(command).copied().collect();
        self.command(&words).output().unwrap()
    }

    fn assert_clean(&self) {
        assert_eq!(self.server.violations(), Vec::<String>::new());
        self.server.world.with(|state| assert!(state.objects.is_empty() && state.pods.is_empty()));
    }
}

const ENFORCED: [&str; 2] = ["--backend-option", "networkPolicies=enforced"];

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_command_runs_in_the_cluster_if_selected() {
    let place = Place::new();
    let ran = place.exec(&ENFORCED, &["echo", "a $HOME", "b"]);
    assert_eq!(
        (ran.status.code(), text(&ran.stdout)),
        (Some(0), "a $HOME b\n".to_owned()),
        "{}",
        text(&ran.stderr)
    );
    assert_eq!(place.exec(&ENFORCED, &["exit", "7"]).status.code(), Some(7));
    assert_eq!(place.exec(&ENFORCED, &["missing"]).status.code(), Some(127));
    let late = [&ENFORCED[..], &["--timeout", "1s"]].concat();
    assert_eq!(place.exec(&late, &["sleep", "60000"]).status.code(), Some(124));
    let given = [&ENFORCED[..], &["--env", "KEY=hunter2", "--format", "json"]].concat();
    let ran = place.exec(&given, &["env", "KEY"]);
    let document: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(
        (&document["end"], &document["stdout"]["text"]),
        (&json!("exited"), &json!("hunter2\n")),
        "{document}"
    );
    let memory = place.exec(&[&ENFORCED[..], &["--format", "json"]].concat(), &["oom"]);
    let document: Value = serde_json::from_slice(&memory.stdout).unwrap();
    assert_eq!(document["end"], "out-of-memory", "{document}");
    place.assert_clean();
}

#[test]
fn requirements_that_a_cluster_cannot_enforce_are_refused_with_a_fix() {
    let place = Place::new();
    let rows: [(&[&str], &str); 5] = [
        (&[], "networkPolicies=enforced"),
        (&["--backend-option", "networkPolices=enforced"], "did you mean `networkPolicies`"),
        (&["--backend-option", "networkPolicies=enforced", "--no-spawn"], "no launcher"),
        (
            &["--backend-option", "networkPolicies=enforced", "--backend-option", "workspace=upload"],
            "not copied back",
        ),
        (
            &["--backend-option", "networkPolicies=enforced", "--backend-option", "context=other"],
            "no context called `other`",
        ),
    ];
    for (options, wanted) in rows {
        let ran = place.exec(options, &["echo", "x"]);
        let said = text(&ran.stderr);
        assert!(ran.status.code() == Some(126) && said.contains(wanted), "{options:?}: {said}");
        assert!(!said.contains(server::TOKEN), "{said}");
    }
    assert_eq!(place.server.world.with(|state| state.began.len()), 0);
    place.assert_clean();
}

#[test]
fn a_kubeconfig_in_the_workspace_is_refused() {
    let place = Place::new();
    let at = |name: &str| place.folder.path().canonicalize().unwrap().join(name);
    fs::copy(at("kubeconfig"), at("work/kubeconfig")).unwrap();
    std::os::unix::fs::symlink(at("work/kubeconfig"), at("link")).unwrap();
    for path in ["work/kubeconfig", "link"] {
        let words = ["exec", "--no-rules", "--backend", "kubernetes", "--image", IMAGE, "--", "true"];
        let output = place.command(&words).env("KUBECONFIG", at(path)).output().unwrap();
        assert_eq!(output.status.code(), Some(126), "{output:?}");
        assert!(text(&output.stderr).contains("is a file in the workspace"), "{output:?}");
    }
}

#[test]
fn standard_input_for_a_cluster_is_refused_and_not_lost() {
    let place = Place::new();
    let words = ["exec", "--no-rules", "--backend", "kubernetes", "--image", IMAGE];
    let words: Vec<&str> = words.iter().chain(&ENFORCED).chain(&["--", "sleep", "60000"]).copied().collect();
    let mut child = place
        .command(&words)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"lost\n").unwrap();
    let ran = child.wait_with_output().unwrap();
    let said = text(&ran.stderr);
    assert!(ran.status.code() == Some(126) && said.contains("no standard input"), "{:?} {said}", ran.status);
    place.assert_clean();
}

#[test]
fn a_server_runs_commands_in_a_cluster_as_the_command_line_does() {
    let place = Place::new();
    let workspace = place.folder.path().canonicalize().unwrap().join("work");
    let request = json!({
        "jsonrpc": "2.0", "id": 1, "method": "exec",
        "params": {
            "argv": ["echo", "served"],
            "spec": {
                "workspace": workspace,
                "backend": "kubernetes",
                "image": IMAGE,
                "backendOptions": { "networkPolicies": "enforced" },
            },
        },
    });
    let mut child = place
        .command(&["serve"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(format!("{request}\n").as_bytes()).unwrap();
    let ran = child.wait_with_output().unwrap();
    let said = text(&ran.stdout);
    let answer: Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
    assert_eq!(answer["result"]["end"], "exited", "{answer}");
    assert_eq!(answer["result"]["stdoutBase64"], "c2VydmVkCg==", "{answer}");
    place.assert_clean();
}

#[test]
fn backends_reports_what_the_cluster_reports() {
    let place = Place::new();
    let words =
        ["backends", "--image", IMAGE, "--backend-option", "networkPolicies=enforced", "--format", "json"];
    let listed = place.command(&words).output().unwrap();
    let said = text(&listed.stdout);
    assert!(said.contains("kubernetes"), "{said} {}", text(&listed.stderr));
    place.assert_clean();
}
