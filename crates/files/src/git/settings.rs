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
#[error("line {line} is no setting of git")]
pub struct GitSyntaxError {
    /// The line, counted from 1.
    pub line: usize,
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
    let mut reader = Reader { rest: text.strip_prefix('\u{feff}').unwrap_or(text).chars(), line: 1 };
    let mut section = String::new();
    let mut settings = Vec::new();
    while let Some(letter) = reader.next() {
        match letter {
            letter if is_space(letter) => {}
            '#' | ';' => reader.skip_line(),
            '[' => section = reader.section().ok_or(GitSyntaxError { line: reader.line })?,
            letter if letter.is_ascii_alphabetic() => {
                let setting = reader.setting(&section, letter);
                settings.push(setting.ok_or(GitSyntaxError { line: reader.line })?);
            }
            _ => return Err(GitSyntaxError { line: reader.line }),
        }
    }
    Ok(settings)
}

/// Git's definition of a space, which is narrower than C's.
const fn is_space(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | '\r')
}

const fn is_key_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '-'
}

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
}
