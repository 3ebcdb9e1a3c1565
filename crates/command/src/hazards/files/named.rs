//! Finds the arguments of a command that are files which it reads, writes, changes or deletes.

use std::sync::LazyLock;

use super::looks_like_path;
use crate::hazards::command::Command;
use crate::hazards::dry_runs::only_tries;
use crate::rules::harmless::is_only_pattern;
use stockade_shell::lookup::{Names, names};
use stockade_shell::{Arg, WordCount};

/// Returns the files that the command writes, changes or deletes.
pub(super) fn written<'t>(command: &Command<'_, 't>) -> Vec<Arg<'t>> {
    let operands = || command.operands().cloned();
    let mut words: Vec<Arg<'t>> = match command.name {
        "tee" | "truncate" | "shred" | "touch" | "mkdir" | "rm" | "rmdir" | "unlink" | "mkfifo" | "mknod"
        | "ed" | "ex" | "vim" | "vi" | "nano" | "emacs" | "sponge" => operands().collect(),
        "chmod" | "chown" | "chgrp" | "setfacl" | "chattr" | "chcon" => operands().skip(1).collect(),
        "cp" | "ln" | "install" | "rsync" | "scp" | "gcp" | "ditto" => {
            operands().skip(1).last().into_iter().collect()
        }
        "mv" | "rename" => operands().collect(),
        "dd" => {
            let outputs = operands().filter(|word| word.known().is_some_and(|word| word.starts_with("of=")));
            outputs.map(|word| word.without_prefix(3)).collect()
        }
        "sed" | "gsed" | "perl" | "ruby" if command.has("-i --in-place") => operands().collect(),
        "xxd" | "uniq" | "gzip" | "gunzip" | "bzip2" | "xz" => operands().skip(1).collect(),
        "zip" | "7z" | "ar" => operands().take(1).collect(),
        "split" | "csplit" => operands().skip(1).collect(),
        _ => Vec::new(),
    };
    let options = match command.name {
        "cp" | "mv" | "ln" | "install" => "-t --target-directory",
        "curl" => "-o --output -D --dump-header -c --cookie-jar --output-dir --trace --libcurl --stderr",
        "wget" | "wget2" => "-O -P -o -a --output-document --directory-prefix --output-file --append-output",
        "sort" | "shuf" | "pandoc" | "ruff" | "eslint" | "aria2c" | "gtester" => "-o --output --output-file",
        "tsc" => "--outFile --outDir",
        // Options are parsed only if one of these may be among them, because git is frequent.
        "git" if command.known().any(|word| word.starts_with("--ou")) => "--output",
        "tar" | "gtar" | "bsdtar" => "-C --directory",
        "ssh-keygen" => "-f",
        "dd" | "openssl" | "unzip" | "patch" | "gcc" | "cc" | "ffmpeg" => "-o --output -d",
        _ => "",
    };
    words.extend(command.values(options).cloned());
    if command.name == "mkdir" {
        words.extend(command.values("-m").filter(|word| looks_like_path(word)).cloned());
    }
    words
}

/// Programs whose arguments are not files to read.
static NOT_READING: LazyLock<Names> = LazyLock::new(|| {
    names(&[
        "echo",
        "printf",
        "test",
        "[",
        "[[",
        "ls",
        "eza",
        "exa",
        "stat",
        "mkdir",
        "touch",
        "chmod",
        "chown",
        "chgrp",
        "rm",
        "rmdir",
        "unlink",
        "cd",
        "pushd",
        "popd",
        "which",
        "type",
        "export",
        "declare",
        "local",
        "set",
        "unset",
        "tee",
        "dirname",
        "basename",
        "realpath",
        "readlink",
        "du",
        "df",
        "find",
        "fd",
        "ssh-keygen",
        "ssh-add",
        "ssh",
        "mosh",
        "alias",
        "kill",
        "pgrep",
        "pkill",
        "true",
        "false",
        "command",
        "shred",
        "truncate",
        "exit",
        "return",
        "logger",
        "notify-send",
        "say",
        "trap",
        "read",
        "wait",
        "umask",
        "mktemp",
        "sudo",
        "doas",
        "env",
        "nohup",
        "timeout",
        "time",
        "nice",
        "xargs",
        "eval",
        "exec",
        "bash",
        "sh",
        "zsh",
        "dash",
    ])
});

/// Programs whose first operand is a pattern or a script.
const PATTERN_FIRST: &[&str] = &[
    "grep", "egrep", "fgrep", "rg", "ag", "ack", "sed", "gsed", "awk", "gawk", "mawk", "nawk", "jq", "yq",
    "perl", "expr", "tr", "pcregrep", "zgrep",
];

/// Git subcommands whose arguments are not files to read.
const GIT_QUIET: &[&str] = &[
    "commit",
    "rm",
    "mv",
    "check-ignore",
    "ls-files",
    "checkout",
    "status",
    "update-index",
    "restore",
    "clone",
    "remote",
    "tag",
    "branch",
    "config",
    "push",
    "fetch",
    "pull",
    "init",
    "stash",
    "switch",
    "merge",
    "rebase",
];

/// Options with which `git log` prints contents: itself a patch, or a form of one that implies it.
const SHOWING_PATCHES: &str = "-p -u --patch -L -c -m --cc --dd -U --unified -W --function-context --patch-with-stat --patch-with-raw --word-diff \
     --word-diff-regex --color-words --binary --remerge-diff --diff-merges --inter-hunk-context";

