//! PDF: compressed streams, in which texts are shown piece by piece.

use flate2::bufread::ZlibDecoder;
use memchr::memmem;

use super::Opening;
use crate::gap::Unopened;

const BEGIN: &[u8] = b"stream";
const END: &[u8] = b"endstream";

/// Features of a document that show more than its letters.
const DRAWN: &[&[u8]] = &[b"/Image", b"/FontFile", b"/Identity-H", b"/Identity-V", b"/ToUnicode"];

/// Maximum distance of a stream's dictionary before it.
const MAX_DESCRIPTION: usize = 4096;

/// A gap within a line of at least this width is a blank, in thousandths of the font size.
const BLANK: i32 = -150;

pub(super) fn open(bytes: &[u8], opening: &mut Opening<'_>) {
    if is_encrypted(bytes) {
        opening.miss(Unopened::Encrypted);
    }
    look_for_drawings(bytes, opening);
    let mut until = 0;
    for (number, at) in memmem::find_iter(bytes, BEGIN).enumerate() {
        // Skip letters within the part that was read already, and those of `endstream`.
        let is_end = at >= 3 && bytes.get(at - 3..at) == Some(b"end");
        let Some(rest) = bytes.get(at + BEGIN.len()..).filter(|_| at >= until && !is_end) else { continue };
        let Some(rest) = rest.strip_prefix(b"\r\n").or_else(|| rest.strip_prefix(b"\n")) else { continue };
        let length = memmem::find(rest, END).unwrap_or(rest.len());
        until = bytes.len() - rest.len() + length;
        let description = description(bytes.get(..at).unwrap_or_default());
        if !has(description, b"/Image") {
            show(number, description, rest.get(..length).unwrap_or(rest), opening);
        }
    }
}

/// Reports that a reader of the document may see content that is not in its texts.
fn look_for_drawings(bytes: &[u8], opening: &mut Opening<'_>) {
    if DRAWN.iter().any(|word| has(bytes, word)) {
        opening.miss(Unopened::Drawn);
    }
}

/// Whether the trailer names an encryption dictionary, directly or by reference.
fn is_encrypted(bytes: &[u8]) -> bool {
    memmem::find_iter(bytes, b"/Encrypt").any(|at| {
        let rest = bytes.get(at + b"/Encrypt".len()..).unwrap_or_default().trim_ascii_start();
        rest.first().is_some_and(u8::is_ascii_digit) || rest.starts_with(b"<<")
    })
}

/// Returns the dictionary before a stream.
fn description(before: &[u8]) -> &[u8] {
    let near = before.get(before.len().saturating_sub(MAX_DESCRIPTION)..).unwrap_or_default();
    memmem::rfind(near, b"obj").and_then(|at| near.get(at..)).unwrap_or(near)
}

fn has(text: &[u8], word: &[u8]) -> bool {
    memmem::find(text, word).is_some()
}

fn show(number: usize, description: &[u8], bytes: &[u8], opening: &mut Opening<'_>) {
    let name = format!("stream {number}");
    let decoded = has(description, b"/ASCII85Decode").then(|| ascii_85(bytes));
    let bytes = decoded.as_deref().unwrap_or(bytes);
    let unknown = [b"/LZWDecode".as_slice(), b"/Crypt", b"/RunLengthDecode", b"/ASCIIHexDecode"];
    if unknown.iter().any(|filter| has(description, filter)) {
        opening.miss(Unopened::UnknownMethod);
        return;
    }
    if !opening.takes_one() {
        return;
    }
    let packed = has(description, b"/FlateDecode");
    let inflated = packed.then(|| opening.budget.read(ZlibDecoder::new(bytes)));
    // An uncompressed stream was scanned with the file itself; only texts assembled from its pieces are new.
    if let Some((inflated, why)) = &inflated {
        look_for_drawings(inflated, opening);
        opening.hand_on(name.as_bytes(), inflated, *why);
    }
    let content = inflated.as_ref().map_or(bytes, |(inflated, _)| inflated);
    let text = text_of(content);
    if !text.is_empty() {
        opening.stored(format!("{name} text").as_bytes(), &text);
    }
}

