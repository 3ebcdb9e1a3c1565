//! Location of the kept state of CLIs: inaccessible to commands, and separate for each workspace, since the next run trusts what
//! one run wrote.
#![expect(clippy::disallowed_methods, reason = "creates directories for kept state")]

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use stockade_exec_sandbox::state_folder;

use crate::error::DriveError;
use crate::request::{DriveRequest, KeepState};
use crate::table::DrivenCli;

/// Maximum length of a directory name on all file systems.
const MAX_NAME: usize = 200;

/// Returns the directory, with a subdirectory for each state directory of the CLI; `None` if no state is kept.
pub(crate) fn folder(cli: &DrivenCli, request: &DriveRequest) -> Result<Option<PathBuf>, DriveError> {
    let name = match &request.keep {
        KeepState::No => return Ok(None),
        KeepState::ForWorkspace => of_workspace(&request.workspace),
        KeepState::Named(name) => Some(name.clone()).filter(|name| is_name(name)),
    };
    let Some(name) = name else {
        let fix = "use letters, digits, `-` and `_`: --keep-state=NAME";
        return Err(DriveError::new("invalid name for --keep-state", fix));
    };
    let cannot =
        |error: io::Error| DriveError::new(format!("cannot keep the state: {error}"), "remove --keep-state");
    let state = state_folder().ok_or_else(|| cannot(io::ErrorKind::NotFound.into()))?;
    let folder = state.join("drive").join(cli.name).join(name);
    for below in cli.state {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700).create(folder.join(name_of(below))).map_err(cannot)?;
    }
    settings(cli, &folder).map_err(cannot)?;
    folder.canonicalize().map(Some).map_err(cannot)
}

/// Writes the initial settings of the CLI, if there is no kept state. Kept state cannot redirect where they are written.
fn settings(cli: &DrivenCli, folder: &Path) -> io::Result<()> {
    let Some((file, text)) = cli.file else { return Ok(()) };
    let place =
        cli.state.iter().find_map(|below| Some((below, file.strip_prefix(below)?.strip_prefix('/')?)));
    let Some((below, name)) = place.filter(|(_, name)| !name.contains('/')) else { return Ok(()) };
    let path = folder.join(name_of(below)).join(name);
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(mut file) => file.write_all(text.as_bytes()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Returns the name of a state directory: names that other programs obey are replaced.
pub(crate) fn name_of(below: &str) -> String {
    below.trim_start_matches('.').replace("/.", "/").replace('/', "-")
}

/// Returns a name that is unique to a workspace.
fn of_workspace(workspace: &Path) -> Option<String> {
    let text = workspace.to_str()?;
    let mut name = String::from("at");
    for letter in text.chars() {
        match letter {
            '/' => name.push('-'),
            letter if letter.is_ascii_alphanumeric() || letter == '_' => name.push(letter),
            letter => name.push_str(&format!("%{:x}%", u32::from(letter))),
        }
    }
    (name.len() <= MAX_NAME).then_some(name)
}

fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    (1..=64).contains(&name.len()) && name.bytes().all(is_letter) && !name.starts_with("at-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_workspaces_share_their_state() {
        let paths = ["/a/b", "/a-b", "/a%2d%b", "/a%b", "/a_b", "/a b", "/A/b", "/", "/a//b"];
        let names: std::collections::BTreeSet<_> =
            paths.iter().map(|path| of_workspace(Path::new(path)).unwrap()).collect();
        assert_eq!(names.len(), paths.len(), "{names:?}");
        assert!(names.iter().all(|name| !name.contains('/') && !name.starts_with('.')), "{names:?}");
        assert_eq!(of_workspace(Path::new(&"/a".repeat(200))), None);
    }

    #[test]
    fn names_are_plain_and_never_those_of_workspaces() {
        for (name, is_one) in
            [("work", true), ("a-b_7", true), ("at-a", false), ("..", false), ("a/b", false), ("", false)]
        {
            assert_eq!(is_name(name), is_one, "{name}");
        }
    }

    #[test]
    fn folders_of_one_cli_are_kept_apart() {
        for cli in DrivenCli::all() {
            let file = cli.file.map(|(file, _)| file);
            assert!(
                file.is_none_or(|file| cli.state.iter().any(|below| file.starts_with(below))),
                "{file:?}"
            );
            let names: std::collections::BTreeSet<_> = cli.state.iter().map(|below| name_of(below)).collect();
            assert_eq!(names.len(), cli.state.len(), "{names:?}");
            assert!(names.iter().all(|name| !name.contains(['/', '.'])), "{names:?}");
        }
    }
}
