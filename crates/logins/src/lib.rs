//! Reads the login files of tools, such as `~/.netrc`, and writes them again with placeholders for the secrets.
//!
//! A program in a sandbox can use such a copy as if it were the user's own file, while a proxy replaces the placeholders. So a
//! copy contains only what is known to hold no secret: the members that a tool needs to log in. Comments and settings that are
//! not listed are left out, and so is each login that the caller does not want.
//!
//! ```
//! use stockade_logins::{LoginFileKind, LoginFile};
//!
//! let text = "machine api.example.com login me password s3cret-value\nmachine other.example login me password other-value";
//! let file = LoginFile::read(LoginFileKind::Netrc, text, |login| match login.goes_to("api.example.com") {
//!     true => Ok(()),
//!     false => Err("is for another host".to_owned()),
//! })?;
//! assert_eq!(file.logins()[0].secret(), "s3cret-value");
//! assert_eq!(file.with_placeholders(&["xxxxxxxx"]), "machine api.example.com login me password xxxxxxxx\n");
//! # Ok::<(), stockade_logins::LoginFileError>(())
//! ```

#![forbid(unsafe_code)]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod assignments;
mod documents;
mod draft;
mod file;
mod git_credentials;
mod kind;
mod login;
mod netrc;
mod npmrc;

pub use file::{LoginFile, LoginFileError, MAX_FILE, MAX_LOGINS};
pub use kind::LoginFileKind;
pub use login::{Destination, LeftOut, Login};
