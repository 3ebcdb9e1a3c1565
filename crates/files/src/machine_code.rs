//! Recognises machine code whose own headers account for every byte.
//!
//! A program contains thousands of texts, few of which a shell or a model reads as one. What the headers do not
//! describe is another matter: a text behind a program, or behind the first bytes of one, is a text. So is a text that
//! has headers but no code.

use std::ops::Range;

/// Maximum number of headers that are followed.
const MAX_HEADERS: usize = 4096;

/// Size of the largest gap between two parts, which must be zero throughout.
const MAX_PADDING: usize = 1 << 16;

/// Section without bytes in the file.
const NO_BYTES: u64 = 8;

/// Flag of a segment that is executed, and of a section.
const EXECUTED_SEGMENT: u64 = 1;
const EXECUTED_SECTION: u64 = 4;

/// Number of bytes of code of which one is not that of a text. In code for any processor, half of the bytes are not.
const CODE_PER_STRANGE_BYTE: usize = 4;

/// Number of bytes that tell code from text.
const CODE_SAMPLE: usize = 4096;

/// Returns the format of a file if all of it, to the last byte, is machine code: an ELF program, library or object,
/// with nothing between, before or behind the parts that its headers describe, and with code in it.
///
/// ```
/// use stockade_files::machine_code;
///
/// assert_eq!(machine_code(b"\x7fELF\x02\x01\x01\0 is how it begins, and it is a text"), None);
/// ```
#[must_use]
pub fn machine_code(bytes: &[u8]) -> Option<&'static str> {
    let elf = Elf::of(bytes)?;
    let mut parts = Parts::new(&elf);
    elf.add_segments(&mut parts)?;
    elf.add_sections(&mut parts)?;
    let is_within = parts.all.iter().all(|part| part.end <= bytes.len());
    (is_within && parts.account_for(bytes)).then_some("ELF")
}

/// The same for a file of which only the beginning was read: what was read belongs to segments. The table of sections is at the end
/// of most programs, so it is not read. That the rest is unknown is another matter, which the caller reports.
#[must_use]
pub fn starts_as_machine_code(bytes: &[u8]) -> Option<&'static str> {
    let elf = Elf::of(bytes)?;
    let mut parts = Parts::new(&elf);
    elf.add_segments(&mut parts)?;
    for part in parts.all.iter_mut().chain(&mut parts.code) {
        part.end = part.end.min(bytes.len());
    }
    parts.all.retain(|part| part.start < part.end);
    parts.account_for(bytes).then_some("ELF")
}

/// Whether a part begins with instructions and not with a text.
fn is_code(part: &[u8]) -> bool {
    let sample = part.get(..CODE_SAMPLE).unwrap_or(part);
    let strange = sample.iter().filter(|byte| !matches!(byte, b'\t'..=b'\r' | b' '..=b'~')).count();
    strange > 0 && strange.saturating_mul(CODE_PER_STRANGE_BYTE) >= sample.len()
}

/// What the headers describe.
#[derive(Default)]
struct Parts {
    all: Vec<Range<usize>>,
    /// Those that are executed.
    code: Vec<Range<usize>>,
}

impl Parts {
    fn new(elf: &Elf<'_>) -> Self {
        let head = if elf.is_wide { 64 } else { 52 };
        Self { all: Vec::from([Range { start: 0, end: head }]), code: Vec::new() }
    }

    /// Whether some part is code, and nothing lies outside of all parts.
    fn account_for(mut self, bytes: &[u8]) -> bool {
        if self.all.len() < 2 || !self.code.iter().filter_map(|part| bytes.get(part.clone())).any(is_code) {
            return false;
        }
        self.all.sort_unstable_by_key(|part| part.start);
        let mut end = 0;
        for part in &self.all {
            let Some(gap) = bytes.get(end..part.start.max(end)) else { return false };
            if gap.len() > MAX_PADDING || gap.iter().any(|byte| *byte != 0) {
                return false;
            }
            end = end.max(part.end);
        }
        end == bytes.len()
    }
}

/// An ELF file with its width and byte order.
struct Elf<'b> {
    bytes: &'b [u8],
    is_wide: bool,
    is_little: bool,
}

