//! JSON Schema and `CONFIG.md`, generated from the keys.

use serde_json::{Map, Value as Json, json};

use crate::keys::{ConfigKey, KEYS};
use crate::scoped::SCOPED;

/// Returns a JSON Schema for configuration files, for editors that complete and check them.
#[must_use]
pub fn config_schema() -> Json {
    let mut root = table();
    for key in KEYS {
        insert(&mut root, &key.path.split('.').collect::<Vec<_>>(), key);
    }
    let scoped = scoped(&root);
    if let Json::Object(root) = &mut root {
        root.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
        root.insert("title".into(), json!("Configuration of stockade"));
        // Files name their schema with this key.
        if let Some(Json::Object(properties)) = root.get_mut("properties") {
            properties.insert("$schema".into(), json!({ "type": "string" }));
            properties.insert(SCOPED.into(), scoped);
        }
    }
    root
}

/// Returns the schema of the tables with conditions, in which every key may stand.
fn scoped(root: &Json) -> Json {
    let mut table = table();
    if let (Some(Json::Object(all)), Some(Json::Object(properties))) =
        (root.get("properties"), table.get_mut("properties"))
    {
        properties.insert("directory".into(), json!({ "type": "string" }));
        properties.insert("session".into(), json!({ "type": "string" }));
        properties.insert("until".into(), json!({ "type": "string", "format": "date-time" }));
        properties
            .extend(all.keys().map(|key| (key.clone(), json!({ "$ref": format!("#/properties/{key}") }))));
    }
    json!({ "type": "array", "description": "lists and rules that apply in a directory, in a session, or until a time", "items": table })
}

fn table() -> Json {
    json!({ "type": "object", "additionalProperties": false, "properties": {} })
}

fn insert(table_json: &mut Json, names: &[&str], key: &ConfigKey) {
    let (Json::Object(object), [name, rest @ ..]) = (table_json, names) else { return };
    // Any agent including `*`, any tool, any rule.
    let pattern = match *name {
        "<id>" => Some("^([A-Za-z0-9_-]{1,64}|\\*)$"),
        "<tool>" => Some("^[A-Za-z0-9_:-]{1,128}$"),
        "<rule>" => Some("^[A-Z0-9_]{1,128}$"),
        _ => None,
    };
    if let Some(pattern) = pattern {
        let agents = object.entry("patternProperties").or_insert_with(|| json!({ pattern: table() }));
        if let Some(agent) = agents.get_mut(pattern) {
            insert(agent, rest, key);
        }
        return;
    }
    let properties = object.entry("properties").or_insert_with(|| Json::Object(Map::new()));
    let Json::Object(properties) = properties else { return };
    if rest.is_empty() {
        properties.insert((*name).to_owned(), leaf(key));
    } else {
        insert(properties.entry(*name).or_insert_with(table), rest, key);
    }
}

fn leaf(key: &ConfigKey) -> Json {
    let mut schema = key.kind.schema();
    if let Json::Object(object) = &mut schema {
        object.insert("description".into(), json!(key.doc));
        object.insert("default".into(), serde_json::from_str(key.default).unwrap_or_default());
    }
    schema
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "compares generated files")]
mod tests {
    use super::*;

    const HEAD: &str = "\
# Configuration

Generated from `src/settings` by `cargo xtask generate`. Do not edit.

A config file is written in TOML, YAML or JSON. Later layers override earlier ones:

| layer | location |
|---|---|
| default | built in, see the table below |
| system | `/etc/stockade/config.{toml,yaml,yml,json}` |
| user | `$XDG_CONFIG_HOME/stockade/config.*`, or `~/.config/stockade/config.*`; with `--config FILE` or `STOCKADE_CONFIG=FILE`, that file instead |
| project | `.stockade/config.*` in the current directory or the nearest parent. It can only narrow |
| environment | `STOCKADE_AGENTS__bot__MAXSTEPS=20`: the key with `__` for each dot; case and single `_` are ignored |
| flag | `--set agents.bot.maxSteps=20` |
| managed | `/etc/stockade/managed.*`, owned by root and not writable by others. It overrides all other layers |

`<id>` is the id of an agent, or `*` for all agents; `<tool>` is the name of a tool, and `<rule>` the id of a scanner rule. Within a
layer, a value for one agent takes precedence over the value for all agents. `stockade config show --origin` shows the effective
settings and their origin, `stockade config explain KEY` documents a key, and `stockade config schema` prints a JSON Schema for editors.

A table `[[scoped]]` in the file of the user or of the machine applies only in a directory, in one session of a harness, or until
a time (UTC). It adds entries to lists, and rules: a later denial in the list itself holds in it, too. `stockade allow --project`, `--session`
and `--for` write such tables.

```toml
[[scoped]]
directory = \"/home/me/website\"
until = \"2026-12-24T18:00:00Z\"
agents.claude.allowedNetHosts = [\"api.example.com\"]
```

Environment variables of similar tools that request a sandbox are supported. `AUTO_SANDBOX=true` sets `execSandbox.enabled` to at
least `auto`, and `AUTO_SANDBOX_FAIL_CLOSED=true` sets `execSandbox.onUnavailable` to `refuse`; neither makes a setting less strict.
`CODEBUDDY_SANDBOX_BACKEND` sets `execSandbox.backend` if no layer does. If it is `ssh`, `CODEBUDDY_SSH_HOST` sets the option `host` of
the program `stockade-backend-ssh`, which is not part of Stockade.

```toml
[agents.\"*\".budget]
maxTokens = 500000

[agents.builder.toolPolicy]
profile = \"coding\"
deny = [\"process\"]

[agents.builder.skills.execSandbox]
readOnlyAllowPaths = [\"/opt/data\"]

[[agents.builder.commands.rules]]
id = \"no-publish\"
prefix = [\"cargo\", \"publish\"]
decision = \"deny\"
reason = \"releases are made by people\"
match = [\"cargo publish --dry-run\"]
```

Rules for commands have the format of rule files (`stockade policy --help`), and their examples are tested on load. Rules do not
override each other: those of all layers apply together, for `*` and for the agent. Rules in `/etc/stockade` take precedence over the
user's, which include those of environment variables and options, and the built-in rules apply where no other rule matches. Rules of
a project only make decisions stricter. `stockade check command --agent ID 'COMMAND'` shows which rule decides, and where it is defined.

| key | type | default | description | a project |
|---|---|---|---|---|
";

    fn check(name: &str, wanted: &str) {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        if std::env::var_os("STOCKADE_BLESS").is_some_and(|bless| bless == "1") {
            std::fs::write(&path, wanted).unwrap();
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(written == wanted, "{name} is stale: run `cargo xtask generate`");
    }

    #[test]
    fn the_document_is_fresh() {
        let row = |key: &ConfigKey| {
            let (path, holds, default) = (key.path, key.holds(), key.default);
            format!("| `{path}` | {holds} | `{default}` | {} | {} |\n", key.doc, key.project())
        };
        check("CONFIG.md", &format!("{HEAD}{}", KEYS.iter().map(row).collect::<String>()));
    }

    #[test]
    fn the_schema_is_fresh() {
        check("config.schema.json", &format!("{:#}\n", config_schema()));
    }
}
