//! What `scan --exclude` leaves out: globs that are read as lines of a `.gitignore` are.
//!
//! They come from the command line and from nowhere else. A list in the folder that is scanned would let a skill hide itself.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use stockade_guard::admission::{EntryKind, FileOptions, Source, read_text};
use stockade_text::escape_path;

use crate::failure::Failure;

/// The most bytes of a file of globs.
const MAX_FILE: usize = 1 << 20;

/// The globs of one command line.
#[derive(Debug)]
pub(crate) struct Exclusions {
    set: GlobSet,
    /// For each glob, whether it means nothing but folders: those that end in a slash.
    only_folders: Vec<bool>,
}

impl Exclusions {
    /// Reads the globs of a command line.
    fn new(globs: &[String]) -> Result<Self, Failure> {
        let wrong = |glob: &str, why: &str, help: &str| {
            Failure::usage(format_args!("cannot exclude '{glob}': {why}")).with_help(help)
        };
        let mut set = GlobSetBuilder::new();
        for glob in globs {
            if let Some((_, why, help)) = MISTAKES.iter().find(|(is_one, ..)| is_one(glob)) {
                return Err(wrong(glob, why, help));
            }
            // `*` stays within a name, as in a `.gitignore`.
            let built = GlobBuilder::new(&anchored(glob)).literal_separator(true).build();
            set.add(built.map_err(|error| wrong(glob, &error.kind().to_string(), LITERALLY))?);
        }
        let set = set.build().map_err(|error| {
            Failure::usage(format_args!("cannot exclude so much: {error}"))
                .with_help("give fewer or shorter globs")
        })?;
        Ok(Self { set, only_folders: globs.iter().map(|glob| glob.ends_with('/')).collect() })
    }

    /// Reads the globs of a command line, and those of files that it names: one on a line, but for lines that are blank or begin with `#`.
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

    /// Whether an entry is left out, by the way to it from the folder that was named.
    pub(crate) fn holds(&self, below: &Path, kind: EntryKind) -> bool {
        if self.set.is_empty() {
            return false;
        }
        let means = |glob: usize| kind == EntryKind::Folder || self.only_folders.get(glob) == Some(&false);
        self.set.matches(below).into_iter().any(means)
    }
}

/// What to do about a glob that is none.
const LITERALLY: &str = "a glob is a name such as 'node_modules', or a path with *, ?, [abc], {a,b} and **; a backslash before one of these \
     signs takes it literally";

/// A mistake, what is wrong with it, and what to do.
type Mistake = (fn(&str) -> bool, &'static str, &'static str);

/// Globs that would exclude something else than is meant, or nothing.
const MISTAKES: [Mistake; 4] = [
    (|glob| glob.trim_matches('/').is_empty(), "it names nothing", "give a name, such as 'node_modules'"),
    (
        |glob| glob.starts_with('!'),
        "what is excluded cannot be taken back",
        "exclude less instead, or write '\\!' where the name begins so",
    ),
    (
        |glob| glob.starts_with("./"),
        "a glob is read from the scanned folder down, without './'",
        "leave './' out; a slash at the beginning or within means this folder and none below it",
    ),
    (
        |glob| glob.split('/').any(|name| name == ".."),
        "a glob is read from the scanned folder down, and '..' leads out of it",
        "name what is in the folder, or do not name the folder that it is in",
    ),
];

/// The whole way that a glob means. One without a slash, but for the last sign, means a name at any depth.
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
    fn globs_mean_what_they_mean_to_git() {
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
    fn nothing_is_excluded_unless_somebody_says_so() {
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
