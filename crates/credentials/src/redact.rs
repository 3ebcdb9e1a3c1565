//! Redaction of secrets in text and commands.
//!
//! ```text
//!  known values, in any encoding ─┐
//!  tokens, by how they begin ─────┤
//!  forms: keys, headers, URLs ────┼─► ranges of the text ─► one pass that replaces them
//!  settings, by their names ──────┤
//!  words of commands, by option ──┘
//! ```

mod commands;
mod evidence;
mod forms;
mod keys;
mod known;
mod locate;
mod options;
mod quoted;
mod settings;
mod words;

use std::borrow::Cow;
use std::ops::Range;

use crate::names::{Sensitivity, sensitivity};
use crate::shapes;
use known::Known;

/// The replacement of a secret.
const REDACTED: &str = "[redacted]";

/// Variables whose values are ordinary words. Redacting these everywhere would make a record useless.
const ORDINARY: &[&str] = &[
    "CI", "COLUMNS", "DEBUG", "DISPLAY", "EDITOR", "HOME", "HOSTNAME", "LANG", "LANGUAGE", "LINES",
    "LOGNAME", "NODE_ENV", "OLDPWD", "PAGER", "PATH", "PWD", "RUST_LOG", "SHELL", "TERM", "TMPDIR", "TZ",
    "USER", "VISUAL",
];

/// Replaces secrets in text: by shape, by context, and those that the caller knows.
///
/// It hides what is certain to be a secret by its form (`ghp_…`), by its name (`DB_PASSWORD=…`), or by the program that it is
/// given to (`mysql -p…`), and leaves programs, hosts and ordinary words: of a command, the same programs are read before and
/// after. It cannot know a secret that looks like any other word; tell it those that a command gets, with [`Redactor::hide`] or
/// [`Redactor::hide_variables`].
#[derive(Clone, Default)]
pub struct Redactor {
    known: Known,
    /// Values of variables with ordinary names.
    values: Known,
}

impl Redactor {
    /// Hides these values too, wherever they stand: as they are, encoded in base64 or hexadecimal, or escaped for addresses, JSON
    /// and shells. Values of fewer than six bytes are not hidden.
    #[must_use]
    pub fn hide<S: Into<String>>(mut self, secrets: impl IntoIterator<Item = S>) -> Self {
        self.known.add(secrets.into_iter().map(Into::into));
        self
    }

    /// Hides the values of these variables of a command, as [`Redactor::hide`] does; not those of `PATH`, `LANG` and others that
    /// are ordinary words. A short value is hidden where it is a word by itself, if its name is that of a secret.
    #[must_use]
    pub fn hide_variables<'v>(self, variables: impl IntoIterator<Item = (&'v str, &'v str)>) -> Self {
        let is_ordinary = |name: &str| ORDINARY.contains(&name) || name.starts_with("LC_");
        let variables = variables.into_iter().filter(|(name, _)| !is_ordinary(name));
        let (secret, other): (Vec<_>, Vec<_>) =
            variables.partition(|(name, _)| sensitivity(name) >= Sensitivity::Secret);
        let (mut known, mut values) = (self.known, self.values);
        known.add_words(secret.iter().map(|(_, value)| (*value).to_owned()));
        values.add(other.into_iter().map(|(_, value)| value.to_owned()));
        Self { known, values }.hide(secret.into_iter().map(|(_, value)| value))
    }

    /// Returns the text without secrets.
    #[must_use]
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut parts = self.parts(text);
        parts.extend(quoted::strings(text).flat_map(|string| {
            // A command in a document is read as the command that it is.
            let found = self.parts(&string.text);
            found.into_iter().filter_map(|part| string.place(part)).collect::<Vec<_>>()
        }));
        replaced(text, parts)
    }

    /// Returns what has to go from a text or a command.
    fn parts(&self, text: &str) -> Vec<Range<usize>> {
        let (certain, mut likely) = self.found(text);
        let commands::InCommand { secrets, ordinary } = match quoted::is_document(text) {
            true => commands::InCommand::default(),
            false => commands::find(text),
        };
        likely.extend(secrets);
        likely.extend(set(text, &ordinary));
        evidence::spare(text, certain, likely)
    }

    /// Returns a name, a number or a word of a list without what is a secret by its own form. Nothing that stands beside it, and
    /// no value of a variable, makes it one: a record without its columns tells nothing.
    #[must_use]
    pub fn redact_word<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut found = Vec::new();
        shapes::find(text, &mut found);
        replaced(text, found)
    }

    /// Returns where secrets stand that are known or have a form of their own, and those that their place tells.
    fn found(&self, text: &str) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
        let (mut certain, mut likely) = (Vec::new(), Vec::new());
        self.known.find(text, &mut certain);
        shapes::find(text, &mut certain);
        keys::find(text, &mut certain);
        self.values.find(text, &mut likely);
        forms::find(text, &mut certain, &mut likely);
        (certain, likely)
    }

    /// Returns the words of one command without secrets: a word may be one by the word before it.
    #[must_use]
    pub fn redact_words(&self, words: &[String]) -> Vec<String> {
        let bare: Vec<&str> = words.iter().map(String::as_str).collect();
        let (mut secrets, ordinary) = (words::find(&bare), words::ordinary(&bare));
        // What is run as a text is looked at by itself.
        let texts = commands::texts_of(&bare);
        secrets.retain(|(place, _)| !texts.contains(place));
        let of = |place: usize, found: &[words::Found]| -> Vec<Range<usize>> {
            found.iter().filter(|one| one.0 == place).map(|one| one.1.clone()).collect()
        };
        let redacted = words.iter().enumerate().map(|(place, word)| {
            let (certain, mut likely) = self.found(word);
            likely.extend(of(place, &secrets));
            likely.extend(set(word, &of(place, &ordinary)));
            // `sh -c` has a command for a word.
            likely.extend(commands::find(word).secrets);
            let parts = match place == 0 || texts.contains(&place) {
                true => evidence::spare(word, certain, likely),
                false => [certain, likely].concat(),
            };
            replaced(word, parts).into_owned()
        });
        redacted.collect()
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").field("known", &self.known.len()).finish()
    }
}

