//! Scans files and returns reports.

use std::cmp::Reverse;
use std::ops::ControlFlow;
use std::path::Path;

use stockade_files::{
    EntryKind, FileBytes, FileNature, FileOptions, Gap, Packed, Source, TextReadings, Unopened, UnpackBudget,
    machine_code, media, read_files_except, unpack,
};
use stockade_scanner::{ScanOptions, ScanReport, Scanner, Syntax, syntax_of};

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
    if let Some(format) = machine_code(bytes).filter(|_| !has_text_name(path)) {
        let gap = gap.unwrap_or(Gap::Unopened { format, why: Unopened::MachineCode });
        return look(FileScan {
            path,
            text: "",
            head,
            report: ScanReport::default(),
            gap: Some(gap),
            is_unpacked,
        });
    }
    let readings = TextReadings::of(bytes);
    let gap = gap.or_else(|| unseen(bytes, readings.nature).filter(|_| !is_unpacked));
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
    look(FileScan { path, text, head, report, gap, is_unpacked })
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
