//! Text output about records of the audit trail.

use stockade_guard::audit::{AuditRecord, Detail, EventKind, EventSeverity, Head, Registered, Verified};

use stockade_text::escape;

use super::style::Styles;

/// Maximum length of a detail.
const MAX_SUBJECT: usize = 60;

/// Formats a record on one line.
pub(crate) fn line(record: &AuditRecord, styles: Styles) -> String {
    let style = match record.kind().map(EventKind::severity) {
        Some(EventSeverity::Info) => "",
        Some(EventSeverity::Warn) => styles.warn,
        Some(EventSeverity::High) | None => styles.critical,
    };
    let reset = if style.is_empty() { "" } else { styles.reset };
    // To the millisecond; further digits only keep records in order.
    let at = record.timestamp.get(..23).unwrap_or(&record.timestamp).replacen('T', " ", 1);
    let facts = facts(record).join("  ");
    let line = format!("{}  {style}{:<18}{reset}  {facts}", escape(&at), escape(&record.event));
    format!("{}\n", line.trim_end())
}

fn facts(record: &AuditRecord) -> Vec<String> {
    let short = |run: &String| run.get(..8).unwrap_or(run).to_owned();
    let named = [
        ("run", record.run.as_ref().map(short)),
        ("agent", record.agent.clone()),
        ("skill", record.skill.clone()),
        ("rule", record.rule.clone()),
        ("in", record.backend.clone()),
        ("exit", record.exit_code.map(|code| code.to_string())),
        ("ms", record.duration_ms.map(|took| took.to_string())),
    ];
    let decision = record.decision.iter().map(|decision| shown(decision));
    let named = named.into_iter().filter_map(|(name, fact)| Some(format!("{name} {}", shown(&fact?))));
    let details =
        record.data.iter().map(|(name, detail)| format!("{}: {}", shown(name), detail_text(detail)));
    decision.chain(named).chain(details).collect()
}

fn detail_text(detail: &Detail) -> String {
    match detail {
        Detail::Flag(flag) => flag.to_string(),
        Detail::Number(number) => number.to_string(),
        Detail::Text(text) => shown(text),
        Detail::List(list) => shown(&list.join(" ")),
    }
}

/// Returns the start of a text, escaped.
fn shown(text: &str) -> String {
    match text.char_indices().nth(MAX_SUBJECT) {
        None => escape(text).into_owned(),
        Some((end, _)) => format!("{}…", escape(text.get(..end).unwrap_or_default())),
    }
}

/// Returns a record in the format of `--expect`.
pub(crate) fn head(head: &Head) -> String {
    format!("{}:{}", head.id, head.hash)
}

/// Formats the result of verifying every record.
pub(crate) fn verified(verified: &Verified, styles: Styles) -> String {
    let Styles { good, critical, reset, .. } = styles;
    let mut text = String::new();
    for fault in &verified.faults {
        text.push_str(&format!("{critical}wrong{reset}: {}\n", escape(&fault.to_string())));
    }
    if verified.faults_left_out > 0 {
        text.push_str(&format!("and {} more\n", verified.faults_left_out));
    }
    let records = if verified.records == 1 { "record" } else { "records" };
    let verdict = if verified.intact() {
        format!("{good}intact{reset}")
    } else {
        format!("{critical}not intact{reset}")
    };
    text.push_str(&format!("{verdict}: {} {records}", verified.records));
    match verified.open_runs {
        0 => {}
        1 => text.push_str(", 1 run without an end"),
        many => text.push_str(&format!(", {many} runs without an end")),
    }
    if let Registered::Known(known) = verified.registered {
        text.push_str(&format!(", {known} in the trail state"));
    }
    match verified.checkpoints {
        0 => {}
        1 => text.push_str(", 1 checkpoint"),
        many => text.push_str(&format!(", {many} checkpoints")),
    }
    text.push('\n');
    if verified.intact() && verified.records > 0 {
        text.push_str(match verified.registered {
            Registered::Known(_) => {
                "An attacker with access to your account can rewrite the trail and its state. Store this elsewhere, and verify with it:\n"
            }
            _ => "An attacker who can write to the file can rewrite the trail. Store this elsewhere, and verify with it:\n",
        });
        text.push_str(&format!("  --expect {}\n", head(&verified.head)));
    }
    text
}