/// Position and form of a table of headers, in the file header.
struct Table {
    /// Offsets, in the file header, of the table's offset, of the size of a row and of the number of rows.
    offset: [usize; 3],
    /// Offsets, in a row, of the offset and the size of the part, of the type and of the flags.
    row: [usize; 4],
    /// Flag of a part that is executed, and the width of flags.
    executed: (u64, usize),
}

impl<'b> Elf<'b> {
    fn of(bytes: &'b [u8]) -> Option<Self> {
        let [0x7f, b'E', b'L', b'F', class @ (1 | 2), order @ (1 | 2), 1, system, 0, ..] = bytes else {
            return None;
        };
        // A shell that cannot run a file reads it as a script, but for a zero byte in its first line.
        if *system == b'\n' {
            return None;
        }
        Some(Self { bytes, is_wide: *class == 2, is_little: *order == 1 })
    }

    /// Adds what is loaded into memory, and its headers; `None` if these are not headers of a program.
    fn add_segments(&self, parts: &mut Parts) -> Option<()> {
        let (offset, row) = match self.is_wide {
            true => ([32, 54, 56], [8, 32, 0, 4]),
            false => ([28, 42, 44], [4, 16, 0, 24]),
        };
        // The type of a segment does not matter.
        self.add_rows(&Table { offset, row, executed: (EXECUTED_SEGMENT, 4) }, |_| true, parts)
    }

    /// Adds what is described for linkers and debuggers.
    fn add_sections(&self, parts: &mut Parts) -> Option<()> {
        let table = match self.is_wide {
            true => Table { offset: [40, 58, 60], row: [24, 32, 4, 8], executed: (EXECUTED_SECTION, 8) },
            false => Table { offset: [32, 46, 48], row: [16, 20, 4, 8], executed: (EXECUTED_SECTION, 4) },
        };
        // A section may have no bytes in the file.
        self.add_rows(&table, |kind| kind != NO_BYTES, parts)
    }

    fn add_rows(&self, table: &Table, has_bytes: impl Fn(u64) -> bool, parts: &mut Parts) -> Option<()> {
        let [offset, size, count] = table.offset;
        let (begin, size, count) = (self.address(0, offset)?, self.short(size)?, self.short(count)?);
        if count == 0 {
            return Some(());
        }
        let length = size.checked_mul(count).filter(|_| count <= MAX_HEADERS && size > 0)?;
        parts.all.push(begin..begin.checked_add(length)?);
        for row in 0..count {
            let row_begin = begin.checked_add(row.checked_mul(size)?)?;
            let [from, bytes, kind, flags] = table.row;
            let (executed, width) = table.executed;
            let (from, bytes) = (self.address(row_begin, from)?, self.address(row_begin, bytes)?);
            if has_bytes(self.number(row_begin, kind, 4)?) && bytes > 0 {
                let part = from..from.checked_add(bytes)?;
                if self.number(row_begin, flags, width)? & executed != 0 {
                    parts.code.push(part.clone());
                }
                parts.all.push(part);
            }
        }
        Some(())
    }

    /// Reads a number as wide as the file's addresses.
    fn address(&self, begin: usize, offset: usize) -> Option<usize> {
        usize::try_from(self.number(begin, offset, if self.is_wide { 8 } else { 4 })?).ok()
    }

    fn short(&self, offset: usize) -> Option<usize> {
        usize::try_from(self.number(0, offset, 2)?).ok()
    }

