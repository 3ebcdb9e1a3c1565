//! Runs a program: backtracking in the order of preference, so that the first match is that of the regular expression.
//!
//! It needs no preparation, and a bounded number of steps: where the steps do not suffice, as in a hostile text, the
//! caller uses the regular expression, which takes linear time.

use std::ops::Range;

use arrayvec::ArrayVec;

use super::instruction::{
    ALL, ANYTHING, BEGINS_LINE, BEGINS_WITH_RUN, BEGINS_WORD, BYTE, FEW, GUARD, HEADER, JUMP, LITERAL, LOOK,
    LOOKS, MANY, MATCH, ONLY, PREFIX, Position, SET, SPLIT, UNLIMITED,
};
use super::prefix::Prefix;
use crate::prefilter::byte_set::ByteSet;

/// How many bytes are skipped in one step.
const BYTES_PER_STEP: usize = 16;

/// A program, with the lists of sets and prefixes that it refers to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Program<'p> {
    words: &'p [u16],
    sets: &'p [ByteSet],
    prefixes: &'p [Prefix],
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
    pub(super) const fn new(words: &'p [u16], sets: &'p [ByteSet], prefixes: &'p [Prefix]) -> Self {
        Self { words, sets, prefixes }
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

    fn prefix(&self, number: u16) -> Option<&'p Prefix> {
        self.prefixes.get(usize::from(number.checked_sub(PREFIX)?))
    }

    /// What the first bytes of a match can be; `None` if that excludes no more than the first byte does.
    fn first_prefix(&self) -> Option<&'p Prefix> {
        self.prefix(*self.words.get(2)?)
    }

    /// Whether a match can begin at the start of this part of a text, by its first bytes.
    pub(super) fn may_begin(&self, text: &[u8], within: &Range<usize>) -> bool {
        let part = text.get(within.start..within.end.min(text.len())).unwrap_or_default();
        self.first_prefix().is_none_or(|prefix| prefix.may_begin(part))
    }

    /// Returns the first match in this part of a text, in at most `steps` steps.
    pub(super) fn find(
        &self,
        text: &[u8],
        within: Range<usize>,
        begin: Begin,
        steps: &mut usize,
    ) -> Result<Option<Range<usize>>, OutOfSteps> {
        let part = text.get(..within.end).unwrap_or(text);
        let mut run = Run { program: *self, text, part, later: Pending::default(), steps };
        let prefix = self.first_prefix();
        let may_begin = |rest: &[u8]| prefix.is_none_or(|prefix| prefix.may_begin(rest));
        let mut start = within.start;
        let first = self.first_bytes().filter(|_| begin == Begin::Anywhere);
        let few = first.and_then(few_bytes);
        let begins_word = self.has(BEGINS_WORD);
        let is_within_word = |at: usize| {
            let before = at.checked_sub(1).and_then(|before| text.get(before));
            begins_word && before.is_some_and(|byte| ByteSet::WORD.contains(*byte))
        };
        loop {
            if let Some(first) = first {
                let rest = part.get(start..).unwrap_or_default();
                let begins =
                    |at: usize| !is_within_word(start + at) && may_begin(rest.get(at..).unwrap_or_default());
                // The first byte is asked first: most bytes begin nothing. Many patterns begin with one letter, in either case.
                let skipped = match few {
                    Some([a, b, c]) => memchr::memchr3_iter(a, b, c, rest).find(|at| begins(*at)),
                    None => {
                        let mut bytes = rest.iter().enumerate();
                        bytes.position(|(at, byte)| first.contains(*byte) && begins(at))
                    }
                };
                run.spend(skipped.unwrap_or(rest.len()));
                let Some(skipped) = skipped else { return Ok(None) };
                start += skipped;
            }
            if let Some(end) = run.matched_from(start)? {
                return Ok(Some(start..end));
            }
            if begin == Begin::Here || start >= part.len() {
                return Ok(None);
            }
            start += 1;
        }
    }
}

/// Returns the bytes of a set of at most three; a smaller set has some of them twice.
fn few_bytes(set: &ByteSet) -> Option<[u8; 3]> {
    let mut bytes = set.bytes();
    let first = bytes.next()?;
    let (second, third) = (bytes.next().unwrap_or(first), bytes.next().unwrap_or(first));
    bytes.next().is_none().then_some([first, second, third])
}

/// The next instruction, and the offset in the text at which it runs.
type NextStep = (usize, usize);

struct Run<'r> {
    program: Program<'r>,
    text: &'r [u8],
    /// The text up to the end of the searched part.
    part: &'r [u8],
    later: Pending,
    steps: &'r mut usize,
}

