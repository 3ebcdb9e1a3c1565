//! Options with which ordinary programs run others.

use std::sync::LazyLock;

use super::Floor::{Ask, Deny};
use super::command::Command;
use super::shape::Shape;
use stockade_shell::lookup::{ByName, by_name, last_name};

type Running = (&'static [&'static str], &'static str);

/// Programs, and the options whose value they run or load. Long options also count when abbreviated.
const RUNNING: &[Running] = &[
    (
        &["tar", "gtar", "bsdtar"],
        "-I -F --to-command --checkpoint-action --use-compress-program --info-script --new-volume-script --rsh-command \
         --rmt-command",
    ),
    (&["rsync"], "-e --rsh --rsync-path"),
    (&["scp", "sftp"], "-S -D"),
    (&["sort"], "--compress-program"),
    (&["split"], "--filter"),
    (&["rg"], "--pre --hostname-bin"),
    (&["zip"], "-TT --unzip-command"),
    (&["man"], "-P --pager"),
    (&["less"], "-k --lesskey-file --lesskey-src --lesskey-content"),
    (&["make", "gmake"], "--eval -E"),
    (&["ctags"], "--options --options-maybe"),
    (&["tcpdump"], "-z --postrotate-command"),
    (&["apt", "apt-get"], "-o --option -c --config-file"),
    (&["npm", "pnpm"], "--script-shell --git --node-options --shell"),
    (&["openssl"], "-engine -provider -provider-path"),
    (&["ssh-keygen", "ssh-add"], "-D -s"),
    (&["mysql", "mariadb"], "--pager"),
    (&["sqlite3"], "-init -cmd"),
    (&["go"], "-exec -toolexec -overlay"),
    (&["gcc", "g++", "cc", "c++", "clang"], "-wrapper -fplugin -fpass-plugin -specs"),
    (&["java"], "-javaagent -agentlib -agentpath"),
    (&["bat", "batcat", "delta"], "--pager"),
    (&["fzf"], "--preview --bind"),
];

static RUNNING_BY_NAME: LazyLock<ByName<Vec<&'static Running>>> =
    LazyLock::new(|| by_name(RUNNING, |(names, _)| names));

/// The programs of [`RUNNING`], for the table of shapes.
const PROGRAMS: &[&str] = &[
    "tar",
    "gtar",
    "bsdtar",
    "rsync",
    "scp",
    "sftp",
    "sort",
    "split",
    "rg",
    "zip",
    "man",
    "less",
    "make",
    "gmake",
    "ctags",
    "tcpdump",
    "apt",
    "apt-get",
    "npm",
    "pnpm",
    "openssl",
    "ssh-keygen",
    "ssh-add",
    "mysql",
    "mariadb",
    "sqlite3",
    "go",
    "gcc",
    "g++",
    "cc",
    "c++",
    "clang",
    "java",
    "bat",
    "batcat",
    "delta",
    "fzf",
];

