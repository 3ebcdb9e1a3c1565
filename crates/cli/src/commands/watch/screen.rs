//! The screen of `stockade watch`: decisions, the newest at the bottom, and below them the question that waits.
#![expect(
    clippy::disallowed_methods,
    reason = "reads the clock, so that a key is never for a question that just appeared"
)]

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use stockade_guard::audit::AuditRecord;
use stockade_state::questions::{PendingQuestion, remaining};
use stockade_text::{escape, escape_path, shown_within};

use super::row::row;
use crate::render::style::Styles;

/// Maximum number of decisions that are kept.
const MAX_LINES: usize = 500;

/// How long a question has to be shown before it can be answered: a key that was pressed for another one must not answer it.
const MIN_SHOWN: Duration = Duration::from_millis(400);

/// The decisions and questions of the agents, in the form in which a terminal shows them.
pub(super) struct Screen {
    agent: Option<String>,
    styles: Styles,
    /// Decisions, and how many of them stopped something.
    lines: VecDeque<String>,
    stopped: u64,
    total: u64,
    questions: Vec<PendingQuestion>,
    /// Name of the selected question, and since when it is.
    selected: Option<(String, Instant)>,
    notice: String,
}

impl Screen {
    pub(super) fn new(agent: Option<String>, styles: Styles) -> Self {
        let (lines, questions) = (VecDeque::new(), Vec::new());
        Self { agent, styles, lines, stopped: 0, total: 0, questions, selected: None, notice: String::new() }
    }

    /// Adds decisions.
    pub(super) fn add(&mut self, records: Vec<AuditRecord>) {
        for record in records {
            let is_stop =
                record.decision.as_deref().is_some_and(|decision| ["ask", "deny"].contains(&decision));
            self.total += u64::from(record.decision.is_some());
            self.stopped += u64::from(is_stop);
            self.lines.push_back(row(&record, self.styles));
        }
        let excess = self.lines.len().saturating_sub(MAX_LINES);
        self.lines.drain(..excess);
    }

    /// Replaces the questions. The selected one stays, as long as it waits.
    pub(super) fn ask(&mut self, questions: impl Iterator<Item = PendingQuestion>) {
        self.questions = questions.collect();
        let is_there = |name: &str| self.questions.iter().any(|one| one.name == name);
        if !self.selected.as_ref().is_some_and(|(name, _)| is_there(name)) {
            self.selected = self.questions.first().map(|first| (first.name.clone(), Instant::now()));
        }
    }

    /// Selects the next or the previous question.
    pub(super) fn select(&mut self, step: isize) {
        let at = self.position().unwrap_or_default().checked_add_signed(step);
        if let Some(question) = at.and_then(|at| self.questions.get(at)) {
            self.selected = Some((question.name.clone(), Instant::now()));
        }
    }

    /// Returns the name of the question that a key answers.
    pub(super) fn answerable(&self) -> Option<String> {
        let (name, since) = self.selected.as_ref()?;
        (since.elapsed() >= MIN_SHOWN).then(|| name.clone())
    }

    /// Shows a notice.
    pub(super) fn tell(&mut self, notice: String) {
        self.notice = notice;
    }

    fn position(&self) -> Option<usize> {
        let (name, _) = self.selected.as_ref()?;
        self.questions.iter().position(|one| one.name == *name)
    }

    /// Returns what to print on a terminal of this size.
    pub(super) fn draw(&self, columns: usize, rows: usize) -> String {
        let head = self.head();
        let foot = self.foot(columns);
        let room = rows.saturating_sub(foot.len() + 1);
        let first = self.lines.len().saturating_sub(room);
        let shown: Vec<&str> = self.lines.iter().skip(first).map(String::as_str).collect();
        let blank = room.saturating_sub(shown.len());
        let lines = std::iter::once(head.as_str())
            .chain(std::iter::repeat_n("", blank))
            .chain(shown)
            .chain(foot.iter().map(String::as_str));
        let mut out = "\u{1b}[H".to_owned();
        for (index, line) in lines.take(rows).enumerate() {
            let end = if index == 0 { "" } else { "\r\n" };
            write!(out, "{end}{line}\u{1b}[0m\u{1b}[K").ok();
        }
        out.push_str("\u{1b}[J");
        out
    }

    fn head(&self) -> String {
        let whose = self.agent.as_deref().unwrap_or("all agents");
        format!(
            "{}stockade watch: {whose}, {} decisions, {} asked about or denied{}",
            self.styles.strong, self.total, self.stopped, self.styles.reset
        )
    }

    fn foot(&self, columns: usize) -> Vec<String> {
        let mut out = Vec::new();
        if let Some((at, question)) = self.position().and_then(|at| Some((at, self.questions.get(at)?))) {
            let PendingQuestion { content, subject, reason, .. } = question;
            let left = remaining(question).as_secs();
            out.push(format!(
                "{}agent {} asks ({} of {}, for another {left} s), in {}{}",
                self.styles.warn,
                escape(&content.agent),
                at + 1,
                self.questions.len(),
                escape_path(&content.workspace),
                self.styles.reset
            ));
            // What is answered is never shown in part.
            out.extend(whole(subject, columns));
            out.push(format!("  {}", shown_within(reason, &(0..0), columns.saturating_sub(2))));
            out.push("a allow once   d deny   j/k next, previous   q quit".to_owned());
        } else {
            out.push(format!("no question waits   q quit   {}", escape(&self.notice)));
            return out;
        }
        if !self.notice.is_empty() {
            out.push(escape(&self.notice).into_owned());
        }
        out
    }
}

/// Returns a text in lines of this width.
fn whole(text: &str, columns: usize) -> Vec<String> {
    let shown: Vec<char> = escape(text).chars().collect();
    shown
        .chunks(columns.saturating_sub(4).max(16))
        .map(|line| format!("  {}", line.iter().collect::<String>()))
        .collect()
}
