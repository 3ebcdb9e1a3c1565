use proptest::prelude::*;

use super::*;

fn json(body: &str) -> Reading {
    Reading::of(true, body.as_bytes())
}

fn graphql(document: &str) -> Result<String, Unread> {
    let body = serde_json::json!({ "query": document }).to_string();
    let operations = json(&body).graphql?;
    Ok(operations.iter().map(Operation::shown).collect::<Vec<_>>().join(" "))
}

#[test]
fn operations_are_the_fields_at_the_root() {
    for (document, expected) in [
        ("{a}", "query:a"),
        ("{ a b(x: 1) { c d } e: f }", "query:a query:b query:f"),
        ("query Q($x: [Int!]! = [1, 2], $y: In = {a: {b: \"}\"}}) @d(x: \"{\") { a(x: $x) }", "query:a"),
        ("mutation { alias: addStar(input: {starrableId: \"x\"}) { clientMutationId } }", "mutation:addStar"),
        ("subscription S { a @include(if: true) { b } }", "subscription:a"),
        ("query A { a } mutation B { b }", "mutation:b query:a"),
        (
            "mutation { ...F } fragment F on Mutation { c ...G } fragment G on Mutation { d }",
            "mutation:c mutation:d",
        ),
        (
            "mutation { ... on Mutation { c ... { d } } ...@x(y: 1) { e } f }",
            "mutation:c mutation:d mutation:e mutation:f",
        ),
        ("{ a { ...F } } fragment F on A { mutation }", "query:a"),
        ("{ a # } mutation { b\n }", "query:a"),
        ("{ a(x: \"} mutation { b\") }", "query:a"),
        ("{ a(x: \"\"\"} \\\"\"\" mutation { b\"\"\") }", "query:a"),
        ("{ a(x: \"\\\"} mutation { b\") }", "query:a"),
        ("\u{feff}{ query mutation fragment on }", "query:fragment query:mutation query:on query:query"),
        ("{,a,,b,}", "query:a query:b"),
        ("fragment F on Q { a } { ...F ...F }", "query:a"),
        ("fragment F on Q { a ...F } { ...F }", "query:a"),
    ] {
        assert_eq!(graphql(document).as_deref(), Ok(expected), "{document}");
    }
}

#[test]
fn a_document_that_is_not_one_is_unread() {
    let deep = format!("{{ a(x: {}1{}) }}", "[".repeat(300), "]".repeat(300));
    let many = format!("{{ {} }}", (0..65).map(|number| format!("f{number} ")).collect::<String>());
    for document in [
        "",
        "{",
        "{}",
        "{ a",
        "{ a }}",
        "{ a } }",
        "a",
        "{ a(x: 1 }",
        "{ a(x: [1)] }",
        "{ a(x: \"}) }",
        "type A { a: B }",
        "query",
        "{ ... }",
        "{ ...F }",
        "{ ...on }",
        "{ a: }",
        "{ \"a\" }",
        "{ 1 }",
        "{ $a }",
        "query ; { a }",
        "{ ä }",
        "{ a # x\u{b}\n }",
        "{ a # x\u{2028}} mutation { b }\n }",
        "{ a(x: \"\n\") }",
        "{ .. on A { b } }",
        "fragment F on A { a } fragment F on A { b } { ...F }",
        "extend type A { a: B } { a }",
        "{ a(x: \"\"\"x\\\"\"\") }",
        &deep,
    ] {
        assert_eq!(graphql(document), Err(Unread::Graphql), "{document}");
    }
    assert_eq!(graphql(&many), Err(Unread::TooMany));
}

