//! A call in flight.

use std::time::Duration;

use crate::amount::Usage;

/// A call that was reserved and is not settled yet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct HoldRow {
    /// Execution that makes the call.
    pub execution: String,
    /// Usage that is reserved for it.
    pub usage: Usage,
    /// End of its lease, when it is charged in full.
    #[cfg_attr(feature = "serde", serde(with = "crate::millis"))]
    pub until: Duration,
}
