//! Decides which paths a sandbox may share.

use std::path::{Component, Path, PathBuf};

use stockade_names::home::{self, Nearness};

use crate::host::{Entry, HostFacts};
use crate::refusal::{Refusal, SandboxRule, What};
use crate::spec::MountAccess;

/// System directories that are never shared, nor any path above or below them.
const SYSTEM: &[&str] = &["/etc", "/proc", "/sys", "/dev", "/run", "/var/run", "/root", "/boot"];

/// The home of root. When root starts the command, its projects are treated like those of any user.
const ROOTS_HOME: &str = "/root";

/// Directories that are never writable, nor any path above them.
const SHARED_BY_ALL: &[&str] = &["/tmp", "/var/tmp", "/home", "/opt", "/srv", "/mnt", "/media", "/var"];

/// Directories that are never writable, nor any path in them, because programs of the machine run from there.
const PROGRAMS: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"];

/// Returns the path if it may be shared with this access; nothing if it does not exist.
pub(crate) fn check(path: &Path, access: MountAccess, facts: &HostFacts) -> Result<Option<PathBuf>, Refusal> {
    let refuse = |rule: SandboxRule, fix: &str| Refusal::new(what(path, access), rule, fix);
    if !is_plain(path) {
        return Err(refuse(SandboxRule::PlainPath, "use an absolute path without `..`"));
    }
    if let Some((rule, fix)) = forbidden(path, access, facts) {
        return Err(refuse(rule, &fix));
    }
    match facts.entry(path) {
        None => Ok(None),
        Some(Entry::Link { resolved: Some(real), .. }) => {
            let fix = format!("use {}", real.display());
            Err(match forbidden(real, access, facts) {
                Some((rule, fix)) => refuse(rule, &fix),
                None => refuse(SandboxRule::NoLinks, &fix),
            })
        }
        Some(Entry::Link { resolved: None, .. }) => {
            Err(refuse(SandboxRule::NoLinks, "the symlink is dangling; remove it"))
        }
        Some(Entry::Folder | Entry::File) => Ok(Some(path.to_path_buf())),
        Some(Entry::Socket | Entry::Other) => {
            Err(refuse(SandboxRule::Exists, "choose a directory or a regular file"))
        }
    }
}

/// Returns the path if it may be shared and is a directory.
pub(crate) fn check_folder(path: &Path, access: MountAccess, facts: &HostFacts) -> Result<PathBuf, Refusal> {
    let found = check(path, access, facts)?.filter(|path| facts.entry(path) == Some(&Entry::Folder));
    found.ok_or_else(|| {
        let fix = format!("create the directory: mkdir -p {}", path.display());
        Refusal::new(what(path, access), SandboxRule::Exists, fix)
    })
}

fn what(path: &Path, access: MountAccess) -> What {
    match access {
        MountAccess::ReadOnly => What::Read(path.to_path_buf()),
        MountAccess::ReadWrite => What::Write(path.to_path_buf()),
    }
}

/// Whether a path is absolute, without `..`, `.` and NUL bytes.
pub(crate) fn is_plain(path: &Path) -> bool {
    let mut components = path.components();
    components.next() == Some(Component::RootDir)
        && components.all(|component| matches!(component, Component::Normal(_)))
        && !path.as_os_str().as_encoded_bytes().contains(&0)
}

/// Returns the rule that forbids a path, if there is one, and a fix.
pub(crate) fn forbidden(
    path: &Path,
    access: MountAccess,
    facts: &HostFacts,
) -> Option<(SandboxRule, String)> {
    let home = facts.home.as_path();
    let overlaps = |folder: &Path| path.starts_with(folder) || folder.starts_with(path);
    if path == Path::new("/") {
        return Some((SandboxRule::WholeMachine, "choose the directory of one project".to_owned()));
    }
    if home.starts_with(path) || (path == Path::new(ROOTS_HOME) && is_of_root(facts)) {
        let fix = format!("choose the directory of one project below it, such as {}/project", home.display());
        return Some((SandboxRule::WholeHome, fix));
    }
    let at_roots_home = path.starts_with(ROOTS_HOME) && is_of_root(facts);
    if let Some(folder) = SYSTEM.iter().find(|folder| overlaps(Path::new(folder)))
        && !at_roots_home
    {
        return Some((
            SandboxRule::SystemFolder(folder),
            "copy the required files to another directory".to_owned(),
        ));
    }
    let below = homes(facts).filter_map(|home| path.strip_prefix(home).ok());
    if let Some((near, secret)) = below.filter_map(home::nearest).next().or_else(|| linked(path, facts)) {
        let rule = match near {
            Nearness::IsWithheld => SandboxRule::CredentialFolder(secret),
            Nearness::IsMasked => SandboxRule::CredentialFile(secret),
        };
        let fix = "choose a directory without credentials; harmless git settings are visible anyway";
        return Some((rule, fix.to_owned()));
    }
    if access == MountAccess::ReadOnly {
        return None;
    }
    let shared = SHARED_BY_ALL.iter().find(|folder| Path::new(folder).starts_with(path));
    let programs = PROGRAMS.iter().find(|folder| overlaps(Path::new(folder)));
    let folder = shared.or(programs)?;
    Some((SandboxRule::NeverWritable(folder), format!("use a subdirectory such as {folder}/work, or a copy")))
}

