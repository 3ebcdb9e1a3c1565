//! What of this machine a plan lets a command write to.

use std::path::Path;

use stockade_exec_sandbox::{Confinement, Network, SandboxBackend, SandboxSpec, plan};

use crate::plans::machine;

fn spec() -> SandboxSpec {
    let mut spec = SandboxSpec::new("/home/u/work", ["true"]);
    spec.shared = vec!["/srv/graph/run1".into()];
    spec.read_only = vec!["/srv/data".into()];
    spec.network = Network::Broker { socket: "/run/broker.sock".into() };
    spec
}

/// A path, and what lets the command write to it.
const ROWS: &[(&str, Option<&str>)] = &[
    ("/home/u/work", Some("/home/u/work")),
    ("/home/u/work/audit.db", Some("/home/u/work")),
    ("/home/u/work/deep/er/audit.db-wal", Some("/home/u/work")),
    ("/srv/graph/run1/audit.db", Some("/srv/graph/run1")),
    ("/home/u/work/.git/objects/audit.db", Some("/home/u/work/.git")),
    ("/run/broker.sock", Some("/run/broker.sock")),
    // A later mount covers the path.
    ("/home/u/work/.git/config", None),
    ("/home/u/work/.env", None),
    // What is beside, above, or only begins alike.
    ("/home/u/workshop/audit.db", None),
    ("/home/u/.local/state/stockade/audit.db", None),
    ("/home/u", None),
    ("/srv/graph/run2/audit.db", None),
    ("/srv/data/audit.db", None),
    // The command has memory of its own there.
    ("/tmp/audit.db", None),
    ("/usr/share/audit.db", None),
    ("/", None),
    ("", None),
];

#[test]
fn what_a_command_may_write_to() {
    let plan = plan(&spec(), &machine()).unwrap();
    for (path, expected) in ROWS {
        assert_eq!(plan.may_write(Path::new(path)), expected.map(Path::new), "{path}");
    }
}

#[test]
fn nothing_can_be_written_where_nothing_may() {
    let mut spec = spec();
    spec.workspace_access = stockade_exec_sandbox::MountAccess::ReadOnly;
    spec.shared.clear();
    let plan = plan(&spec, &machine()).unwrap();
    assert_eq!(plan.may_write(Path::new("/home/u/work/audit.db")), None);
    assert_eq!(plan.may_write(Path::new("/srv/graph/run1/audit.db")), None);
}

#[test]
fn without_a_sandbox_everything_can_be_written_to() {
    let mut spec = SandboxSpec::new("/home/u/work", ["true"]);
    spec.confinement = Confinement::None;
    let plan = plan(&spec, &machine()).unwrap();
    assert_eq!(plan.may_write(Path::new("/home/u/.local/state/stockade/audit.db")), Some(Path::new("/")));
}

/// Landlock adds rights and takes none away again: what is kept back within a folder is not relied on.
#[test]
fn landlock_keeps_nothing_back() {
    let mut machine = machine();
    machine.protected.clear();
    let mut spec = SandboxSpec::new("/home/u/work", ["true"]);
    spec.backend = SandboxBackend::Landlock;
    spec.require.clear();
    spec.read_only = vec!["/home/u/work/kept".into()];
    machine.entries.insert("/home/u/work/kept".into(), stockade_exec_sandbox::host::Entry::Folder);
    let plan = plan(&spec, &machine).unwrap();
    assert_eq!(plan.may_write(Path::new("/home/u/work/kept/audit.db")), Some(Path::new("/home/u/work")));
}
