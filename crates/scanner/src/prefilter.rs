//! The prefilter: finds in one fast pass over a text which patterns could match it, and where.
//!
//! Most texts are clean, so a scan would spend most of its time in regular expressions that find nothing. The
//! prefilter avoids that. It searches for substrings that every match of a pattern must contain; the exact engine
//! then runs only the patterns whose substrings were found, near their positions. False positives cost time; false
//! negatives are impossible, because the substrings are derived from the patterns and not written by hand.
//!
//! **An example.** Take the pattern `(?i)\bcurl\b[^\n]{0,200}\|\s*(?:ba|z)?sh\b`.
//!
//! 1. [`graph`] converts the pattern's automaton to a graph with one node for each position that consumes a byte:
//!    `c`, `u`, `r`, `l`, two hundred times "not a line end", `|`, white space, `b`, `a`, `z`, `s`, `h`.
//! 2. [`gram`] computes for every node what can surround it. Around the node `h` that is `[|\s az]`, `s`, `h` and
//!    then no letter, digit or underscore, in either case. Such a sequence of four byte sets is a *gram*. Around some
//!    `[^\n]` it would be nearly anything.
//! 3. [`mod@frequency`] estimates how often each gram occurs in real skills, and [`cut`] picks the cheapest nodes
//!    that no match can avoid: here just `h`, or the four of `curl` if those were rarer.
//! 4. [`bucket`] and [`tables`] sort the grams of all patterns into sixty-four buckets, so that four table lookups
//!    determine which buckets could begin at a position ([`places`]).
//! 5. There the grams of the bucket are compared with the next eight bytes, one comparison each, and a gram that
//!    passes is verified exactly, on up to twelve bytes around it as well. A verified gram makes the pattern a
//!    candidate, and its [`extent`] bounds a match around it.
//!
//! **Known as.** A literal prefilter over q-grams (q = 4) of byte classes. The graph is the Glushkov automaton of the
//! pattern; the choice of grams is a minimum node cut of it (Menger, Ford–Fulkerson, Dinic); the buckets and their
//! byte-wise lookup are those of Teddy (Hyperscan, `aho-corasick`) and FDR, with sixty-four buckets and classes of
//! bytes instead of literals. Google's code search (Cox) picks trigrams of a pattern in a similar manner, for an
//! index instead of a scan.
//!
//! **Measured.** With 112 more rules of 333 patterns the tables grow from 163 to 345 kB, and a program with them by
//! 270 kB. The build derives those of 133 patterns in two seconds of CPU time. Earlier, automata of every pattern
//! rejected near misses: they took five megabytes, and saved the first such text of a process a few million
//! instructions.
//!
//! Cost of more rules for a clean text (`benches/scan.rs`; 3,459 clean skills, 28 MB, once everything is compiled):
//!
//! | the eighteen rules, and … | places | grams | instructions | time |
//! |---|---|---|---|---|
//! | none | 113,000 | 1.2 M | 1 | 1 |
//! | 112 built in | 282,000 | 5.4 M | 1.06 | 1.17 |
//! | the same, 40 attempts at better buckets | 231,000 | 3.6 M | 1.04 | 1.14 |
//! | the same, 60 attempts where a comparison counts four times as much | 209,000 | 3.2 M | not measured | estimated 1.1 |
//! | 112 of a user's own | | | | 1.25 |
//!
//! The goal is 1.10 for built-in rules, and only the fourth line comes near it: the machine was busy when it was
//! timed, so the 1.1 is estimated from its instructions, cache misses and branch mispredictions relative to the
//! second line. The time goes where the first step stops: such a position is a mispredicted branch, and the keys of a
//! full bucket are not in the nearest cache. So run `look_for_better_buckets` after many rules were added, with a
//! larger [`bucket`] `COMPARISON`; it takes five minutes once for a `buckets.txt`. Custom rules are sorted into
//! buckets by the simpler model of pairs and without a search.
//!
//! A pattern like `[A-Za-z0-9+/]{80,}` has no rare gram; its long [`run`] is searched instead. All work at run time
//! is bounded by a constant per byte of text and gram.
//!
//! The tables of the built-in rules are constants, which `build.rs` derives with the modules of this folder: a clean
//! text needs no compilation and no allocation.

