//! MCP servers in the settings of harnesses, and wrapping them in `stockade mcp wrap`.
//!
//! Wrapping only inserts words: the program becomes Stockade, and the original one follows, unchanged, after the words that are
//! inserted before its arguments. So inserted words are recognized without any stored state, and removing them restores the
//! settings byte for byte.

use std::fmt;
use std::ops::Range;

use serde_json::Value;

use super::Harness;
use super::json_edit::{blanked, find, items, read};
use super::rewrite;

/// Where a harness has its servers.
#[derive(Debug, Clone, Copy)]
pub struct ServersFile {
    /// The name of the harness.
    pub harness: &'static str,
    /// In the user's home.
    pub user: &'static str,
    /// In a project, if it has such settings.
    pub project: Option<&'static str>,
    /// The member whose members are projects with servers of their own.
    of_projects: Option<&'static str>,
}

/// The member that contains servers.
const MEMBER: &str = "mcpServers";

const fn row(harness: &'static str, user: &'static str, project: Option<&'static str>) -> ServersFile {
    ServersFile { harness, user, project, of_projects: None }
}

/// Harnesses with servers in JSON, with the program and the arguments in separate members.
pub const FILES: &[ServersFile] = &[
    ServersFile { of_projects: Some("projects"), ..row("claude", ".claude.json", Some(".mcp.json")) },
    row("gemini", ".gemini/settings.json", Some(".gemini/settings.json")),
    row("qwen", ".qwen/settings.json", Some(".qwen/settings.json")),
    row("copilot", ".copilot/mcp-config.json", None),
    row("cline", ".cline/data/settings/cline_mcp_settings.json", None),
    row("cursor", ".cursor/mcp.json", Some(".cursor/mcp.json")),
    row("droid", ".factory/mcp.json", Some(".factory/mcp.json")),
    row("windsurf", ".codeium/windsurf/mcp_config.json", None),
];

/// Returns where this harness has its servers, if that is known.
pub fn servers_file(harness: &Harness) -> Option<&'static ServersFile> {
    FILES.iter().find(|row| row.harness == harness.name)
}

/// State of a server in the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wrapped {
    /// `stockade mcp wrap` already starts it.
    Yes,
    /// It is a program that could be wrapped.
    No,
    /// It is a remote server, without a program to wrap.
    Address,
    /// It cannot be wrapped, for this reason.
    Cannot(WrapObstacle),
}

/// Why a server cannot be wrapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrapObstacle {
    /// Its name cannot be used in rules.
    Name,
    /// Its format is unknown.
    Form,
    /// It sets a variable that the wrapper itself would obey, outside of the sandbox.
    Variable,
    /// It is already wrapped by another program with Stockade's name.
    Other,
}

impl fmt::Display for WrapObstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name => "rules cannot name it: 1 to 64 letters, digits, `-` and single `_`",
            Self::Other => {
                "another program already wraps this server; if it is an older copy of stockade, remove it: \
                 `stockade uninstall HARNESS --mcp`"
            }
            Self::Variable => {
                "its `env` sets a variable of the loader, the home or Stockade, which would apply to the wrapper itself; set it in the \
                 program that the server starts, or remove it"
            }
            Self::Form => "its program and arguments are not a string and a list of strings",
        })
    }
}

/// A server, with its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedServer {
    /// The name of the server.
    pub name: String,
    /// Whether it is wrapped.
    pub wrapped: Wrapped,
    /// The path of its member.
    path: Vec<String>,
}

/// A server that is a program, as its settings start it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerProgram {
    /// The name of the server.
    pub name: String,
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// The variables that its settings set.
    pub env: Vec<(String, String)>,
}

impl ServerProgram {
    fn of(name: &str, server: &Value) -> Self {
        let args = server.get("args").and_then(Value::as_array).into_iter().flatten();
        let env = server.get("env").and_then(Value::as_object).into_iter().flatten();
        Self {
            name: name.to_owned(),
            command: server.get("command").and_then(Value::as_str).unwrap_or_default().to_owned(),
            args: args.filter_map(Value::as_str).map(str::to_owned).collect(),
            env: env.map(|(name, value)| (name.clone(), plain_text(value))).collect(),
        }
    }
}

