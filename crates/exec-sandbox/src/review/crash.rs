//! Where a merge may be cut off: before each call that changes something. Tests cut it off at every one of them.

use std::io;

#[cfg(test)]
thread_local! {
    static LEFT: std::cell::Cell<Option<u32>> = const { std::cell::Cell::new(None) };
}

/// A place where this program may be killed.
#[cfg(not(test))]
#[expect(clippy::unnecessary_wraps, reason = "fails in tests")]
pub(super) const fn point() -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
pub(super) fn point() -> io::Result<()> {
    LEFT.with(|left| match left.get() {
        None => Ok(()),
        // From here on nothing is done any more, as if this program were gone.
        Some(0) => Err(io::Error::other("killed here")),
        Some(more) => {
            left.set(Some(more - 1));
            Ok(())
        }
    })
}

/// Lets so many points pass from now on; all of them, if nothing is said.
#[cfg(test)]
pub(super) fn after(points: Option<u32>) {
    LEFT.set(points);
}
