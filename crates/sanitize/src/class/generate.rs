//! Makes `table.rs` from the Unicode tables of the crates that normalise and from the list of invisible characters.
#![expect(clippy::disallowed_methods, reason = "compares the generated file with the one on disk")]

use std::fmt::Write;
use std::iter::once;

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};
use unicode_properties::UnicodeEmoji;

use super::{Class, class_of_high_planes};
use crate::invisible::invisible_name;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/class/table.rs");

/// `class_of_high_planes` handles all code points from here on.
const END: u32 = 0x3_0000;

/// Returns the class of `c` from first principles.
pub(super) fn class_from_unicode(c: char) -> Class {
    if invisible_name(c).is_some() {
        return Class::Stripped;
    }
    if super::replacement(c).is_some() {
        return Class::Mapped;
    }
    let expanded: Vec<char> = once(c).nfkd().collect();
    if stands_alone(c) {
        Class::Inert
    } else if expanded.iter().all(|&part| stands_alone(part)) {
        Class::Mapped
    } else {
        Class::Complex
    }
}

/// Whether `c` is a visible starter that NFKC keeps and that never composes with the preceding character.
fn stands_alone(c: char) -> bool {
    invisible_name(c).is_none()
        && canonical_combining_class(c) == 0
        && is_nfkc_quick(once(c)) == IsNormalized::Yes
}

#[test]
fn class_tables_are_fresh() {
    let fresh = generate();
    if std::env::var_os("STOCKADE_BLESS").is_some() {
        std::fs::write(PATH, &fresh).unwrap();
    }
    let committed = std::fs::read_to_string(PATH).unwrap();
    assert!(committed == fresh, "src/class/table.rs is stale: run `cargo xtask generate`");
}

#[test]
fn the_high_planes_follow_their_rule() {
    for c in (END..=0x10_FFFF).filter_map(char::from_u32) {
        assert_eq!(class_of_high_planes(c), class_from_unicode(c), "U+{:04X}", u32::from(c));
    }
}

fn generate() -> String {
    let mut blocks: Vec<[u8; 16]> = Vec::new();
    let mut index = Vec::new();
    for first in (0..END).step_by(64) {
        let block = pack(first);
        let known = blocks.iter().position(|other| *other == block);
        index.push(known.unwrap_or(blocks.len()));
        if known.is_none() {
            blocks.push(block);
        }
    }
    let inert = blocks.iter().position(|block| *block == [0; 16]).unwrap();
    let mut out = format!("{HEADER}pub(super) const INERT: u8 = {inert};\n");
    write_index(&mut out, &index);
    write_blocks(&mut out, &blocks);
    write_emoji(&mut out, &emoji_ranges());
    out
}

/// Packs the classes of 64 code points, two bits each. A surrogate is not a character; its bits are never read.
fn pack(first: u32) -> [u8; 16] {
    let mut block = [0; 16];
    for offset in 0..64 {
        if let Some(c) = char::from_u32(first + offset) {
            block[offset as usize / 4] |= (class_from_unicode(c) as u8) << (offset % 4 * 2);
        }
    }
    block
}

fn emoji_ranges() -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for c in ('\u{80}'..=char::MAX).filter(|&c| c.is_emoji_char() && class_from_unicode(c) == Class::Inert) {
        let code = u32::from(c);
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == code => *last = code,
            _ => ranges.push((code, code)),
        }
    }
    ranges
}

const HEADER: &str = "\
//! The classes of all characters, packed: made by `cargo xtask generate`, not by hand.

/// The number of the block in which all are inert.
";

fn write_index(out: &mut String, index: &[usize]) {
    out.push_str("\n/// For each 64 code points, the block that holds their classes.\n#[rustfmt::skip]\n");
    writeln!(out, "pub(super) static INDEX: [u8; {}] = [", index.len()).unwrap();
    for row in index.chunks(32) {
        let row: Vec<String> = row.iter().map(|&block| u8::try_from(block).unwrap().to_string()).collect();
        writeln!(out, "    {},", row.join(", ")).unwrap();
    }
    out.push_str("];\n");
}

fn write_blocks(out: &mut String, blocks: &[[u8; 16]]) {
    out.push_str("\n/// Two bits a code point, lowest first.\n#[rustfmt::skip]\n");
    writeln!(out, "pub(super) static BLOCKS: [[u8; 16]; {}] = [", blocks.len()).unwrap();
    for block in blocks {
        let bytes: Vec<String> = block.iter().map(u8::to_string).collect();
        writeln!(out, "    [{}],", bytes.join(", ")).unwrap();
    }
    out.push_str("];\n");
}

fn write_emoji(out: &mut String, ranges: &[(u32, u32)]) {
    out.push_str(
        "\n/// Emoji that normalisation leaves alone, first and last of each range.\n#[rustfmt::skip]\n",
    );
    writeln!(out, "pub(super) static EMOJI: [(u32, u32); {}] = [", ranges.len()).unwrap();
    for row in ranges.chunks(6) {
        let row: Vec<String> = row.iter().map(|(first, last)| format!("(0x{first:X}, 0x{last:X})")).collect();
        writeln!(out, "    {},", row.join(", ")).unwrap();
    }
    out.push_str("];\n");
}
