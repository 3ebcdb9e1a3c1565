//! Sandboxes that were made beforehand keep a command in as well as those that are made for it.

#![expect(
    clippy::disallowed_methods,
    reason = "keeps the time, lays bait on this machine, and starts itself"
)]

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use stockade_exec_sandbox::run::Streams;
use stockade_exec_sandbox::{
    End, Environment, Limit, Outcome, Plan, RunError, SandboxPool, SandboxSpec, plan, probe,
};

use crate::live::{Live, SPENDER, read, spent};

/// A pool, and what its commands are alike in.
struct Pooled {
    sandboxes: SandboxPool,
    spec: SandboxSpec,
}

impl Pooled {
    /// One whose sandboxes are all ready: two commands that are alike have run.
    fn new(spec: SandboxSpec, size: usize) -> Self {
        let pool = Self { sandboxes: SandboxPool::new(size), spec };
        for _ in 0..2 {
            assert_eq!(pool.sandboxes.ready(), 0);
            pool.run(["true"]).unwrap();
        }
        wait_for(&pool, size);
        pool
    }

    fn run<W: Into<OsString>>(
        &self,
        command: impl IntoIterator<Item = W>,
    ) -> Result<(Plan, Outcome), RunError> {
        let command = command.into_iter().map(Into::into).collect();
        let spec = SandboxSpec { command, ..self.spec.clone() };
        let facts = probe(&spec);
        let planned = plan(&spec, &facts)?;
        self.sandboxes.run_prepared(&spec, facts, planned, Streams::default())
    }
}

/// A pool of so many sandboxes, all of them ready.
fn pool(workspace: &Path, size: usize) -> Pooled {
    Pooled::new(SandboxSpec::new(workspace, ["true"]), size)
}

