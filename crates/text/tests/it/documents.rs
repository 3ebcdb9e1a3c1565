//! Documents of all formats: the same tree from each, and limits on hostile input.

use stockade_text::{Format, MAX_NESTING, Node, Value, parse};

const MAX_BYTES: usize = 1 << 20;

fn read(text: &str, format: Format) -> Node {
    parse(text, format, MAX_BYTES).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// One line for each key and value: its position and kind.
fn outline(node: &Node) -> Vec<String> {
    let mut lines = vec![format!("{} {}", node.at, node.value.words().unwrap_or(node.value.kind()))];
    match &node.value {
        Value::List(nodes) => lines.extend(nodes.iter().flat_map(outline)),
        Value::Table(entries) => {
            for entry in entries {
                lines.push(format!("{} {}:", entry.at, entry.key));
                lines.extend(outline(&entry.node));
            }
        }
        _ => {}
    }
    lines
}

#[test]
fn all_formats_give_the_same_tree() {
    let rows = [
        (Format::Yaml, "a: 1.50\n\"ä b\": [yes, 'x y', ~]\nc:\n  d: 0x1F # hex\n"),
        (Format::Json, "{\"a\": 1.50,\n \"ä b\": [true, \"x y\", null],\n \"c\": {\"d\": 31}}"),
        (Format::Toml, "a = 1.50\n\"ä b\" = [true, 'x y']\n[c]\nd = 0x1F\n"),
    ];
    let wanted = [
        "1:1 a table|1:1 a:|1:4 1.50|2:1 ä b:|2:8 a list|2:9 true|2:14 x y|2:21 nothing|3:1 c:|4:3 a table|4:3 d:|4:6 0x1F",
        "1:1 a table|1:2 a:|1:7 1.50|2:2 ä b:|2:9 a list|2:10 true|2:16 x y|2:23 nothing|3:2 c:|3:7 a table|3:8 d:|3:13 31",
        "1:1 a table|1:1 a:|1:5 1.50|2:1 ä b:|2:9 a list|2:10 true|2:16 x y|3:2 c:|3:1 a table|4:1 d:|4:5 0x1F",
    ];
    for ((format, text), wanted) in rows.into_iter().zip(wanted) {
        let node = read(text, format);
        assert_eq!(outline(&node).join("|"), wanted, "{format:?}");
        let d = node.value.get("c").and_then(|entry| entry.node.value.get("d")).unwrap();
        assert_eq!(d.node.value.integer(), Some(31), "{format:?}");
    }
}

#[test]
fn what_is_hostile_is_refused_with_its_position() {
    let lists = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let dotted = format!("{}a = 1\n", "a.".repeat(100_000));
    let header = format!("[{}a]\n", "a.".repeat(100_000));
    let bomb = "a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c]\n";
    let rows = [
        (Format::Yaml, "a: 1\na: 2\n", "2:1: duplicate mapping key: a"),
        (Format::Yaml, "a: [1\n", "1:4: unclosed bracket"),
        (Format::Yaml, "a: 1\n---\nb: 2\n", "2:1: "),
        (Format::Yaml, "a: *unknown\n", "1:4: "),
        (Format::Yaml, bomb, "4:"),
        (Format::Yaml, &lists, "1:"),
        (Format::Json, "{\"a\": 1, \"\\u0061\": 2}", "1:10: duplicate key `a`"),
        (Format::Json, "", "1:1: EOF while parsing a value"),
        (Format::Json, &lists, "1:33: lists and tables are nested more than 32 levels deep"),
        (Format::Toml, "a = 1\na = 2\n", "2:1: duplicate key"),
        (Format::Toml, &format!("a = {lists}"), "1:"),
        (Format::Toml, &dotted, "1:"),
        (Format::Toml, &header, "1:"),
    ];
    for (format, text, wanted) in rows {
        let error = parse(text, format, MAX_BYTES).unwrap_err().to_string();
        let start = text.chars().take(40).collect::<String>();
        assert!(error.starts_with(wanted), "{format:?} {start:?}: {error}");
    }
    let deepest = format!("{}1{}", "[".repeat(MAX_NESTING), "]".repeat(MAX_NESTING));
    assert_eq!(outline(&read(&deepest, Format::Json)).len(), MAX_NESTING + 1);
}

#[test]
fn what_is_too_long_is_not_read() {
    for format in [Format::Json, Format::Toml, Format::Yaml] {
        let error = parse("{ nothing of any format", format, 7).unwrap_err();
        assert_eq!(error.to_string(), "1:1: it has 23 bytes; the maximum is 7");
    }
}

/// Thousands of values on one line: positions must not be counted from the start of the line each time.
#[test]
fn one_long_line_takes_no_longer_than_many_short_ones() {
    let list = format!("[{}1]", "1, ".repeat(50_000));
    for (format, text) in [
        (Format::Yaml, format!("a: {list}")),
        (Format::Json, format!("{{\"a\": {list}}}")),
        (Format::Toml, format!("a = {list}")),
    ] {
        let node = read(&text, format);
        let Some(Value::List(nodes)) = node.value.get("a").map(|entry| &entry.node.value) else { panic!() };
        let last = nodes.last().unwrap();
        assert_eq!((nodes.len(), last.at.column), (50_001, text.rfind('1').unwrap() + 1), "{format:?}");
    }
}
