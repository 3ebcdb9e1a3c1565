//! Conditions and limits of an entry of a host list.

use std::time::Duration;

use super::match_conditions::{Match, Part};
use super::operations::{NAMES_IN_QUERY, OperationRule, Reading, Unread};
use super::path_glob::PathGlob;
use super::query_names::QueryNames;

/// The conditions that follow the host of an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Conditions {
    /// The methods; all if empty.
    methods: Vec<String>,
    path: Option<PathGlob>,
    /// The permitted names in the query, or the excluded ones; any if missing.
    query: Option<QueryNames>,
    /// The permitted or excluded operations in the body.
    operations: Option<OperationRule>,
    /// Whether requests are inspected although there are no conditions on them.
    inspect: bool,
    /// Whether a request may become a websocket although there are conditions on requests.
    websocket: bool,
    pub(super) bounds: EntryBounds,
}

/// Limits of an entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct EntryBounds {
    /// Maximum number of requests, or of connections if requests are not visible.
    pub(super) requests: Option<u64>,
    /// Maximum number in a time span.
    pub(super) rate: Option<(u64, Duration)>,
    /// Whether its requests only read, and may not upload: then the sum of long addresses and headers is limited as well.
    pub(super) reads_only: bool,
    /// Maximum bytes of a request or connection, from and to the command.
    pub(super) upload: Option<u64>,
    pub(super) download: Option<u64>,
    /// The lifetime, from the start of the command.
    pub(super) lifetime: Option<Duration>,
}

/// The parts of a request that conditions apply to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Asked<'r> {
    pub(super) method: &'r str,
    /// The path and query, as sent.
    pub(super) path: &'r str,
    /// Whether a header names another method or path.
    pub(super) overrides: bool,
    /// Whether it has a body.
    pub(super) has_body: bool,
    /// Whether it asks to become a websocket.
    pub(super) upgrades: bool,
    /// The length of its head; 0 if it is not known.
    pub(super) head: usize,
    /// Its body, once it was read.
    pub(super) reading: Option<&'r Reading>,
}

impl<'r> Asked<'r> {
    /// Creates a request without a body and special headers.
    pub(super) const fn new(method: &'r str, path: &'r str) -> Self {
        Self { method, path, overrides: false, has_body: false, upgrades: false, head: 0, reading: None }
    }

    /// Returns how many bytes of it are more than a request needs that only reads.
    pub(super) fn uploaded(&self) -> u64 {
        let of_head = self.head.saturating_sub(self.path.len()).saturating_sub(USUAL_HEAD);
        (self.path.len().saturating_sub(USUAL_PATH) + of_head) as u64
    }

    /// Whether a server may handle it by another method or path than it names.
    fn is_overridden(&self) -> bool {
        let query = self.path.split_once('?').map_or("", |(_, query)| query);
        let names = query.split(['&', ';']).map(|pair| pair.split('=').next().unwrap_or_default());
        self.overrides || names.into_iter().any(is_method_name)
    }
}

/// Whether a name in a query names a method, as Rails, Laravel and Express read it. Escaped letters are decoded.
fn is_method_name(name: &str) -> bool {
    let mut plain = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let [first, behind @ ..] = rest {
        let escaped = stockade_text::percent_byte(rest);
        plain.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { behind.get(2..).unwrap_or_default() } else { behind };
    }
    plain.eq_ignore_ascii_case(b"_method")
}

/// The word that requires inspection, so that each request is checked and counted.
const INSPECT: &str = "inspect";

/// The word that allows websockets where requests have conditions.
const WEBSOCKET: &str = "websocket";

// npm, pip, cargo and git send fewer than 160 bytes of path and 600 of head, browsers with cookies and tokens fewer than 4096.
/// Lengths of a path with its query, and of the rest of a head, that count as a request without an upload.
const USUAL_PATH: usize = 160;
const USUAL_HEAD: usize = 4 << 10;

/// The method of requests whose operations are read.
const POST: &str = "POST";

/// The methods that only read.
const READS: [&str; 2] = ["GET", "HEAD"];

/// Maximum of `for=`, in seconds, because adding larger numbers could overflow the clock.
const MAX_SECONDS: u64 = 8_760 * 3_600;

