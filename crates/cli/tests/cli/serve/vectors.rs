//! The vectors of the specification, through a real server. Without the folder that holds them, this is skipped.
//!
//! What a layer decides otherwise than a row is listed, with its reason, by the conformance program of its crate; here
//! the same rows are left out by their names.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::Serving;
use crate::support::repository;

/// Rows that a layer decides otherwise: see `DECIDED_OTHERWISE` in `crates/*/examples/conformance.rs`.
const DECIDED_OTHERWISE: &[&str] = &[
    "bud66", "bud67", "bud71", "src-p29", "xp-054", "xp-072", "xp-307", "pol-p28", "pol-p29", "sv-258",
    "bw3", "bw6", "bw8", "se-142", "se-150", "bw12", "bw14", "bw16", "bw27", "bw29", "bw30", "bw31", "bw32",
    "bw34", "bw43", "im-089", "cg-094", "xp-264", "cg-120",
];

fn vectors(name: &str) -> Option<Value> {
    let path: PathBuf = repository().join("../shared/vectors").join(name);
    match std::fs::read_to_string(&path) {
        Ok(text) => Some(serde_json::from_str(&text).unwrap()),
        Err(_) => {
            println!("skipped: there is no {}", path.display());
            None
        }
    }
}

fn rows(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Runs each row of a file, and fails with those that do not pass.
fn each<'v>(
    name: &str,
    rows: impl Iterator<Item = &'v Value>,
    mut passes: impl FnMut(&Value) -> Result<(), String>,
) {
    let (mut number, mut wrong) = (0, Vec::new());
    for row in rows {
        let id = row["id"].as_str().or(row["note"].as_str()).unwrap_or("?");
        if DECIDED_OTHERWISE.contains(&id) {
            continue;
        }
        number += 1;
        if let Err(why) = passes(row) {
            wrong.push(format!("{id}: {why}"));
        }
    }
    println!("{name}: {}/{number}", number - wrong.len());
    assert!(wrong.is_empty(), "{name}: {} of {number}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Whether everything that is wanted is there, whatever else is. Words and clocks are not compared.
fn agrees(wanted: &Value, found: &Value) -> bool {
    match (wanted, found) {
        (Value::Object(wanted), Value::Object(found)) => wanted.iter().all(|(key, value)| {
            matches!(key.as_str(), "message" | "timestamp")
                || found.get(key).is_some_and(|found| agrees(value, found))
        }),
        (Value::Array(wanted), Value::Array(found)) => {
            wanted.len() == found.len()
                && wanted.iter().zip(found).all(|(wanted, found)| agrees(wanted, found))
        }
        (Value::Number(wanted), Value::Number(found)) => {
            (wanted.as_f64().unwrap() - found.as_f64().unwrap()).abs() < 1e-9
        }
        _ => wanted == found,
    }
}

fn expect(wanted: &Value, found: &Value) -> Result<(), String> {
    if agrees(wanted, found) { Ok(()) } else { Err(format!("wanted {wanted}, found {found}")) }
}

/// Writes the keys of an object as JSON interfaces do.
fn camel(object: &Value) -> Value {
    let rename = |key: &str| {
        let mut words = key.split('_');
        let first = words.next().unwrap_or_default().to_owned();
        words.fold(first, |name, word| {
            let mut letters = word.chars();
            let initial = letters.next().map(|letter| letter.to_ascii_uppercase());
            name + &initial.into_iter().chain(letters).collect::<String>()
        })
    };
    match object {
        Value::Object(fields) => fields.iter().map(|(key, value)| (rename(key), value.clone())).collect(),
        other => other.clone(),
    }
}

#[test]
fn manifests_of_containers() {
    let Some(file) = vectors("iscl-manifest.json") else { return };
    let mut serving = Serving::start(&[]);
    // What is no value of JSON cannot be asked, and packages are for the command line.
    let asked = |row: &&Value| row.get("kind").is_none() && row.get("manifest_text").is_none();
    each("iscl-manifest.json", rows(&file).filter(asked), |row| {
        let answer =
            serving.call("container.manifest", &json!({ "manifest": row["manifest"] }))["result"].clone();
        let wanted = json!({ "valid": row["valid"] });
        expect(&wanted, &answer)?;
        match answer["dockerArgs"].is_array() == (row["valid"] == true) {
            true => Ok(()),
            false => Err(format!("arguments of docker for what is not valid, or none for what is: {answer}")),
        }
    });
}

#[test]
fn limits() {
    let components = [
        ("budget_guard", "budget"),
        ("circuit_breaker", "breaker"),
        ("step_counter", "steps"),
        ("turn_budget", "turnBudget"),
        ("tool_retry_breaker", "retry"),
        ("trajectory", "trajectory"),
        ("cost_tracker", "costs"),
    ];
    let mut serving = Serving::start(&[]);
    for name in ["comis-budget.json", "comis-circuit.json"] {
        let Some(file) = vectors(name) else { return };
        each(name, rows(&file), |row| {
            let component = components.iter().find(|(theirs, _)| row["component"] == *theirs).unwrap().1;
            let script: Vec<Value> = rows(&row["script"])
                .map(|step| {
                    json!({"atMs": step.get("at_ms").unwrap_or(&json!(0)), "op": step["op"],
                           "args": step.get("args").unwrap_or(&json!([]))})
                })
                .collect();
            let params = json!({"component": component, "config": row["config"], "script": script});
            let answer = serving.call("limits.script", &params);
            let steps = rows(&row["script"]).enumerate().filter(|(_, step)| step.get("expect").is_some());
            steps
                .into_iter()
                .try_for_each(|(at, step)| expect(&step["expect"], &answer["result"]["results"][at]))
        });
    }
}

#[test]
fn sources() {
    let Some(file) = vectors("comis-source-profiles.json") else { return };
    let mut serving = Serving::start(&[]);
    each("comis-source-profiles.json", rows(&file["cases"]), |row| {
        let params = json!({"tool": row["tool"], "overrides": camel(&row["overrides"])});
        expect(&camel(&row["expect"]), &serving.call("source.resolve", &params)["result"])
    });
}

#[test]
fn tools() {
    let Some(file) = vectors("comis-tool-policy.json") else { return };
    let mut serving = Serving::start(&[]);
    each("comis-tool-policy.json", rows(&file["cases"]), |row| {
        let result = serving.call("tools.resolve", &json!({"tools": row["tools"], "policy": row["policy"]}))
            ["result"]
            .clone();
        if row.get("comis_throws").is_some() {
            return if result["warnings"][0].is_string() { Ok(()) } else { Err("no warning".to_owned()) };
        }
        expect(&row["expect_allowed"], &result["allowed"])?;
        let filtered: Vec<Value> = rows(&result["filtered"])
            .map(|one| {
                let mut flat = one["reason"].clone();
                if let Some(entry) = flat.as_object_mut().unwrap().remove("denyEntry") {
                    flat["deny_entry"] = entry;
                }
                flat["tool"] = one["tool"].clone();
                flat
            })
            .collect();
        expect(&row["expect_filtered"], &Value::from(filtered))
    });
}

#[test]
fn commands() {
    let Some(file) = vectors("cb-execpolicy.json") else { return };
    let mut serving = Serving::start(&[]);
    let order = ["allow", "sandbox", "ask", "deny"];
    let rank = |action: &Value| order.iter().position(|known| action == known);
    each("cb-execpolicy.json", rows(&file), |row| {
        let mut params = json!({});
        for key in ["command", "argv", "rules", "cwd"] {
            if let Some(value) = row.get(key).filter(|value| !value.is_null()) {
                params[key] = value.clone();
            }
        }
        if row["expect_error"].is_string() && params.get("command").is_none() {
            params["command"] = "true".into();
        }
        let answer = serving.call("command.evaluate", &params);
        if row["expect_error"].is_string() {
            return expect(&json!(-32602), &answer["error"]["code"]);
        }
        let found = &answer["result"]["action"];
        match rank(&row["expect_min"]) {
            Some(least) if rank(found) >= Some(least) => Ok(()),
            Some(_) => Err(format!("{} is milder than {}: {answer}", found, row["expect_min"])),
            None => expect(&row["expect_action"], found),
        }
    });
}

#[test]
fn substitutions() {
    let Some(file) = vectors("shell-validator.json") else { return };
    let mut serving = Serving::start(&[]);
    each("shell-validator.json", rows(&file["vectors"]), |row| {
        let shell = row["shell"].as_str().filter(|shell| *shell != "any").unwrap_or("bash");
        let params = json!({"command": row["input"], "shell": shell});
        let result = serving.call("command.validate", &params)["result"].clone();
        expect(&json!([row["verdict"], row["kind"]]), &json!([result["verdict"], result["kind"]]))
    });
}

#[test]
fn texts() {
    let mut serving = Serving::start(&[]);
    let Some(file) = vectors("comis-sanitizer.json") else { return };
    let tested = rows(&file)
        .filter(|row| row["source"] == "comis-test" && row["fn"] == "sanitize" && row["input"].is_string());
    each("comis-sanitizer.json", tested, |row| {
        let mut params = json!({"text": row["input"]});
        if row["max_len"].is_u64() {
            params["maxBodyLength"] = row["max_len"].clone();
        }
        let result = serving.call("sanitize", &params)["result"].clone();
        let mut wanted = camel(&row["expect"]);
        wanted.as_object_mut().unwrap().retain(|key, _| {
            ["body", "htmlCommentsStripped", "truncated", "tagBlockDetected"].contains(&key.as_str())
        });
        expect(&wanted, &result)
    });
    let Some(file) = vectors("comis-scanner.json") else { return };
    let tested = rows(&file).filter(|row| row["source"] == "comis-test" && row["input"].is_string());
    each("comis-scanner.json", tested, |row| {
        let result = serving.call("scan", &json!({"text": row["input"]}))["result"].clone();
        // Findings about the same attack are grouped under the most severe one.
        let all = rows(&result["findings"]).flat_map(|main| std::iter::once(main).chain(rows(&main["also"])));
        let found: Vec<&Value> = all.map(|finding| &finding["ruleId"]).collect();
        match rows(&row["expect_rules"]).find(|rule| !found.contains(rule)) {
            Some(rule) => Err(format!("{rule} is not among {found:?}")),
            None => expect(&row["expect_clean"], &result["clean"]),
        }
    });
}

#[test]
fn plans() {
    let Some(file) = vectors("comis-bwrap.json") else { return };
    let mut serving = Serving::start(&[]);
    each("comis-bwrap.json", rows(&file), |row| {
        let options = &row["options"];
        let mut spec = json!({"workspace": options["workspace"], "cwd": options["cwd"]});
        for (from, to) in [
            ("shared_paths", "sharedPaths"),
            ("read_only_paths", "readOnlyPaths"),
            ("secure_credential_home", "secureCredentialHome"),
        ] {
            if !options[from].is_null() {
                spec[to] = options[from].clone();
            }
        }
        if let Some(folder) = options["temp_dir"].as_str().filter(|folder| !folder.is_empty()) {
            spec["tempDir"] = folder.into();
        }
        if !options["network"].is_null() {
            spec["network"] = camel(&options["network"]);
        }
        let mut exists = row["exists"].clone();
        if exists == "*"
            && rows(&row["must"]).any(|must| must[1].as_str().is_some_and(|path| path.contains(".git")))
        {
            exists = json!("*");
        }
        let host =
            json!({"exists": exists, "home": options["home"], "bwrap": {"path": options["bwrap_path"]}});
        let answer =
            serving.call("sandbox.plan", &json!({"spec": spec, "hostFacts": host, "backend": "bwrap"}));
        if row.get("throws").is_some() {
            return if answer["error"]["code"] == -32001 {
                Ok(())
            } else {
                Err(format!("not refused: {answer}"))
            };
        }
        let mut words: Vec<&str> = rows(&answer["result"]["argv"]).filter_map(Value::as_str).collect();
        while let Some(at) = words.iter().position(|word| *word == "--size") {
            words.drain(at..at + 2);
        }
        let has = |wanted: &Value| {
            let wanted: Vec<&str> = rows(wanted).filter_map(Value::as_str).collect();
            words.windows(wanted.len().max(1)).any(|window| window == wanted)
        };
        if let Some(wanted) = rows(&row["must"]).find(|wanted| !has(wanted)) {
            return Err(format!("{wanted} is missing in {answer}"));
        }
        match rows(&row["must_not"]).find(|unwanted| has(unwanted)) {
            Some(unwanted) => Err(format!("{unwanted} is there")),
            None => Ok(()),
        }
    });
}

#[test]
fn paths() {
    let Some(file) = vectors("comma-guard.json") else { return };
    let mut serving = Serving::start(&[]);
    // What happens between a decision and its use, and changes of the chain of policies, are for the library.
    let plain = rows(&file).filter(|row| {
        ["swap_after_authorize", "swap_during_prompt", "op"].iter().all(|key| row.get(key).is_none())
            && row["config"].get("chain_ops").is_none()
            && row["request"]["type"].is_string()
    });
    each("comma-guard.json", plain, |row| {
        let site = Site::make(&row["setup"]);
        path(&mut serving, row, &site)
    });
}

/// A workspace and its surroundings, as a row describes them.
struct Site {
    base: tempfile::TempDir,
}

impl Site {
    fn make(setup: &Value) -> Self {
        let site = Self { base: tempfile::tempdir().unwrap() };
        let folders = ["ws".to_owned(), "outside".to_owned()];
        let dirs = rows(&setup["dirs"]).filter_map(Value::as_str).map(|dir| format!("ws/{dir}"));
        folders
            .into_iter()
            .chain(dirs)
            .for_each(|folder| std::fs::create_dir_all(site.real().join(folder)).unwrap());
        for (folder, key) in [("ws", "files"), ("outside", "outside_files")] {
            for file in rows(&setup[key]).filter_map(Value::as_str) {
                site.fill(&format!("{folder}/{file}"), |path| std::fs::write(path, "text"));
            }
        }
        for (link, target) in setup["symlinks"].as_object().into_iter().flatten() {
            let target = site.expand(target.as_str().unwrap());
            site.fill(&format!("ws/{link}"), |path| std::os::unix::fs::symlink(target, path));
        }
        for (link, target) in setup["hardlinks"].as_object().into_iter().flatten() {
            let target = site.real().join("ws").join(site.expand(target.as_str().unwrap()));
            site.fill(&format!("ws/{link}"), |path| std::fs::hard_link(target, path));
        }
        std::os::unix::fs::symlink(site.real().join("ws"), site.real().join("link")).unwrap();
        site
    }

    fn fill(&self, name: &str, make: impl FnOnce(PathBuf) -> std::io::Result<()>) {
        let path = self.real().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        make(path).unwrap();
    }

    fn real(&self) -> PathBuf {
        self.base.path().canonicalize().unwrap()
    }

    fn expand(&self, text: &str) -> String {
        let base = self.real();
        text.replace("$WS", &base.join("ws").to_string_lossy())
            .replace("$OUT", &base.join("outside").to_string_lossy())
    }
}

fn path(serving: &mut Serving, row: &Value, site: &Site) -> Result<(), String> {
    let mut config: Value = serde_json::from_str(&site.expand(&row["config"].to_string())).unwrap();
    if row.to_string().contains(r#""config_read":"ask""#) {
        config["read"] = json!({"default": "ask"});
    }
    let fields = config.as_object_mut().unwrap();
    let through_link = fields.remove("cwd_via_symlink").is_some();
    let policies = fields.remove("tool_policies").unwrap_or(json!([]));
    let cwd = site.real().join(if through_link { "link" } else { "ws" });
    fields.insert("cwd".to_owned(), cwd.to_string_lossy().into_owned().into());
    let policies: serde_json::Map<String, Value> =
        rows(&policies).flat_map(|policy| camel(policy).as_object().cloned().unwrap_or_default()).collect();
    let mut request = json!({"type": row["request"]["type"], "resource": site.expand(row["request"]["resource"].as_str().unwrap())});
    request["aborted"] = (row["signal_aborted"] == true).into();
    let repeat = row["repeat"].as_u64().unwrap_or(1);
    let mut requests: Vec<Value> = (0..repeat).map(|_| request.clone()).collect();
    for then in rows(&row["then"]) {
        let resource = site.expand(then["request"]["resource"].as_str().unwrap());
        requests.push(json!({"type": then["request"]["type"], "resource": resource}));
    }
    let mut params = json!({"config": config, "policies": policies, "requests": requests});
    if !row["on_ask"].is_null() {
        params["answers"] =
            if row["on_ask"].is_array() { row["on_ask"].clone() } else { json!([row["on_ask"]]) };
    }
    let answer = serving.call("path.authorize", &params);
    if answer.get("error").is_some() {
        return if row["expect"] == "deny" { Ok(()) } else { Err(answer.to_string()) };
    }
    let results: Vec<&Value> = rows(&answer["result"]["results"]).collect();
    let first = results[0];
    if first["decision"] != row["expect"] && first["decision"] != row["better"] {
        return Err(format!("wanted {}, found {first}", row["expect"]));
    }
    if row["reason"].is_string() && row["reason"] != first["reason"] {
        return Err(format!("wanted {}, found {first}", row["reason"]));
    }
    if let Some(path) = row["expect_path"].as_str() {
        expect(&site.expand(path).into(), &first["path"])?;
    }
    if row["expect_last"].is_string() {
        expect(&row["expect_last"], &results[repeat as usize - 1]["decision"])?;
    }
    for (then, result) in rows(&row["then"]).zip(&results[repeat as usize..]) {
        expect(&then["expect"], &result["decision"])?;
    }
    let asked: u64 = results[..repeat as usize].iter().filter_map(|result| result["asked"].as_u64()).sum();
    match row["expect_prompt_count"].as_u64() {
        Some(count) if count != asked => Err(format!("wanted {count} questions, found {asked}")),
        _ => Ok(()),
    }
}

#[test]
fn evaluations() {
    let Some(file) = vectors("cb-safe-eval.json") else { return };
    let mut serving = Serving::start(&[]);
    each("cb-safe-eval.json", rows(&file), |row| {
        let function = match row["fn"].as_str() {
            Some("eval_async") => "evalAsync",
            other => other.unwrap(),
        };
        let params = json!({"fn": function, "expr": row["expr"], "vars": row["vars"]});
        let answer = serving.call("eval", &params);
        if let Some(wanted) = row.get("expect") {
            return expect(wanted, &answer["result"]["value"]);
        }
        match (row["error"].as_str(), answer["error"]["data"]["kind"].as_str()) {
            (Some("limit" | "timeout"), Some("timeout" | "memory" | "depth")) | (Some("throws"), Some(_)) => {
                Ok(())
            }
            (Some(wanted), _) => Err(format!("wanted {wanted}, found {answer}")),
            // Whatever it answers, there is no host that it could have touched.
            (None, _) => Ok(()),
        }
    });
}