impl Run<'_> {
    /// Takes the steps for so many bytes. Where they do not suffice, the next instruction is not run.
    fn spend(&mut self, bytes: usize) {
        *self.steps = self.steps.saturating_sub(bytes / BYTES_PER_STEP);
    }

    /// Whether the next byte is in a set.
    #[inline]
    fn is_in(&self, set: u16, at: usize) -> bool {
        match (self.part.get(at), self.program.set(set)) {
            (Some(byte), Some(set)) => set.contains(*byte),
            _ => false,
        }
    }

    /// Whether the next byte may follow.
    #[inline]
    fn may_follow(&self, set: u16, at: usize) -> bool {
        match self.program.prefix(set) {
            Some(prefix) => prefix.may_begin(self.part.get(at..).unwrap_or_default()),
            None => set == ANYTHING || self.is_in(set, at),
        }
    }

    /// Returns the end of the match that begins at `start`.
    fn matched_from(&mut self, start: usize) -> Result<Option<usize>, OutOfSteps> {
        self.later.clear();
        let (mut pc, mut at) = (usize::from(HEADER), start);
        loop {
            *self.steps = self.steps.checked_sub(1).ok_or(OutOfSteps)?;
            // Every program ends with as many words as the longest of these instructions has.
            let code = self.program.words.get(pc..).and_then(<[u16]>::first_chunk::<3>);
            let next = match code {
                Some([MATCH, ..]) => return Ok(Some(at)),
                Some(code) => self.step(code, pc, at),
                None => None,
            };
            match next.or_else(|| self.go_back()) {
                Some(next) => (pc, at) = next,
                None => return Ok(None),
            }
        }
    }

    /// Runs an instruction; `None` if the text does not match.
    #[inline]
    fn step(&mut self, &[kind, first, second]: &[u16; 3], pc: usize, at: usize) -> Option<NextStep> {
        match kind {
            BYTE => (u16::from(*self.part.get(at)?) == first).then_some((pc + 2, at + 1)),
            SET => self.is_in(first, at).then_some((pc + 2, at + 1)),
            ONLY if self.is_in(first, at) => Some((pc + 3, at)),
            GUARD if self.is_in(first, at) => {
                self.later.push(Later::At { pc: usize::from(second), at });
                Some((pc + 3, at))
            }
            ONLY | GUARD => Some((self.alternative(usize::from(second), at), at)),
            JUMP => Some((usize::from(first), at)),
            SPLIT => {
                self.later.push(Later::At { pc: usize::from(first), at });
                Some((pc + 2, at))
            }
            LOOK => {
                let position = *LOOKS.get(usize::from(first))?;
                holds(position, self.text, at).then_some((pc + 2, at))
            }
            LITERAL => self.literal(usize::from(first), pc, at),
            MANY | FEW | ALL => self.run(kind, pc, at),
            _ => None,
        }
    }

    /// Passes over the alternatives that the next byte excludes: in a list of words, nearly all.
    fn alternative(&mut self, mut pc: usize, at: usize) -> usize {
        while let Some(&[ONLY | GUARD, set, next]) =
            self.program.words.get(pc..).and_then(<[u16]>::first_chunk)
            && !self.is_in(set, at)
        {
            *self.steps = self.steps.saturating_sub(1);
            pc = usize::from(next);
        }
        pc
    }

    fn literal(&self, length: usize, pc: usize, at: usize) -> Option<NextStep> {
        let wanted = self.program.words.get(pc + 2..pc + 2 + length)?;
        let found = self.part.get(at..at + length)?;
        let is_it = found.iter().zip(wanted).all(|(found, wanted)| u16::from(*found) == *wanted);
        is_it.then_some((pc + 2 + length, at + length))
    }

    /// Runs a repetition of single bytes.
    fn run(&mut self, kind: u16, pc: usize, at: usize) -> Option<NextStep> {
        let &[_, set, behind, min, max] = self.program.words.get(pc..)?.first_chunk()?;
        let least = at + usize::from(min);
        let end = self.part.len();
        let most = if max == UNLIMITED { end } else { end.min(at + usize::from(max)) };
        // A lazy run goes as far as it must, and further when it is asked again.
        let reach = if kind == FEW { end.min(least) } else { most };
        let length = self.length(set, at..reach);
        self.spend(length);
        let end = at + length;
        match kind {
            _ if end < least => None,
            ALL => self.may_follow(behind, end).then_some((pc + 5, end)),
            FEW if self.may_follow(behind, end) => {
                self.later.push(Later::Longer { pc, at: end, most });
                Some((pc + 5, end))
            }
            FEW => self.longer(pc, end, most),
            _ => self.shorter(pc, least, end + 1),
        }
    }

    /// Number of bytes of a set from the start of a stretch on.
    fn length(&self, set: u16, within: Range<usize>) -> usize {
        let stretch = self.part.get(within).unwrap_or_default();
        let Some(set) = self.program.set(set) else { return 0 };
        stretch.iter().position(|byte| !set.contains(*byte)).unwrap_or(stretch.len())
    }

    /// Tries the newest of what was left for later.
    fn go_back(&mut self) -> Option<NextStep> {
        while let Some(later) = self.later.pop() {
            let next = match later {
                Later::At { pc, at } => Some((pc, at)),
                Later::Shorter { pc, least, end } => self.shorter(pc, least, end),
                Later::Longer { pc, at, most } => self.longer(pc, at, most),
            };
            if next.is_some() {
                return next;
            }
        }
        None
    }

    /// Goes on behind the longest run that ends before `end`.
    fn shorter(&mut self, pc: usize, least: usize, end: usize) -> Option<NextStep> {
        let behind = self.operand(pc, 2);
        // What is asked of each byte is looked up once.
        let mut places = (least..end).rev();
        let at = match (self.program.prefix(behind), self.program.set(behind)) {
            (Some(prefix), _) => places.find(|at| prefix.may_begin(self.part.get(*at..).unwrap_or_default())),
            (None, _) if behind == ANYTHING => places.next(),
            (None, Some(set)) => places.find(|at| self.part.get(*at).is_some_and(|byte| set.contains(*byte))),
            (None, None) => None,
        };
        self.spend(end - at.unwrap_or(least));
        let at = at?;
        if at > least {
            self.later.push(Later::Shorter { pc, least, end: at });
        }
        Some((pc + 5, at))
    }

    /// Goes on behind the shortest run that is longer than up to `from`.
    fn longer(&mut self, pc: usize, from: usize, most: usize) -> Option<NextStep> {
        let (set, behind) = (self.operand(pc, 1), self.operand(pc, 2));
        let mut at = from;
        while at < most && self.is_in(set, at) {
            at += 1;
            if self.may_follow(behind, at) {
                self.spend(at - from);
                self.later.push(Later::Longer { pc, at, most });
                return Some((pc + 5, at));
            }
        }
        self.spend(at - from);
        None
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
