//! Why a call is refused.

use std::error::Error as _;
use std::fmt;
use std::time::Duration;

use super::error::StoreError;
use crate::budget::BudgetRefusal;

/// Why a call must not be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum CallRefusal {
    /// The execution has taken all of its steps, and ends with what it has.
    Steps {
        /// How many there were.
        limit: u32,
    },
    /// It would cost too much.
    Budget(BudgetRefusal),
    /// The service keeps failing.
    BreakerOpen {
        /// When it is worth asking again, by the clock of the store.
        retry_at: Duration,
    },
    /// It cannot be known what was used.
    Store(StoreError),
}

impl fmt::Display for CallRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Steps { limit } => write!(f, "the task has taken all of its {limit} steps"),
            Self::Budget(refusal) => refusal.fmt(f),
            Self::BreakerOpen { .. } => {
                f.write_str("the service failed too often in a row and is left alone for a while")
            }
            Self::Store(error) => match error.source() {
                Some(cause) => write!(f, "{error}: {cause}, so it is not known what may still be used"),
                None => write!(f, "{error}, so it is not known what may still be used"),
            },
        }
    }
}
