//! What is true of every answer, however it is cut, spelled and compressed.

use std::collections::{HashMap, HashSet};
use std::io::Write as _;

use proptest::prelude::*;

use super::super::numbers::NUMBERS;
use super::super::readings::{Escape, FORM, HTML, JSON, PERCENT, QUOTED, WRAP};
use super::super::spelling::SPELLINGS;
use super::super::weak::is_weak;
use super::super::windows::CERTAIN;
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
    |value| value.bytes().flat_map(|byte| format!("&#{byte}").into_bytes()).collect(),
    |value| value.bytes().flat_map(|byte| format!("%25{byte:02X}").into_bytes()).collect(),
    |value| value.bytes().flat_map(|byte| format!("={byte:02X}").into_bytes()).collect(),
    |value| value.bytes().flat_map(|byte| format!("\\x{byte:02x}").into_bytes()).collect(),
    |value| value.bytes().flat_map(|byte| format!("\\{byte:03o}").into_bytes()).collect(),
    |value| wrapped(value.as_bytes(), 5, "\n"),
    |value| wrapped(value.as_bytes(), 7, "\r\n    "),
    |value| wrapped(value.as_bytes(), 6, "=\r\n"),
    |value| wrapped(&Spelling::Base64 { behind: 0, for_urls: false }.of(value.as_bytes()), 9, "\n"),
    |value| listed(value, |byte| format!("{byte}, ")),
    |value| listed(value, |byte| format!("{byte:02x}:")),
    |value| listed(value, |byte| format!("0x{byte:02X},")),
    |value| listed(value, |byte| format!("{byte:03o} ")),
    |value| wrapped(stockade_text::to_hex(value.as_bytes()).as_bytes(), 4, " "),
];

/// The first of the ways that write a list of numbers.
const LISTS: usize = WRITTEN.len() - 5;

fn wrapped(text: &[u8], width: usize, with: &str) -> Vec<u8> {
    text.chunks(width).collect::<Vec<_>>().join(with.as_bytes())
}

