//! Where the paths that a command names lead on this disk.
#![expect(clippy::disallowed_methods, reason = "reads links and lists directories for patterns")]

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use stockade_command::{CommandContext, LinkEnds, NamedPath};
use stockade_text::resolve_path;

use super::wildcards;

/// Links that the kernel follows in one path.
const MAX_LINKS: usize = 40;

/// Maximum number of directory entries that are read for the patterns of one text.
const MAX_ENTRIES: usize = 10_000;

/// Entries of these differ from process to process, so what they mean here says nothing about the command.
const OF_PROCESSES: &[&str] = &["/proc", "/dev"];

/// Returns where paths end that lead through symbolic links: all ends of a pattern. Links above the workspace and the home do
/// not count, since their own names lead through them as well.
pub(crate) fn followed(paths: &[NamedPath], place: &CommandContext) -> BTreeMap<NamedPath, LinkEnds> {
    let mut disk = Disk::default();
    let mut links = BTreeMap::new();
    for path in paths {
        let mut ends = BTreeSet::new();
        if !disk.ends(path, &mut ends) {
            links.insert(path.clone(), LinkEnds::Unknown);
            continue;
        }
        let plain = resolve_path(Path::new("/"), &path.path);
        ends.remove(&plain);
        if ends.is_empty() {
            continue;
        }
        let known = disk.known(place);
        let ends: Vec<PathBuf> =
            ends.into_iter().map(|end| named_alike(end, &known)).filter(|end| *end != plain).collect();
        if !ends.is_empty() {
            links.insert(path.clone(), LinkEnds::Known(ends));
        }
    }
    links
}

/// A directory by its name and by where it is.
struct Known<'p> {
    named: &'p Path,
    real: PathBuf,
}

/// Returns a real path with the name that a directory around it is known by.
fn named_alike(end: PathBuf, known: &[Known<'_>]) -> PathBuf {
    let below = |known: &Known<'_>| end.strip_prefix(&known.real).ok().map(|rest| known.named.join(rest));
    known.iter().find_map(below).unwrap_or(end)
}

/// The links of the disk, each read once.
#[derive(Default)]
struct Disk {
    read: HashMap<PathBuf, Entry>,
    entries: usize,
}

/// What a name is.
#[derive(Debug, Clone)]
enum Entry {
    Link(PathBuf),
    Other,
    /// Nothing is below it that could be a link.
    Nothing,
}

impl Disk {
    /// Returns the workspace and the home.
    fn known<'p>(&mut self, place: &'p CommandContext) -> Vec<Known<'p>> {
        let workspace = place.workspace.as_deref().or(place.cwd.as_deref());
        let named = workspace.into_iter().chain(place.home.as_deref());
        named
            .map(|named| Known { named, real: self.end(named).unwrap_or_else(|| named.to_owned()) })
            .collect()
    }

    /// Adds the ends of a path. Returns whether these are all.
    fn ends(&mut self, path: &NamedPath, ends: &mut BTreeSet<PathBuf>) -> bool {
        if !path.is_pattern {
            ends.extend(self.end(&path.path));
            return true;
        }
        let names = Vec::from(names_of(&path.path));
        self.matches(Path::new("/"), &names, ends)
    }

    /// Adds the ends of the files below a directory that a pattern matches and that links lead to.
    fn matches(&mut self, folder: &Path, pattern: &[OsString], ends: &mut BTreeSet<PathBuf>) -> bool {
        let Some((first, rest)) = pattern.split_first() else {
            ends.extend(self.end(folder));
            return true;
        };
        let first = first.as_encoded_bytes();
        if let Some(name) = wildcards::literal(first) {
            return self.matches(&folder.join(OsStr::from_bytes(&name)), rest, ends);
        }
        let Some(real) = self.end(folder) else { return true };
        let is_linked = real != resolve_path(Path::new("/"), folder);
        for entry in fs::read_dir(&real).into_iter().flatten().flatten() {
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return false;
            }
            let (Ok(kind), name) = (entry.file_type(), entry.file_name()) else { continue };
            // Other files end where their names say, and only below a directory does a pattern go on.
            let is_asked = is_linked || kind.is_symlink() || (kind.is_dir() && !rest.is_empty());
            if is_asked
                && wildcards::fits(first, name.as_encoded_bytes())
                && !self.matches(&folder.join(name), rest, ends)
            {
                return false;
            }
        }
        true
    }

    /// Returns where a path ends, or where a file would be that is not there yet. Nothing for files of processes, and where the
    /// kernel gives up.
    fn end(&mut self, path: &Path) -> Option<PathBuf> {
        let mut real = PathBuf::from("/");
        let mut due = names_of(path);
        let mut links = 0;
        while let Some(name) = due.pop_front() {
            if name == ".." {
                real.pop();
                continue;
            }
            real.push(&name);
            if OF_PROCESSES.iter().any(|folder| real == Path::new(folder)) {
                return None;
            }
            match self.entry(&real) {
                Entry::Link(to) => {
                    links += 1;
                    if links > MAX_LINKS {
                        return None;
                    }
                    real.pop();
                    if to.is_absolute() {
                        real = PathBuf::from("/");
                    }
                    names_of(&to).into_iter().rev().for_each(|name| due.push_front(name));
                }
                Entry::Other => {}
                Entry::Nothing => {
                    real.extend(&due);
                    return Some(resolve_path(Path::new("/"), &real));
                }
            }
        }
        Some(real)
    }

    fn entry(&mut self, path: &Path) -> Entry {
        if let Some(entry) = self.read.get(path) {
            return entry.clone();
        }
        let entry = match fs::read_link(path) {
            Ok(to) => Entry::Link(to),
            Err(error) if error.kind() == ErrorKind::InvalidInput => Entry::Other,
            // Missing, or hidden from this user and so from the command.
            Err(_) => Entry::Nothing,
        };
        self.read.insert(path.to_owned(), entry.clone());
        entry
    }
}

fn names_of(path: &Path) -> VecDeque<OsString> {
    let names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsStr::new("..").to_owned()),
        _ => None,
    });
    names.collect()
}
