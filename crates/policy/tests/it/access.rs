//! The chain of policies, questions and their answers.

use std::path::Path;

use stockade_policy::access::{
    ChainError, FORBIDDEN_GLOBS, Fix, Policy, PolicyDecision, Position, READ_PATH_POLICY, RunState,
    WRITE_PATH_POLICY,
};
use stockade_policy::paths::{Jail, PathPolicy, PathPolicyPatch};
use stockade_policy::{
    Access, AccessRequest, Answer, Caller, Reply, Sandbox, SandboxConfig, SandboxError, ToolGuard, Verdict,
    Workspace,
};

use crate::support::{WS, decide, plain, sandbox, word};

fn by_default(answer: Answer) -> SandboxConfig {
    let policy = PathPolicy { default: answer, ..PathPolicy::default() };
    SandboxConfig { read: policy.clone(), write: policy, ..SandboxConfig::default() }
}

fn read(guard: &ToolGuard, path: &str) -> Verdict {
    decide(guard, Access::Read, path, &plain(path))
}

fn write(guard: &ToolGuard, path: &str) -> Verdict {
    decide(guard, Access::Write, path, &plain(path))
}

fn run(guard: &ToolGuard, text: &str) -> Verdict {
    guard.decide(&AccessRequest::Command { text }, &Caller::default())
}

fn reply(guard: &mut ToolGuard, verdict: Verdict, reply: Reply) -> Verdict {
    let Verdict::Pending(ask) = verdict else { panic!("nothing was asked: {verdict:?}") };
    guard.answer(&ask, reply)
}

#[test]
fn each_answer_has_its_effect() {
    for (answer, now, later) in [
        ("allow", "allow", "ask"),
        ("deny", "write-denied", "ask"),
        ("allow-session", "allow", "allow"),
        ("deny-session", "write-denied", "write-denied"),
        ("banana", "write-denied", "ask"),
        ("", "write-denied", "ask"),
        ("ALLOW", "write-denied", "ask"),
        ("true", "write-denied", "ask"),
    ] {
        let mut sandbox = sandbox(&by_default(Answer::Ask));
        let guard = sandbox.guard_for("t");
        let asked = write(guard, "a.txt");
        assert_eq!(word(&reply(guard, asked, Reply::parse(answer))), now, "{answer}");
        assert_eq!(word(&write(guard, "a.txt")), later, "{answer}");
    }
}

#[test]
fn a_question_that_cannot_be_answered_is_a_no() {
    let mut sandbox = sandbox(&by_default(Answer::Ask));
    let guard = sandbox.guard_for("t");
    for (outcome, expected) in [(Reply::NoHandler, "ask-no-handler"), (Reply::Aborted, "ask-aborted")] {
        let asked = read(guard, "a.txt");
        assert_eq!(word(&reply(guard, asked, outcome)), expected);
    }
    let facts = plain("a.txt");
    let request = AccessRequest::Path { access: Access::Read, path: Path::new("a.txt"), facts: &facts };
    let aborted = Caller { agent: "a", run: RunState::Aborted };
    assert_eq!(word(&guard.decide(&request, &aborted)), "ask-aborted");
}

#[test]
fn a_question_says_what_it_is_about() {
    let mut sandbox = sandbox(&by_default(Answer::Ask));
    let guard = sandbox.guard_for("write_file");
    let facts = plain("a\nb");
    let request = AccessRequest::Path { access: Access::Write, path: Path::new("a\nb"), facts: &facts };
    let Verdict::Pending(ask) = guard.decide(&request, &Caller { agent: "writer", ..Caller::default() })
    else {
        panic!()
    };
    assert_eq!(
        (ask.tool(), ask.agent(), ask.operation().name(), ask.object().to_string().as_str(), ask.reason()),
        ("write_file", "writer", "fs.write", "/base/ws/a⟨newline⟩b", "policy-ask")
    );
}

