//! Words and quotes.

use std::borrow::Cow;

use memchr::memchr;

use crate::admission::refused_unquoted;
use crate::inline_vec::InlineVec;
use crate::options::Shell;
use crate::parser::{Admission, Parser, Read};
use crate::read_error::{ReadError, ReadErrorKind};
use crate::tree::{Expansion, Marks, Piece, Word};

/// Collects the pieces of a word.
#[derive(Debug, Default)]
pub(crate) struct Builder<'t> {
    pieces: InlineVec<Piece<'t>>,
    marks: Marks,
}

impl<'t> Builder<'t> {
    pub(crate) fn push(&mut self, piece: Piece<'t>) {
        self.pieces.push(piece);
    }

    pub(crate) fn expansion(&mut self, expansion: Expansion<'t>) {
        self.push(Piece::Expansion(Box::new(expansion)));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub(crate) fn into_pieces(self) -> InlineVec<Piece<'t>> {
        self.pieces
    }

    /// Whether `${…}` contains further braces.
    fn is_tangled(&self, written: &str) -> bool {
        let expansions = written.matches("${").count();
        let bare = |brace: char| {
            let texts = self
                .pieces
                .iter()
                .filter_map(|piece| if let Piece::Bare(text) = piece { Some(text) } else { None });
            texts.map(|text| text.matches(brace).count()).sum::<usize>()
        };
        expansions > 0
            && ['{', '}'].iter().any(|&brace| written.matches(brace).count() != bare(brace) + expansions)
    }

    fn into_word(self, span: super::span::Span) -> Option<Word<'t>> {
        match self.pieces {
            InlineVec::None => None,
            pieces => Some(Word { span, marks: self.marks, pieces }),
        }
    }
}

/// Context of a word, which determines its permitted content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordContext {
    /// An argument, a file name, an element.
    Argument,
    /// A pattern in `[[ … == … ]]`, which may contain groups.
    Pattern,
    /// A regular expression in `[[ … =~ … ]]`, in which `(` and `|` are letters.
    Regex,
}