#[test]
fn calls_are_methods_with_the_name_they_are_about() {
    for (body, expected) in [
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, "tools/list"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"name":"x","name":"y"}}}"#,
            "tools/call:search",
        ),
        (r#"{"method":"tools/call","params":{"uri":"x"}}"#, "tools/call"),
        (r#"{"method":"tools/call","params":{"n\u0061me":"x"}}"#, "tools/call:x"),
        (r#"{"method":"tools/call","params":{"name":1}}"#, "tools/call"),
        (r#"{"method":"tools/call","params":["x"]}"#, "tools/call"),
        (
            r#"{"method":"resources/read","params":{"uri":"file:///x","name":"y"}}"#,
            "resources/read:file:///x",
        ),
        (r#"[{"method":"a"},{"jsonrpc":"2.0","id":1,"result":{}}, {"method":"b"}]"#, "a b"),
        (r#"{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"y"}}"#, ""),
    ] {
        let operations = json(body).rpc.unwrap();
        let shown = operations.iter().map(Operation::shown).collect::<Vec<_>>().join(" ");
        assert_eq!(shown, expected, "{body}");
    }
}

/// What servers read in different ways is not read at all.
#[test]
fn an_ambiguous_body_is_unread() {
    let many = format!("[{}]", vec![r#"{"method":"a"}"#; 65].join(","));
    for (body, graphql, rpc) in [
        ("", Unread::Json, Unread::Json),
        ("[]", Unread::Json, Unread::Json),
        ("1", Unread::Json, Unread::Json),
        ("[[]]", Unread::Json, Unread::Json),
        (r#"{"method":"a"} {"method":"b"}"#, Unread::Json, Unread::Json),
        (r#"{"method":"a",}"#, Unread::Json, Unread::Json),
        ("{'method':'a'}", Unread::Json, Unread::Json),
        ("\u{feff}{\"method\":\"a\"}", Unread::Json, Unread::Json),
        (r#"{"method":"a","method":"b"}"#, Unread::Twice, Unread::Twice),
        (r#"{"method":"a","m\u0065thod":"b"}"#, Unread::Twice, Unread::Twice),
        (r#"{"method":"a","Method":"b"}"#, Unread::Twice, Unread::Twice),
        (r#"{"query":"{a}","Query":"mutation{b}"}"#, Unread::Twice, Unread::Twice),
        (r#"{"query":"{a}","extenſions":{}}"#, Unread::Twice, Unread::Twice),
        (r#"{"method":"tools/call","params":{"name":"a","name":"b"}}"#, Unread::Twice, Unread::Twice),
        (r#"{"method":"tools/call","params":{"name":"a","NAME":"b"}}"#, Unread::Twice, Unread::Twice),
        (r#"{"method":"a","Params":{}}"#, Unread::Twice, Unread::Twice),
        (r#"{"query":"{a}","doc_id":"1"}"#, Unread::Unknown, Unread::Unknown),
        (r#"{"query":"{a}","id":"1"}"#, Unread::Unknown, Unread::Unknown),
        (r#"{"query":"{a}","method":"b"}"#, Unread::Unknown, Unread::Unknown),
        (r#"{"method":"a","result":1}"#, Unread::Unknown, Unread::Unknown),
        (r#"{"id":1}"#, Unread::Unknown, Unread::Unknown),
        (r#"{"variables":{}}"#, Unread::Stored, Unread::Unknown),
        (r#"{"query":null}"#, Unread::Stored, Unread::Unknown),
        (
            r#"{"query":"{a}","extensions":{"persistedQuery":{"sha256Hash":"x"}}}"#,
            Unread::Stored,
            Unread::Unknown,
        ),
        (r#"{"query":"{a}","extensions":{"PersistedQuery":null}}"#, Unread::Stored, Unread::Unknown),
        (r#"[{"query":"{a}"},{"query":"}"}]"#, Unread::Graphql, Unread::Unknown),
        (&many, Unread::TooMany, Unread::TooMany),
    ] {
        let reading = json(body);
        let both = (reading.graphql.clone(), reading.rpc.clone());
        assert_eq!(
            (reading.graphql.unwrap_err(), reading.rpc.unwrap_err()),
            (graphql, rpc),
            "{body} {both:?}"
        );
    }
    assert_eq!(Reading::of(false, b"{\"method\":\"a\"}").rpc, Err(Unread::Kind));
    assert_eq!(Reading::of(true, b"{\"method\":\"\xff\"}").rpc, Err(Unread::Json));
}

#[test]
fn a_rule_lists_operations() {
    let call = |name: &str| format!(r#"{{"method":"tools/call","params":{{"name":"{name}"}}}}"#);
    for (word, body, all, any) in [
        ("graphql=query", r#"{"query":"{a}"}"#.to_owned(), true, true),
        ("graphql=query", r#"{"query":"mutation{a}"}"#.to_owned(), false, false),
        ("graphql=query", r#"[{"query":"{a}"},{"query":"mutation{a}"}]"#.to_owned(), false, true),
        ("graphql=query|mutation:add*", r#"{"query":"{a} mutation{addStar}"}"#.to_owned(), true, true),
        ("graphql=mutation:add*", r#"{"query":"mutation{addStar removeStar}"}"#.to_owned(), false, true),
        ("graphql=mutation:addstar", r#"{"query":"mutation{addStar}"}"#.to_owned(), false, true),
        ("rpc=tools/call", call("x"), true, true),
        ("rpc=tools/*", call("x"), true, true),
        ("rpc=tools/call:read_*", call("read_file"), true, true),
        ("rpc=tools/call:read_*", call("write_file"), false, false),
        ("rpc=tools/call:Delete", call("delete"), false, true),
        ("rpc=tools/call:x", r#"{"method":"tools/call"}"#.to_owned(), false, true),
        ("rpc=a", r#"{"id":1,"result":{}}"#.to_owned(), true, false),
    ] {
        let rule = OperationRule::read(word).unwrap().unwrap();
        let reading = json(&body);
        let judged = (rule.lists_all(&reading), rule.lists_any(&reading));
        assert_eq!(judged, (Ok(all), Ok(any)), "{word} {body}");
    }
    for word in
        ["graphql=", "graphql=read", "graphql=*", "graphql=query:", "rpc=", "rpc=a||b", "rpc=a*b", "rpc=a:"]
    {
        let (why, fix) = OperationRule::read(word).unwrap().unwrap_err();
        assert!(!why.is_empty() && fix.contains('='), "{word}");
    }
    assert!(OperationRule::read("requests=1").is_none());
}

#[test]
fn operations_are_written_as_a_rule_that_lists_them() {
    for (body, written) in [
        (r#"{"query":"mutation{b} query{a}"}"#, Some("graphql=mutation:b|query:a")),
        (r#"[{"method":"b"},{"method":"a","params":{"name":"x"}},{"method":"b"}]"#, Some("rpc=a:x|b")),
        (r#"{"method":"a b"}"#, None),
        (r#"{"method":"a*"}"#, None),
        (r#"{"method":"a:b"}"#, None),
        (r#"{"id":1,"result":1}"#, None),
    ] {
        let reading = json(body);
        assert_eq!(reading.written().as_deref(), written, "{body}");
        let rule = reading.written().map(|word| OperationRule::read(&word).unwrap().unwrap());
        assert!(rule.is_none_or(|rule| rule.lists_all(&reading) == Ok(true)), "{body}");
    }
}

/// Pieces from which documents and bodies are made.
const PIECES: [&str; 27] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "...",
    "on ",
    "F ",
    "query ",
    "mutation ",
    "fragment ",
    "a ",
    "b:",
    "$",
    "@d ",
    "\"",
    "\"\"\"",
    "\\",
    "#",
    "\n",
    "1",
    ":",
    ",",
    "\"query\":",
    "\"method\":",
    "ä",
];

proptest! {
    /// Nothing panics, and an operation that is added to a document is never overlooked.
    #[test]
    fn an_added_operation_is_seen(pieces in prop::collection::vec(0..PIECES.len(), 0..40)) {
        let text: String = pieces.iter().filter_map(|piece| PIECES.get(*piece)).copied().collect();
        json(&text);
        if let Ok(before) = graphql(&text) {
            let after = graphql(&format!("{text}\nmutation {{ added }}"));
            prop_assert!(after.is_ok_and(|after| after.contains("mutation:added")), "{text} {before}");
        }
    }

    /// Adding a message to a batch never removes an operation.
    #[test]
    fn a_batch_has_the_operations_of_its_messages(methods in prop::collection::vec("[a-z/]{1,8}", 1..20)) {
        let all: Vec<String> = methods.iter().map(|method| format!(r#"{{"method":"{method}"}}"#)).collect();
        let read = json(&format!("[{}]", all.join(","))).rpc.unwrap();
        let kinds: Vec<String> = read.into_iter().map(|one| one.kind).collect();
        prop_assert_eq!(kinds, methods);
    }
}
