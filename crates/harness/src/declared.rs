//! Tools that the caller describes. Agent frameworks name their tools as they like, so the name alone does not show what a tool does.
//! A described call is judged as the same call of a harness: its arguments get the names that harnesses use.

use std::path::Path;

use serde_json::{Map, Value};
use stockade_guard::policy::ToolVerdict;
use stockade_guard::policy::tools::Removal;

use super::answer::HookVerdict;
use super::call::ToolCall;
use super::judge::{Agent, COMMANDS, commands};
use super::results::{self, Looked};
use super::rewrite::program;
use super::tools::{ToolKind, known};
use super::{Answers, Harness, HookRegistration, Manual, Payload, Results, addresses, paths};

/// A program that runs tools itself: it can ask its user, and change arguments and results.
pub static CALLER: Harness = Harness {
    name: "caller",
    title: "a program that runs tools",
    tried: None,
    events: &[],
    payload: Payload::Named,
    answers: Answers::Specific,
    asks: true,
    rewrites: true,
    asks_rewritten: false,
    results: Results::Replaced,
    project_variables: &[],
    registered: HookRegistration::ByHand(Manual::Line("")),
    probes: &[],
    open: &[],
};

/// The reason where a command has to run in the sandbox, and this program has no command line that starts one.
const BY_SESSION: &str =
    "stockade: this command must run in the sandbox: run it with the method `exec` or with `Session::run`";

/// What a tool does, as the program that offers it declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeclaredKind {
    /// Runs a shell command.
    Shell,
    /// Returns the contents of the files that its arguments name.
    Read,
    /// Creates or replaces files.
    Write,
    /// Replaces parts of existing files.
    Edit,
    /// Lists the names in directories.
    List,
    /// Searches the contents of files, below a directory or in all of the workspace.
    Search,
    /// Connects to the hosts of URLs and returns what they serve.
    Fetch,
    /// Something else: the tool policy decides by its name.
    Other,
}

/// What the caller says about a tool besides its name.
#[derive(Debug, Clone, Default)]
pub struct DeclaredTool {
    /// What the tool does. By default, the table of the tools of harnesses decides by its name.
    pub kind: Option<DeclaredKind>,
    /// The arguments with the command, the paths or the URLs. Empty: usual names are looked for.
    pub argument_names: Vec<String>,
    /// Whether the tool is one of a harness, whose own tools, such as to-do lists, access nothing.
    pub is_of_harness: bool,
}

impl DeclaredKind {
    /// Returns the name of such a tool in rules; `None` for its own name.
    const fn rule(self) -> Option<&'static str> {
        match self {
            Self::Shell => Some("exec"),
            Self::Read => Some("read"),
            Self::Write => Some("write"),
            Self::Edit => Some("edit"),
            Self::List => Some("ls"),
            Self::Search => Some("grep"),
            Self::Fetch => Some("web_fetch"),
            Self::Other => None,
        }
    }

    const fn kind(self) -> ToolKind {
        match self {
            Self::Shell => ToolKind::Shell,
            Self::Read => ToolKind::Read,
            Self::Write | Self::Edit => ToolKind::Write,
            Self::List | Self::Search => ToolKind::Look,
            Self::Fetch => ToolKind::Web,
            Self::Other => ToolKind::Other,
        }
    }

    /// Returns the names that the judge looks for among the arguments.
    const fn usual_names(self) -> &'static [&'static str] {
        match self {
            Self::Shell => COMMANDS,
            Self::Read | Self::Write | Self::Edit | Self::List | Self::Search => paths::NAMES,
            Self::Fetch => addresses::NAMES,
            Self::Other => &[],
        }
    }
}

/// Own names of arguments, each with the usual name that it got.
type Renamed<'d> = Vec<(&'d str, &'static str)>;

