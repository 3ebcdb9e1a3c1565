//! Unmaps the memory that the first process of a sandbox inherited by fork. Otherwise every page that the parent changes (copy on
//! write) would exist twice while the command runs.
//!
//! The code, static data, the current stack and the thread's errno remain. It must not allocate or lock.
//!
//! This saves memory and is no security measure: some hundred kilobytes around the stack remain, with unknown content of the
//! parent. Other processes cannot read them because the first process is not dumpable, and so cannot be traced.

use std::os::fd::AsRawFd as _;

use super::raw;

/// Bytes to keep below and above a needed address: the stack grows down, and the frames of callers are above.
const BELOW: usize = 256 << 10;
const ABOVE: usize = 128 << 10;

/// Alignment of kept ranges, a multiple of every page size.
const EDGE: usize = 64 << 10;

/// Start and end of a range.
type Range = (usize, usize);

/// The needed fields of a line of `/proc/self/maps`.
#[derive(Default)]
struct Mapping {
    start: usize,
    end: usize,
    /// Whether it is writable.
    writable: bool,
    /// Whether it is executable.
    code: bool,
    /// Whether it maps a file.
    file: bool,
    /// Whether it is shared.
    shared: bool,
    field: Field,
}

/// The current field of a line.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Field {
    #[default]
    Start,
    End,
    Access,
    Offset,
    Device,
    File,
    Name,
}

/// Unmaps all private memory except for what the process needs. Without `/proc`, all memory is kept.
///
/// # Safety
///
/// The heap and the stacks of other threads must not be used afterwards.
pub(super) unsafe fn drop_inherited_memory() {
    let Ok(maps) = raw::open_for_reading(c"/proc/self/maps") else { return };
    let mut text = [0u8; 1024];
    let needed = [&raw const text as usize, raw::place_of_the_last_error()];
    let mut line = Mapping::default();
    let mut end_of_image = 0;
    while let Ok(length @ 1..) = raw::read(maps.as_raw_fd(), &mut text) {
        for byte in text.iter().take(length) {
            if *byte != b'\n' {
                line.read(*byte);
                continue;
            }
            if line.writable && !line.file && line.start != end_of_image {
                for (start, end) in gaps((line.start, line.end), needed.map(around)) {
                    if start < end {
                        // SAFETY: nothing in it is needed, see above; the caller promises the rest.
                        unsafe { raw::unmap(start, end - start) };
                    }
                }
            }
            if line.code && line.file && !line.writable {
                // SAFETY: code is as in its file. What a debugger put there was for the program that this is a copy of.
                unsafe { raw::give_back(line.start, line.end - line.start) };
            }
            end_of_image = line.end_of_image();
            line = Mapping::default();
        }
    }
}

/// Returns the range to keep around a needed address.
fn around(place: usize) -> Range {
    (place.saturating_sub(BELOW) & !(EDGE - 1), place.saturating_add(ABOVE) & !(EDGE - 1))
}

/// Returns the parts of a mapping that are not kept; each may be empty. The kernel merges adjacent anonymous mappings, so one
/// mapping can contain a stack and much more.
fn gaps((start, end): Range, mut kept: [Range; 2]) -> [Range; 3] {
    kept.sort_unstable();
    let [first, second] = kept;
    [(start, end.min(first.0)), (start.max(first.1), end.min(second.0)), (start.max(second.1), end)]
}

impl Mapping {
    /// Returns where static data may continue: an anonymous mapping directly after one of a program's file is its `.bss`. Shared
    /// memory looks like a file, but can be followed by any mapping.
    const fn end_of_image(&self) -> usize {
        if self.file && !self.shared { self.end } else { 0 }
    }

    /// Parses the next character of `7f00-7fff rw-p 00000000 00:00 0   [name]`.
    fn read(&mut self, byte: u8) {
        use Field::{Access, Device, End, File, Name, Offset, Start};
        let digit = char::from(byte).to_digit(16).unwrap_or(0) as usize;
        self.field = match (self.field, byte) {
            (Start, b'-') => End,
            (End, b' ') => Access,
            (Access, b' ') => Offset,
            (Offset, b' ') => Device,
            (Device, b' ') => File,
            (File, b' ') => Name,
            (same, _) => same,
        };
        match self.field {
            Start => self.start = self.start.wrapping_mul(16).wrapping_add(digit),
            End if byte != b'-' => self.end = self.end.wrapping_mul(16).wrapping_add(digit),
            Access => {
                self.writable |= byte == b'w';
                self.code |= byte == b'x';
                self.shared |= byte == b's';
            }
            File => self.file |= matches!(byte, b'1'..=b'9'),
            End | Offset | Device | Name => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_needed_memory_is_kept() {
        let rows: [(Range, [Range; 2], &[Range]); 6] = [
            ((10, 20), [(1, 5), (30, 40)], &[(10, 20)]),
            ((10, 20), [(5, 25), (30, 40)], &[]),
            ((10, 20), [(12, 14), (16, 18)], &[(10, 12), (14, 16), (18, 20)]),
            ((10, 20), [(16, 18), (12, 14)], &[(10, 12), (14, 16), (18, 20)]),
            ((10, 20), [(12, 15), (13, 16)], &[(10, 12), (16, 20)]),
            ((10, 20), [(5, 12), (18, 25)], &[(12, 18)]),
        ];
        for (mapping, kept, expected) in rows {
            let found = gaps(mapping, kept).into_iter().filter(|(start, end)| start < end);
            assert_eq!(found.collect::<Vec<_>>(), expected, "{mapping:?} {kept:?}");
        }
        let (start, end) = around(0x7f00_1234_5678);
        assert!(start % EDGE == 0 && end % EDGE == 0);
        assert!(start + BELOW <= 0x7f00_1234_5678 && end > 0x7f00_1234_5678 + ABOVE / 2);
    }

    #[test]
    fn lines_are_understood() {
        let rows = [
            ("55d0-55e1 r-xp 00001000 fe:00 131 /usr/bin/x", (0x55d0, 0x55e1, false, true, true)),
            ("7f00a000-7f00c000 rw-p 00000000 00:00 0 ", (0x7f00_a000, 0x7f00_c000, true, false, false)),
            (
                "7f00a000-7f00c000 rw-p 00000000 00:00 0   [heap]",
                (0x7f00_a000, 0x7f00_c000, true, false, false),
            ),
            ("1000-2000 rw-s 00000000 00:01 2050 /dev/zero (deleted)", (0x1000, 0x2000, true, false, true)),
            ("1000-2000 rw-p 00003000 fe:00 10 /lib/w w", (0x1000, 0x2000, true, false, true)),
            ("", (0, 0, false, false, false)),
        ];
        for (text, expected) in rows {
            let mut line = Mapping::default();
            text.bytes().for_each(|byte| line.read(byte));
            assert_eq!((line.start, line.end, line.writable, line.code, line.file), expected, "{text}");
        }
    }

    #[test]
    fn static_mappings_are_recognised() {
        let rows = [
            ("1000-2000 rw-p 00003000 fe:00 10 /lib/w w", 0x2000),
            ("1000-2000 r--p 00003000 fe:00 10 /lib/w w", 0x2000),
            ("1000-2000 rw-s 00000000 00:01 2050 /dev/zero (deleted)", 0),
            ("1000-2000 rw-p 00000000 00:00 0 ", 0),
        ];
        for (text, expected) in rows {
            let mut line = Mapping::default();
            text.bytes().for_each(|byte| line.read(byte));
            assert_eq!(line.end_of_image(), expected, "{text}");
        }
    }
}
