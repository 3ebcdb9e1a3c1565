//! Runs a program: backtracking in the order of preference, so that the first match is that of the regular expression.
//!
//! It needs no preparation, and a bounded number of steps: where the steps do not suffice, as in a hostile text, the
//! caller uses the regular expression, which takes linear time.

use std::ops::Range;

use arrayvec::ArrayVec;

use super::instruction::{
    ALL, ANYTHING, BEGINS_LINE, BEGINS_WITH_RUN, BYTE, FEW, GUARD, HEADER, JUMP, LITERAL, LOOK, LOOKS, MANY,
    MATCH, ONLY, Position, SET, SPLIT, UNLIMITED,
};
use crate::prefilter::byte_set::ByteSet;

/// How many bytes are skipped in one step.
const BYTES_PER_STEP: usize = 16;

/// A program, with the list of sets that it refers to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Program<'p> {
    words: &'p [u16],
    sets: &'p [ByteSet],
}

/// The steps did not suffice.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OutOfSteps;

/// Where a match may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begin {
    Anywhere,
    /// At the start of the searched part.
    Here,
}

/// What is tried if everything before it leads to no match.
#[derive(Debug, Clone, Copy)]
enum Later {
    /// Goes on at an instruction.
    At { pc: usize, at: usize },
    /// Goes on behind a run that ends before `end`, but not before `least`.
    Shorter { pc: usize, least: usize, end: usize },
    /// Goes on behind a run of at least one byte more.
    Longer { pc: usize, at: usize, most: usize },
}

/// What is tried later, the newest first. A few need no allocation, and there are rarely more.
#[derive(Debug, Default)]
struct Pending {
    few: ArrayVec<Later, 16>,
    /// Those that came when the others were full.
    more: Vec<Later>,
}

impl Pending {
    fn push(&mut self, later: Later) {
        if let Err(full) = self.few.try_push(later) {
            self.more.push(full.element());
        }
    }

    fn pop(&mut self) -> Option<Later> {
        self.more.pop().or_else(|| self.few.pop())
    }

    fn clear(&mut self) {
        self.few.clear();
        self.more.clear();
    }
}

impl<'p> Program<'p> {
    pub(super) const fn new(words: &'p [u16], sets: &'p [ByteSet]) -> Self {
        Self { words, sets }
    }

    /// Whether every match begins at the start of a line.
    pub(super) fn begins_line(&self) -> bool {
        self.has(BEGINS_LINE)
    }

    /// Whether the pattern may be a long run.
    pub(super) fn begins_with_run(&self) -> bool {
        self.has(BEGINS_WITH_RUN)
    }

    fn has(&self, property: u16) -> bool {
        self.words.get(1).is_some_and(|properties| properties & property != 0)
    }

    /// The bytes with which a match can begin; `None` if it can be empty.
    pub(super) fn first_bytes(&self) -> Option<&'p ByteSet> {
        self.set(*self.words.first()?)
    }

    fn set(&self, number: u16) -> Option<&'p ByteSet> {
        self.sets.get(usize::from(number))
    }

    /// Returns the first match in this part of a text, in at most `steps` steps.
    pub(super) fn find(
        &self,
        text: &[u8],
        within: Range<usize>,
        begin: Begin,
        steps: &mut usize,
    ) -> Result<Option<Range<usize>>, OutOfSteps> {
        let mut run = Run { program: *self, text, end: within.end, later: Pending::default(), steps };
        let first = self.first_bytes();
        let mut start = within.start;
        loop {
            if let (Some(first), Begin::Anywhere) = (first, begin) {
                let rest = text.get(start..within.end).unwrap_or_default();
                let Some(skipped) = rest.iter().position(|byte| first.contains(*byte)) else {
                    run.spend(rest.len() / BYTES_PER_STEP)?;
                    return Ok(None);
                };
                run.spend(skipped / BYTES_PER_STEP)?;
                start += skipped;
            }
            if let Some(end) = run.matched_from(start)? {
                return Ok(Some(start..end));
            }
            if begin == Begin::Here || start >= within.end {
                return Ok(None);
            }
            start += 1;
        }
    }
}

struct Run<'r> {
    program: Program<'r>,
    text: &'r [u8],
    /// The end of the searched part.
    end: usize,
    later: Pending,
    steps: &'r mut usize,
}

