//! Runs in a cluster, on a server of our own that is as strict as Kubernetes and fails as planned.

#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::string_slice,
    reason = "a test may panic; it starts servers and programs"
)]

mod objects;
mod podman;
mod schema;
mod server;
mod world;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use server::{Faults, Server};
use stockade_backends_remote::kubernetes::{
    ClusterAccess, ClusterClient, ClusterEnd, ClusterHost, ClusterSettings, Fleet, FleetJournal, FleetRun,
    FleetStep, KubernetesError, RunName, RunObjects, Workload,
};
use stockade_exec_sandbox::{End, Limit, Refusal, SandboxSpec};

fn access(server: &Server) -> ClusterAccess {
    ClusterAccess::from_text(&server.kubeconfig(), Path::new("/"), None).unwrap()
}

fn spec(words: &[&str]) -> SandboxSpec {
    let mut spec = SandboxSpec::new("/srv/work", words.iter().copied());
    spec.container.image = Some(format!("registry.example/a/b@sha256:{}", "c".repeat(64)));
    spec
}

fn planned(
    name: &str,
    spec: &SandboxSpec,
    settings: &ClusterSettings,
    access: &ClusterAccess,
) -> Result<RunObjects, Refusal> {
    let variables: BTreeMap<OsString, OsString> = [("TOLD".into(), "passed".into())].into();
    let host = ClusterHost { variables: &variables, user: (1000, 1000), upload: None };
    RunObjects::plan(RunName::new(name).unwrap(), spec, settings, access, &host)
}

fn objects(name: &str, words: &[&str], server: &Server) -> RunObjects {
    let settings = ClusterSettings { start_time: Duration::from_secs(20), ..ClusterSettings::default() };
    planned(name, &spec(words), &settings, &access(server)).unwrap()
}

fn ran(server: &Server, objects: &RunObjects) -> (Result<ClusterEnd, KubernetesError>, String) {
    let client = ClusterClient::new(&access(server)).unwrap();
    let mut out = Vec::new();
    let end = client.run(objects).to_the_end(|| false, &mut |bytes| out.extend_from_slice(bytes));
    (end, String::from_utf8(out).unwrap())
}

/// Nothing is left of any run, none was made twice, and the server took all that was said.
fn assert_clean(server: &Server) {
    assert_eq!(server.violations(), Vec::<String>::new());
    server.world.with(|state| {
        assert!(state.objects.is_empty() && state.pods.is_empty(), "{:?}", state.objects.keys());
        assert!(state.began.values().all(|times| *times == 1), "{:?}", state.began);
    });
}

#[test]
fn a_command_runs_and_its_job_is_deleted() {
    let server = Server::start(Faults::default());
    let (end, out) = ran(&server, &objects("one", &["echo", "a $HOME $(id) $$ b"], &server));
    let end = end.unwrap();
    assert_eq!((end.end, end.lost_output), (End::Exited(0), false));
    assert_eq!(out, "a $HOME $(id) $$ b\n", "no cluster replaces words of a command");
    assert_clean(&server);
}

#[test]
fn every_end_has_its_reason() {
    let server = Server::start(Faults::default());
    let rows: [(&[&str], End, bool); 6] = [
        (&["exit", "7"], End::Exited(7), false),
        (&["oom"], End::OutOfMemory, true),
        (&["oom-beside"], End::Exited(0), true),
        (&["missing"], End::NotFound, false),
        (&["full"], End::OutOfDisk, false),
        (&["print", "3"], End::Exited(0), false),
    ];
    for (number, (words, wanted, memory_ran_out)) in rows.into_iter().enumerate() {
        let (end, out) = ran(&server, &objects(&format!("end-{number}"), words, &server));
        let end = end.unwrap();
        assert_eq!((end.end, end.memory_ran_out), (wanted, memory_ran_out), "{words:?}");
        assert_eq!(out.lines().count(), if words[0] == "print" { 3 } else { 0 });
    }
    let (lost, _) = ran(&server, &objects("lost", &["evicted"], &server));
    assert!(matches!(lost, Err(KubernetesError::Lost(_))), "{lost:?}");
    let (never, _) = ran(&server, &objects("never", &["bad-image"], &server));
    assert!(matches!(never, Err(KubernetesError::NeverBegan(_))), "{never:?}");
    assert_clean(&server);
}

