//! Translates parsed patterns to programs, for `build.rs`.

use std::borrow::Cow;

use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};

use super::beginnings::Beginnings;
use super::instruction::{
    ALL, ANYTHING, BEGINS_LINE, BEGINS_WITH_RUN, BEGINS_WORD, BYTE, FEW, GUARD, HEADER, JUMP, LITERAL, LOOK,
    LOOKS, MANY, MATCH, ONLY, PREFIX, Position, SET, SPLIT, UNLIMITED, hash,
};
use super::prefix::Prefix;
use crate::prefilter::byte_set::ByteSet;

/// A repetition of at least so many bytes can be a long run.
const LONG_RUN: u32 = 16;

/// The programs of many patterns.
#[derive(Debug, Default)]
pub(crate) struct Programs {
    pub(crate) words: Vec<u16>,
    pub(crate) sets: Vec<ByteSet>,
    pub(crate) prefixes: Vec<Prefix>,
    /// Hash of each pattern, and the offset of its program.
    pub(crate) index: Vec<(u64, usize)>,
}

/// The pattern uses what no instruction can express, or is too long.
#[derive(Debug)]
pub(crate) struct Unsupported;

/// The bytes that can come first in a part of a pattern.
#[derive(Debug, Clone, Copy)]
struct First {
    bytes: ByteSet,
    /// Whether the part can match the empty text.
    may_be_empty: bool,
}

impl First {
    const ANYTHING: Self = Self { bytes: ByteSet::ANY, may_be_empty: true };
    const NOTHING: Self = Self { bytes: ByteSet([0; 4]), may_be_empty: true };

    fn of(hir: &Hir) -> Self {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => Self::NOTHING,
            HirKind::Literal(literal) => {
                Self::of_bytes(literal.0.first().map_or(ByteSet::ANY, |&b| ByteSet::range(b, b)))
            }
            HirKind::Class(class) => Self::of_bytes(set_of(class).unwrap_or(ByteSet::ANY)),
            HirKind::Capture(capture) => Self::of(&capture.sub),
            HirKind::Repetition(repetition) => {
                let sub = Self::of(&repetition.sub);
                Self { may_be_empty: sub.may_be_empty || repetition.min == 0, ..sub }
            }
            HirKind::Concat(parts) => {
                parts.iter().rev().fold(Self::NOTHING, |follow, part| Self::of(part).then(follow))
            }
            HirKind::Alternation(parts) => {
                let nothing = Self { may_be_empty: false, ..Self::NOTHING };
                parts.iter().map(Self::of).fold(nothing, |one, other| Self {
                    bytes: one.bytes | other.bytes,
                    may_be_empty: one.may_be_empty || other.may_be_empty,
                })
            }
        }
    }

    const fn of_bytes(bytes: ByteSet) -> Self {
        Self { bytes, may_be_empty: false }
    }

    /// What can come first if `follow` comes behind.
    fn then(self, follow: Self) -> Self {
        if !self.may_be_empty {
            return self;
        }
        Self { bytes: self.bytes | follow.bytes, may_be_empty: follow.may_be_empty }
    }

    /// Whether the next byte tells the two apart.
    fn is_apart_from(self, other: Self) -> bool {
        !self.may_be_empty && !other.may_be_empty && (self.bytes & other.bytes).is_empty()
    }
}

/// What can come behind a part of a pattern.
#[derive(Debug, Clone)]
struct Follow {
    first: First,
    beginnings: Beginnings,
}

impl Follow {
    /// What can follow the whole pattern.
    fn anything() -> Self {
        Self { first: First::ANYTHING, beginnings: Beginnings::unknown() }
    }

