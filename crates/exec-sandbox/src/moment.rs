//! Numbers for names of files that no other has: the nanoseconds since 1970.

/// Returns the present, in nanoseconds.
pub(crate) fn moment() -> u128 {
    std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos()
}
