//! `stockade install`, `uninstall` and `status`: settings that people wrote, registrations that do not hold, and hooks that fail.
#![expect(
    clippy::disallowed_methods,
    reason = "writes settings and programs into folders of its own, and runs them"
)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};

use crate::hook::{ALL, Answer, Home, PLUGINS, shell};
use crate::support::STOCKADE;

/// Harnesses whose settings are written, where they are at home and in a project.
const WRITTEN: &[(&str, &str, &str)] = &[
    ("claude", ".claude/settings.json", ".claude/settings.json"),
    ("codex", ".codex/hooks.json", ".codex/hooks.json"),
    ("gemini", ".gemini/settings.json", ".gemini/settings.json"),
    ("qwen", ".qwen/settings.json", ".qwen/settings.json"),
    ("copilot", ".copilot/hooks/stockade.json", ".github/hooks/stockade.json"),
    ("cline", ".cline/hooks/PreToolUse", ".clinerules/hooks/PreToolUse"),
    ("opencode", ".config/opencode/plugins/stockade.js", ".opencode/plugins/stockade.js"),
    ("cursor", ".cursor/hooks.json", ".cursor/hooks.json"),
    ("droid", ".factory/settings.json", ".factory/settings.json"),
    ("windsurf", ".codeium/windsurf/hooks.json", ".windsurf/hooks.json"),
    ("amp", ".config/amp/plugins/stockade.ts", ".amp/plugins/stockade.ts"),
    ("antigravity", ".gemini/config/hooks.json", ".agents/hooks.json"),
    ("auggie", ".augment/settings.json", ".augment/settings.json"),
    ("crush", ".config/crush/crush.json", "crush.json"),
    ("goose", ".agents/plugins/stockade/hooks/hooks.json", ".agents/plugins/stockade/hooks/hooks.json"),
    ("kilo", ".config/kilo/plugins/stockade.js", ".kilo/plugins/stockade.js"),
    ("pi", ".pi/agent/extensions/stockade.js", ".pi/extensions/stockade.js"),
    ("vscode", ".copilot/hooks/stockade-vscode.json", ".github/hooks/stockade-vscode.json"),
];

/// Settings as people write them.
const TEXTS: &[&str] = &[
    "{}",
    "{\n    // keep me\n    \"model\": \"opus\", /* and me */\n    \"hooks\": {\n        \"Stop\": [],\n    },\n}\n",
    "{\"env\":{\"TOKEN\":\"s3cret\"},\"hooks\":{\"PreToolUse\":[{\"matcher\":\"Bash\",\"hooks\":[{\"type\":\"command\",\"command\":\"true\"}]}]}}",
    "{\n\t\"hooks\": {\"PreToolUse\": [], \"BeforeTool\": [ ]},\n\t\"z\": 1.50e3\n}",
    "",
    "\n",
];

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

/// A program, written by another process: what starts beside this would inherit a file that is open for writing.
fn program(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let (dir, name) = (path.parent().unwrap(), path.file_name().unwrap().to_str().unwrap());
    let script = format!("cat > {name}.new && chmod 700 {name}.new && mv {name}.new {name}");
    let mut child = std::process::Command::new("sh")
        .args(["-c", &script])
        .current_dir(dir)
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

/// Everything below a folder but what this program keeps for itself.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.ends_with(".local/state/stockade") {
                continue;
            }
            if entry.is_dir() {
                folders.push(entry.clone());
                found.insert(entry, Vec::new());
            } else {
                found.insert(entry.clone(), fs::read(entry).unwrap());
            }
        }
    }
    found
}

/// Runs this program. What `install` tries in the sandbox is another matter, and takes its time.
fn run(home: &Home, args: &[&str]) -> Output {
    let quick = (args.first() == Some(&"install")).then_some("--no-try");
    let args: &[&str] = &args.iter().copied().chain(quick).collect::<Vec<_>>();
    home.run(STOCKADE, args, b"")
}