#[test]
fn variables_are_sent_only_in_a_kubernetes_secret() {
    let server = Server::start(Faults::default());
    let mut wanted = spec(&["env", "KEY"]);
    wanted.environment.set = vec![("KEY".into(), "hunter2 $(HOME)".into())];
    wanted.environment.pass = vec!["TOLD".into()];
    let objects = planned("secret", &wanted, &ClusterSettings::default(), &access(&server)).unwrap();
    assert!(!objects.owner.to_string().contains("hunter2") && !objects.pod().to_string().contains("passed"));
    let (end, out) = ran(&server, &objects);
    assert_eq!((end.unwrap().end, out.as_str()), (End::Exited(0), "hunter2 $(HOME)\n"));
    assert_clean(&server);
}

#[test]
fn a_run_is_ended_on_timeout_and_on_cancellation() {
    let server = Server::start(Faults::default());
    let mut wanted = spec(&["sleep", "60000"]);
    wanted.limits.wall_time = Limit::AtMost(Duration::from_millis(300));
    let late = planned("late", &wanted, &ClusterSettings::default(), &access(&server)).unwrap();
    let begun = Instant::now();
    assert_eq!(ran(&server, &late).0.unwrap().end, End::TimedOut);
    let settings = ClusterSettings {
        longest: Duration::ZERO,
        start_time: Duration::from_millis(500),
        ..ClusterSettings::default()
    };
    // Here the cluster is quicker than the client: its deadline is a second.
    let mut by_cluster =
        planned("by-cluster", &spec(&["sleep", "60000"]), &settings, &access(&server)).unwrap();
    by_cluster.time = Duration::from_secs(30);
    assert_eq!(ran(&server, &by_cluster).0.unwrap().end, End::TimedOut);

    let client = ClusterClient::new(&access(&server)).unwrap();
    let cancelled = objects("cancelled", &["sleep", "60000"], &server);
    let end =
        client.run(&cancelled).to_the_end(move || begun.elapsed() > Duration::from_secs(3), &mut |_| {});
    assert_eq!(end.unwrap().end, End::Cancelled);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_clean(&server);
}

#[test]
fn a_run_that_does_not_start_fails_with_the_reason() {
    let server = Server::start(Faults::default());
    let settings = ClusterSettings { start_time: Duration::from_millis(300), ..ClusterSettings::default() };
    let objects = planned("stuck", &spec(&["unschedulable"]), &settings, &access(&server)).unwrap();
    let (end, _) = ran(&server, &objects);
    assert!(
        matches!(&end, Err(KubernetesError::NeverBegan(why)) if why.contains("not scheduled to a node")),
        "{end:?}"
    );
    let refused = planned("quota", &spec(&["echo"]), &settings, &access(&server)).unwrap();
    let (end, _) = ran(&server, &refused);
    assert!(matches!(end, Err(KubernetesError::Forbidden(_))), "{end:?}");
    assert_clean(&server);
}

#[test]
fn a_run_of_the_same_name_is_the_same_run_or_refused() {
    let server = Server::start(Faults::default());
    let client = ClusterClient::new(&access(&server)).unwrap();
    let one = objects("same", &["sleep", "700"], &server);
    let other = objects("same", &["echo", "else"], &server);
    let ends: Vec<_> = std::thread::scope(|threads| {
        let (client, one, other) = (&client, &one, &other);
        let run = move |objects: &RunObjects| client.run(objects).to_the_end(|| false, &mut |_| {});
        let first = threads.spawn(move || run(one));
        std::thread::sleep(Duration::from_millis(250));
        let second = threads.spawn(move || run(one));
        let third = threads.spawn(move || run(other));
        [first, second, third].map(|thread| thread.join().unwrap()).into()
    });
    assert_eq!(ends[0].as_ref().unwrap().end, End::Exited(0));
    assert_eq!(ends[1].as_ref().unwrap().end, End::Exited(0), "it is the same run");
    assert_eq!(ends[2], Err(KubernetesError::AnotherRun("same".to_owned())));
    assert_clean(&server);
}

#[test]
fn an_agents_sandbox_object_runs_like_a_job() {
    let server = Server::start(Faults::default());
    let settings = ClusterSettings { workload: Workload::Sandbox, ..ClusterSettings::default() };
    let objects = planned("boxed", &spec(&["echo", "hello"]), &settings, &access(&server)).unwrap();
    assert_eq!(objects.owner["kind"], "Sandbox");
    let (end, out) = ran(&server, &objects);
    assert_eq!((end.unwrap().end, out.as_str()), (End::Exited(0), "hello\n"));
    assert_clean(&server);
}

#[test]
fn output_is_complete_although_every_stream_breaks() {
    let server = Server::start(Faults { cut_streams: Some(1500), ..Faults::default() });
    let (end, out) = ran(&server, &objects("cut", &["print", "100"], &server));
    assert_eq!(end.unwrap().end, End::Exited(0));
    let wanted: String = (0..100).map(|line| format!("line {line} of cut\n")).collect();
    assert_eq!(out, wanted);
    assert_clean(&server);
}

