//! Names and commands as a person sees them: nothing in them can move a cursor, turn the text around or hide.

use std::fmt;

/// A text with every control, bidi and invisible character written as `\u{…}`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown<'t>(pub(crate) &'t str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '\n' => formatter.write_str("\\n")?,
                '\t' => formatter.write_str("\\t")?,
                hidden if is_hidden(hidden) => write!(formatter, "{}", hidden.escape_unicode())?,
                plain => fmt::Write::write_char(formatter, plain)?,
            }
        }
        Ok(())
    }
}

fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{ad}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_raw() {
        for (text, expected) in [
            ("src/ä.rs", "src/ä.rs"),
            ("a\nb\t", "a\\nb\\t"),
            ("\u{1b}[2J", "\\u{1b}[2J"),
            ("gpj.\u{202e}exe", "gpj.\\u{202e}exe"),
        ] {
            assert_eq!(Shown(text).to_string(), expected);
        }
    }
}
