//! Attempts to get out, one for each weakness of a sandbox that is known. Each runs for real.

#![expect(clippy::disallowed_methods, reason = "lays bait on this machine and looks whether it was taken")]

use std::fs;
use std::io::Read as _;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use stockade_exec_sandbox::run::Streams;
use stockade_exec_sandbox::{Network, SandboxSpec, plan, probe, run};

use crate::live::{Live, read};

#[test]
fn nothing_beside_the_workspace_is_seen() {
    let Some(live) = Live::new() else { return };
    fs::write(live.outside().join("secret"), "PRIVATE").unwrap();
    symlink(live.outside().join("secret"), live.workspace().join("link")).unwrap();
    let said = live.script("cat ../secret link /etc/shadow /root/.bashrc /run/* 2>&1; ls / /tmp /home");
    assert!(!said.contains("PRIVATE") && !said.contains("root:"), "{said}");
    let left = live.script("echo x > /tmp/new; echo x > ../beside; echo x > \"$HOME/new\"; echo x > /new");
    assert!(left.contains("Read-only file system"), "{left}");
    assert_eq!(fs::read_dir(live.outside()).unwrap().count(), 2);
}

#[test]
fn a_workspace_under_tmp_is_seen_in_the_private_one() {
    let Some(live) = Live::new() else { return };
    live.script("echo kept > file; mkdir -p a/b && echo deep > a/b/c");
    assert_eq!(
        (read(&live.workspace().join("file")), read(&live.workspace().join("a/b/c"))),
        ("kept\n".into(), "deep\n".into())
    );
    let owner = fs::metadata(live.workspace().join("file")).unwrap().uid();
    assert_eq!(owner, fs::metadata(live.outside()).unwrap().uid());
}

#[test]
fn of_a_home_only_the_workspace_is_seen() {
    let Some(live) = Live::below(&std::env::home_dir().unwrap()) else { return };
    fs::write(live.outside().join("secret"), "PRIVATE").unwrap();
    let said = live
        .script("cat ../secret; ls -A .. \"$HOME\" | grep -v '^\\.[a-z]*git' ; echo kept > file; echo end");
    assert!(!said.contains("PRIVATE") && said.ends_with("end\n"), "{said}");
    assert_eq!(read(&live.workspace().join("file")), "kept\n");
    let seen: Vec<&str> =
        said.lines().filter(|line| line.ends_with(".bashrc") || *line == "secret").collect();
    assert!(seen.is_empty(), "{said}");
}

#[test]
fn the_first_process_tells_nothing() {
    let Some(live) = Live::new() else { return };
    let said = live.script("tr '\\0' '\\n' < /proc/1/environ; cat /proc/1/maps /proc/1/mem; ls -l /proc/1/fd /proc/1/root/ /proc/1/cwd/; tr -d '\\0' < /proc/1/cmdline; echo end");
    assert!(!said.contains("CARGO") && !said.contains("PATH=") && !said.contains("deps/it"), "{said}");
    assert!(said.contains("Permission denied") && said.ends_with("end\n"), "{said}");
}

#[test]
fn only_listed_variables_are_there() {
    let Some(live) = Live::new() else { return };
    let said = live.script("env");
    assert!(said.contains("PATH=") && !said.contains("CARGO"), "{said}");
}

#[test]
fn no_descriptor_is_inherited() {
    let Some(live) = Live::new() else { return };
    let mut ends = [0; 2];
    let pipe = noisy_child(&mut ends);
    let said = live.script("ls /proc/self/fd | tr '\\n' ' '");
    drop(pipe);
    // The fourth is the folder that `ls` looks into.
    assert_eq!(said, "0 1 2 3 ", "{ends:?}");
}

/// A child with pipes keeps descriptors of this program open that a careless launcher would hand on.
fn noisy_child(ends: &mut [i32; 2]) -> std::process::Child {
    use std::os::fd::AsRawFd as _;
    let child = Command::new("sleep").arg("30").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    ends[0] = child.stdin.as_ref().unwrap().as_raw_fd();
    ends[1] = child.stdout.as_ref().unwrap().as_raw_fd();
    child
}