mod bucket;
mod builtin;
mod byte_kind;
pub(crate) mod byte_set;
#[cfg(test)]
mod codegen;
mod cut;
mod extent;
mod fingerprint;
#[cfg(test)]
mod fours;
pub(crate) mod frequency;
mod gram;
mod graph;
#[cfg(test)]
mod hints;
mod hits;
mod input;
mod loops;
mod places;
mod run;
#[cfg(test)]
mod source;
mod tables;

use std::borrow::Cow;
use std::ops::{AddAssign, Range};
use std::sync::LazyLock;

use extent::MatchExtent;
use frequency::independent;
use gram::{Effort, WIDTH};
use hits::Hits;
use input::{PatternId, PrefilterInput};
use places::{Finder, Lookup};
pub(crate) use run::Run;
use tables::{GramKey, PackedGram, Tables};

use crate::candidates::Candidates;
use crate::exact::CustomPattern;

/// Number of grams that are compared before a branch.
const AT_ONCE: usize = 8;

/// Number of bytes around grams that may be inspected, per byte of text.
const AROUND_PER_BYTE: usize = 4;

/// The same for a short text.
const AROUND_FOR_ANY_TEXT: usize = 4096;

/// Searches for substrings that the matches of a list of patterns must contain.
#[derive(Debug, Clone)]
pub(crate) struct Prefilter {
    tables: Tables,
    /// Determines the buckets that accept the bytes at a position.
    lookup: Cow<'static, Lookup>,
}

/// Cost of a pass of the prefilter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PrefilterWork {
    /// Bytes of text.
    pub bytes: usize,
    /// Bytes inspected in search of runs.
    pub run_bytes: usize,
    /// Positions at which some bucket seemed to accept the next bytes.
    pub places: usize,
    /// Grams compared there.
    pub grams: usize,
    /// Grams that were verified.
    pub hits: usize,
    /// Bytes inspected around those, in search of required signs.
    pub around: usize,
}

impl AddAssign for PrefilterWork {
    fn add_assign(&mut self, more: Self) {
        self.bytes += more.bytes;
        self.run_bytes += more.run_bytes;
        self.places += more.places;
        self.grams += more.grams;
        self.hits += more.hits;
        self.around += more.around;
    }
}

impl Prefilter {
    /// Returns the prefilter of the built-in rules.
    pub(crate) fn builtin() -> Self {
        Self { tables: builtin::TABLES, lookup: Cow::Borrowed(&builtin::LOOKUP) }
    }

    /// Returns a prefilter without rules. It still detects obfuscations.
    pub(crate) fn without_rules() -> Self {
        static TABLES: LazyLock<Tables> = LazyLock::new(|| {
            builtin::TABLES.with(|input| {
                input.grams.retain(|(id, ..)| matches!(id, PatternId::Trigger(_)));
                input.runs.retain(|(id, _)| matches!(id, PatternId::Trigger(_)));
                input.extents.clear();
            })
        });
        Self::of(TABLES.clone())
    }

    fn of(tables: Tables) -> Self {
        let lookup = Cow::Owned(Box::new(Lookup::of(&tables)));
        Self { tables, lookup }
    }

    /// Returns a prefilter that searches for these custom patterns as well, which have numbers in ascending order.
    pub(crate) fn with<'p>(&self, patterns: impl Iterator<Item = (usize, &'p CustomPattern)>) -> Self {
        let add = |input: &mut PrefilterInput| {
            // A text waits for these tables: the first grams that are rare enough will do.
            let efforts = [Effort::LITTLE, Effort::FULL];
            patterns.for_each(|(number, pattern)| {
                input.add_automaton(number, pattern.parsed(), pattern.automaton(), independent, &efforts);
            });
        };
        Self::of(self.tables.with(add))
    }

    /// Adds every pattern to `found` that can match `text`, with the stretches of its matches.
    pub(crate) fn run(&self, text: &str, found: &mut Candidates) -> PrefilterWork {
        let text = text.as_bytes();
        let mut pass = Pass {
            tables: &self.tables,
            lookup: &self.lookup,
            text,
            found,
            seen: Hits::none(text.len()),
            around: None,
            runs_end: 0,
            work: PrefilterWork::default(),
        };
        pass.always();
        // The first position is the virtual line end before the text.
        pass.check(0);
        self.lookup.taken(text, &mut pass);
        pass.work.bytes = text.len();
        pass.finish()
    }
}

