//! The property, with the seeds of the fuzz target and with random texts.

#![expect(clippy::disallowed_methods, reason = "reads the committed seeds")]

use std::path::Path;

use proptest::prelude::*;

use crate::properties;

#[test]
fn every_seed_passes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/skill_head");
    let seeds: Vec<_> = std::fs::read_dir(folder).unwrap().map(|seed| seed.unwrap().path()).collect();
    assert!(!seeds.is_empty());
    for seed in seeds {
        properties::skill(&std::fs::read(&seed).unwrap());
    }
}

/// Pieces that skills are made of.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "---\n", "---", "\n", "\r\n", "\r", "name: a\n", "description: d\n", "name: [a\n", "metadata: {\"openclaw\":", "}",
            "allowed-tools:", " Read", "hooks:\n", "  - command: ", "!`", "`", "```!\n", "```\n", "&a [", "*a", "]", "\t", "\u{feff}",
            "$ARGUMENTS", "$1", "${@:2}", "{a}", "</skill_content>", "<skill", "<!--", "-->", "\u{200b}", "ｃ", "\"", "'", "|\n", ">\n",
            "? ", ": ", "# ", "\0",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_skill_is_read(text in pieces()) {
        properties::skill(format!("---\n{text}").as_bytes());
        properties::skill(text.as_bytes());
    }
}
