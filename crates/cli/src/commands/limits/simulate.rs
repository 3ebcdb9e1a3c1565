//! `stockade limits simulate`: replays calls against limits.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;
use stockade_guard::admission::{FileOptions, Source, read_text};
use stockade_guard::limits_replay::script::{LimitScript, run_script};
use stockade_guard::limits_replay::simulate::{SimulatedEvent, SimulatedStep, Trace, chart, simulate};
use stockade_text::{escape, escape_lines, escape_path};

use crate::args::Format;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use stockade_text::to_printable_json;

const EXIT_CODES: &str = "\
Exit codes:
  0  nothing was refused
  1  something was refused
  2  the script is wrong
  3  the script could not be read

A trace holds the limits and the calls, each with its time, tool, and what it may and does cost:

  {\"limits\": {\"budget\": {\"perExecution\": 20000}, \"breaker\": {\"failureThreshold\": 3}, \"maxSteps\": 50},
   \"calls\": [{\"atMs\": 0, \"tool\": \"web_fetch\", \"estimate\": 9000, \"used\": 7000, \"takesMs\": 800},
             {\"atMs\": 500, \"tool\": \"bash\", \"estimate\": 4000, \"error\": \"timeout\"}]}

A script drives one limit alone:

  {\"component\": \"breaker\", \"config\": {\"failureThreshold\": 1},
   \"script\": [{\"atMs\": 0, \"op\": \"recordFailure\"}, {\"atMs\": 5, \"op\": \"isOpen\"}]}";

const FORM: &str = "`stockade limits simulate --help` shows the format of traces and scripts";

/// Replay a trace of calls, or a script for one limit, step by step
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct SimulateArgs {
    /// Trace or script in JSON; - for standard input
    #[arg(value_name = "SCRIPT")]
    script: PathBuf,
}

/// Runs the command.
pub(super) fn run(args: &SimulateArgs, format: Format) -> Result<Exit, Failure> {
    let (name, text) = read(&args.script)?;
    let wrong =
        |error: &dyn std::fmt::Display| Failure::usage(format_args!("{name}: {error}")).with_help(FORM);
    if text.trim().is_empty() {
        return Err(wrong(&"empty input, expected a trace or a script in JSON"));
    }
    let document: Value = serde_json::from_str(&text).map_err(|error| wrong(&error))?;
    if !document.is_object() {
        return Err(wrong(&"expected a JSON object with a trace or a script"));
    }
    let replayed = if document.get("component").is_some() {
        // Parsed from the text again, so that an error has its position.
        let script: LimitScript = serde_json::from_str(&text).map_err(|error| wrong(&error))?;
        let results = run_script(&script).map_err(|error| wrong(&error))?;
        Replayed::Script { script, results }
    } else {
        let trace: Trace = serde_json::from_str(&text).map_err(|error| wrong(&error))?;
        Replayed::Trace(simulate(&trace).map_err(|error| wrong(&error))?)
    };
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(&match format {
        Format::Text => replayed.text(),
        Format::Json => replayed.json(),
    });
    output.finish(if replayed.refusals() > 0 { Exit::Found } else { Exit::Clean })
}

/// The result of the simulated calls.
enum Replayed {
    Trace(Vec<SimulatedStep>),
    Script { script: LimitScript, results: Vec<Value> },
}

impl Replayed {
    fn refusals(&self) -> usize {
        match self {
            Self::Trace(steps) => {
                steps.iter().filter(|step| matches!(step.event, SimulatedEvent::Refused { .. })).count()
            }
            Self::Script { results, .. } => {
                results.iter().filter(|result| result.get("error").is_some()).count()
            }
        }
    }

    fn text(&self) -> String {
        let steps = match self {
            Self::Trace(steps) => chart(steps),
            Self::Script { script, results } => answers(script, results),
        };
        if steps.is_empty() {
            return "nothing was replayed: the trace has no calls\n".to_owned();
        }
        let refused = match self.refusals() {
            0 => "nothing was refused".to_owned(),
            1 => "1 call was refused".to_owned(),
            many => format!("{many} calls were refused"),
        };
        format!("{}\n{refused}\n", escape_lines(&steps))
    }

    fn json(&self) -> String {
        #[derive(Serialize)]
        struct Steps<'s> {
            steps: &'s [SimulatedStep],
        }
        #[derive(Serialize)]
        struct Results<'r> {
            results: &'r [Value],
        }
        match self {
            Self::Trace(steps) => format!("{}\n", to_printable_json(&Steps { steps })),
            Self::Script { results, .. } => format!("{}\n", to_printable_json(&Results { results })),
        }
    }
}

/// Formats an event as a line: time, event, and answer.
fn answers(script: &LimitScript, results: &[Value]) -> String {
    let lines = script.script.iter().zip(results).map(|(step, result)| {
        let seconds = step.at_ms as f64 / 1e3;
        let arguments = Value::from(step.args.clone());
        let event = format!(
            "{} {}",
            step.op,
            if step.args.is_empty() { String::new() } else { arguments.to_string() }
        );
        let answer = if result.is_null() { String::new() } else { result.to_string() };
        format!("{seconds:>9.3}s  {:<32}  {}", escape(&event), escape(&answer)).trim_end().to_owned() + "\n"
    });
    lines.collect()
}

fn read(script: &Path) -> Result<(String, String), Failure> {
    let (source, name) = match script {
        path if path == Path::new("-") => (Source::Stdin { name: "stdin".into() }, "stdin".to_owned()),
        path => (Source::Path(path.to_path_buf()), escape_path(path)),
    };
    match read_text(&source, &FileOptions::default()) {
        Ok(file) => Ok((name, file.text)),
        Err(gap) => Err(Failure::incomplete(format_args!("{name}: {gap}"))),
    }
}
