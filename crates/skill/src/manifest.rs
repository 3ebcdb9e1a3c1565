//! What a skill says about itself.

use std::collections::BTreeMap;

/// The head of a skill, read.
///
/// All of it is the word of a stranger: texts are shown escaped, lists of tools only ever narrow, and what it asks for is
/// granted by nobody but the operator.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SkillManifest {
    /// Its name; that of its folder where it says none and the dialect permits that.
    pub name: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// When a model should turn to it.
    pub when_to_use: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// Its licence.
    pub license: Option<String>,
    /// What it needs to run, in words.
    pub compatibility: Option<String>,
    /// What is shown where arguments are typed.
    pub argument_hint: Option<String>,
    /// Names of its arguments, which stand in its text in braces.
    pub arguments: Vec<String>,
    /// Whether a user may call it by name.
    pub user_invocable: bool,
    /// Whether a model must not turn to it by itself.
    pub disable_model_invocation: bool,
    /// The tools that it lists: an upper bound, whatever the dialect means by it.
    pub tools: ListedTools,
    /// The tools that it renounces.
    pub disallowed_tools: Vec<String>,
    /// What it says that it touches.
    pub permissions: SkillPermissions,
    /// What must be there for it to work.
    pub requires: SkillRequirements,
    /// Further facts, key and value.
    pub metadata: BTreeMap<String, String>,
    /// The form of its input, as a JSON Schema.
    pub input_schema: Option<serde_json::Value>,
}

/// The tools that a skill lists, as it writes them: what an entry means is for whoever grants tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ListedTools {
    /// It has no such list, which restricts nothing.
    #[default]
    Unlisted,
    /// One text of several entries: `Read Bash(git:*)`.
    Text(String),
    /// A list of entries. Without any, the skill may use no tool.
    Entries(Vec<String>),
}

/// What a skill says that it touches. It is a declaration: nothing is granted by it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillPermissions {
    /// Paths that it reads.
    pub fs_read: Vec<String>,
    /// Paths that it writes.
    pub fs_write: Vec<String>,
    /// Hosts that it talks to.
    pub net: Vec<String>,
    /// Variables that it reads.
    pub env: Vec<String>,
}

/// What must be there for a skill to work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillRequirements {
    /// Systems that it works on; any, if there are none.
    pub os: Vec<String>,
    /// Programs, all of them.
    pub bins: Vec<String>,
    /// Programs, one of them.
    pub any_bins: Vec<String>,
    /// Variables of the environment.
    pub env: Vec<String>,
    /// Settings of the program that loads it.
    pub config: Vec<String>,
    /// The key by which it is configured.
    pub skill_key: Option<String>,
    /// The variable that holds its main secret.
    pub primary_env: Option<String>,
    /// How its command is dispatched; anything here means that a model is not asked first.
    pub command_dispatch: Option<String>,
}

impl Default for SkillManifest {
    fn default() -> Self {
        Self {
            name: None,
            description: None,
            when_to_use: None,
            version: None,
            license: None,
            compatibility: None,
            argument_hint: None,
            arguments: Vec::new(),
            user_invocable: true,
            disable_model_invocation: false,
            tools: ListedTools::Unlisted,
            disallowed_tools: Vec::new(),
            permissions: SkillPermissions::default(),
            requires: SkillRequirements::default(),
            metadata: BTreeMap::new(),
            input_schema: None,
        }
    }
}
