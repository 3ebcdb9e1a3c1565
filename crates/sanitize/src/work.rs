//! Counts work in tests, so that "linear" is a number instead of a stopwatch reading.

#[cfg(test)]
use std::cell::Cell;

#[cfg(test)]
thread_local! {
    static STEPS: Cell<usize> = const { Cell::new(0) };
}

/// Counts one inspection of a character, except by the search for plain text. Compiles to nothing outside of tests.
pub(crate) fn step() {
    #[cfg(test)]
    STEPS.with(|steps| steps.set(steps.get() + 1));
}

/// Returns how many steps `run` took.
#[cfg(test)]
pub(crate) fn count(run: impl FnOnce()) -> usize {
    STEPS.with(|steps| steps.set(0));
    run();
    STEPS.with(Cell::get)
}
