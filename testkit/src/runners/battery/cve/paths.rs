//! Published attacks on decisions about paths.

use super::case::OnDisk::{File, Folder, Link};
use super::case::{Case, command, read, write};

pub(super) const CASES: &[Case] = &[
    Case {
        id: "CVE-2026-77361",
        attack: "a rule holds for the name of a link, and the target is read",
        on_disk: &[
            File("secrets/key", "k"),
            File("notes/a.md", "a"),
            Link("notes/plain.md", "../secrets/key"),
            Link("open", "secrets"),
            Link("secrets/a.md", "../notes/a.md"),
        ],
        tries: &[
            read("notes/plain.md").with("secrets/**"),
            read("open/key").with("secrets/**"),
            read("./open/../secrets/key").with("secrets/**"),
            read("secrets/a.md").with("notes/**"),
            read("notes/a.md").with("private/**").allowed(),
        ],
    },
    Case {
        id: "CVE-2026-34451",
        attack: "a folder is recognised by the letters that its name begins with",
        on_disk: &[File("../work-evil/x", "x"), File("src/x", "x"), File("src-evil/x", "x")],
        tries: &[
            read("../work-evil/x"),
            write("../work-evil/x"),
            read("src/../../work-evil/x"),
            read("src-evil/x").with("src-evil/**"),
            read("src-evil/x").with("src/**").allowed(),
            command("cat ../work-evil/x > ../work-evil/y"),
            command("rm -rf ../work-evil"),
        ],
    },
    Case {
        id: "CVE-2026-32055",
        attack: "a link that leads nowhere yet is written through",
        on_disk: &[
            Link("new", "../outside/new"),
            Link("chain", "new"),
            Link("far", "/etc/cron.d/x"),
            Link("hook", ".git/hooks/pre-commit"),
            Folder("../outside"),
        ],
        tries: &[write("new"), write("chain"), write("far"), write("hook"), write("new/below"), read("new")],
    },
    Case {
        id: "CVE-2026-25724",
        attack: "what is denied is reached by a link that is not",
        on_disk: &[
            File("private/x", "x"),
            Link("a", "private"),
            Link("b", "a/x"),
            Link("c", "/etc/shadow"),
            Link("d", ".."),
        ],
        tries: &[
            read("a/x").with("private/**"),
            read("b").with("private/**"),
            read("c"),
            read("d/../etc/passwd"),
            read("d/work/private/x").with("private/**"),
            write("a/x").with("private/**"),
        ],
    },
    Case {
        id: "Claude Code 2.1.217",
        attack: "settings of an agent under a link, or a folder of them that is itself a link",
        on_disk: &[
            Folder("conf"),
            Link(".claude", "conf"),
            Folder("real/.cursor"),
            Link("alias", "real/.cursor"),
            Link("late", ".claude/settings.json"),
        ],
        tries: &[
            write(".claude/settings.json").asked(),
            write("alias/mcp.json").asked(),
            write("late").asked(),
            write("packages/app/.claude/settings.json").asked(),
            write(".Claude/settings.json").asked(),
            command("echo x > .claude/settings.json").asked(),
        ],
    },
    Case {
        id: "Claude Code 2.1.224",
        attack: "a denied folder with a slash at its end denies nothing",
        on_disk: &[File("private/x", "x"), File("a/private/y", "y"), File("public/x", "x")],
        tries: &[
            read("private/x").with("private/"),
            read("private").with("private/"),
            read("private/x").with("private//"),
            read("private/x").with("./private/"),
            read("private/x").with("./private/."),
            read("./private//x").with("private/"),
            read("private/./x").with("private"),
            write("private/x").with("private/"),
            read("public/x").with("private/").allowed(),
        ],
    },
    Case {
        id: "GHSA-5xjx-9qx6-jcrv",
        attack: "a path is checked in one spelling and opened in another",
        on_disk: &[File("vendor/x", "x"), Link("vendor/up", "../.."), File("../beside", "b")],
        tries: &[
            read("vendor/up/beside"),
            read("vendor/up/../beside"),
            read("vendor/./up//beside"),
            read("vendor/nothing/../../../beside"),
            read("/proc/self/cwd/../beside"),
            read("vendor/x").allowed(),
        ],
    },
];
