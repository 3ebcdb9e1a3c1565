//! Values for a few of many numbered patterns.

use arrayvec::ArrayVec;

/// Number of values kept without a heap allocation. Most texts have fewer candidate patterns.
const INLINE: usize = 32;

/// A value for each of some patterns, in insertion order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ByPattern<T> {
    few: ArrayVec<(usize, T), INLINE>,
    /// All values, once there are more than a few.
    many: Vec<(usize, T)>,
    /// Index of each pattern in `many`: searching that many entries for each hit would cost more than the hit.
    places: Vec<Option<usize>>,
}

impl<T> Default for ByPattern<T> {
    fn default() -> Self {
        Self { few: ArrayVec::new(), many: Vec::new(), places: Vec::new() }
    }
}

impl<T: Default> ByPattern<T> {
    /// Returns the value of a pattern.
    pub(crate) fn get(&self, pattern: usize) -> Option<&T> {
        let place = self.place(pattern)?;
        self.iter_from(place).next().map(|(_, value)| value)
    }

    /// Returns the value of a pattern for modification.
    pub(crate) fn get_mut(&mut self, pattern: usize) -> Option<&mut T> {
        let place = self.place(pattern)?;
        let all = if self.many.is_empty() { self.few.as_mut_slice() } else { self.many.as_mut_slice() };
        all.get_mut(place).map(|(_, value)| value)
    }

    /// Returns the value of a pattern for modification, inserting the default if it is missing.
    pub(crate) fn entry(&mut self, pattern: usize) -> Option<&mut T> {
        if self.place(pattern).is_none() {
            self.push(pattern);
        }
        self.get_mut(pattern)
    }

    /// Returns the patterns with their values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        self.iter_from(0)
    }

    fn iter_from(&self, place: usize) -> impl Iterator<Item = (usize, &T)> {
        let all = if self.many.is_empty() { self.few.as_slice() } else { self.many.as_slice() };
        all.get(place..).unwrap_or_default().iter().map(|(pattern, value)| (*pattern, value))
    }

    fn place(&self, pattern: usize) -> Option<usize> {
        if self.many.is_empty() {
            return self.few.iter().position(|(known, _)| *known == pattern);
        }
        self.places.get(pattern).copied().flatten()
    }

    fn push(&mut self, pattern: usize) {
        if self.many.is_empty() {
            let Err(full) = self.few.try_push((pattern, T::default())) else { return };
            self.many.extend(self.few.drain(..).chain([full.element()]));
            for place in 0..self.many.len() {
                self.note(place);
            }
        } else {
            self.many.push((pattern, T::default()));
            self.note(self.many.len() - 1);
        }
    }

    /// Records the pattern at an index.
    fn note(&mut self, place: usize) {
        let Some(&(pattern, _)) = self.many.get(place) else { return };
        if self.places.len() <= pattern {
            self.places.resize(pattern + 1, None);
        }
        if let Some(noted) = self.places.get_mut(pattern) {
            *noted = Some(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many_are_kept_alike() {
        for count in [1, INLINE - 1, INLINE, INLINE + 1, 10 * INLINE] {
            let mut table = ByPattern::default();
            // Three times as far apart as they are many, in descending order.
            let patterns: Vec<usize> = (0..count).rev().map(|pattern| 3 * pattern).collect();
            for round in 1..=2 {
                patterns.iter().for_each(|&pattern| *table.entry(pattern).unwrap() += pattern + round);
            }
            let wanted: Vec<_> = patterns.iter().map(|&pattern| (pattern, 2 * pattern + 3)).collect();
            assert_eq!(table.iter().map(|(pattern, &sum)| (pattern, sum)).collect::<Vec<_>>(), wanted);
            assert!(wanted.iter().all(|(pattern, sum)| table.get(*pattern) == Some(sum)), "{count}");
            assert!(table.get(1).is_none() && table.get_mut(3 * count).is_none(), "{count}");
            assert_eq!(table.many.is_empty(), count <= INLINE, "{count}");
        }
    }
}