#[test]
fn a_remembered_answer_holds_for_tool_operation_and_exact_object() {
    let mut sandbox = sandbox(&by_default(Answer::Ask));
    let guard = sandbox.guard_for("one");
    for path in ["a", "a*.txt", "dir"] {
        let asked = write(guard, path);
        assert_eq!(word(&reply(guard, asked, Reply::parse("allow-session"))), "allow");
    }
    assert_eq!(word(&write(guard, "./a")), "allow");
    for other in ["b", "dir/a", "abc.txt", "dir/x", "A"] {
        assert_eq!(word(&write(guard, other)), "ask", "{other}");
    }
    assert_eq!(word(&read(guard, "a")), "ask");
    assert_eq!(word(&write(sandbox.guard_for("two"), "a")), "ask");
    assert_eq!(word(&write(sandbox.guard_for("one"), "a")), "allow");
    sandbox.guard_for("one").end_session();
    assert_eq!(word(&write(sandbox.guard_for("one"), "a")), "ask");
}

#[test]
fn a_remembered_answer_never_overrules_a_rule() {
    let mut sandbox = sandbox(&by_default(Answer::Ask));
    let guard = sandbox.guard_for("t");
    let asked = write(guard, "a");
    let Verdict::Pending(ask) = asked else { panic!() };
    assert!(guard.answer(&ask, Reply::parse("allow-session")).is_allowed());
    let patch = PathPolicyPatch { deny: vec!["a".to_owned()], ..PathPolicyPatch::default() };
    let _change = guard.extend(Access::Write, &patch).unwrap();
    assert_eq!(word(&write(guard, "a")), "write-denied");
    // Nor does an answer that comes after the rule.
    assert_eq!(word(&guard.answer(&ask, Reply::parse("allow"))), "write-denied");
}

#[test]
fn an_answer_counts_only_for_the_guard_that_asked() {
    let mut sandbox = sandbox(&by_default(Answer::Ask));
    let Verdict::Pending(ask) = write(sandbox.guard_for("one"), "a") else { panic!() };
    assert_eq!(word(&sandbox.guard_for("two").answer(&ask, Reply::parse("allow-session"))), "write-denied");
    assert_eq!(word(&write(sandbox.guard_for("two"), "a")), "ask");
}

#[test]
fn inspection_never_asks() {
    let mut sandbox = sandbox(&by_default(Answer::Ask));
    let guard = sandbox.guard_for("t");
    let facts = plain("a");
    let request = AccessRequest::Path { access: Access::Read, path: Path::new("a"), facts: &facts };
    assert!(!guard.can_access(&request));
    let asked = read(guard, "a");
    assert!(reply(guard, asked, Reply::parse("allow-session")).is_allowed());
    assert!(guard.can_access(&request));
}

#[test]
fn forbidden_globs_stand_outside_the_chain() {
    let config = SandboxConfig { forbidden_globs: vec![".env".to_owned()], ..SandboxConfig::default() };
    let mut sandbox = sandbox(&config);
    let guard = sandbox.guard_for("t");
    let anything = || Policy::custom("anything", |_| PolicyDecision::Answer(Answer::Allow));
    assert_eq!(guard.remove(FORBIDDEN_GLOBS), Err(ChainError::Fixed));
    assert_eq!(guard.add(anything().named(FORBIDDEN_GLOBS), Position::Last), Err(ChainError::Fixed));
    assert_eq!(guard.add(anything(), Position::Before(FORBIDDEN_GLOBS)), Err(ChainError::Fixed));
    let change = guard.add(anything(), Position::Before(READ_PATH_POLICY)).unwrap();
    assert_eq!(change.policies, [FORBIDDEN_GLOBS, "anything", READ_PATH_POLICY, WRITE_PATH_POLICY]);
    let _change = guard.remove(READ_PATH_POLICY).unwrap();
    assert_eq!(word(&read(guard, ".env")), "forbidden-glob");
    assert_eq!(word(&write(guard, ".env")), "forbidden-glob");
}

