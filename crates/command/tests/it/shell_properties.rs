//! What must hold for every text. The fuzz targets and the tests in `shell_replay.rs` run the same functions.

use spelling::quoted;
use stockade_command::hazards::{Hazard, all_hazards};
use stockade_command::validator::{ValidatorOptions, validate};
use stockade_shell::{HazardKind, ReadOptions, Script, Shell};

#[path = "../../../shell/tests/it/spelling.rs"]
mod spelling;

const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Sh, Shell::Zsh];

/// What the validator accepts holds no substitution, and a substitution after it is always found.
pub(crate) fn shell_accepted_text_hides_nothing(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for shell in SHELLS {
        let options = ValidatorOptions { read: ReadOptions::for_shell(shell), ..ValidatorOptions::default() };
        let Some(validated) = validate(&text, &options).accepted() else { continue };
        assert!(validated.script().actions().substitutions.is_empty());
        for hidden in ["$(id)", "`id`", "<(id)"] {
            let longer = format!("{text}\nx {hidden}");
            assert!(validate(&longer, &options).rejection().is_some(), "{longer:?}");
        }
    }
}

/// A hazard stays found behind another command, inside a shell, and however its words are quoted.
pub(crate) fn shell_hazards_stay_found(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Some(alone) = hazards_in(&text) else { return };
    let mut spellings = vec![format!("true; {text}"), format!("true\n{text}"), format!("{{ {text}\n}}")];
    // A text that begins like an option would be one.
    if !text.trim_start().starts_with(['-', '+']) {
        spellings.push(format!("sudo bash -c '{}'", text.replace('\'', r"'\''")));
    }
    let words: Vec<&str> = text.split(' ').collect();
    if words.iter().all(|word| {
        word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_/.=:@+,".contains(&byte))
            && !word.is_empty()
            && !word.contains('=')
    }) {
        spellings.extend((0..5).map(|way| {
            let quoted: Vec<String> = words.iter().map(|word| quoted(word, way)).collect();
            quoted.join(" ")
        }));
    }
    for spelling in spellings {
        let Some(found) = hazards_in(&spelling) else { continue };
        for id in &alone {
            assert!(found.contains(id), "{id} is hidden in {spelling:?}");
        }
    }
}

/// The hazards of a text that was read completely.
fn hazards_in(text: &str) -> Option<Vec<&'static str>> {
    let script = Script::read(text, &ReadOptions::default()).ok()?;
    let actions = script.actions();
    let is_unread =
        |kind| matches!(kind, HazardKind::UnreadText(_) | HazardKind::TooDeep | HazardKind::Shadowed);
    if actions.hazards.iter().any(|hazard| is_unread(hazard.kind)) {
        return None;
    }
    Some(all_hazards(&actions).iter().map(|danger: &Hazard| danger.id).collect())
}
