//! Paths as text: nothing here looks at a disk.

use std::path::{Path, PathBuf};
use stockade_text::hex_byte;

use stockade_text::resolve_path;
use thiserror::Error;

/// The longest path that Linux takes, in bytes, with the NUL that ends it.
const PATH_MAX: usize = 4096;

/// The longest name of a file, in bytes.
const NAME_MAX: usize = 255;

/// Why a text is no path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum InvalidPath {
    /// No text at all, which no system opens.
    #[error("the path is empty: `.` names the workspace itself")]
    Empty,
    /// A NUL byte, where the operating system would end the path and a text comparison would not.
    #[error("the path contains a NUL byte")]
    Nul,
    /// Longer than the operating system takes.
    #[error("the path is longer than {PATH_MAX} bytes")]
    PathTooLong,
    /// A name in it is longer than file systems take.
    #[error("a name in the path is longer than {NAME_MAX} bytes")]
    NameTooLong,
}

/// Refuses what cannot be a path.
pub(crate) fn check(path: &Path) -> Result<(), InvalidPath> {
    let bytes = path.as_os_str().as_encoded_bytes();
    if bytes.len() >= PATH_MAX {
        return Err(InvalidPath::PathTooLong);
    }
    if bytes.contains(&0) {
        return Err(InvalidPath::Nul);
    }
    if bytes.split(|byte| *byte == b'/').any(|name| name.len() > NAME_MAX) {
        return Err(InvalidPath::NameTooLong);
    }
    Ok(())
}

/// Why segments do not join to a path below their base.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TraversalError {
    /// They lead out of the base.
    #[error("`{}` is outside of `{}`", segments.join("/").escape_debug(), base.display())]
    Escapes {
        /// The folder.
        base: PathBuf,
        /// What was to be joined to it.
        segments: Vec<String>,
    },
    /// They leave the base once a program decodes their percent escapes.
    #[error("`{}` is outside of `{}` when its percent escapes are decoded", segments.join("/").escape_debug(), base.display())]
    EscapesWhenDecoded {
        /// The folder.
        base: PathBuf,
        /// What was to be joined to it.
        segments: Vec<String>,
    },
    /// They are no path.
    #[error(transparent)]
    Invalid(#[from] InvalidPath),
}

/// Joins segments below a base folder, by text, and refuses whatever does not stay below it: `..`, absolute
/// segments, NUL, and percent escapes of these, however often encoded. The answer is the plain join; it is never
/// decoded. Links are the disk's business: see [`crate::Sandbox`].
///
/// # Errors
/// When the segments are no path or lead out of the base.
pub fn safe_join(base: &Path, segments: &[&str]) -> Result<PathBuf, TraversalError> {
    let owned = || segments.iter().map(|&segment| segment.to_owned()).collect();
    let base = resolve_path(Path::new("/"), base);
    let joined = join_below(&base, segments)?
        .ok_or_else(|| TraversalError::Escapes { base: base.clone(), segments: owned() })?;
    let mut decoded: Vec<String> = segments.iter().map(|&segment| segment.to_owned()).collect();
    // Each round shortens the text or ends the loop; the cap only bounds the work for absurd input.
    for _ in 0..DECODING_ROUNDS {
        let next: Vec<String> = decoded.iter().map(|segment| percent_decoded(segment)).collect();
        if next == decoded {
            return Ok(joined);
        }
        decoded = next;
        let view: Vec<&str> = decoded.iter().map(String::as_str).collect();
        if join_below(&base, &view)?.is_none() {
            break;
        }
    }
    Err(TraversalError::EscapesWhenDecoded { base, segments: owned() })
}

/// How many layers of percent encoding are looked through. More is nothing that an honest name has.
const DECODING_ROUNDS: usize = 8;

fn join_below(base: &Path, segments: &[&str]) -> Result<Option<PathBuf>, InvalidPath> {
    let mut joined = base.to_owned();
    for segment in segments {
        check(Path::new(segment))?;
        // An absolute segment would replace everything before it, which is never what joining below a base means.
        if Path::new(segment).is_absolute() {
            return Ok(None);
        }
        joined = resolve_path(&joined, Path::new(segment));
    }
    check(&joined)?;
    Ok(joined.starts_with(base).then_some(joined))
}

/// Decodes one layer of percent escapes; a backslash becomes the slash that some systems take it for.
fn percent_decoded(text: &str) -> String {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let mut ahead = bytes.clone();
        let escaped = ahead.next().zip(ahead.next()).and_then(|(high, low)| hex_byte(high, low));
        match (byte, escaped) {
            (b'%', Some(value)) => {
                decoded.push(if value == b'\\' { b'/' } else { value });
                bytes = ahead;
            }
            (other, _) => decoded.push(other),
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_path_is_refused() {
        assert_eq!(check(Path::new("a\0b")), Err(InvalidPath::Nul));
        assert_eq!(check(Path::new(&"x".repeat(255))), Ok(()));
        assert_eq!(check(Path::new(&"x".repeat(256))), Err(InvalidPath::NameTooLong));
        assert_eq!(check(Path::new(&"a/".repeat(2047))), Ok(()));
        assert_eq!(check(Path::new(&"a/".repeat(2048))), Err(InvalidPath::PathTooLong));
    }

    #[test]
    fn joins_stay_below_their_base() {
        let cases: [(&[&str], Option<&str>); 22] = [
            (&[], Some("/base")),
            (&["subdir", "file.txt"], Some("/base/subdir/file.txt")),
            (&["a/../b"], Some("/base/b")),
            (&["a", "..", "b"], Some("/base/b")),
            (&["100%/x"], Some("/base/100%/x")),
            (&["50%25 off"], Some("/base/50%25 off")),
            (&["..."], Some("/base/...")),
            (&["a%2fb"], Some("/base/a%2fb")),
            (&[".."], None),
            (&["../../etc/passwd"], None),
            (&["a", "../.."], None),
            (&["../base-evil/file"], None),
            (&["/etc/passwd"], None),
            (&["%2e%2e/x"], None),
            (&["%2e%2e%2fx"], None),
            (&["%2E%2E%2Fx"], None),
            (&["..%2fx"], None),
            (&["..%5cx"], None),
            (&["%252e%252e%252fx"], None),
            (&["%2fetc"], None),
            (&["file\0.txt"], None),
            (&["file%00.txt"], None),
        ];
        for (segments, expected) in cases {
            let joined = safe_join(Path::new("/base"), segments).ok();
            assert_eq!(joined.as_deref(), expected.map(Path::new), "{segments:?}");
        }
    }
}