#[test]
fn an_unknown_token_is_an_error_at_once() {
    let server = Server::start(Faults::default());
    let text = server.kubeconfig().replace(server::TOKEN, "another");
    let access = ClusterAccess::from_text(&text, Path::new("/"), None).unwrap();
    let client = ClusterClient::new(&access).unwrap();
    let error = client.would_take(&objects("one", &["echo"], &server)).unwrap_err();
    assert_eq!(error, KubernetesError::Unauthorised);
    assert!(!format!("{access:?} {client:?} {error}").contains("another"));
    let known = ClusterClient::new(&self::access(&server)).unwrap();
    known.would_take(&objects("one", &["echo"], &server)).unwrap();
    assert_clean(&server);
}

/// A fleet of so many runs, each of which prints its name and ends with a code of its own.
fn fleet(server: &Server, count: usize) -> Vec<RunObjects> {
    let one = |number: usize| match number % 10 {
        9 => objects(&format!("f-{number:04}"), &["exit", "3"], server),
        8 => objects(&format!("f-{number:04}"), &["sleep", "40"], server),
        _ => objects(&format!("f-{number:04}"), &["print", "2"], server),
    };
    (0..count).map(one).collect()
}

fn all_ended_well(runs: &BTreeMap<RunName, FleetStep>, count: usize) {
    assert_eq!(runs.len(), count);
    for (name, record) in runs {
        let wanted = if name.as_str().ends_with('9') { 3 } else { 0 };
        let is_well =
            matches!(record, FleetStep::Ended { end, code, .. } if end == "exited" && *code == wanted);
        assert!(is_well, "{name}: {record:?}");
    }
}

#[test]
fn a_thousand_runs_end_once_each_although_requests_fail() {
    let server = Server::start(Faults { percent: 12, cut_streams: Some(40_000), seed: 7 });
    let folder = tempfile::tempdir().unwrap();
    let journal = FleetJournal::open(&folder.path().join("journal"), &RunName::new("many").unwrap()).unwrap();
    let fleet = Fleet { client: ClusterClient::new(&access(&server)).unwrap(), at_a_time: 24, attempts: 20 };
    let printed = Mutex::new(BTreeMap::<RunName, Vec<u8>>::new());
    let over = AtomicUsize::new(0);
    let begun = Instant::now();
    let report = fleet
        .run(self::fleet(&server, 1000).into_iter(), &journal, || false, &|name, run| match run {
            FleetRun::Printed(bytes) => {
                printed.lock().unwrap().entry(name.clone()).or_default().extend_from_slice(bytes);
            }
            _ => {
                over.fetch_add(1, Ordering::SeqCst);
            }
        })
        .unwrap();
    eprintln!("1,000 runs, 24 at a time, 12 % of requests failing: {:?}", begun.elapsed());
    all_ended_well(&report.runs, 1000);
    assert_eq!(over.load(Ordering::SeqCst), 1000);
    for (name, out) in printed.into_inner().unwrap() {
        assert_eq!(String::from_utf8(out).unwrap(), format!("line 0 of {name}\nline 1 of {name}\n"));
    }
    let (began, most) = server.world.with(|state| (state.began.len(), state.running.1));
    assert_eq!(began, 1000);
    assert!(most <= 24, "{most} at a time");
    assert_clean(&server);
}

/// What the test below runs as a program of its own, to be killed.
#[test]
#[ignore = "it is started by `a_fleet_goes_on_after_its_client_was_killed`"]
fn client_of_a_fleet() {
    let said = |name: &str| std::env::var(name).unwrap();
    let access = ClusterAccess::from_text(&said("FLEET_CONFIG"), Path::new("/"), None).unwrap();
    let journal =
        FleetJournal::open(Path::new(&said("FLEET_JOURNAL")), &RunName::new("killed").unwrap()).unwrap();
    let fleet = Fleet { client: ClusterClient::new(&access).unwrap(), at_a_time: 8, attempts: 20 };
    let settings = ClusterSettings { start_time: Duration::from_secs(20), ..ClusterSettings::default() };
    let runs = (0..60).map(|number| {
        let words: &[&str] = if number % 10 == 9 { &["exit", "3"] } else { &["sleep", "60"] };
        planned(&format!("f-{number:04}"), &spec(words), &settings, &access).unwrap()
    });
    let runs: Vec<RunObjects> = runs.collect();
    let report = fleet.run(runs.into_iter(), &journal, || false, &|_, _| {}).unwrap();
    all_ended_well(&report.runs, 60);
}

