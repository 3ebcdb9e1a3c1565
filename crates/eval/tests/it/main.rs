//! Integration tests: the language, its limits, missing features, and a comparison with Node.
#![expect(
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test may panic, and prints what it skips"
)]

mod auto_traits;
mod bounds;
mod completions;
mod escapes;
mod invalid;
mod language;
mod limits;
mod memory;
mod node;
mod patterns;
mod promises;
mod properties;
mod seeds;
mod templates;
