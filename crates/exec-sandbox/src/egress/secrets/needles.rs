//! Finds values in what goes by in pieces, in every spelling that carries them whole.
//!
//! A value is looked for as it is, in base64 at each of its three offsets, in hexadecimal and in UTF-16, in letters of either case; and
//! all of that once more in what percent-escapes, escapes of JSON, entities of HTML and forms stand for. One automaton (Aho and Corasick) reads each byte
//! once for each of these readings, so that time is linear, and what is held back is only what might be the beginning of a value.

use std::collections::{HashMap, VecDeque};
use std::fmt;

use aho_corasick::automaton::{Automaton as _, StateID};
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::readings::{Decoder, Escape, FORM, HTML, JSON, PERCENT};

/// Values to look for.
pub(super) struct Needles {
    automaton: NFA,
    start: StateID,
    /// The forms that are looked for, by their number in the automaton.
    forms: Vec<Form>,
    /// How long the beginning of a form is that a state stands for.
    depths: HashMap<StateID, Depth>,
    longest: usize,
    /// The ways in which texts are read besides as they are.
    escapes: Vec<Escape>,
}

/// What a state stands for.
#[derive(Debug, Clone, Copy, Default)]
struct Depth {
    /// How long the beginning of a form is, which may be the whole of it.
    whole: usize,
    /// How much of its end might still become another form, when more comes.
    open: usize,
}

/// One spelling of one value.
#[derive(Clone)]
struct Form {
    value: usize,
    spelling: Spelling,
    length: usize,
}

/// How a value is spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    Plain,
    /// In base64 behind so many other bytes, in the alphabet of URLs or the usual one.
    Base64 {
        behind: usize,
        for_urls: bool,
    },
    Hex,
    Utf16 {
        is_big_endian: bool,
    },
}

pub(super) const SPELLINGS: &[Spelling] = &[
    Spelling::Plain,
    Spelling::Base64 { behind: 0, for_urls: false },
    Spelling::Base64 { behind: 1, for_urls: false },
    Spelling::Base64 { behind: 2, for_urls: false },
    Spelling::Base64 { behind: 0, for_urls: true },
    Spelling::Base64 { behind: 1, for_urls: true },
    Spelling::Base64 { behind: 2, for_urls: true },
    Spelling::Hex,
    Spelling::Utf16 { is_big_endian: false },
    Spelling::Utf16 { is_big_endian: true },
];

impl Spelling {
    /// Returns the bytes of a value in this spelling that are the same whatever stands around it.
    pub(super) fn of(self, value: &[u8]) -> Vec<u8> {
        match self {
            Self::Plain => value.to_vec(),
            Self::Hex => value.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect(),
            Self::Utf16 { is_big_endian: true } => value.iter().flat_map(|byte| [0, *byte]).collect(),
            Self::Utf16 { is_big_endian: false } => value.iter().flat_map(|byte| [*byte, 0]).collect(),
            Self::Base64 { behind, for_urls } => {
                let engine = if for_urls { URL_SAFE_NO_PAD } else { STANDARD_NO_PAD };
                let whole: Vec<u8> = std::iter::repeat_n(0, behind).chain(value.iter().copied()).collect();
                let text = engine.encode(&whole).into_bytes();
                // Characters that hold bits of what stands before or behind it say nothing about it.
                let before = (behind * 8).div_ceil(6);
                let of_both = usize::from(!whole.len().is_multiple_of(3));
                let length = text.len().saturating_sub(before + of_both);
                text.into_iter().skip(before).take(length).collect()
            }
        }
    }
}

/// A value that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    /// Which value it is.
    pub(super) value: usize,
    pub(super) spelling: Spelling,
    /// Where it begins and ends in all that has gone by.
    pub(super) from: u64,
    pub(super) to: u64,
}