    /// What can come behind a part if these parts follow.
    fn before(&self, parts: &[Hir]) -> Self {
        let beginnings = parts.iter().fold(None, |before: Option<Beginnings>, part| {
            let next = Beginnings::of(part);
            Some(before.map_or(next.clone(), |before| before.then(&next)))
        });
        Self {
            first: parts.iter().rev().fold(self.first, |follow, part| First::of(part).then(follow)),
            beginnings: beginnings
                .map_or_else(|| self.beginnings.clone(), |these| these.then(&self.beginnings)),
        }
    }

    /// What can come behind a part that may be repeated.
    fn or_again(&self, part: &Hir) -> Self {
        let first = First { bytes: First::of(part).bytes | self.first.bytes, ..self.first };
        Self { first, beginnings: Beginnings::unknown() }
    }
}

impl Programs {
    /// Adds the program of a pattern: `text` as it is written, and parsed.
    pub(crate) fn add(&mut self, text: &str, parsed: &Hir) -> Result<(), Unsupported> {
        let number = hash(text);
        if self.index.iter().any(|(known, _)| *known == number) {
            return Ok(());
        }
        let first = self.set_of_first(First::of(parsed));
        let mut program = Assembler {
            words: vec![first, properties(parsed)],
            sets: &mut self.sets,
            prefixes: &mut self.prefixes,
        };
        let prefix = program.prefix(&Beginnings::of(parsed))?.unwrap_or(ANYTHING);
        program.words.push(prefix);
        program.part(parsed, &Follow::anything())?;
        // The machine reads three words of each instruction at once.
        program.words.extend([MATCH, 0, 0]);
        let words = program.words;
        u16::try_from(words.len()).map_err(|_| Unsupported)?;
        self.index.push((number, self.words.len()));
        self.words.extend(words);
        Ok(())
    }

    fn set_of_first(&mut self, first: First) -> u16 {
        if first.may_be_empty { ANYTHING } else { set(&mut self.sets, first.bytes).unwrap_or(ANYTHING) }
    }
}

fn properties(parsed: &Hir) -> u16 {
    let looks = parsed.properties().look_set_prefix();
    let begins_line = looks.contains(Look::StartLF);
    let first_bytes = First::of(parsed);
    let is_word = !first_bytes.may_be_empty && first_bytes.bytes.is_subset(ByteSet::WORD);
    let begins_word = looks.contains(Look::WordAscii) && is_word;
    let first = match parsed.kind() {
        HirKind::Concat(parts) => parts.first().unwrap_or(parsed),
        _ => parsed,
    };
    let begins_with_run = matches!(first.kind(), HirKind::Repetition(it) if it.min >= LONG_RUN);
    (u16::from(begins_line) * BEGINS_LINE)
        | (u16::from(begins_with_run) * BEGINS_WITH_RUN)
        | (u16::from(begins_word) * BEGINS_WORD)
}

/// The set of a class, if its members are single bytes: an alternation of ASCII letters is a class of characters.
pub(super) fn set_of(class: &Class) -> Option<ByteSet> {
    let class = match class {
        Class::Bytes(class) => Cow::Borrowed(class),
        Class::Unicode(class) => Cow::Owned(class.to_byte_class()?),
    };
    let ranges = class.ranges().iter().map(|range| ByteSet::range(range.start(), range.end()));
    Some(ranges.fold(ByteSet::default(), ByteSet::or))
}

/// Returns the number of a set.
fn set(sets: &mut Vec<ByteSet>, wanted: ByteSet) -> Option<u16> {
    let known = sets.iter().position(|known| *known == wanted);
    let number = known.unwrap_or_else(|| {
        sets.push(wanted);
        sets.len() - 1
    });
    u16::try_from(number).ok().filter(|number| *number < PREFIX)
}

/// One program in the making.
struct Assembler<'s> {
    words: Vec<u16>,
    sets: &'s mut Vec<ByteSet>,
    prefixes: &'s mut Vec<Prefix>,
}

