//! Entries of maps and sets: in insertion order and numbered, so that an iteration continues at the right place after
//! insertions and deletions.

use indexmap::IndexMap;

use crate::value::{MapKey, Value};

/// Entries by key, in order.
#[derive(Debug, Clone)]
pub(crate) struct Entries<V> {
    map: IndexMap<MapKey, (usize, V)>,
    /// The number of the next entry.
    next: usize,
}

/// Entries of a map: original keys, and values.
pub(crate) type Pairs = Entries<(Value, Value)>;

/// Entries of a set.
pub(crate) type Members = Entries<Value>;

impl<V> Default for Entries<V> {
    fn default() -> Self {
        Self { map: IndexMap::new(), next: 0 }
    }
}

impl<V> Entries<V> {
    pub(crate) fn len(&self) -> usize {
        self.map.len()
    }

    pub(crate) fn get(&self, key: &MapKey) -> Option<&V> {
        self.map.get(key).map(|(_, value)| value)
    }

    pub(crate) fn get_mut(&mut self, key: &MapKey) -> Option<&mut V> {
        self.map.get_mut(key).map(|(_, value)| value)
    }

    pub(crate) fn has(&self, key: &MapKey) -> bool {
        self.map.contains_key(key)
    }

    /// Adds an entry behind the others; one that is there already stays as it is.
    pub(crate) fn add(&mut self, key: MapKey, value: V) {
        let next = self.next;
        self.map.entry(key).or_insert_with(|| (next, value));
        self.next += 1;
    }

    pub(crate) fn remove(&mut self, key: &MapKey) -> bool {
        self.map.shift_remove(key).is_some()
    }

    pub(crate) fn clear(&mut self) {
        self.map.clear();
    }

    /// Returns the first entry with at least this number, and its number.
    pub(crate) fn entry_at(&self, number: usize) -> Option<(usize, &V)> {
        let mut low = 0;
        let mut high = self.map.len();
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.map.get_index(middle) {
                Some((_, (found, _))) if *found < number => low = middle + 1,
                _ => high = middle,
            }
        }
        self.map.get_index(low).map(|(_, (number, value))| (*number, value))
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.map.values().map(|(_, value)| value)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&MapKey, &V)> {
        self.map.iter().map(|(key, (_, value))| (key, value))
    }
}

impl<V> FromIterator<(MapKey, V)> for Entries<V> {
    fn from_iter<I: IntoIterator<Item = (MapKey, V)>>(entries: I) -> Self {
        let mut all = Self::default();
        entries.into_iter().for_each(|(key, value)| all.add(key, value));
        all
    }
}
