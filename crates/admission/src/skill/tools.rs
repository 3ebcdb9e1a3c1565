//! The tools that a skill lists, read by the rules of the layer that grants tools.

use stockade_policy::SkillTools;
use stockade_policy::tools::SkillToolsError;
use stockade_skill::{Dialect, ListedTools, SkillManifest, SkillProblem};

/// Reads the head of a skill with the tools that it lists, and returns what is wrong with it, the worst first. `name` is what
/// to call the file.
///
/// Nothing is looked for that attacks: that is for [`admit`](crate::admit()). Where a problem is an
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

/// Says why a list of tools cannot be read, if it cannot.
///
/// # Errors
/// The reason, for a message.
pub fn check_tools(listed: &ListedTools) -> Result<(), String> {
    parse(listed).map(|_| ()).map_err(|error| error.to_string())
}

/// Returns the tools that a manifest lists. A list that cannot be read grants no tool at all.
pub(crate) fn tools_of(manifest: &SkillManifest) -> SkillTools {
    parse(&manifest.tools).unwrap_or_else(|_| SkillTools::Listed(Vec::new()))
}

/// Whether somebody wrote out that a list means everything: `*`, or a tool with `(*)`.
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
