//! What becomes of an answer: secrets in its head and body are covered, and what cannot be read for that is not let through.

use std::io::Write as _;
use std::sync::Arc;

use flate2::write::{MultiGzDecoder, ZlibDecoder};
use hyper::http::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, SEC_WEBSOCKET_EXTENSIONS, SET_COOKIE,
};
use hyper::http::{HeaderMap, HeaderValue, StatusCode, response};

use super::super::broker::inspect::{BodyRewrite, Conversation, RewriteRefusal};
use super::Held;
use super::scrub::{Pieces, Scrubbed, scrub_headers, through};

/// So many times as long as it came may an answer become when it is decoded, and this much in any case.
const MAX_GROWTH: u64 = 200;
const ALWAYS: u64 = 16 << 20;

/// What several parts of an answer are called.
const PARTS: &[u8] = b"multipart/byteranges";

/// So much is decoded at a time.
const STEP: usize = 1 << 10;

/// Goes over an answer.
pub(super) fn rewrite(
    held: &Arc<Held>,
    to: Conversation<'_>,
    head: &mut response::Parts,
) -> Result<BodyRewrite, RewriteRefusal> {
    let scrubbed = Scrubbed::new(Arc::clone(&held.scrubber));
    scrub_headers(&held.scrubber, &mut head.headers);
    if !held.is_bound(to.target) {
        return Ok(through(scrubbed));
    }
    if is_a_part(head) {
        return Err(unreadable("this is a part of one, which may hold a part of a secret"));
    }
    // A cookie would be another credential, or what a secret in `Cookie` was turned into: it is not taken back.
    head.headers.remove(SET_COOKIE);
    let codings: Vec<_> = head
        .headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .flat_map(|value| value.to_str().unwrap_or("?").split(','))
        .map(|coding| coding.trim().to_ascii_lowercase())
        .filter(|coding| !coding.is_empty() && coding != "identity")
        .collect();
    if head.headers.contains_key(SEC_WEBSOCKET_EXTENSIONS) {
        // Nobody asked for any, and what they do to frames is not known here.
        return Ok(through(Unreadable { coding: "frames with extensions".to_owned() }));
    }
    let [coding] = codings.as_slice() else {
        return Ok(match codings.is_empty() {
            true => through(scrubbed),
            false => through(Unreadable { coding: codings.join(", ") }),
        });
    };
    let decoder = match coding.as_str() {
        "gzip" | "x-gzip" => Some(Decoder::Gzip(MultiGzDecoder::new(Vec::new()))),
        "deflate" => Some(Decoder::Zlib(ZlibDecoder::new(Vec::new()))),
        _ => None,
    };
    let Some(decoder) = decoder else {
        return Ok(through(Unreadable { coding: coding.clone() }));
    };
    head.headers.remove(CONTENT_ENCODING);
    head.headers.remove(CONTENT_LENGTH);
    Ok(through(Decoded { decoder, scrubbed, came: 0, became: 0 }))
}

/// Whether an answer is a part of a whole, or several. Nobody asked for any.
fn is_a_part(head: &response::Parts) -> bool {
    let is_of_parts = |value: &HeaderValue| {
        let kind = value.as_bytes().trim_ascii_start();
        kind.get(..PARTS.len()).is_some_and(|start| start.eq_ignore_ascii_case(PARTS))
    };
    // Who says that there is no such part says how long the whole is as well.
    let names_range =
        head.headers.contains_key(CONTENT_RANGE) && head.status != StatusCode::RANGE_NOT_SATISFIABLE;
    head.status == StatusCode::PARTIAL_CONTENT
        || names_range
        || head.headers.get_all(CONTENT_TYPE).iter().any(is_of_parts)
}

/// What is said where an answer cannot be read.
fn unreadable(why: &str) -> RewriteRefusal {
    RewriteRefusal {
        rule: "secret-unreadable",
        reason: format!("what comes back from a host that gets a secret is read, and {why}"),
        fix: None,
    }
}

/// A body in a coding that nobody here reads. Where there is none, as behind `HEAD`, nothing is missed.
#[derive(Debug)]
struct Unreadable {
    coding: String,
}

impl Pieces for Unreadable {
    fn push(&mut self, piece: &[u8], _out: &mut Vec<u8>) -> Result<(), RewriteRefusal> {
        match piece.is_empty() {
            true => Ok(()),
            false => {
                Err(unreadable(&format!("this was encoded as `{}` unasked", self.coding.escape_debug())))
            }
        }
    }

    fn end(&mut self, _out: &mut Vec<u8>) -> Result<(), RewriteRefusal> {
        Ok(())
    }

    fn trailers(&mut self, trailers: &mut HeaderMap) -> Result<(), RewriteRefusal> {
        trailers.clear();
        Ok(())
    }
}

/// A body that was compressed unasked: it is let through as it was before that.
#[derive(Debug)]
struct Decoded {
    decoder: Decoder,
    scrubbed: Scrubbed,
    came: u64,
    became: u64,
}

#[derive(Debug)]
enum Decoder {
    Gzip(MultiGzDecoder<Vec<u8>>),
    Zlib(ZlibDecoder<Vec<u8>>),
}

impl Decoder {
    fn write(&mut self, piece: &[u8]) -> std::io::Result<()> {
        match self {
            Self::Gzip(decoder) => decoder.write_all(piece),
            Self::Zlib(decoder) => decoder.write_all(piece),
        }
    }

    /// What has been decoded so far and not been taken.
    fn decoded(&mut self) -> &mut Vec<u8> {
        match self {
            Self::Gzip(decoder) => decoder.get_mut(),
            Self::Zlib(decoder) => decoder.get_mut(),
        }
    }

    fn finish(&mut self) -> std::io::Result<()> {
        match self {
            Self::Gzip(decoder) => decoder.try_finish(),
            Self::Zlib(decoder) => decoder.try_finish(),
        }
    }
}

impl Decoded {
    fn hand_on(&mut self, out: &mut Vec<u8>) -> Result<(), RewriteRefusal> {
        let decoded = std::mem::take(self.decoder.decoded());
        self.became = self.became.saturating_add(decoded.len() as u64);
        if self.became > ALWAYS.max(self.came.saturating_mul(MAX_GROWTH)) {
            return Err(unreadable("this grows without end when it is decoded"));
        }
        self.scrubbed.push(&decoded, out)
    }
}

impl Pieces for Decoded {
    fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), RewriteRefusal> {
        for step in piece.chunks(STEP) {
            self.came = self.came.saturating_add(step.len() as u64);
            self.decoder.write(step).map_err(|_| unreadable("this is not encoded as it says"))?;
            self.hand_on(out)?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<u8>) -> Result<(), RewriteRefusal> {
        // Behind `HEAD`, nothing comes at all.
        if self.came > 0 {
            self.decoder.finish().map_err(|_| unreadable("this ends too early"))?;
            self.hand_on(out)?;
        }
        self.scrubbed.end(out)
    }

    fn trailers(&mut self, trailers: &mut HeaderMap) -> Result<(), RewriteRefusal> {
        self.scrubbed.trailers(trailers)
    }
}
