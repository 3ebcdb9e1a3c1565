//! Parses the JSON that cargo and our own programs print. It supports only what they print: they are trusted to write
//! valid JSON.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;

/// A JSON value. Numbers are kept as text, since nothing here computes with them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json {
    /// `null`, and every member that is missing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as it is written.
    Number(String),
    /// A string without its quotes and escapes.
    Text(String),
    /// An array.
    List(Vec<Json>),
    /// An object; of members with the same name, the last.
    Object(BTreeMap<String, Json>),
}

impl Json {
    /// Reads one value, or returns `None` when the text is not JSON.
    pub fn parse(text: &str) -> Option<Self> {
        let mut reader = Reader { chars: text.chars().peekable() };
        let value = reader.value()?;
        reader.skip_blanks();
        reader.chars.next().is_none().then_some(value)
    }

    /// Returns the member `key`, or null if it is missing.
    pub fn at(&self, key: &str) -> &Self {
        match self {
            Self::Object(members) => members.get(key).unwrap_or(&Self::Null),
            _ => &Self::Null,
        }
    }

    /// Returns the text of a string, and an empty one for anything else.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            _ => "",
        }
    }

    /// Returns the items of a list, and none for anything else.
    pub fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    /// Returns the items of a list of strings.
    pub fn texts(&self) -> Vec<String> {
        self.items().iter().map(|item| item.text().to_owned()).collect()
    }
}

/// Returns a text as JSON writes it.
pub fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if u32::from(c) < 0x20 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

struct Reader<'a> {
    chars: Peekable<Chars<'a>>,
}

impl Reader<'_> {
    fn value(&mut self) -> Option<Json> {
        self.skip_blanks();
        match self.chars.peek()? {
            '{' => self.object(),
            '[' => self.list(),
            '"' => self.string().map(Json::Text),
            _ => self.word(),
        }
    }

    fn object(&mut self) -> Option<Json> {
        let mut members = BTreeMap::new();
        self.expect('{')?;
        if self.take('}') {
            return Some(Json::Object(members));
        }
        loop {
            self.skip_blanks();
            let key = self.string()?;
            self.expect(':')?;
            members.insert(key, self.value()?);
            if self.take('}') {
                return Some(Json::Object(members));
            }
            self.expect(',')?;
        }
    }

    fn list(&mut self) -> Option<Json> {
        let mut items = Vec::new();
        self.expect('[')?;
        if self.take(']') {
            return Some(Json::List(items));
        }
        loop {
            items.push(self.value()?);
            if self.take(']') {
                return Some(Json::List(items));
            }
            self.expect(',')?;
        }
    }

    fn string(&mut self) -> Option<String> {
        let mut text = String::new();
        self.expect('"')?;
        loop {
            match self.chars.next()? {
                '"' => return Some(text),
                '\\' => text.push(self.escape()?),
                other => text.push(other),
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        Some(match self.chars.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => {
                let first = self.unit()?;
                // A character above U+FFFF may be written as two units of UTF-16.
                let is_pair = (0xd800..0xdc00).contains(&first);
                let second =
                    if is_pair { self.after_backslash()? } else { return char::from_u32(first.into()) };
                char::decode_utf16([first, second]).next()?.ok()?
            }
            other => other,
        })
    }

    fn after_backslash(&mut self) -> Option<u16> {
        (self.chars.next()? == '\\' && self.chars.next()? == 'u').then_some(())?;
        self.unit()
    }

    fn unit(&mut self) -> Option<u16> {
        let digits: String = self.chars.by_ref().take(4).collect();
        u16::from_str_radix(&digits, 16).ok()
    }

    fn word(&mut self) -> Option<Json> {
        let mut word = String::new();
        while let Some(char) = self.chars.next_if(|c| c.is_ascii_alphanumeric() || "+-.".contains(*c)) {
            word.push(char);
        }
        match word.as_str() {
            "null" => Some(Json::Null),
            "true" => Some(Json::Bool(true)),
            "false" => Some(Json::Bool(false)),
            number => number.parse::<f64>().is_ok().then_some(Json::Number(word)),
        }
    }

    fn skip_blanks(&mut self) {
        while self.chars.next_if(char::is_ascii_whitespace).is_some() {}
    }

    fn take(&mut self, wanted: char) -> bool {
        self.skip_blanks();
        self.chars.next_if_eq(&wanted).is_some()
    }

    fn expect(&mut self, wanted: char) -> Option<()> {
        self.take(wanted).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_nested_values() {
        let json = Json::parse(
            r#" {"a": [1, -2.5e3, true, null], "b": {"c": "x\n\"y\" \u00e9"}, "d": {}, "e": []} "#,
        );
        let json = json.unwrap();
        assert_eq!(json.at("b").at("c").text(), "x\n\"y\" é");
        assert_eq!(json.at("a").items().len(), 4);
        assert_eq!(json.at("a").items()[1], Json::Number("-2.5e3".to_owned()));
        assert_eq!(json.at("d"), &Json::Object(BTreeMap::new()));
        assert_eq!(json.at("missing").at("deeper"), &Json::Null);
    }

    #[test]
    fn what_is_quoted_is_read_back() {
        assert_eq!(Json::parse(r#""\udb40\udc20""#), Some(Json::Text("\u{e0020}".to_owned())));
        assert_eq!(Json::parse(r#""\udb40x""#), None);
        for text in ["", "plain", "a \"b\" \\ c", "line\n\ttab\u{1b}\0", "é\u{202e}"] {
            assert_eq!(Json::parse(&quoted(text)), Some(Json::Text(text.to_owned())));
        }
    }

    #[test]
    fn refuses_what_is_not_json() {
        for text in ["", "{", "[1,]", "{\"a\" 1}", "nul", "1 2", "\"open"] {
            assert_eq!(Json::parse(text), None, "{text}");
        }
    }
}
