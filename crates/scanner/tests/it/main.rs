//! Integration tests of the scanner.
#![expect(clippy::indexing_slicing, clippy::string_slice, reason = "a test may panic")]

mod adding;
mod allocations;
mod attacks;
mod changes;
mod equivalence;
mod facts;
mod floods;
mod hostile;
mod linear;
mod monotonicity;
mod properties;
mod report;
#[cfg(feature = "rule-files")]
mod rule_files;
mod rules;
mod rules_md;
