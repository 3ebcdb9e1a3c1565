//! Takes secrets out of what comes back, and looks for placeholders in what goes out, piece by piece.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use hyper::body::Bytes;
use hyper::http::{HeaderMap, HeaderValue};

use super::super::broker::inspect::{BodyFilter, BodyRewrite, RewriteRefusal};
use super::spelling::Spelling;
use super::windows::{AtEnd, BEFORE, Found, Sought, Windows};
use super::{ActiveSecrets, placeholder};

/// What fills the room of a longer spelling.
pub(super) const FILLER: u8 = b'x';

/// What takes the place of digits: 111 is a byte in decimal and in octal numbers, and 11 in hexadecimal ones.
const DIGIT: u8 = b'1';

/// What a body goes through in pieces. Its length stays, or is not in its head any more.
pub(super) trait Pieces: fmt::Debug + Send {
    /// Takes a piece, and gives what may go on of all so far.
    ///
    /// # Errors
    /// When nothing more may.
    fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), RewriteRefusal>;

    /// Gives the rest.
    ///
    /// # Errors
    /// As above.
    fn end(&mut self, out: &mut Vec<u8>) -> Result<(), RewriteRefusal>;

    /// Scrubs the trailers of a body.
    ///
    /// # Errors
    /// As above.
    fn trailers(&mut self, trailers: &mut HeaderMap) -> Result<(), RewriteRefusal>;
}

/// The same, as the broker wants it.
#[derive(Debug)]
struct ByPiece<P>(P);

impl<P: Pieces> BodyFilter for ByPiece<P> {
    fn piece(&mut self, bytes: Bytes) -> Result<Bytes, RewriteRefusal> {
        let mut out = Vec::with_capacity(bytes.len());
        self.0.push(&bytes, &mut out)?;
        Ok(out.into())
    }

    fn keeps_length(&self) -> bool {
        true
    }

    fn end(&mut self) -> Result<Bytes, RewriteRefusal> {
        let mut out = Vec::new();
        self.0.end(&mut out)?;
        Ok(out.into())
    }

    fn trailers(&mut self, trailers: &mut HeaderMap) -> Result<(), RewriteRefusal> {
        self.0.trailers(trailers)
    }
}

/// Lets a body go through this.
pub(super) fn through(pieces: impl Pieces + 'static) -> BodyRewrite {
    BodyRewrite::Pieces(filter(pieces))
}

/// Returns the same as a filter.
pub(super) fn filter(pieces: impl Pieces + 'static) -> Box<dyn BodyFilter> {
    Box::new(ByPiece(pieces))
}

/// What is said where an answer cannot be read.
pub(super) fn unreadable(why: &str) -> RewriteRefusal {
    RewriteRefusal {
        rule: "secret-unreadable",
        reason: format!("responses of a host that gets a secret are scanned, and {why}"),
        fix: None,
    }
}

/// Replaces secrets in text, and every part of them that identifies them, in all encodings that
/// [SECRETS.md](https://docs.rs/crate/stockade-egress/latest/source/SECRETS.md) lists.
///
/// ```
/// # use std::sync::Arc;
/// # use stockade_egress::{Scrubber, ScrubbedStream};
/// let scrubber = Scrubber::new(&[(b"q7Zk2Vb9Lm4Wt8Rj3Hd6", "PLACEHOLDER-OF-TOKEN")])?;
/// let mut stream = ScrubbedStream::new(Arc::new(scrubber));
/// let mut out = Vec::new();
/// stream.push(b"token: q7Zk2Vb9Lm4Wt8", &mut out);
/// stream.push(b"Rj3Hd6, a half of it: q7Zk2Vb9Lm\n", &mut out);
/// stream.finish(&mut out);
/// assert_eq!(out, b"token: PLACEHOLDER-OF-TOKEN, a half of it: xxxxxxxxxx\n");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug)]
pub struct Scrubber {
    values: Windows,
    /// In the order of the values.
    placeholders: Vec<String>,
}

