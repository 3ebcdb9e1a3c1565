//! The files of the checkout.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::lexer::code_and_comments;
use testkit::Stop;

/// Folders that hold nothing of ours: what is built, and what fuzzing finds.
const SKIPPED_FOLDERS: &[&str] = &["target", ".git", "node_modules", "corpus", "artifacts"];

/// Kinds of files whose text is read.
const TEXT: &[&str] = &["rs", "toml", "md", "yml", "yaml", "sh", "mjs", "json", "txt", "run"];

/// Folders of the packages that run on the machines of those who work on this repository, and are never published.
pub(super) const OWN_TOOLS: &[&str] = &["testkit", "xtask"];

/// Every file of the checkout.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// The paths of all files, from the root, with `/` between folders.
    pub(crate) paths: BTreeSet<String>,
    /// The files that are text.
    pub(crate) files: Vec<File>,
    /// Where each of them is in the list.
    places: BTreeMap<String, usize>,
}

/// A text file.
#[derive(Debug)]
pub(crate) struct File {
    /// Its path from the root.
    pub(crate) path: String,
    /// All of it.
    pub(crate) text: String,
    /// Of Rust source: the code, with comments and literals blanked out. Otherwise empty.
    pub(crate) code: String,
    /// Of Rust source: the comments alone. Otherwise empty.
    pub(crate) comments: String,
}

impl Tree {
    /// Reads the checkout at `root`.
    pub(crate) fn load(root: &Path) -> Result<Self, Stop> {
        let mut tree = Self::default();
        tree.load_folder(root, "")
            .map_err(|error| Stop::failed(format!("cannot read the sources: {error}")))?;
        tree.files.sort_by(|a, b| a.path.cmp(&b.path));
        tree.index();
        Ok(tree)
    }

    fn load_folder(&mut self, folder: &Path, prefix: &str) -> std::io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            let kind = entry.file_type()?;
            if kind.is_dir() && !SKIPPED_FOLDERS.contains(&name.as_str()) {
                self.load_folder(&entry.path(), &format!("{path}/"))?;
            } else if kind.is_file() {
                if is_text(&path) {
                    self.add(&path, &String::from_utf8_lossy(&fs::read(entry.path())?));
                }
                self.paths.insert(path);
            }
        }
        Ok(())
    }

    fn add(&mut self, path: &str, text: &str) {
        let (code, comments) =
            if path.ends_with(".rs") { code_and_comments(text) } else { Default::default() };
        self.files.push(File { path: path.to_owned(), text: text.to_owned(), code, comments });
        self.paths.insert(path.to_owned());
    }

    /// Notes where each file is. Of two that a test gives the same path, the first counts.
    fn index(&mut self) {
        let places = self.files.iter().enumerate().rev();
        self.places = places.map(|(place, file)| (file.path.clone(), place)).collect();
    }

    /// A tree made up for a test.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let mut tree = Self::default();
        files.iter().for_each(|(path, text)| tree.add(path, text));
        tree.index();
        tree
    }

    /// Returns a text file by its path.
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.get(*self.places.get(path)?)
    }

    /// Whether there is a file at this path, or a folder with files in it.
    pub(crate) fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let inside = format!("{path}/");
        path.is_empty()
            || self.paths.contains(path)
            || self.paths.range(inside.clone()..).next().is_some_and(|next| next.starts_with(&inside))
    }

    /// Returns the Rust sources.
    pub(crate) fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }

    /// Returns the Rust sources in a folder.
    pub(crate) fn rust_under(&self, folder: &str) -> impl Iterator<Item = &File> {
        let prefix = format!("{folder}/");
        self.rust().filter(move |file| file.path.starts_with(&prefix))
    }

    /// Whether a file is compiled into the crate itself: not a test, a bench, an example or a fuzz target, and not a
    /// module that its parent declares for tests only.
    pub(crate) fn is_product(&self, file: &File) -> bool {
        let inside = file.path.strip_prefix("crates/").and_then(|path| path.split_once('/'));
        let compiled = inside.is_some_and(|(_, path)| path.starts_with("src/") || path == "build.rs");
        compiled && !self.is_test_module(&file.path)
    }

    fn is_test_module(&self, path: &str) -> bool {
        let Some((folder, name)) = path.trim_end_matches(".rs").rsplit_once('/') else { return false };
        let parents = [format!("{folder}.rs"), format!("{folder}/lib.rs"), format!("{folder}/main.rs")];
        let declaration = format!("#[cfg(test)]\nmod {name};");
        parents.iter().filter_map(|parent| self.file(parent)).any(|parent| parent.code.contains(&declaration))
    }

    /// Returns the folders of the crates: `crates/cli`, …, `testkit`, `xtask`.
    pub(crate) fn crate_folders(&self) -> Vec<&str> {
        let folders = self.paths.iter().filter_map(|path| path.strip_suffix("/Cargo.toml"));
        let ours = |folder: &&str| {
            OWN_TOOLS.contains(folder)
                || folder.strip_prefix("crates/").is_some_and(|name| !name.contains('/'))
        };
        folders.filter(ours).collect()
    }
}

/// How unit tests begin.
const TESTS: &[&str] = &["#[cfg(test)]", "#[cfg(all(test"];

impl File {
    /// The code above the unit tests, which stand at the bottom of a file.
    pub(crate) fn code_before_tests(&self) -> &str {
        let ends = TESTS.iter().filter_map(|attribute| self.code.find(attribute));
        ends.min().and_then(|end| self.code.get(..end)).unwrap_or(&self.code)
    }
}

fn is_text(path: &str) -> bool {
    // Seeds are arbitrary bytes, whatever they are called.
    let kind = path.rsplit(['.', '/']).next().unwrap_or_default();
    TEXT.contains(&kind) && !path.contains("/fuzz/seeds/")
}

/// Returns the lines of a text with their numbers, from 1.
pub(crate) fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line))
}

/// Returns the places where a word stands in a line as a whole word.
pub(crate) fn has_word(line: &str, word: &str) -> bool {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, found)| {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        let after = line.get(at + found.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(in_word) && !after.is_some_and(in_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole_words() {
        assert!(has_word("unsafe { x }", "unsafe"));
        assert!(has_word("(unsafe)", "unsafe"));
        assert!(!has_word("forbid(unsafe_code)", "unsafe"));
        assert!(!has_word("an_unsafe", "unsafe"));
    }

    #[test]
    fn folders_and_files_are_found() {
        let tree = Tree::of(&[
            ("crates/cli/Cargo.toml", ""),
            ("crates/cli/fuzz/Cargo.toml", ""),
            ("testkit/Cargo.toml", ""),
            ("xtask/Cargo.toml", ""),
            ("Cargo.toml", ""),
        ]);
        assert_eq!(tree.crate_folders(), ["crates/cli", "testkit", "xtask"]);
        assert!(tree.has("crates/cli") && tree.has("crates/") && tree.has("crates/cli/Cargo.toml"));
        assert!(!tree.has("crates/cl") && !tree.has("crates/cli/Cargo"));
    }

    #[test]
    fn product_code_is_what_a_user_compiles() {
        let parent = ("crates/cli/src/table.rs", "#[cfg(test)]\nmod generate;\n");
        let product = |path| {
            let tree = Tree::of(&[(path, ""), parent]);
            tree.is_product(&tree.files[0])
        };
        assert!(product("crates/cli/src/main.rs") && product("crates/cli/build.rs"));
        assert!(!product("crates/cli/tests/it/main.rs") && !product("xtask/src/main.rs"));
        assert!(!product("crates/cli/src/table/generate.rs") && product("crates/cli/src/table/other.rs"));
    }
}
