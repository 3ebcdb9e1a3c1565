//! Where a file of a package may lie.

use stockade_text::Value;
use unicode_normalization::UnicodeNormalization as _;

use super::field::{Checked, text, wanted};

/// What the manifest of a package is called, in its folder.
pub const MANIFEST: &str = "manifest.json";

/// The longest path, and the longest name in it, in bytes.
const MAX_BYTES: (usize, usize) = (1024, 255);

/// Names that are devices on Windows, with every ending.
const DEVICES: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
    "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// A test, and what a path is not that passes it: that ends the sentence "… is not".
type Refused = (fn(&str) -> bool, &'static str);

/// What a path must not be.
const REFUSED: &[Refused] = &[
    (|path| path.is_empty(), "a name"),
    (|path| path.len() > MAX_BYTES.0, "at most 1024 bytes long"),
    (|path| path.chars().any(char::is_control), "free of control characters"),
    (|path| path.starts_with('/'), "below the folder of the package"),
    (|path| path.contains(['\\', ':']), "the same file on every system: it has a backslash or a colon"),
    (|path| path.split('/').any(|name| name == ".."), "below the folder of the package"),
    (|path| path.split('/').any(|name| matches!(name, "" | ".")), "written in its shortest form"),
    (|path| path.split('/').any(|name| name.len() > MAX_BYTES.1), "made of names of at most 255 bytes"),
    (
        |path| path.split('/').any(|name| name.ends_with(['.', ' '])),
        "the same file on every system: a name ends in a dot or a space",
    ),
    (
        |path| path.split('/').any(is_device),
        "a file on every system: one of its names is a device on Windows",
    ),
    (|path| one_file(path) == MANIFEST, "a file that it can list: no manifest holds its own hash"),
];

/// How to mend a path.
pub(super) const AS_IT_LIES: &str = "write it as it lies below the folder, such as `lib/main.js`";

/// Reads where a file of a package lies.
pub(super) fn file_path(value: &Value) -> Checked<String> {
    match text(value) {
        Some(text) => package_path(text).map(|()| text.to_owned()),
        None => Err(wanted("a text", "write where the file lies, such as `lib/main.js`")),
    }
}

/// Returns the reason why a path cannot be that of a file in a package, if there is one.
fn package_path(path: &str) -> Checked<()> {
    match REFUSED.iter().find(|(refused, _)| refused(path)) {
        Some((_, what)) => Err(wanted(*what, AS_IT_LIES)),
        None => Ok(()),
    }
}

/// Returns what is the same for two paths that are one file on some system.
pub(super) fn one_file(path: &str) -> String {
    path.nfkc().flat_map(char::to_lowercase).nfkc().collect()
}

fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name);
    DEVICES.contains(&stem.trim_end().to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::{one_file, package_path};

    #[test]
    fn paths_of_files() {
        for path in [
            "index.js",
            "lib/main.js",
            ".hidden",
            "a b.txt",
            "..a",
            "a..b",
            "žluť/ä.js",
            "console.js",
            "x/manifest.json",
        ] {
            assert_eq!(package_path(path), Ok(()), "{path}");
        }
        for path in [
            "",
            "/etc/passwd",
            "../x",
            "a/../../b",
            "a/..",
            ".",
            "./a",
            "a/.",
            "a//b",
            "a/",
            "a\0b",
            "a\nb",
            "C:\\x",
            "a\\b",
            "a:b",
            "con",
            "lib/NUL.txt",
            "Com1",
            "a.",
            "a ",
            "manifest.json",
            "Manifest.JSON",
        ] {
            assert!(package_path(path).is_err(), "{path:?}");
        }
        assert!(package_path(&"x".repeat(256)).is_err());
        assert!(package_path(&"x/".repeat(600)).is_err());
    }

    #[test]
    fn two_spellings_of_one_file() {
        for (a, b, same) in [
            ("a", "A", true),
            ("\u{e9}", "e\u{301}", true),
            ("\u{fb01}x", "FIX", true),
            ("a/b", "a/B", true),
            ("a", "b", false),
        ] {
            assert_eq!(one_file(a) == one_file(b), same, "{a} {b}");
        }
    }
}
