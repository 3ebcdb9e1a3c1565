//! How a sandbox treats protected names: files that other programs obey, whose content runs later outside of the sandbox. The
//! names are in the table of `stockade_names`.

use std::path::Path;
use std::sync::LazyLock;

use stockade_names::{Beginnings, Name, SandboxView, Scope, Write, fold, names};

/// The treatment of files of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Existing ones are read-only; new ones are refused or quarantined.
    Protect,
    /// It is hidden behind a device that cannot be opened.
    Hide,
    /// It is hidden if it contains a secret.
    HideWithSecret,
    /// It is visible, and reported if it contains a secret.
    ReportSecrets,
    /// It is writable, and changes are reported.
    Report,
}

/// Returns how files of a row are treated in a workspace, if they are.
pub(crate) fn answer(name: &Name) -> Option<Answer> {
    match name.write {
        _ if name.view() == SandboxView::Masked => Some(Answer::Hide),
        _ if name.view() == SandboxView::MaskedWithSecret => Some(Answer::HideWithSecret),
        _ if name.view() == SandboxView::Reported => Some(Answer::ReportSecrets),
        Write::Protect | Write::Refuse if name.is_obeyed() => Some(Answer::Protect),
        Write::Note | Write::Report if name.is_obeyed() => Some(Answer::Report),
        _ => None,
    }
}

/// Names that are judged by the content of the file or the target of the symlink, when the command ends.
pub(crate) const JUDGED_BY_CONTENT: &[&str] = &[".gitmodules", "pyvenv.cfg", "hgrc", "python", "python3"];

/// The prefix of copies that replace a file that a command writes.
pub(crate) const COPIES: &str = ".stockade-copy-";

/// The prefix of the directory through which reviewed changes reach a workspace on another file system.
pub(crate) const SLOTS_BESIDE: &str = ".stockade-changes-";

/// Names that are reserved for this program: a command that wrote there could change files after they were judged.
const OURS: &[&str] = &[COPIES, SLOTS_BESIDE];

/// The reason of their refusal.
pub(crate) const KEPT_FOR_US: &str = "names with this prefix are reserved for Stockade";

/// Whether a path, or one of its parents, is reserved for this program.
pub(crate) fn is_ours(path: &Path) -> bool {
    path.iter().any(|name| {
        let name = name.to_string_lossy();
        let name = fold(&name);
        OURS.iter().any(|ours| name.starts_with(ours))
    })
}

/// The treated rows that apply in any directory.
pub(crate) static IN_ANY_FOLDER: LazyLock<Beginnings> =
    LazyLock::new(|| Beginnings::of(|name| answer(name).is_some()));

/// Returns the rows and paths that apply in each repository. The rest of the repository stays writable for commits.
pub(crate) fn in_a_repository() -> impl Iterator<Item = (&'static Name, &'static str)> {
    let rows = names().filter(|name| name.scope == Scope::Repository);
    rows.flat_map(|name| name.paths.iter().map(move |path| (name, *path)))
}

/// Returns the table of names for the documentation: the paths, and their treatment in a workspace.
pub fn name_table() -> Vec<(String, &'static str)> {
    let rows = names().filter_map(|name| {
        let begin = match name.scope {
            Scope::Anywhere => "",
            Scope::Repository => "in a repository, ",
            Scope::Home | Scope::Machine => return None,
        };
        let done = match answer(name)? {
            Answer::Protect => "read-only; new ones are refused or quarantined",
            Answer::Hide => "cannot be opened, unless it is committed unchanged",
            Answer::HideWithSecret => {
                "cannot be opened if it contains a secret, unless it is committed unchanged"
            }
            Answer::ReportSecrets => "visible; reported if it contains a secret",
            Answer::Report => "writable; changes are reported",
        };
        Some(name.paths.iter().map(move |path| (format!("{begin}`{path}`"), done)))
    });
    rows.flatten().collect()
}

