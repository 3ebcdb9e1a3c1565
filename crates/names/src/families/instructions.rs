//! Texts that agents take as instructions. They are documents of the project, so a change is reported and not undone.

use super::INSTRUCTS;
use crate::name::Name;

pub(super) const ROWS: &[Name] = &[
    Name {
        id: "agents-md",
        tool: "Most agents",
        paths: &["AGENTS.md", "AGENT.md", "AGENTS.override.md", "AGENTS.local.md"],
        why: "Read into the conversation at its start, in the folder and in those above.",
        matches: &["AGENTS.md", "web/agents.md"],
        clean: &["agents.txt", "docs/about-agents.md"],
        ..INSTRUCTS
    },
    Name {
        id: "memory-files",
        tool: "Claude Code, Gemini CLI, Qwen Code, Warp, Crush, OpenClaw",
        paths: &[
            "CLAUDE.md",
            "CLAUDE.local.md",
            "GEMINI.md",
            "QWEN.md",
            "WARP.md",
            "CRUSH.md",
            "CRUSH.local.md",
            "HERMES.md",
            ".hermes.md",
            "SOUL.md",
            "IDENTITY.md",
            "TOOLS.md",
            "BOOTSTRAP.md",
            "HEARTBEAT.md",
            "MEMORY.md",
            "USER.md",
            "COPILOT.md",
            "GEMINI.local.md",
            "QWEN.local.md",
            "replit.md",
        ],
        why: "Read into the conversation at its start, in the folder and in those above.",
        matches: &["CLAUDE.md", "sub/Gemini.md", "CLAUDE.local.md"],
        clean: &["claude-notes.md", "gemini.rs"],
        ..INSTRUCTS
    },
    Name {
        id: "rule-files",
        tool: "Cursor, Windsurf, Roo Code, Goose, Zed, Continue, Augment, OpenHands",
        paths: &[
            ".cursorrules",
            ".windsurfrules",
            ".roorules*",
            ".kilocoderules*",
            ".continuerules",
            ".augment-guidelines",
            ".goosehints",
            ".openhands_instructions",
            ".rules",
            ".voidrules",
            ".idx/airules.md",
        ],
        why: "Added to the agent's instructions with each request.",
        matches: &[".cursorrules", "x/.goosehints", ".roorules-code"],
        clean: &["rules", ".gitrules"],
        ..INSTRUCTS
    },
    Name {
        id: "copilot-instructions",
        tool: "GitHub Copilot",
        paths: &[
            ".github/copilot-instructions.md",
            ".copilot-instructions.md",
            "copilot-instructions.md",
            ".github/instructions",
            ".github/prompts",
            ".github/chatmodes",
            ".github/agents",
            ".github/skills",
        ],
        why: "Added to the agent's instructions, or offered to it as modes and skills.",
        matches: &[".github/copilot-instructions.md", "x/.github/prompts/x.prompt.md"],
        clean: &[".github/CONTRIBUTING.md", "prompts/x.md"],
        ..INSTRUCTS
    },
    Name {
        id: "skills",
        tool: "Most agents",
        paths: &["SKILL.md"],
        why: "A skill is text that the agent follows, and names programs for it to run.",
        matches: &["skills/pdf/SKILL.md"],
        clean: &["skills/readme.md", "skill.txt"],
        ..INSTRUCTS
    },
];
