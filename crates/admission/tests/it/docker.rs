//! Packages in containers of a real Docker: the promises of the arguments are tested from inside.
//!
//! The test starts its own daemon, with all data in a directory of its own, and makes an image of a few programs of
//! this machine.
#![expect(clippy::disallowed_methods, reason = "starts a daemon, and prints why it cannot")]

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use stockade_admission::container::{ContainerManifest, ContainerOptions, parse_manifest};
use tempfile::TempDir;

/// A daemon that ends with the test.
struct Docker {
    daemon: Child,
    folder: TempDir,
}

impl Docker {
    /// Starts a daemon, or prints why it cannot.
    fn start() -> Option<Self> {
        Self::try_to_start().map_err(|why| println!("skipped: {why}")).ok()
    }

    fn try_to_start() -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("only root can start a daemon of Docker".to_owned());
        }
        if Command::new("docker").arg("--version").stdout(Stdio::null()).status().is_err() {
            return Err("there is no `docker` on this machine: run `cargo xtask setup`".to_owned());
        }
        let folder = tempfile::tempdir().unwrap();
        let daemon = daemon(folder.path())
            .map_err(|_| "there is no `dockerd` on this machine: run `cargo xtask setup`")?;
        let mut docker = Self { daemon, folder };
        let began = Instant::now();
        while !docker.ask(["version"]).status.success() {
            if docker.daemon.try_wait().unwrap().is_some() || began.elapsed() > Duration::from_secs(60) {
                let log = fs::read_to_string(docker.folder.path().join("log")).unwrap();
                return Err(format!(
                    "`dockerd` does not start here: {}",
                    log.lines().last().unwrap_or_default()
                ));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let plain = docker.ask(["run", "--rm", "--network", "none", &docker.image("exit 0")]);
        if plain.status.success() {
            Ok(docker)
        } else {
            Err(format!("`dockerd` runs no container here: {}", text(&plain.stderr).trim()))
        }
    }

    /// Whether the kernel lets it limit memory and processes.
    fn has_limits(&self) -> bool {
        let limits = self.ask(["info", "--format", "{{.MemoryLimit}} {{.PidsLimit}}"]);
        text(&limits.stdout).trim() == "true true"
    }

    fn command(&self) -> Command {
        let mut command = Command::new("docker");
        // The client has a proxy with a password, which must not get into a container.
        command.arg("--config").arg(self.folder.path()).arg("--host").arg(address(self.folder.path()));
        command.env("HTTPS_PROXY", "http://user:hunter2@proxy.example").stdin(Stdio::null());
        command
    }

    fn ask<W: AsRef<std::ffi::OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Output {
        self.command().args(words).output().unwrap()
    }

    /// Makes an image that runs a script as root by default.
    fn image(&self, script: &str) -> String {
        let root = tempfile::tempdir().unwrap();
        for program in ["sh", "perl", "sleep", "true"] {
            bring(&which(program), root.path());
        }
        copy(Path::new(PERL), root.path());
        for folder in ["proc", "dev", "etc", "tmp", "sys", "run"] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        fs::write(root.path().join("script"), script).unwrap();
        let archive = self.folder.path().join("image.tar");
        let tar = Command::new("tar").arg("-cf").arg(&archive).arg("-C").arg(root.path()).arg(".").status();
        assert!(tar.unwrap().success());
        let import = ["import", "--change", "USER 0", "--change", r#"CMD ["/bin/sh","/script"]"#];
        let made = self.command().args(import).arg(&archive).output().unwrap();
        assert!(made.status.success(), "{}", text(&made.stderr));
        text(&made.stdout).trim().to_owned()
    }
}

impl Drop for Docker {
    fn drop(&mut self) {
        // The daemon unmounts its mounts.
        let pid = rustix::process::Pid::from_child(&self.daemon);
        let _asked = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ended = self.daemon.wait();
    }
}

/// A daemon with all data in this directory, which does not change the machine's network.
fn daemon(folder: &Path) -> io::Result<Child> {
    let place = |name| folder.join(name).display().to_string();
    let options = [
        ("host", address(folder)),
        ("data-root", place("data")),
        ("exec-root", place("run")),
        ("pidfile", place("pid")),
        ("storage-driver", "vfs".to_owned()),
        ("bridge", "none".to_owned()),
        ("iptables", "false".to_owned()),
        ("ip6tables", "false".to_owned()),
    ];
    Command::new("dockerd")
        .args(options.map(|(name, value)| format!("--{name}={value}")))
        .stdout(Stdio::null())
        .stderr(File::create(folder.join("log"))?)
        .spawn()
}

fn address(folder: &Path) -> String {
    format!("unix://{}", folder.join("docker.sock").display())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Perl modules that every Debian machine has.
const PERL: &str = "/usr/lib/x86_64-linux-gnu/perl-base";

fn which(program: &str) -> PathBuf {
    let folders = ["/bin", "/usr/bin"].map(|folder| Path::new(folder).join(program));
    folders.into_iter().find(|path| path.exists()).unwrap_or_else(|| panic!("there is no {program}"))
}

/// Copies a program and its libraries into an image.
fn bring(program: &Path, root: &Path) {
    let libraries = Command::new("ldd").arg(program).output().unwrap();
    let libraries = text(&libraries.stdout);
    let words = libraries.split_whitespace().filter(|word| word.starts_with('/'));
    for file in words.map(Path::new).chain([program]) {
        copy(file, root);
    }
}

/// Copies a file or a folder to the same place in an image.
fn copy(from: &Path, root: &Path) {
    let to = root.join(from.strip_prefix("/").unwrap());
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    assert!(Command::new("cp").args(["-rLT"]).args([from, &to]).status().unwrap().success());
}

fn manifest() -> ContainerManifest {
    parse_manifest(&crate::container::manifest(&[("script", "")]).to_string()).unwrap()
}

fn options(image: String, run: &str) -> ContainerOptions {
    ContainerOptions { image: Some(image), run: Some(run.to_owned()), ..ContainerOptions::default() }
}

/// Tries what a container must not do, and prints which attempts succeeded.
const LOOK: &str = r#"
try() { name=$1; shift; if "$@" >/dev/null 2>&1; then echo "$name: yes"; else echo "$name: no"; fi; }
write() { echo x > "$1"; }
try 'writes to its root' write /x
try 'writes to /etc' write /etc/x
try 'writes to /dev/shm' write /dev/shm/x
try 'writes to the settings of the kernel' write /proc/sys/kernel/core_pattern
try 'writes to /tmp' write /tmp/x
try 'runs a program in /tmp' sh -c 'exec 3< /bin/true; perl -e "undef \$/; print <>" < /bin/true > /tmp/t; perl -e "chmod 0755, q(/tmp/t)"; /tmp/t'
try 'makes a device' perl -e 'exit(syscall(133, "/tmp/d", 0020666, 0x103) ? 1 : 0)'
try 'mounts' perl -e 'exit(syscall(165, "none", "/tmp", "tmpfs", 0, 0) ? 1 : 0)'
try 'makes a namespace of users' perl -e 'exit(syscall(272, 0x10000000) ? 1 : 0)'
try 'reaches a machine' perl -MIO::Socket::INET -e 'exit(IO::Socket::INET->new(PeerAddr => "192.0.2.1:80", Timeout => 2) ? 0 : $!{ENETUNREACH} ? 1 : 0)'
try 'reaches the socket of the API' perl -MIO::Socket::UNIX -e 'exit(IO::Socket::UNIX->new(Peer => "/run/iscl.sock") ? 0 : 1)'
perl -ne 'print lc if /^(Uid|Gid|CapEff|CapBnd|NoNewPrivs|Seccomp):/' /proc/self/status
perl -e 'print "variable $_=$ENV{$_}\n" for sort grep { !/^(PATH|HOSTNAME|PWD)$/ } keys %ENV'
"#;

const SEEN: &str = "\
writes to its root: no
writes to /etc: no
writes to /dev/shm: no
writes to the settings of the kernel: no
writes to /tmp: yes
runs a program in /tmp: no
makes a device: no
mounts: no
makes a namespace of users: no
reaches a machine: no
reaches the socket of the API: yes
uid:\t65534\t65534\t65534\t65534
gid:\t65534\t65534\t65534\t65534
capeff:\t0000000000000000
capbnd:\t0000000000000000
nonewprivs:\t1
seccomp:\t2
";

#[test]
fn the_arguments_hold_in_a_real_container() {
    let Some(docker) = Docker::start() else { return };
    fs::write(
        docker.folder.path().join("config.json"),
        r#"{ "proxies": { "default": { "httpProxy": "http://user:hunter2@proxy.example" } } }"#,
    )
    .unwrap();
    what_is_inside_is_what_was_promised(&docker);
    if docker.has_limits() {
        limits_are_those_of_the_manifest(&docker);
    } else {
        println!("skipped: this kernel lets Docker bound no memory or no processes");
    }
    what_takes_too_long_is_killed(&docker);
    let left = docker.ask(["ps", "--all", "--quiet"]);
    assert_eq!(text(&left.stdout), "", "nothing is left behind");
}

fn what_is_inside_is_what_was_promised(docker: &Docker) {
    let socket = docker.folder.path().join("api.sock");
    let _api = UnixListener::bind(&socket).unwrap();
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o666)).unwrap();
    let options = ContainerOptions { api_socket: Some(socket), ..options(docker.image(LOOK), "look") };
    let args = manifest().docker_args(&options).unwrap();
    assert!(args.not_enforced.is_empty(), "{:?}", args.not_enforced);
    let output = docker.ask(&args.docker);
    let (seen, said) = (text(&output.stdout), text(&output.stderr));
    let (seen, variables) = seen.split_at(seen.find("variable ").unwrap_or(seen.len()));
    assert_eq!(seen, SEEN, "{said}");
    assert!(variables.contains("variable ISCL_API_URL=unix:///run/iscl.sock\n"), "{variables}");
    assert!(variables.contains("variable ISCL_SKILL_NAME=demo\n"), "{variables}");
    assert!(!variables.contains("hunter2"), "{variables}");
}

fn limits_are_those_of_the_manifest(docker: &Docker) {
    let too_much = [
        ("memory", "perl -e '$x = \"x\" x (200 << 20); print \"has it\\n\"'"),
        ("processes", "for i in $(perl -e 'print join q( ), 1..200'); do sleep 9 & done; echo has them"),
    ];
    for (what, script) in too_much {
        let args = manifest().docker_args(&options(docker.image(script), what)).unwrap();
        let output = docker.ask(&args.docker);
        let said = text(&output.stdout) + &text(&output.stderr);
        assert!(!output.status.success() && !said.contains("has "), "{what}: {said}");
    }
}

fn what_takes_too_long_is_killed(docker: &Docker) {
    let args = manifest().docker_args(&options(docker.image("sleep 600"), "long")).unwrap();
    let mut running = docker.command().args(&args.docker).spawn().unwrap();
    let began = Instant::now();
    while !docker.ask(&args.kill).status.success() {
        assert!(began.elapsed() < Duration::from_secs(60), "it never began");
    }
    assert_eq!(running.wait().unwrap().code(), Some(137));
}
