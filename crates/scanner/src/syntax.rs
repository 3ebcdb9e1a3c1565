//! Determines the syntax of a file from its name and first line.

use std::path::Path;

use crate::regions::Syntax;

/// Extensions that determine the syntax. Anything else is read as Markdown: prose with code in it.
const ENDINGS: &[(Syntax, &[&str])] = &[
    (
        Syntax::Shell,
        &["sh", "bash", "zsh", "ksh", "dash", "fish", "command", "bats", "zshrc", "bashrc", "profile"],
    ),
    (
        Syntax::Code,
        &[
            "py",
            "pyw",
            "js",
            "mjs",
            "cjs",
            "ts",
            "mts",
            "cts",
            "tsx",
            "jsx",
            "rb",
            "pl",
            "pm",
            "php",
            "lua",
            "go",
            "rs",
            "c",
            "h",
            "cc",
            "cpp",
            "hpp",
            "cs",
            "java",
            "kt",
            "kts",
            "scala",
            "swift",
            "m",
            "r",
            "jl",
            "ex",
            "exs",
            "erl",
            "hs",
            "clj",
            "dart",
            "vue",
            "svelte",
            "ps1",
            "psm1",
            "psd1",
            "bat",
            "cmd",
            "vbs",
            "awk",
            "sql",
            "json",
            "jsonc",
            "json5",
            "jsonl",
            "yaml",
            "yml",
            "toml",
            "ini",
            "cfg",
            "conf",
            "env",
            "xml",
            "xsd",
            "svg",
            "html",
            "htm",
            "css",
            "scss",
            "plist",
            "gradle",
            "tf",
            "nix",
            "ipynb",
            "lock",
            "properties",
        ],
    ),
];

/// Complete names that determine the syntax.
const NAMES: &[(Syntax, &[&str])] = &[
    (
        Syntax::Shell,
        &[".bashrc", ".bash_profile", ".zshrc", ".zshenv", ".zprofile", ".profile", ".envrc", "PKGBUILD"],
    ),
    (
        Syntax::Code,
        &["Dockerfile", "Containerfile", "Makefile", "GNUmakefile", "Justfile", "justfile", "Rakefile"],
    ),
];

/// Programs that run shell scripts.
const SHELLS: &[&str] = &["sh", "bash", "zsh", "ksh", "dash", "ash", "fish", "busybox", "bats"];

/// Returns the syntax of a file. A `#!` line takes precedence over the name, since the system considers only that
/// line.
#[must_use]
pub fn syntax_of(path: &Path, text: &str) -> Syntax {
    interpreter(text)
        .map(|name| if SHELLS.contains(&name) { Syntax::Shell } else { Syntax::Code })
        .or_else(|| look_up(NAMES, path.file_name()?.to_str()?))
        .or_else(|| look_up(ENDINGS, &path.extension()?.to_str()?.to_ascii_lowercase()))
        .unwrap_or_default()
}

fn look_up(table: &[(Syntax, &[&str])], name: &str) -> Option<Syntax> {
    table.iter().find(|(_, names)| names.contains(&name)).map(|(syntax, _)| *syntax)
}

/// Returns the name of the program on a `#!` line, past `env` and its options.
fn interpreter(text: &str) -> Option<&str> {
    let line = text.strip_prefix("#!")?.lines().next()?;
    let mut names = line.split_ascii_whitespace().filter_map(|word| word.rsplit('/').next());
    match names.next()? {
        "env" => names.find(|name| !name.starts_with('-') && !name.contains('=')),
        name => Some(name),
    }
}

#[cfg(test)]
mod tests {
    use super::syntax_of;
    use crate::regions::Syntax;
    use std::path::Path;

    #[test]
    fn files() {
        let cases = [
            ("SKILL.md", "# Title", Syntax::Markdown),
            ("notes.txt", "", Syntax::Markdown),
            ("LICENSE", "", Syntax::Markdown),
            ("setup.sh", "", Syntax::Shell),
            ("SETUP.SH", "", Syntax::Shell),
            (".zshrc", "", Syntax::Shell),
            ("tool.py", "", Syntax::Code),
            ("Dockerfile", "", Syntax::Code),
            ("run", "#!/bin/sh -e\n", Syntax::Shell),
            ("run", "#! /usr/bin/env -S LC_ALL=C bash\n", Syntax::Shell),
            ("run.md", "#!/usr/bin/env bash\n", Syntax::Shell),
            ("run.sh", "#!/usr/bin/env python3\n", Syntax::Code),
            ("run", "#!\n", Syntax::Markdown),
            ("run", "#!/usr/bin/env\n", Syntax::Markdown),
        ];
        for (path, text, syntax) in cases {
            assert_eq!(syntax_of(Path::new(path), text), syntax, "{path} {text:?}");
        }
    }
}