    fn number(&self, begin: usize, offset: usize, width: usize) -> Option<u64> {
        let begin = begin.checked_add(offset)?;
        let bytes = self.bytes.get(begin..begin.checked_add(width)?)?;
        let add = |number: u64, byte: &u8| (number << 8) | u64::from(*byte);
        Some(match self.is_little {
            true => bytes.iter().rev().fold(0, add),
            false => bytes.iter().fold(0, add),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Saves registers, and returns.
    const CODE: &[u8] = &[0x55, 0x48, 0x89, 0xe5, 0x31, 0xc0, 0x5d, 0xc3];

    fn program(data: &[u8]) -> Vec<u8> {
        program_with(data, CODE)
    }

    /// A program of one segment, of two sections and of their headers.
    fn program_with(data: &[u8], code: &[u8]) -> Vec<u8> {
        let mut file = b"\x7fELF\x02\x01\x01".to_vec();
        file.resize(64 + 56, 0);
        let (begin, end) = (file.len() + data.len(), file.len() + data.len() + code.len());
        let mut put = |at: usize, number: usize, width: usize| {
            file[at..at + width].copy_from_slice(&number.to_le_bytes()[..width]);
        };
        put(32, 64, 8);
        put(54, 56, 2);
        put(56, 1, 2);
        put(40, end, 8);
        put(58, 64, 2);
        put(60, 2, 2);
        put(64 + 8, 120, 8);
        put(64 + 32, data.len(), 8);
        file.extend(data);
        file.extend(code);
        let mut sections = vec![0; 128];
        (sections[4], sections[8], sections[32]) = (1, 4, u8::try_from(code.len()).unwrap());
        sections[24..32].copy_from_slice(&begin.to_le_bytes());
        // A section without bytes in the file, of any size.
        (sections[64 + 4], sections[64 + 38]) = (8, 0xff);
        file.extend(sections);
        file
    }

    #[test]
    fn a_whole_program_is_machine_code() {
        assert_eq!(machine_code(&program(b"curl x | sh")), Some("ELF"));
    }

    #[test]
    fn what_no_header_describes_is_not() {
        let whole = program(b"data");
        assert_eq!(machine_code(&[&whole, b"curl x | sh".as_slice()].concat()), None);
        assert_eq!(machine_code(&[&whole, b"\0".as_slice()].concat()), None);
        let mut moved = program(&[b"curl x | sh".as_slice(), &[0; 9]].concat());
        // The segment begins behind the text.
        moved[64 + 8] += 11;
        moved[64 + 32] -= 11;
        assert_eq!(machine_code(&moved), None);
        for length in 0..whole.len() {
            assert_eq!(machine_code(&whole[..length]), None, "up to {length}");
        }
    }

    #[test]
    fn what_has_no_code_is_not() {
        for code in ["", "curl x | sh", "\u{1} is one of many bytes of this text"] {
            assert_eq!(machine_code(&program_with(b"data", code.as_bytes())), None, "{code}");
        }
        // Data is not executed.
        let mut data = program(b"data");
        let flags = data.len() - 128 + 8;
        data[flags] = 2;
        assert_eq!(machine_code(&data), None);
        // A shell takes a file for a script if its first line has no zero byte.
        for (at, byte) in [(7, b'\n'), (8, b'\n'), (8, b'#')] {
            let mut script = program(b"data");
            script[at] = byte;
            assert_eq!(machine_code(&script), None, "{byte} at {at}");
        }
    }

    /// Of a program that is cut off, what was read must be in a segment.
    #[test]
    fn the_start_of_a_program_is_told_from_a_text() {
        let whole = program(b"data");
        // One segment that is executed and goes on behind the cut.
        let mut large = [&whole[..120], CODE].concat();
        (large[64 + 4], large[64 + 8], large[64 + 32 + 3]) = (1, 120, 1);
        assert_eq!(starts_as_machine_code(&large), Some("ELF"));
        assert_eq!(starts_as_machine_code(&large[..120]), None, "no code was read");
        assert_eq!(machine_code(&large), None, "it is not whole");
        large[64 + 8] = 124;
        assert_eq!(starts_as_machine_code(&large), None, "bytes before the segment");
        assert_eq!(starts_as_machine_code(&whole[..124]), None, "its segment is not executed");
        let text = [&whole[..120], b"curl x | sh\n".as_slice()].concat();
        assert_eq!(starts_as_machine_code(&text), None);
    }

    #[test]
    fn heads_of_programs_are_not() {
        for head in [&b"\x7fELF"[..], b"\x7fELF\x02\x01\x01\0\0\0", b"\x7fELF\x01\x02\x01", b"MZ", b""] {
            assert_eq!(machine_code(head), None);
            assert_eq!(machine_code(&[head, &[0; 200]].concat()), None, "zeros");
            assert_eq!(machine_code(&[head, &[0xff; 200]].concat()), None, "ones");
        }
    }
}
