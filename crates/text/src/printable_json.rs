//! JSON that is safe to print on a terminal.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

use crate::escape::is_printable;

/// Returns `value` as JSON on one line. Control and invisible characters are written as `\u001b`, which a JSON parser
/// reads as the same text.
pub fn to_printable_json(value: &impl Serialize) -> String {
    let mut json = Vec::new();
    // Values here have string keys and are written to memory, so serialisation cannot fail.
    value.serialize(&mut Serializer::with_formatter(&mut json, Plain)).ok();
    String::from_utf8(json).unwrap_or_default()
}

struct Plain;

impl Formatter for Plain {
    fn write_string_fragment<W: Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, strange)) = rest.char_indices().find(|(_, c)| !is_printable(*c)) {
            let (plain, after) = rest.split_at(at);
            writer.write_all(plain.as_bytes())?;
            for unit in strange.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = after.strip_prefix(strange).unwrap_or_default();
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::to_printable_json;
    use proptest::prelude::*;

    #[test]
    fn strange_characters_are_written_out() {
        let json = to_printable_json(&"é \u{1b}[2J \u{9b}1m \u{7f} \u{202e} \u{e0041}\n\"");
        assert_eq!(json, r#""é \u001b[2J \u009b1m \u007f \u202e \udb40\udc41\n\"""#);
    }

    proptest! {
        #[test]
        fn the_text_stays_the_same(text: String) {
            prop_assert_eq!(serde_json::from_str::<String>(&to_printable_json(&text)).unwrap(), text);
        }
    }
}
