//! The machine around the sandboxes: kernel, containers, and the place of the audit trail.
#![expect(clippy::disallowed_methods, reason = "asks other programs, and looks where the audit trail is")]

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use stockade_guard::audit::AuditTrail;
use stockade_guard::audit::private::default_register_folder;
use stockade_guard::exec::handoff::{find_program, helper_command};

use super::Finding;

/// How long another program may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often it is looked whether it has.
const LOOK: Duration = Duration::from_millis(20);

pub(super) fn kernel() -> Finding {
    let uname = rustix::system::uname();
    let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
    let found = format!("{} {} on {}", text(uname.sysname()), text(uname.release()), text(uname.machine()));
    Finding::ok("kernel", found)
}

/// Asks the service behind `docker` or `podman`, which the version of a program says nothing about. Whoever runs this has more rights
/// than the question needs, so the program gets none of them.
pub(super) fn containers(program: &'static str) -> Finding {
    let found = find_program(program).map(|path| helper_command(&path));
    let started = found.map(|mut it| it.args(["version", "--format", "{{.Server.Version}}"]).spawn());
    let Some(Ok(mut child)) = started else { return Finding::ok(program, "not installed; nothing needs it") };
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
        Some(status) if status.success() => Finding::ok(program, "it answers; nothing needs it"),
        Some(_) => {
            Finding::ok(program, "installed, but does not answer who has no privileges; nothing needs it")
        }
        None => Finding::warn(program, "it does not answer in time; nothing needs it", "look at its service"),
    }
}

/// Reads the trail that there is, or looks whether one can be made. Nothing is created.
pub(super) fn audit() -> Finding {
    const WHAT: &str = "audit trail";
    let Some(path) = AuditTrail::default_path() else {
        return Finding::fail(
            WHAT,
            "neither XDG_STATE_HOME nor HOME says where it is",
            "export HOME=/home/YOU",
        );
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
            format!("none yet; the first command that is run begins one in {}", path.display()),
        ),
        false => Finding::fail(
            WHAT,
            format!("{} may not be written to, so no command can be put on record", folder.display()),
            "export XDG_STATE_HOME=FOLDER",
        ),
    }
}
