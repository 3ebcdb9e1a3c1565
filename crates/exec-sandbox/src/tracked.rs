//! Finds files with the name of a secret that are committed unchanged. The command can read their content in the repository
//! anyway, and git needs the file, or a commit would record its deletion.
//!
//! A tracked path is not enough: a command could add any path to the index, and would see the file the next time. So the
//! content must have the hash in the index, which only a program that knows the content can compute.

#![expect(clippy::disallowed_methods, reason = "reads indexes of repositories, and files that they may name")]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use stockade_files::regular_file::read_regular;
use stockade_git::{ObjectId, blob_id, indexed_files};

use crate::exposed_secrets::Seen;
use crate::host::{Entry, ProtectedEntry, ProtectionMode};

/// Maximum sizes of an index (some half a million files), of a compared file, and of a `.git` file that points to a repository.
const MAX_INDEX_BYTES: u64 = 64 << 20;
const MAX_FILE_BYTES: u64 = 1 << 20;
const MAX_LINK_BYTES: u64 = 4 << 10;

/// Maximum number of compared files and of indexes. Further files stay hidden.
const MAX_FILES: usize = 256;
const MAX_INDEXES: usize = 16;

/// Removes from the hidden files those that are committed unchanged, or unchanged since a command saw them, and returns them.
pub(crate) fn show_known(workspace: &Path, seen: &Seen, protected: &mut Vec<ProtectedEntry>) -> Vec<PathBuf> {
    let hidden = protected.iter().filter(|entry| is_hidden_file(entry)).map(|entry| entry.path.as_path());
    let mut files: BTreeMap<PathBuf, BTreeSet<&Path>> = BTreeMap::new();
    for path in hidden.take(MAX_FILES) {
        if let Some(top) = top_of(workspace, path) {
            files.entry(top).or_default().insert(path);
        }
    }
    let tracked = files.iter().take(MAX_INDEXES).flat_map(|(top, files)| tracked(workspace, top, files));
    let tracked: BTreeSet<PathBuf> = tracked.collect();
    let is_known = |path: &PathBuf| tracked.contains(path) || seen.has(workspace, path);
    let (shown, rest): (Vec<_>, Vec<_>) = std::mem::take(protected)
        .into_iter()
        .partition(|entry| is_hidden_file(entry) && is_known(&entry.path));
    *protected = rest;
    shown.into_iter().map(|entry| entry.path).collect()
}

fn is_hidden_file(entry: &ProtectedEntry) -> bool {
    entry.mode == ProtectionMode::Hide && entry.kind == Entry::File
}

/// Returns the top directory of the repository that contains a file, if it is in the workspace. The command sees no other.
fn top_of(workspace: &Path, file: &Path) -> Option<PathBuf> {
    let mut around = file.ancestors().skip(1);
    around.find(|top| workspace.join(top).join(".git").symlink_metadata().is_ok()).map(Path::to_path_buf)
}

/// Returns gitignore lines for hidden files, because `git add -A` fails on the devices that replace them. Git does not ignore
/// tracked files, so these lines do not affect them.
pub(crate) fn passed_over(workspace: &Path, protected: &[ProtectedEntry]) -> Vec<String> {
    let hidden = protected.iter().filter(|entry| entry.mode == ProtectionMode::Hide);
    let lines = hidden.filter_map(|entry| {
        let top = top_of(workspace, &entry.path)?;
        line_of(entry.path.strip_prefix(top).ok()?)
    });
    let lines: BTreeSet<String> = lines.collect();
    lines.into_iter().collect()
}

/// Returns the line that matches a path and no other, see gitignore(5); nothing if the path is not UTF-8.
fn line_of(path: &Path) -> Option<String> {
    let mut line = String::from("/");
    for letter in path.to_str()?.chars() {
        match letter {
            '*' | '?' | '[' | '\\' | ' ' => line.extend(['\\', letter]),
            // A line cannot contain it; `?` is unlikely to match another file.
            '\n' | '\r' | '\t' => line.push('?'),
            letter => line.push(letter),
        }
    }
    Some(line)
}

/// Returns the files of a repository that have the content that its index names.
fn tracked(workspace: &Path, top: &Path, files: &BTreeSet<&Path>) -> Vec<PathBuf> {
    let below = |path: &[u8]| top.join(OsStr::from_bytes(path));
    let index = repository(&workspace.join(top))
        .and_then(|own| read_regular(&own.join("index"), MAX_INDEX_BYTES).ok());
    let indexed = index.and_then(|index| {
        indexed_files(&index, ObjectId::Sha1, |path| files.contains(below(path).as_path())).ok()
    });
    let same = indexed.unwrap_or_default().into_iter().filter(|file| {
        let content = read_regular(&workspace.join(below(&file.path)), MAX_FILE_BYTES).ok();
        content.is_some_and(|content| file.blob == blob_id(&content))
    });
    same.map(|file| below(&file.path)).collect()
}

/// Whether git tracks a file of the workspace, so that a commit would record what a command sees of it. An index that cannot be
/// read may contain any file.
pub(crate) fn is_tracked(workspace: &Path, file: &Path) -> bool {
    let Ok(below) = file.strip_prefix(workspace) else { return false };
    let Some(top) = top_of(workspace, below) else { return false };
    let Some(index) = repository(&workspace.join(&top)).map(|own| own.join("index")) else { return false };
    if index.symlink_metadata().is_err() {
        return false;
    }
    let name = below.strip_prefix(&top).unwrap_or(below).as_os_str().as_bytes();
    let indexed = read_regular(&index, MAX_INDEX_BYTES).ok().and_then(|index| {
        let read = |id| indexed_files(&index, id, |path| path == name).ok();
        read(ObjectId::Sha1).or_else(|| read(ObjectId::Sha256))
    });
    indexed.is_none_or(|files| !files.is_empty())
}

