//! The words of inline code: names, literals and punctuation, in the languages that are similar enough.

use super::effects::{HOLE, Language};

/// A word of the code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token<'c> {
    /// A name with its qualifiers: `os.path.join`, `File::read`, `$ENV`.
    Name(&'c str),
    /// A literal, with [`HOLE`] for what is computed in it.
    Text(String),
    /// A literal that the language runs as a command: `` `id` ``.
    Command(String),
    /// The end of a statement.
    End,
    /// A character of punctuation, such as a parenthesis.
    Mark(char),
}

/// Returns the words of the code. A literal without an end is the last word.
pub(super) fn tokens(code: &str, language: Language) -> Vec<Token<'_>> {
    let mut reader = Reader { code, at: 0, language };
    let mut found = Vec::new();
    while let Some(token) = reader.next() {
        found.push(token);
    }
    found
}

struct Reader<'c> {
    code: &'c str,
    at: usize,
    language: Language,
}

impl<'c> Reader<'c> {
    fn rest(&self) -> &'c str {
        self.code.get(self.at..).unwrap_or_default()
    }

    fn next(&mut self) -> Option<Token<'c>> {
        loop {
            let rest = self.rest();
            let first = rest.chars().next()?;
            if self.is_comment(rest) {
                self.at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            if first == '\n' || first == ';' {
                self.at += 1;
                return Some(Token::End);
            }
            if first.is_whitespace() {
                self.at += first.len_utf8();
                continue;
            }
            if matches!(first, '\'' | '"' | '`') {
                return Some(self.literal(first, ""));
            }
            if is_of_name(first) || first == '$' || first == '@' {
                return Some(self.name(rest));
            }
            self.at += first.len_utf8();
            return Some(Token::Mark(first));
        }
    }

    fn is_comment(&self, rest: &str) -> bool {
        match self.language {
            Language::JavaScript => rest.starts_with("//"),
            Language::Php => rest.starts_with("//") || rest.starts_with('#'),
            Language::Python | Language::Ruby | Language::Perl => rest.starts_with('#'),
        }
    }

    /// Reads a name, or a literal with a prefix such as `r''`.
    fn name(&mut self, rest: &'c str) -> Token<'c> {
        let mut end = 0;
        for (at, letter) in rest.char_indices() {
            let next = rest.get(at + letter.len_utf8()..).and_then(|rest| rest.chars().next());
            let qualifies = matches!(letter, '.' | ':')
                && next.is_some_and(|next| is_of_name(next) || next == ':')
                && (letter == ':'
                    && (next == Some(':') || rest.get(..at).is_some_and(|name| name.ends_with(':')))
                    || letter == '.' && !matches!(self.language, Language::Perl | Language::Php));
            if !(is_of_name(letter) || qualifies || at == 0) {
                break;
            }
            end = at + letter.len_utf8();
        }
        let name = rest.get(..end).unwrap_or_default();
        self.at += end;
        let is_prefix = self.language == Language::Python
            && name.len() <= 2
            && name.bytes().all(|letter| b"rRbBfFuU".contains(&letter));
        match self.rest().chars().next() {
            Some(quote @ ('\'' | '"')) if is_prefix => self.literal(quote, name),
            _ => Token::Name(name),
        }
    }

    fn literal(&mut self, quote: char, prefix: &str) -> Token<'c> {
        let rest = self.rest();
        let triple: String = [quote; 3].iter().collect();
        let is_triple = self.language == Language::Python && rest.starts_with(&triple);
        let end = if is_triple { triple } else { quote.to_string() };
        let is_raw = prefix.contains(['r', 'R']);
        let mut text = String::new();
        let mut chars = rest.char_indices().skip(end.len());
        let mut length = rest.len();
        while let Some((at, letter)) = chars.next() {
            let here = rest.get(at..).unwrap_or_default();
            if here.starts_with(&end) {
                length = at + end.len();
                break;
            }
            if letter == '\\' && !is_raw {
                text.extend(escaped(&mut chars));
                continue;
            }
            match self.hole(here, quote, prefix) {
                Some(hole) => {
                    text.push(HOLE);
                    for _ in 1..here.get(..hole).unwrap_or_default().chars().count() {
                        chars.next();
                    }
                }
                None => text.push(letter),
            }
        }
        self.at += length;
        if quote == '`' && self.language != Language::JavaScript {
            Token::Command(text)
        } else {
            Token::Text(text)
        }
    }

    /// Returns the length of a computed part at the start of the rest of a literal.
    fn hole(&self, rest: &str, quote: char, prefix: &str) -> Option<usize> {
        let braced =
            |open: &str| rest.starts_with(open).then(|| rest.find('}').map_or(rest.len(), |end| end + 1));
        match self.language {
            Language::Python if prefix.contains(['f', 'F']) => braced("{"),
            Language::Python => None,
            Language::JavaScript if quote == '`' => braced("${"),
            Language::JavaScript => None,
            _ if quote == '\'' => None,
            Language::Ruby => braced("#{"),
            Language::Perl | Language::Php => braced("${").or_else(|| braced("{$")).or_else(|| {
                let name = rest.strip_prefix(['$', '@'])?;
                let length =
                    name.chars().take_while(|letter| is_of_name(*letter)).map(char::len_utf8).sum::<usize>();
                (length > 0).then_some(length + 1)
            }),
        }
    }
}

/// Returns the character of an escape, after the backslash.
fn escaped(chars: &mut impl Iterator<Item = (usize, char)>) -> Option<char> {
    let digits = match chars.next()?.1 {
        'n' => return Some('\n'),
        't' => return Some('\t'),
        '\n' => return None,
        'x' => 2,
        'u' => 4,
        letter => return Some(letter),
    };
    let code: String = chars.take(digits).map(|(_, letter)| letter).collect();
    u32::from_str_radix(&code, 16).ok().and_then(char::from_u32).or(Some(HOLE))
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}
