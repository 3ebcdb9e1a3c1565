//! The tools that a skill lists at the head of its SKILL.md.

use std::path::Path;

use serde::Deserialize;
use stockade_guard::policy::SkillTools;
use stockade_guard::{FileOptions, Source, read_text};

use crate::failure::Failure;
use crate::render::escape::escape_path;

/// What is read of a skill's head. Everything else is somebody else's business.
#[derive(Debug, Default, Deserialize)]
struct Head {
    name: Option<String>,
    #[serde(rename = "allowed-tools", alias = "allowedTools", alias = "allowed_tools", default = "absent")]
    allowed_tools: List,
}

/// The forms in which a list of tools is written. A key without a value is an empty list, not a missing one.
#[derive(Debug, Default, Deserialize)]
#[serde(untagged)]
enum List {
    #[serde(skip)]
    #[default]
    Absent,
    Text(String),
    Items(Vec<String>),
    Empty(()),
}

fn absent() -> List {
    List::Absent
}

/// Returns the name of a skill and the tools that it lists.
pub(super) fn read(file: &Path) -> Result<(String, SkillTools), Failure> {
    let shown = escape_path(file);
    let text = read_text(&Source::Path(file.to_owned()), &FileOptions::default())
        .map_err(|gap| Failure::incomplete(format_args!("{shown}: {gap}")))?;
    let Some(head) = head(&text.text) else { return Ok((shown, SkillTools::Unlisted)) };
    let head: Head = serde_saphyr::from_str(head).map_err(|error| {
        Failure::usage(format_args!("{shown}: cannot read the head of the skill: {error}"))
    })?;
    let tools = match &head.allowed_tools {
        List::Absent => Ok(SkillTools::Unlisted),
        List::Empty(()) => Ok(SkillTools::Listed(Vec::new())),
        List::Text(text) => SkillTools::parse(text),
        List::Items(items) => SkillTools::from_list(items.iter().map(String::as_str)),
    };
    let tools = tools.map_err(|error| Failure::usage(format_args!("{shown}: {error}")))?;
    Ok((head.name.unwrap_or(shown), tools))
}

/// What stands between the first two lines of `---`.
fn head(text: &str) -> Option<&str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let rest = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"))?;
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return rest.get(..end);
        }
        end += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_found() {
        for (text, expected) in [
            ("---\nname: x\n---\nbody", Some("name: x\n")),
            ("---\r\nname: x\r\n---\r\nbody", Some("name: x\r\n")),
            ("---\n---\n", Some("")),
            ("---\nname: x\n", None),
            ("body", None),
            ("", None),
        ] {
            assert_eq!(head(text), expected, "{text:?}");
        }
    }
}