impl<'t> Parser<'t, '_, '_, '_> {
    /// Parses a word. Returns `None` if no word begins here.
    pub(crate) fn word(&mut self, context: WordContext) -> Read<Option<Word<'t>>> {
        self.step();
        if ends_command(self.text.raw(0)) {
            return Ok(None);
        }
        let start = self.text.at;
        let mut builder = Builder::default();
        if let Err(error) = self.word_pieces(context, start, &mut builder) {
            self.keep_pieces(builder);
            return Err(error);
        }
        let span = self.text.span(start, self.text.at);
        // If `${…}` contains braces as well, bash may pair them with those outside.
        if builder.marks.has(Marks::BRACE) && builder.is_tangled(self.text.slice(start, self.text.at)) {
            builder.marks.add(Marks::TANGLED);
        }
        let word = builder.into_word(span);
        if let (Shell::Zsh, Some(word)) = (self.shell(), &word) {
            refuse_equals(word)?;
            refuse_loose_brace(word)?;
        }
        Ok(word)
    }

    fn word_pieces(&mut self, context: WordContext, start: usize, builder: &mut Builder<'t>) -> Read<()> {
        while self.word_piece(context, builder)? {}
        if self.text.at > start { self.count_one_more_word() } else { Ok(()) }
    }

    /// Reads one piece of a word. Returns whether there was one.
    fn word_piece(&mut self, context: WordContext, builder: &mut Builder<'t>) -> Read<bool> {
        let next = self.text.peek();
        match next {
            b'\\' => self.escaped(builder)?,
            b'\'' => self.single_quoted(builder)?,
            b'"' => self.double_quoted(builder)?,
            b'$' => self.dollar(Quotes::None, builder)?,
            b'`' => self.backticks(Quotes::None, builder)?,
            b'<' | b'>' if self.text.peek_second() == b'(' => self.process_substitution(builder)?,
            b'(' if self.is_zsh_process(builder) => {
                return Err(self.refuse_here(ReadErrorKind::ZshProcessSubstitution));
            }
            b'(' if self.is_group(context, builder) => self.word_group(builder)?,
            b'|' if context == WordContext::Regex => {
                self.text.at += 1;
                builder.push(Piece::Bare(Cow::Borrowed("|")));
            }
            _ if class(next) == BREAK => return Ok(false),
            _ => self.bare_run(builder)?,
        }
        Ok(true)
    }

    /// Reads as much unquoted text as there is.
    fn bare_run(&mut self, builder: &mut Builder<'t>) -> Read<()> {
        let start = self.text.at;
        let mut classes = 0;
        let bytes = self.text.rest().as_bytes();
        let length = bytes.iter().take_while(|byte| {
            let class = class(**byte);
            classes |= class;
            class != BREAK
        });
        self.text.at += length.count();
        // Texts of ASCII alone, which are nearly all, skip the search for invisible characters.
        if !self.state.ascii && self.state.admission == Admission::Checked {
            self.check_visible(start)?;
        }
        // One pass finds the end of the run and its special characters: most words are a single run without any.
        builder.marks.add(classes & !BREAK);
        builder.push(Piece::Bare(self.cow(start, self.text.at)));
        Ok(())
    }

    fn check_visible(&self, start: usize) -> Read<()> {
        match refused_unquoted(self.text.slice(start, self.text.at)) {
            None => Ok(()),
            Some((at, character)) => {
                let span = self.text.span(start + at, start + at + character.len_utf8());
                Err(ReadError::new(ReadErrorKind::InvisibleCharacter, span))
            }
        }
    }

    /// Reads a backslash and the character that it protects. Escaped line ends are already gone.
    fn escaped(&mut self, builder: &mut Builder<'t>) -> Read<()> {
        let start = self.text.at;
        self.text.at += 1;
        if self.text.rest().is_empty() {
            return Err(self.refuse(ReadErrorKind::TrailingBackslash, start));
        }
        self.text.skip_character();
        builder.push(Piece::Quoted(self.cow(start + 1, self.text.at)));
        Ok(())
    }

    fn single_quoted(&mut self, builder: &mut Builder<'t>) -> Read<()> {
        let start = self.text.at;
        self.skip_single_quotes()?;
        builder.push(Piece::Quoted(self.cow(start + 1, self.text.at - 1)));
        Ok(())
    }

    /// Moves over `'…'`.
    pub(crate) fn skip_single_quotes(&mut self) -> Read<()> {
        let start = self.text.at;
        self.text.at += 1;
        match memchr(b'\'', self.text.rest().as_bytes()) {
            Some(length) => self.text.at += length + 1,
            None => return Err(self.refuse(ReadErrorKind::UnterminatedQuote, start)),
        }
        Ok(())
    }

    /// Reads `"…"`.
    pub(crate) fn double_quoted(&mut self, builder: &mut Builder<'t>) -> Read<()> {
        let start = self.text.at;
        self.text.at += 1;
        // An empty quoted piece first: `""` is a word although it is empty, and `"$x"` is one word.
        builder.push(Piece::Quoted(Cow::Borrowed("")));
        self.deeper(|parser| {
            parser.state.in_quotes += 1;
            loop {
                parser.quoted_run(ends_quoted_run, builder);
                match parser.text.peek() {
                    b'"' => break,
                    b'\\' => parser.escaped_in_quotes(b"$`\"\\", builder)?,
                    b'$' => parser.dollar(Quotes::Double, builder)?,
                    b'`' => parser.backticks(Quotes::Double, builder)?,
                    _ if parser.text.rest().is_empty() => {
                        return Err(parser.refuse(ReadErrorKind::UnterminatedQuote, start));
                    }
                    _ => {}
                }
            }
            parser.text.at += 1;
            parser.state.in_quotes -= 1;
            Ok(())
        })
    }

    /// Reads text inside quotes up to a byte that ends it.
    pub(crate) fn quoted_run(&mut self, ends: impl Fn(u8) -> bool, builder: &mut Builder<'t>) {
        let start = self.text.at;
        let rest = self.text.rest();
        self.text.at += rest.bytes().position(ends).unwrap_or(rest.len());
        if self.text.at > start {
            builder.push(Piece::Quoted(self.cow(start, self.text.at)));
        }
    }

    /// Parses a backslash inside double quotes, which escapes only some characters and is literal before others.
    pub(crate) fn escaped_in_quotes(&mut self, protected: &[u8], builder: &mut Builder<'t>) -> Read<()> {
        let start = self.text.at;
        self.text.at += 1;
        if self.text.rest().is_empty() {
            return Err(self.refuse(ReadErrorKind::UnterminatedQuote, start));
        }
        // In double quotes a backslash is only special before these (POSIX.1, XCU 2.2.3); before others it is a letter.
        let keeps_backslash = !protected.contains(&self.text.raw(0));
        self.text.skip_character();
        let start = if keeps_backslash { start } else { start + 1 };
        builder.push(Piece::Quoted(self.cow(start, self.text.at)));
        Ok(())
    }

    /// Whether a `(` here follows a `=` that begins a word.
    fn is_zsh_process(&self, builder: &Builder<'t>) -> bool {
        let is_equals = |piece: &Piece<'_>| matches!(piece, Piece::Bare(text) if text == "=");
        self.shell() == Shell::Zsh && matches!(&*builder.pieces, [only] if is_equals(only))
    }

    /// Returns whether a `(` here belongs to the word.
    fn is_group(&mut self, context: WordContext, builder: &Builder<'t>) -> bool {
        match context {
            WordContext::Regex => true,
            WordContext::Pattern => self.shell() == Shell::Zsh || ends_in_group_operator(builder),
            // bash, after `shopt -s extglob`; before it a `(` here is an error, and nothing on the line runs.
            WordContext::Argument if self.shell() == Shell::Bash => {
                ends_in_group_operator(builder) && !self.is_empty_group()
            }
            // `name()` defines a function; a qualifier is never empty.
            WordContext::Argument => {
                self.shell() == Shell::Zsh
                    && !builder.is_empty()
                    && self.text.peek_second() != b')'
                    && !ends_in_equals(builder)
            }
        }
    }

    /// Whether the parentheses that open here are empty, as in a function definition.
    fn is_empty_group(&self) -> bool {
        let rest = self.text.rest().strip_prefix('(').unwrap_or_default();
        rest.trim_start_matches([' ', '\t', '\n', '\\']).starts_with(')')
    }

    /// Reads `( … )` inside a pattern, or a glob qualifier.
    fn word_group(&mut self, builder: &mut Builder<'t>) -> Read<()> {
        let start = self.text.at;
        // bash's treatment of braces in a group, or around one, is uncertain.
        builder.marks.add(Marks::GLOB | Marks::GROUP | Marks::TANGLED);
        let expansions = self.parenthesised()?;
        let text = self.text.slice(start, self.text.at);
        if self.shell() == Shell::Zsh && !is_harmless_qualifier(text) {
            return Err(self.refuse(ReadErrorKind::ZshGlobQualifier, start));
        }
        builder.push(Piece::Bare(self.cow(start, self.text.at)));
        for expansion in expansions {
            builder.expansion(expansion);
        }
        Ok(())
    }
}

