//! Judges a link by its target alone.

use std::path::{Component, Path};

/// Whether a link may lead out of the walked tree. The link is `depth` directories below its root.
///
/// Links are not followed, so the answer has to be right only for the tree as a whole. The walk enters real
/// directories only, so leading `..` components count exactly. The names after them either are real, and then inside,
/// or are links that the walk visits and judges too: the first link that really leaves is reported. A `..` after a
/// name depends on the target of that name, so it counts as leaving.
pub(crate) fn leads_outside(target: &Path, depth: usize) -> bool {
    let mut above = 0;
    let mut named = false;
    for component in target.components() {
        match component {
            Component::Normal(_) => named = true,
            Component::CurDir => {}
            Component::ParentDir if named || above == depth => return true,
            Component::ParentDir => above += 1,
            Component::RootDir | Component::Prefix(_) => return true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::leads_outside;
    use std::path::Path;

    #[test]
    fn targets() {
        let cases = [
            // target              depth  outside
            ("SKILL.md", 0, false),
            ("./a/b", 0, false),
            (".", 0, false),
            ("..", 0, true),
            ("..", 1, false),
            ("../a/b", 1, false),
            ("../../x", 1, true),
            ("../../x", 2, false),
            ("a/../x", 5, true),
            ("/etc/passwd", 3, true),
            ("", 0, false),
        ];
        for (target, depth, outside) in cases {
            assert_eq!(leads_outside(Path::new(target), depth), outside, "{target} at depth {depth}");
        }
    }
}
