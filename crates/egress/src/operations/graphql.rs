//! Documents of GraphQL: the kinds of their operations, with the fields at the root of each.
//!
//! A document may have several operations, and the request chooses one. All of them count. Directives such as `@skip` and the
//! names that a client gives to operations and fields decide nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::operation::{MAX_OPERATIONS, Operation, Unread};

/// The kinds of operations.
pub(super) const KINDS: [&str; 3] = ["query", "mutation", "subscription"];

/// Maximum number of fields and fragments at the root of operations and fragments.
const MAX_SELECTIONS: usize = 4_096;

/// Maximum depth of nested brackets.
const MAX_DEPTH: usize = 256;

/// Returns the operations of a document.
pub(super) fn operations(document: &str) -> Result<Vec<Operation>, Unread> {
    let read = Document::read(document).ok_or(Unread::Graphql)?;
    let mut all = BTreeSet::new();
    for (kind, selected) in &read.operations {
        for field in read.fields_of(selected).ok_or(Unread::Graphql)? {
            all.insert(Operation { kind: (*kind).to_owned(), name: Some(field.to_owned()) });
            if all.len() > MAX_OPERATIONS {
                return Err(Unread::TooMany);
            }
        }
    }
    if all.is_empty() { Err(Unread::Graphql) } else { Ok(all.into_iter().collect()) }
}

/// The selections at the root of an operation or fragment.
#[derive(Debug, Default)]
struct Selected<'d> {
    fields: Vec<&'d str>,
    fragments: Vec<&'d str>,
}

#[derive(Debug, Default)]
struct Document<'d> {
    operations: Vec<(&'d str, Selected<'d>)>,
    fragments: BTreeMap<&'d str, Selected<'d>>,
}

impl<'d> Document<'d> {
    fn read(text: &'d str) -> Option<Self> {
        let mut tokens = Tokens::new(text);
        let mut document = Self::default();
        while let Some(token) = tokens.next()? {
            match token {
                Token::Mark('{') => document.operations.push(("query", tokens.selections()?)),
                Token::Name(kind) if KINDS.contains(&kind) => {
                    tokens.head()?;
                    document.operations.push((kind, tokens.selections()?));
                }
                Token::Name("fragment") => {
                    let name = tokens.name()?;
                    tokens.head()?;
                    let before = document.fragments.insert(name, tokens.selections()?);
                    // Servers refuse a second fragment of one name, and could use either.
                    before.is_none().then_some(())?;
                }
                _ => return None,
            }
            (document.operations.len() <= MAX_OPERATIONS).then_some(())?;
        }
        Some(document)
    }

    /// Returns the fields of an operation, also by its fragments.
    fn fields_of<'s>(&'s self, selected: &'s Selected<'d>) -> Option<BTreeSet<&'d str>> {
        let mut fields: BTreeSet<&str> = BTreeSet::new();
        let (mut seen, mut left) = (BTreeSet::new(), vec![selected]);
        while let Some(selected) = left.pop() {
            fields.extend(&selected.fields);
            for name in &selected.fragments {
                if seen.insert(*name) {
                    left.push(self.fragments.get(name)?);
                }
            }
        }
        Some(fields)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'d> {
    Mark(char),
    Spread,
    Name(&'d str),
    /// A number or string.
    Value,
}

struct Tokens<'d> {
    rest: &'d str,
    peeked: Option<Option<Token<'d>>>,
    selections: usize,
}

impl<'d> Tokens<'d> {
    fn new(text: &'d str) -> Self {
        Self { rest: text.strip_prefix('\u{feff}').unwrap_or(text), peeked: None, selections: 0 }
    }

