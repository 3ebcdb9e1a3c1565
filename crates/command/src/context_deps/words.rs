//! The words of a command at run time, as far as they can be determined.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use stockade_shell::{Arg, Assignment, WordCount};

use super::undetermined::Undetermined;

/// Variables that a shell sets itself to changing values.
const OWN: &[&str] = &[
    "BASHPID",
    "BASH_COMMAND",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "FUNCNAME",
    "HISTCMD",
    "LINENO",
    "OLDPWD",
    "OPTARG",
    "OPTIND",
    "PIPESTATUS",
    "PPID",
    "RANDOM",
    "REPLY",
    "SECONDS",
    "SRANDOM",
    "TTYIDLE",
    "_",
];

/// The values of variables, and the used ones.
pub(super) struct Words<'v> {
    variables: Option<&'v BTreeMap<String, String>>,
    /// Variables that the text itself sets, whose values are unknown where they are used.
    assigned: BTreeSet<String>,
    cwd: String,
    pub(super) used: BTreeMap<String, Option<String>>,
}

impl<'v> Words<'v> {
    pub(super) fn new(
        variables: Option<&'v BTreeMap<String, String>>,
        assigned: &[Assignment<'_>],
        cwd: &Path,
    ) -> Self {
        let assigned = assigned.iter().map(|assignment| assignment.name.clone().into_owned()).collect();
        Self { variables, assigned, cwd: cwd.to_string_lossy().into_owned(), used: BTreeMap::new() }
    }

    /// Whether a variable may be set.
    pub(super) fn is_set(&self, name: &str) -> bool {
        self.variables.is_some_and(|variables| variables.contains_key(name)) || self.assigned.contains(name)
    }

    /// Returns the value of a set variable, and records its use.
    pub(super) fn value(&mut self, name: &str) -> Option<String> {
        let value = self.variables?.get(name).cloned();
        self.used.insert(name.to_owned(), value.clone());
        value
    }

    /// Returns the expansion of a word.
    pub(super) fn texts(&mut self, word: &Arg<'_>) -> Result<Vec<String>, Undetermined> {
        match word {
            Arg::Known(text) => Ok(vec![text.to_string()]),
            Arg::Unknown { spelling, count, .. } => {
                let text = self.spelled(spelling, *count)?;
                Ok(match count {
                    WordCount::One => vec![text],
                    WordCount::Any => text.split_whitespace().map(str::to_owned).collect(),
                })
            }
        }
    }

    fn spelled(&mut self, spelling: &str, count: WordCount) -> Result<String, Undetermined> {
        if spelling.is_empty() {
            return Err(Undetermined::Words);
        }
        let (mut text, mut rest) = (String::new(), spelling);
        while let Some(character) = rest.chars().next() {
            rest = rest.get(character.len_utf8()..).unwrap_or_default();
            match character {
                '\\' => {
                    let literal = rest.chars().next().ok_or(Undetermined::Words)?;
                    text.push(literal);
                    rest = rest.get(literal.len_utf8()..).unwrap_or_default();
                }
                '$' => {
                    let (name, after) = rest
                        .strip_prefix('{')
                        .and_then(|rest| rest.split_once('}'))
                        .ok_or(Undetermined::Words)?;
                    text.push_str(&self.expanded(name, count)?);
                    rest = after;
                }
                '*' | '?' | '[' | '~' | '{' => return Err(Undetermined::Words),
                _ => text.push(character),
            }
        }
        Ok(text)
    }

    fn expanded(&mut self, name: &str, count: WordCount) -> Result<String, Undetermined> {
        let unknown = || Undetermined::Variable(name.to_owned());
        let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !name.starts_with(|first: char| first.is_ascii_digit());
        if !is_plain || name.is_empty() || OWN.contains(&name) || self.assigned.contains(name) {
            return Err(unknown());
        }
        if name == "PWD" {
            return Ok(self.cwd.clone());
        }
        self.variables.ok_or_else(unknown)?;
        let value = self.value(name).unwrap_or_default();
        // The expansion depends on existing files.
        if count == WordCount::Any && value.contains(['*', '?', '[', '(', '\\']) {
            return Err(unknown());
        }
        Ok(value)
    }
}

/// Returns the parts of a word that may be a file name: all of it, the part after `=` or an option letter, and the part after the
/// `@` that some programs use for files.
pub(crate) fn names_in(word: &str) -> impl Iterator<Item = &str> {
    let value = word.split_once('=').map(|(_, value)| value);
    let is_cluster = word.starts_with('-') && !word.starts_with("--");
    let rest = word.get(2..).filter(|_| is_cluster);
    let names = [Some(word), value, rest].into_iter().flatten();
    let names = names.flat_map(|name| [Some(name), name.strip_prefix(['@', '<'])]).flatten();
    // A long option is not a file, but its value may be one.
    names.filter(|name| !name.is_empty() && (!name.starts_with("--") || name.contains('/')))
}
