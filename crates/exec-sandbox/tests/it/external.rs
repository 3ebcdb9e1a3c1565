//! Backends that are programs of the user: their claims are marked as untested, and a failed run is never reported as a success.

#![expect(clippy::disallowed_methods, reason = "writes programs, and looks at their time")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use stockade_exec_sandbox::backends::{BackendRegistry, find_external};
use stockade_exec_sandbox::run::{Cancellation, RunControl, Streams};
use stockade_exec_sandbox::{
    BackendName, End, Limit, OnUnavailable, Outcome, Property, RunError, SandboxBackend, SandboxRule,
    SandboxSpec,
};

/// What answers every request but one to run.
const USUAL: &str = r#"#!/bin/sh
read -r request
case "$request" in
*'"request":"probe"'*) echo '{"event":"capabilities","holds":["files","network","processes","ipc","privileges","system-calls"],"workspace":"copy"}' ;;
*'"request":"kill"'*) touch "$0.killed"; echo '{"event":"gone"}' ;;
*'"request":"cleanup"'*) echo '{"event":"cleaned","count":3}' ;;
*) "#;

struct Ground {
    folder: tempfile::TempDir,
    registry: BackendRegistry,
}

impl Ground {
    /// A backend that answers a request to run like this.
    fn new(run: &str) -> Self {
        Self::of(&format!("{USUAL}{run}\n;;\nesac\n"))
    }

    fn of(program: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ground = Self { folder, registry: BackendRegistry::builtin().finding(find_external) };
        fs::create_dir(ground.folder.path().join("work")).unwrap();
        fs::write(ground.program(), program).unwrap();
        fs::set_permissions(ground.program(), fs::Permissions::from_mode(0o755)).unwrap();
        ground
    }

    fn program(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("stockade-backend-mine")
    }

    fn spec(&self) -> SandboxSpec {
        let workspace = self.folder.path().canonicalize().unwrap().join("work");
        let mut spec = SandboxSpec::new(workspace, ["make", "test"]);
        spec.backend = SandboxBackend::from_name("mine").unwrap();
        spec.backend_options = [("program".to_owned(), self.program().to_string_lossy().into_owned())].into();
        spec
    }

    fn run(&self, change: impl FnOnce(&mut SandboxSpec)) -> Result<Outcome, RunError> {
        let mut spec = self.spec();
        change(&mut spec);
        let ran = self.registry.plan_and_run(&spec, Streams::default(), &RunControl::default());
        ran.map(|(plan, outcome)| {
            assert_eq!(plan.provider.name(), "mine");
            outcome
        })
    }

    fn was_killed(&self) -> bool {
        self.program().with_extension("killed").exists()
            || PathBuf::from(format!("{}.killed", self.program().display())).exists()
    }
}

#[test]
fn output_and_end_are_forwarded_and_claims_are_marked_untested() {
    let ground = Ground::new(
        r#"echo '{"event":"stdout","data":"b3V0"}'; echo '{"event":"stderr","data":"ZXJy"}'; echo '{"event":"end","cause":"exited","code":7}'"#,
    );
    let outcome = ground.run(|_| {}).unwrap();
    assert_eq!(
        (outcome.end, outcome.output.stdout, outcome.output.stderr),
        (End::Exited(7), b"out".to_vec(), b"err".to_vec())
    );
    for property in [Property::Files, Property::Network] {
        assert!(outcome.enforcement.holds(property));
        let gap = outcome.enforcement.gaps.iter().find(|gap| gap.property == property).unwrap();
        assert!(gap.why.contains("claims are untested"), "{}", gap.why);
    }
    // A property that is required by name must be tested, not only claimed.
    let refused = ground.run(|spec| spec.require_by_name = [Property::Files].into()).unwrap_err();
    assert!(matches!(refused, RunError::Refused(_)), "{refused}");
}

#[test]
fn a_backend_program_gets_few_variables() {
    let ground = Ground::new(
        r#"env > "$0.env"; cat /proc/$$/cmdline > "$0.words"; echo "$request" > "$0.request"; echo '{"event":"end","cause":"exited","code":0}'"#,
    );
    ground.run(|spec| spec.environment.set.push(("SECRET".into(), "s3cret".into()))).unwrap();
    let read = |what: &str| fs::read_to_string(format!("{}.{what}", ground.program().display())).unwrap();
    assert!(
        std::env::var_os("CARGO_MANIFEST_DIR").is_some() && !read("env").contains("CARGO"),
        "{}",
        read("env")
    );
    assert!(!read("words").contains("s3cret") && !read("env").contains("s3cret"));
    let request: serde_json::Value = serde_json::from_str(&read("request")).unwrap();
    assert_eq!(request["argv"], serde_json::json!(["make", "test"]));
    assert_eq!(
        request["env"],
        serde_json::json!({ "SECRET": "s3cret" }),
        "and nothing that describes this machine"
    );
    assert_eq!((&request["network"], &request["workspaceAccess"]), (&"none".into(), &"read-only".into()));
    assert_eq!(request["options"], serde_json::json!({}));
}

