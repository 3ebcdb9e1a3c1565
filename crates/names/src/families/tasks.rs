//! Managers of tools, tasks and packages: ordinary commands run what their settings name.

use super::DAILY;
use crate::name::{Name, Write};

pub(super) const ROWS: &[Name] = &[
    Name {
        id: "mise",
        tool: "mise, asdf, proto, moon, Hermit, pkgx",
        paths: &[
            "mise.toml",
            ".mise.toml",
            "mise.local.toml",
            ".mise.local.toml",
            "mise.*.toml",
            ".mise.*.toml",
            ".mise",
            "mise/config.toml",
            ".config/mise",
            ".config/mise.toml",
            ".tool-versions",
            "mise-tasks",
            ".mise-tasks",
            ".prototools",
            ".moon/*.yml",
            ".moon/tasks",
            ".hermit",
            "hermit.hcl",
            "bin/hermit.hcl",
            "bin/activate-hermit",
            ".pkgx.yaml",
            "pkgx.yaml",
        ],
        why: "Hooks and variables are set on entering the folder; plugins are programs.",
        matches: &["mise.toml", "x/.tool-versions", ".config/mise/config.toml"],
        clean: &["mise.md", ".node-version"],
        ..DAILY
    },
    Name {
        id: "npm-settings",
        tool: "npm, pnpm, Yarn, Bun",
        paths: &[
            ".npmrc",
            ".yarnrc*",
            ".pnpmfile.cjs",
            ".pnpmfile.mjs",
            ".pnp.cjs",
            ".pnp.loader.mjs",
            ".yarn/releases",
            ".yarn/plugins",
            "bunfig.toml",
            ".bunfig.toml",
        ],
        why: "Shells, hooks of installing, plugins and the program itself are named there; so is where packages come from.",
        matches: &[".npmrc", "web/.yarnrc.yml", ".pnpmfile.cjs", ".yarn/releases/yarn-4.cjs"],
        clean: &["npmrc.md", ".yarn/cache/x.zip", "package.json"],
        ..DAILY
    },
    Name {
        id: "cargo-settings",
        tool: "Cargo, rustup",
        paths: &[".cargo/config*", "rust-toolchain", "rust-toolchain.toml"],
        why: "Runners, linkers, wrappers and the compiler itself are named there.",
        matches: &[".cargo/config.toml", "crates/x/.cargo/config", "rust-toolchain.toml"],
        clean: &["Cargo.toml", "cargo/config.toml.md"],
        ..DAILY
    },
    Name {
        id: "build-settings",
        tool: "Bazel, Buck, Maven, Gradle, sbt, Bundler, Watchman",
        paths: &[
            ".bazelrc",
            ".bazeliskrc",
            "tools/bazel",
            ".buckconfig",
            ".buckconfig.local",
            ".mvn",
            ".sbtopts",
            ".jvmopts",
            ".bundle/config",
            "*.bazelrc",
            "init.gradle",
            "init.gradle.kts",
            ".watchmanconfig",
        ],
        why: "Options of the build name wrappers, agents of the virtual machine and extensions.",
        matches: &[".bazelrc", "x/.mvn/jvm.config", ".bundle/config"],
        clean: &["BUILD.bazel", ".bundle/cache"],
        ..DAILY
    },
    Name {
        id: "python-package-settings",
        tool: "pip, twine",
        paths: &[".pypirc"],
        why: "Names the registries of packages.",
        matches: &[".pypirc", "x/.pypirc"],
        clean: &["pypirc.md"],
        ..DAILY
    },
    Name {
        id: "aws-profiles",
        tool: "AWS tools",
        paths: &[".aws"],
        write: Write::Protect,
        why: "`credential_process` of a profile is a program.",
        matches: &[".aws/config"],
        clean: &["aws/config"],
        ..DAILY
    },
    Name {
        id: "linter-plugins",
        tool: "Linters that editors run",
        paths: &[
            ".pylintrc",
            ".rubocop.yml",
            ".solargraph.yml",
            ".luacheckrc",
            ".formatter.exs",
            ".credo.exs",
            ".proverc",
            ".rspec",
        ],
        why: "They name code to load before anything is looked at, and editors run them on saving.",
        matches: &[".pylintrc", "x/.formatter.exs"],
        clean: &["pylint.md", ".editorconfig"],
        ..DAILY
    },
];