fn status(home: &Home, harness: &str) -> Value {
    let output = run(home, &["status", harness, "--format", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let row = report["harnesses"][0].clone();
    assert_eq!(output.status.code() == Some(0), row["refuses"] == true, "{row}");
    row
}

#[test]
fn install_and_uninstall_leave_settings_unchanged() {
    for (harness, user, project) in WRITTEN {
        for (flag, name) in [("--user", user), ("--project", project)] {
            let is_settings = is_settings(harness);
            // The texts are read in the same way for all of them.
            let some = if *harness == "claude" { TEXTS } else { TEXTS.get(1..3).unwrap() };
            let texts = some.iter().map(|text| Some(*text)).filter(|_| is_settings);
            for text in texts.chain([None]) {
                let home = Home::new();
                fs::create_dir_all(home.path().join(".local/state")).unwrap();
                let base = if flag == "--user" { home.path().to_path_buf() } else { home.project() };
                if let Some(text) = text {
                    write(&base.join(name), text);
                }
                let before = tree(home.path());
                let dry = run(&home, &["install", harness, flag, "--dry-run"]);
                assert!(
                    dry.status.success() && String::from_utf8_lossy(&dry.stdout).contains("hook"),
                    "{dry:?}"
                );
                assert_eq!(tree(home.path()), before, "{harness}: a dry run changed something");
                let installed = run(&home, &["install", harness, flag]);
                assert!(installed.status.success(), "{harness} {flag} {text:?}: {installed:?}");
                let there = fs::read_to_string(base.join(name)).unwrap();
                assert!(there.contains(STOCKADE), "{there}");
                if let Some(text) = text {
                    // Every line that was there still is, but for the comma that one of them got.
                    for line in text.lines().filter(|line| !line.contains("hooks\"")) {
                        let line = line.trim_end_matches([' ', ']', '}']);
                        assert!(there.contains(line), "{harness}: {line} is gone: {there}");
                    }
                }
                let after = tree(home.path());
                let again = run(&home, &["install", harness, flag]);
                assert!(again.status.success() && tree(home.path()) == after, "{harness} {flag}: {again:?}");
                let gone = run(&home, &["uninstall", harness, flag]);
                assert!(gone.status.success(), "{harness} {flag} {text:?}: {gone:?}");
                assert_eq!(tree(home.path()), before, "{harness} {flag} {text:?}");
            }
        }
    }
}

/// What a user has written since stays, whatever it is.
#[test]
fn later_changes_of_settings_are_kept() {
    let home = Home::new();
    let file = home.path().join(".claude/settings.json");
    write(&file, TEXTS[1]);
    assert!(run(&home, &["install", "claude"]).status.success());
    let text = fs::read_to_string(&file).unwrap();
    let changed = text.replacen("{\n", "{\n    \"new\": [1, 2],\n", 1);
    write(&file, &changed);
    assert!(run(&home, &["uninstall", "claude"]).status.success());
    let left = fs::read_to_string(&file).unwrap();
    assert!(
        left.contains("\"new\": [1, 2],") && left.contains("// keep me") && !left.contains("stockade"),
        "{left}"
    );
}

/// What this program wrote before is replaced by what it writes now, and taken out as well as that.
#[test]
fn an_older_registration_is_replaced() {
    for (harness, user, _) in WRITTEN {
        for text in [None, Some(TEXTS[1])] {
            let is_settings = is_settings(harness);
            let home = Home::new();
            fs::create_dir_all(home.path().join(".local/state")).unwrap();
            let file = home.path().join(user);
            if let Some(text) = text.filter(|_| is_settings) {
                write(&file, text);
            }
            let before = tree(home.path());
            assert!(run(&home, &["install", harness]).status.success());
            let new = fs::read_to_string(&file).unwrap();
            let older = new.replace(" --before --said", " --said").replace("moment]", "]");
            assert_ne!(new, older, "{harness}");
            fs::write(&file, &older).unwrap();
            // What the account says of it is older, too.
            for account in fs::read_dir(home.path().join(".local/state/stockade/harnesses")).unwrap() {
                let account = account.unwrap().path();
                let Ok(mut kept) = serde_json::from_slice::<Value>(&fs::read(&account).unwrap()) else {
                    continue;
                };
                let mut shorter = 0;
                for one in kept["insertions"].as_array_mut().unwrap() {
                    let (at, text) = (one[0].as_u64().unwrap(), one[1].as_str().unwrap());
                    let older = text.replace(" --before --said", " --said");
                    let removed = text.len() - older.len();
                    *one = json!([at - shorter, older]);
                    shorter += u64::try_from(removed).unwrap();
                }
                fs::write(account, kept.to_string()).unwrap();
            }
            let again = run(&home, &["install", harness]);
            assert!(again.status.success(), "{harness}: {again:?}");
            assert_eq!(fs::read_to_string(&file).unwrap(), new, "{harness}");
            assert!(run(&home, &["uninstall", harness]).status.success());
            assert_eq!(tree(home.path()), before, "{harness}");
        }
    }
}

#[test]
fn read_only_settings_are_left_unchanged() {
    let is_root = rustix::process::geteuid().is_root();
    type Prepare = fn(&Home, &Path);
    let cases: &[(&str, Prepare, &str)] = &[
        ("no JSON", |_, file| write(file, "{nonsense"), "invalid JSON"),
        ("a list", |_, file| write(file, "[]"), "not a JSON object"),
        ("a key twice", |_, file| write(file, "{\"a\": 1, \"a\": 2}"), "duplicate key"),
        ("hooks in a list", |_, file| write(file, "{\"hooks\": []}"), "is not an object"),
        (
            "an event that is no list",
            |_, file| write(file, "{\"hooks\": {\"PreToolUse\": {}}}"),
            "is not a list",
        ),
        (
            "a link",
            |home, file| {
                write(&home.path().join("real.json"), "{}");
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                symlink("../real.json", file).unwrap();
            },
            "it is a symlink",
        ),
        (
            "a folder that is a link",
            |home, file| {
                fs::create_dir(home.path().join("elsewhere")).unwrap();
                symlink("elsewhere", file.parent().unwrap()).unwrap();
            },
            "it is a symlink",
        ),
        (
            "other users can write it",
            |_, file| {
                write(file, "{}");
                fs::set_permissions(file, fs::Permissions::from_mode(0o666)).unwrap();
            },
            "chmod go-w",
        ),
        (
            "another name of the file",
            |home, file| {
                write(file, "{}");
                fs::hard_link(file, home.path().join("other")).unwrap();
            },
            "another hard link",
        ),
        (
            "another registration in the same list",
            |_, file| {
                write(
                    file,
                    "{\"hooks\": {\"PreToolUse\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"stockade check\"}]}]}}",
                );
            },
            "in another way",
        ),
        (
            "another registration beside it",
            |_, file| {
                let text = "{\"hooks\": {\"PreToolUse\": [{\"hooks\": [{\"command\": \"/x/stockade hook --harness claude\"}]}]}}";
                write(&file.with_file_name("settings.local.json"), text);
            },
            "registered here already",
        ),
    ];
    for (what, prepare, says) in cases {
        let home = Home::new();
        prepare(&home, &home.path().join(".claude/settings.json"));
        let before = tree(home.path());
        let output = run(&home, &["install", "claude"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(says), "{what}: {output:?}");
        assert!(said.contains("help: "), "{what}: {said}");
        assert_eq!(tree(home.path()), before, "{what}");
    }
    let home = Home::new();
    let output = run(&home, &["install", "netscape"]);
    assert!(
        output.status.code() == Some(2) && String::from_utf8_lossy(&output.stderr).contains("claude, codex")
    );
    assert!(run(&home, &["install", "claude"]).status.success());
    let output = run(&home, &["install", "claude", "--project"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("uninstall claude --user"), "{output:?}");
    if is_root {
        let home = Home::new();
        let file = home.path().join(".claude/settings.json");
        write(&file, "{}");
        std::os::unix::fs::chown(&file, Some(65534), None).unwrap();
        let output = run(&home, &["install", "claude"]);
        assert!(String::from_utf8_lossy(&output.stderr).contains("belongs to the user 65534"), "{output:?}");
    } else {
        println!("skipped: only root can make a file of another user");
    }
}

/// Where the program of a hook is missing, broken or something else, the line that is registered says no by itself.
#[test]
fn an_installed_hook_denies_if_its_program_fails() {
    let broken: &[(&str, Option<&str>)] = &[
        ("missing", None),
        ("not executable", Some("#!/bin/sh\n")),
        ("says nothing", Some("#!/bin/sh\nexit 0\n")),
        ("exit 1", Some("#!/bin/sh\necho oops >&2\nexit 1\n")),
        ("exit 2 silently", Some("#!/bin/sh\nexit 2\n")),
        ("garbage", Some("#!/bin/sh\necho this is no JSON\n")),
        ("half an answer", Some("#!/bin/sh\nprintf '{\"hookSpecificOutput\":'\n")),
        ("killed", Some("#!/bin/sh\nkill -9 $$\n")),
        ("no program", Some("\x7fELF nonsense")),
    ];
    for (harness, ..) in ALL.iter().filter(|(harness, ..)| !PLUGINS.contains(harness)) {
        let home = Home::new();
        // A copy by another path, which then goes away or changes; names with spaces and quotes are quoted.
        let copy = home.path().join("it's here/stockade");
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        // By another process: what starts beside this would inherit a file that is open for writing.
        assert!(std::process::Command::new("cp").arg(STOCKADE).arg(&copy).status().unwrap().success());
        let line = registered(&home, &copy, harness);
        let asked = |command: &str| {
            let payload = shell(harness, &home.project(), &json!(command)).to_string();
            Answer::of(harness, &home.run("/bin/sh", &["-c", &line], payload.as_bytes()))
        };
        assert_eq!(asked("ls"), Answer::Silent, "{harness}");
        assert!(matches!(asked("rm -rf / --no-preserve-root"), Answer::Deny(_)), "{harness}");
        for (what, text) in broken {
            fs::remove_file(&copy).ok();
            if let Some(text) = text {
                program(&copy, text);
            }
            if *what == "not executable" {
                fs::set_permissions(&copy, fs::Permissions::from_mode(0o600)).unwrap();
            }
            let answer = asked("ls");
            assert!(matches!(answer, Answer::Deny(_)), "{harness}, {what}: {answer:?}");
        }
    }
}

/// The line that is registered before a tool is used.
fn registered(home: &Home, program: &Path, harness: &str) -> String {
    let project = (harness == "kiro").then_some("--project");
    let args: Vec<&str> = ["install", harness, "--dry-run"].into_iter().chain(project).collect();
    let output = home.run(program.to_str().unwrap(), &args, b"");
    if let Some(file) = appended(harness) {
        return appended_line(home, &String::from_utf8_lossy(&output.stderr), file);
    }
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let begins = |line: &&str| line.contains("o=$(") && !line.contains("--after");
    let line = said.lines().find(begins).unwrap_or_else(|| panic!("{harness}: {said}"));
    match line.find("\"command\": \"").or_else(|| line.find("\"bash\": \"")) {
        Some(at) => {
            let (_, quoted) = line.get(at..).unwrap().split_once(": ").unwrap();
            serde_json::from_str(quoted.trim_end_matches(',')).unwrap()
        }
        None => line.get(line.find("o=$(").unwrap()..).unwrap().to_owned(),
    }
}

/// The file to which the user appends the hook, where this program does not write it.
fn appended(harness: &str) -> Option<&'static str> {
    match harness {
        "kimi" => Some(".kimi-code/config.toml"),
        "hermes" => Some(".hermes/config.yaml"),
        _ => None,
    }
}

/// The line in that file after the command that the refusal names.
fn appended_line(home: &Home, said: &str, file: &str) -> String {
    let (_, how) = said.split_once("  help: ").unwrap_or_else(|| panic!("{said}"));
    fs::create_dir_all(home.path().join(file).parent().unwrap()).unwrap();
    assert!(home.run("/bin/sh", &["-c", how.trim()], b"").status.success(), "{how}");
    let text = fs::read_to_string(home.path().join(file)).unwrap();
    let (_, quoted) = text.split_once("command").unwrap();
    serde_json::from_str(quoted.lines().next().unwrap().trim_start_matches([':', ' ', '='])).unwrap()
}

#[test]
fn a_program_without_hooks_is_refused_with_what_protects() {
    let home = Home::new();
    for name in ["aider", "continue"] {
        let refused = run(&home, &["install", name]);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains("hooks") && said.contains("stockade exec --allow-host"), "{said}");
    }
    let refused = run(&home, &["install", "kiro"]);
    assert!(
        String::from_utf8_lossy(&refused.stderr).contains("stockade install kiro --project"),
        "{refused:?}"
    );
}

/// No registration that lets a tool be used is called good.
#[test]
fn an_ineffective_registration_is_never_reported_as_working() {
    let home = Home::new();
    assert!(run(&home, &["install", "claude"]).status.success());
    // The same with what is well is called good, or nothing here would show anything.
    assert_eq!(status(&home, "claude")["refuses"], true);
    let written: Value =
        serde_json::from_slice(&fs::read(home.path().join(".claude/settings.json")).unwrap()).unwrap();
    let written = &written["hooks"]["PreToolUse"][0];
    let group = |matcher: &str, command: &str| {
        let mut group = written.clone();
        group["matcher"] = json!(matcher);
        group["hooks"][0]["command"] = json!(command);
        group
    };
    let own = written["hooks"][0]["command"].as_str().unwrap().to_owned();
    // Another copy of the program is called by the same line.
    let own_line = own.replace(STOCKADE, "FAKE");
    let own_line = own_line.as_str();
    let with_member = |name: &str, value: Value| {
        let mut group = written.clone();
        group["hooks"][0][name] = value;
        json!({"hooks": {"PreToolUse": [group]}}).to_string()
    };
    let deny = "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\"}}";
    let with = |group: Value| json!({"hooks": {"PreToolUse": [group]}}).to_string();
    let fake = |text: &str| Some(format!("#!/bin/sh\n{text}\n"));
    let rows: Vec<(&str, String, Option<String>)> = vec![
        ("another matcher", with(group("WebFetch", &own)), None),
        ("a matcher for commands alone", with(group("Bash", &own)), None),
        ("a pattern that harnesses read differently", with(group("B.sh|W.*|R.*|mcp.*|E.*", &own)), None),
        (
            "hooks off",
            json!({"disableAllHooks": true, "hooks": {"PreToolUse": [group("*", &own)]}}).to_string(),
            None,
        ),
        ("another event", json!({"hooks": {"PostToolUse": [group("*", &own)]}}).to_string(), None),
        ("no event at all", json!({"hooks": {"preToolUse": [group("*", &own)]}}).to_string(), None),
        ("the name of the program in an echo", with(group("*", "echo stockade")), None),
        ("another command of the program", with(group("*", &format!("{STOCKADE} --version"))), None),
        ("a command that is never wrong", with(group("*", &format!("{STOCKADE} scan . || true"))), None),
        (
            "the answer of another harness",
            with(group("*", &format!("{STOCKADE} hook --harness gemini"))),
            None,
        ),
        ("an unknown harness", with(group("*", &format!("{STOCKADE} hook --harness unknown"))), None),
        ("an answer that goes nowhere", with(group("*", &format!("{own} > /dev/null"))), None),
        ("in the background", with(group("*", &format!("{own} &"))), None),
        (
            "over http",
            with(json!({"matcher": "*", "hooks": [{"type": "http", "url": "http://127.0.0.1/stockade"}]})),
            None,
        ),
        ("a program that is missing", with(group("*", "/nowhere/stockade hook --harness claude")), None),
        ("a program that cannot be executed", with(group("*", own_line)), Some("NOEXEC".to_owned())),
        ("garbage", with(group("*", own_line)), fake("echo this is no JSON")),
        ("half an answer", with(group("*", own_line)), fake("printf '{\"hookSpecificOutput\":'")),
        ("nothing", with(group("*", own_line)), fake("exit 0")),
        ("exit 1", with(group("*", own_line)), fake("exit 1")),
        ("exit 2 without a word", with(group("*", own_line)), fake("exit 2")),
        ("killed", with(group("*", own_line)), fake("kill -9 $$")),
        ("a denial without a reason", with(group("*", own_line)), fake(&format!("echo '{deny}'"))),
        ("a denial by another program", with(group("*", own_line)), fake("echo no >&2; exit 2")),
        ("consent", with(group("*", own_line)), fake(&format!("echo '{}'", deny.replace("deny", "allow")))),
        ("no JSON", "{\"hooks\"".to_owned(), None),
        ("a list", "[]".to_owned(), None),
        ("twice", json!({"hooks": {"PreToolUse": [group("*", &own), group("*", &own)]}}).to_string(), None),
        ("nothing registered", "{}".to_owned(), None),
        ("takes for ever", with(group("*", own_line)), fake("exec sleep 60")),
        // What is called otherwise, or only now and then, or not waited for, has not been tried.
        ("not waited for", with_member("async", json!(true)), None),
        ("only if", with_member("if", json!("Bash(git *)")), None),
        ("only once", with_member("once", json!(true)), None),
        ("with words", with_member("args", json!(["x"])), None),
        ("given up at once", with_member("timeout", json!(0)), None),
        ("consent where it fails", with_member("onFailure", json!("continue")), None),
        ("the call without its line", with(group("*", &format!("{STOCKADE} hook --harness claude"))), None),
        ("the line of an earlier version", with(group("*", &own.replace(" --before", ""))), None),
        ("more behind it", with(group("*", &format!("{own}; true"))), None),
    ];
    for (what, text, fake) in rows {
        let home = Home::new();
        let path = home.path().join("bin/stockade");
        if let Some(fake) = &fake {
            program(&path, fake);
            if fake == "NOEXEC" {
                fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            }
        }
        write(&home.path().join(".claude/settings.json"), &text.replace("FAKE", path.to_str().unwrap()));
        let row = status(&home, "claude");
        assert!(row["refuses"] == false, "{what}: {row}");
        let is_said = row["state"] == "not registered" || (row["why"].is_string() && row["fix"].is_string());
        assert!(is_said, "{what}: {row}");
    }
}

/// Whatever else a hook of ours has got, in whichever harness, what that does was not tried.
#[test]
fn a_modified_hook_is_not_reported_as_working() {
    for (harness, user, _) in WRITTEN.iter().filter(|(harness, ..)| is_settings(harness)) {
        let home = Home::new();
        assert!(run(&home, &["install", harness]).status.success());
        let file = home.path().join(user);
        let written: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        for (member, value) in [
            ("async", json!(true)),
            ("if", json!("Bash(git *)")),
            ("timeout", json!(1)),
            ("failClosed", json!(false)),
            ("type", json!("prompt")),
        ] {
            let mut changed = written.clone();
            for list in changed[root(harness)].as_object_mut().unwrap().values_mut() {
                let entry = &mut list[0];
                let hook = if entry.get("hooks").is_some() { &mut entry["hooks"][0] } else { entry };
                hook[member] = value.clone();
            }
            write(&file, &changed.to_string());
            let row = status(&home, harness);
            let is_named = |why: &str| why.contains(member);
            assert!(row["refuses"] == false, "{harness}, {member}: {row}");
            // One that runs no command is no hook of ours at all.
            assert!(
                member == "type" || row["why"].as_str().is_some_and(is_named),
                "{harness}, {member}: {row}"
            );
            // It is ours still, and goes.
            assert!(run(&home, &["uninstall", harness]).status.success());
            assert!(!fs::read_to_string(&file).unwrap().contains(" hook --harness "), "{harness}, {member}");
        }
    }
}

/// The member of settings with the hooks.
fn root(harness: &str) -> &str {
    if harness == "antigravity" { "stockade" } else { "hooks" }
}

fn is_settings(harness: &str) -> bool {
    !["copilot", "cline", "opencode", "amp", "goose", "kilo", "pi", "vscode"].contains(&harness)
}

/// Who puts hooks of their own beside ours, in the same group too, keeps them.
#[test]
fn other_hooks_are_kept() {
    for (harness, user, _) in WRITTEN.iter().filter(|(harness, ..)| is_settings(harness)) {
        let home = Home::new();
        assert!(run(&home, &["install", harness]).status.success());
        let file = home.path().join(user);
        let was_good = status(&home, harness)["refuses"].clone();
        let mut changed: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        let theirs =
            [json!({"command": "audit.sh"}), json!({"command": "audit.sh && stockade hook --harness x"})];
        for list in changed[root(harness)].as_object_mut().unwrap().values_mut() {
            let hooks = if list[0].get("hooks").is_some() { &mut list[0]["hooks"] } else { list };
            hooks.as_array_mut().unwrap().insert(0, theirs[0].clone());
        }
        write(&file, &changed.to_string());
        assert_eq!(status(&home, harness)["refuses"], was_good, "{harness}");
        let before = fs::read(&file).unwrap();
        assert!(run(&home, &["install", harness]).status.success(), "{harness}");
        assert_eq!(fs::read(&file).unwrap(), before, "{harness}");
        for list in changed[root(harness)].as_object_mut().unwrap().values_mut() {
            let hooks = if list[0].get("hooks").is_some() { &mut list[0]["hooks"] } else { list };
            hooks.as_array_mut().unwrap().push(theirs[1].clone());
        }
        write(&file, &changed.to_string());
        // One more that calls this program, with something else: it is not ours, and it is not in our place.
        let output = run(&home, &["install", harness]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(2) && said.contains("did not write it"),
            "{harness}: {output:?}"
        );
        assert!(run(&home, &["uninstall", harness]).status.success());
        let left: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        for (event, list) in left[root(harness)].as_object().unwrap() {
            let hooks = list[0].get("hooks").unwrap_or(list);
            assert_eq!(*hooks, json!(theirs), "{harness}, {event}");
        }
    }
}

/// A program or plugin that a user wrote stays, though it calls this one.
#[test]
fn files_of_other_programs_are_kept() {
    let mark = "Written by `stockade install";
    for (harness, user, _) in WRITTEN.iter().filter(|(harness, ..)| !is_settings(harness)) {
        let own = Home::new();
        assert!(run(&own, &["install", harness]).status.success());
        let written = fs::read_to_string(own.path().join(user)).unwrap();
        let mut texts = vec![
            format!("#!/bin/sh\n# my own\naudit.sh && {STOCKADE} hook --harness {harness}\n"),
            format!(
                "#!/bin/sh\n# my own\n# begun from what was {mark} {harness}`\n{STOCKADE} hook --harness {harness}\n"
            ),
        ];
        if *harness == "copilot" {
            let mut more: Value = serde_json::from_str(&written).unwrap();
            more["hooks"]["preToolUse"]
                .as_array_mut()
                .unwrap()
                .push(json!({"type": "command", "bash": "audit.sh"}));
            texts = vec![more.to_string(), written.replacen("\"bash\": \"", "\"bash\": \"audit.sh; ", 1)];
        }
        for text in texts {
            let home = Home::new();
            let file = home.path().join(user);
            write(&file, &text);
            let before = tree(home.path());
            let row = status(&home, harness);
            assert!(row["refuses"] == false && row["why"].is_string(), "{harness}: {row}");
            let output = run(&home, &["install", harness]);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(
                output.status.code() == Some(2) && said.contains("not written by stockade"),
                "{harness}: {output:?}"
            );
            assert!(run(&home, &["uninstall", harness]).status.success());
            assert_eq!(tree(home.path()), before, "{harness}");
        }
    }
}

#[test]
fn ineffective_registrations_of_other_harnesses_are_reported() {
    type Breaks = fn(&Home);
    let broken: &[(&str, Breaks)] = &[
        ("gemini", |home| {
            let file = home.path().join(".gemini/settings.json");
            let text = fs::read_to_string(&file).unwrap();
            write(&file, &text.replacen('{', "{\"hooksConfig\": {\"enabled\": false},", 1));
        }),
        // The user has not trusted it, and it is skipped in silence.
        ("codex", |_| {}),
        ("cline", |home| {
            let file = home.path().join(".cline/hooks/PreToolUse");
            fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
        }),
        ("cline", |home| {
            program(&home.path().join(".cline/hooks/PreToolUse"), "#!/bin/sh\n# stockade\nexit 2\n");
        }),
        ("copilot", |home| {
            let file = home.path().join(".copilot/hooks/stockade.json");
            let text = fs::read_to_string(&file).unwrap();
            write(&file, &text.replace("preToolUse", "postToolUse2"));
        }),
        ("copilot", |home| write(&home.path().join(".copilot/config.json"), "{\"disableAllHooks\": true}")),
        // It is not known that it was loaded.
        ("opencode", |_| {}),
        ("kilo", |_| {}),
        ("pi", |_| {}),
        ("amp", |_| {}),
        // Some versions call no hooks of this file.
        ("antigravity", |_| {}),
        ("droid", |home| write(&home.path().join(".factory/hooks.json"), "{}")),
    ];
    for (harness, breaks) in broken {
        let home = Home::new();
        fs::create_dir(home.path().join(".copilot")).unwrap();
        assert!(run(&home, &["install", harness]).status.success());
        breaks(&home);
        let row = status(&home, harness);
        assert!(row["refuses"] == false && row["fix"].is_string(), "{row}");
    }
    for harness in [
        "gemini", "qwen", "cline", "copilot", "cursor", "droid", "windsurf", "auggie", "crush", "goose",
        "vscode",
    ] {
        let home = Home::new();
        assert!(run(&home, &["install", harness]).status.success());
        assert_eq!(status(&home, harness)["refuses"], true, "{harness}");
    }
    // What is not in use is not reported, also where its settings would be in a directory of others.
    let home = Home::new();
    fs::create_dir_all(home.path().join(".copilot/hooks")).unwrap();
    fs::create_dir_all(home.project().join(".agents/skills")).unwrap();
    let said = String::from_utf8_lossy(&run(&home, &["status"]).stdout).into_owned();
    assert!(!["Crush", "VS Code", "Antigravity", "Goose"].iter().any(|name| said.contains(name)), "{said}");
    // Hooks for all projects are not supported by one of them.
    let home = Home::new();
    assert!(run(&home, &["install", "kiro", "--project"]).status.success());
    assert_eq!(status(&home, "kiro")["refuses"], true);
}

/// What a project brings along is not run to see what it does.
#[test]
fn hooks_of_a_project_are_not_started() {
    let home = Home::new();
    let evil = home.project().join("stockade");
    program(&evil, "#!/bin/sh\ntouch ran\nexit 2\n");
    let hook = json!({"type": "command", "command": evil.display().to_string() + " hook --harness claude"});
    let text = json!({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [hook]}]}}).to_string();
    write(&home.project().join(".claude/settings.json"), &text);
    let row = status(&home, "claude");
    assert!(row["refuses"] == false && row["why"].as_str().unwrap().contains("not written"), "{row}");
    run(&home, &["doctor"]);
    assert!(!home.project().join("ran").exists());
    // What this program writes is tried, and is effective only where the user has trusted the project.
    fs::remove_file(home.project().join(".claude/settings.json")).unwrap();
    assert!(run(&home, &["install", "claude", "--project"]).status.success());
    let row = status(&home, "claude");
    assert!(row["refuses"] == false && row["why"].as_str().unwrap().contains("trusted"), "{row}");
    let trust =
        json!({"projects": {home.project().to_str().unwrap(): {"hasTrustDialogAccepted": true}}}).to_string();
    write(&home.path().join(".claude.json"), &trust);
    assert_eq!(status(&home, "claude")["refuses"], true);
}

