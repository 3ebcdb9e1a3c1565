//! The search path of programs.
#![expect(clippy::disallowed_methods, reason = "asks where programs are looked for")]

use std::ffi::OsStr;
use std::path::Path;

use stockade_files::real_path;

/// Whether the search path of this process includes a directory, under any of its names: a command that can write there could
/// have replaced the intended program.
pub(super) fn leads_into(folder: &Path) -> bool {
    does_lead_into(folder, &std::env::var_os("PATH").unwrap_or_default())
}

/// A relative entry is resolved in the working directory of the command.
fn does_lead_into(folder: &Path, path: &OsStr) -> bool {
    let folder = real_path(folder).unwrap_or_else(|_| folder.to_owned());
    let is_in = |part: &Path| real_path(part).is_ok_and(|part| part.starts_with(&folder));
    std::env::split_paths(path).any(|part| !part.is_absolute() || part.starts_with(&folder) || is_in(&part))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn where_programs_are_looked_for_is_seen_through_links() {
        let folder = tempfile::tempdir().unwrap();
        let (work, link) = (folder.path().join("work"), folder.path().join("link"));
        fs::create_dir_all(work.join("bin")).unwrap();
        std::os::unix::fs::symlink(work.join("bin"), &link).unwrap();
        let path = |parts: &[&Path]| std::env::join_paths(parts).unwrap();
        let system = Path::new("/usr/bin");
        assert!(!does_lead_into(&work, &path(&[system, Path::new("/nowhere"), folder.path()])));
        for part in [work.join("bin"), work.join("not-yet"), work.clone(), link, "bin".into(), "".into()] {
            assert!(does_lead_into(&work, &path(&[system, &part])), "{}", part.display());
        }
    }
}
