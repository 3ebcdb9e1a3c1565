//! URLs among the arguments of a tool that loads web pages, as any harness could find them there.

use serde_json::Value;

/// Names of arguments with a URL.
pub(super) const NAMES: &[&str] = &["url", "urls", "Url", "uri"];

/// Maximum depth of arguments, number of URLs, and length of a URL in bytes.
const MAX_DEPTH: usize = 8;
const MAX_HOSTS: usize = 64;
const MAX_ADDRESS: usize = 8 << 10;

/// Returns the URLs among the arguments of a tool that loads web pages: those of arguments with a known name, and those within
/// texts.
pub(super) fn among(input: &Value) -> Result<Vec<&str>, String> {
    let mut found = Vec::new();
    collect("", input, MAX_DEPTH, &mut found)?;
    match found.iter().find_map(|address| unsure(address)) {
        _ if found.is_empty() => Err("missing address in its arguments".to_owned()),
        Some(why) => Err(why),
        None => Ok(found),
    }
}

fn collect<'v>(name: &str, value: &'v Value, depth: usize, found: &mut Vec<&'v str>) -> Result<(), String> {
    let is_address = NAMES.contains(&name);
    match value {
        Value::Array(_) | Value::Object(_) if depth == 0 => {
            return Err("its arguments are nested too deeply".to_owned());
        }
        Value::Array(items) => items.iter().try_for_each(|item| collect(name, item, depth - 1, found))?,
        Value::Object(members) => {
            members.iter().try_for_each(|(name, value)| collect(name, value, depth - 1, found))?;
        }
        Value::String(text) if is_address => found.push(text),
        Value::String(text) => found.extend(within(text).take(MAX_HOSTS + 1)),
        _ if is_address => return Err(format!("`{name}` is not a URL")),
        _ => {}
    }
    match found.len() > MAX_HOSTS {
        true => Err(format!("it has more than {MAX_HOSTS} URLs; the maximum is {MAX_HOSTS}")),
        false => Ok(()),
    }
}

/// Returns why the host of a URL is ambiguous, if it is.
fn unsure(address: &str) -> Option<String> {
    if address.len() > MAX_ADDRESS {
        return Some(format!("one of its URLs is longer than {MAX_ADDRESS} bytes"));
    }
    (!has_plain_scheme(address))
        .then(|| "one of its URLs is ambiguous: programs parse it differently".to_owned())
}

/// Returns the URLs in a text, each to the end of its word, since harnesses disagree about where a URL ends within a word. A
/// word that may be a URL is passed on whole, and refused if its host cannot be parsed.
fn within(text: &str) -> impl Iterator<Item = &str> {
    // Whitespace for Rust, but not for JavaScript.
    let words = text.split(|c: char| c.is_whitespace() && c != '\u{85}');
    words.flat_map(|word| {
        let lower = word.to_ascii_lowercase();
        let mut starts: Vec<usize> =
            ["http:", "https:"].iter().flat_map(|scheme| starts_of(&lower, scheme)).collect();
        if starts.is_empty() && lower.contains("://") {
            starts.push(0);
        }
        starts.into_iter().filter_map(|at| word.get(at..)).map(without_punctuation)
    })
}

/// Returns the positions of schemes in a word, up to the limit of URLs.
fn starts_of(word: &str, scheme: &str) -> impl Iterator<Item = usize> {
    word.match_indices(scheme).map(|(at, _)| at).take(MAX_HOSTS + 1)
}

/// Whether the part before `://` is only a scheme: in `https:a/?://b`, some parsers find the host `a`, and others `b`.
fn has_plain_scheme(address: &str) -> bool {
    let scheme = address.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_none_or(|scheme| scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// Removes punctuation of the sentence around a URL, unless it could be part of the host.
fn without_punctuation(address: &str) -> &str {
    match address.contains('@') {
        true => address,
        false => address.trim_end_matches(|c| "\"'<>`()[]{}.,;:!?".contains(c)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn addresses_are_found_wherever_they_stand() {
        let input =
            json!({"prompt": "see https://a.example", "list": [{"url": "b.example"}, "https://c.example x"]});
        assert_eq!(among(&input).unwrap(), ["b.example", "https://c.example", "https://a.example"]);
        let deep = (0..20).fold(json!({"url": "a.example"}), |value, _| json!([value]));
        let many = "https://a.example ".repeat(MAX_HOSTS + 1);
        let long = format!("https://a.example/{}", "x".repeat(MAX_ADDRESS));
        for wrong in [
            json!({}),
            json!({"url": 1}),
            json!({"urls": [null]}),
            json!({"url": long}),
            deep,
            json!({"prompt": many}),
        ] {
            assert!(among(&wrong).is_err(), "{wrong}");
        }
        // Work stays linear for a text that consists of such words.
        let hostile = "https:".repeat(1 << 20);
        assert!(among(&json!({"prompt": hostile})).is_err());
    }

    /// However a harness reads a word, its host is found or it is refused.
    #[test]
    fn addresses_end_where_their_word_does() {
        for (text, wanted) in [
            ("see https://docs.rs/a.", vec!["https://docs.rs/a"]),
            ("[x](https://docs.rs/a), \"HTTP://b.example\"", vec!["https://docs.rs/a", "HTTP://b.example"]),
            ("https://docs.rs`@evil.example/x", vec!["https://docs.rs`@evil.example/x"]),
            ("https://docs.rs\u{85}@evil.example", vec!["https://docs.rs\u{85}@evil.example"]),
            (
                "https://a.example\",https://b.example",
                vec!["https://a.example\",https://b.example", "https://b.example"],
            ),
            ("https:evil.example/?://", vec!["https:evil.example/?://"]),
            ("(ftp://evil.example)", vec!["(ftp://evil.example"]),
            ("a: b/c, what is http", vec![]),
        ] {
            assert_eq!(within(text).collect::<Vec<_>>(), wanted, "{text}");
        }
        for (address, is_plain) in [
            ("https://docs.rs/?x://", true),
            ("docs.rs:443", true),
            ("https:evil.example/?://docs.rs", false),
            ("(ftp://evil.example", false),
        ] {
            assert_eq!(has_plain_scheme(address), is_plain, "{address}");
        }
    }
}
