//! The properties, with the seeds of the fuzz targets and with random texts.

#[cfg(test)]
#[path = "../../../../fuzz/replay.rs"]
mod replay;

use proptest::prelude::*;

use crate::properties;
use replay::{Property, replay};

const TARGETS: [(&str, Property); 8] = [
    ("document_yaml", properties::yaml),
    ("document_toml", properties::toml),
    ("document_json", properties::json),
    ("edits", properties::edits),
    ("escaping", properties::escaping),
    ("names", properties::names),
    ("showing", properties::showing),
    ("positions", properties::positions),
];

#[test]
fn every_seed_passes() {
    let all = TARGETS.map(|(target, _)| (target, all_pass as Property));
    replay(&all);
}

/// A document of one format is an input for all.
fn all_pass(data: &[u8]) {
    TARGETS.iter().for_each(|(_, property)| property(data));
}

/// Fragments that documents are made of.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "\n", "\r\n", "\r", "\t", " ", "  ", "a: ", "b: ", "a = ", "b = ", "\"a\": ", "\"b\": ", "a.b = ", "[a]\n", "[[b]]\n",
            "{", "}", "[", "]", ", ", "- ", "? ", ": ", "# ", "---\n", "...\n", "%YAML 1.2\n", "&a ", "*a", "<<: *a\n", "!!binary ",
            "!!int ", "|\n", ">\n", "\"", "'", "\"\"\"", "'''", "\\", "\\u00e9", "\\ud83d", "0", "1.50", "-0x1F", "0o17", "1e999", ".inf",
            "1_000", "2020-01-01", "true", "yes", "null", "~", "é", "😀", "\u{feff}", "\u{85}", "\u{2028}", "\u{1b}", "\u{202e}",
            "⟨", "⟩", "⟨3 spaces⟩", "          ", "\n\n\n", "\u{a0}", "\u{3000}", "\u{200b}", "\u{301}", "\u{e0061}", "\u{441}url", "###",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn every_text_passes(text in pieces()) {
        all_pass(text.as_bytes());
    }
}
