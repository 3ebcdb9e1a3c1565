//! Patterns for one name: `*` matches any part of it, including the empty one.

/// Whether a name matches a pattern. Both are compared as is: fold them first.
#[must_use]
pub fn fits(name: &str, pattern: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return name == pattern };
    let Some(mut left) = name.strip_prefix(first) else { return false };
    let mut rest = rest;
    // Each part matches at its first occurrence, which leaves most for the following ones: greedy matching needs no
    // backtracking.
    while let Some((part, more)) = rest.split_once('*') {
        let Some(at) = left.find(part) else { return false };
        left = left.get(at + part.len()..).unwrap_or_default();
        rest = more;
    }
    left.ends_with(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_and_names() {
        for (name, pattern, does) in [
            ("a", "a", true),
            ("a", "b", false),
            ("a", "*", true),
            ("", "*", true),
            ("x.pem", "*.pem", true),
            (".pem", "*.pem", true),
            ("x.pems", "*.pem", false),
            (".env.local", ".env.*", true),
            (".env", ".env.*", false),
            ("id_rsa", "id_rsa*", true),
            ("aXbXc", "a*X*c", true),
            ("abc", "a*X*c", false),
            ("ab", "ab*b", false),
            ("abb", "ab*b", true),
        ] {
            assert_eq!(fits(name, pattern), does, "{name} {pattern}");
        }
    }
}
