//! Default workspaces of agents, below the home: project directories within a directory whose other parts instruct
//! agents and hold secrets. A protected name counts relative to such a workspace; the directories above it do not
//! matter.

use crate::fold::fold;
use crate::pattern::fits;

/// The default workspaces of one program.
#[derive(Debug, Clone, Copy)]
pub struct DefaultWorkspaces {
    /// The program.
    pub tool: &'static str,
    /// Paths below the home, with `*` as a wildcard within one component.
    pub paths: &'static [&'static str],
    /// Example paths that are in one of them.
    pub matches: &'static [&'static str],
    /// Example paths that are not.
    pub clean: &'static [&'static str],
}

/// Every program known to work below a directory of its own.
#[rustfmt::skip]
pub static DEFAULT_WORKSPACES: &[DefaultWorkspaces] = &[
    DefaultWorkspaces {
        tool: "OpenClaw",
        // `OPENCLAW_PROFILE` and agents have one each; sandboxes are copies. Its older names have the same layout.
        paths: &[".openclaw/workspace*", ".openclaw/sandboxes/*", ".clawdbot/workspace*", ".clawdbot/sandboxes/*",
            ".moltbot/workspace*", ".moltbot/sandboxes/*"],
        matches: &[".openclaw/workspace/memory/a.md", ".openclaw/workspace-work/x", ".openclaw/sandboxes/a/x"],
        clean: &[".openclaw/openclaw.json", ".openclaw/workspac/x", ".openclaw/sandboxes", ".openclaw/agents/main/x"],
    },
    DefaultWorkspaces {
        tool: "Comis",
        paths: &[".comis/workspace*", ".comis/graph-runs/*"],
        matches: &[".comis/workspace-bot/x", ".comis/graph-runs/r1/out.json"],
        clean: &[".comis/.env", ".comis/config.yaml", ".comis/graph-runs"],
    },
    DefaultWorkspaces {
        tool: "Code Buddy",
        paths: &[".codebuddy/workspace*", ".codebuddy/worktrees/*"],
        matches: &[".codebuddy/workspace/x", ".codebuddy/worktrees/a/x"],
        clean: &[".codebuddy/settings.json", ".codebuddy/execpolicy"],
    },
    DefaultWorkspaces {
        tool: "Hermes and other relatives of OpenClaw",
        paths: &[".hermes/workspace*", ".picoclaw/workspace*", ".zeroclaw/workspace*", ".nanobot/workspace*"],
        matches: &[".hermes/workspace/x"],
        clean: &[".hermes/config.yaml"],
    },
    DefaultWorkspaces {
        tool: "Worktrees of Claude Code, Codex, Cursor, Windsurf, OpenCode and Copilot",
        paths: &[".claude/worktrees/*", ".claude-worktrees/*", ".codex/worktrees/*", ".cursor/worktrees/*", ".windsurf/worktrees/*",
            ".local/share/opencode/worktree/*", ".copilot/worktrees/*"],
        matches: &[".codex/worktrees/1a/app/src", ".cursor/worktrees/app/x", ".local/share/opencode/worktree/1/x"],
        clean: &[".codex/auth.json", ".cursor/worktrees.json", ".claude/settings.json", ".local/share/opencode/auth.json"],
    },
    DefaultWorkspaces {
        tool: "Gemini CLI and Antigravity",
        paths: &[".gemini/antigravity/scratch", ".gemini/antigravity/playground"],
        matches: &[".gemini/antigravity/scratch/app/x"],
        clean: &[".gemini/settings.json", ".gemini/antigravity/mcp_config.json"],
    },
];

/// Returns the number of leading components of a path below a home that form a default workspace, if the path is at
/// or in one.
///
/// ```
/// use stockade_names::default_workspace;
///
/// assert_eq!(default_workspace(&[".openclaw", "workspace", "notes.md"]), Some(2));
/// assert_eq!(default_workspace(&[".openclaw", "openclaw.json"]), None);
/// ```
#[must_use]
pub fn default_workspace<N: AsRef<str>>(below_home: &[N]) -> Option<usize> {
    let leads_to = |path: &&str| {
        let length = path.split('/').count();
        let fitting = path.split('/').zip(below_home).filter(|(part, name)| fits(&fold(name.as_ref()), part));
        (fitting.count() == length).then_some(length)
    };
    DEFAULT_WORKSPACES.iter().flat_map(|row| row.paths).find_map(leads_to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_means_its_row() {
        let found = |path: &str| default_workspace(&path.split('/').collect::<Vec<_>>());
        for row in DEFAULT_WORKSPACES {
            row.matches.iter().for_each(|path| assert!(found(path).is_some(), "{path}"));
            row.clean.iter().for_each(|path| assert_eq!(found(path), None, "{path}"));
        }
    }
}
