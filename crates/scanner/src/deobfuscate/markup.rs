//! Markup around words: marks of quotations, tasks and emphasis, which a model reads past.
//!
//! `> ` before each line of a fence or of an order breaks whatever spans lines, and `_` beside a word makes it another.

use std::ops::Range;

use arrayvec::ArrayVec;

use super::layer::{Editor, Layer};

/// Maximum number of marks of quotations before a line.
const MAX_DEPTH: usize = 8;

/// What a list item begins with if it is a task, done or not.
const BOXES: [&str; 3] = ["[ ]", "[x]", "[X]"];

/// Maximum number of open emphases of a line.
const MAX_OPEN: usize = 8;

/// Removes the marks; `None` for a text without any.
pub(super) fn unmark(text: &str) -> Option<Layer> {
    let mut editor = Editor::new(text);
    let mut at = 0;
    let mut lines = text.split_inclusive('\n').peekable();
    let mut follows_quoted = false;
    while let Some(line) = lines.next() {
        let quoted = unquoted(line);
        let is_quoted = quoted.len() < line.len();
        let goes_on = lines.peek().is_some_and(|next| unquoted(next).len() < next.len());
        // One line alone may be a redirection, and whatever is in it needs no other line.
        let body = without_box(if is_quoted && (follows_quoted || goes_on) { quoted } else { line });
        follows_quoted = is_quoted;
        let start = at + line.len() - body.len();
        if start > at {
            editor.replace(at..start, "");
        }
        unmark_emphasis(&mut editor, body, start);
        at += line.len();
    }
    editor.finish()
}

/// Returns a line without its marks of quotations.
fn unquoted(line: &str) -> &str {
    let mut rest = line;
    for _ in 0..MAX_DEPTH {
        let unindented = rest.trim_start_matches(' ');
        let Some(quoted) = unindented.strip_prefix('>').filter(|_| rest.len() - unindented.len() <= 3) else {
            break;
        };
        rest = quoted.strip_prefix(' ').unwrap_or(quoted);
    }
    rest
}

/// Returns a line without the box of a task, if it begins a fence.
fn without_box(line: &str) -> &str {
    let item = line.trim_start().strip_prefix(['-', '*', '+']).map(str::trim_start);
    let boxed = item.and_then(|item| BOXES.iter().find_map(|empty| item.strip_prefix(empty)));
    let fence = boxed.map(str::trim_start).filter(|rest| rest.starts_with("```") || rest.starts_with("~~~"));
    fence.unwrap_or(line)
}

/// Removes underscores that emphasise words of a line. Two around one word are part of a name: `__init__`.
fn unmark_emphasis(editor: &mut Editor<'_>, line: &str, start: usize) {
    let mut open: ArrayVec<Range<usize>, MAX_OPEN> = ArrayVec::new();
    let mut marks: Vec<Range<usize>> = Vec::new();
    let mut runs = memchr::memchr_iter(b'_', line.as_bytes()).peekable();
    while let Some(from) = runs.next() {
        let mut to = from + 1;
        while runs.next_if_eq(&to).is_some() {
            to += 1;
        }
        let before = line.get(..from).and_then(|text| text.chars().next_back()).unwrap_or(' ');
        let after = line.get(to..).and_then(|text| text.chars().next()).unwrap_or(' ');
        let opened = open.iter().rposition(|opening| opening.len() == to - from);
        match opened.and_then(|at| open.get(at).cloned().map(|opening| (at, opening))) {
            Some((at, opening)) if !before.is_whitespace() && !after.is_alphanumeric() => {
                open.truncate(at);
                let inside = line.get(opening.end..from).unwrap_or_default();
                if inside.contains(' ') || opening.len() == 1 {
                    marks.extend([opening, from..to]);
                }
            }
            // What is not tracked any more stays.
            _ if !before.is_alphanumeric() && !after.is_whitespace() => drop(open.try_push(from..to)),
            _ => {}
        }
    }
    marks.sort_unstable_by_key(|mark| mark.start);
    marks.into_iter().for_each(|mark| editor.replace(start + mark.start..start + mark.end, ""));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_removed_and_names_stay() {
        for (text, expected) in [
            ("> ```sh\n> a\n> ```\n", Some("```sh\na\n```\n")),
            ("> > a\n>b\n", Some("a\nb\n")),
            ("_curl x | bash_", Some("curl x | bash")),
            ("a __b c__, d", Some("a b c, d")),
            ("_a b_ and _c d_", Some("a b and c d")),
            ("_é ü_\r\n", Some("é ü\r\n")),
            ("def __init__(self, _a):", None),
            ("_curl_ x", Some("curl x")),
            ("- [ ] ```sh\n  a\n  ```\n", Some("```sh\n  a\n  ```\n")),
            ("- [ ] a\n", None),
            ("snake_case and other_name", None),
            ("_exec(__import__(\"x\"))_", Some("exec(__import__(\"x\"))")),
            ("> /var/log/x", None),
            ("_private = a > b", None),
            ("     > code", None),
            ("_ a_", None),
        ] {
            assert_eq!(unmark(text).as_ref().map(Layer::text), expected, "{text:?}");
        }
    }

    #[test]
    fn marks_map_back() {
        let text = "> _curl x_\n> y\n";
        let layer = unmark(text).unwrap();
        let at = layer.text().find("curl x").unwrap();
        assert_eq!(text.get(layer.raw_span(at..at + 6)), Some("curl x"));
    }
}
