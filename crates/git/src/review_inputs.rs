//! What a person reads a repository by: which files git lists and compares, which objects it shows, and where it pushes to.
//!
//! A command can hide a change without touching it: by an exclude pattern, a flag in the index, or a replaced object. Git writes
//! these files in ordinary work, so their meaning is compared, and not their bytes.

use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher as _};

use crate::allowed_settings::MAX_REPOSITORY_SETTINGS;
use crate::index::{ObjectId, overlooked_digest};
use crate::settings::{GitSetting, git_settings};

/// Maximum size of an index (some half a million files), and of the other files. A larger one counts as unreadable, and one
/// that becomes unreadable has another meaning.
const MAX_INDEX_BYTES: usize = 64 << 20;
const MAX_TEXT_BYTES: usize = 8 << 20;

/// The meaning of a file of a repository for its reviewers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReviewInput {
    /// The path in the repository's directory.
    pub path: &'static str,
    /// What the file is, in a few words.
    pub label: &'static str,
    /// Digest of the meaning, stable only within one build of the program.
    pub digest: u64,
}

/// A file in the directory of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewFile {
    /// All bytes of a file that is not too long.
    Content(Vec<u8>),
    /// It is too long to be read, or cannot be read: a digest of its size and times, which any change of the file changes.
    Unread(u64),
}

impl ReviewFile {
    /// Returns the digest of the content, or one of the state of a file without known content.
    fn digest(&self, of_content: impl Fn(&[u8]) -> Option<u64>) -> Option<u64> {
        match self {
            Self::Content(content) => of_content(content),
            Self::Unread(state) => Some(digest(("unread", state))),
        }
    }
}

/// Returns the meaning of these files; a file without a meaning is not listed. `read` returns a file in the repository's directory,
/// with its content if that is at most this long, and `list` the names in a directory there.
pub fn review_inputs(
    read: impl Fn(&str, usize) -> Option<ReviewFile>,
    list: impl Fn(&str) -> Vec<OsString>,
) -> Vec<ReviewInput> {
    let lines = |path| read(path, MAX_TEXT_BYTES)?.digest(lines);
    let index = read("index", MAX_INDEX_BYTES);
    let config = read("config", MAX_REPOSITORY_SETTINGS);
    let settings = config.and_then(|file| file.digest(|text| Some(settings(text))));
    let inputs = [
        ("info/exclude", "patterns of files that git does not list", lines("info/exclude")),
        (
            "index",
            "files that git does not compare with the last commit",
            index.and_then(|index| index.digest(overlooked)),
        ),
        ("refs/replace", "objects that git shows with other content", replaced(&read, &list)),
        ("info/grafts", "commits that git shows with other parents", lines("info/grafts")),
        ("shallow", "commits whose parents git does not show", lines("shallow")),
        ("config", "where git pushes to and fetches from, and who the author is", settings),
    ];
    let input =
        |(path, label, digest): (_, _, Option<u64>)| Some(ReviewInput { path, label, digest: digest? });
    inputs.into_iter().filter_map(input).collect()
}