impl DeclaredTool {
    /// Returns the name of a tool in rules, and its kind.
    pub(super) fn of<'t>(&self, name: &'t str) -> (&'t str, ToolKind) {
        match self.kind {
            Some(kind) => (kind.rule().unwrap_or(name), kind.kind()),
            None => match known(name) {
                // Another program's tool of this name may do anything.
                (_, ToolKind::Own) if !self.is_of_harness => (name, ToolKind::Other),
                found => found,
            },
        }
    }

    /// Returns the commands of a call, if the tool runs commands.
    ///
    /// # Errors
    /// When an argument is missing or has another type.
    pub fn commands(&self, call: &ToolCall) -> Result<Vec<String>, String> {
        if call.server.is_some() || self.of(&call.tool).1 != ToolKind::Shell {
            return Ok(Vec::new());
        }
        commands(&self.renamed(&call.input)?.0)
    }

    /// Returns the arguments with names that the judge knows, and the new names by the old ones.
    fn renamed(&self, input: &Value) -> Result<(Value, Renamed<'_>), String> {
        let mut arguments = input.as_object().ok_or("the tool's arguments are not a JSON object")?.clone();
        let usual = self.kind.map(DeclaredKind::usual_names).unwrap_or_default();
        if usual.is_empty() && !self.argument_names.is_empty() {
            return Err("names of arguments need a kind of tool with a command, paths or URLs".to_owned());
        }
        if self.kind == Some(DeclaredKind::Shell) && self.argument_names.len() > 1 {
            return Err("a tool that runs commands has one argument with the command".to_owned());
        }
        let mut renamed = Vec::new();
        for name in self.argument_names.iter().map(String::as_str) {
            let value = arguments.get(name).ok_or_else(|| format!("missing argument `{name}`"))?;
            if self.kind == Some(DeclaredKind::Shell) && !value.is_string() && name != "commands" {
                return Err(format!(
                    "`{name}` is not a string; join the words of a command with shell quoting"
                ));
            }
            if usual.contains(&name) {
                continue;
            }
            let new = free(usual, &arguments).ok_or("it has too many arguments with usual names")?;
            if let Some(value) = arguments.remove(name) {
                arguments.insert(new.to_owned(), value);
                renamed.push((name, new));
            }
        }
        Ok((Value::Object(arguments), renamed))
    }
}

/// Whether a rewritten command line would start a sandbox: this crate may be part of another program.
fn is_stockade() -> bool {
    program().is_ok_and(|path| Path::new(&path).file_name().is_some_and(|name| name == "stockade"))
}

/// What the model may see of a result.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownResult {
    /// How the result differs from the original.
    pub change: ResultChange,
    /// What was found, removed or withheld, for the model; empty for an unchanged result.
    pub note: String,
    /// The result in the shape of the original.
    pub result: Value,
    /// Whether it may be an attack: it contains one, or text that is invisible to the user.
    pub is_hostile: bool,
}

/// How a shown result differs from the original.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultChange {
    /// It is the original.
    Unchanged,
    /// It was cleaned or truncated, or has a warning.
    Cleaned,
    /// Its texts are replaced by the reason, because it was not scanned completely or cannot be cleaned.
    Withheld,
}

/// Returns a usual name that no argument has. `commands` is a list for the judge.
fn free(usual: &'static [&'static str], arguments: &Map<String, Value>) -> Option<&'static str> {
    usual.iter().copied().find(|name| *name != "commands" && !arguments.contains_key(*name))
}

