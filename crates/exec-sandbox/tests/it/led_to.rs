//! Files of the workspace that a name of the user leads to: a name of the home, a hook, a file of variables.

#![expect(clippy::disallowed_methods, reason = "makes links, and reads what was written")]

use std::fs;
use std::os::unix::fs::symlink;

use crate::live::{Live, each};

/// Whatever the file is called, it is judged by the name that leads to it.
#[test]
fn a_file_has_the_meaning_of_the_names_that_lead_to_it() {
    for backend in each().filter(|backend| *backend != stockade_exec_sandbox::SandboxBackend::Landlock) {
        let live = Live::bare();
        let work = live.workspace();
        for folder in [".git/hooks", ".git/objects", ".git/refs", "scripts", "settings"] {
            fs::create_dir_all(work.join(folder)).unwrap();
        }
        fs::write(work.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        for file in ["scripts/check", "scripts/plain", "settings/variables", "settings/plain"] {
            fs::write(work.join(file), "KEY=before\n").unwrap();
        }
        symlink("../../scripts/check", work.join(".git/hooks/pre-commit")).unwrap();
        symlink("settings/variables", work.join(".env")).unwrap();
        symlink("settings/plain", work.join(".env.example")).unwrap();
        let script = "echo ARMED > scripts/check; echo ok > scripts/plain; cat settings/variables .env; cat settings/plain";
        let outcome = live.run(&["sh", "-c", script], |spec| spec.backend = backend).unwrap();
        let said = String::from_utf8_lossy(&outcome.output.stdout).into_owned();
        assert_eq!(said, "KEY=before\n", "{backend:?}: only the file that no name of a secret leads to");
        let read = |path: &str| fs::read_to_string(work.join(path)).unwrap();
        assert_eq!(
            (read("scripts/check"), read("scripts/plain")),
            ("KEY=before\n".into(), "ok\n".into()),
            "{backend:?}"
        );
    }
}
