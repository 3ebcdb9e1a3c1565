//! Search for secrets, and for every part of them that identifies them, in all encodings.
//!
//! What is searched are *windows*: eight bytes of a value in each of its encodings, at every position. So a half of a secret, a
//! range, a frame of a message, a wrapped line or a response that breaks off is found by the same rule as the whole. A window
//! that also occurs in other texts, such as a word, is longer ([`weak`](super::weak)).
//!
//! Each window contains four bytes at a multiple of four. Those of a text are looked up in a bitmap, one in four bytes, which
//! rejects nearly all text; what remains is compared with the value around it. Time is linear in the text.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};

use super::decoded::Decoded;
use super::numbers::{self, NUMBERS};
use super::readings::{Escape, FORM, HTML, JSON, MAX_ESCAPE, PERCENT, QUOTED, WRAP, begins};
use super::spelling::{SPELLINGS, Spelling};
use super::weak::{has_few_characters, is_weak};

/// The bytes of a value in a window.
const WINDOW: usize = 8;

/// The same where these would be a word or a number.
const LONG_WINDOW: usize = 2 * WINDOW;

/// The same for a value that repeats few characters.
const MAX_WINDOW: usize = 64;

/// Values with fewer unknown bytes are only searched as a whole: a part of a password is a word.
const SHORT: usize = 16;

/// The bytes of a value that are not a coincidence at the end of a text.
pub(super) const CERTAIN: usize = 6;

/// The bytes that are looked up at once.
const GRAM: usize = 4;

/// Maximum number of positions that are compared for the same four bytes: a value that repeats them looks alike at all of them.
const MAX_ALIKE: usize = 32;

/// Maximum length of an encoded value that is withheld until all of it has arrived. Parts of longer ones are replaced.
const MAX_WITHHELD: usize = 1 << 10;

/// The decoded bytes before and after an escape that are searched, at least as many as a window in the longest encoding.
const CONTEXT: usize = 64;

/// The end of a text in which an incomplete match is looked for: a window of escapes.
const END: usize = WINDOW * MAX_ESCAPE;

/// The bytes of a text before a position that can be a part of a window behind it, with all of them escaped.
pub(super) const BEFORE: usize = 4 * END;

/// Values to look for.
pub(super) struct Windows {
    forms: Vec<Form>,
    /// Where four bytes occur, as numbers of a form and positions in it.
    grams: Grams,
    bitmap: Bitmap,
    escapes: Vec<Escape>,
}

/// A value to search, and the length of its public prefix, which marks a kind of token.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sought<'v> {
    pub(super) value: &'v [u8],
    pub(super) public: usize,
}

/// One encoding of a value.
struct Form {
    value: usize,
    spelling: Spelling,
    /// In lower case. Hexadecimal, percent-escapes and header values come in both cases; for base64, ignoring case finds too much
    /// rather than too little.
    text: Vec<u8>,
    /// The length of the window at each position, or 0 without one.
    windows: Vec<usize>,
    longest: usize,
    /// The length of the public prefix.
    public: usize,
    /// The unknown bytes at the end of a text that are withheld.
    enough: usize,
}

/// A match of a searched value, or of a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    /// The number of the value.
    pub(super) value: usize,
    pub(super) spelling: Spelling,
    pub(super) is_whole: bool,
    /// Whether it is a list of numbers, of which the separators stay.
    pub(super) is_list: bool,
    /// Its start and end in the text.
    pub(super) from: usize,
    pub(super) to: usize,
}

/// A match in one decoding of a text.
#[derive(Debug, Clone, Copy)]
struct Run {
    form: usize,
    /// Where the whole form would begin, which may be before the text.
    origin: isize,
    is_whole: bool,
    from: usize,
    to: usize,
}

/// How much of a form there is at one end of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct AtEnd {
    /// The position in the text from which on the end may belong to a value.
    pub(super) open: usize,
    /// The same without what may be a coincidence.
    pub(super) certain: usize,
}

