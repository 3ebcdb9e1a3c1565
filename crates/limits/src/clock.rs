//! Time as an argument that never runs backwards.

use std::time::Duration;

/// The latest time that a state machine has seen.
///
/// A caller's clock may be set back. Every machine therefore lives at the latest time that it was ever told, so that a
/// step backwards frees no window and ends no cooldown early. A step forwards cannot be told from a pause, so callers
/// should count from a steady clock where they have one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub(crate) struct Clock(#[cfg_attr(feature = "serde", serde(with = "crate::millis"))] Duration);

impl Clock {
    /// Returns the latest time seen.
    pub(crate) const fn latest(self) -> Duration {
        self.0
    }

    /// Returns the later of `now` and everything seen before.
    pub(crate) fn advance(&mut self, now: Duration) -> Duration {
        self.0 = self.0.max(now);
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_backwards_is_not_taken() {
        let mut clock = Clock::default();
        let seconds = [5, 3, 5, 9].map(|s| clock.advance(Duration::from_secs(s)).as_secs());
        assert_eq!(seconds, [5, 5, 5, 9]);
    }
}
