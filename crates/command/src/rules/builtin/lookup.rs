//! The built-in rules, indexed by program.
//!
//! Compiling all of them takes longer than deciding one command, which is all that most processes do. So a rule is compiled when
//! a command first uses one of its programs, and kept for the life of the process.

use std::sync::{LazyLock, OnceLock};

use super::{MORE_WITH_VERSION, Row, VERSION_OPTIONS, obeys_folder, rows, version_by_folder, versions_of};
use crate::rules::about::About;
use crate::rules::effect::{Effect, Layer};
use crate::rules::matcher::Compiled;
use crate::rules::options::is_option;
use crate::rules::program::{base, trusted};
use crate::rules::rule::CommandRule;
use crate::rules::token::Token;
use stockade_shell::lookup::{ByName, NameHasher};
use stockade_shell::{Arg, Run};

type AboutProgram = About<&'static str, std::hash::BuildHasherDefault<NameHasher>>;

/// The built-in rules of this process.
pub(crate) static BUILTIN: LazyLock<BuiltinRules> = LazyLock::new(BuiltinRules::new);

/// The built-in rules, with an index by program.
#[derive(Debug)]
pub(crate) struct BuiltinRules {
    /// The rows, by index.
    rules: Vec<Lazy>,
    programs: ByName<Program>,
    /// The entries of all programs in rows.
    entries: Vec<Entry>,
    /// The few programs whose names have capital letters, by the name in lower case.
    capitals: Vec<(String, &'static str)>,
    /// First words that are patterns, and their rules.
    patterns: Vec<(Token, usize)>,
}

/// A rule that is compiled on first use.
#[derive(Debug)]
struct Lazy {
    source: Source,
    compiled: OnceLock<Box<Compiled>>,
}

/// The source of a rule.
#[derive(Debug)]
enum Source {
    Row(&'static Row),
    /// The rule about the versions of some programs, by its position among such rules.
    Versions(usize),
    VersionByFolder,
}

/// A program with built-in rules.
#[derive(Debug)]
struct Program {
    /// The index of its last entry.
    last: usize,
    about: OnceLock<Box<AboutProgram>>,
}

/// A row of a program, and the index of the previous entry.
#[derive(Debug, Clone, Copy)]
struct Entry {
    row: usize,
    before: Option<usize>,
}

/// Maximum number of programs of a version rule, which is the maximum number of alternatives for a word.
const MAX_PROGRAMS: usize = 150;

/// The programs that print their version in any directory, sorted.
static WITH_VERSION: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let of_rows =
        rows().flat_map(Row::programs).filter(|name| matches!(Token::read(name), Token::Literal(_)));
    let all = of_rows.chain(MORE_WITH_VERSION.split_whitespace());
    let mut names: Vec<&str> = all.filter(|name| !obeys_folder(name)).collect();
    names.sort_unstable();
    names.dedup();
    names
});

/// The version rules. The last one is for programs that depend on a file in their directory.
static VERSIONS: LazyLock<Vec<Lazy>> = LazyLock::new(|| {
    let chunks = WITH_VERSION.len().div_ceil(MAX_PROGRAMS);
    (0..chunks).map(Source::Versions).chain([Source::VersionByFolder]).map(Lazy::new).collect()
});

impl BuiltinRules {
    fn new() -> Self {
        let mut built = Self {
            rules: rows().map(|row| Lazy::new(Source::Row(row))).collect(),
            programs: ByName::with_capacity_and_hasher(2048, Default::default()),
            entries: Vec::with_capacity(2048),
            capitals: Vec::new(),
            patterns: Vec::new(),
        };
        for (number, row) in rows().enumerate() {
            row.programs().for_each(|name| built.add(name, number));
        }
        built
    }

    fn add(&mut self, name: &'static str, row: usize) {
        if let glob @ Token::Glob(_) = Token::read(name) {
            self.patterns.push((glob, row));
            return;
        }
        let place = self.entries.len();
        let mut before = None;
        let program = self.programs.entry(name);
        program
            .and_modify(|program| before = Some(std::mem::replace(&mut program.last, place)))
            .or_insert_with(|| Program { last: place, about: OnceLock::new() });
        self.entries.push(Entry { row, before });
        if before.is_none() && has_capitals(name) {
            self.capitals.push((name.to_ascii_lowercase(), name));
        }
    }

