#![expect(clippy::disallowed_methods, reason = "makes workspaces, changes views, and compares what is there")]

mod beside;
mod together;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, XattrFlags, lgetxattr, lsetxattr, mknodat};
use tempfile::TempDir;

use super::about::{About, ReviewView};
use super::at::Look;
use super::change::{ChangeKind, ChangeState, FileChange};
use super::copy::copy_all;
use super::crash;
use super::error::ReviewError;
use super::judge::Guarded;
use super::layer::{Content, LayerState, ReviewLayer};
use super::manifest::Manifest;
use super::select::ChangeSelection;
use super::store::ReviewStore;

/// A workspace, and a layer with a view of it that is a copy.
struct Ground {
    _state: TempDir,
    _around: TempDir,
    workspace: PathBuf,
    store: ReviewStore,
    id: String,
    view: PathBuf,
}

fn whole(path: &Path) -> PathBuf {
    path.canonicalize().unwrap()
}

impl Ground {
    /// With a workspace that is filled by this, and a layer on this file system.
    fn new(state: TempDir, fill: impl Fn(&Path)) -> Self {
        let around = tempfile::tempdir().unwrap();
        let workspace = whole(around.path()).join("w");
        fs::create_dir(&workspace).unwrap();
        fill(&workspace);
        let store = ReviewStore::make(&whole(state.path())).unwrap();
        let (id, view) = Self::begin(&store, &workspace);
        Self { _state: state, _around: around, workspace, store, id, view }
    }

    /// Makes a layer with a view of a workspace as it is.
    fn begin(store: &ReviewStore, workspace: &Path) -> (String, PathBuf) {
        let (id, path, folder, _lock) = store.new_layer().unwrap();
        let mut base = Manifest::of(workspace);
        fs::create_dir(path.join("copy")).unwrap();
        copy_all(workspace, &mut base, &path.join("copy")).unwrap();
        base.save(&folder).unwrap();
        let about = About {
            workspace: workspace.to_path_buf(),
            workspace_identity: super::about::identity_at(workspace).unwrap(),
            command: "make".to_owned(),
            view: ReviewView::Copy,
        };
        about.save(&folder).unwrap();
        (id, path.join("copy"))
    }

    fn beside(fill: impl Fn(&Path)) -> Self {
        Self::new(tempfile::tempdir().unwrap(), fill)
    }

    fn layer(&self) -> ReviewLayer {
        self.store.layer(&self.id).unwrap()
    }

    /// Changes the view, and closes it.
    fn change(&self, with: impl Fn(&Path)) -> Vec<FileChange> {
        with(&self.view);
        self.layer().close(&Guarded::default()).unwrap()
    }

    fn apply(&self) -> super::Merged {
        self.store.apply(&self.layer(), &ChangeSelection::All).unwrap()
    }

    fn undo(&self) -> super::Merged {
        self.store.undo(&self.layer(), &ChangeSelection::All).unwrap()
    }

    fn seen(&self) -> BTreeMap<PathBuf, Seen> {
        seen(&self.workspace)
    }
}

/// All that a test compares about a file.
#[derive(Debug, Clone, PartialEq)]
struct Seen {
    mode: u32,
    /// A hash of a file's content, or of a symlink's target.
    content: u64,
    modified: (i64, i64),
    attribute: Vec<u8>,
    /// The first path of the same file.
    first: PathBuf,
}

fn seen(root: &Path) -> BTreeMap<PathBuf, Seen> {
    let (mut all, mut first) = (BTreeMap::new(), BTreeMap::new());
    see(root, Path::new(""), &mut all, &mut first);
    all
}

