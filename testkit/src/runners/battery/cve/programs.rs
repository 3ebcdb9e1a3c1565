//! Published attacks by allowed programs that run others or write files, given the right options.

use super::case::{Case, OnDisk, command};

/// Rules of the user in these attacks.
const NPM_TEST: &str =
    "version = 1\n[[rule]]\nid = \"t\"\nprefix = [\"npm\", \"test\"]\ndecision = \"allow\"\n";
const WRAPPED: &str =
    "version = 1\n[[rule]]\nid = \"w\"\nexact = [\"nice\", \"npm\", \"test\"]\ndecision = \"allow\"\n";
const NO_RM: &str = "version = 1\n[[rule]]\nid = \"d\"\nprefix = [\"rm\"]\ndecision = \"deny\"\n";
const GIT: &str = "version = 1\n[[rule]]\nid = \"g\"\nprefix = [\"git\", [\"log\", \"diff\", \"grep\", \"fetch\", \
                   \"clone\", \"show\", \"ls-remote\", \"archive\"]]\ndecision = \"allow\"\n";

pub(super) const CASES: &[Case] = &[
    Case {
        id: "CVE-2025-66032",
        attack: "options of programs that only read start others or write",
        on_disk: &[],
        tries: &[
            command("sed 's/a/id/e' x"),
            command("sed -n '1e id' x"),
            command("sed -n 'w out' x"),
            command("sed 's/a/b/w out' x"),
            command("sed -ne '1!G;h;$p;e' x"),
            command("sort --compress-program=./payload x"),
            command("sort --compress-prog ./payload x"),
            command("man --html=./payload ls"),
            command("man -H./payload ls"),
            command("rg --pre ./payload x"),
            command("history -s x; history -a"),
            command("git ls-remote --upload-pa=./payload ."),
            command("xargs -a x ./payload"),
            command("ls${IFS}x;./payload"),
            command("sort -u x").allowed(),
        ],
    },
    Case {
        id: "CVE-2026-27183",
        attack: "wrappers in one another, more than are looked through",
        on_disk: &[],
        tries: &[
            command("env nice nohup env nice nohup env nice nohup env nice nohup rm -rf /").denied(),
            command("env env env env env env env env env env env env env env env env env env env env rm -rf /").asked(),
            command(
                "nice nice nice nice nice nice nice nice nice nice nice nice nice nice nice nice nice nice nice nice \
                 nice nice nice nice nice nice nice nice nice nice nice nice nice nice nice nice nice nice nice nice \
                 nice nice nice nice nice nice nice nice nice nice nice nice nice nice nice nice nice nice rm x",
            )
            .with(NO_RM)
            .asked(),
            command("sh -c 'bash -c \"sh -c \\\"rm x\\\"\"'").with(NO_RM).denied(),
            command("timeout 9 stdbuf -oL setsid nohup rm x").with(NO_RM).denied(),
        ],
    },
    Case {
        id: "CVE-2026-27566",
        attack: "`env` starts what an allow list does not see",
        on_disk: &[],
        tries: &[
            command("env ./payload"),
            command("env -S './payload now'"),
            command("env -i PATH=. ls"),
            command("env PATH=. ls"),
            command("env --split-string='rm -rf /'").denied(),
            command("env rm x").with(NO_RM).denied(),
        ],
    },
    Case {
        id: "CVE-2026-31992",
        attack: "`env -S` splits a word into a command of its own",
        on_disk: &[],
        tries: &[
            command("env -S 'npm test; ./payload'").with(NPM_TEST),
            command("env -S'./payload' npm test").with(NPM_TEST),
            command("env -vS 'bash -c ./payload' npm test").with(NPM_TEST),
            command("env -S 'rm x'").with(NO_RM).denied(),
        ],
    },
    Case {
        id: "CVE-2026-28292",
        attack: "a setting of git in capitals opens a transport that runs commands",
        on_disk: &[],
        tries: &[
            command("git -c PROTOCOL.ALLOW=always clone 'ext::sh -c ./payload'").with(GIT),
            command("git -c Protocol.Ext.Allow=always ls-remote 'ext::./payload x'").with(GIT),
            command("git clone 'EXT::./payload'").with(GIT),
            command("GIT_ALLOW_PROTOCOL=ext git fetch 'ext::./payload'").with(GIT),
            command("git -c CORE.SSHCOMMAND=./payload fetch").with(GIT),
            command("git --config-env=core.sshCommand=X fetch").with(GIT),
        ],
    },
    Case {
        id: "CVE-2026-28363",
        attack: "a long option written short is not the one that a rule names",
        on_disk: &[],
        tries: &[
            command("sort --compress-p=./payload x"),
            command("tar --checkpoint-act=exec=./payload -cf a x"),
            command("tar --to-comm=./payload -xf a"),
            command("git diff --ext-dif"),
            command("git fetch --upload-p=./payload"),
            command("rsync --rs=./payload a b:"),
        ],
    },
    Case {
        id: "CVE-2026-29607",
        attack: "a wrapper that was approved once is approved for whatever it wraps",
        on_disk: &[],
        tries: &[
            command("nice ./payload").with(WRAPPED),
            command("nice npm test ./payload").with(WRAPPED),
            command("nice -n 5 npm test ./payload").with(WRAPPED),
            command("nice bash -c 'npm test; ./payload'").with(WRAPPED),
        ],
    },
    Case {
        id: "GHSA-c598",
        attack: "git is allowed, and starts other programs by its options",
        on_disk: &[],
        tries: &[
            command("git log -3").with(GIT).allowed(),
            command("git -c core.pager=./payload log").with(GIT),
            command("git -c alias.log='!./payload' log").with(GIT),
            command("git diff --ext-diff").with(GIT),
            command("git show --textconv x").with(GIT),
            command("git grep -O./payload x").with(GIT),
            command("git grep --open-files-in-pager=./payload x").with(GIT),
            command("git fetch --upload-pack=./payload .").with(GIT),
            command("git clone -u ./payload . x").with(GIT),
            command("git clone -c core.hooksPath=h . x").with(GIT),
            command("git clone --template=t . x").with(GIT),
            command("git archive --remote=. --exec=./payload HEAD").with(GIT),
            command("git --exec-path=. log").with(GIT),
            command("git log --output=.bashrc").with(GIT),
            command("git diff --no-index --output=.git/hooks/post-commit a b").with(GIT),
            command("git ls-remote --exec=./payload .").with(GIT),
        ],
    },
    Case {
        id: "Codex #28714",
        attack: "a program is trusted by the last part of its path",
        on_disk: &[OnDisk::File("cat", "#!/bin/sh\n"), OnDisk::File("bin/ls", "#!/bin/sh\n")],
        tries: &[
            command("./cat x"),
            command("bin/ls"),
            command("../work/cat x"),
            command("$PWD/cat x"),
            command("/tmp/git status"),
            command("cat x").allowed(),
        ],
    },
    Case {
        id: "Copilot CLI, find",
        attack: "`find` is allowed, and runs, deletes and writes",
        on_disk: &[],
        tries: &[
            command("find . -name '*.rs'").allowed(),
            command("find . -exec ./payload {} \\;"),
            command("find . -execdir ./payload {} +"),
            command("find . -ok ./payload \\;"),
            command("find . -name x -delete"),
            command("find . -fprintf .bashrc '%p'"),
            command("find . -fls out"),
            command("find / -exec rm -rf {} +").denied(),
            command("find . -e\"\"xec ./payload \\;"),
        ],
    },
    Case {
        id: "Claude Code 2.1.232",
        attack: "a project brings the program that a search is done with",
        on_disk: &[OnDisk::File("bin/rg", "#!/bin/sh\n: > {marker}\n")],
        tries: &[
            command("./bin/rg x"),
            command("node_modules/.bin/rg x"),
            command("PATH=bin:$PATH rg x"),
            command("RIPGREP_CONFIG_PATH=x rg y"),
            command("cd bin && ./rg x"),
            command("rg x").allowed(),
        ],
    },
    Case {
        id: "Ona, /proc/self/root",
        attack: "a denied program under another path to the same file",
        on_disk: &[],
        tries: &[
            command("/proc/self/root/usr/bin/npx x"),
            command("/proc/self/root/bin/rm -rf /").denied(),
            command("/proc/1/root/bin/rm x").with(NO_RM).denied(),
            command("/usr/bin/../bin/rm x").with(NO_RM).denied(),
            command("//bin//rm x").with(NO_RM).denied(),
            command("/proc/self/cwd/payload"),
            command("/lib64/ld-linux-x86-64.so.2 /bin/rm x").with(NO_RM).asked(),
            command("cat /proc/self/root/etc/shadow").asked(),
        ],
    },
];
