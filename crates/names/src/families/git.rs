//! Git and other systems of version control: hooks, filters, helpers and monitors are programs that their settings name.

use super::{DAILY, STARTS};
use crate::name::{Name, Scope, Write};

pub(super) const ROWS: &[Name] = &[
    Name {
        id: "git-repository",
        tool: "Git",
        paths: &[".git"],
        // Git itself has to write there; the parts that run programs have rows of their own. File tools never open it.
        write: Write::Free,
        why: "A repository names hooks, filters and monitors, and git runs them.",
        matches: &[".git", ".git/HEAD", "vendor/lib/.GIT/index", "GIT~1/config"],
        clean: &[".gitignore", "git", ".github/FUNDING.yml"],
        ..STARTS
    },
    Name {
        id: "git-programs",
        tool: "Git",
        scope: Scope::Repository,
        paths: &[
            "hooks",
            "config",
            "config.worktree",
            "commondir",
            "gitdir",
            "info/attributes",
            "objects/info/alternates",
        ],
        why: "Hooks run at the next commit; the settings name monitors, pagers, filters and signers; the others lead to settings elsewhere.",
        matches: &["hooks/pre-commit", "config", "modules/a/b/config", "worktrees/x/commondir"],
        clean: &["HEAD", "refs/heads/config", "objects/pack/x"],
        ..STARTS
    },
    Name {
        id: "git-plans",
        tool: "Git",
        scope: Scope::Repository,
        paths: &["rebase-merge/git-rebase-todo", "sequencer/todo"],
        write: Write::Report,
        why: "`git rebase --continue` runs the `exec` lines of what is still to be done.",
        matches: &["rebase-merge/git-rebase-todo"],
        clean: &["rebase-merge/author-script"],
        ..STARTS
    },
    Name {
        id: "git-files",
        tool: "Git",
        paths: &[".gitmodules", ".gitconfig"],
        why: "`.gitmodules` names the sources and settings of submodules; `.gitconfig` contains the settings of a home.",
        matches: &[".gitmodules", "sub/.gitconfig"],
        clean: &[".gitkeep", "gitconfig.md"],
        ..STARTS
    },
    Name {
        id: "git-hook-managers",
        tool: "Husky, pre-commit",
        paths: &[".husky", ".pre-commit-config.yaml"],
        why: "They put what is named there between a person and a commit.",
        matches: &[".husky/pre-commit", "web/.pre-commit-config.yaml"],
        clean: &["husky.md", ".pre-commit-hooks.yaml"],
        ..STARTS
    },
    Name {
        id: "git-hook-settings",
        tool: "Lefthook, lint-staged and other managers of hooks",
        paths: &[
            ".githooks",
            "lefthook.yml",
            ".lefthook.yml",
            "lefthook.yaml",
            ".lefthook.yaml",
            "lefthook.toml",
            ".lefthook.toml",
            "lefthook.json",
            ".lefthook.json",
            "lefthook-local.*",
            ".lefthook",
            ".lefthook-local",
            ".lintstagedrc*",
            ".overcommit.yml",
            ".simple-git-hooks.*",
            ".gitlint",
            ".git-hooks",
            ".hooks",
            "prek.toml",
            ".prek.toml",
            "captainhook.json",
            "captainhook.json.dist",
            ".captainhook*",
            "grumphp.yml",
            "grumphp.yml.dist",
            "grumphp.yaml",
            ".yorkie",
            ".overcommit",
            ".cog.toml",
            "cog.toml",
            ".pre-commit-config.yml",
        ],
        why: "The hooks of a repository run what is named there.",
        matches: &[".githooks/pre-push", "lefthook.yml", ".lintstagedrc.json"],
        clean: &["hooks/readme.md", "lefthook.md"],
        ..DAILY
    },
    Name {
        id: "other-version-control",
        tool: "Mercurial, Jujutsu, Sapling, Darcs, Pijul",
        paths: &[
            ".hg/hgrc",
            ".hg/hgrc-not-shared",
            ".hg/sharedpath",
            ".bzr/branch/branch.conf",
            ".jj/repo/config.toml",
            ".sl/config",
            "_darcs/prefs/defaults",
            ".pijul/config",
        ],
        why: "Their settings name hooks, aliases and tools, which run at the next command.",
        matches: &[".hg/hgrc", ".hg/sharedpath", "x/.jj/repo/config.toml"],
        clean: &[".hgignore", ".jj/repo/store"],
        ..STARTS
    },
];