/// The words for limits, with their syntax.
const BOUNDS: &str =
    "`requests=100`, `rate=10/s`, `upload=1M`, `download=10M` or `for=10m` (`for=8760h` at most)";

impl Conditions {
    /// Parses one more word.
    ///
    /// # Errors
    /// When it is invalid: what to write instead.
    pub(super) fn add(&mut self, word: &str) -> Result<(), (String, String)> {
        let twice =
            || Err((format!("it has `{}` twice", word.escape_debug()), "remove one of them".to_owned()));
        match word.chars().next() {
            Some('/') if self.path.is_some() => twice(),
            Some('/') => {
                self.path = Some(PathGlob::read(word).map_err(|(why, fix)| (why, fix.to_owned()))?);
                Ok(())
            }
            Some('?') if self.query.is_some() => twice(),
            Some('?') => {
                self.query = Some(QueryNames::read(word).map_err(|(why, fix)| (why, fix.to_owned()))?);
                Ok(())
            }
            Some(first) if first.is_ascii_uppercase() => self.add_methods(word),
            _ if word == INSPECT && self.inspect => twice(),
            _ if word == INSPECT => {
                self.inspect = true;
                Ok(())
            }
            _ if word == WEBSOCKET && self.websocket => twice(),
            _ if word == WEBSOCKET => {
                self.websocket = true;
                Ok(())
            }
            _ => match OperationRule::read(word) {
                Some(_) if self.operations.is_some() => twice(),
                Some(rule) => {
                    self.operations = Some(rule?);
                    Ok(())
                }
                None => self.bounds.add(word),
            },
        }
    }

    fn add_methods(&mut self, word: &str) -> Result<(), (String, String)> {
        for method in word.split('|') {
            if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_uppercase()) {
                let why = format!("`{}` is not a list of methods", word.escape_debug());
                return Err((why, "write `GET|HEAD`".to_owned()));
            }
            self.methods.push(method.to_owned());
        }
        Ok(())
    }

    /// Returns the limits.
    pub(super) fn bounds(&self) -> EntryBounds {
        let reads = !self.methods.is_empty() && self.methods.iter().all(|one| READS.contains(&one.as_str()));
        EntryBounds { reads_only: reads && self.bounds.upload.is_none(), ..self.bounds }
    }

    /// Returns whether they depend on requests.
    pub(super) fn look_inside(&self) -> bool {
        self.is_about_requests() || self.query.is_some() || self.inspect
    }

    /// Returns whether they depend on the body of a request.
    pub(super) const fn look_into_bodies(&self) -> bool {
        self.operations.is_some()
    }

    /// Returns why no request can meet them, and what to write instead.
    pub(super) fn contradiction(&self) -> Option<(&'static str, &'static str)> {
        let posts = self.methods.is_empty() || self.methods.iter().any(|method| method == POST);
        match self.operations.is_some() {
            true if self.websocket => {
                Some(("the operations in a websocket are not read", "remove `websocket`, or the operations"))
            }
            true if !posts => {
                Some(("operations are read from the body of a `POST`", "add `POST` to the methods"))
            }
            _ => None,
        }
    }

    /// Returns whether inspection is required explicitly.
    pub(super) const fn inspects(&self) -> bool {
        self.inspect
    }

    /// Returns whether the query must be empty.
    pub(super) fn want_no_query(&self) -> bool {
        self.query.as_ref().is_some_and(QueryNames::is_empty)
    }

    /// Returns whether a request meets the conditions of an allow entry.
    pub(super) fn let_through(&self, asked: Asked<'_>) -> Match {
        let is_method = self.methods.is_empty() || self.methods.iter().any(|method| method == asked.method);
        match self.hold(is_method, asked.path, QueryNames::are_all_of) {
            Match::Yes => match self.unexpected_part(asked) {
                Some(part) => Match::Ambiguous(part),
                None => self.operations.as_ref().map_or(Match::Yes, |rule| all_in_body(rule, asked)),
            },
            other => other,
        }
    }

    /// Returns whether a request meets the conditions of a deny entry, in any interpretation by servers.
    pub(super) fn keep_out(&self, asked: Asked<'_>) -> Match {
        let is_asked = |method: &String| method.eq_ignore_ascii_case(asked.method);
        let is_method = self.methods.is_empty() || self.methods.iter().any(is_asked);
        match self.hold(is_method, asked.path, QueryNames::are_any_of) {
            Match::No if self.is_about_requests() && asked.is_overridden() => {
                Match::Ambiguous(Part::Override)
            }
            Match::Yes => self.operations.as_ref().map_or(Match::Yes, |rule| any_in_body(rule, asked)),
            other => other,
        }
    }

    /// Whether there are conditions on the method, path or body, which a server may take from elsewhere.
    fn is_about_requests(&self) -> bool {
        !self.methods.is_empty() || self.path.is_some() || self.operations.is_some()
    }

    /// Returns a part of a request that an entry with conditions on requests does not allow.
    fn unexpected_part(&self, asked: Asked<'_>) -> Option<Part> {
        let is_read = !self.methods.is_empty() && READS.contains(&asked.method);
        match self.is_about_requests() {
            true if asked.is_overridden() => Some(Part::Override),
            true if is_read && asked.has_body && self.bounds.upload.is_none() => Some(Part::Body),
            true if asked.upgrades && !self.websocket => Some(Part::Upgrade),
            _ => None,
        }
    }

    fn hold(&self, is_method: bool, path: &str, of_query: fn(&QueryNames, &str) -> Match) -> Match {
        if !is_method {
            return Match::No;
        }
        let query = self.query.as_ref().map_or(Match::Yes, |names| of_query(names, path));
        let path = self.path.as_ref().map_or(Match::Yes, |glob| {
            match super::path_glob::plain(path.split('?').next().unwrap_or_default()) {
                None => Match::Ambiguous(Part::Path),
                Some(plain) if glob.matches(&plain) => Match::Yes,
                Some(_) => Match::No,
            }
        });
        match (query, path) {
            (Match::No, _) | (_, Match::No) => Match::No,
            (Match::Yes, other) | (other, _) => other,
        }
    }
}

