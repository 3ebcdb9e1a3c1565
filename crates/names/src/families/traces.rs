//! Histories and logs: they record commands, and often passwords in them.

use super::STARTS;
use crate::name::{Kind, Name, Scope, Write};
use crate::secrecy::Secrecy;

const TRACES: Name = Name { kind: Kind::KeepsTraces, write: Write::Refuse, ..STARTS };

#[rustfmt::skip]
pub(super) const ROWS: &[Name] = &[
    Name {
        id: "shell-history",
        tool: "bash, zsh",
        paths: &[".bash_history", ".zsh_history"],
        secrecy: Secrecy::MayHoldSecret,
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
        secrecy: Secrecy::MayHoldSecret,
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
        secrecy: Secrecy::MayHoldSecret,
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
    Name {
        id: "logs-of-logins",
        tool: "The machine",
        scope: Scope::Machine,
        paths: &[
            "var/log/auth.log*", "var/log/secure*", "var/log/btmp*", "var/log/wtmp*", "var/log/lastlog", "var/log/faillog",
            "var/log/tallylog", "var/log/audit", "var/log/journal", "var/log/private", "var/log/sudo-io", "var/log/installer",
            "var/log/cloud-init*", "var/log/mysql", "var/log/postgresql", "var/log/mail*",
        ],
        secrecy: Secrecy::Settings,
        why: "Passwords are typed where a name is asked for, and printed by services and set-up scripts.",
        matches: &["var/log/auth.log.1", "var/log/journal/x/system.journal", "var/log/cloud-init-output.log"],
        clean: &["var/lib/mysqltuner"],
        ..TRACES
    },
];
