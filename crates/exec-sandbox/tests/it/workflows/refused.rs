//! What does not work, as the README of the crate says: each row fails, loudly, and nothing is lost.

use stockade_exec_sandbox::End;

use super::{Live, Workflow, outside, views};

#[test]
fn refused_workflows_report_it_and_change_nothing() {
    for row in ROWS {
        if let Some(tool) = row.lacks() {
            eprintln!("skipped: {}: no {tool} here", row.name);
            continue;
        }
        for backend in views() {
            let live = Live::bare();
            let outcome = row.run(&live, backend).unwrap();
            let said = String::from_utf8_lossy(&outcome.output.stdout);
            let is_loud = matches!(outcome.end, End::Exited(1..) | End::Signalled(_)) && !said.is_empty();
            assert!(is_loud, "{} ({backend:?}): {:?} {said}", row.name, outcome.end);
            outside(&live, row.after, row.name);
        }
    }
}

#[rustfmt::skip]
const ROWS: &[Workflow] = &[
    Workflow {
        name: "a program that runs as its owner",
        before: "cp /bin/true t",
        inside: "chmod 4755 t",
        after: "test \"$(stat -c %a t)\" = 755",
        ..Workflow::NEW
    },
    Workflow {
        name: "git config of the repository",
        needs: &["git"],
        before: "git init -q -b main .; git config user.name me",
        inside: "git config core.fsmonitor /tmp/x",
        after: "! git config core.fsmonitor; test \"$(git config user.name)\" = me",
        ..Workflow::NEW
    },
    // An earlier command may have created the content of the branch.
    Workflow {
        name: "a branch with settings of an editor",
        needs: &["git"],
        before: "git init -q -b main .; git config user.name me; git config user.email me@x; echo 1 > f; git add f; git commit -qm a; \
                 git checkout -q -b ide; mkdir .vscode; echo '{}' > .vscode/settings.json; echo 2 > f; git add .; git commit -qm b; \
                 git checkout -q main",
        inside: "git checkout ide",
        after: "test \"$(git branch --show-current)\" = main; test -z \"$(git status --porcelain)\"; test \"$(cat f)\" = 1; \
                git checkout -q ide; test \"$(cat .vscode/settings.json)\" = '{}'",
        ..Workflow::NEW
    },
    Workflow {
        name: "another user",
        needs: &["su"],
        inside: "su -c true",
        ..Workflow::NEW
    },
    Workflow {
        name: "a mount",
        needs: &["mount"],
        inside: "mkdir m; mount -t tmpfs none m",
        ..Workflow::NEW
    },
];
