//! Files that contain secrets and nothing else: no command and no file tool reads them, and no sandbox shows them.

use super::SECRET;
use crate::name::{Kind, Name, Scope, Write};
use crate::secrecy::{Needed, Secrecy};

/// Keys that grant a login.
const KEY: Name = Name { kind: Kind::GrantsAccess, ..SECRET };

/// Secrets below the home.
const HOME_SECRET: Name = Name { scope: Scope::Home, ..SECRET };

/// Secrets of the machine.
const MACHINE_SECRET: Name = Name { scope: Scope::Machine, ..SECRET };

#[rustfmt::skip]
pub(super) const ROWS: &[Name] = &[
    Name {
        id: "ssh",
        tool: "SSH",
        paths: &[".ssh", ".ssh/*"],
        but: &["*.pub", ".ssh/config", ".ssh/known_hosts*", ".ssh/authorized_keys*"],
        why: "Private keys.",
        matches: &[".ssh/id_rsa", "x/.SSH/deploy"],
        clean: &["ssh/config.md", ".sshx"],
        ..KEY
    },
    Name {
        id: "ssh-logins",
        tool: "SSH",
        paths: &[".ssh/authorized_keys*", ".ssh/config"],
        write: Write::Refuse,
        secrecy: Secrecy::Settings,
        needed: Needed::Itself,
        why: "Lists who may log in, and names the program that connects.",
        matches: &[".ssh/authorized_keys2", "x/.ssh/config"],
        clean: &["authorized_keys.md"],
        ..KEY
    },
    Name {
        id: "private-keys",
        tool: "SSH",
        paths: &["id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "id_xmss*"],
        but: &["*.pub"],
        why: "Private keys under their usual names, their copies and the files beside them.",
        matches: &["id_rsa", "keys/id_ed25519_sk", "id_rsa.bak", "x/id_xmss"],
        clean: &["rsa", "ed25519.md", "idrsa", "id_rsa.pub"],
        ..KEY
    },
    Name {
        id: "credential-folders",
        tool: "GnuPG, cloud tools, password stores, wallets",
        paths: &[
            ".gnupg", ".gnupg/*", ".aws", ".aws/*", ".azure", ".azure/*", ".kube", ".kube/*", ".config/gh", ".config/gh/*",
            ".config/op", ".config/op/*", ".password-store", ".password-store/*", ".secrets", ".secrets/*", ".electrum",
            ".aws/sso/cache/*", ".aws/cli/cache/*", ".gnupg/private-keys-v1.d/*", ".electrum/*", ".bitcoin", ".bitcoin/*", ".ethereum", ".ethereum/*", ".local/share/keyrings", ".local/share/keyrings/*",
        ],
        but: &["*.pub"],
        why: "The tool reads its credentials itself; no command needs to.",
        matches: &[".aws/credentials", ".kube/cache/x", ".config/gh/hosts.yml", ".secrets/x", ".gnupg/private-keys-v1.d/x.key"],
        clean: &[".aws.md", "aws/x", "gh/config.yml"],
        ..SECRET
    },
    Name {
        id: "cloud-folders",
        tool: "Google Cloud",
        paths: &[".config/gcloud", ".config/gcloud/*"],
        but: &["*.pub", ".config/gcloud/configurations"],
        why: "The tool reads its credentials itself; no command needs to.",
        matches: &["x/.config/gcloud/credentials.db"],
        clean: &["config/gcloud"],
        ..SECRET
    },
    Name {
        id: "credential-files",
        tool: "Package managers, databases, clouds, agents, browsers",
        paths: &[
            ".netrc", "_netrc", ".git-credentials", ".config/git/credentials", ".docker/config.json", ".dockercfg", ".pgpass", ".my.cnf",
            ".vault-token", ".vault_pass", ".htpasswd", ".pypirc", ".npmrc.local", ".cargo/credentials", ".cargo/credentials.toml",
            ".gem/credentials", ".m2/settings-security.xml", ".composer/auth.json", ".terraform.d/credentials*", ".boto", ".s3cfg",
            ".databrickscfg", ".snowsql/config", ".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json",
            ".comis/.env", "Login Data", "cookies.sqlite", "logins.json", "key4.db", "wallet.dat",
        ],
        why: "The tool logs in with it, and so can any other reader.",
        matches: &["_netrc", "x/.cargo/credentials.toml", ".git-credentials", "deploy/.pypirc", "nginx/.htpasswd"],
        clean: &["netrc.md", ".cargo/registry/x", "login data.md", "docker/config.json", "pypirc"],
        ..SECRET
    },
    Name {
        id: "home-keys",
        tool: "SSH, GnuPG, pass",
        scope: Scope::Home,
        paths: &[".ssh", ".gnupg", ".password-store"],
        but: &[".ssh/known_hosts"],
        write: Write::Refuse,
        secrecy: Secrecy::Settings,
        why: "Keys of the user, and who may log in as the user.",
        matches: &[".ssh/authorized_keys", ".gnupg/x"],
        clean: &["ssh"],
        ..KEY
    },
    Name {
        id: "home-credentials",
        tool: "Tools of the user",
        secrecy: Secrecy::Settings,
        paths: &[
            ".ssh", ".aws", ".gnupg", ".config", ".npm", ".kube", ".docker", ".azure", ".claude", ".claude.json", ".codex",
            ".codebuddy", ".gemini", ".password-store", ".local/share/keyrings", ".local/share/claude",
        ],
        why: "Credentials are kept there, in one file or another.",
        matches: &[".ssh", ".config/gh/hosts.yml", ".local/share/keyrings/x"],
        clean: &["project", "config"],
        ..HOME_SECRET
    },
    Name {
        id: "home-tokens",
        tool: "Package managers, macOS",
        paths: &[".npmrc", ".pypirc", ".netrc", ".git-credentials", ".vault-token", "Library/Keychains"],
        why: "Tokens with which packages are published, and what the system keeps for the user.",
        matches: &[".npmrc", "Library/Keychains/login.keychain-db"],
        clean: &["npmrc.md"],
        ..HOME_SECRET
    },
    Name {
        id: "home-tokens-inside",
        tool: "Package managers",
        paths: &[".cargo/credentials*", ".gem/credentials"],
        needed: Needed::Around,
        why: "Tokens with which packages are published, beside packages that were fetched.",
        matches: &[".cargo/credentials.toml"],
        clean: &["cargo/credentials"],
        ..HOME_SECRET
    },
    Name {
        id: "browser-profiles",
        tool: "Browsers, mail programs, messengers",
        paths: &[
            ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge", ".config/vivaldi",
            ".config/opera", ".mozilla", ".thunderbird", "snap/firefox", "snap/chromium",
            "Library/Application Support/Google/Chrome", "Library/Application Support/Chromium",
            "Library/Application Support/BraveSoftware", "Library/Application Support/Microsoft Edge",
            "Library/Application Support/Firefox", "Library/Application Support/Signal", "Library/Cookies", "Library/Mail",
            "Library/Messages", "Library/Safari", "Library/Group Containers",
        ],
        why: "Sessions, passwords, histories and letters of the user.",
        matches: &[".config/google-chrome/Default/Cookies", ".mozilla/firefox/x/places.sqlite", "Library/Mail/V10/x"],
        clean: &["chromium/x", "Library/Fonts/x"],
        ..HOME_SECRET
    },
    Name {
        id: "machine-mail",
        tool: "The machine",
        paths: &["var/mail", "var/spool/mail"],
        secrecy: Secrecy::MayHoldSecret,
        why: "Letters of the users of the machine.",
        matches: &["var/mail/root", "var/spool/mail/me"],
        clean: &["var/mailman"],
        ..MACHINE_SECRET
    },
    Name {
        id: "machine-keys",
        tool: "The machine, SSH",
        kind: Kind::GrantsAccess,
        paths: &["etc/ssh"],
        write: Write::Refuse,
        secrecy: Secrecy::Settings,
        why: "Lists who may log in to the machine.",
        matches: &["etc/ssh/sshd_config"],
        clean: &["etc/sshx"],
        ..MACHINE_SECRET
    },
    Name {
        id: "machine-secrets",
        tool: "The machine",
        paths: &[
            "etc/shadow*", "etc/gshadow*", "etc/sudoers*", "etc/ssh/ssh_host_*", "proc/*/environ", "proc/*/mem", "proc/*/task/*/environ",
            "proc/*/task/*/mem", "etc/ssl/private", "dev/mem", "dev/kmem", "dev/input", "proc/kcore", "var/run/secrets", "run/secrets",
        ],
        but: &["*.pub"],
        why: "Hashes of passwords, keys of the machine, the memory and variables of other programs, what is typed.",
        matches: &["etc/shadow", "proc/1/environ", "run/secrets/x"],
        clean: &["etc/hosts", "proc/cpuinfo"],
        ..MACHINE_SECRET
    },
    Name {
        id: "raw-disks",
        tool: "The machine",
        paths: &[
            "dev/sd*", "dev/hd*", "dev/vd*", "dev/xvd*", "dev/nvme*", "dev/mmcblk*", "dev/disk*", "dev/rdisk*", "dev/mapper", "dev/dm-*",
            "dev/md*", "dev/loop*", "dev/nbd*", "dev/block", "dev/port",
        ],
        secrecy: Secrecy::MayHoldSecret,
        why: "Every file of the machine, regardless of its permissions.",
        matches: &["dev/sda", "dev/nvme0n1p2", "dev/mapper/root", "dev/disk/by-uuid/x"],
        clean: &["dev/null", "dev/shm/x"],
        ..MACHINE_SECRET
    },
    Name {
        id: "machine-users",
        tool: "The machine",
        paths: &["etc/passwd"],
        secrecy: Secrecy::MayHoldSecret,
        why: "Lists the accounts of the machine.",
        matches: &["etc/passwd"],
        clean: &["etc/passwords.md"],
        ..MACHINE_SECRET
    },
];
