//! What an entry of a list of hosts asks of requests, and how much it lets through.

use std::time::Duration;

use super::path_glob::PathGlob;

/// What stands behind the host of an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Conditions {
    /// The methods that it is about; all, if none is named.
    methods: Vec<String>,
    path: Option<PathGlob>,
    /// The names of what may stand in the query; anything, if nothing is said.
    query: Option<Vec<String>>,
    pub(super) bounds: EntryBounds,
}

/// How much an entry lets through.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct EntryBounds {
    /// Requests, or connections where nobody sees requests.
    pub(super) requests: Option<u64>,
    /// So many of them in so long.
    pub(super) rate: Option<(u64, Duration)>,
    /// Bytes of one request or connection, from the command and to it.
    pub(super) upload: Option<u64>,
    pub(super) download: Option<u64>,
    /// How long it holds, from the beginning of the command.
    pub(super) lifetime: Option<Duration>,
}

/// What a request asks for, as far as conditions speak of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Asked<'r> {
    pub(super) method: &'r str,
    /// The path and the query, as they were sent.
    pub(super) path: &'r str,
}

/// Whether conditions hold for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    Yes,
    No,
    /// Servers could read the path in more than one way.
    Ambiguous,
}

/// The words that give a bound, and how to write them.
const BOUNDS: &str = "`requests=100`, `rate=10/s`, `upload=1M`, `download=10M` or `for=10m`";

impl Conditions {
    /// Reads one more word.
    ///
    /// # Errors
    /// When it means nothing; what to write instead.
    pub(super) fn add(&mut self, word: &str) -> Result<(), (String, String)> {
        let twice =
            || Err((format!("it says `{}` twice", word.escape_debug()), "leave one of them out".to_owned()));
        match word.chars().next() {
            Some('/') if self.path.is_some() => twice(),
            Some('/') => {
                self.path = Some(PathGlob::read(word).map_err(|(why, fix)| (why, fix.to_owned()))?);
                Ok(())
            }
            Some('?') if self.query.is_some() => twice(),
            Some('?') => {
                let names = word.trim_start_matches('?').split('|').filter(|name| !name.is_empty());
                self.query = Some(names.map(str::to_owned).collect());
                Ok(())
            }
            Some(first) if first.is_ascii_uppercase() => self.add_methods(word),
            _ => self.bounds.add(word),
        }
    }

    fn add_methods(&mut self, word: &str) -> Result<(), (String, String)> {
        for method in word.split('|') {
            if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_uppercase()) {
                let why = format!("`{}` is no list of methods", word.escape_debug());
                return Err((why, "write `GET|HEAD`".to_owned()));
            }
            self.methods.push(method.to_owned());
        }
        Ok(())
    }

    /// Returns whether they speak of what only a request tells.
    pub(super) fn look_inside(&self) -> bool {
        !self.methods.is_empty() || self.path.is_some() || self.query.is_some()
    }

    /// Returns whether they hold for a request.
    pub(super) fn hold(&self, asked: Asked<'_>) -> Holds {
        if !self.methods.is_empty() && !self.methods.iter().any(|method| method == asked.method) {
            return Holds::No;
        }
        let (path, query) = asked.path.split_once('?').unwrap_or((asked.path, ""));
        if let Some(names) = &self.query {
            let is_listed = |part: &str| {
                let name = part.split('=').next().unwrap_or_default();
                names.iter().any(|listed| listed == name)
            };
            if !query.split('&').filter(|part| !part.is_empty()).all(is_listed) {
                return Holds::No;
            }
        }
        match &self.path {
            None => Holds::Yes,
            Some(glob) => match super::path_glob::plain(path) {
                None => Holds::Ambiguous,
                Some(plain) if glob.matches(&plain) => Holds::Yes,
                Some(_) => Holds::No,
            },
        }
    }
}

impl EntryBounds {
    fn add(&mut self, word: &str) -> Result<(), (String, String)> {
        let wrong = || {
            Err((
                format!("`{}` is no condition", word.escape_debug()),
                format!("write a method, a path, `?` with names of the query, or {BOUNDS}"),
            ))
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

/// Puts a value where there is none yet.
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

fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        _ => return None,
    };
    let number: u64 = number.parse().ok().filter(|number| *number > 0)?;
    Some(Duration::from_secs(number.checked_mul(seconds)?))
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

    #[test]
    fn conditions_hold_for_what_they_say() {
        for (words, method, path, expected) in [
            ("GET", "GET", "/x", Holds::Yes),
            ("GET|HEAD", "HEAD", "/x", Holds::Yes),
            ("GET", "POST", "/x", Holds::No),
            ("GET", "get", "/x", Holds::No),
            ("GET /v1/**", "GET", "/v1/a/b", Holds::Yes),
            ("GET /v1/**", "GET", "/v2/a", Holds::No),
            ("/v1/**", "POST", "/v1/../v2", Holds::Ambiguous),
            ("/v1/*", "GET", "/v1/a?x=/v1/b", Holds::Yes),
            ("/ ?", "GET", "/?x=1", Holds::No),
            ("/ ?", "GET", "/", Holds::Yes),
            ("?page|q", "GET", "/?page=2&q=x", Holds::Yes),
            ("?page|q", "GET", "/?page=2&token=x", Holds::No),
            ("requests=1", "GET", "/", Holds::Yes),
        ] {
            assert_eq!(of(words).hold(Asked { method, path }), expected, "{words} {method} {path}");
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