#[test]
fn the_first_policy_that_says_anything_decides() {
    let says = |answer| Policy::custom("custom", move |_| PolicyDecision::Answer(answer));
    // Default of the path policy, where the policy stands, its answer, what comes out.
    for (default, position, answer, expected) in [
        (Answer::Allow, Position::Last, Answer::Deny, "read-denied"),
        (Answer::Allow, Position::Last, Answer::Ask, "ask"),
        (Answer::Allow, Position::Last, Answer::Allow, "allow"),
        (Answer::Deny, Position::Last, Answer::Allow, "read-denied"),
        (Answer::Ask, Position::Last, Answer::Allow, "ask"),
        (Answer::Deny, Position::Before(READ_PATH_POLICY), Answer::Allow, "allow"),
        (Answer::Allow, Position::Before(READ_PATH_POLICY), Answer::Deny, "read-denied"),
    ] {
        let mut sandbox = sandbox(&by_default(default));
        let guard = sandbox.guard_for("t");
        let _change = guard.add(says(answer), position).unwrap();
        assert_eq!(word(&read(guard, "a")), expected, "{default:?} {position:?} {answer:?}");
    }
}

#[test]
fn a_policy_that_passes_leaves_the_decision_to_others() {
    let mut sandbox = sandbox(&by_default(Answer::Deny));
    let guard = sandbox.guard_for("t");
    let _change =
        guard.add(Policy::custom("p", |_| PolicyDecision::Pass), Position::Before(READ_PATH_POLICY)).unwrap();
    assert_eq!(word(&read(guard, "a")), "read-denied");
    let _change = guard.remove(READ_PATH_POLICY).unwrap();
    assert_eq!(word(&read(guard, "a")), "allow");
}

#[test]
fn chains_are_changed_by_name() {
    let mut sandbox = sandbox(&SandboxConfig::default());
    let guard = sandbox.guard_for("t");
    let named = |name: &str| Policy::custom(name, |_| PolicyDecision::Pass);
    let names = |guard: &ToolGuard| guard.policies().policies[1..].join(" ");
    for (policy, position, expected) in [
        ("a", Position::Last, "read-path-policy write-path-policy a"),
        ("b", Position::Before("a"), "read-path-policy write-path-policy b a"),
        ("a", Position::Last, "read-path-policy write-path-policy b a"),
        ("b", Position::Last, "read-path-policy write-path-policy b a"),
        ("a", Position::Before(READ_PATH_POLICY), "a read-path-policy write-path-policy b"),
        ("a", Position::Before("b"), "read-path-policy write-path-policy a b"),
        ("a", Position::Before("a"), "read-path-policy write-path-policy a b"),
    ] {
        let _change = guard.add(named(policy), position).unwrap();
        assert_eq!(names(guard), expected, "{policy} {position:?}");
    }
    let unknown = guard.add(named("c"), Position::Before("read-path-polici")).unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "no policy `read-path-polici` in the chain; did you mean `read-path-policy`?"
    );
    assert!(guard.remove("c").is_err());
}

#[test]
fn a_patch_keeps_what_is_denied() {
    let policy = PathPolicy { deny: vec!["private/**".to_owned()], ..PathPolicy::default() };
    let mut sandbox = sandbox(&SandboxConfig { read: policy, ..SandboxConfig::default() });
    let guard = sandbox.guard_for("t");
    let patch = PathPolicyPatch {
        default: Some(Answer::Ask),
        allow: vec!["**".to_owned()],
        deny: vec!["x".to_owned()],
    };
    let _change = guard.extend(Access::Read, &patch).unwrap();
    for (path, expected) in
        [("private/k", "read-denied"), ("x", "read-denied"), ("y", "allow"), ("/y", "ask")]
    {
        assert_eq!(word(&read(guard, path)), expected, "{path}");
    }
}

#[test]
fn commands_are_denied_approved_and_otherwise_left_to_the_default() {
    for (execute, otherwise) in
        [(Answer::Allow, "allow"), (Answer::Ask, "ask"), (Answer::Deny, "command-denied")]
    {
        let mut sandbox = sandbox(&SandboxConfig { execute, ..SandboxConfig::default() });
        let guard = sandbox.guard_for("run_command");
        for policy in [
            Policy::deny_commands(&["npm publish"]).unwrap(),
            Policy::approve_commands(&["git push"]).unwrap(),
            Policy::deny_dangerous_commands().named("dangerous"),
        ] {
            let _change = guard.add(policy, Position::Last).unwrap();
        }
        for (command, expected) in [
            ("npm publish", "command-denied"),
            ("npm  publish", "command-denied"),
            ("git push && npm publish", "command-denied"),
            ("git push --force", "ask"),
            ("rm -rf /", "command-denied"),
            ("ls", otherwise),
        ] {
            assert_eq!(word(&run(guard, command)), expected, "{command}");
        }
    }
}

