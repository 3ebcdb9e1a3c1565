//! A loose reading of shell text: which simple commands stand in it, and which feed which.
//!
//! It serves the built-in check for dangerous commands, which would rather see a command too many than one too few.

use std::iter::Peekable;
use std::str::Chars;

/// A simple command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Simple {
    /// Its words, unquoted.
    pub(super) words: Vec<String>,
    /// The files that its redirections name.
    pub(super) redirects: Vec<String>,
    /// The command whose output it reads, by index.
    pub(super) fed_by: Option<usize>,
    /// The command in whose words it is substituted, by index.
    pub(super) inside: Option<usize>,
}

/// Reads every simple command of a text, in order. Linear in the text.
pub(super) fn commands(text: &str) -> Vec<Simple> {
    let mut reader =
        Reader { rest: text.chars().peekable(), commands: vec![Simple::default()], ..Reader::default() };
    reader.read();
    reader.commands
}

/// Returns the text without quotes and with single spaces, for patterns that are written that way.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars().filter(|character| !matches!(character, '"' | '\'' | '\\')) {
        let blank = matches!(character, ' ' | '\t');
        if !(blank && plain.ends_with(' ')) {
            plain.push(if blank { ' ' } else { character });
        }
    }
    plain
}

struct Reader<'t> {
    rest: Peekable<Chars<'t>>,
    commands: Vec<Simple>,
    /// The command being read, by index.
    current: usize,
    /// The word being read; an empty word in quotes is a word.
    word: Option<String>,
    /// Whether the word names a file to redirect to.
    redirect: Target,
    /// The substitutions and groups that are open: what closes each, and the command to go on with.
    open: Vec<(char, usize)>,
    /// Where in `open` the backtick stands that the next one closes.
    open_backtick: Option<usize>,
    quote: Quote,
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Target {
    #[default]
    Word,
    File,
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Quote {
    #[default]
    None,
    Double,
}

impl Default for Reader<'_> {
    fn default() -> Self {
        Self {
            rest: "".chars().peekable(),
            commands: Vec::new(),
            current: 0,
            word: None,
            redirect: Target::Word,
            open: Vec::new(),
            open_backtick: None,
            quote: Quote::None,
        }
    }
}