/// Returns credentials that a path outside of the home contains, because a symlink at home resolves to it or to a parent.
fn linked(path: &Path, facts: &HostFacts) -> Option<(Nearness, &'static str)> {
    let mut links = facts.entries.iter().filter_map(|(link, entry)| match entry {
        Entry::Link { resolved: Some(real), .. } => Some((link.strip_prefix(&facts.home).ok()?, real)),
        _ => None,
    });
    links.find_map(|(link, real)| home::nearest(&link.join(path.strip_prefix(real).ok()?)))
}

/// Returns the homes of the user that starts the command. For root, `/root` contains credentials even if `HOME` differs.
pub(crate) fn homes(facts: &HostFacts) -> impl Iterator<Item = &Path> {
    let roots = is_of_root(facts).then_some(Path::new(ROOTS_HOME)).filter(|home| *home != facts.home);
    std::iter::once(facts.home.as_path()).chain(roots)
}

/// Whether root starts the command; for other users `/root` is a system directory.
fn is_of_root(facts: &HostFacts) -> bool {
    facts.user == 0 || facts.home.starts_with(ROOTS_HOME)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> HostFacts {
        HostFacts { home: "/home/u".into(), user: 1000, ..HostFacts::default() }
    }

    /// Paths that were withheld before the shared table of names existed: all of them still are.
    #[test]
    #[rustfmt::skip]
    fn formerly_withheld_directories_are_still_withheld() {
        const EVER: &[&str] = &[
            ".ssh", ".aws", ".gnupg", ".config", ".npm", ".npmrc", ".netrc", ".kube", ".docker", ".azure", ".claude",
            ".claude.json", ".codex", ".codebuddy", ".gemini", ".git-credentials", ".pypirc", ".vault-token",
            ".password-store", ".mozilla", ".local/share/keyrings", ".local/share/claude",
        ];
        for folder in EVER {
            let path = Path::new("/home/u").join(folder);
            let refused = check(&path, MountAccess::ReadOnly, &facts()).map_err(|refusal| refusal.rule);
            assert_eq!(refused, Err(SandboxRule::CredentialFolder(folder)));
        }
    }

    #[test]
    fn root_has_projects_at_home() {
        let facts = HostFacts { home: "/root".into(), user: 0, ..HostFacts::default() };
        let rule = |path: &str| {
            check(Path::new(path), MountAccess::ReadWrite, &facts).map_err(|refusal| refusal.rule)
        };
        assert_eq!(rule("/root/project"), Ok(None));
        assert_eq!(rule("/root"), Err(SandboxRule::WholeHome));
        assert_eq!(rule("/"), Err(SandboxRule::WholeMachine));
        assert_eq!(rule("/root/.ssh/x"), Err(SandboxRule::CredentialFolder(".ssh")));
        let facts = HostFacts { home: "/srv/ci".into(), user: 0, ..HostFacts::default() };
        let rule = |path: &str| {
            check(Path::new(path), MountAccess::ReadWrite, &facts).map_err(|refusal| refusal.rule)
        };
        assert_eq!(rule("/root/project"), Ok(None));
        assert_eq!(rule("/root"), Err(SandboxRule::WholeHome));
        assert_eq!(rule("/root/.aws"), Err(SandboxRule::CredentialFolder(".aws")));
    }

    #[test]
    fn credential_directories_are_refused_in_every_notation() {
        for path in [
            "/",
            "/etc",
            "/etc/ssl",
            "/proc",
            "/proc/1",
            "/sys/fs",
            "/dev/shm",
            "/run/user/1",
            "/var/run",
            "/root/x",
            "/home",
            "/home/u",
            "/home/u/.ssh",
            "/home/u/.ssh/x",
            "/home/u/.config",
            "/home/u/.config/gh",
            "/home/u/.local",
            "relative",
            "/a/../b",
            "",
            "/a\0b",
        ] {
            for access in [MountAccess::ReadOnly, MountAccess::ReadWrite] {
                assert!(check(Path::new(path), access, &facts()).is_err(), "{path} {access:?}");
            }
        }
    }

    #[test]
    fn readable_and_not_writable() {
        for path in ["/tmp", "/usr", "/usr/share/x", "/var/tmp", "/opt", "/srv", "/lib64"] {
            assert_eq!(check(Path::new(path), MountAccess::ReadOnly, &facts()), Ok(None), "{path}");
            assert!(check(Path::new(path), MountAccess::ReadWrite, &facts()).is_err(), "{path}");
        }
    }

    #[test]
    fn similar_names_are_permitted() {
        for path in
            ["/etcetera", "/home/u/.sshx", "/home/u/work", "/tmp/x", "/opt/data", "/running", "/srv/x/etc"]
        {
            assert_eq!(check(Path::new(path), MountAccess::ReadWrite, &facts()), Ok(None), "{path}");
        }
    }

    #[test]
    fn a_symlink_is_checked_by_its_target() {
        let mut facts = facts();
        let link = |to: &str| Entry::Link { to: None, resolved: Some(to.into()) };
        facts.entries.insert("/srv/a".into(), link("/etc"));
        facts.entries.insert("/srv/b".into(), link("/srv/c"));
        let rule = |path: &str| check(Path::new(path), MountAccess::ReadOnly, &facts).unwrap_err().rule;
        assert_eq!(rule("/srv/a"), SandboxRule::SystemFolder("/etc"));
        assert_eq!(rule("/srv/b"), SandboxRule::NoLinks);
    }
}