fn plain_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns the servers in settings by name: the user's first, then those of each project.
pub fn servers(file: &ServersFile, text: &str) -> Result<Vec<ListedServer>, String> {
    let settings = read(text)?;
    let mut tables = vec![(vec![MEMBER.to_owned()], settings.get(MEMBER))];
    if let Some(member) = file.of_projects {
        let projects = settings.get(member).and_then(Value::as_object).into_iter().flatten();
        tables.extend(projects.map(|(project, own)| {
            (vec![member.to_owned(), project.clone(), MEMBER.to_owned()], own.get(MEMBER))
        }));
    }
    let mut servers = Vec::new();
    for (path, table) in tables {
        let Some(table) = table else { continue };
        let found = table.as_object().ok_or_else(|| format!("`{}` is not an object", path.join(".")))?;
        let mut own: Vec<ListedServer> = found
            .iter()
            .map(|(name, server)| ListedServer {
                name: name.clone(),
                wrapped: wrapped(name, server),
                path: path.iter().chain([name]).cloned().collect(),
            })
            .collect();
        own.sort_by(|one, other| one.name.cmp(&other.name));
        servers.extend(own);
    }
    Ok(servers)
}

/// Returns the range of a server's member, and whether it exists.
fn member(plain: &str, path: &[String], name: Option<&str>) -> Result<(Range<usize>, bool), String> {
    let path: Vec<&str> = path.iter().map(String::as_str).chain(name).collect();
    find(plain, &path).map(|(span, missing)| (span, missing.is_empty()))
}

/// Beginnings and names of variables that this program obeys. A harness sets the variables of a server for the program that it
/// starts, which is the wrapper: a library of a project would be loaded outside of the sandbox, or another configuration be read.
const OBEYED_BEGINNINGS: &[&str] = &["LD_", "DYLD_", "STOCKADE_", "XDG_"];
const OBEYED: &[&str] = &["HOME", "GCONV_PATH", "GLIBC_TUNABLES", "LOCPATH", "SSL_CERT_DIR", "SSL_CERT_FILE"];

fn is_obeyed(variable: &str) -> bool {
    OBEYED.contains(&variable) || OBEYED_BEGINNINGS.iter().any(|begin| variable.starts_with(begin))
}

fn wrapped(name: &str, server: &Value) -> Wrapped {
    let text = |member: &str| server.get(member).is_some_and(Value::is_string);
    let args =
        server.get("args").map(|args| args.as_array().filter(|args| args.iter().all(Value::is_string)));
    let env = server.get("env").is_none_or(Value::is_object);
    let first = |at: usize| args.flatten().and_then(|args| args.get(at)).and_then(Value::as_str);
    let is_wrapped = (first(0), first(1)) == (Some("mcp"), Some("wrap"));
    match (server.get("command"), args) {
        (Some(Value::String(command)), _) if is_wrapped => {
            // A file with this program's name elsewhere may be another program.
            let is_this = command == "stockade" || rewrite::program().is_ok_and(|own| own == *command);
            if is_this { Wrapped::Yes } else { Wrapped::Cannot(WrapObstacle::Other) }
        }
        (None, _) if ["url", "httpUrl", "serverUrl"].into_iter().any(text) => Wrapped::Address,
        (Some(Value::String(command)), Some(Some(_)) | None) if env && !command.is_empty() => {
            let mut variables = server.get("env").and_then(Value::as_object).into_iter().flatten();
            if !is_server_name(name) {
                Wrapped::Cannot(WrapObstacle::Name)
            } else if variables.any(|(name, _)| is_obeyed(name)) {
                Wrapped::Cannot(WrapObstacle::Variable)
            } else {
                Wrapped::No
            }
        }
        _ => Wrapped::Cannot(WrapObstacle::Form),
    }
}

/// Returns the words inserted before a server's arguments, and whether it had arguments.
fn ours(server: &Value) -> Option<(Vec<String>, bool)> {
    server.get("command")?.as_str()?;
    let args: Vec<&str> = server.get("args")?.as_array()?.iter().map_while(Value::as_str).collect();
    let end = args.iter().position(|word| *word == "--")?;
    let put: Vec<String> = args.get(..=end)?.iter().map(|word| (*word).to_owned()).collect();
    let had_args = match (args.first()?, args.get(1)?, args.get(2)?) {
        (&"mcp", &"wrap", &"--name") => true,
        (&"mcp", &"wrap", &"--agent") => false,
        _ => return None,
    };
    // The original program follows them.
    (args.len() > end + 1).then_some((put, had_args))
}

