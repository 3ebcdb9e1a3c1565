//! Files of a workspace that an agent's configuration denies. They are searched before each command, because a sandbox hides
//! paths and cannot evaluate globs.

#![expect(clippy::disallowed_methods, reason = "looks through the folders of a workspace")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use stockade_files::Resolver;
use stockade_policy::{Access, Caller, SandboxConfig};

use stockade_admission::{Authorization, PathGuard, PathRequest};

/// Maximum number of searched and of denied files. With more the command is refused, because denied files would be visible.
const MAX_SEEN: usize = 400_000;
const MAX_KEPT_BACK: usize = 4_000;

/// The denied files that exist.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct DeniedFiles {
    /// Files that must not be read.
    pub(crate) hidden: Vec<PathBuf>,
    /// Files that must not be written.
    pub(crate) unwritable: Vec<PathBuf>,
}

/// Returns the existing files that the rules for file tools deny.
///
/// # Errors
/// When there are too many files, or a directory cannot be read.
pub(crate) fn look(config: &SandboxConfig, workspace: &Path) -> io::Result<DeniedFiles> {
    let mut found = DeniedFiles::default();
    let lists = [&config.forbidden_globs, &config.read.deny, &config.write.deny];
    if lists.iter().all(|list| list.is_empty()) {
        return Ok(found);
    }
    let mut guard = PathGuard::open(config, workspace, Resolver::Kernel).map_err(io::Error::other)?;
    let mut denies = |path: &Path, access| {
        let request = PathRequest { tool: "exec", access, path, caller: Caller::default() };
        matches!(guard.authorize(&request), Authorization::Denied(_))
    };
    let mut folders = vec![(workspace.to_path_buf(), false)];
    let mut seen = 0;
    while let Some((folder, is_kept)) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let path = entry.path();
            seen += 1;
            if seen > MAX_SEEN || found.hidden.len() + found.unwritable.len() > MAX_KEPT_BACK {
                return Err(io::Error::other("the workspace has too many files to hide the denied ones"));
            }
            if denies(&path, Access::Read) {
                found.hidden.push(path);
                continue;
            }
            let is_denied = !is_kept && denies(&path, Access::Write);
            if entry.file_type()?.is_dir() {
                folders.push((path.clone(), is_kept || is_denied));
            }
            found.unwritable.extend(is_denied.then_some(path));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_of_what_is_denied() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in ["a/b/c/secret.txt", "a/plain.txt", "vault/x", "kept/y", "kept/secret.txt"] {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), "x").unwrap();
        }
        let mut config = SandboxConfig::default();
        assert_eq!(look(&config, &root).unwrap(), DeniedFiles::default());
        config.forbidden_globs = vec!["vault".to_owned()];
        config.read.deny = vec!["**/secret.txt".to_owned()];
        config.write.deny = vec!["kept/**".to_owned()];
        let mut found = look(&config, &root).unwrap();
        found.hidden.sort();
        let hidden = ["a/b/c/secret.txt", "kept/secret.txt", "vault"].map(|path| root.join(path));
        assert_eq!(found, DeniedFiles { hidden: hidden.to_vec(), unwritable: vec![root.join("kept")] });
    }
}
