//! Globs over paths, compiled once for a whole list.
//!
//! A list that refuses and a list that allows read the same glob differently, each to the safe side. Refusing, a glob
//! covers everything below what it matches, `x/**` covers `x` itself, and case never counts. Allowing, a glob means
//! exactly what it says.

use std::borrow::Cow;
use std::path::Path;

use globset::{GlobBuilder, GlobSet};
use thiserror::Error;

mod brackets;

use super::fold;
use super::jail::{Case, Place, Workspace};

/// The most globs that one list may have.
const MOST_GLOBS: usize = 10_000;

/// The longest glob, in bytes.
const LONGEST_GLOB: usize = 4096;

/// A glob that cannot be used. A glob that silently matches nothing protects nothing, so it is refused at load.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("glob `{}`: {kind}", glob.escape_debug())]
#[non_exhaustive]
pub struct GlobError {
    /// The glob, as it was written.
    pub glob: String,
    /// What is wrong with it.
    pub kind: GlobErrorKind,
}

/// What is wrong with a glob.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GlobErrorKind {
    /// It is empty.
    #[error("is empty; write `**` for everything or `.` for the workspace itself")]
    Empty,
    /// It begins with `~`, which nothing expands.
    #[error("`~` is not expanded; write the whole path")]
    Tilde,
    /// It goes upwards. Paths are compared after `..` is resolved, so it could never match.
    #[error("`..` never matches, because paths are resolved first; write the path it leads to")]
    Upwards,
    /// It has a NUL byte.
    #[error("contains a NUL byte")]
    Nul,
    /// It is longer than any honest glob, or the list has more globs than any honest list.
    #[error("too long; at most {MOST_GLOBS} globs of {LONGEST_GLOB} bytes are taken")]
    TooLong,
    /// It cannot be parsed.
    #[error("{0}")]
    Syntax(String),
}

/// A list that refuses.
#[derive(Debug, Clone)]
pub(crate) struct DenyGlobs(List);

/// A list that allows.
#[derive(Debug, Clone)]
pub(crate) struct AllowGlobs {
    list: List,
    case: Case,
}

impl DenyGlobs {
    pub(crate) fn compile(globs: &[String], workspace: &Workspace) -> Result<Self, GlobError> {
        List::compile(globs, workspace, Sense::Deny).map(Self)
    }

    /// Returns the glob, as it was written, that covers a place.
    pub(crate) fn hit(&self, place: &Place<'_>) -> Option<&str> {
        self.0
            .covering(place)
            .or_else(|| self.0.negated.iter().find(|glob| !glob.inner.hits(place)).map(Negated::text))
    }
}

impl AllowGlobs {
    pub(crate) fn compile(globs: &[String], workspace: &Workspace) -> Result<Self, GlobError> {
        List::compile(globs, workspace, Sense::Allow(workspace.case))
            .map(|list| Self { list, case: workspace.case })
    }

    /// Returns the glob, as it was written, that matches a place. Relative globs never match outside the workspace.
    pub(crate) fn hit(&self, place: &Place<'_>) -> Option<&str> {
        let inside = place.inside.as_deref();
        let exactly = |set: &Set, path: &Path| match self.case {
            Case::Sensitive => set.find(path.as_os_str().as_encoded_bytes()),
            Case::Insensitive => set.find(fold::fold(&path.to_string_lossy()).as_bytes()),
        };
        inside
            .and_then(|path| exactly(&self.list.relative, path))
            .or_else(|| exactly(&self.list.absolute, place.absolute))
            .and_then(|index| self.list.text(index))
            .or_else(|| {
                self.list
                    .negated
                    .iter()
                    .find(|glob| inside.is_some() && !glob.inner.hits(place))
                    .map(Negated::text)
            })
    }
}

