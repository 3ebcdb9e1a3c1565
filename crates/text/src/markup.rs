//! Text within HTML and XML.

use std::borrow::Cow;

/// Replaces `&`, `<`, `>` and `"` by references, for the content of an element or an attribute in double quotes.
#[must_use]
pub fn escape_markup(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '<', '>', '"']) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_markup_is_left() {
        assert_eq!(escape_markup("<a b=\"c\">&amp;"), "&lt;a b=&quot;c&quot;&gt;&amp;amp;");
        assert!(matches!(escape_markup("it's plain"), Cow::Borrowed(_)));
    }
}
