//! The properties, with the seeds of the fuzz targets and everything that ever crashed them, and with random texts.

#[cfg(test)]
#[path = "../../../../fuzz/replay.rs"]
mod replay;

use proptest::prelude::*;

use crate::properties;
use replay::{Property, replay};

/// Each target, and the property that it checks.
const TARGETS: &[(&str, Property)] = &[
    ("net_target", properties::net_target),
    ("host_list", properties::host_list),
    ("proxy_request", properties::proxy_request),
    ("client_hello", properties::client_hello),
    ("request_stream", properties::request_stream),
    ("name_query", properties::name_query),
    ("scrubber", properties::scrubber),
];

#[test]
fn every_seed_passes() {
    replay(TARGETS);
}

/// Pieces that names of hosts and requests are made of, some of them twice as likely.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"", "\"version\": \"1\"", "\"name\"", "\"files\": [", "\"path\": \"a\"", "\\u0041",
            "\"sandbox\": {\"memoryMb\": 64}", "1e3", "-0", "\n", "\r\n", "\r\n\r\n", "\r", " ", "\t", "/", "//", "://", "@", "*.", ".", "%",
            "http", "https://", "example.com", "xn--", "bcher-kva", "10.0.0.1", "0x7f", "0177", "2852039166", "[::1]", "[", ":80", ":443",
            "GET ", "CONNECT ", "POST ", " HTTP/1.1\r\n", "Host: ", "Content-Length: ", "Transfer-Encoding: chunked", "Connection: ", "ü", "。",
            "~", "^", "q7Zk2", "%71", "\\x71", "&#113", "=71", "=\r\n", "113, 55, ", "71 37 ",
            "\u{430}", "ｅ", "\u{200b}", "0", "9",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_text_has_an_answer(text in pieces()) {
        for (_, property) in TARGETS {
            property(text.as_bytes());
        }
    }
}
