//! One edited version of a text, with a mapping to the original.

use std::ops::Range;

/// A text in which stretches of another were replaced.
#[derive(Debug)]
pub(super) struct Layer {
    text: String,
    edits: Vec<Edit>,
}

/// A replaced stretch of the text.
#[derive(Debug)]
struct Edit {
    raw: Range<usize>,
    deobfuscated: Range<usize>,
}

impl Layer {
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the span in the original text for a span of this text.
    pub(super) fn raw_span(&self, span: Range<usize>) -> Range<usize> {
        self.raw_start(span.start)..self.raw_end(span.end)
    }

    fn raw_start(&self, deobfuscated: usize) -> usize {
        let after = self.edits.partition_point(|edit| edit.deobfuscated.start <= deobfuscated);
        match after.checked_sub(1).and_then(|index| self.edits.get(index)) {
            Some(edit) if deobfuscated < edit.deobfuscated.end => edit.raw.start,
            Some(edit) => edit.raw.end + (deobfuscated - edit.deobfuscated.end),
            None => deobfuscated,
        }
    }

    fn raw_end(&self, deobfuscated: usize) -> usize {
        let after = self.edits.partition_point(|edit| edit.deobfuscated.start < deobfuscated);
        match after.checked_sub(1).and_then(|index| self.edits.get(index)) {
            Some(edit) if deobfuscated <= edit.deobfuscated.end => edit.raw.end,
            Some(edit) => edit.raw.end + (deobfuscated - edit.deobfuscated.end),
            None => deobfuscated,
        }
    }
}

/// Builds a [`Layer`]: text that is not replaced is copied.
#[derive(Debug)]
pub(super) struct Editor<'t> {
    text: &'t str,
    /// Number of input bytes in the output.
    copied: usize,
    out: String,
    edits: Vec<Edit>,
}

impl<'t> Editor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, copied: 0, out: String::new(), edits: Vec::new() }
    }

    /// Replaces a stretch behind all those replaced before.
    pub(super) fn replace(&mut self, raw: Range<usize>, plain: &str) {
        if self.edits.is_empty() {
            self.out.reserve(self.text.len());
        }
        self.out.push_str(self.text.get(self.copied..raw.start).unwrap_or_default());
        let start = self.out.len();
        self.out.push_str(plain);
        self.copied = raw.end;
        self.edits.push(Edit { raw, deobfuscated: start..self.out.len() });
    }

    /// Returns the changed text; `None` if nothing was replaced.
    pub(super) fn finish(mut self) -> Option<Layer> {
        if self.edits.is_empty() {
            return None;
        }
        self.out.push_str(self.text.get(self.copied..).unwrap_or_default());
        Some(Layer { text: self.out, edits: self.edits })
    }
}
