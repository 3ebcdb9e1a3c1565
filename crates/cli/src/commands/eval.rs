//! `stockade eval`: evaluates an expression.
#![expect(clippy::disallowed_methods, reason = "writes to standard error")]

use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use stockade_guard::admission::{FileOptions, Source, read_text};
use stockade_guard::eval::{Data, ErrorKind, EvalError, EvalLimits};
use stockade_text::{escape, escape_lines, escape_path};

use crate::args::{Format, HELP};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use stockade_state::evaluation::{Evaluation, EvaluationKind, evaluate};
use stockade_text::to_printable_json;

const EXAMPLES: &str = "\
Examples:
  stockade eval 'xs.map(x => x * 2)' --vars '{\"xs\": [1, 2]}'      print the value as JSON
  stockade eval --condition 'score > 5' --vars @vars.json && ...  use the result as exit code
  stockade eval --template 'Hello {{name}}' --vars -              fill in {{...}} in a text";

const EXIT_CODES: &str = "\
Exit codes:
  0  the expression has a value; with --condition: it is true
  1  the expression failed or used an undefined name; with --condition: it is false
  2  the command line, the variables or the expression cannot be parsed
  3  a limit was reached, or the variables could not be read: the value is unknown

The source is a JavaScript expression, or statements with a completion value as in JavaScript's `eval`. It can access its variables and
nothing else: no files, no network, no processes, no prototypes. In a template, a marker that fails is left as it is.";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct EvalArgs {
    /// Expression, or with --template the text; - for standard input
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    expr: String,

    /// Variables as a JSON object; @FILE reads a file, - standard input
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    vars: Option<String>,

    /// Print true or false and use it as the exit code; errors count as false
    #[arg(long, conflicts_with_all = ["template", "asynchronous"])]
    condition: bool,

    /// Fill in each {{expression}} of a text
    #[arg(long, conflicts_with = "asynchronous")]
    template: bool,

    /// Allow `await` and `return` at the top level
    #[arg(long = "async")]
    asynchronous: bool,

    /// Output format; json has the value or the error
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    #[command(flatten)]
    bounds: Bounds,
}

/// Limits and inputs of an evaluation.
#[derive(Debug, clap::Args)]
struct Bounds {
    /// Maximum number of steps
    #[arg(long, value_name = "N", default_value_t = EvalLimits::default().max_steps)]
    max_steps: u64,

    /// Maximum bytes of all values
    #[arg(long, value_name = "N", default_value_t = EvalLimits::default().max_bytes)]
    max_bytes: usize,

    /// Maximum bytes of the result
    #[arg(long, value_name = "N", default_value_t = EvalLimits::default().max_output)]
    max_output: usize,

    /// Time limit in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 5000)]
    timeout: u64,

    /// Seed of Math.random(), which is refused without one
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Value of Date.now() in milliseconds since 1970 [default: the current time]
    #[arg(long, value_name = "MS", allow_hyphen_values = true)]
    now: Option<f64>,
}

/// Runs the command.
pub(crate) fn run(args: &EvalArgs) -> Result<Exit, Failure> {
    let takes_stdin = |text: &str| text == "-";
    if takes_stdin(&args.expr) && args.vars.as_deref().is_some_and(takes_stdin) {
        return Err(Failure::usage("standard input cannot be both the expression and the variables")
            .with_help("move one of them to a file: --vars @FILE"));
    }
    let source = if takes_stdin(&args.expr) { read(None)? } else { args.expr.clone() };
    let vars = args.vars.as_deref().map_or(Ok(Vec::new()), variables)?;
    let outcome = evaluate(&Evaluation {
        ask: args.ask(),
        source: &source,
        vars: &vars,
        limits: args.bounds.limits(&source),
        timeout: Duration::from_millis(args.bounds.timeout),
        now_ms: args.bounds.now,
        seed: args.bounds.seed,
    });
    let exit = exit(args, &outcome);
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(&printed(args, &outcome));
    if let (Err(error), Format::Text) = (&outcome, args.format) {
        io::stderr().write_all(report(args, &source, error).as_bytes()).ok();
    }
    output.finish(exit)
}

