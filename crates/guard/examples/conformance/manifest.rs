//! `comis-manifest.json`: heads of skills in the dialect of Comis.

use serde_json::{Map, Value, json};
use stockade_guard::admission::{
    Admission, AdmitOptions, Dialect, LoadedSkill, ProblemLevel, SkillManifest, SkillSource, admit,
};
use stockade_guard::policy::SkillTools;
use stockade_guard::policy::tools::SkillTool;
use stockade_guard::scanner::Scanner;

/// One row: whether the skill is let in, and what its head is read as.
pub(super) fn row(row: &Value) -> Option<Result<(), String>> {
    let text = row.get("input")?.as_str()?;
    let wanted = row.get("ok")?.as_bool()?;
    let options = AdmitOptions { dialect: Dialect::Comis, ..AdmitOptions::default() };
    let admission = match admit(&SkillSource::Text { name: "SKILL.md", text }, Scanner::builtin(), &options) {
        Ok(admission) => admission,
        Err(error) => return Some(Err(error.to_string())),
    };
    let problems = format!("{:?}", admission.report().problems);
    let is_told = says_why_the_head_is_not_read(row, &admission);
    let checked = match (admission.loaded(), wanted) {
        (None, false) => Ok(()),
        // A head that cannot be read is told of; a text without one still comes in flagged.
        (Some(_), false) if is_told => Ok(()),
        (Some(_), false) => Err("let in, and should not be".to_owned()),
        (None, true) => Err(format!("turned away: {problems}")),
        (Some(skill), true) => compare(row, &skill),
    };
    Some(checked)
}

fn compare(row: &Value, skill: &LoadedSkill) -> Result<(), String> {
    let Some(wanted) = row.get("value") else { return Ok(()) };
    let said = match row.get("fn").and_then(Value::as_str) {
        Some("frontmatter") => {
            let head = json!({ "name": skill.manifest().name, "description": skill.manifest().description });
            json!({ "frontmatter": head, "body": skill.body() })
        }
        _ => comis(skill.manifest(), skill.tools()),
    };
    // An empty table and none say the same.
    let wanted = &without(wanted.clone(), |value| value == &json!({}));
    if said == *wanted { Ok(()) } else { Err(format!("read as {said}, wanted {wanted}")) }
}

/// A manifest as Comis prints it. There, an empty list of tools restricts nothing, and here it permits nothing: the list
/// is compared, not what it means.
fn comis(manifest: &SkillManifest, tools: &SkillTools) -> Value {
    let tools: Vec<&str> = match tools {
        SkillTools::Unlisted => Vec::new(),
        SkillTools::Listed(tools) => tools.iter().map(SkillTool::name).collect(),
    };
    let permissions = &manifest.permissions;
    let mut object = json!({
        "name": manifest.name,
        "description": manifest.description,
        "type": "prompt",
        "userInvocable": manifest.user_invocable,
        "disableModelInvocation": manifest.disable_model_invocation,
        "allowedTools": tools,
        "permissions": {
            "fsRead": permissions.fs_read, "fsWrite": permissions.fs_write,
            "net": permissions.net, "env": permissions.env,
        },
        "version": manifest.version,
        "license": manifest.license,
        "argumentHint": manifest.argument_hint,
        "inputSchema": manifest.input_schema,
    });
    if !manifest.metadata.is_empty() {
        set(&mut object, "metadata", json!(manifest.metadata));
    }
    let namespace = namespace(manifest);
    if !namespace.is_empty() {
        set(&mut object, "comis", Value::Object(namespace));
    }
    without(object, Value::is_null)
}

fn namespace(manifest: &SkillManifest) -> Map<String, Value> {
    let requires = &manifest.requires;
    let mut namespace = Map::new();
    if !requires.os.is_empty() {
        namespace.insert("os".into(), json!(requires.os));
    }
    if !requires.bins.is_empty() || !requires.env.is_empty() {
        namespace.insert("requires".into(), json!({ "bins": requires.bins, "env": requires.env }));
    }
    let texts = [
        ("skill-key", &requires.skill_key),
        ("primary-env", &requires.primary_env),
        ("command-dispatch", &requires.command_dispatch),
    ];
    for (key, text) in texts {
        if let Some(text) = text {
            namespace.insert(key.into(), json!(text));
        }
    }
    namespace
}

fn set(object: &mut Value, key: &str, value: Value) {
    if let Value::Object(map) = object {
        map.insert(key.into(), value);
    }
}

fn without(object: Value, left_out: impl Fn(&Value) -> bool) -> Value {
    match object {
        Value::Object(map) => map.into_iter().filter(|(_, value)| !left_out(value)).collect(),
        other => other,
    }
}

/// Whether the row asks for the reading of a head alone, and the skill is flagged with what is wrong with it.
fn says_why_the_head_is_not_read(row: &Value, admission: &Admission) -> bool {
    row["fn"] == "frontmatter"
        && matches!(admission, Admission::Flagged(_))
        && admission.report().problems.iter().any(|problem| problem.level > ProblemLevel::Note)
}
