//! Runs the vectors that need a disk: `conformance FOLDER` prints a score for each file.
//!
//! `comma-guard.json` runs here, every row in a folder of its own, once by the kernel's resolver and once by the walk;
//! of `comis-safepath.json` only the rows with links do, the others run in `stockade-policy`. `comis-manifest.json` needs
//! no disk, and the crate that reads heads of skills. The packages of `iscl-manifest.json` are laid out and signed here.

#![expect(clippy::disallowed_methods, reason = "lays out what the vectors describe")]

#[path = "conformance/container.rs"]
mod container;
#[path = "conformance/manifest.rs"]
mod manifest;

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::Value;
use stockade_guard::Resolver;
use stockade_guard::admission::{Authorization, Granted, PathGuard, PathRequest};
use stockade_guard::policy::access::{Policy, PolicyDecision, Position, RunState};
use stockade_guard::policy::{
    Access, AccessRequest, Answer, Caller, PermissionDecision, Reply, SandboxConfig, Verdict,
};
use testkit::vectors::{Deviations, Outcome, Vectors};

/// Rows that are decided otherwise, with the reason.
const DECIDED_OTHERWISE: &[(&str, &str)] = &[
    (
        "four dashes close the block too",
        "readers differ on where such a head ends, so it is refused as unclosed; Comis was only observed here",
    ),
    (
        "cg-094",
        "a skill that is written is obeyed by the next agent, and a command that writes it is asked about as well",
    ),
    (
        "cg-120",
        "settings of a package manager seldom hold a token: a question for commands and file tools alike",
    ),
    ("im-089", "the same manifest as im-092, which is stricter: a signature has 65 bytes"),
];

const VECTORS: Vectors = Vectors {
    files: &[
        ("comma-guard", |rows| outcomes(rows, guard_row)),
        ("comis-safepath", |rows| outcomes(rows, safe_path_row)),
        ("comis-manifest", |rows| outcomes(rows, manifest::row)),
        ("iscl-manifest", |rows| outcomes(rows, container::row)),
    ],
    decided_otherwise: DECIDED_OTHERWISE,
    deviations: Deviations::Counted,
};

fn main() -> ExitCode {
    VECTORS.main()
}

/// Runs the rows that are for this crate. One that is marked as hard only lowers the score.
fn outcomes(rows: &Value, run: fn(&Value) -> Option<Checked>) -> Vec<Outcome> {
    let outcome = |row: &Value| {
        let id = text(row, "id").or(text(row, "note")).unwrap_or("?");
        let outcome = Outcome::of(id, run(row)?);
        Some(if row.get("hard") == Some(&Value::Bool(true)) { outcome.wished() } else { outcome })
    };
    list(rows).iter().filter_map(outcome).collect()
}

type Checked = Result<(), String>;

/// One row of `comma-guard.json`, with both resolvers.
fn guard_row(row: &Value) -> Option<Checked> {
    let run = |resolver| {
        let site = Site::lay_out(row).map_err(|error| format!("cannot lay out: {error}"))?;
        Case { row, site, resolver }.check().map_err(|why| format!("{why} ({resolver:?})"))
    };
    Some(run(Resolver::Kernel).and_then(|()| run(Resolver::Walk)))
}

/// A row of `comis-safepath.json` with links: a base folder, and in it a link that leads out.
fn safe_path_row(row: &Value) -> Option<Checked> {
    if row.get("needs_symlinks") != Some(&Value::Bool(true)) {
        return None;
    }
    let segments: Vec<&str> = list(row.get("args")?).iter().skip(1).filter_map(Value::as_str).collect();
    let link = segments.first()?;
    let setup = serde_json::json!({ "outside_files": ["secret.txt"], "symlinks": { *link: "$OUT" } });
    let row = serde_json::json!({
        "config": { "jail": true }, "setup": setup, "expect": "deny", "reason": "jail",
        "request": { "type": "fs.read", "resource": segments.join("/") },
    });
    guard_row(&row)
}

/// The folders of one row: `$WS`, and `$OUT` beside it.
struct Site {
    base: tempfile::TempDir,
    ws: PathBuf,
    out: PathBuf,
}

const INSIDE: &str = "inside the workspace";
const OUTSIDE: &str = "outside the workspace";

