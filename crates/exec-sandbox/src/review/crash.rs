//! Crash points of a merge, before each modifying call. Tests abort the merge at every one of them.

use std::io;

#[cfg(test)]
thread_local! {
    static LEFT: std::cell::Cell<Option<u32>> = const { std::cell::Cell::new(None) };
}

/// A point at which tests simulate that this program is killed.
#[cfg(not(test))]
#[expect(clippy::unnecessary_wraps, reason = "fails in tests")]
pub(super) const fn point() -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
pub(super) fn point() -> io::Result<()> {
    LEFT.with(|left| match left.get() {
        None => Ok(()),
        // All later points fail as well, as if this program were gone.
        Some(0) => Err(io::Error::other("killed here")),
        Some(more) => {
            left.set(Some(more - 1));
            Ok(())
        }
    })
}

/// Sets the number of points to pass before the simulated kill; all of them if `None`.
#[cfg(test)]
pub(super) fn after(points: Option<u32>) {
    LEFT.set(points);
}
