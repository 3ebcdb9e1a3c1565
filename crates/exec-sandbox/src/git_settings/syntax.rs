//! How git writes settings, see git-config(1).

use std::iter::Peekable;
use std::str::Chars;

/// One setting, as it stands in a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    /// In small letters, as git compares it.
    pub(crate) section: String,
    /// What stands in quotes beside the section.
    pub(crate) subsection: Option<String>,
    /// In small letters, as git compares it.
    pub(crate) name: String,
    /// Nothing where the name stands alone, which says yes.
    pub(crate) value: Option<String>,
}

/// Returns the settings of a text in their order, up to the first that is not as git writes them.
pub(crate) fn settings(text: &str) -> Reader<'_> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    Reader { rest: text.chars().peekable(), section: String::new(), subsection: None }
}

/// Reads settings one by one.
pub(crate) struct Reader<'t> {
    rest: Peekable<Chars<'t>>,
    section: String,
    subsection: Option<String>,
}

impl Iterator for Reader<'_> {
    type Item = Setting;

    fn next(&mut self) -> Option<Setting> {
        loop {
            match self.letter()? {
                letter if letter.is_whitespace() => {}
                '#' | ';' => self.skip_line(),
                '[' => self.header()?,
                letter if letter.is_ascii_alphabetic() => return self.setting(letter),
                _ => return self.give_up(),
            }
        }
    }
}

impl Reader<'_> {
    /// The next letter, with one kind of line end.
    fn letter(&mut self) -> Option<char> {
        match self.rest.next()? {
            '\r' if self.rest.peek() == Some(&'\n') => self.rest.next(),
            letter => Some(letter),
        }
    }

    /// Nothing that follows is read.
    fn give_up<T>(&mut self) -> Option<T> {
        self.rest = "".chars().peekable();
        None
    }

    fn skip_line(&mut self) {
        self.rest.by_ref().find(|letter| *letter == '\n');
    }

    fn header(&mut self) -> Option<()> {
        let mut name = String::new();
        self.subsection = None;
        loop {
            match self.letter()? {
                ']' => break,
                ' ' | '\t' => {
                    self.subsection = Some(self.subsection()?);
                    break;
                }
                letter if letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.') => {
                    name.push(letter.to_ascii_lowercase());
                }
                _ => return self.give_up(),
            }
        }
        // An older way to write a part more.
        if let Some((section, below)) = name.split_once('.') {
            self.subsection.get_or_insert_with(|| below.to_owned());
            name.truncate(section.len());
        }
        self.section = name;
        Some(())
    }

    /// What stands in quotes, and the bracket behind it.
    fn subsection(&mut self) -> Option<String> {
        let mut text = String::new();
        while matches!(self.rest.peek(), Some(' ' | '\t')) {
            self.rest.next();
        }
        if self.letter()? != '"' {
            return self.give_up();
        }
        loop {
            match self.letter()? {
                '"' => break,
                '\n' => return self.give_up(),
                '\\' => text.push(self.letter()?),
                letter => text.push(letter),
            }
        }
        if self.letter()? == ']' { Some(text) } else { self.give_up() }
    }

    fn setting(&mut self, first: char) -> Option<Setting> {
        let mut name = String::from(first.to_ascii_lowercase());
        while let Some(letter) = self.rest.next_if(|it| it.is_ascii_alphanumeric() || *it == '-') {
            name.push(letter.to_ascii_lowercase());
        }
        while matches!(self.rest.peek(), Some(' ' | '\t')) {
            self.rest.next();
        }
        let value = match self.letter() {
            None | Some('\n') => None,
            Some('=') => Some(self.value()?),
            Some(_) => return self.give_up(),
        };
        Some(Setting { section: self.section.clone(), subsection: self.subsection.clone(), name, value })
    }

    fn value(&mut self) -> Option<String> {
        let (mut value, mut kept, mut is_quoted) = (String::new(), 0, false);
        loop {
            match self.letter() {
                None | Some('\n') if is_quoted => return self.give_up(),
                None | Some('\n') => break,
                Some('"') => is_quoted = !is_quoted,
                Some('#' | ';') if !is_quoted => {
                    self.skip_line();
                    break;
                }
                Some(letter) if letter.is_whitespace() && !is_quoted => {
                    if !value.is_empty() {
                        value.push(letter);
                    }
                    continue;
                }
                Some('\\') => match self.letter() {
                    Some('\n') => continue,
                    Some(letter) => match escaped(letter) {
                        Some(meant) => value.push(meant),
                        None => return self.give_up(),
                    },
                    None => return None,
                },
                Some(letter) => value.push(letter),
            }
            kept = value.len();
        }
        // Blanks at the end do not count, unless they stand in quotes.
        value.truncate(kept);
        Some(value)
    }
}

fn escaped(letter: char) -> Option<char> {
    match letter {
        'n' => Some('\n'),
        't' => Some('\t'),
        'b' => Some('\u{8}'),
        '"' | '\\' => Some(letter),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        let read = settings(text).map(|it| {
            let below = it.subsection.map(|below| format!("<{below}>")).unwrap_or_default();
            format!("{}{below}.{}={}", it.section, it.name, it.value.unwrap_or_else(|| "!".to_owned()))
        });
        read.collect()
    }

    #[test]
    fn settings_are_read_as_git_reads_them() {
        let rows: &[(&str, &[&str])] = &[
            ("[user]\n\tname = A B  # c\n", &["user.name=A B"]),
            ("[User] Name=x\r\n\temail = \"a ; b\" ; c\r\n", &["user.name=x", "user.email=a ; b"]),
            ("[a]\nb\nc =\n", &["a.b=!", "a.c="]),
            ("[a \"B c\\\"d\"]\nx = 1\n[a]\ny = 2", &["a<B c\"d>.x=1", "a.y=2"]),
            ("[a.B]\nx = 1", &["a<b>.x=1"]),
            ("[a]\nx = 1 \\\n 2\ny = a\\tb\\\\\\\"", &["a.x=1  2", "a.y=a\tb\\\""]),
            ("[a]\nx = \" 1 \" ", &["a.x= 1 "]),
            ("# c\n; d\n\n[a]\nx=1", &["a.x=1"]),
            ("\u{feff}[a]\nx=1", &["a.x=1"]),
            // What git calls a bad line, and all behind it.
            ("[a]\nx=1\n=2\ny=3", &["a.x=1"]),
            ("[a]\nx \"y\"\ny=3", &[]),
            ("[a]\nx = \"1\ny=3\"", &[]),
            ("[a]\nx = \\q\ny=3", &[]),
            ("[a b]\nx=1", &[]),
            ("[a \"b\nc\"]\nx=1", &[]),
            ("[a", &[]),
            ("[a \"b\"", &[]),
            ("[a]\nx = 1\\", &[]),
        ];
        for (text, expected) in rows {
            assert_eq!(read(text), *expected, "{text:?}");
        }
    }

    /// Each letter is taken once, whatever the text is made of.
    #[test]
    fn any_text_comes_to_an_end() {
        for piece in ["[", "[a", "[a \"", "\\", "\"", "a=", "a=\\", "#", "=\n", "[a]x=\"\\\n"] {
            assert!(settings(&piece.repeat(50_000)).count() <= 50_000, "{piece}");
        }
    }
}
