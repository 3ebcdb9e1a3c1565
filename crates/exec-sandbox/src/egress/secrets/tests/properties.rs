//! What is true of every answer, however it is cut, spelled and compressed.

use std::io::Write as _;

use proptest::prelude::*;

use super::super::needles::SPELLINGS;
use super::super::readings::{Decoder, Escape, FORM, HTML, JSON, PERCENT};
use super::*;

/// Texts that are secrets, of all sorts.
fn values() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(REAL.to_owned()),
        Just("correct horse battery".to_owned()),
        Just("p/a+s=s&w<o>r\"d 1".to_owned()),
        Just("aaaaaaaaaaaaaaab".to_owned()),
        Just("abababababab".to_owned()),
        "[!-\\[\\]-~]{8,20}",
    ]
}

/// The ways in which servers write a text.
const WRITTEN: &[fn(&str) -> Vec<u8>] = &[
    |value| value.as_bytes().to_vec(),
    |value| value.to_uppercase().into_bytes(),
    |value| value.bytes().flat_map(|byte| format!("%{byte:02x}").into_bytes()).collect(),
    |value| {
        let mut text = String::new();
        percent::encode(value.as_bytes(), &mut text);
        text.into_bytes()
    },
    |value| {
        let mut text = String::new();
        percent::encode(value.as_bytes(), &mut text);
        text.replace("%20", "+").into_bytes()
    },
    |value| value.bytes().flat_map(|byte| format!("\\u{byte:04X}").into_bytes()).collect(),
    |value| serde_json::to_string(value).unwrap().into_bytes(),
    |value| value.bytes().flat_map(|byte| format!("&#x{byte:x};").into_bytes()).collect(),
    |value| value.bytes().flat_map(|byte| format!("&#{byte};").into_bytes()).collect(),
    |value| {
        let named = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        named.replace('"', "&quot;").replace('/', "&sol;").into_bytes()
    },
];

/// A piece of an answer: something written in one of those ways or in one of those that are looked for, a part of it, or anything.
fn pieces() -> impl Strategy<Value = (usize, usize, Vec<u8>)> {
    let ways = WRITTEN.len() + SPELLINGS.len();
    (0..ways + 4, 1..30_usize, "[gh_pa%u0-9&#;+\\\\ -]{0,9}".prop_map(String::into_bytes))
}

fn body(value: &str, pieces: &[(usize, usize, Vec<u8>)]) -> Vec<u8> {
    let piece = |(way, length, other): &(usize, usize, Vec<u8>)| match *way {
        way if way < WRITTEN.len() => WRITTEN[way](value),
        way if way < WRITTEN.len() + SPELLINGS.len() => SPELLINGS[way - WRITTEN.len()].of(value.as_bytes()),
        // So much is missing of it that what covers the next piece does not make it whole by chance.
        way if way % 2 == 0 => value.as_bytes()[..(*length).min(value.len() / 2)].to_vec(),
        _ => other.clone(),
    };
    pieces.iter().flat_map(piece).collect()
}

/// What a text stands for to whoever reads escapes of this kind. Written by hand, and not as the scrubber does it.
fn read(text: &[u8], kind: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((first, behind)) = rest.split_first() {
        let number = |digits: Option<&[u8]>, radix| {
            let digits = std::str::from_utf8(digits?).ok()?;
            digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(())?;
            u8::try_from(u32::from_str_radix(digits, radix).ok()?).ok()
        };
        let entity = || {
            let end = behind.iter().take(10).position(|byte| *byte == b';')?;
            let name = &behind[..end];
            let named: [(&[u8], u8); 5] =
                [(b"amp", b'&'), (b"lt", b'<'), (b"gt", b'>'), (b"quot", b'"'), (b"sol", b'/')];
            let byte = match name {
                [b'#', b'x', digits @ ..] => number(Some(digits), 16),
                [b'#', digits @ ..] => number(Some(digits), 10),
                name => named.iter().find(|row| row.0 == name).map(|row| row.1),
            };
            byte.map(|byte| (byte, end + 1))
        };
        let found = match (kind, first) {
            ("percent" | "form", b'%') => number(behind.get(..2), 16).map(|byte| (byte, 2)),
            ("form", b'+') => Some((b' ', 0)),
            ("json", b'\\') if behind.first() == Some(&b'u') => {
                number(behind.get(1..5), 16).map(|byte| (byte, 5))
            }
            ("json", b'\\') if matches!(behind.first(), Some(b'"' | b'/')) => Some((behind[0], 1)),
            ("html", b'&') => entity(),
            _ => None,
        };
        let (byte, taken) = found.unwrap_or((*first, 0));
        out.push(byte);
        rest = &behind[taken..];
    }
    out
}

