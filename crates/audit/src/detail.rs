//! Kinds of details: what each may contain, and which of them the redactor reads.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Unexpected, Visitor};

/// The most bytes of an id.
const MAX_ID_BYTES: usize = 80;

/// One detail of an event, as it is on record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Detail {
    /// A detail that holds or does not.
    Flag(bool),
    /// A detail that is counted.
    Number(i64),
    /// A detail that is one text.
    Text(String),
    /// A detail that is several texts.
    List(Vec<String>),
}

/// One detail of an event that is not on record yet, by its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TypedDetail {
    /// A detail that holds or does not; recorded unchanged.
    Flag(bool),
    /// A number; recorded unchanged.
    Number(AuditNumber),
    /// A word of a closed vocabulary; recorded unchanged.
    Word(ClosedWord),
    /// Several words of closed vocabularies; recorded unchanged.
    Words(ClosedWords),
    /// An id; recorded unchanged unless it has the form of a token, or is not in the grammar of ids.
    Id(AuditId),
    /// Several ids; each is recorded as one is.
    Ids(AuditIds),
    /// Text that may contain anything and is therefore redacted.
    Text(FreeText),
    /// Several free texts, or the words of one command; redacted.
    Texts(FreeTexts),
}

/// A number: a count, a size, an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditNumber(i64);

/// A word that the program has as a constant, so that nothing from outside can be in it.
///
/// ```
/// use stockade_audit::ClosedWord;
///
/// assert_eq!(ClosedWord::from("allow").as_str(), "allow");
/// assert_eq!(ClosedWord::counted("signal", 9).as_str(), "signal 9");
/// ```
///
/// A text that is made at run time is free text or an id:
///
/// ```compile_fail,E0277
/// # use stockade_audit::ClosedWord;
/// let word = ClosedWord::from(String::from("hunter2"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedWord(Cow<'static, str>);

/// Several words of closed vocabularies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedWords(Vec<ClosedWord>);

/// A name that something has: an agent, a skill, a rule, a tool, a session, a digest.
///
/// Its grammar is narrow: at most 80 bytes, ASCII letters, digits and `-_.:/+*#`, and one `@` at its start. What is in the grammar is
/// recorded unchanged, whatever the values of secrets and variables are, unless it has the form of a well-known token (`ghp_…`):
/// then it is redacted. What is not in the grammar is free text, and redacted as such.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AuditId(String);

/// Several ids, each of which is recorded as one is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditIds(Vec<AuditId>);

/// Text that may contain anything: a command, a path, a host, a reason, an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FreeText(String);

/// Several free texts, or the words of one command: a word may be a secret because of the word before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FreeTexts(Vec<String>);

/// Reads a detail by the kind of value that is there. A derived reader would try one variant after another, and make an error
/// message for each that does not fit: half of what reading a record costs.
struct DetailVisitor;

impl<'de> Deserialize<'de> for Detail {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DetailVisitor)
    }
}

