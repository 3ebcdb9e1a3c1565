//! Holds the processes and threads that the sources of a crate start to a table of them. Other crates do so by this file, too.

#![expect(clippy::disallowed_methods, reason = "reads the sources of a crate")]

use std::fs;
use std::path::{Path, PathBuf};

/// What starts a process or a thread, as it is written.
const STARTS: &[&str] =
    &["clone_process(", "raw::fork()", "Command::new(", "thread::Builder::new()", "thread::spawn("];

/// A place that starts helpers: how many, which, what they keep, and the test that reads that back.
pub(crate) struct Row {
    pub(crate) file: &'static str,
    pub(crate) starts: usize,
    pub(crate) helpers: &'static str,
    pub(crate) keeps: &'static str,
    pub(crate) test: &'static str,
}

/// All sources below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let below = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    entries.flat_map(below).collect()
}

/// How often a source starts something, before its tests.
fn starts(text: &str) -> usize {
    let product = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let code = product.lines().filter(|line| !line.trim_start().starts_with("//"));
    let defined = |line: &str| line.contains("fn clone_process(");
    code.filter(|line| !defined(line))
        .map(|line| STARTS.iter().filter(|start| line.contains(**start)).count())
        .sum()
}

/// Compares the sources of the crate in a folder with its table, and looks for the tests that this names.
pub(crate) fn check(root: &Path, table: &[Row]) {
    let all = [sources(&root.join("src")), sources(&root.join("tests"))].concat();
    let texts: Vec<(PathBuf, String)> = all
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            (path, text)
        })
        .collect();
    for (path, text) in &texts {
        let Ok(file) = path.strip_prefix(root.join("src")) else { continue };
        // Tests in a file of their own, or in a folder of them.
        if file.ends_with("tests.rs") || file.components().any(|part| part.as_os_str() == "tests") {
            continue;
        }
        let row = table.iter().find(|row| Path::new(row.file) == file);
        let expected = row.map_or(0, |row| row.starts);
        assert_eq!(starts(text), expected, "{} starts something that has no row", file.display());
    }
    for row in table {
        assert!(root.join("src").join(row.file).is_file(), "{} is gone", row.file);
        assert!(!row.helpers.is_empty() && !row.keeps.is_empty());
        let test = format!("fn {}()", row.test);
        assert!(texts.iter().any(|(_, text)| text.contains(&test)), "{} is no test", row.test);
    }
}
