//! Decodes messages hidden in removed characters.

/// Maximum decoded bytes per alphabet: enough to judge the message.
const MAX_BYTES: usize = 4_096;

/// The two alphabets used to smuggle text, each collected as it occurs.
#[derive(Debug, Default)]
pub(crate) struct HiddenText {
    /// Tag characters mirror ASCII: U+E0041 encodes `A`.
    tags: String,
    /// Variation selectors encode bytes: the first sixteen 0 to 15, the other 240 the rest.
    selectors: Vec<u8>,
}

impl HiddenText {
    /// Records one removed character.
    pub(crate) fn add(&mut self, c: char) {
        let code = u32::from(c);
        match code {
            0xE_0020..=0xE_007E if self.tags.len() < MAX_BYTES => {
                self.tags.extend(char::from_u32(code - 0xE_0000));
            }
            0xFE00..=0xFE0F => self.add_byte(code - 0xFE00),
            0xE_0100..=0xE_01EF => self.add_byte(code - 0xE_0100 + 16),
            _ => {}
        }
    }

    fn add_byte(&mut self, byte: u32) {
        if self.selectors.len() < MAX_BYTES {
            self.selectors.extend(u8::try_from(byte));
        }
    }

    /// Returns the decoded message, tags first.
    pub(crate) fn message(self) -> Option<String> {
        let in_selectors = self.selector_message();
        let in_tags = Some(self.tags).filter(|tags| !tags.trim().is_empty());
        match (in_tags, in_selectors) {
            (Some(first), Some(second)) => Some(first + "\n" + &second),
            (first, second) => first.or(second),
        }
    }

    /// Selectors are also used legitimately, after an ideograph; only bytes that read as text are a message.
    fn selector_message(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.selectors);
        let readable = |c: &char| !c.is_control() && *c != char::REPLACEMENT_CHARACTER;
        let message: String = text.chars().filter(readable).collect();
        let (read, all) = (message.chars().count(), text.chars().count());
        (read >= 2 && read * 2 > all).then_some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::HiddenText;

    fn read(text: &str) -> Option<String> {
        let mut hidden = HiddenText::default();
        text.chars().for_each(|c| hidden.add(c));
        hidden.message()
    }

    fn in_selectors(text: &str) -> String {
        text.bytes()
            .map(|byte| if byte < 16 { 0xFE00 + u32::from(byte) } else { 0xE00F0 + u32::from(byte) })
            .map(|code| char::from_u32(code).unwrap())
            .collect()
    }

    #[test]
    fn tag_characters_are_read_as_ascii() {
        let spelled: String = "run it".chars().map(|c| char::from_u32(0xE0000 + c as u32).unwrap()).collect();
        assert_eq!(read(&spelled).as_deref(), Some("run it"));
    }

    #[test]
    fn variation_selectors_are_read_as_utf8() {
        assert_eq!(read(&in_selectors("sécret")).as_deref(), Some("sécret"));
    }

    #[test]
    fn selectors_that_spell_nothing_are_no_message() {
        assert_eq!(read("\u{FE0F}\u{E0100}\u{E0101}\u{FE0F}"), None);
    }

    #[test]
    fn a_message_is_read_up_to_a_limit() {
        let (tags, selectors) = ("\u{E0041}".repeat(10_000), in_selectors(&"b".repeat(10_000)));
        let message = read(&(tags + &selectors)).unwrap();
        assert_eq!(message, format!("{}\n{}", "A".repeat(4_096), "b".repeat(4_096)));
    }
}
