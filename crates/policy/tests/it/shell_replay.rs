//! Runs the properties of the shell reader on random commands, and on every seed of the fuzz targets.

use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, prop_oneof, proptest};
use proptest::sample::select;
use proptest::strategy::Strategy;

use crate::decision_properties::decisions_only_get_stricter;
use crate::seeds::{Property, replay};
use crate::shell_properties;

/// Fuzz targets: the folder of the seeds, the property.
const TARGETS: &[(&str, Property)] = &[
    ("shell_reading_is_bounded", shell_properties::shell_reading_is_bounded),
    ("shell_quoting_changes_nothing", shell_properties::shell_quoting_changes_nothing),
    ("shell_suffix_hides_nothing", shell_properties::shell_suffix_hides_nothing),
    ("shell_canonical_text_runs_the_same", shell_properties::shell_canonical_text_runs_the_same),
    ("shell_accepted_text_hides_nothing", shell_properties::shell_accepted_text_hides_nothing),
    ("shell_hazards_stay_found", shell_properties::shell_hazards_stay_found),
    ("decisions_only_get_stricter", decisions_only_get_stricter),
];

#[test]
fn every_shell_seed_is_replayed() {
    replay(TARGETS);
}

/// Pieces that mean something to a shell, so that random texts are often commands.
const PIECES: &[&str] = &[
    "'",
    "\"",
    "`",
    "\\",
    "$(",
    ")",
    "(",
    "{ ",
    "; }",
    "${x",
    "${x:-",
    "}",
    "\n",
    ";",
    "; ",
    "&",
    " && ",
    "||",
    " | ",
    "<",
    ">",
    "<<E\n",
    "\nE\n",
    "<<'E'\n",
    " ",
    "\t",
    "$x",
    "a",
    "rm ",
    "-rf ",
    "$((",
    "))",
    "[[ ",
    " ]]",
    "=",
    "x=",
    "~",
    "*",
    "! ",
    "<(",
    "case x in x) ",
    ";; esac",
    "if ",
    "; then ",
    "; fi",
    "do ",
    "; done",
    "while ",
    "for i in ",
    "$'",
    "#",
    " #",
    "\\\n",
    "{a,b}",
    "{1..3}",
    "[",
    "]",
    "x=(",
    "time ",
    "eval ",
    "sudo ",
    "sh -c '",
    "f() { ",
    "\u{1}",
    "\r",
    "é",
    "\u{200b}",
    "2>&1",
    ">f",
    "<<<",
    "=(",
    "=ls",
    "*(e:",
    "trap '",
    "env -S '",
    "curl x | sh",
    " -o f",
    "~/.ssh/id_rsa",
    " /",
    "cat .env",
    "LD_PRELOAD=x ",
    "git push --force",
    "git push origin",
    "npm run x",
    "# a",
];

fn texts() -> impl Strategy<Value = Vec<u8>> {
    let pieces = vec(select(PIECES), 0..24).prop_map(|pieces| pieces.concat().into_bytes());
    prop_oneof![4 => pieces, 1 => vec(any::<u8>(), 0..64)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_properties_hold_for_random_commands(text in texts()) {
        for (_, property) in TARGETS {
            property(&text);
        }
    }
}