impl Needles {
    /// Looks for these values.
    ///
    /// # Errors
    /// When they are too many or too long for an automaton.
    pub(super) fn new<'v>(values: impl IntoIterator<Item = &'v [u8]>) -> Result<Self, String> {
        let (mut forms, mut texts) = (Vec::new(), Vec::new());
        let mut escapes = vec![PERCENT, JSON, HTML];
        for (value, bytes) in values.into_iter().enumerate().filter(|(_, bytes)| !bytes.is_empty()) {
            if bytes.contains(&b' ') && escapes.len() < READINGS - 1 {
                escapes.push(FORM);
            }
            for spelling in SPELLINGS {
                let mut text = spelling.of(bytes);
                text.make_ascii_lowercase();
                if !text.is_empty() {
                    forms.push(Form { value, spelling: *spelling, length: text.len() });
                    texts.push(text);
                }
            }
        }
        let automaton =
            NFA::builder().match_kind(MatchKind::Standard).build(&texts).map_err(|e| e.to_string())?;
        let start = automaton.start_state(Anchored::No).map_err(|e| e.to_string())?;
        let depths = depths(&automaton, start, &texts);
        let longest = texts.iter().map(Vec::len).max().unwrap_or_default();
        Ok(Self { automaton, start, forms, depths, longest, escapes })
    }

    /// Returns what is found in a text that is there as a whole.
    pub(super) fn find(&self, text: &[u8]) -> Vec<Found> {
        self.find_up_to(text, usize::MAX)
    }

    /// Returns no more than so much of it.
    pub(super) fn find_up_to(&self, text: &[u8], most: usize) -> Vec<Found> {
        let (mut stream, mut some) = (NeedleStream::new(self), Vec::new());
        let mut keep = |found| {
            if some.len() < most {
                some.push(found);
            }
        };
        stream.feed(self, text, &mut keep);
        stream.end(self, &mut keep);
        some
    }

    /// Returns the first value that stands in a text that is there as a whole.
    pub(super) fn first(&self, text: &[u8]) -> Option<usize> {
        self.find_up_to(text, 1).first().map(|found| found.value)
    }

    fn depth(&self, state: StateID) -> Depth {
        self.depths.get(&state).copied().unwrap_or_default()
    }
}

/// What each state stands for in which a form has begun. A form that is complete goes on to none other by itself, but its end may.
fn depths(automaton: &NFA, start: StateID, texts: &[Vec<u8>]) -> HashMap<StateID, Depth> {
    let next = |state, byte: &u8| automaton.next_state(Anchored::No, state, *byte);
    let mut depths = HashMap::new();
    let mut complete = Vec::new();
    for text in texts {
        let mut state = start;
        for (number, byte) in text.iter().enumerate() {
            state = next(state, byte);
            let whole = number + 1;
            let open = if whole < text.len() { whole } else { 0 };
            let depth: &mut Depth = depths.entry(state).or_default();
            *depth = Depth { whole, open: depth.open.max(open) };
        }
        complete.push((state, text));
    }
    // The shorter ones first: what a longer one ends with is settled by then.
    complete.sort_by_key(|(_, text)| text.len());
    for (state, text) in complete {
        if depths.get(&state).is_some_and(|depth| depth.open > 0) {
            continue;
        }
        let end = text.iter().skip(1).fold(start, next);
        let open = depths.get(&end).map_or(0, |depth| depth.open);
        depths.entry(state).or_default().open = open;
    }
    depths
}

/// In so many ways a text is read at most: as it is, and with escapes of four kinds.
pub(super) const READINGS: usize = 5;

/// How far something that goes by has been looked at.
#[derive(Debug)]
pub(super) struct NeedleStream {
    /// How many bytes went by.
    at: u64,
    plain: StateID,
    readings: Vec<Reading>,
}

/// What escapes stand for, as far as it has been looked at.
#[derive(Debug)]
struct Reading {
    decoder: Decoder,
    state: StateID,
    /// Where the last bytes begin in what went by, as many as the longest form has.
    begins: VecDeque<u64>,
}

impl NeedleStream {
    pub(super) fn new(needles: &Needles) -> Self {
        let reading = |escape: &Escape| Reading {
            decoder: Decoder::new(*escape),
            state: needles.start,
            begins: VecDeque::with_capacity(needles.longest + 1),
        };
        Self { at: 0, plain: needles.start, readings: needles.escapes.iter().map(reading).collect() }
    }

