//! `policy.…`: rules that a server decides by, and what requests may do to them.

use serde_json::{Value, json};

use super::Serving;

/// The code of what a policy refuses.
const REFUSED: i64 = -32001;

fn action(serving: &mut Serving, command: &str) -> String {
    let answer = serving.call("command.evaluate", &json!({"command": command}));
    answer["result"]["action"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn ids(answer: &Value) -> Vec<&str> {
    answer["result"]["rules"].as_array().unwrap().iter().map(|rule| rule["id"].as_str().unwrap()).collect()
}

#[test]
fn a_request_may_only_narrow() {
    let mut serving = Serving::start(&[]);
    assert_eq!(action(&mut serving, "make"), "sandbox");
    for rule in ["allow make", "sandbox git push", "ask make"] {
        let answer = serving.call("policy.add", &json!({"rule": rule}));
        assert_eq!(answer["error"]["code"], REFUSED, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("--requests-may-widen"));
    }
    let added = serving.call("policy.add", &json!({"rule": "deny make"}));
    assert_eq!(added["result"]["added"][0]["id"], "deny-make", "{added}");
    for command in ["make", "make -j4 all", "sh -c 'make all'"] {
        assert_eq!(action(&mut serving, command), "deny", "{command}");
    }
    // What a request brings along does not lift it, nor its wish for a default.
    let own = json!({"command": "make all", "rules": [{"prefix": ["make", "all"], "action": "allow"}], "config": {"defaultAction": "allow"}});
    assert_eq!(serving.call("command.evaluate", &own)["result"]["action"], "deny");
    let routed = serving.call("command.route", &json!({"command": "make"}));
    assert_eq!(routed["result"]["mode"], "blocked", "{routed}");
    let request = json!({"type": "command.execute", "resource": "make"});
    let asked = serving.call("path.authorize", &json!({"config": {}, "request": request}));
    assert_eq!(asked["result"]["decision"], "deny", "{asked}");
    let workspace = serving.workspace();
    let ran = serving.call("exec", &json!({"command": "make", "spec": {"workspace": workspace}}));
    assert_eq!(ran["error"]["code"], REFUSED, "{ran}");
    let removed = serving.call("policy.remove", &json!({"ids": ["deny-make"]}));
    assert_eq!(removed["error"]["code"], REFUSED, "{removed}");
    assert_eq!(action(&mut serving, "make"), "deny");
    assert_eq!(serving.end(), Some(0));
}

#[test]
fn an_operator_may_let_requests_widen() {
    let mut serving = Serving::start(&["--requests-may-widen"]);
    serving.call("policy.add", &json!({"rule": "allow npm run *", "dryRun": true}));
    assert_eq!(action(&mut serving, "npm run build"), "sandbox");
    serving.call("policy.add", &json!({"rule": "allow npm run *"}));
    assert_eq!(action(&mut serving, "npm run build"), "allow");
    assert_eq!(action(&mut serving, "rm -rf /"), "deny");
    let broad = serving.call("policy.add", &json!({"rule": "allow bash **"}));
    assert!(broad["error"]["message"].as_str().unwrap().contains("i_know"), "{broad}");
    assert_eq!(ids(&serving.call("policy.list", &json!({}))), ["allow-npm-run"]);
    let missing = serving.call("policy.remove", &json!({"ids": ["allow-npm-rum"]}));
    assert!(missing["error"]["message"].as_str().unwrap().contains("allow-npm-run"), "{missing}");
    serving.call("policy.remove", &json!({"ids": ["allow-npm-run"]}));
    assert_eq!(action(&mut serving, "npm run build"), "sandbox");
}

#[test]
fn rules_from_a_file_apply_and_are_saved() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rules.toml");
    let text = "# Ours.\nversion = 1\n\n[[rule]]\nid = \"builds\"\nprefix = [\"tool\", \"run\"]\ndecision = \"allow\"\n";
    std::fs::write(&file, text).unwrap();
    let named = file.display().to_string();
    let mut serving = Serving::start(&["--rules", &named]);
    assert_eq!(action(&mut serving, "tool run x"), "allow");
    let stricter = json!({"command": "tool run x", "rules": [{"prefix": ["tool"], "action": "ask"}]});
    assert_eq!(serving.call("command.evaluate", &stricter)["result"]["action"], "ask");
    serving.call("policy.add", &json!({"rule": "deny git push"}));
    let settings = r#"{"permissions": {"allow": ["Bash(tool:*)"], "deny": ["Bash(curl:*)", "Read(x)"]}}"#;
    let imported = serving.call("policy.import", &json!({"text": settings, "format": "claude"}));
    assert_eq!(imported["result"]["added"][0]["id"], "deny-curl", "{imported}");
    assert_eq!(imported["result"]["leftOut"].as_array().unwrap().len(), 2, "{imported}");
    let explained = serving.call("policy.explain", &json!({"command": "git push"}));
    assert_eq!(explained["result"]["decision"]["action"], "deny");
    assert_eq!(explained["result"]["considered"][0][0]["outcome"], "decides", "{explained}");
    // Removing what allows makes nothing milder.
    serving.call("policy.remove", &json!({"ids": ["builds"]}));
    assert_eq!(action(&mut serving, "tool run x"), "sandbox");
    let exported = serving.call("policy.export", &json!({}));
    assert_eq!(serving.end(), Some(0));
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(kept.starts_with("# Ours.\nversion = 1\n") && !kept.contains("builds"), "{kept}");
    assert_eq!(exported["result"]["rulesToml"], kept);
    let mut again = Serving::start(&["--rules", &named]);
    assert_eq!(ids(&again.call("policy.list", &json!({}))), ["deny-git-push", "deny-curl"]);
    assert_eq!(action(&mut again, "curl x.example"), "deny");
    // What cannot be read decides nothing.
    std::fs::write(&file, "version = 9\n").unwrap();
    assert!(again.call("command.evaluate", &json!({"command": "ls"}))["error"].is_object());
}

#[test]
fn rules_are_saved_in_yaml_and_exported_as_toml() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rules.yaml");
    std::fs::write(
        &file,
        "# Ours.\nversion: 1\nrule:\n  - id: a # first\n    exact: [tool]\n    decision: deny\n",
    )
    .unwrap();
    let mut serving = Serving::start(&["--rules", &file.display().to_string()]);
    serving.call("policy.add", &json!({"rule": "deny git push"}));
    assert_eq!(ids(&serving.call("policy.list", &json!({}))), ["a", "deny-git-push"]);
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(kept.starts_with("# Ours.\nversion: 1\nrule:\n  - id: a # first\n"), "{kept}");
    let exported = serving.call("policy.export", &json!({}));
    let toml = exported["result"]["rulesToml"].as_str().unwrap();
    assert_eq!(toml.matches("[[rule]]").count(), 2, "{toml}");
    let asked = serving.call("command.evaluate", &json!({"command": "git push", "rulesToml": toml}));
    assert_eq!(asked["result"]["action"], "deny", "{asked}");
}