/// Wraps each server that is a program, with the options that `options` returns; without options, it is not changed. The order of
/// `name` and `agent` records whether it had arguments.
pub fn wrap(
    file: &ServersFile,
    text: &str,
    agent: &str,
    program: &str,
    mut options: impl FnMut(&ServerProgram) -> Option<Vec<String>>,
) -> Result<String, String> {
    let mut text = text.to_owned();
    for ListedServer { name, wrapped, path } in servers(file, &text)? {
        if wrapped != Wrapped::No {
            continue;
        }
        let plain = blanked(&text);
        let (server, _) = member(&plain, &path, None)?;
        let value: Value = part(&plain, &server)?;
        let Some(options) = options(&ServerProgram::of(&name, &value)) else { continue };
        let (command, _) = member(&plain, &path, Some("command"))?;
        let was = plain.get(command.clone()).ok_or_else(broken)?.to_owned();
        let (args, had_args) = member(&plain, &path, Some("args"))?;
        let words = words(&name, agent, &ServerProgram::of(&name, &value), had_args, &options);
        let put: Vec<String> =
            words.iter().map(|word| Value::from(word.as_str()).to_string()).chain([was]).collect();
        let put = put.join(", ");
        let ours = Value::from(program).to_string();
        match had_args {
            true => {
                let is_empty = items(&plain, args.clone())?.is_empty();
                let tail = if is_empty { "" } else { ", " };
                let mut edits = [(command, ours), (args.start + 1..args.start + 1, format!("{put}{tail}"))];
                edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
                edits.into_iter().for_each(|(range, new)| text.replace_range(range, &new));
            }
            false => text.replace_range(command, &format!("{ours}, \"args\": [{put}]")),
        }
        read(&text)?;
    }
    Ok(text)
}

/// Returns the words before the server: its name, its agent, the variables of its settings, and options.
pub fn words(
    name: &str,
    agent: &str,
    server: &ServerProgram,
    had_args: bool,
    options: &[String],
) -> Vec<String> {
    let (own, of) = (["--name", name], ["--agent", agent]);
    let names = if had_args { [own, of] } else { [of, own] };
    let variables = server.env.iter().flat_map(|(name, _)| ["--env", name]);
    ["mcp", "wrap"]
        .into_iter()
        .chain(names.concat())
        .chain(variables)
        .chain(options.iter().map(String::as_str))
        .chain(["--"])
        .map(str::to_owned)
        .collect()
}

/// Removes what [`wrap`] inserted. A server whose words were changed since is restored to its program, too.
pub fn unwrap(file: &ServersFile, text: &str) -> Result<String, String> {
    let mut text = text.to_owned();
    for ListedServer { path, .. } in servers(file, &text)? {
        let plain = blanked(&text);
        let (server, _) = member(&plain, &path, None)?;
        // A member that is not a single server is not changed.
        let Some((put, had_args)) = part(&plain, &server).ok().as_ref().and_then(ours) else { continue };
        let (command, _) = member(&plain, &path, Some("command"))?;
        let (args, _) = member(&plain, &path, Some("args"))?;
        let words = items(&plain, args.clone())?;
        let own = words.get(put.len()).ok_or_else(broken)?;
        let was = text.get(own.clone()).ok_or_else(broken)?.to_owned();
        let is_beside =
            text.get(command.end..args.start) == Some(", \"args\": ") && words.len() == put.len() + 1;
        if !had_args && is_beside {
            text.replace_range(command.start..args.end, &was);
        } else {
            // Up to the comma before the first original word.
            let behind = plain.get(own.end..args.end).unwrap_or_default();
            let comma = match words.len() > put.len() + 1 {
                true if behind.starts_with(", ") => 2,
                true => behind.find(',').map_or(0, |at| at + 1),
                false => 0,
            };
            let mut edits = [(command, was), (args.start + 1..own.end + comma, String::new())];
            edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
            edits.into_iter().for_each(|(range, new)| text.replace_range(range, &new));
        }
        read(&text)?;
    }
    Ok(text)
}

