//! Counts by name. Untrusted text may contain any number of names.

use std::collections::BTreeMap;

/// Maximum number of names, and maximum characters of one.
const MAX_NAMES: usize = 10_000;
const MAX_NAME: usize = 200;

/// Counts of `N` kinds of events, by name.
#[derive(Debug)]
pub struct Counted<const N: usize> {
    /// The counts of each name.
    pub by_name: BTreeMap<String, [u64; N]>,
    /// Counts of names beyond the limit.
    pub unnamed: u64,
}

impl<const N: usize> Default for Counted<N> {
    fn default() -> Self {
        Self { by_name: BTreeMap::new(), unnamed: 0 }
    }
}

impl<const N: usize> Counted<N> {
    /// Adds counts for a name.
    pub fn add(&mut self, name: &str, counts: [u64; N]) {
        let name: String = name.chars().take(MAX_NAME).collect();
        if !self.by_name.contains_key(&name) && self.by_name.len() >= MAX_NAMES {
            self.unnamed = counts.iter().fold(self.unnamed, |sum, count| sum.saturating_add(*count));
            return;
        }
        let sums = self.by_name.entry(name).or_insert([0; N]);
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum = sum.saturating_add(count));
    }

    /// Adds the counts of another collection.
    pub fn append(&mut self, other: &Self) {
        other.by_name.iter().for_each(|(name, counts)| self.add(name, *counts));
        self.unnamed = self.unnamed.saturating_add(other.unnamed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_bounded_and_what_they_count_is_not_lost() {
        let mut counted = Counted::<1>::default();
        (0..MAX_NAMES + 5).for_each(|n| counted.add(&format!("{n}{}", "x".repeat(1000)), [2]));
        counted.add(&format!("0{}", "x".repeat(1000)), [1]);
        assert_eq!((counted.by_name.len(), counted.unnamed), (MAX_NAMES, 10));
        assert_eq!(counted.by_name.iter().next(), Some((&format!("0{}", "x".repeat(199)), &[3])));
    }
}
