//! The report as JSON.

use serde_json::{json, to_value};
use stockade_sanitize::{SanitizeOptions, sanitize};

#[test]
fn a_report_has_these_fields() {
    let text = "a<!-- b -->\u{200b}\u{200b}\u{e0068}\u{e0069}p\u{430}y\u{202e}";
    assert_eq!(
        to_value(sanitize(text, &SanitizeOptions::default())).unwrap(),
        json!({
            "body": "ap\u{430}y",
            "htmlCommentsStripped": 1,
            "truncated": false,
            "tagBlockDetected": true,
            "invisibleStripped": {
                "count": 5,
                "byName": { "bidi control": 1, "tag block": 2, "zero-width space": 2 },
            },
            "hiddenText": "hi",
            "notes": ["bidi", "confusable"],
            "changed": true,
        })
    );
}

#[test]
fn nothing_hidden_is_no_field() {
    assert_eq!(
        to_value(sanitize("abc", &SanitizeOptions { max_chars: 2, ..SanitizeOptions::default() })).unwrap(),
        json!({
            "body": "ab\n[TRUNCATED]",
            "htmlCommentsStripped": 0,
            "truncated": true,
            "tagBlockDetected": false,
            "invisibleStripped": { "count": 0, "byName": {} },
            "notes": [],
            "changed": true,
        })
    );
}
