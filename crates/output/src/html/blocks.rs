//! The text of a page as blocks: paragraphs, headings, list items, rows.

use super::elements::{BLOCK, is_in};
use super::open::Marks;
use super::walk::{Tag, Visitor};

/// The visible text of a page. Blocks are ranges of one text, since a hostile page has as many of them as it likes.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    pub(super) text: String,
    pub(super) blocks: Vec<Block>,
    pub(super) title: String,
    style: Style,
    current: Block,
    is_in_title: bool,
    wants_space: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Block {
    start: u32,
    end: u32,
    pub(super) chars: u32,
    pub(super) link_chars: u32,
    pub(super) style: Style,
    pub(super) marks: Marks,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Style {
    #[default]
    Paragraph,
    Heading(u8),
    Item,
    Row,
    Preformatted,
}

impl Block {
    /// Returns where in the text the block is. A page is far smaller than what 32 bits can count.
    pub(super) fn range(&self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// The longest title that is taken.
const MAX_TITLE_CHARS: usize = 300;

impl Blocks {
    pub(super) fn finish(mut self) -> Self {
        self.flush();
        self
    }

    /// Ends the current block.
    fn flush(&mut self) {
        let end = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        if end > self.current.start {
            self.blocks.push(Block { end, ..self.current });
        }
        self.current = Block { start: end, style: self.style, ..Block::default() };
        self.wants_space = false;
    }

    /// Returns whether the current block has any text yet.
    fn has_begun(&self) -> bool {
        self.text.len() > self.current.start as usize
    }

    fn begin(&mut self, style: Style) {
        self.style = style;
        self.flush();
    }

    fn push_word(&mut self, word: &str, marks: Marks) {
        if self.wants_space && self.has_begun() {
            self.text.push(' ');
        }
        self.wants_space = false;
        self.push_raw(word, marks);
    }

    fn push_raw(&mut self, text: &str, marks: Marks) {
        if !self.has_begun() {
            self.current.marks = marks;
        }
        self.text.push_str(text);
        let chars = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        self.current.chars = self.current.chars.saturating_add(chars);
        if marks.has(Marks::LINK) {
            self.current.link_chars = self.current.link_chars.saturating_add(chars);
        }
    }

    fn push_title(&mut self, text: &str) {
        for word in text.split_whitespace() {
            if self.title.chars().count() + word.chars().count() >= MAX_TITLE_CHARS {
                return;
            }
            if !self.title.is_empty() {
                self.title.push(' ');
            }
            self.title.push_str(word);
        }
    }

    fn break_line(&mut self) {
        if self.has_begun() {
            self.text.push('\n');
            self.wants_space = false;
        }
    }
}

fn is_invisible(marks: Marks) -> bool {
    marks.has(Marks::HIDDEN) || marks.has(Marks::NOT_CONTENT)
}

impl Visitor for Blocks {
    fn start(&mut self, tag: &Tag, marks: Marks) {
        let name = &**tag.name;
        if name == b"title" && self.title.is_empty() && !marks.has(Marks::HIDDEN) {
            self.is_in_title = true;
        }
        if is_invisible(marks) {
            return;
        }
        match name {
            b"br" => self.break_line(),
            b"td" | b"th" if self.has_begun() => {
                self.wants_space = true;
                self.push_word("|", Marks::NONE);
                self.wants_space = true;
            }
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => {
                self.begin(Style::Heading(name.get(1).map_or(1, |digit| digit - b'0')));
            }
            b"li" | b"dt" | b"dd" => self.begin(Style::Item),
            b"tr" => self.begin(Style::Row),
            b"pre" | b"listing" | b"xmp" | b"plaintext" => self.begin(Style::Preformatted),
            _ if is_in(name, BLOCK) => self.begin(Style::Paragraph),
            _ => {}
        }
    }

    fn text(&mut self, text: &str, marks: Marks) {
        if std::mem::take(&mut self.is_in_title) {
            self.push_title(text);
        }
        if is_invisible(marks) {
            return;
        }
        if marks.has(Marks::PREFORMATTED) {
            return self.push_raw(text, marks);
        }
        self.wants_space |= text.starts_with(char::is_whitespace);
        for word in text.split_whitespace() {
            self.push_word(word, marks);
            self.wants_space = true;
        }
        self.wants_space =
            text.ends_with(char::is_whitespace) || (self.wants_space && text.trim().is_empty());
    }

    fn end(&mut self, name: &[u8], marks: Marks) {
        self.is_in_title = false;
        if !is_invisible(marks) && is_in(name, BLOCK) {
            self.begin(Style::Paragraph);
        }
    }
}
