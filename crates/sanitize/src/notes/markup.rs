//! Markup that renders nothing.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use memchr::{memchr_iter, memchr2};

/// CSS declarations that hide an element, without spaces and in lower case.
const HIDING_STYLES: &[&str] = &[
    "display:none",
    "visibility:hidden",
    "opacity:0",
    "font-size:0",
    "font-size:0px",
    "font-size:1px",
    "max-height:0",
    "max-width:0",
    "color:transparent",
    "left:-9999px",
    "text-indent:-9999px",
];

/// Longest tag that is inspected. No honest tag is longer; a longer one is read up to here.
const MAX_TAG: usize = 2048;

static LABEL_ENDS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("]:"));

/// Whether a link definition has no target but a title: `[//]: # (text)`, `[x]: <> "text"`.
pub(super) fn has_hidden_markdown(text: &str) -> bool {
    let split = |at| text.split_at_checked(at).unwrap_or_default();
    LABEL_ENDS
        .find_iter(text.as_bytes())
        .any(|at| leads_nowhere(split(at + 2).1) && begins_a_definition(split(at).0))
}

/// Whether a tag has the attribute `hidden` or a style that hides its element.
pub(super) fn has_hidden_html(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr_iter(b'<', bytes).any(|at| is_hidden(attributes(bytes.get(at..).unwrap_or_default())))
}

/// Whether the line up to the closing bracket is only a label.
fn begins_a_definition(before: &str) -> bool {
    let window = before.len().saturating_sub(1000);
    let tail = before.as_bytes().get(window..).unwrap_or_default();
    let line_start = tail.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let line = tail.get(line_start..).unwrap_or_default();
    let label = line.trim_ascii_start();
    line.len() - label.len() <= 3 && label.first() == Some(&b'[')
}

fn leads_nowhere(after: &str) -> bool {
    let target = skip_spaces_and_line_end(after);
    let title = ["#", "<#>", "<>"].iter().find_map(|nowhere| target.strip_prefix(nowhere));
    title.is_some_and(|title| {
        let text = skip_spaces_and_line_end(title);
        text.len() < title.len() && text.starts_with(['(', '"', '\''])
    })
}

/// A definition may contain one line break before its target and one before its title.
fn skip_spaces_and_line_end(text: &str) -> &str {
    let line = text.trim_start_matches([' ', '\t']);
    line.strip_prefix('\n').map_or(line, |next| next.trim_start_matches([' ', '\t']))
}

/// Returns the text between a tag's name and its end, truncated to `MAX_TAG`. `<name>` has none.
fn attributes(tag: &[u8]) -> &[u8] {
    let tag = tag.get(1..).unwrap_or_default();
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b':');
    let named = tag.first().is_some_and(u8::is_ascii_alphabetic);
    let window = tag.get(..MAX_TAG).unwrap_or(tag);
    match window.iter().position(|byte| !is_name(byte)) {
        Some(name) if named && window.get(name).is_some_and(u8::is_ascii_whitespace) => {
            let rest = window.get(name..).unwrap_or_default();
            rest.get(..memchr2(b'>', b'<', rest).unwrap_or(rest.len())).unwrap_or_default()
        }
        _ => &[],
    }
}

fn is_hidden(attributes: &[u8]) -> bool {
    has_hidden_attribute(attributes) || has_hiding_style(attributes)
}

fn has_hidden_attribute(attributes: &[u8]) -> bool {
    let words = attributes.split(u8::is_ascii_whitespace);
    let mut names = words.filter_map(|word| word.split(|byte| matches!(byte, b'=' | b'/')).next());
    names.any(|name| name.eq_ignore_ascii_case(b"hidden"))
}

fn has_hiding_style(attributes: &[u8]) -> bool {
    const STYLE: &[u8] = b"style";
    let Some(at) = attributes.windows(STYLE.len()).position(|word| word.eq_ignore_ascii_case(STYLE)) else {
        return false;
    };
    let style = attributes.get(at..).unwrap_or_default();
    let declarations = style.split(|byte| matches!(byte, b'=' | b';' | b'"' | b'\''));
    declarations.into_iter().any(|declaration| HIDING_STYLES.iter().any(|style| says(declaration, style)))
}

/// Whether a declaration equals `style`, ignoring spaces and case; `!important` may follow.
fn says(declaration: &[u8], style: &str) -> bool {
    let mut written = declaration.iter().filter(|byte| !byte.is_ascii_whitespace());
    let same =
        style.bytes().all(|byte| written.next().is_some_and(|other| other.eq_ignore_ascii_case(&byte)));
    same && matches!(written.next(), None | Some(b'!' | b'/'))
}

#[cfg(test)]
mod tests {
    use super::{has_hidden_html, has_hidden_markdown};

    #[test]
    fn link_definitions_that_lead_nowhere_hide_their_title() {
        for text in [
            "[//]: # (hidden)",
            "text\n\n  [comment]: <> \"hidden\"",
            "[x]: #\n  'hidden'",
            "[//]:\n# (hidden)",
        ] {
            assert!(has_hidden_markdown(text), "{text}");
        }
    }

    #[test]
    fn other_link_definitions_do_not() {
        for text in [
            "[1]: https://a.example \"Title\"",
            "[top]: #",
            "[top]: #top (Top)",
            "see [a]: # (not at the start)",
            "list[int]: #(x)",
        ] {
            assert!(!has_hidden_markdown(text), "{text}");
        }
    }

    #[test]
    fn invisible_elements_are_found() {
        for text in [
            "<div style=\"display:none\">x</div>",
            "<SPAN STYLE='Display : None;'>",
            "<p hidden>",
            "<p hidden=\"\" id=x>",
            "<i style=\"color:red; font-size: 0\">",
            "<b style=opacity:0>",
            "<b style='display:none !important'>",
            "<p\nstyle=\"visibility: hidden\">",
        ] {
            assert!(has_hidden_html(text), "{text}");
        }
    }

    #[test]
    fn visible_elements_are_not() {
        for text in [
            "<details><summary>x</summary>y</details>",
            "<i aria-hidden=\"true\">",
            "<b style=\"opacity:0.5\">",
            "a < b hidden",
            "display:none",
            "<your hidden-name>",
            "<hidden>",
        ] {
            assert!(!has_hidden_html(text), "{text}");
        }
    }

    #[test]
    fn a_flood_of_tags_is_read_once() {
        assert!(!has_hidden_html(&"<a ".repeat(100_000)));
        assert!(!has_hidden_markdown(&"]:".repeat(100_000)));
    }
}