impl<'de> Visitor<'de> for DetailVisitor {
    type Value = Detail;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a flag, a whole number, a text or a list of texts")
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Detail, E> {
        Ok(Detail::Flag(flag))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Detail, E> {
        Ok(Detail::Number(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Detail, E> {
        let fits = i64::try_from(number).map(Detail::Number);
        fits.map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Detail, E> {
        Ok(Detail::Text(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Detail, E> {
        Ok(Detail::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut texts: A) -> Result<Detail, A::Error> {
        let mut list = Vec::new();
        while let Some(text) = texts.next_element()? {
            list.push(text);
        }
        Ok(Detail::List(list))
    }
}

impl TypedDetail {
    /// Returns whether it is free text, which is redacted and shortened after everything else has its place.
    pub(crate) const fn is_free(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Texts(_))
    }
}

impl AuditNumber {
    pub(crate) const fn get(self) -> i64 {
        self.0
    }
}

impl ClosedWord {
    /// Returns a word with a number behind it: `signal 9`.
    #[must_use]
    pub fn counted(word: &'static str, number: i32) -> Self {
        Self(Cow::Owned(format!("{word} {number}")))
    }

    /// Returns two words: `network: no interface`.
    #[must_use]
    pub fn pair(name: &'static str, word: &'static str) -> Self {
        Self(Cow::Owned(format!("{name}: {word}")))
    }

    /// Returns the word as a text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ClosedWords {
    pub(crate) fn as_slice(&self) -> &[ClosedWord] {
        &self.0
    }
}

impl AuditId {
    /// Returns the id as a text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether it is in the grammar of ids.
    #[must_use]
    pub fn is_well_formed(&self) -> bool {
        let bare = self.0.strip_prefix('@').unwrap_or(&self.0);
        let is_of_id = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:/+*#".contains(&byte);
        self.0.len() <= MAX_ID_BYTES && bare.bytes().all(is_of_id)
    }
}

impl AuditIds {
    pub(crate) fn as_slice(&self) -> &[AuditId] {
        &self.0
    }
}

impl FreeText {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FreeTexts {
    pub(crate) fn as_slice(&self) -> &[String] {
        &self.0
    }
}

impl From<i32> for AuditNumber {
    fn from(number: i32) -> Self {
        Self(number.into())
    }
}

impl From<i64> for AuditNumber {
    fn from(number: i64) -> Self {
        Self(number)
    }
}

impl From<u64> for AuditNumber {
    /// A number that is too large is the largest that fits.
    fn from(number: u64) -> Self {
        Self(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<&'static str> for ClosedWord {
    fn from(word: &'static str) -> Self {
        Self(Cow::Borrowed(word))
    }
}

impl<W: Into<ClosedWord>> FromIterator<W> for ClosedWords {
    fn from_iter<I: IntoIterator<Item = W>>(words: I) -> Self {
        Self(words.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<String>> From<T> for AuditId {
    fn from(id: T) -> Self {
        Self(id.into())
    }
}

impl<T: Into<AuditId>> From<Vec<T>> for AuditIds {
    fn from(ids: Vec<T>) -> Self {
        Self(ids.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<String>> From<T> for FreeText {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl<T: Into<String>> From<Vec<T>> for FreeTexts {
    fn from(texts: Vec<T>) -> Self {
        Self(texts.into_iter().map(Into::into).collect())
    }
}

/// Makes a detail of each kind.
macro_rules! typed {
    ($($variant:ident($kind:ty)),+ $(,)?) => {
        $(impl From<$kind> for TypedDetail {
            fn from(detail: $kind) -> Self {
                Self::$variant(detail)
            }
        })+
    };
}

typed! {
    Flag(bool),
    Number(AuditNumber),
    Word(ClosedWord),
    Words(ClosedWords),
    Id(AuditId),
    Ids(AuditIds),
    Text(FreeText),
    Texts(FreeTexts),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_of_ids_is_narrow() {
        for id in ["builder", "@scope/name", "mcp__github__create_issue", "sha256:0a", "git-*", "c#", ""] {
            assert!(AuditId::from(id).is_well_formed(), "{id}");
        }
        let long = "a".repeat(MAX_ID_BYTES + 1);
        for other in
            [&long, "a b", "PASSWORD=x", "https://me:pw@host", "a@b", "é", "\u{1b}[m", "\"x\"", "a\n"]
        {
            assert!(!AuditId::from(other).is_well_formed(), "{other}");
        }
    }

    #[test]
    fn a_detail_is_read_by_its_kind() {
        for (text, detail) in [
            ("true", Detail::Flag(true)),
            ("-7", Detail::Number(-7)),
            ("9223372036854775807", Detail::Number(i64::MAX)),
            (r#""a\tb""#, Detail::Text("a\tb".into())),
            (r#"["a","b"]"#, Detail::List(vec!["a".into(), "b".into()])),
            ("[]", Detail::List(Vec::new())),
        ] {
            assert_eq!(serde_json::from_str::<Detail>(text).unwrap(), detail, "{text}");
            assert_eq!(serde_json::to_string(&detail).unwrap(), text);
        }
        for other in ["null", "1.5", "9223372036854775808", "{}", r#"["a",1]"#, r#"[["a"]]"#, r#"{"a":"b"}"#]
        {
            assert!(serde_json::from_str::<Detail>(other).is_err(), "{other}");
        }
    }

    #[test]
    fn a_number_that_is_too_large_is_the_largest() {
        assert_eq!(AuditNumber::from(u64::MAX).get(), i64::MAX);
        assert_eq!(AuditNumber::from(-3_i32).get(), -3);
    }
}
