//! Streaming search for values, in every encoding that contains them completely.
//!
//! A value is searched literally, in base64 at each of its three offsets, in hexadecimal and in UTF-16, ignoring case; and again
//! in the text after decoding percent-escapes, JSON escapes, HTML entities and forms. One automaton (Aho-Corasick) reads each
//! byte once per decoding, so the time is linear. Bytes are only withheld until more arrive if they match a longer prefix of a
//! value than occurs by chance: in a protocol in which each side waits for the other, withheld bytes would block both.

use std::collections::{HashMap, VecDeque};
use std::fmt;

use aho_corasick::automaton::{Automaton as _, StateID};
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::readings::{Decoder, Escape, FORM, HTML, JSON, MAX_ESCAPE, PERCENT};

/// Values to look for.
pub(super) struct Needles {
    automaton: NFA,
    start: StateID,
    /// The searched forms, by their number in the automaton.
    forms: Vec<Form>,
    /// The length of the prefix of a needle that a state represents.
    depths: HashMap<StateID, Depth>,
    longest: usize,
    /// The decodings besides the literal one.
    escapes: Vec<Escape>,
}

/// What a state represents.
#[derive(Debug, Clone, Copy, Default)]
struct Depth {
    /// The length of the prefix of a form that was matched, which may be the whole form.
    whole: usize,
    /// The number of withheld bytes: the longest incomplete prefix of a form that reaches [`Form::withheld_from`].
    withheld: usize,
    /// The same for [`Form::certain_from`].
    certain: usize,
}

/// One encoding of a value.
#[derive(Clone)]
struct Form {
    value: usize,
    spelling: Spelling,
    text: Vec<u8>,
    /// A shorter prefix is not withheld: it reveals too little to help guess the rest.
    withheld_from: usize,
    /// A shorter prefix may occur in any text by chance.
    certain_from: usize,
}

/// A value to search, and the length of its public prefix, which marks a kind of token.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sought<'v> {
    pub(super) value: &'v [u8],
    pub(super) public: usize,
}

/// Number of matching bytes after the public prefix that are not a coincidence.
pub(super) const CERTAIN: usize = 6;

/// Values with fewer unknown bytes than this are withheld earlier.
const SHORT: usize = 16;

impl Form {
    fn new(value: usize, spelling: Spelling, sought: Sought<'_>) -> Self {
        let mut text = spelling.of(sought.value);
        // Hexadecimal, percent-escapes and header values come in both cases. For base64, ignoring case finds too much
        // rather than too little.
        text.make_ascii_lowercase();
        let public = spelling.length_of_prefix(sought.public);
        let unknown = sought.value.len().saturating_sub(sought.public);
        // Withheld bytes block a protocol in which each side waits for the other, so that must be rare.
        let enough = if unknown >= SHORT { CERTAIN } else { (unknown / 4).max(1) };
        Self { value, spelling, text, withheld_from: public + enough, certain_from: public + CERTAIN }
    }
}

/// An encoding of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    Plain,
    /// Base64 after this many other bytes, in the standard or URL alphabet.
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
    /// Returns the bytes of the encoded value that do not depend on its surroundings.
    pub(super) fn of(self, value: &[u8]) -> Vec<u8> {
        match self {
            Self::Plain => value.to_vec(),
            Self::Hex => stockade_text::to_hex(value).into_bytes(),
            Self::Utf16 { is_big_endian: true } => value.iter().flat_map(|byte| [0, *byte]).collect(),
            Self::Utf16 { is_big_endian: false } => value.iter().flat_map(|byte| [*byte, 0]).collect(),
            Self::Base64 { behind, for_urls } => {
                // Without padding, because it depends on what follows the value.
                let engine = if for_urls { URL_SAFE_NO_PAD } else { STANDARD_NO_PAD };
                let whole: Vec<u8> = std::iter::repeat_n(0, behind).chain(value.iter().copied()).collect();
                let text = engine.encode(&whole).into_bytes();
                // Base64 characters that contain bits of neighbouring bytes depend on those, so they are not compared.
                let before = (behind * 8).div_ceil(6);
                let of_both = usize::from(!whole.len().is_multiple_of(3));
                let length = text.len().saturating_sub(before + of_both);
                text.into_iter().skip(before).take(length).collect()
            }
        }
    }
}

impl Form {
    /// Returns the number of leading bytes that are the end of the form; all if the text lies within the form.
    fn end_in(&self, text: &[u8]) -> usize {
        let is_within = |text: &[u8]| memchr::memmem::find(&self.text, text).is_some();
        // A part from the middle has neither the beginning nor the end of the value.
        if (CERTAIN..self.text.len()).contains(&text.len()) && is_within(text) {
            return text.len();
        }
        let most = self.text.len().saturating_sub(1).min(text.len());
        let is_end = |length: &usize| text.get(..*length).is_some_and(|end| self.text.ends_with(end));
        (CERTAIN..=most).rev().find(is_end).unwrap_or_default()
    }
}