/// Decodes ASCII85, up to the first invalid character.
pub(super) fn ascii_85(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() / 5 * 4);
    let (mut group, mut count) = (0_u32, 0);
    for letter in text.iter().take_while(|letter| **letter != b'~') {
        match letter {
            b'z' if count == 0 => bytes.extend([0; 4]),
            b'!'..=b'u' => {
                group = group.wrapping_mul(85).wrapping_add(u32::from(letter - b'!'));
                count += 1;
            }
            _ => {}
        }
        if count == 5 {
            bytes.extend(group.to_be_bytes());
            (group, count) = (0, 0);
        }
    }
    if count > 1 {
        let filled = (count..5).fold(group, |group, _| group.wrapping_mul(85).wrapping_add(84));
        bytes.extend(filled.to_be_bytes().into_iter().take(count - 1));
    }
    bytes
}

/// Assembles the shown text: pieces of one line become one line.
fn text_of(content: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    let mut rest = content;
    while let Some((first, after)) = rest.split_first() {
        rest = match first {
            b'(' => literal(after, &mut text),
            b'<' if after.first() != Some(&b'<') => hexadecimal(after, &mut text),
            b'T' if matches!(after.first(), Some(b'd' | b'D' | b'*' | b'm')) => line_end(after, &mut text),
            b'E' if after.starts_with(b"T") => line_end(after, &mut text),
            b'-' => kerning(rest, &mut text),
            _ => after,
        };
    }
    text
}

fn line_end<'b>(after: &'b [u8], text: &mut Vec<u8>) -> &'b [u8] {
    if text.last().is_some_and(|last| *last != b'\n') {
        text.push(b'\n');
    }
    after.get(1..).unwrap_or_default()
}

/// A number between pieces moves the next one; a large move is a blank.
fn kerning<'b>(rest: &'b [u8], text: &mut Vec<u8>) -> &'b [u8] {
    let digits = rest.iter().skip(1).take_while(|byte| byte.is_ascii_digit()).count();
    let (number, after) = rest.split_at(digits + 1);
    let number: Option<i32> = std::str::from_utf8(number).ok().and_then(|number| number.parse().ok());
    let is_blank = number.is_some_and(|number| number <= BLANK);
    if is_blank && text.last().is_some_and(|last| !last.is_ascii_whitespace()) {
        text.push(b' ');
    }
    after
}

/// Reads a literal string up to its closing bracket and returns the rest.
fn literal<'b>(mut rest: &'b [u8], text: &mut Vec<u8>) -> &'b [u8] {
    let mut depth = 0_usize;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'\\' => rest = escaped(after, text),
            b')' if depth == 0 => return rest,
            b'(' | b')' => {
                depth = if *first == b'(' { depth + 1 } else { depth - 1 };
                text.push(*first);
            }
            other => text.push(*other),
        }
    }
    rest
}

fn escaped<'b>(after: &'b [u8], text: &mut Vec<u8>) -> &'b [u8] {
    let digits = after.iter().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
    let (octal, behind) = after.split_at(digits);
    if digits > 0 {
        let letter = octal.iter().fold(0_u32, |sum, digit| sum * 8 + u32::from(digit - b'0'));
        text.push(u8::try_from(letter & 0xff).unwrap_or_default());
        return behind;
    }
    let Some((letter, behind)) = after.split_first() else { return after };
    match letter {
        b'n' | b'r' => text.push(b'\n'),
        b't' => text.push(b'\t'),
        b'\n' | b'\r' | b'b' | b'f' => {}
        other => text.push(*other),
    }
    behind
}

/// Reads a hexadecimal string with one or two bytes per letter.
fn hexadecimal<'b>(rest: &'b [u8], text: &mut Vec<u8>) -> &'b [u8] {
    let end = memchr::memchr(b'>', rest).unwrap_or(rest.len());
    let (inside, after) = rest.split_at(end);
    let digits = inside.iter().filter_map(|byte| char::from(*byte).to_digit(16));
    let digits: Vec<u32> = digits.collect();
    let bytes = digits.chunks(2).map(|pair| match pair {
        [high, low] => high * 16 + low,
        [high] => high * 16,
        _ => 0,
    });
    text.extend(bytes.filter_map(|byte| u8::try_from(byte).ok()).filter(|byte| *byte != 0));
    after.get(1..).unwrap_or_default()
}
