//! Tables of the shapes and names of credentials, and redaction of credentials in text and shell commands.
//!
//! - A *shape* is how an issuer makes its tokens: a prefix, an alphabet and a minimum length.
//! - A *name* is that of a variable, option, header or key whose value is a secret.
//! - With the feature `redact`, `Redactor` replaces secrets in text. It knows them by value, by shape, by name, or by the program that
//!   receives them (`mysql -p…`).
//!
//! The crate does no I/O and makes no decision. Every function takes linear time.

#![forbid(unsafe_code)]

mod env_file;
mod file_text;
mod literals;
mod names;
#[cfg(feature = "redact")]
mod redact;
mod request_names;
mod shapes;
#[cfg(feature = "redact")]
mod values;

pub use env_file::names_without_values;
pub use file_text::contains_secret;
pub use names::{Sensitivity, sensitivity};
#[cfg(feature = "redact")]
pub use redact::Redactor;
pub use request_names::{is_credential_header, is_credential_parameter};
pub use shapes::token_prefix;

/// The README's example is run as a test.
#[cfg(all(doctest, feature = "redact"))]
#[doc = include_str!("../README.md")]
struct Readme;