/// Whether the interpreter symlink of a virtual environment points to a system interpreter, or to another symlink beside it.
pub(crate) fn is_interpreter_of_the_system(link: &Path) -> bool {
    let plain = link.components().all(|part| !matches!(part, std::path::Component::ParentDir));
    let beside = link.components().count() == 1;
    plain && (link.starts_with("/usr/bin") || link.starts_with("/usr/local/bin") || beside)
}

/// Whether the settings of a virtual environment name system interpreters only.
pub(crate) fn names_programs_of_the_system(settings: &str) -> bool {
    let pairs = settings.lines().filter_map(|line| line.split_once('='));
    let programs = pairs.filter(|(name, _)| matches!(name.trim(), "home" | "executable" | "base-executable"));
    programs.into_iter().all(|(_, value)| is_interpreter_of_the_system(Path::new(value.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpreters_of_the_system_and_others() {
        for link in ["/usr/bin/python3", "/usr/local/bin/python3.12", "python3"] {
            assert!(is_interpreter_of_the_system(Path::new(link)), "{link}");
        }
        for link in ["/tmp/x", "../x", "/usr/bin/../../tmp/x", "bin/x", "/usr/binx/y"] {
            assert!(!is_interpreter_of_the_system(Path::new(link)), "{link}");
        }
        assert!(names_programs_of_the_system("home = /usr/bin\nversion = 3.11.2\n"));
        assert!(!names_programs_of_the_system("home = /srv/work/evil\n"));
    }

    /// Returns the treatment of a single name in any directory.
    fn done(name: &str) -> Option<Answer> {
        let whole = IN_ANY_FOLDER.with(name).into_iter().filter(|beginning| beginning.rest.is_none());
        whole.filter_map(|beginning| answer(beginning.name)).next()
    }

    #[test]
    fn settings_with_secrets_and_templates_of_them() {
        for name in [".env", ".env.local", ".env.production", "id_ed25519", ".pgpass"] {
            assert_eq!(done(name), Some(Answer::Hide), "{name}");
        }
        for name in [".env.example", "env", "example.env", "id_ed25519.pub", ".environment"] {
            assert_eq!(done(name), None, "{name}");
        }
    }

    /// Names that were protected before the shared table existed: all of them still are.
    #[test]
    #[rustfmt::skip]
    fn formerly_protected_names_are_still_protected() {
        const AT_THE_TOP: &[&str] = &[
            ".vscode", ".idea", ".zed", ".devcontainer", ".devcontainer.json", ".claude", ".codex", ".agents", ".cursor",
            ".gemini", ".codebuddy", ".stockade", ".aws", ".mcp.json", ".envrc", ".bashrc", ".bash_profile",
            ".bash_login", ".profile", ".zshrc", ".zshenv", ".zprofile", ".inputrc", ".husky", ".gitmodules",
            ".gitconfig", ".ripgreprc", ".pre-commit-config.yaml",
        ];
        const BELOW: &[(&str, &str)] = &[
            (".venv", "pyvenv.cfg"), (".venv", "bin/python"), (".venv", "bin/python3"), ("venv", "pyvenv.cfg"),
            ("venv", "bin/python"), ("venv", "bin/python3"),
        ];
        const IN_A_REPOSITORY: &[&str] = &[
            "hooks", "config", "config.worktree", "commondir", "gitdir", "info/attributes", "objects/info/alternates",
        ];
        for name in AT_THE_TOP {
            assert_eq!(done(name), Some(Answer::Protect), "{name}");
        }
        for (first, rest) in BELOW {
            let found = IN_ANY_FOLDER.with(first);
            let own = found.iter().find(|beginning| beginning.rest == Some(rest));
            assert_eq!(own.and_then(|it| answer(it.name)), Some(Answer::Protect), "{first}/{rest}");
        }
        for path in IN_A_REPOSITORY {
            let own = in_a_repository().find(|(_, own)| own == path);
            assert_eq!(own.and_then(|(name, _)| answer(name)), Some(Answer::Protect), "{path}");
        }
        for name in [".env", ".env.x", "id_rsa", "id_ed25519", "id_ecdsa", "id_dsa", ".netrc", ".npmrc.local", ".pgpass"] {
            assert_eq!(done(name), Some(Answer::Hide), "{name}");
        }
    }
}
