//! The ready-made configurations, and the paths that they never touch.

use super::config::{AbsolutePaths, Answer, HardLinks, Jail, PathPolicy, SandboxConfig};

/// Paths that no agent should touch, in three kinds: the documented list, the same names where it forgot them, and
/// other places where credentials are usually kept. Case never counts in a forbidden glob, and a forbidden folder is
/// forbidden with everything below it.
#[rustfmt::skip]
pub const STANDARD_FORBIDDEN_GLOBS: &[&str] = &[
    // The documented list.
    ".git/**", "**/.env*", "**/*.pem", "**/*.key", "**/id_rsa*", "**/secrets/**", "**/.npmrc", "**/.yarnrc", "**/*.crt",
    // A repository's folder is code that runs later (hooks, filters, config), also below the workspace; in a work
    // tree or a submodule `.git` is a file that says where that folder is. `git~1` is its short name on NTFS.
    "**/.git", "**/git~1",
    // Private keys under their other usual names.
    "**/id_dsa*", "**/id_ecdsa*", "**/id_ed25519*", "**/id_xmss*", "**/*.ppk", "**/*.p12", "**/*.pfx", "**/*.p8",
    "**/*.jks", "**/*.keystore", "**/*.kdbx", "**/*.kdb", "**/*.ovpn", "**/*.keytab",
    // Folders of credentials.
    "**/.ssh", "**/.gnupg", "**/.aws", "**/.azure", "**/.kube", "**/.config/gcloud", "**/.config/gh", "**/.password-store",
    "**/.secrets",
    // Files of credentials.
    "**/.netrc", "**/_netrc", "**/.git-credentials", "**/.pgpass", "**/.my.cnf", "**/.htpasswd", "**/.pypirc",
    "**/.yarnrc.yml", "**/.docker/config.json", "**/.dockercfg", "**/.cargo/credentials", "**/.cargo/credentials.toml",
    "**/.gem/credentials", "**/.m2/settings.xml", "**/.m2/settings-security.xml", "**/.composer/auth.json",
    "**/.terraformrc", "**/.terraform.d/credentials.tfrc.json", "**/.vault-token", "**/.boto", "**/.s3cfg",
    "**/.databrickscfg", "**/.snowsql/config", "**/.bash_history", "**/.zsh_history",
];

/// Jailed, relative paths only, the standard forbidden globs; the folder of skills and settings may be read.
pub(super) fn standard() -> SandboxConfig {
    SandboxConfig {
        cwd: None,
        jail: Jail::Confined,
        absolute_paths: AbsolutePaths::Refused,
        hard_links: HardLinks::Refused,
        forbidden_globs: globs(STANDARD_FORBIDDEN_GLOBS),
        read: PathPolicy { allow: globs(READABLE), ..PathPolicy::default() },
        write: PathPolicy::default(),
        // No file rule reaches what a command does, so a person decides.
        execute: Answer::Ask,
    }
}

/// No restriction at all.
pub(super) fn permissive() -> SandboxConfig {
    SandboxConfig {
        cwd: None,
        jail: Jail::Off,
        absolute_paths: AbsolutePaths::Accepted,
        hard_links: HardLinks::Refused,
        forbidden_globs: Vec::new(),
        read: PathPolicy::default(),
        write: PathPolicy::default(),
        execute: Answer::Allow,
    }
}

/// As [`standard`], for a daemon whose clients send absolute paths. The documents say both that the daemon is jailed
/// and that paths outside are asked for; the jail is the safer of the two, and it is checked first.
pub(super) fn daemon() -> SandboxConfig {
    let inside = |extra: &[&str]| PathPolicy {
        default: Answer::Ask,
        allow: extra.iter().copied().chain(["**"]).map(str::to_owned).collect(),
        deny: Vec::new(),
    };
    SandboxConfig {
        absolute_paths: AbsolutePaths::Accepted,
        read: inside(READABLE),
        write: inside(&[]),
        ..standard()
    }
}

/// Skills and settings of the workspace, and the workspace itself.
const READABLE: &[&str] = &[".", ".comma/**"];

fn globs(patterns: &[&str]) -> Vec<String> {
    patterns.iter().map(|&pattern| pattern.to_owned()).collect()
}
