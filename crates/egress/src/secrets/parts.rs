//! Partial responses (`Range`, RFC 9110, section 14) of a host with a secret.
//!
//! A secret that is cut by the end of a part is not complete in it. So prefixes and suffixes of secrets at the ends are replaced
//! as well, and a part that could contain too few bytes of a secret to recognize them is refused. Requests pass unchanged.

use std::sync::Arc;

use hyper::http::header::{CONTENT_RANGE, CONTENT_TYPE};
use hyper::http::{HeaderMap, HeaderValue, StatusCode, request, response};

use super::super::broker::inspect::RewriteRefusal;
use super::readings::MAX_ESCAPE;
use super::scrub::{FILLER, Pieces, ScrubbedStream, Scrubber, unreadable};
use super::windows::CERTAIN;

// `Request-Range` is an old name that Apache accepts, and `x-ms-range` takes precedence over `Range` in Azure
// Storage.
/// Headers that request a part, and those that some servers treat alike.
const ASKS_FOR_PART: &[&str] = &["range", "request-range", "x-ms-range"];

/// The media type of a response with several parts.
const SEVERAL: &[u8] = b"multipart/byteranges";

/// Minimum length of a part in the middle: with shorter ones, a secret could be read bit by bit.
const MIN_PART: u64 = 64;

/// Minimum length of secrets with partial responses: of a shorter one, both unreplaced ends would reveal too much.
pub(super) const MIN_SECRET: usize = 4 * CERTAIN;

/// Refuses a request for parts that could not be scrubbed.
///
/// # Errors
/// When it requests several parts, or any part of a host whose shortest secret is too short.
pub(super) fn judge(head: &request::Parts, shortest: usize) -> Result<(), RewriteRefusal> {
    let values = |name: &str| head.headers.get_all(name).iter();
    if ASKS_FOR_PART.iter().any(|name| values(name).next().is_some()) && shortest < MIN_SECRET {
        let why = format!("a range could contain most of a secret shorter than {MIN_SECRET} bytes");
        return Err(refused(&why, "request the whole response, without `Range`"));
    }
    let is_several = |name: &str| {
        values(name).nth(1).is_some() || values(name).any(|value| value.as_bytes().contains(&b','))
    };
    match ASKS_FOR_PART.iter().any(|name| is_several(name)) {
        true => {
            Err(refused("responses with several ranges are not supported", "request one range at a time"))
        }
        false => Ok(()),
    }
}

fn refused(why: &str, fix: &str) -> RewriteRefusal {
    RewriteRefusal { fix: Some(fix.to_owned()), ..unreadable(why) }
}

/// Whether a response is partial.
///
/// # Errors
/// When it cannot be scrubbed, or has several parts.
pub(super) fn is_part(head: &response::Parts, shortest: usize) -> Result<bool, RewriteRefusal> {
    let is_several = |value: &HeaderValue| {
        let kind = value.as_bytes().trim_ascii_start();
        kind.get(..SEVERAL.len()).is_some_and(|start| start.eq_ignore_ascii_case(SEVERAL))
    };
    // Checked in the response as well: a server may answer one range with several parts.
    if head.headers.get_all(CONTENT_TYPE).iter().any(is_several) {
        return Err(refused("the response has several ranges", "request one range at a time"));
    }
    // A response that rejects a range (416) also contains the total length.
    let has_range =
        head.headers.contains_key(CONTENT_RANGE) && head.status != StatusCode::RANGE_NOT_SATISFIABLE;
    if !has_range && head.status != StatusCode::PARTIAL_CONTENT {
        return Ok(false);
    }
    let is_long = part(&head.headers).is_some_and(Part::is_long);
    if shortest < MIN_SECRET || !is_long {
        let why = format!(
            "the response is a range of fewer than {MIN_PART} bytes from the middle, of unknown length, or from a \
             host with a short secret"
        );
        return Err(refused(&why, "request a longer range, or the whole response"));
    }
    Ok(true)
}

/// The range of a partial response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    first: u64,
    last: u64,
    whole: Option<u64>,
}

impl Part {
    /// Whether overlapping parts of this length cannot reveal a secret piece by piece.
    fn is_long(self) -> bool {
        let length = self.last.checked_sub(self.first).map(|length| length.saturating_add(1));
        let is_at_end =
            self.first == 0 || self.whole.is_some_and(|whole| whole.checked_sub(1) == Some(self.last));
        // Parts at the ends cannot be moved along a secret byte by byte, so a short file is not refused.
        length.is_some_and(|length| length >= MIN_PART || is_at_end)
    }
}

/// Parses `Content-Range: bytes 0-99/200`.
fn part(headers: &HeaderMap) -> Option<Part> {
    let mut values = headers.get_all(CONTENT_RANGE).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let (unit, rest) = value.to_str().ok()?.trim().split_once(' ')?;
    let (range, whole) = rest.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    // An unknown total length is valid (RFC 9110), but then the end of the file is unknown as well.
    let whole = if whole == "*" { None } else { Some(whole.parse().ok()?) };
    let part = Part { first: first.parse().ok()?, last: last.parse().ok()?, whole };
    unit.eq_ignore_ascii_case("bytes").then_some(part)
}

/// A filter for a part, which may begin and end within a secret.
#[derive(Debug)]
pub(super) struct PartScrubbed {
    scrubber: Arc<Scrubber>,
    scrubbed: ScrubbedStream,
    /// Its first bytes, as many as decide whether they belong to a secret that began before them.
    start: Option<Vec<u8>>,
}

impl PartScrubbed {
    pub(super) fn new(scrubber: &Arc<Scrubber>) -> Self {
        let scrubbed = ScrubbedStream::new(Arc::clone(scrubber));
        Self { scrubber: Arc::clone(scrubber), scrubbed, start: Some(Vec::new()) }
    }

    /// Replaces the end of a secret in the first bytes, and passes them on.
    fn begin(&mut self, mut start: Vec<u8>, out: &mut Vec<u8>) {
        // A part that starts within a secret shows its end, which no search for the beginning finds.
        let ends = self.scrubber.values().at_start(&start);
        start.iter_mut().take(ends).for_each(|byte| *byte = FILLER);
        self.scrubbed.push(&start, out);
    }
}

impl Pieces for PartScrubbed {
    fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), RewriteRefusal> {
        let Some(mut start) = self.start.take() else {
            self.scrubbed.push(piece, out);
            return Ok(());
        };
        start.extend_from_slice(piece);
        if start.len() >= CERTAIN * MAX_ESCAPE * 2 {
            self.begin(start, out);
        } else {
            self.start = Some(start);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<u8>) -> Result<(), RewriteRefusal> {
        if let Some(start) = self.start.take() {
            self.begin(start, out);
        }
        self.scrubbed.end(out)
    }

    fn trailers(&mut self, trailers: &mut HeaderMap) -> Result<(), RewriteRefusal> {
        self.scrubbed.trailers(trailers)
    }
}
