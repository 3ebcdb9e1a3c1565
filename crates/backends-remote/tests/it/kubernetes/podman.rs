//! The same pod, run by Podman: what it does of the same text is what another program than ours reads in it.
//!
//! Podman 4 does otherwise than Kubernetes in two things: it replaces nothing in the words of a command, and gives empty folders to root.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use stockade_backends_remote::kubernetes::ClusterSettings;

use super::{planned, spec};

const IMAGE: &str = "localhost/stockade-pod:1";

/// Where Podman keeps everything for this test, and how it is told.
struct Podman(tempfile::TempDir);

impl Podman {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().display().to_string();
        let storage = format!("[storage]\ndriver = \"vfs\"\ngraphroot = \"{at}/g\"\nrunroot = \"{at}/r\"\n");
        fs::write(folder.path().join("storage.conf"), storage).unwrap();
        // The first container of a pod is of our image, as there is no other one.
        let containers = format!(
            "[containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=1024:1024\"]\noom_score_adj = 0\n\
             [engine]\ncgroup_manager = \"cgroupfs\"\nruntime = \"runc\"\ninfra_image = \"{IMAGE}\"\n"
        );
        fs::write(folder.path().join("containers.conf"), containers).unwrap();
        Self(folder)
    }

    fn ask(&self, words: &[&str]) -> Output {
        let at = |name: &str| self.0.path().join(name);
        let mut podman = Command::new("podman");
        podman.args(words).env("CONTAINERS_STORAGE_CONF", at("storage.conf"));
        podman.env("CONTAINERS_CONF", at("containers.conf")).env("HOME", self.0.path()).output().unwrap()
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Makes an image of a few programs of this machine.
    fn import(&self) -> Output {
        let root = self.0.path().join("root");
        for program in ["sh", "cat", "id", "printenv", "sleep", "touch"] {
            bring(&which(program), &root);
        }
        for folder in ["proc", "dev", "etc", "tmp", "sys", "run"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let archive = self.0.path().join("image.tar");
        let tar = Command::new("tar").arg("-cf").arg(&archive).arg("-C").arg(&root).arg(".").status();
        assert!(tar.unwrap().success());
        let changes = ["-c", "CMD [\"/usr/bin/sleep\", \"1000\"]", "-c", "ENV PATH=/usr/bin"];
        self.ask(&[&["import"], &changes[..], &[archive.to_str().unwrap(), IMAGE]].concat())
    }
}

impl Drop for Podman {
    fn drop(&mut self) {
        self.ask(&["pod", "rm", "--all", "--force"]);
    }
}

fn which(program: &str) -> PathBuf {
    let path = Path::new("/usr/bin").join(program);
    assert!(path.exists(), "{program}");
    path
}

/// Copies a program and the libraries that it is linked with.
fn bring(program: &Path, root: &Path) {
    let listed = Command::new("ldd").arg(program).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let libraries = listed.split_whitespace().filter(|word| word.starts_with('/')).map(Path::new);
    for file in libraries.chain([program]) {
        let target = root.join(file.strip_prefix("/").unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(file, target).unwrap();
    }
}

#[test]
fn podman_runs_the_same_pod() {
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !rustix::process::geteuid().is_root() || !has("podman") || !has("runc") {
        return eprintln!(
            "skipped: there is no podman with runc for root on this machine: run `cargo xtask setup`"
        );
    }
    let podman = Podman::new();
    let imported = podman.import();
    if !imported.status.success() {
        return eprintln!("skipped: podman imports no image here: {imported:?}");
    }
    let script = "printenv KEY; printenv HOME; id -u; touch /x 2>&1; cat /proc/self/status; exit 7";
    let mut wanted = spec(&["sh", "-c", script]);
    wanted.container.image = Some(IMAGE.to_owned());
    wanted.environment.set = vec![("KEY".into(), "hunter2 $(HOME)".into())];
    let settings = ClusterSettings::default();
    let objects = planned("played", &wanted, &settings, &super::objects::access()).unwrap();
    // Podman keeps secrets of its own.
    let secret = podman.file("secret", &objects.secret["data"].to_string());
    assert!(podman.ask(&["secret", "create", "stockade-played", &secret]).status.success());
    let pod = podman.file("pod.json", &objects.pod().to_string());
    let played = podman.ask(&["kube", "play", "--log-driver", "k8s-file", "--network", "none", &pod]);
    if !played.status.success() {
        let why = String::from_utf8_lossy(&played.stderr).into_owned();
        assert!(why.contains("runc") || why.contains("cgroup"), "it takes the pod: {why}");
        return eprintln!("skipped: podman runs no pod here: {why}");
    }
    let code = podman.ask(&["wait", "stockade-played-command"]);
    assert_eq!(String::from_utf8_lossy(&code.stdout).trim(), "7");
    let logs = podman.ask(&["logs", "stockade-played-command"]);
    let said = String::from_utf8_lossy(&logs.stdout).into_owned();
    assert!(said.starts_with("hunter2 $(HOME)\n/home/agent\n65532\n"), "{said}");
    assert!(said.contains("touch: cannot touch '/x': Read-only file system"), "{said}");
    for line in ["CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"] {
        assert!(said.contains(line), "{line}: {said}");
    }
    let format = "{{.HostConfig.ReadonlyRootfs}} {{.HostConfig.Memory}} {{.Config.User}}";
    let seen = podman.ask(&["inspect", "--format", format, "stockade-played-command"]);
    assert_eq!(String::from_utf8_lossy(&seen.stdout).trim(), "true 2147483648 65532:65532");
}
