//! Texts of documents that are zips of markup: Word, PowerPoint, Excel and LibreOffice.

/// Markup that ends a visible line, and line breaks.
const ENDS: &[&[u8]] = &[
    b"/w:p",
    b"/a:p",
    b"/text:p",
    b"/text:h",
    b"/si",
    b"/t:p",
    b"/row",
    b"w:br",
    b"a:br",
    b"text:line-break",
];

/// Character entities of markup.
const ENTITIES: &[(&[u8], u8)] =
    &[(b"&lt;", b'<'), (b"&gt;", b'>'), (b"&amp;", b'&'), (b"&quot;", b'"'), (b"&apos;", b'\'')];

/// Returns the visible text if the member is a document: without markup, one line per line.
pub(super) fn text_of_markup(name: &[u8], bytes: &[u8]) -> Option<String> {
    if !name.to_ascii_lowercase().ends_with(b".xml") || !bytes.contains(&b'<') {
        return None;
    }
    let mut text = Vec::with_capacity(bytes.len() / 4);
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        rest = match first {
            b'<' => {
                let end = memchr::memchr(b'>', after).unwrap_or(after.len());
                let (tag, behind) = after.split_at(end);
                if ENDS.iter().any(|end| is_tag(tag, end)) {
                    text.push(b'\n');
                }
                behind.get(1..).unwrap_or_default()
            }
            b'&' => {
                let entity = ENTITIES.iter().find(|(entity, _)| rest.starts_with(entity));
                let (letter, length) = entity.map_or((b'&', 1), |(entity, letter)| (*letter, entity.len()));
                text.push(letter);
                rest.get(length..).unwrap_or_default()
            }
            other => {
                text.push(*other);
                after
            }
        };
    }
    Some(String::from_utf8_lossy(&text).into_owned())
}

fn is_tag(tag: &[u8], name: &[u8]) -> bool {
    tag.strip_prefix(name)
        .is_some_and(|rest| !matches!(rest.first(), Some(b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9')))
}
