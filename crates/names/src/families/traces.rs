//! Histories and logs: they record commands, and often passwords in them.

use super::STARTS;
use crate::name::{Kind, Name, Read, Scope, Tools, Write};

const TRACES: Name = Name { kind: Kind::KeepsTraces, write: Write::Refuse, ..STARTS };

pub(super) const ROWS: &[Name] = &[
    Name {
        id: "shell-history",
        tool: "bash, zsh",
        paths: &[".bash_history", ".zsh_history"],
        read: Read::Ask,
        tools: Tools::Forbidden,
        why: "Histories contain passwords, and record what was done.",
        matches: &[".bash_history", "x/.zsh_history"],
        clean: &["bash_history.md"],
        ..TRACES
    },
    Name {
        id: "python-history",
        tool: "Python",
        paths: &[".python_history"],
        write: Write::Free,
        read: Read::Ask,
        why: "Histories contain passwords.",
        matches: &[".python_history"],
        clean: &["history.py"],
        ..TRACES
    },
    Name {
        id: "histories-at-home",
        tool: "Shells, Python",
        scope: Scope::Home,
        paths: &[
            ".bash_history",
            ".zsh_history",
            ".history",
            ".python_history",
            ".local/share/fish/fish_history",
        ],
        why: "A history records what was done.",
        matches: &[".history", ".local/share/fish/fish_history"],
        clean: &[".historybook"],
        ..TRACES
    },
    Name {
        id: "logs",
        tool: "The machine",
        scope: Scope::Machine,
        paths: &["var/log"],
        why: "Logs record what was done.",
        matches: &["var/log/auth.log"],
        clean: &["var/logs"],
        ..TRACES
    },
];
