//! A login file, and its copy with placeholders.

use std::fmt;

use crate::draft::{self, Draft, Mark};
use crate::kind::LoginFileKind;
use crate::login::{LeftOut, Login};

/// Maximum length of a file in bytes.
pub const MAX_FILE: usize = 1 << 20;

/// Maximum number of logins in a file; further ones are left out.
pub const MAX_LOGINS: usize = 256;

/// A login file: its logins, and the text around them.
#[derive(Clone)]
pub struct LoginFile {
    logins: Vec<Login>,
    left_out: Vec<LeftOut>,
    /// The copy, in which each secret is a mark.
    text: String,
    marks: Vec<Mark>,
}

/// A login file cannot be read. The message contains no part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoginFileError {
    /// What is wrong with it.
    pub why: String,
}

impl LoginFileError {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self { why: why.into() }
    }
}

impl fmt::Display for LoginFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for LoginFileError {}

impl LoginFile {
    /// Reads a login file. The copy contains the logins that `wanted` accepts; [`left_out`](Self::left_out) lists the others with
    /// their errors. Takes linear time.
    ///
    /// # Errors
    /// When it is longer than [`MAX_FILE`], or not in its format.
    pub fn read(
        kind: LoginFileKind,
        text: &str,
        mut wanted: impl FnMut(&Login) -> Result<(), String>,
    ) -> Result<Self, LoginFileError> {
        if text.len() > MAX_FILE {
            return Err(LoginFileError::new("is longer than 1 MiB"));
        }
        if text.contains(draft::MARK) {
            return Err(LoginFileError::new("contains a character for private use, U+E000"));
        }
        let mut draft = Draft::new(&mut wanted);
        kind.read(text.trim_start_matches('\u{feff}'), &mut draft)?;
        let Draft { logins, left_out, text, marks, .. } = draft;
        Ok(Self { logins, left_out, text, marks })
    }

    /// Returns the logins, in the order of their placeholders.
    #[must_use]
    pub fn logins(&self) -> &[Login] {
        &self.logins
    }

    /// Returns the logins that the copy omits.
    #[must_use]
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Returns the copy with a placeholder for the secret of each login. A login without a placeholder has none.
    #[must_use]
    pub fn with_placeholders(&self, placeholders: &[impl AsRef<str>]) -> String {
        let mut marks = self.marks.iter();
        let mut parts = self.text.split(draft::MARK);
        let mut copy = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let mark = marks.next();
            if let Some((mark, placeholder)) =
                mark.and_then(|mark| Some((mark, placeholders.get(mark.login)?)))
            {
                copy.push_str(&mark.spelled(placeholder.as_ref()));
            }
            copy.push_str(part);
        }
        copy
    }
}

impl fmt::Debug for LoginFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoginFile")
            .field("logins", &self.logins)
            .field("left_out", &self.left_out)
            .finish_non_exhaustive()
    }
}
