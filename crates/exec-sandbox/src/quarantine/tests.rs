use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{CWD, Mode, openat};

use super::folder::FOLDER;
use super::origin::{ORIGINS, Origin};
use super::*;

struct House {
    state: tempfile::TempDir,
    workspace: tempfile::TempDir,
}

impl House {
    fn new() -> Self {
        Self { state: tempfile::tempdir().unwrap(), workspace: tempfile::tempdir().unwrap() }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.workspace.path().canonicalize().unwrap().join(path)
    }

    /// Takes a path away, as after a command, and returns its name in quarantine.
    fn take(&self, path: &str) -> String {
        let workspace = self.at("");
        let root = rustix::fs::open(&workspace, FOLDER, Mode::empty()).unwrap();
        let state = Some(self.state.path());
        let mut taking =
            Taking::new(Taker { state, workspace: &workspace, root: &root, command: "make evil" });
        let parent = self.at(path).parent().unwrap().to_path_buf();
        let from = openat(CWD, &parent, FOLDER, Mode::empty()).unwrap();
        let taken = taking.take(&from, Path::new(path).file_name().unwrap(), Path::new(path)).unwrap();
        taking.make_room();
        taken.id.unwrap()
    }

    fn store(&self) -> QuarantineStore {
        QuarantineStore::open(self.state.path()).unwrap()
    }

    fn ids(&self) -> Vec<String> {
        self.store().entries().unwrap().into_iter().map(|entry| entry.id).collect()
    }
}

#[test]
fn quarantined_files_are_listed_and_restored_unchanged() {
    let house = House::new();
    fs::create_dir_all(house.at("app/.vscode")).unwrap();
    fs::write(house.at("app/.vscode/tasks.json"), "evil").unwrap();
    let number = fs::metadata(house.at("app/.vscode")).unwrap().ino();
    let id = house.take("app/.vscode");
    assert!(!house.at("app/.vscode").exists());
    let [entry] = house.store().entries().unwrap().try_into().unwrap();
    assert_eq!((entry.id.as_str(), entry.kind), (id.as_str(), QuarantinedKind::Folder));
    assert_eq!(entry.workspace, Some(house.at("").components().collect()));
    assert_eq!((entry.path, entry.command), (Some("app/.vscode".into()), Some("make evil".to_owned())));
    assert!(entry.label.unwrap().contains("starts programs") && entry.size.unwrap() > 0);
    assert!(entry.taken.unwrap().elapsed().unwrap().as_secs() < 60);
    assert_eq!(house.store().restore(&id).unwrap(), house.at("app/.vscode"));
    assert_eq!(fs::metadata(house.at("app/.vscode")).unwrap().ino(), number, "it is the same folder");
    assert_eq!(fs::read(house.at("app/.vscode/tasks.json")).unwrap(), b"evil");
    assert_eq!(
        (house.ids(), fs::read_dir(house.state.path().join("quarantine")).unwrap().count()),
        (vec![], 0)
    );
    assert!(matches!(house.store().restore(&id), Err(QuarantineError::Unknown(_))));
}

#[test]
fn nothing_is_overwritten_and_no_link_is_followed() {
    let house = House::new();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::create_dir(house.at("app")).unwrap();
    fs::write(house.at("app/.envrc"), "evil").unwrap();
    let id = house.take("app/.envrc");
    fs::write(house.at("app/.envrc"), "mine").unwrap();
    assert!(matches!(house.store().restore(&id), Err(QuarantineError::Occupied(_))));
    symlink("/nowhere", house.at("app/link")).unwrap();
    fs::rename(house.at("app/link"), house.at("app/.envrc")).unwrap();
    assert!(
        matches!(house.store().restore(&id), Err(QuarantineError::Occupied(_))),
        "a link that leads nowhere"
    );
    fs::remove_dir_all(house.at("app")).unwrap();
    assert!(matches!(house.store().restore(&id), Err(QuarantineError::NoWay { .. })));
    symlink(elsewhere.path(), house.at("app")).unwrap();
    assert!(matches!(house.store().restore(&id), Err(QuarantineError::NoWay { .. })));
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    // Another folder by the name of the workspace is another workspace.
    let (old, kept) = (house.at(""), elsewhere.path().join("kept"));
    fs::rename(&old, &kept).unwrap();
    fs::create_dir_all(old.join("app")).unwrap();
    assert!(matches!(house.store().restore(&id), Err(QuarantineError::OtherWorkspace(_))));
    assert_eq!(house.ids(), [id]);
}

#[test]
fn nothing_is_restored_while_a_command_runs() {
    let house = House::new();
    fs::write(house.at(".envrc"), "evil").unwrap();
    let id = house.take(".envrc");
    let workspace = house.at("").components().collect::<PathBuf>();
    let roots = crate::workspace::roots::roots(Some(&workspace), &[]);
    let snapshot = crate::journal::Snapshot { roots, ..Default::default() };
    let journal = crate::journal::Journal::write(house.state.path(), &snapshot).unwrap();
    // The workspace is written as it was named when it was taken.
    let named = house.store().entries().unwrap().remove(0).workspace.unwrap();
    assert_eq!(named, workspace);
    assert!(matches!(house.store().restore(&id), Err(QuarantineError::AtWork(_))));
    drop(journal);
    assert!(house.store().restore(&id).is_ok());
}