fn see(
    root: &Path,
    path: &Path,
    all: &mut BTreeMap<PathBuf, Seen>,
    first: &mut BTreeMap<(u64, u64), PathBuf>,
) {
    let own = root.join(path);
    let data = own.symlink_metadata().unwrap();
    let mode = data.mode() & 0o7777;
    let open = data.is_dir() || data.is_file();
    if open {
        fs::set_permissions(&own, fs::Permissions::from_mode(mode | 0o700)).unwrap();
    }
    let kind = data.file_type();
    let content = match () {
        () if kind.is_symlink() => own.read_link().unwrap().as_os_str().as_bytes().to_vec(),
        () if kind.is_file() => fs::read(&own).unwrap(),
        () => Vec::new(),
    };
    let mut room = [0; 64];
    let length = lgetxattr(&own, "user.own", &mut room[..]).unwrap_or(0);
    let first_path = first.entry((data.dev(), data.ino())).or_insert_with(|| path.to_path_buf()).clone();
    let mut hasher = std::hash::DefaultHasher::new();
    std::hash::Hash::hash(&content, &mut hasher);
    let seen = Seen {
        mode,
        content: std::hash::Hasher::finish(&hasher),
        modified: (data.mtime(), data.mtime_nsec()),
        attribute: room[..length].to_vec(),
        first: if kind.is_dir() { PathBuf::new() } else { first_path },
    };
    all.insert(path.to_path_buf(), seen);
    if kind.is_dir() {
        let mut names: Vec<_> = fs::read_dir(&own).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names.iter().for_each(|name| see(root, &path.join(name), all, first));
    }
    if open {
        fs::set_permissions(&own, fs::Permissions::from_mode(mode)).unwrap();
    }
}

/// The same, without the times of folders that were there before: what is put into one changes it.
fn without_old_times(
    seen: BTreeMap<PathBuf, Seen>,
    before: &BTreeMap<PathBuf, Seen>,
    root: &Path,
) -> BTreeMap<PathBuf, Seen> {
    let is_old = |path: &Path| before.contains_key(path) && root.join(path).is_dir();
    let plain = |(path, seen): (PathBuf, Seen)| {
        let modified = if is_old(&path) { (0, 0) } else { seen.modified };
        (path, Seen { modified, ..seen })
    };
    seen.into_iter().map(plain).collect()
}

