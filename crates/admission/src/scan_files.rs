//! Files in, reports out.

use std::cmp::Reverse;
use std::ops::ControlFlow;
use std::path::Path;

use stockade_files::{
    EntryKind, FileBytes, FileNature, FileOptions, Gap, Packed, Source, TextReadings, UnpackBudget, media,
    read_files_except, unpack,
};
use stockade_scanner::{ScanOptions, ScanReport, Scanner, syntax_of};

/// The bytes of a file that tell its format.
const HEAD: usize = 8 << 10;

/// What was found in one file.
#[derive(Debug)]
#[non_exhaustive]
pub struct FileScan<'t> {
    /// The file, named as it was reached: the source and the way from there.
    pub path: &'t Path,
    /// The file as text, which all positions in the report count in. This is the file itself where it is UTF-8; else
    /// it is decoded, NUL bytes are dropped, and U+FFFD stands for bytes that are no text.
    pub text: &'t str,
    /// How the file itself begins.
    pub head: &'t [u8],
    /// What the scanner says about the text.
    pub report: ScanReport<'t>,
    /// What was not scanned of it, if anything.
    pub gap: Option<Gap>,
    /// Whether it is an archive or a document, and all that is packed in it is scanned as files of their own.
    pub is_unpacked: bool,
}

impl FileScan<'_> {
    /// Whether there was a text to scan, be it the beginning of a longer one.
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

/// Scans every file of every source, and after an archive or a document the files and texts that are packed in it, each under the
/// name of the archive, `!` and its own name.
///
/// `look` sees each file on the thread that scanned it and says what to keep. What it returns is handed to `take` in the
/// order of the sources and, within a folder, of the names, until `take` breaks off. At any time, the texts in memory
/// are at most as many as the threads, so the size of a folder does not matter.
pub fn scan_files<R: Send>(
    sources: &[Source],
    scanner: &Scanner,
    options: &FileOptions,
    look: impl Fn(FileScan<'_>) -> R + Sync,
    take: impl FnMut(R) -> ControlFlow<()> + Send,
) {
    scan_files_except(sources, &|_, _| false, scanner, options, look, take);
}

/// As [`scan_files`], but for what the caller excludes: `exclude` is asked about every entry of a folder, by the way to it from the
/// folder that was named. What it excludes is handed on as [`Gap::Excluded`], and nothing in the folder can exclude anything.
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

/// Scans bytes as a file of this name that holds them would be scanned, however they are encoded, and what is packed in them behind
/// it. Nothing is opened, and the name tells the syntax, whatever `options` say.
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

/// A file, and whether all that is packed in it is seen by itself.
struct Opened<'b> {
    file: FileBytes<'b>,
    is_unpacked: bool,
}

/// Looks at a file and at what is packed in it. The file comes first, though only its members tell whether they could all be read.
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

/// Scans what was read of one file.
fn look_at<R>(
    Opened { file, is_unpacked }: Opened<'_>,
    scanner: &Scanner,
    options: &ScanOptions,
    look: impl FnOnce(FileScan<'_>) -> R,
) -> R {
    let FileBytes { path, bytes, gap, .. } = file;
    let readings = TextReadings::of(bytes);
    let gap = gap.or_else(|| unseen(bytes, readings.nature).filter(|_| !is_unpacked));
    let (text, report) = [Some(&*readings.text), readings.other.as_deref()]
        .into_iter()
        .flatten()
        .map(|text| {
            let options = ScanOptions { syntax: syntax_of(path, text), ..*options };
            (text, scanner.scan_with(text, &options))
        })
        // The first of equals: the better reading, unless more shows in the other one.
        .min_by_key(|(_, report)| Reverse((report.worst(), report.findings.len())))
        .unwrap_or_default();
    let head = bytes.get(..bytes.len().min(HEAD)).unwrap_or_default();
    look(FileScan { path, text, head, report, gap, is_unpacked })
}

/// What of a whole file nobody looked at although it was read, unless it was unpacked. An archive of texts may be a text itself, and
/// whoever unpacks it sees others.
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
