//! Files of a project that tools read by themselves, and that developers write like source code: a sandboxed command's change is
//! reported, so that a reviewer knows of it.

use super::NOTED;
use crate::name::Name;

pub(super) const ROWS: &[Name] = &[
    Name {
        id: "preferred-build-files",
        tool: "make, just, Docker Compose, CMake",
        paths: &[
            "GNUmakefile",
            "justfile",
            ".justfile",
            "Makefile.toml",
            "docker-compose.override.yml",
            "docker-compose.override.yaml",
            "compose.override.yml",
            "compose.override.yaml",
            "CMakePresets.json",
        ],
        why: "Tools prefer it to the project's usual file, or merge it into that without an option.",
        matches: &["GNUmakefile", "x/Justfile", "docker-compose.override.yml", "compose.override.yaml"],
        clean: &["Makefile", "docker-compose.prod.yml.md", "CMakeLists.txt"],
        ..NOTED
    },
    Name {
        id: "development-environments",
        tool: "Nix, devenv, Devbox, Pixi, Flox",
        paths: &[
            "shell.nix",
            "default.nix",
            "flake.nix",
            "flake.lock",
            "devenv.nix",
            "devenv.yaml",
            "devenv.local.nix",
            "devbox.json",
            "pixi.toml",
            ".flox",
        ],
        why: "Shell hooks and programs of the environment are named there, and start with it.",
        matches: &["shell.nix", "x/flake.nix", "devbox.json", "pixi.toml"],
        clean: &["nix/overlay.nix", "devbox.md", "pixi.lock"],
        ..NOTED
    },
    Name {
        id: "msbuild-and-nuget",
        tool: "MSBuild, NuGet",
        paths: &[
            "Directory.Build.props",
            "Directory.Build.targets",
            "Directory.Build.rsp",
            "Directory.Packages.props",
            "Directory.Solution.props",
            "Directory.Solution.targets",
            "MSBuild.rsp",
            "nuget.config",
            ".config/dotnet-tools.json",
        ],
        why: "Every build of a project below imports it; NuGet loads packages from the sources that it names.",
        matches: &["Directory.Build.props", "src/Directory.Build.targets", "NuGet.Config"],
        clean: &["app.csproj", "build.props"],
        ..NOTED
    },
    Name {
        id: "wrappers-of-build-tools",
        tool: "Gradle, R, Go",
        paths: &["gradle/wrapper", "renv/activate.R", "go.work", "go.work.sum"],
        why: "The program that builds the project, or the code that it starts with, is loaded from there.",
        matches: &[
            "gradle/wrapper/gradle-wrapper.jar",
            "x/gradle/wrapper/gradle-wrapper.properties",
            "renv/activate.R",
        ],
        clean: &["gradle/libs.versions.toml", "renv.lock", "go.mod"],
        ..NOTED
    },
    Name {
        id: "workspaces-and-registries",
        tool: "pnpm, Deno, Nx, Turborepo, uv, Poetry, PDM, pip",
        paths: &[
            "pnpm-workspace.yaml",
            "deno.json",
            "deno.jsonc",
            "nx.json",
            "turbo.json",
            "turbo.jsonc",
            "uv.toml",
            "poetry.toml",
            "pdm.toml",
            ".pdm-python",
            "pip.conf",
            "pip.ini",
            ".condarc",
            "verdaccio.yaml",
            ".lfsconfig",
        ],
        why: "Names registries, plugins or the interpreter; the tool obeys it wherever it starts below.",
        matches: &["pnpm-workspace.yaml", "web/deno.jsonc", "uv.toml", "x/pip.conf", ".lfsconfig"],
        clean: &["package.json", "pyproject.toml", "poetry.lock", "uv.lock"],
        ..NOTED
    },
    Name {
        id: "runners-and-watchers",
        tool: "nodemon, Air, cargo-nextest, latexmk, PHP",
        paths: &[
            ".nodemonrc",
            "nodemon.json",
            ".air.toml",
            ".air.conf",
            ".config/nextest.toml",
            "toolchain.toml",
            "bacon.toml",
            ".bacon.toml",
            "latexmkrc",
            ".latexmkrc",
            ".user.ini",
            "auto_prepend.php",
        ],
        why: "Names programs that run at each change or test, or code that runs before all other.",
        matches: &[".air.toml", "x/.config/nextest.toml", "doc/latexmkrc", ".user.ini"],
        clean: &["air.md", "nextest.toml", "prepend.php"],
        ..NOTED
    },
    Name {
        id: "git-attributes",
        tool: "Git",
        paths: &[".gitattributes"],
        why: "Selects the filters and diff programs of the user's settings, and can hide changes from a diff.",
        matches: &[".gitattributes", "x/.gitattributes"],
        clean: &[".gitignore", ".gitkeep"],
        ..NOTED
    },
    Name {
        id: "folder-of-hooks",
        tool: "Git",
        paths: &[
            "hooks/applypatch-msg",
            "hooks/commit-msg",
            "hooks/post-checkout",
            "hooks/post-commit",
            "hooks/post-merge",
            "hooks/post-rewrite",
            "hooks/pre-applypatch",
            "hooks/pre-commit",
            "hooks/pre-merge-commit",
            "hooks/pre-push",
            "hooks/pre-rebase",
            "hooks/prepare-commit-msg",
        ],
        why: "Projects set `core.hooksPath` to such a directory, or copy it into the repository.",
        matches: &["hooks/pre-commit", "scripts/hooks/commit-msg"],
        clean: &["hooks/useState.ts", "hooks/pre-commit.md"],
        ..NOTED
    },
    Name {
        id: "services-of-the-forge",
        tool: "GitHub",
        paths: &[
            ".github/dependabot.yml",
            ".github/dependabot.yaml",
            ".github/lsp.json",
            ".github/renovate.json*",
        ],
        why: "Names registries, package managers and language servers that the forge or an editor starts.",
        matches: &[".github/dependabot.yml", ".github/lsp.json"],
        clean: &[".github/FUNDING.yml", ".github/CODEOWNERS", "dependabot.md"],
        ..NOTED
    },
];