impl Form {
    fn new(number: usize, spelling: Spelling, sought: Sought<'_>) -> Self {
        let Sought { value, public } = sought;
        let text = spelling.of(value).to_ascii_lowercase();
        let mut form = Self {
            value: number,
            spelling,
            windows: vec![0; text.len()],
            longest: 0,
            public: (0..text.len()).take_while(|at| spelling.source_of(*at, at + 1).1 <= public).count(),
            enough: CERTAIN,
            text,
        };
        let unknown = value.len().saturating_sub(public);
        if unknown >= SHORT {
            form.add_windows(sought);
        } else {
            // Withheld bytes block a protocol in which each side waits for the other, so that must be rare.
            form.enough = (unknown / 4).clamp(GRAM, CERTAIN);
        }
        form.longest = form.windows.iter().copied().max().unwrap_or_default();
        if form.longest == 0 {
            form.longest = form.text.len().min(spelling.length_of(MAX_WINDOW));
            form.windows.iter_mut().take(1).for_each(|first| *first = form.longest);
        }
        form
    }

    fn add_windows(&mut self, sought: Sought<'_>) {
        let is_public = |from: usize, to: usize| from < sought.public || armour(sought.value, from, to);
        for at in 0..self.text.len() {
            let window = |bytes: usize, is_weak: fn(&[u8]) -> bool| {
                let length = self.spelling.length_of(bytes);
                let (from, to) = self.spelling.source_of(at, at + length);
                let part = sought.value.get(from..to)?;
                (at + length <= self.text.len() && !is_public(from, to) && !is_weak(part)).then_some(length)
            };
            let length = window(WINDOW, is_weak).or_else(|| window(LONG_WINDOW, has_few_characters));
            if let (Some(length), Some(place)) = (length, self.windows.get_mut(at)) {
                *place = length;
            }
        }
    }

    /// Returns the length of the window at a position, if there is one.
    fn window(&self, at: usize) -> Option<usize> {
        self.windows.get(at).copied().filter(|length| *length > 0)
    }

    /// Returns the length of the longest end of a text that may become a match, and of the longest that is no coincidence.
    ///
    /// Its last four bytes are those of this place.
    fn lengths_at_end(&self, text: &[u8], place: usize) -> (usize, usize) {
        let at = text.len().saturating_sub(GRAM);
        if self.equal_from(place, text, at, GRAM) < GRAM {
            return (0, 0);
        }
        let end = place + GRAM;
        let most = if self.text.len() <= MAX_WITHHELD { self.text.len() } else { self.longest };
        let first = place - self.equal_before(place, text, at, most);
        let begun = if first == 0 && end < self.text.len() { end } else { 0 };
        let begun_by = |unknown: usize| if begun.saturating_sub(self.public) >= unknown { begun } else { 0 };
        let is_begun = |from: &usize| {
            self.window(*from).is_some_and(|window| from + window > end && is_enough(end - from, window))
        };
        let within = (first..=place).find(is_begun).map_or(0, |from| end - from);
        (begun_by(self.enough).max(within), begun_by(CERTAIN).max(within))
    }

    /// Returns how many bytes at the start of a text are of this place and the end of a window that began before it.
    fn length_at_start(&self, text: &[u8], place: usize) -> usize {
        let length = self.equal_from(place, text, 0, self.longest);
        let is_end_of = |from: usize| {
            let end = self.window(from).map(|window| (from + window, window));
            end.is_some_and(|(end, window)| end > place && is_enough(end.min(place + length) - place, window))
        };
        let is_end = (place.saturating_sub(self.longest)..=place).any(is_end_of);
        if is_end { length } else { 0 }
    }

    /// Returns how many bytes at a position equal the form from this place on.
    fn equal_from(&self, place: usize, text: &[u8], at: usize, most: usize) -> usize {
        let form = self.text.iter().skip(place);
        let text = text.iter().skip(at);
        form.zip(text).take(most).take_while(|(form, byte)| **form == byte.to_ascii_lowercase()).count()
    }

    /// Returns how many bytes before a position equal the form before this place.
    fn equal_before(&self, place: usize, text: &[u8], at: usize, most: usize) -> usize {
        let (form, text) = (self.text.get(..place).unwrap_or_default(), text.get(..at).unwrap_or_default());
        let pairs = form.iter().rev().zip(text.iter().rev()).take(most);
        pairs.take_while(|(form, byte)| **form == byte.to_ascii_lowercase()).count()
    }
}

/// Whether so many bytes of a window are not a coincidence.
const fn is_enough(bytes: usize, window: usize) -> bool {
    4 * bytes >= 3 * window
}

