//! The output of `stockade learn`.

use std::fmt::Write as _;

use serde::Serialize;
use stockade_guard::command::shell::quote_argv;
use stockade_guard::policy::Access;
use stockade_state::approvals::{ApprovalChange, ApprovalSubject};
use stockade_state::learn::Need;
use stockade_state::saved_rules::SavedRules;
use stockade_text::{escape, escape_path, shown_within, to_printable_json};

use super::counted::Counted;
use super::{Lesson, Proposal};
use crate::commands::approval::in_the_past;

/// Approximate number of characters of a command or a reason in a line.
const MAX_SHOWN: usize = 120;

/// Returns the proposals as lines that would be added to the configuration.
pub(super) fn text(lessons: &[Lesson], problems: &[String], agent: Option<&str>, applies: bool) -> String {
    let mut out: String = lessons.iter().map(|lesson| of_agent(lesson, applies)).collect();
    if lessons.is_empty() {
        let whose = agent.map(|agent| format!(" of agent {agent}")).unwrap_or_default();
        writeln!(out, "nothing to learn from: no calls{whose} in the sources (--since, --from)").ok();
    }
    for problem in problems {
        writeln!(out, "not read: {}", escape(problem)).ok();
    }
    out
}

fn of_agent(lesson: &Lesson, applies: bool) -> String {
    let Lesson { agent, calls, allowed, proposed, never } = lesson;
    let different = allowed + proposed.len() + never.len();
    let mut out = format!(
        "agent {agent}: {calls} call{}, {different} different; today's rules allow {allowed}\n",
        if *calls == 1 { "" } else { "s" }
    );
    if !proposed.is_empty() {
        let file = SavedRules::of_agent(agent).map(|store| escape_path(store.path()));
        let file = file.unwrap_or_else(|_| "configuration".to_owned());
        writeln!(out, "--- {file}\n+++ {file}").ok();
        for Proposal { counted, change, reason } in proposed {
            for line in &change.told {
                writeln!(out, "+ {}", short(entry(line, &file))).ok();
            }
            writeln!(out, "    {}: {}", times(counted), short(reason)).ok();
        }
    }
    if !never.is_empty() {
        writeln!(out, "never proposed:").ok();
        for (counted, reason) in never {
            writeln!(out, "  {}\n    {}: {}", short(&counted.what), times(counted), short(reason)).ok();
        }
    }
    if !proposed.is_empty() && !applies {
        writeln!(out, "  = add them: stockade learn {agent} --apply").ok();
    }
    out
}

/// Returns what is added, without the verb and the file, which the head of the difference names.
fn entry<'l>(line: &'l str, file: &str) -> &'l str {
    let line = line.strip_prefix("add ").unwrap_or(line);
    let end = [" to ", " in "].into_iter().find_map(|word| line.rfind(&format!("{word}{file}")));
    end.and_then(|end| line.get(..end)).unwrap_or(line)
}

fn times(counted: &Counted) -> String {
    match counted.count() {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    }
}

fn short(text: &str) -> String {
    shown_within(text, &(0..0), MAX_SHOWN)
}

/// Returns what was added.
pub(super) fn added(change: &ApprovalChange) -> String {
    change.told.iter().map(|line| format!("{}\n", in_the_past(line))).collect()
}

/// Reports an approval that could not be added.
pub(super) fn not_added(need: &Need, why: &str) -> String {
    format!("not added: {}: {}\n", short(&need.what()), escape(why))
}

#[derive(Serialize)]
struct Document<'d> {
    agents: Vec<AgentRow<'d>>,
    /// What could not be read.
    problems: &'d [String],
}

#[derive(Serialize)]
struct AgentRow<'d> {
    agent: &'d str,
    calls: u64,
    allowed: usize,
    proposed: Vec<ProposalRow<'d>>,
    never: Vec<NeverRow<'d>>,
}

#[derive(Serialize)]
struct ProposalRow<'d> {
    what: &'d str,
    count: u64,
    reason: &'d str,
    changes: &'d [String],
    /// The command that adds it alone.
    command: Option<String>,
}

#[derive(Serialize)]
struct NeverRow<'d> {
    what: &'d str,
    count: u64,
    reason: &'d str,
}

/// Returns the proposals for programs.
pub(super) fn json(lessons: &[Lesson], problems: &[String]) -> String {
    let agents = lessons.iter().map(|lesson| AgentRow {
        agent: &lesson.agent,
        calls: lesson.calls,
        allowed: lesson.allowed,
        proposed: lesson.proposed.iter().map(|proposal| row(&lesson.agent, proposal)).collect(),
        never: lesson
            .never
            .iter()
            .map(|(counted, reason)| NeverRow { what: &counted.what, count: counted.count(), reason })
            .collect(),
    });
    format!("{}\n", to_printable_json(&Document { agents: agents.collect(), problems }))
}

fn row<'d>(agent: &str, Proposal { counted, change, reason }: &'d Proposal) -> ProposalRow<'d> {
    let command = counted.need.as_ref().and_then(|need| line(agent, need));
    ProposalRow { what: &counted.what, count: counted.count(), reason, changes: &change.told, command }
}

/// Returns the command that adds one approval.
fn line(agent: &str, need: &Need) -> Option<String> {
    let words = match need {
        Need::Command(text) => ["--command", agent, text],
        Need::Subject(ApprovalSubject::Tool(name)) => ["--tool", agent, name],
        Need::Subject(ApprovalSubject::Host(entry)) => ["--host", agent, entry],
        Need::Subject(ApprovalSubject::Path(path)) => match path.access {
            Access::Read => ["--path", agent, path.path.to_str()?],
            Access::Write => ["--write", agent, path.path.to_str()?],
        },
    };
    Some(quote_argv(["stockade", "allow"].into_iter().chain(words)))
}
