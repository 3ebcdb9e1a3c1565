//! `stockade exec -t` with a person in front of a real pseudo-terminal: what is typed, resized and killed.
#![expect(clippy::disallowed_methods, reason = "runs the binary on a pseudo-terminal")]

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tempfile::TempDir;

use crate::support::{STOCKADE, path_with_stockade};

/// How long a person waits for what should be there at once.
const PATIENCE: Duration = Duration::from_secs(30);

/// Who sits at the terminal.
#[derive(Debug, Clone, Copy)]
enum Who {
    /// The user that runs the tests.
    Same,
    /// An ordinary user, where root runs the tests.
    Unprivileged,
}

/// The ID of that ordinary user, the same on every system.
const UNPRIVILEGED: u32 = 65534;

/// Each backend, and who uses it. Bubblewrap is not for root, nor is Landlock in a workspace of root's own.
fn backends() -> &'static [(&'static str, Who)] {
    if rustix::process::geteuid().is_root() {
        &[
            ("native", Who::Same),
            ("native", Who::Unprivileged),
            ("bwrap", Who::Unprivileged),
            ("landlock", Who::Unprivileged),
        ]
    } else {
        &[("native", Who::Same), ("bwrap", Who::Same), ("landlock", Who::Same)]
    }
}

/// A person at a terminal, in whose shell a script runs.
struct Person {
    keyboard: File,
    screen: Receiver<Vec<u8>>,
    seen: String,
    shell: Child,
    _folder: TempDir,
}

