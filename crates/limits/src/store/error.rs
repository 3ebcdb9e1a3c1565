//! Failures of a store.

use std::error::Error;
use std::fmt;

/// Reason why a change was not stored.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// The store is unreachable or returned an invalid answer.
    Unavailable {
        /// The operation that failed.
        doing: &'static str,
        /// Cause of the failure.
        source: BoxedError,
    },
    /// The stored state cannot be parsed. It is not replaced, because that would reset the usage.
    Unreadable {
        /// Agent whose state it is.
        agent: String,
        /// Cause of the failure.
        source: BoxedError,
    },
    /// Other users changed the state during every attempt.
    Contended {
        /// Agent whose state it is.
        agent: String,
        /// Number of attempts.
        attempts: u32,
    },
}

type BoxedError = Box<dyn Error + Send + Sync>;

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable { doing, .. } => write!(f, "the store of limits cannot be used: {doing}"),
            Self::Unreadable { agent, .. } => write!(f, "what is stored of agent `{agent}` cannot be read"),
            Self::Contended { agent, attempts } => {
                write!(f, "the limits of agent `{agent}` changed {attempts} times in between")
            }
        }
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unavailable { source, .. } | Self::Unreadable { source, .. } => Some(source.as_ref()),
            Self::Contended { .. } => None,
        }
    }
}
