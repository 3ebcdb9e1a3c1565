//! What a mistyped name was probably meant to be.

/// The names that are compared: longer ones are no slip of the finger.
const LONGEST_NAME: usize = 64;

/// Returns the known name that was probably meant.
pub(crate) fn nearest<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    if name.len() > LONGEST_NAME {
        return None;
    }
    let distance = |known: &str| strsim::damerau_levenshtein(&name.to_lowercase(), &known.to_lowercase());
    let near = (name.chars().count() / 3).max(1);
    let (distance, known) =
        known.map(|known| (distance(known), known)).min_by_key(|(distance, _)| *distance)?;
    (distance <= near).then_some(known)
}
