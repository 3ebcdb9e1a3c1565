//! Names of the home that lead into a writable directory: symlinks to files of a repository with dotfiles, and hard links.
//!
//! A shell reads `~/.bashrc` wherever it leads. So a file of the workspace that is the target of such a name is protected like
//! the name, and one with a secret is hidden.

#![expect(clippy::disallowed_methods, reason = "lists directories of the home")]

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, statat};
use stockade_credentials::contains_secret;
use stockade_names::{Kind, Name, SandboxView, Scope, Write, fits, fold, names};

use super::MAX_TEXT;
use super::entry::read_below;
use super::other_names::File;
use super::roots::Root;
use super::targets::resolve;
use crate::host::{Entry, ProtectionMode};

/// The names in a directory, and the types of those that are not symlinks.
pub(crate) type Listing = BTreeMap<OsString, Option<Entry>>;

/// Names of the home that lead into some directories.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct HomeNames {
    /// Paths at home, behind a symlink that may lead into these directories.
    pub(super) links: Vec<(PathBuf, ProtectionMode)>,
    /// Files at home that have another name, which may be in these directories.
    pub(super) files: Vec<(File, ProtectionMode)>,
}

impl HomeNames {
    pub(crate) fn is_empty(&self) -> bool {
        self.links.is_empty() && self.files.is_empty()
    }
}

/// Returns the names of the home that lead into these directories. `listed` is the listing of the home, and `list` lists other
/// directories. Only directories of names that begin with an existing one are listed: most homes have few of them.
pub(crate) fn home_names(
    home: &Path,
    listed: &Listing,
    list: impl Fn(&Path) -> Listing,
    roots: &[Root],
) -> HomeNames {
    let mut found = HomeNames::default();
    // In a home that is writable as a whole, the names themselves are protected.
    if roots.is_empty() || roots.iter().any(|root| home.starts_with(&root.path)) {
        return found;
    }
    let mut looking = Looking { home, listed, list, roots, folders: BTreeMap::new(), leads: BTreeMap::new() };
    for name in
        names().filter(|name| name.write >= Write::Protect || view(name) >= SandboxView::MaskedWithSecret)
    {
        // Names that apply anywhere apply at home as well; directories with secrets are among them.
        let rows = name.paths.iter().filter(|row| match name.scope {
            Scope::Home => true,
            Scope::Anywhere => row.contains('/'),
            Scope::Repository | Scope::Machine => false,
        });
        rows.for_each(|row| looking.follow(name, row, &mut found));
    }
    found
}

/// Returns what a sandbox would show of such a file in a workspace.
fn view(name: &Name) -> SandboxView {
    name.secrecy.view(name.needed, Scope::Anywhere)
}

/// How a file with the meaning of a row is protected, if it is.
fn mode(name: &Name, path: &Path, below: &Path) -> Option<ProtectionMode> {
    if name.excepts(below.iter().map(OsStr::to_string_lossy)) {
        return None;
    }
    let hides = match view(name) {
        SandboxView::Masked => true,
        SandboxView::MaskedWithSecret => has_secret(path),
        _ => false,
    };
    match hides {
        true => Some(ProtectionMode::Hide),
        false => (name.write >= Write::Protect).then_some(ProtectionMode::ReadOnly),
    }
}

/// Whether the file at a path contains a secret. One that is too large to be read counts as containing one.
pub(super) fn has_secret(path: &Path) -> bool {
    let Some(path) = resolve(path).and_then(|path| path.end) else { return false };
    is_file(&path) && read_below(CWD, &path, MAX_TEXT).is_none_or(|text| contains_secret(&text))
}

/// Whether a path without symlinks is a regular file.
pub(super) fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|data| data.is_file())
}

struct Looking<'l, L> {
    home: &'l Path,
    listed: &'l Listing,
    list: L,
    roots: &'l [Root],
    folders: BTreeMap<PathBuf, Listing>,
    /// Whether a symlink leads into one of the roots, or to a directory around one.
    leads: BTreeMap<PathBuf, bool>,
}

