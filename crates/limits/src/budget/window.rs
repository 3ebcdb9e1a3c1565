//! What was used within the last hour or day, in bounded memory.

use std::collections::VecDeque;
use std::time::Duration;

use super::Measure;
use crate::amount::Usage;

/// Into how many parts a window is divided at most. What falls into one part is kept as one entry.
const PARTS: u32 = 1_024;

/// Usage by time, oldest first.
///
/// Calls that come close together (within a 1,024th of the window: 3.5 seconds of an hour) share an entry that leaves the
/// window with the last of them. So a window may count a little too long, never too short, and a million calls take no
/// more memory than a thousand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "VecDeque<Entry>", into = "VecDeque<Entry>"))]
pub(crate) struct Window {
    entries: VecDeque<Entry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", deny_unknown_fields))]
pub(crate) struct Entry {
    #[cfg_attr(feature = "serde", serde(with = "crate::millis"))]
    first: Duration,
    #[cfg_attr(feature = "serde", serde(with = "crate::millis"))]
    last: Duration,
    usage: Usage,
}

impl Window {
    /// Adds usage at `now`, which is never earlier than what was added before.
    pub(crate) fn record(&mut self, now: Duration, usage: Usage, span: Duration) {
        if usage == Usage::ZERO {
            return;
        }
        if let Some(latest) = self.entries.back_mut()
            && now.saturating_sub(latest.first) < span / PARTS
        {
            latest.last = latest.last.max(now);
            latest.usage = latest.usage.plus(usage);
            return;
        }
        self.entries.push_back(Entry { first: now, last: now, usage });
    }

    /// Forgets what is older than `start`; what is exactly as old still counts.
    pub(crate) fn drop_before(&mut self, start: Duration) {
        while self.entries.front().is_some_and(|oldest| oldest.last < start) {
            self.entries.pop_front();
        }
    }

    pub(crate) fn total(&self) -> Usage {
        self.entries.iter().fold(Usage::ZERO, |sum, entry| sum.plus(entry.usage))
    }

    /// Returns when the oldest entry leaves.
    pub(crate) fn frees_at(&self, span: Duration) -> Option<Duration> {
        self.entries.front().map(|oldest| oldest.leaves_at(span))
    }

    /// Returns when enough entries will have left for `asked` to fit, if waiting can ever be enough.
    pub(crate) fn fits_at(
        &self,
        measure: Measure,
        counted: u64,
        asked: u64,
        cap: u64,
        span: Duration,
    ) -> Option<Duration> {
        let mut counted = counted;
        for entry in &self.entries {
            counted = counted.saturating_sub(measure.of(entry.usage));
            if counted < cap && counted.saturating_add(asked) <= cap {
                return Some(entry.leaves_at(span));
            }
        }
        None
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.entries.len()
    }
}

impl Entry {
    /// The first whole millisecond at which the entry does not count any more.
    fn leaves_at(&self, span: Duration) -> Duration {
        self.last.saturating_add(span).saturating_add(Duration::from_millis(1))
    }
}

#[cfg(feature = "serde")]
impl From<Window> for VecDeque<Entry> {
    fn from(window: Window) -> Self {
        window.entries
    }
}

#[cfg(feature = "serde")]
impl TryFrom<VecDeque<Entry>> for Window {
    type Error = &'static str;

    /// Refuses what no window can have written: entries out of order would never be dropped, or too early.
    fn try_from(entries: VecDeque<Entry>) -> Result<Self, Self::Error> {
        let ordered = entries.iter().zip(entries.iter().skip(1)).all(|(a, b)| a.last <= b.first);
        if !ordered || entries.iter().any(|entry| entry.first > entry.last) {
            return Err("the entries of a window are not in the order of time");
        }
        if entries.len() > 2 * PARTS as usize {
            return Err("a window has more entries than it can have");
        }
        Ok(Self { entries })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    #[test]
    fn what_is_exactly_as_old_as_the_window_counts() {
        let mut window = Window::default();
        window.record(Duration::ZERO, Usage::tokens(7), HOUR);
        window.drop_before(HOUR - HOUR);
        assert_eq!(window.total(), Usage::tokens(7));
        assert_eq!(window.frees_at(HOUR), Some(HOUR + Duration::from_millis(1)));
        window.drop_before(Duration::from_millis(1));
        assert_eq!(window.total(), Usage::ZERO);
    }

    #[test]
    fn a_flood_of_calls_takes_bounded_memory_and_is_never_undercounted() {
        let mut window = Window::default();
        for call in 0..100_000_u64 {
            let now = Duration::from_millis(call * 90);
            window.record(now, Usage::tokens(1), HOUR);
            window.drop_before(now.saturating_sub(HOUR));
            assert!(window.len() <= PARTS as usize + 1, "{} entries", window.len());
            let within = (call + 1).min(3_600_000 / 90 + 1);
            let counted = window.total().tokens;
            assert!(counted >= within && counted <= within + 40, "{counted} for {within}");
        }
    }

    #[test]
    fn the_time_to_wait_is_when_enough_has_left() {
        let mut window = Window::default();
        for minute in [0, 10, 20] {
            window.record(Duration::from_secs(minute * 60), Usage::tokens(30), HOUR);
        }
        let fits = |asked| window.fits_at(Measure::Tokens, 90, asked, 100, HOUR).map(|at| at.as_secs() / 60);
        assert_eq!([20, 41, 100, 101].map(fits), [Some(60), Some(70), Some(80), None]);
    }
}
