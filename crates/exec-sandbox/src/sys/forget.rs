//! Gives back the memory that the first process of a sandbox has as a copy of the program that started it. Else every page
//! which that program changes would be kept twice for as long as the command runs.
//!
//! What remains is the code that is run from here on, what is static, the stack that this runs on, and where the C library keeps the last error
//! of this thread. The rules of the place hold: no allocation, no lock.

use std::os::fd::AsRawFd as _;

use super::raw;

/// A line of `/proc/self/maps`, as far as it matters here.
#[derive(Default)]
struct Mapping {
    start: usize,
    end: usize,
    /// Whether it can be read and written.
    writable: bool,
    /// Whether it can be run.
    code: bool,
    /// Whether it shows a file.
    file: bool,
    field: Field,
}

/// Which part of a line comes next.
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

/// Gives back all that this process has for itself but what it needs to go on. Where `/proc` does not say what that is, it
/// is kept.
///
/// # Safety
///
/// Nothing on the heap, and nothing on the stack of another thread, may be used from here on.
pub(super) unsafe fn forget() {
    let Ok(maps) = raw::open_for_reading(c"/proc/self/maps") else { return };
    let mut text = [0u8; 1024];
    let needed = [&raw const text as usize, raw::place_of_the_last_error()];
    let mut line = Mapping::default();
    // What lies right behind what a file says is static as well: the file only says that it begins as zeros.
    let mut end_of_file = 0;
    while let Ok(length @ 1..) = raw::read(maps.as_raw_fd(), &mut text) {
        for byte in text.iter().take(length) {
            if *byte != b'\n' {
                line.read(*byte);
                continue;
            }
            let own = line.writable && !line.file && line.start != end_of_file;
            if own && !needed.iter().any(|place| (line.start..line.end).contains(place)) {
                // SAFETY: nothing in it is needed, see above; the caller promises the rest.
                unsafe { raw::unmap(line.start, line.end - line.start) };
            }
            if line.code && line.file && !line.writable {
                // SAFETY: code is as in its file. What a debugger put there was for the program that this is a copy of.
                unsafe { raw::give_back(line.start, line.end - line.start) };
            }
            end_of_file = if line.file { line.end } else { 0 };
            line = Mapping::default();
        }
    }
}

impl Mapping {
    /// Takes the next character of `7f00-7fff rw-p 00000000 00:00 0   [name]`.
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
}
