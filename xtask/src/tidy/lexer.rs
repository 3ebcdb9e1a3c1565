//! Distinguishes code from comments and literals in Rust source, so that a word in a string is not taken for code.

/// Kind of a piece of source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Code,
    Comment,
    Literal,
}

/// Returns the source with comments and the contents of literals blanked out, and the source with everything but
/// comments blanked out. Both keep the lines where they were.
pub(super) fn code_and_comments(source: &str) -> (String, String) {
    let (mut code, mut comments) = (String::new(), String::new());
    let mut rest = source;
    while !rest.is_empty() {
        let (kind, length) = piece(rest);
        let (text, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        match kind {
            Kind::Code => push(&mut code, &mut comments, text),
            Kind::Comment => push(&mut comments, &mut code, text),
            Kind::Literal => {
                // Keep the quotes, which mark the place of the literal.
                code.push('"');
                push(&mut String::new(), &mut comments, text);
                code.extend(text.chars().filter(|&c| c == '\n'));
                code.push('"');
            }
        }
        rest = after;
    }
    (code, comments)
}

/// Writes a piece to one text and only its line ends to the other.
fn push(shown: &mut String, blank: &mut String, text: &str) {
    shown.push_str(text);
    blank.extend(text.chars().filter(|&c| c == '\n'));
}

/// Returns the kind and length of the first piece of `rest`.
fn piece(rest: &str) -> (Kind, usize) {
    if rest.starts_with("//") {
        (Kind::Comment, rest.find('\n').unwrap_or(rest.len()))
    } else if rest.starts_with("/*") {
        (Kind::Comment, block_comment(rest))
    } else if let Some(length) = raw_string(rest) {
        (Kind::Literal, length)
    } else if rest.starts_with('"') {
        (Kind::Literal, quoted(rest, '"'))
    } else if is_char_literal(rest) {
        (Kind::Literal, quoted(rest, '\''))
    } else {
        (Kind::Code, plain_code(rest))
    }
}

/// The length of a block comment. They nest.
fn block_comment(rest: &str) -> usize {
    let mut depth = 0;
    let mut length = 0;
    loop {
        let Some(tail) = rest.get(length..).filter(|tail| !tail.is_empty()) else { return rest.len() };
        let step = match tail {
            _ if tail.starts_with("/*") => {
                depth += 1;
                2
            }
            _ if tail.starts_with("*/") => {
                depth -= 1;
                2
            }
            _ => tail.chars().next().map_or(1, char::len_utf8),
        };
        length += step;
        if depth == 0 {
            return length;
        }
    }
}

/// The length of a raw string such as `r#"…"#` or `br"…"`, if there is one. `r#name` is an identifier.
fn raw_string(rest: &str) -> Option<usize> {
    let body = ["r", "br", "cr"].iter().find_map(|prefix| rest.strip_prefix(prefix))?;
    let inside = body.trim_start_matches('#');
    let hashes = body.len() - inside.len();
    let inside = inside.strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = inside.find(&end).map_or(inside.len(), |at| at + end.len());
    Some(rest.len() - inside.len() + length)
}

/// Whether a quote opens a character, and not a lifetime: `'a'` or `'\n'`, but not `'a`.
fn is_char_literal(rest: &str) -> bool {
    let mut chars = rest.chars();
    chars.next() == Some('\'') && (chars.next() == Some('\\') || chars.next() == Some('\''))
}

/// The length of a literal between quotes, in which a backslash hides the character after it.
fn quoted(rest: &str, quote: char) -> usize {
    let mut hidden = false;
    for (at, char) in rest.char_indices().skip(1) {
        match char {
            _ if hidden => hidden = false,
            '\\' => hidden = true,
            _ if char == quote => return at + char.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

/// The length of the code up to the next place where a comment or a literal may begin: a slash, a quote, or a word with the first
/// letter of a prefix. The `r` at the end of a word is no prefix.
fn plain_code(rest: &str) -> usize {
    let mut in_word = false;
    let may_begin = |(at, byte): (usize, u8)| {
        let begins_word = !in_word;
        // A byte beyond ASCII is part of a letter, or of a character that begins nothing.
        in_word = byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
        at > 0 && (matches!(byte, b'/' | b'"' | b'\'') || (begins_word && matches!(byte, b'r' | b'b' | b'c')))
    };
    rest.bytes().enumerate().position(may_begin).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(source: &str) -> String {
        code_and_comments(source).0
    }

    #[test]
    fn literals_are_blanked() {
        for (source, want) in [
            (r#"f("unsafe \" x", 1)"#, r#"f("", 1)"#),
            (r###"f(r#"unsafe " x"#, 1)"###, r#"f("", 1)"#),
            (r#"f(br"\", b"\"", c"x")"#, r#"f("", b"", c"")"#),
            (r#"let c = '"'; let d = '\''; g()"#, r#"let c = ""; let d = ""; g()"#),
            ("let r#fn: &'a str = x;", "let r#fn: &'a str = x;"),
            ("for\"x\"", "for\"\""),
            ("'é' 'a 'b'", "\"\" 'a \"\""),
        ] {
            assert_eq!(code(source), want, "{source}");
        }
    }

    #[test]
    fn comments_are_told_apart_and_lines_kept() {
        let source = "a(); // one \"\nb(); /* two /* deep */\n still */ c(\"x\ny\");\n";
        let (code, comments) = code_and_comments(source);
        assert_eq!(code, "a(); \nb(); \n c(\"\n\");\n");
        assert_eq!(comments, "// one \"\n/* two /* deep */\n still */\n\n");
    }

    #[test]
    fn unfinished_source_ends() {
        for source in ["\"open", "/* open", "r#\"open", "'", "'\\", "\"\\"] {
            let (code, comments) = code_and_comments(source);
            assert!(code.len() + comments.len() <= source.len() + 2, "{source}");
        }
    }
}
