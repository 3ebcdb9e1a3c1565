//! The property, with the seeds of the fuzz target and with random texts.

#[cfg(test)]
#[path = "../../../../fuzz/replay.rs"]
mod replay;

use proptest::prelude::*;

use crate::properties;
use replay::replay;

#[test]
fn every_seed_passes() {
    replay(&[("skill_head", properties::skill)]);
}

/// Fragments that skills are made of.
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
