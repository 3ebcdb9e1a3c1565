//! What the names of elements mean for reading a page.

/// Elements without an end tag.
pub(super) const VOID: &[&str] = &[
    "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input", "keygen",
    "link", "meta", "param", "source", "track", "wbr",
];

/// Elements whose content is not shown as text, or not as text of the page.
pub(super) const NOT_CONTENT: &[&str] = &[
    "applet", "audio", "canvas", "datalist", "embed", "iframe", "math", "noembed", "noframes", "noscript",
    "object", "option", "rp", "script", "select", "style", "svg", "template", "textarea", "title", "video",
];

/// Elements that stand on lines of their own.
pub(super) const BLOCK: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "caption",
    "center",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hgroup",
    "hr",
    "legend",
    "li",
    "listing",
    "main",
    "menu",
    "nav",
    "ol",
    "p",
    "plaintext",
    "pre",
    "search",
    "section",
    "summary",
    "table",
    "tbody",
    "tfoot",
    "thead",
    "tr",
    "ul",
    "xmp",
];

/// Elements that end an open paragraph when they begin.
///
/// `table` does so in some modes of the standard only, so here it does not.
pub(super) const ENDS_PARAGRAPH: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "center",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hgroup",
    "hr",
    "li",
    "listing",
    "main",
    "menu",
    "nav",
    "ol",
    "p",
    "plaintext",
    "pre",
    "search",
    "section",
    "summary",
    "ul",
    "xmp",
];

/// Elements through which an end tag does not reach.
pub(super) const BARRIERS: &[&str] = &[
    "annotation-xml",
    "applet",
    "caption",
    "desc",
    "foreignobject",
    "html",
    "marquee",
    "mi",
    "mn",
    "mo",
    "ms",
    "mtext",
    "object",
    "select",
    "table",
    "td",
    "template",
    "th",
    "title",
];

/// Elements through which the end of a row or cell does not reach.
pub(super) const TABLE_BARRIERS: &[&str] = &["html", "table", "template"];

/// Elements through which the implied end of a list item does not reach.
pub(super) const ITEM_BARRIERS: &[&str] = &[
    "applet",
    "article",
    "aside",
    "blockquote",
    "body",
    "button",
    "caption",
    "center",
    "details",
    "dir",
    "dl",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hgroup",
    "html",
    "iframe",
    "listing",
    "main",
    "marquee",
    "menu",
    "nav",
    "object",
    "ol",
    "pre",
    "search",
    "section",
    "select",
    "summary",
    "table",
    "tbody",
    "td",
    "template",
    "textarea",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
    "xmp",
];

/// Elements that the standard opens again after an end tag closed them by the way.
pub(super) const FORMATTING: &[&str] =
    &["a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"];

/// Elements that surround the content of a page without being it.
pub(super) const BOILERPLATE: &[&str] = &["aside", "button", "dialog", "footer", "menu", "nav", "search"];

/// Elements that hold the content of a page.
pub(super) const MAIN: &[&str] = &["article", "main"];

/// Roles that mean the same as [`BOILERPLATE`].
pub(super) const BOILERPLATE_ROLES: &[&str] =
    &["alert", "banner", "complementary", "contentinfo", "dialog", "menu", "menubar", "navigation", "search"];

/// Words in class names and ids that mean the same as [`BOILERPLATE`].
pub(super) const BOILERPLATE_WORDS: &[&str] = &[
    "ad",
    "ads",
    "advert",
    "advertisement",
    "banner",
    "breadcrumb",
    "breadcrumbs",
    "comments",
    "consent",
    "cookie",
    "cookies",
    "footer",
    "masthead",
    "menu",
    "nav",
    "navbar",
    "navigation",
    "newsletter",
    "pagination",
    "popup",
    "promo",
    "related",
    "share",
    "sharing",
    "sidebar",
    "social",
    "sponsored",
    "subscribe",
    "toolbar",
];

/// Class names by which pages keep text for screen readers alone.
pub(super) const HIDING_CLASSES: &[&str] = &[
    "assistive-text",
    "offscreen",
    "screen-reader-only",
    "screen-reader-text",
    "sr-only",
    "visually-hidden",
    "visuallyhidden",
];

/// Returns whether a name is in a table.
pub(super) fn is_in(name: &[u8], table: &[&str]) -> bool {
    table.binary_search_by(|row| row.as_bytes().cmp(name)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_for_searching() {
        let tables = [
            VOID,
            NOT_CONTENT,
            BLOCK,
            ENDS_PARAGRAPH,
            BARRIERS,
            TABLE_BARRIERS,
            ITEM_BARRIERS,
            FORMATTING,
            BOILERPLATE,
            MAIN,
            BOILERPLATE_ROLES,
            BOILERPLATE_WORDS,
            HIDING_CLASSES,
        ];
        for table in tables {
            assert!(table.is_sorted(), "{table:?}");
        }
    }
}
