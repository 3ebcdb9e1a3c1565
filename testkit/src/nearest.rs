//! Suggests the known name nearest to a mistyped one.

/// Returns the candidate nearest to `word`, unless even that one is too different.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|&(distance, candidate)| distance <= candidate.chars().count().max(3) / 2)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// Returns how many characters must be inserted, removed or replaced to turn `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, from) in a.chars().enumerate() {
        // `diagonal` is the cell up and to the left, `left` the cell just written.
        let mut diagonal = i;
        let mut left = i + 1;
        let mut next = vec![left];
        for (to, &above) in b.chars().zip(row.iter().skip(1)) {
            left = if from == to { diagonal } else { 1 + diagonal.min(above).min(left) };
            diagonal = above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, want) in
            [("", "", 0), ("a", "", 1), ("tidy", "tidy", 0), ("tydi", "tidy", 2), ("kitten", "sitting", 3)]
        {
            assert_eq!(distance(a, b), want, "{a} → {b}");
        }
    }

    #[test]
    fn nearest_name_or_none() {
        let names = ["ci", "lint", "tidy", "features"];
        assert_eq!(nearest("tidyy", names), Some("tidy"));
        assert_eq!(nearest("feature", names), Some("features"));
        assert_eq!(nearest("zzzzzz", names), None);
    }
}
