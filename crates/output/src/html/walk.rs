//! Walks through a page and tells what is where.

use html5gum::Tokenizer;
use html5gum::emitters::default::{DefaultEmitter, Token};

use super::css::Stylesheet;
use super::elements::{BOILERPLATE, BOILERPLATE_ROLES, BOILERPLATE_WORDS, MAIN, NOT_CONTENT, is_in};
use super::hidden::{attribute, is_hidden};
use super::open::{Marks, OpenElements};
use crate::profiles::Hidden;

/// A start tag with its attributes.
pub(super) type Tag = html5gum::StartTag<()>;

/// Is told what a page consists of, with the marks that hold at each place.
pub(super) trait Visitor {
    fn start(&mut self, tag: &Tag, marks: Marks);
    fn text(&mut self, text: &str, marks: Marks);
    fn end(&mut self, name: &[u8], marks: Marks);
}

/// Walks through a page. With [`Hidden::Keep`], nothing is marked as hidden.
pub(super) fn walk(page: &str, hidden: Hidden, visitor: &mut impl Visitor) -> u64 {
    let sheet = match hidden {
        Hidden::Strip => style_sheets(page),
        Hidden::Keep => Stylesheet::default(),
    };
    let mut open = OpenElements::default();
    for token in tokens(page) {
        match token {
            Token::StartTag(tag) => {
                let marks = marks_of(&tag, hidden, &sheet);
                open.start(&tag.name, marks, tag.self_closing);
                visitor.start(&tag, open.marks().with(marks));
            }
            Token::String(text) => visitor.text(&String::from_utf8_lossy(&text), open.marks()),
            Token::EndTag(tag) => {
                let marks = open.marks();
                open.end(&tag.name);
                visitor.end(&tag.name, marks);
            }
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    open.work
}

/// Splits a page into tokens; the content of scripts, styles and the like is one text.
fn tokens(page: &str) -> impl Iterator<Item = Token> {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    Tokenizer::new_with_emitter(page, emitter).flatten()
}

/// Reads the style sheets of a page first, since one can stand after what it hides.
fn style_sheets(page: &str) -> Stylesheet {
    let mut sheet = Stylesheet::default();
    if !contains_style(page) {
        return sheet;
    }
    let mut is_in_style = false;
    for token in tokens(page) {
        match token {
            Token::StartTag(tag) => is_in_style = &**tag.name == b"style",
            Token::String(css) if is_in_style => sheet.add(&String::from_utf8_lossy(&css)),
            Token::EndTag(_) => is_in_style = false,
            _ => {}
        }
    }
    sheet
}

/// Returns whether a page can have a style sheet at all; most of the time it saves reading the page twice.
fn contains_style(page: &str) -> bool {
    page.as_bytes().windows(6).any(|window| window.eq_ignore_ascii_case(b"<style"))
}

fn marks_of(tag: &Tag, hidden: Hidden, sheet: &Stylesheet) -> Marks {
    let name = &**tag.name;
    let mut marks = Marks::NONE;
    let mut mark_if = |is_so: bool, mark| {
        if is_so {
            marks = marks.with(mark);
        }
    };
    mark_if(hidden == Hidden::Strip && is_hidden(tag, sheet), Marks::HIDDEN);
    mark_if(is_in(name, NOT_CONTENT), Marks::NOT_CONTENT);
    mark_if(is_main(tag), Marks::MAIN);
    mark_if(is_boilerplate(tag), Marks::BOILERPLATE);
    mark_if(name == b"a", Marks::LINK);
    mark_if(matches!(name, b"pre" | b"listing" | b"xmp" | b"plaintext"), Marks::PREFORMATTED);
    marks
}

fn is_main(tag: &Tag) -> bool {
    let is = |attribute_name, value: &str| {
        attribute(tag, attribute_name).is_some_and(|found| found.trim().eq_ignore_ascii_case(value))
    };
    is_in(&tag.name, MAIN)
        || (!tag.attributes.is_empty() && (is("role", "main") || is("itemprop", "articleBody")))
}

fn is_boilerplate(tag: &Tag) -> bool {
    if is_in(&tag.name, BOILERPLATE) || tag.attributes.is_empty() {
        return is_in(&tag.name, BOILERPLATE);
    }
    let role = attribute(tag, "role").unwrap_or_default().trim().to_ascii_lowercase();
    if is_in(role.as_bytes(), BOILERPLATE_ROLES) {
        return true;
    }
    // `<body class="has-sidebar">` describes the page, not the element.
    if matches!(&**tag.name, b"html" | b"body") || is_main(tag) {
        return false;
    }
    ["class", "id"].into_iter().any(|name| names_boilerplate(&attribute(tag, name).unwrap_or_default()))
}

/// Returns whether one of the names is a word for boilerplate, alone or before or after a dash (`site-footer`).
fn names_boilerplate(names: &str) -> bool {
    names.split_ascii_whitespace().any(|name| {
        let name = name.to_ascii_lowercase();
        let mut words = name.split(['-', '_']);
        let (first, last) = (words.next(), words.next_back());
        let is_word = |word: Option<&str>| word.is_some_and(|word| is_in(word.as_bytes(), BOILERPLATE_WORDS));
        is_word(first) || is_word(last)
    })
}