impl Scrubber {
    /// Creates a scrubber that replaces each first value with the second.
    ///
    /// # Errors
    /// When they are too many or too long.
    pub fn new(pairs: &[(&[u8], &str)]) -> Result<Self, String> {
        let sought = |value| Sought { value, public: placeholder::public_part(value) };
        Ok(Self {
            values: Windows::new(pairs.iter().map(|(value, _)| sought(*value)))?,
            placeholders: pairs.iter().map(|(_, placeholder)| (*placeholder).to_owned()).collect(),
        })
    }

    pub(super) const fn values(&self) -> &Windows {
        &self.values
    }

    /// Returns which value a text contains, or a part of it, in whatever spelling.
    pub(super) fn first(&self, text: &[u8]) -> Option<usize> {
        self.values.first(text)
    }

    /// Scrubs a complete text, and returns whether it contained a secret. Its length stays.
    pub fn whole(&self, text: &mut [u8]) -> bool {
        let found = self.values.find(text);
        self.cover(text, 0, &found);
        !found.is_empty()
    }

    /// Overwrites matches with as many bytes. `text` begins at this position of the text in which they were found.
    fn cover(&self, text: &mut [u8], base: usize, found: &[Found]) {
        // Every match is covered, also overlapping ones: a value in two encodings can share bytes. Whole values are last, so that
        // a placeholder stays readable.
        for one in found {
            let end = one.to.saturating_sub(base).min(text.len());
            let Some(place) = text.get_mut(one.from.saturating_sub(base)..end) else { continue };
            let gone = base.saturating_sub(one.from);
            if one.is_list {
                // A number stays one of a byte, whatever its base.
                place.iter_mut().filter(|byte| byte.is_ascii_hexdigit()).for_each(|byte| *byte = DIGIT);
                continue;
            }
            let spelled = self.spelled(one);
            // The length stays, so that `Content-Length`, chunk sizes and websocket frames stay valid.
            let all = spelled.into_iter().chain(std::iter::repeat(one.spelling.filler()));
            place.iter_mut().zip(all.skip(gone)).for_each(|(byte, with)| *byte = with);
        }
    }

    /// Returns the placeholder in the encoding of a match, which stays valid in it. A part of a value has none.
    fn spelled(&self, found: &Found) -> Vec<u8> {
        let placeholder = self.placeholders.get(found.value).filter(|_| found.is_whole);
        let placeholder = placeholder.map(String::as_bytes).unwrap_or_default();
        match found.spelling {
            // A half of a character of UTF-16 would shift those that follow.
            Spelling::Utf16 { .. } if !found.is_whole => Vec::new(),
            spelling => spelling.of(placeholder),
        }
    }
}

/// A text that is scrubbed while it arrives. Its length stays.
#[derive(Debug)]
pub struct ScrubbedStream {
    scrubber: Arc<Scrubber>,
    /// The end of what was passed on, as it was, and behind it what is withheld.
    text: Vec<u8>,
    /// The number of bytes that were passed on.
    gone: usize,
}

impl ScrubbedStream {
    /// Creates an empty stream.
    #[must_use]
    pub const fn new(scrubber: Arc<Scrubber>) -> Self {
        Self { scrubber, text: Vec::new(), gone: 0 }
    }

