//! A daemon of Docker that a test starts for itself, with everything in a folder of its own, and ends.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::packages::Engine;

/// A daemon that ends with the test.
pub(crate) struct Docker {
    daemon: Child,
    folder: TempDir,
    /// The image, by its digest.
    pub(crate) image: String,
}

impl Docker {
    /// Starts a daemon with an image, or prints why that is not possible.
    pub(crate) fn start() -> Option<Self> {
        Self::try_to_start().map_err(|why| println!("skipped: {why}")).ok()
    }

    pub(crate) fn try_to_start() -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("only root can start a daemon of Docker".to_owned());
        }
        let folder = tempfile::tempdir().unwrap();
        let daemon =
            daemon(folder.path()).ok_or("there is no `dockerd` on this machine: run `cargo xtask setup`")?;
        let mut docker = Self { daemon, folder, image: String::new() };
        let began = Instant::now();
        while !docker.ask(&["version"]).is_some_and(|said| said.status.success()) {
            if docker.daemon.try_wait().unwrap().is_some() || began.elapsed() > Duration::from_secs(60) {
                let log = fs::read_to_string(docker.folder.path().join("log")).unwrap();
                return Err(format!(
                    "`dockerd` does not start here: {}",
                    log.lines().last().unwrap_or_default()
                ));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        docker.image = docker.import()?;
        let plain =
            docker.ask(&["run", "--rm", "--network", "none", &docker.image, "/bin/sh", "-c", "exit 0"]);
        match plain {
            Some(plain) if plain.status.success() => Ok(docker),
            plain => Err(format!("`dockerd` runs no container here: {plain:?}")),
        }
    }

    /// Where the daemon is found.
    pub(crate) fn address(&self) -> String {
        address(self.folder.path())
    }

    pub(crate) fn ask(&self, words: &[&str]) -> Option<Output> {
        let mut command = Command::new("docker");
        command.arg("--host").arg(self.address()).args(words).stdin(Stdio::null()).output().ok()
    }

    /// What it says, without the end of the line.
    pub(crate) fn says(&self, words: &[&str]) -> String {
        let output = self.ask(words).unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Another image, with nothing in it but a file.
    pub(crate) fn other_image(&self) -> String {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("other"), "other").unwrap();
        let file = self.folder.path().join("other.tar");
        let tar = Command::new("tar").arg("-cf").arg(&file).arg("-C").arg(root.path()).arg(".").status();
        assert!(tar.unwrap().success());
        self.says(&["import", file.to_str().unwrap()])
    }

    fn import(&self) -> Result<String, String> {
        let file = self.folder.path().join("image.tar");
        archive(&file)?;
        let changes = [
            "--change",
            "VOLUME /data",
            "--change",
            "VOLUME /filled",
            "--change",
            r#"CMD ["/bin/sh","main.sh"]"#,
        ];
        Ok(self.says(&[&["import"], &changes[..], &[file.to_str().unwrap()]].concat()))
    }
}

/// Makes an archive of a few programs of this machine, and of the one that tries to start others.
pub(crate) fn archive(file: &Path) -> Result<(), String> {
    let root = tempfile::tempdir().unwrap();
    for program in ["sh", "cat", "grep", "head", "sleep", "touch", "cp"] {
        bring(&which(program), root.path());
    }
    for name in ["ways", "probe"] {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/containers").join(name);
        let options = ["-static", "-no-pie", "-pthread", "-O1", "-w", "-o"];
        let mut cc = Command::new("cc");
        cc.args(options).arg(root.path().join(name)).arg(source.with_extension("c"));
        if !cc.output().is_ok_and(|cc| cc.status.success()) {
            return Err("there is no C compiler that links statically".to_owned());
        }
    }
    // One that becomes root where that is not closed, and one that a shell reads.
    let (rooted, entry) = (root.path().join("rooted"), root.path().join("entry"));
    fs::copy(root.path().join("probe"), &rooted).unwrap();
    fs::write(&entry, "#!/bin/sh\necho started\ncat /script\n").unwrap();
    for (mode, file) in [("4755", &rooted), ("755", &entry)] {
        assert!(Command::new("chmod").arg(mode).arg(file).status().unwrap().success());
    }
    for folder in ["proc", "dev", "etc", "tmp", "sys", "run"] {
        fs::create_dir_all(root.path().join(folder)).unwrap();
    }
    // A volume that is more than an empty folder holds.
    fs::create_dir(root.path().join("filled")).unwrap();
    fs::write(root.path().join("filled/much"), [b'x'; 100_000]).unwrap();
    // As images have it.
    assert!(Command::new("chmod").arg("1777").arg(root.path().join("tmp")).status().unwrap().success());
    fs::write(root.path().join("script"), "#!/ways child\n").unwrap();
    assert!(Command::new("chmod").arg("755").arg(root.path().join("script")).status().unwrap().success());
    let tar = Command::new("tar").arg("-cf").arg(file).arg("-C").arg(root.path()).arg(".").status();
    assert!(tar.unwrap().success());
    Ok(())
}

impl Engine for Docker {
    fn image(&self) -> &str {
        &self.image
    }

    fn options(&self) -> &'static [&'static str] {
        &["--backend", "docker"]
    }

    fn variable(&self) -> (&'static str, String) {
        ("DOCKER_HOST", self.address())
    }
}

impl Drop for Docker {
    fn drop(&mut self) {
        // The daemon takes down what it has mounted.
        let pid = rustix::process::Pid::from_child(&self.daemon);
        let _asked = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ended = self.daemon.wait();
    }
}

/// A daemon that keeps everything in this folder, and leaves the network of the machine alone.
fn daemon(folder: &Path) -> Option<Child> {
    let place = |name| folder.join(name).display().to_string();
    // Where gVisor is, it runs without a network that it would have to make.
    let runtimes =
        r#"{"runtimes": {"runsc": {"path": "/usr/bin/runsc", "runtimeArgs": ["--network=none"]}}}"#;
    fs::write(folder.join("daemon.json"), if has_gvisor() { runtimes } else { "{}" }).unwrap();
    let options = [
        ("config-file", place("daemon.json")),
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
        .stderr(File::create(folder.join("log")).unwrap())
        .spawn()
        .ok()
}

/// Whether gVisor is on this machine.
pub(crate) fn has_gvisor() -> bool {
    Path::new("/usr/bin/runsc").exists()
}

fn address(folder: &Path) -> String {
    format!("unix://{}", folder.join("docker.sock").display())
}

fn which(program: &str) -> PathBuf {
    let folders = ["/bin", "/usr/bin"].map(|folder| Path::new(folder).join(program));
    folders.into_iter().find(|path| path.exists()).unwrap_or_else(|| panic!("there is no {program}"))
}

/// Copies a program into an image, and the libraries that it needs.
fn bring(program: &Path, root: &Path) {
    let libraries = Command::new("ldd").arg(program).output().unwrap();
    let libraries = String::from_utf8_lossy(&libraries.stdout).into_owned();
    let words = libraries.split_whitespace().filter(|word| word.starts_with('/'));
    for file in words.map(Path::new).chain([program]) {
        let to = root.join(file.strip_prefix("/").unwrap());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        assert!(Command::new("cp").args(["-rLT"]).args([file, &to]).status().unwrap().success());
    }
}
