//! Plans of git: what is still to be done of a rebase. Git rewrites them as it goes, so they may change; lines that run a
//! program, and were not there before, may not appear.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::entry::{at, read_below};
use super::walk::Here;

/// Where git keeps plans.
pub(crate) const PLANS: &[&str] = &["rebase-merge/git-rebase-todo", "sequencer/todo"];

/// Longest plan that is read.
pub(crate) const MAX_PLAN: usize = 1 << 20;

/// Remembers the lines of a repository's plans that run programs.
pub(super) fn plans_of(here: &Here<'_>, folder: &Path, plans: &mut BTreeMap<PathBuf, Vec<String>>) {
    for plan in PLANS.iter().map(Path::new).filter(|plan| at(here.folder, plan).is_some()) {
        let text = read_below(here.folder, plan, MAX_PLAN).unwrap_or_default();
        plans.insert(folder.join(plan), running(&text).collect());
    }
}

/// The lines that run a program, without what stands around them.
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
