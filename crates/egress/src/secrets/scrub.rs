//! Takes secrets out of what comes back, and looks for placeholders in what goes out, piece by piece.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use hyper::body::Bytes;
use hyper::http::{HeaderMap, HeaderValue};

use super::super::broker::inspect::{BodyFilter, BodyRewrite, RewriteRefusal};
use super::needles::{Found, NeedleStream, Needles, Sought, Spelling};
use super::placeholder;

/// What fills the room of a longer spelling.
pub(super) const FILLER: u8 = b'x';

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
    BodyRewrite::Pieces(Box::new(ByPiece(pieces)))
}

/// What is said where an answer cannot be read.
pub(super) fn unreadable(why: &str) -> RewriteRefusal {
    RewriteRefusal {
        rule: "secret-unreadable",
        reason: format!("responses of a host that gets a secret are scanned, and {why}"),
        fix: None,
    }
}

/// What is looked for, and what takes its place.
#[derive(Debug)]
pub(super) struct Scrubber {
    needles: Needles,
    /// In the order of the values.
    placeholders: Vec<String>,
}

impl Scrubber {
    /// Finds each first value, and puts the second in its place.
    ///
    /// # Errors
    /// When they are too many or too long.
    pub(super) fn new(pairs: &[(&[u8], &str)]) -> Result<Self, String> {
        let sought = |value| Sought { value, public: placeholder::known_beginning(value) };
        let needles = Needles::of(pairs.iter().map(|(value, _)| sought(*value)))?;
        Ok(Self {
            needles,
            placeholders: pairs.iter().map(|(_, placeholder)| (*placeholder).to_owned()).collect(),
        })
    }

    pub(super) const fn needles(&self) -> &Needles {
        &self.needles
    }

    /// Returns which value stands in a text, in whatever spelling.
    pub(super) fn first(&self, text: &[u8]) -> Option<usize> {
        self.needles.first(text)
    }

    /// Goes over something that is there as a whole. Says whether anything stood there.
    pub(super) fn whole(&self, text: &mut [u8]) -> bool {
        let found = self.needles.find(text);
        // Every match is covered, also overlapping ones: a value in two encodings can share bytes.
        found.iter().for_each(|one| self.cover(text, 0, one));
        !found.is_empty()
    }

    /// Overwrites a value with as many bytes. `text` begins at offset `base` of the stream; earlier bytes were already passed on.
    fn cover(&self, text: &mut [u8], base: u64, found: &Found) {
        let index = |at: u64| usize::try_from(at.saturating_sub(base)).unwrap_or(usize::MAX);
        let end = index(found.to).min(text.len());
        let gone = usize::try_from(base.saturating_sub(found.from)).unwrap_or(usize::MAX);
        let Some(place) = text.get_mut(index(found.from)..end) else { return };
        let length = place.len().saturating_add(gone);
        let placeholder = self.placeholders.get(found.value).map(String::as_bytes).unwrap_or_default();
        let spelled = match found.spelling {
            Spelling::Utf16 { .. } | Spelling::Plain => found.spelling.of(placeholder),
            // The replacement has to be valid in the same encoding.
            Spelling::Hex => {
                Spelling::Hex.of(placeholder).into_iter().chain(std::iter::repeat_n(b'0', length)).collect()
            }
            Spelling::Base64 { .. } => {
                found.spelling.of(placeholder).into_iter().chain(std::iter::repeat_n(b'A', length)).collect()
            }
        };
        // The length stays, so that `Content-Length`, chunk sizes and websocket frames stay valid.
        let all = spelled.into_iter().chain(std::iter::repeat(FILLER));
        place.iter_mut().zip(all.skip(gone)).for_each(|(byte, with)| *byte = with);
    }
}

/// A body that is scrubbed. Its length stays.
#[derive(Debug)]
pub(super) struct Scrubbed {
    scrubber: Arc<Scrubber>,
    stream: NeedleStream,
    /// Bytes that are delayed, and their offset in the stream.
    active: Vec<u8>,
    base: u64,
}

impl Scrubbed {
    pub(super) fn new(scrubber: Arc<Scrubber>) -> Self {
        let stream = NeedleStream::new(&scrubber.needles);
        Self { scrubber, stream, active: Vec::new(), base: 0 }
    }

    fn cover(&mut self, found: &[Found]) {
        found.iter().for_each(|one| self.scrubber.cover(&mut self.active, self.base, one));
    }
}

impl Pieces for Scrubbed {
    fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), RewriteRefusal> {
        self.active.extend_from_slice(piece);
        let mut found = Vec::new();
        self.stream.feed(&self.scrubber.needles, piece, &mut |one| found.push(one));
        self.cover(&found);
        // Bytes that may be the beginning of a secret are delayed until the next piece decides.
        let settled = self.stream.is_settled_until(&self.scrubber.needles).saturating_sub(self.base);
        let settled = usize::try_from(settled).unwrap_or_default().min(self.active.len());
        out.extend(self.active.drain(..settled));
        self.base += settled as u64;
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<u8>) -> Result<(), RewriteRefusal> {
        let mut found = Vec::new();
        // Read before and after `end`: flushing an incomplete escape can extend a match or discard it.
        let before = self.stream.is_certain_from(&self.scrubber.needles);
        self.stream.end(&self.scrubber.needles, &mut |one| found.push(one));
        self.cover(&found);
        // A body that ends within a value is no way to have the first half of it.
        let begun = before.min(self.stream.is_certain_from(&self.scrubber.needles));
        let begun = usize::try_from(begun.saturating_sub(self.base)).unwrap_or(usize::MAX);
        self.active.iter_mut().skip(begun).for_each(|byte| *byte = FILLER);
        out.append(&mut self.active);
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

/// A body in which each placeholder is judged.
pub(super) struct Watched {
    placeholders: Arc<Needles>,
    stream: NeedleStream,
    judge: Box<Judge>,
}

/// Returns the reason to refuse a body that contains this placeholder, if there is one.
type Judge = dyn Fn(usize) -> Result<(), RewriteRefusal> + Send;

impl Watched {
    pub(super) fn new(placeholders: Arc<Needles>, judge: Box<Judge>) -> Self {
        Self { stream: NeedleStream::new(&placeholders), placeholders, judge }
    }

    /// Judges each placeholder that was found once, however often it stands there.
    fn judge(&self, found: &BTreeSet<usize>) -> Result<(), RewriteRefusal> {
        found.iter().try_for_each(|value| (self.judge)(*value))
    }
}

impl fmt::Debug for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watched").field("stream", &self.stream).finish_non_exhaustive()
    }
}

impl Pieces for Watched {
    fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), RewriteRefusal> {
        let mut all = BTreeSet::new();
        self.stream.feed(&self.placeholders, piece, &mut |found| {
            all.insert(found.value);
        });
        self.judge(&all)?;
        out.extend_from_slice(piece);
        Ok(())
    }

    fn end(&mut self, _out: &mut Vec<u8>) -> Result<(), RewriteRefusal> {
        let mut all = BTreeSet::new();
        self.stream.end(&self.placeholders, &mut |found| {
            all.insert(found.value);
        });
        self.judge(&all)
    }

    fn trailers(&mut self, trailers: &mut HeaderMap) -> Result<(), RewriteRefusal> {
        // Trailers are judged like the body: they arrive after it, when its head was already sent.
        let texts = trailers.iter().flat_map(|(name, value)| [name.as_str().as_bytes(), value.as_bytes()]);
        let all = texts.flat_map(|text| self.placeholders.find(text)).map(|found| found.value).collect();
        self.judge(&all)
    }
}
