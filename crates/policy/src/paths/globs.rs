//! Globs over paths, compiled once for a whole list.
//!
//! A list that refuses and a list that allows read the same glob differently, each to the safe side. Refusing, a glob
//! covers everything below what it matches, `x/**` covers `x` itself, and case never counts. Allowing, a glob means
//! exactly what it says.
//!
//! # How it works
//!
//! A glob is parsed into tokens (`pattern`, `brackets`), the tokens are changed for a list that refuses, and each becomes a
//! regular expression (`regex`). A whole list is one lazy DFA (`set`): states are made by subset construction as paths need
//! them, as in RE2, in a cache of bounded size, with a Pike VM for a path on which the cache gives up. A path is read once,
//! however many globs there are; a test counts the bytes.
//!
//! # Why not `globset`
//!
//! For plain globs both mean the same, and a property test holds this module to `globset`. It cannot take its place:
//!
//! - A list that refuses changes the parsed glob: everything below a match is covered too, `x/**` and `{a/**,b}` cover `x` and
//!   `a`, and marks on letters are put in order. `globset` gives out no tokens, and to change the text of a glob instead
//!   means to parse braces, brackets and escapes all the same.
//! - Case is folded as file systems do (`paths/fold`): `ẞ` and `ss`, the Kelvin sign and `k`, characters that HFS+ skips, and
//!   composed against decomposed letters. The regular expressions are made for folded text, where `?` and `[a-z]` may
//!   match several characters; `globset` folds the letters of ASCII.
//! - Brackets of `globset` match `/`, also with `literal_separator`: `src[!a]x` would allow `src/x`. Here they never do.
//! - What `globset` lets pass is refused at load, because a glob that matches nothing protects nothing: `..`, `~`, a NUL,
//!   a backslash in brackets.
//!
//! An allow list on a file system that tells `A` from `a` is the one case that could use it but for the brackets; it needs the
//! parser for the refusals, so that nothing would be saved. `benches/decide` measures this module beside `globset`.

use std::path::Path;

mod brackets;
mod error;
mod pattern;
mod regex;
mod set;
#[cfg(test)]
mod test;

use super::fold;
use super::jail::{Case, LocatedPath, Workspace};
pub use error::{GlobError, GlobErrorKind};
use error::{MAX_GLOB_BYTES, MAX_GLOBS, MAX_LIST_BYTES};
use regex::Reading;
use set::{Draft, Set, Sets};

/// A list that refuses.
#[derive(Debug, Clone)]
pub(crate) struct DenyGlobs {
    texts: Vec<String>,
    folded: Sets,
    /// The globs that count characters, once more.
    by_character: Sets,
    negated: Vec<Negated<AllowGlobs>>,
}

/// A list that allows.
#[derive(Debug, Clone)]
pub(crate) struct AllowGlobs {
    texts: Vec<String>,
    case: Case,
    exact: Sets,
    negated: Vec<Negated<DenyGlobs>>,
}

/// A glob with a leading `!`: it matches what the rest does not. The rest is read with the opposite sense, so that
/// what looks like an exception to a refusal stays as narrow as it is written.
#[derive(Debug, Clone)]
struct Negated<G> {
    owner: usize,
    inner: G,
}

impl DenyGlobs {
    pub(crate) fn compile(globs: &[String], workspace: &Workspace) -> Result<Self, GlobError> {
        let (mut folded, mut by_character) = (Draft::default(), Draft::default());
        let mut negated = Vec::new();
        for_each(globs, workspace, |owner, glob| {
            if glob.negated {
                let inner = AllowGlobs::compile(&[glob.body], workspace)?;
                negated.push(Negated { owner, inner });
                return Ok(());
            }
            let mut tokens = pattern::parse(&glob.body)?;
            pattern::cover_the_folder_itself(&mut tokens);
            let ordered = pattern::with_marks_in_order(&tokens);
            // Both orders of marks are tried, because a path is compared in both as well.
            for tokens in std::iter::once(tokens).chain(ordered) {
                folded.push(glob.absolute, owner, regex::with_all_below(&tokens, Reading::Folded));
                if pattern::counts_characters(&tokens) {
                    let pattern = regex::with_all_below(&tokens, Reading::ByCharacter);
                    by_character.push(glob.absolute, owner, pattern);
                }
            }
            Ok(())
        })?;
        let (folded, by_character) = (compile(folded, globs)?, compile(by_character, globs)?);
        Ok(Self { texts: globs.to_vec(), folded, by_character, negated })
    }

    /// Returns the glob, as it was written, that covers a place: in any form that a file system may read it as.
    /// Outside the workspace a relative glob is tried on the whole path, so that `**/.env` holds everywhere.
    pub(crate) fn hit(&self, located: &LocatedPath<'_>) -> Option<&str> {
        let relative = Some(located.inside.as_deref().unwrap_or(located.absolute));
        self.folded
            .find(relative, located.absolute, folded_in_any_order)
            .or_else(|| self.by_character.find(relative, located.absolute, by_character))
            .or_else(|| {
                self.negated.iter().find(|glob| glob.inner.hit(located).is_none()).map(|glob| glob.owner)
            })
            .and_then(|owner| self.texts.get(owner))
            .map(String::as_str)
    }
}

