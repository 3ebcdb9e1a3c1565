//! Commands that schedule or start something that runs after them.

use super::Floor::{Ask, Deny};
use super::shape::Shape;

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        // T1053: the command runs later, without the sandbox and the rules of now.
        id: "schedule",
        floor: Deny,
        programs: &["crontab", "at", "batch", "anacron", "schtasks", "launchctl", "atrm", "systemd-run"],
        fires: |command| match command.name {
            "crontab" => !command.has("-l"),
            "at" => !command.has("-l -c -V"),
            "launchctl" => command.is_sub(&["load", "bootstrap", "submit", "enable", "kickstart", "asuser"]),
            "systemd-run" => command
                .has("--on-active --on-boot --on-startup --on-unit-active --on-unit-inactive --on-calendar"),
            _ => true,
        },
        reason: "makes a command run later, unattended",
        fix: "run the command now, or ask the user to schedule it",
        matches: &[
            "crontab x",
            "crontab -",
            "crontab -e",
            "echo x | at now",
            "launchctl load x.plist",
            "crontab -r",
            "systemd-run --on-calendar=daily x",
        ],
        clean: &["crontab -l", "at -l", "launchctl list", "echo crontab x", "systemd-run --user ls"],
    },
    Shape {
        // T1543: a service starts at every boot, with rights of its own.
        id: "service",
        floor: Ask,
        programs: &[
            "systemctl",
            "service",
            "rc-update",
            "update-rc.d",
            "chkconfig",
            "rc-service",
            "initctl",
            "svcadm",
            "sc",
        ],
        fires: |command| match command.name {
            "systemctl" => command.is_sub(&[
                "enable",
                "reenable",
                "disable",
                "mask",
                "unmask",
                "link",
                "edit",
                "set-property",
                "set-default",
                "daemon-reload",
                "daemon-reexec",
                "start",
                "stop",
                "restart",
                "reload",
                "kill",
                "preset",
                "import-environment",
                "set-environment",
                "revert",
            ]),
            "service" | "rc-service" => !command.says(&["status", "--status-all"]),
            _ => true,
        },
        reason: "starts, stops or installs a system service",
        fix: "ask the user to do it; to query a service, use `systemctl status`",
        matches: &[
            "systemctl enable evil",
            "systemctl --user enable x.service",
            "service ssh stop",
            "update-rc.d x defaults",
        ],
        clean: &["systemctl status x", "systemctl list-units", "service ssh status"],
    },
    Shape {
        // T1574: other users start the program under a name that they trust.
        id: "default-program",
        floor: Ask,
        programs: &[
            "update-alternatives",
            "xdg-mime",
            "ldconfig",
            "defaults",
            "gsettings",
            "dconf",
            "spctl",
            "csrutil",
            "xattr",
        ],
        fires: |command| match command.name {
            "update-alternatives" => command.has("--install --set --remove --auto --config"),
            "xdg-mime" => command.is_sub(&["default", "install"]),
            "defaults" | "dconf" | "gsettings" => {
                command.is_sub(&["write", "delete", "import", "set", "load", "reset"])
            }
            "xattr" => command.has("-d -c -w") && command.known().any(|word| word.contains("quarantine")),
            "spctl" | "csrutil" => {
                command.says(&["disable", "--master-disable", "--global-disable", "--add"])
            }
            _ => true,
        },
        reason: "changes which program or library other users run",
        fix: "set it for one command instead",
        matches: &[
            "update-alternatives --set editor /tmp/x",
            "defaults write a b c",
            "ldconfig",
            "spctl --master-disable",
        ],
        clean: &["update-alternatives --list editor", "defaults read", "gsettings get a b"],
    },
    Shape {
        // A Mac's firmware variables, snapshots, power and remote login: kept for every user and the next start.
        id: "mac-settings",
        floor: Ask,
        programs: &["nvram", "tmutil", "pmset", "systemsetup", "networksetup", "scutil", "bless"],
        fires: |command| match command.name {
            "nvram" => command.has("-d -c -f") || command.known().any(|word| word.contains('=')),
            "tmutil" => !command.operand(0).is_some_and(|verb| {
                verb.starts_with("list")
                    || matches!(verb, "version" | "status" | "destinationinfo" | "latestbackup")
            }),
            "pmset" => !command.has("-g"),
            "systemsetup" | "networksetup" | "scutil" => command.known().any(|word| {
                ["-set", "--set", "-create", "-remove", "-add", "-delete"]
                    .iter()
                    .any(|start| word.starts_with(start))
            }),
            _ => true,
        },
        reason: "changes settings of the machine that stay after the command",
        fix: "ask the user to change it",
        matches: &[
            "nvram x=y",
            "tmutil delete x",
            "pmset disablesleep 1",
            "systemsetup -setremotelogin on",
            "networksetup -setdnsservers a b",
            "scutil --set HostName x",
        ],
        clean: &[
            "nvram -p",
            "tmutil listbackups",
            "pmset -g batt",
            "systemsetup -getremotelogin",
            "networksetup -listallhardwareports",
            "scutil --get HostName",
        ],
    },
    Shape {
        // The process would outlive the command's time limit, and in a sandbox it is ended anyway.
        id: "detach",
        floor: Ask,
        programs: &["disown", "daemonize", "start-stop-daemon", "pm2", "forever", "supervisorctl"],
        fires: |command| match command.name {
            "pm2" | "forever" => command.is_sub(&["start", "startup", "save", "restart", "stop"]),
            "supervisorctl" => command.is_sub(&["start", "update", "reload", "restart", "stop"]),
            _ => true,
        },
        reason: "keeps a program running after the command ends",
        fix: "let it end with the command, or ask the user to start it",
        matches: &["disown", "daemonize x", "pm2 start x.js"],
        clean: &["pm2 list", "echo disown"],
    },
];
