//! Recent refusals, for commands that ask for the reason, and the form in which a refusal is reported.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::Serialize;

use super::super::broker_hostname::WHY_URL;
use super::resolve_check::Brokered;

/// Maximum number of kept refusals.
const MAX_KEPT: usize = 256;

/// Maximum length of a kept reason, which may contain much of a request.
const MAX_REASON: usize = 500;

/// Maximum size of all kept refusals, because each client that requests them gets a copy.
const MAX_BYTES: usize = 256 << 10;

/// A refusal, with its record.
#[derive(Debug)]
pub(super) struct Refused {
    /// Its ID in the record, if it was recorded.
    id: Option<String>,
    what: Brokered,
}

/// The latest refusals, the most recent one last.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    kept: VecDeque<Arc<Refused>>,
    /// Their size in bytes.
    bytes: usize,
    /// The number of earlier refusals.
    forgotten: u64,
}

/// The JSON form of a refusal. Members that a decision has as well have the same names.
#[derive(Serialize)]
struct Document<'r> {
    by: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'r str>,
    layer: &'static str,
    effect: &'static str,
    subject: &'r str,
    rule: &'r str,
    reason: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

#[derive(Serialize)]
struct All<'r> {
    refused: Vec<Document<'r>>,
    forgotten: u64,
}

impl Refused {
    pub(super) fn new(id: Option<String>, mut what: Brokered) -> Self {
        if let Some((end, _)) = what.reason.char_indices().nth(MAX_REASON) {
            what.reason.truncate(end);
            what.reason.push('…');
        }
        Self { id, what }
    }

    /// The rule that refused it.
    pub(super) const fn rule(&self) -> &'static str {
        self.what.rule
    }

    pub(super) fn reason(&self) -> &str {
        &self.what.reason
    }

    fn bytes(&self) -> usize {
        let Brokered { target, reason, fix, entry, .. } = &self.what;
        let more = [fix, entry, &self.id].into_iter().flatten().map(String::len).sum::<usize>();
        target.len() + reason.len() + more
    }

    /// The URL that explains it.
    pub(super) fn url(&self) -> Option<String> {
        self.id.as_ref().map(|id| format!("{WHY_URL}/{id}"))
    }

    /// Returns it as one line of JSON.
    pub(super) fn told(&self) -> String {
        line(&self.document())
    }

    fn document(&self) -> Document<'_> {
        let Brokered { target, rule, reason, fix, entry, .. } = &self.what;
        Document {
            by: "stockade",
            id: self.id.as_deref(),
            layer: "network",
            effect: "deny",
            subject: target,
            rule,
            reason,
            fix: fix.as_deref(),
            entry: entry.as_deref(),
            why: self.url(),
        }
    }

    /// Whether it has this ID, or is about this host at any port.
    fn is_called(&self, name: &str) -> bool {
        let behind_host = self.what.target.strip_prefix(name);
        self.id.as_deref() == Some(name)
            || behind_host.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    }
}

impl Refusals {
    pub(super) fn keep(&mut self, refused: Arc<Refused>) {
        self.bytes += refused.bytes();
        self.kept.push_back(refused);
        while self.kept.len() > MAX_KEPT || self.bytes > MAX_BYTES {
            let Some(first) = self.kept.pop_front() else { return };
            self.bytes -= first.bytes();
            self.forgotten += 1;
        }
    }

    /// Returns all as one line of JSON.
    pub(super) fn all(&self) -> String {
        let refused = self.kept.iter().map(|refused| refused.document()).collect();
        line(&All { refused, forgotten: self.forgotten })
    }

    /// Returns the last one with this ID, or about this host.
    pub(super) fn last_called(&self, name: &str) -> Option<String> {
        self.kept.iter().rev().find(|refused| refused.is_called(name)).map(|refused| refused.told())
    }
}

/// Serializes a document as a line. Strings and numbers always serialize.
fn line(document: &impl Serialize) -> String {
    serde_json::to_string(document).map(|text| text + "\n").unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(number: usize, length: usize) -> Arc<Refused> {
        let what =
            Brokered::refused(&format!("h{number}.example:443"), "not-listed", "y\u{e4}".repeat(length));
        Arc::new(Refused::new(Some(format!("id{number}")), what))
    }

    #[test]
    fn the_latest_are_found_by_name_and_host() {
        let mut refusals = Refusals::default();
        (0..300).for_each(|number| refusals.keep(refused(number, 300)));
        for (name, is_found) in [
            ("id299", true),
            ("id44", true),
            ("id43", false),
            ("h299.example", true),
            ("h299.example:443", true),
            ("h299", false),
            ("", false),
        ] {
            assert_eq!(refusals.last_called(name).is_some(), is_found, "{name}");
        }
        let all: serde_json::Value = serde_json::from_str(&refusals.all()).unwrap();
        assert_eq!((all["refused"].as_array().unwrap().len(), all["forgotten"].as_u64()), (256, Some(44)));
        let last = &all["refused"][255];
        assert_eq!(last["why"], "http://stockade.internal/v1/why/id299");
        assert_eq!(last["reason"].as_str().unwrap().chars().count(), MAX_REASON + 1);
    }

    /// Whatever a command is refused, and however often.
    #[test]
    fn there_is_an_end_to_what_is_kept() {
        let mut refusals = Refusals::default();
        for number in 0..2_000 {
            let mut long = Brokered::refused(&"x".repeat(255), "not-listed", "y".repeat(40_000));
            (long.fix, long.entry) = (Some("z".repeat(4_000)), Some("z".repeat(4_000)));
            refusals.keep(Arc::new(Refused::new(Some(format!("id{number}")), long)));
        }
        assert!(refusals.all().len() < 2 * MAX_BYTES, "{}", refusals.all().len());
        assert!(refusals.last_called("id1999").is_some());
        refusals.keep(Arc::new(Refused::new(
            None,
            Brokered { fix: Some("z".repeat(MAX_BYTES)), ..Brokered::refused(&"x", "r", "y") },
        )));
        assert_eq!((refusals.kept.len(), refusals.bytes), (0, 0));
    }
}
