//! Generated commands with planted secrets, each in twelve wrappings: no program and no host is hidden, hardly a secret stays, and
//! hardly a harmless word is altered.
//!
//! `STOCKADE_REDACTION_COMMANDS=20000 cargo xtask test credentials generated` tries more than the few of every run, from the seed
//! `STOCKADE_REDACTION_SEED`.

#![expect(clippy::disallowed_methods, reason = "how many commands are tried is set from outside")]

mod commands;
mod numbers;
mod templates;
mod tokens;

use std::collections::BTreeMap;

use stockade_credentials::Redactor;

use commands::Made;
use numbers::Numbers;

/// How many commands every run of the tests tries.
const COMMANDS: u64 = 200;

/// Leaked secrets in 100, and altered harmless words in 1,000, that are accepted.
const MAX_LEAKED_PERCENT: usize = 2;
const MAX_ALTERED_PER_MILLE: usize = 1;

/// What the redaction of many texts did.
#[derive(Debug, Default)]
struct Tally {
    texts: usize,
    secrets: usize,
    words: usize,
    leaked: Cases,
    hidden: Cases,
    altered: Cases,
}

/// Faults by their kind, each with an example.
#[derive(Debug, Default)]
struct Cases(BTreeMap<String, (usize, String)>);

impl Cases {
    fn add(&mut self, kind: &str, example: impl FnOnce() -> String) {
        let case = self.0.entry(kind.to_owned()).or_insert_with(|| (0, example()));
        case.0 += 1;
    }

    fn count(&self) -> usize {
        self.0.values().map(|(count, _)| count).sum()
    }

    /// Returns the most frequent kinds.
    fn most(&self) -> String {
        let mut kinds: Vec<_> = self.0.iter().collect();
        kinds.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        let line = |(kind, (count, example)): &(&String, &(usize, String))| {
            format!("{count:>6} {kind}\n{example}\n")
        };
        kinds.iter().take(30).map(line).collect()
    }
}

impl Tally {
    /// Compares a text and its redacted form with what should have been left.
    fn add(&mut self, made: &Made, wrapping: &str, text: &str, kept: &str) {
        self.texts += 1;
        let example = || format!("    {text:?}\n    {kept:?}");
        for (kind, secret) in &made.secrets {
            self.secrets += 1;
            if kept.contains(secret.as_str()) {
                self.leaked.add(kind, || format!("    [{wrapping}]\n{}", example()));
            }
        }
        let without =
            made.secrets.iter().fold(text.to_owned(), |text, (_, secret)| text.replace(secret, " "));
        let with_gaps = kept.replace("[redacted]", " ");
        let kept_words = counted(&with_gaps);
        for (word, count) in counted(&without) {
            self.words += count;
            let missing = count.saturating_sub(kept_words.get(word).copied().unwrap_or(0));
            let cases = if made.evidence.iter().any(|name| name == word) {
                &mut self.hidden
            } else {
                &mut self.altered
            };
            (0..missing).for_each(|_| cases.add(word, || format!("    [{wrapping}]\n{}", example())));
        }
    }
}

/// The words of a text, with how often each stands there.
fn counted(text: &str) -> BTreeMap<&str, usize> {
    let mut words = BTreeMap::new();
    let in_word = |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '-' | '.');
    for word in text.split(|sign| !in_word(sign)).filter(|word| word.contains(char::is_alphanumeric)) {
        *words.entry(word).or_default() += 1;
    }
    words
}

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn generated_commands_lose_their_secrets_and_nothing_else() {
    let mut numbers = Numbers::new(setting("STOCKADE_REDACTION_SEED", 7));
    let redactor = Redactor::default();
    let mut tally = Tally::default();
    for _ in 0..setting("STOCKADE_REDACTION_COMMANDS", COMMANDS) {
        let made = commands::make(&mut numbers);
        for wrapping in commands::WRAPPINGS {
            let text = wrapping.around(&made.text);
            tally.add(&made, wrapping.name, &text, &redactor.redact(&text));
        }
        let words = ["bash", "-c", &made.text].map(str::to_owned);
        let kept = redactor.redact_words(&words);
        tally.add(&made, "words", &made.text, &kept[2]);
    }
    let Tally { texts, secrets, words, leaked, hidden, altered } = tally;
    let figures = format!(
        "{texts} texts: {} programs or hosts hidden; {} of {secrets} secrets leaked; {} of {words} words altered",
        hidden.count(),
        leaked.count(),
        altered.count(),
    );
    println!("{figures}");
    let report = format!(
        "{figures}\nhidden:\n{}\nleaked:\n{}\naltered:\n{}",
        hidden.most(),
        leaked.most(),
        altered.most()
    );
    assert_eq!(hidden.count(), 0, "{report}");
    assert!(leaked.count() * 100 <= secrets * MAX_LEAKED_PERCENT, "{report}");
    assert!(altered.count() * 1000 <= words * MAX_ALTERED_PER_MILLE, "{report}");
    assert!(secrets > texts / 2 && words > texts * 5, "{report}");
}
