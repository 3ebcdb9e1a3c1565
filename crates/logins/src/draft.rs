//! A copy while it is written.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::file::MAX_LOGINS;
use crate::login::{LeftOut, Login};

/// Replaces a secret in the text of a copy. No file contains it.
pub(crate) const MARK: char = '\u{e000}';

/// How the secret of a login is spelled at a mark.
#[derive(Clone)]
pub(crate) struct Mark {
    pub(crate) login: usize,
    spelling: Spelling,
}

/// How a file spells a secret.
#[derive(Clone)]
pub(crate) enum Spelling {
    Plain,
    Base64,
    /// In base64, behind a user and a colon.
    PairInBase64(String),
    /// In base64, and a colon and this password behind it.
    UserInBase64(String),
}

/// A copy while it is written, and the logins in it.
pub(crate) struct Draft<'a> {
    pub(crate) logins: Vec<Login>,
    pub(crate) left_out: Vec<LeftOut>,
    pub(crate) text: String,
    pub(crate) marks: Vec<Mark>,
    wanted: &'a mut dyn FnMut(&Login) -> Result<(), String>,
}

impl Mark {
    pub(crate) fn spelled(&self, secret: &str) -> String {
        match &self.spelling {
            Spelling::Plain => secret.to_owned(),
            Spelling::Base64 => STANDARD.encode(secret),
            Spelling::PairInBase64(user) => STANDARD.encode(format!("{user}:{secret}")),
            Spelling::UserInBase64(password) => STANDARD.encode(format!("{secret}:{password}")),
        }
    }
}

impl<'a> Draft<'a> {
    pub(crate) fn new(wanted: &'a mut dyn FnMut(&Login) -> Result<(), String>) -> Self {
        Self { logins: Vec::new(), left_out: Vec::new(), text: String::new(), marks: Vec::new(), wanted }
    }

    /// Takes a login if it is wanted, and returns its number.
    pub(crate) fn take(&mut self, login: Login) -> Option<usize> {
        let wanted = match () {
            () if login.secret().is_empty() => Err("has no secret".to_owned()),
            () if self.logins.len() == MAX_LOGINS => Err(format!("is behind {MAX_LOGINS} others")),
            () => (self.wanted)(&login),
        };
        match wanted {
            Ok(()) => {
                self.logins.push(login);
                Some(self.logins.len() - 1)
            }
            Err(why) => {
                self.leave_out(&login.of, why);
                None
            }
        }
    }

    /// Tells that a login is left out.
    pub(crate) fn leave_out(&mut self, of: &str, why: impl Into<String>) {
        self.left_out.push(LeftOut { of: of.to_owned(), why: why.into() });
    }

    /// Returns the mark of a secret, to be written next into the text.
    pub(crate) fn mark(&mut self, login: usize, spelling: Spelling) -> char {
        self.marks.push(Mark { login, spelling });
        MARK
    }
}

/// Returns the two parts of a user and a password in base64.
pub(crate) fn pair(encoded: &str) -> Option<(String, String)> {
    let text = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (user, password) = text.split_once(':')?;
    Some((user.to_owned(), password.to_owned()))
}

/// Returns what a text in base64 contains.
pub(crate) fn decoded(encoded: &str) -> Option<String> {
    String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()
}

/// Passwords that services ignore: the user is the token.
const IGNORED: &[&str] = &["", "x-oauth-basic"];

/// Returns which part of a pair is the secret, and how it is spelled in base64.
pub(crate) fn secret_of(user: &str, password: &str) -> (String, Spelling) {
    match IGNORED.contains(&password) {
        true => (user.to_owned(), Spelling::UserInBase64(password.to_owned())),
        false => (password.to_owned(), Spelling::PairInBase64(user.to_owned())),
    }
}
