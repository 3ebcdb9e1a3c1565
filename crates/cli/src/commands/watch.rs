//! `stockade watch`: decisions as they are made, and the questions of agents whose own program cannot ask.
#![expect(clippy::disallowed_methods, reason = "follows the trail, and reads keys of a terminal")]

mod raw_terminal;
mod row;
mod screen;

use std::io::{self, IsTerminal as _, Write as _};
use std::ops::ControlFlow;
use std::thread;
use std::time::Duration;

use stockade_guard::audit::{AuditQuery, AuditRecord, AuditTrail, MAX_QUERY};
use stockade_state::agents::parse_name;
use stockade_state::questions::{self, Answered, QuestionAnswer};

use super::audit;
use crate::args::HELP;
use crate::exit::Exit;
use crate::failure::{Failure, with_causes};
use crate::output::{Output, styles};
use crate::render::style::ColorChoice;
use raw_terminal::{Key, RawTerminal};
pub(super) use row::is_shown;
use row::row;
use screen::Screen;

const EXAMPLES: &str = "\
Examples:
  stockade watch            show decisions of all agents, and answer questions: a allows once, d denies, q quits
  stockade watch codex      those of one agent
  stockade watch | grep deny   without a terminal: a line for each decision";

const MORE: &str = "\
Exit codes:
  0  ended by q or by a signal
  2  the command line is wrong
  3  the audit trail could not be read, or not be shown

While it runs in a terminal, the hooks of agents whose own program cannot ask (see HARNESSES.md) wait eight seconds for an answer. A later
answer, within ten minutes, is for the next call with exactly the same arguments. An answer is for one call, and is recorded. Without a
terminal, nothing is asked.";

/// How long it waits for a key before it looks for new records.
const PAUSE: Duration = Duration::from_millis(200);

/// Show decisions as they are made, and answer waiting questions
#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = MORE)]
pub(crate) struct WatchArgs {
    /// Agent [default: all agents]
    #[arg(value_name = "AGENT", value_parser = parse_name)]
    agent: Option<String>,

    /// Number of earlier decisions to begin with
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    limit: usize,
}

/// Runs the command.
pub(crate) fn run(args: &WatchArgs, color: ColorChoice) -> Result<Exit, Failure> {
    let follow = Follow::of(args);
    match io::stdin().is_terminal() && io::stdout().is_terminal() {
        true => in_terminal(follow, args, color),
        false => as_lines(follow, color),
    }
}

/// Reads new decisions from the trail, which may not exist yet, or only just be created.
pub(super) struct Follow {
    trail: Option<AuditTrail>,
    query: AuditQuery,
    /// How often in a row it could not be read.
    failures: u32,
}

/// Number of failures in a row after which the trail counts as unreadable.
const MAX_FAILURES: u32 = 25;

impl Follow {
    fn of(args: &WatchArgs) -> Self {
        Self::new(args.agent.clone(), args.limit)
    }

    /// Follows the decisions of an agent, or of all agents, from this number of earlier ones on.
    pub(super) fn new(agent: Option<String>, limit: usize) -> Self {
        let query = AuditQuery { agent, limit: limit.min(MAX_QUERY), ..AuditQuery::default() };
        Self { trail: None, query, failures: 0 }
    }

    /// Returns the new decisions and answers, the newest last.
    pub(super) fn next(&mut self) -> Result<Vec<AuditRecord>, Failure> {
        match self.read() {
            Ok(records) => {
                self.failures = 0;
                Ok(records)
            }
            // A watch that ends would no longer be asked.
            Err(_) if self.failures < MAX_FAILURES => {
                self.failures += 1;
                self.trail = None;
                Ok(Vec::new())
            }
            Err(failure) => Err(failure),
        }
    }

    fn read(&mut self) -> Result<Vec<AuditRecord>, Failure> {
        if self.trail.is_none() {
            let path = audit::path(None)?;
            self.trail = if path.exists() { Some(audit::open(Some(path))?) } else { None };
        }
        let Some(trail) = &self.trail else { return Ok(Vec::new()) };
        let mut records =
            trail.query(&self.query).map_err(|error| Failure::incomplete(with_causes(&error)))?;
        records.reverse();
        self.query.behind = records.last().map(|record| record.id).or(self.query.behind);
        self.query.limit = MAX_QUERY;
        records.retain(is_shown);
        Ok(records)
    }
}

fn as_lines(mut follow: Follow, color: ColorChoice) -> Result<Exit, Failure> {
    let (mut output, styles) = (Output::new(), styles(color));
    loop {
        let lines: String =
            follow.next()?.iter().map(|record| format!("{}\n", row(record, styles))).collect();
        if output.write(&lines).is_break() || output.flush().is_break() {
            return output.finish(Exit::Clean);
        }
        thread::sleep(PAUSE);
    }
}

fn in_terminal(mut follow: Follow, args: &WatchArgs, color: ColorChoice) -> Result<Exit, Failure> {
    let unusable = |error: io::Error| Failure::incomplete(format_args!("cannot use the terminal: {error}"));
    let _watching = questions::start_watching()?;
    let mut screen = Screen::new(args.agent.clone(), styles(color));
    let terminal = RawTerminal::open().map_err(unusable)?;
    loop {
        screen.add(follow.next()?);
        let asked = questions::pending()?;
        screen.ask(
            asked
                .into_iter()
                .filter(|one| args.agent.as_ref().is_none_or(|agent| one.content.agent == *agent)),
        );
        let (columns, rows) = terminal.size();
        let mut out = io::stdout().lock();
        let shown = out.write_all(screen.draw(columns, rows).as_bytes()).and_then(|()| out.flush());
        shown.map_err(unusable)?;
        drop(out);
        if let Some(key) = terminal.key(PAUSE).map_err(unusable)?
            && press(&mut screen, key)?.is_break()
        {
            return Ok(Exit::Clean);
        }
    }
}

fn press(screen: &mut Screen, key: Key) -> Result<ControlFlow<()>, Failure> {
    let answer = match key {
        Key::Quit => return Ok(ControlFlow::Break(())),
        Key::Next => {
            screen.select(1);
            return Ok(ControlFlow::Continue(()));
        }
        Key::Previous => {
            screen.select(-1);
            return Ok(ControlFlow::Continue(()));
        }
        Key::Allow => QuestionAnswer::Allow,
        Key::Deny => QuestionAnswer::Deny,
    };
    let Some(name) = screen.answerable() else { return Ok(ControlFlow::Continue(())) };
    screen.tell(match questions::answer(&name, answer)? {
        Answered::Now(question) => format!("{}: {}", told(answer), question.subject),
        Answered::Before(_) => "that question was answered before".to_owned(),
        Answered::Expired => "that question has expired".to_owned(),
    });
    Ok(ControlFlow::Continue(()))
}

const fn told(answer: QuestionAnswer) -> &'static str {
    match answer {
        QuestionAnswer::Allow => "allowed once",
        QuestionAnswer::Deny => "denied",
    }
}
