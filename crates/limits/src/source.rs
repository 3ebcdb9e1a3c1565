//! How much of what a tool brings back reaches the model, and in which form.

mod cut;
mod decode;
mod extract;
mod html;
mod kind;
mod profiles;
mod size;
mod structured;
mod tail;

pub use self::extract::{Appetite, Extracted, Extractor, extract};
pub use self::profiles::{
    DEFAULT_MCP, FALLBACK, Hidden, MAX_CHARS_CEILING, MAX_CHARS_FLOOR, MAX_RESPONSE_BYTES_CEILING,
    MAX_RESPONSE_BYTES_FLOOR, ProfileOverride, SourceProfile, SourceProfiles, Strategy, resolve_source,
};
pub use self::size::{format_size, shorten_line};
pub use self::tail::{TailLimits, TextTail, Truncation, tail_of};
