//! What is true of every answer, however it is cut, spelled and compressed.

use std::io::Write as _;

use proptest::prelude::*;

use super::super::needles::{CERTAIN, SPELLINGS};
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

/// A piece of an answer: something written in one of those ways or in one of those that are looked for, a part of it, or
/// anything.
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

/// An independent decoder for escapes of this kind, written by hand to compare with the scrubber.
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

/// Whether the end of a text begins a secret in one of the readings, by more bytes than happen to.
fn begins_one(text: &[u8], gone: usize, value: &str) -> bool {
    let forms: Vec<Vec<u8>> =
        SPELLINGS.iter().map(|spelling| spelling.of(value.as_bytes()).to_ascii_lowercase()).collect();
    let enough = CERTAIN.min(value.len() / 4);
    let is_beginning = |read: &[u8]| {
        let small = read.to_ascii_lowercase();
        small.len() >= enough && forms.iter().any(|form| form.starts_with(&small) && form.len() > small.len())
    };
    let by_escape = |escape: &Escape, end: &[u8]| {
        let (mut decoder, mut read) = (Decoder::new(*escape), Vec::new());
        decoder.feed(end, 0, &mut |byte, _, _| read.push(byte));
        is_beginning(&read)
    };
    // What went before it was known what it begins is as long as that many escapes.
    let before = 12 * (CERTAIN + placeholder::known_beginning(value.as_bytes()));
    (gone.saturating_sub(before)..text.len()).any(|from| {
        let end = &text[from..];
        is_beginning(end) || [PERCENT, JSON, HTML, FORM].iter().any(|escape| by_escape(escape, end))
    })
}

/// Lets a body through in pieces of these lengths. Between them, nothing waits that need not.
fn scrubbed(secrets: &Secrets, value: &str, body: &[u8], cuts: &[usize]) -> Result<Vec<u8>, TestCaseError> {
    let mut filter = Scrubbed::new(Arc::clone(&active(secrets).scrubber));
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
            waits.is_empty() || begins_one(&body[..fed], out.len(), value),
            "{:?} waits of {:?}",
            String::from_utf8_lossy(waits),
            String::from_utf8_lossy(&body[..fed])
        );
    }
    filter.end(&mut out).unwrap();
    Ok(out)
}

/// The longest run of bytes of a secret that can be read in a text, behind what all secrets of its kind begin with.
fn longest_run(text: &[u8], value: &str) -> usize {
    let mut longest = 0;
    for kind in ["as it is", "percent", "json", "html"] {
        let small = read(text, kind).to_ascii_lowercase();
        for spelling in SPELLINGS {
            let form = spelling.of(value.as_bytes()).to_ascii_lowercase();
            let is_in =
                |length: &usize| form.windows(*length).any(|run| memchr::memmem::find(&small, run).is_some());
            longest = (longest + 1..=form.len()).take_while(is_in).last().unwrap_or(longest);
        }
    }
    longest
}

/// A secret of which nothing is public.
const RANDOM: &str = "q7Zk2Vb9Lm4Wt8Rj3Hd6Ys1Pf5Gc0Nw";

/// Parts of an answer that meet within a secret say as little of it as can be there by chance.
#[test]
fn no_two_parts_hold_what_one_may_not() {
    let secrets = with(&[("T", RANDOM, "api.test")]);
    let spelled = SPELLINGS.iter().map(|spelling| spelling.of(RANDOM.as_bytes()));
    for written in WRITTEN.iter().map(|write| write(RANDOM)).chain(spelled) {
        let body = [&[b'-'; 70][..], &written, &[b'-'; 70]].concat();
        for cut in 66..body.len() - 66 {
            let mut joined = Vec::new();
            for (first, part) in [(0, &body[..cut]), (cut, &body[cut..])] {
                let range = format!("bytes {first}-{}/{}", first + part.len() - 1, body.len());
                let answer = part_of(&secrets, &[("content-range", &range)], part, 9);
                joined.extend(answer.unwrap());
            }
            assert_eq!(joined.len(), body.len());
            let shown = String::from_utf8_lossy(&joined).into_owned();
            assert!(longest_run(&joined, RANDOM) < 2 * CERTAIN - 1, "cut at {cut}: {shown}");
        }
    }
}

/// What each side waits for goes on: whatever a message ends with, and however much of a secret its end looks like by chance.
#[test]
fn no_message_waits_for_the_next_one() {
    for value in [REAL, OTHER, RANDOM, "hunter22hunter22", "correct horse battery"] {
        let secrets = with(&[("T", value, "api.test")]);
        let ends_by_byte = (0..=255_u8).map(|byte| vec![byte]);
        let public = placeholder::known_beginning(value.as_bytes());
        let ends_by_prefix = SPELLINGS.iter().flat_map(|spelling| {
            let form = spelling.of(value.as_bytes());
            let least = form.len().min(public + CERTAIN);
            (1..least).map(move |length| form[..length].to_vec()).collect::<Vec<_>>()
        });
        let ends_by_escape = ["%", "%4", "\\", "\\u", "\\u00", "&", "&#x4", "&am"];
        let ends_by_escape = ends_by_escape.iter().map(|end| end.as_bytes().to_vec());
        let mut filter = Scrubbed::new(Arc::clone(&active(&secrets).scrubber));
        for end in ends_by_byte.chain(ends_by_prefix).chain(ends_by_escape) {
            let message = [b"{ message: ", end.as_slice()].concat();
            let mut out = Vec::new();
            filter.push(&message, &mut out).unwrap();
            assert_eq!(out, message, "{}", String::from_utf8_lossy(&message));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// However a body is cut into pieces, what comes out of it is as long as it was, and without the secret.
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
        for cuts in [&cuts, &vec![1]] {
            let cut = scrubbed(&secrets, &value, &body, cuts)?;
            prop_assert_eq!(leaks(&cut, &value), None);
            prop_assert_eq!(cut.len(), whole.len());
            // The first bytes of what is covered may have gone before it was known what they begin.
            let differs = |at: &usize| cut[*at] != whole[*at];
            prop_assert!((0..cut.len()).filter(differs).all(|at| cut[at] == body[at]));
        }
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
                prop_assert!(coding != 2 || packed.is_empty(), "no decoder for this coding");
                prop_assert_eq!(leaks(&out, &value), None);
                prop_assert!(by > 0 || out.len() == body.len());
            }
        }
    }
}