/// Each of these is a run that failed: never a success, and always with the command told to end.
#[test]
fn a_backend_that_violates_the_protocol_is_an_error() {
    let end = r#"echo '{"event":"end","cause":"exited","code":0}'"#;
    let long = "head -c 3000000 /dev/zero | tr '\\0' x";
    let rows = [
        ("garbage", "echo hello".to_owned()),
        ("garbage before the end", format!("echo hello; {end}")),
        ("nothing at all", "exit 0".to_owned()),
        ("output, and no end", r#"echo '{"event":"stdout","data":"aGk="}'"#.to_owned()),
        ("a word behind the end", format!("{end}; echo '{{\"event\":\"gone\"}}'")),
        ("two ends", format!("{end}; {end}")),
        ("invalid exit code", r#"echo '{"event":"end","cause":"exited","code":4096}'"#.to_owned()),
        ("no code", r#"echo '{"event":"end","cause":"exited"}'"#.to_owned()),
        ("an answer to another question", "echo '{\"event\":\"cleaned\",\"count\":0}'".to_owned()),
        ("an error", r#"echo '{"event":"error","message":"no room"}'"#.to_owned()),
        ("a line without an end", format!("{long}; {end}")),
        ("half a line", r#"printf '{"event":"end","cause":"exited","code":0}'"#.to_owned()),
    ];
    for (what, run) in rows {
        let ground = Ground::new(&run);
        let error = ground.run(|_| {}).map(|outcome| outcome.end).expect_err(what);
        assert!(matches!(error, RunError::Watch(_)), "{what}: {error}");
        // Behind an end that was told, there is nothing to end.
        assert!(ground.was_killed(), "{what}: {error}");
    }
}

#[test]
fn a_timed_out_command_is_gone_or_reported() {
    let sleeps = "sleep 600";
    let bounded = |spec: &mut SandboxSpec| spec.limits.wall_time = Limit::AtMost(Duration::from_millis(300));
    let ground = Ground::new(sleeps);
    let begun = Instant::now();
    assert_eq!(ground.run(bounded).unwrap().end, End::TimedOut);
    assert!(ground.was_killed() && begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    // A backend that does not confirm that the command is gone.
    let ground = Ground::of(
        &format!("{USUAL}{sleeps};;\nesac\n")
            .replace(r#"{"event":"gone"}"#, r#"{"event":"error","message":"who?"}"#),
    );
    let error = ground.run(bounded).unwrap_err();
    assert!(error.to_string().contains("who?"), "{error}");
}

#[test]
fn a_cancelled_command_is_ended() {
    let ground = Ground::new("sleep 600");
    let cancellation = Cancellation::default();
    let control = RunControl { cancellation: Some(cancellation.clone()), ..RunControl::default() };
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        cancellation.cancel();
    });
    let (_, outcome) = ground.registry.plan_and_run(&ground.spec(), Streams::default(), &control).unwrap();
    assert!(outcome.end == End::Cancelled && ground.was_killed());
}

#[test]
fn endless_output_is_bounded_as_every_commands_is() {
    // 64 lines of 48 KiB each, again and again.
    let ground = Ground::new(
        r#"line=$(head -c 49152 /dev/zero | base64 -w0); i=0; while [ $i -lt 400 ]; do echo "{\"event\":\"stdout\",\"data\":\"$line\"}"; i=$((i+1)); done; echo '{"event":"end","cause":"exited","code":0}'"#,
    );
    let outcome = ground.run(|spec| spec.limits.output = Limit::AtMost(1 << 20)).unwrap();
    assert_eq!(
        (outcome.output.stdout.len() as u64, outcome.output.dropped),
        (1 << 20, 400 * 49152 - (1 << 20))
    );
}

#[test]
fn an_unavailable_backend_is_refused_with_its_reason_and_not_replaced() {
    let ground = Ground::of(
        "#!/bin/sh\nread -r request\necho '{\"event\":\"unavailable\",\"why\":\"no server\",\"fix\":\"start it\"}'\n",
    );
    let RunError::Refused(refusal) = ground.run(|_| {}).unwrap_err() else { panic!("no refusal") };
    assert_eq!(refusal.fix, "start it (it reports: no server)");
    // A program that does not answer, or holds less than is required.
    for program in [
        "#!/bin/sh\nexit 0\n",
        "#!/bin/sh\necho '{\"event\":\"capabilities\",\"holds\":[\"network\"],\"workspace\":\"copy\"}'\n",
        "#!/bin/sh\necho '{\"event\":\"capabilities\",\"holds\":[\"files\",\"processes\",\"made-up\"],\"workspace\":\"copy\"}'\n",
    ] {
        assert!(matches!(Ground::of(program).run(|_| {}), Err(RunError::Refused(_))), "{program}");
    }
    // Held to less, what does not isolate is no sandbox all the same.
    let ground = Ground::of(
        "#!/bin/sh\necho '{\"event\":\"capabilities\",\"holds\":[\"network\"],\"workspace\":\"copy\"}'\n",
    );
    assert!(matches!(ground.run(|spec| spec.require.clear()), Err(RunError::Refused(_))));
}

#[test]
fn a_backend_program_in_the_workspace_is_not_started() {
    let ground = Ground::new("exit 0");
    let inside = ground.spec().workspace.join("stockade-backend-mine");
    fs::copy(ground.program(), &inside).unwrap();
    let told = |path: &str| {
        let path = path.to_owned();
        ground.run(move |spec| {
            spec.on_unavailable = OnUnavailable::Refuse;
            spec.backend_options.insert("program".to_owned(), path);
        })
    };
    for path in [inside.to_str().unwrap(), "stockade-backend-mine", "/no/such/program", "/etc/passwd"] {
        let Err(RunError::Refused(refusal)) = told(path) else { panic!("{path} was started") };
        assert!(
            matches!(refusal.rule, SandboxRule::CannotEnforce(_)) && !refusal.fix.is_empty(),
            "{refusal}"
        );
    }
    assert!(
        find_external(BackendName::new("no-such-backend").unwrap(), &SandboxSpec::new("/srv/w", ["true"]))
            .is_none()
    );
}