fn digest(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Returns a digest of the lines that are not comments; nothing for a file without any.
fn lines(text: &[u8]) -> Option<u64> {
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
    let lines: Vec<&[u8]> = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#")).collect();
    (!lines.is_empty()).then(|| digest(lines))
}

/// Returns a digest of the files that are not compared. An index that cannot be read has a digest as well.
fn overlooked(index: &[u8]) -> Option<u64> {
    const UNREADABLE: u64 = 1;
    overlooked_digest(index, ObjectId::Sha1)
        .or_else(|_| overlooked_digest(index, ObjectId::Sha256))
        .unwrap_or(Some(UNREADABLE))
}

/// Returns a digest of the replaced objects, in files of their own and in the packed references.
fn replaced(
    read: &impl Fn(&str, usize) -> Option<ReviewFile>,
    list: &impl Fn(&str) -> Vec<OsString>,
) -> Option<u64> {
    const FOLDER: &str = "refs/replace";
    let mut names = list(FOLDER);
    names.sort_unstable();
    let content = |name: &OsString| {
        let file = read(&format!("{FOLDER}/{}", name.to_string_lossy()), MAX_TEXT_BYTES);
        file.and_then(|file| file.digest(|content| Some(digest(content))))
    };
    let contents: Vec<_> = names.iter().map(content).collect();
    let packed = read("packed-refs", MAX_TEXT_BYTES).and_then(|file| file.digest(replaced_in));
    (!names.is_empty() || packed.is_some()).then(|| digest((names, contents, packed)))
}

/// Returns a digest of the replaced objects in the packed references, if there are any.
fn replaced_in(packed: &[u8]) -> Option<u64> {
    let is_one = |line: &&[u8]| memchr::memmem::find(line, b" refs/replace/").is_some();
    let lines: Vec<&[u8]> = packed.split(|byte| *byte == b'\n').filter(is_one).collect();
    (!lines.is_empty()).then(|| digest(lines))
}

/// Returns a digest of the settings that determine where git pushes to, how it reads the repository, and who the author is.
fn settings(text: &[u8]) -> u64 {
    let settings = git_settings(text).unwrap_or_default();
    let meant: Vec<_> = settings.iter().filter(|it| is_meant(it)).map(|it| (&it.key, &it.value)).collect();
    digest(meant)
}

fn is_meant(setting: &GitSetting) -> bool {
    match setting.section() {
        "remote" | "url" | "user" | "author" | "committer" | "extensions" => setting.name() != "fetch",
        "branch" => setting.name() == "pushremote",
        "core" => matches!(setting.name(), "bare" | "sharedrepository" | "repositoryformatversion"),
        "push" => setting.name() == "default",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn meanings(files: &[(&str, &str)]) -> BTreeMap<&'static str, u64> {
        let read = |path: &str, most: usize| {
            let found = files.iter().find(|file| file.0 == path)?.1.as_bytes().to_vec();
            let state = found.len() as u64;
            Some(if found.len() <= most { ReviewFile::Content(found) } else { ReviewFile::Unread(state) })
        };
        let list = |folder: &str| {
            let names = files.iter().filter_map(|file| file.0.strip_prefix(folder)?.strip_prefix('/'));
            names.map(OsString::from).collect()
        };
        review_inputs(read, list).into_iter().map(|input| (input.path, input.digest)).collect()
    }

    /// A file that is made so long that it is not read has a meaning, and each change of it is one.
    #[test]
    fn a_flood_of_a_file_hides_no_change() {
        for (file, most, harmless) in [
            ("info/exclude", MAX_TEXT_BYTES, "# a\n"),
            ("info/grafts", MAX_TEXT_BYTES, "# a\n"),
            ("shallow", MAX_TEXT_BYTES, "# a\n"),
            ("packed-refs", MAX_TEXT_BYTES, "1 refs/heads/x\n"),
            ("config", MAX_REPOSITORY_SETTINGS, "# a\n"),
            ("index", MAX_INDEX_BYTES, "x"),
        ] {
            let long = harmless.repeat(most / harmless.len() + 1);
            let longer = format!("{long}x");
            let [short, long, longer] = [harmless, &long, &longer].map(|text| meanings(&[(file, text)]));
            assert!(long != short && long.len() == 1, "{file}");
            assert_ne!(long, longer, "{file}");
        }
    }

    #[test]
    fn only_what_a_review_relies_on_has_a_meaning() {
        assert!(meanings(&[("info/exclude", "# a\n\n"), ("packed-refs", "1 refs/heads/x\n")]).is_empty());
        let config = |text| meanings(&[("config", text)])["config"];
        assert_eq!(config("[core]\nfilemode = true\n"), config("[branch \"a\"]\nremote = b\nmerge = c\n"));
        for text in [
            "[remote \"a\"]\nurl = b\n",
            "[remote \"a\"]\npushurl = b\n",
            "[remote]\npushDefault = b\n",
            "[branch \"a\"]\npushRemote = b\n",
            "[url \"a\"]\ninsteadOf = b\n",
            "[user]\nname = b\n",
            "[core]\nbare = true\n",
            "[extensions]\nobjectFormat = sha256\n",
        ] {
            assert_ne!(config(text), config(""), "{text}");
        }
        for (file, text) in [
            ("info/exclude", "*.py\n"),
            ("info/grafts", "1 2\n"),
            ("shallow", "1\n"),
            ("refs/replace/1", "2\n"),
            ("packed-refs", "2 refs/replace/1\n"),
            ("index", "broken"),
        ] {
            assert_eq!(meanings(&[(file, text)]).len(), 1, "{file}");
        }
    }
}
