//! What several threads change.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A value is changed in one step or not at all, so it is in order whatever happened to a thread that held it.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
