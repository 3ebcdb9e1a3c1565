//! Commands in containers of a real Docker, through the entry point that people use: what is promised is asked for from inside.
#![expect(clippy::disallowed_methods, reason = "starts a daemon and commands, and looks at what is left")]

mod common;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::STOCKADE;
use common::daemon::{Docker, has_gvisor};
use common::podman::{Podman, STORAGE, why_not};
use common::{arguments_with, isolation, until};

/// A workspace of an ordinary user, and the home of who starts commands.
struct Place {
    folder: TempDir,
}

/// Whose workspace it is.
const OWNER: u32 = 1000;

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Self { folder };
        fs::create_dir(place.workspace()).unwrap();
        fs::create_dir(place.home()).unwrap();
        place.give(&place.workspace());
        place
    }

    fn workspace(&self) -> std::path::PathBuf {
        self.folder.path().canonicalize().unwrap().join("work")
    }

    fn home(&self) -> std::path::PathBuf {
        self.folder.path().join("home")
    }

    fn give(&self, path: &Path) {
        std::os::unix::fs::chown(path, Some(OWNER), Some(OWNER)).unwrap();
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.workspace().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.ancestors()
            .take_while(|path| path.starts_with(self.workspace()))
            .for_each(|path| self.give(path));
    }

    fn command(&self, address: &str, words: &[&str]) -> Command {
        let mut command = Command::new(STOCKADE);
        command.args(["exec", "--no-rules"]).args(words).current_dir(self.workspace()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", self.home());
        command.env("DOCKER_HOST", address).env("SECRET", "hunter2").stdin(Stdio::null());
        command
    }

    /// Runs a command in a container, and returns the document of how that went.
    fn run(&self, docker: &Docker, options: &[&str], command: &[&str]) -> Value {
        let container = ["--format", "json", "--backend", "docker", "--image", &docker.image];
        let words: Vec<&str> =
            container.iter().chain(options).chain(&["--"]).chain(command).copied().collect();
        let output = self.command(&docker.address(), &words).output().unwrap();
        let document = String::from_utf8_lossy(&output.stdout).into_owned();
        serde_json::from_str(&document).unwrap_or_else(|_| panic!("{words:?}: {output:?}"))
    }
}

fn text(output: &[u8]) -> String {
    String::from_utf8_lossy(output).into_owned()
}

fn printed(document: &Value) -> String {
    document["stdout"]["text"].as_str().unwrap_or_else(|| panic!("{document}")).to_owned()
}

/// Tries what a container must not do, and says of each whether it could.
const LOOK: &str = r#"
try() { name=$1; shift; if "$@" >/dev/null 2>&1; then echo "$name: yes"; else echo "$name: no"; fi; }
write() { echo x > "$1"; }
try 'writes to its root' write /x
try 'writes to a volume of the image' write /data/x
try 'writes to /tmp' write /tmp/x
try 'writes to its home' write "$HOME/x"
try 'writes to the workspace' write made
try 'writes to the settings of the kernel' write /proc/sys/kernel/core_pattern
try 'writes to /run' write /run/x
try 'runs a program in /tmp' sh -c 'cp /bin/cat /tmp/cat; /tmp/cat /dev/null'
try 'runs a program in /var/tmp' sh -c 'cp /bin/cat /var/tmp/cat; /var/tmp/cat /dev/null'
try 'reads the bait beside the workspace' cat ../bait
try 'reads a secret in the workspace' grep -q hunter3 .env
try 'changes a hook' write .git/hooks/pre-commit
while read -r line; do case $line in *lo:*|*\|*) ;; *) echo "network $line" ;; esac; done < /proc/net/dev
grep -E '^(Uid|CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status
echo "secret ${SECRET-none}, set ${GIVEN-none}"
echo x > .envrc
"#;

const SEEN: &str = "\
writes to its root: no
writes to a volume of the image: yes
writes to /tmp: yes
writes to its home: yes
writes to the workspace: yes
writes to the settings of the kernel: no
writes to /run: no
runs a program in /tmp: no
runs a program in /var/tmp: no
reads the bait beside the workspace: no
reads a secret in the workspace: no
changes a hook: no
Uid:\t1000\t1000\t1000\t1000
CapEff:\t0000000000000000
CapBnd:\t0000000000000000
NoNewPrivs:\t1
Seccomp:\t2
secret none, set 'a' \"b\" #c
";

