//! Editors: opening a folder, or a file in it, runs tasks, language servers and scripts that these name.

use super::{DAILY, STARTS};
use crate::name::Name;

pub(super) const ROWS: &[Name] = &[
    Name {
        id: "vscode",
        tool: "VS Code and its relatives",
        paths: &[".vscode", ".vscode-test", "*.code-workspace"],
        why: "Tasks run when the folder is opened; settings name interpreters, linters and terminals; `mcp.json` starts servers.",
        matches: &[".vscode/tasks.json", "packages/app/.vscode/settings.json", "x.code-workspace"],
        clean: &[".vscodeignore", "vscode/readme.md"],
        ..STARTS
    },
    Name {
        id: "devcontainer",
        tool: "Development containers",
        paths: &[".devcontainer", ".devcontainer.json"],
        why: "`initializeCommand` runs on the host before there is a container.",
        matches: &[".devcontainer/devcontainer.json", "x/.devcontainer.json"],
        clean: &["devcontainer.md"],
        ..STARTS
    },
    Name {
        id: "ides",
        tool: "JetBrains, Fleet, Zed, Nova, Visual Studio, Helix",
        paths: &[".idea", ".fleet", ".zed", ".nova", ".vs", ".helix"],
        why: "Run configurations, file watchers, tasks and language servers are named there.",
        matches: &[".idea/workspace.xml", "x/.helix/languages.toml", ".zed/tasks.json"],
        clean: &[".ideavimrc.md", "zed"],
        ..STARTS
    },
    Name {
        id: "vim",
        tool: "Vim, Neovim, Kakoune",
        paths: &[
            ".vimrc",
            "_vimrc",
            ".gvimrc",
            ".exrc",
            ".nvimrc",
            ".nvim.lua",
            ".lvimrc",
            ".lazy.lua",
            ".vim/coc-settings.json",
            ".ycm_extra_conf.py",
            ".kakrc",
        ],
        why: "With `exrc`, or a plugin, the editor runs the file of the folder in which it starts.",
        matches: &[".nvim.lua", "x/.exrc", ".vim/coc-settings.json"],
        clean: &["vimrc.md", ".vimspell"],
        ..STARTS
    },
    Name {
        id: "emacs",
        tool: "Emacs",
        paths: &[".dir-locals.el", ".dir-locals-2.el", ".emacs", ".emacs.d"],
        why: "Variables of the folder may be expressions that are evaluated; a home has its start-up file there.",
        matches: &[".dir-locals.el", "x/.emacs.d/init.el"],
        clean: &["dir-locals.el", ".emacs-ignore"],
        ..STARTS
    },
    Name {
        id: "editor-builds",
        tool: "Sublime Text, Eclipse, Kate, JetBrains, Xcode, language servers",
        paths: &[
            "*.sublime-project",
            "*.sublime-workspace",
            ".externalToolBuilders",
            ".kateproject",
            ".kateproject.build",
            ".vimspector.json",
            ".neoconf.json",
            ".luarc.json",
            ".luarc.jsonc",
            ".run",
            "*.run.xml",
            "omnisharp.json",
            ".clangd",
            ".xcode.env*",
            ".swiftpm",
            "CMakeUserPresets.json",
            ".sourcekit-lsp",
            "pyrightconfig.local.json",
            ".lsp",
        ],
        why: "Builds, debuggers and plugins are named there.",
        matches: &["x.sublime-project", ".luarc.json"],
        clean: &["sublime-project.md"],
        ..DAILY
    },
    Name {
        id: "cloud-workspaces",
        tool: "Gitpod, Ona, Replit, IDX, CodeSandbox, devfile",
        paths: &[
            ".gitpod.yml",
            ".gitpod.Dockerfile",
            ".gitpod",
            ".ona",
            ".replit",
            "replit.nix",
            ".idx",
            ".codesandbox",
            "sandbox.config.json",
            "devfile.yaml",
            ".devfile.yaml",
            "devfile.yml",
            ".devfile.yml",
        ],
        why: "A workspace in the cloud runs what is named there when it starts.",
        matches: &[".gitpod.yml", ".idx/dev.nix"],
        clean: &["gitpod.md"],
        ..DAILY
    },
];
