//! The programs and the kernel that a backend consists of, with their versions and published faults.

#![expect(clippy::disallowed_methods, reason = "asks programs for their versions")]

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use stockade_guard::exec::SandboxBackend;
use stockade_guard::exec::handoff::{find_program, helper_command};

use super::known_faults::{KnownFault, known_faults};

/// Paths of bubblewrap, as sandboxes look for it: not on the search path, which may contain a workspace.
const BUBBLEWRAP: &[&str] = &["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"];

/// Time for a program to report its version, and time between two looks.
const PATIENCE: Duration = Duration::from_secs(5);
const BETWEEN: Duration = Duration::from_millis(5);

/// Maximum length of a reported version.
const MAX_REPORT: u64 = 4 << 10;

/// A program, or the kernel, that a backend consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BackendComponent {
    pub(super) name: String,
    /// Its version, as it reports it; nothing if it does not.
    pub(super) version: Option<String>,
    /// The published faults of this version.
    pub(super) faults: Vec<&'static KnownFault>,
}

impl BackendComponent {
    fn new(name: &str, version: Option<String>) -> Self {
        let faults = version.as_deref().map(|version| known_faults(name, version)).unwrap_or_default();
        Self { name: name.to_owned(), version, faults }
    }
}

/// Returns the components of a built-in backend. They are asked each time, because an engine can be updated.
pub(super) fn backend_components(backend: SandboxBackend) -> Vec<BackendComponent> {
    let kernel = kernel();
    let mut all = match backend {
        SandboxBackend::Bwrap => vec![bubblewrap()],
        SandboxBackend::Docker => docker(),
        SandboxBackend::Podman => podman(),
        SandboxBackend::Native | SandboxBackend::Landlock => Vec::new(),
        SandboxBackend::Auto | SandboxBackend::Added(_) => return Vec::new(),
    };
    all.push(kernel);
    all
}

/// Returns a program on the search path with the version that it reports; nothing if it is not installed.
pub(super) fn program_component(name: &str) -> Option<BackendComponent> {
    let program = find_program(name)?;
    Some(BackendComponent::new(name, said(&program, &["--version"]).and_then(|said| version_in(&said))))
}

/// The kernel. Distributions number theirs by the first version of a branch, so their faults cannot be known from it.
fn kernel() -> BackendComponent {
    let system = rustix::system::uname();
    let text = |text: &std::ffi::CStr| text.to_string_lossy().into_owned();
    let (release, built) = (text(system.release()), text(system.version()));
    match comparable(&release, &built) {
        Some(version) => {
            let faults = known_faults("linux", &version);
            BackendComponent { name: "linux".to_owned(), version: Some(release), faults }
        }
        None => BackendComponent { name: "linux".to_owned(), version: Some(release), faults: Vec::new() },
    }
}

/// Returns the version of a kernel in the numbers of kernel.org; nothing if a distribution numbers it by itself. Debian reports
/// both.
fn comparable(release: &str, built: &str) -> Option<String> {
    if let Some(version) = built.split("Debian ").nth(1) {
        return version.split('-').next().map(str::to_owned);
    }
    let (numbers, rest) = release.split_once('-').unwrap_or((release, ""));
    let is_numbered_anew = numbers.ends_with(".0") && rest.starts_with(|c: char| c.is_ascii_digit());
    (!is_numbered_anew && !rest.contains(".el")).then(|| numbers.to_owned())
}

fn bubblewrap() -> BackendComponent {
    let program = BUBBLEWRAP.iter().map(PathBuf::from).find(|path| path.is_file());
    let said = program.and_then(|program| said(&program, &["--version"]));
    BackendComponent::new("bubblewrap", said.and_then(|said| version_in(&said)))
}

