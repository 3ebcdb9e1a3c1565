//! Limits on a real Redis server, which each test starts for itself on a socket in a folder of its own.
#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stdout,
    reason = "starts a server, and reports when none is installed"
)]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use stockade_limit_stores::{Forgetting, RedisOptions, RedisStore};
use stockade_limits::Usage;
use stockade_limits::breaker::CallOutcome;
use stockade_limits::store::{
    AgentLook, AgentState, CallRefusal, CallVerdict, LimitReset, ManagedStore as _, MemoryStore,
    SharedLimits, StateStore, StoreError,
};
use tempfile::TempDir;

use super::steps::{self, Clock, Persisting, Step};
use super::{CALL, assert_shared, limits};

/// A server that ends with the test.
struct Server {
    process: Child,
    folder: TempDir,
}

impl Server {
    /// Starts a server, or reports loudly that none is installed.
    fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    /// Starts a server with further settings.
    fn start_with(settings: &[&str]) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let Some(process) = Self::process(folder.path(), settings) else {
            assert!(std::env::var_os("CI").is_none(), "`redis-server` is missing: run `cargo xtask setup`");
            println!("skipped: there is no `redis-server` on this machine");
            return None;
        };
        let server = Self { process, folder };
        server.wait();
        Some(server)
    }

    fn process(folder: &Path, settings: &[&str]) -> Option<Child> {
        let mut command = Command::new("redis-server");
        command.args(["--port", "0", "--save", "", "--appendonly", "yes", "--unixsocket", "redis.sock"]);
        command.args(settings).current_dir(folder).stdout(Stdio::null()).spawn().ok()
    }

    fn wait(&self) {
        for _ in 0..500 {
            if RedisStore::connect(RedisOptions { forgetting: Forgetting::Accepted, ..self.options() })
                .is_ok()
            {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the server did not start");
    }

    fn options(&self) -> RedisOptions {
        options(self.folder.path())
    }

    fn stop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _killed = self.process.kill();
        let _ended = self.process.wait();
    }
}

fn options(folder: &Path) -> RedisOptions {
    let url = format!("unix://{}", folder.join("redis.sock").display());
    RedisOptions { url, timeout: Duration::from_millis(500), ..RedisOptions::default() }
}

#[test]
fn many_clients_share_a_server() {
    let Some(server) = Server::start() else { return };
    assert_shared(24, || RedisStore::connect(server.options()).unwrap());
}

#[test]
fn a_lost_connection_refuses_and_a_new_one_is_tried() {
    let Some(mut server) = Server::start() else { return };
    let limits = SharedLimits::new(limits(), RedisStore::connect(server.options()).unwrap());
    let CallVerdict::Granted(permit) = limits.admit("agent", "task", Usage::tokens(CALL)) else { panic!() };
    server.stop();
    assert!(limits.settle(permit, Usage::tokens(CALL), CallOutcome::Success).is_err());
    for _ in 0..2 {
        let verdict = limits.admit("agent", "task", Usage::tokens(CALL));
        assert!(matches!(verdict, CallVerdict::Refused(CallRefusal::Store(_))), "{verdict:?}");
    }
}

#[test]
fn a_server_that_does_not_answer_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let _silent = std::os::unix::net::UnixListener::bind(folder.path().join("redis.sock")).unwrap();
    let connected = RedisStore::connect(options(folder.path()));
    let Ok(store) = connected else { return };
    let verdict = SharedLimits::new(limits(), store).admit("agent", "task", Usage::tokens(CALL));
    assert!(matches!(verdict, CallVerdict::Refused(CallRefusal::Store(_))), "{verdict:?}");
}

#[test]
fn the_password_is_not_shown() {
    let Some(server) = Server::start() else { return };
    let mut options = server.options();
    assert!(!format!("{:?}", RedisStore::connect(options.clone()).unwrap()).contains("redis.sock"));
    options.url.push_str("?user=someone&pass=hush");
    let error = RedisStore::connect(options.clone()).unwrap_err();
    assert!(!format!("{options:?} {error:?}").contains("hush"), "{error:?}");
}

#[test]
fn a_server_that_may_drop_limits_is_refused() {
    for (maxmemory, policy, taken) in [
        ("100mb", "noeviction", true),
        ("100mb", "volatile-lru", true),
        ("100mb", "allkeys-lru", false),
        ("100mb", "allkeys-random", false),
        ("0", "allkeys-lru", true),
    ] {
        let settings = ["--maxmemory", maxmemory, "--maxmemory-policy", policy];
        let Some(server) = Server::start_with(&settings) else { return };
        let connected = RedisStore::connect(server.options());
        assert_eq!(connected.is_ok(), taken, "{maxmemory} {policy}: {connected:?}");
        if let Err(error) = connected {
            let why = std::error::Error::source(&error).unwrap().to_string();
            assert!(why.contains(policy) && why.contains("noeviction"), "{why}");
        }
    }
}

