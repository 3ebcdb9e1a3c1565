//! Totals of a scan.

use std::path::Path;

use serde::Serialize;
use stockade_files::{Coverage, Gap, Source};
use stockade_scanner::Severity;
use stockade_skill::SurfaceKind;
use stockade_text::{escape, escape_path};

use super::fields::{is_false, path_text};
use super::groups::ScanGroups;
use super::set_aside::SetAside;
use crate::{FileScan, FileSurface, file_surfaces};

/// Maximum number of paths in a list of gaps, so that a hostile directory cannot exhaust the memory.
const MAX_ROWS: usize = 1000;

/// Maximum number of characters of a surface's text.
const MAX_SURFACE_TEXT: usize = 200;

/// Numbers of a whole scan, or of one file before it is added.
#[derive(Debug, Default)]
pub struct ScanTally {
    /// Number of files that were scanned, at least in part.
    pub files: usize,
    /// Total size of their texts.
    pub bytes: usize,
    /// Attacks with a critical finding.
    pub critical: usize,
    /// Attacks with warnings only.
    pub warn: usize,
    /// Whether some file has more findings than its report contains.
    pub truncated: bool,
    /// Files that could not be scanned, or not completely.
    pub incomplete: Gaps,
    /// Paths excluded on the command line.
    pub excluded: Gaps,
    /// Files that are not text, examined or not.
    pub listed: Gaps,
    /// Number of opaque ones among them: archives, programs, and unknown data.
    pub opaque: usize,
    /// Findings that were set aside.
    pub set_aside: SetAside,
    /// Files that run or instruct, whatever the scanner found in them.
    pub surfaces: Surfaces,
    /// Findings by place and by rule, for the HTML page.
    pub groups: ScanGroups,
}

/// A bounded list of surfaces. Scripts have a list of their own, so that many of them displace nothing else.
#[derive(Debug, Default)]
pub struct Surfaces {
    /// The first rows that are not scripts.
    pub rows: Vec<SurfaceRow>,
    /// Number of surfaces that are not scripts.
    pub total: usize,
    /// The first scripts.
    pub scripts: Vec<SurfaceRow>,
    /// How many scripts there are.
    pub total_scripts: usize,
}

/// A file or entry that runs programs or instructs agents by its presence.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "SkillSurface"))]
#[serde(rename_all = "camelCase")]
pub struct SurfaceRow {
    /// `hook`, `server`, `installer`, `startsPrograms`, `instructsAgents`, `script`, `machineCode`, `bytecode`, `archive`,
    /// `toolList`.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub kind: SurfaceKind,
    path: String,
    #[serde(skip_serializing_if = "is_false")]
    #[cfg_attr(feature = "schema", schemars(default))]
    path_is_lossy: bool,
    /// From 1.
    pub line_number: usize,
    /// The beginning of its text.
    pub text: String,
    /// The path for display.
    #[serde(skip)]
    pub shown: String,
}

/// A bounded list of gaps.
#[derive(Debug, Default)]
pub struct Gaps {
    /// The first rows.
    pub rows: Vec<GapRow>,
    /// Number of gaps, including those beyond the limit.
    pub total: usize,
}

/// A file that was not scanned.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "ScanGap"))]
#[serde(rename_all = "camelCase")]
pub struct GapRow {
    path: String,
    #[serde(skip_serializing_if = "is_false")]
    #[cfg_attr(feature = "schema", schemars(default))]
    path_is_lossy: bool,
    kind: &'static str,
    #[serde(skip)]
    coverage: Coverage,
    /// The reason.
    pub reason: String,
    /// The path for display.
    #[serde(skip)]
    pub shown: String,
}

impl ScanTally {
    /// Returns the numbers of one file.
    pub fn of(scan: &FileScan<'_>) -> Self {
        // What several rules tell of is one attack.
        let groups = scan.report.groups();
        let of = |severity| groups.iter().filter(|group| group.main.severity == severity).count();
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

    /// Adds the surfaces of a file that was reached through one of the sources.
    pub fn with_surfaces(mut self, scan: &FileScan<'_>, sources: &[Source]) -> Self {
        let of_source = |source: &Source| match source {
            Source::Path(path) => scan.path.strip_prefix(path).ok(),
            Source::Stdin { .. } => None,
        };
        let below = sources.iter().find_map(of_source).filter(|below| !below.as_os_str().is_empty());
        let below = below.or_else(|| scan.path.file_name().map(Path::new)).unwrap_or(scan.path);
        let (path, path_is_lossy) = path_text(scan.path);
        // The skill itself instructs agents by definition, so it is not listed.
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
    pub fn add(&mut self, file: Self) {
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
    pub const fn worst(&self) -> Option<Severity> {
        match (self.critical, self.warn) {
            (0, 0) => None,
            (0, _) => Some(Severity::Warn),
            _ => Some(Severity::Critical),
        }
    }

    /// Whether everything was scanned that a scanner can scan.
    pub const fn complete(&self) -> bool {
        self.incomplete.total == 0 && !self.truncated
    }

    /// Whether everything was scanned and nothing was found. Excluded paths, opaque data, set-aside findings and
    /// rules that are off all prevent a clean result.
    pub const fn clean(&self) -> bool {
        self.worst().is_none()
            && self.complete()
            && self.opaque == 0
            && self.excluded.total == 0
            && self.set_aside.is_nothing()
    }
}

impl Gaps {
    /// Returns the number of surfaces beyond the limit.
    pub const fn unlisted(&self) -> usize {
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

    /// Returns the number of gaps beyond the limit.
    pub const fn unlisted(&self) -> usize {
        self.total - self.rows.len() + self.total_scripts - self.scripts.len()
    }
}

impl GapRow {
    /// Whether the gap may contain something that was not examined.
    pub fn is_unseen(&self) -> bool {
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
    use super::{Coverage, GapRow, Gaps, MAX_ROWS};

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
    fn lists_are_bounded() {
        let mut gaps = Gaps::default();
        (0..MAX_ROWS + 7).for_each(|_| gaps.push(gap()));
        assert_eq!((gaps.rows.len(), gaps.total, gaps.unlisted()), (MAX_ROWS, MAX_ROWS + 7, 7));
    }
}
