//! Words and phrases that hide who acts, or that no engineer would search for, with a ceiling that only falls.
//!
//! Name the actor (the user, the operator, the caller, the command, an attacker, untrusted text) or use the passive; write "no X" or
//! "X is not a Y"; let a verb mean one thing. A line that quotes a user's text and cannot be written otherwise carries [`MARKER`].

use super::problem::Problem;
use super::tree::{File, Tree};

/// How many stand in all sources and documents together. Lower it with every rewrite.
const CEILING: usize = 1;

/// Exempts its line.
const MARKER: &str = "quoted text";

/// The file that lists them.
const LIST: &str = "xtask/src/tidy/idioms.rs";

/// Words, whole and in small letters.
const WORDS: &[&str] = &["nobody", "somebody", "whoever", "stranger", "strangers"];

/// Phrases, in small letters.
const PHRASES: &[&str] = &[
    "is none",
    "are none",
    "stands for",
    "stand for",
    "says what",
    "say what",
    "says who",
    "says that",
    "says which",
    "as it stands",
    "there is no such",
    "what stands",
];

/// Returns a problem where there are more than the ceiling: one for the whole tree, since any of them may go.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    over(tree, CEILING).into_iter().collect()
}

fn over(tree: &Tree, ceiling: usize) -> Option<Problem> {
    let files = tree.files.iter().filter(|file| is_read(file));
    let counts: Vec<(&str, usize)> = files.map(|file| (file.path.as_str(), count(&file.text))).collect();
    let total: usize = counts.iter().map(|(_, count)| count).sum();
    if total <= ceiling {
        return None;
    }
    let most = counts.iter().max_by_key(|(_, count)| *count).map_or(LIST, |(path, _)| path);
    let message = format!(
        "{total} words and phrases of the list in {LIST}, more than {ceiling}, most of them in this file: name who acts, \
         or use the passive"
    );
    Some(Problem::new(most, 1, message))
}

fn is_read(file: &File) -> bool {
    file.path != LIST && (file.path.ends_with(".rs") || file.path.ends_with(".md"))
}

fn count(text: &str) -> usize {
    let text = text.to_ascii_lowercase();
    WORDS.iter().chain(PHRASES).map(|idiom| whole(&text, idiom)).sum()
}

/// How often an idiom occurs in a text without letters directly around it: `analysis none` does not count, and no line with the marker.
fn whole(text: &str, idiom: &str) -> usize {
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let counts = |at: usize| {
        let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at..).unwrap_or_default());
        let next = after.get(idiom.len()..).and_then(|rest| rest.chars().next());
        let is_exempt = || line_around(before, after).any(|part| part.contains(MARKER));
        !is_letter(before.chars().next_back()) && !is_letter(next) && !is_exempt()
    };
    text.match_indices(idiom).filter(|(at, _)| counts(*at)).count()
}

/// The line at the border of two texts, in two parts.
fn line_around<'t>(before: &'t str, after: &'t str) -> impl Iterator<Item = &'t str> {
    let start = before.rsplit('\n').next();
    start.into_iter().chain(after.split('\n').next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_phrases_are_counted() {
        for (line, expected) in [
            ("// Nobody reads it, and whoever does…", 2),
            ("fn nobodys() {}", 0),
            ("fn an_agent_that_nobody_named() {}", 1),
            ("There is none.", 1),
            ("analysis none", 0),
            ("It says what stands here.", 2),
            ("somebody  // quoted text", 0),
            ("The operator reads it.", 0),
        ] {
            assert_eq!(count(line), expected, "{line}");
        }
    }

    #[test]
    fn only_sources_and_documents_above_the_ceiling_are_a_problem() {
        let of = |path: &str| Tree::of(&[(path, "nobody\n")]);
        assert!(over(&of("crates/x/src/a.rs"), 0).is_some());
        assert!(over(&of("README.md"), 0).is_some());
        assert!(over(&of("crates/x/src/a.rs"), 1).is_none());
        assert!(over(&of("crates/x/a.toml"), 0).is_none());
    }
}
