//! Listed tools of a skill, parsed by the rules of the tool policy.

use stockade_policy::SkillTools;
use stockade_policy::tools::SkillToolsError;
use stockade_skill::{Dialect, ListedTools, SkillManifest, SkillProblem};

/// Reads the front matter of a skill and its listed tools, and returns its problems, worst first. `name` is the
/// display name of the file.
///
/// Does not look for attacks; [`admit`](crate::admit()) does. If a problem is an
/// [error](stockade_skill::ProblemLevel::Error), the skill must not be used.
#[must_use]
pub fn read_manifest(
    text: &str,
    name: &str,
    dialect: Dialect,
) -> (SkillManifest, SkillTools, Vec<SkillProblem>) {
    let (manifest, problems) = SkillManifest::read(text, name, dialect, &check_tools);
    let tools = tools_of(&manifest);
    (manifest, tools, problems)
}

/// Checks that a list of tools can be parsed.
///
/// # Errors
/// The reason, for a message.
pub fn check_tools(listed: &ListedTools) -> Result<(), String> {
    parse(listed).map(|_| ()).map_err(|error| error.to_string())
}

/// Returns the tools that a manifest lists. An unreadable list grants no tool.
pub(crate) fn tools_of(manifest: &SkillManifest) -> SkillTools {
    parse(&manifest.tools).unwrap_or_else(|_| SkillTools::Listed(Vec::new()))
}

/// Whether a list explicitly asks for everything: `*`, or a tool with `(*)`.
pub(crate) fn is_sweeping(listed: &ListedTools) -> bool {
    let sweeps = |text: &str| {
        let alone = text.split([' ', ',', '\n']).any(|word| matches!(word.trim(), "*" | "mcp__*"));
        alone || text.contains("(*") || text.contains("(:*")
    };
    match listed {
        ListedTools::Unlisted => false,
        ListedTools::Text(text) => sweeps(text),
        ListedTools::Entries(entries) => entries.iter().any(|entry| sweeps(entry)),
    }
}

fn parse(listed: &ListedTools) -> Result<SkillTools, SkillToolsError> {
    match listed {
        ListedTools::Unlisted => Ok(SkillTools::Unlisted),
        ListedTools::Text(text) => SkillTools::parse(text),
        ListedTools::Entries(entries) => SkillTools::from_list(entries.iter().map(String::as_str)),
    }
}