impl Site {
    fn lay_out(row: &Value) -> std::io::Result<Self> {
        let base = tempfile::tempdir()?;
        let real = base.path().canonicalize()?;
        let site = Self { base, ws: real.join("ws"), out: real.join("outside") };
        fs::create_dir_all(&site.ws)?;
        fs::create_dir_all(&site.out)?;
        symlink(&site.ws, site.base.path().join("link"))?;
        let setup = row.get("setup").unwrap_or(&Value::Null);
        for folder in names(setup, "dirs") {
            fs::create_dir_all(site.ws.join(folder))?;
        }
        for (folder, key, content) in [(&site.ws, "files", INSIDE), (&site.out, "outside_files", OUTSIDE)] {
            for file in names(setup, key) {
                write(&folder.join(file), content)?;
            }
        }
        for (link, target) in pairs(setup, "symlinks") {
            let link = site.ws.join(link);
            fs::create_dir_all(link.parent().unwrap_or(&site.ws))?;
            symlink(site.expand(target), link)?;
        }
        for (link, target) in pairs(setup, "hardlinks") {
            fs::hard_link(site.ws.join(site.expand(target)), site.ws.join(link))?;
        }
        Ok(site)
    }

    fn expand(&self, text: &str) -> String {
        text.replace("$WS", &self.ws.to_string_lossy()).replace("$OUT", &self.out.to_string_lossy())
    }

    /// Replaces paths of the workspace by links, as an attacker would between a decision and its use.
    fn swap(&self, swaps: &Value) -> std::io::Result<()> {
        for (path, target) in swaps.as_object().into_iter().flatten() {
            let path = self.ws.join(path);
            if path.symlink_metadata().is_ok() {
                fs::rename(&path, self.base.path().join("swapped-away"))?;
            }
            symlink(self.expand(target.as_str().unwrap_or_default()), path)?;
        }
        Ok(())
    }

    /// Every file outside, with its content.
    fn outside(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files: Vec<_> = fs::read_dir(&self.out)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| (entry.path(), fs::read(entry.path()).unwrap_or_default()))
            .collect();
        files.sort();
        files
    }
}

fn write(file: &Path, content: &str) -> std::io::Result<()> {
    fs::create_dir_all(file.parent().unwrap_or(file))?;
    fs::write(file, content)
}

struct Case<'r> {
    row: &'r Value,
    site: Site,
    resolver: Resolver,
}

/// What came of one request.
struct Came {
    decision: &'static str,
    reason: Option<String>,
    path: Option<PathBuf>,
    granted: Option<Box<Granted>>,
}

/// The questions that were asked, and who answers them.
struct Asker<'r> {
    answers: Vec<&'r Value>,
    asked: Vec<Value>,
}

