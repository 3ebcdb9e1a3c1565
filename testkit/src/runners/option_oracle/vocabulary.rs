//! The options and variables that a program of this machine knows, from the texts in its file.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// The largest file that is searched. Larger ones are statically linked, and contain the words of whole libraries.
const MAX_FILE: u64 = 6 << 20;

/// Where programs are.
const FOLDERS: &[&str] = &["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin"];

/// What a program knows.
#[derive(Debug, Clone, Default)]
pub(super) struct Vocabulary {
    /// Words that may be long options.
    pub(super) options: Vec<String>,
    /// Words that may be variables.
    pub(super) variables: Vec<String>,
}

/// Returns the file of a program.
pub(super) fn file(program: &str) -> Option<PathBuf> {
    FOLDERS.iter().map(|folder| PathBuf::from(folder).join(program)).find(|path| path.is_file())
}

/// Returns what a program knows; nothing if it is a builtin, or large.
pub(super) fn of(program: &str) -> Vocabulary {
    let path = file(program).filter(|path| path.metadata().is_ok_and(|about| about.len() <= MAX_FILE));
    path.and_then(|path| std::fs::read(path).ok()).map_or_else(Vocabulary::default, |bytes| read(&bytes))
}

fn read(bytes: &[u8]) -> Vocabulary {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let (mut options, mut variables) = (BTreeSet::new(), BTreeSet::new());
    for word in bytes.split(|byte| !is_part(byte)).filter_map(|word| std::str::from_utf8(word).ok()) {
        let name = word.trim_start_matches('-');
        let starts_with = |is: fn(&u8) -> bool| name.as_bytes().first().is_some_and(is);
        match name.len() {
            2..=28 if starts_with(u8::is_ascii_lowercase) && !name.contains('_') => {
                options.insert(name.to_owned())
            }
            3..=40
                if starts_with(u8::is_ascii_uppercase)
                    && !name.bytes().any(|byte| byte.is_ascii_lowercase()) =>
            {
                variables.insert(name.to_owned())
            }
            _ => false,
        };
    }
    Vocabulary { options: options.into_iter().collect(), variables: variables.into_iter().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_file_are_options_and_variables() {
        let found = read(b"\0files0-from\0--output=x\0GREP_OPTIONS\0aB\0_x\0");
        assert_eq!(found.options, ["aB", "files0-from", "output"]);
        assert_eq!(found.variables, ["GREP_OPTIONS"]);
    }
}
