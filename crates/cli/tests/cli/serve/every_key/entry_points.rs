//! One question to one agent, at each entry point.

mod by_crate;
mod by_line;
mod by_serve;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};
use stockade_guard::config::{Config, ConfigSources};
use stockade_guard::limits::breaker::CallOutcome;
use stockade_guard::limits::store::{CallVerdict, LimitStore, SharedLimits};
use stockade_guard::limits::{MicroUsd, Usage};
use stockade_guard::{SqliteStore, open_limit_store};

use super::super::without_namespaces;
use super::rows::Needs;
use crate::support::STOCKADE;

/// A way to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryPoint {
    Crate,
    Line,
    Serve,
}

impl EntryPoint {
    pub(super) const ALL: [Self; 3] = [Self::Crate, Self::Line, Self::Serve];
}

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub(super) enum Probe {
    /// May the tool be used?
    Tool(&'static str),
    /// May a tool read the path?
    Read(&'static str),
    Write(&'static str),
    /// What may become of the command?
    Command(&'static str),
    /// How does the command end?
    Run(&'static [&'static str]),
    /// What of the output of the command reaches a model?
    Output(&'static [&'static str]),
    /// Does an answer of this kind hold when the same is asked again?
    Answered(&'static str),
    /// May the task `t` go on after this?
    Limits(Spend),
    /// Is the skill let in, and whole?
    Skill(&'static str),
    /// May commands talk to the host?
    Host(&'static str),
    /// In which file is it on record?
    Recorded,
    /// Is the witness told of what is on record?
    Anchored,
    /// What does a hook answer about the command?
    Hooked(&'static str),
    /// Is something answered that is only asked for, and is it on record?
    Evaluated,
}

/// What an agent used before it is asked about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spend {
    pub(super) tokens: u64,
    pub(super) micro_usd: u64,
    pub(super) failed: bool,
    /// Calls that follow, and that are not settled.
    pub(super) open: u32,
}

/// The answer where a command could not be started as configured.
const FAILED: &str = "failed";

/// What is said where the configuration does not name the agent that asks.
const UNNAMED: &str = "no such agent";

/// The task whose steps are counted.
const TASK: &str = "t";

/// A home with a configuration, and what the questions are about.
pub(super) struct House {
    folder: tempfile::TempDir,
    /// A server that keeps nothing across a restart.
    redis: Option<Child>,
    /// How the program is started.
    program: fn() -> Command,
}

impl House {
    pub(super) fn new(config: &[(&str, &str)], needs: Needs) -> Self {
        let program = match needs {
            Needs::Nothing => || Command::new(STOCKADE),
            Needs::NoSandbox => without_namespaces,
        };
        let mut house = Self { folder: tempfile::tempdir().unwrap(), redis: None, program };
        let home = house.home();
        for (path, text) in [
            ("work/a.txt", "text\n"),
            ("data/x", "data\n"),
            ("empty.lock", "{\"version\": 1, \"skills\": {}}"),
            (".cargo/bin/tool", "tool\n"),
            ("plain/SKILL.md", ""),
            ("witness", ""),
            (
                "no-date.yaml",
                "version: 1\nrule:\n  - id: no-date\n    prefix: [date]\n    decision: deny\n    reason: x\n",
            ),
        ] {
            fs::create_dir_all(home.join(path).parent().unwrap()).unwrap();
            fs::write(home.join(path), text).unwrap();
        }
        let mut written = json!({});
        for (key, value) in config {
            let mut value = value.replace("HOME", &home.display().to_string());
            if value == "REDIS" {
                value = house.start_redis();
            }
            set(&mut written, key, serde_json::from_str(&value).unwrap_or(Value::String(value)));
        }
        fs::create_dir_all(home.join(".config/stockade")).unwrap();
        fs::write(home.join(".config/stockade/config.json"), written.to_string()).unwrap();
        house
    }

    pub(super) fn ask(&self, entry_point: EntryPoint, probe: &Probe) -> String {
        if let Probe::Skill(text) = probe {
            fs::write(self.home().join("plain/SKILL.md"), text).unwrap();
        }
        if let Probe::Limits(spend) = probe {
            self.spend(*spend);
        }
        let answer = match entry_point {
            EntryPoint::Crate => by_crate::ask(self, probe),
            EntryPoint::Line => by_line::ask(self, probe),
            EntryPoint::Serve => by_serve::ask(self, probe),
        };
        let own = fs::read_link("/proc/self/ns/net").unwrap().display().to_string();
        answer.replace(&own, "the network of the machine")
    }

    fn home(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn work(&self) -> PathBuf {
        self.home().join("work")
    }

    fn state(&self, name: &str) -> PathBuf {
        let folder = self.home().join(".local/state/stockade");
        fs::create_dir_all(&folder).unwrap();
        folder.join(name)
    }

    /// A word of a row: `HOME` is this home, and `OURS` the network that this program is in.
    fn path(&self, text: &str) -> String {
        let network = fs::read_link("/proc/self/ns/net").unwrap();
        text.replace("HOME", &self.home().display().to_string())
            .replace("OURS", &network.display().to_string())
    }

    fn config(&self) -> Config {
        let user = Some(self.home().join(".config/stockade"));
        Config::load(&ConfigSources { user, agents: vec!["bot".into()], ..ConfigSources::default() }).unwrap()
    }

    /// The store that a program of this home opens.
    fn store(&self) -> Option<Arc<dyn LimitStore>> {
        match self.config().limit_store() {
            config if config.server.is_some() => {
                open_limit_store(config).ok().map(|store| store as Arc<dyn LimitStore>)
            }
            _ => Some(Arc::new(SqliteStore::open(&self.state("limits.db")).unwrap())),
        }
    }

    fn spend(&self, spend: Spend) {
        let Some(store) = self.store() else { return };
        let limits = SharedLimits::new(self.config().agent("bot").unwrap().limits, store);
        let used = Usage { cost: MicroUsd::new(spend.micro_usd), ..Usage::tokens(spend.tokens) };
        let CallVerdict::Granted(permit) = limits.admit("bot", TASK, used) else {
            panic!("nothing was used yet")
        };
        let outcome = if spend.failed { CallOutcome::Failure } else { CallOutcome::Success };
        limits.settle(permit, used, outcome).unwrap();
        sleep(Duration::from_millis(10));
        for _ in 0..spend.open {
            let verdict = limits.admit("bot", TASK, Usage::ZERO);
            assert!(matches!(verdict, CallVerdict::Granted(_)), "{verdict:?}");
            sleep(Duration::from_millis(10));
        }
    }

    fn start_redis(&mut self) -> String {
        let socket = self.home().join("redis.sock");
        let mut command = Command::new("redis-server");
        command.args(["--port", "0", "--save", "", "--appendonly", "no", "--unixsocket"]).arg(&socket);
        command.current_dir(self.home()).stdout(Stdio::null());
        match command.spawn() {
            Ok(child) => self.redis = Some(child),
            Err(error) => {
                assert!(
                    std::env::var_os("CI").is_none(),
                    "`redis-server` is missing: run `cargo xtask setup`"
                );
                panic!("there is no `redis-server` on this machine: {error}");
            }
        }
        for _ in 0..500 {
            if socket.exists() {
                break;
            }
            sleep(Duration::from_millis(10));
        }
        format!("unix://{}", socket.display())
    }
}

impl Drop for House {
    fn drop(&mut self) {
        if let Some(redis) = &mut self.redis {
            redis.kill().ok();
            redis.wait().ok();
        }
    }
}

fn set(table: &mut Value, key: &str, value: Value) {
    match key.split_once('.') {
        Some((first, rest)) => {
            if table[first].is_null() {
                table[first] = json!({});
            }
            set(&mut table[first], rest, value);
        }
        None => table[key] = value,
    }
}

/// How a command ended.
fn ended(code: i64, sandbox: &str, printed: &[u8]) -> String {
    let printed = String::from_utf8_lossy(printed);
    let start: String = printed.chars().take(60).collect();
    format!("exit {code} in {sandbox}: {} bytes, {}", printed.len(), start.trim())
}

/// Of the reason, what does not depend on the engines of this machine.
fn refused(rule: &str, reason: &str) -> String {
    let of_backends =
        ["missing image", "runtime not found", "no backend has that name", "its program was not found"];
    let said = of_backends.into_iter().find(|said| reason.contains(said)).unwrap_or_default();
    format!("refused by {rule} {said}")
}

fn skill(verdict: &str, text: Option<&str>) -> String {
    match text {
        Some(text) if text.contains("[TRUNCATED]") => format!("{verdict}, cut"),
        Some(_) => format!("{verdict}, whole"),
        None => verdict.to_owned(),
    }
}

fn output(text: &str, truncated: bool) -> String {
    format!("{truncated}: {text}")
}

fn held(holds: bool) -> String {
    if holds { "it holds" } else { "it does not hold" }.to_owned()
}

/// Whether the witness knows something.
fn told(home: &Path) -> String {
    let is_told = fs::metadata(home.join("witness")).unwrap().len() > 0;
    if is_told { "a checkpoint was told" } else { "nothing was told" }.to_owned()
}

/// Which of the files there are.
fn recorded(home: &Path) -> String {
    let there = ["one.jsonl", "two.jsonl"].into_iter().filter(|name| home.join(name).exists());
    there.collect::<Vec<_>>().join(" and ")
}
