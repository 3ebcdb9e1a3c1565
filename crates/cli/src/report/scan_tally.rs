//! What a scan adds up to.

use std::path::Path;

use serde::Serialize;
use stockade_guard::scanner::Severity;
use stockade_guard::{Coverage, FileScan, FileSurface, Gap, Source, SurfaceKind, file_surfaces};
use stockade_text::{escape, escape_path};

use super::fail_on::FailOn;
use super::fields::{is_false, path_text};
use super::scan_groups::ScanGroups;
use super::set_aside::SetAside;
use crate::exit::Exit;

/// The most paths that a list of gaps holds, so that a hostile folder cannot fill the memory.
const MAX_ROWS: usize = 1000;

/// The most characters of what something says that runs.
const MAX_SURFACE_TEXT: usize = 200;

/// What becomes of a scan in which nobody looked into something that is no text, or that was excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unseen {
    /// The answer tells of it, and the exit code does not.
    Told,
    /// The exit code says that the scan is incomplete.
    Fails,
}

/// Numbers of a whole scan, or of one file before it is added.
#[derive(Debug, Default)]
pub(crate) struct ScanTally {
    /// Files that were scanned, even if only in part.
    pub(crate) files: usize,
    pub(crate) bytes: usize,
    pub(crate) critical: usize,
    pub(crate) warn: usize,
    /// Whether some file has more findings than a report holds.
    pub(crate) truncated: bool,
    pub(crate) incomplete: Gaps,
    /// What was left out because the command line said so.
    pub(crate) excluded: Gaps,
    /// What is no text, looked into or not.
    pub(crate) listed: Gaps,
    /// How many of those nobody looked into: archives, programs, and data that nothing is known of.
    pub(crate) opaque: usize,
    /// Findings that do not count, since somebody said so.
    pub(crate) set_aside: SetAside,
    /// What runs or instructs, whatever the scanner says about it.
    pub(crate) surfaces: Surfaces,
    /// Where the findings are, and by which rule: what a page draws.
    pub(crate) groups: ScanGroups,
}

/// A bounded list of what runs or instructs. Scripts have a list of their own: many of them push nothing else out.
#[derive(Debug, Default)]
pub(crate) struct Surfaces {
    pub(crate) rows: Vec<SurfaceRow>,
    pub(crate) total: usize,
    pub(crate) scripts: Vec<SurfaceRow>,
    pub(crate) total_scripts: usize,
}

/// Something that runs or instructs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SurfaceRow {
    pub(crate) kind: SurfaceKind,
    path: String,
    #[serde(skip_serializing_if = "is_false")]
    path_is_lossy: bool,
    pub(crate) line_number: usize,
    pub(crate) text: String,
    /// The path for people.
    #[serde(skip)]
    pub(crate) shown: String,
}

/// A bounded list of what was not scanned.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    pub(crate) rows: Vec<GapRow>,
    pub(crate) total: usize,
}

/// Something that was not scanned, and why.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GapRow {
    path: String,
    #[serde(skip_serializing_if = "is_false")]
    path_is_lossy: bool,
    kind: &'static str,
    #[serde(skip)]
    coverage: Coverage,
    pub(crate) reason: String,
    /// The path for people.
    #[serde(skip)]
    pub(crate) shown: String,
}

impl ScanTally {
    /// Returns the numbers of one file.
    pub(crate) fn of(scan: &FileScan<'_>) -> Self {
        let of =
            |severity| scan.report.findings.iter().filter(|finding| finding.severity == severity).count();
        let mut tally = Self {
            files: usize::from(scan.has_text()),
            bytes: scan.text.len(),
            critical: of(Severity::Critical),
            warn: of(Severity::Warn),
            truncated: scan.report.truncated,
            groups: ScanGroups::of(scan),
            ..Self::default()
        };
        match &scan.gap {
            None => {}
            Some(gap) => match gap.coverage() {
                Coverage::Listed => tally.listed.push(GapRow::of(scan, gap)),
                Coverage::Opaque => {
                    tally.opaque += 1;
                    tally.listed.push(GapRow::of(scan, gap));
                }
                Coverage::Excluded => tally.excluded.push(GapRow::of(scan, gap)),
                Coverage::Incomplete => tally.incomplete.push(GapRow::of(scan, gap)),
            },
        }
        tally
    }