/// Whether an option gives the pattern or script, so that every operand is a file.
pub(in crate::hazards) fn is_given_pattern(command: &Command<'_, '_>) -> bool {
    command.has("-e -f --regexp --file --expression")
        || matches!(command.name, "ag" | "ack") && command.has("-g --filename-pattern --match")
}

/// Returns the files that the command reads.
pub(super) fn read<'t>(command: &Command<'_, 't>) -> Vec<Arg<'t>> {
    let mut words = operands_read(command);
    words.extend(lists_read(command));
    words
}

/// Options with a file of names. A program that reads one prints its content in error messages.
fn lists_read<'t>(command: &Command<'_, 't>) -> impl Iterator<Item = Arg<'t>> {
    const LIST: &str = "--files0-from=";
    let starts = |word: &&Arg<'t>| match word {
        Arg::Known(text) | Arg::Unknown { prefix: text, .. } => text.starts_with(LIST),
    };
    command.words().filter(starts).map(|word| word.without_prefix(LIST.len()))
}

fn operands_read<'t>(command: &Command<'_, 't>) -> Vec<Arg<'t>> {
    let runs_others = matches!(command.name, "xargs" | "bash" | "sh" | "zsh" | "dash");
    if runs_others {
        return command.values("-a --arg-file").cloned().collect();
    }
    // A certificate is public, and these options print nothing else of a file that also contains a key.
    let shows_certificates = command.name == "openssl" && command.is_sub(&["x509", "crl", "verify"]);
    if shows_certificates
        || NOT_READING.contains(command.name)
        || only_tries(command)
        || (command.name == "git" && command.is_sub(GIT_QUIET))
    {
        return Vec::new();
    }
    // Without patches, a log prints file names but no contents.
    if command.name == "git" && command.is_sub(&["log"]) && !command.has(SHOWING_PATCHES) {
        return Vec::new();
    }
    // A pattern of files becomes several words, and only the first of them is not read.
    let is_several = |word: &Arg<'t>| matches!(word, Arg::Unknown { spelling, count: WordCount::Any, .. } if is_only_pattern(spelling));
    let skip = usize::from(
        PATTERN_FIRST.contains(&command.name)
            && !is_given_pattern(command)
            && !command.operands().next().is_some_and(is_several),
    );
    let last = usize::from(matches!(command.name, "cp" | "install" | "rsync"));
    let operands: Vec<_> = command.operands().skip(skip).collect();
    let count = if operands.len() > 1 { operands.len() - last } else { operands.len() };
    let names_key = |option: &str| {
        matches!(
            option,
            "-i" | "--key"
                | "--cert"
                | "--cacert"
                | "-E"
                | "--env-file"
                | "--exclude"
                | "-m"
                | "--message"
                | "-o"
                | "--output"
                | "-O"
                | "-C"
                | "-e"
                | "--include"
                | "--glob"
                | "-g"
        )
    };
    let is_git = command.name == "git";
    // Behind most subcommands of git, these are flags: `git diff -m .env`, `git log -p -C .env`.
    let mut folders = if is_git { leading_folders(command) } else { 0 };
    let mut is_flag = |option: &str| {
        let is_folder = option == "-C" && folders > 0;
        folders -= usize::from(is_folder);
        is_git && matches!(option, "-m" | "-C") && !is_folder
    };
    let values = command.all_values().filter(|(option, _)| is_flag(option) || !names_key(option));
    let words = operands.into_iter().take(count).chain(values.map(|(_, value)| value));
    let kept = |word: &Arg<'t>| if is_git { in_commit(word) } else { by_address(word) };
    words.flat_map(|word| [Some(word.clone()), after_mark(word), kept(word)]).flatten().collect()
}

/// How many options before the subcommand of git choose a directory.
fn leading_folders(command: &Command<'_, '_>) -> usize {
    let mut words = command.words().map(Arg::known);
    let mut count = 0;
    while let Some(Some(word)) = words.next() {
        match word {
            "-C" => {
                words.next();
                count += 1;
            }
            "-c" => {
                words.next();
            }
            _ if word.starts_with('-') => {}
            _ => break,
        }
    }
    count
}

/// Returns the file in a commit: `HEAD:.env`.
fn in_commit<'t>(word: &Arg<'t>) -> Option<Arg<'t>> {
    let text = match word {
        Arg::Known(text) => text,
        Arg::Unknown { prefix, .. } => prefix,
    };
    Some(word.without_prefix(text.find(':')? + 1))
}

/// Returns the file of a URI, as accepted by databases: `file:x?immutable=1`.
fn by_address<'t>(word: &Arg<'t>) -> Option<Arg<'t>> {
    const SCHEME: &str = "file:";
    let text = match word {
        Arg::Known(text) => text.strip_prefix(SCHEME)?,
        Arg::Unknown { prefix, .. } => prefix.strip_prefix(SCHEME).map(|_| "")?,
    };
    let path = text.split('?').next().unwrap_or_default();
    if path.is_empty() {
        Some(word.without_prefix(SCHEME.len()))
    } else {
        Some(Arg::Known(path.to_owned().into()))
    }
}

/// Returns what follows the first `=`, `@` or `<` of a word: `if=x`, `f=@x`, `@x`.
fn after_mark<'t>(word: &Arg<'t>) -> Option<Arg<'t>> {
    let text = match word {
        Arg::Known(text) => text,
        Arg::Unknown { prefix, .. } => prefix,
    };
    let start = text.find(['=', '@', '<'])? + 1;
    let more = text.get(start..)?.bytes().take_while(|byte| matches!(byte, b'=' | b'@' | b'<')).count();
    Some(word.without_prefix(start + more))
}
