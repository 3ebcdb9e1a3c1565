//! Binary files that run or contain programs, detected by their first bytes: a file name proves nothing.

use crate::surface::SurfaceKind;

/// The format of a binary file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Binary {
    /// Machine code, bytecode or an archive.
    pub kind: SurfaceKind,
    /// The format, in a word.
    pub format: &'static str,
}

/// Offset and bytes that identify a format, and its kind.
const BEGINNINGS: &[(usize, &[u8], SurfaceKind, &str)] = {
    use SurfaceKind::{Archive, Bytecode, MachineCode};
    &[
        (0, b"\x7fELF", MachineCode, "ELF"),
        (0, b"\xfe\xed\xfa\xce", MachineCode, "Mach-O"),
        (0, b"\xfe\xed\xfa\xcf", MachineCode, "Mach-O"),
        (0, b"\xce\xfa\xed\xfe", MachineCode, "Mach-O"),
        (0, b"\xcf\xfa\xed\xfe", MachineCode, "Mach-O"),
        (0, b"\xca\xfe\xba\xbf", MachineCode, "Mach-O"),
        // A Java class begins like a universal binary of macOS: both run.
        (0, b"\xca\xfe\xba\xbe", MachineCode, "Java class or Mach-O"),
        (0, b"\0asm", Bytecode, "WebAssembly"),
        (0, b"\x1bLua", Bytecode, "Lua"),
        (0, b"\x1bLJ", Bytecode, "Lua"),
        (0, b"dex\n", Bytecode, "Dalvik"),
        (0, b"BC\xc0\xde", Bytecode, "LLVM"),
        (0, b";ELC", Bytecode, "Emacs"),
        (0, b"PK\x03\x04", Archive, "zip"),
        (0, b"PK\x05\x06", Archive, "zip"),
        (0, b"PK\x07\x08", Archive, "zip"),
        (0, b"\x1f\x8b", Archive, "gzip"),
        (0, b"BZh", Archive, "bzip2"),
        (0, b"\xfd7zXZ\0", Archive, "xz"),
        (0, b"\x28\xb5\x2f\xfd", Archive, "zstd"),
        (0, b"\x04\x22\x4d\x18", Archive, "lz4"),
        (0, b"7z\xbc\xaf\x27\x1c", Archive, "7z"),
        (0, b"Rar!\x1a\x07", Archive, "rar"),
        (0, b"MSCF\0\0\0\0", Archive, "cab"),
        (0, b"!<arch>\n", Archive, "ar"),
        (0, b"\xed\xab\xee\xdb", Archive, "rpm"),
        (0, b"xar!", Archive, "xar"),
        (0, b"Cr24", Archive, "crx"),
        (0, b"hsqs", Archive, "squashfs"),
        (257, b"ustar", Archive, "tar"),
    ]
};

/// Maximum offset of the PE header in a Windows program.
const MAX_DOS: usize = 4096;

/// Detects a binary file that runs or contains files, by its first bytes. The first 8 KiB suffice.
///
/// ```
/// use stockade_skill::{SurfaceKind, binary};
///
/// assert_eq!(binary(b"PK\x03\x04\x14\0").unwrap().kind, SurfaceKind::Archive);
/// assert!(binary(b"PK is how it begins, and it is a text.").is_none());
/// ```
#[must_use]
pub fn binary(bytes: &[u8]) -> Option<Binary> {
    let row = BEGINNINGS
        .iter()
        .find(|(at, begin, ..)| bytes.get(*at..).is_some_and(|rest| rest.starts_with(begin)));
    if let Some((_, _, kind, format)) = row {
        return Some(Binary { kind: *kind, format });
    }
    if is_windows_program(bytes) {
        return Some(Binary { kind: SurfaceKind::MachineCode, format: "Windows program" });
    }
    // A bytecode version, a fixed `\r\n`, and a flags word, whose zero bytes do not occur in text.
    let is_python =
        matches!(bytes, [_, high, b'\r', b'\n', flags, 0, 0, 0, ..] if *high < 0x20 && *flags < 4);
    is_python.then_some(Binary { kind: SurfaceKind::Bytecode, format: "Python" })
}

/// `MZ`, and `PE` at the offset that its header names.
fn is_windows_program(bytes: &[u8]) -> bool {
    let at = bytes.get(0x3c..0x40).and_then(|at| at.try_into().ok()).map(u32::from_le_bytes);
    let at = at.and_then(|at| usize::try_from(at).ok()).filter(|at| *at <= MAX_DOS);
    bytes.starts_with(b"MZ")
        && at.and_then(|at| bytes.get(at..)).is_some_and(|rest| rest.starts_with(b"PE\0\0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_is_told_by_how_it_begins() {
        let mut windows = vec![0; 0x90];
        windows[..2].copy_from_slice(b"MZ");
        windows[0x3c] = 0x80;
        windows[0x80..0x84].copy_from_slice(b"PE\0\0");
        let tar = [vec![b'x'; 257], b"ustar\0".to_vec()].concat();
        let rows: &[(&[u8], SurfaceKind)] = &[
            (b"\x7fELF\x02\x01", SurfaceKind::MachineCode),
            (&windows, SurfaceKind::MachineCode),
            (b"\xcb\x0d\x0d\x0a\0\0\0\0abc", SurfaceKind::Bytecode),
            (b"\x6f\x0d\x0d\x0a\x03\0\0\0abc", SurfaceKind::Bytecode),
            (b"\0asm\x01\0\0\0", SurfaceKind::Bytecode),
            (&tar, SurfaceKind::Archive),
            (b"\x1f\x8b\x08", SurfaceKind::Archive),
        ];
        for (bytes, kind) in rows {
            assert_eq!(binary(bytes).map(|found| found.kind), Some(*kind), "{bytes:?}");
        }
    }

    #[test]
    fn pictures_texts_and_beginnings_are_nothing_of_it() {
        let dos = [b"MZ".as_slice(), &[0xff; 80]].concat();
        let rows: &[&[u8]] = &[
            b"",
            b"M",
            b"MZ is a text",
            &dos,
            b"\x89PNG\r\n\x1a\n",
            b"%PDF-1.7",
            b"a\r\r\nplain text",
            b"GIF89a",
        ];
        for bytes in rows {
            assert_eq!(binary(bytes), None, "{bytes:?}");
        }
    }
}
