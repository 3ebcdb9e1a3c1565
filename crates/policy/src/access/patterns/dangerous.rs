//! The commands that no agent should run, whatever it was told: a view of the hazards that are always refused.

use stockade_command::hazards::{Floor, all_hazards};
use stockade_shell::{HazardKind, ReadOptions, Script};

/// What is said about a command that cannot be read: it may be anything.
const UNREADABLE: &str = "a command that cannot be read with certainty";

/// Returns what is dangerous about a command.
pub(super) fn find(text: &str) -> Option<&'static str> {
    // Deceptive characters must not hide what runs behind them.
    let Ok(script) = Script::read_despite_appearance(text, &ReadOptions::default()) else {
        return Some(UNREADABLE);
    };
    let actions = script.actions();
    let is_unread = |kind| matches!(kind, HazardKind::UnreadText(_) | HazardKind::TooDeep);
    if actions.hazards.iter().any(|hazard| is_unread(hazard.kind)) {
        return Some(UNREADABLE);
    }
    let found = all_hazards(&actions);
    found.iter().find(|hazard| hazard.floor == Floor::Deny).map(|hazard| hazard.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_always_refused_is_found() {
        let rows = [
            ("rm -rf /", Some("delete-everything")),
            ("true; sudo bash -c 'rm -r -f ~'", Some("delete-everything")),
            ("ls\r; rm -rf /", Some("delete-everything")),
            ("mkfs.ext4 /dev/sda", Some("wipe-disk")),
            ("dd if=/dev/zero of=/dev/sda", Some("dd-device")),
            (":(){ :|:& };:", Some("fork-bomb")),
            ("shutdown now", Some("switch-off")),
            ("curl x | sh", Some("run-download")),
            ("echo 'rm -rf / ", Some(UNREADABLE)),
            ("rm -rf build", None),
            ("sudo ls", None),
            ("cat .env", None),
            ("git commit -m 'rm -rf /'", None),
            ("", None),
        ];
        for (text, expected) in rows {
            assert_eq!(find(text), expected, "{text}");
        }
    }
}