fn wait_for(pool: &Pooled, size: usize) {
    let start = Instant::now();
    while pool.sandboxes.ready() < size {
        assert!(start.elapsed() < Duration::from_secs(20), "no sandbox is made");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn script(pool: &Pooled, script: &str) -> Outcome {
    pool.run(["sh", "-c", &format!("exec 2>&1\n{script}")]).unwrap().1
}

fn said(outcome: &Outcome) -> String {
    String::from_utf8_lossy(&outcome.output.stdout).into_owned()
}

#[test]
fn pooled_sandboxes_are_prepared_and_used_once() {
    let Some(live) = Live::new() else { return };
    let pool = pool(&live.workspace(), 2);
    std::thread::sleep(Duration::from_millis(1100));
    let before = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let outcome = script(&pool, "stat -c %Z /; echo x > /tmp/x; echo kept > file; exit 3");
    assert_eq!(outcome.end, End::Exited(3));
    assert!(said(&outcome).trim().parse::<u64>().unwrap() < before, "it was made when it was needed");
    for _ in 0..5 {
        let outcome = script(&pool, "ls /tmp; cat file; echo x > /tmp/x; exit 0");
        assert_eq!(said(&outcome), "kept\n");
    }
}

#[test]
fn a_single_command_of_another_kind_keeps_the_pool() {
    let Some(live) = Live::new() else { return };
    let pool = pool(&live.workspace(), 1);
    std::thread::sleep(Duration::from_millis(1100));
    let other = SandboxSpec {
        environment: Environment { set: vec![("A".into(), "b".into())], ..Environment::default() },
        ..SandboxSpec::new(live.workspace(), ["sh", "-c", "echo $A"])
    };
    let facts = probe(&other);
    let planned = plan(&other, &facts).unwrap();
    let run = pool.sandboxes.run_prepared(&other, facts, planned, Streams::default()).unwrap();
    assert_eq!(said(&run.1), "b\n");
    assert_eq!(pool.sandboxes.ready(), 1);
    let before = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let outcome = script(&pool, "stat -c %Z /; echo \"<$A>\"");
    let (made, rest) = said(&outcome).split_once('\n').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    assert!(made.parse::<u64>().unwrap() < before && rest == "<>\n", "{made} {rest}");
}

#[test]
fn nothing_of_a_command_is_left_when_it_is_over() {
    let Some(live) = Live::new() else { return };
    let pool = pool(&live.workspace(), 1);
    let (beat, script_that_leaves) =
        (live.workspace().join("beat"), "setsid sh -c 'while :; do echo x >> beat; done' &");
    for _ in 0..3 {
        wait_for(&pool, 1);
        script(&pool, &format!("({script_that_leaves}) > /dev/null; sleep 0.1"));
        let length = read(&beat).len();
        std::thread::sleep(Duration::from_millis(50));
        assert!(length > 0);
        assert_eq!(read(&beat).len(), length);
    }
}

#[test]
fn what_a_command_used_up_is_known() {
    let Some(live) = Live::new() else { return };
    let pool = pool(&live.workspace(), 1);
    spent(pool.run(["sh", "-c", SPENDER]).unwrap().1.usage, "pool");
}

#[test]
fn pooled_sandboxes_behave_like_others() {
    let Some(live) = Live::new() else { return };
    let mut spec = SandboxSpec::new(live.workspace(), ["true"]);
    spec.limits.wall_time = Limit::AtMost(Duration::from_millis(500));
    spec.limits.output = Limit::AtMost(100_000);
    let pool = Pooled::new(spec, 1);
    let long = "x".repeat(90_000);
    let longer = [long.as_str(); 4];
    let rows: [(Vec<&str>, End, usize); 8] = [
        (vec!["echo", "a", "", "b c"], End::Exited(0), 7),
        (vec!["no-such-program"], End::NotFound, 0),
        (vec!["/etc/passwd"], End::NotExecutable, 0),
        (vec!["sh", "-c", "kill -9 $$"], End::Signalled(9), 0),
        (vec!["sleep", "60"], End::TimedOut, 0),
        (vec!["head", "-c", "300000", "/dev/zero"], End::Exited(0), 100_000),
        (vec!["echo", &long], End::Exited(0), 90_001),
        // Too long for what is shared, so it gets a sandbox of its own.
        ([&["echo", "-n"], &longer[..]].concat(), End::Exited(0), 100_000),
    ];
    for (command, end, length) in rows {
        wait_for(&pool, 1);
        let (_, outcome) = pool.run(&command).unwrap();
        assert_eq!((outcome.end, outcome.output.stdout.len()), (end, length), "{:?}", &command[..1]);
    }
    assert!(pool.run([""]).is_err());
}

/// What a command can see of its sandbox: files, variables, limits, rights, descriptors and processes.
const VIEW: &str = r#"
cut -d' ' -f4- /proc/self/mountinfo
find / /etc /dev /tmp "$HOME" . -maxdepth 1 -printf '%M %p %l\n' | sort
env | sort; ulimit -a; ulimit -Ha; id; umask; pwd; hostname; nice
grep -E '^(Cap|NoNewPrivs|Seccomp|Sig(Ign|Blk|Cgt)|Cpus_allowed_list|Uid|Gid|Groups|NSpid|NSsid|NSpgid)' /proc/self/status
ls /proc/self/fd; cat /proc/self/oom_score_adj /proc/self/cgroup; cut -d: -f1 /proc/net/dev
ls /proc | grep -c '^[0-9]'; cat /proc/1/status 2>&1 | grep -E '^(Cap|NoNewPrivs|Seccomp)'
"#;

/// What a command does with names, secrets and limits.
const DOES: &[&str] = &[
    "cat .env; echo evil > .env; echo evil > .envrc; mkdir -p new/.git/hooks && echo evil > new/.git/hooks/pre-commit; ls -A . new",
    "git init -q . && git config core.hooksPath evil; cat .git/config; echo x > .git/hooks/post-checkout; ls .git",
    "echo kept > file; echo x > ../beside; echo x > /etc/passwd; echo x > /dev/full; exit 7",
    "ulimit -n 5000; ulimit -u unlimited; head -c 200000 /dev/zero; kill -9 $$",
    "curl -s http://127.0.0.1:1; getent hosts example.com; cat /etc/shadow; unshare -U true; mount -t tmpfs x /tmp",
    "cat; echo $A; setsid sleep 60 & echo started",
];

/// All that is known of a run, without what is different for each: the workspace, the user, and times.
fn account(live: &Live, plan: &Plan, outcome: &Outcome) -> String {
    let taken: Vec<_> = outcome.quarantine.iter().map(|one| (&one.path, one.moved_to.is_some())).collect();
    let said = [&outcome.output.stdout, &outcome.output.stderr].map(|text| String::from_utf8_lossy(text));
    let text = format!(
        "{:?}\n{}\n{}\n{:#?}\n{:#?}",
        (&outcome.end, &outcome.denials, &outcome.changed, taken, &outcome.exposed),
        said[0],
        said[1],
        outcome.enforcement,
        (&plan.mounts, &plan.environment, &plan.limits, &plan.landlock, &plan.protected.len()),
    );
    let text = text.replace(&*live.outside().to_string_lossy(), "@");
    let mut digits = String::new();
    let mut without = String::new();
    for letter in text.chars().chain(['\n']) {
        if letter.is_ascii_digit() {
            digits.push(letter);
            continue;
        }
        without.push_str(if digits.len() > 8 { "#" } else { &digits });
        digits.clear();
        without.push(letter);
    }
    without
}

#[test]
fn cold_and_warm_are_alike() {
    let lives = [Live::new(), Live::new()].map(Option::unwrap);
    let [cold, warm] = &lives;
    let spec = |live: &Live, script: &str| {
        let script = format!("exec 2>&1\n{script}");
        let mut spec = SandboxSpec::new(live.workspace(), ["sh", "-c", &script]);
        spec.environment.set.push(("A".into(), "b".into()));
        spec.limits.processes = Limit::AtMost(200);
        spec.limits.open_files = Limit::AtMost(400);
        spec.limits.cpu_time = Limit::AtMost(Duration::from_secs(20));
        spec
    };
    lives.iter().for_each(|live| fs::write(live.workspace().join(".env"), "SECRET=1").unwrap());
    let pool = Pooled::new(spec(warm, "true"), 1);
    for script in DOES.iter().chain([&VIEW]) {
        let cold_spec = spec(cold, script);
        let facts = probe(&cold_spec);
        let planned = plan(&cold_spec, &facts).unwrap();
        let outcome = stockade_exec_sandbox::run(&planned, Streams::default()).unwrap();
        let expected = account(cold, &planned, &outcome);
        // What the last command left makes another kind: two commands alike make one for it.
        for _ in 0..2 {
            pool.run(spec(warm, "true").command).unwrap();
        }
        wait_for(&pool, 1);
        let (planned, outcome) = pool.run(spec(warm, script).command).unwrap();
        assert_eq!(pool.sandboxes.ready(), 0, "a new sandbox was made: {script}");
        let found = account(warm, &planned, &outcome);
        for (expected, found) in expected.lines().zip(found.lines()) {
            assert_eq!(expected, found, "{script}");
        }
        assert_eq!(expected.len(), found.len(), "{script}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn none_of_the_attacks_works_in_one() {
    let Some(live) = Live::new() else { return };
    let pool = pool(&live.workspace(), 1);
    let bait = crate::attacks::Bait::lay(&live, "pool");
    let (_, outcome) = pool.run(["python3", "-c", &bait.script(true)]).unwrap();
    bait.untouched(&outcome, "pool");
}

#[test]
fn files_created_since_the_preparation_are_protected() {
    let Some(live) = Live::new() else { return };
    fs::write(live.workspace().join(".env"), "SECRET=1").unwrap();
    let pool = pool(&live.workspace(), 2);
    let git = live.workspace().join(".git");
    fs::create_dir_all(git.join("hooks")).unwrap();
    fs::write(git.join("config"), "plain").unwrap();
    let attack = "echo evil > .git/config; echo evil > .git/hooks/x; cat .env; mv .git g; true";
    let outcome = script(&pool, attack);
    assert!(!said(&outcome).contains("SECRET"), "{}", said(&outcome));
    assert_eq!(read(&git.join("config")), "plain");
    // What is put in the place of a file takes with it what lay on top of that.
    wait_for(&pool, 2);
    for name in [".git/config", ".env"] {
        let new = live.workspace().join("new");
        fs::write(&new, "SECRET=2 plain").unwrap();
        fs::rename(new, live.workspace().join(name)).unwrap();
    }
    let outcome = script(&pool, attack);
    assert!(!said(&outcome).contains("SECRET"), "{}", said(&outcome));
    assert_eq!(read(&git.join("config")), "SECRET=2 plain");
    assert!(!git.join("hooks/x").exists());
    // Another workspace of the same name is another workspace.
    wait_for(&pool, 2);
    fs::rename(live.workspace(), live.outside().join("old")).unwrap();
    fs::create_dir(live.workspace()).unwrap();
    script(&pool, "echo here > file");
    assert_eq!(read(&live.workspace().join("file")), "here\n");
}

/// Numbers of the processes that this one has started.
fn children() -> Vec<String> {
    let threads = fs::read_dir("/proc/self/task").unwrap().flatten();
    let lists = threads.map(|thread| read(&thread.path().join("children")));
    lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Thousands of bytes in memory that show no file.
fn of_its_own(pid: &str) -> u64 {
    let status = read(Path::new(&format!("/proc/{pid}/status")));
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap()
}

/// Not a test of its own: what [`nothing_is_left_of_a_pool`] starts and kills.
#[test]
fn holder() {
    let Some(workspace) = std::env::var_os("STOCKADE_TEST_HOLDER") else { return };
    let workspace = Path::new(&workspace);
    // More than a sandbox that waits may hold.
    let own = vec![1u8; 64 << 20];
    let first = pool(workspace, 3);
    assert_eq!(children().len(), 3);
    for pid in children() {
        let below = read(Path::new(&format!("/proc/{pid}/task/{pid}/children")));
        assert_eq!(below.split_whitespace().count(), 1);
        for pid in below.split_whitespace().chain([pid.as_str()]) {
            // A first process gives its memory back beside the one that says it is ready.
            let start = Instant::now();
            while of_its_own(pid) >= 2000 && start.elapsed() < Duration::from_secs(20) {
                std::thread::sleep(Duration::from_millis(5));
            }
            let memory = of_its_own(pid);
            assert!(memory > 0 && memory < 2000, "{pid}: {memory} kB");
        }
    }
    assert_eq!(own.iter().filter(|byte| **byte == 1).count(), own.len());
    // What has ended is buried while others are made.
    (0..5).for_each(|_| assert_eq!(script(&first, "sleep 0.01").end, End::Exited(0)));
    wait_for(&first, 3);
    let start = Instant::now();
    while children().len() > 3 && start.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(children().len(), 3);
    drop(first);
    assert_eq!(children().len(), 0);
    let second = pool(workspace, 3);
    fs::write(workspace.join("pids"), children().join(" ")).unwrap();
    std::thread::sleep(Duration::from_secs(60));
    drop(second);
}

#[test]
fn nothing_is_left_of_a_pool() {
    let Some(live) = Live::new() else { return };
    let mut holder = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "pool::holder", "--nocapture"])
        .env("STOCKADE_TEST_HOLDER", live.workspace())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while read(&live.workspace().join("pids")).is_empty() && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    holder.kill().unwrap();
    holder.wait().unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let pids = read(&live.workspace().join("pids"));
    assert_eq!(pids.split(' ').count(), 3, "{pids}");
    // The process that adopts orphans may reap them later.
    let lives = |pid: &&str| {
        let text = read(&Path::new("/proc").join(pid).join("stat"));
        text.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
    };
    let left: Vec<&str> = pids.split(' ').filter(lives).collect();
    assert!(left.is_empty(), "{left:?}");
}
