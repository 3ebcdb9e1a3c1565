//! The tool list in the front matter of a skill.

use std::path::Path;

use stockade_guard::admission::{Dialect, FileOptions, ProblemLevel, Source, read_manifest, read_text};
use stockade_guard::policy::SkillTools;
use stockade_text::escape_path;

use crate::failure::Failure;

/// Returns the name of a skill and its tool list. If the front matter cannot be parsed, the list is unknown, so this is an error.
pub(super) fn read(file: &Path) -> Result<(String, SkillTools), Failure> {
    let shown = escape_path(file);
    let text = read_text(&Source::Path(file.to_owned()), &FileOptions::default())
        .map_err(|gap| Failure::incomplete(format_args!("{shown}: {gap}")))?;
    let (manifest, tools, problems) = read_manifest(&text.text, &shown, Dialect::Lenient);
    if let Some(problem) = problems.first().filter(|problem| problem.level == ProblemLevel::Error) {
        let place = format!("{shown}:{}:{}", problem.line, problem.column);
        return Err(Failure::usage(format_args!("{place}: {}", problem.message)).with_help(&problem.fix));
    }
    Ok((manifest.name.unwrap_or(shown), tools))
}