/// The quotes around a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quotes {
    None,
    Double,
}

/// Returns whether a byte means something inside double quotes.
const fn ends_quoted_run(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | b'$' | b'`')
}

/// zsh replaces `=name` at the start of a word, also after empty quotes and at the start of a brace alternative.
fn refuse_equals(word: &Word<'_>) -> Read<()> {
    let mut pieces =
        word.pieces().iter().skip_while(|piece| matches!(piece, Piece::Quoted(text) if text.is_empty()));
    let Some(Piece::Bare(text)) = pieces.next() else { return Ok(()) };
    let starts = text.starts_with('=') && (pieces.next().is_some() || !matches!(&**text, "=" | "==" | "=~"));
    let in_braces = word.marks.has(Marks::BRACE) && (text.contains("{=") || text.contains(",="));
    if starts || in_braces { Err(ReadError::new(ReadErrorKind::ZshEquals, word.span)) } else { Ok(()) }
}

/// zsh may end a group at a `}` in a word.
fn refuse_loose_brace(word: &Word<'_>) -> Read<()> {
    let mut depth = 0_i32;
    for piece in word.pieces() {
        let Piece::Bare(text) = piece else { continue };
        for byte in text.bytes() {
            depth += i32::from(byte == b'{') - i32::from(byte == b'}');
            if depth < 0 {
                return Err(ReadError::new(ReadErrorKind::ZshSyntax, word.span));
            }
        }
    }
    Ok(())
}

fn ends_in_group_operator(builder: &Builder<'_>) -> bool {
    matches!(builder.pieces.last(), Some(Piece::Bare(text)) if text.ends_with(['?', '*', '+', '@', '!']))
}

fn ends_in_equals(builder: &Builder<'_>) -> bool {
    matches!(builder.pieces.last(), Some(Piece::Bare(text)) if text.ends_with('='))
}

/// Returns whether a zsh group only selects by kind, time or order, or is a plain alternative.
fn is_harmless_qualifier(text: &str) -> bool {
    let inside = text.trim_start_matches('(').trim_end_matches(')');
    let alternatives =
        inside.split('|').all(|part| part.chars().all(|c| c.is_ascii_alphanumeric() || "._-*/".contains(c)));
    if inside.contains('|') && alternatives {
        return true;
    }
    let qualifiers = |c: char| "./@=p*%rwxARWXsStLkmMgGhnNoOdDcaFU0123456789-^,[]".contains(c);
    inside.chars().all(qualifiers)
}

/// Whether no word can begin with this byte, in any context.
const fn ends_command(byte: u8) -> bool {
    matches!(byte, 0 | b' ' | b'\t' | b'\n' | b';' | b'&' | b')')
}

/// A byte that ends unquoted text.
const BREAK: u8 = 128;

fn class(byte: u8) -> u8 {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(BREAK)
}

/// Meaning of each byte in unquoted text.
static CLASSES: [u8; 256] = classes();

#[expect(
    clippy::indexing_slicing,
    reason = "the index is a byte and the table has 256 rows; runs at compile time"
)]
const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let rows: [(&[u8], u8); 5] = [
        (b"\0 \t\n;&|()<>\\'\"$`", BREAK),
        (b"*?[", Marks::GLOB),
        (b"{", Marks::BRACE),
        (b"~", Marks::TILDE),
        (b"=#", Marks::OTHER),
    ];
    let mut row = 0;
    while row < rows.len() {
        let (bytes, class) = rows[row];
        let mut i = 0;
        while i < bytes.len() {
            table[bytes[i] as usize] = class;
            i += 1;
        }
        row += 1;
    }
    table
}
