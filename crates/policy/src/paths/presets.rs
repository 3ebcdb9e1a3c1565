//! The ready-made configurations, and the paths that they never touch.

use std::sync::LazyLock;

use stockade_names::{Name, Scope, Secrecy, fits, names};

use super::config::{AbsolutePaths, Answer, DangerousNames, HardLinks, Jail, PathPolicy, SandboxConfig};

/// Paths that no agent should touch: the documented list, the short name of a repository on NTFS, and every name of the table of
/// names whose level is secret. Case never counts in a forbidden glob, and a forbidden folder is forbidden with
/// everything below it.
pub static STANDARD_FORBIDDEN_GLOBS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut globs: Vec<String> = DOCUMENTED.iter().map(|&glob| glob.to_owned()).collect();
    let mut first_names: Vec<(&str, &str)> = DOCUMENTED.iter().map(|glob| first_name(glob)).collect();
    let forbidden = |name: &&Name| name.scope == Scope::Anywhere && name.secrecy == Secrecy::Secret;
    for path in names().filter(forbidden).flat_map(|name| name.paths) {
        let glob = format!("**/{path}");
        let names: Vec<&str> = path.split('/').collect();
        // One of its names begins and ends as the first name of a wider glob does, which rules nearly all of them out.
        let may_fit = |(begin, end): &(&str, &str)| {
            names.iter().any(|name| name.starts_with(begin) && name.ends_with(end))
        };
        let mut others = globs.iter().zip(&first_names);
        // A second, redundant glob would have to be removed as well by a user who wants the file opened.
        if !others.any(|(wider, first)| may_fit(first) && fits(&glob, wider)) {
            globs.push(glob);
            first_names.push(first_name(path));
        }
    }
    globs
});

/// How the first name in a glob begins and ends, as far as it is no pattern.
fn first_name(glob: &str) -> (&str, &str) {
    let names = glob.strip_prefix("**/").unwrap_or(glob);
    let first = names.split('/').next().unwrap_or_default();
    (first.split('*').next().unwrap_or_default(), first.rsplit('*').next().unwrap_or_default())
}

/// The documented list. A repository's folder is code that runs later, also below the workspace; `git~1` is its short name.
#[rustfmt::skip]
const DOCUMENTED: &[&str] = &[
    ".git/**", "**/.env*", "**/*.pem", "**/*.key", "**/id_rsa*", "**/secrets/**", "**/.npmrc", "**/.yarnrc", "**/*.crt",
    "**/.git", "**/git~1",
];

/// Jailed, relative paths or absolute ones in the workspace, the standard forbidden globs, dangerous names guarded; the folder of skills and settings may be
/// read.
pub(super) fn standard() -> SandboxConfig {
    SandboxConfig {
        cwd: None,
        jail: Jail::Confined,
        absolute_paths: AbsolutePaths::Inside,
        hard_links: HardLinks::Refused,
        names: DangerousNames::Guarded,
        forbidden_globs: STANDARD_FORBIDDEN_GLOBS.clone(),
        read: PathPolicy { allow: globs(READABLE), ..PathPolicy::default() },
        write: PathPolicy::default(),
        // No file rule reaches what a command does, so a person decides.
        execute: Answer::Ask,
    }
}

/// No path is restricted. Commands are judged as everywhere.
pub(super) fn permissive() -> SandboxConfig {
    SandboxConfig {
        cwd: None,
        jail: Jail::Off,
        absolute_paths: AbsolutePaths::Accepted,
        hard_links: HardLinks::Refused,
        names: DangerousNames::Free,
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What stood here before there was a table of names for all, except for names that may hold a secret (containers of
    /// keys, `.yarnrc.yml`, `.m2/settings.xml`, `.terraformrc`, histories): commands and file tools ask alike about these.
    #[rustfmt::skip]
    const EVER: &[&str] = &[
        ".git/**", "**/.env*", "**/*.pem", "**/*.key", "**/id_rsa*", "**/secrets/**", "**/.npmrc", "**/.yarnrc",
        "**/*.crt", "**/.git", "**/git~1", "**/id_dsa*", "**/id_ecdsa*", "**/id_ed25519*", "**/id_xmss*", "**/.ssh", "**/.gnupg", "**/.aws", "**/.azure", "**/.kube", "**/.config/gcloud",
        "**/.config/gh", "**/.password-store", "**/.secrets", "**/.netrc", "**/_netrc", "**/.git-credentials",
        "**/.pgpass", "**/.my.cnf", "**/.htpasswd", "**/.pypirc", "**/.docker/config.json",
        "**/.dockercfg", "**/.cargo/credentials", "**/.cargo/credentials.toml", "**/.gem/credentials",
        "**/.m2/settings-security.xml", "**/.composer/auth.json",
        "**/.terraform.d/credentials.tfrc.json", "**/.vault-token", "**/.boto", "**/.s3cfg", "**/.databrickscfg",
        "**/.snowsql/config",
    ];

    /// The quick test of beginnings and ends loses no glob that another one covers.
    #[test]
    fn no_glob_is_covered_by_an_earlier_one() {
        for (number, glob) in STANDARD_FORBIDDEN_GLOBS.iter().enumerate().skip(DOCUMENTED.len()) {
            let wider = STANDARD_FORBIDDEN_GLOBS.iter().take(number).find(|wider| fits(glob, wider));
            assert_eq!(wider, None, "{glob}");
        }
    }

    #[test]
    fn what_was_ever_forbidden_still_is() {
        for glob in EVER {
            // One with a star covers those without that it fits.
            assert!(STANDARD_FORBIDDEN_GLOBS.iter().any(|own| fits(glob, own)), "{glob}");
        }
    }
}