impl Reader<'_> {
    fn read(&mut self) {
        while let Some(character) = self.rest.next() {
            match (self.quote, character) {
                (_, '\\') => self.escaped(),
                (_, '$') => self.dollar(),
                (_, '`') => self.backtick(),
                (Quote::Double, '"') => self.quote = Quote::None,
                (Quote::Double, other) => self.push(other),
                (Quote::None, '"') => self.begin_double_quote(),
                (Quote::None, '\'') => self.single_quoted(),
                (Quote::None, other) => self.unquoted(other),
            }
        }
        self.end_word();
    }

    fn unquoted(&mut self, character: char) {
        match character {
            ' ' | '\t' | '\r' => self.end_word(),
            '\n' | ';' | '&' => self.next_command(None),
            '|' => {
                // `||` runs on failure and feeds nothing; `|&` feeds as well.
                let feeds = self.rest.next_if_eq(&'|').is_none();
                self.rest.next_if_eq(&'&');
                let current = self.current;
                self.next_command(feeds.then_some(current));
            }
            '<' | '>' => self.redirection(),
            '(' => self.group(')'),
            ')' => self.close(')'),
            '#' if self.word.is_none() => while self.rest.next_if(|next| *next != '\n').is_some() {},
            other => self.push(other),
        }
    }

    fn escaped(&mut self) {
        match self.rest.next() {
            None | Some('\n') => {}
            Some(next) => self.push(next),
        }
    }

    fn dollar(&mut self) {
        if self.rest.next_if_eq(&'(').is_some() {
            self.substitution(')');
        } else if self.quote == Quote::None && self.is_field_separator() {
            self.end_word();
        } else if !(self.quote == Quote::None && matches!(self.rest.peek(), Some('\'' | '"'))) {
            self.push('$');
        }
    }

    /// Whether `$IFS` or `${IFS}` comes next, which an unquoted word ends at; it is then skipped.
    fn is_field_separator(&mut self) -> bool {
        for name in ["IFS", "{IFS}"] {
            let mut ahead = self.rest.clone();
            if name.chars().all(|expected| ahead.next() == Some(expected)) {
                self.rest = ahead;
                return true;
            }
        }
        false
    }

    fn backtick(&mut self) {
        if self.open_backtick.is_some() {
            self.close('`');
        } else {
            self.open_backtick = Some(self.open.len());
            self.substitution('`');
        }
    }

    fn begin_double_quote(&mut self) {
        self.word.get_or_insert_default();
        self.quote = Quote::Double;
    }

    fn single_quoted(&mut self) {
        let word = self.word.get_or_insert_default();
        for character in self.rest.by_ref().take_while(|character| *character != '\'') {
            word.push(character);
        }
    }

    fn redirection(&mut self) {
        // A file descriptor's number before the sign is no word of the command.
        if self.word.as_ref().is_some_and(|word| word.chars().all(|digit| digit.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        if self.rest.next_if_eq(&'(').is_some() {
            self.substitution(')');
            return;
        }
        while self.rest.next_if(|next| matches!(next, '<' | '>' | '&' | '|')).is_some() {}
        self.redirect = Target::File;
    }

    /// Begins the command of a substitution; the command around it goes on behind.
    fn substitution(&mut self, closer: char) {
        let outer = self.current;
        self.end_word();
        self.open.push((closer, outer));
        self.quote = Quote::None;
        self.begin(Simple { inside: Some(outer), ..Simple::default() });
    }

    fn group(&mut self, closer: char) {
        let outer = self.current;
        self.end_word();
        self.open.push((closer, outer));
        let fed_by = self.commands.get(outer).and_then(|command| command.fed_by);
        let inside = self.commands.get(outer).and_then(|command| command.inside);
        self.begin(Simple { fed_by, inside, ..Simple::default() });
    }

    fn close(&mut self, closer: char) {
        self.end_word();
        if let Some(at) = self.open.iter().rposition(|(open, _)| *open == closer) {
            if let Some((_, outer)) = self.open.get(at) {
                self.current = *outer;
            }
            self.open.truncate(at);
            self.open_backtick = self.open_backtick.filter(|backtick| *backtick < at);
        }
    }

    fn next_command(&mut self, fed_by: Option<usize>) {
        self.end_word();
        let inside = self.commands.get(self.current).and_then(|command| command.inside);
        self.begin(Simple { fed_by, inside, ..Simple::default() });
    }

    fn begin(&mut self, command: Simple) {
        self.current = self.commands.len();
        self.commands.push(command);
    }

    fn push(&mut self, character: char) {
        self.word.get_or_insert_default().push(character);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        let Some(command) = self.commands.get_mut(self.current) else { return };
        match std::mem::take(&mut self.redirect) {
            Target::Word => command.words.push(word),
            Target::File => command.redirects.push(word),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        commands(text)
            .iter()
            .filter(|command| !command.words.is_empty())
            .map(|command| command.words.join(" "))
            .collect()
    }

    #[test]
    fn commands_are_found() {
        let cases: [(&str, &[&str]); 16] = [
            ("ls -l", &["ls -l"]),
            ("a; b && c || d & e", &["a", "b", "c", "d", "e"]),
            ("a|b", &["a", "b"]),
            ("echo 'a; b' \"c | d\"", &["echo a; b c | d"]),
            ("echo \"x $(rm y) z\"", &["echo x  z", "rm y"]),
            ("echo `id` end", &["echo end", "id"]),
            ("(cd x; ls)", &["cd x", "ls"]),
            ("rm${IFS}-rf$IFS/", &["rm -rf /"]),
            ("r\\\nm x", &["rm x"]),
            ("a # b; c\nd", &["a", "d"]),
            ("a#b", &["a#b"]),
            ("rm -rf >/dev/null 2>&1 /", &["rm -rf /"]),
            ("bash <(curl x)", &["bash", "curl x"]),
            ("echo ''", &["echo "]),
            ("echo $'a'", &["echo a"]),
            ("'unclosed a", &["unclosed a"]),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn pipes_and_substitutions_are_known() {
        let read = commands("curl x | sudo sh; eval $(wget y)");
        let names: Vec<_> =
            read.iter().map(|c| (c.words.first().map_or("", String::as_str), c.fed_by, c.inside)).collect();
        assert_eq!(
            names,
            [("curl", None, None), ("sudo", Some(0), None), ("eval", None, None), ("wget", None, Some(2))]
        );
    }
}
