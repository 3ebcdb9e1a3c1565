//! The elements that are open at a place in a page.

use std::collections::HashMap;

use super::elements::{BARRIERS, ENDS_PARAGRAPH, FORMATTING, ITEM_BARRIERS, TABLE_BARRIERS, VOID, is_in};

/// How deep elements nest, as in browsers; what is deeper stands beside its parent.
const MAX_DEPTH: usize = 512;

/// What an element means for the text in it. Several marks can hold at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks(u8);

impl Marks {
    pub(super) const NONE: Self = Self(0);
    /// A person would not see it.
    pub(super) const HIDDEN: Self = Self(1);
    /// It is not text of the page: scripts, styles, controls.
    pub(super) const NOT_CONTENT: Self = Self(2);
    /// Navigation, footers and the like.
    pub(super) const BOILERPLATE: Self = Self(4);
    /// The main content of a page.
    pub(super) const MAIN: Self = Self(8);
    pub(super) const LINK: Self = Self(16);
    pub(super) const PREFORMATTED: Self = Self(32);

    const ALL: [Self; 6] =
        [Self::HIDDEN, Self::NOT_CONTENT, Self::BOILERPLATE, Self::MAIN, Self::LINK, Self::PREFORMATTED];

    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// A stack of open elements, with the marks of all of them together.
#[derive(Debug, Default)]
pub(super) struct OpenElements {
    stack: Vec<Element>,
    /// How many open elements have each name, so that an end tag without a beginning costs nothing.
    names: HashMap<Box<[u8]>, usize>,
    /// How many open elements have each mark, in the order of [`Marks::ALL`].
    counts: [usize; Marks::ALL.len()],
    /// How many comparisons were made: the proof that time is linear.
    pub(super) work: u64,
}

#[derive(Clone, Debug)]
struct Element {
    name: Box<[u8]>,
    marks: Marks,
    stops: Stops,
}

/// What an element does not let through, found out once when it is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Stops(u8);

impl Stops {
    const END_TAGS: Self = Self(1);
    const TABLE_PARTS: Self = Self(2);
    const ITEMS: Self = Self(4);
    /// The implied end of a paragraph: what stops an end tag, and a button.
    const PARAGRAPHS: Self = Self(8);

    fn of(name: &[u8]) -> Self {
        let tables = [
            (Self::END_TAGS.0 | Self::PARAGRAPHS.0, BARRIERS),
            (Self::TABLE_PARTS.0, TABLE_BARRIERS),
            (Self::ITEMS.0, ITEM_BARRIERS),
            (Self::PARAGRAPHS.0, &["button"]),
        ];
        let found = tables.into_iter().filter(|(_, table)| is_in(name, table));
        Self(found.fold(0, |bits, (bit, _)| bits | bit))
    }

    const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl OpenElements {
    /// Returns the marks that hold here.
    pub(super) fn marks(&self) -> Marks {
        let held = Marks::ALL.into_iter().zip(self.counts).filter(|(_, count)| *count > 0);
        held.fold(Marks::NONE, |marks, (mark, _)| marks.with(mark))
    }

    /// Opens an element, after closing what it ends by beginning.
    pub(super) fn start(&mut self, name: &[u8], marks: Marks, is_self_closing: bool) {
        self.end_implied(name);
        let is_foreign = matches!(name, b"svg" | b"math") || self.marks().has(Marks::NOT_CONTENT);
        if is_in(name, VOID) || (is_self_closing && is_foreign) {
            return;
        }
        if self.stack.len() < MAX_DEPTH {
            self.push(Element { name: name.into(), marks, stops: Stops::of(name) });
        } else if marks.has(Marks::HIDDEN) || marks.has(Marks::NOT_CONTENT) {
            // There is no place to remember where it ends, so it ends with the element around it.
            self.mark_top(marks);
        }
    }

    /// Closes an element, if its end tag reaches one.
    pub(super) fn end(&mut self, name: &[u8]) {
        // What follows the end of a page still belongs to it.
        if matches!(name, b"html" | b"body") {
            return;
        }
        let is_of_table =
            matches!(name, b"table" | b"tbody" | b"tfoot" | b"thead" | b"tr" | b"td" | b"th" | b"caption");
        let stop = if is_of_table { Stops::TABLE_PARTS } else { Stops::END_TAGS };
        self.end_nearest(&[name], stop);
    }

    /// Closes what the beginning of an element ends.
    fn end_implied(&mut self, name: &[u8]) {
        match name {
            b"li" => self.end_nearest(&[b"li"], Stops::ITEMS),
            b"dd" | b"dt" => self.end_nearest(&[b"dd", b"dt"], Stops::ITEMS),
            b"td" | b"th" => self.end_nearest(&[b"td", b"th"], Stops::TABLE_PARTS),
            b"tr" => self.end_nearest(&[b"tr"], Stops::TABLE_PARTS),
            b"tbody" | b"tfoot" | b"thead" => {
                self.end_nearest(&[b"tbody", b"tfoot", b"thead"], Stops::TABLE_PARTS);
            }
            _ => {}
        }
        if is_in(name, ENDS_PARAGRAPH) {
            self.end_nearest(&[b"p"], Stops::PARAGRAPHS);
        }
    }

    /// Closes the innermost element with one of the names, unless something before it stops that.
    fn end_nearest(&mut self, names: &[&[u8]], stop: Stops) {
        if !names.iter().any(|name| self.names.contains_key(*name)) {
            return;
        }
        for (at, element) in self.stack.iter().enumerate().rev() {
            self.work += 1;
            if names.contains(&&*element.name) {
                return self.pop_to(at);
            }
            if element.stops.has(stop) {
                return;
            }
        }
    }

    /// Closes an element and all within it. Formatting that hides and was closed only by the way is opened again, as the
    /// standard does: `<b hidden>` hides what follows until `</b>`.
    fn pop_to(&mut self, at: usize) {
        let mut reopened = Vec::new();
        while self.stack.len() > at {
            let Some(element) = self.pop() else { break };
            let is_by_the_way = self.stack.len() > at;
            if is_by_the_way && element.marks.has(Marks::HIDDEN) && is_in(&element.name, FORMATTING) {
                reopened.push(element);
            }
        }
        for element in reopened.into_iter().rev() {
            self.push(element);
        }
    }

    fn push(&mut self, element: Element) {
        self.count(element.marks, |count| *count += 1);
        match self.names.get_mut(&element.name) {
            Some(open) => *open += 1,
            None => drop(self.names.insert(element.name.clone(), 1)),
        }
        self.stack.push(element);
    }

    fn pop(&mut self) -> Option<Element> {
        let element = self.stack.pop()?;
        self.work += 1;
        self.count(element.marks, |count| *count -= 1);
        match self.names.get_mut(&element.name) {
            Some(open) if *open > 1 => *open -= 1,
            _ => drop(self.names.remove(&element.name)),
        }
        Some(element)
    }

    fn mark_top(&mut self, marks: Marks) {
        if let Some(mut element) = self.pop() {
            element.marks = element.marks.with(marks);
            self.push(element);
        }
    }

    fn count(&mut self, marks: Marks, change: impl Fn(&mut usize)) {
        for (mark, count) in Marks::ALL.into_iter().zip(&mut self.counts) {
            if marks.has(mark) {
                change(count);
            }
        }
    }
}