#[test]
fn a_fleet_goes_on_after_its_client_was_killed() {
    let server = Server::start(Faults { percent: 5, cut_streams: None, seed: 3 });
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    let client = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "kubernetes::client_of_a_fleet", "--ignored", "--nocapture"])
            .env("FLEET_CONFIG", server.kubeconfig())
            .env("FLEET_JOURNAL", &journal)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    };
    let mut killed = 0;
    let output = loop {
        let mut child = client().spawn().unwrap();
        let until = Instant::now() + Duration::from_millis(250 + 60 * killed);
        while Instant::now() < until && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(5));
        }
        // After ten deaths, the last one may live.
        if killed == 10 || child.try_wait().unwrap().is_some() {
            break child.wait_with_output().unwrap();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        killed += 1;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(killed >= 3, "it was killed {killed} times only");
    let began = server.world.with(|state| state.began.len());
    assert_eq!(began, 60);
    assert_clean(&server);
}

#[test]
fn a_cancelled_fleet_leaves_its_runs_to_another_client() {
    let server = Server::start(Faults::default());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let fleet = Fleet { client: ClusterClient::new(&access(&server)).unwrap(), at_a_time: 4, attempts: 3 };
    let stop = Arc::new(AtomicBool::new(false));
    let name = RunName::new("stopped").unwrap();
    let journal = FleetJournal::open(&path, &name).unwrap();
    let (asked, seen) = (Arc::clone(&stop), AtomicUsize::new(0));
    let report = fleet
        .run(
            self::fleet(&server, 40).into_iter(),
            &journal,
            move || asked.load(Ordering::SeqCst),
            &|_, run| {
                if matches!(run, FleetRun::Over(_)) && seen.fetch_add(1, Ordering::SeqCst) == 10 {
                    stop.store(true, Ordering::SeqCst);
                }
            },
        )
        .unwrap();
    assert!(report.is_cancelled && report.runs.values().filter(|record| record.is_over()).count() < 40);
    drop(journal);
    let journal = FleetJournal::open(&path, &name).unwrap();
    let report = fleet.run(self::fleet(&server, 40).into_iter(), &journal, || false, &|_, _| {}).unwrap();
    all_ended_well(&report.runs, 40);
    assert_clean(&server);
}

#[test]
fn a_released_run_is_never_created_again() {
    let server = Server::start(Faults::default());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let lines = [
        json!({ "fleet": "gone", "version": 1 }),
        json!({ "run": "f-0000", "step": "making" }),
        json!({ "run": "f-0001", "step": "starting" }),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(&path, text).unwrap();
    let journal = FleetJournal::open(&path, &RunName::new("gone").unwrap()).unwrap();
    let fleet = Fleet { client: ClusterClient::new(&access(&server)).unwrap(), at_a_time: 2, attempts: 3 };
    let report = fleet.run(self::fleet(&server, 2).into_iter(), &journal, || false, &|_, _| {}).unwrap();
    let ends: Vec<&FleetStep> = report.runs.values().collect();
    assert!(matches!(ends[0], FleetStep::Ended { code: 0, .. }), "held back, nothing of it ran: {ends:?}");
    assert!(matches!(ends[1], FleetStep::Failed { may_have_run: true, .. }), "{ends:?}");
    assert_eq!(server.world.with(|state| state.began.len()), 1);
    assert_clean(&server);
}

/// In a real cluster, where one is named.
#[test]
fn a_real_cluster_runs_it_if_one_is_named() {
    let Some(image) = std::env::var("STOCKADE_TEST_CLUSTER_IMAGE").ok() else {
        eprintln!(
            "skipped: STOCKADE_TEST_CLUSTER_IMAGE names no image with a shell for the cluster of KUBECONFIG"
        );
        return;
    };
    let home = std::env::var("HOME").unwrap_or_default();
    let access = ClusterAccess::find(None, Path::new(&home)).unwrap();
    let client = ClusterClient::new(&access).unwrap();
    let mut wanted =
        spec(&["sh", "-c", "echo hello $KEY; id -u; touch /x 2>/dev/null && echo written; exit 7"]);
    wanted.container.image = Some(image);
    wanted.environment.set = vec![("KEY".into(), "$(HOME)".into())];
    let objects =
        planned(RunName::unguessed().unwrap().as_str(), &wanted, &ClusterSettings::default(), &access)
            .unwrap();
    client.would_take(&objects).unwrap();
    let mut out = Vec::new();
    let end = client.run(&objects).to_the_end(|| false, &mut |bytes| out.extend_from_slice(bytes)).unwrap();
    assert_eq!(
        (end.end, String::from_utf8(out).unwrap()),
        (End::Exited(7), "hello $(HOME)\n65532\n".to_owned())
    );
}
