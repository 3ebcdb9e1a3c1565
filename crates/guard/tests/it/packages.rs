//! An approved installation runs in the sandbox and reaches the registry of its package manager, and no other host.
#![expect(clippy::disallowed_methods, reason = "lays out a workspace")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use stockade_guard::audit::{AuditOptions, AuditTrail};
use stockade_guard::command::{CommandRule, Effect, Layer, RuleLayer};
use stockade_guard::config::{Config, ConfigSources};
use stockade_guard::exec::run::Streams;
use stockade_guard::limits::store::MemoryStore;
use stockade_guard::policy::{PermissionDecision, Reply, ToolCatalog};
use stockade_guard::{Guard, GuardOptions, RunAnswer, Session, SessionOptions};

/// Asks for a page of each host, and prints nothing.
const PROBE: &str = "for host in registry.npmjs.org elsewhere.example; do curl -s -o /dev/null -m 5 https://$host/; done; true";

fn session(folder: &Path, flags: &[(&str, &str)]) -> Session {
    open(folder, flags, Vec::new())
}

/// A session with a rule of the user that allows these commands.
fn session_with_rule(folder: &Path, command: &str) -> Session {
    let words: Vec<&str> = command.split(' ').collect();
    let rules = vec![CommandRule::prefix("own", &words, Effect::Allow)];
    open(folder, &[], vec![RuleLayer { layer: Layer::User, rules, overrides: Vec::new() }])
}

fn open(folder: &Path, flags: &[(&str, &str)], rules: Vec<RuleLayer>) -> Session {
    let work = folder.join("work");
    fs::create_dir_all(&work).unwrap();
    fs::write(work.join("probe.sh"), PROBE).unwrap();
    let flags = flags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let config = Config::load(&ConfigSources { flags, ..ConfigSources::default() }).unwrap();
    let options =
        GuardOptions { agent: "bot".into(), workspace: work, catalog: ToolCatalog::default(), rules };
    let trail = AuditTrail::open(&folder.join("audit.jsonl"), AuditOptions::default()).unwrap();
    let limits = Box::new(MemoryStore::new(|| Duration::ZERO));
    Guard::open(&config, options).unwrap().session(SessionOptions { limits, trail })
}

/// Runs a command after the user's yes, if it is asked about. Returns whether it was, and the hosts that no entry of the list names;
/// nothing where this machine cannot create a sandbox.
fn not_listed(session: &Session, text: &str) -> Option<(bool, Vec<String>)> {
    let answer = session.run(text, Streams::default()).unwrap();
    let (was_asked, answer) = match answer {
        RunAnswer::Pending(pending) => {
            let yes = Reply::Decision(PermissionDecision::Allow);
            (true, session.answer_run(*pending, yes).unwrap())
        }
        answer => (false, answer),
    };
    let ran = match answer {
        RunAnswer::Ran(ran) => ran,
        RunAnswer::Refused(decision) => {
            println!("skipped: {}", decision.reason);
            return None;
        }
        other => panic!("{other:?}"),
    };
    let refused = ran.report.hosts_refused.iter().filter(|refused| refused.rule.name() == "not-listed");
    Some((was_asked, refused.map(|refused| refused.subject.clone()).collect()))
}

#[test]
fn an_approved_installation_reaches_its_registry_alone() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path(), &[]);
    let Some(found) = not_listed(&session, "npm ci --offline >/dev/null 2>&1; bash probe.sh") else { return };
    assert_eq!(found, (true, vec!["elsewhere.example:443".to_owned()]));
}

/// What runs without an approval gets no host, and a list that the machine's owner fixes is not extended.
#[test]
fn without_an_approval_no_registry_is_reached() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path(), &[]);
    let Some(found) = not_listed(&session, "uv run pytest >/dev/null 2>&1; bash probe.sh") else {
        return;
    };
    assert_eq!(found, (false, Vec::new()), "there is no network at all");
    let fixed = [
        ("security.permission.enableNodePermissions", "true"),
        ("security.permission.allowedNetHosts", "[\"one.example\"]"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let session = self::session(folder.path(), &fixed);
    let Some((was_asked, found)) = not_listed(&session, "npm ci --offline >/dev/null 2>&1; bash probe.sh")
    else {
        return;
    };
    assert!(was_asked && found.contains(&"registry.npmjs.org:443".to_owned()), "{found:?}");
}

/// A rule of the user gives the registry to what it allows, also to a build, and to no other part of a text.
#[test]
fn a_rule_gives_the_registry_to_what_it_allows() {
    for (rule, text, refused) in [
        ("npm ci", "npm ci --offline >/dev/null 2>&1; bash probe.sh", &["elsewhere.example:443"][..]),
        (
            "mvn",
            "mvn -o -q validate >/dev/null 2>&1; bash probe.sh",
            &["elsewhere.example:443", "registry.npmjs.org:443"],
        ),
        // There is no network at all.
        ("mvn", "uv run pytest >/dev/null 2>&1; bash probe.sh", &[]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let session = session_with_rule(folder.path(), rule);
        let Some((was_asked, mut found)) = not_listed(&session, text) else { return };
        found.sort();
        assert_eq!(found, refused, "{text}");
        assert!(!was_asked, "{text}");
    }
}
