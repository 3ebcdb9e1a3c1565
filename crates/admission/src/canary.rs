//! Self-test of a scanner: one that can only answer "clean" is worse than none.

use std::path::Path;

use stockade_scanner::{ScanOptions, Scanner};
use thiserror::Error;

use crate::scan_files::scan_bytes;

/// A text in which the built-in rules find something. The pattern is short and has no exceptions, so that it is compiled in few
/// instructions; its rule is a warning, which quoting does not lower. The text is long enough that the prefilter takes its usual
/// path of many bytes at once.
const CANARY: &str = "This text represents a skill with a known finding, and no person or model is to follow it. \
    It asks to print %ENV in Perl, which every scan must find. \
    Where it is not found, nothing that was called clean was examined.\n";

/// A scanner does not find a known attack, so its results are worthless.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the scanner did not find a known attack, so its results cannot be trusted: reinstall this program")]
#[non_exhaustive]
pub struct BlindScanner;

/// Runs a scanner on a text in which it must find something, along the path of every file.
///
/// A scanner with only custom rules is tested with the first text that those rules must match.
///
/// # Errors
/// When it finds nothing.
pub fn check_scanner(scanner: &Scanner) -> Result<(), BlindScanner> {
    // Rules that the operator has switched off do not make it blind.
    let scanner = &scanner.changed(&[]);
    let finds = |text: &str| {
        let name = Path::new("canary.md");
        let seen =
            scan_bytes(name, text.as_bytes(), scanner, &ScanOptions::default(), |scan| !scan.report.clean());
        seen.contains(&true)
    };
    try_canary(canary_of(scanner), finds)
}

fn canary_of(scanner: &Scanner) -> Option<&str> {
    if scanner.has_builtin_rules() {
        return Some(CANARY);
    }
    scanner.own_rules().first()?.matches.first().map(|text| &**text)
}

fn try_canary(text: Option<&str>, finds: impl Fn(&str) -> bool) -> Result<(), BlindScanner> {
    text.is_none_or(finds).then_some(()).ok_or(BlindScanner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_scanner_sees() {
        assert_eq!(check_scanner(Scanner::builtin()), Ok(()));
    }

    #[test]
    fn one_that_finds_nothing_is_told_of() {
        assert_eq!(try_canary(canary_of(Scanner::builtin()), |_| false), Err(BlindScanner));
        assert_eq!(try_canary(Some("x"), |_| false), Err(BlindScanner));
        // Without rules there is nothing to find.
        assert_eq!(try_canary(None, |_| false), Ok(()));
    }
}