/// How a secret can be read in a text, if it can.
fn leaks(text: &[u8], value: &str) -> Option<String> {
    for kind in ["as it is", "percent", "form", "json", "html"] {
        let small = read(text, kind).to_ascii_lowercase();
        for spelling in SPELLINGS {
            let form = spelling.of(value.as_bytes()).to_ascii_lowercase();
            if memchr::memmem::find(&small, &form).is_some() {
                return Some(format!("{kind}, {spelling:?}: {}", String::from_utf8_lossy(text)));
            }
        }
    }
    None
}

/// Whether what waits may be the beginning of a secret in one of the readings.
fn may_begin(waits: &[u8], value: &str) -> bool {
    let forms: Vec<Vec<u8>> =
        SPELLINGS.iter().map(|spelling| spelling.of(value.as_bytes()).to_ascii_lowercase()).collect();
    let is_beginning = |read: &[u8], is_whole: bool| {
        let small = read.to_ascii_lowercase();
        (!small.is_empty() || !is_whole)
            && forms.iter().any(|form| form.starts_with(&small) && form.len() > small.len())
    };
    let by_escape = |escape: &Escape| {
        let (mut decoder, mut read) = (Decoder::new(*escape), Vec::new());
        decoder.feed(waits, 0, &mut |byte, _, _| read.push(byte));
        is_beginning(&read, decoder.has_nothing_begun())
    };
    is_beginning(waits, true) || [PERCENT, JSON, HTML, FORM].iter().any(by_escape)
}

/// Lets a body through in pieces of these lengths. Between them, nothing waits that need not.
fn scrubbed(secrets: &Secrets, value: &str, body: &[u8], cuts: &[usize]) -> Result<Vec<u8>, TestCaseError> {
    let mut filter = Scrubbed::new(Arc::clone(&held(secrets).scrubber));
    let (mut out, mut fed) = (Vec::new(), 0);
    for cut in cuts.iter().cycle() {
        if fed == body.len() {
            break;
        }
        let end = fed.saturating_add(*cut).min(body.len());
        filter.push(&body[fed..end], &mut out).unwrap();
        fed = end;
        let waits = &body[out.len()..fed];
        prop_assert!(
            waits.is_empty() || may_begin(waits, value),
            "{:?} waits of {:?}",
            String::from_utf8_lossy(waits),
            String::from_utf8_lossy(&body[..fed])
        );
    }
    filter.end(&mut out).unwrap();
    Ok(out)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// However a body is cut into pieces, the same comes out of it, as long as it was, and without the secret.
    #[test]
    fn pieces_make_no_difference(
        value in values(),
        pieces in proptest::collection::vec(pieces(), 0..8),
        cuts in proptest::collection::vec(1_usize..40, 1..20),
    ) {
        let secrets = with(&[("T", &value, "api.test")]);
        let body = body(&value, &pieces);
        let whole = scrubbed(&secrets, &value, &body, &[usize::MAX])?;
        prop_assert_eq!(whole.len(), body.len());
        prop_assert_eq!(leaks(&whole, &value), None);
        prop_assert_eq!(&scrubbed(&secrets, &value, &body, &cuts)?, &whole);
        prop_assert_eq!(&scrubbed(&secrets, &value, &body, &[1])?, &whole);
    }

    /// Whatever an answer is compressed by, it is read, or refused; cut short or changed, it is no way around.
    #[test]
    fn no_compression_hides_a_secret(
        value in values(),
        pieces in proptest::collection::vec(pieces(), 0..8),
        (coding, piece) in (0..4_usize, 1_usize..60),
        (hurt, by) in (any::<prop::sample::Index>(), 0..3_u8),
    ) {
        let secrets = with(&[("T", &value, "api.test")]);
        let body = body(&value, &pieces);
        let mut packed = match coding {
            0 => {
                let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                packer.write_all(&body).unwrap();
                packer.finish().unwrap()
            }
            1 => {
                let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
                packer.write_all(&body).unwrap();
                packer.finish().unwrap()
            }
            _ => body.clone(),
        };
        match by {
            0 => {}
            1 => packed.truncate(hurt.index(packed.len() + 1)),
            _ => {
                let at = hurt.index(packed.len().max(1));
                packed.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 0x55);
            }
        }
        let name = ["gzip", "deflate", "br", "identity"][coding];
        let answer = answered(&secrets, "api.test:443", &[("content-encoding", name)], &packed, piece);
        match answer {
            Err(refused) => prop_assert_eq!(refused.rule, "secret-unreadable"),
            Ok((_, out)) => {
                prop_assert!(coding != 2 || packed.is_empty(), "nobody here reads that");
                prop_assert_eq!(leaks(&out, &value), None);
                prop_assert!(by > 0 || out.len() == body.len());
            }
        }
    }
}
