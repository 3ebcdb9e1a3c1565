//! Text utilities without policy: positions, documents with positions, spelling suggestions and safe display.
//!
//! - [`Escaped`], [`escape()`], [`escape_lines`], [`escape_path`]: untrusted text on a terminal.
//! - [`Shown`], [`shown_within`]: untrusted text in a question, where nothing may be hidden.
//! - `to_printable_json`: JSON that is safe on a terminal; [`with_causes`]: an error and its causes as one sentence.
//! - [`to_hex`], [`from_hex`]: bytes as hexadecimal digits; [`push_percent_encoded`], [`percent_byte`]: bytes in URIs;
//!   [`escape_markup`]: text in HTML and XML.
//! - [`nearest()`]: the known name most similar to a misspelt one.
//! - [`poses_as_latin`]: words that mix Latin letters with look-alikes from other scripts.
//! - [`Timestamp`]: points in time as texts whose order is that of time.
//! - [`MessageMarker`]: marks lines of a program that imitate messages of another on the same stream.
//! - [`LineIndex`], [`PositionCursor`]: byte offsets as [`TextPosition`]s, lines and columns.
//! - [`parse`]: a TOML, YAML or JSON document as a tree of [`Node`]s with positions, so that an error about a value
//!   can name its line and column.
//! - `Editor`: edits of one thing in a TOML, YAML or JSON document that preserve the rest.
//!
//! The crate makes no decisions: which keys are allowed, and what they mean, is up to the caller. Documents may be
//! untrusted: size, nesting and alias expansion are limited, repeated keys are errors, and parsing takes linear time.
//!
//! ```
//! # #[cfg(feature = "toml")] {
//! use stockade_text::{Format, Value, parse};
//!
//! let file = parse("[server]\nport = 80\n", Format::Toml, 1 << 20)?;
//! let server = file.value.get("server").unwrap();
//! let port = server.node.value.get("port").unwrap();
//! assert_eq!(port.node.value.integer(), Some(80));
//! assert_eq!(port.node.at.to_string(), "2:8");
//!
//! let error = parse("port = 80\nport = 81\n", Format::Toml, 1 << 20).unwrap_err();
//! assert_eq!(error.to_string(), "2:1: duplicate key");
//! # }
//! # Ok::<(), stockade_text::DocumentError>(())
//! ```
//!
//! Features, all off by default: `positions`, `nearest`, `edit`, and one per format: `json`, `toml`, `yaml`.
//! Escaping, encodings, `Shown` and look-alikes need no feature.
#![forbid(unsafe_code)]

mod causes;
#[cfg(any(feature = "json", feature = "toml", feature = "yaml"))]
mod document;
#[cfg(feature = "edit")]
mod edit;
mod escape;
mod hex;
#[cfg(feature = "json")]
mod json_values;
#[cfg(feature = "positions")]
mod line_index;
mod look_alikes;
mod markup;
mod message_prefix;
#[cfg(feature = "nearest")]
mod nearest;
mod path;
mod percent;
#[cfg(feature = "positions")]
mod position;
#[cfg(feature = "json")]
mod printable_json;
#[cfg(all(feature = "nearest", any(feature = "json", feature = "toml", feature = "yaml")))]
mod schema;
mod shown;
mod timestamp;

pub use causes::with_causes;
#[cfg(any(feature = "json", feature = "toml", feature = "yaml"))]
pub use document::{DocumentError, Format, MAX_NESTING, Node, TableEntry, Value, parse};
#[cfg(feature = "edit")]
pub use edit::{EditError, Editor};
pub use escape::{Escaped, escape, escape_lines, escape_path, is_printable, push_escaped};
pub use hex::{from_hex, hex_byte, hex_digit, to_hex};
#[cfg(feature = "json")]
pub use json_values::json_values;
#[cfg(feature = "positions")]
pub use line_index::LineIndex;
pub use look_alikes::poses_as_latin;
pub use markup::escape_markup;
pub use message_prefix::MessageMarker;
#[cfg(feature = "nearest")]
pub use nearest::{MAX_NAME_CHARS, nearest};
pub use path::resolve_path;
pub use percent::{is_unreserved, percent_byte, push_percent_encoded};
#[cfg(feature = "positions")]
pub use position::{PositionCursor, TextPosition};
#[cfg(feature = "json")]
pub use printable_json::to_printable_json;
#[cfg(all(feature = "nearest", any(feature = "json", feature = "toml", feature = "yaml")))]
pub use schema::{SchemaError, SchemaProblem, TableReader, choice, item_text};
pub use shown::{Shown, shown_within};
pub use timestamp::Timestamp;

/// The README's examples are run as tests.
#[cfg(all(doctest, feature = "nearest", feature = "yaml"))]
#[doc = include_str!("../README.md")]
struct Readme;
