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

`stockade serve` answers JSON-RPC 2.0 on standard input and output, or on a unix socket with `--socket PATH` that only
programs of the same user reach: one request a line, one answer a line. Answers come in the order in which they are ready,
so every request that wants one has an `id`. Batches are answered as a whole, and notifications not at all. A line that is
wrong gets an error, and the server goes on.

Long requests and those that read the disk go to workers, commands to others, so that small requests never wait for them.
Everything is bounded: the length of a line (`--max-request`) and its values (100000), of a batch (1000), of texts to scan (1 MiB), of
commands (256 KiB), what is under way for one client (64
requests), sessions (1024, of one client 64), connections (64) and commands that run (`--max-commands`). One client holds no more than some 64 MB,
whatever it sends. A client that does not read its
answers is not read from.

Commands that are run are put on record in the audit trail, and are not run without.

`session.open` with `agent` opens a session under the configuration of that agent, as [CONFIG.md](../config/CONFIG.md) has its keys: it
decides about tools, paths, commands, skills, calls, results and hosts of every request that names the `session`, and each decision is put on
record. What a request says besides only narrows: rules, policies, limits and paths of its own are asked as well, and the stricter answer
holds. A configuration that has changed counts from the next request on; one that cannot be used answers nothing. Budgets, breakers and
the steps of tasks (`execution`) are kept in the file of limits of this user, or on the Redis server that the configuration names
(`limits.server`), for all sessions, servers and programs together. Where the server was started with `--agent ID`, requests without a session
are part of one of that agent. A session ends with `session.close`, a minute after its client has left unless another connection
continues it, or after a day without use. A reservation for a call that is never settled is charged in full when its time
is up.

Where a person must be asked, `command.evaluate` in a session and `exec` of an agent return a `question`. Show its `shown`, which hides
nothing, with its `reasons`, `cwd` and `files`, and send the request again with its `id` as `question` and the `answer`: `allow`, `deny`,
`allow-session`, `deny-session` or `allow-always`. An answer to anything else than what is asked by then counts for nothing: not to
another text, folder, variable or other bytes of a file. `answers.list` shows what holds, and `answers.revoke` takes it back.

A client that opens a session with `listen` is told when policies change, by notifications `policy.changed`: those of a tool in that
session, and the rules of the server. Each change is on record (`policy_changed`). Who does not read misses them.

With `stream`, what a command of `exec` prints is sent while it runs: notifications `exec.output`, each with the `id` of the request, a
`seq` that counts them from 0 without a gap, and a piece of `stdout` or `stderr`; the answer comes after the last of them. Pieces of one
stream are in order; between both it is the order in which they were read. No more is held for a client than a megabyte and two pipes, so a
client that does not read makes the command wait, until its time is up. What was cut is said: `droppedBytes`, of what was too much (`maxOutputBytes`)
or was not taken within ten seconds after the end. `cancel` ends a command by the `id` of its request, and so does a client that leaves.

A bug in the answer to one request is told with -32603 and on standard error, and ends no other.

The packages for [Python](../../packages/python) and [Node.js](../../packages/node) are made from the same types: typed methods, a
time-out for every answer, a typed error for every way to fail, and a server that is started anew when it was lost.
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
    let mut out = format!("{HEAD}\n| method | what it does |\n|---|---|\n");
    for (method, ..) in &examples {
        let anchor = method.replace('.', "");
        let _ = writeln!(
            out,
            "| [`{method}`](#{anchor}) | {} |",
            first_sentence(&schema["methods"][*method]["params"])
        );
    }
    out.push_str("\n## Errors\n\n| code | name | what it means |\n|---|---|---|\n");
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
    let _ = writeln!(out, "\n## Notifications\n\nWhat the server sends beside answers.");
    for (name, parameters) in schema["notifications"].as_object().into_iter().flatten() {
        let _ = writeln!(out, "\n### {name}\n\n{}\n", text(&parameters["description"]));
        fields(&mut out, &schema, parameters, "parameter");
    }
    out.push_str("\n## Parts\n\nWhat parameters and results are made of.\n");
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
