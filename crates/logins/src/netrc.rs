//! `.netrc`: words, of which `machine` begins a login.

use crate::draft::{Draft, Spelling, secret_of};
use crate::file::LoginFileError;
use crate::login::{Destination, Login};

/// The login that is being read.
#[derive(Default)]
struct Entry {
    machine: String,
    login: String,
    password: String,
}

pub(crate) fn read(text: &str, draft: &mut Draft<'_>) -> Result<(), LoginFileError> {
    let mut words = Words { rest: text };
    let mut entry: Option<Entry> = None;
    while let Some(word) = words.next()? {
        let mut value = || words.next().map(Option::unwrap_or_default);
        match (word.as_str(), &mut entry) {
            ("machine", _) => {
                let next = Entry { machine: value()?, ..Entry::default() };
                write(entry.replace(next), draft);
            }
            ("default", _) => {
                write(entry.take(), draft);
                draft.leave_out("default", "is for every host");
            }
            // A macro ends with an empty line. It is for ftp alone.
            ("macdef", _) => words.rest = words.rest.split_once("\n\n").map_or("", |(_, rest)| rest),
            ("login" | "user", Some(entry)) => entry.login = value()?,
            ("password" | "passwd", Some(entry)) => entry.password = value()?,
            ("login" | "user" | "password" | "passwd" | "account", _) => drop(value()?),
            _ => return Err(LoginFileError::new("has a word that belongs to no login")),
        }
    }
    write(entry, draft);
    Ok(())
}

fn write(entry: Option<Entry>, draft: &mut Draft<'_>) {
    let Some(Entry { machine, login, password }) = entry else { return };
    let to = vec![Destination::new(&machine, "", "basic")];
    let (secret, spelling) = secret_of(&login, &password);
    let Some(number) = draft.take(Login::new(&machine, &secret, to)) else { return };
    let mark = draft.mark(number, Spelling::Plain);
    let (login, password) = match spelling {
        Spelling::UserInBase64(password) => (mark.to_string(), quoted(&password)),
        _ => (quoted(&login), mark.to_string()),
    };
    draft.text.push_str(&format!("machine {machine} login {login} password {password}\n"));
}

/// Returns a word as most readers of the format take it: in quotes if it has spaces.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"\"\\#".contains(&byte);
    match !word.is_empty() && word.bytes().all(is_plain) {
        true => word.to_owned(),
        false => format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

struct Words<'a> {
    rest: &'a str,
}

impl Words<'_> {
    /// Returns the next word; nothing at the end.
    fn next(&mut self) -> Result<Option<String>, LoginFileError> {
        loop {
            self.rest = self.rest.trim_start();
            // A comment, unless a password begins with it, which readers take differently.
            match self.rest.strip_prefix('#') {
                Some(comment) => self.rest = comment.split_once('\n').map_or("", |(_, rest)| rest),
                None => break,
            }
        }
        if let Some(within) = self.rest.strip_prefix('"') {
            return self.in_quotes(within).map(Some);
        }
        let end = self.rest.find(char::is_whitespace).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        let word = word.to_owned();
        self.rest = rest;
        Ok((!word.is_empty()).then_some(word))
    }

    fn in_quotes(&mut self, within: &str) -> Result<String, LoginFileError> {
        let (mut word, mut is_escaped) = (String::new(), false);
        for (at, letter) in within.char_indices() {
            match (letter, is_escaped) {
                ('\\', false) => is_escaped = true,
                ('"', false) => {
                    let used = self.rest.len() - within.len() + at + 1;
                    self.rest = self.rest.get(used..).unwrap_or_default();
                    return Ok(word);
                }
                (letter, _) => {
                    word.push(letter);
                    is_escaped = false;
                }
            }
        }
        Err(LoginFileError::new("has a quote that does not end"))
    }
}