/// One pass over one text.
///
/// Positions count from the virtual line end before the text, so byte `n` is at position `n + 1`.
#[derive(Debug)]
struct Pass<'p> {
    tables: &'p Tables,
    lookup: &'p Lookup,
    text: &'p [u8],
    found: &'p mut Candidates,
    seen: Hits,
    /// Result for the position that was checked last.
    around: Option<Around<'p>>,
    /// End of the last run.
    runs_end: usize,
    work: PrefilterWork,
}

/// Whether the signs that an extent requires surround a position.
#[derive(Debug, Clone, Copy)]
struct Around<'p> {
    place: usize,
    extent: &'p MatchExtent,
    is_plausible: bool,
}

impl Finder for Pass<'_> {
    #[inline]
    fn place(&mut self, at: usize) {
        self.check(at + 1);
    }

    fn runs(&mut self, begins: Range<usize>) {
        let Some(any) = self.tables.any_run else { return };
        self.work.run_bytes += begins.len() + any.shortest as usize;
        // Stretches of neighbouring blocks overlap; a run that was found already is not searched again.
        let mut from = begins.start.max(self.runs_end);
        while let Some(stretch) = any.find(self.text, from..begins.end) {
            from = stretch.end;
            self.runs_end = stretch.end;
            // `any_run` is weaker than each pattern's own run, which is now searched in the stretch.
            let runs = self.tables.runs.iter();
            runs.for_each(|(id, run)| self.runs_in(stretch.clone(), *id, run));
        }
    }
}

