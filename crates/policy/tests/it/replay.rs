//! Runs the properties on random input, and on every seed of the fuzz targets.

use proptest::prelude::{ProptestConfig, any, prop_oneof, proptest};
use proptest::strategy::Strategy;

use crate::properties;
use crate::seeds::{Property, replay};

/// Fuzz targets: the folder of the seeds, the property.
const TARGETS: &[(&str, Property)] = &[
    ("the_jail_holds", properties::the_jail_holds),
    ("denying_is_wider_than_allowing", properties::denying_is_wider_than_allowing),
    ("restrictions_only_restrict", properties::restrictions_only_restrict),
    ("danger_cannot_be_wrapped", properties::danger_cannot_be_wrapped),
    ("joins_stay_below", properties::joins_stay_below),
];

#[test]
fn every_seed_is_replayed() {
    replay(TARGETS);
}

/// Text made of the pieces that rules look for, so that random input gets somewhere.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: &[&str] = &[
        "..",
        "/",
        ".",
        ".git",
        ".ENV",
        "a",
        "src",
        "*",
        "**",
        "[!a]",
        "[",
        "]",
        "{",
        ",",
        "}",
        "?",
        "!",
        "\\",
        "\n",
        " ",
        "%2e",
        "%2f",
        "%25",
        "~",
        "$HOME",
        "rm",
        "-rf",
        "curl",
        "|",
        "sh",
        "bash",
        "-c",
        "'",
        "\"",
        "$(",
        ")",
        "`",
        ";",
        "&",
        ">",
        "<(",
        "sudo",
        "eval",
        "dd",
        "if=",
        "read",
        "full",
        "coding",
        "group:web",
        "mcp__",
        "Bash(",
        "git:*",
        "\u{200c}",
        "\u{212a}",
        "é",
        "/base/ws/",
        "\0",
        "(){",
        ":",
    ];
    let piece = prop_oneof![
        9 => (0..PIECES.len()).prop_map(|index| PIECES[index].as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..4),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn properties_hold_for_random_input(data in pieces()) {
        for (_, property) in TARGETS {
            property(&data);
        }
    }
}
