//! Bad input is refused alike at every entry point, with what is wrong and what to do, and nothing runs that is not on record.
#![expect(clippy::disallowed_methods, reason = "lays out homes, damages files, runs the program")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use stockade_guard::audit::{AuditOptions, AuditTrail};
use stockade_guard::config::{Config, ConfigSources};
use stockade_guard::exec::run::Streams;
use stockade_guard::policy::ToolCatalog;
use stockade_guard::{Guard, GuardOptions, RunAnswer, SessionOptions, open_limit_store};

use super::Serving;
use super::entry_points::home::lay_out;
use crate::support::STOCKADE;

/// A way to ask, or to run a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntryPoint {
    Crate,
    Exec,
    Run,
    ServeExec,
    ServeSession,
    ServeOfAgent,
    CheckCommand,
    CheckTool,
    CheckPath,
    CheckNet,
    SkillCheck,
    PolicyExplain,
    PolicyAdd,
    ServeExplain,
    ServeList,
    Evaluate,
}

use EntryPoint::{
    CheckCommand, CheckNet, CheckPath, CheckTool, Crate, Evaluate, Exec, PolicyAdd, PolicyExplain, Run,
    ServeExec, ServeExplain, ServeList, ServeOfAgent, ServeSession, SkillCheck,
};

/// The entry points that run commands.
const RUNNING: &[EntryPoint] = &[Crate, Exec, Run, ServeExec, ServeSession, ServeOfAgent];
/// Those that ask, and look at the configuration alone.
const ASKING: &[EntryPoint] = &[
    CheckCommand,
    CheckTool,
    CheckPath,
    CheckNet,
    SkillCheck,
    PolicyExplain,
    PolicyAdd,
    ServeExplain,
    ServeList,
    Evaluate,
];

/// What is wrong, and what every entry point says of it.
struct Row {
    name: &'static str,
    config: &'static str,
    agent: &'static str,
    /// Below the home.
    workspace: &'static str,
    damage: fn(&Path),
    /// What is said: what is wrong, and what to do.
    says: &'static [&'static str],
    /// Whether only what runs a command, or keeps a session, meets it.
    only_running: bool,
}

const BOT: &str = "[agents.bot]\nmaxSteps = 50\n";

const ROW: Row = Row {
    name: "",
    config: BOT,
    agent: "bot",
    workspace: "work",
    damage: |_| (),
    says: &[],
    only_running: false,
};

const ROWS: &[Row] = &[
    Row {
        name: "an agent that is almost one",
        agent: "bott",
        says: &["agent `bott` is not in the configuration", "write `bot`", "`[agents.bott]`"],
        ..ROW
    },
    Row {
        name: "an agent that is like no other",
        agent: "unheard-of",
        says: &["agent `unheard-of` is not in the configuration", "`[agents.unheard-of]`"],
        ..ROW
    },
    Row { name: "an agent that is no name", agent: "../bot", says: &["letters, digits, `-` and `_`"], ..ROW },
    Row {
        name: "a key that is almost one",
        config: "[agents.bot]\nmaxStep = 50\n",
        says: &["config.toml:2:1", "unknown key `agents.bot.maxStep`", "write `maxSteps`"],
        ..ROW
    },
    Row {
        name: "a key without effect",
        config: "[agents.bot]\nmaxSteps = 50\n[limits]\nmayForget = true\n",
        says: &["`limits.mayForget` has no effect", "set `limits.server`"],
        ..ROW
    },
    Row {
        name: "a store that is away",
        config: "[agents.bot]\nmaxSteps = 50\n[limits]\nserver = \"redis://127.0.0.1:1\"\n",
        says: &[
            "connecting to the server: Connection refused",
            "start the server, or change `limits.server`",
        ],
        only_running: true,
        ..ROW
    },
    Row {
        name: "limits that are damaged",
        damage: |home| write(&home.join(".local/state/stockade/limits.db"), &"garbage".repeat(1000)),
        says: &["file is not a database", "move it away if it is damaged"],
        only_running: true,
        ..ROW
    },
    Row {
        name: "a trail where no file can be",
        config: "[agents.bot]\nmaxSteps = 50\n[audit]\npath = \"HOME/skill/SKILL.md/trail.db\"\n",
        says: &["the audit trail in", "Not a directory", "`audit.path`"],
        only_running: true,
        ..ROW
    },
    Row {
        name: "a trail that is no trail",
        damage: |home| write(&home.join(".local/state/stockade/audit.db"), &"garbage".repeat(1000)),
        says: &["the audit trail in", "`audit.path`"],
        only_running: true,
        ..ROW
    },
    Row {
        name: "a workspace that is not there",
        workspace: "nowhere",
        says: &["cannot open the workspace", "No such file or directory", "use a workspace that exists"],
        only_running: true,
        ..ROW
    },
    Row {
        name: "a workspace that is a file",
        workspace: "skill/SKILL.md",
        says: &["cannot open the workspace", "use a workspace that exists"],
        only_running: true,
        ..ROW
    },
];

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A home in which something is wrong.
struct House {
    folder: tempfile::TempDir,
    row: &'static Row,
}

