//! A harness: the format of its hook calls and answers, and where its hooks are registered.

use super::table::HARNESSES;
use super::tools;

/// A program that runs an agent, with the properties of its hooks.
#[derive(Debug)]
pub struct Harness {
    /// Its name on the command line, which is also the id of its agent in the configuration.
    pub name: &'static str,
    /// Its name in messages.
    pub title: &'static str,
    /// The tested version; `None` if only its documentation is known.
    pub tried: Option<&'static str>,
    /// Its events, by its own names.
    pub events: &'static [Event],
    /// The format of its hook calls.
    pub payload: Payload,
    /// The format of answers that it supports.
    pub answers: Answers,
    /// Whether a question of a hook reaches the user, and the tool is not used otherwise.
    pub asks: bool,
    /// Whether it runs a command with which a hook replaces another.
    pub rewrites: bool,
    /// Whether it shows the user the replaced command in a question, and runs that after a yes.
    pub asks_rewritten: bool,
    /// What it does with a cleaned tool result.
    pub results: Results,
    /// Environment variables with the directory of the project.
    pub project_variables: &'static [&'static str],
    /// Where its hooks are registered.
    pub registered: HookRegistration,
    /// A tool of each kind for test calls, with its event.
    pub probes: &'static [Probe],
    /// Known gaps, which `doctor` reports.
    pub open: &'static [&'static str],
}

/// An event at which it calls hooks.
#[derive(Debug)]
pub struct Event {
    /// Its name.
    pub name: &'static str,
    /// Its moment.
    pub moment: Moment,
}

/// A tool for test calls.
#[derive(Debug, Clone, Copy)]
pub struct Probe {
    /// What the tool does.
    pub kind: tools::ToolKind,
    /// The event before it is used.
    pub event: &'static str,
    /// The name of the tool.
    pub tool: &'static str,
}

/// The moment of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// A session starts, which needs no decision.
    Start,
    /// A tool is about to be used.
    Before,
    /// A tool has returned a result.
    After,
}

/// The format of a hook call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload {
    /// Members named `hook_event_name`, `tool_name`, `tool_input`, `tool_response`, `cwd`.
    Named,
    /// Members named `toolName`, `toolArgs`, `toolResult`, `cwd`; the event is not included.
    Camel,
    /// One of the members `tool_call` and `preToolUse`, and `workspaceRoots`.
    Cline,
    /// A member `hook_event_name`, and its siblings `command`, `file_path` or `tool_name`; `workspace_roots`.
    Cursor,
    /// The event in `agent_action_name`, and the arguments in `tool_info`.
    Windsurf,
    /// Members named `event`, `tool_name`, `tool_input`, `tool_output`, and `cwd` or `working_dir`.
    Event,
    /// A member `toolCall` with `name` and `args`, and `workspacePaths`; the event is not included.
    Antigravity,
}

/// The format of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// A decision in `permissionDecision` of `hookSpecificOutput`, and arguments in its `updatedInput`.
    Specific,
    /// A decision in `decision` with its `reason`, and arguments in `tool_input` of `hookSpecificOutput`.
    Decision,
    /// A decision in `permissionDecision` at the top level, and arguments in `modifiedArgs`.
    Permission,
    /// A refusal in `cancel` with its `errorMessage`, and arguments in `overrideInput`.
    Cancel,
    /// A decision in `permission`, with texts for the user and for the agent.
    Cursor,
    /// Exit code 2, and the reason on standard error.
    ExitCode,
    /// Stockade's own `decision`, `reason` and `input`, for its plugins, which treat empty output as failure.
    Plugin,
    /// A refusal as `block` in `decision` with its `reason`; nothing else is supported.
    Block,
    /// A decision in `decision` with its `reason`, and arguments in `updated_input` at the top level, which grant nothing.
    Merged,
    /// A decision in `decision`, which is required.
    Required,
}

/// What a harness does with a hook's answer about a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Results {
    /// It replaces the result by the cleaned one of the same shape.
    Replaced,
    /// It hides a refused result and shows the reason, which contains the cleaned text.
    Hidden,
    /// It shows the original result, and a note beside it.
    Noted,
    /// Its plugin replaces the text.
    ByPlugin,
    /// It supports no answer about results.
    Unchanged,
}

