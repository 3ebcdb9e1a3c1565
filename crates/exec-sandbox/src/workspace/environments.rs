//! Programs and scripts of environments: they run when an environment is activated, or whenever its interpreter starts.
//!
//! An environment is recognized by the directories that every kind has, whatever it is called: `bin` with an interpreter or a
//! script that activates it (venv, Conda, Pixi, tox, direnv), and `site-packages`. Package managers write these files, so they
//! are writable, and changes are reported.

const SCRIPT: &str = "a script that activates an environment";
const INTERPRETER: &str = "an interpreter, which editors and agents run";
const STARTUP: &str = "code that runs whenever Python starts";

/// Names of scripts that activate or leave an environment, besides those with an ending.
const SCRIPTS: &[&str] = &["activate", "deactivate", "activate_this.py", "activate.d"];

/// Endings of the same scripts for other shells.
const SHELLS: &[&str] = &["sh", "bash", "zsh", "fish", "csh", "nu", "ps1", "bat", "xsh"];

/// Returns what a file is, by the name of its directory and its own name; both are folded.
pub(super) fn label(folder: &str, name: &str) -> Option<&'static str> {
    match folder {
        "bin" | "scripts" => program(name),
        "site-packages" | "dist-packages" => startup(name).then_some(STARTUP),
        // Conda runs every file in this directory.
        "activate.d" | "deactivate.d" => Some(SCRIPT),
        _ => None,
    }
}

fn program(name: &str) -> Option<&'static str> {
    let of_a_shell = name.strip_prefix("activate.").is_some_and(|shell| SHELLS.contains(&shell));
    if of_a_shell || SCRIPTS.contains(&name) {
        return Some(SCRIPT);
    }
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let version = ["python", "pypy", "pythonw"].into_iter().find_map(|begin| name.strip_prefix(begin));
    let is_version = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    version.is_some_and(is_version).then_some(INTERPRETER)
}

fn startup(name: &str) -> bool {
    name.ends_with(".pth") || matches!(name, "sitecustomize.py" | "usercustomize.py")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_environments_and_others() {
        for (folder, name, expected) in [
            ("bin", "activate", Some(SCRIPT)),
            ("bin", "activate.fish", Some(SCRIPT)),
            ("scripts", "activate.ps1", Some(SCRIPT)),
            ("bin", "python", Some(INTERPRETER)),
            ("bin", "python3.12", Some(INTERPRETER)),
            ("scripts", "python.exe", Some(INTERPRETER)),
            ("bin", "pypy3", Some(INTERPRETER)),
            ("activate.d", "x.sh", Some(SCRIPT)),
            ("site-packages", "e.pth", Some(STARTUP)),
            ("dist-packages", "sitecustomize.py", Some(STARTUP)),
            ("bin", "pip", None),
            ("bin", "python3-config", None),
            ("bin", "activate-project", None),
            ("scripts", "activate.md", None),
            ("models", "e.pth", None),
            ("site-packages", "six.py", None),
            ("src", "python", None),
        ] {
            assert_eq!(label(folder, name), expected, "{folder}/{name}");
        }
    }
}
