//! Checks of the machine around the sandboxes: kernel, container engines, and the audit trail.
#![expect(clippy::disallowed_methods, reason = "runs container engines, and looks up the audit trail")]

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use stockade_guard::audit::AuditTrail;
use stockade_guard::audit::private::default_register_folder;
use stockade_guard::config::{Config, ConfigSources};
use stockade_guard::exec::handoff::{find_program, helper_command};

use super::Finding;

/// Timeout of other programs.
const PATIENCE: Duration = Duration::from_secs(5);

/// Interval of checking whether a program has ended.
const LOOK: Duration = Duration::from_millis(20);

pub(super) fn kernel() -> Finding {
    let uname = rustix::system::uname();
    let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
    let found = format!("{} {} on {}", text(uname.sysname()), text(uname.release()), text(uname.machine()));
    Finding::ok("kernel", found)
}

/// Queries the service behind `docker` or `podman`, since the version of the client does not prove that it runs. The program gets
/// no privileges, since it needs none.
pub(super) fn containers(program: &'static str) -> Finding {
    let found = find_program(program).map(|path| helper_command(&path));
    let started = found.map(|mut it| it.args(["version", "--format", "{{.Server.Version}}"]).spawn());
    let Some(Ok(mut child)) = started else { return Finding::ok(program, "not installed (optional)") };
    let start = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if start.elapsed() < PATIENCE => thread::sleep(LOOK),
            Ok(None) | Err(_) => {
                child.kill().and_then(|()| child.wait()).ok();
                break None;
            }
        }
    };
    match status {
        Some(status) if status.success() => Finding::ok(program, "reachable (optional)"),
        Some(_) => Finding::ok(program, "installed, not reachable without root (optional)"),
        None => Finding::warn(program, "no response in time (optional)", "check its service"),
    }
}

/// Returns the trail that agents write. Doctor reports an invalid configuration elsewhere.
fn configured_trail() -> Option<PathBuf> {
    let folder = std::env::current_dir().unwrap_or_default();
    match Config::load(&ConfigSources::of_process(&folder)) {
        Ok(config) => stockade_state::trail::path(&config),
        Err(_) => AuditTrail::default_path(),
    }
}

/// Reads the trail, or checks whether one could be created. Nothing is created.
pub(super) fn audit() -> Finding {
    const WHAT: &str = "audit trail";
    let Some(path) = configured_trail() else {
        return Finding::fail(WHAT, "neither XDG_STATE_HOME nor HOME is set", "export HOME=/home/YOU");
    };
    if path.exists() {
        let head = AuditTrail::open_to_read_beside(&path, default_register_folder().as_deref())
            .and_then(|trail| trail.head());
        return match head {
            Ok(head) => Finding::ok(WHAT, format!("{} records in {}", head.id, path.display())),
            Err(error) => Finding::fail(WHAT, error.to_string(), "stockade audit verify"),
        };
    }
    let folder = path.ancestors().skip(1).find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    let writable = rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok();
    match writable {
        true => Finding::ok(
            WHAT,
            format!("none yet; the first recorded command creates it in {}", path.display()),
        ),
        false => Finding::fail(
            WHAT,
            format!("{} is not writable, so no command can be recorded", folder.display()),
            "export XDG_STATE_HOME=FOLDER",
        ),
    }
}
