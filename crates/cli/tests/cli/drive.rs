//! CLIs that are driven: a script in the place of each, and a server that keeps what it was sent. The real ones are driven by
//! `cargo xtask driven`, whose table is compared here.
#![expect(clippy::disallowed_methods, reason = "writes scripts and logins, and runs programs")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::secrets::{Echo, text};
use super::support::STOCKADE;

const REAL: &str = "sk-ant-api03-REALrealREALrealREALrealREALreal0001";
const TOKEN: &str = "sk-ant-oat01-TOKENtokenTOKENtokenTOKENtoken0001";

/// What every CLI does: it prints what it sees, asks its model once, and tells the model what its tools see.
const SCRIPT: &str = "#!/bin/sh
echo \"words: $*\"
env | sort; ls -A ~; cat ~/.claude/.credentials.json ~/.claude.json
cat /proc/*/environ /proc/*/cmdline 2>/dev/null
for folder in ~ /tmp; do grep -rs -e [R]EALreal -e [T]OKENtoken $folder; done
base=${ANTHROPIC_BASE_URL:-$GOOGLE_GEMINI_BASE_URL}
curl -sS -o answer -H \"X-Api-Key: $ANTHROPIC_API_KEY\" -d \"my key is $ANTHROPIC_API_KEY\" $base/v1/messages
";

/// A home with a login, a workspace, and a program of this name that does what the script says.
struct World {
    folder: tempfile::TempDir,
    echo: Echo,
}

