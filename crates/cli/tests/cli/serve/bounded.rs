//! An answer is not many times as long as its question.

use serde_json::json;

use super::{Serving, text};

#[test]
fn of_very_many_parts_the_strictest_are_listed() {
    let mut serving = Serving::start(&[]);
    let text = format!("{}sudo id", "eval 'ls; eval ls';".repeat(1000));
    let answer = serving.call("command.evaluate", &json!({"command": text}));
    let result = &answer["result"];
    let listed = result["commands"].as_array().unwrap();
    assert_eq!(listed.len(), 1000);
    assert!(result["commandsLeftOut"].as_u64().unwrap() > 1000, "{}", result["commandsLeftOut"]);
    assert!(listed.iter().any(|part| part["argv"] == json!(["sudo", "id"])));
    assert!(answer.to_string().len() < 20 * text.len());
    let few = serving.call("command.evaluate", &json!({"command": "ls; id"}));
    assert_eq!(few["result"]["commandsLeftOut"], json!(null));
}

/// What a client may send at most, made of what takes the most room.
fn floods() -> Vec<(&'static str, String)> {
    let filled = |begin: &str, unit: &str, end: &str, bytes: usize, most: usize| {
        let count = ((bytes - begin.len() - end.len()) / unit.len()).min(most);
        format!("{begin}{}{end}", unit.repeat(count))
    };
    let (line, text, command, many) = ((4 << 20) - 200, (1 << 20) - 200, (256 << 10) - 200, usize::MAX);
    vec![
        ("sanitize", filled(r#"{"maxBodyLength":100000000,"text":""#, "\u{fdfa}", r#""}"#, line, many)),
        ("scan", filled(r#"{"text":""#, "\u{ff43}\u{ff55}", r#""}"#, text, many)),
        ("skill.admit", filled(r#"{"text":"---\nname: a\n---\n"#, r"!`a`\n", r#""}"#, text, many)),
        ("tools.resolve", filled(r#"{"tools":["x""#, r#","abcdefghijklmnopqrst""#, "]}", line, 9_990)),
        ("command.evaluate", filled(r#"{"command":""#, "rm -rf /;", r#""}"#, command, many)),
        ("command.evaluate", filled(r#"{"argv":["a""#, r#","a""#, "]}", line, 99_000)),
        (
            "path.authorize",
            filled(
                r#"{"requests":[{"type":"fs.read","resource":"a"}"#,
                r#",{"type":"fs.read","resource":"a"}"#,
                "]}",
                line,
                9_990,
            ),
        ),
        ("eval", filled(r#"{"expr":"1","vars":{"a":[{}"#, ",{}", "]}}", line, 40_000)),
    ]
}

/// Of all that a client sends, some 64 MB are held at most beside what the program is.
#[test]
fn no_request_takes_more_memory_than_a_client_may() {
    let mut serving = Serving::start(&[]);
    serving.call("ping", &json!({}));
    let id = serving.child.id();
    let peak = || {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() >> 10
    };
    let own = peak();
    for (method, params) in floods() {
        let answer = serving.call_raw(method, &params);
        assert!(answer["result"].is_object(), "{method}: {answer}");
        assert!(peak() - own <= 64, "{method}: {} MB", peak() - own);
    }
    for number in 0..64 {
        let opened =
            serving.call("session.open", &json!({"config": {"paths": {"forbiddenGlobs": vec!["a*b"; 400]}}}));
        assert!(opened["result"].is_object(), "{number}: {opened}");
    }
    assert!(peak() - own <= 64, "{} MB", peak() - own);
}

/// What is beyond a bound is refused with what to do instead.
#[test]
fn requests_that_are_too_large_are_refused_with_a_fix() {
    let mut serving = Serving::start(&[]);
    let (long, list) = ("x".repeat(1_100_000), |count: usize| vec!["a"; count]);
    let tools: Vec<_> = (0..300)
        .map(|number| json!({"type": "fs.read", "resource": "a", "tool": number.to_string()}))
        .collect();
    let rows = [
        ("scan", json!({"text": long}), "scan.bundle"),
        ("skill.admit", json!({"text": long}), "`path`"),
        ("skill.manifest", json!({"text": long}), "`path`"),
        ("command.evaluate", json!({"command": long}), "script"),
        ("command.parse", json!({"command": long}), "script"),
        ("command.validate", json!({"command": long}), "script"),
        ("exec", json!({"command": long}), "script"),
        ("path.authorize", json!({"request": {"type": "command.execute", "resource": long}}), "shorten"),
        ("path.authorize", json!({"requests": tools}), "name the tools"),
        ("tools.resolve", json!({"tools": list(10_001)}), "another request"),
        ("tools.resolve", json!({"tools": [], "policy": {"deny": list(1001)}}), "patterns"),
        ("session.open", json!({"config": {"paths": {"forbiddenGlobs": list(2000)}}}), "say less"),
        ("session.open", json!({"agent": "bot", "tools": list(2000)}), "in the configuration"),
    ];
    for (method, params, fix) in rows {
        let answer = serving.call(method, &params);
        assert_eq!(answer["error"]["code"], -32602, "{method}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(fix), "{method}: {}", answer["error"]);
    }
    let many = serving.call("tools.resolve", &json!({"tools": list(100_001)}));
    assert_eq!(many["error"]["code"], -32600, "too many values: {many}");
    let workspace = serving.workspace();
    let mebibytes = |count: u64| json!({"command": "true", "spec": {"workspace": workspace}, "maxOutputBytes": count << 20});
    assert_eq!(serving.call("exec", &mebibytes(8))["result"]["exitCode"], 0);
}

/// A command has the priority that its limits ask for, and that of `stockade exec` where they ask for none.
#[test]
fn a_command_has_the_priority_that_was_asked_for() {
    let mut serving = Serving::start(&[]);
    let workspace = serving.workspace();
    for (limits, nice) in [
        (json!({}), 5),
        (json!({"priority": "normal"}), 0),
        (json!({"priority": "low"}), 5),
        (json!({"priority": "idle"}), 19),
    ] {
        let spec = json!({"workspace": workspace, "limits": limits});
        let result = serving.call("exec", &json!({"command": "nice", "spec": spec}))["result"].clone();
        assert_eq!(text(&result["stdoutBase64"]), format!("{nice}\n"), "{result}");
    }
    let wrong = json!({"command": "nice", "spec": {"workspace": workspace, "limits": {"priority": "high"}}});
    assert_eq!(serving.call("exec", &wrong)["error"]["code"], -32602);
}
