//! Permitted or excluded names in the query of a request.
//!
//! Servers split a query at `&`, and some at `;`; some treat `Q`, `q[]` or `q[a]` as `q`, and `a.b` as `a_b`. So an ambiguous
//! name is in no list of permitted names, and matches any list of excluded ones.

use stockade_text::{hex_byte, is_unreserved, push_percent_encoded};

use super::match_conditions::{Match, Part};

/// A list of names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QueryNames(Vec<String>);

impl QueryNames {
    /// Parses `?page|q`.
    ///
    /// # Errors
    /// When a name is ambiguous in every query: what to write instead.
    pub(super) fn read(word: &str) -> Result<Self, (String, &'static str)> {
        let written = word.trim_start_matches('?').split('|').filter(|name| !name.is_empty());
        let names = written.map(|written| {
            plain(written).ok_or_else(|| {
                let why = format!("`{}` is ambiguous: servers parse it differently", written.escape_debug());
                (why, "write only names, without values, `;`, spaces and needless escapes: `?page|q`")
            })
        });
        Ok(Self(names.collect::<Result<_, _>>()?))
    }

    /// Returns a list of plain names.
    pub(super) fn of(names: &[&str]) -> Self {
        Self(names.iter().map(|&name| name.to_owned()).collect())
    }

    /// Returns whether the list is empty.
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the query of a path has only these names.
    pub(super) fn are_all_of(&self, path: &str) -> Match {
        let mut all = Match::Yes;
        for name in names(path) {
            match name {
                None => all = Match::Ambiguous(Part::Query),
                Some(name) if self.0.contains(&name) => {}
                Some(_) => return Match::No,
            }
        }
        all
    }

    /// Returns whether the query of a path has one of these names, in any interpretation by servers.
    pub(super) fn are_any_of(&self, path: &str) -> Match {
        let mut any = Match::No;
        for name in names(path) {
            match name {
                None => any = Match::Ambiguous(Part::Query),
                Some(name) if self.0.iter().any(|listed| might_be(&name, listed)) => return Match::Yes,
                Some(_) => {}
            }
        }
        any
    }
}

/// Returns the names in the query of a path for use in a list, each once; nothing if one is ambiguous.
pub(super) fn written(path: &str) -> Option<Vec<String>> {
    names(path).collect::<Option<std::collections::BTreeSet<_>>>().map(|names| names.into_iter().collect())
}

/// Returns the names in the query of a path, with nothing for ambiguous ones.
fn names(whole: &str) -> impl Iterator<Item = Option<String>> + '_ {
    let (path, query) = whole.split_once('?').unwrap_or((whole, ""));
    // A server that decodes first would see the query begin there.
    let begins_earlier = path.to_ascii_lowercase().contains("%3f");
    let parts = query.split('&').filter(|part| !part.is_empty());
    let named = parts.map(|part| match part.contains(';') {
        true => None,
        false => plain(part.split('=').next().unwrap_or_default()),
    });
    std::iter::once(None).filter(move |_: &Option<String>| begins_earlier).chain(named)
}

/// Returns the canonical form of a name; nothing if it is ambiguous.
fn plain(name: &str) -> Option<String> {
    let mut bytes = name.bytes();
    let mut plain = String::with_capacity(name.len());
    while let Some(byte) = bytes.next() {
        match byte {
            b'%' => {
                let byte = escaped(bytes.next()?, bytes.next()?)?;
                push_percent_encoded(&mut plain, &[byte], |_| true);
            }
            byte if byte.is_ascii_graphic() && !SEPARATORS.contains(&byte) => plain.push(char::from(byte)),
            _ => return None,
        }
    }
    Some(plain)
}

/// Characters that separate names, begin an escape, or are blanks that some servers strip.
const SEPARATORS: &[u8] = b"&=;?#%+ ";