impl Case<'_> {
    fn check(&self) -> Checked {
        let before = self.site.outside();
        let mut guard = match self.guard() {
            Ok(guard) => guard,
            // A configuration that cannot be used allows nothing.
            Err(_) if text(self.row, "expect") == Some("deny") => return Ok(()),
            Err(why) => return Err(why),
        };
        let answers = self.row.get("on_ask").map(list).unwrap_or_default().iter().collect();
        let mut asker = Asker { answers, asked: Vec::new() };
        let request = self.row.get("request").unwrap_or(&Value::Null);
        let swaps = self.row.get("swap_after_authorize").or(self.row.get("swap_during_prompt"));
        if let Some(swaps) = swaps {
            let came = self.request(&mut guard, request, &mut asker);
            self.site.swap(swaps).map_err(|error| error.to_string())?;
            return self.use_granted(came, &before);
        }
        let repeat = self.row.get("repeat").and_then(Value::as_u64).unwrap_or(1);
        for round in 0..repeat {
            let came = self.request(&mut guard, request, &mut asker);
            let last = text(self.row, "expect_last").filter(|_| round + 1 == repeat && repeat > 1);
            self.compare(&came, last.or(text(self.row, "expect")), last.is_none())?;
        }
        self.compare_questions(&asker)?;
        for then in self.row.get("then").map(list).unwrap_or_default() {
            let mut no_one = Asker { answers: Vec::new(), asked: Vec::new() };
            let came = self.request(&mut guard, then.get("request").unwrap_or(&Value::Null), &mut no_one);
            let decision = if no_one.asked.is_empty() { came.decision } else { "ask" };
            if text(then, "expect") != Some(decision) {
                return Err(format!("then {then}: found {decision}"));
            }
        }
        if self.site.outside() == before { Ok(()) } else { Err("something outside has changed".to_owned()) }
    }

    fn guard(&self) -> Result<PathGuard, String> {
        let mut written = self.row.get("config").cloned().unwrap_or_default();
        let mut policies = Vec::new();
        let mut operations = Vec::new();
        let mut cwd = self.site.ws.clone();
        if let Some(config) = written.as_object_mut() {
            policies = config.remove("tool_policies").map(owned).unwrap_or_default();
            operations = config.remove("chain_ops").map(owned).unwrap_or_default();
            if config.remove("cwd_via_symlink").is_some() {
                cwd = self.site.base.path().join("link");
            }
        }
        let mut config: SandboxConfig = serde_json::from_value(written).map_err(|error| error.to_string())?;
        if self.row.to_string().contains("\"config_read\":\"ask\"") {
            config.read.default = Answer::Ask;
        }
        let mut guard = PathGuard::open(&config, &cwd, self.resolver).map_err(|error| error.to_string())?;
        for tool in [PATH_TOOL, COMMAND_TOOL] {
            let guard = guard.sandbox().guard_for(tool);
            for policy in &policies {
                let _change =
                    guard.add(tool_policy(policy)?, Position::Last).map_err(|error| error.to_string())?;
            }
            // What the chain refuses is as if it had not been tried.
            operations.iter().for_each(|operation| drop(change_chain(guard, operation)));
        }
        Ok(guard)
    }

    fn request(&self, guard: &mut PathGuard, request: &Value, asker: &mut Asker<'_>) -> Came {
        let resource = self.site.expand(text(request, "resource").unwrap_or_default());
        let aborted = self.row.get("signal_aborted") == Some(&Value::Bool(true));
        let run = if aborted { RunState::Aborted } else { RunState::Active };
        let caller = Caller { agent: AGENT, run };
        let access = match text(request, "type") {
            Some("fs.read") => Access::Read,
            Some("fs.write") => Access::Write,
            _ => return command(guard, &resource, &caller, asker),
        };
        if text(self.row, "op") == Some("canAccess") {
            let allowed = guard.can_access(PATH_TOOL, access, Path::new(&resource));
            let decision = if allowed { "allow" } else { "deny" };
            return Came { decision, reason: None, path: None, granted: None };
        }
        let request = PathRequest { tool: PATH_TOOL, access, path: Path::new(&resource), caller };
        let answered = match guard.authorize(&request) {
            Authorization::Pending(pending) => {
                let reply = asker.ask(pending.ask());
                if let Some(swaps) = self.row.get("swap_during_prompt") {
                    drop(self.site.swap(swaps));
                }
                guard.answer(*pending, reply)
            }
            decided => decided,
        };
        came(answered)
    }

    fn compare(&self, came: &Came, expect: Option<&str>, with_details: bool) -> Checked {
        let better = text(self.row, "better") == Some(came.decision);
        if expect != Some(came.decision) && !better {
            return Err(format!("expected {expect:?}, found {} {:?}", came.decision, came.reason));
        }
        if !with_details {
            return Ok(());
        }
        let reason = text(self.row, "reason");
        if text(self.row, "op").is_none() && reason.is_some() && reason != came.reason.as_deref() {
            return Err(format!("expected reason {reason:?}, found {:?}", came.reason));
        }
        let path = text(self.row, "expect_path").map(|path| PathBuf::from(self.site.expand(path)));
        if path.is_some() && path != came.path {
            return Err(format!("expected path {path:?}, found {:?}", came.path));
        }
        Ok(())
    }

    fn compare_questions(&self, asker: &Asker<'_>) -> Checked {
        let count = self.row.get("expect_prompt_count").and_then(Value::as_u64);
        if count.is_some_and(|count| count != asker.asked.len() as u64) {
            return Err(format!("expected {count:?} questions, found {}", asker.asked.len()));
        }
        for (expected, asked) in
            self.row.get("expect_prompts").map(list).unwrap_or_default().iter().zip(&asker.asked)
        {
            for (key, value) in expected.as_object().into_iter().flatten() {
                let value = value.as_str().map(|text| self.site.expand(text));
                if asked.get(key).and_then(Value::as_str).map(str::to_owned) != value {
                    return Err(format!("expected a question with {key} {value:?}, found {asked}"));
                }
            }
        }
        Ok(())
    }

    /// Uses what was granted, after the swap: nothing outside may be read or written.
    fn use_granted(&self, came: Came, before: &[(PathBuf, Vec<u8>)]) -> Checked {
        if let Some(granted) = came.granted {
            let access = granted.access();
            if let Ok(mut file) = granted.into_file() {
                let mut found = String::new();
                let used = match access {
                    Access::Read => file.read_to_string(&mut found).map(drop),
                    Access::Write => file.write_all(b"written"),
                };
                drop(used);
                if found.contains(OUTSIDE) {
                    return Err("a file outside was read".to_owned());
                }
            }
        }
        if self.site.outside() == before { Ok(()) } else { Err("something outside has changed".to_owned()) }
    }
}

