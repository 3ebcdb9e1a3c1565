//! Parses git's config files as git does: git-config(1), "Syntax".

/// A setting in a git config file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitSetting {
    /// `core.fsmonitor`, `filter.LFS.clean`: lower case, except for a quoted subsection.
    pub key: String,
    /// `None` for a name without a value, which means true.
    pub value: Option<String>,
}

/// A config file that git would reject too, or that contains more than this parser supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is not a git setting")]
pub struct GitSyntaxError {
    /// The line, counted from 1.
    pub line: usize,
}

impl GitSetting {
    /// The section, in lower case.
    #[must_use]
    pub fn section(&self) -> &str {
        self.key.split_once('.').map_or(self.key.as_str(), |(section, _)| section)
    }

    /// The subsection: `origin` of `[remote "origin"]`.
    #[must_use]
    pub fn subsection(&self) -> Option<&str> {
        let (_, rest) = self.key.split_once('.')?;
        rest.rsplit_once('.').map(|(subsection, _)| subsection)
    }

    /// The name, in lower case.
    #[must_use]
    pub fn name(&self) -> &str {
        self.key.rsplit_once('.').map_or("", |(_, name)| name)
    }
}

/// Parses the settings of a git config file in order. Takes linear time.
///
/// # Errors
/// The first line that is not a setting, or not UTF-8.
pub fn git_settings(bytes: &[u8]) -> Result<Vec<GitSetting>, GitSyntaxError> {
    let text = str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        GitSyntaxError { line: 1 + before.iter().filter(|byte| **byte == b'\n').count() }
    })?;
    read_settings(text).collect()
}

/// Returns the settings of a git config file one by one. A syntax error is the last item, for callers that use what precedes it.
#[must_use]
pub fn read_settings(text: &str) -> SettingsReader<'_> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    SettingsReader { reader: Reader { rest: text.chars(), line: 1 }, section: String::new(), failed: false }
}

/// An iterator over the settings of a config file: [`read_settings`].
#[derive(Debug, Clone)]
pub struct SettingsReader<'t> {
    reader: Reader<'t>,
    /// Section and subsection of the settings that follow.
    section: String,
    failed: bool,
}

impl Iterator for SettingsReader<'_> {
    type Item = Result<GitSetting, GitSyntaxError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let setting = self.advance();
        self.failed = setting.is_err();
        setting.transpose()
    }
}

impl SettingsReader<'_> {
    /// Returns the next setting, or `None` at the end of the text.
    fn advance(&mut self) -> Result<Option<GitSetting>, GitSyntaxError> {
        while let Some(letter) = self.reader.next() {
            match letter {
                letter if is_space(letter) => {}
                '#' | ';' => self.reader.skip_line(),
                '[' => self.section = self.reader.section().ok_or_else(|| self.error())?,
                letter if letter.is_ascii_alphabetic() => {
                    let setting = self.reader.setting(&self.section, letter);
                    return setting.map(Some).ok_or_else(|| self.error());
                }
                _ => return Err(self.error()),
            }
        }
        Ok(None)
    }

    const fn error(&self) -> GitSyntaxError {
        GitSyntaxError { line: self.reader.line }
    }
}

/// Git's definition of a space, which is narrower than C's.
const fn is_space(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | '\r')
}

const fn is_key_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '-'
}

#[derive(Debug, Clone)]
struct Reader<'t> {
    rest: std::str::Chars<'t>,
    /// Line of the last character; a line end belongs to its line.
    line: usize,
}

