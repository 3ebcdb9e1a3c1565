//! Shells, and files that they read at start or on entering a directory.

use super::{NOTED, STARTS};
use crate::name::{Name, Scope, Write};

pub(super) const ROWS: &[Name] = &[
    Name {
        id: "shell-startup",
        tool: "bash, zsh",
        paths: &[".bashrc", ".zshrc", ".bash_profile", ".zshenv"],
        write: Write::Refuse,
        why: "Every shell that starts with this folder as its home, or as ZDOTDIR, runs it.",
        matches: &[".bashrc", "dot/.zshenv"],
        clean: &["bashrc", ".bashrc.d.md"],
        ..STARTS
    },
    Name {
        id: "shell-login",
        tool: "Shells",
        paths: &[
            ".bash_login",
            ".bash_logout",
            ".bash_aliases",
            ".profile",
            ".zprofile",
            ".zlogin",
            ".zlogout",
            ".kshrc",
            ".mkshrc",
            ".cshrc",
            ".tcshrc",
            ".login",
            ".inputrc",
        ],
        why: "A shell with this directory as its home runs it, or binds keys to the commands in it.",
        matches: &[".profile", "home/.inputrc"],
        clean: &["profile", ".profiles"],
        ..STARTS
    },
    Name {
        id: "direnv",
        tool: "direnv, autoenv, shadowenv, ondir",
        paths: &[
            ".envrc",
            ".autoenv.zsh",
            ".autoenv_leave.zsh",
            ".autoenv",
            ".shadowenv.d",
            ".ondir",
            ".direnvrc",
            ".localrc",
        ],
        why: "Helpers of the shell run it on entering the folder.",
        matches: &[".envrc", "deploy/.ENVRC"],
        clean: &["envrc.example"],
        ..STARTS
    },
    Name {
        id: "smartcd",
        tool: "autoenv, smartcd",
        paths: &[".in", ".out", ".env.leave"],
        why: "Helpers of the shell run it on entering or leaving the folder.",
        matches: &[".in", "x/.out"],
        clean: &["x.in", "out", ".input"],
        ..NOTED
    },
    Name {
        id: "search-settings",
        tool: "ripgrep, ack",
        paths: &[".ripgreprc", ".ackrc"],
        why: "A search runs the preprocessor or pager that is named there.",
        matches: &[".ripgreprc", "x/.ackrc"],
        clean: &[".rgignore"],
        ..STARTS
    },
    Name {
        id: "cron",
        tool: "cron, at",
        scope: Scope::Machine,
        paths: &["etc/cron*", "var/spool/cron", "var/spool/at"],
        write: Write::Refuse,
        why: "Daemons run at a given time what is named there.",
        matches: &["etc/cron.d/x", "var/spool/cron/root"],
        clean: &["etc/hostname", "var/spool/cups"],
        ..STARTS
    },
];