    /// Adds what one file starts, or whom it instructs. It was reached through one of the sources.
    pub(crate) fn with_surfaces(mut self, scan: &FileScan<'_>, sources: &[Source]) -> Self {
        let of_source = |source: &Source| match source {
            Source::Path(path) => scan.path.strip_prefix(path).ok(),
            Source::Stdin { .. } => None,
        };
        let below = sources.iter().find_map(of_source).filter(|below| !below.as_os_str().is_empty());
        let below = below.or_else(|| scan.path.file_name().map(Path::new)).unwrap_or(scan.path);
        let (path, path_is_lossy) = path_text(scan.path);
        // A skill is what is scanned: that agents follow it is no news.
        let is_skill = below.file_name().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md"));
        let news = |surface: &FileSurface| !is_skill || surface.kind != SurfaceKind::InstructsAgents;
        for surface in file_surfaces(scan, below).into_iter().filter(news) {
            self.surfaces.push(SurfaceRow {
                kind: surface.kind,
                path: path.clone().into_owned(),
                path_is_lossy,
                line_number: surface.line,
                text: surface.text.chars().take(MAX_SURFACE_TEXT).collect(),
                shown: escape_path(scan.path),
            });
        }
        self
    }

    /// Adds the numbers of one file.
    pub(crate) fn add(&mut self, file: Self) {
        self.files += file.files;
        self.bytes = self.bytes.saturating_add(file.bytes);
        self.critical += file.critical;
        self.warn += file.warn;
        self.truncated |= file.truncated;
        self.incomplete.append(file.incomplete);
        self.excluded.append(file.excluded);
        self.listed.append(file.listed);
        self.opaque += file.opaque;
        self.set_aside.append(file.set_aside);
        self.groups.append(file.groups);
        file.surfaces.rows.into_iter().chain(file.surfaces.scripts).for_each(|row| self.surfaces.push(row));
    }

    /// Returns the worst severity of all.
    pub(crate) const fn worst(&self) -> Option<Severity> {
        match (self.critical, self.warn) {
            (0, 0) => None,
            (0, _) => Some(Severity::Warn),
            _ => Some(Severity::Critical),
        }
    }

    /// Whether everything that was to be scanned was, as far as a scanner can.
    pub(crate) const fn complete(&self) -> bool {
        self.incomplete.total == 0 && !self.truncated
    }

    /// Whether everything was scanned and nothing was found. Nobody looked at what was excluded or into what is opaque, so with that
    /// nothing is clean, nor with what was found and set aside, or while a rule is off.
    pub(crate) const fn clean(&self) -> bool {
        self.worst().is_none()
            && self.complete()
            && self.opaque == 0
            && self.excluded.total == 0
            && self.set_aside.is_nothing()
    }

    /// Returns the exit code. Findings come first, since they hold whatever else could not be read.
    pub(crate) fn exit(&self, fail_on: FailOn, unseen: Unseen) -> Exit {
        match self.worst() {
            Some(worst) if fail_on.covers(worst) => Exit::Found,
            _ if !self.complete() => Exit::Incomplete,
            _ if unseen == Unseen::Fails && self.opaque + self.excluded.total > 0 => Exit::Incomplete,
            _ => Exit::Clean,
        }
    }
}

impl Gaps {
    /// Returns how many there are beyond the rows.
    pub(crate) const fn unlisted(&self) -> usize {
        self.total - self.rows.len()
    }

    fn push(&mut self, row: GapRow) {
        self.total += 1;
        if self.rows.len() < MAX_ROWS {
            self.rows.push(row);
        }
    }

    fn append(&mut self, other: Self) {
        other.rows.into_iter().for_each(|row| self.push(row));
    }
}