impl Pass<'_> {
    /// Adds patterns that must be expected everywhere.
    fn always(&mut self) {
        for &id in self.tables.always.iter() {
            match id {
                PatternId::Rule(pattern) => self.found.insert(pattern),
                PatternId::Trigger(obfuscation) => self.found.insert_obfuscation(obfuscation),
            }
        }
    }

    /// Searches for one run in a stretch of the text.
    fn runs_in(&mut self, stretch: Range<usize>, id: PatternId, run: &Run) {
        self.work.run_bytes += stretch.len();
        let mut from = stretch.start;
        let text = self.text.get(..stretch.end).unwrap_or_default();
        while let Some(found) = run.find(text, from..stretch.end) {
            from = found.end;
            self.add(id, found);
        }
    }

    /// Checks the grams of every bucket that accepts the bytes at `place`.
    #[inline]
    fn check(&mut self, place: usize) {
        self.work.places += 1;
        let bytes = self.bytes_at(place);
        // The first step is a filter over many bytes at once; look up which buckets accept exactly these.
        let [first, second, third, fourth, ..] = bytes.to_le_bytes();
        let mut buckets = self.lookup.buckets([first, second, third, fourth]);
        while buckets != 0 {
            self.check_bucket(buckets.trailing_zeros() as usize, place, bytes);
            buckets &= buckets - 1;
        }
    }

    fn check_bucket(&mut self, bucket: usize, place: usize, bytes: u64) {
        let end_of = |bucket: usize| self.tables.bucket_ends.get(bucket).map_or(0, |&end| end as usize);
        let grams = bucket.checked_sub(1).map_or(0, end_of)..end_of(bucket);
        let sketches = self.tables.sketches.get(grams.clone()).unwrap_or_default();
        self.work.grams += sketches.len();
        let (groups, rest) = sketches.as_chunks::<AT_ONCE>();
        let mut first = grams.start;
        for group in groups {
            // Usually none fits; asking all at once costs one branch misprediction instead of several.
            if group.iter().fold(false, |any, sketch| any | sketch.fits(bytes)) {
                for (sketch, gram) in group.iter().zip(first..) {
                    if sketch.fits(bytes) {
                        self.check_gram(gram, place, bytes);
                    }
                }
            }
            first += AT_ONCE;
        }
        for (sketch, gram) in rest.iter().zip(first..) {
            if sketch.fits(bytes) {
                self.check_gram(gram, place, bytes);
            }
        }
    }

    /// Verifies what the comparison with the next bytes left open.
    fn check_gram(&mut self, gram: usize, place: usize, bytes: u64) {
        let Some(gram) = self.tables.grams.get(gram) else { return };
        let sets = self.tables.fragments.get(gram.fragment as usize..).unwrap_or_default();
        if self.next_bytes_fit(gram, sets, bytes) && self.context_stands_at(gram, sets, place) {
            self.hit(gram, place);
        }
    }

    /// Whether a gram accepts the next bytes that its sketch left open.
    fn next_bytes_fit(&self, gram: &PackedGram, sets: &[u16], bytes: u64) -> bool {
        let mut unsure = gram.unsure;
        while unsure != 0 {
            let offset = unsure.trailing_zeros() as usize;
            // The sets of the core come first, then those before it.
            let number = if offset < WIDTH { offset } else { offset + usize::from(gram.before) };
            if !sets.get(number).is_none_or(|&set| self.set_takes(set, (bytes >> (8 * offset)) as u8)) {
                return false;
            }
            unsure &= unsure - 1;
        }
        true
    }

    /// Returns the next bytes from `place` on, the first one lowest.
    fn bytes_at(&self, place: usize) -> u64 {
        let whole =
            place.checked_sub(1).and_then(|at| self.text.get(at..)?.first_chunk::<{ GramKey::WIDTH }>());
        u64::from_le_bytes(match whole {
            Some(bytes) => *bytes,
            // At both ends of the text, virtual line ends fill the missing bytes.
            None => std::array::from_fn(|offset| byte_at(self.text, place + offset)),
        })
    }

    /// Whether the bytes around the core satisfy a gram.
    fn context_stands_at(&self, gram: &PackedGram, sets: &[u16], place: usize) -> bool {
        let (before, after) = (usize::from(gram.before), usize::from(gram.after));
        let (end_of_before, end) = (WIDTH + before, WIDTH + before + after);
        let before = sets.get(WIDTH..end_of_before).unwrap_or_default();
        // The first bytes behind the core were verified together with it.
        let after = sets.get(before.len() + GramKey::WIDTH..end).unwrap_or_default();
        // A context that begins before the virtual line end cannot be part of a match.
        before.len() <= place
            && self.takes(before, (0..place).rev())
            && self.takes(after, place + GramKey::WIDTH..)
    }

    /// Whether numbered sets accept the bytes at these positions.
    #[inline]
    fn takes(&self, sets: &[u16], places: impl Iterator<Item = usize>) -> bool {
        sets.iter().zip(places).all(|(&set, place)| self.set_takes(set, byte_at(self.text, place)))
    }

    /// Whether a numbered set accepts a byte. A missing set accepts everything: see `tables`.
    #[inline]
    fn set_takes(&self, set: u16, byte: u8) -> bool {
        self.tables.sets.get(usize::from(set)).is_none_or(|set| set.contains(byte))
    }

    fn hit(&mut self, gram: &PackedGram, place: usize) {
        // The node is a byte of the match itself, so it is not one of the virtual line ends.
        let node = (place + usize::from(gram.node)).checked_sub(1).filter(|&at| at < self.text.len());
        if let Some(at) = node {
            self.work.hits += 1;
            self.add(gram.id, at..at + 1);
        }
    }

    /// Records a verified gram or run.
    fn add(&mut self, id: PatternId, at: Range<usize>) {
        let pattern = match id {
            PatternId::Rule(pattern) => pattern,
            PatternId::Trigger(obfuscation) => return self.found.insert_obfuscation(obfuscation),
        };
        if self.is_plausible(pattern, at.start) {
            self.seen.add(pattern, at);
        }
    }

    /// Whether the required signs surround a gram. A text that makes this expensive, by one gram after the other,
    /// soon exhausts its budget; after that, everything is plausible.
    fn is_plausible(&mut self, pattern: usize, at: usize) -> bool {
        let tables = self.tables;
        let extent = tables.extents.get(pattern).and_then(Option::as_ref);
        let Some(extent) =
            extent.filter(|_| self.work.around < AROUND_PER_BYTE * self.text.len() + AROUND_FOR_ANY_TEXT)
        else {
            return true;
        };
        // Patterns with the same gram often require the same signs.
        if let Some(last) = self.around.filter(|last| last.place == at && last.extent == extent) {
            return last.is_plausible;
        }
        let (is_plausible, steps) = extent.is_plausible(self.text, at);
        self.work.around += steps;
        self.around = Some(Around { place: at, extent, is_plausible });
        is_plausible
    }

    /// Turns the recorded hits into candidates.
    fn finish(self) -> PrefilterWork {
        for (pattern, within) in self.seen.matches(self.text, &self.tables.extents) {
            self.found.insert_within(pattern, within);
        }
        self.work
    }
}

/// Returns the byte at a position, with line ends before and behind the text.
#[inline]
fn byte_at(text: &[u8], place: usize) -> u8 {
    place.checked_sub(1).and_then(|at| text.get(at)).copied().unwrap_or(b'\n')
}
