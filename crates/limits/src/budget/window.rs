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
#[cfg_attr(feature = "serde", serde(try_from = "VecDeque<WindowRow>", into = "VecDeque<WindowRow>"))]
pub(super) struct Window {
    entries: VecDeque<WindowRow>,
}

/// Usage within one part of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct WindowRow {
    /// Time of the first call in this part.
    #[cfg_attr(feature = "serde", serde(with = "crate::millis"))]
    pub first: Duration,
    /// Time of the last call in this part, with which all of it leaves the window.
    #[cfg_attr(feature = "serde", serde(with = "crate::millis"))]
    pub last: Duration,
    /// Usage of all its calls.
    pub usage: Usage,
}

/// The windows of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WindowSpan {
    /// The last sixty minutes.
    Hour,
    /// The last twenty-four hours.
    Day,
}

impl WindowSpan {
    /// Both windows, the shorter first.
    pub const ALL: [Self; 2] = [Self::Hour, Self::Day];

    /// Returns how long usage counts.
    #[must_use]
    pub const fn length(self) -> Duration {
        match self {
            Self::Hour => Duration::from_secs(60 * 60),
            Self::Day => Duration::from_secs(24 * 60 * 60),
        }
    }
}

impl Window {
    /// Adds usage at `now`, which is never earlier than what was added before.
    pub(super) fn record(&mut self, now: Duration, usage: Usage, span: WindowSpan) {
        if let Some(latest) = self.entries.back_mut()
            && let Some(joined) = latest.joined(now, usage, span)
        {
            *latest = joined;
            return;
        }
        self.entries.push_back(WindowRow::begun(now, usage));
    }

    /// Forgets what is older than `start`; what is exactly as old still counts.
    pub(super) fn drop_before(&mut self, start: Duration) {
        while self.entries.front().is_some_and(|oldest| oldest.last < start) {
            self.entries.pop_front();
        }
    }

    pub(super) fn total(&self) -> Usage {
        self.entries.iter().fold(Usage::ZERO, |sum, row| sum.plus(row.usage))
    }

    pub(super) fn oldest(&self) -> Option<WindowRow> {
        self.entries.front().copied()
    }

    pub(super) fn rows(&self) -> Vec<WindowRow> {
        self.entries.iter().copied().collect()
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.entries.len()
    }
}

impl WindowRow {
    /// Begins a row.
    #[must_use]
    pub const fn begun(now: Duration, usage: Usage) -> Self {
        Self { first: now, last: now, usage }
    }

    /// Returns the row with usage added at `now`, or nothing where that is too late for it and a row of its own begins.
    #[must_use]
    pub fn joined(self, now: Duration, usage: Usage, span: WindowSpan) -> Option<Self> {
        let is_near = now.saturating_sub(self.first) < span.length() / PARTS;
        is_near.then(|| Self { last: self.last.max(now), usage: self.usage.plus(usage), ..self })
    }

    /// Returns the first whole millisecond at which the row does not count any more.
    pub(super) fn leaves_at(&self, span: WindowSpan) -> Duration {
        self.last.saturating_add(span.length()).saturating_add(Duration::from_millis(1))
    }
}

/// Returns when enough rows will have left for `asked` to fit beside what is `counted`, if waiting can ever be enough.
pub(super) fn fits_at(
    rows: &[WindowRow],
    span: WindowSpan,
    measure: Measure,
    (mut counted, asked, cap): (u64, u64, u64),
) -> Option<Duration> {
    for row in rows {
        counted = counted.saturating_sub(measure.of(row.usage));
        if counted < cap && counted.saturating_add(asked) <= cap {
            return Some(row.leaves_at(span));
        }
    }
    None
}

#[cfg(feature = "serde")]
impl From<Window> for VecDeque<WindowRow> {
    fn from(window: Window) -> Self {
        window.entries
    }
}

#[cfg(feature = "serde")]
impl TryFrom<VecDeque<WindowRow>> for Window {
    type Error = &'static str;

    /// Refuses what no window can have written: entries out of order would never be dropped, or too early.
    fn try_from(entries: VecDeque<WindowRow>) -> Result<Self, Self::Error> {
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

    const HOUR: Duration = WindowSpan::Hour.length();

    #[test]
    fn what_is_exactly_as_old_as_the_window_counts() {
        let mut window = Window::default();
        window.record(Duration::ZERO, Usage::tokens(7), WindowSpan::Hour);
        window.drop_before(HOUR - HOUR);
        assert_eq!(window.total(), Usage::tokens(7));
        let leaves_at = window.oldest().map(|row| row.leaves_at(WindowSpan::Hour));
        assert_eq!(leaves_at, Some(HOUR + Duration::from_millis(1)));
        window.drop_before(Duration::from_millis(1));
        assert_eq!(window.total(), Usage::ZERO);
    }

    #[test]
    fn a_flood_of_calls_takes_bounded_memory_and_is_never_undercounted() {
        let mut window = Window::default();
        for call in 0..100_000_u64 {
            let now = Duration::from_millis(call * 90);
            window.record(now, Usage::tokens(1), WindowSpan::Hour);
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
            window.record(Duration::from_secs(minute * 60), Usage::tokens(30), WindowSpan::Hour);
        }
        let fits = |asked| {
            let at = fits_at(&window.rows(), WindowSpan::Hour, Measure::Tokens, (90, asked, 100));
            at.map(|at| at.as_secs() / 60)
        };
        assert_eq!([20, 41, 100, 101].map(fits), [Some(60), Some(70), Some(80), None]);
    }
}