fn listed(value: &str, write: fn(u8) -> String) -> Vec<u8> {
    let all: String = value.bytes().map(write).collect();
    format!("[{all}]").into_bytes()
}

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
            let is_digit = |byte: &&u8| byte.is_ascii_digit();
            let bare = 1 + behind.iter().skip(1).take(3).take_while(is_digit).count();
            let end = behind.iter().take(10).position(|byte| *byte == b';').unwrap_or(bare);
            let name = behind.get(..end)?;
            let named: [(&[u8], u8); 5] =
                [(b"amp", b'&'), (b"lt", b'<'), (b"gt", b'>'), (b"quot", b'"'), (b"sol", b'/')];
            let byte = match name {
                [b'#', b'x', digits @ ..] => number(Some(digits), 16),
                [b'#', digits @ ..] => number(Some(digits), 10),
                name => named.iter().find(|row| row.0 == name).map(|row| row.1),
            };
            byte.map(|byte| (byte, end + usize::from(behind.get(end) == Some(&b';'))))
        };
        let found = match (kind, first) {
            ("percent" | "form", b'%') => number(behind.get(..2), 16).map(|byte| (byte, 2)),
            ("form", b'+') => Some((b' ', 0)),
            ("json", b'\\') if behind.first() == Some(&b'u') => {
                number(behind.get(1..5), 16).map(|byte| (byte, 5))
            }
            ("json", b'\\') if matches!(behind.first(), Some(b'"' | b'/')) => Some((behind[0], 1)),
            ("html", b'&') => entity(),
            ("twice", b'%') if behind.starts_with(b"25") => {
                number(behind.get(2..4), 16).map(|byte| (byte, 4))
            }
            ("quoted", b'=') => number(behind.get(..2), 16).map(|byte| (byte, 2)),
            ("c", b'\\') if behind.first() == Some(&b'x') => {
                number(behind.get(1..3), 16).map(|byte| (byte, 3))
            }
            ("c", b'\\') => number(behind.get(..3), 8).map(|byte| (byte, 3)),
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

/// Whether the end of a text may be a part of a secret in one of the readings, by more bytes than happen to.
fn begins_one(text: &[u8], gone: usize, value: &str) -> bool {
    let forms: Vec<Vec<u8>> =
        SPELLINGS.iter().map(|spelling| spelling.of(value.as_bytes()).to_ascii_lowercase()).collect();
    let forms = forms.join(b"\xff".as_slice());
    let enough = CERTAIN.min(value.len() / 4);
    let is_part = |read: &[u8]| {
        let small = read.to_ascii_lowercase();
        small.len() >= enough && memchr::memmem::find(&forms, &small).is_some()
    };
    let by_escape = |escape: &Escape, end: &[u8]| is_part(escape.decode_all(end, 0).bytes());
    let by_numbers = |end: &[u8]| NUMBERS.iter().any(|numbers| is_part(numbers.decode_begun(end, 0).bytes()));
    // What went before it was known what it begins is as long as that many escapes.
    let before = 12 * (CERTAIN + placeholder::public_part(value.as_bytes()));
    (gone.saturating_sub(before)..text.len()).any(|from| {
        let end = &text[from..];
        let escapes = [PERCENT, JSON, HTML, FORM, QUOTED, WRAP];
        is_part(end) || by_numbers(end) || escapes.iter().any(|escape| by_escape(escape, end))
    })
}

/// Lets a body through in pieces of these lengths. Between them, nothing waits that need not.
fn scrubbed(secrets: &Secrets, value: &str, body: &[u8], cuts: &[usize]) -> Result<Vec<u8>, TestCaseError> {
    let mut filter = ScrubbedStream::new(Arc::clone(&active(secrets).scrubber));
    let (mut out, mut fed, mut known) = (Vec::new(), 0, 0);
    for cut in cuts.iter().cycle() {
        if fed == body.len() {
            break;
        }
        let end = fed.saturating_add(*cut).min(body.len());
        filter.push(&body[fed..end], &mut out);
        fed = end;
        let waits = &body[out.len()..fed];
        // What waited before still does.
        let is_known = std::mem::replace(&mut known, out.len()) == out.len() && fed > *cut;
        prop_assert!(
            waits.is_empty() || is_known || begins_one(&body[..fed], out.len(), value),
            "{:?} waits of {:?}",
            String::from_utf8_lossy(waits),
            String::from_utf8_lossy(&body[..fed])
        );
    }
    filter.finish(&mut out);
    Ok(out)
}

/// What can be read in a text by a reader who knows all of the encodings.
fn readings_of(text: &[u8]) -> Vec<Vec<u8>> {
    let kinds = ["as it is", "percent", "json", "html", "twice", "quoted", "c"];
    let mut all: Vec<Vec<u8>> = kinds.iter().map(|kind| read(text, kind)).collect();
    let is_blank = |byte: &u8| byte.is_ascii_whitespace();
    all.push(text.iter().copied().filter(|byte| !is_blank(byte)).collect());
    all.push(text.iter().copied().filter(|byte| !is_blank(byte) && *byte != b'=').collect());
    let numbers = |radix: u32, digits: usize| {
        let words = text.split(|byte| !byte.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let number = |word: &[u8]| {
            let word = std::str::from_utf8(word).unwrap_or_default().trim_start_matches("0x");
            let parts: Vec<_> = word.as_bytes().chunks(digits).map(<[u8]>::to_vec).collect();
            parts.into_iter().map(move |part| {
                u8::from_str_radix(std::str::from_utf8(&part).unwrap_or_default(), radix).unwrap_or_default()
            })
        };
        words.flat_map(number).collect::<Vec<u8>>()
    };
    all.extend([numbers(10, 3), numbers(16, 2), numbers(8, 3)]);
    all.iter_mut().for_each(|read| read.make_ascii_lowercase());
    all
}

/// The parts of a secret that identify it: so many bytes of it in a row, without its public prefix, in each encoding.
struct Identifying(HashMap<usize, HashSet<Vec<u8>>>);

impl Identifying {
    fn of(value: &str, bytes: usize) -> Self {
        let (value, mut parts) = (value.as_bytes(), HashMap::<_, HashSet<_>>::new());
        for spelling in SPELLINGS {
            let form = spelling.of(value).to_ascii_lowercase();
            for (at, part) in form.windows(spelling.length_of(bytes)).enumerate() {
                let (from, to) = spelling.source_of(at, at + part.len());
                if from >= placeholder::public_part(value) && !is_weak(&value[from..to]) {
                    parts.entry(part.len()).or_default().insert(part.to_vec());
                }
            }
        }
        Self(parts)
    }

    /// One that can be read in a text.
    fn first_in(&self, text: &[u8]) -> Option<String> {
        let of_length = |read: &[u8], length, parts: &HashSet<Vec<u8>>| {
            read.windows(length).find(|part| parts.contains(*part)).map(<[u8]>::to_vec)
        };
        let found = readings_of(text)
            .iter()
            .find_map(|read| self.0.iter().find_map(|(length, parts)| of_length(read, *length, parts)));
        found.map(|part| String::from_utf8_lossy(&part).into_owned())
    }
}

/// A secret of which nothing is public.
const RANDOM: &str = "q7Zk2Vb9Lm4Wt8Rj3Hd6Ys1Pf5Gc0Nw";

/// Parts of an answer that meet within a secret say as little of it as can be there by chance.
#[test]
fn no_two_parts_hold_what_one_may_not() {
    let secrets = with(&[("T", RANDOM, "api.test")]);
    let spelled = SPELLINGS.iter().map(|spelling| spelling.of(RANDOM.as_bytes()));
    let parts = Identifying::of(RANDOM, 2 * CERTAIN - 1);
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
            assert_eq!(parts.first_in(&joined), None, "cut at {cut}: {shown}");
        }
    }
}

