//! `stockade learn`: proposes the narrowest approvals for what an agent was asked about or refused.
#![expect(clippy::disallowed_methods, reason = "reads the clock, the current directory and where it leads")]

mod counted;
mod shown;
mod sources;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::SystemTime;

use stockade_guard::audit::Timestamp;
use stockade_state::agents::parse_name;
use stockade_state::approvals::ApprovalChange;
use stockade_state::learn::{Learned, Learner};
use stockade_state::when::parse_when;

use crate::args::{Format, HELP};
use crate::confirm::confirmed;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use counted::Counted;
use sources::Source;

const EXAMPLES: &str = "\
Examples:
  stockade install claude --observe    record what the rules would refuse
  stockade learn claude                propose approvals for what was refused or asked about in the last seven days
  stockade learn claude --apply        add them after one question
  stockade learn codex --from codex    learn from the transcripts of Codex alone
  stockade learn claude --since 1d --format json";

const MORE: &str = "\
Exit codes:
  0  done, or nothing to propose
  1  not confirmed
  2  the command line or the configuration is wrong, or the agent is unknown; nothing was changed
  3  a source could not be read completely, or an approval could not be added

Sources are the audit trail, and the transcripts of Claude Code (~/.claude/projects) and Codex (~/.codex/sessions) for the agents claude
and codex. Each call is decided again with today's rules. A proposal is what 'stockade allow' would add: exactly the words of a command, one
host, one tool or one file. It is tried before it is shown. Never proposed is what no rule can allow, such as credentials or code
that is only known at run time, and what a rule denies. An agent may have made calls in order to have them proposed: read each line.
'stockade undo' takes approvals back one by one.";

/// Propose approvals for what an agent was refused or asked about
#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = MORE)]
pub(crate) struct LearnArgs {
    /// Agent [default: every agent of the sources]
    #[arg(value_name = "AGENT", value_parser = parse_name)]
    agent: Option<String>,

    /// Only calls since: 2026-11-21, 2026-11-21T09:30, or an age such as 2h or 7d
    #[arg(long, value_name = "WHEN", default_value = "7d", value_parser = since)]
    since: Timestamp,

    /// Source: trail, claude, codex, or the file of a transcript; may be repeated [default: the trail, and the agent's transcripts]
    #[arg(long, value_name = "SOURCE", value_parser = sources::parse)]
    from: Vec<Source>,

    /// Add the proposed approvals to your configuration, after confirmation at a terminal
    #[arg(long)]
    apply: bool,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text", conflicts_with = "apply")]
    format: Format,
}

/// What is proposed to one agent.
#[derive(Debug)]
struct Lesson {
    agent: String,
    /// Number of calls, and how many of the different needs today's rules answer.
    calls: u64,
    allowed: usize,
    proposed: Vec<Proposal>,
    never: Vec<(Counted, String)>,
}

/// An approval that would answer a need.
#[derive(Debug)]
struct Proposal {
    counted: Counted,
    change: ApprovalChange,
    /// Why it is stopped today.
    reason: String,
}

fn since(text: &str) -> Result<Timestamp, String> {
    parse_when(text, SystemTime::now().into())
}

/// Runs the command.
pub(crate) fn run(args: &LearnArgs) -> Result<Exit, Failure> {
    let here = std::env::current_dir().and_then(std::fs::canonicalize);
    let here =
        here.map_err(|error| Failure::usage(format_args!("cannot use the current directory: {error}")))?;
    let seen = sources::read(args, &here)?;
    let mut lessons = Vec::new();
    for (agent, needs) in seen.by_agent {
        lessons.push(lesson(agent, needs)?);
    }
    let exit = if seen.problems.is_empty() { Exit::Clean } else { Exit::Incomplete };
    let mut output = Output::new();
    let text = match args.format {
        Format::Json => shown::json(&lessons, &seen.problems),
        Format::Text => shown::text(&lessons, &seen.problems, args.agent.as_deref(), args.apply),
    };
    let _: ControlFlow<()> = output.write(&text);
    if !args.apply || lessons.iter().all(|lesson| lesson.proposed.is_empty()) {
        return output.finish(exit);
    }
    // The user reads what is added before the question.
    let _: ControlFlow<()> = output.flush();
    let count: usize = lessons.iter().map(|lesson| lesson.proposed.len()).sum();
    let question = format!("Add {count} approval{}? [y/N] ", if count == 1 { "" } else { "s" });
    if !confirmed(&question, "run it yourself in a terminal; a program cannot confirm it")? {
        return Err(Failure::found("nothing was changed: not confirmed"));
    }
    let (added, is_whole) = applied(&lessons)?;
    let _: ControlFlow<()> = output.write(&added);
    output.finish(if is_whole { exit } else { Exit::Incomplete })
}

fn lesson(agent: String, needs: Vec<Counted>) -> Result<Lesson, Failure> {
    let learner = Learner::open(&agent)?;
    let mut lesson = Lesson { agent, calls: 0, allowed: 0, proposed: Vec::new(), never: Vec::new() };
    for counted in needs {
        lesson.calls += counted.count();
        let learned = match (&counted.need, &counted.stopped) {
            (Some(need), _) => learner.answer(need, &counted.workspace),
            (None, reason) => Learned::Never(reason.clone()),
        };
        match learned {
            Learned::Allowed => lesson.allowed += 1,
            Learned::Proposed { change, reason } => {
                lesson.proposed.push(Proposal { counted, change, reason });
            }
            Learned::Never(reason) => lesson.never.push((counted, reason)),
        }
    }
    lesson.proposed.sort_by(|one, other| one.counted.order(&other.counted));
    lesson.never.sort_by(|(one, _), (other, _)| one.order(other));
    Ok(lesson)
}

/// Adds the proposed approvals, and returns the output and whether all were added.
fn applied(lessons: &[Lesson]) -> Result<(String, bool), Failure> {
    let (mut out, mut is_whole) = (String::new(), true);
    for lesson in lessons {
        let learner = Learner::open(&lesson.agent)?;
        for Proposal { counted, .. } in &lesson.proposed {
            let Some(need) = &counted.need else { continue };
            match learner.apply(need, &counted.workspace) {
                Ok(change) => out.push_str(&shown::added(&change)),
                Err(error) => {
                    is_whole = false;
                    out.push_str(&shown::not_added(need, &error.to_string()));
                }
            }
        }
    }
    out.push_str("  = take the last one back: stockade undo\n");
    Ok((out, is_whole))
}

/// Returns the home directory, below which the transcripts are.
fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute())
}