impl Assembler<'_> {
    fn part(&mut self, hir: &Hir, follow: &Follow) -> Result<(), Unsupported> {
        if self.words.len() > usize::from(u16::MAX) {
            return Err(Unsupported);
        }
        match hir.kind() {
            HirKind::Empty => {}
            HirKind::Literal(literal) => self.literal(&literal.0)?,
            HirKind::Class(class) => {
                let number = self.set(set_of(class).ok_or(Unsupported)?)?;
                self.words.extend([SET, number]);
            }
            HirKind::Look(look) => {
                let position = position(*look).ok_or(Unsupported)?;
                let number = LOOKS.iter().position(|known| *known == position).ok_or(Unsupported)?;
                self.words.extend([LOOK, word(number)?]);
            }
            HirKind::Capture(capture) => self.part(&capture.sub, follow)?,
            HirKind::Concat(parts) => self.sequence(parts, follow)?,
            HirKind::Alternation(parts) => self.alternatives(parts, follow)?,
            HirKind::Repetition(repetition) => self.repetition(repetition, follow)?,
        }
        Ok(())
    }

    fn literal(&mut self, bytes: &[u8]) -> Result<(), Unsupported> {
        if let [byte] = bytes {
            self.words.extend([BYTE, u16::from(*byte)]);
            return Ok(());
        }
        self.words.extend([LITERAL, word(bytes.len())?]);
        self.words.extend(bytes.iter().map(|byte| u16::from(*byte)));
        Ok(())
    }

    fn sequence(&mut self, parts: &[Hir], follow: &Follow) -> Result<(), Unsupported> {
        for (at, part) in parts.iter().enumerate() {
            self.part(part, &follow.before(parts.get(at + 1..).unwrap_or_default()))?;
        }
        Ok(())
    }

    fn alternatives(&mut self, parts: &[Hir], follow: &Follow) -> Result<(), Unsupported> {
        let firsts: Vec<First> = parts.iter().map(|part| First::of(part).then(follow.first)).collect();
        let mut ends = Vec::new();
        for (at, (part, first)) in parts.iter().zip(&firsts).enumerate() {
            let others = firsts.get(at + 1..).unwrap_or_default();
            let next = match others {
                [] => None,
                _ => Some(self.choice(*first, others.iter().all(|other| first.is_apart_from(*other)))?),
            };
            self.part(part, follow)?;
            if let Some(next) = next {
                ends.push(self.jump());
                self.lead_here(next)?;
            }
        }
        ends.into_iter().try_for_each(|end| self.lead_here(end))
    }

    /// Begins a part before which the next byte is known, and returns where the address of the alternative goes.
    fn choice(&mut self, first: First, is_only_one: bool) -> Result<usize, Unsupported> {
        if first.may_be_empty {
            self.words.extend([SPLIT, 0]);
        } else {
            let number = self.set(first.bytes)?;
            self.words.extend([if is_only_one { ONLY } else { GUARD }, number, 0]);
        }
        Ok(self.words.len() - 1)
    }

    fn jump(&mut self) -> usize {
        self.words.extend([JUMP, 0]);
        self.words.len() - 1
    }

    /// Writes the address of the next instruction.
    fn lead_here(&mut self, address: usize) -> Result<(), Unsupported> {
        let here = word(self.words.len())?;
        *self.words.get_mut(address).ok_or(Unsupported)? = here;
        Ok(())
    }

    fn repetition(&mut self, repetition: &Repetition, follow: &Follow) -> Result<(), Unsupported> {
        let (min, max) = (repetition.min, repetition.max);
        if let Some(bytes) = single(&repetition.sub) {
            return self.run(bytes, repetition, follow);
        }
        let first = First::of(&repetition.sub);
        let again = &follow.or_again(&repetition.sub);
        let follow = follow.first;
        for _ in 0..min {
            self.part(&repetition.sub, again)?;
        }
        match max {
            // An empty round would go on forever.
            None if first.may_be_empty => return Err(Unsupported),
            None => {
                let begin = word(self.words.len())?;
                let end = self.one_more(repetition, first, follow)?;
                self.part(&repetition.sub, again)?;
                self.words.extend([JUMP, begin]);
                self.lead_here(end)?;
            }
            Some(max) => {
                let mut ends = Vec::new();
                for _ in min..max {
                    ends.push(self.one_more(repetition, first, follow)?);
                    self.part(&repetition.sub, again)?;
                }
                ends.into_iter().try_for_each(|end| self.lead_here(end))?;
            }
        }
        Ok(())
    }

    /// Begins an optional round, and returns where the address of the end goes.
    fn one_more(&mut self, it: &Repetition, first: First, follow: First) -> Result<usize, Unsupported> {
        if it.greedy {
            return self.choice(first.then(follow), first.is_apart_from(follow));
        }
        // First without the round.
        self.words.extend([SPLIT, 0]);
        let round = self.words.len() - 1;
        let end = self.jump();
        self.lead_here(round)?;
        Ok(end)
    }

    fn run(&mut self, bytes: ByteSet, it: &Repetition, follow: &Follow) -> Result<(), Unsupported> {
        let is_apart = First::of_bytes(bytes).is_apart_from(follow.first);
        let kind = match it.greedy {
            true if is_apart => ALL,
            true => MANY,
            false => FEW,
        };
        // Where a run ends is tried at many places, and the first byte alone excludes few of them.
        let prefix = if kind == ALL { None } else { self.prefix(&follow.beginnings)? };
        let behind = match prefix {
            Some(prefix) => prefix,
            None if follow.first.may_be_empty => ANYTHING,
            None => self.set(follow.first.bytes)?,
        };
        let (min, max) = (small(it.min)?, it.max.map_or(Ok(UNLIMITED), small)?);
        let number = self.set(bytes)?;
        self.words.extend([kind, number, behind, min, max]);
        Ok(())
    }

    /// Returns the number of a prefix, as an operand.
    fn prefix(&mut self, beginnings: &Beginnings) -> Result<Option<u16>, Unsupported> {
        let Some(prefix) = beginnings.prefix() else { return Ok(None) };
        let known = self.prefixes.iter().position(|known| *known == prefix);
        let number = known.unwrap_or_else(|| {
            self.prefixes.push(prefix);
            self.prefixes.len() - 1
        });
        let number = word(number)?.checked_add(PREFIX).filter(|number| *number != ANYTHING);
        number.map(Some).ok_or(Unsupported)
    }

    fn set(&mut self, bytes: ByteSet) -> Result<u16, Unsupported> {
        set(self.sets, bytes).ok_or(Unsupported)
    }
}

/// The bytes of a part that always matches one byte.
fn single(hir: &Hir) -> Option<ByteSet> {
    match hir.kind() {
        HirKind::Class(class) => set_of(class),
        HirKind::Literal(literal) => match &*literal.0 {
            [byte] => Some(ByteSet::range(*byte, *byte)),
            _ => None,
        },
        HirKind::Capture(capture) => single(&capture.sub),
        _ => None,
    }
}

const fn position(look: Look) -> Option<Position> {
    match look {
        Look::Start => Some(Position::TextStart),
        Look::End => Some(Position::TextEnd),
        Look::StartLF => Some(Position::LineStart),
        Look::EndLF => Some(Position::LineEnd),
        Look::WordAscii => Some(Position::WordBoundary),
        Look::WordAsciiNegate => Some(Position::NoWordBoundary),
        _ => None,
    }
}

fn word(number: usize) -> Result<u16, Unsupported> {
    u16::try_from(number).map_err(|_| Unsupported)
}

/// A count that is not mistaken for "no limit".
fn small(count: u32) -> Result<u16, Unsupported> {
    u16::try_from(count).ok().filter(|count| *count != UNLIMITED).ok_or(Unsupported)
}

const _: () = assert!(HEADER == 3, "`Programs::add` writes three words");
