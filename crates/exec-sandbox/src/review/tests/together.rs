//! Changes of several layers, and undone ones, create no program that runs when they are combined.

#![expect(clippy::disallowed_methods, reason = "makes workspaces, and changes views")]

use std::fs;
use std::path::Path;

use super::super::crash;
use super::super::select::ChangeSelection;
use super::Ground;

/// Creates the files by which git recognizes a repository.
fn repository(root: &Path) {
    fs::create_dir_all(root.join("x/objects")).unwrap();
    fs::create_dir_all(root.join("x/refs")).unwrap();
    fs::write(root.join("x/HEAD"), "ref: refs/heads/main\n").unwrap();
}

/// Creates files by which git runs programs.
fn programs(root: &Path) {
    fs::create_dir_all(root.join("x/hooks")).unwrap();
    fs::write(root.join("x/config"), "[core]\n\tfsmonitor = touch /tmp/x\n").unwrap();
    fs::write(root.join("x/hooks/pre-commit"), "#!/bin/sh\n").unwrap();
}

fn is_armed(root: &Path) -> bool {
    let has_programs = root.join("x/hooks/pre-commit").exists()
        || fs::read_to_string(root.join("x/config")).is_ok_and(|text| text.contains("fsmonitor"));
    ["x/HEAD", "x/objects", "x/refs"].iter().all(|path| root.join(path).exists()) && has_programs
}

type Part = fn(&Path);

/// Returns the content of the workspace, and two layers in the order in which they are applied.
fn two_layers() -> Vec<(Part, [Part; 2])> {
    let fills: [Part; 3] = [
        |root| fs::create_dir(root.join("x")).unwrap(),
        |root| fs::create_dir_all(root.join("x/hooks")).unwrap(),
        |root| {
            fs::create_dir(root.join("x")).unwrap();
            fs::write(root.join("x/config"), "[core]\n\tbare = true\n").unwrap();
        },
    ];
    let orders: [[Part; 2]; 2] = [[repository, programs], [programs, repository]];
    fills.into_iter().flat_map(|fill| orders.map(|order| (fill, order))).collect()
}

/// Creates a workspace with two layers, which are judged and not refused individually.
fn with_two_layers(fill: Part, [first, second]: [Part; 2]) -> (Ground, String) {
    let ground = Ground::beside(fill);
    let (other, view) = Ground::begin(&ground.store, &ground.workspace);
    second(&view);
    let other_layer = ground.store.layer(&other).unwrap();
    let changes = [ground.change(first), other_layer.close(&other_layer.guarded_now()).unwrap()].concat();
    assert!(changes.iter().all(|change| change.refused.is_none()), "{changes:?}");
    (ground, other)
}

#[test]
fn two_layers_arm_no_repository_together() {
    for (number, (fill, order)) in two_layers().into_iter().enumerate() {
        let (ground, other) = with_two_layers(fill, order);
        assert!(ground.apply().refused.is_empty());
        let other = ground.store.layer(&other).unwrap();
        let merged = ground.store.apply(&other, &ChangeSelection::All).unwrap();
        assert!(!merged.refused.is_empty() && merged.conflicts.is_empty(), "{number} {merged:?}");
        assert!(!is_armed(&ground.workspace), "{number} {merged:?}");
        for (path, _) in &merged.refused {
            assert!(merged.done.iter().all(|done| !done.starts_with(path)), "{number} {merged:?}");
        }
        // The rest is undone, and applied again.
        for _ in 0..2 {
            let undone = ground.store.undo(&other, &ChangeSelection::All).unwrap();
            assert!(undone.conflicts.is_empty(), "{number} {undone:?}");
            ground.store.apply(&other, &ChangeSelection::All).unwrap();
            assert!(!is_armed(&ground.workspace), "{number}");
        }
    }
}

