//! What a cluster is asked for, and what is refused before it is asked.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use stockade_backends_remote::kubernetes::{
    ClusterAccess, ClusterHost, ClusterSettings, ClusterWorkspace, KubernetesError, NetworkPolicies, RunName,
    RunObjects, Upload, Workload,
};
use stockade_exec_sandbox::{Confinement, Limit, MountAccess, Network, Property, SandboxSpec, Spawn};

use super::server::{Faults, Server};
use super::{planned, schema, spec};

pub(super) fn access() -> ClusterAccess {
    super::access(&Server::start(Faults::default()))
}

#[test]
fn kubernetes_objects_match_the_golden_files() {
    let mut wanted = spec(&["sh", "-c", "echo $HOME"]);
    wanted.limits.wall_time = Limit::AtMost(Duration::from_millis(1500));
    wanted.limits.memory = Limit::AtMost(64 << 20);
    wanted.environment.set = vec![("KEY".into(), "value".into())];
    let settings = ClusterSettings { start_time: Duration::from_secs(60), ..ClusterSettings::default() };
    let objects = planned("golden", &wanted, &settings, &access()).unwrap();
    let golden: Value = serde_json::from_str(include_str!("golden.json")).unwrap();
    let found = json!({ "job": objects.owner, "secret": objects.secret, "policy": objects.policy });
    assert_eq!(found, golden, "{}", serde_json::to_string_pretty(&found).unwrap());
}

#[test]
fn every_object_is_valid_in_the_kubernetes_schemas() {
    let access = access();
    let claim = |folder: Option<&str>| ClusterWorkspace::Claim {
        name: "work.one".to_owned(),
        folder: folder.map(str::to_owned),
    };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a b.txt"), "x").unwrap();
    for workspace in [ClusterWorkspace::Empty, claim(None), claim(Some("a/b")), ClusterWorkspace::Upload] {
        for workload in [Workload::Job, Workload::Sandbox] {
            for network in [Network::None, Network::Open] {
                let mut wanted = spec(&["true"]);
                wanted.workspace = folder.path().to_path_buf();
                wanted.workspace_access = MountAccess::ReadOnly;
                wanted.network = network.clone();
                wanted.container.runtime = Some("gvisor".to_owned());
                let settings = ClusterSettings {
                    workspace: workspace.clone(),
                    workload,
                    pull_secret: Some("registry".to_owned()),
                    ..ClusterSettings::default()
                };
                let upload = Upload::read(&wanted).unwrap();
                let upload = (workspace == ClusterWorkspace::Upload).then_some(&upload);
                let host = ClusterHost { variables: &[].into(), user: (1000, 1000), upload };
                let name = RunName::new("a").unwrap();
                let objects = RunObjects::plan(name, &wanted, &settings, &access, &host).unwrap();
                let pod = objects.pod();
                for object in [&objects.owner, &objects.secret, &pod].into_iter().chain(&objects.policy) {
                    assert_eq!(schema::wrong(object), Vec::<String>::new(), "{object}");
                }
                assert_eq!(objects.policy.is_some(), network == Network::None);
            }
        }
    }
}

#[test]
fn the_strict_schema_rejects_misspelled_fields() {
    let objects = planned("a", &spec(&["true"]), &ClusterSettings::default(), &access()).unwrap();
    let container = "/spec/template/spec/containers/0";
    let rows: [(&str, &str, Value); 6] = [
        (container, "readonlyRootFilesystem", true.into()),
        ("/spec", "backofLimit", 0.into()),
        ("/spec", "suspend", "true".into()),
        ("/spec/template/spec", "restartPolicy", 1.into()),
        ("/metadata", "name", "A_b".into()),
        (&format!("{container}/resources/limits"), "memory", "lots".into()),
    ];
    for (place, field, value) in rows {
        let mut owner = objects.owner.clone();
        owner.pointer_mut(place).unwrap()[field] = value;
        assert!(!schema::wrong(&owner).is_empty(), "{place}/{field}");
    }
}