/// Decodes the escapes of a text, with the end position of each decoded byte.
fn decoded(escape: Escape, text: &[u8], began: usize) -> Vec<(u8, usize)> {
    let (mut decoder, mut read) = (Decoder::new(escape), Vec::new());
    let mut keep = |byte, _, to: u64| read.push((byte, usize::try_from(to).unwrap_or(usize::MAX)));
    decoder.feed(text, began as u64, &mut keep);
    decoder.end((began + text.len()) as u64, &mut keep);
    read
}

impl Spelling {
    /// Returns the number of encoded bytes that the first bytes of a value determine.
    const fn length_of_prefix(self, bytes: usize) -> usize {
        match self {
            Self::Plain => bytes,
            Self::Hex | Self::Utf16 { .. } => 2 * bytes,
            Self::Base64 { behind, .. } => {
                ((behind + bytes) * 8 / 6).saturating_sub((behind * 8).div_ceil(6))
            }
        }
    }
}

/// A match of a searched value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    /// The number of the value.
    pub(super) value: usize,
    pub(super) spelling: Spelling,
    /// Its start and end in the stream.
    pub(super) from: u64,
    pub(super) to: u64,
}

impl Needles {
    /// Creates a search for values without public prefixes.
    ///
    /// # Errors
    /// When they are too many or too long for an automaton.
    pub(super) fn new<'v>(values: impl IntoIterator<Item = &'v [u8]>) -> Result<Self, String> {
        Self::of(values.into_iter().map(|value| Sought { value, public: 0 }))
    }

    /// Creates a search for values.
    ///
    /// # Errors
    /// As above.
    pub(super) fn of<'v>(values: impl IntoIterator<Item = Sought<'v>>) -> Result<Self, String> {
        // Each decoding costs a pass over every byte, so `+` for a blank is only decoded if a value contains a blank.
        let (mut forms, mut escapes) = (Vec::new(), vec![PERCENT, JSON, HTML]);
        for (value, sought) in values.into_iter().enumerate().filter(|(_, one)| !one.value.is_empty()) {
            if sought.value.contains(&b' ') && escapes.len() < READINGS - 1 {
                escapes.push(FORM);
            }
            let of_value = SPELLINGS.iter().map(|spelling| Form::new(value, *spelling, sought));
            forms.extend(of_value.filter(|form| !form.text.is_empty()));
        }
        let texts = forms.iter().map(|form| &form.text);
        let automaton =
            // Standard semantics reports overlapping matches, which leftmost semantics skips. An NFA is smaller than
            // a DFA and built faster.
            NFA::builder().match_kind(MatchKind::Standard).build(texts).map_err(|e| e.to_string())?;
        let start = automaton.start_state(Anchored::No).map_err(|e| e.to_string())?;
        let depths = depths(&automaton, start, &forms);
        let longest = forms.iter().map(|form| form.text.len()).max().unwrap_or_default();
        Ok(Self { automaton, start, forms, depths, longest, escapes })
    }

    /// Returns the matches in a complete text.
    pub(super) fn find(&self, text: &[u8]) -> Vec<Found> {
        self.find_up_to(text, usize::MAX)
    }

    /// Returns a limited number of matches.
    pub(super) fn find_up_to(&self, text: &[u8], most: usize) -> Vec<Found> {
        let (mut stream, mut some) = (NeedleStream::new(self), Vec::new());
        let mut keep = |found| {
            // The search continues without collecting: the time is linear anyway, and a callback cannot stop it.
            if some.len() < most {
                some.push(found);
            }
        };
        stream.feed(self, text, &mut keep);
        stream.end(self, &mut keep);
        some
    }

    /// Returns the first value in a complete text.
    pub(super) fn first(&self, text: &[u8]) -> Option<usize> {
        self.find_up_to(text, 1).first().map(|found| found.value)
    }

    /// Returns the number of leading bytes of a part that are the end of a value which began before it; 0 without one.
    pub(super) fn ends_at_start(&self, part: &[u8]) -> usize {
        let escapes = self.escapes.iter().flat_map(|escape| {
            // The part may begin within an escape.
            (0..MAX_ESCAPE).filter_map(move |skipped| Some(decoded(*escape, part.get(skipped..)?, skipped)))
        });
        let plain = part.iter().copied().zip(1..).collect();
        std::iter::once(plain).chain(escapes).map(|read| self.longest_end(&read)).max().unwrap_or_default()
    }

    /// Returns the end of the longest suffix of a form with which this begins. Each byte has its end position.
    fn longest_end(&self, read: &[(u8, usize)]) -> usize {
        let small: Vec<u8> = read.iter().map(|(byte, _)| byte.to_ascii_lowercase()).collect();
        let length = self.forms.iter().map(|form| form.end_in(&small)).max().unwrap_or_default();
        length.checked_sub(1).and_then(|last| read.get(last)).map_or(0, |(_, end)| *end)
    }

    /// Returns the maximum length of an encoded value with every byte escaped.
    pub(super) const fn longest_written(&self) -> usize {
        self.longest.saturating_mul(MAX_ESCAPE)
    }

    fn depth(&self, state: StateID) -> Depth {
        self.depths.get(&state).copied().unwrap_or_default()
    }
}

