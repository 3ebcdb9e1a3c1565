//! Which elements a person looking at a page does not see.

use super::walk::Tag;

use super::css::{self, Stylesheet};
use super::elements::{HIDING_CLASSES, is_in};

/// Returns the value of an attribute as text; malformed characters become U+FFFD.
pub(super) fn attribute<'t>(tag: &'t Tag, name: &str) -> Option<std::borrow::Cow<'t, str>> {
    tag.attributes.get(name.as_bytes()).map(|value| String::from_utf8_lossy(value))
}

/// Returns whether an element is hidden by its attributes or by the page's own style sheets.
///
/// The page and its body are never taken as hidden: pages that fade in hide all of themselves at first, and when nothing is
/// visible there is nothing to hide among.
pub(super) fn is_hidden(tag: &Tag, sheet: &Stylesheet) -> bool {
    let name = String::from_utf8_lossy(&tag.name);
    if matches!(&*name, "html" | "body") {
        return false;
    }
    if tag.attributes.is_empty() {
        return name == "dialog" || sheet.hides(&name, "", "");
    }
    let value = |name| attribute(tag, name).unwrap_or_default();
    let has = |name| attribute(tag, name).is_some();
    let classes = value("class");
    has("hidden")
        || has("popover")
        || (name == "dialog" && !has("open"))
        || value("aria-hidden").trim().eq_ignore_ascii_case("true")
        || classes
            .split_ascii_whitespace()
            .any(|class| is_in(class.to_ascii_lowercase().as_bytes(), HIDING_CLASSES))
        || attribute(tag, "style").is_some_and(|style| css::hides(&style))
        || (name == "font" && is_invisible_font(tag))
        || sheet.hides(&name, &value("id"), &classes)
}

/// `<font size=0>` is small but legible; `<font color=white>` on a white page is known by its exact colour only.
fn is_invisible_font(tag: &Tag) -> bool {
    attribute(tag, "color").is_some_and(|color| color.trim().eq_ignore_ascii_case("transparent"))
}