fn docker() -> Vec<BackendComponent> {
    const FORMAT: &str = "{{range .Server.Components}}{{println .Name .Version}}{{end}}";
    let program = find_program("docker");
    let said = program.and_then(|program| said(&program, &["version", "--format", FORMAT]));
    let lines = said.as_deref().unwrap_or_default().lines();
    let rows = lines.filter_map(|line| line.rsplit_once(' ')).filter(|(_, version)| !version.is_empty());
    // The name of the engine itself is `Engine`.
    let name = |name: &str| if name == "Engine" { "docker".to_owned() } else { name.to_lowercase() };
    rows.map(|(one, version)| BackendComponent::new(&name(one), version_in(version))).collect()
}

fn podman() -> Vec<BackendComponent> {
    const FORMAT: &str = "podman {{.Version.Version}}\n{{.Host.OCIRuntime.Version}}";
    let program = find_program("podman");
    let said = program.and_then(|program| said(&program, &["info", "--format", FORMAT]));
    // `runc version 1.1.12` or `crun version 1.8.1` is the first line of the runtime's version.
    let rows = said.as_deref().unwrap_or_default().lines().take(2);
    let row = |line: &str| Some(BackendComponent::new(line.split(' ').next()?, version_in(line)));
    rows.filter_map(row).collect()
}

/// Returns the first word of a text that begins like a version.
fn version_in(text: &str) -> Option<String> {
    let is_version = |word: &&str| {
        let word = word.trim_start_matches('v');
        word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.')
    };
    let is_plain = |word: &&str| word.chars().all(|c| c.is_ascii_graphic());
    text.split_whitespace()
        .filter(is_plain)
        .find(is_version)
        .map(|word| word.trim_end_matches(',').to_owned())
}

/// Returns what a program prints; nothing if it fails, or does not end in time.
fn said(program: &Path, arguments: &[impl AsRef<OsStr>]) -> Option<String> {
    let mut command = helper_command(program);
    command.args(arguments).stdout(Stdio::piped()).in_own_group();
    let mut child = command.spawn().ok()?;
    let begin = Instant::now();
    let ended = loop {
        match child.try_wait() {
            Ok(None) if begin.elapsed() < PATIENCE => std::thread::sleep(BETWEEN),
            Ok(Some(status)) => break status.success(),
            _ => {
                child.kill().ok();
                child.wait().ok();
                break false;
            }
        }
    };
    let mut text = String::new();
    // What it prints fits into the pipe, so it ends without being read.
    child.stdout.take()?.take(MAX_REPORT).read_to_string(&mut text).ok()?;
    ended.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_programs_print() {
        for (text, expected) in [
            ("bubblewrap 0.8.0\n", Some("0.8.0")),
            ("runc version 1.1.5+ds1", Some("1.1.5+ds1")),
            ("Docker version 20.10.24+dfsg1, build 297e128", Some("20.10.24+dfsg1")),
            ("openshell v0.4.2", Some("v0.4.2")),
            ("no version", None),
            ("3 programs", None),
        ] {
            assert_eq!(version_in(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn kernels_of_distributions_are_not_compared() {
        for (release, built, expected) in [
            ("6.18.44-fc-v657", "#1 SMP", Some("6.18.44")),
            ("6.1.0-18-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01)", Some("6.1.76")),
            ("5.15.0-101-generic", "#111-Ubuntu SMP", None),
            ("5.14.0-427.el9.x86_64", "#1 SMP", None),
            ("7.0.3", "#1 SMP", Some("7.0.3")),
        ] {
            assert_eq!(comparable(release, built).as_deref(), expected, "{release}");
        }
    }

    #[test]
    fn a_program_that_fails_or_hangs_reports_no_version() {
        let shell = Path::new("/bin/sh");
        assert_eq!(said(shell, &["-c", "echo 1.0"]).as_deref(), Some("1.0\n"));
        assert_eq!(said(shell, &["-c", "echo 1.0; exit 1"]), None);
        assert_eq!(said(Path::new("/no/such"), &["-c"]), None);
    }

    #[test]
    fn every_backend_of_this_crate_has_the_kernel() {
        for backend in SandboxBackend::ALL.iter().copied().filter(|one| *one != SandboxBackend::Auto) {
            let all = backend_components(backend);
            assert!(all.last().is_some_and(|last| last.name == "linux" && last.version.is_some()), "{all:?}");
        }
    }
}