/// Returns whether a request asks only for operations of an allow entry.
fn all_in_body(rule: &OperationRule, asked: Asked<'_>) -> Match {
    let Some(reading) = asked.reading else { return Match::Later };
    if asked.method != POST || reading.is_empty() {
        return Match::No;
    }
    match operations_in_query(asked.path) {
        Match::No => judged(rule.lists_all(reading)),
        _ => Match::Ambiguous(Part::Query),
    }
}

/// Returns whether a request asks for an operation of a deny entry, by any method.
fn any_in_body(rule: &OperationRule, asked: Asked<'_>) -> Match {
    let Some(reading) = asked.reading else { return Match::Later };
    match operations_in_query(asked.path) {
        Match::No if reading.is_empty() => Match::No,
        Match::No => judged(rule.lists_any(reading)),
        _ => Match::Ambiguous(Part::Query),
    }
}

fn judged(listed: Result<bool, Unread>) -> Match {
    match listed {
        Ok(true) => Match::Yes,
        Ok(false) => Match::No,
        Err(why) => Match::Ambiguous(Part::Operations(why)),
    }
}

/// Returns whether a query may contain an operation, which some servers prefer to the body.
fn operations_in_query(path: &str) -> Match {
    QueryNames::of(&NAMES_IN_QUERY).are_any_of(path)
}

impl EntryBounds {
    fn add(&mut self, word: &str) -> Result<(), (String, String)> {
        let wrong = || {
            let all = || {
                format!(
                    "write a method, a path, `?` with query names, `graphql=query`, `rpc=tools/list`, `{INSPECT}`, \
                     `{WEBSOCKET}`, or {BOUNDS}"
                )
            };
            let fix = capitals(word).map_or_else(all, |meant| format!("write `{meant}`"));
            Err((format!("`{}` is not a condition", word.escape_debug()), fix))
        };
        let Some((name, value)) = word.split_once('=') else { return wrong() };
        let is_read = match name {
            "requests" => put(&mut self.requests, value.parse().ok().filter(|count| *count > 0)),
            "rate" => put(&mut self.rate, rate(value)),
            "upload" => put(&mut self.upload, bytes(value)),
            "download" => put(&mut self.download, bytes(value)),
            "for" => put(&mut self.lifetime, duration(value)),
            _ => None,
        };
        if is_read.is_some() { Ok(()) } else { wrong() }
    }
}

