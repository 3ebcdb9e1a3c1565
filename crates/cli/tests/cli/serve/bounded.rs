//! An answer is not many times as long as its question.

use serde_json::json;

use super::Serving;

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
