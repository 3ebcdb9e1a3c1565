//! Durations as whole milliseconds in settings and snapshots.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serializer};

pub(crate) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(from_duration(*duration))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_millis)
}

/// Rounds up, so that a time read back is never earlier than the one written.
fn from_duration(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_millisecond_round_up() {
        assert_eq!(from_duration(Duration::from_nanos(1)), 1);
        assert_eq!(from_duration(Duration::from_millis(7)), 7);
        assert_eq!(from_duration(Duration::MAX), u64::MAX);
    }
}
