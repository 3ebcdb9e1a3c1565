//! Cuts the result of a tool call to the form and size that a model should see.
//!
//! [`SourceProfiles`] has the limits of each tool: how many bytes are read, how many characters are kept, which part, and
//! whether hidden parts of a page are removed. With the feature `extract`, an [`Extractor`] brings a result into that form.
//!
//! Everything is decided from arguments; nothing here reads a file, a clock or the network. Time is linear in the result, and
//! memory is bounded by the profile.
//!
//! It does **not** look for attacks in what it keeps.
//!
//! ```
//! use stockade_output::{ProfileOverride, resolve_source};
//!
//! let profile = resolve_source("bash", &ProfileOverride::default());
//! assert_eq!(profile.max_chars(), 50_000);
//! ```
//!
//! Features: `extract` decodes and truncates results (HTML, JSON, text); `serde` reads overrides and writes profiles. Without
//! features the crate has no dependencies.
#![forbid(unsafe_code)]

#[cfg(feature = "extract")]
mod cut;
#[cfg(feature = "extract")]
mod decode;
#[cfg(feature = "extract")]
mod extract;
#[cfg(feature = "extract")]
mod html;
#[cfg(feature = "extract")]
mod kind;
mod profiles;
mod size;
#[cfg(feature = "extract")]
mod structured;
#[cfg(feature = "extract")]
mod tail;

#[cfg(feature = "extract")]
pub use extract::{Demand, Extracted, Extractor, extract};
pub use profiles::{
    FALLBACK_PROFILE, Hidden, MAX_CHARS_CEILING, MAX_CHARS_FLOOR, MAX_RESPONSE_BYTES_CEILING,
    MAX_RESPONSE_BYTES_FLOOR, MCP_DEFAULT_PROFILE, ProfileOverride, SourceProfile, SourceProfiles, Strategy,
    resolve_source,
};
pub use size::format_size;
#[cfg(feature = "extract")]
pub use tail::{TailLimits, TextTail, Truncation, tail_of, truncate_line};

/// The README's example is run as a test.
#[cfg(all(doctest, feature = "extract"))]
#[doc = include_str!("../README.md")]
struct Readme;