impl<L: Fn(&Path) -> Listing> Looking<'_, L> {
    /// Follows a path of the table from the home: to its end, or to a symlink on the way.
    fn follow(&mut self, name: &'static Name, row: &str, found: &mut HomeNames) {
        // What agents obey, and what is secret, lies in their directories. Links in the directories of programs, as in `~/.local/bin`, lead to
        // source code that the user works on.
        let is_whole = name.kind == Kind::InstructsAgents || view(name) >= SandboxView::MaskedWithSecret;
        let inside = is_whole.then_some("*");
        let parts: Vec<&str> = row.split('/').chain(inside).collect();
        let mut here = vec![PathBuf::new()];
        for (number, part) in parts.iter().enumerate() {
            let is_row = number + 1 + usize::from(inside.is_some()) >= parts.len();
            let is_last = number + 1 == parts.len();
            let mut next = Vec::new();
            for folder in here {
                for (entry, kind) in self.fitting(&folder, part) {
                    let path = folder.join(entry);
                    match kind {
                        None if self.leads_within(&path) => {
                            let rest = parts.iter().skip(number + 1).take_while(|part| !part.contains('*'));
                            let whole = rest.fold(self.home.join(&path), |path, part| path.join(part));
                            let below = whole.strip_prefix(self.home).unwrap_or(&whole).to_path_buf();
                            found.links.extend(mode(name, &whole, &below).map(|mode| (whole, mode)));
                        }
                        Some(Entry::Folder) if !is_last => next.push(path),
                        Some(Entry::File) if is_row => self.file(name, &path, found),
                        _ => {}
                    }
                }
            }
            here = next;
            if here.is_empty() {
                return;
            }
        }
    }

    /// Returns the entries of a directory that a component of the table matches.
    fn fitting(&mut self, folder: &Path, part: &str) -> Vec<(OsString, Option<Entry>)> {
        let listing = match folder.as_os_str().is_empty() {
            true => self.listed,
            false => {
                let (home, list) = (self.home, &self.list);
                &*self.folders.entry(folder.to_path_buf()).or_insert_with(|| list(&home.join(folder)))
            }
        };
        let owned = |(name, kind): (&OsString, &Option<Entry>)| (name.clone(), kind.clone());
        match part.contains('*') {
            false => listing.get_key_value(OsStr::new(part)).map(owned).into_iter().collect(),
            true => {
                let pattern = fold(part);
                let fits = |name: &OsString| fits(&fold(&name.to_string_lossy()), &pattern);
                listing.iter().filter(|entry| fits(entry.0)).map(owned).collect()
            }
        }
    }

    fn leads_within(&mut self, link: &Path) -> bool {
        let (home, roots) = (self.home, self.roots);
        *self.leads.entry(link.to_path_buf()).or_insert_with(|| {
            let end = resolve(&home.join(link)).and_then(|path| path.end);
            end.is_some_and(|end| {
                roots.iter().any(|root| end.starts_with(&root.path) || root.path.starts_with(&end))
            })
        })
    }

    /// Notes a file that has another name.
    fn file(&self, name: &'static Name, below: &Path, found: &mut HomeNames) {
        let path = self.home.join(below);
        let Ok(data) = statat(CWD, &path, AtFlags::SYMLINK_NOFOLLOW) else { return };
        if data.st_nlink > 1 {
            found.files.extend(mode(name, &path, below).map(|mode| ((data.st_dev, data.st_ino), mode)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{add_home, look, roots::roots};
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A home, and a workspace beside it.
    struct Ground(#[expect(dead_code, reason = "deletes the directory")] tempfile::TempDir, PathBuf, PathBuf);

    impl Ground {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let top = folder.path().canonicalize().unwrap();
            let (home, work) = (top.join("home"), top.join("work"));
            for path in [home.join(".config/git"), home.join(".ssh"), work.join("sub/inner")] {
                fs::create_dir_all(path).unwrap();
            }
            Self(folder, home, work)
        }

        fn found(&self) -> Vec<(String, ProtectionMode)> {
            let Self(_, home, work) = self;
            let list = |folder: &Path| -> Listing {
                let entries = fs::read_dir(folder).into_iter().flatten().flatten();
                let kind = |entry: &fs::DirEntry| {
                    entry.file_type().ok().filter(|kind| !kind.is_symlink()).map(Entry::of_type)
                };
                entries.map(|entry| (entry.file_name(), kind(&entry))).collect()
            };
            let roots = roots(Some(work), &[]);
            let mut found = look(&roots);
            add_home(&roots, &mut found, &home_names(home, &list(home), list, &roots));
            let entries = found.protected.iter();
            entries.map(|entry| (entry.path.to_str().unwrap().to_owned(), entry.mode)).collect()
        }
    }

    #[test]
    fn what_a_home_reads_is_protected_wherever_it_lies() {
        let ground = Ground::new();
        let Ground(_, home, work) = &ground;
        for file in ["rc", "config", "key", "plain", "hard", "sub/hosts"] {
            fs::write(work.join(file), "x\n").unwrap();
        }
        assert_eq!(ground.found(), []);
        symlink(work.join("rc"), home.join(".bashrc")).unwrap();
        symlink("../../../work/config", home.join(".config/git/config")).unwrap();
        symlink(work.join("key"), home.join(".ssh/id_ed25519")).unwrap();
        symlink(work.join("plain"), home.join("notes")).unwrap();
        symlink(work.join("sub"), home.join(".docker")).unwrap();
        fs::create_dir_all(home.join(".claude")).unwrap();
        fs::create_dir_all(home.join(".local/bin")).unwrap();
        fs::write(work.join("tool"), "x").unwrap();
        symlink(work.join("tool"), home.join(".local/bin/tool")).unwrap();
        fs::write(work.join("agent"), "{}").unwrap();
        symlink(work.join("agent"), home.join(".claude/settings.json")).unwrap();
        fs::hard_link(work.join("hard"), home.join(".profile")).unwrap();
        let mut found = ground.found();
        found.sort_by(|one, other| one.0.cmp(&other.0));
        let expected = [
            ("agent", ProtectionMode::ReadOnly),
            ("config", ProtectionMode::ReadOnly),
            ("hard", ProtectionMode::ReadOnly),
            ("key", ProtectionMode::Hide),
            ("rc", ProtectionMode::ReadOnly),
            ("sub", ProtectionMode::ReadOnly),
        ];
        let named = |wanted: &str| found.iter().find(|it| it.0 == wanted).map(|it| it.1);
        for (path, mode) in expected {
            assert_eq!(named(path), Some(mode), "{path} in {found:?}");
        }
        assert!(named("tool").is_none() && named("plain").is_none(), "{found:?}");
    }

    /// What does not exist yet may not be created.
    #[test]
    fn a_missing_target_is_one_that_may_not_appear() {
        let ground = Ground::new();
        let Ground(_, home, work) = &ground;
        symlink(work.join("later"), home.join(".zshrc")).unwrap();
        symlink(work.join("sub"), home.join(".ssh/nothing")).unwrap();
        let roots = roots(Some(work), &[]);
        let mut found = look(&roots);
        let listed: Listing = [(".zshrc".into(), None)].into();
        add_home(&roots, &mut found, &home_names(home, &listed, |_| Listing::new(), &roots));
        assert_eq!(found.git_targets, [PathBuf::from("later")]);
    }
}