impl Surfaces {
    fn push(&mut self, row: SurfaceRow) {
        let (rows, total) = match row.kind {
            SurfaceKind::Script => (&mut self.scripts, &mut self.total_scripts),
            _ => (&mut self.rows, &mut self.total),
        };
        *total += 1;
        if rows.len() < MAX_ROWS {
            rows.push(row);
        }
    }

    /// Returns how many there are beyond the rows.
    pub(crate) const fn unlisted(&self) -> usize {
        self.total - self.rows.len() + self.total_scripts - self.scripts.len()
    }
}

impl GapRow {
    /// Whether something may be there that nobody looked at.
    pub(crate) fn is_unseen(&self) -> bool {
        self.coverage > Coverage::Listed
    }

    fn of(scan: &FileScan<'_>, gap: &Gap) -> Self {
        let (path, path_is_lossy) = path_text(scan.path);
        Self {
            path: path.into_owned(),
            path_is_lossy,
            kind: gap.name(),
            coverage: gap.coverage(),
            reason: escape(&gap.to_string()).into_owned(),
            shown: escape_path(scan.path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Coverage, FailOn, GapRow, Gaps, MAX_ROWS, ScanTally, Unseen};
    use crate::exit::Exit;

    fn gap() -> GapRow {
        GapRow {
            path: String::new(),
            path_is_lossy: false,
            kind: "",
            coverage: Coverage::Incomplete,
            reason: String::new(),
            shown: String::new(),
        }
    }

    #[test]
    fn exit_codes() {
        use Exit::{Clean, Found, Incomplete};
        use FailOn::{Critical, Never, Warn};
        let cases = [
            // critical, warn, gaps  fail on    exit
            (0, 0, 0, Critical, Clean),
            (0, 0, 1, Critical, Incomplete),
            (0, 1, 0, Critical, Clean),
            (0, 1, 0, Warn, Found),
            (0, 1, 1, Critical, Incomplete),
            (0, 1, 1, Warn, Found),
            (1, 0, 1, Critical, Found),
            (1, 1, 0, Never, Clean),
            (1, 1, 1, Never, Incomplete),
        ];
        for (critical, warn, gaps, fail_on, exit) in cases {
            let mut tally = ScanTally { critical, warn, ..ScanTally::default() };
            (0..gaps).for_each(|_| tally.incomplete.push(gap()));
            assert_eq!(tally.exit(fail_on, Unseen::Told), exit, "{critical} {warn} {gaps} {fail_on:?}");
        }
    }

    #[test]
    fn a_cut_list_of_findings_is_not_clean() {
        let tally = ScanTally { warn: 1, truncated: true, ..ScanTally::default() };
        assert_eq!(tally.exit(FailOn::Critical, Unseen::Told), Exit::Incomplete);
        assert!(!tally.clean());
    }

    #[test]
    fn what_is_excluded_is_not_clean_and_no_failure() {
        let mut tally = ScanTally::default();
        tally.excluded.push(gap());
        assert_eq!((tally.clean(), tally.exit(FailOn::Warn, Unseen::Told)), (false, Exit::Clean));
        assert_eq!(tally.exit(FailOn::Warn, Unseen::Fails), Exit::Incomplete);
    }

    #[test]
    fn what_nobody_looked_into_is_not_clean() {
        let tally = ScanTally { opaque: 1, ..ScanTally::default() };
        assert_eq!((tally.clean(), tally.exit(FailOn::Warn, Unseen::Told)), (false, Exit::Clean));
        assert_eq!(tally.exit(FailOn::Never, Unseen::Fails), Exit::Incomplete);
    }

    #[test]
    fn lists_are_bounded() {
        let mut gaps = Gaps::default();
        (0..MAX_ROWS + 7).for_each(|_| gaps.push(gap()));
        assert_eq!((gaps.rows.len(), gaps.total, gaps.unlisted()), (MAX_ROWS, MAX_ROWS + 7, 7));
    }
}