#[test]
fn invalid_rules_prevent_the_start() {
    let mut serving = Serving::start(&["--rules", "no.txt"]);
    assert_eq!(serving.child.wait().unwrap().code(), Some(2));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rules.toml");
    std::fs::write(&file, "version = 9\n").unwrap();
    let mut serving = Serving::start(&["--rules", &file.display().to_string()]);
    assert_eq!(serving.child.wait().unwrap().code(), Some(2));
}

#[test]
fn an_agents_rules_are_listed_and_explained() {
    let mut serving = Serving::start(&["--agent", "bot"]);
    let folder = serving.home.path().join(".config/stockade");
    std::fs::create_dir_all(&folder).unwrap();
    let text = "[[agents.bot.commands.rules]]\nid = \"no-make\"\nprefix = [\"make\"]\ndecision = \"deny\"\n";
    std::fs::write(folder.join("config.toml"), text).unwrap();
    let listed = serving.call("policy.list", &json!({"agent": "bot"}));
    assert_eq!(ids(&listed), ["no-make"]);
    assert!(listed["result"]["rules"][0]["place"].as_str().unwrap().ends_with("config.toml:1:1"), "{listed}");
    let explained = serving.call("policy.explain", &json!({"command": "make", "agent": "bot"}));
    assert_eq!(explained["result"]["decision"]["matchedRule"], "no-make");
    let other = serving.call("policy.list", &json!({"agent": "other"}));
    assert_eq!(other["error"]["code"], REFUSED, "{other}");
}
