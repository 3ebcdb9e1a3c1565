//! What is kept of a decision.

use std::time::Duration;

use stockade_text::Escaped;

use super::decision::CommandDecision;
use super::rules::effect::{Effect, Layer};

/// The most characters of a command, and of a part, that an entry holds.
const MAX_COMMAND_CHARS: usize = 500;
const MAX_PART_CHARS: usize = 120;
/// The most parts that an entry names.
const MAX_PARTS: usize = 64;

/// One decision, as it is written down.
///
/// Commands can contain secrets. The caller decides whether their texts are recorded too: [`AuditEntry::without_text`]
/// leaves the names of the rules and of the programs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct AuditEntry {
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// The command, shortened, with every hidden character written out.
    pub command: String,
    /// How many bytes the command has.
    pub command_bytes: usize,
    /// A digest of the whole command, where the caller makes one.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub digest: Option<String>,
    /// The verdict on this much.
    pub effect: Effect,
    /// The parts in their order; of too many, the strictest.
    pub parts: Vec<AuditPart>,
    /// How many parts were left out.
    pub parts_left_out: usize,
}

/// One part of a command, as it is written down.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct AuditPart {
    /// The text of the part, shortened.
    pub text: String,
    /// The program, if it runs one and its name is certain.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub program: Option<String>,
    /// What leads to it.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub via: Vec<String>,
    /// The verdict on this much.
    pub effect: Effect,
    /// The name of the rule or the hazard that decided.
    pub rule: String,
    /// Who wrote the rule.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub layer: Option<Layer>,
    /// Why, in a sentence.
    pub reason: String,
}

impl CommandDecision<'_, '_> {
    /// Returns what to keep of the decision. `now` is the time since 1970.
    #[must_use]
    pub fn audit(&self, now: Duration) -> AuditEntry {
        let audited = self.strictest(MAX_PARTS).into_iter().map(|part| AuditPart {
            text: shortened(part.span.of(self.text), MAX_PART_CHARS),
            program: part.run().and_then(|run| run.program()).map(|name| shortened(name, MAX_PART_CHARS)),
            via: self.call_chain(part).iter().map(|via| shortened(via, MAX_PART_CHARS)).collect(),
            effect: part.effect,
            rule: part.cause.id().to_owned(),
            layer: part.cause.rule().map(|(_, layer)| layer),
            reason: part.cause.to_string(),
        });
        AuditEntry {
            at_ms: u64::try_from(now.as_millis()).unwrap_or(u64::MAX),
            command: shortened(self.text, MAX_COMMAND_CHARS),
            command_bytes: self.text.len(),
            digest: None,
            effect: self.effect,
            parts: audited.collect(),
            parts_left_out: self.parts.len().saturating_sub(MAX_PARTS),
        }
    }
}

impl AuditEntry {
    /// Returns the entry without the texts of the command, which may hold secrets.
    #[must_use]
    pub fn without_text(mut self) -> Self {
        self.command.clear();
        self.parts.iter_mut().for_each(|part| part.text.clear());
        self
    }
}

/// Returns the first characters of a text, with every hidden one written out.
fn shortened(text: &str, most: usize) -> String {
    let end = text.char_indices().nth(most).map(|(at, _)| at);
    match end.and_then(|end| text.get(..end)) {
        Some(start) => format!("{}…", Escaped(start)),
        None => Escaped(text).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::CommandContext;
    use crate::decision::policy::CommandPolicy;
    use stockade_shell::ReadOptions;

    fn entry(text: &str) -> AuditEntry {
        let policy = CommandPolicy::builtin();
        policy
            .decide(text, &ReadOptions::default(), &CommandContext::default())
            .audit(Duration::from_millis(1500))
    }

    #[test]
    fn an_entry_names_what_decided() {
        let entry = entry("git status && timeout 5 cargo test");
        assert_eq!((entry.at_ms, entry.effect, entry.parts_left_out), (1500, Effect::Sandbox, 0));
        let rules: Vec<(&str, Effect)> =
            entry.parts.iter().map(|part| (part.rule.as_str(), part.effect)).collect();
        assert_eq!(
            rules,
            [
                ("git-read", Effect::Allow),
                ("steps_aside", Effect::Allow),
                ("project-routine", Effect::Sandbox)
            ]
        );
        assert_eq!(entry.parts.last().unwrap().via, ["timeout"]);
        let bare = entry.without_text();
        assert!(bare.command.is_empty() && bare.parts.iter().all(|part| part.text.is_empty()));
    }

    #[test]
    fn an_entry_is_bounded_and_keeps_the_strictest_parts() {
        let text = format!("{}sudo id\u{202e}", "ls; ".repeat(1000));
        let entry = entry(&text);
        assert_eq!(entry.parts.len(), MAX_PARTS);
        assert!(entry.parts.iter().any(|part| part.program.as_deref() == Some("sudo")));
        assert!(entry.command.chars().count() <= MAX_COMMAND_CHARS + 1 && entry.command_bytes == text.len());
    }
}
