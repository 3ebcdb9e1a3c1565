//! Counts the values of a JSON text without parsing it: a short text may hold more values than fit into memory.

/// Counts every value except the outermost: what follows a comma, a colon or an opening bracket outside of strings.
///
/// ```
/// assert_eq!(stockade_text::json_values(br#"{"a": [1, 2]}"#), 4);
/// ```
#[must_use]
pub fn json_values(text: &[u8]) -> usize {
    let (mut count, mut is_text, mut is_escaped) = (0_usize, false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b',' | b':' | b'[' | b'{' if !is_text => count += 1,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::json_values;

    #[test]
    fn signs_in_texts_begin_nothing() {
        for (text, expected) in
            [("", 0), ("[1,2]", 2), ("{\"a\":[{}]}", 4), ("\"a,[\\\",:\"", 0), ("[\"\\\\\",1]", 2)]
        {
            assert_eq!(json_values(text.as_bytes()), expected, "{text}");
        }
    }
}
