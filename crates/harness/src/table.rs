//! The table of harnesses. Rows with a tested version were tested with the real program and a scripted model; others follow the
//! documentation.

mod newer;

use super::Moment::{After, Before, Start};
use super::tools::ToolKind;
use super::{
    Answers, Event, Harness, HookRegistration, Manual, OwnFile, OwnForm, Payload, Probe, Results,
    SettingsFile,
};

const fn event(name: &'static str, moment: super::Moment) -> Event {
    Event { name, moment }
}

const fn probe(kind: ToolKind, event: &'static str, tool: &'static str) -> Probe {
    Probe { kind, event, tool }
}

/// Timeout of a hook in the harness, in seconds. Stockade's own deadline is far below it.
pub(super) const TIMEOUT: u64 = 15;

const USUAL: &[Event] =
    &[event("PreToolUse", Before), event("PostToolUse", After), event("SessionStart", Start)];

/// Settings file in the most common format.
const SETTINGS: SettingsFile = SettingsFile {
    user: "",
    project: "",
    beside: &[],
    instead: &[],
    root: "hooks",
    matcher: "*",
    groups: true,
    timeout: Some(1),
    more: &[("type", "command")],
    flags: &[],
    version: false,
    off: &[],
    managed: &[],
    trust: None,
};

/// A gap that a shell line cannot close: the shell itself does not end.
const SLOW: &str = "if a hook takes too long, the tool is used";