#[test]
fn no_privileges_are_held_or_gained() {
    let Some(live) = Live::new() else { return };
    let said =
        live.script("grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status | tr -d '\\t' | tr '\\n' ' '");
    let none = "0000000000000000";
    let expected = format!(
        "CapInh:{none} CapPrm:{none} CapEff:{none} CapBnd:{none} CapAmb:{none} NoNewPrivs:1 Seccomp:2 "
    );
    assert_eq!(said, expected);
    let said = live.script(
        "unshare -U true; unshare -m true; /usr/sbin/chroot / true; mount -t tmpfs x /tmp || echo no mount; id -u",
    );
    assert_eq!(said.matches("not permitted").count(), 3, "{said}");
    assert!(said.contains("no mount"), "{said}");
    assert!(!said.lines().any(|line| line == "0"), "{said}");
}

#[test]
fn no_file_that_other_programs_obey_is_left() {
    let Some(live) = Live::new() else { return };
    let said = live
        .script("cp /bin/true t; chmod 4755 t; chmod 2755 t; mknod n c 1 3; chmod 755 t && ./t && echo fine");
    assert!(said.contains("fine"), "{said}");
    assert_eq!(fs::metadata(live.workspace().join("t")).unwrap().mode() & 0o7777, 0o755);
    assert!(!live.workspace().join("n").exists());
}

/// The options of each mount that a command sees, by its mount point, and whether mounts of this machine propagate to it.
fn mounts_inside(live: &Live) -> Vec<(String, Vec<String>, bool)> {
    let mounts = live.script("cat /proc/self/mountinfo");
    let mount = |line: &str| {
        let fields: Vec<&str> = line.split(' ').collect();
        let options = fields[5].split(',').map(str::to_owned).collect();
        (fields[4].to_owned(), options, fields[6] != "-")
    };
    mounts.lines().map(mount).collect()
}

#[test]
fn every_mount_is_as_narrow_as_it_can_be() {
    let Some(live) = Live::new() else { return };
    let home = std::env::home_dir().unwrap();
    let workspace = live.workspace();
    let writable = ["/tmp", "/proc", "/dev/shm", "/dev/pts"].map(Path::new);
    let writable = [&writable[..], &[home.as_path(), workspace.as_path()]].concat();
    let mounts = mounts_inside(&live);
    let of_etc = mounts.iter().filter(|(path, ..)| path.starts_with("/etc/")).count();
    assert!(of_etc > 3 && mounts.iter().any(|(path, ..)| path == "/dev/null"), "{mounts:?}");
    for (path, options, propagates) in &mounts {
        let has = |option: &str| options.iter().any(|one| one == option);
        let is_device = path.starts_with("/dev/") && path != "/dev/shm";
        let runs_nothing = path.starts_with("/proc") || path.starts_with("/dev/");
        assert_eq!(has("ro"), !writable.contains(&Path::new(path)), "{path} {options:?}");
        assert!(has("nosuid") && (is_device || has("nodev")) && !propagates, "{path} {options:?}");
        assert!(!runs_nothing || has("noexec"), "{path} {options:?}");
    }
}

#[test]
fn settings_of_the_kernel_stay() {
    let Some(live) = Live::new() else { return };
    let said = live.script(
        "for f in sys/kernel/core_pattern sys/vm/drop_caches sysrq-trigger irq/default_smp_affinity; do \
         test -e /proc/$f || continue; (: >> /proc/$f) 2>/dev/null && echo open $f; done; \
         cat /proc/kallsyms /proc/keys /proc/timer_list | head -c 9; ls /sys 2>&1",
    );
    assert!(said.contains("cannot access '/sys'") && !said.contains("open "), "{said}");
}

#[test]
fn programs_of_the_host_are_not_reached_over_the_network() {
    let Some(live) = Live::new() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect =
        format!("import socket; socket.create_connection(('127.0.0.1', {port}), 2); print('reached')");
    let said = live.script(&format!("python3 -c \"{connect}\" 2>&1"));
    assert!(!said.contains("reached"), "{said}");
    assert!(listener.accept().is_err());
    let outcome = live.run(&["python3", "-c", &connect], |spec| spec.network = Network::Open).unwrap();
    assert_eq!(outcome.output.stdout, b"reached\n", "the open network is open: {outcome:?}");
}

#[test]
fn sockets_of_the_host_are_not_reached() {
    let Some(live) = Live::new() else { return };
    let beside = UnixListener::bind(live.outside().join("s")).unwrap();
    let within = UnixListener::bind(live.workspace().join("s")).unwrap();
    let said = live.script(
        "python3 -c \"
import socket
for path in ('../s', 's'):
    try: socket.socket(socket.AF_UNIX).connect(path); print('reached', path)
    except OSError as error: print(error)
\"",
    );
    assert!(!said.contains("reached"), "{said}");
    drop((beside, within));
}

