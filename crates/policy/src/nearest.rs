//! The nearest known name, for messages about misspelt ones.

/// Names longer than this are not compared: they are no slip of the finger, and the cost is quadratic.
const LONGEST: usize = 64;

/// Returns the known name that is nearest to `name`, if one is near enough to be meant.
///
/// Case counts for nothing, so `EXEC` finds `exec`. Up to one edit in three characters is a slip.
pub(crate) fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<String> {
    if name.len() > LONGEST {
        return None;
    }
    let name = name.to_lowercase();
    let slips = (name.chars().count() / 3).max(1);
    known
        .into_iter()
        .filter(|candidate| candidate.len() <= LONGEST)
        .map(|candidate| (distance(&name, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= slips)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate.to_owned())
}

/// The number of single-character edits between two names.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (above, from) in left.chars().enumerate() {
        let mut diagonal = above;
        let mut before = above + 1;
        if let Some(first) = row.first_mut() {
            *first = before;
        }
        for (cell, to) in row.iter_mut().skip(1).zip(&right) {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = *cell;
            before = replaced.min(*cell + 1).min(before + 1);
            *cell = before;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (left, right, expected) in
            [("", "", 0), ("a", "", 1), ("", "ab", 2), ("kitten", "sitting", 3), ("coding", "codding", 1)]
        {
            assert_eq!(distance(left, right), expected, "{left} {right}");
        }
    }

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let known = ["minimal", "coding", "full", "exec"];
        assert_eq!(nearest("codign", known).as_deref(), Some("coding"));
        assert_eq!(nearest("EXEC", known).as_deref(), Some("exec"));
        assert_eq!(nearest("Full", known).as_deref(), Some("full"));
        assert_eq!(nearest("browser", known), None);
        assert_eq!(nearest(&"x".repeat(10_000), known), None);
    }
}
