//! The files of a workspace that travel into a cluster: few, small, plain, and none that holds secrets.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use stockade_files::{EntryKind, FolderEntry, OpenFolder, OpenedPath, open_path};
use stockade_names::{Hit, Root, Secrecy, hits};

use stockade_exec_sandbox::SandboxSpec;

/// All of it together becomes an object of the cluster, which is no larger than a mebibyte, in letters that take a third more.
const MAX_BYTES: u64 = 512 << 10;
/// More files than this do not travel: each is a key of the Secret.
const MAX_FILES: usize = 1000;
/// How deep folders may stand in each other.
const MAX_DEPTH: usize = 16;

/// What travels of a workspace.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Upload {
    pub(super) files: Vec<UploadedFile>,
    /// What stays here: links, devices, and what holds secrets or is hidden.
    pub left_out: Vec<PathBuf>,
}

#[derive(Clone, PartialEq, Eq)]
pub(super) struct UploadedFile {
    pub(super) path: String,
    pub(super) content: Vec<u8>,
    pub(super) is_program: bool,
}

impl std::fmt::Debug for Upload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let paths: Vec<&str> = self.files.iter().map(|file| file.path.as_str()).collect();
        f.debug_struct("Upload").field("files", &paths).field("left_out", &self.left_out).finish()
    }
}

/// Why the files of a workspace cannot travel.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UploadError {
    /// There is too much.
    #[error(
        "the workspace has more than {MAX_FILES} files, {MAX_BYTES} bytes, or {MAX_DEPTH} nested directories: use a \
         claim that contains it"
    )]
    TooMuch,
    /// Something cannot be read, or is called by what is no text.
    #[error("{path} cannot be read: {source}", path = .path.display())]
    Unreadable {
        /// What.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Upload {
    /// Reads what travels of the workspace of `spec`. No link is followed, and what holds secrets stays here.
    ///
    /// # Errors
    /// When there is too much, or something cannot be read.
    pub fn read(spec: &SandboxSpec) -> Result<Self, UploadError> {
        let unreadable = |source| UploadError::Unreadable { path: spec.workspace.clone(), source };
        let OpenedPath::Folder(folder) = open_path(&spec.workspace).map_err(unreadable)? else {
            return Err(unreadable(io::ErrorKind::NotADirectory.into()));
        };
        let mut upload = Self::default();
        let mut left = MAX_BYTES;
        let mut walk = Walk { spec, upload: &mut upload, left: &mut left };
        walk.folder(&folder, &mut Vec::new())?;
        Ok(upload)
    }
}

struct Walk<'w> {
    spec: &'w SandboxSpec,
    upload: &'w mut Upload,
    left: &'w mut u64,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &OpenFolder, names: &mut Vec<String>) -> Result<(), UploadError> {
        if names.len() >= MAX_DEPTH {
            return Err(UploadError::TooMuch);
        }
        let entries = folder.entries(MAX_FILES + 1).map_err(|source| self.unreadable(names, source))?;
        for entry in entries {
            let name = entry.name.to_str().map_err(|_| {
                self.unreadable(
                    names,
                    io::Error::new(io::ErrorKind::InvalidFilename, "a name is not valid UTF-8"),
                )
            })?;
            names.push(name.to_owned());
            self.entry(folder, &entry, names)?;
            names.pop();
        }
        Ok(())
    }

    fn entry(
        &mut self,
        folder: &OpenFolder,
        entry: &FolderEntry,
        names: &mut Vec<String>,
    ) -> Result<(), UploadError> {
        if self.stays_here(names) {
            self.upload.left_out.push(names.iter().collect());
            return Ok(());
        }
        match entry.kind {
            EntryKind::Folder => {
                let inner = folder.enter(&entry.name).map_err(|source| self.unreadable(names, source))?;
                self.folder(&inner, names)
            }
            EntryKind::File => self.file(folder, entry, names),
            EntryKind::Link | EntryKind::Special | EntryKind::Unknown => {
                self.upload.left_out.push(names.iter().collect());
                Ok(())
            }
        }
    }

    fn file(
        &mut self,
        folder: &OpenFolder,
        entry: &FolderEntry,
        names: &[String],
    ) -> Result<(), UploadError> {
        if self.upload.files.len() >= MAX_FILES {
            return Err(UploadError::TooMuch);
        }
        let file = folder.open(&entry.name).map_err(|source| self.unreadable(names, source))?;
        let mut file = File::from(file);
        let meta = file.metadata().map_err(|source| self.unreadable(names, source))?;
        let mut content = Vec::new();
        let read = (&mut file).take(*self.left + 1).read_to_end(&mut content);
        read.map_err(|source| self.unreadable(names, source))?;
        let path = names.join("/");
        // The path travels, too.
        let taken = (content.len() + path.len()) as u64;
        *self.left = self.left.checked_sub(taken).ok_or(UploadError::TooMuch)?;
        let is_program = meta.permissions().mode() & 0o111 != 0;
        self.upload.files.push(UploadedFile { path, content, is_program });
        Ok(())
    }

    /// What holds secrets, what is hidden, and what a cluster takes for more than a name.
    fn stays_here(&self, names: &[String]) -> bool {
        let path = names.iter().fold(self.spec.workspace.clone(), |path, name| path.join(name));
        let holds_secrets = |hit: &Hit| hit.name.secrecy > Secrecy::Public;
        self.spec.hidden.iter().any(|hidden| path.starts_with(hidden))
            || names.iter().any(|name| name.starts_with(".."))
            || hits(Root::Folder, names).iter().any(holds_secrets)
    }

    fn unreadable(&self, names: &[String], source: io::Error) -> UploadError {
        UploadError::Unreadable { path: self.spec.workspace.join(names.join("/")), source }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "makes a workspace")]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn uploads_contain_plain_files_but_no_symlinks_or_secrets() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("src/deep")).unwrap();
        for name in ["a.txt", "src/deep/b.sh", ".env", "src/id_rsa", "hidden"] {
            fs::write(at(name), name).unwrap();
        }
        fs::set_permissions(at("src/deep/b.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink("/etc/passwd", at("link")).unwrap();
        symlink("/etc", at("folder")).unwrap();
        let mut spec = SandboxSpec::new(folder.path(), ["true"]);
        spec.hidden = vec![at("hidden")];
        let upload = Upload::read(&spec).unwrap();
        let files: Vec<(&str, bool)> =
            upload.files.iter().map(|file| (file.path.as_str(), file.is_program)).collect();
        assert_eq!(files, [("a.txt", false), ("src/deep/b.sh", true)]);
        let left: Vec<&str> = upload.left_out.iter().map(|path| path.to_str().unwrap()).collect();
        assert_eq!(left, [".env", "folder", "hidden", "link", "src/id_rsa"]);
        assert!(!format!("{upload:?}").contains("content"));
    }

    #[test]
    fn a_workspace_that_is_too_large_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let spec = SandboxSpec::new(folder.path(), ["true"]);
        fs::write(folder.path().join("a"), vec![b'x'; MAX_BYTES as usize]).unwrap();
        assert!(matches!(Upload::read(&spec), Err(UploadError::TooMuch)));
        fs::write(folder.path().join("a"), vec![b'x'; MAX_BYTES as usize - 1]).unwrap();
        assert!(Upload::read(&spec).is_ok());
        let deep = (0..MAX_DEPTH).fold(folder.path().to_path_buf(), |path, _| path.join("d"));
        fs::create_dir_all(deep).unwrap();
        assert!(matches!(Upload::read(&spec), Err(UploadError::TooMuch)));
    }
}
