//! File names in patches, in the format that models write.

/// Prefixes of a file name.
const HEADS: &[&str] = &["*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"];

/// Returns the files that a patch adds, changes, deletes and creates; `None` if it names none, or has an unknown header.
pub(super) fn files(patch: &str) -> Option<Vec<&str>> {
    let mut files = Vec::new();
    for line in patch.lines().map(str::trim).filter(|line| line.starts_with("*** ")) {
        match HEADS.iter().find_map(|head| line.strip_prefix(head)) {
            Some(file) if !file.trim().is_empty() => files.push(file.trim()),
            None if ["*** Begin Patch", "*** End Patch", "*** End of File"].contains(&line) => {}
            _ => return None,
        }
    }
    (!files.is_empty()).then_some(files)
}

#[cfg(test)]
mod tests {
    use super::files;

    #[test]
    fn every_file_of_a_patch_is_named() {
        let patch = "*** Begin Patch\n*** Add File: a/b.rs\n+x\n *** Update File: c d\n*** Move to: e\n@@\n-*** x\n*** Delete File: f\n*** End Patch\n";
        assert_eq!(files(patch), Some(vec!["a/b.rs", "c d", "e", "f"]));
        for none in
            ["", "*** Begin Patch\n*** End Patch", "*** Add File:\n", "*** Rename File: a\n*** Add File: b\n"]
        {
            assert_eq!(files(none), None, "{none}");
        }
    }
}
