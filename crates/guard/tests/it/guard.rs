//! One guard for all layers: what it decides, what it runs, and what is on record afterwards.
#![expect(clippy::disallowed_methods, reason = "lays out workspaces")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use stockade_guard::admission::SkillSource;
use stockade_guard::audit::{AuditOptions, AuditQuery, AuditTrail};
use stockade_guard::command::Effect;
use stockade_guard::config::{Config, ConfigSources};
use stockade_guard::limits::Usage;
use stockade_guard::limits::breaker::CallOutcome;
use stockade_guard::limits::store::MemoryStore;
use stockade_guard::policy::{Access, ToolCatalog};
use stockade_guard::scanner::Scanner;
use stockade_guard::{DecisionLayer, Guard, GuardError, GuardOptions, Session, SessionOptions};

struct Site {
    folder: tempfile::TempDir,
    trail: AuditTrail,
}

impl Site {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        let trail = AuditTrail::open(&folder.path().join("audit.jsonl"), AuditOptions::default()).unwrap();
        Self { folder, trail }
    }

    fn guard(&self, flags: &[(&str, &str)]) -> Session {
        self.open(flags, &self.trail).unwrap()
    }

    fn open(&self, flags: &[(&str, &str)], trail: &AuditTrail) -> Result<Session, GuardError> {
        open(self.folder.path(), flags, trail)
    }

    fn work(&self) -> std::path::PathBuf {
        self.folder.path().canonicalize().unwrap().join("work")
    }

    /// The kinds of all records, the oldest first.
    fn kinds(&self) -> Vec<String> {
        let mut records = self.trail.query(&AuditQuery { limit: 1000, ..AuditQuery::default() }).unwrap();
        records.reverse();
        records.iter().map(|record| record.event.clone()).collect()
    }
}

/// A session of the agent `bot`, which works in the folder `work`.
fn open(folder: &Path, flags: &[(&str, &str)], trail: &AuditTrail) -> Result<Session, GuardError> {
    let flags = flags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let config = Config::load(&ConfigSources { flags, ..ConfigSources::default() }).unwrap();
    open_with(folder, &config, trail)
}

fn open_with(folder: &Path, config: &Config, trail: &AuditTrail) -> Result<Session, GuardError> {
    let options = GuardOptions {
        agent: "bot".into(),
        workspace: folder.join("work"),
        catalog: ToolCatalog::default(),
        rules: Vec::new(),
    };
    let limits = Box::new(MemoryStore::new(|| Duration::from_secs(1)));
    Ok(Guard::open(config, options)?.session(SessionOptions { limits, trail: trail.clone() }))
}

/// Decisions that are made at once are on record when the answer is there, in their order, and none before.
#[test]
fn what_is_decided_at_once_is_on_record_before_the_answer() {
    let site = Site::new();
    let session = site.guard(&[]);
    let decided = session.at_once(|session| {
        let tool = session.tool("read", None).unwrap();
        let command = session.command("git status").unwrap();
        assert_eq!(site.kinds(), [""; 0]);
        (tool, command)
    });
    let (tool, command) = decided.unwrap();
    let mut records = site.trail.query(&AuditQuery::default()).unwrap();
    records.reverse();
    let named = |id: &str| Some(stockade_guard::audit::Detail::Text(id.to_owned()));
    let ids: Vec<_> = records.iter().map(|record| record.data.get("id").cloned()).collect();
    assert_eq!(ids, [named(&tool.id), named(&command.id)]);
    assert!(session.command("ls").is_ok());
    assert_eq!(site.kinds().len(), 3);
}