/// Returns the matched prefix of each state, shallow states first: a state inherits from the longest proper suffix of its match.
fn depths(automaton: &NFA, start: StateID, forms: &[Form]) -> HashMap<StateID, Depth> {
    let next = |state, byte: u8| automaton.next_state(Anchored::No, state, byte);
    let mut depths = HashMap::new();
    let mut open: Vec<(&Form, StateID, StateID)> = forms.iter().map(|form| (form, start, start)).collect();
    let mut whole = 0;
    while !open.is_empty() {
        whole += 1;
        // All forms advance by one letter per round, so that the state of a shorter suffix is known before it is
        // inherited.
        open.retain_mut(|(form, state, suffix)| {
            let Some(byte) = form.text.get(whole - 1) else { return false };
            *state = next(*state, *byte);
            if whole > 1 {
                *suffix = next(*suffix, *byte);
            }
            let inherited: Depth = depths.get(suffix).copied().unwrap_or_default();
            let own = |from| if (from..form.text.len()).contains(&whole) { whole } else { 0 };
            let depth: &mut Depth = depths.entry(*state).or_default();
            *depth = Depth {
                whole,
                withheld: depth.withheld.max(inherited.withheld).max(own(form.withheld_from)),
                certain: depth.certain.max(inherited.certain).max(own(form.certain_from)),
            };
            true
        });
    }
    depths
}

/// Maximum number of decodings: the literal one, and four kinds of escapes.
pub(super) const READINGS: usize = 5;

/// The state of a streaming search.
#[derive(Debug)]
pub(super) struct NeedleStream {
    /// Number of bytes so far.
    at: u64,
    plain: StateID,
    readings: Vec<Reading>,
}

/// The decoding of a text up to a position.
#[derive(Debug)]
struct Reading {
    decoder: Decoder,
    state: StateID,
    /// Start positions of the last decoded bytes, for the longest form.
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

    /// Searches another piece.
    pub(super) fn feed(&mut self, needles: &Needles, piece: &[u8], found: &mut dyn FnMut(Found)) {
        let (began, before) = (self.at, self.plain);
        for byte in piece {
            self.at += 1;
            self.plain = needles.automaton.next_state(Anchored::No, self.plain, byte.to_ascii_lowercase());
            if needles.automaton.is_match(self.plain) {
                let to = self.at;
                matches(needles, self.plain, &mut |form| {
                    let from = to.saturating_sub(form.text.len() as u64);
                    found(Found { value: form.value, spelling: form.spelling, from, to });
                });
            }
        }
        for reading in &mut self.readings {
            // Most text has no escapes. Then all decodings are in the same state, and one automaton run serves all
            // five.
            let is_as_plain = reading.state == before && reading.is_as_written(needles, began);
            if is_as_plain && !reading.decoder.has_escape(piece) {
                reading.as_plain(needles, self.plain, self.at);
            } else {
                reading.feed(needles, piece, began, found);
            }
        }
    }

    /// Searches the rest at the end of the stream.
    pub(super) fn end(&mut self, needles: &Needles, found: &mut dyn FnMut(Found)) {
        for reading in &mut self.readings {
            reading.end(needles, self.at, found);
        }
    }

    /// Returns the position up to which nothing is withheld.
    pub(super) fn is_settled_until(&self, needles: &Needles) -> u64 {
        self.open_from(needles, |depth| depth.withheld)
    }

    /// Returns the start of the longest incomplete match that is not a coincidence; the end of the text without one.
    pub(super) fn is_certain_from(&self, needles: &Needles) -> u64 {
        self.open_from(needles, |depth| depth.certain)
    }

    fn open_from(&self, needles: &Needles, length: fn(Depth) -> usize) -> u64 {
        let plain = self.at.saturating_sub(length(needles.depth(self.plain)) as u64);
        let of_readings = self.readings.iter().filter_map(|reading| {
            let length = length(needles.depth(reading.state));
            reading.begins.len().checked_sub(length).and_then(|index| reading.begins.get(index)).copied()
        });
        of_readings.fold(plain, u64::min)
    }
}

impl Reading {
    /// Whether no escape is incomplete, and the bytes that may begin a form contain no escape.
    fn is_as_written(&self, needles: &Needles, at: u64) -> bool {
        let depth = needles.depth(self.state).whole;
        let first = self.begins.len().checked_sub(depth).and_then(|index| self.begins.get(index));
        let is_written = depth == 0 || first.is_some_and(|first| first.saturating_add(depth as u64) == at);
        is_written && self.decoder.has_nothing_begun()
    }

    /// Without an escape, every decoding is in the state of the literal one.
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
}

/// Processes a decoded byte with its start and end in the stream.
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
            let first = begins.len().checked_sub(form.text.len()).and_then(|index| begins.get(index));
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
