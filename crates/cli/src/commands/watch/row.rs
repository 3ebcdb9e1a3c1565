//! A decision in one line.

use stockade_guard::audit::{AuditRecord, EventKind};
use stockade_harness::tools::{ToolKind, known};
use stockade_text::{escape, shown_within};

use crate::render::style::Styles;
use crate::report::record_facts::{about, detail};

/// Approximate number of characters of the subject and of the reason.
const MAX_SUBJECT: usize = 60;
const MAX_REASON: usize = 100;

/// Whether a record is shown: a decision or an answer. That a tool may be used is only shown if no decision follows about what it
/// accesses.
pub(in crate::commands) fn is_shown(record: &AuditRecord) -> bool {
    match record.kind() {
        Some(EventKind::ToolAllowed) => {
            let kind = known(&about(record).unwrap_or_default()).1;
            matches!(
                kind,
                ToolKind::Search | ToolKind::Other | ToolKind::Own | ToolKind::Feed | ToolKind::OtherShell
            )
        }
        Some(kind) => kind.is_decision() || kind == EventKind::ApprovalAnswered,
        None => false,
    }
}

/// Formats a decision or an answer: the time of day in UTC, the effect, the agent, the subject, and why.
pub(super) fn row(record: &AuditRecord, styles: Styles) -> String {
    let answer = detail(record, "answer").map(|answer| format!("answer {answer}"));
    let effect = record.decision.clone().or(answer).unwrap_or_else(|| record.event.clone());
    let style = match effect.as_str() {
        "allow" => styles.good,
        "sandbox" => styles.frame,
        "ask" => styles.warn,
        "deny" => styles.critical,
        _ => styles.strong,
    };
    let time = record.timestamp.get(11..19).unwrap_or(&record.timestamp);
    let agent = escape(record.agent.as_deref().unwrap_or("-"));
    let subject = about(record).map(|subject| short(&subject, MAX_SUBJECT)).unwrap_or_default();
    let is_stop = ["ask", "deny"].contains(&effect.as_str());
    let reason = detail(record, "reason").filter(|_| is_stop).map(|reason| short(&reason, MAX_REASON));
    let reason =
        reason.map(|reason| format!("  {}{reason}{}", styles.frame, styles.reset)).unwrap_or_default();
    let line = format!(
        "{}  {style}{:<8}{}  {agent:<8}  {subject}{reason}",
        escape(time),
        escape(&effect),
        styles.reset
    );
    line.trim_end().to_owned()
}

fn short(text: &str, most: usize) -> String {
    shown_within(text, &(0..0), most)
}
