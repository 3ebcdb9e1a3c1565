//! Which of a few words was probably meant.

/// Returns the word of `known` that is written most like `word`, if any is near.
pub(super) fn nearest(word: &str, known: &[&'static str]) -> Option<&'static str> {
    /// A longer word is no slip of the pen, and the distance takes time that grows with the square.
    const LONGEST: usize = 40;
    if word.chars().count() > LONGEST {
        return None;
    }
    let distances = known.iter().map(|&known| (distance(word, known), known));
    let (distance, nearest) = distances.min()?;
    (distance <= 1 + nearest.len() / 4).then_some(nearest)
}

/// The number of letters to put in, take out or change; case does not count.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, from) in left.chars().enumerate() {
        let mut next = vec![index + 1];
        for ((to, above), diagonal) in right.iter().zip(row.iter().skip(1)).zip(&row) {
            let change = diagonal + usize::from(!from.eq_ignore_ascii_case(to));
            let beside = next.last().copied().unwrap_or_default() + 1;
            next.push(change.min(beside).min(above + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_pen_find_their_word() {
        const KNOWN: &[&str] = &["severity", "summary", "matches"];
        for (word, wanted) in [
            ("serverity", Some("severity")),
            ("Summary", Some("summary")),
            ("match", Some("matches")),
            ("mat", None),
            ("x", None),
        ] {
            assert_eq!(nearest(word, KNOWN), wanted, "{word}");
        }
    }
}
