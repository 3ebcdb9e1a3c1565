//! The main content of a page as text.

use super::blocks::{Block, Blocks, Style};
use super::open::Marks;
use super::walk::walk;
use crate::profiles::Hidden;

/// Less than this, and less than a quarter of the page, is not its main content but a part that was misjudged.
const FEWEST_CHARS: u64 = 140;

/// Returns what a person would read on a page: headings, paragraphs, lists and tables of its main part.
///
/// Scripts, styles, controls and comments never show; hidden elements do when they are kept on purpose.
pub(crate) fn main_content(page: &str, hidden: Hidden) -> String {
    let mut blocks = Blocks::default();
    walk(page, hidden, &mut blocks);
    let blocks = blocks.finish();
    let part = Part::of(&blocks.blocks);
    render(&blocks, part)
}

/// Which blocks of a page are shown.
#[derive(Clone, Copy)]
enum Part {
    /// Those that the page marks as its main content.
    Main,
    /// Those that are not boilerplate.
    Content,
    All,
}

impl Part {
    /// Chooses the narrowest part that is not just a scrap.
    fn of(blocks: &[Block]) -> Self {
        let chars = |part: Self| -> u64 {
            blocks.iter().filter(|block| part.has(block)).map(|block| u64::from(block.chars)).sum()
        };
        let total = chars(Self::All);
        let is_enough = |part: &Self| {
            let chars = chars(*part);
            chars > 0 && (chars >= FEWEST_CHARS || chars * 4 >= total)
        };
        [Self::Main, Self::Content].into_iter().find(is_enough).unwrap_or(Self::All)
    }

    fn has(self, block: &Block) -> bool {
        let is_content = || !block.marks.has(Marks::BOILERPLATE) && !is_mostly_links(block);
        match self {
            Self::Main => block.marks.has(Marks::MAIN) && is_content(),
            Self::Content => is_content(),
            Self::All => true,
        }
    }
}

/// Short lines of links lead elsewhere: menus, tags, "read more".
fn is_mostly_links(block: &Block) -> bool {
    let is_heading = matches!(block.style, Style::Heading(_));
    let is_in_main = block.marks.has(Marks::MAIN);
    !is_heading
        && !is_in_main
        && block.chars < 200
        && block.link_chars.saturating_mul(3) > block.chars.saturating_mul(2)
}