#[test]
fn a_server_that_forgets_at_a_restart_is_refused() {
    for (settings, taken) in [
        (&["--appendonly", "yes"][..], true),
        (&["--appendonly", "no"], false),
        (&["--appendonly", "no", "--save", "3600 1"], false),
    ] {
        let Some(server) = Server::start_with(settings) else { return };
        let connected = RedisStore::connect(server.options());
        assert_eq!(connected.is_ok(), taken, "{settings:?}: {connected:?}");
        if let Err(error) = connected {
            let why = std::error::Error::source(&error).unwrap().to_string();
            assert!(why.contains("appendonly yes"), "{why}");
        }
    }
}

/// What was used is used after the server was killed and started anew in the same folder.
#[test]
fn what_was_used_survives_a_restart_of_the_server() {
    let Some(mut server) = Server::start_with(&["--appendfsync", "always"]) else { return };
    let open = |server: &Server| SharedLimits::new(limits(), RedisStore::connect(server.options()).unwrap());
    let CallVerdict::Granted(permit) = open(&server).admit("agent", "task", Usage::tokens(900)) else {
        panic!()
    };
    open(&server).settle(permit, Usage::tokens(900), CallOutcome::Success).unwrap();
    server.stop();
    server.process = Server::process(server.folder.path(), &["--appendfsync", "always"]).unwrap();
    server.wait();
    let verdict = open(&server).admit("agent", "task", Usage::tokens(200));
    assert!(matches!(verdict, CallVerdict::Refused(CallRefusal::Budget(_))), "{verdict:?}");
}

/// The script on the server gives the same answers as the engine in memory.
#[test]
fn the_script_agrees_with_the_engine() {
    let Some(server) = Server::start() else { return };
    let mut runner = TestRunner::new(Config::with_cases(256));
    let cases = AtomicU32::new(0);
    let agrees = runner.run(&steps::scripts(), |script| {
        let case = cases.fetch_add(1, Ordering::Relaxed);
        let options = RedisOptions { prefix: format!("case:{case}:"), ..server.options() };
        let clock = Clock::default();
        let (of_server, of_memory) = (clock.clone(), clock.clone());
        let server = RedisStore::connect(options).unwrap().with_clock(move || of_server.now());
        let server = SharedLimits::new(steps::limits(), server);
        let memory = Persisting(MemoryStore::new(move || of_memory.now()));
        let memory = SharedLimits::new(steps::limits(), memory);
        let (mut of_server, mut of_memory) = (Vec::new(), Vec::new());
        for step in &script {
            clock.pass(step);
            let expected = Step::take(step, &memory, &mut of_memory);
            prop_assert_eq!(Step::take(step, &server, &mut of_server), expected, "{:?}", step);
        }
        // An operator sees the same, and resets to the same.
        let seen = || server.store().look("agent").unwrap().state;
        prop_assert_eq!(seen(), state_of(&memory.store().0));
        let what = [LimitReset::All, LimitReset::Budget, LimitReset::Breaker][script.len() % 3];
        // Nothing is stored of an agent that never asked.
        if server.store().agents().unwrap().is_empty() {
            return Ok(());
        }
        server.store().reset("agent", what).unwrap();
        memory.store().0.update("agent", &mut |state, _| state.reset(what)).unwrap();
        prop_assert_eq!(seen(), state_of(&memory.store().0), "{:?}", what);
        for step in &script {
            clock.pass(step);
            let expected = Step::take(step, &memory, &mut of_memory);
            prop_assert_eq!(
                Step::take(step, &server, &mut of_server),
                expected,
                "after {:?}: {:?}",
                what,
                step
            );
        }
        Ok(())
    });
    agrees.unwrap();
}

fn state_of(memory: &impl StateStore) -> AgentState {
    let mut found = AgentState::default();
    memory.update("agent", &mut |state, _| found = state.clone()).unwrap();
    found
}

/// Agents of other prefixes are not listed, whatever stands in a prefix or a name.
#[test]
fn agents_are_listed_by_their_names() {
    let Some(server) = Server::start() else { return };
    let open = |prefix: &str| {
        RedisStore::connect(RedisOptions { prefix: prefix.to_owned(), ..server.options() }).unwrap()
    };
    let names = ["", "*", "a b", "bot", "bot:rows:core:x", "\u{e9}\u{1f600}"];
    for (prefix, names) in [("a[bc]*:", &names[..]), ("ab:", &["other"]), ("a?", &[])] {
        for name in names {
            SharedLimits::new(limits(), open(prefix)).take_step(name, "task").unwrap();
        }
    }
    assert_eq!(open("a[bc]*:").agents().unwrap(), names);
    assert_eq!(open("ab:").agents().unwrap(), ["other"]);
    assert_eq!(open("a?").agents().unwrap(), [""; 0]);
    let AgentLook { state, now } = open("a?").look("nowhere").unwrap();
    assert!(state == AgentState::default() && now > Duration::from_secs(1_700_000_000));
}

