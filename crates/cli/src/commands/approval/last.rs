//! The last question or refusal on record, and the approval that answers it.

use stockade_guard::audit::{AuditQuery, AuditRecord, AuditTrail};
use stockade_text::escape;

use crate::commands::audit;
use crate::failure::{Failure, with_causes};
use crate::report::record_facts::{about, detail};

/// Decisions that stop a call.
const STOPPING: [&str; 2] = ["ask", "deny"];

/// A question or refusal, and the arguments of the approval that answers it.
#[derive(Debug)]
pub(super) struct LastStop {
    /// Arguments of `stockade allow`: options, the agent, and the thing.
    pub(super) arguments: Vec<String>,
    /// Description for users.
    pub(super) told: String,
}

/// Finds the last question or refusal of an agent, or of all agents.
pub(super) fn find(agent: Option<&str>) -> Result<LastStop, Failure> {
    let record = last(&audit::open(None)?, agent)?;
    let record = record.ok_or_else(|| Failure::usage("no question and no refusal is on record"))?;
    let told = told(&record);
    let line = detail(&record, "toAllow").unwrap_or_default();
    match arguments(&line).and_then(words) {
        Some(arguments) => Ok(LastStop { arguments, told }),
        None => {
            let failure = Failure::usage(format_args!("no approval answers the last one: {told}"));
            Err(match line.is_empty() {
                true => failure.with_help("no setting allows it"),
                false => failure.with_help(line),
            })
        }
    }
}

fn last(trail: &AuditTrail, agent: Option<&str>) -> Result<Option<AuditRecord>, Failure> {
    let mut newest: Option<AuditRecord> = None;
    for decision in STOPPING {
        let query = AuditQuery {
            agent: agent.map(str::to_owned),
            decisions: true,
            decision: Some(decision.to_owned()),
            limit: 1,
            ..AuditQuery::default()
        };
        let found = trail.query(&query).map_err(|error| Failure::incomplete(with_causes(&error)))?;
        let found = found.into_iter().next();
        newest = newest.into_iter().chain(found).max_by_key(|record| record.id);
    }
    Ok(newest)
}

/// Describes a record in one line.
fn told(record: &AuditRecord) -> String {
    let text = |text: Option<String>| escape(&text.unwrap_or_default()).into_owned();
    format!(
        "{} {} of agent {} at {}: {} ({})",
        text(record.decision.clone()),
        text(about(record)),
        text(record.agent.clone()),
        text(Some(record.timestamp.clone())),
        text(detail(record, "reason")),
        text(record.rule.clone()),
    )
}

/// How a refusal by the egress proxy, which the command reads, begins its line.
const TO_THE_COMMAND: &str = "ask the user to run: ";

/// Returns the arguments of the `stockade allow` that a record names.
pub(super) fn arguments(line: &str) -> Option<&str> {
    line.strip_prefix(TO_THE_COMMAND).unwrap_or(line).strip_prefix("stockade allow ")
}

/// Splits a command line that this program has quoted: plain words, and parts in single quotes. Nothing is expanded.
pub(super) fn words(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut characters) = (Vec::new(), None::<String>, line.chars());
    while let Some(character) = characters.next() {
        match character {
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next()? {
                        '\'' => break,
                        inner => word.push(inner),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(characters.next()?),
            ' ' => words.extend(word.take()),
            // This program quotes in no other way.
            '"' | '$' | '`' => return None,
            plain => word.get_or_insert_default().push(plain),
        }
    }
    words.extend(word);
    (words.len() >= 2).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stockade_guard::command::shell::quote_argv;

    #[test]
    fn a_quoted_line_is_read_as_it_was_written() {
        for argv in [
            &["claude", "git push origin main"][..],
            &["--write", "--workspace", "/a b/c", "claude", "/a b/c/it's"],
            &["claude", "echo \"$x\" `y` \\ '"],
            &["--command", "claude", ""],
        ] {
            assert_eq!(words(&quote_argv(argv.iter().copied())).unwrap(), argv, "{argv:?}");
        }
        for line in ["", "claude", "claude 'x", "claude \"x\"", "claude $x", "claude x\\"] {
            assert_eq!(words(line), None, "{line}");
        }
    }
}
