//! Gaps: what could not be read, and why.

use std::fmt;
use std::io;
use std::path::PathBuf;

use rustix::io::Errno;

/// Something that was not scanned, and why.
#[derive(Debug)]
#[non_exhaustive]
pub enum Gap {
    /// Binary data: only its plain text was scanned.
    Binary,
    /// An intact image, font or sound: only its plain text was scanned.
    Media {
        /// Name of the format.
        format: &'static str,
    },
    /// A git pack beyond the size limit: only its beginning was scanned.
    GitPack,
    /// An archive, document or program that was not opened, or not in all its parts.
    Unopened {
        /// Name of the format.
        format: &'static str,
        /// The reason.
        why: Unopened,
    },
    /// Excluded by the caller, with everything in it.
    Excluded,
    /// The system refused to read it.
    Unreadable(io::Error),
    /// A pipe, a socket or a device, which is never opened.
    Special,
    /// A link out of the scanned directory.
    LinkOutside {
        /// The link's target.
        target: PathBuf,
    },
    /// More bytes than [`FileOptions::max_file_bytes`](crate::FileOptions::max_file_bytes): only the beginning was
    /// scanned.
    TooLarge {
        /// The limit.
        max_file_bytes: usize,
    },
    /// A directory deeper than [`FileOptions::max_depth`](crate::FileOptions::max_depth).
    TooDeep {
        /// The limit.
        max_depth: usize,
    },
    /// More entries than [`FileOptions::max_entries`](crate::FileOptions::max_entries): the walk stopped here.
    TooMany {
        /// The limit.
        max_entries: usize,
    },
}

/// Why the content of a file was not examined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unopened {
    /// It needs a password.
    Encrypted,
    /// It is truncated, or two lists of its members disagree.
    Damaged,
    /// The format is not supported.
    UnknownFormat,
    /// The compression method is not supported.
    UnknownMethod,
    /// Its letters are glyph numbers of an embedded font, or it contains images.
    Drawn,
    /// Archives are nested too deeply.
    TooDeep,
    /// It has too many members.
    TooMany,
    /// It expands beyond the limit.
    TooLarge,
    /// It is a whole program, in which no text is one that a person or a model would read.
    MachineCode,
}

impl fmt::Display for Unopened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Encrypted => "it is encrypted",
            Self::Damaged => "it is damaged, so programs disagree about its contents",
            Self::UnknownFormat => "this format is not supported",
            Self::UnknownMethod => "this compression method is not supported",
            Self::Drawn => "its text is made of pictures or of glyph numbers of an embedded font",
            Self::TooDeep => "it is nested in too many archives",
            Self::TooMany => "it has too many members",
            Self::TooLarge => "it becomes too large",
            Self::MachineCode => "it is machine code, of which only both ends are scanned as text",
        })
    }
}

/// Effect of a [`Gap`] on the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Coverage {
    /// Nothing there can run or instruct; it is listed for a person to judge.
    Listed,
    /// Text was skipped at the caller's request: not a failure, but the result is not clean either.
    Excluded,
    /// Content that cannot be examined, such as an archive or a program: it may be legitimate, but the result must
    /// not be called clean.
    Opaque,
    /// Text was not examined: the result must not be called clean.
    Incomplete,
}

impl Gap {
    /// Returns the effect on the result.
    #[must_use]
    pub const fn coverage(&self) -> Coverage {
        match self {
            Self::Media { .. } => Coverage::Listed,
            Self::Binary | Self::GitPack | Self::Unopened { .. } => Coverage::Opaque,
            Self::Excluded => Coverage::Excluded,
            Self::Unreadable(_)
            | Self::Special
            | Self::LinkOutside { .. }
            | Self::TooLarge { .. }
            | Self::TooDeep { .. }
            | Self::TooMany { .. } => Coverage::Incomplete,
        }
    }

    /// Returns a stable name for programs.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Binary => "binary",
            Self::Media { .. } => "media",
            Self::GitPack => "gitPack",
            Self::Excluded => "excluded",
            Self::Unreadable(_) => "unreadable",
            Self::Special => "special",
            Self::Unopened { .. } => "unopened",
            Self::LinkOutside { .. } => "linkOutside",
            Self::TooLarge { .. } => "tooLarge",
            Self::TooDeep { .. } => "tooDeep",
            Self::TooMany { .. } => "tooMany",
        }
    }
}

/// A phrase for display. Control characters of a link's target are escaped.
impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Binary => f.write_str("binary data, only the plain text inside was scanned"),
            Self::Media { format } => write!(f, "{format}, only the plain text inside was scanned"),
            Self::GitPack => f.write_str("compressed git history, only the beginning was scanned"),
            Self::Excluded => f.write_str("excluded on request"),
            Self::Unreadable(error) => write!(f, "could not be read: {}", Cause(error)),
            Self::Special => f.write_str("a pipe, socket or device, never opened"),
            Self::Unopened { format, why } => {
                write!(f, "{format}, not looked into, or not in all of it: {why}")
            }
            Self::LinkOutside { target } => write!(f, "links out of the scanned folder, to {target:?}"),
            Self::TooLarge { max_file_bytes } => {
                write!(f, "larger than {max_file_bytes} bytes, only the beginning was read")
            }
            Self::TooDeep { max_depth } => write!(f, "more than {max_depth} folders deep, not entered"),
            Self::TooMany { max_entries } => {
                write!(f, "more than {max_entries} files in all, the scan stopped here")
            }
        }
    }
}

/// The cause of an I/O error without the error number that `std` appends.
struct Cause<'e>(&'e io::Error);

impl fmt::Display for Cause<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Errno::from_io_error(self.0) {
            Some(Errno::NOENT) => f.write_str("no such file or folder"),
            Some(Errno::ACCESS | Errno::PERM) => f.write_str("permission denied"),
            Some(Errno::NOTDIR) => f.write_str("part of the path is not a folder"),
            Some(Errno::LOOP) => f.write_str("too many links"),
            Some(Errno::MFILE | Errno::NFILE) => f.write_str("too many files are open"),
            _ => self.0.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cause, Gap};
    use std::io;

    #[test]
    fn causes_are_plain_words() {
        let cases = [
            (2, "no such file or folder"),
            (13, "permission denied"),
            (20, "part of the path is not a folder"),
            (40, "too many links"),
            (24, "too many files are open"),
            (5, "Input/output error (os error 5)"),
        ];
        for (errno, words) in cases {
            assert_eq!(Cause(&io::Error::from_raw_os_error(errno)).to_string(), words);
        }
    }

    #[test]
    fn a_target_cannot_write_to_the_terminal() {
        let gap = Gap::LinkOutside { target: "/etc/\u{1b}[2J\u{202e}".into() };
        assert!(gap.to_string().chars().all(|c| c.is_ascii_graphic() || c == ' '));
    }
}
