//! The first word of a rule, which selects programs.
//!
//! A built-in rule can have two hundred programs, and is matched with every command. The names are sorted, so a match needs only
//! a few comparisons.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::token::Token;
use stockade_shell::lookup::last_name;

/// The programs of a rule.
#[derive(Debug, Clone)]
pub(super) enum Programs {
    /// For a rule that allows: exactly these, by name in a system directory or by the full path.
    Exactly { names: Vec<String>, globs: Vec<Token> },
    /// For a rule that asks or denies: in any directory, and in any case of letters.
    Any { bases: Vec<String>, globs: Vec<Token> },
}

impl Programs {
    /// Parses the first word of a rule.
    pub(super) fn new(word: &[Token], is_strict: bool) -> Self {
        let names = || word.iter().filter_map(Token::literal);
        let globs = word.iter().filter(|token| token.literal().is_none()).cloned().collect();
        if is_strict {
            Self::Any { bases: sorted(names().map(|name| base(name).to_ascii_lowercase())), globs }
        } else {
            Self::Exactly { names: sorted(names().map(str::to_owned)), globs }
        }
    }

    /// Returns whether the rule applies to a program.
    pub(super) fn fits(&self, name: &str) -> bool {
        match self {
            Self::Exactly { names, globs } => {
                let short = trusted(name);
                has(names, short)
                    || (short.len() < name.len() && has(names, name))
                    || globs.iter().any(|glob| glob.fits(short))
            }
            Self::Any { bases, globs } => {
                let name = base(name);
                has(bases, &in_small_letters(name)) || globs.iter().any(|glob| glob.fits(name))
            }
        }
    }

    /// Returns whether the rule applies to a program, if one of its names is known to have the same base name in some case of
    /// letters.
    pub(super) fn fits_of_base(&self, name: &str) -> bool {
        matches!(self, Self::Any { .. }) || self.fits(name)
    }

    /// Returns whether one of its patterns matches a program.
    pub(super) fn fits_pattern(&self, name: &str) -> bool {
        match self {
            Self::Exactly { globs, .. } => globs.iter().any(|glob| glob.fits(trusted(name))),
            Self::Any { globs, .. } => globs.iter().any(|glob| glob.fits(base(name))),
        }
    }
}

/// Sorts names by length first, which avoids comparing most of their letters.
fn sorted(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.collect();
    names.sort_unstable_by(|one, other| order(one, other));
    names.dedup();
    names
}

fn has(names: &[String], name: &str) -> bool {
    names.binary_search_by(|one| order(one, name)).is_ok()
}

fn order(one: &str, other: &str) -> Ordering {
    one.len().cmp(&other.len()).then_with(|| one.cmp(other))
}

/// Returns the name in lower case, because names are looked up independent of case.
pub(super) fn in_small_letters(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    }
}

/// System directories, whose programs are trusted to be what their names say.
const TRUSTED: &[&str] = &[
    "/bin/",
    "/sbin/",
    "/usr/bin/",
    "/usr/sbin/",
    "/usr/local/bin/",
    "/usr/local/sbin/",
    "/opt/homebrew/bin/",
];

/// Returns the name of a system program, and the full path of any other.
pub(crate) fn trusted(name: &str) -> &str {
    if !name.starts_with('/') {
        return name;
    }
    let in_folder = TRUSTED.iter().find_map(|folder| name.strip_prefix(folder));
    in_folder.filter(|rest| !rest.is_empty() && !rest.contains('/')).unwrap_or(name)
}

/// Returns the last name of a path, or the path when it ends in a slash.
pub(crate) fn base(name: &str) -> &str {
    Some(last_name(name)).filter(|base| !base.is_empty()).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn programs(words: &[&str], is_strict: bool) -> Programs {
        Programs::new(&words.iter().map(|word| Token::read(word)).collect::<Vec<_>>(), is_strict)
    }

    #[test]
    fn what_permits_is_about_programs_of_the_system_and_what_forbids_about_any() {
        let words = ["wc", "cat", "/opt/kit/bin/tool", "python3.*", "Make"];
        let rows: &[(&str, bool, bool)] = &[
            // name, permits, forbids
            ("cat", true, true),
            ("/usr/bin/cat", true, true),
            ("/tmp/cat", false, true),
            ("./cat", false, true),
            ("CAT", false, true),
            ("cats", false, false),
            ("/opt/kit/bin/tool", true, true),
            ("/tmp/tool", false, true),
            ("tool", false, true),
            ("python3.11", true, true),
            ("/usr/bin/python3.11", true, true),
            ("/tmp/python3.11", false, true),
            ("Make", true, true),
            ("make", false, true),
            ("", false, false),
        ];
        for &(name, permits, forbids) in rows {
            assert_eq!(programs(&words, false).fits(name), permits, "permits {name}");
            assert_eq!(programs(&words, true).fits(name), forbids, "forbids {name}");
        }
    }
}
