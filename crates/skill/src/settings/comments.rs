//! JSON with comments, as editors write it, converted to JSON.

/// Blanks out comments and trailing commas. Everything else keeps its position.
pub(super) fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // Position of a comma that may turn out to be trailing.
    let mut comma = None;
    while let Some(next) = rest.chars().next() {
        let length = match next {
            '"' => string_length(rest),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ => next.len_utf8(),
        };
        let (part, after) = rest.split_at(length.min(rest.len()));
        rest = after;
        if next == '/' && part.len() > 1 {
            out.extend(part.chars().map(|letter| if letter == '\n' { '\n' } else { ' ' }));
            continue;
        }
        match (next, comma) {
            (']' | '}', Some(at)) => {
                out.replace_range(at..at + 1, " ");
                comma = None;
            }
            (',', _) => comma = Some(out.len()),
            (letter, _) if !letter.is_whitespace() => comma = None,
            _ => {}
        }
        out.push_str(part);
    }
    out
}

/// Returns the length of the string literal at the start of a text, including both quotes.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match (letter, escaped) {
            (_, true) => escaped = false,
            ('\\', false) => escaped = true,
            ('"', false) => return at + 1,
            _ => {}
        }
    }
    text.len()
}