/// Escapes whatever a glob would not take literally.
pub(crate) fn escape(path: &str) -> String {
    let mut escaped = String::with_capacity(path.len());
    for character in path.chars() {
        if matches!(character, '*' | '?' | '[' | ']' | '{' | '}' | '!' | '\\' | '~') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// Which side of a rule a list stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sense {
    Deny,
    Allow(Case),
}

#[derive(Debug, Clone)]
struct List {
    /// The globs as they were written.
    texts: Vec<String>,
    relative: Set,
    absolute: Set,
    /// In a list that refuses, the globs that count characters, once more.
    unfolded: Option<Box<Unfolded>>,
    negated: Vec<Negated>,
}

/// Globs with `?` or brackets, tried on paths as they are written: folding a path may drop a character or make two of
/// one. The matcher counts bytes, so here every character outside ASCII stands as one byte, the same for all.
#[derive(Debug, Clone)]
struct Unfolded {
    relative: Set,
    absolute: Set,
}

/// A glob with a leading `!`: it matches what the rest does not. The rest is read with the opposite sense, so that
/// what looks like an exception to a refusal stays as narrow as it is written.
#[derive(Debug, Clone)]
struct Negated {
    text: String,
    inner: Inner,
}

#[derive(Debug, Clone)]
enum Inner {
    Exact(Box<AllowGlobs>),
    Wide(Box<DenyGlobs>),
}

/// Compiled globs, and which glob of the list each of them came from.
#[derive(Debug, Clone, Default)]
struct Set {
    globs: GlobSet,
    owners: Vec<usize>,
}

impl List {
    fn compile(globs: &[String], workspace: &Workspace, sense: Sense) -> Result<Self, GlobError> {
        let (mut relative, mut absolute) = (Vec::new(), Vec::new());
        let (mut unfolded_relative, mut unfolded_absolute) = (Vec::new(), Vec::new());
        let mut negated = Vec::new();
        for (index, text) in globs.iter().enumerate() {
            let fail = |kind| GlobError { glob: text.chars().take(200).collect(), kind };
            if index == MOST_GLOBS {
                return Err(fail(GlobErrorKind::TooLong));
            }
            let glob = Written::parse(text, workspace).map_err(fail)?;
            if glob.negated {
                let inner = Inner::compile(&glob.body, workspace, sense)?;
                negated.push(Negated { text: text.clone(), inner });
                continue;
            }
            let compiled = compile_one(&glob.body, sense).map_err(fail)?;
            if glob.absolute { &mut absolute } else { &mut relative }.push((index, compiled));
            if sense == Sense::Deny && glob.body.contains(['?', '[']) {
                let compiled = compile_unfolded(&glob.body).map_err(fail)?;
                if glob.absolute { &mut unfolded_absolute } else { &mut unfolded_relative }
                    .push((index, compiled));
            }
        }
        let unfolded = if unfolded_relative.is_empty() && unfolded_absolute.is_empty() {
            None
        } else {
            let (relative, absolute) = (Set::new(unfolded_relative)?, Set::new(unfolded_absolute)?);
            Some(Box::new(Unfolded { relative, absolute }))
        };
        Ok(Self {
            texts: globs.to_vec(),
            relative: Set::new(relative)?,
            absolute: Set::new(absolute)?,
            unfolded,
            negated,
        })
    }

    fn text(&self, index: usize) -> Option<&str> {
        self.texts.get(index).map(String::as_str)
    }

    /// The glob that matches a place or a folder above it, in any form that a file system may read it as. Outside the
    /// workspace a relative glob is tried on the whole path, so that `**/.env` holds everywhere.
    fn covering(&self, place: &Place<'_>) -> Option<&str> {
        let relative = place.inside.as_deref().unwrap_or(place.absolute);
        self.relative
            .find_above(relative)
            .or_else(|| self.absolute.find_above(place.absolute))
            .or_else(|| self.unfolded.as_ref()?.find_above(relative, place.absolute))
            .and_then(|index| self.text(index))
    }
}

impl Unfolded {
    fn find_above(&self, relative: &Path, absolute: &Path) -> Option<usize> {
        let above = |set: &Set, path: &Path| {
            itself_and_above(&counted(&path.to_string_lossy())).find_map(|path| set.find(path.as_bytes()))
        };
        above(&self.relative, relative).or_else(|| above(&self.absolute, absolute))
    }
}

/// Writes one and the same byte for every character outside ASCII.
fn counted(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|character| if character.is_ascii() { character } else { '\u{1}' }).collect())
}

