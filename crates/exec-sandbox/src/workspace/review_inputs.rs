//! What a person reviews the repositories of a workspace by. A command that changes its meaning is reported.

use std::path::Path;

use super::entry::{list_below, read_below};
use super::walk::Here;
use crate::host::{Stamp, Watched};

/// Returns the meaning of these files in a repository, at the path `folder`.
pub(crate) fn review_inputs(here: &Here<'_>, folder: &Path) -> Vec<Watched> {
    let read = |path: &str, most| read_below(here.folder, Path::new(path), most);
    let list = |path: &str| list_below(here.folder, Path::new(path));
    let watched = |input: stockade_git::ReviewInput| Watched {
        path: folder.join(input.path),
        label: input.label.to_owned(),
        stamp: Stamp { size: input.digest, ..Stamp::default() },
    };
    stockade_git::review_inputs(read, list).into_iter().map(watched).collect()
}
