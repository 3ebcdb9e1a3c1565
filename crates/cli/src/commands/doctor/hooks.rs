//! Whether the harnesses of agents that are used here ask before they use a tool: each registered hook is started as its harness
//! would start it, and has to refuse.
#![expect(clippy::disallowed_methods, reason = "reads the settings of another program")]

use std::fs;
use std::path::Path;

use super::Finding;
use crate::commands::install::places;
use crate::harness::registration::SettingsFolders;
use crate::harness::state::{State, look as look_at};
use crate::harness::{HARNESSES, Harness};

const WHAT: &str = "hooks";

/// The most that is read of the settings of OpenClaw.
const MAX_SETTINGS: u64 = 4 << 20;

/// Looks at home and in this folder.
pub(super) fn look() -> Vec<Finding> {
    let Ok(places) = places() else {
        return vec![Finding::ok(WHAT, "HOME names no folder, so no harness has settings")];
    };
    let harnesses = HARNESSES.iter().filter_map(|harness| finding(harness, &look_at(harness, &places)));
    let findings: Vec<Finding> = harnesses.chain(openclaw(&places)).collect();
    match findings.is_empty() {
        true => {
            let names: Vec<&str> = HARNESSES.iter().map(|harness| harness.title).collect();
            vec![Finding::ok(WHAT, format!("no settings of {}; nothing to register with", names.join(", ")))]
        }
        false => findings,
    }
}

fn finding(harness: &Harness, state: &State) -> Option<Finding> {
    match state {
        State::NotUsed => None,
        State::NotRegistered => Some(Finding::warn(
            WHAT,
            format!("{} uses tools without asking stockade", harness.title),
            &format!("stockade install {}", harness.name),
        )),
        State::Broken { why, fix } => Some(Finding::warn(WHAT, why, fix)),
        State::Refuses { file, .. } => Some(Finding::ok(
            WHAT,
            format!("{} refuses what must be refused, by {}", harness.title, file.display()),
        )),
    }
}

/// OpenClaw calls hooks within its own process alone, so a plugin has to ask. That one is named in its settings does not show that
/// it asks.
fn openclaw(places: &SettingsFolders) -> Option<Finding> {
    let settings = places.home.join(".openclaw/openclaw.json");
    if !settings.parent().is_some_and(Path::is_dir) {
        return None;
    }
    let shown = settings.display();
    let is_small = fs::metadata(&settings).is_ok_and(|found| found.len() <= MAX_SETTINGS);
    let text = if is_small { fs::read_to_string(&settings).unwrap_or_default() } else { String::new() };
    Some(match text.contains("stockade") {
        true => Finding::warn(
            WHAT,
            format!(
                "OpenClaw names stockade in {shown}; whether a plugin asks it cannot be seen from outside"
            ),
            "have OpenClaw run `rm -rf / --no-preserve-root` in a machine that may be lost, and see it refused",
        ),
        false => Finding::warn(
            WHAT,
            "OpenClaw uses tools without asking stockade; it calls no command, only plugins within its own process",
            "write a plugin whose `before_tool_call` asks `stockade hook --harness openclaw` (https://docs.openclaw.ai/plugins/hooks), \
             and check its skills: stockade skill check ~/.openclaw/skills/*",
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openclaw_is_never_taken_for_safe_by_a_name_in_its_settings() {
        let home = tempfile::tempdir().unwrap();
        let places = SettingsFolders {
            home: home.path().into(),
            project: home.path().into(),
            system: home.path().into(),
        };
        assert!(openclaw(&places).is_none());
        fs::create_dir(home.path().join(".openclaw")).unwrap();
        for settings in ["", "{plugins: {entries: {stockade: {enabled: true}}}}"] {
            fs::write(home.path().join(".openclaw/openclaw.json"), settings).unwrap();
            assert!(openclaw(&places).unwrap().fix.is_some(), "{settings}");
        }
    }
}