impl Negated {
    fn text(&self) -> &str {
        &self.text
    }
}

impl Inner {
    fn compile(body: &str, workspace: &Workspace, sense: Sense) -> Result<Self, GlobError> {
        let body = [body.to_owned()];
        match sense {
            Sense::Deny => AllowGlobs::compile(&body, workspace).map(|globs| Self::Exact(Box::new(globs))),
            Sense::Allow(_) => DenyGlobs::compile(&body, workspace).map(|globs| Self::Wide(Box::new(globs))),
        }
    }

    fn hits(&self, place: &Place<'_>) -> bool {
        match self {
            Self::Exact(globs) => globs.hit(place).is_some(),
            Self::Wide(globs) => globs.hit(place).is_some(),
        }
    }
}

impl Set {
    fn new(globs: Vec<(usize, globset::Glob)>) -> Result<Self, GlobError> {
        let (owners, globs): (Vec<_>, Vec<_>) = globs.into_iter().unzip();
        let all = || globs.iter().map(globset::Glob::glob).collect::<Vec<_>>().join(" ");
        let fail = |error: globset::Error| GlobError {
            glob: error.glob().map_or_else(all, str::to_owned).chars().take(200).collect(),
            kind: GlobErrorKind::Syntax(error.kind().to_string()),
        };
        Ok(Self { globs: GlobSet::new(&globs).map_err(fail)?, owners })
    }

    fn find(&self, path: &[u8]) -> Option<usize> {
        let candidate = globset::Candidate::from_bytes(path);
        if !self.globs.is_match_candidate(&candidate) {
            return None;
        }
        self.globs
            .matches_candidate(&candidate)
            .iter()
            .min()
            .and_then(|index| self.owners.get(*index))
            .copied()
    }

    fn find_above(&self, path: &Path) -> Option<usize> {
        if self.owners.is_empty() {
            return None;
        }
        let text = path.to_string_lossy();
        let folded = fold::fold(&text);
        let above = |path: &str| itself_and_above(path).find_map(|path| self.find(path.as_bytes()));
        above(&folded).or_else(|| fold::trimmed(&folded).and_then(|trimmed| above(&trimmed)))
    }
}

/// A path and every folder above it, without the root and without the workspace itself.
fn itself_and_above(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| {
        path.rsplit_once('/').map(|(above, _)| above).filter(|above| !above.is_empty())
    })
}

/// A glob as it was written, taken apart.
struct Written {
    negated: bool,
    absolute: bool,
    body: String,
}

impl Written {
    fn parse(text: &str, workspace: &Workspace) -> Result<Self, GlobErrorKind> {
        if text.len() > LONGEST_GLOB {
            return Err(GlobErrorKind::TooLong);
        }
        if text.contains('\0') {
            return Err(GlobErrorKind::Nul);
        }
        let body = text.trim_start_matches('!');
        let negated = (text.len() - body.len()) % 2 == 1;
        if body.is_empty() {
            return Err(GlobErrorKind::Empty);
        }
        if body.starts_with('~') {
            return Err(GlobErrorKind::Tilde);
        }
        if body.split('/').any(|name| name == "..") {
            return Err(GlobErrorKind::Upwards);
        }
        let body = tidied(body);
        Ok(match workspace.relative_glob(&body) {
            Some(relative) => Self { negated, absolute: false, body: relative },
            None => Self { negated, absolute: body.starts_with('/'), body },
        })
    }
}

