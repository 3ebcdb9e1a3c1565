//! The groups of the tables, indexed by program, and created on first use.

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use stockade_shell::lookup::ByName;

use super::group::{Group, Sameness};
use super::spelling::Spelling;
use super::table::{Source, sources};

/// The groups of all tables.
pub(super) static GROUPS: LazyLock<Groups> = LazyLock::new(Groups::new);

pub(super) struct Groups {
    sources: Vec<(Source, OnceLock<Vec<Group>>)>,
    by_program: ByName<Program>,
}

/// The entries of a program.
#[derive(Default)]
struct Program {
    /// Indices of the sources, in order.
    sources: Vec<usize>,
    /// The full names of its subcommands.
    full_names: OnceLock<HashMap<String, String>>,
}

/// Index of a source, and of one of its groups.
pub(super) type GroupNumber = (usize, usize);

impl Groups {
    fn new() -> Self {
        let sources: Vec<_> = sources().map(|source| (source, OnceLock::new())).collect();
        let mut by_program: ByName<Program> = ByName::default();
        for (number, (source, _)) in sources.iter().enumerate() {
            for program in source.programs() {
                let numbers = &mut by_program.entry(program).or_default().sources;
                if numbers.last() != Some(&number) {
                    numbers.push(number);
                }
            }
        }
        Self { sources, by_program }
    }

    /// Returns the forms that start with a program, each with its group.
    pub(super) fn of<'g>(
        &'g self,
        program: &str,
    ) -> impl Iterator<Item = (GroupNumber, &'g Group, &'g Spelling)> {
        let sources = self.by_program.get(program).into_iter().flat_map(|program| &program.sources);
        let groups = sources.flat_map(|source| {
            self.groups(*source).iter().enumerate().map(|(at, group)| ((*source, at), group))
        });
        let each =
            groups.flat_map(|(number, group)| group.spellings.iter().map(move |one| (number, group, one)));
        each.filter(move |(_, _, spelling)| spelling.programs().iter().any(|own| own == program))
    }

    /// Returns the full name of a subcommand, if it is known.
    pub(super) fn full_name<'g>(&'g self, program: &str, word: &str) -> Option<&'g str> {
        let program = self.by_program.get_key_value(program)?;
        let names = program.1.full_names.get_or_init(|| self.full_names(program.0, &program.1.sources));
        names.get(word).map(String::as_str)
    }

    /// Returns every group.
    #[cfg(test)]
    pub(super) fn all(&self) -> impl Iterator<Item = &Group> {
        (0..self.sources.len()).flat_map(|source| self.groups(source))
    }

    fn groups(&self, source: usize) -> &[Group] {
        self.sources.get(source).map_or(&[], |(source, groups)| groups.get_or_init(|| source.groups()))
    }

    fn full_names(&self, program: &str, sources: &[usize]) -> HashMap<String, String> {
        let has_names =
            |number: &&usize| self.sources.get(**number).is_some_and(|(one, _)| one.has_full_names());
        let groups = sources.iter().filter(has_names).flat_map(|number| self.groups(*number));
        let same = groups.filter(|group| group.sameness == Sameness::Same);
        let mut names: HashMap<String, String> = HashMap::new();
        for spelling in same.flat_map(|group| &group.spellings).filter(|spelling| !spelling.is_alone) {
            let [programs, words] = spelling.words.as_slice() else { continue };
            let Some((full, others)) = words.split_first() else { continue };
            if programs.iter().any(|own| own == program) {
                for word in others {
                    names.entry(word.clone()).or_insert_with(|| full.clone());
                }
            }
        }
        names
    }
}
