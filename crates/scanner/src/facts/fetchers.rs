//! Programs that download, and the files that they write.

use stockade_shell::Run;

use super::wiring::{last_part, spelled};

/// Programs that download, and how they name the file.
pub(super) const FETCHERS: &[Fetcher] = &[
    Fetcher {
        program: "curl",
        file: &["-o", "--output"],
        address: &["-O", "--remote-name", "--remote-name-all"],
    },
    Fetcher { program: "wget", file: &["-O", "--output-document"], address: &[""] },
    Fetcher { program: "aria2c", file: &["-o", "--out"], address: &[""] },
    Fetcher { program: "xh", file: &["-o", "--output"], address: &["-d", "--download"] },
    Fetcher { program: "http", file: &["-o", "--output"], address: &["-d", "--download"] },
    Fetcher { program: "https", file: &["-o", "--output"], address: &["-d", "--download"] },
    Fetcher { program: "lwp-download", file: &[], address: &[""] },
];

/// A program that downloads.
pub(super) struct Fetcher {
    pub(super) program: &'static str,
    /// Options before the name of a file.
    file: &'static [&'static str],
    /// Options by which a file is named by the address; an empty one if it always is.
    pub(super) address: &'static [&'static str],
}

pub(super) fn fetcher_of(run: &Run<'_>) -> Option<&'static Fetcher> {
    let program = last_part(run.program()?);
    FETCHERS.iter().find(|fetcher| fetcher.program == program)
}

impl Fetcher {
    /// Returns the names of the files that a call writes by its options.
    pub(super) fn names(&self, run: &Run<'_>) -> Vec<String> {
        let words: Vec<String> = run.argv.iter().skip(1).map(spelled).collect();
        let mut names = Vec::new();
        let mut by_address = self.address.contains(&"");
        let mut waits = false;
        for word in &words {
            if std::mem::take(&mut waits) {
                names.push(word.clone());
                by_address = false;
                continue;
            }
            by_address |= self.address.iter().any(|option| !option.is_empty() && has_option(word, option));
            for option in self.file {
                match value_of(word, option) {
                    Some("") => waits = true,
                    Some(name) => names.push(name.to_owned()),
                    None => continue,
                }
                by_address = false;
                break;
            }
        }
        if by_address {
            let addresses = words.iter().filter(|word| word.contains("://") || word.contains('.'));
            names.extend(addresses.filter(|word| !word.starts_with('-')).map(|word| of_address(word)));
        }
        names
    }
}

/// Whether a word is an option, also among other letters: `-fsSLO`.
fn has_option(word: &str, option: &str) -> bool {
    word == option
        || is_cluster(word) && option.len() == 2 && word.ends_with(option.trim_start_matches('-'))
        || is_cluster(word) && option.len() == 2 && word.contains(option.trim_start_matches('-'))
}

/// Returns the value of an option in its word, empty if the next word is the value.
fn value_of<'w>(word: &'w str, option: &str) -> Option<&'w str> {
    if let Some(rest) = word.strip_prefix(option) {
        let is_long = option.starts_with("--");
        return match rest.strip_prefix('=') {
            Some(value) if is_long => Some(value),
            _ if is_long && !rest.is_empty() => None,
            _ => Some(rest),
        };
    }
    // Letters without values before it: `-fsSLo FILE`.
    let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1 && is_cluster(word))?;
    word.split_once(letter).map(|(_, value)| value)
}

fn is_cluster(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.len() > 1
}

/// Returns the name that a download gets from its address.
fn of_address(address: &str) -> String {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    last_part(path).to_owned()
}
