//! What must hold for every file of rules. The fuzz target and the tests in `replay.rs` run the same function.

use stockade_command::rules::{CommandRuleFile, CommandRuleFormat, MAX_COMMAND_RULE_FILE_BYTES};
use stockade_command::{CommandContext, CommandPolicy, Effect, Layer};
use stockade_shell::ReadOptions;

/// The formats and layers that the first byte of an input chooses from.
const FORMATS: [CommandRuleFormat; 3] =
    [CommandRuleFormat::Toml, CommandRuleFormat::Yaml, CommandRuleFormat::Json];
const LAYERS: [Layer; 3] = [Layer::Project, Layer::User, Layer::Admin];

/// Every file of rules is taken, or refused at a position that it has. What was taken compiles, loads the same when its
/// rules are written out again, and lets nothing dangerous through unless an admin wrote it.
pub(crate) fn rule_files_reload(data: &[u8]) {
    let (choice, text) = data.split_first().unwrap_or((&0, &[]));
    let text = String::from_utf8_lossy(text);
    let format = FORMATS[usize::from(*choice) % 3];
    let layer = LAYERS[usize::from(*choice / 3) % 3];
    let file = match CommandRuleFile::parse(&text, format, layer) {
        Ok(file) => file,
        Err(error) => {
            stands_in(&text, error.line, error.column);
            let message = error.to_string();
            assert!(!message.contains(char::is_control), "{message:?}");
            return;
        }
    };
    let defaults = file.defaults().unwrap_or_default();
    let policy = CommandPolicy::compile(vec![file.layer(layer)], defaults).unwrap();
    let written = file.rules().iter().map(|rule| format!("\n{}", rule.to_toml()));
    let written: String = std::iter::once("version = 1\n".to_owned()).chain(written).collect();
    if written.len() <= MAX_COMMAND_RULE_FILE_BYTES {
        let reloaded = CommandRuleFile::parse(&written, CommandRuleFormat::Toml, layer);
        assert_eq!(reloaded.map(|file| file.rules().to_vec()).as_deref(), Ok(file.rules()), "{written}");
    }
    if layer != Layer::Admin {
        lets_no_danger_through(&policy);
    }
}

/// Asserts that a position is one of a text: at a character of a line, or just behind its last.
fn stands_in(text: &str, line: usize, column: usize) {
    let lines: Vec<&str> = text.split('\n').collect();
    let Some(found) = line.checked_sub(1).and_then(|index| lines.get(index)) else {
        panic!("line {line} of {}: {text:?}", lines.len());
    };
    assert!((1..=found.chars().count() + 1).contains(&column), "column {column} of {found:?}");
}

/// Commands that are refused whatever rules say, and that only an admin can let through.
const DANGEROUS: [&str; 3] = ["rm -rf /", "sudo rm -rf ~; ls", "dd if=x of=/dev/sda"];

fn lets_no_danger_through(policy: &CommandPolicy) {
    for text in DANGEROUS {
        let decision = policy.decide(text, &ReadOptions::default(), &CommandContext::default());
        assert_eq!(decision.effect, Effect::Deny, "{text}");
    }
}
