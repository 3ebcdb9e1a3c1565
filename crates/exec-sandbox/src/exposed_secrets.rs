//! Records the state of secret-named files that a command saw, when it ends. While such a file is unchanged, showing it to the
//! next command reveals nothing new, so that commands can continue work on a tracked `.env.test`. When another program has
//! changed the file, it is hidden again.

#![expect(clippy::disallowed_methods, reason = "keeps a small file for each workspace in the state folder")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use stockade_files::regular_file::read_regular;

use crate::plan::Plan;
use crate::spec::SandboxSpec;

/// Maximum size of a record, number of files per workspace, and number of workspaces.
const MAX_BYTES: u64 = 32 << 20;
const MAX_FILES: usize = 100_000;
const MAX_WORKSPACES: usize = 256;

/// The state of a file, with its change time, which only the kernel sets.
type Look = String;

/// The files that commands saw in one workspace, with their states.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Seen(BTreeMap<PathBuf, Look>);

impl Seen {
    /// Reads the record of a workspace.
    pub(crate) fn of(state: &Path, workspace: &Path) -> Self {
        let bytes = file_of(state, workspace).and_then(|path| read_regular(&path, MAX_BYTES).ok());
        Self::parse(&bytes.unwrap_or_default())
    }

    /// Returns the record before a request; an empty one if the requested command could write the record itself.
    pub(crate) fn before(spec: &SandboxSpec) -> Self {
        let state = crate::state::real_folder();
        let mut writable = std::iter::once(&spec.workspace).chain(&spec.shared).chain(&spec.spill);
        let state = state.filter(|state| !writable.any(|path| state.starts_with(path)));
        state.map(|state| Self::of(&state, &spec.workspace)).unwrap_or_default()
    }

    /// Records the files that the command of a plan saw: those that were visible, and those that appeared during the run. If the
    /// record cannot be written, the files are hidden from the next command.
    pub(crate) fn after(plan: &Plan, appeared: &[PathBuf]) {
        let seen: Vec<PathBuf> = plan.shown.iter().chain(appeared).cloned().collect();
        let state = if seen.is_empty() { None } else { crate::state::folder(&plan.mounts) };
        if let Some(state) = state {
            Self::remember(&state, &plan.workspace, &seen).ok();
        }
    }

    /// Whether a file is unchanged since a command saw it.
    pub(crate) fn has(&self, workspace: &Path, path: &Path) -> bool {
        self.0.get(path).is_some_and(|look| look_of(&workspace.join(path)).as_ref() == Some(look))
    }

    /// Records the current state of files that a command saw.
    pub(crate) fn remember(state: &Path, workspace: &Path, paths: &[PathBuf]) -> io::Result<()> {
        let mut seen = Self::of(state, workspace);
        let before = seen.0.clone();
        for path in paths {
            match look_of(&workspace.join(path)) {
                Some(look) => drop(seen.0.insert(path.clone(), look)),
                None => drop(seen.0.remove(path)),
            }
        }
        seen.forget_what_is_gone(workspace);
        if seen.0 == before {
            return Ok(());
        }
        let file = file_of(state, workspace).ok_or(io::ErrorKind::NotFound)?;
        seen.write(&file)
    }

    /// Removes entries of a full table: changed files first, then the last in path order.
    fn forget_what_is_gone(&mut self, workspace: &Path) {
        if self.0.len() > MAX_FILES {
            self.0.retain(|path, look| look_of(&workspace.join(path)).as_ref() == Some(look));
            while self.0.len() > MAX_FILES {
                self.0.pop_last();
            }
        }
    }

    /// Replaces the record atomically.
    fn write(&self, file: &Path) -> io::Result<()> {
        let folder = file.parent().ok_or(io::ErrorKind::NotFound)?;
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let new = file.with_extension(format!("{}-{}", crate::moment::moment(), std::process::id()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600).custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC);
        let mut written = options.open(&new)?;
        let done = written.write_all(&self.bytes()).and_then(|()| fs::rename(&new, file));
        if done.is_err() {
            fs::remove_file(&new).ok();
        }
        forget_the_oldest(folder);
        done
    }

