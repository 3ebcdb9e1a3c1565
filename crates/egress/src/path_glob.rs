//! Request paths in a canonical form, and patterns of segments.
//!
//! Servers may decode a path twice, resolve `..` or not, or treat `\` as `/`. So an ambiguous path has no canonical form and
//! matches no pattern.

use stockade_text::{hex_byte, push_percent_encoded};
use unicode_normalization::UnicodeNormalization as _;

/// Maximum number of segments of a pattern.
const MAX_SEGMENTS: usize = 32;

/// Maximum length of a segment of a pattern.
const MAX_SEGMENT: usize = 128;

/// A path pattern: `*` matches any part of a segment, `**` alone any number of segments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PathGlob(Vec<Segment>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    /// Any number of segments.
    Many,
    /// One segment, with stars between these parts.
    One(Vec<String>),
}

impl PathGlob {
    /// Parses a pattern.
    ///
    /// # Errors
    /// When it matches nothing, or not what it seems to: what to write instead.
    pub(super) fn read(text: &str) -> Result<Self, (String, &'static str)> {
        let Some(plain) = plain(text) else {
            return Err((
                format!("`{}` is ambiguous", text.escape_debug()),
                "write it without `..`, `//`, `\\`, `;` and escaped slashes",
            ));
        };
        let segments: Vec<&str> = plain.split('/').skip(1).collect();
        if segments.len() > MAX_SEGMENTS || segments.iter().any(|segment| segment.len() > MAX_SEGMENT) {
            return Err(("its path is too long".to_owned(), "write `**` for the rest of the path"));
        }
        let segments = segments.into_iter().map(|segment| match segment {
            "**" => Ok(Segment::Many),
            _ if segment.contains("**") => {
                Err(("`**` matches whole segments only".to_owned(), "write `/**` at the end, or one `*`"))
            }
            _ => Ok(Segment::One(segment.split('*').map(str::to_owned).collect())),
        });
        Ok(Self(segments.collect::<Result<_, _>>()?))
    }

    /// Returns whether a canonical path matches, in at most one pass for each segment of the pattern.
    pub(super) fn matches(&self, path: &str) -> bool {
        let segments: Vec<&str> = path.split('/').skip(1).collect();
        // The positions in the pattern that match after each number of segments.
        let mut fits = vec![false; segments.len() + 1];
        if let Some(first) = fits.first_mut() {
            *first = true;
        }
        for part in &self.0 {
            fits = match part {
                Segment::Many => {
                    let mut begun = false;
                    let from_here = fits.iter().map(|fits| {
                        begun |= fits;
                        begun
                    });
                    from_here.collect()
                }
                Segment::One(parts) => {
                    let behind =
                        fits.iter().zip(&segments).map(|(fits, segment)| *fits && fits_one(parts, segment));
                    std::iter::once(false).chain(behind).collect()
                }
            };
        }
        fits.last().copied().unwrap_or_default()
    }
}

/// Whether a segment consists of these parts in order, with anything between them.
fn fits_one(parts: &[String], segment: &str) -> bool {
    let [first, middle @ .., last] = parts else {
        return parts.first().is_some_and(|only| only == segment);
    };
    let Some(mut rest) = segment.strip_prefix(first.as_str()) else { return false };
    for part in middle {
        match rest.find(part.as_str()).and_then(|at| rest.get(at + part.len()..)) {
            Some(behind) => rest = behind,
            None => return false,
        }
    }
    rest.ends_with(last.as_str())
}

/// Returns the canonical form of a path; nothing if it is ambiguous.
pub(super) fn plain(path: &str) -> Option<String> {
    if !path.starts_with('/') {
        return None;
    }
    let mut bytes = path.bytes();
    let mut plain = String::with_capacity(path.len());
    let mut whole = Vec::with_capacity(path.len());
    while let Some(byte) = bytes.next() {
        match byte {
            b'%' => {
                let decoded = hex_byte(bytes.next()?, bytes.next()?)?;
                // A double escape, a separator, or a character that no name contains.
                if b"%/\\;?#".contains(&decoded) || decoded.is_ascii_control() {
                    return None;
                }
                push_percent_encoded(&mut plain, &[decoded], |_| true);
                whole.push(decoded);
            }
            b'\\' | b';' | b'#' => return None,
            byte if byte.is_ascii_graphic() => {
                plain.push(char::from(byte));
                whole.push(byte);
            }
            _ => return None,
        }
    }
    let last = plain.matches('/').count();
    let is_plain = |(at, segment): (usize, &str)| {
        let is_empty_within = segment.is_empty() && at != 0 && at != last;
        !is_empty_within && segment != "." && segment != ".."
    };
    (plain.split('/').enumerate().all(is_plain) && is_unambiguous_text(&whole)).then_some(plain)
}