#[test]
fn every_layer_answers_in_one_form_and_is_on_record() {
    let site = Site::new();
    let guard = site.guard(&[]);
    fs::write(site.work().join("notes.md"), "x").unwrap();

    let rows = [
        (guard.tool("exec", None).unwrap(), Effect::Allow, DecisionLayer::Tools),
        (guard.tool("browser", None).unwrap(), Effect::Deny, DecisionLayer::Tools),
        (
            guard.path("read", Access::Read, Path::new("notes.md")).unwrap().decision,
            Effect::Allow,
            DecisionLayer::Paths,
        ),
        (
            guard.path("read", Access::Read, Path::new(".env")).unwrap().decision,
            Effect::Deny,
            DecisionLayer::Paths,
        ),
        (guard.command("git status").unwrap(), Effect::Allow, DecisionLayer::Commands),
        (guard.command("rm -rf /").unwrap(), Effect::Deny, DecisionLayer::Commands),
        (guard.command("echo $(curl evil.example)").unwrap(), Effect::Deny, DecisionLayer::Commands),
    ];
    for (decision, effect, layer) in &rows {
        assert_eq!((decision.effect, decision.layer), (*effect, *layer), "{decision}");
        assert!(!decision.rule.name().is_empty() && !decision.reason.is_empty(), "{decision:?}");
        assert_eq!(decision.is_allowed(), *effect <= Effect::Sandbox);
    }
    assert_eq!(rows[1].0.fix.as_deref(), Some("stockade allow --tool bot browser"));
    let wanted = [
        "tool_allowed",
        "tool_denied",
        "path_allowed",
        "path_denied",
        "command_allowed",
        "command_denied",
        "command_denied",
    ];
    assert_eq!(site.kinds(), wanted);
    assert!(site.trail.verify(None).unwrap().intact());
}

#[test]
fn an_active_skill_only_takes_away() {
    let site = Site::new();
    let mut guard = site.guard(&[]);
    let text = "---\nname: git-helper\ndescription: Helps.\nallowed-tools: exec(git:*) browser\n---\nHelp with git.\n";
    let source = SkillSource::Text { name: "SKILL.md", text };
    let skill = guard.admit(&source, Scanner::builtin()).unwrap().loaded().unwrap();
    guard.activate(&skill);
    for (tool, arguments, wanted) in [
        ("exec", Some("git status"), Effect::Allow),
        ("exec", Some("make"), Effect::Deny),
        ("exec", None, Effect::Deny),
        ("read", None, Effect::Deny),
        ("browser", None, Effect::Deny),
    ] {
        assert_eq!(guard.tool(tool, arguments).unwrap().effect, wanted, "{tool} {arguments:?}");
    }
    assert_eq!(site.kinds()[0], "skill_accepted");
}

#[test]
fn limits_are_asked_in_their_order() {
    let site = Site::new();
    let guard = site.guard(&[("agents.bot.maxSteps", "2"), ("agents.bot.budget.maxTokens", "100")]);
    let task = guard.begin("task");
    let (_, call) = guard.begin_call(&task, Usage::tokens(80)).unwrap();
    let (refused, none) = guard.begin_call(&task, Usage::tokens(80)).unwrap();
    assert_eq!((refused.rule.name(), none.is_none()), ("budget", true));
    guard.end_call(call.unwrap(), Usage::tokens(10), CallOutcome::Success).unwrap();
    let (granted, call) = guard.begin_call(&task, Usage::tokens(80)).unwrap();
    assert!(granted.is_allowed() && call.is_some());
    let (refused, _) = guard.begin_call(&task, Usage::tokens(1)).unwrap();
    assert_eq!(refused.rule.name(), "steps");
    assert_eq!(site.kinds(), ["limit_reached", "limit_reached"]);
}

/// Rules of the user decide, and what a project adds only makes things stricter.
#[test]
fn rules_of_the_configuration_decide_on_commands() {
    let site = Site::new();
    let rule = |id: &str, prefix: &str, decision: &str| {
        format!("{{\"id\": \"{id}\", \"prefix\": [\"git\", \"{prefix}\"], \"decision\": \"{decision}\"}}")
    };
    let project = format!(
        "{{\"agents\": {{\"bot\": {{\"commands\": {{\"rules\": [{}, {}, {}]}}}}}}}}",
        rule("p1", "push", "allow"),
        rule("p2", "status", "deny"),
        rule("p3", "tag", "allow"),
    );
    fs::create_dir(site.work().join(".stockade")).unwrap();
    fs::write(site.work().join(".stockade/config.json"), project).unwrap();
    let flags = vec![("agents.bot.commands.rules".to_owned(), format!("[{}]", rule("u1", "tag", "sandbox")))];
    let sources = ConfigSources { flags, project: Some(site.work()), ..ConfigSources::default() };
    let guard = open_with(site.folder.path(), &Config::load(&sources).unwrap(), &site.trail).unwrap();
    for (command, effect, rule) in [
        ("git push", Effect::Ask, None),
        ("git status", Effect::Deny, Some("p2")),
        ("git tag v1", Effect::Sandbox, Some("u1")),
        ("git log", Effect::Allow, None),
    ] {
        let decision = guard.command(command).unwrap();
        assert_eq!(decision.effect, effect, "{decision}");
        assert!(rule.is_none_or(|rule| decision.rule.name() == rule), "{decision}");
    }
}

