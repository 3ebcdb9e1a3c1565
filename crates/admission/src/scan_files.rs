//! Scans files and returns reports.

use std::cmp::Reverse;
use std::ops::ControlFlow;
use std::path::Path;

use stockade_files::{
    EntryKind, FileBytes, FileNature, FileOptions, Gap, Packed, Source, TextReadings, Unopened, UnpackBudget,
    machine_code, media, read_files_except, starts_as_machine_code, unpack,
};
use stockade_scanner::{ScanOptions, ScanReport, Scanner, Severity, Syntax, syntax_of};

/// Number of bytes that identify a file's format.
const HEAD: usize = 8 << 10;

/// Maximum number of findings in binary data, where one is as good as a thousand.
const MAX_FINDINGS_IN_DATA: usize = 50;

/// Result of scanning one file.
#[derive(Debug)]
#[non_exhaustive]
pub struct FileScan<'t> {
    /// Path of the file as it was reached: the source and the path below it.
    pub path: &'t Path,
    /// The text that all positions in the report refer to. It equals the file if that is UTF-8; otherwise it is
    /// decoded, NUL bytes are dropped, and U+FFFD replaces invalid bytes.
    pub text: &'t str,
    /// The first bytes of the file itself.
    pub head: &'t [u8],
    /// The scanner's report on the text.
    pub report: ScanReport<'t>,
    /// The part that was not scanned, if any.
    pub gap: Option<Gap>,
    /// Whether it is an archive or a document of which all members are scanned as files of their own.
    pub is_unpacked: bool,
}

impl FileScan<'_> {
    /// Whether there was a text to scan, possibly the beginning of a longer one.
    #[must_use]
    pub fn has_text(&self) -> bool {
        matches!(
            self.gap,
            None | Some(
                Gap::Binary | Gap::Media { .. } | Gap::GitPack | Gap::Unopened { .. } | Gap::TooLarge { .. }
            )
        ) || !self.text.is_empty()
    }
}