/// Drops what paths never have after they are resolved: `./`, doubled slashes, a slash at the end.
fn tidied(body: &str) -> String {
    let names: Vec<&str> = body.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
    match (body.starts_with('/'), names.is_empty()) {
        (false, true) => ".".to_owned(),
        (false, false) => names.join("/"),
        (true, _) => format!("/{}", names.join("/")),
    }
}

fn compile_one(body: &str, sense: Sense) -> Result<globset::Glob, GlobErrorKind> {
    brackets::are_ascii(body)?;
    let body = match sense {
        Sense::Deny => Cow::Borrowed(whole(body)),
        Sense::Allow(_) => brackets::within_names(body)?,
    };
    // A range in brackets does not survive a change of case (`[A-z]`), so such a glob is compiled to ignore case
    // instead; the others are folded like the paths, which keeps them on the matcher's fast ways.
    let folds = sense != Sense::Allow(Case::Sensitive);
    let ignore_case = folds && body.contains('[');
    let body = if folds && !ignore_case { Cow::Owned(fold::fold(&body).into_owned()) } else { body };
    build(&body, ignore_case)
}

/// A negated bracket says what is excepted, and an exception is as narrow as it is written: `[!a]` refuses `A`.
fn compile_unfolded(body: &str) -> Result<globset::Glob, GlobErrorKind> {
    let excepts = body.contains("[!") || body.contains("[^");
    build(&counted(whole(body)), !excepts)
}

fn build(body: &str, ignore_case: bool) -> Result<globset::Glob, GlobErrorKind> {
    let mut builder = GlobBuilder::new(body);
    builder
        .literal_separator(true)
        .backslash_escape(true)
        .empty_alternates(true)
        .case_insensitive(ignore_case);
    builder.build().map_err(|error| GlobErrorKind::Syntax(error.kind().to_string()))
}