    /// Returns every rule.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Compiled> {
        self.rules.iter().map(Lazy::compiled).chain(VERSIONS.iter().map(Lazy::compiled))
    }

    /// Returns the rules for a program, by its name in lower case, without those with a pattern.
    pub(crate) fn about<'s>(&'s self, name: &str) -> impl Iterator<Item = &'s Compiled> {
        let rows = self.programs(name).flat_map(|program| &self.words_of(program).all);
        rows.filter_map(|number| self.get(*number)).chain(self.names(name).filter_map(version_rule))
    }

    /// Returns those that may match the words of a command, possibly with duplicates.
    pub(crate) fn likely<'s>(&'s self, name: &str, run: &Run<'_>) -> impl Iterator<Item = &'s Compiled> {
        let rows = self.programs(name).flat_map(|program| self.words_of(program).likely(run));
        let versions = self.names(name).filter(|_| may_ask_for_version(run)).filter_map(version_rule);
        rows.filter_map(|number| self.get(number)).chain(versions)
    }

    /// Returns the rules with a pattern for the name of a program.
    pub(crate) fn with_pattern(&self) -> impl Iterator<Item = &Compiled> {
        let numbers = self.patterns.chunk_by(|one, other| one.1 == other.1).filter_map(|same| same.first());
        numbers.filter_map(|(_, number)| self.get(*number))
    }

    /// Returns those whose pattern may match the program of a command.
    pub(crate) fn with_fitting_pattern<'s>(&'s self, run: &Run<'_>) -> impl Iterator<Item = &'s Compiled> {
        let name = run.argv.first().and_then(Arg::known);
        let may_fit =
            move |token: &Token| name.is_none_or(|name| token.fits(base(name)) || token.fits(trusted(name)));
        let fitting = self.patterns.iter().filter(move |(token, _)| may_fit(token));
        fitting.filter_map(|(_, number)| self.get(*number))
    }

    fn get(&self, number: usize) -> Option<&Compiled> {
        self.rules.get(number).map(Lazy::compiled)
    }

    /// Returns the names in rows for a name in lower case.
    fn names<'n>(&self, name: &'n str) -> impl Iterator<Item = &'n str> {
        let capitals = self.capitals.iter().filter(move |(small, _)| small == name).map(|(_, own)| *own);
        std::iter::once(name).chain(capitals)
    }

    fn programs<'s>(&'s self, name: &str) -> impl Iterator<Item = &'s Program> {
        self.names(name).filter_map(|name| self.programs.get(name))
    }

    fn words_of<'s>(&self, program: &'s Program) -> &'s AboutProgram {
        program.about.get_or_init(|| {
            let entries = std::iter::successors(self.entries.get(program.last), |entry| {
                entry.before.and_then(|before| self.entries.get(before))
            });
            let mut about = AboutProgram::default();
            for number in entries.map(|entry| entry.row).collect::<Vec<_>>().into_iter().rev() {
                let source = self.rules.get(number).map(|rule| &rule.source);
                about.add(number, source.and_then(Source::second_words).map(Vec::into_iter));
            }
            Box::new(about)
        })
    }
}

/// Returns the version rule of a program.
fn version_rule<'s>(name: &str) -> Option<&'s Compiled> {
    let number = match obeys_folder(name) {
        true => VERSIONS.len().checked_sub(1).filter(|_| name != ".")?,
        false => WITH_VERSION.binary_search(&name).ok()? / MAX_PROGRAMS,
    };
    VERSIONS.get(number).map(Lazy::compiled)
}

/// Returns whether a command may have an option that a version rule matches.
fn may_ask_for_version(run: &Run<'_>) -> bool {
    let words = run.argv.get(1..).unwrap_or_default();
    run.open_ended || words.iter().any(|word| word.known().is_none_or(|word| VERSION_OPTIONS.contains(&word)))
}

fn has_capitals(name: &str) -> bool {
    name.bytes().any(|letter| letter.is_ascii_uppercase())
}

impl Lazy {
    const fn new(source: Source) -> Self {
        Self { source, compiled: OnceLock::new() }
    }

    fn compiled(&self) -> &Compiled {
        self.compiled.get_or_init(|| Box::new(Compiled::new(self.source.rule(), Layer::BuiltIn)))
    }
}

impl Source {
    fn rule(&self) -> CommandRule {
        match self {
            Self::Row(row) => row.rule(),
            Self::Versions(position) => {
                let names = WITH_VERSION.chunks(MAX_PROGRAMS).nth(*position).unwrap_or_default();
                versions_of(*position, names)
            }
            Self::VersionByFolder => version_by_folder(),
        }
    }

    /// Returns the second words that the rule can match, if they are known to be literal without compiling the rule.
    fn second_words(&self) -> Option<Vec<&'static str>> {
        let Self::Row(row) = self else { return Some(VERSION_OPTIONS.to_vec()) };
        let words: Vec<&str> = row.words.split(' ').nth(1)?.split('|').collect();
        let is_word = |word: &&str| !word.contains(['*', '?', '\\', '{']);
        // A strict rule searches its options in the whole command.
        let may_be_anywhere = row.effect >= Effect::Ask && words.iter().any(|word| is_option(word));
        (!may_be_anywhere && words.iter().all(is_word)).then_some(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_name_finds_the_rules_that_are_about_it() {
        let all: Vec<&Compiled> = BUILTIN.all().collect();
        assert_eq!(all.len(), super::super::rules().count());
        let ids = |rules: &mut dyn Iterator<Item = &'static Compiled>| -> BTreeSet<&'static str> {
            rules.map(|rule| rule.rule.id.as_str()).collect()
        };
        let mut names: BTreeSet<String> =
            all.iter().flat_map(|rule| rule.programs()).map(|name| base(name).to_ascii_lowercase()).collect();
        names.insert("nothing".to_owned());
        for name in names {
            let is_about =
                |rule: &&&Compiled| rule.programs().any(|one| base(one).eq_ignore_ascii_case(&name));
            let expected = ids(&mut all.iter().filter(is_about).copied());
            assert_eq!(ids(&mut BUILTIN.about(&name)), expected, "{name}");
        }
        assert_eq!(
            ids(&mut BUILTIN.with_pattern()),
            ids(&mut all.iter().filter(|rule| rule.has_pattern()).copied())
        );
    }

    #[test]
    fn the_second_words_are_those_of_the_compiled_rule() {
        for rule in BUILTIN.rules.iter().chain(&*VERSIONS) {
            let compiled = rule.compiled();
            let Some(words) = rule.source.second_words() else { continue };
            let compiled: Vec<&str> = compiled.second_words().unwrap().collect();
            assert_eq!(words, compiled);
        }
    }
}
