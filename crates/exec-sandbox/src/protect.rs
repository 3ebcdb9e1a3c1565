//! Names in a workspace that other programs obey: what is written there runs, later, outside of the sandbox.

use std::path::Path;

use crate::host::Treatment;

/// A protected name, what is done about it where it exists, and whether it may appear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProtectedName {
    /// The path below a folder.
    pub path: &'static str,
    /// What is done about one that exists.
    pub treatment: Treatment,
    /// Whether it is also looked for below the top of the workspace.
    pub depth: Depth,
}

/// Where a protected name counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// At the top of the workspace.
    Top,
    /// In any folder.
    Anywhere,
}

const fn top(path: &'static str) -> ProtectedName {
    ProtectedName { path, treatment: Treatment::ReadOnly, depth: Depth::Top }
}

/// What a command may not change, nor create where it is missing.
pub const PROTECTED_NAMES: &[ProtectedName] = &[
    // Editors run tasks, hooks and programs that are named there.
    top(".vscode"),
    top(".idea"),
    top(".zed"),
    top(".devcontainer"),
    top(".devcontainer.json"),
    // Agents obey settings, hooks and servers that are named there.
    top(".claude"),
    top(".codex"),
    top(".agents"),
    top(".cursor"),
    top(".gemini"),
    top(".codebuddy"),
    top(".stockade"),
    top(".aws"),
    top(".mcp.json"),
    // Shells and their helpers run what stands there on entering the folder, or as a home.
    top(".envrc"),
    top(".bashrc"),
    top(".bash_profile"),
    top(".bash_login"),
    top(".profile"),
    top(".zshrc"),
    top(".zshenv"),
    top(".zprofile"),
    top(".inputrc"),
    // Editors and agents run the interpreter that a virtual environment names.
    top(".venv/pyvenv.cfg"),
    top(".venv/bin/python"),
    top(".venv/bin/python3"),
    top("venv/pyvenv.cfg"),
    top("venv/bin/python"),
    top("venv/bin/python3"),
    // Git and its helpers.
    top(".husky"),
    top(".gitmodules"),
    top(".gitconfig"),
    top(".ripgreprc"),
    top(".pre-commit-config.yaml"),
];

/// What is protected inside of each repository. The repository itself can be committed to.
pub(crate) const IN_A_REPOSITORY: &[&str] = &[
    "hooks",
    "config",
    "config.worktree",
    "commondir",
    "gitdir",
    "info/attributes",
    "objects/info/alternates",
];

/// Whether an interpreter that a virtual environment links to is one of the system, or another link beside it.
pub(crate) fn is_interpreter_of_the_system(link: &Path) -> bool {
    let plain = link.components().all(|part| !matches!(part, std::path::Component::ParentDir));
    let beside = link.components().count() == 1;
    plain && (link.starts_with("/usr/bin") || link.starts_with("/usr/local/bin") || beside)
}

/// Whether the settings of a virtual environment name nothing but programs of the system.
pub(crate) fn names_programs_of_the_system(settings: &str) -> bool {
    let pairs = settings.lines().filter_map(|line| line.split_once('='));
    let programs = pairs.filter(|(name, _)| matches!(name.trim(), "home" | "executable" | "base-executable"));
    programs.into_iter().all(|(_, value)| is_interpreter_of_the_system(Path::new(value.trim())))
}

/// Whether a file of this name holds secrets for programs that read their settings from it.
pub(crate) fn holds_secrets(name: &str) -> bool {
    const TEMPLATES: &[&str] = &[".env.example", ".env.sample", ".env.template", ".env.dist"];
    const KEYS: &[&str] =
        &["id_rsa", "id_ed25519", "id_ecdsa", "id_dsa", ".netrc", ".npmrc.local", ".pgpass"];
    (name == ".env" || name.starts_with(".env.") || KEYS.contains(&name)) && !TEMPLATES.contains(&name)
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

    #[test]
    fn settings_with_secrets_and_templates_of_them() {
        for name in [".env", ".env.local", ".env.production", "id_ed25519", ".pgpass"] {
            assert!(holds_secrets(name), "{name}");
        }
        for name in [".envrc", ".env.example", "env", "a.env", "id_ed25519.pub", ".environment"] {
            assert!(!holds_secrets(name), "{name}");
        }
    }
}