#[test]
fn requests_that_pods_cannot_enforce_are_refused_with_a_fix() {
    type Change = fn(&mut SandboxSpec, &mut ClusterSettings);
    let rows: &[(Change, &str)] = &[
        (|spec, _| spec.container.image = None, "missing image"),
        (|spec, _| spec.container.image = Some("--privileged".to_owned()), "invalid image name"),
        (
            |spec, _| spec.container.runtime = Some("a b".to_owned()),
            "invalid name of a Secret or RuntimeClass",
        ),
        (|spec, _| spec.confinement = Confinement::None, "without a sandbox"),
        (|spec, _| spec.shared = vec!["/srv/x".into()], "directories of this machine"),
        (|spec, _| spec.network = Network::Broker { socket: "/s".into() }, "socket or a proxy"),
        (|spec, _| spec.spawn = Spawn::Threads, "no launcher"),
        (|spec, _| spec.limits.cpu_time = Limit::AtMost(Duration::from_secs(1)), "CPU time limit"),
        (|spec, _| spec.limits.memory = Limit::Unlimited, "needs a memory limit"),
        (|spec, _| spec.workspace = "work".into(), "not visible in the sandbox"),
        (|spec, _| spec.cwd = Some("/etc".into()), "not visible in the sandbox"),
        (|spec, _| spec.environment.set = vec![("A-B".into(), "x".into())], "letters, digits and `_`"),
        (|spec, _| spec.environment.set = vec![("A".into(), "x".repeat(1 << 20).into())], "512 KiB"),
        (|spec, _| spec.command.push("x".repeat(1 << 20).into()), "512 KiB"),
        (|_, settings| settings.workspace = ClusterWorkspace::Upload, "not copied back"),
        (|_, settings| settings.user = Some((0, 0)), "as root"),
        (|_, settings| settings.user = Some((1000, 0)), "as root"),
        (
            |_, settings| {
                settings.workspace = ClusterWorkspace::Claim { name: "A b".to_owned(), folder: None }
            },
            "invalid name or directory of a claim",
        ),
        (
            |_, settings| {
                settings.workspace =
                    ClusterWorkspace::Claim { name: "a".to_owned(), folder: Some("../b".to_owned()) };
            },
            "invalid name or directory of a claim",
        ),
    ];
    for (change, wanted) in rows {
        let (mut spec, mut settings) = (spec(&["true"]), ClusterSettings::default());
        change(&mut spec, &mut settings);
        let refusal = planned("a", &spec, &settings, &access()).unwrap_err();
        assert!(refusal.to_string().contains(wanted), "{refusal}");
        assert!(!refusal.fix.is_empty());
    }
    // Root of this machine is root of the node, where the files of a claim are.
    let settings = ClusterSettings {
        workspace: ClusterWorkspace::Claim { name: "work".to_owned(), folder: None },
        ..ClusterSettings::default()
    };
    let host = ClusterHost { variables: &[].into(), user: (0, 0), upload: None };
    let refused = RunObjects::plan(RunName::new("a").unwrap(), &spec(&["true"]), &settings, &access(), &host);
    assert!(refused.unwrap_err().to_string().contains("as root"));
}

#[test]
fn the_network_is_a_gap_unless_the_operator_states_that_policies_are_enforced() {
    let holds = |network_policies, network| {
        let mut wanted = spec(&["true"]);
        wanted.network = network;
        let settings = ClusterSettings { network_policies, ..ClusterSettings::default() };
        planned("a", &wanted, &settings, &access()).unwrap().enforcement.holds(Property::Network)
    };
    assert!(!holds(NetworkPolicies::Unknown, Network::None));
    assert!(holds(NetworkPolicies::Enforced, Network::None));
    assert!(holds(NetworkPolicies::Unknown, Network::Open), "an open one was asked for");
    let objects = planned("a", &spec(&["true"]), &ClusterSettings::default(), &access()).unwrap();
    for property in [Property::ProcessCount, Property::SecondWall, Property::NoSpawn, Property::Priority] {
        assert!(!objects.enforcement.holds(property), "{property}");
    }
}

const CONFIG: &str = "apiVersion: v1
kind: Config
current-context: a
contexts:
- {name: a, context: {cluster: c, user: u}}
clusters:
- {name: c, cluster: {server: 'https://k.example:6443', certificate-authority-data: eA==}}
users:
- {name: u, user: {token: abc}}
";

#[test]
fn a_kubeconfig_that_weakens_or_runs_something_is_refused_with_the_reason() {
    let read = |text: &str| ClusterAccess::from_text(text, Path::new("/nowhere"), None);
    let well = read(CONFIG).unwrap();
    assert_eq!((well.server.as_str(), well.namespace.as_str()), ("https://k.example:6443", "default"));
    let off = CONFIG.replace("server:", "insecure-skip-tls-verify: false, server:");
    assert!(read(&off).is_ok(), "what is switched off says nothing");
    let rows = [
        ("token: abc", "exec: {command: aws}", "would run a program"),
        ("token: abc", "auth-provider: {name: gcp}", "has removed"),
        ("token: abc", "username: a, password: b", "password"),
        ("token: abc", "token: abc, as: root", "impersonates another"),
        ("server:", "insecure-skip-tls-verify: true, server:", "does not verify"),
        ("server:", "proxy-url: 'http://p', server:", "proxy"),
        ("server:", "tls-server-name: x, server:", "tls-server-name"),
        ("server:", "sever: 'https://x', server:", "no key"),
        ("https://k.example:6443", "http://k.example:6443", "neither https"),
        ("https://k.example:6443", "https://me@k.example", "neither https"),
        ("https://k.example:6443", "http://127.0.0.1.evil.example", "neither https"),
        ("token: abc", "{}", ""),
        ("token: abc", "token: abc, tokenFile: /x", "several of them"),
        ("current-context: a", "current-context: b", "no context called `b`"),
        ("cluster: c, user", "cluster: d, user", "no cluster called `d`"),
        ("user: u", "user: u, namespace: A_b", "invalid name of a namespace"),
        ("eA==", "???", "not valid base64"),
        (
            "- {name: u, user: {token: abc}}",
            "- {name: u, user: {token: abc}}\n- {name: u, user: {token: d}}",
            "duplicate name",
        ),
        ("kind: Config", "kind: [", ""),
    ];
    for (from, to, wanted) in rows {
        let text = CONFIG.replace(from, to);
        assert_ne!(text, CONFIG);
        let error = read(&text).unwrap_err();
        assert!(error.to_string().contains(wanted), "{to}: {error}");
        assert!(matches!(error, KubernetesError::Config { .. }) && !error.fix().is_empty());
        assert!(!error.to_string().contains("abc"), "no message has a token in it: {error}");
    }
}
