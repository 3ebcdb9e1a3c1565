//! Globs of `scan --exclude`, with the meaning of `.gitignore` lines.
//!
//! They come only from the command line: a list in the scanned directory would let a skill hide itself.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use stockade_guard::admission::{EntryKind, FileOptions, Source, read_text};
use stockade_text::escape_path;

use crate::failure::Failure;

/// Maximum size of a file of globs in bytes.
const MAX_FILE: usize = 1 << 20;

/// The globs of a command line.
#[derive(Debug)]
pub(crate) struct Exclusions {
    set: GlobSet,
    /// For each glob, whether it matches only directories, because it ends in a slash.
    only_folders: Vec<bool>,
}

impl Exclusions {
    /// Parses the globs of a command line.
    fn new(globs: &[String]) -> Result<Self, Failure> {
        let wrong = |glob: &str, why: &str, help: &str| {
            Failure::usage(format_args!("cannot exclude '{glob}': {why}")).with_help(help)
        };
        let mut set = GlobSetBuilder::new();
        for glob in globs {
            if let Some((_, why, help)) = MISTAKES.iter().find(|(is_one, ..)| is_one(glob)) {
                return Err(wrong(glob, why, help));
            }
            // `*` does not match a slash, as in a `.gitignore`.
            let built = GlobBuilder::new(&anchored(glob)).literal_separator(true).build();
            set.add(built.map_err(|error| wrong(glob, &error.kind().to_string(), LITERALLY))?);
        }
        let set = set.build().map_err(|error| {
            Failure::usage(format_args!("too many exclusions: {error}"))
                .with_help("use fewer or shorter globs")
        })?;
        Ok(Self { set, only_folders: globs.iter().map(|glob| glob.ends_with('/')).collect() })
    }

    /// Parses the globs of a command line and of its glob files: one per line, without blank lines and lines that start with `#`.
    pub(crate) fn load(globs: &[String], files: &[PathBuf]) -> Result<Self, Failure> {
        let mut all = globs.to_vec();
        for path in files {
            let options = FileOptions { max_file_bytes: MAX_FILE, ..FileOptions::default() };
            let file = read_text(&Source::Path(path.clone()), &options)
                .map_err(|gap| Failure::usage(format_args!("{}: {gap}", escape_path(path))))?;
            let lines = file.text.lines().map(str::trim_end);
            all.extend(lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned));
        }
        Self::new(&all)
    }

    /// Whether a path, relative to the scanned directory, is excluded.
    pub(crate) fn holds(&self, below: &Path, kind: EntryKind) -> bool {
        if self.set.is_empty() {
            return false;
        }
        let means = |glob: usize| kind == EntryKind::Folder || self.only_folders.get(glob) == Some(&false);
        self.set.matches(below).into_iter().any(means)
    }
}

/// How to fix an invalid glob.
const LITERALLY: &str = "use a name such as 'node_modules', or a path with *, ?, [abc], {a,b} and **; put a backslash before one of \
     these characters to match it literally";

/// A check for a mistake, the error, and the fix.
type Mistake = (fn(&str) -> bool, &'static str, &'static str);

/// Globs that would exclude nothing, or not what the user expects.
const MISTAKES: [Mistake; 4] = [
    (|glob| glob.trim_matches('/').is_empty(), "it matches nothing", "use a name, such as 'node_modules'"),
    (
        |glob| glob.starts_with('!'),
        "exceptions with ! are not supported",
        "use narrower globs, or write '\\!' for a name that starts with !",
    ),
    (
        |glob| glob.starts_with("./"),
        "it is relative to the scanned directory already",
        "remove './'; a slash at the start or within matches only in the scanned directory itself",
    ),
    (
        |glob| glob.split('/').any(|name| name == ".."),
        "'..' is outside of the scanned directory",
        "use a path inside of it, or scan another directory",
    ),
];

/// Returns the full pattern of a glob. A glob without a slash, except at the end, matches a name at any depth.
fn anchored(glob: &str) -> String {
    let name = glob.strip_suffix('/').unwrap_or(glob);
    match name.strip_prefix('/') {
        Some(anchored) => anchored.to_owned(),
        None if name.contains('/') => name.to_owned(),
        None => format!("**/{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excludes(glob: &str, path: &str) -> bool {
        let (path, kind) = match path.strip_suffix('/') {
            Some(folder) => (folder, EntryKind::Folder),
            None => (path, EntryKind::File),
        };
        Exclusions::new(&[glob.to_owned()]).unwrap().holds(Path::new(path), kind)
    }

    #[test]
    fn globs_match_like_in_gitignore() {
        let cases: &[(&str, &[&str], &[&str])] = &[
            ("target", &["target", "target/", "a/b/target/"], &["target.md", "a-target", "Target"]),
            ("target/", &["target/", "a/target/"], &["target", "a/target"]),
            ("/target", &["target", "target/"], &["a/target"]),
            ("a/b", &["a/b"], &["x/a/b", "a/b/c", "a"]),
            ("**/a/b", &["a/b", "x/a/b", "x/y/a/b"], &["xa/b"]),
            ("*.min.js", &["x.min.js", "a/x.min.js", ".min.js"], &["x.js", "x.min.jsx"]),
            ("docs/*.md", &["docs/a.md"], &["docs/a/b.md", "a/docs/b.md"]),
            ("docs/**", &["docs/a.md", "docs/a/b.md"], &["docs"]),
            ("{a,b}[0-9]?", &["a1x", "c/b2y"], &["a1", "c1x", "a1/"]),
            (r"\!x", &["!x"], &["x"]),
            (r"\*", &["*", "a/*"], &["x"]),
        ];
        for (glob, inside, outside) in cases {
            inside.iter().for_each(|path| assert!(excludes(glob, path), "{glob} excludes {path}"));
            outside.iter().for_each(|path| assert!(!excludes(glob, path), "{glob} leaves {path}"));
        }
    }

    #[test]
    fn nothing_is_excluded_by_default() {
        let none = Exclusions::new(&[]).unwrap();
        assert!(!none.holds(Path::new(".git"), EntryKind::Folder));
    }

    #[test]
    fn bad_globs_are_refused() {
        for glob in ["", "/", "//", "!x", "./x", "../x", "a/../b", "[", "[z-a]", "{a", "a}", "x\\"] {
            assert!(Exclusions::new(&[glob.to_owned()]).is_err(), "{glob:?}");
        }
    }
}