/// Every harness that hooks can be installed for.
pub const HARNESSES: &[Harness] = &[
    Harness {
        name: "claude",
        title: "Claude Code",
        tried: Some("2.1.330"),
        events: USUAL,
        payload: Payload::Named,
        answers: Answers::Specific,
        asks: true,
        rewrites: true,
        asks_rewritten: true,
        results: Results::Replaced,
        project_variables: &["CLAUDE_PROJECT_DIR"],
        registered: HookRegistration::Settings(SettingsFile {
            user: ".claude/settings.json",
            project: ".claude/settings.json",
            beside: &[".claude/settings.local.json"],
            more: &[("type", "command"), ("onFailure", "block")],
            off: &[("disableAllHooks", true)],
            managed: &[
                ("etc/claude-code/managed-settings.json", "disableAllHooks", true),
                ("etc/claude-code/managed-settings.json", "allowManagedHooksOnly", true),
            ],
            ..SETTINGS
        }),
        probes: &[
            probe(ToolKind::Shell, "PreToolUse", "Bash"),
            probe(ToolKind::Write, "PreToolUse", "Write"),
            probe(ToolKind::Write, "PreToolUse", "Edit"),
            probe(ToolKind::Read, "PreToolUse", "Read"),
            probe(ToolKind::Web, "PreToolUse", "WebFetch"),
            probe(ToolKind::Other, "PreToolUse", "mcp__stockade__probe"),
        ],
        open: &["before 2.1.295, if a hook takes too long, the tool is used"],
    },
    Harness {
        name: "codex",
        title: "Codex",
        tried: Some("0.169.0"),
        events: USUAL,
        payload: Payload::Named,
        answers: Answers::Specific,
        asks: false,
        rewrites: true,
        asks_rewritten: false,
        results: Results::Hidden,
        project_variables: &[],
        registered: HookRegistration::Settings(SettingsFile {
            user: ".codex/hooks.json",
            project: ".codex/hooks.json",
            trust: Some(
                "codex calls a hook only after you trust it: run `codex`, type /hooks, and trust the hooks of stockade",
            ),
            ..SETTINGS
        }),
        probes: &[
            probe(ToolKind::Shell, "PreToolUse", "Bash"),
            probe(ToolKind::Patch, "PreToolUse", "apply_patch"),
            probe(ToolKind::Other, "PreToolUse", "mcp__stockade__probe"),
        ],
        open: &[SLOW, "a hook that is not trusted is skipped silently"],
    },
    Harness {
        name: "gemini",
        title: "Gemini CLI",
        tried: Some("0.61.0"),
        events: &[event("BeforeTool", Before), event("AfterTool", After), event("SessionStart", Start)],
        payload: Payload::Named,
        answers: Answers::Decision,
        asks: false,
        rewrites: true,
        asks_rewritten: false,
        results: Results::Hidden,
        project_variables: &["GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"],
        registered: HookRegistration::Settings(SettingsFile {
            user: ".gemini/settings.json",
            project: ".gemini/settings.json",
            timeout: Some(1000),
            off: &[("hooksConfig.enabled", false), ("tools.enableHooks", false)],
            managed: &[("etc/gemini-cli/settings.json", "hooksConfig.enabled", false)],
            ..SETTINGS
        }),
        probes: &[
            probe(ToolKind::Shell, "BeforeTool", "run_shell_command"),
            probe(ToolKind::Write, "BeforeTool", "write_file"),
            probe(ToolKind::Read, "BeforeTool", "read_file"),
            probe(ToolKind::Web, "BeforeTool", "web_fetch"),
            probe(ToolKind::Other, "BeforeTool", "mcp_stockade_probe"),
        ],
        open: &[SLOW],
    },
    Harness {
        name: "qwen",
        title: "Qwen Code",
        tried: Some("0.24.4"),
        events: USUAL,
        payload: Payload::Named,
        answers: Answers::Specific,
        asks: true,
        rewrites: false,
        asks_rewritten: false,
        results: Results::Noted,
        project_variables: &["QWEN_PROJECT_DIR", "GEMINI_PROJECT_DIR"],
        registered: HookRegistration::Settings(SettingsFile {
            user: ".qwen/settings.json",
            project: ".qwen/settings.json",
            off: &[("disableAllHooks", true), ("hooksConfig.enabled", false)],
            managed: &[("etc/qwen-code/settings.json", "disableAllHooks", true)],
            ..SETTINGS
        }),
        probes: &[
            probe(ToolKind::Shell, "PreToolUse", "run_shell_command"),
            probe(ToolKind::Write, "PreToolUse", "write_file"),
            probe(ToolKind::Read, "PreToolUse", "read_file"),
            probe(ToolKind::Web, "PreToolUse", "web_fetch"),
            probe(ToolKind::Other, "PreToolUse", "mcp__stockade__probe"),
        ],
        open: &[SLOW],
    },
    Harness {
        name: "copilot",
        title: "Copilot CLI",
        tried: Some("1.0.102"),
        events: &[event("preToolUse", Before), event("postToolUse", After), event("sessionStart", Start)],
        payload: Payload::Camel,
        answers: Answers::Permission,
        asks: true,
        rewrites: true,
        asks_rewritten: false,
        results: Results::Unchanged,
        project_variables: &[],
        registered: HookRegistration::Own(OwnFile {
            user: ".copilot/hooks/stockade.json",
            project: ".github/hooks/stockade.json",
            form: OwnForm::Json,
            off: &[
                (".copilot/settings.json", "disableAllHooks", true),
                (".copilot/config.json", "disableAllHooks", true),
            ],
        }),
        probes: &[
            probe(ToolKind::Shell, "preToolUse", "bash"),
            probe(ToolKind::Write, "preToolUse", "create"),
            probe(ToolKind::Read, "preToolUse", "view"),
            probe(ToolKind::Other, "preToolUse", "stockade-probe"),
        ],
        open: &[SLOW],
    },
    Harness {
        name: "cline",
        title: "Cline",
        tried: Some("3.0.65"),
        events: &[event("PreToolUse", Before)],
        payload: Payload::Cline,
        answers: Answers::Cancel,
        asks: false,
        rewrites: true,
        asks_rewritten: false,
        results: Results::Unchanged,
        project_variables: &[],
        registered: HookRegistration::Own(OwnFile {
            user: ".cline/hooks/PreToolUse",
            project: ".clinerules/hooks/PreToolUse",
            form: OwnForm::Script,
            off: &[],
        }),
        probes: &[probe(ToolKind::Shell, "PreToolUse", "run_commands")],
        open: &[SLOW, "a missing hook file is ignored silently"],
    },
    Harness {
        name: "opencode",
        title: "OpenCode",
        tried: Some("1.18.33"),
        events: USUAL,
        payload: Payload::Named,
        answers: Answers::Plugin,
        asks: false,
        rewrites: true,
        asks_rewritten: false,
        results: Results::ByPlugin,
        project_variables: &[],
        registered: HookRegistration::Own(OwnFile {
            user: ".config/opencode/plugins/stockade.js",
            project: ".opencode/plugins/stockade.js",
            form: OwnForm::Plugin(include_str!("plugins/opencode.js")),
            off: &[],
        }),
        probes: &[],
        open: &["with --pure, plugins are not loaded"],
    },
    Harness {
        name: "cursor",
        title: "Cursor",
        tried: None,
        events: &[
            event("beforeShellExecution", Before),
            event("beforeMCPExecution", Before),
            event("beforeReadFile", Before),
            event("preToolUse", Before),
            event("sessionStart", Start),
        ],
        payload: Payload::Cursor,
        answers: Answers::Cursor,
        asks: false,
        rewrites: false,
        asks_rewritten: false,
        results: Results::Unchanged,
        project_variables: &["CURSOR_PROJECT_DIR"],
        registered: HookRegistration::Settings(SettingsFile {
            user: ".cursor/hooks.json",
            project: ".cursor/hooks.json",
            groups: false,
            more: &[],
            flags: &["failClosed"],
            version: true,
            ..SETTINGS
        }),
        probes: &[
            probe(ToolKind::Shell, "beforeShellExecution", "beforeShellExecution"),
            probe(ToolKind::Read, "beforeReadFile", "beforeReadFile"),
            probe(ToolKind::Write, "preToolUse", "Write"),
            probe(ToolKind::Other, "beforeMCPExecution", "probe"),
        ],
        open: &[],
    },
    Harness {
        name: "droid",
        title: "Droid",
        tried: None,
        events: USUAL,
        payload: Payload::Named,
        answers: Answers::Specific,
        asks: false,
        rewrites: false,
        asks_rewritten: false,
        results: Results::Noted,
        project_variables: &["FACTORY_PROJECT_DIR"],
        registered: HookRegistration::Settings(SettingsFile {
            user: ".factory/settings.json",
            project: ".factory/settings.json",
            instead: &[".factory/hooks.json", ".factory/hooks/hooks.json"],
            ..SETTINGS
        }),
        probes: &[
            probe(ToolKind::Shell, "PreToolUse", "Execute"),
            probe(ToolKind::Write, "PreToolUse", "Create"),
            probe(ToolKind::Read, "PreToolUse", "Read"),
            probe(ToolKind::Web, "PreToolUse", "FetchUrl"),
            probe(ToolKind::Other, "PreToolUse", "mcp__stockade__probe"),
        ],
        open: &[SLOW],
    },
    Harness {
        name: "windsurf",
        title: "Windsurf",
        tried: None,
        events: &[
            event("pre_run_command", Before),
            event("pre_write_code", Before),
            event("pre_read_code", Before),
            event("pre_mcp_tool_use", Before),
        ],
        payload: Payload::Windsurf,
        answers: Answers::ExitCode,
        asks: false,
        rewrites: false,
        asks_rewritten: false,
        results: Results::Unchanged,
        project_variables: &[],
        registered: HookRegistration::Settings(SettingsFile {
            user: ".codeium/windsurf/hooks.json",
            project: ".windsurf/hooks.json",
            groups: false,
            timeout: None,
            more: &[],
            ..SETTINGS
        }),
        probes: &[
            probe(ToolKind::Shell, "pre_run_command", "pre_run_command"),
            probe(ToolKind::Write, "pre_write_code", "pre_write_code"),
            probe(ToolKind::Read, "pre_read_code", "pre_read_code"),
            probe(ToolKind::Other, "pre_mcp_tool_use", "probe"),
        ],
        open: &[SLOW],
    },
    Harness {
        name: "kiro",
        title: "Kiro",
        tried: None,
        events: &[event("PreToolUse", Before), event("SessionStart", Start)],
        payload: Payload::Named,
        answers: Answers::ExitCode,
        asks: false,
        rewrites: false,
        asks_rewritten: false,
        results: Results::Unchanged,
        project_variables: &[],
        registered: HookRegistration::Own(OwnFile {
            user: "",
            project: ".kiro/hooks/stockade.json",
            form: OwnForm::Triggers,
            off: &[],
        }),
        probes: &[
            probe(ToolKind::Shell, "PreToolUse", "execute_bash"),
            probe(ToolKind::Write, "PreToolUse", "fs_write"),
            probe(ToolKind::Read, "PreToolUse", "fs_read"),
            probe(ToolKind::Other, "PreToolUse", "stockade_probe"),
        ],
        open: &[
            SLOW,
            "before version 3, the CLI has hooks in the file of each agent alone: `hooks.preToolUse` in ~/.kiro/agents",
        ],
    },
    Harness {
        name: "antigravity",
        title: "Antigravity",
        tried: None,
        events: &[event("PreToolUse", Before)],
        payload: Payload::Antigravity,
        answers: Answers::Required,
        asks: false,
        rewrites: false,
        asks_rewritten: false,
        results: Results::Unchanged,
        project_variables: &[],
        registered: HookRegistration::Settings(SettingsFile {
            user: ".gemini/config/hooks.json",
            project: ".agents/hooks.json",
            root: "stockade",
            trust: Some(
                "some versions call only hooks of installed plugins: start a session, have it use a tool, and run `stockade status` again",
            ),
            ..SETTINGS
        }),
        probes: &[
            probe(ToolKind::Shell, "PreToolUse", "run_command"),
            probe(ToolKind::Write, "PreToolUse", "write_to_file"),
            probe(ToolKind::Read, "PreToolUse", "view_file"),
            probe(ToolKind::Web, "PreToolUse", "read_url_content"),
            probe(ToolKind::Other, "PreToolUse", "stockade_probe"),
        ],
        open: &[SLOW],
    },
    Harness {
        name: "openclaw",
        title: "OpenClaw",
        tried: Some("2026.9.6"),
        events: USUAL,
        payload: Payload::Named,
        answers: Answers::Plugin,
        asks: false,
        rewrites: true,
        asks_rewritten: false,
        results: Results::ByPlugin,
        project_variables: &[],
        registered: HookRegistration::ByHand(Manual::Line(
            "openclaw only calls plugins in its own process: use the npm package `@stockade/openclaw`, or run in `before_tool_call`: ",
        )),
        probes: &[],
        open: &["without the plugin, tools are not checked", "`openclaw agent exec` calls no plugin hooks"],
    },
    newer::AMP,
    newer::AUGGIE,
    newer::CRUSH,
    newer::GOOSE,
    newer::HERMES,
    newer::KILO,
    newer::KIMI,
    newer::PI,
    newer::VSCODE,
];

#[cfg(test)]
mod tests {
    use super::*;
    use stockade_guard::config::KNOWN_AGENTS;

    #[test]
    fn names_are_words_of_the_command_line_and_agents() {
        let mut names: Vec<&str> = HARNESSES.iter().map(|harness| harness.name).collect();
        for name in &names {
            assert!(
                stockade_state::agents::parse_name(name).is_ok()
                    && name.chars().all(|c| c.is_ascii_lowercase()),
                "{name}"
            );
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), HARNESSES.len());
        // A harness's agent need not be in a configuration that names other agents.
        let known: Vec<&str> = KNOWN_AGENTS.iter().copied().filter(|name| *name != "default").collect();
        assert_eq!(names, known);
    }

    #[test]
    fn each_decides_before_a_tool_is_used() {
        for harness in HARNESSES {
            assert!(!harness.before().is_empty(), "{}", harness.name);
            // A question that the harness does not show would act as consent.
            assert!(!harness.asks || harness.tried.is_some(), "{}: asks, and was not tried", harness.name);
        }
    }
}