impl Run<'_> {
    fn spend(&mut self, steps: usize) -> Result<(), OutOfSteps> {
        *self.steps = self.steps.checked_sub(steps).ok_or(OutOfSteps)?;
        Ok(())
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.get(at).copied().filter(|_| at < self.end)
    }

    /// Whether the next byte is in a set.
    fn is_in(&self, set: u16, at: usize) -> bool {
        self.byte(at).is_some_and(|byte| self.program.set(set).is_some_and(|set| set.contains(byte)))
    }

    /// Whether the next byte may follow.
    fn may_follow(&self, set: u16, at: usize) -> bool {
        set == ANYTHING || self.is_in(set, at)
    }

    /// Returns the end of the match that begins at `start`.
    fn matched_from(&mut self, start: usize) -> Result<Option<usize>, OutOfSteps> {
        self.later.clear();
        let mut next = Some((usize::from(HEADER), start));
        loop {
            self.spend(1)?;
            let Some((pc, at)) = next else {
                match self.later.pop() {
                    Some(later) => next = self.retry(later)?,
                    None => return Ok(None),
                }
                continue;
            };
            let words = self.program.words;
            next = match words.get(pc..).unwrap_or_default() {
                [MATCH, ..] => return Ok(Some(at)),
                [BYTE, byte, ..] => (self.byte(at).map(u16::from) == Some(*byte)).then_some((pc + 2, at + 1)),
                [SET, set, ..] => self.is_in(*set, at).then_some((pc + 2, at + 1)),
                [LITERAL, length, bytes @ ..] => {
                    let length = usize::from(*length);
                    let found = self.text.get(at..self.end.min(at + length)).unwrap_or_default();
                    let wanted = bytes.get(..length).unwrap_or_default();
                    let is_it = found.len() == length
                        && found.iter().zip(wanted).all(|(found, wanted)| u16::from(*found) == *wanted);
                    is_it.then_some((pc + 2 + length, at + length))
                }
                [LOOK, look, ..] => {
                    let position = LOOKS.get(usize::from(*look)).copied();
                    position.is_some_and(|position| holds(position, self.text, at)).then_some((pc + 2, at))
                }
                [JUMP, to, ..] => Some((usize::from(*to), at)),
                [SPLIT, to, ..] => {
                    self.later.push(Later::At { pc: usize::from(*to), at });
                    Some((pc + 2, at))
                }
                [GUARD, set, to, ..] if self.is_in(*set, at) => {
                    self.later.push(Later::At { pc: usize::from(*to), at });
                    Some((pc + 3, at))
                }
                [ONLY, set, _, ..] if self.is_in(*set, at) => Some((pc + 3, at)),
                [GUARD | ONLY, _, to, ..] => Some((usize::from(*to), at)),
                [kind @ (MANY | FEW | ALL), set, behind, min, max, ..] => {
                    self.run(*kind, pc, at, [*set, *behind, *min, *max])?
                }
                _ => None,
            };
        }
    }

    /// Runs a repetition of single bytes.
    fn run(
        &mut self,
        kind: u16,
        pc: usize,
        at: usize,
        [set, behind, min, max]: [u16; 4],
    ) -> Result<Option<(usize, usize)>, OutOfSteps> {
        let least = at + usize::from(min);
        let most = if max == UNLIMITED { self.end } else { self.end.min(at + usize::from(max)) };
        // A lazy run goes as far as it must, and further when it is asked again.
        let reach = if kind == FEW { self.end.min(least) } else { most };
        let length = self.length(set, at..reach);
        self.spend(length / BYTES_PER_STEP)?;
        let end = at + length;
        if end < least {
            return Ok(None);
        }
        match kind {
            ALL => Ok(self.may_follow(behind, end).then_some((pc + 5, end))),
            FEW if self.may_follow(behind, end) => {
                self.later.push(Later::Longer { pc, at: end, most });
                Ok(Some((pc + 5, end)))
            }
            FEW => self.longer(pc, end, most),
            _ => self.shorter(pc, least, end + 1),
        }
    }

    /// Number of bytes of a set from the start of a stretch on.
    fn length(&self, set: u16, within: Range<usize>) -> usize {
        let stretch = self.text.get(within).unwrap_or_default();
        let Some(set) = self.program.set(set) else { return 0 };
        stretch.iter().position(|byte| !set.contains(*byte)).unwrap_or(stretch.len())
    }

    fn retry(&mut self, later: Later) -> Result<Option<(usize, usize)>, OutOfSteps> {
        match later {
            Later::At { pc, at } => Ok(Some((pc, at))),
            Later::Shorter { pc, least, end } => self.shorter(pc, least, end),
            Later::Longer { pc, at, most } => self.longer(pc, at, most),
        }
    }

    /// Goes on behind the longest run that ends before `end`.
    fn shorter(&mut self, pc: usize, least: usize, end: usize) -> Result<Option<(usize, usize)>, OutOfSteps> {
        let behind = self.operand(pc, 2);
        let mut at = end;
        while at > least {
            at -= 1;
            if self.may_follow(behind, at) {
                self.spend((end - at) / BYTES_PER_STEP)?;
                if at > least {
                    self.later.push(Later::Shorter { pc, least, end: at });
                }
                return Ok(Some((pc + 5, at)));
            }
        }
        self.spend((end - at) / BYTES_PER_STEP)?;
        Ok(None)
    }

    /// Goes on behind the shortest run that is longer than up to `at`.
    fn longer(&mut self, pc: usize, from: usize, most: usize) -> Result<Option<(usize, usize)>, OutOfSteps> {
        let (set, behind) = (self.operand(pc, 1), self.operand(pc, 2));
        let mut at = from;
        while at < most && self.is_in(set, at) {
            at += 1;
            if self.may_follow(behind, at) {
                self.spend((at - from) / BYTES_PER_STEP)?;
                self.later.push(Later::Longer { pc, at, most });
                return Ok(Some((pc + 5, at)));
            }
        }
        self.spend((at - from) / BYTES_PER_STEP)?;
        Ok(None)
    }

    fn operand(&self, pc: usize, number: usize) -> u16 {
        self.program.words.get(pc + number).copied().unwrap_or(ANYTHING)
    }
}

/// Whether an offset is such a position.
fn holds(position: Position, text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| text.get(before)).copied();
    let after = text.get(at).copied();
    let is_word = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match position {
        Position::TextStart => before.is_none(),
        Position::TextEnd => after.is_none(),
        Position::LineStart => before.is_none_or(|byte| byte == b'\n'),
        Position::LineEnd => after.is_none_or(|byte| byte == b'\n'),
        Position::WordBoundary => is_word(before) != is_word(after),
        Position::NoWordBoundary => is_word(before) == is_word(after),
    }
}
