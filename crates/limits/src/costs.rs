//! Who spent what: by agent, channel, execution and model.

use std::collections::VecDeque;
use std::time::Duration;

use crate::amount::Usage;

/// One call that was paid for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", default, deny_unknown_fields))]
pub struct CostRecord {
    /// When it was made.
    #[cfg_attr(feature = "serde", serde(rename = "atMs", with = "crate::millis"))]
    pub at: Duration,
    /// The agent that made it.
    pub agent: String,
    /// Where the request came from.
    pub channel: String,
    /// The task it belonged to.
    pub execution: String,
    /// The conversation it belonged to.
    pub session: String,
    /// Who answered it.
    pub provider: String,
    /// Which model answered it.
    pub model: String,
    /// What it was for.
    pub operation: String,
    /// What was read.
    pub input: Usage,
    /// What was written.
    pub output: Usage,
    /// All of it; more than input and output where a cache or a fee counts too.
    pub total: Usage,
}

/// A part of the records, as a sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CostTotal {
    /// Tokens and money.
    pub usage: Usage,
    /// In how many calls.
    pub calls: u64,
}

/// The latest records of what was spent, oldest first; what is older than the last so many is dropped.
///
/// This is for looking at, not for deciding: [`Budget`](crate::budget::Budget) decides, and forgets nothing early.
#[derive(Clone, Debug)]
pub struct CostLedger {
    records: VecDeque<CostRecord>,
    capacity: usize,
}

impl Default for CostLedger {
    /// Returns a ledger of 100,000 records.
    fn default() -> Self {
        Self::with_capacity(100_000)
    }
}

impl CostLedger {
    /// Returns a ledger that keeps the last `capacity` records.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self { records: VecDeque::new(), capacity }
    }

    /// Adds a record, and drops the oldest when there is no room.
    pub fn record(&mut self, record: CostRecord) {
        self.records.push_back(record);
        while self.records.len() > self.capacity {
            self.records.pop_front();
        }
    }

    /// Returns the records, oldest first.
    pub fn records(&self) -> impl Iterator<Item = &CostRecord> {
        self.records.iter()
    }

    /// Returns the sum of the records that are wanted.
    pub fn total(&self, wanted: impl Fn(&CostRecord) -> bool) -> CostTotal {
        let mut total = CostTotal::default();
        for record in self.records.iter().filter(|record| wanted(record)) {
            total.add(record.total);
        }
        total
    }

    /// Returns one sum for each value of `part`, in the order in which the values first appear.
    ///
    /// ```
    /// # let ledger = stockade_limits::costs::CostLedger::default();
    /// let by_model = ledger.totals_by(|record| (record.provider.clone(), record.model.clone()));
    /// ```
    pub fn totals_by<K: Ord + Clone>(&self, part: impl Fn(&CostRecord) -> K) -> Vec<(K, CostTotal)> {
        let mut places = std::collections::BTreeMap::new();
        let mut totals: Vec<(K, CostTotal)> = Vec::new();
        for record in &self.records {
            let key = part(record);
            let place = *places.entry(key.clone()).or_insert(totals.len());
            if place == totals.len() {
                totals.push((key, CostTotal::default()));
            }
            if let Some((_, total)) = totals.get_mut(place) {
                total.add(record.total);
            }
        }
        totals
    }

    /// Drops the records made before `start`, and returns how many there were.
    pub fn drop_before(&mut self, start: Duration) -> usize {
        let before = self.records.len();
        self.records.retain(|record| record.at >= start);
        before - self.records.len()
    }
}

impl CostTotal {
    fn add(&mut self, usage: Usage) {
        self.usage = self.usage.plus(usage);
        self.calls = self.calls.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_records_make_room() {
        let mut ledger = CostLedger::with_capacity(2);
        for tokens in [1, 10, 100] {
            ledger.record(CostRecord { total: Usage::tokens(tokens), ..CostRecord::default() });
        }
        let total = ledger.total(|_| true);
        assert_eq!((total.usage.tokens, total.calls), (110, 2));
    }
}
