//! Responses: secrets in head and body are replaced, and responses that cannot be decoded are refused.

use std::io::Write as _;
use std::sync::Arc;

use flate2::write::{MultiGzDecoder, ZlibDecoder};
use hyper::http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use hyper::http::{HeaderMap, HeaderValue, StatusCode, response};

use super::super::broker::inspect::{BodyRewrite, Conversation, RewriteRefusal};
use super::super::header_table::{HeaderAt, HeaderFate, HeaderOf, WITHHELD, headers_of};
use super::ActiveSecrets;
use super::parts::{self, PartScrubbed};
use super::scrub::{Pieces, ScrubbedStream, scrub_headers, through, unreadable};
use super::websocket::ScrubbedFrames;

/// Maximum expansion of a response by decoding, and the size that is always permitted.
const MAX_GROWTH: u64 = 200;
const ALWAYS: u64 = 16 << 20;

/// The size of a decoding step.
const STEP: usize = 1 << 10;

/// Rewrites a response.
pub(super) fn rewrite(
    active: &Arc<ActiveSecrets>,
    to: Conversation<'_>,
    head: &mut response::Parts,
) -> Result<BodyRewrite, RewriteRefusal> {
    // For every host: one host could have passed the secret on to another.
    scrub_headers(&active.scrubber, &mut head.headers);
    if active.is_bound(to.target) {
        // A session cookie is a credential that the command could read and use without the binding.
        withhold(&mut head.headers);
    }
    let scrubbed = || ScrubbedStream::new(Arc::clone(&active.scrubber));
    let is_websocket = head.status == StatusCode::SWITCHING_PROTOCOLS;
    let Some(shortest) = active.shortest_sent_to(to.target) else {
        // This host received no secret that its frames could contain, and may compress them.
        return Ok(if is_websocket { BodyRewrite::Unchanged } else { through(scrubbed()) });
    };
    // A part of a secret is not found by searching for it, so ranges have rules of their own.
    let is_part = parts::is_part(head, shortest)?;
    let unreadable = |coding: String| Ok(through(Unreadable { coding }));
    // gRPC and websockets compress each message, so no search over the stream would find a secret.
    if let Some(coding) = coding_of_messages(&head.headers) {
        return unreadable(coding);
    }
    if is_websocket {
        return Ok(through(ScrubbedFrames::new(&active.scrubber)));
    }
    let codings = codings(&head.headers);
    let [coding] = codings.as_slice() else {
        return match (codings.is_empty(), is_part) {
            (false, _) => unreadable(codings.join(", ")),
            (true, true) => Ok(through(PartScrubbed::new(&active.scrubber))),
            (true, false) => Ok(through(scrubbed())),
        };
    };
    // A part of a compressed body cannot be decoded without its beginning.
    let decoder = Decoder::of(coding).filter(|_| !is_part);
    let Some(decoder) = decoder else { return unreadable(coding.clone()) };
    // The client gets the decoded body: compressing it again would only cost time.
    head.headers.remove(CONTENT_ENCODING);
    head.headers.remove(CONTENT_LENGTH);
    Ok(through(Decoded { decoder, scrubbed: scrubbed(), came: 0, became: 0 }))
}

/// Removes headers that a host with a secret must not send to a command, and lists them.
fn withhold(headers: &mut HeaderMap) {
    for name in headers_of(HeaderOf::Answer, HeaderAt::SecretHost, HeaderFate::Withheld) {
        if headers.remove(name).is_some() {
            headers.insert(WITHHELD, HeaderValue::from_static("cookies"));
        }
    }
}

/// Returns the content codings of a body, except for `identity`.
fn codings(headers: &HeaderMap) -> Vec<String> {
    let values = headers.get_all(CONTENT_ENCODING).iter();
    let codings = values.flat_map(|value| value.to_str().unwrap_or("?").split(','));
    let small = codings.map(|coding| coding.trim().to_ascii_lowercase());
    small.filter(|coding| !coding.is_empty() && coding != "identity").collect()
}

/// Returns the per-message encoding of a stream, which was not requested and is not supported.
fn coding_of_messages(headers: &HeaderMap) -> Option<String> {
    let judged = headers_of(HeaderOf::Answer, HeaderAt::SecretHost, HeaderFate::Judged);
    let named = judged.flat_map(|name| headers.get_all(name).iter().map(move |value| (name, value)));
    let mut other = named.filter(|(_, value)| value.as_bytes() != b"identity");
    other.next().map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())))
}

/// A body in an unknown coding. It is only refused if it is not empty, because the empty body of a response to `HEAD` contains no
/// secret.
#[derive(Debug)]
struct Unreadable {
    coding: String,
}

impl Pieces for Unreadable {
    fn push(&mut self, piece: &[u8], _out: &mut Vec<u8>) -> Result<(), RewriteRefusal> {
        match piece.is_empty() {
            true => Ok(()),
            false => Err(unreadable(&format!(
                "the response has the encoding `{}`, which was not requested",
                self.coding.escape_debug()
            ))),
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

/// A decoder for a body that was compressed without being requested.
#[derive(Debug)]
struct Decoded {
    decoder: Decoder,
    scrubbed: ScrubbedStream,
    came: u64,
    became: u64,
}

#[derive(Debug)]
enum Decoder {
    Gzip(MultiGzDecoder<Vec<u8>>),
    Zlib(ZlibDecoder<Vec<u8>>),
}

impl Decoder {
    fn of(coding: &str) -> Option<Self> {
        match coding {
            // Several gzip members are one body (RFC 1952), and curl decodes all of them.
            "gzip" | "x-gzip" => Some(Self::Gzip(MultiGzDecoder::new(Vec::new()))),
            "deflate" => Some(Self::Zlib(ZlibDecoder::new(Vec::new()))),
            _ => None,
        }
    }

    fn write(&mut self, piece: &[u8]) -> std::io::Result<()> {
        match self {
            Self::Gzip(decoder) => decoder.write_all(piece),
            Self::Zlib(decoder) => decoder.write_all(piece),
        }
    }

    /// Decoded bytes that are not passed on yet.
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
            return Err(unreadable("the response decompresses to more than the limit"));
        }
        self.scrubbed.push(&decoded, out);
        Ok(())
    }
}

impl Pieces for Decoded {
    fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), RewriteRefusal> {
        for step in piece.chunks(STEP) {
            self.came = self.came.saturating_add(step.len() as u64);
            self.decoder.write(step).map_err(|_| unreadable("the response does not match its encoding"))?;
            self.hand_on(out)?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<u8>) -> Result<(), RewriteRefusal> {
        // A response to `HEAD` has no body.
        if self.came > 0 {
            self.decoder.finish().map_err(|_| unreadable("the response is truncated"))?;
            self.hand_on(out)?;
        }
        self.scrubbed.end(out)
    }

    fn trailers(&mut self, trailers: &mut HeaderMap) -> Result<(), RewriteRefusal> {
        self.scrubbed.trailers(trailers)
    }
}