/// Methods that are often written in small letters.
const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// Returns what was meant by a word that lacks capitals: `get`, `upload=2k`.
fn capitals(word: &str) -> Option<String> {
    let large = word.to_ascii_uppercase();
    if large.split('|').all(|method| METHODS.contains(&method)) {
        return Some(large);
    }
    let (name, value) = word.split_once('=')?;
    let meant = value.to_ascii_uppercase();
    let meant = meant.strip_suffix("IB").or_else(|| meant.strip_suffix('B')).unwrap_or(&meant);
    (meant != value && ["upload", "download"].contains(&name) && bytes(meant).is_some())
        .then(|| format!("{name}={meant}"))
}

/// Sets a value, unless it is already set.
fn put<T>(place: &mut Option<T>, value: Option<T>) -> Option<()> {
    if place.is_some() {
        return None;
    }
    *place = Some(value?);
    Some(())
}

fn rate(text: &str) -> Option<(u64, Duration)> {
    let (count, unit) = text.split_once('/')?;
    Some((count.parse().ok().filter(|count| *count > 0)?, duration(&format!("1{unit}"))?))
}

pub(super) fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        _ => return None,
    };
    let number: u64 = number.parse().ok().filter(|number| *number > 0)?;
    let seconds = number.checked_mul(seconds).filter(|seconds| *seconds <= MAX_SECONDS)?;
    Some(Duration::from_secs(seconds))
}

