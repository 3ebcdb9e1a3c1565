//! Properties of every input, however hostile. The fuzz targets call these functions; ordinary tests replay the seeds
//! and random texts through them.

use std::collections::HashSet;

use stockade_text::{
    Editor, Escaped, Format, LineIndex, MAX_NESTING, Node, PositionCursor, Shown, TextPosition, Value,
    escape, escape_lines, is_printable, nearest, parse, shown_within,
};

const MAX_BYTES: usize = 1 << 20;

pub(crate) fn yaml(data: &[u8]) {
    document(data, Format::Yaml);
}

pub(crate) fn toml(data: &[u8]) {
    document(data, Format::Toml);
}

/// JSON has the meaning that `serde_json` gives it.
pub(crate) fn json(data: &[u8]) {
    let Some(node) = document(data, Format::Json) else { return };
    let meant: serde_json::Value = match serde_json::from_slice(data) {
        Ok(meant) => meant,
        // A number beyond the range of `f64` is kept as written.
        Err(error) => return assert!(error.to_string().contains("out of range"), "{error}"),
    };
    assert_eq!(node.value.to_json(), meant);
}

/// A text is a document, or is rejected with a reason. Either way, every position lies in the text.
fn document(data: &[u8], format: Format) -> Option<Node> {
    let text = std::str::from_utf8(data).ok()?;
    let widths: Vec<usize> = text.split('\n').map(|line| line.chars().count()).collect();
    let inside = |at: TextPosition| {
        let width = at.line.checked_sub(1).and_then(|index| widths.get(index));
        width.is_some_and(|width| (1..=width + 1).contains(&at.column))
    };
    match parse(text, format, MAX_BYTES) {
        Ok(node) => {
            assert_eq!(parse(text, format, MAX_BYTES).as_ref(), Ok(&node));
            well_formed(&node, &inside, MAX_NESTING);
            Some(node)
        }
        Err(error) => {
            assert!(inside(error.at), "{error}");
            assert!(!error.reason.is_empty());
            None
        }
    }
}

fn well_formed(node: &Node, inside: &impl Fn(TextPosition) -> bool, depth: usize) {
    assert!(inside(node.at), "{}", node.at);
    assert!(!node.value.kind().is_empty());
    match &node.value {
        Value::List(nodes) => nodes.iter().for_each(|node| well_formed(node, inside, below(depth))),
        Value::Table(entries) => {
            let mut keys = HashSet::new();
            for entry in entries {
                assert!(inside(entry.at), "{}", entry.at);
                assert!(keys.insert(&entry.key), "`{}` is there twice", entry.key);
                well_formed(&entry.node, inside, below(depth));
            }
        }
        Value::Number(number) => assert_eq!(number.trim(), number),
        Value::Nothing | Value::Flag(_) | Value::Text(_) | Value::Date(_) => {}
    }
}

/// Levels that may follow below one.
fn below(depth: usize) -> usize {
    assert!(depth > 0, "it is nested deeper than is accepted");
    depth - 1
}

/// Escaped text is printable, equals the input if nothing had to be escaped, and both ways to escape agree.
/// A document of any format is edited as wanted, or refused. The edited document can be read, and the same edit changes nothing
/// more.
pub(crate) fn edits(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for format in [Format::Toml, Format::Yaml, Format::Json] {
        for path in [&["a"][..], &["a", "b"], &["b", "a", "b"]] {
            let set = Editor::new(text, format).set_value(path, "'new'");
            let added = Editor::new(text, format).append_value(path, "'new'");
            for (edited, again) in [(set, true), (added, false)] {
                let Ok(edited) = edited else { continue };
                let node = parse(&edited, format, MAX_BYTES).unwrap();
                let value = path.iter().fold(&node.value, |value, key| &value.get(key).unwrap().node.value);
                let editor = Editor::new(&edited, format);
                let twice =
                    if again { editor.set_value(path, "'new'") } else { editor.append_value(path, "'new'") };
                match value {
                    Value::List(list) => {
                        assert!(list.iter().any(|one| one.value.words() == Some("new")), "{edited}");
                        assert_eq!(twice.as_ref(), Ok(&edited));
                        assert!(editor.remove_value(path, "'new'").is_ok(), "{edited}");
                    }
                    value => {
                        assert_eq!(value.words(), Some("new"), "{edited}");
                        assert_eq!(twice.as_ref(), Ok(&edited));
                    }
                }
                assert!(editor.remove_key(path).is_ok(), "{edited}");
            }
            drop(Editor::new(text, format).push_tables(path, &["c = 1\n", "d = ['x']\n"]));
            drop(Editor::new(text, format).remove_table(path, 0));
        }
    }
}

