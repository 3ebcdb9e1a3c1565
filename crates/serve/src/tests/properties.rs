//! Whatever comes in, the server answers in JSON, a line each, and goes on.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{answers, server};
use crate::methods::METHODS;

/// What a client could send by mistake or with intent.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let name = prop_oneof![
        proptest::sample::select(
            METHODS.iter().map(|method| method.name).filter(|name| *name != "exec").collect::<Vec<_>>()
        )
        .prop_map(str::to_owned),
        any::<String>(),
    ];
    let value = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        proptest::collection::vec(any::<String>(), 0..3).prop_map(|list| json!(list)),
        Just(json!({})),
    ];
    let key = proptest::sample::select(vec![
        "text",
        "textBase64",
        "path",
        "tools",
        "policy",
        "command",
        "argv",
        "config",
        "request",
        "requests",
        "spec",
        "hostFacts",
        "tool",
        "overrides",
        "component",
        "script",
        "session",
        "estimate",
        "options",
        "rules",
        "shell",
    ]);
    let parameters = proptest::collection::btree_map(key, value.clone(), 0..4);
    let request = (name, parameters, value).prop_map(|(method, params, id)| {
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string().into_bytes()
    });
    let cut = (request.clone(), any::<prop::sample::Index>())
        .prop_map(|(line, at)| line[..at.index(line.len())].to_vec());
    prop_oneof![2 => request, 1 => cut, 1 => proptest::collection::vec(any::<u8>(), 0..200)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_lines_have_answers_and_the_server_goes_on(lines in proptest::collection::vec(line(), 0..12)) {
        let server = server(4096);
        let mut input = lines.join(b"\n".as_slice());
        input.extend_from_slice(b"\n{\"jsonrpc\":\"2.0\",\"id\":\"the last\",\"method\":\"sanitize\",\"params\":{\"text\":\"\"}}");
        let got = answers(&server, &input);
        prop_assert_eq!(got.iter().filter(|answer| answer["id"] == "the last").count(), 1);
        for answer in got {
            let all = answer.as_array().cloned().unwrap_or_else(|| vec![answer]);
            for one in all {
                prop_assert_eq!(&one["jsonrpc"], "2.0");
                prop_assert!(one.get("result").is_some() != one.get("error").is_some(), "{}", one);
                prop_assert!(one.get("id").is_some());
            }
        }
    }
}
