//! SERVE.md: every method with its parameters, its result and an example, made from the types.
#![expect(clippy::disallowed_methods, reason = "writes and compares a generated file")]

use std::fmt::Write as _;
use std::{env, fs};

use serde_json::Value;

use super::examples::{answered, is_shown};
use crate::fault::CODES;
use crate::schema;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/SERVE.md");

const HEAD: &str = "\
# stockade serve

Generated from `src/`; `stockade serve --schema` prints the same as JSON Schema.

`stockade serve` answers JSON-RPC 2.0 on standard input and output, or on a Unix socket with `--socket PATH` that only
programs of the same user can use. Each request and each answer is one line. Answers are sent as soon as they are ready, so
every request that needs one has an `id`. A batch gets one response; notifications get none. An invalid line gets an error,
and the server continues.

```console
$ echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}' | stockade serve
```

Requests that take long or access the disk are answered by workers, and commands by other workers, so that small requests
never wait for them. A client that does not read its answers is not read from. These limits keep the memory for one client
below some 64 MB:

| what | limit |
|---|---|
| length of a line | `--max-request` |
| values in a line | 100000 |
| requests in a batch | 1000 |
| text to scan | 1 MiB |
| length of a command | 256 KiB |
| requests in flight of one client | 64 |
| sessions | 1024, of one client 64 |
| connections | 64 |
| running commands | `--max-commands` |

Commands are recorded in the audit trail; a command that cannot be recorded does not run.

## Sessions

`session.open` with `agent` opens a session with the configuration of that agent ([CONFIG.md](../config/CONFIG.md)). It
decides on tools, paths, commands, skills, calls, results and hosts of every request with that `session`, and each decision is
recorded. Rules, policies, limits and paths in a request can only narrow it: the stricter decision applies. A changed
configuration applies from the next request on; with an invalid one, every request is an error. Budgets, circuit breakers and
the steps of tasks (`execution`) are stored in the limits file of this user, or on the configured Redis server
(`limits.server`), and shared by all sessions, servers and programs. On a server started with `--agent ID`, requests without a
session belong to a session of that agent.

A session ends with `session.close`, a minute after its client disconnected unless another connection continues it, or after a
day without use. A call that is never settled is charged in full when its lease ends.

## Questions to the user

If the user must be asked, `command.evaluate` in a session and `exec` of an agent return a `question`. Show its `shown`, which
hides nothing, with its `reasons`, `cwd` and `files`, and repeat the request with its `id` as `question` and the `answer`:
`allow`, `deny`, `allow-session`, `deny-session` or `allow-always`. The answer is bound to the text, the directory, the
variables and the content of the files that were shown; if one of them has changed, the answer is void. `answers.list` lists
valid answers, and `answers.revoke` revokes them.

## Tools of an agent framework

`tool.before` decides about a call of any tool, and `tool.after` cleans its result. Both use the judge of the hooks, so that a
program that runs tools gets the answers that Claude Code gets. A framework names its tools as it likes; `kind` and
`argumentNames` describe a tool whose name is not in the table of harnesses:

```json
{\"session\": \"…\", \"name\": \"run_shell\", \"kind\": \"shell\", \"argumentNames\": [\"line\"], \"arguments\": {\"line\": \"make test\"}}
```

| decision | what the program does |
|---|---|
| `allow` | uses the tool, with `arguments` of the answer if it has them: a command that has to run in the sandbox is rewritten to `stockade exec …` |
| `ask` | shows `message` to the user, records what they say with `tool.answer`, and uses the tool only if they agree; without a user, that is a refusal |
| `deny` | returns `message` to the model in place of a result |

Every error is a refusal. Commands in `arguments` of the answer are for a shell of the same machine; elsewhere, run the
original command with `exec`. [FRAMEWORKS.md](../../packages/FRAMEWORKS.md) has adapters for five frameworks.

## Notifications and streaming

A client with a `listen` session receives notifications `policy.changed`: for policies of a tool in that session, and for the
rules of the server. Each change is recorded (`policy_changed`). A client that does not read misses them.

With `stream`, the output of an `exec` is sent while the command runs, in notifications `exec.output`. Each has the `id` of
the request, a `seq` that counts from 0 without gaps, and a piece of `stdout` or `stderr`; the answer follows the last one.
Pieces of one stream are in order; between the streams, the order is that in which they were read. At most a megabyte and two
pipes are buffered, so a client that does not read blocks the command, until its time limit. `droppedBytes` counts output that
was dropped, because it exceeded `maxOutputBytes` or was not read within ten seconds after the end. `cancel` cancels a command
by the `id` of its request; so does disconnecting.

A bug that ends a request is reported with -32603 and on standard error; other requests are not affected.

