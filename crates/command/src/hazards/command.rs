//! A program for matching shapes: its name, options and operands.

use std::cell::OnceCell;

use super::specs;
use super::target::Target;
use crate::rules::aliases::full_name;
use stockade_shell::getopt::{self, OptionName, OptionOrder, ParsedOptions};
use stockade_shell::lookup::last_name;
use stockade_shell::{Arg, Run};

/// A program with its classified words.
pub(super) struct Command<'r, 't> {
    /// The name without its directory.
    pub(super) name: &'r str,
    pub(super) run: &'r Run<'t>,
    /// Parsed on first use: most programs need no options.
    options: OnceCell<ParsedOptions<'t>>,
}

impl<'r, 't> Command<'r, 't> {
    /// Returns the command of a run with a known program.
    pub(super) fn of(run: &'r Run<'t>) -> Option<Self> {
        Some(Self { name: name_of(run)?, run, options: OnceCell::new() })
    }

    fn options(&self) -> &ParsedOptions<'t> {
        self.options.get_or_init(|| {
            let spec = specs::of(self.name, self.run.argv.get(1).and_then(Arg::known));
            getopt::parse(&self.run.argv, 1, spec, OptionOrder::Anywhere)
        })
    }

    /// The words after the name.
    pub(super) fn words(&self) -> impl Iterator<Item = &'r Arg<'t>> {
        self.run.argv.iter().skip(1)
    }

    /// The known words after the name.
    pub(super) fn known(&self) -> impl Iterator<Item = &'r str> {
        self.words().filter_map(Arg::known)
    }

    /// The operands.
    pub(super) fn operands(&self) -> impl Iterator<Item = &'r Arg<'t>> {
        self.options().rest.iter().filter_map(|at| self.run.argv.get(*at))
    }

    /// The operands, as paths.
    pub(super) fn targets(&self) -> impl Iterator<Item = Target> {
        self.operands().map(Target::of)
    }

    /// The operand at `index`, if it is known.
    pub(super) fn operand(&self, index: usize) -> Option<&'r str> {
        self.operands().nth(index).and_then(Arg::known)
    }

    /// Whether the first operand is one of `words`, literally or expanded from an abbreviation.
    pub(super) fn is_sub(&self, words: &[&str]) -> bool {
        self.operand(0)
            .is_some_and(|word| words.contains(&word) || words.contains(&full_name(self.name, word)))
    }

    /// Whether any word is exactly one of `words`.
    pub(super) fn says(&self, words: &[&str]) -> bool {
        self.known().any(|word| words.contains(&word))
    }

    /// Whether the only word asks for the help or version of the program.
    pub(super) fn only_asks_for_help(&self) -> bool {
        const ASKING: &[&str] = &["--help", "--version", "-h", "-V", "-help", "-version", "help", "version"];
        self.words().count() == 1 && self.says(ASKING)
    }

    /// Whether any of these options is set (`-r --recursive`): alone, in a cluster, or abbreviated.
    pub(super) fn has(&self, names: &str) -> bool {
        let values = self.options().values.iter().map(|(name, _)| name);
        self.options().flags.iter().chain(values).any(|option| is_one_of(option, names))
    }

    /// The values of these options.
    pub(super) fn values(&self, names: &str) -> impl Iterator<Item = &Arg<'t>> {
        self.options()
            .values
            .iter()
            .filter(move |(option, _)| is_one_of(option, names))
            .map(|(_, value)| value)
    }

    /// All values of options.
    pub(super) fn all_values(&self) -> impl Iterator<Item = &(OptionName, Arg<'t>)> {
        self.options().values.iter()
    }

    /// The known values of these options.
    pub(super) fn texts(&self, names: &str) -> impl Iterator<Item = &str> {
        self.values(names).filter_map(Arg::known)
    }
}

/// Returns the name of a program without its directory.
pub(super) fn name_of<'r>(run: &'r Run<'_>) -> Option<&'r str> {
    let name = run.program()?;
    Some(last_name(name))
}

/// Whether an option is one of `names`. GNU programs accept every unambiguous prefix of a long name.
fn is_one_of(option: &str, names: &str) -> bool {
    let is_long = option.len() > 2 && option.starts_with("--");
    let option = option.as_bytes();
    let mut names = names.as_bytes().split(|letter| *letter == b' ');
    names.any(|name| name == option || (is_long && name.starts_with(option)))
}
