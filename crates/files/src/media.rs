//! Images, fonts and sounds, recognised by their complete structure instead of their first bytes, so that nothing can
//! hide between or behind their parts.
//!
//! The samples themselves are not examined. A file that only begins like an image, continues behind its end, or has a
//! part that no viewer knows, is not recognised.

/// Returns the format of a file if all of it, to the last byte, is an image, a font or a sound.
///
/// ```
/// use stockade_files::media;
///
/// let dot = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";
/// assert_eq!(media(dot), Some("GIF"));
/// assert_eq!(media(&[dot, b"more".as_slice()].concat()), None);
/// ```
#[must_use]
pub fn media(bytes: &[u8]) -> Option<&'static str> {
    let (name, _) = FORMATS.iter().find(|(_, is_whole)| is_whole(bytes).is_some())?;
    Some(name)
}

/// Each format, and the parser that must reach the end of the file.
type Walk = fn(&[u8]) -> Option<()>;

const FORMATS: &[(&str, Walk)] = &[
    ("PNG", png),
    ("JPEG", jpeg),
    ("GIF", gif),
    ("WebP", |bytes| riff(bytes, b"WEBP", WEBP_CHUNKS)),
    ("WAV", |bytes| riff(bytes, b"WAVE", WAV_CHUNKS)),
    ("ICO", ico),
    ("TrueType", |bytes| sfnt(bytes, b"\0\x01\0\0")),
    ("OpenType", |bytes| sfnt(bytes, b"OTTO")),
    ("WOFF", |bytes| woff(bytes, b"wOFF", 36)),
    ("WOFF2", |bytes| woff(bytes, b"wOF2", 40)),
];

/// The PNG chunks of an image, and uncompressed texts.
const PNG_CHUNKS: &[&[u8; 4]] = &[
    b"IHDR", b"PLTE", b"IDAT", b"tRNS", b"cHRM", b"gAMA", b"iCCP", b"sBIT", b"sRGB", b"tEXt", b"bKGD",
    b"hIST", b"pHYs", b"sPLT", b"tIME", b"eXIf", b"acTL", b"fcTL", b"fdAT",
];
const WEBP_CHUNKS: &[&[u8; 4]] =
    &[b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ANIM", b"ANMF", b"ICCP", b"EXIF", b"XMP "];
const WAV_CHUNKS: &[&[u8; 4]] = &[b"fmt ", b"data", b"fact", b"LIST", b"cue ", b"smpl", b"bext"];

/// The unread rest of a file.
struct Rest<'b>(&'b [u8]);

impl<'b> Rest<'b> {
    fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn four(&mut self) -> Option<[u8; 4]> {
        self.take(4)?.try_into().ok()
    }

    fn is(&mut self, expected: &[u8]) -> Option<()> {
        (self.take(expected.len())? == expected).then_some(())
    }