/// Whether a part of a value lies in the first or last line of a key in PEM, which are the same for all keys.
fn armour(value: &[u8], from: usize, to: usize) -> bool {
    let lines = value.split_inclusive(|byte| *byte == b'\n').scan(0, |at, line| {
        let begun = *at;
        *at += line.len();
        Some((begun, *at, line))
    });
    // Only values with a line of this kind are split.
    value.starts_with(b"-----")
        && lines
            .filter(|(_, _, line)| line.starts_with(b"-----"))
            .any(|(begun, end, _)| from < end && begun < to)
}

impl Windows {
    /// Creates a search for values.
    ///
    /// # Errors
    /// When they are too many or too long.
    pub(super) fn new<'v>(values: impl IntoIterator<Item = Sought<'v>>) -> Result<Self, String> {
        // A decoding costs time, so `+` for a blank is only decoded if a value contains a blank.
        let (mut forms, mut escapes) = (Vec::<Form>::new(), vec![PERCENT, QUOTED, JSON, HTML, WRAP]);
        for (number, sought) in values.into_iter().enumerate().filter(|(_, one)| !one.value.is_empty()) {
            if sought.value.contains(&b' ') && escapes.len() == 5 {
                escapes.push(FORM);
            }
            let of_value = forms.len();
            for spelling in SPELLINGS {
                let form = Form::new(number, *spelling, sought);
                // Without `-` and `_`, both alphabets of base64 are the same.
                let is_known = forms.iter().skip(of_value).any(|other| other.text == form.text);
                if !form.text.is_empty() && !is_known {
                    forms.push(form);
                }
            }
        }
        let grams = grams(&forms)?;
        let bitmap = Bitmap::of(&grams);
        Ok(Self { forms, grams, bitmap, escapes })
    }

    /// Returns the matches in a text, in the order in which they are to be replaced: whole values last.
    pub(super) fn find(&self, text: &[u8]) -> Vec<Found> {
        self.find_up_to(text, usize::MAX)
    }

    /// Returns the first matches in each decoding of a text, at most so many of each.
    pub(super) fn find_up_to(&self, text: &[u8], most: usize) -> Vec<Found> {
        let mut found = Vec::new();
        let mut add = |runs: &[Run], decoded: Option<&Decoded>| {
            found.extend(runs.iter().filter_map(|run| self.found(run, decoded)));
        };
        add(&self.search(text, most), None);
        let mut decoded = |decoded: &Decoded| add(&self.search(decoded.bytes(), most), Some(decoded));
        let matters = |at: usize| self.is_next_to_value(text, at);
        let begins = begins(text);
        for escape in &self.escapes {
            escape.regions((text, &begins), CONTEXT, &matters, &mut decoded);
        }
        numbers::regions(text, &mut decoded);
        without_parts(&mut found);
        found.sort_by_key(|one| (one.is_whole, one.from, one.to));
        found
    }

    /// Returns the first value in a text.
    pub(super) fn first(&self, text: &[u8]) -> Option<usize> {
        self.find(text).iter().min_by_key(|found| found.from).map(|found| found.value)
    }

    fn found(&self, run: &Run, decoded: Option<&Decoded>) -> Option<Found> {
        let form = self.forms.get(run.form)?;
        let (from, to) = match decoded {
            None => (run.from, run.to),
            Some(decoded) => (decoded.start_of(run.from), decoded.end_before(run.to)),
        };
        let is_list = decoded.is_some_and(Decoded::is_list);
        Some(Found { value: form.value, spelling: form.spelling, is_whole: run.is_whole, is_list, from, to })
    }

    /// Searches a text as it is written.
    fn search(&self, text: &[u8], most: usize) -> Vec<Run> {
        let mut runs = Vec::new();
        let mut at = 0_usize;
        // Sixteen bytes a round: most of them contain no known bytes.
        for four in text.as_chunks::<{ 4 * GRAM }>().0 {
            let mut grams = four.as_chunks::<GRAM>().0.iter().map(|bytes| folded(*bytes));
            if grams.any(|gram| self.bitmap.may_hold(gram)) {
                self.compare_each(text, (at, at + four.len()), most, &mut runs);
            }
            at += four.len();
        }
        self.compare_each(text, (at, text.len()), most, &mut runs);
        runs
    }

    /// Compares the text around each four known bytes of a part.
    fn compare_each(&self, text: &[u8], (from, to): (usize, usize), most: usize, runs: &mut Vec<Run>) {
        let part = text.get(from..to).unwrap_or_default();
        for (number, bytes) in part.as_chunks::<GRAM>().0.iter().enumerate() {
            let gram = folded(*bytes);
            if self.bitmap.may_hold(gram) && runs.len() < most {
                self.compare(text, from + number * GRAM, gram, runs);
            }
        }
    }

    /// Compares the text around four bytes with each form that contains them.
    fn compare(&self, text: &[u8], at: usize, gram: u32, runs: &mut Vec<Run>) {
        for (number, place) in self.places(gram) {
            let Some(form) = self.forms.get(number) else { continue };
            let behind = form.equal_from(place, text, at, form.longest);
            let before = form.equal_before(place, text, at, form.longest);
            let end = place + behind;
            let windows = (place - before..=place)
                .filter_map(|from| Some((from, from + form.window(from)?)))
                .filter(|(_, to)| *to <= end);
            let all = windows.fold(None, |all: Option<(usize, usize)>, (from, to)| {
                Some(all.map_or((from, to), |(first, last)| (first.min(from), last.max(to))))
            });
            if let Some((from, to)) = all {
                let origin = at.cast_signed() - place.cast_signed();
                let run = Run {
                    form: number,
                    origin,
                    is_whole: false,
                    from: at + from - place,
                    to: at + to - place,
                };
                self.add(text, run, runs);
            }
        }
    }

    /// Adds a match to those before it that it continues.
    fn add(&self, text: &[u8], run: Run, runs: &mut Vec<Run>) {
        let is_same = |one: &&mut Run| one.form == run.form && one.origin == run.origin && one.to >= run.from;
        if let Some(before) = runs.iter_mut().rev().take(MAX_ALIKE).find(is_same) {
            before.from = before.from.min(run.from);
            before.to = before.to.max(run.to);
            return;
        }
        runs.push(self.as_whole(text, run).unwrap_or(run));
    }

    /// Returns the whole value, if a match is a part of one.
    fn as_whole(&self, text: &[u8], run: Run) -> Option<Run> {
        let form = self.forms.get(run.form)?;
        let from = usize::try_from(run.origin).ok()?;
        let length = form.text.len();
        let is_whole = form.equal_from(0, text, from, length) == length;
        is_whole.then_some(Run { is_whole, from, to: from + length, ..run })
    }

    fn places(&self, gram: u32) -> impl Iterator<Item = (usize, usize)> {
        let places = self.grams.get(&gram).into_iter().flatten();
        places.map(|(form, place)| (usize::from(*form), usize::from(*place)))
    }

    /// Whether the four bytes before or after a line break belong to a value: of each window across it, four bytes do.
    fn is_next_to_value(&self, text: &[u8], at: usize) -> bool {
        let is_known = |bytes: Option<&[u8]>| {
            bytes
                .and_then(|bytes| bytes.first_chunk())
                .is_some_and(|bytes| self.bitmap.may_hold(folded(*bytes)))
        };
        let is_break = |byte: &u8| matches!(byte, b'\r' | b'\n');
        let next = at + text.iter().skip(at).take(2).take_while(|byte| is_break(byte)).count();
        is_known(at.checked_sub(GRAM).and_then(|from| text.get(from..at))) || is_known(text.get(next..))
    }

    /// Returns from where on the end of a text may be the beginning of a longer match.
    pub(super) fn at_end(&self, text: &[u8]) -> AtEnd {
        let mut end = self.end_of(text, |index| index);
        let from = text.len().saturating_sub(END);
        let tail = text.get(from..).unwrap_or_default();
        let mut add = |decoded: &Decoded| {
            let of_decoded = self.end_of(decoded.bytes(), |index| from + decoded.start_of(index));
            end.open = end.open.min(of_decoded.open);
            end.certain = end.certain.min(of_decoded.certain);
        };
        self.decodings(tail, 0, &mut add);
        end
    }

    /// Returns how many bytes at the start of a part of a text belong to a value that began before it.
    pub(super) fn at_start(&self, part: &[u8]) -> usize {
        let part = part.get(..END).unwrap_or(part);
        let mut longest = self.start_of(part);
        // The part may begin within an escape.
        for skipped in 0..MAX_ESCAPE.min(part.len()) {
            self.decodings(part, skipped, &mut |decoded| {
                let length = self.start_of(decoded.bytes());
                if length > 0 {
                    longest = longest.max(decoded.end_before(length));
                }
            });
        }
        longest
    }

    fn start_of(&self, text: &[u8]) -> usize {
        let Some(gram) = text.first_chunk() else { return 0 };
        let places = self.places(folded(*gram));
        let lengths =
            places.filter_map(|(form, place)| Some(self.forms.get(form)?.length_at_start(text, place)));
        lengths.max().unwrap_or_default()
    }

    /// Decodes a text from this position on, in each way that changes it.
    fn decodings(&self, text: &[u8], from: usize, each: &mut dyn FnMut(&Decoded)) {
        for escape in self.escapes.iter().filter(|escape| escape.is_in(text)) {
            each(&escape.decode_all(text, from));
        }
        let rest = text.get(from..).unwrap_or_default();
        if rest.iter().any(u8::is_ascii_digit) {
            NUMBERS.iter().for_each(|numbers| each(&numbers.decode_begun(rest, from)));
        }
    }

    /// The end of one decoding, with the positions of its bytes in the text.
    fn end_of(&self, text: &[u8], position: impl Fn(usize) -> usize) -> AtEnd {
        let nothing = AtEnd { open: usize::MAX, certain: usize::MAX };
        let Some(gram) = text.last_chunk() else { return nothing };
        let (mut open, mut certain) = (0, 0);
        for (number, place) in self.places(folded(*gram)) {
            let Some(form) = self.forms.get(number) else { continue };
            let (withheld, sure) = form.lengths_at_end(text, place);
            (open, certain) = (open.max(withheld), certain.max(sure));
        }
        let from = |length: usize| if length == 0 { usize::MAX } else { position(text.len() - length) };
        AtEnd { open: from(open), certain: from(certain) }
    }
}