/// The hook that a session has really called leaves a sign of it.
#[test]
fn a_session_that_calls_the_hook_is_seen() {
    let home = Home::new();
    assert!(run(&home, &["install", "claude"]).status.success());
    assert!(status(&home, "claude")["seenSecondsAgo"].is_null());
    let start = json!({"session_id": "s", "cwd": home.project(), "hook_event_name": "SessionStart", "source": "startup"});
    let output = home.run(STOCKADE, &["hook", "--harness", "claude"], start.to_string().as_bytes());
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    assert!(status(&home, "claude")["seenSecondsAgo"].is_number());
}

/// Where harnesses keep servers of the Model Context Protocol, at home and in a project.
const SERVERS: &[(&str, &str, Option<&str>)] = &[
    ("claude", ".claude.json", Some(".mcp.json")),
    ("gemini", ".gemini/settings.json", Some(".gemini/settings.json")),
    ("qwen", ".qwen/settings.json", Some(".qwen/settings.json")),
    ("copilot", ".copilot/mcp-config.json", None),
    ("cline", ".cline/data/settings/cline_mcp_settings.json", None),
    ("cursor", ".cursor/mcp.json", Some(".cursor/mcp.json")),
    ("droid", ".factory/mcp.json", Some(".factory/mcp.json")),
    ("windsurf", ".codeium/windsurf/mcp_config.json", None),
];

