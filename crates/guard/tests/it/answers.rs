//! Answers to commands hold for what was shown, and no longer than they are to.
#![expect(clippy::disallowed_methods, reason = "writes the files that answers are bound to")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use stockade_guard::admission::answers::{
    AnswerStore, AnswerTerms, AskedCommand, CommandAnswers, CommandQuestion,
};
use stockade_guard::command::answers::CommandAnswer::{
    self, Allow, AllowAlways, AllowSession, Deny, DenySession,
};
use stockade_guard::command::shell::{ReadOptions, Shell};
use stockade_guard::command::{
    CommandContext, CommandDefaults, CommandPolicy, CommandRule, Effect, Layer, RuleLayer,
};

const HOUR: u64 = 3600;

/// A workspace, rules that ask about what is tried here, and a clock that is set by hand.
struct Desk {
    folder: tempfile::TempDir,
    policy: CommandPolicy,
    seconds: Arc<AtomicU64>,
    answers: CommandAnswers,
    variables: BTreeMap<String, String>,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        let seconds = Arc::new(AtomicU64::new(1_000_000));
        let policy = policy(&["bash", "sh", "python3", "./run", "npm", "make", "deploy", "source"]);
        let store = AnswerStore::new(folder.path().join("state/answers.json"));
        let answers = answers(&seconds, AnswerTerms::default(), Some(store));
        Self { folder, policy, seconds, answers, variables: BTreeMap::new() }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join("work").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn question_in(&self, text: &str, agent: &str, folder: &str) -> Option<CommandQuestion> {
        let cwd = self.folder.path().join(folder);
        let place = CommandContext::new(Some(cwd.clone()), Some(cwd));
        let decision = self.policy.decide(text, &ReadOptions::default(), &place);
        let variables = Some(&self.variables);
        CommandQuestion::of(&decision, &AskedCommand { agent, shell: Shell::Bash, place: &place, variables })
    }

    fn question(&self, text: &str) -> CommandQuestion {
        self.question_in(text, "bot", "work").unwrap_or_else(|| panic!("{text} is not asked about"))
    }

    fn say(&self, text: &str, answer: CommandAnswer) -> Option<String> {
        self.answers.answer(&self.question(text), answer).unwrap().once
    }

    fn holds(&self, text: &str) -> Option<Effect> {
        self.answers.recall(&self.question(text)).unwrap().map(|answered| answered.effect)
    }
}

fn policy(asked: &[&str]) -> CommandPolicy {
    let rules = asked.iter().map(|name| {
        let id = format!("ask-{}", name.trim_start_matches("./"));
        CommandRule::prefix(&id, &[name], Effect::Ask)
    });
    let layer = RuleLayer { layer: Layer::User, rules: rules.collect(), overrides: Vec::new() };
    CommandPolicy::compile(vec![layer], CommandDefaults::default()).unwrap()
}

fn answers(seconds: &Arc<AtomicU64>, terms: AnswerTerms, store: Option<AnswerStore>) -> CommandAnswers {
    let seconds = Arc::clone(seconds);
    CommandAnswers::with_clock(terms, store, move || Duration::from_secs(seconds.load(Ordering::SeqCst)))
}

#[test]
fn an_answer_for_once_is_not_remembered() {
    let desk = Desk::new();
    for answer in [Allow, Deny] {
        assert_eq!(desk.say("git push", answer), None);
        assert_eq!(desk.holds("git push"), None);
    }
}

/// Everything that a command means is changed in turn: each time a person is asked again, and never when it is as it was.
#[test]
fn an_answer_is_void_when_anything_changes_that_it_was_about() {
    let rows = [
        ("bash ./x.sh", "x.sh"),
        ("python3 x.py --fast", "x.py"),
        ("./run", "run"),
        ("cd sub && sh x.sh", "sub/x.sh"),
        ("source env.sh", "env.sh"),
        ("bash -c 'sh x.sh'", "x.sh"),
        ("timeout 5 ./run", "run"),
        ("npm publish", "package.json"),
        ("cd sub && npm publish", "package.json"),
        ("make install", "Makefile"),
        ("git push", ".git/config"),
        ("git push", ".git/hooks/pre-push"),
        ("python3 -m tool", "tool/__main__.py"),
        ("deploy --config=site.yml", "site.yml"),
    ];
    for (text, file) in rows {
        for answer in [AllowSession, AllowAlways] {
            let desk = Desk::new();
            desk.write(file, "one");
            assert_eq!(desk.say(text, answer), None, "{text}");
            assert_eq!(desk.holds(text), Some(Effect::Allow), "{text}");
            desk.write(file, "two");
            assert_eq!(desk.holds(text), None, "{text}: {file} has changed");
            desk.write(file, "one");
            assert_eq!(desk.holds(text), Some(Effect::Allow), "{text}: it is as it was");
            fs::remove_file(desk.folder.path().join("work").join(file)).unwrap();
            assert_eq!(desk.holds(text), None, "{text}: {file} is gone");
        }
        let desk = Desk::new();
        desk.say(text, AllowSession);
        desk.write(file, "new");
        assert_eq!(desk.holds(text), None, "{text}: {file} was not there");
    }
}

