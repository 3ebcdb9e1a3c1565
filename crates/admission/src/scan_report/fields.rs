//! Fields shared by several rows.

use std::borrow::Cow;
use std::path::Path;

/// Returns a path as text, and whether the conversion was lossy.
pub fn path_text(path: &Path) -> (Cow<'_, str>, bool) {
    (path.to_string_lossy(), path.to_str().is_none())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
pub(super) fn is_false(flag: &bool) -> bool {
    !flag
}