impl World {
    fn new(program: &str, script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        for name in ["home/.claude", "home/.local/share/claude", "bin", "work", "other"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let world = Self { folder, echo: Echo::start() };
        world.put(&format!("bin/{program}"), script, 0o755);
        world.put("home/.claude.json", "{\"settings\": true}", 0o600);
        world
    }

    fn put(&self, name: &str, text: &str, mode: u32) {
        let path = self.at(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
    }

    fn login(&self, until: &str) {
        let text = format!("{{\"claudeAiOauth\": {{\"accessToken\": \"{TOKEN}\", \"expiresAt\": {until}}}}}");
        self.put("home/.claude/.credentials.json", &text, 0o600);
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Drives the program, whose API is that of the server.
    fn drive(&self, words: &[&str], variables: &[(&str, &str)]) -> Output {
        let base = format!("http://127.0.0.1:{}", self.echo.port);
        let words: Vec<_> = words.iter().map(|word| word.replace("{base}", &base)).collect();
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.at("bin").display());
        Command::new(STOCKADE)
            .arg("drive")
            .args(&words)
            .env_clear()
            .envs([("PATH", path.as_str()), ("LANG", "C.UTF-8")])
            .env("HOME", self.at("home"))
            .envs(variables.iter().copied())
            .current_dir(self.at("work"))
            .output()
            .unwrap()
    }
}

fn has_curl() -> bool {
    let is_there = Path::new("/usr/bin/curl").is_file();
    if !is_there {
        println!("skipped: there is no curl");
    }
    is_there
}

#[test]
fn a_model_cli_uses_a_key_without_seeing_it() {
    if !has_curl() {
        return;
    }
    let world = World::new("claude", SCRIPT);
    world.login("99999999999999");
    let trail = world.at("trail.jsonl");
    let key = [("ANTHROPIC_API_KEY", REAL)];
    let audit = format!("--audit={}", trail.display());
    let output = world.drive(&["claude", "--api-base", "{base}", &audit, "--", "-p", "say hello"], &key);
    let (said, heard) = (text(&output), world.echo.heard());
    assert!(output.status.success(), "{said}");
    assert!(
        heard.to_ascii_lowercase().contains(&format!("x-api-key: {}", REAL.to_ascii_lowercase())),
        "{heard}\n{said}"
    );
    assert_eq!(heard.matches(REAL).count(), 1, "in its place, and not in what the model is told: {heard}");
    assert!(heard.contains("my key is sk-ant-api03-"), "its placeholder may be sent to the model: {heard}");
    assert!(!said.contains(REAL) && !said.contains("REALreal") && !said.contains("TOKENtoken"), "{said}");
    for expected in [
        "words: -p say hello",
        "ANTHROPIC_API_KEY=sk-ant-api03-",
        ".claude/.credentials.json: No such file or directory",
        ".claude.json: No such file or directory",
        "allowed host: 127.0.0.1:",
        "its key is read from the variable ANTHROPIC_API_KEY and stays outside of the sandbox",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    let answer = fs::read_to_string(world.at("work/answer")).unwrap();
    assert!(answer.contains("you said") && !answer.contains("REALreal"), "{answer}");
    let recorded = fs::read_to_string(trail).unwrap();
    assert!(recorded.contains("\"driven\":\"claude\"") && recorded.contains("say hello"), "{recorded}");
    assert!(!recorded.contains("REALreal") && !recorded.contains("TOKENtoken"), "{recorded}");
}

#[test]
fn a_model_cli_uses_a_login_without_seeing_it() {
    if !has_curl() {
        return;
    }
    let script =
        SCRIPT.replace("X-Api-Key: $ANTHROPIC_API_KEY", "Authorization: Bearer $CLAUDE_CODE_OAUTH_TOKEN");
    let world = World::new("claude", &script);
    world.login("99999999999999");
    let output = world.drive(&["claude", "--api-base", "{base}/gateway"], &[]);
    let (said, heard) = (text(&output), world.echo.heard());
    assert!(
        heard.contains(&format!("Bearer {TOKEN}\r\n")) && heard.contains("/gateway/v1/messages"),
        "{heard}\n{said}"
    );
    assert!(
        said.contains("the login in ~/.claude/.credentials.json") && !said.contains("TOKENtoken"),
        "{said}"
    );
    assert!(said.contains("CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-"), "{said}");

    world.login("1");
    let said = text(&world.drive(&["claude", "--api-base", "{base}"], &[]));
    assert!(
        said.contains("the login in ~/.claude/.credentials.json has expired") && !said.contains("words:"),
        "{said}"
    );
}

#[test]
fn a_cli_reaches_the_host_of_its_model_and_no_other() {
    if !has_curl() {
        return;
    }
    let script =
        "#!/bin/sh\ncurl -sS -m 20 http://127.0.0.1:$1/x; curl -sS -m 20 https://other.example/; true\n";
    let world = World::new("claude", script);
    let other = Echo::start();
    let (port, entry) = (other.port.to_string(), format!("127.0.0.1:{}", other.port));
    let key = [("ANTHROPIC_API_KEY", REAL)];
    let said = text(&world.drive(&["claude", "--api-base", "{base}", "--", &port], &key));
    assert!(said.contains("connection to other.example:443 refused") && other.heard().is_empty(), "{said}");
    assert!(said.contains("add `other.example:443` to what it may reach with --allow-host"), "{said}");
    let said =
        text(&world.drive(&["claude", "--api-base", "{base}", "--allow-host", &entry, "--", &port], &key));
    assert!(other.heard().contains("GET /x"), "{said}");
    // Its own host can be kept out too, and then its key has nowhere to go.
    let own = format!("!127.0.0.1:{}", world.echo.port);
    let output = world.drive(&["claude", "--api-base", "{base}", "--allow-host", &own], &key);
    assert!(!output.status.success() && text(&output).contains("not in the host list"), "{}", text(&output));
}

#[test]
fn state_is_kept_on_request_and_per_workspace() {
    let script = "#!/bin/sh\nmkdir -p ~/.claude/hooks; cat ~/.claude/notes; echo \"$1\" >> ~/.claude/notes; ls ~/.claude\n";
    let world = World::new("claude", script);
    let key = [("ANTHROPIC_API_KEY", REAL)];
    let drive = |more: &[&str], word: &str| {
        let mut words = vec!["claude"];
        words.extend(more);
        words.extend(["--", word]);
        text(&world.drive(&words, &key))
    };
    let other = world.at("other");
    let elsewhere = other.to_str().unwrap();
    drive(&[], "zero");
    for (more, word, seen, unseen) in [
        (&["--keep-state"][..], "one", "notes", "zero"),
        (&["--keep-state"], "two", "one", "zero"),
        (&["--keep-state=mine"], "three", "notes", "one"),
        (&["--keep-state", "-w", elsewhere], "four", "notes", "one"),
        (&["--keep-state=mine", "-w", elsewhere], "five", "three", "four"),
        (&[], "six", "notes", "one"),
    ] {
        let said = drive(more, word);
        assert!(said.contains(seen) && !said.contains(unseen), "{more:?}: {said}");
    }
    assert!(!world.at("home/.claude/notes").exists());
    let said = drive(&["--keep-state=../x"], "seven");
    assert!(said.contains("invalid name for --keep-state"), "{said}");
}

#[test]
fn a_cli_sees_its_own_home_only_on_request() {
    let script = "#!/bin/sh\ncat ~/.claude/.credentials.json; echo changed > ~/.claude/new; echo x >> ~/.claude.json; env\n";
    let world = World::new("claude", script);
    world.login("1");
    let output =
        world.drive(&["claude", "--secure-credential-home", "false"], &[("ANTHROPIC_API_KEY", REAL)]);
    let said = text(&output);
    assert!(
        said.contains(TOKEN) && said.contains("can read ~/.claude, ~/.claude.json, ~/.local/share/claude"),
        "{said}"
    );
    assert!(!said.contains("ANTHROPIC_API_KEY="), "{said}");
    assert_eq!(fs::read_to_string(world.at("home/.claude/new")).unwrap(), "changed\n", "{said}");
    assert_eq!(fs::read_to_string(world.at("home/.claude.json")).unwrap(), "{\"settings\": true}", "{said}");
    assert!(
        said.contains("allowed host: api.anthropic.com:443")
            && said.contains("allowed host: platform.claude.com:443")
    );
}

#[test]
fn invalid_drive_options_are_refused_with_a_fix() {
    let world = World::new("claude", "#!/bin/sh\necho RAN\n");
    world.put("work/key", REAL, 0o600);
    let inside = format!("file:{}", world.at("work/key").display());
    let key = [("ANTHROPIC_API_KEY", REAL)];
    for (words, variables, why) in [
        (&["claud"][..], &key[..], "did you mean `claude`?"),
        (&["codex"], &key, "`npm install -g @openai/codex`"),
        (&["claude"], &[], "set ANTHROPIC_API_KEY, or use --key"),
        (&["claude"], &[("ANTHROPIC_API_KEY", "")], "set ANTHROPIC_API_KEY, or use --key"),
        (&["claude", "--program", "./no-such"], &key, "cannot be started"),
        (&["claude", "--program", "/etc/passwd"], &key, "not an executable file"),
        (&["claude", "--api-base", "http://gw.example"], &key, "plain HTTP"),
        (&["claude", "--api-base", "gw.example"], &key, "no scheme"),
        (&["claude", "--key", "vault:x"], &key, "an unknown source"),
        (&["claude", "--key", "NOPE=env:X"], &key, "no key with that name"),
        // What lies in the workspace belongs to a project, and the CLI would see it.
        (&["claude", "--key", &inside], &[], "visible to the command"),
        (&["claude", "--env", "ANTHROPIC_API_KEY"], &key, "is given to the command"),
        (&["claude", "--allow-host", "https://x.example"], &key, "--allow-host"),
        (&["claude", "--secret", "X=env:HOME@y.example"], &key, "not in the host list"),
        (
            &["claude", "--secure-credential-home", "false", "--keep-state"],
            &key,
            "--keep-state has no effect",
        ),
        (&["generic"], &key, "use --program"),
        (&["generic", "--program", "sh", "--key", "env:X"], &key, "has no effect with `generic`"),
    ] {
        let output = world.drive(words, variables);
        let said = text(&output);
        assert!(said.contains(why) && !said.contains("RAN") && !said.contains(REAL), "{words:?}: {said}");
        assert!([2, 125, 126].contains(&output.status.code().unwrap()), "{words:?}: {said}");
    }
    let said = text(&world.drive(&["--list"], &[]));
    let page = include_str!("../../DRIVE.md");
    for line in said.lines().filter(|line| line.starts_with(' ')) {
        let (name, rest) = line.trim().split_once(" for ").unwrap();
        let host = rest.split_once(':').unwrap().0;
        assert!(page.contains(&format!("`{name}`")) && page.contains(host), "{line}");
    }
    assert!(said.contains("CLAUDE_CODE_OAUTH_TOKEN for api.anthropic.com"), "{said}");
}

#[test]
fn drive_generic_runs_any_program_with_its_hosts_and_secrets() {
    if !has_curl() {
        return;
    }
    let world =
        World::new("agent", "#!/bin/sh\ncurl -sS -H \"X-Api-Key: $K\" http://127.0.0.1:$1/x > answer; env\n");
    let port = world.echo.port.to_string();
    let (host, secret) =
        (format!("127.0.0.1:{port}"), format!("K=env:MINE@127.0.0.1:{port} in header:X-Api-Key"));
    let words = ["generic", "--program", "agent", "--allow-host", &host, "--secret", &secret, "--", &port];
    let (output, heard) = (world.drive(&words, &[("MINE", REAL)]), world.echo.heard());
    let said = text(&output);
    assert!(
        heard.contains(REAL) && !said.contains(REAL) && said.contains("K=sk-ant-api03-"),
        "{heard}\n{said}"
    );
}

/// The page that records what was tried with the real ones, and the script that names their versions.
const PAGE: &str = include_str!("../../DRIVE.md");
const VERSIONS: &str = include_str!("../harnesses/run.py");

/// The rows of a table between two marks.
fn measured() -> Vec<Vec<&'static str>> {
    let table = PAGE.split_once("<!-- driven: begin -->").unwrap().1;
    let table = table.split_once("<!-- driven: end -->").unwrap().0;
    let rows = table.lines().filter(|line| line.starts_with("| ")).skip(1);
    rows.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// What the page claims was tried, for each preset and way, with the version that is tried today and at a commit that it names.
#[test]
fn the_table_of_tested_model_clis_is_complete() {
    let list = Command::new(STOCKADE).args(["drive", "--list"]).output().unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    let names = list.lines().filter(|line| !line.starts_with(' '));
    let names = names.filter_map(|line| line.split_whitespace().next());
    let mut expected = Vec::new();
    for name in names.filter(|name| VERSIONS.contains(&format!("    \"{name}\": (\""))) {
        let row = VERSIONS.lines().find(|line| line.starts_with(&format!("    \"{name}\": (\""))).unwrap();
        let version = row.split('"').nth(5).unwrap();
        let ways =
            if name == "claude" { &["preset", "gateway", "login"][..] } else { &["preset", "gateway"] };
        expected.extend(ways.iter().map(|way| format!("{name} {version}, {way}")));
    }
    assert!(expected.len() >= 13, "{expected:?}");
    let rows = measured();
    let tried: Vec<&str> = rows.iter().map(|row| row[0]).collect();
    assert_eq!(tried, expected, "run `cargo xtask driven`");
    for row in rows {
        let (commit, cells) = row[1..].split_last().unwrap();
        assert!(cells.len() == 6 && cells.iter().all(|cell| *cell == "yes"), "{row:?}");
        let hex = commit.trim_matches('`');
        assert!(hex.len() >= 7 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()), "{row:?}");
    }
}
