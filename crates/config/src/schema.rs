//! The keys as a JSON Schema, and as `CONFIG.md`.

use serde_json::{Map, Value as Json, json};

use crate::keys::{ConfigKey, KEYS};

/// Returns a JSON Schema for configuration files, for editors that complete and check them.
#[must_use]
pub fn config_schema() -> Json {
    let mut root = table();
    for key in KEYS {
        insert(&mut root, &key.path.split('.').collect::<Vec<_>>(), key);
    }
    if let Json::Object(root) = &mut root {
        root.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
        root.insert("title".into(), json!("Configuration of stockade"));
        // Files name their schema by this key.
        if let Some(Json::Object(properties)) = root.get_mut("properties") {
            properties.insert("$schema".into(), json!({ "type": "string" }));
        }
    }
    root
}

fn table() -> Json {
    json!({ "type": "object", "additionalProperties": false, "properties": {} })
}

fn insert(table_json: &mut Json, names: &[&str], key: &ConfigKey) {
    let (Json::Object(object), [name, rest @ ..]) = (table_json, names) else { return };
    // Any agent, and `*` for all of them; any tool; any rule.
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

Made by a test from `src/config/keys.rs`; `cargo xtask generate` writes it anew.

A configuration is a file in TOML, YAML or JSON. Later ones replace what earlier ones say:

| layer | where |
|---|---|
| default | built in, the table below |
| system | `/etc/stockade/config.{toml,yaml,yml,json}` |
| user | `$XDG_CONFIG_HOME/stockade/config.*`, or `~/.config/stockade/config.*` |
| project | `.stockade/config.*` in the current folder or the nearest above it. It can only narrow |
| environment | `STOCKADE_AGENTS__bot__MAXSTEPS=20`: the key with `__` for each dot; case and single `_` do not count |
| flag | `--set agents.bot.maxSteps=20` |
| managed | `/etc/stockade/managed.*`, owned by root and not writable by others. It wins over all |

`<id>` is the name of an agent, or `*`, which means all of them; `<tool>` is that of a tool, `<rule>` a rule of the scanner. What a layer says of one agent goes before what the same
layer says of all. `stockade config show --origin` tells what holds and who says so, `stockade config explain KEY` what a
key does, and `stockade config schema` prints a JSON Schema for editors.

Variables by which other tools of this kind are told to use a sandbox are heeded too. `AUTO_SANDBOX=true` makes `execSandbox.enabled` at
least `auto`, and `AUTO_SANDBOX_FAIL_CLOSED=true` makes `execSandbox.onUnavailable` `refuse`; neither makes anything milder. Where no layer
names an `execSandbox.backend`, `CODEBUDDY_SANDBOX_BACKEND` does, and with `ssh`, `CODEBUDDY_SSH_HOST` is the option `host` of the program
`stockade-backend-ssh`, which does not come with this one.

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

Rules for commands are written as in a file of rules (`stockade policy --help`), and their examples are tried when they are
read. They do not replace each other: those of all layers hold, for `*` and for the agent. What `/etc/stockade` says decides
before what the user says, with the variables and options, and the built-in rules speak where nobody else does. Rules of a
project only make decisions stricter. `stockade check command --agent ID 'COMMAND'` shows which one decides, and where it
stands.

| key | holds | default | what it does | a project |
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
