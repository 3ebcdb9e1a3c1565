//! Limits in a file and on a server, as an operator sees, watches and resets them: the same answers for both.
#![expect(clippy::disallowed_methods, reason = "starts a server, and lays out a home")]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;
use stockade_guard::limits::Usage;
use stockade_guard::limits::breaker::CallOutcome;
use stockade_guard::limits::store::{AgentLimits, CallVerdict, LimitStore, SharedLimits};
use stockade_guard::{Forgetting, RedisOptions, RedisStore, SqliteStore};

use crate::hook::Home;
use crate::support::STOCKADE;

/// A server that ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn start(folder: &Path) -> Option<Server> {
    let mut command = Command::new("redis-server");
    command.args(["--port", "0", "--save", "", "--appendonly", "yes", "--unixsocket", "redis.sock"]);
    let Ok(child) = command.current_dir(folder).stdout(Stdio::null()).spawn() else {
        assert!(std::env::var_os("CI").is_none(), "`redis-server` is missing: run `cargo xtask setup`");
        println!("skipped: there is no `redis-server` on this machine");
        return None;
    };
    for _ in 0..500 {
        if RedisStore::connect(options(folder)).is_ok() {
            break;
        }
        sleep(Duration::from_millis(10));
    }
    Some(Server(child))
}

fn options(folder: &Path) -> RedisOptions {
    let url = format!("unix://{}", folder.join("redis.sock").display());
    RedisOptions { url, forgetting: Forgetting::Accepted, ..RedisOptions::default() }
}

/// Two agents: one in a call, and one whose service fails.
fn spend(store: Arc<dyn LimitStore>) {
    let limits = SharedLimits::new(AgentLimits::default(), store);
    let admit = |agent: &str, tokens| match limits.admit(agent, "task", Usage::tokens(tokens)) {
        CallVerdict::Granted(permit) => permit,
        CallVerdict::Refused(refusal) => panic!("{refusal}"),
    };
    limits.settle(admit("builder", 5_000), Usage::tokens(4_200), CallOutcome::Success).unwrap();
    let _in_flight = admit("builder", 600);
    for _ in 0..5 {
        limits.settle(admit("flaky", 10), Usage::tokens(10), CallOutcome::Failure).unwrap();
    }
}

/// Everything but times.
fn timeless(output: &[u8]) -> Value {
    let mut value: Value = serde_json::from_slice(output).unwrap();
    for agent in value["agents"].as_array_mut().unwrap() {
        agent["breaker"]["retryInMs"] = Value::Bool(agent["breaker"]["retryInMs"].is_null());
        agent["hour"]["freesInMs"] = Value::Bool(agent["hour"]["freesInMs"].is_null());
        agent["day"]["freesInMs"] = Value::Bool(agent["day"]["freesInMs"].is_null());
    }
    value
}

#[test]
fn an_operator_gets_the_same_answers_from_a_file_and_a_server() {
    let (of_file, of_server) = (Home::new(), Home::new());
    let Some(server) = start(of_server.path()) else { return };
    let url = options(of_server.path()).url;
    of_server.configure(&format!("[limits]\nserver = \"{url}\"\n"));
    let state = of_file.path().join(".local/state/stockade");
    fs::create_dir_all(&state).unwrap();
    spend(Arc::new(SqliteStore::open(&state.join("limits.db")).unwrap()));
    spend(Arc::new(RedisStore::connect(options(of_server.path())).unwrap()));
    let run = |home: &Home, args: &[&str]| home.run(STOCKADE, &[&["limits"], args].concat(), b"");
    let both = |args: &[&str]| {
        let [file, server] = [&of_file, &of_server].map(|home| run(home, args));
        assert_eq!(file.status.code(), server.status.code(), "{args:?}: {file:?} {server:?}");
        (file, server)
    };
    let status = |expected: &[&str]| {
        let (file, server) = both(&["status", "--format", "json"]);
        let found = timeless(&server.stdout);
        assert_eq!(timeless(&file.stdout), found);
        let states = found["agents"].as_array().unwrap().iter();
        let states: Vec<String> = states
            .map(|agent| format!("{} {}", agent["agent"].as_str().unwrap(), agent["hour"]["used"]))
            .collect();
        assert_eq!(states, expected);
        (found, server.status.code())
    };
    let (found, code) = status(&["builder 4200", "flaky 50"]);
    assert_eq!((&found["agents"][1]["breaker"]["state"], code), (&Value::from("open"), Some(1)));
    assert_eq!(found["agents"][0]["hour"]["reserved"], 600);
    both(&["status", "bilder"]);
    assert_eq!(both(&["reset", "nowhere", "--yes"]).1.status.code(), Some(2));
    assert_eq!(both(&["reset", "flaky", "--only", "breaker", "--yes"]).1.status.code(), Some(0));
    assert_eq!(status(&["builder 4200", "flaky 50"]).1, Some(0));
    assert_eq!(both(&["reset", "builder", "--yes"]).1.status.code(), Some(0));
    let (found, _) = status(&["builder 0", "flaky 50"]);
    assert_eq!(found["agents"][0]["hour"]["reserved"], 0);
    both(&["reset", "--all", "--yes"]);
    status(&["builder 0", "flaky 0"]);
    let (file, watched) = both(&["watch", "--during", "1", "--format", "json"]);
    assert_eq!(timeless(&file.stdout), timeless(&watched.stdout));

    // A server that is away is an error with a remedy, and no claim about usage.
    drop(server);
    for args in [&["status"][..], &["watch"], &["reset", "--all", "--yes"]] {
        let away = run(&of_server, args);
        let said = String::from_utf8_lossy(&away.stderr).into_owned();
        assert!(away.status.code() == Some(3) && away.stdout.is_empty(), "{args:?}: {away:?}");
        assert!(said.contains("limits.server"), "{args:?}: {said}");
    }
}

/// A change is shown when it happens.
#[test]
fn a_watched_agent_is_shown_again_when_it_changes() {
    let home = Home::new();
    let state = home.path().join(".local/state/stockade");
    fs::create_dir_all(&state).unwrap();
    let store: Arc<dyn LimitStore> = Arc::new(SqliteStore::open(&state.join("limits.db")).unwrap());
    let limits = SharedLimits::new(AgentLimits::default(), store);
    limits.take_step("bot", "task").unwrap();
    let args = ["limits", "watch", "--interval", "1", "--during", "6", "--format", "json"];
    let output = std::thread::scope(|scope| {
        let watching = scope.spawn(|| home.run(STOCKADE, &args, b""));
        sleep(Duration::from_secs(3));
        let CallVerdict::Granted(_permit) = limits.admit("bot", "task", Usage::tokens(7)) else { panic!() };
        watching.join().unwrap()
    });
    let lines: Vec<&[u8]> =
        output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let reserved: Vec<Value> =
        lines.iter().map(|line| timeless(line)["agents"][0]["hour"]["reserved"].clone()).collect();
    assert_eq!(reserved, [0, 7], "{output:?}");
}
