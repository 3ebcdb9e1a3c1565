//! Histograms over time. Start and width of the columns adapt to the data, in one pass with bounded memory.

use std::collections::BTreeMap;

use stockade_guard::audit::Timestamp;

/// Number of columns that fit on a phone.
const MAX_COLUMNS: u64 = 60;

/// Widths of a column, in seconds and in words. The last covers any time.
const WIDTHS: &[(u64, &str)] = &[
    (60, "a minute"),
    (5 * 60, "five minutes"),
    (15 * 60, "a quarter of an hour"),
    (60 * 60, "an hour"),
    (4 * 60 * 60, "four hours"),
    (24 * 60 * 60, "a day"),
    (7 * 24 * 60 * 60, "a week"),
    (28 * 24 * 60 * 60, "four weeks"),
    (364 * 24 * 60 * 60, "a year"),
    (u64::MAX, "all the time"),
];

const MICROS: u64 = 1_000_000;

/// Counts of `N` kinds over time.
#[derive(Debug)]
pub(crate) struct Timeline<const N: usize> {
    width: usize,
    pub(crate) columns: BTreeMap<u64, [u64; N]>,
}

impl<const N: usize> Default for Timeline<N> {
    fn default() -> Self {
        Self { width: 0, columns: BTreeMap::new() }
    }
}

impl<const N: usize> Timeline<N> {
    /// Counts one event.
    pub(crate) fn add(&mut self, at: Timestamp, kind: usize) {
        let seconds = at.micros() / MICROS;
        self.make_room_for(seconds);
        let column = self.columns.entry(seconds / self.seconds()).or_insert([0; N]);
        if let Some(count) = column.get_mut(kind) {
            *count = count.saturating_add(1);
        }
    }

    /// Returns the width of a column in words.
    pub(crate) fn width_name(&self) -> &'static str {
        WIDTHS.get(self.width).map_or("", |(_, name)| *name)
    }

    fn seconds(&self) -> u64 {
        WIDTHS.get(self.width).map_or(u64::MAX, |(seconds, _)| *seconds)
    }

    /// Widens columns until this time is in one of them.
    fn make_room_for(&mut self, seconds: u64) {
        loop {
            let at = seconds / self.seconds();
            let first = self.first().map_or(at, |first| first.min(at));
            let last = self.last().map_or(at, |last| last.max(at));
            if last - first < MAX_COLUMNS {
                return;
            }
            let before = self.seconds();
            self.width += 1;
            let now = self.seconds();
            for (column, counts) in std::mem::take(&mut self.columns) {
                let sums = self.columns.entry(column.saturating_mul(before) / now).or_insert([0; N]);
                for (sum, count) in sums.iter_mut().zip(counts) {
                    *sum = sum.saturating_add(count);
                }
            }
        }
    }

    /// Returns the first column with an event.
    pub(crate) fn first(&self) -> Option<u64> {
        self.columns.first_key_value().map(|(column, _)| *column)
    }

    /// Returns the last column with an event.
    pub(crate) fn last(&self) -> Option<u64> {
        self.columns.last_key_value().map(|(column, _)| *column)
    }

    /// Returns the total of each kind.
    pub(crate) fn sums(&self) -> [u64; N] {
        let mut sums = [0_u64; N];
        for counts in self.columns.values() {
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum = sum.saturating_add(*count));
        }
        sums
    }

    /// Returns the start time of a column, to the minute.
    pub(crate) fn begin(&self, column: u64) -> String {
        let at =
            Timestamp::from_micros(column.saturating_mul(self.seconds()).saturating_mul(MICROS)).to_string();
        at.get(..16).unwrap_or(&at).replacen('T', " ", 1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_micros(seconds * MICROS)
    }

    #[test]
    fn columns_fit_their_times() {
        let mut timeline = Timeline::<2>::default();
        for minute in 0..60 {
            timeline.add(at(minute * 60), 0);
        }
        assert_eq!((timeline.width_name(), timeline.columns.len()), ("a minute", 60));
        timeline.add(at(3600), 1);
        assert_eq!((timeline.width_name(), timeline.columns.len()), ("five minutes", 13));
        assert_eq!((timeline.columns[&0], timeline.columns[&12]), ([5, 0], [0, 1]));
        assert_eq!(timeline.begin(12), "1970-01-01 01:00");
    }

    proptest! {
        #[test]
        fn every_record_is_in_a_column(times in prop::collection::vec(0..=u64::MAX / MICROS, 0..200)) {
            let mut timeline = Timeline::<2>::default();
            times.iter().for_each(|time| timeline.add(at(*time), usize::from(time % 2 == 0)));
            prop_assert!(timeline.columns.len() <= 60);
            prop_assert_eq!(timeline.sums().iter().sum::<u64>(), times.len() as u64);
        }
    }
}