/// Scans every file of every source. An archive or a document is followed by its members, each named by the archive's
/// path, `!` and its own name.
///
/// `look` receives each file on the thread that scanned it. Its result is passed to `take` in the order of the
/// sources and, within a directory, of the names, until `take` breaks. At most as many texts as threads are in memory
/// at a time, so the size of a directory does not matter.
pub fn scan_files<R: Send>(
    sources: &[Source],
    scanner: &Scanner,
    options: &FileOptions,
    look: impl Fn(FileScan<'_>) -> R + Sync,
    take: impl FnMut(R) -> ControlFlow<()> + Send,
) {
    scan_files_except(sources, &|_, _| false, scanner, options, look, take);
}

/// Like [`scan_files`], with exclusions: `exclude` is asked about every entry of a directory by its path below the
/// source. An excluded entry is reported as [`Gap::Excluded`]; nothing in the directory can exclude anything.
pub fn scan_files_except<R: Send>(
    sources: &[Source],
    exclude: &(dyn Fn(&Path, EntryKind) -> bool + Sync),
    scanner: &Scanner,
    options: &FileOptions,
    look: impl Fn(FileScan<'_>) -> R + Sync,
    take: impl FnMut(R) -> ControlFlow<()> + Send,
) {
    let scan_file = |file: FileBytes<'_>| {
        let mut budget = UnpackBudget::for_file(file.bytes.len(), options.max_file_bytes);
        let mut seen = Vec::new();
        look_into(
            file,
            &mut budget,
            &mut |file| look_at(file, scanner, &ScanOptions::default(), &look),
            &mut seen,
        );
        seen
    };
    let mut take = take;
    let take_all = |seen: Vec<R>| seen.into_iter().try_for_each(&mut take);
    read_files_except(sources, exclude, options, scan_file, take_all);
}

/// Scans bytes as the content of a file with this name, in any encoding, followed by its packed members. Nothing is
/// opened, and the name determines the syntax, whatever `options` specify.
pub fn scan_bytes<R>(
    path: &Path,
    bytes: &[u8],
    scanner: &Scanner,
    options: &ScanOptions,
    mut look: impl FnMut(FileScan<'_>) -> R,
) -> Vec<R> {
    let mut budget = UnpackBudget::for_file(bytes.len(), FileOptions::default().max_file_bytes);
    let mut seen = Vec::new();
    let file = FileBytes::whole(path, bytes);
    look_into(file, &mut budget, &mut |file| look_at(file, scanner, options, &mut look), &mut seen);
    seen
}

/// A file, and whether all its members are scanned on their own.
struct Opened<'b> {
    file: FileBytes<'b>,
    is_unpacked: bool,
}

/// Examines a file and its members. The file comes first, although only the members tell whether all of them could be
/// read.
fn look_into<R>(
    mut file: FileBytes<'_>,
    budget: &mut UnpackBudget,
    look: &mut dyn FnMut(Opened<'_>) -> R,
    seen: &mut Vec<R>,
) {
    let mut members = Vec::new();
    let packed = unpack(&file, budget, &mut |member, budget| look_into(member, budget, look, &mut members));
    let is_unpacked = match packed {
        Packed::Nothing => false,
        Packed::Whole => file.gap.is_none(),
        Packed::Partly(gap) => {
            file.gap.get_or_insert(gap);
            false
        }
    };
    seen.push(look(Opened { file, is_unpacked }));
    seen.append(&mut members);
}

/// Scans the bytes of one file.
fn look_at<R>(
    Opened { file, is_unpacked }: Opened<'_>,
    scanner: &Scanner,
    options: &ScanOptions,
    look: impl FnOnce(FileScan<'_>) -> R,
) -> R {
    let FileBytes { path, bytes, gap, .. } = file;
    let head = bytes.get(..bytes.len().min(HEAD)).unwrap_or_default();
    let is_cut = matches!(gap, Some(Gap::TooLarge { .. }));
    let code = if is_cut { starts_as_machine_code(bytes) } else { machine_code(bytes) };
    let code = code.filter(|_| !has_text_name(path));
    let ends = code.and_then(|_| ends_of(bytes));
    let readings = TextReadings::of(ends.as_deref().unwrap_or(bytes));
    let unopened = code.map(|format| Gap::Unopened { format, why: Unopened::MachineCode });
    let gap = gap.or(unopened).or_else(|| unseen(bytes, readings.nature).filter(|_| !is_unpacked));
    let max_findings = match readings.nature {
        FileNature::Text => options.max_findings,
        FileNature::Binary => options.max_findings.min(MAX_FINDINGS_IN_DATA),
    };
    let (text, report) = [Some(&*readings.text), readings.other.as_deref()]
        .into_iter()
        .flatten()
        .map(|text| {
            let options = ScanOptions { syntax: syntax_of(path, text), max_findings, ..*options };
            (text, scanner.scan_with(text, &options))
        })
        // Take the reading with the worse findings; of equals the first, which is the more likely decoding.
        .min_by_key(|(_, report)| Reverse((report.worst(), report.findings.len())))
        .unwrap_or_default();
    let report = if code.is_some() { in_machine_code(text, report) } else { report };
    look(FileScan { path, text, head, report, gap, is_unpacked })
}

/// Number of bytes at each end of machine code that are scanned as text.
///
/// A shell reads a program as a script only when it is told to, and then from its start: within so many bytes of code
/// there is an unmatched quote or parenthesis, at which it stops. What is appended to a program is at its end.
const MACHINE_CODE_ENDS: usize = 64 << 10;

/// How far behind the start of a line an attack in machine code begins at most. Most strings of programs have no line
/// ends between them.
const MAX_INDENTATION: usize = 256;

/// Returns both ends of a long file.
fn ends_of(bytes: &[u8]) -> Option<Vec<u8>> {
    let (head, rest) = bytes.split_at_checked(MACHINE_CODE_ENDS)?;
    let tail = rest.get(rest.len().checked_sub(MACHINE_CODE_ENDS)?..)?;
    Some([head, b"\n", tail].concat())
}

/// Keeps the findings in machine code that a shell could run: those that are critical and begin near the start of a
/// line.
fn in_machine_code<'t>(text: &str, mut report: ScanReport<'t>) -> ScanReport<'t> {
    report.findings.retain(|finding| {
        let start = finding.span.start;
        let near = text.as_bytes().get(start.saturating_sub(MAX_INDENTATION)..start).unwrap_or_default();
        let is_near = start <= MAX_INDENTATION || near.contains(&b'\n');
        // A truncated report may lack some, so what it has is kept.
        finding.severity == Severity::Critical && (is_near || report.truncated)
    });
    // Critical findings are the last to be dropped.
    report.truncated &= !report.findings.is_empty();
    report
}

/// Whether programs or models read a file of this name as text, whatever its content.
fn has_text_name(path: &Path) -> bool {
    const ENDS: &[&str] =
        &["md", "markdown", "mdx", "mdc", "txt", "text", "rst", "adoc", "org", "log", "csv"];
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    ENDS.iter().any(|known| known.eq_ignore_ascii_case(end)) || syntax_of(path, "") != Syntax::Markdown
}

/// Returns the gap of a file that was read completely but cannot be examined, unless it was unpacked. An archive of
/// texts may look like text itself, but unpacking it yields other texts.
fn unseen(bytes: &[u8], nature: FileNature) -> Option<Gap> {
    #[cfg(feature = "skills")]
    let is_packed = stockade_skill::binary(bytes).is_some();
    #[cfg(not(feature = "skills"))]
    let is_packed = false;
    if nature == FileNature::Text && !is_packed {
        return None;
    }
    Some(media(bytes).map_or(Gap::Binary, |format| Gap::Media { format }))
}
