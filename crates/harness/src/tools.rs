//! Tools of harnesses: their names in rules, and their arguments.
//!
//! A name has the same meaning in all harnesses, so the table has one row for each name. Tools without a row have the harness's
//! name in rules.

use serde_json::Value;

use super::Harness;

/// What a tool does, which decides how it is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolKind {
    /// Runs a command of a shell that this program can analyse.
    Shell,
    /// Runs commands of another shell.
    OtherShell,
    /// May write to a running program, which may execute it.
    Feed,
    /// Reads files that its arguments name.
    Read,
    /// Searches a directory, which need not be named.
    Look,
    /// Writes files that its arguments name.
    Write,
    /// Changes the files that a patch names.
    Patch,
    /// Connects to a host.
    Web,
    /// Searches the web through a service of the harness.
    Search,
    /// Belongs to the harness itself: to-do lists, questions, subagents whose tools are checked in turn.
    Own,
    /// Comes from an MCP server, or is unknown.
    Other,
}

/// A tool of harnesses.
#[derive(Debug)]
struct Row {
    /// Its name in tool policies.
    tool: &'static str,
    kind: ToolKind,
    /// Its names in harnesses.
    names: &'static [&'static str],
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row { tool: "exec", kind: ToolKind::Shell, names: &[
        "Bash", "bash", "run_shell_command", "shell", "Shell", "local_shell", "exec", "exec_command", "Execute", "execute_bash",
        "execute_command", "run_commands", "run_command", "run_terminal_cmd", "pre_run_command", "beforeShellExecution",
        "Monitor", "terminal", "launch-process", "developer__shell", "run_in_terminal", "runInTerminal", "shell_command",
    ] },
    Row { tool: "exec", kind: ToolKind::OtherShell, names: &["PowerShell", "powershell", "pwsh"] },
    Row { tool: "process", kind: ToolKind::Feed, names: &[
        "process", "write_stdin", "write_bash", "write_powershell", "send_to_terminal", "write-process",
    ] },
    Row { tool: "write", kind: ToolKind::Write, names: &[
        "Write", "write", "write_file", "create", "Create", "create_file", "fs_write", "write_to_file", "editor", "pre_write_code",
        "save-file", "developer__write", "createFile",
    ] },
    Row { tool: "edit", kind: ToolKind::Write, names: &[
        "Edit", "MultiEdit", "NotebookEdit", "edit", "multiedit", "replace", "edit_file", "str_replace", "str_replace_editor",
        "replace_in_file", "search_replace", "Delete", "delete_file", "str-replace-editor", "remove-files",
        "developer__edit", "replace_string_in_file", "insert_edit_into_file", "replace_file_content", "multi_replace_file_content",
        "undo_edit",
    ] },
    Row { tool: "apply_patch", kind: ToolKind::Patch, names: &["apply_patch", "ApplyPatch", "patch"] },
    Row { tool: "read", kind: ToolKind::Read, names: &[
        "Read", "read", "ReadFile", "read_file", "view", "view_file", "fs_read", "read_files", "beforeReadFile", "pre_read_code",
        "readFile", "look_at", "ReadMediaFile",
    ] },
    Row { tool: "read", kind: ToolKind::Look, names: &["read_many_files"] },
    Row { tool: "grep", kind: ToolKind::Look, names: &["Grep", "grep", "grep_search", "search_file_content", "search_files"] },
    Row { tool: "find", kind: ToolKind::Look, names: &["Glob", "glob", "find", "file_search"] },
    Row { tool: "ls", kind: ToolKind::Look, names: &["LS", "ls", "list", "list_directory", "list_dir", "list_files", "developer__tree"] },
    Row { tool: "web_fetch", kind: ToolKind::Web, names: &[
        "WebFetch", "webfetch", "web_fetch", "FetchUrl", "fetch_web_content", "fetch_webpage", "read_url_content", "web-fetch",
        "FetchURL", "fetch", "read_web_page",
    ] },
    Row { tool: "web_search", kind: ToolKind::Search, names: &[
        "WebSearch", "websearch", "web_search", "google_web_search", "search_web", "web-search",
    ] },
    Row { tool: "harness", kind: ToolKind::Own, names: &[
        "TodoWrite", "TodoRead", "todowrite", "todoread", "todo_write", "write_todos", "update_plan", "update_todo",
        "Task", "Agent", "task", "agent", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "TaskOutput", "TaskStop",
        "AskUserQuestion", "ask_user", "ask_user_question", "ask_followup_question", "question", "EnterPlanMode", "ExitPlanMode",
        "exit_plan_mode", "plan_mode_respond", "attempt_completion", "submit_and_exit", "report_intent", "BashOutput",
        "KillBash", "KillShell", "ToolSearch", "tool_search", "LSP", "EnterWorktree", "ExitWorktree", "SendMessage", "CronList",
        "ListMcpResourcesTool", "TeamCreate", "TeamDelete", "todo", "todos", "TodoList", "SetTodoList", "manage_todo_list", "add_tasks",
        "update_tasks", "view_tasklist", "reorganize_tasklist", "clarify", "delegate_task", "runSubagent", "ask-user",
        "kill-process", "read-process", "list-processes", "read-terminal", "job_output", "job_kill",
    ] },
];