impl Reader<'_> {
    /// Returns the next character; CR LF counts as one.
    fn next(&mut self) -> Option<char> {
        let letter = self.rest.next()?;
        let letter = match letter {
            '\r' if self.rest.as_str().starts_with('\n') => self.rest.next()?,
            letter => letter,
        };
        self.line += usize::from(letter == '\n');
        Some(letter)
    }

    /// Returns the next character, or a line feed at the end of the text.
    fn next_or_end(&mut self) -> char {
        self.next().unwrap_or('\n')
    }

    fn skip_line(&mut self) {
        while self.next_or_end() != '\n' {}
    }

    /// Parses the rest of `core]` or `remote "origin"]`.
    fn section(&mut self) -> Option<String> {
        let mut name = String::new();
        loop {
            match self.next()? {
                ']' => return (!name.is_empty()).then_some(name),
                letter if is_space(letter) => return self.subsection(letter, name),
                letter if is_key_letter(letter) || letter == '.' => name.push(letter.to_ascii_lowercase()),
                _ => return None,
            }
        }
    }

    fn subsection(&mut self, mut letter: char, mut name: String) -> Option<String> {
        while is_space(letter) {
            if letter == '\n' {
                return None;
            }
            letter = self.next()?;
        }
        if letter != '"' {
            return None;
        }
        name.push('.');
        loop {
            match self.next()? {
                '"' => break,
                '\n' => return None,
                '\\' => match self.next()? {
                    '\n' => return None,
                    letter => name.push(letter),
                },
                letter => name.push(letter),
            }
        }
        (self.next()? == ']').then_some(name)
    }

    /// Parses a name from its first letter on, and the value.
    fn setting(&mut self, section: &str, first: char) -> Option<GitSetting> {
        let mut key = format!("{section}.{}", first.to_ascii_lowercase());
        let mut letter = self.next_or_end();
        while is_key_letter(letter) {
            key.push(letter.to_ascii_lowercase());
            letter = self.next_or_end();
        }
        while matches!(letter, ' ' | '\t') {
            letter = self.next_or_end();
        }
        match letter {
            '\n' => Some(GitSetting { key, value: None }),
            '=' => Some(GitSetting { key, value: Some(self.value()?) }),
            _ => None,
        }
    }

    fn value(&mut self) -> Option<String> {
        let mut value = String::new();
        // Everything behind this is trailing space, which git drops.
        let mut kept = 0;
        let mut is_quoted = false;
        loop {
            let letter = match self.next_or_end() {
                '\n' if is_quoted => return None,
                '\n' => break,
                '#' | ';' if !is_quoted => {
                    self.skip_line();
                    break;
                }
                letter if is_space(letter) && !is_quoted => {
                    if !value.is_empty() {
                        value.push(letter);
                    }
                    continue;
                }
                '"' => {
                    is_quoted = !is_quoted;
                    kept = value.len();
                    continue;
                }
                '\\' => match self.next_or_end() {
                    '\n' => {
                        kept = value.len();
                        continue;
                    }
                    't' => '\t',
                    'b' => '\u{8}',
                    'n' => '\n',
                    letter @ ('\\' | '"') => letter,
                    _ => return None,
                },
                letter => letter,
            };
            value.push(letter);
            kept = value.len();
        }
        value.truncate(kept);
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Vec<String>> {
        let settings = git_settings(text.as_bytes()).ok()?;
        let shown = |one: GitSetting| match one.value {
            Some(value) => format!("{}={value}", one.key),
            None => one.key,
        };
        Some(settings.into_iter().map(shown).collect())
    }

    #[test]
    fn settings_are_read_as_git_reads_them() {
        for (text, settings) in [
            ("", &[][..]),
            ("[core]\n\tbare = false\n", &["core.bare=false"]),
            ("[CORE] FsMonitor=x ; why\n# y\n[a]b", &["core.fsmonitor=x", "a.b"]),
            ("[remote \"O.r\\\"i\"] url = h", &["remote.O.r\"i.url=h"]),
            ("[alias.X]y=1", &["alias.x.y=1"]),
            ("[a]b = c \\\n d \n", &["a.b=c  d"]),
            ("[a]b = \" c#\" # d", &["a.b= c#"]),
            ("[a]b = c\" d \"e  ", &["a.b=c d e"]),
            ("[a]b = \\t\\\"\\\\\\n", &["a.b=\t\"\\\n"]),
            ("\u{feff}[a]\r\n b = c\r\n", &["a.b=c"]),
            ("[a]b=", &["a.b="]),
            ("[a]b=\\\n[c]\nd=e", &["a.b=[c]", "a.d=e"]),
        ] {
            assert_eq!(read(text).unwrap(), settings, "{text}");
        }
        for odd in
            ["[a", "[a]1=2", "[a]b=\"c\n", "[a]b=\\c", "[a \"b]\nc=d", "[a]b c", "=x", "[a \"b\"", "[a_b]c"]
        {
            assert_eq!(read(odd), None, "{odd}");
        }
        assert_eq!(git_settings(b"[a]\nb=\xff"), Err(GitSyntaxError { line: 2 }));
    }

    #[test]
    fn settings_before_an_error_are_read() {
        let before = |text: &str| -> Vec<String> {
            read_settings(text).map_while(Result::ok).map(|setting| setting.key).collect()
        };
        let rows: &[(&str, &[&str])] = &[
            ("[a]\nx=1\n=2\ny=3", &["a.x"]),
            ("[a \"B c\\\"d\"]\nx = 1\n[a]\ny = 2", &["a.B c\"d.x", "a.y"]),
            ("[a]\nx \"y\"\ny=3", &[]),
            ("[a]\nx = \"1\ny=3\"", &[]),
            ("[a]\nx = \\q\ny=3", &[]),
            ("[a b]\nx=1", &[]),
            ("[a \"b\nc\"]\nx=1", &[]),
            ("[a", &[]),
        ];
        for (text, expected) in rows {
            assert_eq!(before(text), *expected, "{text:?}");
        }
    }

    #[test]
    fn parts_of_a_key() {
        for (text, parts) in [
            ("[core]bare", ("core", None, "bare")),
            ("[a \"b.c\"]D", ("a", Some("b.c"), "d")),
            ("[a.B]c", ("a", Some("b"), "c")),
            ("[a \"\"]c", ("a", Some(""), "c")),
        ] {
            let setting = read_settings(text).next().unwrap().unwrap();
            assert_eq!((setting.section(), setting.subsection(), setting.name()), parts, "{text}");
        }
    }

    /// Each character is consumed once, whatever the text repeats.
    #[test]
    fn any_text_comes_to_an_end() {
        for piece in ["[", "[a", "[a \"", "\\", "\"", "a=", "a=\\", "#", "=\n", "[a]x=\"\\\n"] {
            assert!(read_settings(&piece.repeat(50_000)).count() <= 50_001, "{piece}");
        }
    }
}