#[test]
fn other_processes_are_out_of_reach() {
    let Some(live) = Live::new() else { return };
    let mut sleeper = Command::new("sleep").arg("30").spawn().unwrap();
    let said =
        live.script(&format!("kill {0} 2>&1; ls -d /proc/{0} 2>&1; ps -e 2>/dev/null | wc -l", sleeper.id()));
    assert!(sleeper.try_wait().unwrap().is_none(), "{said}");
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
}

#[test]
fn what_a_command_leaves_behind_ends_with_it() {
    let Some(live) = Live::new() else { return };
    live.script("setsid sh -c 'while :; do echo x >> beat; sleep 0.05; done' > /dev/null 2>&1 & sleep 0.3");
    let before = read(&live.workspace().join("beat")).len();
    std::thread::sleep(Duration::from_millis(300));
    assert!(before > 0);
    assert_eq!(read(&live.workspace().join("beat")).len(), before);
}

/// Not a test of its own: what [`a_killed_parent_leaves_nothing`] kills.
#[test]
fn sleeper() {
    let Some(workspace) = std::env::var_os("STOCKADE_TEST_SLEEPER") else { return };
    let script = "setsid sh -c 'while :; do echo x >> beat; sleep 0.02; done' & echo evil > .envrc; wait";
    let spec = SandboxSpec::new(workspace, ["sh", "-c", script]);
    let outcome = run(&plan(&spec, &probe(&spec)).unwrap(), Streams::default()).unwrap();
    panic!("it was to be killed: {outcome:?}");
}

#[test]
fn a_killed_parent_leaves_nothing() {
    let Some(live) = Live::new() else { return };
    let beat = live.workspace().join("beat");
    let mut parent = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "escapes::sleeper"])
        .env("STOCKADE_TEST_SLEEPER", live.workspace())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while read(&beat).len() < 20 && start.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    parent.kill().unwrap();
    parent.wait().unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let left = read(&beat).len();
    std::thread::sleep(Duration::from_millis(300));
    assert!(left >= 20, "the sandbox never ran");
    assert_eq!(read(&beat).len(), left);
    // What it had left under a protected name is taken away by the next command, wherever that works.
    let Some(next) = Live::new() else { return };
    next.script("true");
    assert!(!live.workspace().join(".envrc").exists());
}

/// Not a test of its own: what [`a_parent_killed_at_any_moment_leaves_nothing`] kills.
#[test]
fn starter() {
    let Some(workspace) = std::env::var_os("STOCKADE_TEST_STARTER") else { return };
    let spec = SandboxSpec::new(workspace, ["true"]);
    let planned = plan(&spec, &probe(&spec)).unwrap();
    let starting = || loop {
        run(&planned, Streams::default()).unwrap();
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(starting))));
}

/// Also between the birth of a first process and the word to go on.
#[test]
fn a_parent_killed_at_any_moment_leaves_nothing() {
    let Some(live) = Live::new() else { return };
    for round in 0..60 {
        let mut parent = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "escapes::starter", "--nocapture"])
            .env("STOCKADE_TEST_STARTER", live.workspace())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(30) + Duration::from_micros(round * 350));
        parent.kill().unwrap();
        parent.wait().unwrap();
        // Every process that the parent left behind still holds this open.
        let mut held = parent.stdout.take().unwrap();
        let (sender, gone) = std::sync::mpsc::channel();
        std::thread::spawn(move || sender.send(std::io::copy(&mut held, &mut std::io::sink())));
        assert!(gone.recv_timeout(Duration::from_secs(10)).is_ok(), "something is left in round {round}");
    }
}

#[test]
fn symlinks_prepared_for_the_next_start_are_not_followed() {
    let Some(live) = Live::new() else { return };
    let victim = live.outside().join("victim");
    fs::create_dir(&victim).unwrap();
    fs::write(victim.join("keep"), "keep").unwrap();
    for (number, name) in [".idea", ".vscode", ".git", ".claude", ".envrc", ".env"].into_iter().enumerate() {
        let through = if number % 2 == 0 {
            Path::new("/oldroot").join(victim.strip_prefix("/").unwrap())
        } else {
            victim.clone()
        };
        symlink(through, live.workspace().join(name)).unwrap();
    }
    live.script("echo ran; rm -rf .idea; ln -s ../victim .idea");
    let left: Vec<_> = fs::read_dir(&victim).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["keep"]);
    let mut text = String::new();
    fs::File::open(victim.join("keep")).unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "keep");
}