/// A workspace with one of each.
fn fill(root: &Path) {
    for folder in ["a/b", "a/d", "gone/deep/er", "locked", "becomes-file/x", ".git/objects"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    for file in [
        "a/1",
        "a/b/2",
        "a/d/3",
        "gone/1",
        "gone/deep/2",
        "gone/deep/er/3",
        "locked/1",
        "becomes-file/x/1",
        "becomes-folder",
        "mode",
        "one",
        ".git/HEAD",
        "same",
        "big",
    ] {
        fs::write(root.join(file), file).unwrap();
    }
    fs::hard_link(root.join("one"), root.join("two")).unwrap();
    fs::hard_link(root.join("a/1"), root.join("a/b/linked")).unwrap();
    symlink("nowhere", root.join("link")).unwrap();
    symlink("a", root.join("to-a")).unwrap();
    fs::write(root.join(OsStr::from_bytes(b"n\xff\nme")), "odd").unwrap();
    lsetxattr(root.join("mode"), "user.own", b"yes", XattrFlags::empty()).ok();
    fs::set_permissions(root.join("locked"), fs::Permissions::from_mode(0o555)).unwrap();
    fs::set_permissions(root.join("gone/deep"), fs::Permissions::from_mode(0o555)).unwrap();
    fs::File::options().write(true).open(root.join("big")).unwrap().set_len(5 << 20).unwrap();
}

/// Changes one of each.
fn work(root: &Path) {
    let open = |path: &str| fs::set_permissions(root.join(path), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(root.join("a/1"), "changed").unwrap();
    fs::remove_file(root.join("a/b/2")).unwrap();
    fs::rename(root.join("a/d/3"), root.join("a/d/moved")).unwrap();
    open("gone/deep");
    fs::remove_dir_all(root.join("gone")).unwrap();
    open("locked");
    fs::write(root.join("locked/2"), "new").unwrap();
    fs::remove_file(root.join("locked/1")).unwrap();
    fs::set_permissions(root.join("locked"), fs::Permissions::from_mode(0o511)).unwrap();
    fs::remove_dir_all(root.join("becomes-file")).unwrap();
    fs::write(root.join("becomes-file"), "file").unwrap();
    fs::remove_file(root.join("becomes-folder")).unwrap();
    fs::create_dir_all(root.join("becomes-folder/in/it")).unwrap();
    fs::write(root.join("becomes-folder/in/it/1"), "x").unwrap();
    fs::set_permissions(root.join("mode"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::remove_file(root.join("link")).unwrap();
    symlink("elsewhere", root.join("link")).unwrap();
    fs::create_dir_all(root.join("new/folder")).unwrap();
    fs::write(root.join("new/folder/1"), "1").unwrap();
    fs::hard_link(root.join("new/folder/1"), root.join("new/2")).unwrap();
    fs::write(root.join("new").join(OsStr::from_bytes(b"\x80")), "odd").unwrap();
    fs::remove_file(root.join(OsStr::from_bytes(b"n\xff\nme"))).unwrap();
    fs::write(root.join("closed"), "unreadable").unwrap();
    fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    fs::create_dir(root.join("shut")).unwrap();
    fs::write(root.join("shut/1"), "1").unwrap();
    fs::set_permissions(root.join("shut"), fs::Permissions::from_mode(0o100)).unwrap();
    fs::write(root.join("same"), "same").unwrap();
    lsetxattr(root.join("new/2"), "user.own", b"kept", XattrFlags::empty()).ok();
    fs::File::options().write(true).open(root.join("big")).unwrap().set_len(9 << 20).unwrap();
}

fn elsewhere() -> Option<TempDir> {
    let here = tempfile::tempdir().unwrap();
    let device = |folder: &TempDir| fs::metadata(folder.path()).unwrap().dev();
    let other = tempfile::tempdir_in("/dev/shm").ok().filter(|other| device(other) != device(&here));
    if other.is_none() {
        println!("skipped: /dev/shm is no other file system, so nothing is applied from one to another");
    }
    other
}

#[test]
fn applying_and_undoing_a_review_restores_both_states() {
    for state in [Some(tempfile::tempdir().unwrap()), elsewhere()].into_iter().flatten() {
        let ground = Ground::new(state, fill);
        let before = ground.seen();
        work(&ground.view);
        let view = seen(&ground.view);
        let changes = ground.change(|_| {});
        assert!(changes.iter().all(|change| change.refused.is_none()), "{changes:?}");
        let plain = |seen| without_old_times(seen, &before, &ground.workspace);
        for _ in 0..2 {
            let merged = ground.apply();
            assert_eq!((merged.conflicts.len(), merged.done.len()), (0, changes.len()), "{merged:?}");
            assert_eq!(plain(ground.seen()), plain(view.clone()));
            assert_eq!(ground.layer().state(), LayerState::Applied);
            let undone = ground.undo();
            assert_eq!((undone.conflicts.len(), undone.done.len()), (0, changes.len()), "{undone:?}");
            let now = ground.seen();
            let is_linked =
                |(path, seen): &(&PathBuf, &Seen)| seen.first != **path && !seen.first.as_os_str().is_empty();
            assert!(before.iter().filter(is_linked).count() >= 2);
            match fs::metadata(&ground.view).unwrap().dev() == fs::metadata(&ground.workspace).unwrap().dev()
            {
                true => assert_eq!(now, before),
                // What was copied is one file no longer with what it was linked to.
                false => {
                    let alone = |all: &BTreeMap<PathBuf, Seen>| -> Vec<_> {
                        all.iter()
                            .map(|(path, seen)| (path.clone(), seen.content, seen.mode, seen.modified))
                            .collect()
                    };
                    assert_eq!(alone(&now), alone(&before));
                }
            }
        }
        assert_eq!(ground.store.discard(&ground.layer(), &ChangeSelection::All).unwrap(), changes.len());
        assert!(ground.store.layers().unwrap().is_empty());
    }
}

/// Kills a merge before each call that changes something, and goes on from there.
#[test]
fn an_interrupted_merge_is_completed_by_the_next_one() {
    let mut points = 0;
    for state in [Some(tempfile::tempdir().unwrap()), elsewhere()].into_iter().flatten() {
        let ground = Ground::new(state, fill);
        let before = ground.seen();
        work(&ground.view);
        let view = seen(&ground.view);
        ground.change(|_| {});
        let plain = |seen| without_old_times(seen, &before, &ground.workspace);
        let contents = |all: BTreeMap<PathBuf, Seen>| -> Vec<_> {
            all.into_iter().map(|(path, seen)| (path, seen.content, seen.mode, seen.modified)).collect()
        };
        let mut is_through = [false; 2];
        let mut killed = 0;
        while is_through != [true, true] {
            crash::after(Some(killed));
            let result = ground.store.apply(&ground.layer(), &ChangeSelection::All);
            crash::after(None);
            is_through[0] |= result.is_ok();
            if result.is_err() {
                points += 1;
                ground.store.apply(&ground.layer(), &ChangeSelection::All).unwrap();
            }
            assert_eq!(plain(ground.seen()), plain(view.clone()), "killed at {killed}");
            crash::after(Some(killed));
            let result = ground.store.undo(&ground.layer(), &ChangeSelection::All);
            crash::after(None);
            is_through[1] |= result.is_ok();
            if result.is_err() {
                points += 1;
                ground.store.undo(&ground.layer(), &ChangeSelection::All).unwrap();
            }
            assert_eq!(contents(ground.seen()), contents(before.clone()), "killed at {killed}");
            killed += 1;
        }
    }
    assert!(points > 200, "{points}");
}

#[test]
fn a_conflict_prevents_the_whole_merge() {
    type Edit = fn(&Path);
    let rows: &[(&str, Edit)] = &[
        ("a/1", |root| fs::write(root.join("a/1"), "mine").unwrap()),
        ("a/1", |root| {
            fs::write(root.join("a/x"), "a/1").unwrap();
            fs::rename(root.join("a/x"), root.join("a/1")).unwrap();
        }),
        ("a/1", |root| fs::remove_file(root.join("a/1")).unwrap()),
        ("new", |root| fs::create_dir(root.join("new")).unwrap()),
        ("gone", |root| fs::write(root.join("gone/mine"), "x").unwrap()),
        ("a/b/2", |root| fs::write(root.join("a/b/2"), "mine").unwrap()),
        ("link", |root| {
            fs::remove_file(root.join("link")).unwrap();
            symlink("mine", root.join("link")).unwrap();
        }),
        ("mode", |root| fs::set_permissions(root.join("mode"), fs::Permissions::from_mode(0o640)).unwrap()),
        ("a/1", |root| {
            fs::rename(root.join("a"), root.join("b")).unwrap();
            symlink("b", root.join("a")).unwrap();
        }),
    ];
    for (path, edit) in rows {
        let ground = Ground::beside(fill);
        ground.change(work);
        edit(&ground.workspace);
        let before = ground.seen();
        let merged = ground.apply();
        assert!(
            merged.conflicts.iter().any(|conflict| conflict.path == Path::new(path)),
            "{path} {merged:?}"
        );
        assert!(merged.done.is_empty(), "all of it is one repository: {merged:?}");
        assert_eq!(ground.seen(), before);
        assert_eq!(ground.layer().state(), LayerState::Waiting);
    }
}

#[test]
fn a_conflict_affects_only_its_repository() {
    let ground = Ground::beside(|root| {
        for repository in ["one", "two"] {
            fs::create_dir_all(root.join(repository).join(".git")).unwrap();
            fs::write(root.join(repository).join("f"), "1").unwrap();
            fs::write(root.join(repository).join("g"), "1").unwrap();
        }
    });
    ground.change(|root| {
        for file in ["one/f", "one/g", "two/f", "two/g"] {
            fs::write(root.join(file), "22").unwrap();
        }
    });
    fs::write(ground.workspace.join("one/f"), "mine").unwrap();
    let merged = ground.apply();
    assert_eq!(merged.done, [Path::new("two/f"), Path::new("two/g")]);
    assert_eq!(merged.conflicts.len(), 1);
    assert_eq!(merged.conflicts[0].group, Path::new("one"));
    assert_eq!(fs::read(ground.workspace.join("one/g")).unwrap(), b"1");
    // What is in conflict can be left out by name.
    let only = ChangeSelection::Paths(vec!["one/g".into()]);
    assert_eq!(ground.store.apply(&ground.layer(), &only).unwrap().done, [Path::new("one/g")]);
}

#[test]
fn later_changes_of_the_user_are_not_undone() {
    let ground = Ground::beside(fill);
    ground.change(work);
    ground.apply();
    fs::write(ground.workspace.join("new/folder/mine"), "x").unwrap();
    let before = ground.seen();
    let undone = ground.undo();
    assert_eq!(undone.conflicts.len(), 1, "{undone:?}");
    assert_eq!(undone.conflicts[0].path, Path::new("new/folder"));
    assert_eq!(ground.seen(), before);
    fs::remove_file(ground.workspace.join("new/folder/mine")).unwrap();
    assert!(ground.undo().conflicts.is_empty());
}

#[test]
fn selected_paths_are_applied_with_their_parent_directories() {
    let ground = Ground::beside(fill);
    let before = ground.seen();
    let changes = ground.change(work);
    let some = ChangeSelection::Paths(vec!["becomes-folder/in/it/1".into(), "gone/deep".into()]);
    let merged = ground.store.apply(&ground.layer(), &some).unwrap();
    assert!(merged.conflicts.is_empty() && merged.refused.is_empty(), "{merged:?}");
    assert!(ground.workspace.join("becomes-folder/in/it/1").exists());
    assert!(!ground.workspace.join("gone/deep").exists() && ground.workspace.join("gone/1").exists());
    assert_eq!(fs::read(ground.workspace.join("a/1")).unwrap(), b"a/1");
    let applied = ground.layer().changes().unwrap();
    let applied = applied.iter().filter(|change| change.state == ChangeState::Applied).count();
    assert!(applied > 4 && applied < changes.len());
    let one = ChangeSelection::Paths(vec!["gone/deep/2".into()]);
    ground.store.undo(&ground.layer(), &one).unwrap();
    let deep = ground.workspace.join("gone/deep");
    assert!(deep.join("2").exists() && !deep.join("er").exists());
    // A directory that this user cannot write is a conflict, and the merge does not start.
    if !rustix::process::geteuid().is_root() {
        let undone = ground.undo();
        assert!(undone.done.is_empty(), "{undone:?}");
        assert_eq!(undone.conflicts[0].path, Path::new("gone/deep/er"));
        assert!(ground.store.resume().unwrap().is_empty());
        fs::set_permissions(&deep, fs::Permissions::from_mode(0o755)).unwrap();
    }
    ground.undo();
    fs::set_permissions(&deep, fs::Permissions::from_mode(0o555)).unwrap();
    assert_eq!(ground.seen(), before);
    let none = ChangeSelection::Paths(vec!["no/such".into()]);
    let error = ground.store.apply(&ground.layer(), &none).unwrap_err();
    assert!(matches!(error, ReviewError::NoSuchPath(_)));
}

#[test]
fn protected_names_are_not_applied() {
    let ground = Ground::beside(|root| {
        fill(root);
        fs::create_dir_all(root.join("was/hooks")).unwrap();
        fs::write(root.join("was/hooks/pre-commit"), "#!/bin/sh\nevil\n").unwrap();
    });
    let changes = ground.change(|root| {
        fs::create_dir(root.join(".vscode")).unwrap();
        fs::write(root.join(".vscode/tasks.json"), "{}").unwrap();
        fs::create_dir_all(root.join("evil/.git/objects")).unwrap();
        fs::create_dir_all(root.join("evil/.git/refs")).unwrap();
        fs::create_dir_all(root.join("evil/.git/hooks")).unwrap();
        fs::write(root.join("evil/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(root.join("evil/.git/config"), "[core]\n\tfsmonitor = touch /tmp/x\n").unwrap();
        fs::write(root.join("evil/.git/hooks/pre-commit"), "#!/bin/sh\n").unwrap();
        fs::create_dir_all(root.join("was/objects")).unwrap();
        fs::create_dir_all(root.join("was/refs")).unwrap();
        fs::write(root.join("was/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(root.join("setuid"), "x").unwrap();
        fs::set_permissions(root.join("setuid"), fs::Permissions::from_mode(0o4755)).unwrap();
        mknodat(CWD, root.join("pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        drop(std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap());
        fs::write(root.join("fine"), "x").unwrap();
    });
    let merged = ground.apply();
    for path in [
        ".vscode",
        ".vscode/tasks.json",
        "evil/.git/config",
        "evil/.git/hooks/pre-commit",
        "was/HEAD",
        "setuid",
        "pipe",
        "socket",
    ] {
        let is_refused = merged.refused.iter().any(|(refused, _)| refused == Path::new(path));
        assert!(is_refused, "{path}: {changes:?}");
        assert!(ground.workspace.join(path).symlink_metadata().is_err(), "{path}");
    }
    assert!(ground.workspace.join("fine").exists() && ground.workspace.join("evil/.git/HEAD").exists());
    assert!(!fs::symlink_metadata(ground.view.join("pipe")).unwrap().file_type().is_file());
    assert!(fs::symlink_metadata(ground.view.join("socket")).unwrap().file_type().is_socket());
}

#[test]
fn symlinks_in_paths_are_not_followed_by_a_merge() {
    let outside = tempfile::tempdir().unwrap();
    let ground = Ground::beside(|root| fs::create_dir_all(root.join("a/b")).unwrap());
    ground.change(|root| fs::write(root.join("a/b/1"), "x").unwrap());
    fs::remove_dir_all(ground.workspace.join("a")).unwrap();
    fs::create_dir(outside.path().join("b")).unwrap();
    symlink(outside.path(), ground.workspace.join("a")).unwrap();
    let merged = ground.apply();
    assert_eq!(merged.conflicts.len(), 1);
    assert_eq!(fs::read_dir(outside.path().join("b")).unwrap().count(), 0);
}

#[test]
fn content_before_and_after_a_change_is_read() {
    let ground = Ground::beside(fill);
    let changes = ground.change(work);
    let of = |path: &str| changes.iter().find(|change| change.path == Path::new(path)).unwrap();
    let file = |text: &str| Content::File(text.as_bytes().to_vec());
    let layer = ground.layer();
    assert_eq!(layer.contents(of("a/1"), 1 << 20).unwrap(), (file("a/1"), file("changed")));
    assert_eq!(layer.contents(of("a/b/2"), 1 << 20).unwrap(), (file("a/b/2"), Content::Nothing));
    assert_eq!(layer.contents(of("new/2"), 1 << 20).unwrap(), (Content::Nothing, file("1")));
    assert_eq!(layer.contents(of("new"), 1 << 20).unwrap(), (Content::Nothing, Content::Folder));
    assert_eq!(layer.contents(of("big"), 1 << 20).unwrap(), (Content::Unread, Content::Unread));
    let link = |text: &str| Content::Link(text.as_bytes().to_vec());
    assert_eq!(layer.contents(of("link"), 9).unwrap(), (link("nowhere"), link("elsewhere")));
    ground.apply();
    let changes = ground.layer().changes().unwrap();
    let of = |path: &str| changes.iter().find(|change| change.path == Path::new(path)).unwrap();
    assert_eq!(layer.contents(of("a/1"), 1 << 20).unwrap(), (file("a/1"), file("changed")));
    assert_eq!(layer.contents(of("a/b/2"), 1 << 20).unwrap(), (file("a/b/2"), Content::Nothing));
    assert_eq!(of("a/1").kind, ChangeKind::Modified);
}

#[test]
fn layers_are_bounded_and_one_that_runs_stays() {
    let ground = Ground::beside(fill);
    ground.change(work);
    let (running, path, folder, lock) = ground.store.new_layer().unwrap();
    About::load(&ground.layer().folder).unwrap().unwrap().save(&folder).unwrap();
    assert!(matches!(ground.store.layer(&running).unwrap().changes(), Err(ReviewError::Running(_))));
    for _ in 0..super::MAX_LAYERS + 3 {
        let (_, _, folder, _lock) = ground.store.new_layer().unwrap();
        About::load(&ground.layer().folder).unwrap().unwrap().save(&folder).unwrap();
    }
    let dropped = ground.store.clean().unwrap();
    assert_eq!(ground.store.layers().unwrap().len(), super::MAX_LAYERS);
    assert_eq!(dropped.len(), 5);
    assert!(path.exists());
    drop(lock);
    let look = Look::of(&rustix::fs::stat(&path).unwrap());
    assert_eq!(look.mode, 0o700);
}

/// Makes a layer that is older than all that are kept.
fn old(ground: &Ground) -> PathBuf {
    let folder = ground.view.parent().unwrap();
    let old = folder.with_file_name("000000000001");
    fs::rename(folder, &old).unwrap();
    old
}

#[test]
fn an_interrupted_merge_is_not_deleted_before_it_is_completed() {
    let mut ground = Ground::beside(|_| {});
    ground.change(|root| (0..3).for_each(|at| fs::write(root.join(at.to_string()), "x").unwrap()));
    let folder = old(&ground);
    ground.id = "000000000001".to_owned();
    ground.view = folder.join("copy");
    // In the middle of what is written down already.
    let half_done = (0..100).find(|killed| {
        crash::after(Some(*killed));
        ground.store.apply(&ground.layer(), &ChangeSelection::All).unwrap_err();
        crash::after(None);
        folder.join("journal").exists()
    });
    assert!(half_done.is_some());
    assert_eq!(ground.store.clean().unwrap(), []);
    assert!(folder.exists());
    assert_eq!(ground.store.resume().unwrap().len(), 1);
    assert_eq!(fs::read_dir(&ground.workspace).unwrap().count(), 3);
    assert_eq!(ground.store.clean().unwrap().len(), 1);
}

#[test]
fn the_size_of_an_unrecorded_layer_is_measured() {
    let ground = Ground::beside(|_| {});
    let long = fs::File::create(ground.view.join("long")).unwrap();
    long.set_len(super::MAX_LAYER_BYTES + 1).unwrap();
    assert_eq!(ground.layer().state(), LayerState::Interrupted);
    assert!(ground.layer().bytes() > super::MAX_LAYER_BYTES);
    assert_eq!(ground.store.clean().unwrap().len(), 1);
}
