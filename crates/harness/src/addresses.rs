//! The addresses among the arguments of a tool that loads pages, as every harness would find them there.

use serde_json::Value;

/// What tools call an address among their arguments.
const NAMES: &[&str] = &["url", "urls", "Url", "uri"];

/// How deep arguments are looked through, how many addresses are taken from them, and how many bytes one of them may have.
const MAX_DEPTH: usize = 8;
const MAX_HOSTS: usize = 64;
const MAX_ADDRESS: usize = 8 << 10;

/// The addresses among the arguments of a tool that loads pages: those that have a member of their own, and those within texts.
pub(super) fn among(input: &Value) -> Result<Vec<&str>, String> {
    let mut found = Vec::new();
    collect("", input, MAX_DEPTH, &mut found)?;
    match found.iter().find_map(|address| unsure(address)) {
        _ if found.is_empty() => Err("it names no address".to_owned()),
        Some(why) => Err(why),
        None => Ok(found),
    }
}

fn collect<'v>(name: &str, value: &'v Value, depth: usize, found: &mut Vec<&'v str>) -> Result<(), String> {
    let is_address = NAMES.contains(&name);
    match value {
        Value::Array(_) | Value::Object(_) if depth == 0 => {
            return Err("its arguments are too deep".to_owned());
        }
        Value::Array(items) => items.iter().try_for_each(|item| collect(name, item, depth - 1, found))?,
        Value::Object(members) => {
            members.iter().try_for_each(|(name, value)| collect(name, value, depth - 1, found))?;
        }
        Value::String(text) if is_address => found.push(text),
        Value::String(text) => found.extend(within(text).take(MAX_HOSTS + 1)),
        _ if is_address => return Err(format!("`{name}` is no address")),
        _ => {}
    }
    match found.len() > MAX_HOSTS {
        true => Err(format!("it names more than {MAX_HOSTS} addresses")),
        false => Ok(()),
    }
}

/// Why it is not sure which host an address has, where it is not.
fn unsure(address: &str) -> Option<String> {
    if address.len() > MAX_ADDRESS {
        return Some(format!("an address that it names is longer than {MAX_ADDRESS} bytes"));
    }
    (!has_plain_scheme(address)).then(|| "it names an address that programs read differently".to_owned())
}

/// The addresses within a text, each to the end of its word: where one ends within a word, harnesses see differently. A word that
/// only could be one is handed on whole, and is refused where its host cannot be read.
fn within(text: &str) -> impl Iterator<Item = &str> {
    // This one is a space here, and none in JavaScript.
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

/// Where a scheme stands in a word: no more places than would be too many addresses.
fn starts_of(word: &str, scheme: &str) -> impl Iterator<Item = usize> {
    word.match_indices(scheme).map(|(at, _)| at).take(MAX_HOSTS + 1)
}

/// Whether what stands before `://` is a scheme and nothing else: in `https:a/?://b` some find the host `a`, and others `b`.
fn has_plain_scheme(address: &str) -> bool {
    let scheme = address.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_none_or(|scheme| scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// An address without what ends the sentence it stands in; whole where that could be part of its host.
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
        // It takes no longer where a text is made of nothing else.
        let hostile = "https:".repeat(1 << 20);
        assert!(among(&json!({"prompt": hostile})).is_err());
    }

    /// Whatever a harness takes a word for, its host is read or it is refused.
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