impl Person {
    fn new(who: Who, script: &str) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let controller = openpt(flags).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let terminal = ioctl_tiocgptpeer(&controller, flags).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().join("work");
        fs::create_dir(&workspace).unwrap();
        let mut shell = Command::new("setsid");
        // The shell stays until the person leaves: when the leader of a session ends, the kernel drops what is still on its
        // way to the screen.
        let script = format!("{script}; read -r _");
        shell.args(["--ctty", "--wait", "sh", "-c", &script]).current_dir(&workspace).env_clear();
        shell.env("PATH", path_with_stockade());
        if let Who::Unprivileged = who {
            // Its own folder may belong to root alone.
            fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
            // By another process: a command that starts beside this would inherit a file that is open for writing, ETXTBSY.
            let copy = Command::new("cp")
                .args([STOCKADE.as_ref(), folder.path().join("stockade").as_path()])
                .status();
            assert!(copy.unwrap().success());
            let home = folder.path().join("home");
            fs::create_dir(&home).unwrap();
            for own in [&workspace, &home] {
                chown(own, Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
            }
            shell.env("PATH", format!("{}:/usr/bin:/bin", folder.path().display()));
            shell.env("HOME", home).uid(UNPRIVILEGED).gid(UNPRIVILEGED);
        }
        let stream = || Stdio::from(terminal.try_clone().unwrap());
        let shell = shell.stdin(stream()).stdout(stream()).stderr(stream()).spawn().unwrap();
        let keyboard = File::from(controller);
        let (mut screen, (send, receive)) = (keyboard.try_clone().unwrap(), channel());
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(count @ 1..) = screen.read(&mut chunk) {
                if send.send(chunk[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        let person = Self { keyboard, screen: receive, seen: String::new(), shell, _folder: folder };
        person.resize(40, 120);
        person
    }

    fn types(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    fn resize(&self, rows: u16, columns: u16) {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.keyboard, size).unwrap();
    }

    /// Waits until this is on the screen, and returns what was there before it.
    fn sees(&mut self, text: &str) -> String {
        let start = Instant::now();
        loop {
            if let Some((before, rest)) = self.seen.split_once(text) {
                let (before, rest) = (before.to_owned(), rest.to_owned());
                self.seen = rest;
                return before;
            }
            let left = PATIENCE.saturating_sub(start.elapsed());
            let Ok(chunk) = self.screen.recv_timeout(left) else {
                panic!("{text:?} never came; what did: {:?}", self.seen);
            };
            self.seen.push_str(&String::from_utf8_lossy(&chunk));
        }
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        self.shell.kill().ok();
        self.shell.wait().ok();
    }
}

/// The end of a script: how it went, and whether the terminal is as it was.
const BACK: &str = "; echo back $?; sleep 0.3; stty -a | tr ' ;' '\\n\\n' | grep -x -e icanon -e echo -e isig -e opost | sort | tr '\\n' ' '; echo done";

/// What a terminal is like that is as it was.
const AS_BEFORE: &str = "echo icanon isig opost ";

#[test]
fn keys_typed_at_a_terminal_reach_only_the_command() {
    for &(backend, who) in backends() {
        let inner = "trap \"echo caught\" INT; echo ready; cat; echo next; sleep 60; echo slept $?; \
                     set -m; sleep 60; echo stopped $?";
        let mut person =
            Person::new(who, &format!("stockade exec -q -t --backend {backend} -- sh -c '{inner}'{BACK}"));
        person.sees("ready\r\n");
        person.types("hello\r");
        // As it is typed, and as `cat` says it.
        person.sees("hello\r\nhello\r\n");
        person.types("\u{4}");
        person.sees("next\r\n");
        // A key that comes before the program has started would reach the shell alone.
        std::thread::sleep(Duration::from_millis(300));
        person.types("\u{3}");
        person.sees("caught\r\n");
        person.sees("slept 130\r\n");
        std::thread::sleep(Duration::from_millis(300));
        person.types("\u{1a}");
        person.sees("stopped 148\r\n");
        person.sees("back 0\r\n");
        assert_eq!(person.sees("done\r\n"), AS_BEFORE, "{backend} {who:?}");
    }
}

/// A script that starts something behind `&` has it ignore the key that interrupts, and a command would go on doing so.
#[test]
fn signals_ignored_by_the_caller_take_effect_in_the_sandbox() {
    for &(backend, who) in backends() {
        let inner = "kill -INT $$; echo survived";
        let mut person = Person::new(
            who,
            &format!("trap \"\" INT; stockade exec -q --backend {backend} -- sh -c '{inner}'; echo over"),
        );
        assert_eq!(person.sees("over\r\n"), "", "{backend} {who:?}");
    }
}

#[test]
fn the_terminal_size_is_forwarded() {
    for &(backend, who) in backends() {
        let inner = "trap \"stty size\" WINCH; stty size; echo ready; while :; do sleep 0.05; done";
        let mut person = Person::new(
            who,
            &format!("sleep 0.2; stockade exec -q -t --backend {backend} -- sh -c '{inner}'{BACK}"),
        );
        person.sees("40 120\r\nready\r\n");
        person.resize(50, 90);
        person.sees("50 90\r\n");
        person.types("\u{3}");
        person.sees("back 130\r\n");
        assert_eq!(person.sees("done\r\n"), AS_BEFORE, "{backend} {who:?}");
    }
}

#[test]
fn terminal_settings_are_restored_after_every_end() {
    let ends = [
        (Signal::TERM, "back 143"),
        (Signal::HUP, "back 129"),
        (Signal::INT, "back 130"),
        (Signal::KILL, "back 137"),
        (Signal::ABORT, "back 134"),
    ];
    for (signal, back) in ends {
        let inner = "echo ready; exec sleep 60";
        let mut person = Person::new(
            Who::Same,
            &format!("sh -c 'echo pid $$; exec stockade exec -q -t -- sh -c \"{inner}\"'{BACK}"),
        );
        person.sees("pid ");
        let pid = person.sees("\r\n").parse().unwrap();
        person.sees("ready\r\n");
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
        person.sees(back);
        assert_eq!(person.sees("done\r\n").trim_start(), AS_BEFORE, "{signal:?}");
    }
}

#[test]
fn after_a_stop_all_bytes_are_forwarded() {
    let inner = "stty -echo; echo ready; read line; echo got \\$line";
    let mut person = Person::new(
        Who::Same,
        &format!("sh -c 'echo pid $$; exec stockade exec -q -t -- sh -c \"{inner}\"'{BACK}"),
    );
    person.sees("pid ");
    let pid = Pid::from_raw(person.sees("\r\n").parse().unwrap()).unwrap();
    person.sees("ready\r\n");
    kill_process(pid, Signal::STOP).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    // What a shell does in the meantime.
    let plain = rustix::termios::tcgetattr(&person.keyboard).map(|mut settings| {
        settings.local_modes |= rustix::termios::LocalModes::ECHO | rustix::termios::LocalModes::ICANON;
        settings
    });
    rustix::termios::tcsetattr(&person.keyboard, rustix::termios::OptionalActions::Now, &plain.unwrap())
        .unwrap();
    kill_process(pid, Signal::CONT).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    person.types("word\r");
    person.sees("got word\r\n");
    assert_eq!(person.sees("back 0\r\n"), "");
    assert_eq!(person.sees("done\r\n"), AS_BEFORE);
}

#[test]
fn no_process_of_the_sandbox_holds_the_outer_terminal() {
    for &(backend, who) in backends() {
        // The name of the outer terminal is not that of any that the command has open.
        let inner = "{ tty; readlink /proc/[0-9]*/fd/*; } 2>/dev/null | grep /pts/ | sort -u; echo end";
        let mut person = Person::new(
            who,
            &format!("tty; stockade exec -q -t --backend {backend} -- sh -c '{inner}'{BACK}"),
        );
        let outer = person.sees("\r\n");
        let held = person.sees("end\r\n");
        assert!(outer.starts_with("/dev/pts/") && held.lines().count() == 1, "{backend}: {outer} {held}");
        assert!(!held.lines().any(|name| name == outer), "{backend}: {outer} {held}");
        person.sees("done\r\n");
    }
}

#[test]
fn terminal_commands_are_recorded() {
    let inner = "echo ready; read line; echo got $line; exit 3";
    let mut person = Person::new(
        Who::Same,
        &format!(
            "sh -c 'echo pid $$; exec stockade exec -q -t --audit=../trail -- sh -c \"{}\"'{BACK}; \
             stockade exec -q -t --audit=../trail -- sleep 60; echo killed $?; \
             stockade exec -q -t --audit=../none/trail -- touch ran; echo refused $?; ls; \
             stockade audit query --file ../trail --format json | tr -d ' ' | grep -o '\"event\":\"[a-z_]*\"'; \
             stockade audit verify --file ../trail | cat",
            inner.replace('$', "\\$")
        ),
    );
    person.sees("ready\r\n");
    person.types("word\r");
    person.sees("got word\r\n");
    person.sees("back 3\r\n");
    assert_eq!(person.sees("done\r\n"), AS_BEFORE);
    // It has begun, so its start is on record; the key for its end is one for the command alone.
    std::thread::sleep(Duration::from_millis(1500));
    person.types("\u{3}");
    person.sees("killed 130\r\n");
    let refused = person.sees("refused 125\r\n");
    assert!(refused.contains("cannot be recorded"), "{refused}");
    let record = person.sees("intact: 4 records");
    let events = ["sandbox_error", "sandbox_started", "sandbox_error", "sandbox_started"];
    let lines = events.map(|event| format!("\"event\":\"{event}\"\r\n")).concat();
    assert_eq!(record, lines);
}

/// Runs without a terminal, with this as its input.
fn without(args: &[&str], input: &[u8]) -> String {
    let workspace = tempfile::tempdir().unwrap();
    let mut child = Command::new(STOCKADE)
        .args(["exec", "-q", "-t"])
        .args(args)
        .current_dir(&workspace)
        .env_clear()
        .env("PATH", path_with_stockade())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn a_terminal_can_be_provided_without_having_one() {
    assert_eq!(without(&["--", "sh", "-c", "test -t 0 && test -t 1 && stty size"], b""), "24 80\r\n");
    // The end of the input is typed as a person would.
    assert_eq!(without(&["--", "cat"], b"a line\n"), "a line\r\na line\r\n");
    assert_eq!(without(&["--", "cat"], b"half").matches("half").count(), 2);
    let document = without(&["--format", "json", "--", "sh", "-c", "test -t 1 && echo yes"], b"");
    assert!(document.contains(r#""stdout":{"text":"yes\r\n"}"#), "{document}");
}

#[test]
fn without_a_terminal_of_its_own_the_command_has_none() {
    for &(backend, who) in backends() {
        let inner = "for n in 0 1 2; do test -t \\$n && echo is a terminal; done; stty -echo 2>&1 | grep -c ioctl; \
                     readlink /proc/[0-9]*/fd/* 2>/dev/null | grep -c /pts/; (: < /dev/tty) 2>/dev/null && echo opened; cat; \
                     echo ready; sleep 60";
        let script = format!(
            "sh -c 'echo pid $$; exec stockade exec -q --backend {backend} -- sh -c \"{inner}\"'{BACK}"
        );
        let mut person = Person::new(who, &script);
        person.sees("pid ");
        let pid = person.sees("\r\n").parse().unwrap();
        let first = person.sees("0\r\n");
        assert_eq!(first, "1\r\n", "{backend} {who:?}");
        // What is typed reaches it, line by line, and the end of it.
        person.types("hello\r");
        person.sees("hello\r\nhello\r\n");
        person.types("\u{4}");
        person.sees("ready\r\n");
        kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
        person.sees("back 137");
        assert_eq!(person.sees("done\r\n").trim_start(), AS_BEFORE, "{backend} {who:?}");
    }
}

#[test]
fn output_that_imitates_messages_of_the_launcher_is_marked() {
    for terminal in ["", "-t"] {
        let inner =
            "echo stockade: from out; sleep 0.3; echo stockade: from err >&2; sleep 0.3; printf half; exit 3";
        let mut person =
            Person::new(Who::Same, &format!("stockade exec {terminal} -- sh -c '{inner}'{BACK}"));
        let said = person.sees("back 3");
        let lines: Vec<&str> = said.lines().collect();
        for line in ["from out", "from err"] {
            let marked = format!("stockade (the command says): {line}");
            assert!(lines.contains(&marked.as_str()), "{terminal}: {said}");
        }
        assert!(lines.contains(&"half"), "{terminal}: {said}");
        let own: Vec<&&str> = lines.iter().filter(|line| line.starts_with("stockade: ")).collect();
        assert!(own.len() == 2 && own[1].contains("enforced"), "{terminal}: {said}");
        person.sees("done\r\n");
    }
}
