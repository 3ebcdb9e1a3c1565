//! Agents: their settings name hooks, plugins and servers, which start with the next session.

use super::{INSTRUCTS, STARTS};
use crate::name::{Name, Write};

pub(super) const ROWS: &[Name] = &[
    Name {
        id: "claude-code",
        tool: "Claude Code",
        paths: &[".claude"],
        why: "Hooks, skills, commands and permissions of the project.",
        matches: &[".claude/settings.json", "packages/app/.Claude/settings.local.json"],
        clean: &["claude", ".claudeignore"],
        ..STARTS
    },
    Name {
        id: "mcp",
        tool: "Clients of the Model Context Protocol",
        paths: &[".mcp.json", ".mcp"],
        why: "The servers that are named there are programs, and start with the session.",
        matches: &[".mcp.json", "deep/er/.MCP.json"],
        clean: &["mcp.md", ".mcp.json.example"],
        ..STARTS
    },
    Name {
        id: "codex",
        tool: "Codex",
        paths: &[".codex", ".agents"],
        why: "Settings, hooks, skills and servers of the project.",
        matches: &[".codex/config.toml", "x/.agents/hooks.json"],
        clean: &["codex", "agents/readme.md"],
        ..STARTS
    },
    Name {
        id: "cursor",
        tool: "Cursor",
        paths: &[".cursor"],
        why: "Hooks, rules and servers of the project.",
        matches: &[".cursor/hooks.json", "x/.cursor/mcp.json"],
        clean: &[".cursorignore", "cursor"],
        ..STARTS
    },
    Name {
        id: "gemini-cli",
        tool: "Gemini CLI, Qwen Code, Antigravity",
        paths: &[".gemini", ".qwen", ".antigravity", ".agent"],
        why: "Settings, extensions, hooks, servers and an `.env` for the agent itself.",
        matches: &[".gemini/settings.json", "x/.qwen/settings.json", ".agent/workflows/x.md"],
        clean: &[".geminiignore", "agent/x"],
        ..STARTS
    },
    Name {
        id: "copilot",
        tool: "GitHub Copilot",
        paths: &[".github/hooks", ".github/copilot", ".copilot"],
        why: "Hooks are run by the agent, also where it starts by itself; settings can turn them off.",
        matches: &[".github/hooks/x.json", "x/.github/copilot/settings.json"],
        clean: &[".github/FUNDING.yml", ".github/hooks.md"],
        ..STARTS
    },
    Name {
        id: "stockade",
        tool: "Stockade",
        paths: &[".stockade", ".comis", ".comma"],
        why: "What guards the agent is set there.",
        matches: &[".stockade/rules.yaml", "x/.comma/skills/x"],
        clean: &["stockade", "comma.csv"],
        ..STARTS
    },
    Name {
        id: "stockade-settings",
        tool: "Stockade",
        paths: &["stockade.toml"],
        write: Write::Report,
        why: "What a project narrows for its agents is set there.",
        matches: &["stockade.toml", "x/stockade.toml"],
        clean: &["stockade.md"],
        ..STARTS
    },
    Name {
        id: "kiro-windsurf",
        tool: "Kiro, Windsurf, Devin, Amazon Q",
        paths: &[".kiro", ".windsurf", ".codeium", ".devin", ".amazonq"],
        why: "Hooks run on events of the editor; steering files and servers are read with each session.",
        matches: &[".kiro/hooks/x.kiro.hook", ".windsurf/hooks.json", "x/.amazonq/mcp.json"],
        clean: &["kiro", ".codeiumignore"],
        ..STARTS
    },
    Name {
        id: "opencode",
        tool: "OpenCode, Crush",
        paths: &[".opencode", "opencode.json", "opencode.jsonc", ".crush", "crush.json", ".crush.json"],
        why: "Plugins are loaded into the agent; language servers and servers of tools are started.",
        matches: &[".opencode/plugins/x.js", "opencode.json", "x/.crush.json"],
        clean: &["opencode.md", "crush"],
        ..STARTS
    },
    Name {
        id: "cline-family",
        tool: "Cline, Roo Code, Kilo Code, Continue",
        paths: &[
            ".clinerules",
            ".cline",
            ".roo",
            ".roomodes",
            ".kilocode",
            ".kilocodemodes",
            ".kilo",
            ".continue",
            ".continuerc.json",
        ],
        why: "Hooks, modes with their permissions, rules and servers of the project.",
        matches: &[".clinerules/hooks/PreToolUse", ".roo/mcp.json", "x/.continue/config.yaml"],
        clean: &[".clineignore", ".rooignore"],
        ..STARTS
    },
    Name {
        id: "more-agents",
        tool: "Amp, Droid, Grok, pi, Trae, Augment, Junie, OpenHands, Goose, Warp and others",
        paths: &[
            ".amp",
            ".factory",
            ".grok",
            ".pi",
            ".trae",
            ".augment",
            ".junie",
            ".openhands",
            ".goose",
            ".warp",
            ".codebuddy",
            ".openclaw",
            ".hermes",
            ".kimi",
            ".vibe",
            ".iflow",
            ".rovodev",
            ".zencoder",
            ".firebender",
            "firebender.json",
            ".tabnine",
            ".plandex",
            ".qoder",
            ".letta",
        ],
        why: "Settings, hooks, plugins, rules and servers of the project.",
        matches: &[".amp/settings.json", "x/.factory/hooks.json", ".pi/extensions/x.ts"],
        clean: &["factory/x.rs", ".ampignore", "goose"],
        ..STARTS
    },
    Name {
        id: "aider",
        tool: "Aider",
        paths: &[".aider.conf.yml", ".aider.conf.yaml"],
        why: "`lint-cmd` and `test-cmd` run after each edit.",
        matches: &[".aider.conf.yml"],
        clean: &[".aiderignore", ".aider.chat.history.md"],
        ..STARTS
    },
    Name {
        id: "agent-plugins",
        tool: "Plugins and models of agents",
        paths: &[".claude-plugin", ".codex-plugin", ".aider.model.settings.yml", "gemini-extension.json"],
        why: "A user who installs the plugin runs the hooks and servers that it names.",
        matches: &[".claude-plugin/plugin.json"],
        clean: &["plugin.json"],
        ..INSTRUCTS
    },
];