const AGENT: &str = "test-agent";
const PATH_TOOL: &str = "read_file";
const COMMAND_TOOL: &str = "run_command";

fn command(guard: &mut PathGuard, text: &str, caller: &Caller<'_>, asker: &mut Asker<'_>) -> Came {
    let guard = guard.sandbox().guard_for(COMMAND_TOOL);
    let verdict = match guard.decide(&AccessRequest::Command { text }, caller) {
        Verdict::Pending(ask) => {
            let reply = asker.ask(&ask);
            guard.answer(&ask, reply)
        }
        decided => decided,
    };
    let (decision, reason) = match verdict {
        Verdict::Allowed(_) => ("allow", None),
        Verdict::Denied(violation) => ("deny", Some(violation.reason.name().to_owned())),
        _ => ("ask", None),
    };
    Came { decision, reason, path: None, granted: None }
}

fn came(authorization: Authorization) -> Came {
    match authorization {
        Authorization::Granted(granted) => Came {
            decision: "allow",
            reason: None,
            path: Some(granted.path().to_owned()),
            granted: Some(granted),
        },
        Authorization::Denied(violation) => Came {
            decision: "deny",
            reason: Some(violation.reason.name().to_owned()),
            path: violation.object.path().map(Path::to_owned),
            granted: None,
        },
        _ => Came { decision: "ask", reason: None, path: None, granted: None },
    }
}

impl Asker<'_> {
    /// Gives the next answer; the last one is given again and again.
    fn ask(&mut self, ask: &stockade_guard::policy::Ask) -> Reply {
        let answer = self.answers.get(self.asked.len()).or(self.answers.last()).copied();
        self.asked.push(serde_json::json!({
            "operation": ask.operation().name(), "resource": ask.object().to_string(), "agentName": ask.agent(),
            "toolName": ask.tool(), "reason": ask.reason(),
        }));
        match answer {
            None => Reply::NoHandler,
            Some(Value::String(text)) if text == "throw" || text == "never" => Reply::Aborted,
            Some(Value::String(text)) => {
                PermissionDecision::from_name(text).map_or(Reply::Unreadable, Reply::Decision)
            }
            Some(_) => Reply::Unreadable,
        }
    }
}

fn tool_policy(written: &Value) -> Result<Policy, String> {
    let patterns =
        |key| written.get(key).map(|value| list(value).iter().filter_map(Value::as_str).collect::<Vec<_>>());
    let policy = match (written.get("deny_commands"), patterns("deny_commands"), patterns("approve_commands"))
    {
        (Some(Value::String(_)), ..) => return Ok(Policy::deny_dangerous_commands()),
        (_, Some(patterns), _) => Policy::deny_commands(&patterns),
        (_, None, Some(patterns)) => Policy::approve_commands(&patterns),
        (_, None, None) => return Err(format!("unknown tool policy {written}")),
    };
    policy.map_err(|error| error.to_string())
}

fn change_chain(
    guard: &mut stockade_guard::policy::ToolGuard,
    operation: &Value,
) -> Result<(), stockade_guard::policy::access::ChainError> {
    if let Some(name) = text(operation, "remove") {
        return guard.remove(name).map(drop);
    }
    let added = ["add", "replace"].iter().find_map(|key| operation.get(key)).unwrap_or(operation);
    let name = text(added, "name").or(added.as_str()).unwrap_or("added").to_owned();
    let says = ["decision", "answer", "result", "returns"]
        .iter()
        .find_map(|key| text(added, key).or(text(operation, key)));
    let decision = match says {
        Some("deny") => PolicyDecision::Answer(Answer::Deny),
        Some("ask") => PolicyDecision::Answer(Answer::Ask),
        Some("pass") => PolicyDecision::Pass,
        _ => PolicyDecision::Answer(Answer::Allow),
    };
    let before = text(operation, "before").or(text(added, "before"));
    let position = before.map_or(Position::Last, Position::Before);
    guard.add(Policy::custom(name, move |_| decision), position).map(drop)
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn owned(value: Value) -> Vec<Value> {
    match value {
        Value::Array(values) => values,
        other => vec![other],
    }
}

fn names<'v>(setup: &'v Value, key: &str) -> impl Iterator<Item = &'v str> {
    setup.get(key).map(list).unwrap_or_default().iter().filter_map(Value::as_str)
}

fn pairs<'v>(setup: &'v Value, key: &str) -> impl Iterator<Item = (&'v str, &'v str)> {
    let pairs = setup.get(key).and_then(Value::as_object).into_iter().flatten();
    pairs.filter_map(|(name, target)| Some((name.as_str(), target.as_str()?)))
}
