//! Harnesses beside those of the first table: plugins, settings files, and hooks that the user registers.

use super::{SETTINGS, SLOW, USUAL, event, probe};
use crate::Moment::{Before, Start};
use crate::tools::ToolKind;
use crate::{Answers, Harness, HookRegistration, Manual, OwnFile, OwnForm, Payload, Results, SettingsFile};

/// What most of them have in common.
const BASE: Harness = Harness {
    name: "",
    title: "",
    tried: None,
    events: USUAL,
    payload: Payload::Named,
    answers: Answers::Specific,
    asks: false,
    rewrites: false,
    asks_rewritten: false,
    results: Results::Unchanged,
    project_variables: &[],
    registered: HookRegistration::ByHand(Manual::Line("")),
    probes: &[],
    open: &[SLOW],
};

/// A harness that loads a module.
const PLUGIN: Harness =
    Harness { answers: Answers::Plugin, rewrites: true, results: Results::ByPlugin, ..BASE };

const fn plugin(user: &'static str, project: &'static str, text: &'static str) -> HookRegistration {
    HookRegistration::Own(OwnFile { user, project, form: OwnForm::Plugin(text), off: &[] })
}

/// A fork of OpenCode, with its plugins.
pub(super) const KILO: Harness = Harness {
    name: "kilo",
    title: "Kilo Code",
    tried: Some("7.7.9"),
    registered: plugin(
        ".config/kilo/plugins/stockade.js",
        ".kilo/plugins/stockade.js",
        include_str!("../plugins/opencode.js"),
    ),
    open: &["with --pure, plugins are not loaded"],
    ..PLUGIN
};

pub(super) const PI: Harness = Harness {
    name: "pi",
    title: "Pi",
    tried: Some("1.6.0"),
    registered: plugin(
        ".pi/agent/extensions/stockade.js",
        ".pi/extensions/stockade.js",
        include_str!("../plugins/pi.js"),
    ),
    open: &["with --no-extensions, extensions are not loaded"],
    ..PLUGIN
};

pub(super) const AMP: Harness = Harness {
    name: "amp",
    title: "Amp",
    events: &[event("PreToolUse", Before)],
    results: Results::Unchanged,
    registered: plugin(
        ".config/amp/plugins/stockade.ts",
        ".amp/plugins/stockade.ts",
        include_str!("../plugins/amp.ts"),
    ),
    open: &["older versions load plugins only with PLUGINS=all"],
    ..PLUGIN
};

pub(super) const AUGGIE: Harness = Harness {
    name: "auggie",
    title: "Auggie",
    events: &[event("PreToolUse", Before), event("SessionStart", Start)],
    project_variables: &["AUGMENT_PROJECT_DIR"],
    registered: HookRegistration::Settings(SettingsFile {
        user: ".augment/settings.json",
        project: ".augment/settings.json",
        beside: &[".augment/settings.local.json"],
        timeout: Some(1000),
        // A pattern is a regular expression, and an invalid one matches nothing.
        matcher: ".*",
        ..SETTINGS
    }),
    probes: &[
        probe(ToolKind::Shell, "PreToolUse", "launch-process"),
        probe(ToolKind::Write, "PreToolUse", "save-file"),
        probe(ToolKind::Read, "PreToolUse", "view"),
        probe(ToolKind::Web, "PreToolUse", "web-fetch"),
        probe(ToolKind::Other, "PreToolUse", "stockade-probe"),
    ],
    ..BASE
};

pub(super) const CRUSH: Harness = Harness {
    name: "crush",
    title: "Crush",
    events: &[event("PreToolUse", Before)],
    payload: Payload::Event,
    answers: Answers::Merged,
    rewrites: true,
    project_variables: &["CRUSH_PROJECT_DIR"],
    registered: HookRegistration::Settings(SettingsFile {
        user: ".config/crush/crush.json",
        project: "crush.json",
        beside: &[".crush.json"],
        groups: false,
        more: &[],
        ..SETTINGS
    }),
    probes: &[
        probe(ToolKind::Shell, "PreToolUse", "bash"),
        probe(ToolKind::Write, "PreToolUse", "write"),
        probe(ToolKind::Read, "PreToolUse", "view"),
        probe(ToolKind::Web, "PreToolUse", "fetch"),
        probe(ToolKind::Other, "PreToolUse", "mcp_stockade_probe"),
    ],
    open: &[
        SLOW,
        "its subagents call no hook for their tools, so the user is asked about its tools `agent` and `agentic_fetch`",
    ],
    ..BASE
};

pub(super) const GOOSE: Harness = Harness {
    name: "goose",
    title: "Goose",
    events: &[event("PreToolUse", Before)],
    payload: Payload::Event,
    answers: Answers::Block,
    registered: HookRegistration::Own(OwnFile {
        user: ".agents/plugins/stockade/hooks/hooks.json",
        project: ".agents/plugins/stockade/hooks/hooks.json",
        form: OwnForm::Groups,
        off: &[],
    }),
    probes: &[
        probe(ToolKind::Shell, "PreToolUse", "developer__shell"),
        probe(ToolKind::Write, "PreToolUse", "developer__write"),
        probe(ToolKind::Look, "PreToolUse", "developer__tree"),
        probe(ToolKind::Other, "PreToolUse", "stockade__probe"),
    ],
    open: &[
        "`disabledPlugins` in ~/.config/goose/settings.json turns the hook off",
        "versions without `on_failure` use a tool if its hook takes too long",
    ],
    ..BASE
};

pub(super) const VSCODE: Harness = Harness {
    name: "vscode",
    title: "VS Code",
    registered: HookRegistration::Own(OwnFile {
        user: ".copilot/hooks/stockade-vscode.json",
        project: ".github/hooks/stockade-vscode.json",
        form: OwnForm::Flat,
        off: &[],
    }),
    probes: &[
        probe(ToolKind::Shell, "PreToolUse", "run_in_terminal"),
        probe(ToolKind::Write, "PreToolUse", "create_file"),
        probe(ToolKind::Read, "PreToolUse", "read_file"),
        probe(ToolKind::Web, "PreToolUse", "fetch_webpage"),
        probe(ToolKind::Other, "PreToolUse", "mcp_stockade_probe"),
    ],
    open: &[
        SLOW,
        "settings of an organization can turn hooks off: VS Code does not call them then",
        "Copilot CLI reads the same directory, and calls this hook too",
    ],
    ..BASE
};

pub(super) const KIMI: Harness = Harness {
    name: "kimi",
    title: "Kimi Code",
    tried: Some("2.1.0"),
    events: &[event("PreToolUse", Before)],
    registered: HookRegistration::ByHand(Manual::Toml("~/.kimi-code/config.toml")),
    ..BASE
};

pub(super) const HERMES: Harness = Harness {
    name: "hermes",
    title: "Hermes",
    tried: Some("0.19.0"),
    events: &[event("pre_tool_call", Before)],
    answers: Answers::Block,
    registered: HookRegistration::ByHand(Manual::Yaml("~/.hermes/config.yaml")),
    open: &[SLOW, "a hook that the user has not accepted is skipped: start it once with --accept-hooks"],
    ..BASE
};