#[test]
fn wrapping_and_unwrapping_servers_leaves_settings_unchanged() {
    const TEXT: &str = "{\n  // mine\n  \"mcpServers\": {\n    \"fs\": {\"command\": \"npx\", \"args\": [\"-y\", \"fs\"], \"env\": {\"TOKEN\": \"s3cret\"}},\n    \"far\": {\"url\": \"https://h.example/mcp\"},\n  },\n  \"z\": 1.50\n}\n";
    for (harness, user, project) in SERVERS {
        for (flag, name) in [("--user", Some(*user)), ("--project", *project)] {
            let home = Home::new();
            fs::create_dir_all(home.path().join(".local/state")).unwrap();
            let mcp =
                |action: &str, more: &[&str]| run(&home, &[&[action, harness, "--mcp", flag], more].concat());
            let Some(name) = name else {
                let refused = mcp("install", &[]);
                assert_eq!(refused.status.code(), Some(2), "{harness}: {refused:?}");
                continue;
            };
            let base = if flag == "--user" { home.path().to_path_buf() } else { home.project() };
            // Without a settings file, there is no server to wrap.
            let none = mcp("install", &[]);
            assert!(none.status.success(), "{none:?}");
            let file = base.join(name);
            write(&file, TEXT);
            let before = tree(home.path());
            let dry = mcp("install", &["--dry-run"]);
            let shown = String::from_utf8_lossy(&dry.stdout).into_owned();
            assert!(
                shown.contains("+    \"fs\"") && shown.contains("mcp") && shown.contains("`far`"),
                "{shown}"
            );
            assert_eq!(tree(home.path()), before, "{harness}: a dry run changed something");
            let doctor = |home: &Home| {
                let told = run(home, &["doctor", "--format", "json"]);
                String::from_utf8_lossy(&told.stdout).into_owned()
            };
            let said = doctor(&home);
            let fix = format!("stockade install {harness} --mcp");
            assert!(said.contains(&fix) && said.contains("that are not wrapped"), "{said}");
            let done = mcp("install", &[]);
            assert!(done.status.success(), "{done:?}");
            let there = fs::read_to_string(&file).unwrap();
            let words = format!(
                "\"args\": [\"mcp\", \"wrap\", \"--name\", \"fs\", \"--agent\", \"{harness}\", \"--env\", \"TOKEN\", \"--\", \"npx\", \"-y\", \"fs\"]"
            );
            assert!(there.contains(&words) && there.contains(STOCKADE), "{there}");
            assert!(!doctor(&home).contains(&fix), "{harness}");
            // Hooks beside it are another matter.
            let again = mcp("install", &[]);
            assert!(again.status.success() && fs::read_to_string(&file).unwrap() == there, "{again:?}");
            assert!(mcp("uninstall", &[]).status.success());
            assert_eq!(tree(home.path()), before, "{harness} {flag}");
        }
    }
    let home = Home::new();
    for harness in ["codex", "opencode"] {
        let refused = run(&home, &["install", harness, "--mcp"]);
        assert!(String::from_utf8_lossy(&refused.stderr).contains("by hand"), "{refused:?}");
    }
    let file = home.path().join(".claude.json");
    write(&file, "{\"mcpServers\": {\"a\": {\"command\": \"x\"}, }");
    let refused = run(&home, &["install", "claude", "--mcp"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(fs::read_to_string(&file).unwrap().starts_with("{\"mcpServers\""));
}