The packages for [Python](../../packages/python) and [Node.js](../../packages/node) are generated from the same types. They
have typed methods and errors, a timeout for every answer, and restart a server that ended.
";

#[test]
fn serve_md_is_fresh() {
    let wanted = document();
    if env::var_os("STOCKADE_BLESS").is_some_and(|value| value == "1") {
        fs::write(PATH, &wanted).unwrap();
    }
    assert!(
        fs::read_to_string(PATH).unwrap_or_default() == wanted,
        "SERVE.md is not fresh: run `cargo xtask generate`"
    );
}

fn document() -> String {
    let schema = schema();
    let examples = answered();
    let mut out = format!("{HEAD}\n## Methods\n\n| method | purpose |\n|---|---|\n");
    for (method, ..) in &examples {
        let anchor = method.replace('.', "");
        let _ = writeln!(
            out,
            "| [`{method}`](#{anchor}) | {} |",
            first_sentence(&schema["methods"][*method]["params"])
        );
    }
    out.push_str("\n## Errors\n\n| code | name | meaning |\n|---|---|---|\n");
    for (code, name, means) in CODES {
        let _ = writeln!(out, "| {code} | `{name}` | {means} |");
    }
    for (method, params, answer) in &examples {
        let of = &schema["methods"][*method];
        let _ = writeln!(out, "\n## {method}\n\n{}\n", text(&of["params"]["description"]));
        fields(&mut out, &schema, &of["params"], "parameter");
        out.push('\n');
        fields(&mut out, &schema, &of["result"], "result");
        let _ = writeln!(out, "\n```json\n{params}\n```");
        if is_shown(method) {
            let _ = writeln!(out, "\n```json\n{:#}\n```", answer["result"]);
        }
    }
    let _ = writeln!(out, "\n## Notifications\n\nMessages of the server other than answers.");
    for (name, parameters) in schema["notifications"].as_object().into_iter().flatten() {
        let _ = writeln!(out, "\n### {name}\n\n{}\n", text(&parameters["description"]));
        fields(&mut out, &schema, parameters, "parameter");
    }
    out.push_str("\n## Parts\n\nTypes of parameters and results.\n");
    for (name, part) in schema["$defs"].as_object().into_iter().flatten() {
        if part["properties"].is_object() {
            let _ = writeln!(out, "\n### {name}\n\n{}\n", text(&part["description"]));
            fields(&mut out, &schema, part, "field");
        }
    }
    out
}

/// The table of an object's fields.
fn fields(out: &mut String, root: &Value, schema: &Value, what: &str) {
    let schema = match schema["anyOf"].as_array().and_then(|choices| choices.first()) {
        Some(choice) => resolved(root, choice),
        None => resolved(root, schema),
    };
    let _ = writeln!(out, "| {what} | kind | |\n|---|---|---|");
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let optional = if required.contains(&name.as_str()) { "" } else { "?" };
        let _ = writeln!(
            out,
            "| `{name}`{optional} | {} | {} |",
            kind(root, field),
            text(&field["description"]).replace('|', "\\|")
        );
    }
}

fn resolved<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let reference =
        schema["$ref"].as_str().and_then(|reference| root.pointer(reference.trim_start_matches('#')));
    reference.unwrap_or(schema)
}

/// What a field holds, in a word. Only what has fields of its own has a section of its own.
fn kind(root: &Value, field: &Value) -> String {
    if let Some(name) = field["$ref"].as_str().and_then(|reference| reference.rsplit('/').next()) {
        let part = resolved(root, field);
        return match part["properties"].is_object() {
            true => format!("[{name}](#{})", name.to_lowercase()),
            false => kind(root, part),
        };
    }
    if let Some(choices) = field["anyOf"].as_array().or(field["oneOf"].as_array()) {
        let kinds: Vec<String> =
            choices.iter().map(|choice| kind(root, choice)).filter(|kind| kind != "null").collect();
        return kinds.join(" or ");
    }
    if !field["const"].is_null() {
        return field["const"].to_string();
    }
    if let Some(values) = field["enum"].as_array() {
        return values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ");
    }
    let name = match &field["type"] {
        Value::Array(names) => names.iter().filter_map(Value::as_str).find(|name| *name != "null"),
        name => name.as_str(),
    };
    match name {
        Some("array") => format!("list of {}", kind(root, &field["items"])),
        Some(name) => name.to_owned(),
        None => "any".to_owned(),
    }
}

fn text(description: &Value) -> String {
    // A row of a table is one line, whatever paragraphs the text has.
    description.as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn first_sentence(schema: &Value) -> String {
    let text = text(&schema["description"]);
    text.split_inclusive(['.', ':']).next().unwrap_or(&text).trim_end_matches(['.', ':']).to_owned()
}