#[test]
fn an_answer_is_for_one_agent_folder_and_text() {
    let desk = Desk::new();
    fs::create_dir(desk.folder.path().join("other")).unwrap();
    desk.say("git push", AllowSession);
    let recall = |question: Option<CommandQuestion>| desk.answers.recall(&question.unwrap()).unwrap();
    assert!(recall(desk.question_in("git push", "bot", "work")).is_some());
    assert!(recall(desk.question_in("git push", "bob", "work")).is_none());
    assert!(recall(desk.question_in("git push", "bot", "other")).is_none());
    for other in ["git push ", "git  push", "git push --force", "git push; git push", "git push # x"] {
        assert_eq!(desk.holds(other), None, "{other}");
    }
}

#[test]
fn an_answer_is_bound_to_the_variables_that_matter() {
    let mut desk = Desk::new();
    desk.variables.insert("TARGET".into(), "staging".into());
    desk.variables.insert("PATH".into(), "/usr/bin:/bin".into());
    let text = "deploy \"$TARGET\"";
    assert_eq!(desk.say(text, AllowSession), None);
    assert_eq!(desk.holds(text), Some(Effect::Allow));
    for (name, value) in [
        ("TARGET", "production"),
        ("PATH", "/tmp/evil:/usr/bin"),
        ("LD_PRELOAD", "/tmp/x.so"),
        ("GIT_SSH", "x"),
    ] {
        let before = desk.variables.insert(name.into(), value.into());
        assert_eq!(desk.holds(text), None, "{name}");
        match before {
            Some(before) => drop(desk.variables.insert(name.into(), before)),
            None => drop(desk.variables.remove(name)),
        }
    }
    desk.variables.insert("COLUMNS".into(), "80".into());
    assert_eq!(desk.holds(text), Some(Effect::Allow), "what does not matter does not count");
    // A program that is found in the workspace is one of its files.
    desk.variables.insert("PATH".into(), "bin:/usr/bin".into());
    desk.write("bin/deploy", "one");
    desk.say(text, AllowSession);
    desk.write("bin/deploy", "two");
    assert_eq!(desk.holds(text), None);
}

#[test]
fn what_cannot_be_bound_is_answered_once() {
    let desk = Desk::new();
    desk.write("x.sh", "x");
    symlink("/dev/stdin", desk.folder.path().join("work/pipe.sh")).unwrap();
    for text in [
        "git push origin $(cat branch)",
        "deploy \"$UNKNOWN_ARRAY[@]\" *.yml",
        "bash pipe.sh",
        "ls | xargs git push",
    ] {
        let question = desk.question(text);
        assert!(question.once.is_some(), "{text}: {question:?}");
        assert_eq!(question.answers, ["allow", "deny", "deny-session"], "{text}");
        assert!(desk.say(text, AllowSession).is_some() && desk.say(text, AllowAlways).is_some(), "{text}");
        assert_eq!(desk.holds(text), None, "{text}");
        // A no needs no bytes.
        assert_eq!(desk.say(text, DenySession), None, "{text}");
        assert_eq!(desk.holds(text), Some(Effect::Deny), "{text}");
    }
    assert_eq!(desk.answers.list().unwrap().len(), 4);
}

#[test]
fn a_no_for_the_session_holds_until_a_yes() {
    let desk = Desk::new();
    desk.write("run", "one");
    desk.say("./run", DenySession);
    assert_eq!(desk.holds("./run"), Some(Effect::Deny));
    desk.write("run", "two");
    assert_eq!(desk.holds("./run"), Some(Effect::Deny));
    desk.say("./run", AllowSession);
    assert_eq!(desk.holds("./run"), Some(Effect::Allow));
}

#[test]
fn answers_end() {
    let desk = Desk::new();
    desk.say("git push", AllowSession);
    desk.say("npm publish", AllowAlways);
    let at = |hours: u64| desk.seconds.store(1_000_000 + hours * HOUR, Ordering::SeqCst);
    at(11);
    assert_eq!(
        (desk.holds("git push"), desk.holds("npm publish")),
        (Some(Effect::Allow), Some(Effect::Allow))
    );
    at(12);
    assert_eq!((desk.holds("git push"), desk.holds("npm publish")), (None, Some(Effect::Allow)));
    at(30 * 24);
    assert_eq!(desk.holds("npm publish"), None);
    assert_eq!(desk.answers.list().unwrap(), []);
    // A clock that goes back makes no answer last longer.
    desk.seconds.store(5, Ordering::SeqCst);
    assert_eq!(desk.holds("npm publish"), None);
}

#[test]
fn terms_can_be_shorter_and_never_longer() {
    let desk = Desk::new();
    let none = AnswerTerms { session: Duration::ZERO, always: Duration::ZERO };
    let short = answers(&desk.seconds, none, None);
    let question = desk.question("git push");
    assert!(short.answer(&question, AllowSession).unwrap().once.is_some());
    assert!(short.recall(&question).unwrap().is_none());
    let endless = AnswerTerms { session: Duration::MAX, always: Duration::MAX };
    let long = answers(&desk.seconds, endless, None);
    let ends = long.answer(&question, AllowSession).unwrap().ends.unwrap();
    assert_eq!(ends, Duration::from_secs(1_000_000 + 12 * HOUR));
    assert!(long.answer(&question, AllowAlways).unwrap().once.is_some(), "there is no file");
}

