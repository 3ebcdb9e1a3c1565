//! `stockade watch`: a user at a real pseudo-terminal answers the questions of agents whose own program cannot ask.
#![expect(clippy::disallowed_methods, reason = "runs the binary on a pseudo-terminal")]

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};
use serde_json::json;

use crate::hook::{Answer, Home, claude, shell};
use crate::support::STOCKADE;

/// How long to wait for what should be there at once.
const PATIENCE: Duration = Duration::from_secs(30);

/// `stockade watch` on a terminal of its own.
struct Watch {
    child: Child,
    controller: OwnedFd,
    terminal: OwnedFd,
    shown: Arc<Mutex<String>>,
}

impl Watch {
    fn start(home: &Path, args: &[&str]) -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let terminal = rustix::fs::open(name, flags, Mode::empty()).unwrap();
        let clone = || Stdio::from(terminal.try_clone().unwrap());
        let mut command = Command::new(STOCKADE);
        command.arg("watch").args(args).env_clear().env("HOME", home).env("TERM", "xterm").current_dir(home);
        let child = command.stdin(clone()).stdout(clone()).stderr(clone()).spawn().unwrap();
        drop(command);
        let shown = Arc::new(Mutex::new(String::new()));
        let (mut file, into) = (File::from(controller.try_clone().unwrap()), Arc::clone(&shown));
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = file.read(&mut bytes) {
                into.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..read]));
            }
        });
        let watch = Self { child, controller, terminal, shown };
        watch.waits_for("no question waits");
        watch
    }

    fn waits_for(&self, text: &str) {
        let begin = Instant::now();
        while !self.shown.lock().unwrap().contains(text) {
            assert!(begin.elapsed() < PATIENCE, "no {text:?}: {}", self.shown.lock().unwrap());
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Types once a question has been shown for long enough.
    fn types(&self, text: &str) {
        thread::sleep(Duration::from_millis(900));
        rustix::io::write(&self.controller, text.as_bytes()).unwrap();
    }

    fn forget(&self) {
        self.shown.lock().unwrap().clear();
    }

    /// Waits for the end, after which the terminal is as it was.
    fn ends(mut self) -> Option<i32> {
        let begin = Instant::now();
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None if begin.elapsed() > PATIENCE => panic!("it does not end"),
                None => thread::sleep(Duration::from_millis(20)),
            }
        };
        let modes = tcgetattr(&self.terminal).unwrap().local_modes;
        assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO), "{modes:?}");
        self.waits_for("\u{1b}[?1049l");
        status.code()
    }
}

fn push(home: &Home, harness: &str, target: &str) -> Answer {
    home.answer(harness, &shell(harness, &home.project(), &json!(format!("git push origin {target}"))))
}

fn answers(home: &Home) -> String {
    let output = home.run(STOCKADE, &["audit", "query", "--event", "approval_answered"], b"");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_waiting_question_is_answered_once() {
    let home = Home::new();
    assert!(matches!(push(&home, "codex", "a"), Answer::Deny(_)), "without a watch, nothing is asked");
    let watch = Watch::start(home.path(), &[]);
    thread::scope(|scope| {
        let asked = scope.spawn(|| push(&home, "codex", "a"));
        watch.waits_for("agent codex asks (1 of 1");
        watch.waits_for("  git push origin a");
        watch.types("a");
        assert_eq!(asked.join().unwrap(), Answer::Silent);
        watch.waits_for("allowed once: git push origin a");
        // The answer was for one call.
        watch.forget();
        let again = scope.spawn(|| push(&home, "codex", "a"));
        watch.waits_for("agent codex asks");
        watch.types("d");
        let Answer::Deny(why) = again.join().unwrap() else { panic!() };
        assert!(why.contains("has denied this call") && !why.contains("stockade allow"), "{why}");
    });
    let recorded = answers(&home);
    assert!(recorded.contains("answer: allow") && recorded.contains("answer: deny"), "{recorded}");
    // Programs that can ask do so themselves.
    let begin = Instant::now();
    assert!(matches!(claude(&home, "Bash", &json!({"command": "git push origin a"})), Answer::Ask(_)));
    assert!(begin.elapsed() < Duration::from_secs(4));
    watch.types("q");
    assert_eq!(watch.ends(), Some(0));
    let begin = Instant::now();
    assert!(matches!(push(&home, "codex", "a"), Answer::Deny(_)));
    assert!(begin.elapsed() < Duration::from_secs(4), "the watch has ended");
}

/// A later answer is for the next call of exactly the same content.
#[test]
fn a_late_answer_is_for_exactly_the_same_call() {
    let home = Home::new();
    let watch = Watch::start(home.path(), &["codex"]);
    let Answer::Deny(why) = push(&home, "codex", "late") else { panic!() };
    assert!(why.contains("repeat exactly this call"), "{why}");
    watch.waits_for("git push origin late");
    watch.types("a");
    watch.waits_for("allowed once: git push origin late");
    watch.types("q");
    assert_eq!(watch.ends(), Some(0));
    for (harness, target) in [("codex", "later"), ("gemini", "late")] {
        assert!(matches!(push(&home, harness, target), Answer::Deny(_)), "{harness} {target}");
    }
    assert_eq!(push(&home, "codex", "late"), Answer::Silent);
    assert!(matches!(push(&home, "codex", "late"), Answer::Deny(_)), "it was used");
}

/// An installation that is allowed runs in the sandbox, with a ticket.
#[test]
fn an_allowed_installation_is_contained() {
    let home = Home::new();
    let watch = Watch::start(home.path(), &[]);
    let install = shell("codex", &home.project(), &json!("npm ci"));
    thread::scope(|scope| {
        let asked = scope.spawn(|| home.answer("codex", &install));
        watch.waits_for("  npm ci");
        watch.types("a");
        let Answer::Rewrite(input) = asked.join().unwrap() else { panic!() };
        assert!(input.to_string().contains("--agreed"), "{input}");
    });
    kill_process(Pid::from_child(&watch.child), Signal::TERM).unwrap();
    assert_eq!(watch.ends(), Some(0));
}

#[test]
fn without_a_terminal_decisions_are_lines() {
    let home = Home::new();
    assert!(matches!(push(&home, "codex", "a\u{1b}[2J"), Answer::Deny(_)));
    let mut command = Command::new(STOCKADE);
    command.args(["watch", "codex"]).env_clear().env("HOME", home.path()).current_dir(home.project());
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut text = String::new();
    let mut bytes = [0; 512];
    while !text.contains("git push origin") {
        let read = out.read(&mut bytes).unwrap();
        text.push_str(&String::from_utf8_lossy(&bytes[..read]));
    }
    assert!(text.contains("  codex ") && !text.contains('\u{1b}'), "{text}");
    // Its output is no terminal, so nothing is asked.
    let begin = Instant::now();
    assert!(matches!(push(&home, "codex", "b"), Answer::Deny(_)));
    assert!(begin.elapsed() < Duration::from_secs(4));
    drop(out);
    push(&home, "codex", "c");
    // It ends with its reader.
    child.wait().unwrap();
}