impl Agent<'_> {
    /// Decides about a call of a tool that the caller describes, as [`Agent::before`] does about one of a harness.
    ///
    /// # Errors
    /// When no decision is possible: an argument is missing or has another type, or the decision cannot be recorded.
    pub fn before_declared(&self, call: &ToolCall, declared: &DeclaredTool) -> Result<HookVerdict, String> {
        if call.server.is_some() {
            return self.before(call);
        }
        let (tool, kind) = declared.of(&call.tool);
        // A rule may name the tool itself, which must not be milder for the description.
        if tool != call.tool
            && let ToolVerdict::Removed(Removal::ExplicitDeny { .. }) = self.session.decide_tool(&call.tool)
        {
            let denied = self.session.tool(&call.tool, None).map_err(|error| error.to_string())?;
            return Ok(self.stopped(&denied));
        }
        let (input, renamed) = declared.renamed(&call.input)?;
        let judged = ToolCall { input, ..call.clone() };
        let verdict = self.before_known(&judged, tool, kind)?;
        let HookVerdict::Rewrite(Value::Object(mut arguments)) = verdict else { return Ok(verdict) };
        if !is_stockade() {
            return Ok(HookVerdict::Deny(BY_SESSION.into()));
        }
        for (name, new) in renamed {
            if let Some(value) = arguments.remove(new) {
                arguments.insert(name.to_owned(), value);
            }
        }
        Ok(HookVerdict::Rewrite(Value::Object(arguments)))
    }

    /// Scans the result of a tool that the caller describes, records the findings, and returns what the model may see.
    ///
    /// # Errors
    /// When the result cannot be scanned or recorded. The model must not see it then.
    pub fn after_declared(
        &self,
        call: &ToolCall,
        declared: &DeclaredTool,
        result: &Value,
    ) -> Result<ShownResult, String> {
        let profile = match call.server {
            Some(_) => call.name(),
            None => results::profile_of(&call.tool, declared.of(&call.tool).1),
        };
        Ok(match results::looked(self, &call.tool, &profile, result)? {
            Looked::Fine => ShownResult {
                change: ResultChange::Unchanged,
                note: String::new(),
                result: result.clone(),
                is_hostile: false,
            },
            Looked::Cleaned { note, cleaned, is_hostile, .. } => {
                ShownResult { change: ResultChange::Cleaned, note, result: cleaned, is_hostile }
            }
            Looked::Withheld(why) => {
                let (note, result) = results::blanked(result, &why);
                ShownResult { change: ResultChange::Withheld, note, result, is_hostile: true }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn declared(kind: DeclaredKind, names: &[&str]) -> DeclaredTool {
        let argument_names = names.iter().map(|name| (*name).to_owned()).collect();
        DeclaredTool { kind: Some(kind), argument_names, is_of_harness: false }
    }

    #[test]
    fn arguments_get_names_that_are_looked_for() {
        use DeclaredKind::{Edit, Fetch, Shell, Write};
        for (tool, input, wanted) in [
            (declared(Shell, &["line"]), json!({"line": "ls", "n": 1}), json!({"command": "ls", "n": 1})),
            // The other one is judged as well.
            (
                declared(Shell, &["line"]),
                json!({"line": "ls", "command": "x"}),
                json!({"command": "x", "cmd": "ls"}),
            ),
            (
                declared(Shell, &["commands"]),
                json!({"commands": ["a", "b"]}),
                json!({"commands": ["a", "b"]}),
            ),
            (
                declared(Write, &["source", "target"]),
                json!({"source": "a", "target": ["b"]}),
                json!({"file_path": "a", "filePath": ["b"]}),
            ),
            (declared(Edit, &["path"]), json!({"path": "a"}), json!({"path": "a"})),
            (declared(Fetch, &["page"]), json!({"page": "a.example"}), json!({"url": "a.example"})),
        ] {
            assert_eq!(tool.renamed(&input).unwrap().0, wanted);
        }
    }

    #[test]
    fn descriptions_that_do_not_fit_are_errors() {
        use DeclaredKind::{Other, Read, Shell};
        for (tool, input, why) in [
            (declared(Shell, &["line"]), json!({"command": "ls"}), "missing argument `line`"),
            (declared(Shell, &["argv"]), json!({"argv": ["rm", "x"]}), "`argv` is not a string"),
            (declared(Shell, &["a", "b"]), json!({"a": "ls", "b": "ls"}), "one argument"),
            (declared(Other, &["a"]), json!({"a": "ls"}), "need a kind"),
            (declared(Read, &["a"]), json!([]), "not a JSON object"),
        ] {
            let said = tool.renamed(&input).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }

    #[test]
    fn a_tool_of_another_program_is_not_one_of_the_harness() {
        let other = DeclaredTool::default();
        let own = DeclaredTool { is_of_harness: true, ..DeclaredTool::default() };
        assert_eq!(other.of("Task"), ("Task", ToolKind::Other));
        assert_eq!(own.of("Task"), ("Task", ToolKind::Own));
        assert_eq!(other.of("Bash"), ("exec", ToolKind::Shell));
        assert_eq!(declared(DeclaredKind::Other, &[]).of("Bash"), ("Bash", ToolKind::Other));
    }
}