/// Removes the parts of whole values, which the decoded surroundings of an escape nearby contain.
fn without_parts(found: &mut Vec<Found>) {
    let wholes = found.iter().filter(|one| one.is_whole);
    let mut wholes: Vec<_> = wholes.map(|one| (one.value, one.from, one.to)).collect();
    wholes.sort_unstable();
    found.retain(|one| {
        let before = wholes.partition_point(|whole| (whole.0, whole.1) <= (one.value, one.from));
        let whole = before.checked_sub(1).and_then(|number| wholes.get(number));
        one.is_whole || whole.is_none_or(|whole| whole.0 != one.value || whole.2 < one.to)
    });
}

/// Returns where each four bytes of the forms occur.
fn grams(forms: &[Form]) -> Result<Grams, String> {
    let mut grams = Grams::default();
    for (number, form) in forms.iter().enumerate() {
        for (place, bytes) in form.text.array_windows().enumerate() {
            let places = grams.entry(folded(*bytes)).or_default();
            let number = u16::try_from(number).map_err(|_| "too many values".to_owned())?;
            let place = u16::try_from(place).map_err(|_| "a value is too long".to_owned())?;
            if places.iter().filter(|one| one.0 == number).count() < MAX_ALIKE {
                places.push((number, place));
            }
        }
    }
    Ok(grams)
}