/// `x/**` without its stars: a list that refuses covers what lies below anyway, and `x` itself is meant as well.
fn whole(body: &str) -> &str {
    match body.strip_suffix("/**") {
        Some(folder) if !folder.is_empty() && folder != "**" => whole(folder),
        _ => body,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace(case: Case) -> Workspace {
        Workspace { case, ..Workspace::plain("/ws") }
    }

    fn denies(glob: &str, path: &str) -> bool {
        let workspace = workspace(Case::Sensitive);
        let globs = DenyGlobs::compile(&[glob.to_owned()], &workspace).unwrap();
        globs.hit(&workspace.place(&Path::new("/ws").join(path))).is_some()
    }

    fn allows(glob: &str, path: &str, case: Case) -> bool {
        let workspace = workspace(case);
        let globs = AllowGlobs::compile(&[glob.to_owned()], &workspace).unwrap();
        globs
            .hit(&workspace.place(&crate::paths::lexical::resolve(Path::new("/ws"), Path::new(path))))
            .is_some()
    }

    /// What the documents' glob matcher was measured to mean, for a list that allows.
    #[test]
    fn allowing_globs_mean_what_they_say() {
        for (glob, path, expected) in [
            ("**", ".", true),
            ("**", "a", true),
            ("**", ".hidden/x", true),
            ("**", "/outside", false),
            ("*", ".env", true),
            ("*", "a/b", false),
            (".", ".", true),
            (".", "a", false),
            (".comma/**", ".comma/skills/x.md", true),
            (".comma/**", ".comma", false),
            ("src/**", "src/a/b", true),
            ("src/**", "srcs/a", false),
            ("*.pem", "a.pem", true),
            ("*.pem", "a/b.pem", false),
            ("**/*.pem", "b.pem", true),
            ("**/*.pem", "a/b.pem", true),
            ("{src,lib}/**", "lib/x", true),
            ("src/[!a]*", "src/b", true),
            ("src/[!a]*", "src/a", false),
            ("src/?.rs", "src/a.rs", true),
            ("src/?.rs", "src/ab.rs", false),
            ("!src/**", "lib/x", true),
            ("!src/**", "src/x", false),
            ("!!src/**", "src/x", true),
            ("!src/**", "/outside", false),
            ("./src/**", "src/x", true),
            ("src//**", "src/x", true),
            ("/etc/**", "/etc/hosts", true),
            ("/ws/src/**", "src/x", true),
            ("**/hosts", "/etc/hosts", false),
            ("src[!a]x", "src/x", false),
            ("a\\*b", "a*b", true),
            ("a\\*b", "axb", false),
            ("Src/**", "src/x", false),
        ] {
            assert_eq!(allows(glob, path, Case::Sensitive), expected, "{glob} {path}");
        }
        assert!(allows("Src/**", "sRC/x", Case::Insensitive));
        assert!(!allows("!Src/**", "sRC/x", Case::Insensitive));
        assert!(!allows("!Src/**", "src./x", Case::Sensitive));
    }

    #[test]
    fn denying_globs_cover_what_is_meant() {
        for (glob, path, expected) in [
            (".git/**", ".git", true),
            (".git/**", ".git/config", true),
            (".git/**", ".gitignore", false),
            (".git/**", "sub/.git", false),
            ("**/.git", "sub/.git/hooks/x", true),
            ("secrets/", "secrets/k", true),
            ("./secrets/**", "secrets/k", true),
            ("secrets/**", "Secrets/K", true),
            ("*.PEM", "a.pem", true),
            ("**/*.pem", "dir.pem/inside", true),
            ("**/*.pem", "a.pem.", true),
            ("**/*.pem", "a.pem ", true),
            ("**/*.pem", "a.pem.txt", false),
            ("**/.env*", ".e\u{200d}nv", true),
            ("**/[A-C].txt", "b.TXT", true),
            ("src/[!a]*", "src/b", true),
            ("src/[!a]*", "src/A", true),
            ("src/[!a]*", "src/a", false),
            ("[!?-u]", "x", true),
            ("a?", "a\u{200d}", true),
            ("A?", "a\u{200d}", true),
            ("?", "\u{fb01}", true),
            ("?", "ä", true),
            ("[!x]", "ä", true),
            ("!src/**", "src/x", false),
            ("!src/**", "SRC/x", true),
            ("!src/**", "lib", true),
            ("!src/**", "src", true),
            (".", ".", true),
            (".", "a", false),
            ("**", "a", true),
            ("**/**", "a", true),
            ("**", "/outside", true),
            ("**/hosts", "/etc/hosts", true),
            ("secrets/**", "/secrets/x", false),
            ("/etc/**", "/etc", true),
            ("/ws/a/**", "a/b", true),
        ] {
            assert_eq!(denies(glob, path), expected, "{glob} {path}");
        }
    }

    #[test]
    fn useless_globs_are_refused() {
        for (glob, expected) in [
            ("", GlobErrorKind::Empty),
            ("!", GlobErrorKind::Empty),
            ("~/.ssh/**", GlobErrorKind::Tilde),
            ("../x/**", GlobErrorKind::Upwards),
            ("a/../b", GlobErrorKind::Upwards),
            ("a\0b", GlobErrorKind::Nul),
        ] {
            let error = DenyGlobs::compile(&[glob.to_owned()], &workspace(Case::Sensitive)).unwrap_err();
            assert_eq!(error.kind, expected, "{glob}");
        }
        for glob in ["[a", "{a", "a}", "[z-a]"] {
            let error = DenyGlobs::compile(&[glob.to_owned()], &workspace(Case::Sensitive)).unwrap_err();
            assert!(matches!(error.kind, GlobErrorKind::Syntax(_)), "{glob}");
        }
    }

    #[test]
    fn an_escaped_path_matches_itself_alone() {
        for path in ["a*b", "a?b", "[a]", "{a,b}", "!a", "~a", "a\\b", "-", "a]b"] {
            assert!(allows(&escape(path), path, Case::Sensitive), "{path}");
        }
        assert!(!allows(&escape("a*b"), "axb", Case::Sensitive));
    }
}