/// Whether decoded bytes are the same to every server: valid UTF-8, without characters that some turn into `.` or `/`.
fn is_unambiguous_text(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let becomes_other = |character: char| {
        !character.is_ascii() && [character].into_iter().nfkc().any(|plain| "./\\%;?#".contains(plain))
    };
    !text.chars().any(becomes_other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_what_they_say() {
        for (glob, yes, no) in [
            ("/", "/", "/a"),
            ("/v1/models", "/v1/models /v1/%6dodels", "/v1/models/ /v1 /v1/model /V1/models"),
            ("/v1/*", "/v1/a /v1/", "/v1 /v1/a/b"),
            ("/v1/**", "/v1/a /v1/a/b /v1/ /v1", "/v2 /v10/a /"),
            ("/repos/*/issues", "/repos/x/issues", "/repos/issues /repos/x/y/issues"),
            ("/**/info/refs", "/info/refs /a/b/info/refs", "/info/refs/x"),
            ("/a*b*c", "/abc /axbxc /abbc", "/ab /abcd /xabc"),
            ("/a/**/b/**/c", "/a/b/c /a/x/b/y/z/c", "/a/c /a/b /x/a/b/c"),
        ] {
            let glob = PathGlob::read(glob).unwrap();
            let fits = |path: &str| glob.matches(&plain(path).unwrap());
            yes.split(' ').for_each(|path| assert!(fits(path), "{glob:?} {path}"));
            no.split(' ').for_each(|path| assert!(!fits(path), "{glob:?} {path}"));
        }
        // Overlong forms and compatibility characters, which some servers turn into `.` and `/`.
        for ambiguous in
            ["/v1/%c0%ae%c0%ae/v2", "/v1/%ef%bc%8e%ef%bc%8e/v2", "/v1%ef%bc%8fv2", "/v1/%ff", "/v1/%e4"]
        {
            assert_eq!(plain(ambiguous), None, "{ambiguous}");
        }
        assert!(plain("/v1/%c3%a4%e2%82%ac").is_some());
        for bad in [
            "/a**",
            "/**b",
            "/a/../b",
            "/a//b",
            "/%2f",
            "/%zz",
            "/a;b",
            &"/a".repeat(33),
            &format!("/{}", "a".repeat(200)),
        ] {
            assert!(PathGlob::read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_servers_read_differently_has_no_plain_form() {
        for path in [
            "",
            "a",
            "*",
            "/a/..",
            "/../a",
            "/a/./b",
            "/.",
            "/a//b",
            "//a",
            "/%2e%2e/a",
            "/%2E",
            "/a%2fb",
            "/a%5cb",
            "/a\\b",
            "/a;x=1/b",
            "/a%3bb",
            "/%252e",
            "/%25",
            "/a%00",
            "/a%0d%0ab",
            "/a%",
            "/a%4",
            "/a%g0",
            "/a b",
            "/ä",
            "/a%3fb",
            "/a%23",
        ] {
            assert_eq!(plain(path), None, "{path:?}");
        }
        assert_eq!(plain("/%41%c3%a4/~x/...").as_deref(), Some("/A%C3%A4/~x/..."));
        assert_eq!(plain("/a/").as_deref(), Some("/a/"));
    }

    #[test]
    fn long_paths_take_one_walk_a_segment() {
        let glob = PathGlob::read("/**/a/**/a/**/a/**/b").unwrap();
        let path = "/a".repeat(10_000);
        assert!(!glob.matches(&plain(&path).unwrap()));
    }
}
