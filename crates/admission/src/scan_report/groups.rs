//! Findings by skill and by rule.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use stockade_scanner::Severity;
use stockade_text::escape_path;

use super::counted::Counted;
use crate::FileScan;

/// Maximum number of skill directories that are tracked.
const MAX_SKILLS: usize = 20_000;

/// Numbers of critical findings and warnings, by place.
#[derive(Debug, Default)]
pub struct ScanGroups {
    /// By rule.
    pub rules: Counted<2>,
    folders: Counted<2>,
    /// The directories that contain a skill.
    skills: BTreeSet<String>,
}

impl ScanGroups {
    /// Returns the groups of one file.
    pub fn of(scan: &FileScan<'_>) -> Self {
        let mut groups = Self::default();
        let is_skill = scan.path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md"));
        // Most files need no name.
        if !is_skill && scan.report.findings.is_empty() {
            return groups;
        }
        let folder = folder(scan.path);
        if is_skill {
            groups.skills.insert(folder.clone());
        }
        for finding in &scan.report.findings {
            let counts = match finding.severity {
                Severity::Critical => [1, 0],
                Severity::Warn => [0, 1],
            };
            groups.rules.add(finding.rule_id, counts);
            groups.folders.add(&folder, counts);
        }
        groups
    }

    /// Adds the groups of another file.
    pub fn append(&mut self, file: Self) {
        self.rules.append(&file.rules);
        self.folders.append(&file.folders);
        let room = MAX_SKILLS.saturating_sub(self.skills.len());
        self.skills.extend(file.skills.into_iter().take(room));
    }

    /// Returns the findings by skill: by the nearest parent directory with a skill, or by their own directory.
    pub fn by_skill(&self) -> (BTreeMap<&str, [u64; 2]>, u64) {
        let mut skills = BTreeMap::new();
        for (folder, counts) in &self.folders.by_name {
            let sums: &mut [u64; 2] = skills.entry(self.skill_of(folder)).or_default();
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum = sum.saturating_add(*count));
        }
        (skills, self.folders.unnamed)
    }

    fn skill_of<'f>(&self, folder: &'f str) -> &'f str {
        let around = std::iter::successors(Some(folder), |inner| Some(inner.rsplit_once('/')?.0));
        let mut around = around.filter(|outer| self.skills.contains(*outer));
        around.next().unwrap_or(folder)
    }
}

fn folder(path: &Path) -> String {
    match path.parent().map(escape_path) {
        Some(folder) if !folder.is_empty() => folder,
        _ => ".".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_belong_to_the_nearest_skill_around_them() {
        let mut groups = ScanGroups::default();
        groups.skills.extend(["a".to_owned(), "a/inner".to_owned()]);
        for folder in ["a", "a/scripts", "a/inner/x/y", "ab/scripts", "."] {
            groups.folders.add(folder, [1, 0]);
        }
        let (skills, unnamed) = groups.by_skill();
        let expected = [(".", [1, 0]), ("a", [2, 0]), ("a/inner", [1, 0]), ("ab/scripts", [1, 0])];
        assert_eq!((skills, unnamed), (BTreeMap::from(expected), 0));
    }
}
