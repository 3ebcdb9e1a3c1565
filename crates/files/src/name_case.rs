//! Case sensitivity of file names.

#![expect(clippy::disallowed_methods, reason = "looks for a folder by another name")]

use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, statat};

/// Whether a file system distinguishes `A` from `a`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NameCase {
    /// The file system distinguishes `A` from `a`.
    Sensitive,
    /// The file system treats `A` and `a` as equal.
    Insensitive,
}

/// Determines the case sensitivity: looks up the directory, or the nearest parent with a letter in its name, in the
/// other case.
pub(crate) fn case_of(folder: &Path) -> NameCase {
    let lettered =
        folder.ancestors().find(|path| path.file_name().is_some_and(|name| swapped(name).is_some()));
    let other = lettered.and_then(|path| Some((path, other_case(path)?)));
    let Some((path, other)) = other else { return NameCase::Sensitive };
    let stat = |path: &Path| statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW);
    match (stat(path), stat(&other)) {
        (Ok(one), Ok(two)) if one.st_dev == two.st_dev && one.st_ino == two.st_ino => NameCase::Insensitive,
        _ => NameCase::Sensitive,
    }
}

fn other_case(path: &Path) -> Option<PathBuf> {
    Some(path.with_file_name(swapped(path.file_name()?)?))
}

fn swapped(name: &std::ffi::OsStr) -> Option<String> {
    let name = name.to_str()?;
    let swap = |character: char| {
        if character.is_ascii_lowercase() {
            character.to_ascii_uppercase()
        } else {
            character.to_ascii_lowercase()
        }
    };
    let swapped: String = name.chars().map(swap).collect();
    (swapped != name).then_some(swapped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_swapped() {
        for (name, expected) in [("aB1", Some("Ab1")), ("123", None)] {
            assert_eq!(swapped(name.as_ref()).as_deref(), expected);
        }
    }
}
