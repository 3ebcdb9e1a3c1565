//! Published attacks of 2026 by options of allowed programs, by the folder in which a command starts, and by paths that
//! cannot be resolved.

use super::case::OnDisk::{File, Folder, Link, Repository};
use super::case::{Case, command, read, write};

/// Settings with which git starts a program to see what has changed.
const ARMED: &str =
    "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfsmonitor = \": > {marker}; false\"\n";

pub(super) const CASES: &[Case] = &[
    Case {
        id: "CVE-2026-134815",
        attack: "`--exec` and `--upload-pack` name the program that answers `ls-remote`",
        on_disk: &[],
        tries: &[
            command("git ls-remote --exec=./payload ."),
            command("git ls-remote --upload-pack ./payload ."),
            command("git fetch --upload-pack=./payload ."),
            command("git fetch-pack --exec=./payload . main"),
            command("git archive --remote=. --exec=./payload HEAD"),
            command("git log --oneline").allowed(),
        ],
    },
    Case {
        id: "CVE-2026-67325",
        attack: "an option is written with fewer letters than the list of denied ones has",
        on_disk: &[],
        tries: &[
            command("git ls-remote --upl=./payload ."),
            command("git fetch --upload-p ./payload ."),
            command("git clone --upl ./payload . x"),
            command("git archive --rem=. HEAD"),
            command("git grep --open-files-in-p=./payload x"),
            command("git grep --open=./payload x"),
        ],
    },
    Case {
        id: "CVE-2026-113663",
        attack: "a line break begins a second command behind an allowed one",
        on_disk: &[],
        tries: &[
            command("echo a\n./payload"),
            command("ls -l\n\n./payload"),
            command("ls -l;\n./payload"),
            command("ls \\\n-l\n./payload"),
            command("ls -l\necho b").allowed(),
        ],
    },
    Case {
        id: "CVE-2026-25722",
        attack: "the folder is changed first, so that the name that is written looks harmless",
        on_disk: &[Folder(".claude"), Repository(".git", ""), Folder(".vscode")],
        tries: &[
            command("cd .claude && echo x > settings.json").asked(),
            command("cd .git/hooks; echo x > pre-commit").asked(),
            command("cd .git && cd hooks && cp ../../x pre-commit").asked(),
            command("pushd .vscode && echo x > tasks.json").asked(),
            command("(cd .claude; tee settings.json < x)").asked(),
        ],
    },
    Case {
        id: "CVE-2026-55743",
        attack: "a variable before `find` hides the program that it starts",
        on_disk: &[],
        tries: &[
            command("LANG=C find . -execdir ./payload {} +"),
            command("env LANG=C find . -exec ./payload {} \\;"),
            command("LC_ALL=C find . -okdir ./payload \\;"),
            command("find . -fprintf out %p"),
            command("find . -name x").allowed(),
        ],
    },
    Case {
        id: "CVE-2026-71963",
        attack: "the monitor of a repository starts when its state is shown",
        on_disk: &[Repository(".git", ARMED), Repository("vendor/lib/.git", ARMED)],
        tries: &[
            command("git status"),
            command("git diff --stat"),
            command("git -C vendor/lib status"),
            command("cd vendor/lib && git status"),
        ],
    },
    Case {
        id: "CVE-2026-53790",
        attack: "an option of rsync names the program that connects",
        on_disk: &[],
        tries: &[
            command("rsync -e ./payload a b:"),
            command("rsync --rsh=./payload a b:"),
            command("rsync --rsync-path=./payload a b:"),
            command("rsync -ae./payload a b:"),
        ],
    },
    Case {
        id: "CVE-2026-5917",
        attack: "the address of a repository holds an option, or a program",
        on_disk: &[],
        tries: &[
            command("git clone 'ssh://-oProxyCommand=./payload/x' y"),
            command("git clone -- '-oProxyCommand=./payload:x' y"),
            command("git ls-remote 'ext::./payload'"),
            command("git fetch 'ext::./payload %S'"),
        ],
    },
    Case {
        id: "CVE-2026-48124",
        attack: "hooks of an agent in its local settings",
        on_disk: &[Folder(".claude"), Folder(".cursor")],
        tries: &[
            write(".claude/settings.local.json").asked(),
            write(".cursor/hooks.json").asked(),
            write("app/.claude/settings.local.json").asked(),
            command("echo x > .claude/settings.local.json").asked(),
            command("cp x .cursor/hooks.json").asked(),
        ],
    },
    Case {
        id: "CVE-2025-59532",
        attack: "the folder that a command starts in counts as the workspace, and the agent chooses it",
        on_disk: &[Folder("../outside"), File("../outside/x", "x"), Folder("src")],
        tries: &[
            command("echo x > x").below("../outside"),
            command("rm x").below("../outside"),
            command("touch ../../outside/y").below("src"),
            command("cd ../outside && rm x"),
            write("../outside/y"),
        ],
    },
    Case {
        id: "CVE-2026-50548",
        attack: "the agent names the folder in which a path begins",
        on_disk: &[Folder("../outside"), File("../outside/x", "x"), File("src/x", "x"), Link("home", "..")],
        tries: &[
            write("home/outside/y"),
            write("src/../../outside/y"),
            read("home/outside/x"),
            command("tee x < y").below("../outside"),
            read("src/x").allowed(),
        ],
    },
    Case {
        id: "CVE-2026-50549",
        attack: "a path that cannot be resolved is compared as it is written",
        on_disk: &[
            Link("loop", "loop"),
            Link("one", "two"),
            Link("two", "one"),
            File("file", "x"),
            Folder("../outside"),
        ],
        tries: &[
            write("loop/../../outside/x"),
            write("one/../../outside/x"),
            write("file/../../outside/x"),
            write("missing/../../outside/x"),
            write("loop/x"),
            read("one"),
        ],
    },
];