fn bytes(text: &str) -> Option<u64> {
    let (number, factor) = match text.char_indices().last()? {
        (at, 'K') => (text.get(..at)?, 1 << 10),
        (at, 'M') => (text.get(..at)?, 1 << 20),
        (at, 'G') => (text.get(..at)?, 1 << 30),
        _ => (text, 1),
    };
    number.parse::<u64>().ok().filter(|number| *number > 0)?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &str) -> Conditions {
        let mut conditions = Conditions::default();
        words.split(' ').for_each(|word| conditions.add(word).unwrap());
        conditions
    }

    const HOW_PATH: Match = Match::Ambiguous(Part::Path);
    const HOW_QUERY: Match = Match::Ambiguous(Part::Query);

    #[test]
    fn conditions_let_through_what_they_say() {
        for (words, method, path, expected) in [
            ("GET", "GET", "/x", Match::Yes),
            ("GET|HEAD", "HEAD", "/x", Match::Yes),
            ("GET", "POST", "/x", Match::No),
            ("GET", "get", "/x", Match::No),
            ("GET /v1/**", "GET", "/v1/a/b", Match::Yes),
            ("GET /v1/**", "GET", "/v2/a", Match::No),
            ("/v1/**", "POST", "/v1/../v2", HOW_PATH),
            ("/v1/*", "GET", "/v1/a?x=/v1/b", Match::Yes),
            ("/ ?", "GET", "/?x=1", Match::No),
            ("/ ?", "GET", "/", Match::Yes),
            ("?page|q", "GET", "/?page=2&q=x", Match::Yes),
            ("?page|q", "GET", "/?page=2&token=x", Match::No),
            ("?page|q", "GET", "/?page=2;token=x", HOW_QUERY),
            ("?page|q", "GET", "/?p%61ge=2", HOW_QUERY),
            ("POST ?page|q", "GET", "/?page=2;token=x", Match::No),
            ("/v1 ?page|q", "GET", "/v2?page=2;token=x", Match::No),
            ("requests=1", "GET", "/", Match::Yes),
        ] {
            assert_eq!(of(words).let_through(Asked::new(method, path)), expected, "{words} {method} {path}");
        }
    }

    /// What is kept out is so however it is spelled.
    #[test]
    fn conditions_keep_out_what_they_say() {
        for (words, method, path, expected) in [
            ("DELETE", "DELETE", "/", Match::Yes),
            ("DELETE", "delete", "/", Match::Yes),
            ("PUT|DELETE", "DeLeTe", "/", Match::Yes),
            ("DELETE", "GET", "/", Match::No),
            ("?q", "GET", "/", Match::No),
            ("?q", "GET", "/?x=1", Match::No),
            ("?q", "GET", "/?q=1", Match::Yes),
            ("?q", "GET", "/?q=1&x=1", Match::Yes),
            ("?q", "GET", "/?x=1&Q[]=1", Match::Yes),
            ("?q", "GET", "/?%71=1", HOW_QUERY),
            ("?q", "GET", "/?x=1;q=1", HOW_QUERY),
            ("/v1/* ?q", "GET", "/v1/a/../b?q=1", HOW_PATH),
            ("/v1/* ?q", "GET", "/v2?%71=1", Match::No),
            ("/v1/* ?q", "GET", "/v1/a?%71=1", HOW_QUERY),
            ("DELETE ?q", "GET", "/?q=1", Match::No),
        ] {
            assert_eq!(of(words).keep_out(Asked::new(method, path)), expected, "{words} {method} {path}");
        }
    }

    /// What reads may not write by another way.
    #[test]
    fn conditions_on_requests_hold_whatever_a_server_obeys() {
        let get = Asked::new("GET", "/v1/a");
        let overrides = Asked { overrides: true, ..get };
        let body = Asked { has_body: true, ..get };
        let upgrades = Asked { upgrades: true, ..get };
        let post = Asked::new("POST", "/v1/a?%5Fmethod=DELETE");
        let refused = |part| Match::Ambiguous(part);
        for (words, asked, expected) in [
            ("GET /v1/**", get, Match::Yes),
            ("GET /v1/**", overrides, refused(Part::Override)),
            ("/v1/**", overrides, refused(Part::Override)),
            ("POST", post, refused(Part::Override)),
            ("inspect", overrides, Match::Yes),
            ("GET", body, refused(Part::Body)),
            ("GET upload=64K", body, Match::Yes),
            ("POST", Asked { method: "POST", ..body }, Match::Yes),
            ("GET|POST", body, refused(Part::Body)),
            ("/v1/**", body, Match::Yes),
            ("GET", upgrades, refused(Part::Upgrade)),
            ("GET websocket", upgrades, Match::Yes),
            ("/v1/**", upgrades, refused(Part::Upgrade)),
            ("inspect", upgrades, Match::Yes),
            ("GET /v2/**", overrides, Match::No),
        ] {
            assert_eq!(of(words).let_through(asked), expected, "{words} {asked:?}");
        }
        for (words, asked, expected) in [
            ("DELETE", overrides, refused(Part::Override)),
            ("DELETE", post, refused(Part::Override)),
            ("/v2/**", overrides, refused(Part::Override)),
            ("DELETE", upgrades, Match::No),
        ] {
            assert_eq!(of(words).keep_out(asked), expected, "{words} {asked:?}");
        }
    }

    #[test]
    fn bounds_are_read() {
        let bounds = of("requests=100 rate=10/m upload=2K download=10M for=2h").bounds;
        let expected = EntryBounds {
            requests: Some(100),
            rate: Some((10, Duration::from_secs(60))),
            upload: Some(2 << 10),
            download: Some(10 << 20),
            lifetime: Some(Duration::from_secs(7_200)),
            reads_only: false,
        };
        assert_eq!(bounds, expected);
    }

    #[test]
    fn slips_are_refused_with_what_to_write() {
        for word in [
            "x",
            "requests=0",
            "requests=-1",
            "requests=",
            "rate=10",
            "rate=0/s",
            "rate=1/d",
            "for=10",
            "for=0s",
            "for=m",
            "for=8761h",
            "for=18446744073709551615s",
            "upload=1T",
            "upload=K",
            "upload=99999999999999999999",
            "upload=18446744073709551615G",
            "Get",
            "GET|",
            "GET|x",
            "/a/../b",
            "/%2e",
            "paths=/x",
            "?page=1",
            "?%71",
        ] {
            let (why, fix) = Conditions::default().add(word).unwrap_err();
            assert!(!why.is_empty() && !fix.is_empty(), "{word}");
        }
        for words in ["/a /b", "?a ?b", "requests=1 requests=2"] {
            let mut conditions = Conditions::default();
            assert!(words.split(' ').any(|word| conditions.add(word).is_err()), "{words}");
        }
    }
}
