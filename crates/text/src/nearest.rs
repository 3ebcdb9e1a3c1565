//! Suggests the known name most similar to a misspelt one.

/// Longest name that is compared, in characters. A longer one is hardly a typo, and the edit distance takes quadratic
/// time.
pub const MAX_NAME_CHARS: usize = 64;

/// A known name shorter than this is suggested only at distance one: two edits turn `tools` into `hooks`.
const SHORT: usize = 6;

/// Returns the name of `known` that is most similar to `name`, if one is near. The first wins a tie.
///
/// Near means at most one edit per three characters of the known name. An edit inserts, deletes, replaces or
/// transposes (optimal string alignment distance). Case, `-` and `_` are ignored.
///
/// ```
/// use stockade_text::nearest;
///
/// assert_eq!(nearest("allowedTolos", ["allowed-tools", "license"]), Some("allowed-tools"));
/// assert_eq!(nearest("parent", ["agent", "license"]), None);
/// ```
pub fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let name = plain(name)?;
    let near = known.into_iter().filter_map(|known| {
        let plain = plain(known)?;
        let length = plain.chars().count();
        let slips = if length < SHORT { 1 } else { length / 3 };
        let distance = strsim::osa_distance(&name, &plain);
        (distance <= slips).then_some((distance, known))
    });
    near.min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

/// Returns a name without ignored characters, unless it is too long to compare.
fn plain(name: &str) -> Option<String> {
    // Compare the bytes first: counting the characters of megabytes would be wasted.
    let fits = name.len() <= 4 * MAX_NAME_CHARS && name.chars().count() <= MAX_NAME_CHARS;
    fits.then(|| name.replace(['-', '_'], "").to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_of_the_pen_find_their_word() {
        let keys = ["description", "allowed-tools", "license", "hooks", "agent"];
        let rule = ["severity", "summary", "matches"];
        let profiles = ["minimal", "coding", "full", "exec"];
        for (word, known, wanted) in [
            ("descripton", &keys[..], Some("description")),
            ("allowedTools", &keys, Some("allowed-tools")),
            ("Licence", &keys, Some("license")),
            ("emoji", &keys, None),
            ("hook", &keys, Some("hooks")),
            ("tools", &keys, None),
            ("parent", &keys, None),
            ("x", &keys, None),
            ("serverity", &rule, Some("severity")),
            ("Summary", &rule, Some("summary")),
            ("match", &rule, Some("matches")),
            ("mat", &rule, None),
            ("x", &rule, None),
            ("codign", &profiles, Some("coding")),
            ("EXEC", &profiles, Some("exec")),
            ("Full", &profiles, Some("full")),
            ("browser", &profiles, None),
        ] {
            assert_eq!(nearest(word, known.iter().copied()), wanted, "{word}");
        }
        assert_eq!(nearest(&"x".repeat(100_000), keys), None);
    }

    #[test]
    fn of_equals_the_first_is_meant() {
        assert_eq!(nearest("read", ["reap", "real"]), Some("reap"));
        assert_eq!(nearest("ÄRGER", ["ärger"]), Some("ärger"));
    }
}
