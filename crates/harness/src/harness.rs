//! A program that runs agents: what it hands to a hook, which answers it understands, where its hooks are registered.

use super::table::HARNESSES;
use super::tools;

/// A program that runs an agent, and what is known of its hooks.
#[derive(Debug)]
pub struct Harness {
    /// How it is called on the command line, and the agent whose configuration holds for it.
    pub name: &'static str,
    /// How it is called in sentences.
    pub title: &'static str,
    /// The version that its answers were tried with; nothing where only its documentation is known.
    pub tried: Option<&'static str>,
    /// Its events, by the names that it gives them.
    pub events: &'static [Event],
    /// What it hands to a hook.
    pub payload: Payload,
    /// The answers that it understands.
    pub answers: Answers,
    /// Whether a question of a hook reaches a person, and nothing runs where it does not.
    pub asks: bool,
    /// Whether it runs a command that a hook puts in the place of another one.
    pub rewrites: bool,
    /// What becomes of the result of a tool that was cleaned.
    pub results: Results,
    /// Variables in which it names the folder of the project.
    pub project_variables: &'static [&'static str],
    /// Where its hooks are registered.
    pub registered: HookRegistration,
    /// A tool of each kind that its hooks are asked about, with the event that is for it.
    pub probes: &'static [Probe],
    /// What it does where a hook gives no answer that it understands, and `doctor` has to say.
    pub open: &'static [&'static str],
}

/// A moment at which it calls hooks.
#[derive(Debug)]
pub struct Event {
    /// Its name.
    pub name: &'static str,
    /// What it is about.
    pub moment: Moment,
}

/// A tool that `doctor` asks a hook about.
#[derive(Debug, Clone, Copy)]
pub struct Probe {
    /// What the tool does.
    pub kind: tools::ToolKind,
    /// The event that is sent before it is used.
    pub event: &'static str,
    /// The name of the tool.
    pub tool: &'static str,
}

/// What a moment is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The beginning of a session, which nothing is decided about.
    Start,
    /// A tool is about to be used.
    Before,
    /// A tool has brought something back.
    After,
}

/// The shape of what a hook is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload {
    /// Members that are called `hook_event_name`, `tool_name`, `tool_input`, `tool_response`, `cwd`.
    Named,
    /// Members that are called `toolName`, `toolArgs`, `toolResult`, `cwd`; the event is not named.
    Camel,
    /// One of the members `tool_call` and `preToolUse`, and `workspaceRoots`.
    Cline,
    /// A member `hook_event_name`, and `command`, `file_path` or `tool_name` at its side; `workspace_roots`.
    Cursor,
    /// The name of the event in `agent_action_name`, and the arguments in `tool_info`.
    Windsurf,
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// A decision in `permissionDecision` of `hookSpecificOutput`, and arguments in its `updatedInput`.
    Specific,
    /// A decision in `decision` with its `reason`, and arguments in `tool_input` of `hookSpecificOutput`.
    Decision,
    /// A decision in `permissionDecision` itself, and arguments in `modifiedArgs`.
    Permission,
    /// A refusal by `cancel` with its `errorMessage`, and arguments in `overrideInput`.
    Cancel,
    /// A decision in `permission`, with texts for the user and for the agent.
    Cursor,
    /// Exit code 2, and the reason on standard error.
    ExitCode,
    /// Our own `decision`, `reason` and `input`, read by a plugin of ours, which takes silence for a failure.
    Plugin,
}

/// What a harness does with what a hook says of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Results {
    /// It takes the cleaned result, in its shape, in the place of the other.
    Replaced,
    /// It hides a result that is refused, and shows the reason: the cleaned text is in that.
    Hidden,
    /// It shows the result as it is, and a note beside it.
    Noted,
    /// Its plugin replaces the text.
    ByPlugin,
    /// It has no answer to a result.
    Unchanged,
}

/// Where hooks are registered, below the home of the user and in a project.
#[derive(Debug, Clone, Copy)]
pub enum HookRegistration {
    /// In lists of a file of settings: `hooks.EVENT`.
    Settings(SettingsFile),
    /// A file of our own holds nothing else.
    Own(OwnFile),
    /// Nothing is written: this says what to do.
    ByHand(&'static str),
}

/// A file of settings with lists of hooks.
#[derive(Debug, Clone, Copy)]
pub struct SettingsFile {
    /// The file of the user, below the home directory.
    pub user: &'static str,
    /// The file of a project, below its folder.
    pub project: &'static str,
    /// Other files of the same folder in which hooks may be, too.
    pub beside: &'static [&'static str],
    /// Files that count in the place of this one, where they are there.
    pub instead: &'static [&'static str],
    /// Whether a list holds groups, each with a matcher and hooks.
    pub groups: bool,
    /// The unit of `timeout`: how many make a second. Nothing where it has no such member.
    pub timeout: Option<u64>,
    /// What else every hook has.
    pub more: &'static [(&'static str, &'static str)],
    /// Flags that every hook has, too.
    pub flags: &'static [&'static str],
    /// Whether the file has a number `version`, which is 1.
    pub version: bool,
    /// Paths of settings that turn hooks off, and the value that does.
    pub off: &'static [(&'static str, bool)],
    /// The same in settings of the machine, by the file that they are in.
    pub managed: &'static [(&'static str, &'static str, bool)],
    /// What has to be done by a person before the hooks are called.
    pub trust: Option<&'static str>,
}

/// A file that is ours alone.
#[derive(Debug, Clone, Copy)]
pub struct OwnFile {
    /// The file of the user, below the home directory.
    pub user: &'static str,
    /// The file of a project, below its folder.
    pub project: &'static str,
    /// What the file is.
    pub form: OwnForm,
    /// Paths of settings that turn hooks off, by the file that they are in, below the home.
    pub off: &'static [(&'static str, &'static str, bool)],
}

/// What a file of our own is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnForm {
    /// JSON with `version` and `hooks`.
    Json,
    /// A program that is called by the name of its event.
    Script,
    /// A module that is loaded.
    Plugin,
}

impl Harness {
    /// Returns the one of this name.
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
