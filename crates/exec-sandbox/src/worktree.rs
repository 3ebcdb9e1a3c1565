//! Support for a workspace that is a linked worktree (`git worktree add`), whose repository lies elsewhere.
//!
//! Objects, references and the worktree's own directory are writable, so that git can commit, switch and fetch. The rest of the
//! repository (settings, hooks, other worktrees) is read-only, so a command cannot make it name a program.

#![expect(clippy::disallowed_methods, reason = "follows what git wrote about a worktree")]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use stockade_files::real_path;
use stockade_files::regular_file::read_regular;
use stockade_git::git_settings;

use crate::host::{Entry, LinkedWorktree};

/// Maximum sizes of a file that names a path, and of a settings file.
const MAX_LINK_BYTES: u64 = 4 << 10;
const MAX_SETTINGS_BYTES: u64 = 1 << 20;

/// Directories that git writes to for any worktree.
const WRITABLE: &[&str] = &["objects", "refs", "logs", "reftable"];

/// The directory with the paths of alternate object stores, which every repository has.
const OTHER_OBJECTS: &str = "objects/info";

/// Files of the worktree's own directory that name paths or programs. `modules` contains repositories with settings.
const OBEYED: &[&str] = &["commondir", "gitdir", "config.worktree", "modules"];

/// Returns the repository of a linked worktree, if the workspace names the repository and the repository names the workspace.
///
/// The workspace alone is untrusted: it could name the repository of another project.
pub(crate) fn find(workspace: &Path) -> Option<LinkedWorktree> {
    let link = workspace.join(".git");
    fs::symlink_metadata(&link).ok().filter(fs::Metadata::is_file)?;
    let own = pointer_target(workspace, &read_regular(&link, MAX_LINK_BYTES).ok()?, b"gitdir: ")?;
    let common = own.parent().filter(|around| around.ends_with("worktrees"))?.parent()?.to_path_buf();
    let agrees = pointer_target(&own, &read_regular(&own.join("commondir"), MAX_LINK_BYTES).ok()?, b"")?
        == common
        && pointer_target(&own, &read_regular(&own.join("gitdir"), MAX_LINK_BYTES).ok()?, b"")?
            == real_path(&link).ok()?;
    let is_apart = !common.starts_with(workspace) && !workspace.starts_with(&common);
    (agrees && is_apart && is_whole(&common) && is_harmless(&common, &own)).then(|| parts(common, &own))
}

/// Resolves the path in one of git's files, relative to its directory, without symlinks.
fn pointer_target(folder: &Path, text: &[u8], prefix: &[u8]) -> Option<PathBuf> {
    let path = text.strip_prefix(prefix)?.trim_ascii_end();
    real_path(&folder.join(OsStr::from_bytes(path))).ok()
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|data| data.is_dir())
}

fn is_whole(common: &Path) -> bool {
    ["objects", "refs", OTHER_OBJECTS].iter().all(|name| is_folder(&common.join(name)))
        && common.join("HEAD").symlink_metadata().is_ok()
}

/// Whether the command cannot create settings in the worktree's own directory: git only reads `config.worktree` if the
/// repository enables that, and an existing file is mounted read-only.
fn is_harmless(common: &Path, own: &Path) -> bool {
    let settings = read_regular(&common.join("config"), MAX_SETTINGS_BYTES).ok();
    let settings = settings.and_then(|bytes| git_settings(&bytes).ok());
    let has_own = own.join("config.worktree").symlink_metadata().is_ok();
    settings.is_some_and(|settings| {
        has_own || settings.iter().all(|setting| setting.key != "extensions.worktreeconfig")
    })
}

fn parts(common: PathBuf, own: &Path) -> LinkedWorktree {
    let writable = WRITABLE.iter().map(|name| common.join(name)).filter(|path| is_folder(path));
    let writable = writable.chain([own.to_path_buf()]).collect();
    let obeyed = OBEYED.iter().map(|name| own.join(name)).chain([common.join(OTHER_OBJECTS)]);
    let kind = |path: PathBuf| fs::symlink_metadata(&path).ok().map(|data| (path, Entry::of(&data)));
    LinkedWorktree { writable, obeyed: obeyed.filter_map(kind).collect(), common }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a repository with a worktree, in git's format.
    fn worktree(folder: &Path) -> (PathBuf, PathBuf) {
        let (common, top) = (folder.join("main/.git"), folder.join("tree"));
        let own = common.join("worktrees/tree");
        for path in [&common.join("objects/info"), &common.join("refs"), &own, &top] {
            fs::create_dir_all(path).unwrap();
        }
        fs::write(common.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(common.join("config"), "[core]\n\tbare = false\n").unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        fs::write(own.join("gitdir"), format!("{}/.git\n", top.display())).unwrap();
        fs::write(top.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        (common, top)
    }

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        (folder, path)
    }

    #[test]
    fn a_worktree_is_found_with_what_it_may_change() {
        let (_held, folder) = folder();
        let (common, top) = worktree(&folder);
        let own = common.join("worktrees/tree");
        let found = find(&top).unwrap();
        assert_eq!(found.common, common);
        assert_eq!(found.writable, [common.join("objects"), common.join("refs"), own.clone()]);
        let obeyed: Vec<&PathBuf> = found.obeyed.iter().map(|(path, _)| path).collect();
        assert_eq!(obeyed, [&own.join("commondir"), &own.join("gitdir"), &common.join("objects/info")]);
        // Newer versions of git write a relative path.
        fs::write(top.join(".git"), "gitdir: ../main/.git/worktrees/tree\n").unwrap();
        fs::write(own.join("gitdir"), "../../../../tree/.git\n").unwrap();
        assert_eq!(find(&top), Some(found));
    }

    #[test]
    fn no_workspace_names_the_repository_of_another() {
        type Change = fn(&Path, &Path);
        let changes: &[Change] = &[
            // The repository names another worktree.
            |common, _| fs::write(common.join("worktrees/tree/gitdir"), "/elsewhere/.git\n").unwrap(),
            |common, _| fs::write(common.join("worktrees/tree/commondir"), "../../../other\n").unwrap(),
            |common, _| fs::remove_dir_all(common.join("objects")).unwrap(),
            |common, _| fs::remove_dir(common.join("objects/info")).unwrap(),
            |common, top| fs::write(top.join(".git"), format!("gitdir: {}\n", common.display())).unwrap(),
            |_, top| fs::rename(top.join(".git"), top.join("git")).unwrap(),
            // The command could create a settings file that names programs.
            |common, _| fs::write(common.join("config"), "[extensions]\n\tworktreeConfig = true\n").unwrap(),
            |common, _| fs::write(common.join("config"), "[core\n").unwrap(),
        ];
        for (number, change) in changes.iter().enumerate() {
            let (_held, folder) = folder();
            let (common, top) = worktree(&folder);
            change(&common, &top);
            assert_eq!(find(&top), None, "{number}");
        }
        let (_held, folder) = folder();
        let (common, top) = worktree(&folder);
        fs::write(common.join("config"), "[extensions]\n\tworktreeConfig = true\n").unwrap();
        fs::write(common.join("worktrees/tree/config.worktree"), "").unwrap();
        assert!(find(&top).unwrap().obeyed.iter().any(|(path, _)| path.ends_with("config.worktree")));
    }
}