    fn end(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

fn size(four: [u8; 4], read: fn([u8; 4]) -> u32) -> Option<usize> {
    usize::try_from(read(four)).ok()
}

fn png(bytes: &[u8]) -> Option<()> {
    let mut rest = Rest(bytes);
    rest.is(b"\x89PNG\r\n\x1a\n")?;
    loop {
        let length = size(rest.four()?, u32::from_be_bytes)?;
        let kind = rest.four()?;
        let data = rest.take(length)?;
        rest.take(4)?;
        match &kind {
            b"IEND" if length == 0 => return rest.end(),
            // A keyword, a NUL, and the compression flag.
            b"iTXt"
                if data.iter().position(|byte| *byte == 0).and_then(|at| data.get(at + 1)) == Some(&0) => {}
            kind if PNG_CHUNKS.contains(&kind) => {}
            _ => return None,
        }
    }
}

fn jpeg(bytes: &[u8]) -> Option<()> {
    let mut rest = Rest(bytes);
    rest.is(b"\xff\xd8")?;
    loop {
        rest.is(b"\xff")?;
        match marker(&mut rest)? {
            0xd9 => return rest.end(),
            marker @ (0xc0..=0xcf | 0xda..=0xfe) => {
                let length: [u8; 2] = rest.take(2)?.try_into().ok()?;
                rest.take(usize::from(u16::from_be_bytes(length)).checked_sub(2)?)?;
                if marker == 0xda {
                    rest.take(samples(rest.0)?)?;
                }
            }
            _ => return None,
        }
    }
}

/// Returns the next marker, skipping any number of fill bytes before it.
fn marker(rest: &mut Rest<'_>) -> Option<u8> {
    loop {
        match rest.byte()? {
            0xff => {}
            marker => return Some(marker),
        }
    }
}

/// Returns the length of a JPEG's entropy-coded data, up to the next marker that is not part of it.
fn samples(bytes: &[u8]) -> Option<usize> {
    memchr::memchr_iter(0xff, bytes)
        .find(|at| bytes.get(at + 1).is_some_and(|next| !matches!(next, 0 | 0xd0..=0xd7 | 0xff)))
}

fn gif(bytes: &[u8]) -> Option<()> {
    let mut rest = Rest(bytes);
    rest.is(b"GIF8")?;
    rest.byte().filter(|version| matches!(version, b'7' | b'9'))?;
    rest.is(b"a")?;
    let screen = rest.take(7)?;
    colours(&mut rest, *screen.get(4)?)?;
    loop {
        match rest.byte()? {
            b';' => return rest.end(),
            b'!' => {}
            b',' => {
                let picture = rest.take(9)?;
                colours(&mut rest, *picture.get(8)?)?;
            }
            _ => return None,
        }
        // The kind of block, or the bits per sample.
        rest.byte()?;
        while let length @ 1.. = rest.byte()? {
            rest.take(usize::from(length))?;
        }
    }
}

/// Skips the colour table announced by these flags.
fn colours(rest: &mut Rest<'_>, flags: u8) -> Option<()> {
    if flags & 0x80 != 0 {
        rest.take(3 << ((flags & 7) + 1))?;
    }
    Some(())
}

fn riff(bytes: &[u8], form: &[u8], known: &[&[u8; 4]]) -> Option<()> {
    let mut rest = Rest(bytes);
    rest.is(b"RIFF")?;
    let length = size(rest.four()?, u32::from_le_bytes)?;
    (length == rest.0.len()).then_some(())?;
    rest.is(form)?;
    while rest.end().is_none() {
        let kind = rest.four()?;
        let length = size(rest.four()?, u32::from_le_bytes)?;
        known.contains(&&kind).then_some(())?;
        rest.take(length.checked_add(length % 2)?)?;
    }
    Some(())
}

fn ico(bytes: &[u8]) -> Option<()> {
    let mut rest = Rest(bytes);
    rest.is(b"\0\0\x01\0")?;
    let count: [u8; 2] = rest.take(2)?.try_into().ok()?;
    let count = u16::from_le_bytes(count);
    let mut parts = Vec::new();
    for _ in 0..count {
        rest.take(8)?;
        let length = size(rest.four()?, u32::from_le_bytes)?;
        let at = size(rest.four()?, u32::from_le_bytes)?;
        parts.push((at, length));
    }
    let head = bytes.len() - rest.0.len();
    fill(parts, head, bytes, 0)
}

/// A font: tables at the listed offsets, with up to three zeros of padding each.
fn sfnt(bytes: &[u8], version: &[u8]) -> Option<()> {
    let mut rest = Rest(bytes);
    rest.is(version)?;
    let count: [u8; 2] = rest.take(2)?.try_into().ok()?;
    rest.take(6)?;
    let mut parts = Vec::new();
    for _ in 0..u16::from_be_bytes(count) {
        rest.take(8)?;
        let at = size(rest.four()?, u32::from_be_bytes)?;
        let length = size(rest.four()?, u32::from_be_bytes)?;
        parts.push((at, length));
    }
    let head = bytes.len() - rest.0.len();
    fill(parts, head, bytes, 3)
}

/// Whether the parts fill a file to its end, with at most `zeros` zeros between them.
fn fill(mut parts: Vec<(usize, usize)>, head: usize, bytes: &[u8], zeros: usize) -> Option<()> {
    parts.sort_unstable();
    (!parts.is_empty()).then_some(())?;
    let mut end = head;
    for (at, length) in parts {
        padding(bytes, end, at, zeros)?;
        end = at.checked_add(length)?;
    }
    padding(bytes, end, bytes.len(), zeros)
}

fn padding(bytes: &[u8], from: usize, to: usize, most: usize) -> Option<()> {
    let between = bytes.get(from..to)?;
    (between.len() <= most && between.iter().all(|byte| *byte == 0)).then_some(())
}

/// A compressed font, which states its length, and at `private` that it has no private data block.
fn woff(bytes: &[u8], begin: &[u8], private: usize) -> Option<()> {
    let mut rest = Rest(bytes);
    rest.is(begin)?;
    rest.take(4)?;
    (size(rest.four()?, u32::from_be_bytes)? == bytes.len()).then_some(())?;
    bytes.get(private..private + 8).filter(|part| part.iter().all(|byte| *byte == 0)).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(kind: &[u8], data: &[u8]) -> Vec<u8> {
        let length = u32::try_from(data.len()).unwrap().to_be_bytes();
        [&length, kind, data, b"crc!"].concat()
    }

    fn png_of(chunks: &[Vec<u8>]) -> Vec<u8> {
        [b"\x89PNG\r\n\x1a\n".to_vec(), chunks.concat(), chunk(b"IEND", b"")].concat()
    }

    fn font() -> Vec<u8> {
        let head =
            [b"\0\x01\0\0\0\x01\0\0\0\0\0\0".as_slice(), b"glyf", b"sum!", &[0, 0, 0, 28], &[0, 0, 0, 8]];
        [head.concat(), b"points\0\0".to_vec()].concat()
    }

    /// One file of each format.
    fn examples() -> Vec<(&'static str, Vec<u8>)> {
        let riff = |form: &[u8], kind: &[u8]| {
            let body = [form, kind, &[3, 0, 0, 0], b"abc\0"].concat();
            [b"RIFF".as_slice(), &u32::try_from(body.len()).unwrap().to_le_bytes(), &body].concat()
        };
        let woff = |begin: &[u8], head: usize| {
            let mut bytes = vec![0; head + 5];
            bytes[..4].copy_from_slice(begin);
            bytes[11] = u8::try_from(bytes.len()).unwrap();
            bytes
        };
        let scan = b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xda\0\x02\x01\xff\0\xff\xd0\x02\xff\xd9";
        let icon = [b"\0\0\x01\0\x01\0".as_slice(), &[0; 8], &[3, 0, 0, 0], &[22, 0, 0, 0], b"dot"].concat();
        vec![
            ("PNG", png_of(&[chunk(b"IHDR", &[0; 13]), chunk(b"IDAT", &[0xff; 40])])),
            ("JPEG", scan.to_vec()),
            (
                "GIF",
                b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;"
                    .to_vec(),
            ),
            ("WebP", riff(b"WEBP", b"VP8L")),
            ("WAV", riff(b"WAVE", b"data")),
            ("ICO", icon),
            ("TrueType", font()),
            ("WOFF", woff(b"wOFF", 44)),
            ("WOFF2", woff(b"wOF2", 48)),
        ]
    }

    #[test]
    fn whole_files_are_what_they_are() {
        for (name, bytes) in examples() {
            assert_eq!(media(&bytes), Some(name));
        }
    }

    #[test]
    fn what_goes_on_or_breaks_off_is_nothing() {
        for (name, bytes) in examples() {
            for behind in [b"x".as_slice(), b"PK\x03\x04", b"\n#!/bin/sh\n", b"\0\0\0\0"] {
                assert_eq!(media(&[&bytes, behind].concat()), None, "{name} and {behind:?}");
            }
            for length in 0..bytes.len() {
                assert_eq!(media(&bytes[..length]), None, "{name} up to {length}");
            }
        }
    }

    #[test]
    fn parts_that_no_viewer_knows_are_nothing() {
        let with = |kind: &[u8], data: &[u8]| media(&png_of(&[chunk(b"IHDR", &[0; 13]), chunk(kind, data)]));
        assert_eq!(with(b"tEXt", b"Title\0A cat"), Some("PNG"));
        assert_eq!(with(b"iTXt", b"Title\0\0\0\0\0A cat"), Some("PNG"));
        assert_eq!(with(b"iTXt", b"Title\0\x01\0\0\0packed"), None);
        assert_eq!(with(b"zTXt", b"Title\0\0packed"), None);
        assert_eq!(with(b"juNk", b"anything"), None);
        let mut private = examples().pop().unwrap().1;
        private[47] = 1;
        assert_eq!(media(&private), None);
        for text in [&b""[..], b"GIF89a is a format", b"RIFF", b"\xff\xd8\xff", b"# a text"] {
            assert_eq!(media(text), None);
        }
    }
}
