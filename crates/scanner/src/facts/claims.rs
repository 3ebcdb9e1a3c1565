//! Claims of a text about itself, in its front matter.

use super::fact::{ClaimFact, ClaimKind, FactPlace};

/// Keys of front matter, at any depth: skills put some of them below `metadata`.
const KEYS: &[(&str, ClaimKind)] = &[
    ("name", ClaimKind::Name),
    ("homepage", ClaimKind::Homepage),
    ("website", ClaimKind::Homepage),
    ("url", ClaimKind::Homepage),
    ("repository", ClaimKind::Repository),
    ("repo", ClaimKind::Repository),
    ("source", ClaimKind::Repository),
    ("author", ClaimKind::Publisher),
    ("publisher", ClaimKind::Publisher),
    ("vendor", ClaimKind::Publisher),
    ("allowed-tools", ClaimKind::AllowedTools),
    ("tools", ClaimKind::AllowedTools),
];

/// Maximum length of a value.
const MAX_VALUE: usize = 512;

/// Returns the claims of the front matter.
pub(crate) fn claims(text: &str) -> Vec<ClaimFact> {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut claims = Vec::new();
    let mut lines = text.get(start..).unwrap_or_default().split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else { return claims };
    let mut at = start + first.len();
    for line in lines {
        let span = at..at + line.trim_end().len();
        at += line.len();
        if line.trim_end() == "---" {
            return claims;
        }
        let Some((key, value)) = line.split_once(':') else { continue };
        let kind = KEYS.iter().find(|(known, _)| *known == key.trim()).map(|(_, kind)| *kind);
        let value = value.trim().trim_matches(['"', '\'']);
        if let Some(kind) = kind.filter(|_| !value.is_empty()) {
            let value = value.get(..value.floor_char_boundary(MAX_VALUE)).unwrap_or_default().to_owned();
            claims.push(ClaimFact { kind, value, place: FactPlace::of(&span) });
        }
    }
    // Without an end it is no front matter.
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_of_front_matter_only() {
        let text =
            "---\nname: x\nmetadata:\n  author: \"A\"\nallowed-tools: Bash(git:*), Read\n---\nhomepage: no\n";
        let found: Vec<(&str, String)> =
            claims(text).into_iter().map(|claim| (claim.kind.name(), claim.value)).collect();
        let expected = [("name", "x"), ("publisher", "A"), ("allowedTools", "Bash(git:*), Read")];
        assert_eq!(found, expected.map(|(kind, value)| (kind, value.to_owned())));
        for text in ["name: x\n", "---\nname: x\n", "# T\n---\nname: x\n---\n", ""] {
            assert_eq!(claims(text), [], "{text}");
        }
    }
}
