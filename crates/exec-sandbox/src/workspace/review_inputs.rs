//! What a person reviews the repositories of a workspace by. A command that changes its meaning is reported.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

use stockade_git::ReviewFile;

use super::entry::{At, at, list_below, read_below};
use super::walk::Here;
use crate::host::{Stamp, Watched};

/// Returns the meaning of these files in a repository, at the path `folder`.
pub(crate) fn review_inputs(here: &Here<'_>, folder: &Path) -> Vec<Watched> {
    let read = |path: &str, most| {
        let path = Path::new(path);
        if let Some(content) = read_below(here.folder, path, most) {
            return Some(ReviewFile::Content(content));
        }
        let Some(At::There(found) | At::BehindALink(_, found)) = at(here.folder, path) else { return None };
        let mut hasher = DefaultHasher::new();
        found.stamp.hash(&mut hasher);
        Some(ReviewFile::Unread(hasher.finish()))
    };
    let list = |path: &str| list_below(here.folder, Path::new(path));
    let watched = |input: stockade_git::ReviewInput| Watched {
        path: folder.join(input.path),
        label: input.label.to_owned(),
        stamp: Stamp { size: input.digest, ..Stamp::default() },
    };
    stockade_git::review_inputs(read, list).into_iter().map(watched).collect()
}
