//! The directory through which changes reach a workspace on another file system.

#![expect(clippy::disallowed_methods, reason = "makes workspaces, and changes views")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::super::crash;
use super::super::select::ChangeSelection;
use super::{Ground, elsewhere};

/// Files that a command put there are deleted and not applied.
#[test]
fn files_in_the_directory_of_slots_are_not_applied() {
    let Some(state) = elsewhere() else { return };
    let ground = Ground::new(state, |_| {});
    let changes = ground.change(|root| {
        fs::write(root.join("f"), "judged").unwrap();
        fs::create_dir(root.join(".stockade-changes-0")).unwrap();
        fs::write(root.join(".stockade-changes-0/0"), "evil").unwrap();
    });
    let number = changes.iter().position(|change| change.path == Path::new("f")).unwrap();
    let beside = ground.workspace.join(format!(".stockade-changes-{}", ground.id));
    let lay = || {
        fs::create_dir(&beside).unwrap();
        fs::set_permissions(&beside, fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(beside.join(number.to_string()), "evil").unwrap();
    };
    lay();
    let merged = ground.apply();
    assert_eq!(merged.done, [Path::new("f")]);
    assert_eq!(merged.refused.len(), 2, "{merged:?}");
    assert_eq!(fs::read(ground.workspace.join("f")).unwrap(), b"judged");
    assert!(!beside.exists() && !ground.workspace.join(".stockade-changes-0").exists());
    lay();
    ground.undo();
    assert!(!ground.workspace.join("f").exists() && !beside.exists());
}

/// A merge that is interrupted while it stages files in the workspace is rolled back by the next one.
#[test]
fn pending_changes_leave_no_temporary_files() {
    for killed in 0.. {
        let Some(state) = elsewhere() else { return };
        let ground = Ground::new(state, |_| {});
        ground.change(|root| (0..3).for_each(|at| fs::write(root.join(at.to_string()), "x").unwrap()));
        crash::after(Some(killed));
        let result = ground.store.apply(&ground.layer(), &ChangeSelection::All);
        crash::after(None);
        let resumed = ground.store.resume().unwrap();
        assert!(resumed.into_iter().all(|one| one.swept.is_ok()));
        let names: Vec<_> =
            fs::read_dir(&ground.workspace).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(names.iter().all(|name| name.len() == 1), "killed at {killed}: {names:?}");
        if result.is_ok() {
            assert!(killed > 4, "{killed}");
            return;
        }
    }
}