/// Writes the blocks, with marks that a reader of plain text knows.
fn render(page: &Blocks, part: Part) -> String {
    let mut text = String::new();
    let shown = || page.blocks.iter().filter(|block| part.has(block));
    let has_main_heading = shown().any(|block| block.style == Style::Heading(1));
    if !page.title.is_empty() && !has_main_heading && shown().next().is_some() {
        text.push_str("# ");
        text.push_str(&page.title);
    }
    let mut last = None;
    for block in shown() {
        let content = page.text.get(block.range()).unwrap_or_default();
        let content = content.trim_matches(if block.style == Style::Preformatted { '\n' } else { ' ' });
        if content.trim().is_empty() {
            continue;
        }
        let joins = matches!(block.style, Style::Item | Style::Row) && last == Some(block.style);
        if !text.is_empty() {
            text.push_str(if joins { "\n" } else { "\n\n" });
        }
        match block.style {
            Style::Heading(level) => text.extend((0..level).map(|_| '#').chain([' '])),
            Style::Item => text.push_str("- "),
            Style::Paragraph | Style::Row | Style::Preformatted => {}
        }
        text.push_str(content.trim_end());
        last = Some(block.style);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(page: &str) -> String {
        main_content(page, Hidden::Strip)
    }

    #[test]
    fn a_page_reads_as_its_content() {
        let page = "<!doctype html><title>The title</title><style>p{color:red}</style><nav><a href=/>Home</a></nav>
            <main><h2>First  part</h2><p>One <b>bold</b>\n word,<br>next line.<ul><li>a<li><p>b</ul>
            <table><tr><th>k<th>v<tr><td>1<td>2</table><pre>x\n  y\n</pre></main><footer>Imprint</footer><script>f()</script>";
        let text = "# The title\n\n## First part\n\nOne bold word,\nnext line.\n\n- a\n\nb\n\nk | v\n1 | 2\n\nx\n  y";
        assert_eq!(read(page), text);
    }

    #[test]
    fn hidden_text_does_not_get_through() {
        let secret = "IGNORE";
        for page in [
            "<p>a<p hidden>IGNORE<p>b",
            "<p>a<div style='display:none'>IGNORE<p>IGNORE</p>IGNORE</div>b",
            "<p>a<!-- IGNORE --><!--><p>b<!-- --!> --><!-- IGNORE",
            "<p>a<span style='font-size:0'>IGNORE</span>b",
            "<p>a<span class='x sr-only'>IGNORE</span>b",
            "<p>a<span aria-hidden=TRUE>IGNORE</span>b",
            "<p class=q>IGNORE</p><p>a b<style>.q{display:none}</style>",
            "<p>a b<template>IGNORE</template><noscript>IGNORE</noscript><textarea>IGNORE</textarea>",
            "<p>a b<svg><text>IGNORE</text><foreignObject><p>IGNORE</foreignObject></svg>",
            "<p>a b<dialog>IGNORE</dialog><div popover>IGNORE</div><datalist><option>IGNORE</datalist>",
            "<p>a b<img alt=IGNORE title=IGNORE><input value=IGNORE>",
            // Formatting is opened again after the paragraph that closed it.
            "<p>a b</p><p><b hidden>IGNORE</p><p>IGNORE</p>IGNORE</b>",
            // An end tag in a cell does not reach out of the table.
            "<p>a b</p><div hidden><table><tr><td></div>IGNORE</table>IGNORE</div>",
            "<p>a b</p><div hidden><svg><foreignObject></div>IGNORE</svg>IGNORE</div>",
            "<p>a b</p><div hidden></p></span></body></html>IGNORE</div>",
            "<p>a b</p><table><b hidden><tr><td>x</table>IGNORE",
            "<p>a b</p><div hidden=until-found><script>'</div>'</script>IGNORE</div>",
        ] {
            let text = read(page);
            assert!(!text.contains(secret), "{page}: {text}");
            assert!(text.contains('a') && text.contains('b'), "{page}: {text}");
        }
    }

    #[test]
    fn what_follows_hidden_text_is_read() {
        for page in [
            "<p hidden>x<p>seen",
            "<ul><li hidden>x<li>seen</ul>",
            "<table><tr><td hidden>x<td>seen</table>",
            "<table><tr hidden><td>x<tr><td>seen</table>",
            "<dl><dt hidden>x<dd>seen</dl>",
            "<div hidden><p>x</div>seen",
            "<p hidden>x<div>seen</div>",
            "<b hidden>x</b>seen",
            "<p><i hidden>x</i></p>seen",
            "<body style='opacity:0'>seen",
        ] {
            let text = read(page);
            assert!(text.contains("seen") && !text.contains('x'), "{page}: {text}");
        }
    }

    #[test]
    fn hidden_text_can_be_kept_on_purpose() {
        assert_eq!(main_content("<p hidden>a<p>b<script>c</script>", Hidden::Keep), "a\n\nb");
    }

    #[test]
    fn boilerplate_goes_unless_it_is_all_there_is() {
        let content = "Long enough to be what the page is about. ".repeat(5);
        let page = format!(
            "<div class='site-nav'>Menu</div><div>{content}</div><div id=cookie-consent>Accept</div>"
        );
        assert_eq!(read(&page), content.trim());
        assert_eq!(read("<nav><a href=1>One</a> <a href=2>Two</a></nav>"), "One Two");
        assert_eq!(read(&format!("<p>{content}<p><a href=x>Read more</a>")), content.trim());
    }

    #[test]
    fn deep_nesting_and_many_end_tags_take_linear_time() {
        let work = |page: &str| {
            let mut blocks = Blocks::default();
            walk(page, Hidden::Strip, &mut blocks)
        };
        let pages: [fn(usize) -> String; 5] = [
            |n| "<div>".repeat(n),
            |n| "<b>".repeat(n) + &"</i>".repeat(n),
            |n| "<p><b hidden>".repeat(n) + &"</p>".repeat(n),
            |n| "<table><td>".repeat(n) + &"</div>".repeat(n),
            |n| "<ul><li>".repeat(n) + &"</b></ul>".repeat(n),
        ];
        for page in pages {
            let (small, large) = (work(&page(2_000)), work(&page(4_000)));
            assert!(large <= small * 22 / 10 + 1_000, "{small} to {large}: {}", &page(2));
        }
    }
}
