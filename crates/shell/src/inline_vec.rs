//! A list that nearly always has one element, which then needs no memory of its own.
//!
//! Known as a small vector. The crate `smallvec` would do the same with as few allocations, but its `Drop` may look
//! at the elements: a `Script` with such lists keeps its text borrowed to the end of the scope instead of to the last
//! use, and callers that move the text then no longer compile. `tinyvec` requires elements with a `Default`, which a
//! command lacks. An enum drops as its parts do.

use std::fmt;
use std::iter::Chain;
use std::ops::{Deref, DerefMut};

/// Where there are two, there are likely to be more.
const MANY: usize = 4;

/// Elements in order, of which the first needs no memory of its own.
#[derive(Clone, Default)]
pub(crate) enum InlineVec<T> {
    #[default]
    None,
    One(T),
    Many(Vec<T>),
}

impl<T> InlineVec<T> {
    /// Adds an element at the end.
    pub(crate) fn push(&mut self, element: T) {
        match self {
            Self::None => *self = Self::One(element),
            Self::Many(elements) => elements.push(element),
            Self::One(_) => self.push_second(element),
        }
    }

    fn push_second(&mut self, element: T) {
        if let Self::One(first) = std::mem::replace(self, Self::Many(Vec::with_capacity(MANY))) {
            self.push(first);
        }
        self.push(element);
    }
}

impl<'f, T> IntoIterator for &'f InlineVec<T> {
    type Item = &'f T;
    type IntoIter = std::slice::Iter<'f, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T> Deref for InlineVec<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::None => &[],
            Self::One(element) => std::slice::from_ref(element),
            Self::Many(elements) => elements,
        }
    }
}

impl<T> DerefMut for InlineVec<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Self::None => &mut [],
            Self::One(element) => std::slice::from_mut(element),
            Self::Many(elements) => elements,
        }
    }
}

impl<T> IntoIterator for InlineVec<T> {
    type Item = T;
    type IntoIter = Chain<std::option::IntoIter<T>, std::vec::IntoIter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        let (one, many) = match self {
            Self::None => (None, Vec::new()),
            Self::One(element) => (Some(element), Vec::new()),
            Self::Many(elements) => (None, elements),
        };
        one.into_iter().chain(many)
    }
}

impl<T: fmt::Debug> fmt::Debug for InlineVec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_stay_in_their_order() {
        let mut list = InlineVec::None;
        for count in 0..4 {
            let expected: Vec<i32> = (0..count).collect();
            assert_eq!(list[..], expected);
            assert_eq!(list.clone().into_iter().collect::<Vec<_>>(), expected);
            list.push(count);
        }
    }
}
