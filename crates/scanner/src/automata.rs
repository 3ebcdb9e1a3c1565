//! Ready-made automata of the built-in rules, which say whether a pattern matches without compiling it.
//!
//! To compile a pattern takes half as long as to start a program, and what comes of it then finds out its own automaton
//! anew, state by state, on every thread. The automata here are made with the tables of the sieve. They only say whether
//! a match ends somewhere, and so are small. A shape has one for each [`Role`]:
//!
//! - its outline: `curl … | jq` holds all that the sieve looks for on behalf of `curl … | sh`, and only what the outline
//!   takes is searched for. It takes a little more than the pattern does – where two ways meet, only what both ask of the
//!   neighbouring bytes is asked, and some take any number of what the pattern limits – and so never misses a match.
//! - what excuses a match: these take exactly what the conditions do.
//!
//! They are in `automata/builtin.bin`, which `pack` writes: words of sixteen bits, the lower byte first.
//!
//! | words | what |
//! |---|---|
//! | 1 | how many roles of shapes there are |
//! | 1 for each, and 1 more | where the list of its automata begins, and where the last list ends |
//! | 1 for each in a list | the number of an automaton |
//! | 2 an automaton, and 2 more | where it begins in the file, and where the last one ends |
//! | 4 | of an automaton: the states in which nothing has begun, behind each kind of byte and at the beginning of a text |
//! | 1 | up to which of these, which stand first, it pays to look for what leads on |
//! | 1 | the column of the end of a text |
//! | 1 | whether pairs of bytes lead on, or single ones |
//! | 16 | which do, as bits |
//! | 128 | the column of every byte where a match may begin, a byte each |
//! | 128 | the same where none may |
//! | 4 or 8 or … a state | the state that each column leads to |
//!
//! A state is the number of its row in units of four words. The first row is that of the end of a match, and leads nowhere
//! else.

#[cfg(test)]
mod condition;
#[cfg(test)]
mod loosen;
#[cfg(test)]
mod make;
#[cfg(test)]
mod outline;
#[cfg(test)]
mod pack;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod wait;
mod walk;

use std::ops::Range;

use crate::sieve::{ByteSet, tables_are_fresh};

pub(crate) use walk::Automaton;

const SET_WORDS: usize = 16;
const COLUMN_WORDS: usize = 128;

/// The automata of the built-in shapes.
static BUILTIN: Words = Words(include_bytes!("automata/builtin.bin").as_chunks().0);

/// What an automaton tells of a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Whether it can match.
    Outline,
    /// Whether a match is excused by what it is.
    Match,
    /// The same by the line before it.
    Before,
    /// The same by the line behind it.
    After,
}

impl Role {
    #[cfg(test)]
    const ALL: [Self; 4] = [Self::Outline, Self::Match, Self::Before, Self::After];
    const COUNT: usize = 4;
}

/// Returns the automata that a built-in shape has in some role: where any of them comes to an end, a pattern matches.
/// Nothing where they cannot be read, and where somebody changed a rule since they were written.
pub(crate) fn of_builtin(shape: usize, role: Role) -> Option<impl Iterator<Item = Automaton>> {
    if tables_are_fresh() { BUILTIN.automata(Role::COUNT * shape + role as usize) } else { None }
}

/// The file, read as words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Words(&'static [[u8; 2]]);

impl Words {
    /// Returns the automata of a role.
    fn automata(self, role: usize) -> Option<impl Iterator<Item = Automaton>> {
        let roles = self.number(0)?;
        let lists = 2 + roles;
        let border = |role: usize| Some(lists + self.number(1 + role)?);
        let list = self.part(border(role)?..border(role + 1)?).filter(|_| role < roles)?;
        let borders = border(roles)?;
        let automaton = move |number: &[u8; 2]| {
            let at = borders + 2 * usize::from(u16::from_le_bytes(*number));
            Automaton::new(self.part(self.long(at)?..self.long(at + 2)?)?)
        };
        // One that cannot be read makes all unreadable.
        list.0.iter().all(|number| automaton(number).is_some()).then(|| list.0.iter().filter_map(automaton))
    }

    #[inline]
    fn word(self, at: usize) -> Option<u16> {
        self.0.get(at).map(|word| u16::from_le_bytes(*word))
    }

    fn number(self, at: usize) -> Option<usize> {
        self.word(at).map(usize::from)
    }

    fn long(self, at: usize) -> Option<usize> {
        Some(self.number(at)? | self.number(at + 1)? << 16)
    }

    fn part(self, range: Range<usize>) -> Option<Self> {
        self.0.get(range).map(Self)
    }

    fn set(self, at: usize) -> Option<ByteSet> {
        let quarters = self.part(at..at + SET_WORDS)?.0.as_flattened().as_chunks().0;
        Some(ByteSet(quarters.first_chunk()?.map(u64::from_le_bytes)))
    }

    fn columns(self, at: usize) -> Option<&'static [u8; 256]> {
        self.part(at..at + COLUMN_WORDS)?.0.as_flattened().first_chunk()
    }
}