    /// Serializes the record: two NUL-terminated fields per file.
    fn bytes(&self) -> Vec<u8> {
        let fields = self.0.iter().flat_map(|(path, look)| [path.as_os_str().as_bytes(), look.as_bytes()]);
        fields.flat_map(|field| field.iter().copied().chain([0])).collect()
    }

    fn parse(bytes: &[u8]) -> Self {
        let fields: Vec<&[u8]> = bytes.split(|byte| *byte == 0).collect();
        let pairs = fields.chunks_exact(2).take(MAX_FILES).filter_map(|pair| match pair {
            [path, look] => Some((OsStr::from_bytes(path).into(), str::from_utf8(look).ok()?.to_owned())),
            _ => None,
        });
        Self(pairs.collect())
    }
}

/// Deletes the oldest records beyond the maximum number.
fn forget_the_oldest(folder: &Path) {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let age = |file: fs::DirEntry| Some((file.metadata().ok()?.modified().ok()?, file.path()));
    let mut files: Vec<_> = files.filter_map(age).collect();
    files.sort_unstable();
    let more = files.len().saturating_sub(MAX_WORKSPACES);
    files.into_iter().take(more).for_each(|(_, path)| drop(fs::remove_file(path)));
}

/// Returns the record of a workspace, which is named by the identity of the directory and not by its path.
fn file_of(state: &Path, workspace: &Path) -> Option<PathBuf> {
    let data = fs::symlink_metadata(workspace).ok()?;
    Some(state.join("seen").join(format!("{}-{}", data.dev(), data.ino())))
}

fn look_of(path: &Path) -> Option<Look> {
    let data = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some(format!(
        "{}:{}:{}:{}.{}:{}.{}",
        data.dev(),
        data.ino(),
        data.size(),
        data.mtime(),
        data.mtime_nsec(),
        data.ctime(),
        data.ctime_nsec()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unchanged_files_are_known() {
        let (state, workspace) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (state, workspace) = (state.path(), workspace.path());
        let (file, gone, link) =
            (PathBuf::from(".env"), PathBuf::from(".env.gone"), PathBuf::from(".env.link"));
        fs::write(workspace.join(&file), "A=1").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", workspace.join(&link)).unwrap();
        let paths = [file.clone(), gone.clone(), link.clone()];
        Seen::remember(state, workspace, &paths).unwrap();
        let seen = Seen::of(state, workspace);
        assert_eq!(paths.map(|path| seen.has(workspace, &path)), [true, false, false]);
        // The same length and modification time, which any program can set.
        let before = fs::metadata(workspace.join(&file)).unwrap();
        fs::write(workspace.join(&file), "B=2").unwrap();
        fs::File::options()
            .write(true)
            .open(workspace.join(&file))
            .unwrap()
            .set_modified(before.modified().unwrap())
            .unwrap();
        assert!(!Seen::of(state, workspace).has(workspace, &file));
        // Another workspace.
        assert_eq!(Seen::of(state, state), Seen::default());
    }

    #[test]
    fn only_the_latest_workspaces_are_remembered() {
        let state = tempfile::tempdir().unwrap();
        for number in 0..MAX_WORKSPACES + 3 {
            Seen::default().write(&state.path().join("seen").join(number.to_string())).unwrap();
        }
        assert_eq!(fs::read_dir(state.path().join("seen")).unwrap().count(), MAX_WORKSPACES);
        assert!(state.path().join("seen").join((MAX_WORKSPACES + 2).to_string()).exists());
    }

    #[test]
    fn stored_sightings_are_read_back_and_invalid_files_are_ignored() {
        let seen = Seen([("a\nb".into(), "1:2".to_owned()), (".env".into(), "3".to_owned())].into());
        assert_eq!(Seen::parse(&seen.bytes()), seen);
        for odd in [&b""[..], b"\0", b"\xff", b"a", b".env\0\xff\0"] {
            assert!(!Seen::parse(odd).has(Path::new("/"), Path::new(".env")), "{odd:?}");
        }
        let many = b"x\0y\0".repeat(100_000);
        assert!(Seen::parse(&many).0.len() <= MAX_FILES);
    }
}
