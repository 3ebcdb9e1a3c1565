//! A page without what a person would not see, as markup.

use super::elements::VOID;
use super::open::Marks;
use super::walk::{Tag, Visitor, walk};
use crate::profiles::Hidden;
use stockade_text::escape_markup;

/// Returns the markup of a page without hidden elements, scripts, styles and comments.
///
/// It is written anew from what was understood, so nothing that was understood otherwise can slip through.
pub(crate) fn without_hidden(page: &str) -> String {
    let mut rewriter = Rewriter::default();
    walk(page, Hidden::Strip, &mut rewriter);
    rewriter.markup
}

#[derive(Default)]
struct Rewriter {
    markup: String,
}

impl Visitor for Rewriter {
    fn start(&mut self, tag: &Tag, marks: Marks) {
        if is_left_out(marks) {
            return;
        }
        self.markup.push('<');
        self.markup.push_str(&String::from_utf8_lossy(&tag.name));
        for (name, value) in &tag.attributes {
            self.markup.push(' ');
            self.markup.push_str(&String::from_utf8_lossy(name));
            self.markup.push_str("=\"");
            escape(&String::from_utf8_lossy(value), &mut self.markup);
            self.markup.push('"');
        }
        self.markup.push('>');
    }

    fn text(&mut self, text: &str, marks: Marks) {
        if !is_left_out(marks) {
            escape(text, &mut self.markup);
        }
    }

    fn end(&mut self, name: &[u8], marks: Marks) {
        if !is_left_out(marks) && !super::elements::is_in(name, VOID) {
            self.markup.push_str("</");
            self.markup.push_str(&String::from_utf8_lossy(name));
            self.markup.push('>');
        }
    }
}

fn is_left_out(marks: Marks) -> bool {
    marks.has(Marks::HIDDEN) || marks.has(Marks::NOT_CONTENT)
}

fn escape(text: &str, markup: &mut String) {
    markup.push_str(&escape_markup(text));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_seen_is_written() {
        let page = "<p class=a>x &lt; <span hidden>y</span><br><!-- c --><a href='?a&amp;b'>z</a></p><script>w</script>";
        let written = "<p class=\"a\">x &lt; <br><a href=\"?a&amp;b\">z</a></p>";
        assert_eq!(without_hidden(page), written);
    }

    #[test]
    fn writing_twice_changes_nothing() {
        let once = without_hidden("<div><p hidden>a<p title='\"<'>b &amp;amp; <b hidden>c</p>d</b>e");
        assert_eq!(without_hidden(&once), once);
    }
}
