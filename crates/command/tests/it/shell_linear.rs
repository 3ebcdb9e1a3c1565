//! What is found in a text is proportional to it.

use stockade_command::hazards::all_hazards;
use stockade_shell::{ReadOptions, Script};

/// The texts that the reader itself is tried with.
#[path = "../../../shell/tests/it/repeated.rs"]
mod repeated;

use repeated::REPEATED;

#[test]
fn what_is_found_grows_with_the_text() {
    let options = unlimited();
    for (start, repeated, end) in REPEATED {
        let found = |count: usize| {
            let text = format!("{start}{}{end}", repeated.repeat(count));
            Some(all_hazards(&Script::read(&text, &options).ok()?.actions()).len())
        };
        let (Some(small), Some(large)) = (found(1_000), found(2_000)) else { continue };
        assert!(large <= 2 * small + 16, "{repeated:?}: {small} then {large} hazards");
    }
}

fn unlimited() -> ReadOptions {
    ReadOptions {
        max_bytes: usize::MAX,
        max_commands: usize::MAX,
        max_words: usize::MAX,
        ..ReadOptions::default()
    }
}
