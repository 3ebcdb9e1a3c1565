//! Names that some program of a host obeys, as attackers used them: each must have an answer.

use stockade_names::{Root, Write, treatment};

/// Written by a command in a workspace, and read by some program outside as code or as settings that name code.
#[rustfmt::skip]
const OBEYED: &[&str] = &[
    ".git/hooks/pre-commit", ".git/config", ".git/config.worktree", ".git/commondir", ".git/info/attributes",
    ".git/objects/info/alternates", ".git/modules/new/hooks/post-checkout", ".git/modules/a/b/c/d/e/f/config",
    ".mcp.json", "deep/er/and/deeper/.mcp.json", ".vscode/tasks.json", "sub/.vscode/tasks.json", ".claude/settings.json",
    "sub/.claude/settings.json", ".Claude/settings.json", ".cursor/hooks.json", ".gemini/settings.json",
    ".codex/config.toml", ".agents/hooks.json", ".envrc", "sub/.envrc", ".husky/pre-commit", ".pre-commit-config.yaml",
    ".devcontainer/devcontainer.json", ".idea/workspace.xml", ".zed/tasks.json", ".gitconfig", ".gitmodules",
    ".stockade/x", ".GIT/hooks/x", "git~1/hooks/x", ".venv/bin/python", ".venv/pyvenv.cfg", "pkg/.venv/pyvenv.cfg",
    "pkg/.venv/bin/python", ".github/hooks/x.json", ".github/copilot/settings.json", ".kiro/hooks/x",
    ".windsurf/hooks.json", ".opencode/plugins/x.js", "opencode.json", ".clinerules/hooks/x", ".roo/mcp.json",
    ".continue/config.yaml", ".amp/settings.json", ".factory/hooks.json", ".grok/settings.json", ".qwen/settings.json",
    ".pi/extensions/x.ts", ".nvim.lua", ".exrc", ".vimrc", ".hg/hgrc", ".jj/repo/config.toml", ".aider.conf.yml",
    ".gdbinit", ".lldbinit", ".Rprofile", ".irbrc", ".pryrc", ".dir-locals.el", "x.code-workspace", ".vs/tasks.vs.json",
    ".nova/x", ".fleet/run.json", ".helix/languages.toml", ".trae/mcp.json", ".augment/x", ".junie/x", ".crush/x",
    ".openhands/setup.sh", ".goose/x", ".amazonq/mcp.json", ".kilocode/mcp.json", ".bashrc", ".zshenv", ".profile",
    "conductor.json", ".mux/init", ".container-use/environment.json", ".jules/setup.sh", "openclaw.json", ".shadowenv.d/x.lisp",
    ".github/extensions/x/extension.mjs", ".ai/mcp.json", ".ipython/profile_default/startup/x.py",
];

/// Changed daily by projects, or read by agents as instructions.
#[rustfmt::skip]
const REPORTED: &[&str] = &[
    "lefthook.yml", ".npmrc", ".yarnrc.yml", ".pnpmfile.cjs", "mise.toml", ".tool-versions",
    "lib/python3/site-packages/x.pth", ".cargo/config.toml", ".watchmanconfig", ".bazelrc", ".github/workflows/x.yml",
    ".gitlab-ci.yml", "rust-toolchain.toml", ".mvn/jvm.config", ".bundle/config", "sitecustomize.py", "AGENTS.md",
    "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", ".cursorrules", ".windsurfrules", ".goosehints",
    ".github/copilot-instructions.md", ".git/rebase-merge/git-rebase-todo", "skills/x/SKILL.md", "MEMORY.md", "COPILOT.md",
    ".ruler/x.md", "prek.toml", ".moon/workspace.yml", "ci.bazelrc", ".run/x.run.xml", "devfile.yaml",
];

/// Read by a tool without being asked, and written all day by developers: reported, and no question is asked.
#[rustfmt::skip]
const NOTED: &[&str] = &[
    "Justfile", "x/justfile", ".gitattributes", "GNUmakefile", "docker-compose.override.yml", "deno.json", "uv.toml", "pip.conf",
    "flake.nix", ".cursorignore", "Directory.Build.props", "nuget.config", "gradle/wrapper/gradle-wrapper.jar", "nx.json", ".in",
];

/// Written all day by developers.
#[rustfmt::skip]
const FREE: &[&str] = &[
    "src/main.rs", "package.json", "Makefile", "conftest.py", "eslint.config.js", ".gitignore",
    ".editorconfig", ".dockerignore", "Dockerfile", "docker-compose.yml", "README.md", "docs/agents.html",
    "hooks/useState.ts", "config/database.yml", "models/weights.pth", ".python-version", ".nvmrc", ".git/index", ".git/HEAD",
    ".github/FUNDING.yml", "tsconfig.json", "Cargo.toml", "pyproject.toml", "settings.json", "tasks.json", "vscode/x",
];

#[test]
fn every_probe_is_answered() {
    let write = |path: &str| treatment(Root::Folder, path.split('/')).write;
    for path in OBEYED {
        assert!(write(path) >= Write::Protect, "{path} is {:?}", write(path));
    }
    for path in REPORTED {
        assert_eq!(write(path), Write::Report, "{path}");
    }
    for path in NOTED {
        assert_eq!(write(path), Write::Note, "{path}");
        assert_eq!(stockade_names::obeyed(Root::Folder, path.split('/')), None, "{path}");
    }
    for path in FREE {
        assert_eq!(write(path), Write::Free, "{path}");
    }
}
