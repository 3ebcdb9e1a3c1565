//! A skill's claims about itself.

use std::collections::BTreeMap;

/// Parsed front matter of a skill.
///
/// All of it is untrusted: texts are escaped for display, lists of tools only narrow, and requested permissions are
/// granted by the operator alone.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SkillManifest {
    /// Name of the skill; the directory's name if it is missing and the dialect permits that.
    pub name: Option<String>,
    /// Its purpose.
    pub description: Option<String>,
    /// When a model should use it.
    pub when_to_use: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// Its licence.
    pub license: Option<String>,
    /// What it needs to run, in prose.
    pub compatibility: Option<String>,
    /// Hint shown where arguments are typed.
    pub argument_hint: Option<String>,
    /// Names of its arguments, which occur in its text in braces.
    pub arguments: Vec<String>,
    /// Whether a user may call it by name.
    pub user_invocable: bool,
    /// Whether a model must not use it unasked.
    pub disable_model_invocation: bool,
    /// The tools that it lists: an upper bound, whatever the dialect means by it.
    pub tools: ListedTools,
    /// The tools that it renounces.
    pub disallowed_tools: Vec<String>,
    /// The resources that it claims to touch.
    pub permissions: SkillPermissions,
    /// Its requirements.
    pub requires: SkillRequirements,
    /// Further facts, key and value.
    pub metadata: BTreeMap<String, String>,
    /// JSON Schema of its input.
    pub input_schema: Option<serde_json::Value>,
}

/// The tools that a skill lists, as written: the tool policy interprets the entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ListedTools {
    /// No list, and so no restriction.
    #[default]
    Unlisted,
    /// One string of several entries: `Read Bash(git:*)`.
    Text(String),
    /// A list of entries. If it is empty, the skill may use no tool.
    Entries(Vec<String>),
}

/// Resources that a skill claims to touch. A declaration: it grants nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillPermissions {
    /// Paths that it reads.
    pub fs_read: Vec<String>,
    /// Paths that it writes.
    pub fs_write: Vec<String>,
    /// Hosts that it connects to.
    pub net: Vec<String>,
    /// Environment variables that it reads.
    pub env: Vec<String>,
}

/// Requirements of a skill.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillRequirements {
    /// Supported operating systems; any if empty.
    pub os: Vec<String>,
    /// Required programs, all of them.
    pub bins: Vec<String>,
    /// Alternative programs, one of them.
    pub any_bins: Vec<String>,
    /// Required environment variables.
    pub env: Vec<String>,
    /// Required settings of the program that loads it.
    pub config: Vec<String>,
    /// Key of its configuration.
    pub skill_key: Option<String>,
    /// Variable that contains its main secret.
    pub primary_env: Option<String>,
    /// How its command is dispatched; any value means that a model is not asked first.
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