#[test]
fn an_approved_command_is_remembered_as_that_command() {
    let mut sandbox = sandbox(&SandboxConfig::default());
    let guard = sandbox.guard_for("run_command");
    let _change = guard.add(Policy::approve_commands(&["git push"]).unwrap(), Position::Last).unwrap();
    let asked = run(guard, "git push");
    assert!(reply(guard, asked, Reply::parse("allow-session")).is_allowed());
    assert_eq!(word(&run(guard, "git push")), "allow");
    assert_eq!(word(&run(guard, "git push --force")), "ask");
}

#[test]
fn configurations_that_cannot_hold_are_refused() {
    let relative = Sandbox::compile(&SandboxConfig::default(), &Workspace::plain("ws")).unwrap_err();
    assert_eq!(relative.to_string(), "the workspace `ws` must be an absolute path");
    let elsewhere = SandboxConfig { cwd: Some("/other".into()), ..SandboxConfig::default() };
    assert!(matches!(
        Sandbox::compile(&elsewhere, &Workspace::plain(WS)),
        Err(SandboxError::OtherWorkspace { .. })
    ));
    let unusable = SandboxConfig { forbidden_globs: vec!["[a".to_owned()], ..SandboxConfig::default() };
    let error = Sandbox::compile(&unusable, &Workspace::plain(WS)).unwrap_err();
    assert_eq!(error.to_string(), "cannot use the forbidden globs");
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(source, "glob `[a`: `[` is never closed; a literal one is written `\\[`");
}

/// Following the fixes one by one always ends in a permission, for every obstacle that a configuration can hold.
#[test]
fn fixes_lead_to_a_permission() {
    let narrow = PathPolicy {
        default: Answer::Deny,
        allow: vec!["src/**".to_owned()],
        deny: vec!["src/s*/**".to_owned(), "**/x".to_owned()],
    };
    let config = SandboxConfig { read: narrow.clone(), write: narrow, ..SandboxConfig::standard() };
    for path in ["src/secrets/x", "a[b]*{c}!~", "/etc/shadow", ".git", "lib/x", "-", "../y"] {
        let mut config = config.clone();
        let mut path = path.to_owned();
        let mut steps = 0;
        while let Verdict::Denied(violation) = read(sandbox(&config).guard_for("t"), &path) {
            steps += 1;
            assert!(steps < 10, "{path}: {violation}");
            match violation.fix.unwrap() {
                Fix::UseRelativePath { path: relative } => path = relative,
                fix => assert!(fix.apply(&mut config), "{fix}"),
            }
        }
        assert!(steps > 0, "{path}");
    }
}

#[test]
fn presets_keep_their_promises() {
    for (preset, path, expected) in [
        ("default", "src/a", "allow"),
        ("default", "/base/ws/src/a", "allow"),
        ("default", "/base/ws2/a", "absolute-path"),
        ("daemon", "/base/ws/src/a", "allow"),
        ("daemon", "src/a", "allow"),
        ("daemon", ".", "allow"),
        ("daemon", ".env", "forbidden-glob"),
        ("daemon", "/etc/hosts", "jail"),
        ("permissive", "/etc/hosts", "allow"),
        ("permissive", ".env", "allow"),
    ] {
        let preset = stockade_policy::paths::Preset::from_name(preset).unwrap();
        let mut sandbox = sandbox(&SandboxConfig::from(preset));
        assert_eq!(word(&read(sandbox.guard_for("t"), path)), expected, "{preset:?} {path}");
    }
    let unjailed_daemon = SandboxConfig { jail: Jail::Off, ..stockade_policy::paths::Preset::Daemon.into() };
    assert_eq!(word(&read(sandbox(&unjailed_daemon).guard_for("t"), "/etc/hosts")), "ask");
}