    /// Returns the next token, or `None` in it at the end; nothing for an invalid text.
    fn next(&mut self) -> Option<Option<Token<'d>>> {
        match self.peeked.take() {
            Some(token) => Some(token),
            None => self.read(),
        }
    }

    fn peek(&mut self) -> Option<Option<Token<'d>>> {
        if self.peeked.is_none() {
            self.peeked = Some(self.read()?);
        }
        self.peeked
    }

    /// Takes a mark if it is the next token.
    fn takes(&mut self, mark: char) -> Option<bool> {
        let is_next = self.peek()? == Some(Token::Mark(mark));
        if is_next {
            self.peeked = None;
        }
        Some(is_next)
    }

    fn name(&mut self) -> Option<&'d str> {
        match self.next()? {
            Some(Token::Name(name)) => Some(name),
            _ => None,
        }
    }

    fn read(&mut self) -> Option<Option<Token<'d>>> {
        self.skip_ignored()?;
        let Some(first) = self.rest.chars().next() else { return Some(None) };
        let (length, token) = match first {
            '!' | '$' | '&' | '(' | ')' | ':' | '=' | '@' | '[' | ']' | '{' | '|' | '}' => {
                (1, Token::Mark(first))
            }
            '.' => (self.rest.starts_with("...").then_some(3)?, Token::Spread),
            '"' => (string(self.rest)?, Token::Value),
            '-' | '0'..='9' => {
                (run(self.rest, |byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)), Token::Value)
            }
            'a'..='z' | 'A'..='Z' | '_' => {
                let length = run(self.rest, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
                (length, Token::Name(self.rest.get(..length)?))
            }
            _ => return None,
        };
        self.rest = self.rest.get(length..)?;
        Some(Some(token))
    }

    /// Skips blanks, commas and comments.
    fn skip_ignored(&mut self) -> Option<()> {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r', ',']);
            let Some(comment) = self.rest.strip_prefix('#') else { return Some(()) };
            let end = comment.find(['\n', '\r']).unwrap_or(comment.len());
            let (comment, rest) = comment.split_at_checked(end)?;
            // Versions of the language end a comment at different characters.
            let is_end = |c: char| c != '\t' && (c.is_control() || "\u{2028}\u{2029}".contains(c));
            (!comment.contains(is_end)).then_some(())?;
            self.rest = rest;
        }
    }

    /// Skips the head of a definition, and the bracket of its selections.
    fn head(&mut self) -> Option<()> {
        loop {
            match self.next()?? {
                Token::Mark('{') => return Some(()),
                Token::Mark('(') => self.skip_group('(')?,
                Token::Mark('@') | Token::Name(_) => {}
                _ => return None,
            }
        }
    }

    /// Skips the rest of a group in brackets.
    fn skip_group(&mut self, open: char) -> Option<()> {
        let mut ends = vec![end_of(open)];
        while let Some(end) = ends.last() {
            match self.next()?? {
                Token::Mark(mark) if mark == *end => drop(ends.pop()),
                Token::Mark(open @ ('(' | '[' | '{')) => ends.push(end_of(open)),
                Token::Mark(')' | ']' | '}') => return None,
                _ => {}
            }
            (ends.len() <= MAX_DEPTH).then_some(())?;
        }
        Some(())
    }

    fn skip_directives(&mut self) -> Option<()> {
        while self.takes('@')? {
            self.name()?;
            self.skip_arguments()?;
        }
        Some(())
    }

    fn skip_arguments(&mut self) -> Option<()> {
        if self.takes('(')? { self.skip_group('(') } else { Some(()) }
    }

    /// Reads the selections at the root of a definition, behind their bracket.
    fn selections(&mut self) -> Option<Selected<'d>> {
        let mut selected = Selected::default();
        let mut open = 1_usize;
        while open > 0 {
            self.selections += 1;
            (self.selections <= MAX_SELECTIONS).then_some(())?;
            match self.next()?? {
                Token::Mark('}') => open -= 1,
                // The selections of a fragment without a name are those of the operation.
                Token::Spread => open += usize::from(self.spread(&mut selected)?),
                Token::Name(alias) => {
                    let name = if self.takes(':')? { self.name()? } else { alias };
                    self.skip_arguments()?;
                    self.skip_directives()?;
                    if self.takes('{')? {
                        self.skip_group('{')?;
                    }
                    selected.fields.push(name);
                }
                _ => return None,
            }
        }
        Some(selected)
    }

    /// Reads a fragment behind `...`. Returns whether it opens a bracket.
    fn spread(&mut self, selected: &mut Selected<'d>) -> Option<bool> {
        match self.peek()?? {
            Token::Name("on") => {
                self.peeked = None;
                self.name()?;
            }
            Token::Name(name) => {
                self.peeked = None;
                self.skip_directives()?;
                selected.fragments.push(name);
                return Some(false);
            }
            _ => {}
        }
        self.skip_directives()?;
        self.takes('{')?.then_some(true)
    }
}

const fn end_of(open: char) -> char {
    match open {
        '(' => ')',
        '[' => ']',
        _ => '}',
    }
}

/// Returns the number of bytes from the start that belong to a token.
fn run(text: &str, is_part: fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| is_part(*byte)).count()
}

/// Returns the length of a string at the start of a text.
fn string(text: &str) -> Option<usize> {
    const BLOCK: &str = "\"\"\"";
    if text.starts_with(BLOCK) {
        let mut at = BLOCK.len();
        loop {
            at += text.get(at..)?.find(BLOCK)?;
            if !text.get(..at)?.ends_with('\\') {
                return Some(at + BLOCK.len());
            }
            at += BLOCK.len();
        }
    }
    let mut bytes = text.bytes().enumerate().skip(1);
    loop {
        match bytes.next()? {
            (at, b'"') => return Some(at + 1),
            (_, b'\\') => drop(bytes.next()?),
            (_, b'\n' | b'\r') => return None,
            _ => {}
        }
    }
}