    /// Adds a piece, and appends to `out` what is settled: all but the bytes that may begin a secret.
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        self.text.extend_from_slice(piece);
        let found = self.scrubber.values.find(&self.text);
        // Bytes that may be the beginning of a secret are delayed until the next piece decides.
        let AtEnd { open, .. } = self.scrubber.values.at_end(&self.text);
        self.pass(open, &found, out);
    }

    /// Appends the rest to `out`. A text that ends within a secret does not show the beginning of it.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        let found = self.scrubber.values.find(&self.text);
        let AtEnd { certain, .. } = self.scrubber.values.at_end(&self.text);
        let covered = certain.saturating_sub(self.gone);
        let begun = out.len();
        self.pass(usize::MAX, &found, out);
        // Without the line break at the end of the text.
        let rest = out.iter_mut().skip(begun).skip(covered);
        rest.filter(|byte| !byte.is_ascii_whitespace()).for_each(|byte| *byte = FILLER);
    }

    /// Passes on what is settled: all before this position.
    fn pass(&mut self, to: usize, found: &[Found], out: &mut Vec<u8>) {
        let to = to.clamp(self.gone, self.text.len());
        let begun = out.len();
        out.extend_from_slice(self.text.get(self.gone..to).unwrap_or_default());
        let passed = out.get_mut(begun..).unwrap_or_default();
        self.scrubber.cover(passed, self.gone, found);
        // A match may have begun in what was passed on before it was one.
        let old = to.saturating_sub(BEFORE);
        self.text.drain(..old);
        self.gone = to - old;
    }
}

impl Pieces for ScrubbedStream {
    fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), RewriteRefusal> {
        Self::push(self, piece, out);
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<u8>) -> Result<(), RewriteRefusal> {
        self.finish(out);
        Ok(())
    }

    fn trailers(&mut self, trailers: &mut HeaderMap) -> Result<(), RewriteRefusal> {
        scrub_headers(&self.scrubber, trailers);
        Ok(())
    }
}

/// Goes over names and values of headers.
pub(super) fn scrub_headers(scrubber: &Scrubber, headers: &mut HeaderMap) {
    // A header name cannot be overwritten in place, so the header is removed.
    let named: Vec<_> = headers
        .keys()
        .filter(|name| scrubber.whole(&mut name.as_str().as_bytes().to_vec()))
        .cloned()
        .collect();
    for name in named {
        headers.remove(name);
    }
    for value in headers.values_mut() {
        let mut bytes = value.as_bytes().to_vec();
        if scrubber.whole(&mut bytes) {
            // What takes the place of a value in a header may stand in one.
            let clean = HeaderValue::from_bytes(&bytes);
            *value = clean.unwrap_or_else(|_| HeaderValue::from_static("scrubbed"));
        }
    }
}

/// A body in which each placeholder, and each secret, is judged.
pub(super) struct Watched {
    active: Arc<ActiveSecrets>,
    /// The end of what was passed on.
    text: Vec<u8>,
    judge: Box<Judge>,
}

/// What a request contains of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// The placeholder that the command has in its place.
    Placeholder(usize),
    /// The secret itself, which the command has from elsewhere.
    Value(usize),
}

/// Returns the reason to refuse a body with this in it, if there is one.
type Judge = dyn Fn(Part) -> Result<(), RewriteRefusal> + Send;

impl Watched {
    pub(super) fn new(active: Arc<ActiveSecrets>, judge: Box<Judge>) -> Self {
        Self { active, text: Vec::new(), judge }
    }

    /// Judges each secret that a text contains once, however often it stands there.
    fn judge(&self, text: &[u8]) -> Result<(), RewriteRefusal> {
        let parts: BTreeSet<_> = self.active.parts_in(text).collect();
        parts.iter().try_for_each(|part| (self.judge)(*part))
    }
}

impl fmt::Debug for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watched").finish_non_exhaustive()
    }
}

impl Pieces for Watched {
    fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), RewriteRefusal> {
        self.text.extend_from_slice(piece);
        self.judge(&self.text)?;
        self.text.drain(..self.text.len().saturating_sub(BEFORE));
        out.extend_from_slice(piece);
        Ok(())
    }

    fn end(&mut self, _out: &mut Vec<u8>) -> Result<(), RewriteRefusal> {
        Ok(())
    }

    fn trailers(&mut self, trailers: &mut HeaderMap) -> Result<(), RewriteRefusal> {
        // Trailers are judged like the body: they arrive after it, when its head was already sent.
        let mut texts =
            trailers.iter().flat_map(|(name, value)| [name.as_str().as_bytes(), value.as_bytes()]);
        texts.try_for_each(|text| self.judge(text))
    }
}
