//! Files that are obeyed or kept are opened by one function.
//!
//! `stockade_files::open_own` follows no symlink and waits for no pipe; `KeptFile` and `read_trusted` also check whose a file is. A source
//! file of the crates that keep state and opens files in another way is in the table below, with its reason.

use super::problem::Problem;
use super::tree::{Tree, numbered};

/// Crates that obey files of the user, or keep some.
const KEEPERS: &[&str] =
    &["admission", "audit", "config", "guard", "harness", "limit-stores", "serve", "state"];

/// Calls that open a file by its path.
const OPENERS: &[&str] = &[
    "OpenOptions::new(",
    "File::open(",
    "File::create(",
    "File::options(",
    "fs::read(",
    "fs::read_to_string(",
    "fs::write(",
    "fs::copy(",
    "Connection::open",
];

/// Files that open files in another way, and which ones.
const DOORS: &[(&str, &str)] = &[
    ("crates/audit/src/anchor.rs", "an anchor is a file of another user, which this one may only add to"),
    (
        "crates/audit/src/database.rs",
        "SQLite opens databases itself, with NOFOLLOW, where a private file was created",
    ),
    ("crates/audit/src/json_lines.rs", "reads /dev/null where there is no head"),
    ("crates/audit/src/lock_wait.rs", "reads trails that are named by the caller, without waiting"),
    ("crates/audit/src/schema.rs", "a database in memory"),
    ("crates/audit/src/trail_file.rs", "syncs the directory of a trail"),
    ("crates/guard/src/bound_socket.rs", "opens the directory of a socket, and checks it"),
    ("crates/harness/src/page.rs", "a test that writes the page of all harnesses"),
    ("crates/harness/src/state.rs", "reads settings that an administrator made for another program"),
    ("crates/serve/src/methods/exec.rs", "writes to a directory that was created for one call"),
    ("crates/state/src/executions.rs", "reads files of the kernel"),
];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let is_kept = |path: &str| KEEPERS.iter().any(|name| path.starts_with(&format!("crates/{name}/src/")));
    let is_test = |path: &str| path.contains("/tests/") || path.ends_with("tests.rs");
    let mut problems = Vec::new();
    for file in tree.rust().filter(|file| is_kept(&file.path) && !is_test(&file.path)) {
        let code = file.code.split("\nmod tests {").next().unwrap_or_default();
        let opener = |line: &str| OPENERS.iter().find(|opener| line.contains(**opener));
        let found: Vec<_> = numbered(code).filter_map(|(at, line)| Some((at, opener(line)?))).collect();
        let is_door = DOORS.iter().any(|(door, _)| *door == file.path);
        let is_idle = is_door && found.is_empty();
        problems.extend(
            is_idle.then(|| Problem::new(&file.path, 1, "it opens no file any more: remove it from DOORS")),
        );
        for (line, opener) in found.into_iter().filter(|_| !is_door) {
            let message = format!(
                "`{opener}…`: open files that are obeyed or kept with `open_own`, `KeptFile` or `read_trusted`"
            );
            problems.push(Problem::new(&file.path, line, message));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_openers_are_refused() {
        let problems = |path: &str, text: &str| check(&Tree::of(&[(path, text)])).len();
        for (path, text, expected) in [
            ("crates/state/src/x.rs", "let x = File::open(path)?;\n", 1),
            ("crates/state/src/x.rs", "let x = open_own(path, OwnAccess::Read)?;\n", 0),
            ("crates/state/src/x.rs", "// File::open(path)\n", 0),
            ("crates/state/src/x.rs", "#[cfg(test)]\nmod tests {\n    fs::write(a, b);\n}\n", 0),
            ("crates/state/src/x.rs", "#[cfg(test)]\nuse y;\nfn f() { fs::write(a, b); }\n", 1),
            ("crates/scanner/src/x.rs", "File::open(path)\n", 0),
            ("crates/audit/src/schema.rs", "Connection::open_in_memory()\n", 0),
            ("crates/audit/src/schema.rs", "let x = 1;\n", 1),
        ] {
            assert_eq!(problems(path, text), expected, "{path}: {text}");
        }
    }
}
