//! Checks of installed hooks: each registered hook is started as its harness would start it, and has to refuse the test calls.
#![expect(clippy::disallowed_methods, reason = "reads the settings of another program")]

use std::fs;
use std::path::Path;

use stockade_text::{escape, escape_path};

use super::Finding;
use crate::commands::install::observe::observes;
use crate::commands::install::places;
use stockade_harness::mcp_servers::{Wrapped, servers, servers_file};
use stockade_harness::registration::{self, SettingsFolders, SettingsScope, servers_path};
use stockade_harness::state::{State, look as look_at};
use stockade_harness::{HARNESSES, Harness};

const WHAT: &str = "hooks";

const MCP: &str = "mcp";

/// Maximum size of OpenClaw's settings.
const MAX_SETTINGS: u64 = 4 << 20;

/// Checks the settings in the home directory and in the current one.
pub(super) fn look() -> Vec<Finding> {
    let Ok(places) = places() else {
        return vec![Finding::ok(WHAT, "HOME is not set, so no agent has settings")];
    };
    let harnesses = HARNESSES.iter().filter_map(|harness| finding(harness, &look_at(harness, &places)));
    let servers = HARNESSES.iter().flat_map(|harness| unwrapped(harness, &places));
    let findings: Vec<Finding> = harnesses.chain(openclaw(&places)).chain(servers).collect();
    match findings.is_empty() {
        true => {
            let names: Vec<&str> = HARNESSES.iter().map(|harness| harness.title).collect();
            vec![Finding::ok(WHAT, format!("no settings of {} found; no hook is needed", names.join(", ")))]
        }
        false => findings,
    }
}

fn finding(harness: &Harness, state: &State) -> Option<Finding> {
    match state {
        State::NotUsed => None,
        State::NotRegistered => Some(Finding::warn(
            WHAT,
            format!("{} has no hook, so it uses tools unchecked", harness.title),
            &format!("stockade install {}", harness.name),
        )),
        State::Broken { why, fix } => Some(Finding::warn(WHAT, why, fix)),
        State::Refuses { .. } if observes(harness) => Some(Finding::warn(
            WHAT,
            format!(
                "the hook of {} observes: it records what rules would refuse, and lets it through",
                harness.title
            ),
            &format!("stockade install {}", harness.name),
        )),
        State::Refuses { file, .. } => Some(Finding::ok(
            WHAT,
            format!("{} blocks the test calls, with the hook in {}", harness.title, file.display()),
        )),
    }
}

/// Reports MCP servers of a harness that are not wrapped.
fn unwrapped(harness: &Harness, places: &SettingsFolders) -> Vec<Finding> {
    let Some(file) = servers_file(harness) else { return Vec::new() };
    let mut found = Vec::new();
    for (scope, option) in [(SettingsScope::User, ""), (SettingsScope::Project, " --project")] {
        let Ok(path) = servers_path(harness, places, scope) else { continue };
        let text = match registration::read(&path) {
            Ok(text) => text.filter(|text| !text.trim().is_empty()),
            Err(refused) => {
                found.push(Finding::warn(MCP, refused.why, &refused.fix));
                continue;
            }
        };
        let Some(text) = text else { continue };
        let shown = escape_path(&path);
        let listed = match servers(file, &text) {
            Ok(listed) => listed,
            Err(why) => {
                let what = format!("cannot read the MCP servers of {} in {shown}: {why}", harness.title);
                found.push(Finding::warn(
                    MCP,
                    what,
                    "fix the syntax; `python3 -m json.tool` shows the position",
                ));
                continue;
            }
        };
        let named = |is: fn(&Wrapped) -> bool| {
            let names = listed.iter().filter(|server| is(&server.wrapped));
            names.map(|server| escape(&server.name).into_owned()).collect::<Vec<_>>().join(", ")
        };
        let says = |names: String, what: &str, fix: &str| {
            let what = format!("{} {what} that are not wrapped, in {shown}: {names}", harness.title);
            (!names.is_empty()).then(|| Finding::warn(MCP, what, fix))
        };
        let fix = format!("stockade install {} --mcp{option}", harness.name);
        found.extend(says(named(|one| *one == Wrapped::No), "starts MCP servers", &fix));
        let fix = "replace each by `stockade mcp wrap --name NAME --url URL`";
        found.extend(says(named(|one| *one == Wrapped::Address), "connects to MCP servers", fix));
        let fix = "put `stockade mcp wrap --name NAME --` before the program of each";
        let cannot = named(|one| matches!(one, Wrapped::Cannot(_)));
        found.extend(says(cannot, "starts MCP servers", fix));
        if !listed.is_empty() && listed.iter().all(|server| server.wrapped == Wrapped::Yes) {
            let count = listed.len();
            found.push(Finding::ok(
                MCP,
                format!("{} MCP server(s) of {} are wrapped, in {shown}", count, harness.title),
            ));
        }
    }
    found
}

/// OpenClaw supports only hooks in its own process, so it needs a plugin. A plugin in its settings is no proof that calls are
/// checked.
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
                "the settings of OpenClaw mention stockade ({shown}), but whether its plugin checks calls cannot be tested"
            ),
            "in a disposable machine, let OpenClaw run `rm -rf / --no-preserve-root` and see that it is blocked",
        ),
        false => Finding::warn(
            WHAT,
            "OpenClaw has no plugin for stockade, so it uses tools unchecked",
            "write a plugin whose `before_tool_call` runs `stockade hook --harness openclaw` (https://docs.openclaw.ai/plugins/hooks), \
              and check its skills: stockade skill check ~/.openclaw/skills/*",
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openclaw_is_never_reported_as_protected_because_of_its_settings() {
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
