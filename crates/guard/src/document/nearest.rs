//! Which of a few words was probably meant.

/// A longer word is no slip of the pen, and the distance takes time that grows with the square.
const LONGEST: usize = 60;

/// Returns the word of `known` that is written most like `word`, if any is near. Case, `-` and `_` count for nothing.
pub(crate) fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if word.chars().count() > LONGEST {
        return None;
    }
    let plain = |word: &str| word.replace(['-', '_'], "").to_ascii_lowercase();
    let word = plain(word);
    let distances = known.into_iter().map(|known| (strsim::osa_distance(&word, &plain(known)), known));
    let (distance, nearest) = distances.min()?;
    // Of a short word, two letters make another one: `tools` is no slip for `hooks`.
    let slips = if nearest.len() < 8 { 1 } else { 1 + nearest.len() / 5 };
    (distance <= slips).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_of_the_pen_find_their_word() {
        let known = ["description", "allowed-tools", "license", "hooks", "agent"];
        for (word, wanted) in [
            ("descripton", Some("description")),
            ("allowedTools", Some("allowed-tools")),
            ("Licence", Some("license")),
            ("emoji", None),
            ("hook", Some("hooks")),
            ("tools", None),
            ("parent", None),
            ("x", None),
        ] {
            assert_eq!(nearest(word, known), wanted, "{word}");
        }
        assert_eq!(nearest(&"x".repeat(100_000), known), None);
    }
}