#[test]
fn deleting_a_quarantined_directory_deletes_its_contents_only() {
    let house = House::new();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("kept"), "").unwrap();
    fs::create_dir_all(house.at(".vscode/closed/inner")).unwrap();
    symlink(elsewhere.path(), house.at(".vscode/closed/link")).unwrap();
    for closed in [".vscode/closed", ".vscode"] {
        fs::set_permissions(house.at(closed), Permissions::from_mode(0o000)).unwrap();
    }
    // Without root, moving a directory to another parent needs write permission on it.
    fs::set_permissions(house.at(".vscode"), Permissions::from_mode(0o700)).unwrap();
    symlink(elsewhere.path(), house.at(".idea")).unwrap();
    let ids = [house.take(".vscode"), house.take(".idea")];
    let link = house.store().entries().unwrap().remove(1).kind;
    assert_eq!(link, QuarantinedKind::Link(elsewhere.path().into()));
    for id in ids {
        house.store().discard(&id).unwrap();
    }
    assert_eq!(
        (house.ids(), fs::read_dir(house.state.path().join("quarantine")).unwrap().count()),
        (vec![], 0)
    );
    assert!(elsewhere.path().join("kept").exists());
}

#[test]
fn other_users_cannot_read_it() {
    let house = House::new();
    fs::create_dir(house.state.path().join("quarantine")).unwrap();
    fs::set_permissions(house.state.path().join("quarantine"), Permissions::from_mode(0o755)).unwrap();
    fs::write(house.at(".envrc"), "evil").unwrap();
    let id = house.take(".envrc");
    let mode = |path: PathBuf| fs::metadata(path).unwrap().mode() & 0o777;
    let group = house.state.path().join("quarantine").join(id.split('.').next().unwrap());
    assert_eq!(mode(house.state.path().join("quarantine")), 0o700);
    assert_eq!((mode(group.clone()), mode(group.join("origins"))), (0o700, 0o600));
}

#[test]
fn a_symlink_in_place_of_the_quarantine_is_not_followed() {
    let house = House::new();
    let elsewhere = tempfile::tempdir().unwrap();
    symlink(elsewhere.path(), house.state.path().join("quarantine")).unwrap();
    assert!(QuarantineStore::make(house.state.path()).is_err());
    assert!(QuarantineStore::open(house.state.path()).is_err());
}

/// As on another disk, or without a home.
#[test]
fn files_that_cannot_be_quarantined_are_listed_in_place() {
    let house = House::new();
    fs::create_dir(house.at("app")).unwrap();
    fs::write(house.at("app/.envrc"), "evil").unwrap();
    let id = house.take("app/.envrc");
    // What is written down then.
    let group = house.state.path().join("quarantine").join(id.split('.').next().unwrap());
    let written = fs::read(group.join(ORIGINS)).unwrap();
    let [origin] = Origin::read_all(&written).try_into().unwrap();
    let inert = "quarantined-1";
    fs::rename(group.join(&origin.name), house.at("app").join(inert)).unwrap();
    let origin = Origin { in_place: true, name: inert.into(), ..origin };
    fs::write(group.join(ORIGINS), origin.written()).unwrap();
    let [entry] = house.store().entries().unwrap().try_into().unwrap();
    assert_eq!((entry.place, entry.kind), (house.at("app").join(inert), QuarantinedKind::File));
    assert_eq!(house.store().restore(&id).unwrap(), house.at("app/.envrc"));
    assert_eq!((fs::read(house.at("app/.envrc")).unwrap(), house.ids()), (b"evil".to_vec(), vec![]));
}

#[test]
fn replaced_entries_are_neither_restored_nor_deleted() {
    let house = House::new();
    fs::write(house.at(".envrc"), "evil").unwrap();
    let id = house.take(".envrc");
    let place = house.store().entries().unwrap().remove(0).place;
    fs::write(place.with_extension("new"), "other").unwrap();
    fs::rename(place.with_extension("new"), &place).unwrap();
    assert!(matches!(house.store().restore(&id), Err(QuarantineError::Gone(_))));
    assert!(matches!(house.store().discard(&id), Err(QuarantineError::Gone(_))));
    assert!(place.exists());
}

#[test]
fn entries_of_an_earlier_version_can_be_deleted_but_not_restored() {
    let house = House::new();
    let old = house.state.path().join("quarantine/1795000000123456789-77");
    fs::create_dir_all(&old).unwrap();
    fs::write(old.join("a%.envrc"), "evil").unwrap();
    let [entry] = house.store().entries().unwrap().try_into().unwrap();
    assert_eq!((entry.path, entry.id.as_str()), (None, "1795000000123456789-77/a%.envrc"));
    assert!(matches!(house.store().restore(&entry.id), Err(QuarantineError::Unrecorded(_))));
    house.store().discard(&entry.id).unwrap();
    assert!(!old.exists());
}

#[test]
fn a_full_quarantine_drops_and_reports_the_oldest_entries() {
    let house = House::new();
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos();
    let old = now - MAX_AGE.as_nanos() - 1_000_000_000;
    let quarantine = house.state.path().join("quarantine");
    for moment in (0..MAX_GROUPS as u128).map(|at| now - 1_000_000_000 + at).chain([old]) {
        let group = quarantine.join(origin::group_name(moment));
        fs::create_dir_all(&group).unwrap();
        fs::write(group.join("1-x"), "").unwrap();
    }
    let workspace = house.at("");
    let root = rustix::fs::open(&workspace, FOLDER, Mode::empty()).unwrap();
    let state = Some(house.state.path());
    let mut taking = Taking::new(Taker { state, workspace: &workspace, root: &root, command: "" });
    fs::write(house.at(".envrc"), "").unwrap();
    let taken = taking.take(&root, ".envrc".as_ref(), ".envrc".as_ref()).unwrap();
    let dropped: Vec<String> = taking.make_room().into_iter().map(|group| group.id).collect();
    assert_eq!(dropped, [origin::group_name(old), origin::group_name(now - 1_000_000_000)]);
    assert_eq!(house.store().groups().unwrap().len(), MAX_GROUPS);
    assert!(house.ids().contains(&taken.id.unwrap()));
}
