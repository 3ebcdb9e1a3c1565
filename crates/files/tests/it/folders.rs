//! Reading of hostile directories.
#![expect(clippy::disallowed_methods, reason = "makes the folders that it reads")]

use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Mutex;

use stockade_files::{
    Coverage, EntryKind, FileOptions, FileReader, OpenedPath, Source, folders_with, open_path, read_files,
    read_files_except, read_text,
};
use tempfile::TempDir;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// A line for each stop: its path below the directory, the number of bytes, and the name of the gap.
fn stops(folder: &Path, options: &FileOptions) -> Vec<String> {
    let mut lines = Vec::new();
    read_files(
        &[Source::Path(folder.into())],
        options,
        |file| {
            let path = file.path.strip_prefix(folder).unwrap().display();
            let gap = file.gap.map_or("whole", |gap| gap.name());
            format!("{path} {} {gap}", file.bytes.len())
        },
        |line| {
            lines.push(line);
            ControlFlow::Continue(())
        },
    );
    lines
}

#[test]
fn every_name_is_a_file_or_a_gap() {
    let base = folder(&[("in/.git/HEAD", "abc"), ("in/a/b", "12345"), ("in/z", ""), ("out", "secret")]);
    let inside = base.path().join("in");
    symlink("../../out", inside.join("a/leaves")).unwrap();
    symlink("b", inside.join("a/stays")).unwrap();
    let _listener = UnixListener::bind(inside.join("socket")).unwrap();
    let all = [".git/HEAD 3 whole", "a/b 5 whole", "a/leaves 0 linkOutside", "socket 0 special", "z 0 whole"];
    assert_eq!(stops(&inside, &FileOptions::default()), all);

    let short = FileOptions { max_file_bytes: 4, ..FileOptions::default() };
    assert_eq!(stops(&inside, &short)[1], "a/b 4 tooLarge");
    let flat = FileOptions { max_depth: 0, ..FileOptions::default() };
    assert_eq!(stops(&inside, &flat)[..2], [".git 0 tooDeep", "a 0 tooDeep"]);
    let few = FileOptions { max_entries: 5, ..FileOptions::default() };
    assert_eq!(stops(&inside, &few).last().unwrap(), "a 0 tooMany");
}

#[test]
fn what_is_excluded_is_a_gap_and_not_entered() {
    let folder =
        folder(&[("a.txt", "text"), ("dep/dep/b.txt", "text"), ("dep.txt", "text"), (".ignore", "*")]);
    let asked = Mutex::new(Vec::new());
    let exclude = |below: &Path, kind: EntryKind| {
        asked.lock().unwrap().push(below.to_owned());
        below.ends_with("dep") && kind == EntryKind::Folder
    };
    let mut lines = Vec::new();
    read_files_except(
        &[Source::Path(folder.path().into())],
        &exclude,
        &FileOptions::default(),
        |file| (file.path.file_name().unwrap().to_owned(), file.gap.map_or("whole", |gap| gap.name())),
        |line| {
            lines.push(line);
            ControlFlow::Continue(())
        },
    );
    let lines: Vec<_> = lines.iter().map(|(name, gap)| (name.to_str().unwrap(), *gap)).collect();
    assert_eq!(lines, [(".ignore", "whole"), ("a.txt", "whole"), ("dep", "excluded"), ("dep.txt", "whole")]);
    assert_eq!(asked.lock().unwrap().len(), 4, "what is in an excluded folder is not asked about");
}

#[test]
fn what_is_named_itself_is_read() {
    let folder = folder(&[("a.txt", "text")]);
    let mut read = 0;
    let sources = [Source::Path(folder.path().join("a.txt"))];
    read_files_except(
        &sources,
        &|_, _| true,
        &FileOptions::default(),
        |file| file.bytes.len(),
        |bytes| {
            read += bytes;
            ControlFlow::Continue(())
        },
    );
    assert_eq!(read, 4);
}

#[test]
fn folders_are_found_by_a_name_in_them() {
    let base = folder(&[("a/SKILL.md", ""), ("a/b/SKILL.md", ""), ("c/d/SKILL.md", ""), ("e/f", "")]);
    symlink("/", base.path().join("e/leaves")).unwrap();
    let found = folders_with(&["SKILL.md"], base.path(), &FileOptions::default());
    assert_eq!(found.folders, [base.path().join("a"), base.path().join("c/d")]);
    let [(path, gap)] = found.gaps.as_slice() else { panic!("{:?}", found.gaps) };
    assert_eq!((path, gap.coverage()), (&base.path().join("e/leaves"), Coverage::Incomplete));
}

#[test]
fn an_open_folder_stays_the_folder_that_it_is() {
    let base = folder(&[("in/a", "first"), ("other/a", "second")]);
    let OpenedPath::Folder(open) = open_path(&base.path().join("in")).unwrap() else { panic!("no folder") };
    fs::rename(base.path().join("in"), base.path().join("gone")).unwrap();
    symlink("other", base.path().join("in")).unwrap();
    let [entry] = open.entries(9).unwrap().try_into().unwrap();
    assert_eq!(entry.kind, EntryKind::File);
    let mut reader = FileReader::new(99);
    assert!(matches!(reader.read_entry(&open, entry, Path::new("a")), (b"first", None)));
}

#[test]
fn a_name_that_became_a_link_is_not_opened() {
    let base = folder(&[("in/a", "first"), ("other", "second")]);
    let OpenedPath::Folder(open) = open_path(&base.path().join("in")).unwrap() else { panic!("no folder") };
    let [entry] = open.entries(9).unwrap().try_into().unwrap();
    fs::remove_file(base.path().join("in/a")).unwrap();
    symlink("../other", base.path().join("in/a")).unwrap();
    assert!(open.open(&entry.name).is_err() && open.enter(&entry.name).is_err());
    let mut reader = FileReader::new(99);
    let (bytes, gap) = reader.read_entry(&open, entry, Path::new("a"));
    assert_eq!((bytes, gap.unwrap().name()), (b"".as_slice(), "unreadable"));
}

#[test]
fn one_file_is_read_as_text() {
    let base = folder(&[("plain", "text"), ("marked", "\u{feff}text")]);
    let read = |name: &str| read_text(&Source::Path(base.path().join(name)), &FileOptions::default());
    let (plain, marked) = (read("plain").unwrap(), read("marked").unwrap());
    assert_eq!((plain.text.as_str(), plain.as_stored), ("text", true));
    assert_eq!((marked.text.as_str(), marked.as_stored), ("text", false));
    assert_eq!(read("").unwrap_err().name(), "unreadable");
}