/// All rows, so that none is held by what another one tried.
#[test]
fn containers_enforce_the_manifests_of_packages() {
    let Some(docker) = Docker::start() else { return };
    let rows = isolation::tried(&docker, Path::new(STOCKADE));
    let open: Vec<_> = rows.iter().filter_map(|(number, row)| Some((number, row.as_ref().err()?))).collect();
    assert!(open.is_empty(), "{open:#?}");
    assert_eq!(rows.len(), 99, "some row was not tried");
    assert_eq!(docker.says(&["ps", "--all", "--quiet"]), "", "nothing is left behind");
}

#[test]
fn containers_enforce_the_limits_of_commands() {
    let Some(docker) = Docker::start() else { return };
    let place = Place::new();
    what_is_inside_is_what_was_promised(&docker, &place);
    nothing_is_started_where_nothing_may_be(&docker, &place, &[]);
    if has_gvisor() {
        gvisor_is_a_kernel_of_its_own(&docker, &place);
    } else {
        println!("skipped: gVisor is not on this machine: run `cargo xtask setup`");
    }
    every_attack_is_stopped(&docker, &place);
    other_entry_points_run_in_them_too(&docker, &place);
    limits_end_a_command_and_say_which(&docker, &place);
    what_is_killed_leaves_nothing(&docker, &place);
    assert_eq!(docker.says(&["ps", "--all", "--quiet"]), "", "nothing is left behind");
    assert_eq!(docker.says(&["volume", "ls", "--quiet"]), "", "nothing is left behind");
    what_cannot_be_had_is_refused(&docker, &place);
}

fn what_is_inside_is_what_was_promised(docker: &Docker, place: &Place) {
    fs::write(place.folder.path().join("bait"), "bait").unwrap();
    place.write(".env", "KEY=hunter3\n");
    place.write(".git/hooks/pre-commit", "#!/bin/sh\n");
    let ran = place.run(docker, &["--env", "GIVEN='a' \"b\" #c"], &["sh", "-c", LOOK]);
    assert_eq!(printed(&ran), SEEN, "{ran}");
    assert_eq!(fs::read_to_string(place.workspace().join("made")).unwrap(), "x\n");
    assert_eq!((ran["sandbox"].as_str(), ran["end"].as_str()), (Some("docker"), Some("exited")));
    assert_eq!(ran["quarantine"][0]["path"], ".envrc", "{ran}");
    let enforced = ran["enforced"].to_string();
    for property in ["files", "network", "processes", "ipc", "privileges", "system-calls"] {
        assert!(enforced.contains(&format!("\"{property}\"")), "{property}: {enforced}");
    }
    let gaps = ran["gaps"].to_string();
    assert!(!gaps.contains("tag"), "the image is named by its digest: {gaps}");
    let again = place.run(docker, &[], &["no-such-program"]);
    assert_eq!(again["exitCode"], 127, "{again}");
    let tried =
        place.run(docker, &["--require", "files", "--require", "network"], &["sh", "-c", "echo it ran"]);
    assert_eq!(printed(&tried), "it ran\n");
}

/// Both ways, so that none of them is empty: what spawns where it may does not where it may not.
fn nothing_is_started_where_nothing_may_be(docker: &Docker, place: &Place, options: &[&str]) {
    let free = printed(&place.run(docker, options, &["/ways", "free"]));
    let spawned = |said: &str| said.lines().filter(|line| line.starts_with("SPAWNED")).count();
    assert!(free.ends_with("tried 25\n") && free.starts_with("thread\n"), "{free}");
    for way in 1..=20 {
        assert!(free.contains(&format!("SPAWNED {way}\n")), "way {way} starts nothing where it may: {free}");
    }
    let options: Vec<&str> = options.iter().copied().chain(["--no-spawn"]).collect();
    let ran = place.run(docker, &options, &["/ways", "held"]);
    let held = printed(&ran);
    assert_eq!((held.as_str(), spawned(&held)), ("thread\ntried 25\n", 0), "{ran}");
    assert!(ran["enforced"].to_string().contains("no-spawn"), "{ran}");
    for way in ["13", "14"] {
        let ran = place.run(docker, &options, &["/ways", "one", way]);
        assert_eq!(printed(&ran), "thread\n", "calls of another architecture end the command: {ran}");
    }
    assert_eq!(place.run(docker, &options, &["no-such-program"])["exitCode"], 127);
    assert_eq!(
        printed(&place.run(docker, &options, &["cat", "/proc/1/comm"])),
        "cat\n",
        "found by PATH, and alone"
    );
}

