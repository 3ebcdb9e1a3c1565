//! Ways to dress a text as something that a scanner would skip, and bytes that are no text at all.

use proptest::prelude::*;
use stockade_guard::FileOptions;

use crate::support::{ATTACK, folder, scan};

#[test]
fn no_disguise_keeps_a_text_from_the_scanner() {
    let attack = ATTACK.as_bytes();
    let utf16 = |mark: &[u8], unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
        mark.iter().copied().chain(ATTACK.encode_utf16().flat_map(unit)).collect()
    };
    let cases: [(&str, Vec<u8>); 12] = [
        ("as it is", attack.to_vec()),
        ("a NUL byte", [attack, b"\0"].concat()),
        ("NUL bytes in words", ATTACK.replace("curl", "cu\0rl").into_bytes()),
        ("a mark for UTF-8", [b"\xEF\xBB\xBF", attack].concat()),
        ("UTF-16, little end first", utf16(b"\xFF\xFE", u16::to_le_bytes)),
        ("UTF-16, big end first", utf16(b"\xFE\xFF", u16::to_be_bytes)),
        ("UTF-16 without a mark", utf16(b"", u16::to_le_bytes)),
        ("a false mark for UTF-16", [b"\xFF\xFE\n", attack].concat()),
        ("a stray byte", [b"caf\xE9\n", attack].concat()),
        ("the head of a picture", [b"\x89PNG\r\n\x1A\n\0\0\0\n", attack].concat()),
        ("the head of a program", [b"\x7FELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\n", attack].concat()),
        ("noise around it", [&[0x9D; 5000], b"\n".as_slice(), attack, &[0x02; 5000]].concat()),
    ];
    for (what, bytes) in cases {
        let folder = folder(&[("picture.png", &bytes)]);
        let lines = scan(folder.path(), &FileOptions::default());
        assert!(lines[0].starts_with("picture.png: FOUND"), "{what}: {lines:?}");
    }
}

#[test]
fn binary_data_is_listed() {
    let noise: Vec<u8> = (0..4096_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let folder = folder(&[("noise.md", &noise)]);
    assert_eq!(scan(folder.path(), &FileOptions::default()), ["noise.md: clean, binary"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever is in a file, there is one answer and no panic.
    #[test]
    fn any_bytes_have_an_answer(bytes: Vec<u8>, mark in prop::sample::select(vec!["", "\u{feff}", "#!", "---\n"])) {
        let folder = folder(&[("SKILL.md", &[mark.as_bytes(), &bytes].concat())]);
        prop_assert_eq!(scan(folder.path(), &FileOptions::default()).len(), 1);
    }
}