/// The id of the shape for `xargs` with a command that changes files.
pub(super) const AWAITS_FILE_LIST_ID: &str = "awaits-file-list";

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        // GTFOBins lists these options: they turn a program that a rule allows into one that runs any other.
        id: "option-runs",
        floor: Ask,
        programs: PROGRAMS,
        fires: runs_option,
        reason: "has an option whose value is run or loaded as a program",
        fix: "remove the option",
        matches: &[
            "tar --checkpoint=1 --checkpoint-action=exec=id -cf x y",
            "tar -I id -xf x",
            "tar --to-comm=id -xf x",
            "tar xf x -I id",
            "rsync -e 'sh -c id' a b",
            "sort --compress-prog=id f",
            "split --filter=id f",
            "rg --pre id x",
            "rg --pre=id x",
            "zip x y -T -TT 'id #'",
            "man -P id ls",
            "scp -S id a b",
            "openssl req -engine ./x.so",
            "go test -exec id ./...",
            "tar cIf id x y",
            "rsync -ae 'ssh -o ProxyCommand=id' a b",
            "ssh-keygen -D ./x.so",
            "gcc -wrapper id,x y.c",
            "make --eval='x:;id'",
            "bat --pager=id x",
            "tar -xvIid -f x",
        ],
        clean: &[
            "tar czf archive.tar.gz src/",
            "tar -xzf x",
            "rsync -av a b",
            "sort file.txt",
            "sort -k2 f",
            "rg pre x",
            "man ls",
            "split -l 5 f",
            "openssl sha256 x",
            "go test ./...",
            "make -j4",
            "zip -r x y",
            "gcc -c x.c",
            "rsync -av -e ssh a b",
            "tar -fINDEX.tar -t",
        ],
    },
    Shape {
        // make runs every recipe with the program in `SHELL`.
        id: "make-shell",
        floor: Ask,
        programs: &["make", "gmake"],
        fires: |command| {
            command.known().any(|word| {
                let name = word.split_once('=').map(|(name, _)| name.trim_end_matches([':', '+', '?', '!']));
                matches!(name, Some("SHELL" | ".SHELLFLAGS" | "MAKEFLAGS" | "MAKE"))
            })
        },
        reason: "makes make run another shell",
        fix: "remove SHELL",
        matches: &["make SHELL=/tmp/x all", "make SHELL:=x", "gmake .SHELLFLAGS=x"],
        clean: &["make all", "make CC=gcc", "make -C x"],
    },
    Shape {
        // ssh runs `ProxyCommand` and `LocalCommand` here, before it has authenticated the server (CVE-2023-51385 is
        // one abuse).
        id: "ssh-runs",
        floor: Ask,
        programs: &["ssh", "scp", "sftp", "slogin", "rsync", "sshfs", "ssh-copy-id", "mosh"],
        fires: |command| {
            let options = command.texts("-o").map(|option| option.trim_start().to_ascii_lowercase());
            const RUN: &[&str] = &[
                "proxycommand",
                "localcommand",
                "permitlocalcommand",
                "knownhostscommand",
                "match",
                "include",
                "pkcs11provider",
                "securitykeyprovider",
                "proxyusefdpass",
                "xauthlocation",
            ];
            options.into_iter().any(|option| RUN.iter().any(|name| option.starts_with(name)))
                || command.has("-F")
                || (command.name == "mosh" && command.has("--ssh --server --client"))
                || command
                    .known()
                    .skip_while(|word| *word != "-o")
                    .nth(1)
                    .is_some_and(|word| RUN.iter().any(|name| word.to_ascii_lowercase().starts_with(name)))
        },
        reason: "makes ssh run a local command, or read settings that can",
        fix: "move that option to ~/.ssh/config",
        matches: &[
            "ssh -o ProxyCommand='sh -c id' h",
            "ssh -oproxycommand=id h",
            "scp -o 'LocalCommand id' a h:",
            "ssh -F /tmp/x h",
            "sftp -o KnownHostsCommand=id h",
            "ssh -vo ProxyCommand=id h",
        ],
        clean: &["ssh h ls", "ssh -o StrictHostKeyChecking=yes h", "scp a h:", "ssh -i k h"],
    },
    Shape {
        // Without a host key, anyone on the way is the server. A forwarded agent lets that server use the user's
        // keys.
        id: "ssh-unchecked",
        floor: Ask,
        programs: &["ssh", "scp", "sftp"],
        fires: |command| {
            command.texts("-o").any(|option| {
                let option = option.to_ascii_lowercase();
                option.starts_with("stricthostkeychecking") && option.ends_with("no")
                    || option.starts_with("userknownhostsfile") && option.ends_with("/dev/null")
            }) || command.has("-A")
        },
        reason: "does not check the host key, or forwards your keys",
        fix: "add the host key to ~/.ssh/known_hosts",
        matches: &["ssh -o StrictHostKeyChecking=no h", "ssh -A h", "ssh -oUserKnownHostsFile=/dev/null h"],
        clean: &["ssh h", "ssh -o StrictHostKeyChecking=accept-new h"],
    },
    Shape {
        // The names come from a file or another program, so none of them could be checked.
        id: AWAITS_FILE_LIST_ID,
        floor: Ask,
        programs: &["xargs", "gxargs", "parallel"],
        fires: |command| {
            let inner = command.operands().filter_map(|word| word.known());
            // The program, perhaps after a wrapper such as `sudo` or an option of xargs with its value.
            inner.map(last_name).take(3).any(|word| {
                matches!(
                    word,
                    "rm" | "shred"
                        | "dd"
                        | "chmod"
                        | "chown"
                        | "chgrp"
                        | "mv"
                        | "kill"
                        | "unlink"
                        | "rmdir"
                        | "truncate"
                        | "tee"
                        | "ln"
                        | "eval"
                ) || super::code::is_interpreter(word)
            })
        },
        reason: "changes or runs files that it reads from its input, which is unknown",
        fix: "name the files in the command",
        matches: &[
            "xargs rm < filelist.txt",
            "ls | xargs -0 rm -f",
            "xargs sudo rm < f",
            "cat x | xargs -I{} sh -c '{}'",
            "parallel rm ::: a b",
            "xargs chmod 777",
        ],
        clean: &["xargs -0 echo", "xargs echo", "ls | xargs grep x", "xargs wc -l"],
    },
    Shape {
        // zsh modules and bash loadables do what rules forbid programs to do: `zf_rm` is `rm`, and `ztcp` is `nc`.
        id: "shell-plugin",
        floor: Deny,
        programs: &[
            "enable", "zmodload", "hash", "ztcp", "zsocket", "zpty", "sysopen", "syswrite", "zf_rm", "zf_mv",
            "zf_ln", "zf_chmod", "zf_chown", "zf_rmdir", "zf_mkdir", "emulate",
        ],
        fires: |command| match command.name {
            "enable" => command.has("-f -d"),
            // `hash -p FILE NAME` makes a name run another file. `hash -r` only clears the cache.
            "hash" => command.has("-p -d"),
            "emulate" => command.has("-c") || command.says(&["-c"]),
            _ => command.words().next().is_some(),
        },
        reason: "loads code into the shell, or changes what a command name means",
        fix: "run the program by its name",
        matches: &[
            "enable -f ./x.so x",
            "zmodload zsh/system",
            "noglob zmodload zsh/system",
            "hash -p /tmp/x ls",
            "zsocket /tmp/sock",
            "zf_rm /tmp/file",
            "emulate -c 'code'",
        ],
        clean: &["echo zmodload", "hash -r", "enable -n echo", "emulate zsh"],
    },
    Shape {
        // A sourced file can redefine `cd`, `git` and every other name that the following commands use.
        id: "sources-file",
        floor: Ask,
        programs: &["source", "."],
        fires: |command| {
            command.operands().next().is_none_or(|word| {
                let target = super::target::Target::of(word);
                // Files of the workspace are the agent's own code, which it could run in any other way.
                target.base != super::target::Base::Here
                    || target.fits_any(&["**/.env", "**/.envrc", "**/.env.*"])
            })
        },
        reason: "runs a file in this shell that is outside the workspace or contains secrets",
        fix: "run a file of the workspace",
        matches: &[". /tmp/evil.sh", "source ~/.bashrc", "source .env", ". ./.env", "source \"$x\""],
        clean: &["source venv/bin/activate", ". ./lib.sh"],
    },
    Shape {
        // `eval` parses the value again, so quotes around it do not help.
        id: "evaluates-text",
        floor: Ask,
        programs: &["eval"],
        fires: |command| command.words().any(|word| word.known().is_none()),
        reason: "runs text that is only known at run time",
        fix: "write the commands directly",
        matches: &["eval \"$x\"", "eval $(ssh-agent)", "eval `x`"],
        clean: &["eval 'ls'", "echo eval $x", "eval"],
    },
];

fn runs_option(command: &Command<'_, '_>) -> bool {
    let Some([(_, options), ..]) = RUNNING_BY_NAME.get(command.name).map(Vec::as_slice) else { return false };
    // `-e ssh` is the default transport, written out in countless scripts.
    if command.name == "rsync"
        && command.texts(options).all(|value| value == "ssh" || value.starts_with("ssh -p"))
    {
        return false;
    }
    // tar accepts its options as a first word without a dash: `tar cIf prog x y`.
    let bundled = command.name.ends_with("tar")
        && command
            .operand(0)
            .is_some_and(|letters| letters.contains(['I', 'F']) && !letters.contains(['.', '/']));
    bundled
        || options.split_ascii_whitespace().any(|option| {
            let single = option.starts_with('-') && !option.starts_with("--") && option.len() > 2;
            if single {
                // These programs have long options with one dash.
                return command.known().any(|word| {
                    word == option
                        || word.strip_prefix(option).is_some_and(|rest| rest.starts_with(['=', ':']))
                });
            }
            command.has(option)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_of_the_list_is_looked_up() {
        let names: Vec<&str> = RUNNING.iter().flat_map(|(names, _)| names.iter().copied()).collect();
        assert_eq!(names, PROGRAMS);
    }
}
