//! What a git subcommand uses from a repository, as far as its words show.

use crate::hazards::command::Command;

/// What a git subcommand uses. Unknown subcommands use everything.
#[derive(Debug, Clone)]
pub(in crate::hazards) struct Uses<'w> {
    subcommand: Option<&'w str>,
    /// Whether it compares, shows or merges the contents of files.
    pub(super) contents: bool,
    /// Whether it changes the repository, and so starts editors and hooks.
    pub(super) changes: bool,
    /// Whether it connects to another repository.
    pub(super) network: bool,
    /// Whether it shows the help.
    pub(super) help: bool,
}

/// Subcommands that only read, with any arguments.
const READERS: &[&str] = &[
    "annotate",
    "blame",
    "cat-file",
    "check-attr",
    "check-ignore",
    "cherry",
    "count-objects",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "for-each-ref",
    "grep",
    "help",
    "log",
    "ls-files",
    "ls-tree",
    "merge-base",
    "merge-tree",
    "name-rev",
    "patch-id",
    "range-diff",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "show-branch",
    "show-ref",
    "status",
    "var",
    "verify-pack",
    "version",
    "whatchanged",
];

/// Subcommands that only read if these words follow.
const READERS_WITH: &[(&str, &[&str])] = &[
    ("bisect", &["log"]),
    ("config", &["--get", "--get-all", "--get-regexp", "--list", "-l", "get", "list"]),
    ("lfs", &["env", "ls-files", "status"]),
    ("notes", &["list", "show"]),
    ("reflog", &["show"]),
    ("remote", &["-v", "--verbose", "get-url"]),
    ("stash", &["list", "show"]),
    ("submodule", &["status", "summary"]),
    ("worktree", &["list"]),
    ("branch", LISTS),
    ("tag", LISTS),
];

/// Options with which `git branch` and `git tag` only list.
const LISTS: &[&str] =
    &["--list", "-l", "--contains", "--merged", "--no-merged", "-a", "-r", "-v", "-vv", "--show-current"];

/// Subcommands that read names and never the contents of files.
const NAMES_ONLY: &[&str] = &[
    "branch",
    "check-attr",
    "check-ignore",
    "config",
    "count-objects",
    "for-each-ref",
    "help",
    "ls-tree",
    "merge-base",
    "name-rev",
    "remote",
    "rev-parse",
    "show-ref",
    "tag",
    "var",
    "version",
    "worktree",
];

/// Options before the subcommand whose value is the next word.
pub(in crate::hazards) const OPTIONS_WITH_VALUE: &[&str] = &[
    "-C",
    "-c",
    "--attr-source",
    "--config-env",
    "--git-dir",
    "--namespace",
    "--shallow-file",
    "--super-prefix",
    "--work-tree",
];

impl Uses<'_> {
    /// Whether it changes neither the repository nor the working tree.
    pub(in crate::hazards) const fn only_reads(&self) -> bool {
        !self.changes
    }

    /// Whether it is the subcommand with this name. Names in settings ignore case.
    pub(super) fn is_named(&self, name: &str) -> bool {
        // An unknown subcommand may be any.
        self.subcommand.is_none_or(|subcommand| subcommand.eq_ignore_ascii_case(name))
    }

    /// Whether it runs a hook. Even a reading subcommand may write the index, to cache which files are unchanged.
    pub(super) fn runs_hook(&self, name: &str) -> bool {
        // `git status` refreshes the index, and then runs this hook.
        name == "post-index-change" || self.changes && HOOKS.contains(&name)
    }
}

/// From githooks(5), without server hooks.
const HOOKS: &[&str] = &[
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "p4-prepare-changelist",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "prepare-commit-msg",
    "reference-transaction",
    "sendemail-validate",
];

/// Returns what a git subcommand uses.
pub(in crate::hazards) fn uses<'w>(command: &Command<'w, '_>) -> Uses<'w> {
    let words: Option<Vec<&str>> = command.words().map(|word| word.known()).collect();
    match words {
        Some(words) => uses_of_words(&words),
        // A word that is only known at run time may be an option, so only the words before it are certain.
        None => {
            let known: Vec<&str> = command.words().map_while(|word| word.known()).collect();
            let uses = uses_of_words(&known);
            let only_reads = uses.subcommand.is_some_and(|name| READERS.contains(&name));
            Uses { changes: !only_reads, network: !only_reads, contents: true, help: true, ..uses }
        }
    }
}

pub(super) fn uses_of_words<'w>(words: &[&'w str]) -> Uses<'w> {
    let mut rest = words.iter();
    let mut subcommand = None;
    while let Some(word) = rest.next() {
        if OPTIONS_WITH_VALUE.contains(word) {
            rest.next();
        } else if *word == "-v" {
            // Git treats it as `version`, whatever follows.
            subcommand = Some("version");
            break;
        } else if !word.starts_with('-') {
            subcommand = Some(*word);
            break;
        }
    }
    let name = subcommand.unwrap_or_default();
    // Aliases cannot replace built-in subcommands (git-config(1)), so these names are certain.
    let only_reads = READERS.contains(&name) || reads_with(name, rest.as_slice());
    let help = name == "help"
        || !only_reads
        || words.iter().any(|word| "--help".starts_with(*word) && word.len() > 2);
    Uses {
        subcommand,
        contents: !(only_reads && NAMES_ONLY.contains(&name)),
        changes: !only_reads,
        network: !only_reads,
        help,
    }
}

/// Whether a subcommand that can read and write only reads with these words.
fn reads_with(name: &str, rest: &[&str]) -> bool {
    let Some((_, words)) = READERS_WITH.iter().find(|(known, _)| *known == name) else { return false };
    match rest.first() {
        // Without arguments, `git stash` saves, and `git notes`, `git submodule` and others list.
        None => name != "stash" && name != "bisect",
        Some(first) => words.contains(first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_only_read_are_told_from_those_that_change() {
        for words in [
            "status -s",
            "-C x log",
            "--no-pager diff",
            "-c a=b show",
            "stash list",
            "branch",
            "branch -a",
            "tag --list v*",
            "remote -v",
            "config --get a.b",
            "--attr-source HEAD status",
            "-v",
        ] {
            assert!(!uses_of_words(&words.split(' ').collect::<Vec<_>>()).changes, "{words}");
        }
        for words in [
            "commit",
            "stash",
            "stash pop",
            "branch x",
            "remote update",
            "fetch",
            "-C log commit",
            "config a.b c",
            "st",
            "",
        ] {
            assert!(uses_of_words(&words.split(' ').collect::<Vec<_>>()).changes, "{words}");
        }
    }

    #[test]
    fn tables_are_sorted_and_fit_together() {
        assert!(READERS.is_sorted() && NAMES_ONLY.is_sorted() && HOOKS.is_sorted());
        for name in NAMES_ONLY {
            let may_read = READERS.contains(name) || READERS_WITH.iter().any(|(known, _)| known == name);
            assert!(may_read, "{name}");
        }
    }
}