pub(crate) fn escaping(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let escaped = escape(&text);
    assert!(escaped.chars().all(is_printable));
    assert_eq!(escaped == text, text.chars().all(is_printable));
    assert_eq!(Escaped(&text).to_string(), escaped);
    assert_eq!(escape(&escaped), escaped);
    let lines = escape_lines(&text);
    assert!(lines.split('\n').map(escape).eq(text.split('\n').map(|line| escape(line).into_owned())));
}

/// Text shown in a question can be read back, so no two texts are shown alike; and nothing in it is hidden.
pub(crate) fn showing(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let shown = Shown(&text).to_string();
    assert_eq!(read_back(&shown), text);
    assert!(shown.chars().all(|c| is_printable(c) && (c == ' ' || !c.is_whitespace())), "{shown:?}");
    assert!(!shown.contains("         ") && shown.trim() == shown, "{shown:?}");
    assert_eq!(shown_within(&text, &(0..0), shown.chars().count().max(1)), shown);
    let keep = text.len() / 3..text.len() / 2;
    let cut = shown_within(&text, &keep, 100);
    assert!(cut.chars().count() <= 400, "{cut}");
    assert!(cut == shown || cut.contains(" more characters⟩"), "{cut}");
}

/// Decodes shown text to the original.
fn read_back(shown: &str) -> String {
    let mut parts = shown.split('⟨');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (mark, rest) = part.split_once('⟩').unwrap();
        let times = mark.split_once(' ').and_then(|(times, what)| Some((times.parse().ok()?, what)));
        let (times, what): (usize, &str) = times.unwrap_or((1, mark));
        let what = what.strip_prefix("× ").unwrap_or(what);
        text.push_str(&meant(what).to_string().repeat(times));
        text.push_str(rest);
    }
    text
}

fn meant(what: &str) -> char {
    let number = what.strip_prefix("U+").and_then(|digits| u32::from_str_radix(digits, 16).ok());
    match what.strip_suffix('s').unwrap_or(what) {
        "space" => ' ',
        "tab" => '\t',
        "newline" => '\n',
        "carriage return" => '\r',
        "no-break space" => '\u{a0}',
        _ => number.and_then(char::from_u32).or(what.chars().next()).unwrap(),
    }
}

/// Both ways to compute positions agree with counting by hand.
pub(crate) fn positions(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (index, mut cursor) = (LineIndex::new(&text), PositionCursor::new(&text));
    let mut wanted = TextPosition::START;
    for (chars, (offset, c)) in text.char_indices().enumerate() {
        assert_eq!(index.position(offset), wanted);
        assert_eq!(cursor.advance(offset), wanted);
        assert_eq!(cursor.chars(), chars);
        wanted = match c {
            '\n' => TextPosition { line: wanted.line + 1, column: 1 },
            _ => TextPosition { column: wanted.column + 1, ..wanted },
        };
    }
    assert_eq!(index.position(text.len()), wanted);
}

/// A known name is its own suggestion, and a suggestion is always known. The first line is the name, the others are
/// known.
pub(crate) fn names(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (name, known) = text.split_once('\n').unwrap_or((&text, ""));
    let known: Vec<&str> = known.lines().take(50).collect();
    if let Some(meant) = nearest(name, known.iter().copied()) {
        assert!(known.contains(&meant));
    }
    if name.chars().count() <= 64 {
        assert_eq!(nearest(name, [name]), Some(name));
    }
}