/// Decodes an escape, or returns `None` for one that could hide something: no client needs to escape a letter.
fn escaped(high: u8, low: u8) -> Option<u8> {
    let decoded = hex_byte(high, low)?;
    let is_needless = is_unreserved(decoded);
    let is_hiding = is_needless || decoded.is_ascii_control() || SEPARATORS.contains(&decoded);
    Some(decoded).filter(|_| !is_hiding)
}

/// Whether some server treats a name as the listed one, or as a part of its value.
fn might_be(name: &str, listed: &str) -> bool {
    let folded = |name: &str| name.trim_start_matches('[').replace('.', "_").to_ascii_lowercase();
    let rest = folded(name).strip_prefix(&folded(listed)).map(str::to_owned);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', ']']))
}

#[cfg(test)]
mod tests {
    use super::*;

    const AMBIGUOUS: Match = Match::Ambiguous(Part::Query);

    #[test]
    fn names_are_all_or_any_of_a_query() {
        for (words, path, all, any) in [
            ("?page|q", "/", Match::Yes, Match::No),
            ("?page|q", "/?", Match::Yes, Match::No),
            ("?page|q", "/?page=2&q", Match::Yes, Match::Yes),
            ("?page|q", "/?page=2&&x=1", Match::No, Match::Yes),
            ("?page|q", "/?x=q&y=?q", Match::No, Match::No),
            ("?page|q", "/?pages=1&qq", Match::No, Match::No),
            ("?", "/", Match::Yes, Match::No),
            ("?", "/?x", Match::No, Match::No),
            ("?filter[a]", "/?filter%5Ba%5d=1", Match::Yes, Match::Yes),
            ("?filter%5ba%5d", "/?filter[a]=1", Match::Yes, Match::Yes),
            ("?filter[a]", "/?filter[b]=1", Match::No, Match::No),
            ("?%c3%a4", "/?%C3%A4=1", Match::Yes, Match::Yes),
            // Values are not judged, unless a server might end them earlier.
            ("?page", "/?page=%3bx%26q%3D1", Match::Yes, Match::Yes),
        ] {
            let names = QueryNames::read(words).unwrap();
            assert_eq!((names.are_all_of(path), names.are_any_of(path)), (all, any), "{words} {path}");
        }
    }

    /// Each way to write `q` so that a server still reads it.
    #[test]
    fn a_name_is_not_hidden_by_its_spelling() {
        let (q, page) = (QueryNames::read("?q").unwrap(), QueryNames::read("?page").unwrap());
        for query in ["q", "q=1&x=1", "x=1&q=1", "Q=1", "q[]=1", "q[a][b]=1", "q%5B%5D=1", "[q]=1", "q["] {
            let path = format!("/?{query}");
            assert_eq!((q.are_any_of(&path), page.are_all_of(&path)), (Match::Yes, Match::No), "{query}");
        }
        for query in [
            "%71=1",
            "%2571=1",
            "page=1;q=1",
            "page;q",
            ";q",
            "page%3b=1",
            "+q=1",
            "%20q",
            "?q=1",
            "%3Fq=1",
            "page%26q",
            "page%3dq",
            "q%00x=1",
            "q%",
            "q%7",
            "%zz",
        ] {
            let path = format!("/?{query}");
            assert_eq!((q.are_any_of(&path), page.are_all_of(&path)), (AMBIGUOUS, AMBIGUOUS), "{query}");
        }
        assert_eq!((q.are_any_of("/%3fq=1"), page.are_all_of("/x%3Fq=1")), (AMBIGUOUS, AMBIGUOUS));
        assert_eq!(QueryNames::read("?a_b").unwrap().are_any_of("/?A.b=1"), Match::Yes);
    }

    #[test]
    fn names_that_no_query_has_are_refused() {
        for word in ["?page=1", "?a&b", "?a;b", "?%71", "?a+b", "?a%", "?a#b", "?a|b%26c", "?ä"] {
            assert!(QueryNames::read(word).is_err(), "{word}");
        }
    }
}