/// What each side waits for goes on: whatever a message ends with, and however much of a secret its end looks like by chance.
#[test]
fn no_message_waits_for_the_next_one() {
    for value in [REAL, OTHER, RANDOM, "hunter22hunter22", "correct horse battery"] {
        let secrets = with(&[("T", value, "api.test")]);
        let ends_by_byte = (0..=255_u8).map(|byte| vec![byte]);
        let public = placeholder::public_part(value.as_bytes());
        let ends_by_prefix = SPELLINGS.iter().flat_map(|spelling| {
            let form = spelling.of(value.as_bytes());
            let least = form.len().min(public + CERTAIN);
            (1..least).map(move |length| form[..length].to_vec()).collect::<Vec<_>>()
        });
        let ends_by_escape = ["%", "%4", "\\", "\\u", "\\u00", "&", "&#x4", "&am"];
        let ends_by_escape = ends_by_escape.iter().map(|end| end.as_bytes().to_vec());
        let mut filter = ScrubbedStream::new(Arc::clone(&active(&secrets).scrubber));
        for end in ends_by_byte.chain(ends_by_prefix).chain(ends_by_escape) {
            let message = [b"{ message: ", end.as_slice()].concat();
            let mut out = Vec::new();
            filter.push(&message, &mut out);
            assert_eq!(out, message, "{}", String::from_utf8_lossy(&message));
        }
    }
}

/// Secrets that are random, of all alphabets of tokens.
fn random() -> impl Strategy<Value = String> {
    prop_oneof!["[A-Za-z0-9]{24,40}", "ghp_[A-Za-z0-9]{36}", "[A-Za-z0-9+/]{39}=", "[!-~]{24,40}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// No eight bytes of a secret come through: not of a half of it, in any encoding, however the response is cut.
    #[test]
    fn no_window_of_a_secret_comes_through(
        value in random(),
        way in 0..WRITTEN.len() + SPELLINGS.len(),
        (from, length) in (0_usize..16, 8_usize..41),
        (before, after) in ("[g-z{\": \n]{0,20}", "[g-z}\", \n]{0,20}"),
        cuts in proptest::collection::vec(1_usize..40, 1..20),
    ) {
        let secrets = with(&[("T", &value, "api.test")]);
        let part: String = value.chars().skip(from).take(length).collect();
        let written = match way.checked_sub(WRITTEN.len()) {
            None => WRITTEN[way](&part),
            Some(spelling) => SPELLINGS[spelling].of(part.as_bytes()),
        };
        let body = [before.as_bytes(), &written, after.as_bytes()].concat();
        let parts = Identifying::of(&value, 8);
        for cuts in [&cuts, &vec![1], &vec![usize::MAX]] {
            let out = scrubbed(&secrets, &value, &body, cuts)?;
            prop_assert_eq!(parts.first_in(&out), None, "{}", String::from_utf8_lossy(&out));
        }
    }

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
        let found = active(&secrets).scrubber.values().find(&body);
        for cuts in [&cuts, &vec![1]] {
            let cut = scrubbed(&secrets, &value, &body, cuts)?;
            prop_assert_eq!(leaks(&cut, &value), None);
            prop_assert_eq!(cut.len(), whole.len());
            // The first bytes of what is covered may have gone before it was known what they begin; nothing else is covered.
            let is_covered =
                |at: usize| whole[at] != body[at] || found.iter().any(|one| (one.from..one.to).contains(&at));
            // What follows a list can make its last number another one.
            let has_list = pieces.iter().any(|piece| (LISTS..WRITTEN.len()).contains(&piece.0));
            prop_assert!(has_list || (0..cut.len()).all(|at| cut[at] == body[at] || is_covered(at)));
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