/// Where hooks are registered, in the user's home and in a project.
#[derive(Debug, Clone, Copy)]
pub enum HookRegistration {
    /// In lists of a settings file: `hooks.EVENT`.
    Settings(SettingsFile),
    /// In a file that contains nothing else.
    Own(OwnFile),
    /// Nowhere automatically: these are the manual steps.
    ByHand(Manual),
}

/// A registration by the user.
#[derive(Debug, Clone, Copy)]
pub enum Manual {
    /// What to do with the line that follows.
    Line(&'static str),
    /// Append a hook to this TOML file with an array of tables `hooks`.
    Toml(&'static str),
    /// Append a hook to this YAML file, whose hooks are programs with arguments, if it has no `hooks` yet.
    Yaml(&'static str),
}

/// A settings file with lists of hooks.
#[derive(Debug, Clone, Copy)]
pub struct SettingsFile {
    /// The user's file, relative to the home directory.
    pub user: &'static str,
    /// The project's file, relative to its directory.
    pub project: &'static str,
    /// Other files of the same directory that may contain hooks.
    pub beside: &'static [&'static str],
    /// Files that replace this one if they exist.
    pub instead: &'static [&'static str],
    /// The member with the lists of hooks.
    pub root: &'static str,
    /// The pattern of a group that matches all tools.
    pub matcher: &'static str,
    /// Whether a list contains groups, each with a matcher and hooks.
    pub groups: bool,
    /// The unit of `timeout` per second; `None` without such a member.
    pub timeout: Option<u64>,
    /// Further members of each hook.
    pub more: &'static [(&'static str, &'static str)],
    /// Further boolean members of each hook.
    pub flags: &'static [&'static str],
    /// Whether the file has a number `version`, which is 1.
    pub version: bool,
    /// Paths of settings that disable hooks, and the value that does.
    pub off: &'static [(&'static str, bool)],
    /// The same in settings of the machine, by file.
    pub managed: &'static [(&'static str, &'static str, bool)],
    /// Manual step after which hooks are called.
    pub trust: Option<&'static str>,
}

/// A hooks file of Stockade.
#[derive(Debug, Clone, Copy)]
pub struct OwnFile {
    /// The user's file, relative to the home directory; empty if hooks are read from projects only.
    pub user: &'static str,
    /// The project's file, relative to its directory.
    pub project: &'static str,
    /// The format of the file.
    pub form: OwnForm,
    /// Paths of settings that disable hooks, by file in the home directory.
    pub off: &'static [(&'static str, &'static str, bool)],
}

/// The format of a hooks file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnForm {
    /// JSON with `version` and `hooks`, whose lines are named `bash`.
    Json,
    /// JSON with `hooks`, whose lines are named `command`.
    Flat,
    /// JSON with `hooks` in groups, each with a pattern of tools, which are blocked if a hook fails.
    Groups,
    /// JSON with a list `hooks`, each with its trigger and its action.
    Triggers,
    /// An executable that is named like its event.
    Script,
    /// A module that is loaded: its text, with places for the name and the program.
    Plugin(&'static str),
}

impl OwnForm {
    /// Whether the file is a module that the harness loads.
    pub const fn is_plugin(self) -> bool {
        matches!(self, Self::Plugin(_))
    }

    /// Whether the file is JSON.
    pub const fn is_json(self) -> bool {
        !matches!(self, Self::Plugin(_) | Self::Script)
    }
}

impl Harness {
    /// Returns the harness with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        HARNESSES.iter().find(|harness| harness.name == name)
    }

    /// Returns the moment of an event.
    pub fn moment(&self, event: &str) -> Option<Moment> {
        self.events.iter().find(|known| known.name == event).map(|known| known.moment)
    }

    /// Returns the names of the events of a moment.
    pub fn events_of(&self, moment: Moment) -> impl Iterator<Item = &'static str> {
        self.events.iter().filter(move |event| event.moment == moment).map(|event| event.name)
    }

    /// Returns the name of the event before a tool is used.
    pub fn before(&self) -> &'static str {
        self.events_of(Moment::Before).next().unwrap_or_default()
    }
}