#[test]
fn an_answer_lifts_no_denial_and_no_further_question() {
    let mut desk = Desk::new();
    desk.say("git push && deploy", AllowSession);
    assert_eq!(desk.holds("git push && deploy"), Some(Effect::Allow));
    // Another rule asks now about a part that no earlier question covered.
    desk.policy = policy(&["git", "deploy"]);
    assert_eq!(desk.holds("git push && deploy"), None);
    let rule = CommandRule::prefix("no-push", &["git", "push"], Effect::Deny);
    let layer = RuleLayer { layer: Layer::Admin, rules: vec![rule], overrides: Vec::new() };
    desk.policy = CommandPolicy::compile(vec![layer], CommandDefaults::default()).unwrap();
    assert!(
        desk.question_in("git push && deploy", "bot", "work").is_none(),
        "it is denied, so no question is asked"
    );
    // What is left of the command keeps its sandbox.
    let desk = Desk::new();
    desk.say("git push && unheard-of", AllowSession);
    assert_eq!(desk.holds("git push && unheard-of"), Some(Effect::Sandbox));
}

#[test]
fn answers_are_listed_and_revoked() {
    let desk = Desk::new();
    let secret = "deploy --token ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    desk.say("git push", AllowSession);
    desk.say(secret, AllowAlways);
    let listed = desk.answers.list().unwrap();
    assert_eq!(listed.iter().map(|one| one.answer).collect::<Vec<_>>(), ["allow-session", "allow-always"]);
    assert_eq!((listed[0].shown.as_str(), listed[0].agent.as_str()), ("git push", "bot"));
    assert_eq!(listed[0].id, desk.question("git push").id);
    assert_eq!(listed[0].rules, ["git-beyond"].map(str::to_owned), "{listed:?}");
    let file = fs::read_to_string(desk.folder.path().join("state/answers.json")).unwrap();
    assert!(!file.contains("ghp_abc") && !listed[1].shown.contains("ghp_abc"), "{file}");
    assert_eq!(desk.answers.revoke(Some(&listed[1].id)).unwrap(), 1);
    assert_eq!((desk.holds(secret), desk.holds("git push")), (None, Some(Effect::Allow)));
    desk.say(secret, AllowAlways);
    assert_eq!(desk.answers.revoke(None).unwrap(), 2);
    assert_eq!((desk.holds(secret), desk.holds("git push")), (None, None));
}

#[test]
fn an_answer_for_always_is_there_in_the_next_session_and_one_for_a_session_is_not() {
    let desk = Desk::new();
    desk.say("git push", AllowAlways);
    desk.say("npm publish", AllowSession);
    let store = AnswerStore::new(desk.folder.path().join("state/answers.json"));
    let next = answers(&desk.seconds, AnswerTerms::default(), Some(store));
    assert!(next.recall(&desk.question("git push")).unwrap().is_some());
    assert!(next.recall(&desk.question("npm publish")).unwrap().is_none());
    desk.answers.end_session();
    assert_eq!((desk.holds("git push"), desk.holds("npm publish")), (Some(Effect::Allow), None));
}

#[test]
fn a_file_of_answers_that_others_wrote_allows_nothing() {
    let desk = Desk::new();
    desk.say("git push", AllowAlways);
    let path = desk.folder.path().join("state/answers.json");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    let question = desk.question("git push");
    let whole = fs::read_to_string(&path).unwrap();
    for damaged in [
        whole.replace("\"version\": 1", "\"version\": 2"),
        whole.replace("\"content\": \"", "\"content\": \"zz"),
        whole.replace("\"answer\"", "\"other\""),
        whole.chars().take(whole.len() / 2).collect(),
        String::new(),
    ] {
        fs::write(&path, damaged).unwrap();
        assert!(desk.answers.recall(&question).is_err());
        assert!(desk.answers.answer(&question, AllowAlways).is_err());
    }
    fs::write(&path, &whole).unwrap();
    assert!(desk.answers.recall(&question).unwrap().is_some());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(desk.answers.recall(&question).is_err());
}

#[test]
fn a_question_shows_all_and_names_what_it_is_bound_to() {
    let mut desk = Desk::new();
    desk.variables.insert("PATH".into(), "/usr/bin".into());
    desk.write("x.sh", "x");
    let question = desk.question(&format!("bash x.sh{}; git push", " ".repeat(300)));
    assert_eq!(question.shown, "bash x.sh⟨300 spaces⟩; git push");
    assert_eq!(question.variables, ["PATH"]);
    assert_eq!(question.files.len(), 1, "{:?}", question.files);
    assert!(question.files[0].path.ends_with("work/x.sh"));
    let sha256 = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
    assert_eq!(question.files[0].sha256, sha256);
    assert_eq!(question.answers.len(), 5);
    assert_eq!(question.reasons.len(), 2, "{:?}", question.reasons);
}