/// Returns the directory of a repository's index.
fn repository(top: &Path) -> Option<PathBuf> {
    let path = top.join(".git");
    if fs::metadata(&path).ok()?.is_dir() {
        return Some(path);
    }
    let text = read_regular(&path, MAX_LINK_BYTES).ok()?;
    let link = text.strip_prefix(b"gitdir: ")?.trim_ascii_end();
    Some(top.join(OsStr::from_bytes(link)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an index with these contents.
    fn index(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut bytes = [b"DIRC\0\0\0\x02", &u32::try_from(files.len()).unwrap().to_be_bytes()[..]].concat();
        for (path, content) in files {
            let mut entry = vec![0; 24];
            entry.extend(0o100_644u32.to_be_bytes());
            entry.resize(40, 0);
            entry.extend(blob_id(content));
            entry.extend(u16::try_from(path.len()).unwrap().to_be_bytes());
            entry.extend(path.as_bytes());
            entry.resize((entry.len() + 8) & !7, 0);
            bytes.extend(entry);
        }
        bytes.extend([0; 20]);
        bytes
    }

    fn hidden(paths: &[&str]) -> Vec<ProtectedEntry> {
        let entry = |path: &&str| ProtectedEntry {
            path: path.into(),
            kind: Entry::File,
            mode: ProtectionMode::Hide,
            stamp: crate::host::Stamp::default(),
            around: 0,
        };
        paths.iter().map(entry).collect()
    }

    fn still_hidden(workspace: &Path, paths: &[&str]) -> Vec<String> {
        let mut entries = hidden(paths);
        show_known(workspace, &Seen::default(), &mut entries);
        entries.iter().map(|entry| entry.path.to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn unchanged_tracked_files_are_visible() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path();
        for path in [".git", "module", "own/.git", "app", "far"] {
            fs::create_dir_all(workspace.join(path)).unwrap();
        }
        let tracked: [(&str, &[u8]); 3] =
            [(".env.test", b"A=1\n"), ("app/.env", b"B=2\n"), ("own/.env", b"D=4\n")];
        fs::write(workspace.join(".git/index"), index(&tracked)).unwrap();
        fs::write(workspace.join("own/.git/index"), index(&[(".env.local", b"C=3\n")])).unwrap();
        fs::write(workspace.join("module/index"), index(&[(".env", b"E=5\n")])).unwrap();
        fs::write(workspace.join("far/.git"), "gitdir: ../module\n").unwrap();
        for (path, content) in [
            (".env.test", "A=1\n"),
            // Changed since the commit, and untracked.
            ("app/.env", "B=secret\n"),
            (".env", "Z=26\n"),
            // In another repository than the one that tracks the path.
            ("own/.env", "D=4\n"),
            ("own/.env.local", "C=3\n"),
            ("far/.env", "E=5\n"),
        ] {
            fs::write(workspace.join(path), content).unwrap();
        }
        let all = [".env.test", "app/.env", ".env", "own/.env", "own/.env.local", "far/.env"];
        assert_eq!(still_hidden(workspace, &all), ["app/.env", ".env", "own/.env"]);
    }

    #[test]
    fn unreadable_files_stay_hidden() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path();
        fs::create_dir(workspace.join(".git")).unwrap();
        fs::write(workspace.join(".env"), "A=1\n").unwrap();
        assert_eq!(still_hidden(workspace, &[".env"]), [".env"], "no index");
        let whole = index(&[(".env", b"A=1\n")]);
        fs::write(workspace.join(".git/index"), &whole[..whole.len() - 1]).unwrap();
        assert_eq!(still_hidden(workspace, &[".env"]), [".env"], "half an index");
        fs::remove_file(workspace.join(".git/index")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            workspace.join(".git/index"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
        assert_eq!(still_hidden(workspace, &[".env"]), [".env"], "a pipe without a writer");
        fs::remove_file(workspace.join(".git/index")).unwrap();
        fs::write(workspace.join(".git/index"), &whole).unwrap();
        assert_eq!(still_hidden(workspace, &[".env"]), [""; 0]);
        fs::write(workspace.join(".env"), vec![b'A'; MAX_FILE_BYTES as usize + 1]).unwrap();
        assert_eq!(still_hidden(workspace, &[".env"]), [".env"], "too long");
    }

    /// Work is bounded whatever is in a workspace.
    #[test]
    fn only_so_many_files_are_compared() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path();
        fs::create_dir(workspace.join(".git")).unwrap();
        let names: Vec<String> = (0..MAX_FILES + 10).map(|number| format!(".env.{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        names.iter().for_each(|name| fs::write(workspace.join(name), "x").unwrap());
        let mut sorted = names.clone();
        sorted.sort_unstable();
        let files: Vec<(&str, &[u8])> = sorted.iter().map(|name| (*name, &b"x"[..])).collect();
        fs::write(workspace.join(".git/index"), index(&files)).unwrap();
        assert_eq!(still_hidden(workspace, &names).len(), 10);
    }
}
