//! How much of what a tool brings back reaches the model, and in which form.
//!
//! [`SourceProfiles`] say how much; with the feature `extract`, an [`Extractor`] brings a result into that form.

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
pub use self::extract::{Demand, Extracted, Extractor, extract};
pub use self::profiles::{
    FALLBACK_PROFILE, Hidden, MAX_CHARS_CEILING, MAX_CHARS_FLOOR, MAX_RESPONSE_BYTES_CEILING,
    MAX_RESPONSE_BYTES_FLOOR, MCP_DEFAULT_PROFILE, ProfileOverride, SourceProfile, SourceProfiles, Strategy,
    resolve_source,
};
pub use self::size::format_size;
#[cfg(feature = "extract")]
pub use self::tail::{TailLimits, TextTail, Truncation, tail_of, truncate_line};