/// The values of settings that are named like secrets, but for these parts of the text, which are in its order.
fn set(text: &str, ordinary: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    settings::find(text, &mut found);
    found.retain(|value| {
        let before = ordinary.partition_point(|part| part.start <= value.start);
        let around = before.checked_sub(1).and_then(|at| ordinary.get(at));
        around.is_none_or(|part| part.end < value.end)
    });
    found
}

/// Returns the text with something else in place of these parts of it. Parts that touch or overlap are one.
fn replaced(text: &str, mut found: Vec<Range<usize>>) -> Cow<'_, str> {
    found.retain(|range| range.start < range.end);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    found.sort_unstable_by_key(|range| range.start);
    let mut redacted = String::new();
    let mut copied = 0;
    let mut open: Option<Range<usize>> = None;
    let mut close = |range: Range<usize>, copied: &mut usize| {
        redacted.push_str(text.get(*copied..range.start).unwrap_or_default());
        redacted.push_str(REDACTED);
        *copied = range.end;
    };
    for range in found {
        let range = text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end);
        match &mut open {
            Some(before) if range.start <= before.end => before.end = before.end.max(range.end),
            _ => {
                open.replace(range).into_iter().for_each(|before| close(before, &mut copied));
            }
        }
    }
    open.into_iter().for_each(|before| close(before, &mut copied));
    redacted.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(redacted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_it_was_told_is_hidden_wherever_it_stands() {
        let redactor = Redactor::default().hide(["correct horse", "correct horse battery", "tiny"]);
        let text = redactor.redact("echo tiny 'correct horse battery'; echo correct horse");
        assert_eq!(text, "echo tiny '[redacted]'; echo [redacted]");
        assert_eq!(format!("{redactor:?}"), "Redactor { known: 2 }");
    }

    #[test]
    fn secrets_that_overlap_go_together() {
        let redactor = Redactor::default().hide(["abcdef", "defghi", "hijklmnop", "cdefgh"]);
        assert_eq!(redactor.redact("x abcdefghijklmnop y"), "x [redacted] y");
        assert_eq!(redactor.redact("abcdef defghi"), "[redacted] [redacted]");
        assert_eq!(redactor.redact("abcde"), "abcde");
    }

    #[test]
    fn lists_of_words_and_of_sentences_keep_no_secret_and_lose_no_program() {
        let redacted = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            Redactor::default().redact_words(&words).join("|")
        };
        for (words, kept) in [
            (
                &["allow, if `git push https://me:hunter2x@git.example/x` is allowed"] as &[&str],
                "[redacted]@git.example",
            ),
            (&["sh", "-c", "PASSWORD=hunter2x touch p"], "sh|-c|PASSWORD=[redacted] touch p"),
            (
                &["sh", "-c", "PASSWORD= touch p; curl -u bob:hunter2x h"],
                "PASSWORD= touch p; curl -u bob:[redacted] h",
            ),
            (&["mysql", "-phunter2x", "app"], "mysql|-p[redacted]|app"),
            (&["./password=hunter2x", "x"], "./password="),
        ] {
            let safe = redacted(words);
            assert!(safe.contains(kept) && !safe.contains("hunter2x"), "{safe}");
        }
    }

    #[test]
    fn values_of_variables_are_hidden_and_ordinary_ones_stay() {
        let redactor = Redactor::default().hide_variables([
            ("X", "s3cret/value"),
            ("PATH", "/usr/bin"),
            ("LC_ALL", "C.UTF-8"),
        ]);
        let text = redactor.redact("/usr/bin/env LC_ALL=C.UTF-8 sh -c 'echo s3cret/value s3cret%2Fvalue'");
        assert_eq!(text, "/usr/bin/env LC_ALL=C.UTF-8 sh -c 'echo [redacted] [redacted]'");
        let redactor = Redactor::default().hide_variables([("DOOR_TOKEN", "x42"), ("N", "7")]);
        assert_eq!(redactor.redact("echo x42 x421 7"), "echo [redacted] x421 7");
    }

    proptest! {
        #[test]
        fn a_text_grows_within_bounds_and_keeps_what_is_no_secret(text in "[ -~\n]{0,200}|.{0,80}") {
            let redactor = Redactor::default();
            let once = redactor.redact(&text).into_owned();
            let bound = text.len() * (REDACTED.len() + 1);
            prop_assert!(once.len() <= bound);
        }

        #[test]
        fn the_word_behind_a_secret_name_never_stays(word in "[A-Za-z0-9+/]{6,40}", name in "(DB_|db-)?(password|PASSWORD|passwd)") {
            for text in [format!("{{\"{name}\":\"{word}\"}}"), format!("{name}={word}"), format!("run --{name} {word} x"), format!("\"{name}\": \"{word}\"")] {
                let redacted = Redactor::default().redact(&text).into_owned();
                prop_assert!(!redacted.contains(&word), "{}", redacted);
            }
        }
    }
}
