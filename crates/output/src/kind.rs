//! What a source is: declared by its content type, else seen from its beginning.

/// How a text must be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Html,
    Json,
    Text,
}

/// How far markup is looked for, in bytes.
const SNIFFED_BYTES: usize = 4_096;
/// What only a page contains.
const PAGE_MARKS: &[&str] = &["<!doctype html", "<html", "<head>", "<body"];

impl Kind {
    /// Returns what a source is.
    ///
    /// A page or JSON is believed to be one. Other text, in which a person would see tags as they are, is a page only if
    /// it begins as one. Where nothing is declared, what begins with a tag is a page.
    pub(crate) fn of(content_type: Option<&str>, text: &str) -> Self {
        let text = text.trim_start();
        let beginning =
            text.get(..text.floor_char_boundary(SNIFFED_BYTES)).unwrap_or(text).to_ascii_lowercase();
        let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
        let essence = essence.to_ascii_lowercase();
        if essence.ends_with("html") || essence.ends_with("xhtml+xml") {
            return Self::Html;
        }
        if essence.ends_with("/json") || essence.ends_with("+json") {
            return Self::Json;
        }
        let is_page = if essence.is_empty() {
            begins_with_tag(&beginning) || PAGE_MARKS.iter().any(|mark| beginning.contains(mark))
        } else {
            PAGE_MARKS.iter().any(|mark| beginning.starts_with(mark))
        };
        match beginning.chars().next() {
            _ if is_page => Self::Html,
            Some('{' | '[') if essence.is_empty() => Self::Json,
            _ => Self::Text,
        }
    }
}

fn begins_with_tag(text: &str) -> bool {
    let after = text.strip_prefix('<').and_then(|after| after.chars().next());
    after.is_some_and(|character| character.is_ascii_alphabetic() || character == '!')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_declared_decides_and_what_is_not_is_looked_at() {
        for (content_type, text, kind) in [
            (Some("text/html; charset=utf-8"), "just words", Kind::Html),
            (Some("application/xhtml+xml"), "", Kind::Html),
            (Some("application/ld+json"), "", Kind::Json),
            (Some("Application/JSON"), "<p>", Kind::Json),
            (Some("text/plain"), "<div align=center># Readme</div>", Kind::Text),
            (Some("text/plain"), "\n<!DOCTYPE HTML><p>", Kind::Html),
            (None, "<div style=x>", Kind::Html),
            (None, "Notes: <html><p hidden>", Kind::Html),
            (None, " {\"a\": 1}", Kind::Json),
            (None, "if a < b && b > c", Kind::Text),
            (None, "<3", Kind::Text),
            (None, "", Kind::Text),
        ] {
            assert_eq!(Kind::of(content_type, text), kind, "{content_type:?} {text:?}");
        }
    }
}
