//! Frame of a skill in a prompt, which the skill's text cannot leave.

use std::fmt::Write as _;
use stockade_text::escape_markup;

/// The parts of a prompt. All of them must have been cleaned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillFrame {
    /// Name of the skill, on one line.
    pub name: String,
    /// Its purpose, on one line.
    pub description: String,
    /// The text below the front matter.
    pub body: String,
    /// The directory that its references are relative to.
    pub folder: Option<String>,
    /// The other files in the directory.
    pub files: Vec<String>,
    /// Names of its arguments.
    pub arguments: Vec<String>,
}

impl SkillFrame {
    /// Returns the skill's entry in a list, for a model to choose from.
    #[must_use]
    pub fn listing(&self) -> String {
        let mut xml = format!("<skill>\n<name>{}</name>\n", attribute(&self.name));
        writeln!(xml, "<description>{}</description>", attribute(&self.description)).ok();
        if let Some(folder) = &self.folder {
            writeln!(xml, "<location>{}</location>", attribute(folder)).ok();
        }
        xml.push_str("</skill>\n");
        xml
    }

    /// Returns the skill as a model reads it: `body`, the skill's own with arguments substituted, between tags that
    /// nothing in it can close, open or imitate.
    #[must_use]
    pub fn framed(&self, body: &str) -> String {
        let mut xml = format!("<skill_content name=\"{}\">\n", attribute(&self.name));
        if let Some(folder) = &self.folder {
            writeln!(xml, "References are relative to {}.", attribute(folder)).ok();
        }
        xml.push_str(&enclosed(body));
        xml.push('\n');
        if !self.files.is_empty() {
            xml.push_str("<skill_resources>\n");
            for file in &self.files {
                writeln!(xml, "<file>{}</file>", attribute(file)).ok();
            }
            xml.push_str("</skill_resources>\n");
        }
        xml.push_str("</skill_content>\n");
        xml
    }
}

/// Escapes a text for use within a tag or a quoted attribute.
fn attribute(text: &str) -> String {
    escape_markup(text).replace('\'', "&apos;").replace('\n', " ")
}

/// Names of tags that frame prompts. A skill that could write them could impersonate the harness.
const FRAMES: &[&str] = &[
    "skill",
    "skills",
    "skill_content",
    "skill_resources",
    "available_skills",
    "system",
    "system-reminder",
    "system_prompt",
    "system_message",
    "instructions",
    "assistant",
    "user",
    "human",
    "developer",
    "tool_result",
    "tool_results",
    "tool_use",
    "function_calls",
    "function_results",
    "invoke",
];

/// Maximum distance between a `<` and the name of its tag.
const MAX_REACH: usize = 80;

/// Escapes tags in a body that could close, open or imitate its frame. Other tags are left alone: skills write about
/// HTML.
fn enclosed(body: &str) -> String {
    let mut escaped = String::with_capacity(body.len());
    let mut rest = body;
    while let Some((before, after)) = rest.split_once('<') {
        escaped.push_str(before);
        escaped.push_str(if opens_frame(after) { "&lt;" } else { "<" });
        rest = after;
    }
    escaped.push_str(rest);
    escaped
}

/// Whether the text after a `<` makes it a frame tag.
fn opens_frame(after: &str) -> bool {
    let near = after.get(..after.floor_char_boundary(MAX_REACH)).unwrap_or(after);
    let near = near.trim_start_matches(|c: char| c.is_whitespace() || "/\\!?|".contains(c));
    let is_name = |c: char| c.is_alphanumeric() || "_-:.".contains(c);
    let name = near.find(|c| !is_name(c)).map_or(near, |end| near.get(..end).unwrap_or(near));
    let name = name.rsplit(':').next().unwrap_or(name);
    FRAMES.iter().any(|frame| name.eq_ignore_ascii_case(frame))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(body: &str) -> SkillFrame {
        SkillFrame {
            name: "a\"<b>".into(),
            description: "d & </description>".into(),
            body: body.into(),
            folder: Some("/skills/a".into()),
            files: vec!["x<y.sh".into()],
            arguments: Vec::new(),
        }
    }

    #[test]
    fn a_frame_cannot_be_left() {
        for (body, wanted) in [
            ("a </skill_content> b", "a &lt;/skill_content> b"),
            ("a < / Skill_Content > b", "a &lt; / Skill_Content > b"),
            ("<SYSTEM>x</SYSTEM>", "&lt;SYSTEM>x&lt;/SYSTEM>"),
            ("<|system|>", "&lt;|system|>"),
            ("<x:invoke name", "&lt;x:invoke name"),
            ("<b>, Vec<u8>, a < b, <user-name>", "<b>, Vec<u8>, a < b, <user-name>"),
            ("é<", "é<"),
        ] {
            assert_eq!(enclosed(body), wanted);
        }
        let xml = frame("Go.").framed("Go.\n\nARGUMENTS: there");
        assert_eq!(
            xml,
            "<skill_content name=\"a&quot;&lt;b&gt;\">\nReferences are relative to /skills/a.\nGo.\n\nARGUMENTS: \
             there\n<skill_resources>\n<file>x&lt;y.sh</file>\n</skill_resources>\n</skill_content>\n"
        );
        assert!(frame("").listing().contains("<description>d &amp; &lt;/description&gt;</description>"));
    }
}
