//! Names that are unsafe to use.

use stockade_text::{escape, poses_as_latin};

/// Advice for an unusable name.
pub const NAME_FIX: &str =
    "use lower-case letters, digits and single hyphens between them, such as `my-skill`";

/// Returns why a name is unsafe, if so: a program that makes a file, a line or a tag of it would do something else.
///
/// ```
/// use stockade_skill::unusable;
///
/// assert!(unusable("../../etc/cron.d/x").is_some() && unusable("a\u{1b}[31m").is_some());
/// assert!(unusable("My Skill 2.0").is_none() && unusable("grüße").is_none());
/// ```
#[must_use]
pub fn unusable(name: &str) -> Option<&'static str> {
    // Variants of letters: full-width, circled, mathematical.
    let is_disguised =
        |c: char| matches!(c, '\u{ff00}'..='\u{ffef}' | '\u{2460}'..='\u{24ff}' | '\u{1d400}'..='\u{1d7ff}');
    if name.contains(['/', '\\']) || name.trim_start().starts_with('.') {
        return Some("it leads to a file");
    }
    if escape(name) != name {
        return Some("it has characters that are not shown");
    }
    if name.contains(['<', '>', '"', '`', '$', '|', ';', '&']) {
        return Some("it has signs that shells and frames obey");
    }
    (name.chars().any(is_disguised) || poses_as_latin(name)).then_some("its letters look like others")
}