impl AllowGlobs {
    pub(crate) fn compile(globs: &[String], workspace: &Workspace) -> Result<Self, GlobError> {
        let reading = match workspace.case {
            Case::Sensitive => Reading::Exact,
            Case::Insensitive => Reading::Folded,
        };
        let mut exact = Draft::default();
        let mut negated = Vec::new();
        for_each(globs, workspace, |owner, glob| {
            if glob.negated {
                let inner = DenyGlobs::compile(&[glob.body], workspace)?;
                negated.push(Negated { owner, inner });
                return Ok(());
            }
            exact.push(glob.absolute, owner, regex::exactly(&pattern::parse(&glob.body)?, reading));
            Ok(())
        })?;
        let exact = compile(exact, globs)?;
        Ok(Self { texts: globs.to_vec(), case: workspace.case, exact, negated })
    }

    /// Returns the glob, as it was written, that matches a place. Relative globs never match outside the workspace.
    pub(crate) fn hit(&self, located: &LocatedPath<'_>) -> Option<&str> {
        let inside = located.inside.as_deref();
        let exactly = |set: &Set, path: &Path| match self.case {
            Case::Sensitive => set.find(path.as_os_str().as_encoded_bytes()),
            Case::Insensitive => set.find(fold::fold(&path.to_string_lossy()).as_bytes()),
        };
        let excepted =
            || self.negated.iter().find(|glob| inside.is_some() && glob.inner.hit(located).is_none());
        self.exact
            .find(inside, located.absolute, exactly)
            .or_else(|| excepted().map(|glob| glob.owner))
            .and_then(|owner| self.texts.get(owner))
            .map(String::as_str)
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

/// Looks up every form of a path that some file system takes for the same.
fn folded_in_any_order(set: &Set, path: &Path) -> Option<usize> {
    let find = |text: &str| {
        let folded = fold::fold(text);
        let trimmed = || fold::trimmed(&folded).and_then(|trimmed| set.find(trimmed.as_bytes()));
        set.find(folded.as_bytes()).or_else(trimmed)
    };
    let text = path.to_string_lossy();
    find(&text).or_else(|| fold::in_order(&text).and_then(|ordered| find(&ordered)))
}

/// Looks up a path as it is written, and with its letters and marks in one character each.
fn by_character(set: &Set, path: &Path) -> Option<usize> {
    let text = path.to_string_lossy();
    set.find(text.as_bytes())
        .or_else(|| fold::composed(&text).and_then(|composed| set.find(composed.as_bytes())))
}

/// Calls a function with every glob of a list and its index, and collects those that are invalid.
fn for_each(
    globs: &[String],
    workspace: &Workspace,
    mut add: impl FnMut(usize, Written) -> Result<(), Unusable>,
) -> Result<(), GlobError> {
    let mut length = 0;
    for (index, text) in globs.iter().enumerate() {
        let fail = |kind| GlobError { glob: text.chars().take(200).collect(), kind };
        length += text.len();
        if index == MAX_GLOBS || length > MAX_LIST_BYTES {
            return Err(fail(GlobErrorKind::TooLong));
        }
        let glob = Written::parse(text, workspace).map_err(fail)?;
        add(index, glob).map_err(|Unusable(kind)| fail(kind))?;
    }
    Ok(())
}

/// Compiles a whole list. Each glob is sound by then, so what is wrong is that they are too much together.
fn compile(draft: Draft, globs: &[String]) -> Result<Sets, GlobError> {
    let all = || globs.join(" ").chars().take(200).collect();
    draft.compile().map_err(|_too_large| GlobError { glob: all(), kind: GlobErrorKind::TooLarge })
}

/// What is wrong with the glob at hand.
struct Unusable(GlobErrorKind);

impl From<GlobErrorKind> for Unusable {
    fn from(kind: GlobErrorKind) -> Self {
        Self(kind)
    }
}

impl From<GlobError> for Unusable {
    fn from(error: GlobError) -> Self {
        Self(error.kind)
    }
}

/// A glob as it was written, taken apart.
struct Written {
    negated: bool,
    absolute: bool,
    body: String,
}

impl Written {
    fn parse(text: &str, workspace: &Workspace) -> Result<Self, GlobErrorKind> {
        if text.len() > MAX_GLOB_BYTES {
            return Err(GlobErrorKind::TooLong);
        }
        if text.contains('\0') {
            return Err(GlobErrorKind::Nul);
        }
        let body = text.trim_start_matches('!');
        // `!!x` is `x`, as two exceptions cancel out.
        let negated = (text.len() - body.len()) % 2 == 1;
        if body.is_empty() {
            return Err(GlobErrorKind::Empty);
        }
        // A shell would have expanded it, and nothing here does: the glob would match a folder of that name, and protect nothing.
        if body.starts_with('~') {
            return Err(GlobErrorKind::Tilde);
        }
        if body.split(['/', '{', ',', '}']).any(|name| name == "..") {
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
