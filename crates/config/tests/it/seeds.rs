//! The properties, with seeds of the fuzz targets and with random texts.

#[cfg(test)]
#[path = "../../../../fuzz/replay.rs"]
mod replay;

use proptest::prelude::*;

use crate::properties;
use replay::{Property, replay};

const TARGETS: &[(&str, Property)] = &[("configuration", properties::configuration)];

#[test]
fn every_seed_passes() {
    replay(TARGETS);
}

/// Pieces of configuration texts, some of them twice as likely.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "---\n", "---", "\n", "\r\n", "\r", "name: a\n", "description: d\n", "name: [a\n", "metadata: {\"openclaw\":", "}",
            "allowed-tools:", " Read", "hooks:\n", "  - command: ", "!`", "`", "```!\n", "```\n", "&a [", "*a", "]", "\t", "\u{feff}",
            "$ARGUMENTS", "$1", "${@:2}", "{a}", "</skill_content>", "<skill", "<!--", "-->", "\u{200b}", "\u{e0041}", "ｃ",
            "[agents.bot]\n", "maxSteps = 5\n", "agents:\n", "  bot:\n", "  other:\n", "    maxSteps: 5\n", "{\"agents\": {\"*\": {\"maxSteps\": 5}}}",
            "\"", "'", "|\n", ">\n", "? ", ": ", "# ", "%YAML", "!!binary ", "<<: *a\n", "1e999", "0x1F", "~", "= [", "\\",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_configuration_has_an_answer(text in pieces(), format in 0..3_u8) {
        properties::configuration(&[&[format], text.as_bytes()].concat());
    }
}