fn part(plain: &str, span: &Range<usize>) -> Result<Value, String> {
    serde_json::from_str(plain.get(span.clone()).ok_or_else(broken)?).map_err(|error| error.to_string())
}

fn broken() -> String {
    "it cannot be changed".to_owned()
}

/// Whether the name is valid in rules: `mcp__NAME__TOOL`. Two underscores would end it.
pub fn is_server_name(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
        && !text.contains("__")
        && !text.starts_with(['_', '-'])
        && !text.ends_with('_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    const FILE: &ServersFile = &ServersFile { of_projects: Some("projects"), ..row("claude", "", None) };
    const PROGRAM: &str = "stockade";

    fn wrap(file: &ServersFile, text: &str, agent: &str, program: &str) -> Result<String, String> {
        super::wrap(file, text, agent, program, |_| Some(Vec::new()))
    }

    /// Its variables are set for the wrapper, which runs outside of the sandbox.
    #[test]
    fn a_server_with_variables_of_the_wrapper_is_not_wrapped() {
        for variable in
            ["LD_PRELOAD", "LD_LIBRARY_PATH", "HOME", "XDG_CONFIG_HOME", "STOCKADE_X", "SSL_CERT_FILE"]
        {
            let text = format!(r#"{{"mcpServers":{{"a":{{"command":"x","env":{{"{variable}":"/p"}}}}}}}}"#);
            let listed = servers(FILE, &text).unwrap();
            assert_eq!(listed[0].wrapped, Wrapped::Cannot(WrapObstacle::Variable), "{variable}");
            assert_eq!(wrap(FILE, &text, "claude", PROGRAM).unwrap(), text);
        }
        let text = r#"{"mcpServers":{"a":{"command":"x","env":{"API_TOKEN":"t","NODE_ENV":"test"}}}}"#;
        assert_eq!(servers(FILE, text).unwrap()[0].wrapped, Wrapped::No);
    }

    #[test]
    fn options_stand_before_the_program_and_are_taken_out_again() {
        let text =
            r#"{"mcpServers":{"a":{"command":"npx","args":["x"]},"b":{"command":"y"},"c":{"command":"z"}}}"#;
        let options = |server: &ServerProgram| {
            (server.name != "c").then(|| vec!["--allow-host".to_owned(), "api.example.com".to_owned()])
        };
        let wrapped = super::wrap(FILE, text, "claude", PROGRAM, options).unwrap();
        assert!(wrapped.contains(r#""--allow-host", "api.example.com", "--", "npx", "x"]"#), "{wrapped}");
        assert!(wrapped.contains(r#""c":{"command":"z"}"#), "{wrapped}");
        assert_eq!(unwrap(FILE, &wrapped).unwrap(), text);
    }

    #[test]
    fn servers_are_wrapped_and_given_back_byte_for_byte() {
        for text in [
            r#"{"mcpServers":{"a":{"command":"npx","args":["-y","x"]}}}"#,
            r#"{"mcpServers":{"a":{"command":"npx","args":[]}}}"#,
            r#"{"mcpServers":{"a":{"command":"npx"}}}"#,
            r#"{"mcpServers":{"a":{"args": [ "-y" , "x" ] , "command" : "n\u0070x" , "env":{"TOKEN":"t","B":"c"}}}}"#,
            "{\n  // mine\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"npx\", /* this */\n      \
             \"args\": [\n        \"-y\", // yes\n        \"x\",\n      ],\n    },\n    \"b\": { \"url\": \
             \"https://h.example\" },\n  },\n  \"z\": 1.50\n}\n",
            "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"args\":[ ]},\"b\":{\"args\":[\"1\"],\"command\":\"y\"}}}",
            r#"{"projects":{"/home/a.b":{"mcpServers":{"a":{"command":"x","args":["1"]}}},"/c":{}},"mcpServers":{"a":{"command":"y"}}}"#,
            r#"{"mcpServers":{}}"#,
            "{}",
        ] {
            let wrapped = wrap(FILE, text, "claude", PROGRAM).unwrap();
            for server in servers(FILE, &wrapped).unwrap() {
                assert!(matches!(server.wrapped, Wrapped::Yes | Wrapped::Address), "{server:?} {wrapped}");
            }
            assert_eq!(wrap(FILE, &wrapped, "claude", PROGRAM).unwrap(), wrapped, "twice is once");
            assert_eq!(unwrap(FILE, &wrapped).unwrap(), text);
            assert_eq!(unwrap(FILE, text).unwrap(), text);
        }
    }

    #[test]
    fn what_is_wrapped_begins_what_it_was() {
        let text =
            r#"{"mcpServers":{"a":{"command":"npx","args":["-y","x"],"env":{"T":"t"}},"b":{"command":"y"}}}"#;
        let wrapped = read(&wrap(FILE, text, "claude", PROGRAM).unwrap()).unwrap();
        assert_eq!(
            wrapped["mcpServers"],
            json!({
                "a": {"command": PROGRAM, "args": ["mcp", "wrap", "--name", "a", "--agent", "claude", "--env", "T", "--", "npx", "-y", "x"], "env": {"T": "t"}},
                "b": {"command": PROGRAM, "args": ["mcp", "wrap", "--agent", "claude", "--name", "b", "--", "y"]},
            })
        );
    }

    #[test]
    fn what_cannot_be_wrapped_is_told_and_left() {
        let text = r#"{"mcpServers":{"a b":{"command":"x"},"c":{"command":["x"]},"d":{"url":"https://h.example"},"e":{"command":"x","args":[1]},"f":7,"g":{"command":"/tmp/evil/stockade","args":["mcp","wrap","--name","g","--","x"]},"h":{"command":"stockade","args":["mcp","wrap","--url","https://h.example"]}}}"#;
        let found: Vec<Wrapped> =
            servers(FILE, text).unwrap().into_iter().map(|server| server.wrapped).collect();
        let form = || Wrapped::Cannot(WrapObstacle::Form);
        let other = Wrapped::Cannot(WrapObstacle::Other);
        assert_eq!(
            found,
            [
                Wrapped::Cannot(WrapObstacle::Name),
                form(),
                Wrapped::Address,
                form(),
                form(),
                other,
                Wrapped::Yes
            ]
        );
        assert_eq!(wrap(FILE, text, "claude", PROGRAM).unwrap(), text);
        for broken in ["[]", "{", r#"{"mcpServers":[]}"#, r#"{"mcpServers":{},"mcpServers":{}}"#] {
            assert!(
                wrap(FILE, broken, "claude", PROGRAM).is_err() && unwrap(FILE, broken).is_err(),
                "{broken}"
            );
        }
    }

    fn server() -> impl Strategy<Value = String> {
        let word = "\"[a-z \\-]{0,5}\"";
        (
            proptest::option::of(proptest::collection::vec(word, 0..4)),
            "[ \n]{0,2}",
            "[ \n]{0,2}",
            any::<bool>(),
        )
            .prop_map(|(args, one, other, is_first)| {
                let args = args.map(|args| {
                    format!("\"args\":{one}[{other}{}{one}]", args.join(&format!("{one},{other}")))
                });
                let command = format!("{other}\"command\"{one}:{other}\"prog\"");
                let members: Vec<String> = match is_first {
                    true => args.into_iter().chain([command]).collect(),
                    false => [command].into_iter().chain(args).collect(),
                };
                format!("{{{}{one}}}", members.join(&format!("{other},{one}")))
            })
    }

    proptest! {
        /// For any settings, unwrapping restores what wrapping changed.
        #[test]
        fn taking_out_gives_back(list in proptest::collection::vec(server(), 1..4)) {
            let members: Vec<String> = list.iter().enumerate().map(|(at, server)| format!("\"s{at}\": {server}")).collect();
            let text = format!("{{ \"mcpServers\" : {{{}}} }}", members.join(" , "));
            let wrapped = wrap(FILE, &text, "claude", PROGRAM).unwrap();
            prop_assert!(servers(FILE, &wrapped).unwrap().iter().all(|server| server.wrapped == Wrapped::Yes));
            prop_assert_eq!(unwrap(FILE, &wrapped).unwrap(), text);
        }
    }
}
