//! What a call asks for, in the terms in which a user allows things: commands, hosts, files and tools.

use std::path::PathBuf;

use stockade_guard::policy::Access;

use super::call::ToolCall;
use super::judge;
use super::tools::{ToolKind, known};
use super::{addresses, paths};

/// A thing that a call asks for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Requested {
    /// A text that a shell runs.
    Command(String),
    /// The address of a page, whose host decides.
    Url(String),
    /// An absolute path of a file or directory, and whether it is written.
    Path(PathBuf, Access),
    /// A tool, by its name in rules.
    Tool(String),
}

/// Returns what a call asks for; nothing for a tool of the harness itself.
///
/// # Errors
/// When the arguments of the tool do not fit.
pub fn requested(call: &ToolCall) -> Result<Vec<Requested>, String> {
    let name = call.name();
    let (tool, kind) = if call.server.is_some() { (name.as_str(), ToolKind::Other) } else { known(&name) };
    let files = |access| {
        let named = paths::among(&call.input)?;
        let whole = named.iter().map(|path| call.origin.cwd.join(paths::asked(&call.origin, path)));
        Ok::<_, String>(whole.map(|path| Requested::Path(path, access)).collect())
    };
    match kind {
        ToolKind::Own => Ok(Vec::new()),
        ToolKind::Shell => Ok(judge::commands(&call.input)?.into_iter().map(Requested::Command).collect()),
        ToolKind::Web => {
            let urls = addresses::among(&call.input)?.into_iter();
            Ok(urls.map(|url| Requested::Url(url.to_owned())).collect())
        }
        ToolKind::Read => files(Access::Read),
        ToolKind::Write => files(Access::Write),
        ToolKind::Look
        | ToolKind::Patch
        | ToolKind::OtherShell
        | ToolKind::Feed
        | ToolKind::Search
        | ToolKind::Other => Ok(vec![Requested::Tool(tool.to_owned())]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Origin;
    use serde_json::json;

    #[test]
    fn calls_ask_for_things() {
        let origin = Origin { cwd: "/w".into(), workspace: "/w".into(), ..Origin::default() };
        let of = |tool: &str, input| requested(&ToolCall::of(tool, input, origin.clone()));
        let command = |text: &str| Requested::Command(text.to_owned());
        assert_eq!(of("Bash", json!({"command": "npm ci"})), Ok(vec![command("npm ci")]));
        assert_eq!(of("exec_command", json!({"cmd": "ls"})), Ok(vec![command("ls")]));
        assert_eq!(
            of("WebFetch", json!({"url": "https://docs.rs/x", "prompt": "p"})),
            Ok(vec![Requested::Url("https://docs.rs/x".to_owned())])
        );
        assert_eq!(
            of("Read", json!({"file_path": "../a"})),
            Ok(vec![Requested::Path("/w/../a".into(), Access::Read)])
        );
        assert_eq!(
            of("Write", json!({"file_path": "/w/b", "content": "x"})),
            Ok(vec![Requested::Path("/w/b".into(), Access::Write)])
        );
        assert_eq!(of("mcp__a__b", json!({})), Ok(vec![Requested::Tool("mcp__a__b".to_owned())]));
        assert_eq!(of("Task", json!({"prompt": "x"})), Ok(Vec::new()));
        assert!(of("Bash", json!({"command": 1})).is_err());
    }
}