/// Fifty clients at once, each change asked once, but for loading the script when it is new to the server.
#[test]
fn a_change_is_one_question() {
    const CLIENTS: u32 = 50;
    const CHANGES: u32 = 20;
    let Some(server) = Server::start() else { return };
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let server = &server;
            scope.spawn(move || {
                let shared = SharedLimits::new(limits(), RedisStore::connect(server.options()).unwrap());
                for _ in 0..CHANGES {
                    shared.take_step("agent", &format!("task-{client}")).unwrap();
                }
            });
        }
    });
    let mut connection = redis::Client::open(server.options().url).unwrap().get_connection().unwrap();
    let told: String = redis::cmd("INFO").arg("commandstats").query(&mut connection).unwrap();
    let calls = |name: &str| -> u32 {
        let of = told.lines().find_map(|line| line.strip_prefix(&format!("cmdstat_{name}:calls=")));
        of.map_or(0, |rest| rest.split(',').next().unwrap().parse().unwrap())
    };
    let asked = calls("evalsha") + calls("eval");
    let changes = CLIENTS * CHANGES;
    assert!((changes..=changes + CLIENTS).contains(&asked), "{asked}");
}

/// What an earlier version stored is neither taken for nothing, nor can that version go on beside this one.
#[test]
fn limits_of_an_earlier_version_refuse() {
    let Some(server) = Server::start() else { return };
    let mut connection = redis::Client::open(server.options().url).unwrap().get_connection().unwrap();
    let old = "stockade:limits:agent";
    redis::cmd("HSET").arg(&[old, "version", "7", "state", "{}"]).exec(&mut connection).unwrap();
    let admit = || {
        let shared = SharedLimits::new(limits(), RedisStore::connect(server.options()).unwrap());
        shared.admit("agent", "task", Usage::tokens(CALL))
    };
    let CallVerdict::Refused(CallRefusal::Store(error @ StoreError::Unreadable { .. })) = admit() else {
        panic!()
    };
    let why = std::error::Error::source(&error).unwrap().to_string();
    assert!(why.contains(old) && why.contains("delete"), "{why}");
    redis::cmd("DEL").arg(old).exec(&mut connection).unwrap();
    assert!(matches!(admit(), CallVerdict::Granted(_)));
    let read = redis::cmd("HMGET").arg(&[old, "version", "state"]).exec(&mut connection);
    assert!(read.is_err(), "an old program would begin anew");
}

/// A newer or damaged layout refuses.
#[test]
fn a_state_that_cannot_be_read_refuses() {
    let Some(server) = Server::start() else { return };
    let mut connection = redis::Client::open(server.options().url).unwrap().get_connection().unwrap();
    for damaged in [2.0_f64.to_le_bytes().as_slice(), 1.0_f64.to_le_bytes().as_slice(), b"7", b""] {
        redis::cmd("SET").arg("stockade:limits:rows:core:agent").arg(damaged).exec(&mut connection).unwrap();
        let shared = SharedLimits::new(limits(), RedisStore::connect(server.options()).unwrap());
        let verdict = shared.admit("agent", "task", Usage::tokens(1));
        assert!(matches!(verdict, CallVerdict::Refused(CallRefusal::Store(_))), "{damaged:?}: {verdict:?}");
    }
}

/// An emptied server looks like one of which nothing was used. Each client that used it before refuses it: the one that is connected, and a later one
/// that remembers.
#[test]
fn an_emptied_server_is_refused() {
    let Some(mut server) = Server::start() else { return };
    let options = || RedisOptions { marks: Some(server.folder.path().join("marks")), ..server.options() };
    let admit =
        |store: RedisStore| SharedLimits::new(limits(), store).admit("agent", "task", Usage::tokens(1));
    let running = SharedLimits::new(limits(), RedisStore::connect(options()).unwrap());
    assert!(matches!(running.admit("agent", "task", Usage::tokens(1)), CallVerdict::Granted(_)));
    assert!(matches!(admit(RedisStore::connect(options()).unwrap()), CallVerdict::Granted(_)));

    let client = redis::Client::open(server.options().url).unwrap();
    let mut connection = client.get_connection().unwrap();
    let () = redis::cmd("FLUSHALL").query(&mut connection).unwrap();
    let refused = running.admit("agent", "task", Usage::tokens(1));
    assert!(matches!(&refused, CallVerdict::Refused(CallRefusal::Store(_))), "{refused:?}");
    let error = RedisStore::connect(options()).unwrap_err();
    let told = std::error::Error::source(&error).unwrap().to_string();
    assert!(told.contains("emptied or replaced") && told.contains("marks"), "{told}");
    // Another user of the server, who does not know it, gives it a mark; it stays refused where the old one is known.
    assert!(matches!(admit(RedisStore::connect(server.options()).unwrap()), CallVerdict::Granted(_)));
    RedisStore::connect(options()).unwrap_err();
    // An operator who emptied it says so.
    std::fs::remove_file(server.folder.path().join("marks")).unwrap();
    assert!(matches!(admit(RedisStore::connect(options()).unwrap()), CallVerdict::Granted(_)));
    server.stop();
}