    /// Looks at one more piece.
    pub(super) fn feed(&mut self, needles: &Needles, piece: &[u8], found: &mut dyn FnMut(Found)) {
        let (began, before) = (self.at, self.plain);
        for byte in piece {
            self.at += 1;
            self.plain = needles.automaton.next_state(Anchored::No, self.plain, byte.to_ascii_lowercase());
            if needles.automaton.is_match(self.plain) {
                let to = self.at;
                matches(needles, self.plain, &mut |form| {
                    let from = to.saturating_sub(form.length as u64);
                    found(Found { value: form.value, spelling: form.spelling, from, to });
                });
            }
        }
        for reading in &mut self.readings {
            let is_as_plain = reading.state == before && reading.is_as_written(needles, began);
            if is_as_plain && !reading.decoder.has_escape(piece) {
                reading.as_plain(needles, self.plain, self.at);
            } else {
                reading.feed(needles, piece, began, found);
            }
        }
    }

    /// Looks at what was begun and will not go on.
    pub(super) fn end(&mut self, needles: &Needles, found: &mut dyn FnMut(Found)) {
        for reading in &mut self.readings {
            reading.end(needles, self.at, found);
        }
    }

    /// Returns up to where nothing could be the beginning of a value.
    pub(super) fn is_settled_until(&self, needles: &Needles) -> u64 {
        let plain = self.at.saturating_sub(needles.depth(self.plain).open as u64);
        self.readings.iter().map(|reading| reading.is_settled_until(needles, self.at)).fold(plain, u64::min)
    }
}

impl Reading {
    /// Whether nothing is begun, and what may become a form is written without escapes.
    fn is_as_written(&self, needles: &Needles, at: u64) -> bool {
        let depth = needles.depth(self.state).whole;
        let first = self.begins.len().checked_sub(depth).and_then(|index| self.begins.get(index));
        let is_written = depth == 0 || first.is_some_and(|first| first.saturating_add(depth as u64) == at);
        is_written && self.decoder.has_nothing_begun()
    }

    /// It stands where the plain reading does, which met no escape.
    fn as_plain(&mut self, needles: &Needles, state: StateID, at: u64) {
        self.state = state;
        let depth = needles.depth(state).whole as u64;
        self.begins.clear();
        self.begins.extend(at.saturating_sub(depth)..at);
    }

    fn feed(&mut self, needles: &Needles, piece: &[u8], began: u64, found: &mut dyn FnMut(Found)) {
        let Self { decoder, state, begins } = self;
        decoder
            .feed(piece, began, &mut |byte, from, to| step(needles, state, begins, (byte, from, to), found));
    }

    fn end(&mut self, needles: &Needles, at: u64, found: &mut dyn FnMut(Found)) {
        let Self { decoder, state, begins } = self;
        decoder.end(at, &mut |byte, from, to| step(needles, state, begins, (byte, from, to), found));
    }

    fn is_settled_until(&self, needles: &Needles, at: u64) -> u64 {
        let unread = at.saturating_sub(self.decoder.begun() as u64);
        let depth = needles.depth(self.state).open;
        let first = self.begins.len().checked_sub(depth).and_then(|index| self.begins.get(index));
        first.filter(|_| depth > 0).map_or(unread, |first| unread.min(*first))
    }
}

/// Takes a byte of a reading, which begins and ends there in what went by.
fn step(
    needles: &Needles,
    state: &mut StateID,
    begins: &mut VecDeque<u64>,
    (byte, from, to): (u8, u64, u64),
    found: &mut dyn FnMut(Found),
) {
    if begins.len() > needles.longest {
        begins.pop_front();
    }
    begins.push_back(from);
    *state = needles.automaton.next_state(Anchored::No, *state, byte.to_ascii_lowercase());
    if needles.automaton.is_match(*state) {
        matches(needles, *state, &mut |form| {
            let first = begins.len().checked_sub(form.length).and_then(|index| begins.get(index));
            let from = first.copied().unwrap_or(from);
            found(Found { value: form.value, spelling: form.spelling, from, to });
        });
    }
}

fn matches(needles: &Needles, state: StateID, each: &mut dyn FnMut(&Form)) {
    for index in 0..needles.automaton.match_len(state) {
        let pattern = needles.automaton.match_pattern(state, index);
        needles.forms.get(pattern.as_usize()).into_iter().for_each(&mut *each);
    }
}

impl fmt::Debug for Needles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Needles").field("forms", &self.forms.len()).finish_non_exhaustive()
    }
}