/// Returns the name of a tool in rules, and what it does. MCP tools keep their names.
pub fn known(name: &str) -> (&str, ToolKind) {
    match ROWS.iter().find(|row| row.names.contains(&name)) {
        // Internal tools keep the harness's name, since tool policies are not about them.
        Some(Row { kind: ToolKind::Own, .. }) => (name, ToolKind::Own),
        Some(row) => (row.tool, row.kind),
        None => (name, ToolKind::Other),
    }
}

/// Tools of a harness that run other tools without calling a hook for them, so that the user has to agree to each use.
const DELEGATING: &[(&str, &[&str])] = &[("crush", &["agent", "agentic_fetch"])];

/// Returns the name of a tool in rules, and what it does in this harness.
pub fn known_in<'n>(harness: &Harness, name: &'n str) -> (&'n str, ToolKind) {
    match DELEGATING.iter().any(|(of, tools)| *of == harness.name && tools.contains(&name)) {
        true => (name, ToolKind::Other),
        false => known(name),
    }
}

/// Whether a word names a tool: one of a harness, one of an MCP server, or one that is spelled as only tools are.
#[must_use]
pub fn is_tool_name(word: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-*".contains(c);
    let is_spelled = word.starts_with("mcp__") || word.starts_with(|c: char| c.is_ascii_uppercase());
    word.chars().all(is_name) && (is_spelled || known(word).1 != ToolKind::Other)
}

/// Tools that may write to a program, the argument that decides, and its values that do not write. A missing argument counts as
/// empty.
const MAY_WRITE: &[(&str, &str, &[&str])] = &[
    ("process", "action", &["list", "poll", "log", "kill", "clear", "remove"]),
    ("write_stdin", "chars", &[""]),
];

/// Whether a call of such a tool writes to a running program.
pub fn feeds(name: &str, input: &Value) -> bool {
    let Some((_, argument, silent)) = MAY_WRITE.iter().find(|(tool, ..)| *tool == name) else { return true };
    match input.get(argument) {
        None | Some(Value::Null) => !silent.contains(&""),
        Some(Value::String(said)) => !silent.contains(&said.as_str()),
        Some(_) => true,
    }
}

/// Tools of harnesses themselves.
pub fn own_tools() -> impl Iterator<Item = &'static str> {
    ROWS.iter().filter(|row| row.kind == ToolKind::Own).flat_map(|row| row.names.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use stockade_guard::policy::{SkillTools, ToolCatalog, ToolPolicy, ToolPolicyConfig};

    #[test]
    fn a_name_has_one_meaning() {
        let mut names: Vec<&str> = ROWS.iter().flat_map(|row| row.names.iter().copied()).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn what_may_write_to_a_program_is_in_the_table_of_tools() {
        for (name, ..) in MAY_WRITE {
            assert_eq!(known(name).1, ToolKind::Feed, "{name}");
        }
    }

    /// A harness's name in the tool list of a skill is the same tool as in rules.
    #[test]
    fn the_names_are_those_that_skills_list_tools_by() {
        let config = ToolPolicyConfig { profile: "full".to_owned(), ..ToolPolicyConfig::default() };
        let policy = ToolPolicy::compile(&config, &ToolCatalog::default()).unwrap();
        for listed in
            ["Bash", "Read", "Write", "Edit", "MultiEdit", "Grep", "Glob", "LS", "WebFetch", "WebSearch"]
        {
            let skill = policy.with_skill("s", &SkillTools::parse(listed).unwrap());
            assert!(skill.decide(known(listed).0).is_allowed(), "{listed}");
        }
    }
}
