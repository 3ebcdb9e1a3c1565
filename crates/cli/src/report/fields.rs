//! Fields that several documents have in common.

use std::borrow::Cow;
use std::path::Path;

/// Returns a path as text, and whether that lost something.
pub(crate) fn path_text(path: &Path) -> (Cow<'_, str>, bool) {
    (path.to_string_lossy(), path.to_str().is_none())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
pub(crate) fn is_false(flag: &bool) -> bool {
    !flag
}