#[test]
fn hosts_that_cannot_be_meant_or_held_to_are_refused() {
    let site = Site::new();
    let open = |hosts| {
        let flags = [
            ("security.permission.enableNodePermissions", "true"),
            ("security.permission.allowedNetHosts", hosts),
        ];
        site.open(&flags, &site.trail)
    };
    let error = open("https://a.example/path").unwrap_err();
    assert!(error.to_string().contains("it is a URL; write `a.example:443`, or "), "{error}");
    match cfg!(all(feature = "exec", target_os = "linux")) {
        true => assert!(open("a.example").is_ok()),
        false => assert!(matches!(open("a.example"), Err(GuardError::HostsWithoutBroker { .. }))),
    }
}

#[cfg(all(feature = "exec", target_os = "linux"))]
mod live {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;
    use stockade_guard::audit::AuditRecord;
    use stockade_guard::exec::End;
    use stockade_guard::exec::run::Streams;
    use stockade_guard::policy::{PermissionDecision, Reply};
    use stockade_guard::{GraphRun, Ran, RunAnswer, RunPlace};

    /// What ran; nothing where this machine cannot create a sandbox, which is said.
    fn what_ran(answer: RunAnswer) -> Option<Box<Ran>> {
        match answer {
            RunAnswer::Ran(ran) => Some(ran),
            RunAnswer::Refused(decision) if decision.layer == DecisionLayer::Sandbox => {
                println!("skipped: no sandbox on this machine: {}", decision.reason);
                None
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_command_runs_between_its_two_records() {
        let site = Site::new();
        let guard = site.guard(&[]);
        let Some(ran) = what_ran(guard.run("cp /etc/hostname here && ls", Streams::default()).unwrap())
        else {
            return;
        };
        assert_eq!(ran.report.outcome.end, End::Exited(0), "{:?}", ran.report.outcome.output);
        assert_eq!(ran.report.outcome.output.stdout, b"here\n");
        assert!(ran.report.unrecorded.is_none() && site.work().join("here").exists());
        assert_eq!(site.kinds(), ["command_allowed", "sandbox_started", "sandbox_completed"]);
        let records: Vec<AuditRecord> = site.trail.query(&AuditQuery::default()).unwrap();
        assert_eq!(records[0].run, records[1].run);
        assert!(format!("{:?}", records[0]).contains("enforced"), "{:?}", records[0]);

        let failed = what_ran(guard.run("ls /nowhere", Streams::default()).unwrap()).unwrap();
        assert_ne!(failed.report.outcome.end, End::Exited(0));
        assert_eq!(site.kinds().last().map(String::as_str), Some("sandbox_error"));
    }

    #[test]
    fn the_configuration_says_what_makes_the_sandbox() {
        for name in ["native", "landlock"] {
            let site = Site::new();
            let guard = site.guard(&[("agents.bot.skills.execSandbox.backend", name)]);
            let Some(ran) = what_ran(guard.run("cp /etc/hostname here", Streams::default()).unwrap()) else {
                return;
            };
            assert_eq!(
                (ran.report.plan.provider.name(), ran.report.outcome.end),
                (name, End::Exited(0)),
                "{:?}",
                ran.report.outcome.output
            );
        }
    }

    #[test]
    fn what_cannot_be_put_on_record_does_not_run() {
        let site = Site::new();
        let reader = AuditTrail::open_to_read(&site.folder.path().join("audit.jsonl")).unwrap();
        let guard = site.open(&[], &reader).unwrap();
        assert!(matches!(guard.run("touch marker", Streams::default()), Err(GuardError::Audit(_))));
        assert!(!site.work().join("marker").exists());
    }

    /// What may change its own record is not run; whatever lies beside the trail belongs to it.
    #[test]
    fn nothing_runs_that_may_write_to_its_own_record() {
        let site = Site::new();
        for folder in [site.work(), site.work().join(".state")] {
            fs::create_dir_all(&folder).unwrap();
            for name in ["audit.jsonl", "audit.db"] {
                let trail = AuditTrail::open(&folder.join(name), AuditOptions::default()).unwrap();
                let guard = site.open(&[], &trail).unwrap();
                let refused = guard.run("touch marker", Streams::default());
                let error = refused.map(drop).unwrap_err().to_string();
                assert!(error.contains("writable for the command"), "{error}");
                assert!(!site.work().join("marker").exists());
            }
        }
    }

    #[test]
    fn what_is_refused_does_not_run_and_what_is_asked_waits() {
        let site = Site::new();
        let guard = site.guard(&[("agents.bot.commands.unmatched", "ask")]);
        assert!(matches!(
            guard.run("touch a && rm -rf /", Streams::default()).unwrap(),
            RunAnswer::Refused(_)
        ));
        for (reply, runs) in [
            (Reply::Decision(PermissionDecision::Deny), false),
            (Reply::Unreadable, false),
            (Reply::Aborted, false),
            (Reply::NoHandler, false),
            (Reply::Decision(PermissionDecision::Allow), true),
        ] {
            let RunAnswer::Pending(pending) = guard.run("mknod marker p", Streams::default()).unwrap() else {
                panic!("no question was asked")
            };
            assert!(!site.work().join("marker").exists());
            match (guard.answer_run(*pending, reply).unwrap(), runs) {
                (RunAnswer::Refused(decision), false) => assert_eq!(decision.layer, DecisionLayer::Person),
                (answer, true) => {
                    let Some(_ran) = what_ran(answer) else { return };
                    assert!(site.work().join("marker").exists());
                }
                (answer, false) => panic!("{answer:?}"),
            }
        }
    }

    #[test]
    fn without_a_sandbox_nothing_runs_by_itself() {
        let site = Site::new();
        let guard = site.guard(&[("agents.bot.skills.execSandbox.enabled", "never")]);
        // What is simply allowed is left to the caller, who is told why.
        let RunAnswer::Unsandboxed(decision) = guard.run("ls", Streams::default()).unwrap() else { panic!() };
        assert_eq!((decision.layer, decision.rule.name()), (DecisionLayer::Sandbox, "execSandbox.enabled"));
        assert!(decision.is_allowed(), "{decision}");
        // What would need a sandbox is asked about.
        for (reply, allowed) in [(PermissionDecision::Deny, false), (PermissionDecision::Allow, true)] {
            let RunAnswer::Pending(pending) = guard.run("touch marker", Streams::default()).unwrap() else {
                panic!("no question was asked")
            };
            assert_eq!(pending.place(), RunPlace::Unsandboxed);
            assert!(pending.decision().reason.contains("`execSandbox.enabled` is `never`"));
            match (guard.answer_run(*pending, Reply::Decision(reply)).unwrap(), allowed) {
                (RunAnswer::Unsandboxed(decision), true) => assert!(decision.is_allowed(), "{decision}"),
                (RunAnswer::Refused(decision), false) => assert_eq!(decision.layer, DecisionLayer::Person),
                (other, _) => panic!("{other:?}"),
            }
        }
        assert!(matches!(guard.run("rm -rf /", Streams::default()).unwrap(), RunAnswer::Refused(_)));
        assert!(!site.work().join("marker").exists());
        assert!(!site.kinds().contains(&"sandbox_started".to_owned()));
    }

    /// The variable of a test that runs where no sandbox can be created.
    const ALONE: &str = "STOCKADE_TEST_WITHOUT_SANDBOXES";

    /// The test starts itself as root of a namespace that permits no further ones: no sandbox is selected by itself there.
    #[test]
    fn a_run_without_a_sandbox_is_on_record_as_what_it_was() {
        if std::env::var_os(ALONE).is_none() {
            let run = |words: &[&std::ffi::OsStr]| {
                std::process::Command::new("unshare").arg("-Ur").args(words).env(ALONE, "1").output().unwrap()
            };
            if !run(&["true".as_ref()]).status.success() {
                println!("skipped: user namespaces are needed for one that permits no others");
                return;
            }
            let script = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$0\" \"$@\"";
            let own = std::env::current_exe().unwrap();
            let name = "guard::live::a_run_without_a_sandbox_is_on_record_as_what_it_was";
            let ran = run(&[
                "sh".as_ref(),
                "-c".as_ref(),
                script.as_ref(),
                own.as_ref(),
                name.as_ref(),
                "--exact".as_ref(),
            ]);
            let said = String::from_utf8_lossy(&ran.stdout).into_owned();
            assert!(ran.status.success() && said.contains("1 passed"), "{said}");
            return;
        }
        let site = Site::new();
        let guard = site.guard(&[("agents.bot.skills.execSandbox.onUnavailable", "warn")]);
        let ran = what_ran(guard.run("cp /etc/hostname here", Streams::default()).unwrap()).unwrap();
        assert!(ran.report.is_unsandboxed() && ran.decision.reason.contains("runs without a sandbox"));
        let records = site.trail.query(&AuditQuery { limit: 2, ..AuditQuery::default() }).unwrap();
        for (record, event) in records.iter().zip(["sandbox_completed", "sandbox_started"]) {
            assert_eq!((record.event.as_str(), record.severity.as_str()), (event, "warn"));
            assert_eq!(record.backend.as_deref(), Some("nothing"));
            assert_eq!(
                record.data.get("network"),
                Some(&stockade_guard::audit::Detail::Text("open".into())),
                "{record:?}"
            );
        }
    }

    /// What no machine grants is refused, whatever the configuration says of machines that lack a sandbox.
    #[test]
    fn a_wish_that_is_refused_is_no_lack_of_a_sandbox() {
        for on_unavailable in ["warn", "ask", "refuse"] {
            let site = Site::new();
            let flags = [
                ("agents.bot.skills.execSandbox.onUnavailable", on_unavailable),
                ("agents.bot.skills.execSandbox.readOnlyAllowPaths", "[\"/\"]"),
            ];
            let guard = site.guard(&flags);
            let RunAnswer::Refused(decision) = guard.run("ls", Streams::default()).unwrap() else { panic!() };
            assert_eq!((decision.layer, decision.rule.name()), (DecisionLayer::Sandbox, "sandbox"));
        }
    }

    #[test]
    fn the_nodes_of_a_graph_share_one_folder_and_no_other_command_sees_it() {
        let site = Site::new();
        let run = GraphRun::begin(site.folder.path()).unwrap();
        assert_eq!(fs::metadata(run.path()).unwrap().permissions().mode() & 0o777, 0o700);
        let (mut first, mut second, other) = (site.guard(&[]), site.guard(&[]), site.guard(&[]));
        first.join(&run);
        second.join(&run);
        let file = run.path().join("data").display().to_string();
        let Some(wrote) =
            what_ran(first.run(&format!("cp /etc/hostname {file}"), Streams::default()).unwrap())
        else {
            return;
        };
        assert_eq!(wrote.report.outcome.end, End::Exited(0), "{:?}", wrote.report.outcome.output);
        let read = |guard: &Session| {
            what_ran(guard.run(&format!("cat {file}"), Streams::default()).unwrap()).unwrap()
        };
        assert_eq!(read(&second).report.outcome.end, End::Exited(0));
        assert_eq!(read(&other).report.outcome.end, End::Exited(1));
        let path = run.path().to_owned();
        run.end().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn a_graph_run_is_gone_on_with_by_its_name_and_by_nothing_else() {
        use std::os::unix::fs::symlink;

        let site = Site::new();
        let base = site.folder.path();
        let run = GraphRun::begin(base).unwrap();
        let name = run.path().file_name().unwrap().to_str().unwrap().to_owned();
        assert_eq!(GraphRun::names(base).unwrap(), [name.as_str()]);
        assert_eq!(GraphRun::resume(base, &name).unwrap().path(), run.path());
        let linked = "a".repeat(32);
        symlink(run.path(), base.join(&linked)).unwrap();
        fs::write(base.join("b".repeat(32)), "").unwrap();
        let below = format!("./{name}");
        for other in
            ["", ".", "..", "/etc", &below, name.get(1..).unwrap(), &linked, &"b".repeat(32), &"c".repeat(32)]
        {
            assert!(GraphRun::resume(base, other).is_err(), "{other}");
        }
        assert_eq!(GraphRun::names(base).unwrap(), [name.as_str()]);
        // Whatever its nodes have opened or closed, it is gone on with and taken away.
        let closed = run.path().join("closed");
        fs::create_dir_all(closed.join("in")).unwrap();
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        set(&closed, 0);
        set(run.path(), 0o777);
        let resumed = GraphRun::resume(base, &name).unwrap();
        assert_eq!(fs::metadata(run.path()).unwrap().permissions().mode() & 0o777, 0o700);
        resumed.end().unwrap();
        assert!(!run.path().exists() && GraphRun::names(base).unwrap().is_empty());
        assert!(GraphRun::names(&base.join("none")).unwrap().is_empty());
    }

    const TASK: &str = "STOCKADE_TEST_GUARD_FOLDER";

    /// Not a test of its own: what another process does until it is killed.
    #[test]
    fn in_another_process() {
        let Some(folder) = std::env::var_os(TASK) else { return };
        let folder = std::path::PathBuf::from(folder);
        let trail = AuditTrail::open(&folder.join("audit.jsonl"), AuditOptions::default()).unwrap();
        let guard = open(&folder, &[], &trail).unwrap();
        loop {
            let Some(ran) = what_ran(guard.run("sleep 0.02", Streams::default()).unwrap()) else { return };
            println!("ran {:?}", ran.report.outcome.end);
        }
    }

    #[test]
    fn a_guard_that_is_killed_leaves_one_end_for_each_start() {
        use std::io::{BufRead as _, BufReader};
        use std::process::{Command, Stdio};

        let site = Site::new();
        let mut ran = 0;
        for lines in 1..5 {
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "guard::live::in_another_process", "--nocapture", "--test-threads=1"])
                .env(TASK, site.folder.path())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let output = BufReader::new(child.stdout.take().unwrap());
            let seen = output
                .lines()
                .map_while(Result::ok)
                .filter(|line| line.starts_with("ran "))
                .take(lines)
                .count();
            // It is in the middle of the next run, or just before or after it.
            std::thread::sleep(Duration::from_millis(7 * u64::try_from(lines).unwrap()));
            child.kill().unwrap();
            child.wait().unwrap();
            if seen == 0 {
                println!("skipped: no sandbox on this machine");
                return;
            }
            ran += seen;
        }
        // The last sandbox dies a moment after the guard that made it, and holds the files of it until then.
        let opened = || {
            let path = site.folder.path().join("audit.jsonl");
            AuditTrail::open(&path, AuditOptions::default()).unwrap().verify(None).unwrap()
        };
        let mut verified = opened();
        for _ in 0..100 {
            if verified.open_runs == 0 {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
            verified = opened();
        }
        assert!(verified.intact() && verified.open_runs == 0, "{verified:?}");
        let kinds = site.kinds();
        let count = |wanted: &str| kinds.iter().filter(|kind| *kind == wanted).count();
        assert_eq!(count("sandbox_started"), count("sandbox_completed") + count("sandbox_error"));
        assert!(count("sandbox_completed") >= ran && ran >= 10, "{kinds:?}");
    }
}

/// The secrets of a user, where the project of the workspace narrows the hosts: those that nothing reaches any more are left out,
/// and the guard opens. A secret for a host that the user's own list lacks is an error.
#[test]
fn a_project_that_narrows_hosts_stops_no_guard() {
    let secret = |host: &str| {
        format!(
            "security: {{permission: {{enableNodePermissions: true, allowedNetHosts: [a.example, b.example], secrets: ['T=cmd:op read x@{host}']}}}}\n"
        )
    };
    let opened = |user: &str, project: &str| {
        let site = Site::new();
        let folder = site.folder.path();
        let file = folder.join("user.yaml");
        fs::write(&file, user).unwrap();
        fs::create_dir(folder.join("work/.stockade")).unwrap();
        fs::write(folder.join("work/.stockade/config.toml"), project).unwrap();
        let sources = ConfigSources {
            file: Some(file),
            project: Some(folder.join("work")),
            ..ConfigSources::default()
        };
        open_with(folder, &Config::load(&sources).unwrap(), &site.trail).map(|_| ())
    };
    for hosts in ["['a.example']", "['b.example']", "['a.example:80']", "[]"] {
        let project = format!("[security.permission]\nallowedNetHosts = {hosts}\n");
        opened(&secret("a.example"), &project).unwrap();
    }
    let error = opened(&secret("c.example"), "").unwrap_err();
    assert!(error.to_string().contains("`c.example:443`, which is not in the host list"), "{error}");
    assert!(std::error::Error::source(&error).is_none(), "its message would be shown twice");
}
