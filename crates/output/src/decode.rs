//! Bytes to text, in a stream: as a browser would read them.

use encoding_rs::{CoderResult, Encoding, UTF_8};

/// How much of a page is searched for a declaration of its encoding, as browsers do.
const DECLARATION_BYTES: usize = 1_024;
/// How much is decoded at a time.
const STEP_BYTES: usize = 4_096;

/// Decodes what is pushed. What is malformed becomes U+FFFD; a byte order mark decides over everything else.
pub(crate) struct Decoder {
    state: State,
    scratch: String,
}

enum State {
    /// The encoding is not known yet: the beginning is kept until it is.
    Deciding {
        beginning: Vec<u8>,
        default: &'static Encoding,
    },
    Decoding(encoding_rs::Decoder),
}

impl Decoder {
    /// Begins to decode a source whose type is known or not.
    pub(crate) fn new(content_type: Option<&str>) -> Self {
        let declared = content_type.and_then(charset).and_then(|label| Encoding::for_label(label.as_bytes()));
        let state = match declared {
            Some(encoding) => State::Decoding(encoding.new_decoder()),
            None => State::Deciding { beginning: Vec::new(), default: UTF_8 },
        };
        Self { state, scratch: String::with_capacity(4 * STEP_BYTES) }
    }

    /// Decodes more bytes and hands on the text.
    pub(crate) fn push(&mut self, bytes: &[u8], take: &mut impl FnMut(&str)) {
        if let State::Deciding { beginning, .. } = &mut self.state {
            let (now, later) = bytes.split_at(bytes.len().min(DECLARATION_BYTES - beginning.len()));
            beginning.extend_from_slice(now);
            if beginning.len() < DECLARATION_BYTES {
                return;
            }
            self.decide(take);
            return self.decode(later, false, take);
        }
        self.decode(bytes, false, take);
    }

    /// Hands on what is left when no more bytes come.
    pub(crate) fn finish(&mut self, take: &mut impl FnMut(&str)) {
        self.decide(take);
        self.decode(&[], true, take);
    }

    fn decide(&mut self, take: &mut impl FnMut(&str)) {
        let State::Deciding { beginning, default } = &mut self.state else { return };
        let encoding = declared_encoding(beginning).unwrap_or(default);
        let beginning = std::mem::take(beginning);
        self.state = State::Decoding(encoding.new_decoder());
        self.decode(&beginning, false, take);
    }

    fn decode(&mut self, bytes: &[u8], last: bool, take: &mut impl FnMut(&str)) {
        let State::Decoding(decoder) = &mut self.state else { return };
        let mut rest = bytes;
        loop {
            self.scratch.clear();
            let is_final = last && rest.len() <= STEP_BYTES;
            let step = rest.get(..STEP_BYTES).unwrap_or(rest);
            let (result, read, _) = decoder.decode_to_string(step, &mut self.scratch, is_final);
            take(&self.scratch);
            rest = rest.get(read..).unwrap_or_default();
            if rest.is_empty() && result == CoderResult::InputEmpty {
                return;
            }
        }
    }
}

/// Finds the encoding in a content type such as `text/html; charset="iso-8859-1"`.
fn charset(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"'))
    })
}

/// Finds `charset=…` within a `<meta …>` tag.
///
/// A declaration of UTF-16 is read as UTF-8, as the standard asks: bytes in which the tag could be found are not UTF-16.
fn declared_encoding(beginning: &[u8]) -> Option<&'static Encoding> {
    let text = beginning.to_ascii_lowercase();
    let text = String::from_utf8_lossy(&text);
    text.split("<meta").skip(1).find_map(|tag| {
        let (tag, _) = tag.split_once('>')?;
        let (_, value) = tag.split_once("charset")?;
        let value = value.trim_start().strip_prefix('=')?.trim_start();
        let label = value.trim_start_matches(['"', '\'']);
        let end = label.find(['"', '\'', ';', ' ', '/', '\t', '\n']).unwrap_or(label.len());
        Encoding::for_label(label.get(..end)?.as_bytes()).map(Encoding::output_encoding)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(bytes: &[u8], content_type: Option<&str>, step: usize) -> String {
        let mut text = String::new();
        let mut decoder = Decoder::new(content_type);
        for chunk in bytes.chunks(step) {
            decoder.push(chunk, &mut |part| text.push_str(part));
        }
        decoder.finish(&mut |part| text.push_str(part));
        text
    }

    #[test]
    fn text_is_read_as_declared_in_whatever_chunks_it_comes() {
        let cases: &[(&[u8], Option<&str>, &str)] = &[
            ("grüße 👍".as_bytes(), None, "grüße 👍"),
            (b"gr\xfc\xdfe", Some("text/html; charset=ISO-8859-1"), "grüße"),
            (b"gr\xfc\xdfe", Some("text/html; Charset=\"windows-1252\""), "grüße"),
            (b"gr\xfc\xdfe", None, "gr\u{fffd}\u{fffd}e"),
            (b"\xff\xfeh\0i\0", Some("text/plain; charset=utf-8"), "hi"),
            (b"<meta charset='latin1'>\xe9", None, "<meta charset='latin1'>é"),
            (
                b"<META http-equiv=x content=\"text/html; charset=shift_jis\">\x83\x65",
                None,
                "<META http-equiv=x content=\"text/html; charset=shift_jis\">テ",
            ),
            (b"charset=latin1 \xc3\xa9", None, "charset=latin1 é"),
            (b"<meta charset=utf-16>\xc3\xa9", None, "<meta charset=utf-16>é"),
            (b"\xe2\x82", None, "\u{fffd}"),
            (b"", None, ""),
        ];
        for (bytes, content_type, text) in cases {
            for step in [1, 3, 5_000] {
                assert_eq!(decode(bytes, *content_type, step), *text, "{bytes:?} by {step}");
            }
        }
    }

    #[test]
    fn a_long_source_is_decoded_whole() {
        let text = "añb".repeat(10_000);
        assert_eq!(decode(text.as_bytes(), None, 777), text);
        assert_eq!(decode(&[0xff; 10_000], None, 777), "\u{fffd}".repeat(10_000));
    }
}