impl House {
    fn new(row: &'static Row) -> Self {
        let house = Self { folder: tempfile::tempdir().unwrap(), row };
        let home = house.home();
        lay_out(&home, &row.config.replace("HOME", &home.display().to_string()));
        fs::create_dir(home.join("work")).unwrap();
        (row.damage)(&home);
        house
    }

    fn home(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn workspace(&self) -> String {
        self.home().join(self.row.workspace).display().to_string()
    }

    /// What a entry point says, and whether it refused.
    fn ask(&self, entry_point: EntryPoint) -> (bool, String) {
        let (agent, workspace) = (self.row.agent, self.workspace());
        let touch = ["touch", "ran"];
        match entry_point {
            Crate => self.by_crate(),
            Exec => self.line(&[&["exec", "--agent", agent, "-w", &workspace, "--"], &touch[..]].concat()),
            Run => {
                let asked = ["run", "--agent", agent, "--workspace", &workspace, "../skill", "--"];
                self.line(&[&asked[..], &touch[..]].concat())
            }
            ServeExec => {
                let asked = json!({"agent": agent, "argv": touch, "spec": {"workspace": workspace}});
                self.served(&[], &[("exec", asked)])
            }
            ServeSession => {
                let opened = json!({"agent": agent, "workspace": workspace});
                self.served(&[], &[("session.open", opened), ("exec", json!({"argv": touch}))])
            }
            ServeOfAgent => {
                let asked = json!({"argv": touch, "spec": {"workspace": workspace}});
                self.served(&["--agent", agent], &[("exec", asked)])
            }
            CheckCommand => self.line(&["check", "command", "--agent", agent, "touch ran"]),
            CheckTool => self.line(&["check", "tool", "--agent", agent, "exec"]),
            CheckPath => self.line(&["check", "path", "--agent", agent, "a"]),
            CheckNet => self.line(&["check", "net", "--agent", agent, "api.example"]),
            SkillCheck => self.line(&["skill", "check", "--agent", agent, "../skill"]),
            PolicyExplain => self.line(&["policy", "explain", "--agent", agent, "ls"]),
            PolicyAdd => self.line(&["policy", "add", "--agent", agent, "deny unheard-of"]),
            ServeExplain => self.served(&[], &[("policy.explain", json!({"agent": agent, "command": "ls"}))]),
            ServeList => self.served(&[], &[("policy.list", json!({"agent": agent}))]),
            Evaluate => {
                let opened = json!({"agent": agent, "workspace": workspace});
                let asked = json!({"command": "touch ran"});
                self.served(&[], &[("session.open", opened), ("command.evaluate", asked)])
            }
        }
    }

    fn line(&self, args: &[&str]) -> (bool, String) {
        let mut command = Command::new(STOCKADE);
        command.args(args).current_dir(self.home().join("work")).env_clear();
        let output = command
            .env("HOME", self.home())
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let code = output.status.code().unwrap();
        let is_refused = match args[0] {
            // 125: nothing could be decided; 126: it was decided against.
            "exec" | "run" => code == 125 || code == 126,
            _ => code == 2,
        };
        (is_refused, String::from_utf8(output.stderr).unwrap())
    }

    /// What the server says to the first request that it refuses, or as it starts.
    fn served(&self, args: &[&str], requests: &[(&str, Value)]) -> (bool, String) {
        let mut serving = Serving::started(args, Some(&self.home()), tempfile::tempdir().unwrap());
        let mut session = Value::Null;
        for (method, params) in requests {
            let mut params = params.clone();
            if session.is_string() {
                params["session"] = session.clone();
            }
            let Some(answer) = serving.call_or_end(method, &params) else {
                return (true, fs::read_to_string(serving.home.path().join(super::ERRORS)).unwrap());
            };
            if let Some(code) = answer["error"]["code"].as_i64() {
                // Parameters that are wrong, limits that are not known, or what is no fault of the request.
                let is_typed = [-32602, -32002, -32006, -32603].contains(&code);
                return (is_typed, answer["error"]["message"].as_str().unwrap().to_owned());
            }
            session = answer["result"]["session"].clone();
        }
        (false, "nothing was refused".to_owned())
    }

    /// A program that embeds the guard.
    fn by_crate(&self) -> (bool, String) {
        match self.run_by_crate() {
            Ok(said) => (false, said),
            Err(said) => (true, said),
        }
    }

    fn run_by_crate(&self) -> Result<String, String> {
        let agent = self.row.agent;
        let sources = ConfigSources {
            user: Some(self.home().join(".config/stockade")),
            agents: vec![agent.to_owned()],
            ..ConfigSources::default()
        };
        let config = Config::load(&sources).map_err(|error| with_causes(&error))?;
        let options = GuardOptions {
            agent: agent.to_owned(),
            workspace: self.workspace().into(),
            catalog: ToolCatalog::default(),
            rules: Vec::new(),
        };
        let guard = Guard::open(&config, options).map_err(|error| with_causes(&error))?;
        let state = self.home().join(".local/state/stockade");
        fs::create_dir_all(&state).unwrap();
        let path = config.audit().path.clone().unwrap_or_else(|| state.join("audit.db"));
        let trail = AuditTrail::open(&path, AuditOptions::default()).map_err(|error| with_causes(&error))?;
        let limits = open_limit_store(config.limit_store()).map_err(|error| with_causes(&error))?;
        let session = guard.session(SessionOptions { limits: Box::new(limits), trail });
        match session.run("touch ran", Streams::default()).map_err(|error| with_causes(&error))? {
            RunAnswer::Refused(decision) => Err(decision.to_string()),
            other => Ok(format!("{other:?}")),
        }
    }
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source()).map(ToString::to_string);
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

#[test]
fn bad_input_is_refused_alike_at_every_entry_point_and_nothing_runs() {
    let mut wrong = Vec::new();
    for row in ROWS {
        let entry_points = if row.only_running { RUNNING.to_vec() } else { [RUNNING, ASKING].concat() };
        for entry_point in entry_points {
            // The crate is told its store and its trail, and says of neither what a user would do.
            let says = if entry_point == Crate { &row.says[..1] } else { row.says };
            let is_of_program = row.name.starts_with("limits") || row.name == "an agent that is no name";
            if entry_point == Crate && is_of_program {
                continue;
            }
            let house = House::new(row);
            let (is_refused, said) = house.ask(entry_point);
            let at = format!("{}: {entry_point:?}", row.name);
            if !is_refused {
                wrong.push(format!("{at}: it is not refused as such: {said}"));
            }
            if let Some(lacks) = says.iter().find(|word| !said.contains(*word)) {
                wrong.push(format!("{at}: `{lacks}` is not said: {said}"));
            }
            if house.home().join("work/ran").exists() {
                wrong.push(format!("{at}: the command ran"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of it:\n{}", wrong.len(), wrong.join("\n"));
}

/// The same house without a mistake: every entry point answers, so that the rows above are refused for what is wrong with them.
#[test]
fn valid_input_is_never_refused() {
    static RIGHT: Row = Row { name: "nothing", ..ROW };
    for entry_point in [RUNNING, ASKING].concat() {
        if entry_point == Crate {
            continue;
        }
        let house = House::new(&RIGHT);
        let (is_refused, said) = house.ask(entry_point);
        assert!(!is_refused, "{entry_point:?}: {said}");
        let runs = RUNNING.contains(&entry_point);
        assert_eq!(house.home().join("work/ran").exists(), runs, "{entry_point:?}: {said}");
    }
}

/// What names a session that is not there, or none that is named so, runs nothing.
#[test]
fn a_session_that_has_ended_answers_nothing() {
    static RIGHT: Row = Row { name: "nothing", ..ROW };
    let house = House::new(&RIGHT);
    let mut serving = Serving::at_home(&house.home());
    let opened = serving.call("session.open", &json!({"agent": "bot", "workspace": house.workspace()}));
    let session = opened["result"]["session"].clone();
    assert!(serving.call("session.close", &json!({"session": session}))["error"].is_null());
    for (method, asked) in [
        ("exec", json!({"argv": ["touch", "ran"]})),
        ("command.evaluate", json!({"command": "touch ran"})),
        ("tools.resolve", json!({"tools": ["read"]})),
        ("path.authorize", json!({"request": {"type": "fs.read", "resource": "a"}})),
        ("limits.admit", json!({"estimate": {}})),
        ("source.apply", json!({"tool": "bash", "text": "a"})),
        ("skill.admit", json!({"text": "---\nname: a\ndescription: Adds.\n---\nAdd.\n"})),
        ("net.check", json!({"hosts": ["api.example"]})),
        ("session.close", json!({})),
    ] {
        for named in [&session, &json!("unheard-of"), &json!("")] {
            let mut asked = asked.clone();
            asked["session"] = named.clone();
            let answer = serving.call(method, &asked);
            let said = answer["error"]["message"].as_str().unwrap_or_default();
            assert!(answer["error"]["code"] == -32602 && said.contains("session"), "{method}: {answer}");
        }
    }
    assert!(!house.home().join("work/ran").exists());
}