/// Positions of forms by their four bytes.
type Grams = HashMap<u32, Vec<(u16, u16)>, BuildHasherDefault<GramHasher>>;

/// A fast hash. An attacker who knows the secret needs no collisions.
#[derive(Debug, Default)]
struct GramHasher(u64);

impl Hasher for GramHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32((*byte).into()));
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = (self.0 ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Makes no difference between upper and lower case. It makes none between some other characters either, which are compared later.
const fn folded(bytes: [u8; GRAM]) -> u32 {
    u32::from_le_bytes(bytes) | 0x2020_2020
}

/// A set of four bytes that may hold more than it was given. It has 32 KiB, and few bits of it are set.
struct Bitmap(Box<[u64; 1 << 12]>);

impl Bitmap {
    fn of(grams: &Grams) -> Self {
        let mut words = Box::new([0; 1 << 12]);
        for gram in grams.keys() {
            let (index, bit) = Self::place(*gram);
            words.get_mut(index).into_iter().for_each(|word| *word |= bit);
        }
        Self(words)
    }

    const fn place(gram: u32) -> (usize, u64) {
        let hash = gram.wrapping_mul(0x9e37_79b1) >> 14;
        ((hash / 64) as usize, 1 << (hash % 64))
    }

    #[inline]
    fn may_hold(&self, gram: u32) -> bool {
        let (index, bit) = Self::place(gram);
        self.0.get(index).is_some_and(|word| word & bit != 0)
    }
}

impl fmt::Debug for Windows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Windows").field("forms", &self.forms.len()).finish_non_exhaustive()
    }
}
