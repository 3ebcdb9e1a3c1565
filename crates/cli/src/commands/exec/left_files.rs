//! Messages about files that a command left: a bounded number of lines, the most urgent ones first. A command can leave
//! thousands.

use std::path::{Path, PathBuf};

use stockade_guard::exec::host::Exposed;
use stockade_guard::exec::{Changed, LeftBy, Quarantined};
use stockade_names::{Root, Write, treatment};
use stockade_text::escape_path;

/// Maximum number of lines about quarantined files, and about changed ones.
const MAX_TAKEN_LINES: usize = 6;
const MAX_CHANGED_LINES: usize = 8;

/// Maximum number of lines about readable files with secrets.
const MAX_EXPOSED_LINES: usize = 8;

/// Maximum number of names in a line.
const MAX_NAMES: usize = 6;

/// Returns lines about files that were moved to the quarantine. Those that could not be moved come first.
pub(super) fn quarantined(found: &[Quarantined]) -> Vec<String> {
    let mut found: Vec<&Quarantined> = found.iter().collect();
    found.sort_by_key(|one| one.moved_to.is_some());
    let mut lines: Vec<String> = found.iter().take(MAX_TAKEN_LINES).map(|one| taken(one)).collect();
    if let Some(more) = more(found.len(), MAX_TAKEN_LINES) {
        lines.push(format!(
            "{more} files would run programs outside of the sandbox; list them: `stockade quarantine list`"
        ));
    }
    lines
}

/// Returns lines about files with secrets that the command could read.
pub(super) fn exposed(exposed: &[Exposed]) -> Vec<String> {
    let line = |one: &Exposed| {
        format!("{} was readable and contains a secret ({})", escape_path(&one.path), one.label)
    };
    let mut lines: Vec<String> = exposed.iter().take(MAX_EXPOSED_LINES).map(line).collect();
    if let Some(more) = more(exposed.len(), MAX_EXPOSED_LINES) {
        lines.push(format!(
            "{more} files were readable and contain secrets; list them: `stockade exec --format json`"
        ));
    }
    lines
}

/// Returns lines about changed files: one for the files of a directory that are of the same kind. Harmful ones come first, and
/// files that developers write like source code last.
pub(super) fn changed(changed: &[Changed]) -> Vec<String> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for one in changed {
        let parent = one.path.parent().unwrap_or(Path::new(""));
        let is_same = |group: &&mut Group<'_>| group.parent == parent && group.label == one.label;
        match groups.iter_mut().rev().take(MAX_NAMES).find(is_same) {
            Some(group) => {
                group.paths.push(&one.path);
                group.is_harmful |= one.is_harmful;
            }
            None => {
                let (label, is_harmful) = (one.label.as_str(), one.is_harmful);
                groups.push(Group { parent, label, paths: vec![&one.path], is_harmful });
            }
        }
    }
    groups.sort_by_key(|group| (!group.is_harmful, group.is_only_noted()));
    let mut lines: Vec<String> = groups.iter().take(MAX_CHANGED_LINES).map(Group::line).collect();
    let rest: usize = groups.iter().skip(MAX_CHANGED_LINES).map(|group| group.paths.len()).sum();
    if rest > 0 {
        lines
            .push(format!("changed: {rest} more files that other programs obey; list them: `--format json`"));
    }
    lines
}

/// Changed files of the same kind in a directory.
struct Group<'c> {
    parent: &'c Path,
    label: &'c str,
    paths: Vec<&'c PathBuf>,
    is_harmful: bool,
}

impl Group<'_> {
    fn is_only_noted(&self) -> bool {
        let names =
            |path: &Path| path.iter().map(|name| name.to_string_lossy().into_owned()).collect::<Vec<_>>();
        self.paths.iter().all(|path| treatment(Root::Folder, names(path)).write <= Write::Note)
    }

    fn line(&self) -> String {
        let shown: Vec<String> = self.paths.iter().take(MAX_NAMES).map(|path| escape_path(path)).collect();
        let more = more(self.paths.len(), MAX_NAMES).map(|more| format!(" and {more}")).unwrap_or_default();
        format!("changed: {}{more} ({})", shown.join(", "), self.label)
    }
}

/// Returns how many are not shown: `3 more`.
fn more(count: usize, shown: usize) -> Option<String> {
    let more = count.saturating_sub(shown);
    (more > 0).then(|| format!("{more} more"))
}

fn taken(found: &Quarantined) -> String {
    let place = match &found.moved_to {
        Some(path) => {
            let back = found.id.as_ref().map(|id| format!("; restore: `stockade quarantine restore {id}`"));
            format!("moved to {}{}", escape_path(path), back.unwrap_or_default())
        }
        None => "could not be moved; check it before you use the workspace".to_owned(),
    };
    let whose = match found.left_by {
        LeftBy::ThisCommand => "would run programs outside of the sandbox",
        LeftBy::EarlierCommand => {
            "was left by an earlier command and would run programs outside of the sandbox"
        }
    };
    format!("{} {whose}: {place}", escape_path(&found.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A command that writes many files like source code cannot push a file that instructs an agent out of the lines.
    #[test]
    fn files_that_are_only_noted_come_last() {
        let of = |path: String| Changed::new(path.into(), "label".to_owned());
        let mut all: Vec<Changed> = (0..20).map(|number| of(format!("d{number}/justfile"))).collect();
        all.push(of("AGENTS.md".to_owned()));
        let lines = changed(&all);
        assert_eq!(lines.len(), MAX_CHANGED_LINES + 1);
        assert!(lines[0].contains("AGENTS.md"), "{lines:?}");
    }
}