impl EvalArgs {
    fn ask(&self) -> EvaluationKind {
        match (self.condition, self.template, self.asynchronous) {
            (true, ..) => EvaluationKind::Condition,
            (_, true, _) => EvaluationKind::Template,
            (.., true) => EvaluationKind::Awaited,
            _ => EvaluationKind::Value,
        }
    }
}

impl Bounds {
    fn limits(&self, source: &str) -> EvalLimits {
        EvalLimits {
            max_steps: self.max_steps,
            max_bytes: self.max_bytes,
            // The output of a template includes its own text, so it may be at least that long.
            max_output: self.max_output.max(source.len().min(self.max_bytes)),
            ..EvalLimits::default()
        }
    }
}

fn exit(args: &EvalArgs, outcome: &Result<Data, EvalError>) -> Exit {
    match outcome {
        Ok(value) if args.condition && !value.is_truthy() => Exit::Found,
        Ok(_) => Exit::Clean,
        Err(_) if args.condition => Exit::Found,
        Err(error) if error.kind.is_limit() => Exit::Incomplete,
        Err(error) if error.kind == ErrorKind::Syntax => Exit::Usage,
        Err(_) => Exit::Found,
    }
}

/// Returns the standard output.
fn printed(args: &EvalArgs, outcome: &Result<Data, EvalError>) -> String {
    match (args.format, outcome) {
        (Format::Json, outcome) => {
            let value = outcome.as_ref().ok().or(args.condition.then_some(&Data::Bool(false)));
            format!("{}\n", to_printable_json(&Answer { value, error: outcome.as_ref().err() }))
        }
        (Format::Text, Ok(Data::Undefined)) => "undefined\n".to_owned(),
        (Format::Text, Ok(Data::Text(text))) => format!("{}\n", escape_lines(text)),
        (Format::Text, Ok(value)) => format!("{}\n", to_printable_json(value)),
        (Format::Text, Err(_)) if args.condition => "false\n".to_owned(),
        (Format::Text, Err(_)) => String::new(),
    }
}

/// The result as JSON.
#[derive(Serialize)]
struct Answer<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a Data>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a EvalError>,
}

/// Reports why there is no value, with the position and a fix.
fn report(args: &EvalArgs, source: &str, error: &EvalError) -> String {
    let label = if args.condition { "false" } else { "error" };
    let mut text = format!("{label}: {}: {}\n", error.kind, escape(&error.message));
    let place = error.span.filter(|_| args.ask() != EvaluationKind::Template);
    if let Some(part) =
        place.and_then(|span| source.get(span.start..span.end)).filter(|part| !part.is_empty())
    {
        let line: String = part.lines().next().unwrap_or_default().chars().take(60).collect();
        text.push_str(&format!("   at: {}\n", escape(&line)));
    }
    if let Some(fix) = &error.fix {
        text.push_str(&format!("  help: {}\n", escape(fix)));
    }
    text
}

/// Reads the variables.
fn variables(given: &str) -> Result<Vec<(String, Data)>, Failure> {
    let text = match (given, given.strip_prefix('@')) {
        ("-", _) => read(None)?,
        (_, Some(path)) => read(Some(Path::new(path)))?,
        (text, None) => text.to_owned(),
    };
    let wrong = |why: &dyn std::fmt::Display| {
        Failure::usage(format_args!("invalid JSON object for --vars: {why}"))
            .with_help("write --vars '{\"name\": \"value\"}', or --vars @FILE")
    };
    match serde_json::from_str::<Data>(&text) {
        Ok(Data::Object(fields)) => Ok(fields),
        Ok(_) => Err(wrong(&"not an object")),
        Err(error) => Err(wrong(&error)),
    }
}

/// Reads a file, or standard input.
fn read(path: Option<&Path>) -> Result<String, Failure> {
    let source = match path {
        Some(path) => Source::Path(path.to_path_buf()),
        None => Source::Stdin { name: "stdin".into() },
    };
    let name = match &source {
        Source::Path(path) | Source::Stdin { name: path } => escape_path(path),
    };
    let options = FileOptions { max_file_bytes: 16 << 20, ..FileOptions::default() };
    match read_text(&source, &options) {
        Ok(file) => Ok(file.text),
        Err(gap) => Err(Failure::incomplete(format_args!("{name}: {gap}"))),
    }
}