#[test]
fn two_layers_arm_no_repository_together_wherever_a_merge_is_interrupted() {
    for (number, (fill, order)) in two_layers().into_iter().enumerate() {
        for killed in 0.. {
            let (ground, other) = with_two_layers(fill, order);
            ground.apply();
            let other = ground.store.layer(&other).unwrap();
            crash::after(Some(killed));
            let result = ground.store.apply(&other, &ChangeSelection::All);
            crash::after(None);
            assert!(!is_armed(&ground.workspace), "{number}, killed at {killed}");
            for resumed in ground.store.resume().unwrap() {
                assert_eq!(resumed.id, other.id());
                resumed.swept.unwrap();
            }
            ground.store.apply(&other, &ChangeSelection::All).unwrap();
            assert!(!is_armed(&ground.workspace), "{number}, killed at {killed}");
            if result.is_ok() {
                assert!(killed > 4, "{number} {killed}");
                break;
            }
        }
    }
}

#[test]
fn some_paths_of_two_layers_arm_no_repository_together() {
    let (ground, other) =
        with_two_layers(|root| fs::create_dir(root.join("x")).unwrap(), [repository, programs]);
    let other = ground.store.layer(&other).unwrap();
    ground.apply();
    // An empty directory is harmless.
    for path in ["x/hooks", "x/hooks/pre-commit", "x/config"] {
        let one = ChangeSelection::Paths(vec![path.into()]);
        ground.store.apply(&other, &one).unwrap();
        assert!(!is_armed(&ground.workspace), "{path}");
    }
}

/// Undoing restores a file that no program obeyed before.
#[test]
fn an_undo_arms_no_repository() {
    let fill: Part = |root| {
        fs::create_dir(root.join("x")).unwrap();
        fs::write(root.join("x/config"), "[core]\n\tfsmonitor = touch /tmp/x\n").unwrap();
    };
    let harmless: Part = |root| fs::write(root.join("x/config"), "[core]\n").unwrap();
    let gone: Part = |root| fs::remove_file(root.join("x/config")).unwrap();
    for (number, with) in [harmless, gone].into_iter().enumerate() {
        let ground = Ground::beside(fill);
        ground.change(with);
        ground.apply();
        let (second, view) = Ground::begin(&ground.store, &ground.workspace);
        repository(&view);
        let second = ground.store.layer(&second).unwrap();
        second.close(&second.guarded_now()).unwrap();
        let merged = ground.store.apply(&second, &ChangeSelection::All).unwrap();
        assert_eq!(merged.refused, [], "{number}");
        assert!(ground.workspace.join("x/HEAD").exists());
        let undone = ground.undo();
        assert_eq!(undone.refused.len(), 1, "{number} {undone:?}");
        assert!(undone.done.is_empty() && !is_armed(&ground.workspace), "{number} {undone:?}");
    }
}

/// What others obeyed already when a command began comes back with all that it says, also where it is not protected but
/// looked at.
#[test]
fn an_undo_restores_protected_files_unchanged() {
    let fill: Part = |root| {
        fs::create_dir_all(root.join("node_modules/p/.vscode")).unwrap();
        fs::write(root.join("node_modules/p/.vscode/tasks.json"), "{}").unwrap();
        fs::write(root.join("node_modules/p/.envrc"), "x").unwrap();
    };
    for killed in [None, Some(3)] {
        let ground = Ground::beside(fill);
        let before = ground.seen();
        let layer = ground.layer();
        fs::remove_dir_all(ground.view.join("node_modules")).unwrap();
        layer.close(&layer.guarded_now()).unwrap();
        let merged = ground.apply();
        assert!(merged.refused.is_empty() && !ground.workspace.join("node_modules").exists(), "{merged:?}");
        crash::after(killed);
        ground.store.undo(&layer, &ChangeSelection::All).ok();
        crash::after(None);
        ground.store.resume().unwrap();
        assert_eq!(ground.seen(), before, "{killed:?}");
    }
}
