//! Text from strangers, made safe to show.
//!
//! A terminal obeys control characters: a skill could hide lines, change the title or answer for the user. Characters
//! without a shape of their own hide what a text says, and those that change its direction show it in the wrong order.
//! All of them are written out instead: `\u{1b}`.

use std::borrow::Cow;
use std::path::Path;

use super::invisible::INVISIBLE;

/// Returns the text with everything written out that a terminal would not show as it stands.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        push_escaped(&mut escaped, c);
    }
    Cow::Owned(escaped)
}

/// Returns a text of several lines in the same way, and keeps its line ends.
pub(crate) fn escape_lines(text: &str) -> String {
    text.split_inclusive('\n').fold(String::with_capacity(text.len()), |mut escaped, line| {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        escaped.push_str(&escape(line));
        escaped.push_str(end);
        escaped
    })
}

/// Appends one character, written out if need be.
pub(crate) fn push_escaped(text: &mut String, c: char) {
    match c {
        _ if is_plain(c) => text.push(c),
        '\n' | '\r' | '\t' => text.extend(c.escape_default()),
        _ => text.extend(c.escape_unicode()),
    }
}

/// Returns a file name as text. Bytes that are no text are written out, `\xff`.
pub(crate) fn escape_path(path: &Path) -> String {
    let mut escaped = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        escaped.push_str(&escape(chunk.valid()));
        for byte in chunk.invalid() {
            escaped.push_str(&format!("\\x{byte:02x}"));
        }
    }
    escaped
}

/// Whether a terminal shows the character as it stands and where it stands.
pub(crate) fn is_plain(c: char) -> bool {
    match c {
        ' '..='~' => true,
        _ if c.is_control() || is_noncharacter(c) => false,
        _ => !is_invisible(c),
    }
}

/// Whether Unicode says that this will never be a character. XML cannot hold U+FFFE and U+FFFF at all.
const fn is_noncharacter(c: char) -> bool {
    matches!(c, '\u{fdd0}'..='\u{fdef}') || c as u32 & 0xfffe == 0xfffe
}

fn is_invisible(c: char) -> bool {
    let after = INVISIBLE.partition_point(|(first, _)| *first <= c);
    let range = after.checked_sub(1).and_then(|at| INVISIBLE.get(at));
    range.is_some_and(|(_, last)| c <= *last)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "compares the table with the file that it is in")]
mod tests {
    use super::{escape, escape_path};
    use std::borrow::Cow;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::Path;

    #[test]
    fn plain_text_is_untouched() {
        for text in ["", "Run `make`.", "žluťoučký 漢字 🎉 e\u{301}"] {
            assert!(matches!(escape(text), Cow::Borrowed(t) if t == text));
        }
    }

    #[test]
    fn what_a_terminal_obeys_is_written_out() {
        let cases = [
            ("\u{1b}[2J", "\\u{1b}[2J"),
            ("a\u{9b}31m", "a\\u{9b}31m"),
            ("\u{7}\u{8}\u{7f}", "\\u{7}\\u{8}\\u{7f}"),
            ("a\nb\tc\r", "a\\nb\\tc\\r"),
            ("\u{202e}txt.exe", "\\u{202e}txt.exe"),
            ("c\u{200b}url", "c\\u{200b}url"),
            ("\u{e0041}\u{fe0f}\u{3164}", "\\u{e0041}\\u{fe0f}\\u{3164}"),
            ("\u{2028}", "\\u{2028}"),
            ("\u{fdd0}\u{ffff}\u{1fffe}", "\\u{fdd0}\\u{ffff}\\u{1fffe}"),
        ];
        for (text, shown) in cases {
            assert_eq!(escape(text), shown);
        }
    }

    #[test]
    fn names_that_are_no_text_are_shown_whole() {
        let path = Path::new(OsStr::from_bytes(b"a/\xFF\x1B\xC3\xA9"));
        assert_eq!(escape_path(path), "a/\\xff\\u{1b}é");
    }

    /// `render/invisible.rs` is what Unicode's own properties say.
    #[test]
    fn the_table_is_fresh() {
        let properties = r"[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{2800}]";
        let hir = regex_syntax::Parser::new().parse(properties).unwrap();
        let regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(class)) = hir.kind() else {
            panic!("not a class of characters: {hir:?}");
        };
        let rows: String = class
            .iter()
            .map(|range| {
                format!("    ('\\u{{{:x}}}', '\\u{{{:x}}}'),\n", range.start() as u32, range.end() as u32)
            })
            .collect();
        let table = format!("{TABLE_HEAD}{rows}];\n");
        if std::env::var_os("STOCKADE_BLESS").is_some_and(|bless| bless == "1") {
            std::fs::write("src/render/invisible.rs", &table).unwrap();
        }
        assert_eq!(std::fs::read_to_string("src/render/invisible.rs").unwrap(), table);
    }

    const TABLE_HEAD: &str = "\
//! Characters without a shape of their own, and those that change the direction of text. Made by a test of `escape.rs`
//! from Unicode's properties: Cf, Zl, Zp, Default_Ignorable_Code_Point, and the blank Braille pattern.

/// Ranges from and to, in order.
pub(crate) const INVISIBLE: &[(char, char)] = &[
";
}
