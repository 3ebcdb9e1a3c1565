//! Git's pending work, such as the todo list of a rebase. Git rewrites these files, so they are writable; but new lines that
//! run a program are not permitted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::entry::{at, read_below};
use super::walk::Here;

/// The files of pending work.
pub(crate) const PLANS: &[&str] = &["rebase-merge/git-rebase-todo", "sequencer/todo"];

/// Maximum size of a file.
pub(crate) const MAX_PLAN: usize = 1 << 20;

/// Records the lines of a repository's pending work that run programs.
pub(super) fn plans_of(here: &Here<'_>, folder: &Path, plans: &mut BTreeMap<PathBuf, Vec<String>>) {
    for plan in PLANS.iter().map(Path::new).filter(|plan| at(here.folder, plan).is_some()) {
        let text = read_below(here.folder, plan, MAX_PLAN).unwrap_or_default();
        plans.insert(folder.join(plan), running(&text).collect());
    }
}

/// Returns the lines that run a program, trimmed.
pub(crate) fn running(text: &[u8]) -> impl Iterator<Item = String> {
    let lines =
        text.split(|byte| *byte == b'\n').map(|line| String::from_utf8_lossy(line.trim_ascii()).into_owned());
    lines.filter(|line| {
        let word = line.split([' ', '\t']).next().unwrap_or_default();
        matches!(word, "exec" | "x")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_run_programs() {
        let text = b"pick 1 a\n exec make test\nx\tsh evil\n# exec not\nexecute\nlabel x\nexec\n";
        let found: Vec<String> = running(text).collect();
        assert_eq!(found, ["exec make test", "x\tsh evil", "exec"]);
    }
}
