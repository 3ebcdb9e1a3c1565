//! File names in a lock: readable, unique, and reversible.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use stockade_text::is_printable;

/// Precedes the two digits of an escaped byte.
const MARK: char = '%';

/// Returns the name of a path. Invisible characters, invalid bytes, and the escape character are written as bytes:
/// `%0A`.
pub(super) fn name_of(path: &Path) -> String {
    let mut name = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            match is_printable(c) && c != MARK {
                true => name.push(c),
                false => push_bytes(&mut name, c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        push_bytes(&mut name, chunk.invalid());
    }
    name
}

fn push_bytes(name: &mut String, bytes: &[u8]) {
    for byte in bytes {
        name.push_str(&format!("{MARK}{byte:02X}"));
    }
}

/// Returns the path of a name, or `None` if the name is invalid.
pub(super) fn path_of(name: &str) -> Option<PathBuf> {
    let mut parts = name.split(MARK);
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    let path = PathBuf::from(OsString::from_vec(bytes));
    // Reject alternative spellings of the same name.
    (name_of(&path) == name).then_some(path)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_readable() {
        for (path, name) in [
            (&b"scripts/a b.sh"[..], "scripts/a b.sh"),
            ("grüße.md".as_bytes(), "grüße.md"),
            (b"a\\tb", "a\\tb"),
            (b"a\nb", "a%0Ab"),
            (b"a\tb%", "a%09b%25"),
            (b"\xff", "%FF"),
            ("\u{202e}x".as_bytes(), "%E2%80%AEx"),
        ] {
            let path = Path::new(OsStr::from_bytes(path));
            assert_eq!((name_of(path), path_of(name).as_deref()), (name.to_owned(), Some(path)), "{name}");
        }
        for name in ["%", "%4", "%41", "%0a", "%zz", "%+1", "a\n"] {
            assert_eq!(path_of(name), None, "{name}");
        }
    }

    proptest! {
        #[test]
        fn every_path_has_a_name_of_its_own(bytes in prop::collection::vec(any::<u8>(), 0..30)) {
            let path = PathBuf::from(OsString::from_vec(bytes));
            prop_assert_eq!(path_of(&name_of(&path)), Some(path));
        }
    }
}
