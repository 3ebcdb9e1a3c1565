//! Shell text with its quotes away, for patterns that are written that way.

/// Returns the text without quotes and with single spaces.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars().filter(|character| !matches!(character, '"' | '\'' | '\\')) {
        let blank = matches!(character, ' ' | '\t');
        if !(blank && plain.ends_with(' ')) {
            plain.push(if blank { ' ' } else { character });
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_spaces_go() {
        for (text, expected) in [("r\\m  -rf\t'/'", "rm -rf /"), ("\"a b\"", "a b"), ("", "")] {
            assert_eq!(plain(text), expected);
        }
    }
}
