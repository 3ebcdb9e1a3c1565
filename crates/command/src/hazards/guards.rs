//! Commands that disable protections of the machine, use its services to run commands, or encrypt files.

use super::Floor::{Ask, Deny};
use super::shape::Shape;
use super::target::{Base, Target};

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        // An approval by the agent itself approves nothing, whatever a rule says.
        id: "own-approval",
        floor: Deny,
        programs: &["stockade"],
        fires: |command| {
            let words: Vec<&str> = command.operands().take(2).filter_map(|word| word.known()).collect();
            let is_meant = matches!(
                words.as_slice(),
                ["allow" | "deny" | "undo" | "nap" | "install" | "uninstall" | "watch" | "ui", ..]
                    | ["policy" | "config", "add" | "remove" | "set" | "unset"]
                    | ["changes", "apply" | "discard" | "undo"]
                    | ["quarantine", "restore" | "delete"]
                    | ["limits", "reset"]
                    | ["self", "update"]
            );
            // A ticket proves a yes of the user, and only the harness uses one.
            let is_agreed = words.first() == Some(&"exec")
                && command.known().any(|word| word == "--agreed" || word.starts_with("--agreed="));
            let learns = words.first() == Some(&"learn") && command.has("--apply");
            is_agreed || (is_meant || learns) && !command.has("-h --help --dry-run")
        },
        reason: "changes what the agent may do",
        fix: "ask the user to run it",
        matches: &[
            "stockade allow claude git push",
            "/usr/local/bin/stockade nap 10m",
            "stockade policy add --agent x ls",
            "stockade config set a b",
            "stockade --color never undo",
            "stockade changes apply",
            "bash -c 'stockade allow --last'",
            "stockade learn claude --apply",
            "script -qc 'stockade watch'",
            "stockade ui --port 8123",
            "stockade self update",
            "stockade exec --quiet --agent x --agreed 1f -- ls",
        ],
        clean: &[
            "stockade scan .",
            "stockade allow --help",
            "stockade why git push",
            "stockade policy list",
            "stockade learn claude",
            "stockade exec -- ls",
            "stockade config explain",
        ],
    },
    // MITRE T1562.001, T1562.012: monitoring is disabled before an attack. Reading its status is harmless, and not matched.
    Shape {
        id: "security-software",
        floor: Ask,
        programs: &[
            "mdatp",
            "falconctl",
            "falconhoseclient",
            "sentinelctl",
            "osqueryctl",
            "auditctl",
            "augenrules",
            "wazuh-control",
            "ossec-control",
            "cbdaemon",
            "cbcloud",
            "repcli",
            "sophosctl",
            "savdctl",
            "savscand",
            "esets",
            "nessuscli",
            "santactl",
            "jamf",
            "profiles",
            "semanage",
            "setsebool",
            "semodule",
            "sysrc",
            "aide",
            "tripwire",
            "chkrootkit",
            "fail2ban-client",
            "clamconf",
            "freshclam",
            "dsa_control",
            "ds_agent",
            "trendctl",
            "xagt",
            "cytool",
            "klnagent",
            "uac",
            "log",
            "tccutil",
            "Set-MpPreference",
        ],
        fires: |command| match command.name {
            "sysrc" => command.known().any(|word| word.contains('=')),
            "log" => command.is_sub(&["erase", "config"]),
            "auditctl" => !command.has("-l -s -v -h"),
            "semanage" | "semodule" => {
                !command.has("-l --list --list-modules") && !command.says(&["-l", "--list"])
            }
            "profiles" => !command.is_sub(&["list", "show", "status"]) && !command.has("-P -L -C -H"),
            "fail2ban-client" => !command.is_sub(&["status", "ping", "version", "get", "banned"]),
            _ => {
                !command
                    .is_sub(&["status", "health", "version", "stats", "info", "list", "fileinfo", "check"])
                    && !command.says(&["-g", "--status"])
                    && !command.only_asks_for_help()
            }
        },
        reason: "controls monitoring software",
        fix: "ask the user to do it; only query its status",
        matches: &[
            "mdatp config real-time-protection --value disabled",
            "auditctl -D",
            "auditctl -a never,task",
            "sysrc syslogd_enable=NO",
            "sudo falconctl -d",
            "log erase --all",
            "setsebool -P httpd_enable_homedirs 1",
            "tccutil reset All",
        ],
        clean: &[
            "mdatp health",
            "auditctl -l",
            "sysrc -a",
            "log show --last 5m",
            "osqueryctl status",
            "semanage boolean -l",
        ],
    },
    // MITRE T1553.004: the owner of a trusted authority can read and change all TLS connections of this machine.
    Shape {
        id: "trust-certificate",
        floor: Ask,
        programs: &[
            "update-ca-certificates",
            "update-ca-trust",
            "trust",
            "security",
            "certutil",
            "keytool",
            "mkcert",
            "certmgr",
            "dpkg-reconfigure",
            "c_rehash",
        ],
        fires: |command| match command.name {
            "trust" => command.is_sub(&["anchor"]),
            "security" => command.is_sub(&[
                "add-trusted-cert",
                "remove-trusted-cert",
                "trust-settings-import",
                "authorizationdb",
                "set-keychain-settings",
                "unlock-keychain",
                "add-certificates",
            ]),
            "certutil" => command.has("-A -M") && !command.says(&["-urlcache", "-decode"]),
            "keytool" => {
                command.says(&["-importcert", "-import"]) && command.says(&["-cacerts", "-trustcacerts"])
            }
            "mkcert" => command.says(&["-install"]),
            "certmgr" => command.says(&["-add", "-put"]),
            "dpkg-reconfigure" => command.says(&["ca-certificates"]),
            _ => !command.has("--help -h"),
        },
        reason: "turns certificate checks off, so any certificate is accepted for any site",
        fix: "pass the certificate to the program that needs it, such as `curl --cacert`",
        matches: &[
            "update-ca-certificates",
            "trust anchor ca.pem",
            "security add-trusted-cert -d ca.pem",
            "sudo update-ca-trust extract",
            "mkcert -install",
            "certutil -A -n x -t TC,, -d sql:db",
            "keytool -importcert -cacerts -file x",
        ],
        clean: &[
            "trust list",
            "security list-keychains",
            "keytool -list -cacerts",
            "mkcert localhost",
            "update-ca-certificates --help",
        ],
    },
    // MITRE T1486, T1560: ransomware and exfiltration use the archivers that are installed.
    Shape {
        id: "lock-away",
        floor: Ask,
        programs: &[
            "zip",
            "7z",
            "7za",
            "7zz",
            "rar",
            "ccrypt",
            "ccencrypt",
            "openssl",
            "age",
            "mcrypt",
            "gpg-zip",
            "cryptsetup-reencrypt",
        ],
        fires: |command| match command.name {
            "zip" => command.has("-e -P --encrypt --password"),
            "7z" | "7za" | "7zz" | "rar" => {
                command.is_sub(&["a", "u", "m"])
                    && command
                        .known()
                        .any(|word| word.starts_with("-p") || word.starts_with("-hp") || word == "-mhe=on")
            }
            "openssl" => {
                command.operand(0).is_some_and(is_cipher)
                    && !command.says(&["-d"])
                    && command
                        .words()
                        .any(|word| matches!(Target::of(word).base, Base::Home | Base::Root | Base::Above(_)))
            }
            "age" => command.has("-p --passphrase"),
            _ => command.operands().next().is_some(),
        },
        reason: "encrypts files with a password",
        fix: "pack files of the workspace without a password",
        matches: &[
            "zip -P pw x.zip a",
            "zip --password pw x.zip ./*",
            "zip -e x.zip a",
            "7z a -psecret x.7z a",
            "7z a -p ARTPass -mhe=on x.7z a",
            "openssl enc -aes-256-cbc -in ~/a -out b",
            "openssl aes-256-cbc -in /srv/a -out b",
            "ccencrypt -K x a",
        ],
        clean: &[
            "zip -r x.zip src",
            "7z a x.7z src",
            "7z x -psecret x.7z",
            "openssl enc -d -aes-256-cbc -in ~/a",
            "openssl enc -aes-256-cbc -in a -out b",
            "openssl req -new -key k -out c",
            "unzip -P pw x.zip",
        ],
    },
    // MITRE T1562.006, T1569.002: a service manager starts programs without the sandbox and the limits of this command.
    Shape {
        id: "run-as-service",
        floor: Ask,
        programs: &[
            "systemd-run",
            "busctl",
            "gdbus",
            "dbus-send",
            "loginctl",
            "machinectl",
            "osascript",
            "automator",
            "launchctl",
            "kickstart",
        ],
        fires: |command| match command.name {
            "systemd-run" | "automator" | "kickstart" => !command.only_asks_for_help(),
            "busctl" => command.is_sub(&["call", "set-property", "emit"]),
            "gdbus" => command.is_sub(&["call", "emit"]),
            "dbus-send" => command.words().next().is_some(),
            "loginctl" => command.is_sub(&[
                "enable-linger",
                "attach",
                "kill-session",
                "kill-user",
                "terminate-user",
                "terminate-session",
            ]),
            "machinectl" => {
                command.is_sub(&["shell", "login", "start", "import-tar", "pull-tar", "bind", "copy-to"])
            }
            "launchctl" => command.is_sub(&[
                "unload", "bootout", "remove", "disable", "setenv", "config", "kill", "stop", "start",
            ]),
            _ => false,
        },
        reason: "makes a system service run it, outside of this command and its sandbox",
        fix: "run the program directly",
        matches: &[
            "systemd-run --unit=x sh -c id",
            "systemd-run --user ls",
            "gdbus call --session -d a -m b",
            "loginctl enable-linger me",
            "launchctl unload x.plist",
        ],
        clean: &[
            "systemd-run --version",
            "busctl list",
            "loginctl list-sessions",
            "launchctl list",
            "gdbus introspect -d x",
        ],
    },
];

/// Whether a subcommand of `openssl` encrypts: `enc`, or the name of a cipher.
fn is_cipher(name: &str) -> bool {
    const BEGINNINGS: &[&str] = &[
        "aes", "aria", "bf", "camellia", "cast", "chacha", "des", "idea", "rc2", "rc4", "rc5", "seed", "sm4",
    ];
    matches!(name, "enc" | "rsautl" | "smime" | "pkeyutl" | "cms")
        || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_encrypts_is_a_cipher() {
        assert!(is_cipher("aes-256-cbc") && is_cipher("des3") && is_cipher("enc"));
        assert!(!is_cipher("dgst") && !is_cipher("x509") && !is_cipher("genrsa"));
    }
}