/// By the commands that people have for that.
fn every_attack_is_stopped(docker: &Docker, place: &Place) {
    let said = |words: &[&str]| -> Value {
        let mut command = Command::new(STOCKADE);
        command
            .args(words)
            .args(["--image", &docker.image, "--format", "json"])
            .current_dir(place.workspace());
        command.env("DOCKER_HOST", docker.address()).env("HOME", place.home());
        let output = command.output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{words:?}: {output:?}"))
    };
    let tested = said(&["selftest", "isolation", "--backend", "docker", "--backend", "native"]);
    let results = tested["results"].as_array().unwrap();
    // The image lacks programs of some attacks, which are not tried.
    let is_held = |row: &Value| row["result"] == "stopped" || row["result"] == "notTried";
    assert!(results.iter().all(is_held) && results.iter().any(|row| row["backend"] == "docker"), "{tested}");
    let listed = said(&["backends"]);
    let rows = listed["backends"].as_array().unwrap();
    let row = rows.iter().find(|row| row["name"] == "docker").unwrap();
    assert!(row["works"] == true && row["byNameOnly"] == true, "{row}");
}

/// `run`, by the configuration of an agent, and `serve`, by what a request says.
fn other_entry_points_run_in_them_too(docker: &Docker, place: &Place) {
    let skill = place.folder.path().join("skill");
    fs::create_dir_all(&skill).unwrap();
    let head = "---\nname: sorts\ndescription: Sorts photos by date.\n---\nSort the photos.\n";
    fs::write(skill.join("SKILL.md"), head).unwrap();
    let stockade = |words: &[&str]| {
        let mut command = Command::new(STOCKADE);
        command.args(words).current_dir(place.workspace()).env_clear().env("HOME", place.home());
        command
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("DOCKER_HOST", docker.address());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    let key = |name: &str, value: &str| format!("agents.default.skills.execSandbox.{name}={value}");
    let (backend, image) = (key("backend", "docker"), key("image", &docker.image));
    // A file of the image alone, which this machine has not.
    let words = ["run", "--set", &backend, "--set", &image, skill.to_str().unwrap(), "--", "cat", "/script"];
    let ran = stockade(&words).stdin(Stdio::null()).output().unwrap();
    assert_eq!(text_of(&ran), "#!/ways child\n", "{}", text(&ran.stderr));
    let request = serde_json::json!({
        "jsonrpc": "2.0", "id": 1, "method": "exec",
        "params": { "argv": ["sh", "-c", "cat /script; exit 3"],
            "spec": { "workspace": place.workspace(), "backend": "docker", "image": docker.image } },
    });
    let mut server = stockade(&["serve"]).stdin(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut server.stdin.take().unwrap(), format!("{request}\n").as_bytes()).unwrap();
    let said = server.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{said:?}"));
    let result = &answer["result"];
    assert_eq!((&result["backend"], &result["exitCode"]), (&"docker".into(), &3.into()), "{answer}");
    assert_eq!(result["stdoutBase64"], "IyEvd2F5cyBjaGlsZAo=", "{answer}");
}

fn gvisor_is_a_kernel_of_its_own(docker: &Docker, place: &Place) {
    let ran = place.run(docker, &["--runtime", "runsc"], &["sh", "-c", "cat /proc/version; cat made"]);
    let said = printed(&ran);
    let own = fs::read_to_string("/proc/version").unwrap();
    assert!(said.ends_with("x\n") && !said.contains(own.trim()), "{ran}");
}

fn limits_end_a_command_and_say_which(docker: &Docker, place: &Place) {
    let ends = [
        ("timed-out", &["--timeout", "2s"][..], "while :; do echo x >> growing; sleep 0.1; done"),
        ("out-of-memory", &["--memory", "64M"], "head -c 300000000 /dev/zero | grep x"),
        ("exited", &["--max-output", "1M"], "head -c 20000000 /dev/zero"),
    ];
    for (end, options, script) in ends {
        // The shell itself is what holds the memory.
        let script = if end == "out-of-memory" { "x=aaaaaaaa; while :; do x=$x$x; done" } else { script };
        let ran = place.run(docker, options, &["sh", "-c", script]);
        assert_eq!(ran["end"], end, "{ran}");
        if end == "exited" {
            assert_eq!(
                ran["droppedBytes"],
                20_000_000 - (1 << 20),
                "what is too much is dropped, and counted"
            );
        }
        assert_eq!(docker.says(&["ps", "--all", "--quiet"]), "", "{end}");
    }
    let length = || fs::metadata(place.workspace().join("growing")).unwrap().len();
    let before = length();
    std::thread::sleep(Duration::from_millis(300));
    assert!(before > 0 && length() == before, "what took too long is gone, and not only its client");
}

/// A command that waits in a container, and the program that runs it.
fn waiting(docker: &Docker, place: &Place, trail: &Path) -> Child {
    let audit = format!("--audit={}", trail.display());
    let words =
        ["--backend", "docker", "--image", &docker.image, &audit, "--env", "SECRET", "--", "sleep", "600"];
    let child = place.command(&docker.address(), &words).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let began = Instant::now();
    while docker.says(&["ps", "--quiet"]).is_empty() {
        assert!(began.elapsed() < Duration::from_secs(60), "it never began");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.unwrap()
}

fn what_is_killed_leaves_nothing(docker: &Docker, place: &Place) {
    let trail = place.folder.path().join("trail.db");
    let mut first = waiting(docker, place, &trail);
    assert_eq!(arguments_with("hunter2"), Vec::<u32>::new(), "no value of a variable is an argument");
    let variables =
        docker.says(&["inspect", "--format", "{{.Config.Env}}", &docker.says(&["ps", "--quiet"])]);
    assert!(variables.contains("SECRET=hunter2"), "{variables}");
    first.kill().unwrap();
    first.wait().unwrap();
    until(|| docker.says(&["ps", "--all", "--quiet"]).is_empty(), "the container outlives what started it");

    // Where even that which removes it is killed, the next command does.
    let mut second = waiting(docker, place, &trail);
    for reaper in arguments_with("stockade-reaper") {
        let pid = rustix::process::Pid::from_raw(i32::try_from(reaper).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }
    second.kill().unwrap();
    second.wait().unwrap();
    assert_ne!(docker.says(&["ps", "--quiet"]), "", "otherwise the next line says nothing");
    let ran = place.run(docker, &[&format!("--audit={}", trail.display())], &["sh", "-c", "echo third"]);
    assert_eq!(printed(&ran), "third\n");
    assert_eq!(docker.says(&["ps", "--all", "--quiet"]), "");
    let events = records(&trail);
    let count = |kind: &str| events.matches(kind).count();
    assert_eq!(count("sandbox_started"), 3, "{events}");
    assert_eq!(count("sandbox_completed") + count("sandbox_error"), 3, "{events}");
}

fn records(trail: &Path) -> String {
    let query = ["audit", "query", "--format", "json", "--file"];
    let output = Command::new(STOCKADE).args(query).arg(trail).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// What an engine is asked for and has not: the options, where the engine is, and what is said about it.
fn what_cannot_be_had_is_refused(docker: &Docker, place: &Place) {
    let here = docker.address();
    let image = docker.image.as_str();
    let odd = place.folder.path().canonicalize().unwrap().join("a:b,readonly");
    fs::create_dir(&odd).unwrap();
    let odd = odd.to_str().unwrap();
    let rows: [(&[&str], &str, &str); 10] = [
        (&["--backend", "docker"], &here, "missing image"),
        (&["--backend", "docker", "--image", "no-such:1"], &here, "docker pull no-such:1"),
        (&["--backend", "docker", "--image", "--privileged"], &here, ""),
        (&["--backend", "docker", "--image", "-v/:/x"], &here, ""),
        (&["--backend", "docker", "--image", "a b;touch ran"], &here, "invalid image name"),
        (&["--backend", "docker", "--image", image], "unix:///no/such", "does not answer"),
        (&["--backend", "docker", "--image", image], "tcp://192.0.2.1:2375", "another machine"),
        (&["--backend", "docker", "--image", image, "--runtime", "no-such"], &here, "runtime not found"),
        (&["--backend", "docker", "--image", image, "--env", "A=1\n2"], &here, "one per line"),
        (&["--backend", "docker", "--image", image, "-w", odd], &here, "a colon"),
    ];
    for (options, address, said) in rows {
        let words: Vec<&str> = options.iter().chain(&["--", "touch", "ran"]).copied().collect();
        let Output { status, stderr, .. } = place.command(address, &words).output().unwrap();
        let stderr = text(&stderr);
        assert!(!status.success() && stderr.contains(said), "{options:?}: {stderr}");
        assert!(!place.workspace().join("ran").exists(), "{options:?}");
    }
}

/// The rows that one run tries after another, and the record of what is held.
#[test]
fn podman_enforces_the_manifests_of_packages() {
    let Some(podman) = Podman::start() else { return };
    let rows = match isolation::tried_by_podman(&podman, Path::new(STOCKADE)) {
        Ok(rows) => rows,
        Err(why) => return println!("skipped: {why}"),
    };
    let open: Vec<_> = rows.iter().filter_map(|(number, row)| Some((number, row.as_ref().err()?))).collect();
    assert!(open.is_empty(), "{open:#?}");
    for number in [3, 27, 89, 90, 93, 94, 96, 98, 99, 123] {
        assert!(rows.contains_key(&number), "{number} was not tried");
    }
    assert_eq!(text_of(&podman.ask(&["ps", "--all", "--quiet"])), "", "nothing is left behind");
}

#[test]
fn podman_makes_the_same_containers() {
    let Some(podman) = Podman::start() else { return };
    let place = Place::new();
    let image = podman.image.as_str();
    let run = |options: &[&str], command: &[&str]| -> Value {
        let container = ["--format", "json", "--backend", "podman", "--image", image, "--runtime", "runc"];
        let words: Vec<&str> =
            container.iter().chain(options).chain(&["--"]).chain(command).copied().collect();
        let output = place.command("", &words).env(STORAGE, podman.storage()).output().unwrap();
        serde_json::from_str(&text(&output.stdout)).unwrap_or_else(|_| panic!("{words:?}: {output:?}"))
    };
    if let Some(why) = why_not(&run(&[], &["sh", "-c", "exit 0"])) {
        return println!("skipped: {why}");
    }
    fs::write(place.folder.path().join("bait"), "bait").unwrap();
    place.write(".env", "KEY=hunter3\n");
    place.write(".git/hooks/pre-commit", "#!/bin/sh\n");
    let ran = run(&["--env", "GIVEN='a' \"b\" #c"], &["sh", "-c", LOOK]);
    let seen = SEEN.replace("writes to a volume of the image: yes", "writes to a volume of the image: no");
    assert_eq!(printed(&ran), seen, "{ran}");
    let held = run(&["--no-spawn"], &["/ways", "held"]);
    assert_eq!(printed(&held), "thread\ntried 25\n", "{held}");
    let late = run(&["--timeout", "2s"], &["sleep", "600"]);
    assert_eq!(late["end"], "timed-out");
    // It is gone soon after: nothing waits for the command to end by itself, which podman would for ten seconds.
    assert!(late["usage"]["wallMs"].as_u64().unwrap() < 7000, "{late}");
    assert_eq!(text_of(&podman.ask(&["ps", "--all", "--quiet"])), "", "nothing is left behind");
}

fn text_of(output: &Output) -> String {
    text(&output.stdout)
}
