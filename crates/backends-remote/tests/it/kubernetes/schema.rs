//! Holds objects against the schemas of Kubernetes, in strict form: what they do not name is wrong.

use serde_json::Value;

const SCHEMAS: &str = include_str!("schemas.json");

/// Returns what is wrong with an object.
pub(super) fn wrong(object: &Value) -> Vec<String> {
    let schemas: Value = serde_json::from_str(SCHEMAS).unwrap();
    let kind = object["kind"].as_str().unwrap_or_default();
    let mut problems = Vec::new();
    match schemas["kinds"].get(kind) {
        Some(schema) => hold(&schemas, schema, object, kind, &mut problems),
        None => problems.push(format!("there is no schema of {kind}")),
    }
    names(object, kind, &mut problems);
    problems
}

fn hold(root: &Value, schema: &Value, value: &Value, at: &str, problems: &mut Vec<String>) {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#')).unwrap();
        return hold(root, target, value, at, problems);
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        let fits = |choice: &&Value| {
            let mut inner = Vec::new();
            hold(root, choice, value, at, &mut inner);
            inner.is_empty()
        };
        if choices.iter().filter(fits).count() != 1 {
            problems.push(format!("{at}: it matches no choice, or several"));
        }
        return;
    }
    if !is_of_kind(&schema["type"], value) {
        problems.push(format!("{at}: {value} is no {}", schema["type"]));
    }
    if let Some(words) = schema["enum"].as_array().filter(|words| !words.contains(value)) {
        problems.push(format!("{at}: {value} is not one of {words:?}"));
    }
    if let Some(items) = value.as_array() {
        for (number, item) in items.iter().enumerate() {
            hold(root, &schema["items"], item, &format!("{at}[{number}]"), problems);
        }
    }
    let Some(fields) = value.as_object() else { return };
    for required in schema["required"].as_array().into_iter().flatten() {
        if !fields.contains_key(required.as_str().unwrap()) {
            problems.push(format!("{at}: {required} is missing"));
        }
    }
    for (name, field) in fields {
        let at = format!("{at}.{name}");
        match (schema["properties"].get(name), &schema["additionalProperties"]) {
            (Some(schema), _) | (None, schema @ Value::Object(_)) => hold(root, schema, field, &at, problems),
            (None, _) => problems.push(format!("{at}: unknown field")),
        }
    }
}

fn is_of_kind(kinds: &Value, value: &Value) -> bool {
    let is = |kind: &Value| match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("{other}"),
    };
    match kinds {
        Value::Null => true,
        Value::Array(kinds) => kinds.iter().any(is),
        kind => is(kind),
    }
}

/// What schemas do not say: how names, labels, keys and quantities are written.
fn names(object: &Value, kind: &str, problems: &mut Vec<String>) {
    let mut check = |is_well: bool, what: &str, text: &Value| {
        if !is_well {
            problems.push(format!("{kind}: {text} is no {what}"));
        }
    };
    let letter = |byte: u8| byte.is_ascii_alphanumeric();
    let metadata = &object["metadata"];
    let name = metadata["name"].as_str().unwrap_or_default();
    let is_name = (1..=63).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        && letter(name.as_bytes()[0])
        && letter(name.as_bytes()[name.len() - 1]);
    check(is_name, "name", &metadata["name"]);
    for label in metadata["labels"].as_object().into_iter().flat_map(|labels| labels.values()) {
        let text = label.as_str().unwrap_or_default();
        let is_label = text.len() <= 63
            && text.bytes().all(|byte| letter(byte) || b"-_.".contains(&byte))
            && text.bytes().next().is_none_or(letter)
            && text.bytes().last().is_none_or(letter);
        check(is_label, "label", label);
    }
    for key in object["data"].as_object().into_iter().flat_map(|data| data.keys()) {
        let is_key = key.len() <= 253 && key.bytes().all(|byte| letter(byte) || b"-_.".contains(&byte));
        check(is_key, "key", &key.as_str().into());
    }
    let pods = ["/spec", "/spec/template/spec", "/spec/podTemplate/spec"];
    for pod in pods.iter().filter_map(|place| object.pointer(place)) {
        for container in pod["containers"].as_array().into_iter().flatten() {
            for side in ["limits", "requests"] {
                for quantity in
                    container["resources"][side].as_object().into_iter().flat_map(|all| all.values())
                {
                    let text = quantity.as_str().unwrap_or_default();
                    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
                    let is_quantity = number.parse::<u64>().is_ok_and(|number| number > 0)
                        && ["", "m", "Mi", "Gi"].contains(&&text[number.len()..]);
                    check(is_quantity, "quantity", quantity);
                }
            }
            // A mount has a volume, and a path of its own.
            let volumes: Vec<&Value> =
                pod["volumes"].as_array().into_iter().flatten().map(|one| &one["name"]).collect();
            let mounts = container["volumeMounts"].as_array().into_iter().flatten();
            let mut places: Vec<&str> = Vec::new();
            for mount in mounts {
                let place = mount["mountPath"].as_str().unwrap();
                check(volumes.contains(&&mount["name"]), "volume", &mount["name"]);
                check(
                    !places.contains(&place) && !place.contains(':'),
                    "path of its own",
                    &mount["mountPath"],
                );
                places.push(place);
            }
        }
    }
}
