//! `stockade audit`: what was allowed, refused and run.
#![expect(clippy::disallowed_methods, reason = "reads the clock, and waits for new records")]

mod receipts;
mod rotate;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use clap::{Subcommand, ValueEnum};
use serde::Serialize;
use stockade_guard::audit::{
    AuditError, AuditQuery, AuditRecord, AuditTrail, EventSeverity, Head, MAX_QUERY, Reference, Registered,
    Timestamp, Verified, private::default_register_folder, to_ocsf, to_otlp,
};

use crate::args::{Format, HELP};
use crate::exit::Exit;
use crate::failure::{Failure, with_causes};
use crate::output::{Output, styles};
use crate::render::audit_text;
use crate::render::style::ColorChoice;
use stockade_state::when::parse_when;
use stockade_text::to_printable_json;

const EXAMPLES: &str = "\
Examples:
  stockade audit query                              the last twenty records, the newest first
  stockade audit query --event 'sandbox_%' --since 2h
  stockade audit query --skill builder --severity warn
  stockade audit tail --follow                      see records as they are written
  stockade audit verify                             find whatever was edited, removed or moved
  stockade audit verify --against /mnt/other/audit.checkpoints
                                                    and compare with what was kept elsewhere
  stockade audit receipt 42 > receipt.json          for somebody who has not the trail
  stockade audit export --as ocsf > events.jsonl    for a collector";

const EXIT_CODES: &str = "\
Exit codes:
  0  for verify: the trail is as it was written
  1  for verify and check-receipt: something is not as it was written
  2  the command line is wrong
  3  the trail could not be read, or not all of it

The trail of this user is stockade/audit.db in $XDG_STATE_HOME or ~/.local/state. It is an SQLite database, so any tool
reads it, also while it is written to:

  SELECT * FROM audit_events WHERE event LIKE 'sandbox_%' ORDER BY timestamp DESC LIMIT 10;

A register beside it, in stockade/trails, knows where each trail ends and seals each record with a key that moves on: verify asks
it by itself. At the end of each run, and every 64 records, a checkpoint is signed and put into FILE.checkpoints; copy that
to another place now and then, or let `audit.anchors` of the configuration do so.";

/// How many records a request to a collector has at most.
const AT_ONCE: usize = 512;

/// How often new records are looked for.
const PAUSE: Duration = Duration::from_millis(250);

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    command: AuditCommand,

    /// The trail: an SQLite database, or lines of JSON in a file that ends in .jsonl [default: that of this user]
    #[arg(long, global = true, value_name = "FILE")]
    file: Option<PathBuf>,

    /// How to print
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Debug, Subcommand)]
enum AuditCommand {
    /// Show the newest records that fit, the newest first
    Query(Filter),
    /// Show the newest records, the newest last
    Tail {
        /// How many
        #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
        limit: usize,

        /// Go on with those that come, until interrupted
        #[arg(short, long)]
        follow: bool,
    },
    /// Check that every record is as it was written, and follows the one before
    Verify {
        /// A record that must be there, as an earlier verify has printed it: NUMBER:DIGEST
        #[arg(long, value_name = "RECORD", value_parser = parse_head)]
        expect: Option<Head>,

        /// What was kept elsewhere: checkpoints of this trail, or an earlier copy of it; the first record that differs is named
        #[arg(long, value_name = "FILE", conflicts_with = "expect")]
        against: Option<PathBuf>,
    },
    /// Print a receipt of one record: that it was on record when a checkpoint was signed
    Receipt {
        /// The number of the record
        #[arg(value_name = "NUMBER")]
        id: u64,
    },
    /// Check a receipt, without the trail that it is from
    CheckReceipt {
        /// The receipt
        #[arg(value_name = "RECEIPT")]
        receipt: PathBuf,

        /// The key of the checkpoint, as its owner told it: NAME+ID+KEY
        #[arg(long, value_name = "KEY")]
        key: String,
    },
    /// Set the trail aside, under another name, and begin a new one in its place, which says so
    Rotate {
        /// The other name [default: the name of the trail and the time]
        #[arg(long, value_name = "NAME")]
        to: Option<PathBuf>,
    },
    /// Print every record as a line of JSON, the oldest first
    Export {
        /// The form
        #[arg(long = "as", value_name = "FORM", default_value = "jsonl")]
        form: Form,
    },
}

/// Which records to show.
#[derive(Debug, clap::Args)]
struct Filter {
    /// Of this event; % stands for any characters
    #[arg(long, visible_alias = "kind", value_name = "PATTERN")]
    event: Option<String>,

    /// Not before: 2026-11-21, 2026-11-21T09:30, or how long ago, such as 90s, 30m, 2h or 7d
    #[arg(long, value_name = "WHEN", value_parser = parse_when_now)]
    since: Option<Timestamp>,

    /// Before, in the same forms
    #[arg(long, value_name = "WHEN", value_parser = parse_when_now)]
    until: Option<Timestamp>,

    /// Of this run
    #[arg(long, value_name = "RUN")]
    run: Option<String>,

    /// Of this agent
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,

    /// Of this skill
    #[arg(long, value_name = "SKILL")]
    skill: Option<String>,

    /// Of this severity or a higher one: info, warn, high
    #[arg(long, value_name = "SEVERITY", value_parser = parse_severity)]
    severity: Option<EventSeverity>,

    /// At most so many, up to 1000
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

/// What an export is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// The records as they are
    Jsonl,
    /// Events of the Open Cybersecurity Schema Framework
    Ocsf,
    /// Logs of OpenTelemetry: each line is a request that a collector takes at /v1/logs
    Otlp,
}

/// Runs the command.
pub(crate) fn run(args: &AuditArgs, color: ColorChoice) -> Result<Exit, Failure> {
    let (format, trail) = (args.format, || open(args.file.clone()));
    match &args.command {
        AuditCommand::Query(filter) => query(&trail()?, filter, format, color),
        AuditCommand::Tail { limit, follow } => tail(&trail()?, *limit, *follow, format, color),
        AuditCommand::Verify { expect, against } => {
            verify(&trail()?, expect.as_ref(), against.as_deref(), format, color)
        }
        AuditCommand::Receipt { id } => receipts::print(&trail()?, *id),
        AuditCommand::CheckReceipt { receipt, key } => receipts::check(receipt, key, format),
        AuditCommand::Rotate { to } => rotate::rotate(&path(args.file.clone())?, to.as_deref(), format),
        AuditCommand::Export { form } => export(&trail()?, *form),
    }
}

pub(super) fn path(file: Option<PathBuf>) -> Result<PathBuf, Failure> {
    file.or_else(AuditTrail::default_path).ok_or_else(|| {
        Failure::usage("neither XDG_STATE_HOME nor HOME says where your audit trail is")
            .with_help("name it with --file")
    })
}

pub(super) fn open(file: Option<PathBuf>) -> Result<AuditTrail, Failure> {
    let path = path(file)?;
    let opened = AuditTrail::open_to_read_beside(&path, default_register_folder().as_deref());
    if let Err(error @ AuditError::Disagrees { .. }) = &opened {
        return Err(Failure::found(error));
    }
    if !path.exists() {
        let nothing = Failure::incomplete(format_args!("there is no audit trail in {}", path.display()));
        return Err(nothing.with_help(
            "it begins with 'stockade run', 'serve' or 'exec --audit'; name another with --file",
        ));
    }
    opened.map_err(|error| unreadable(&error))
}

fn unreadable(error: &AuditError) -> Failure {
    Failure::incomplete(with_causes(error))
}

fn query(trail: &AuditTrail, filter: &Filter, format: Format, color: ColorChoice) -> Result<Exit, Failure> {
    let records = trail.query(&filter.query()).map_err(|error| unreadable(&error))?;
    let printed = match format {
        Format::Json => format!("{}\n", to_printable_json(&Events { events: &records })),
        Format::Text if records.is_empty() => "no record fits\n".to_owned(),
        Format::Text => lines(&records, color),
    };
    finish(&printed, Exit::Clean)
}

#[derive(Serialize)]
struct Events<'r> {
    events: &'r [AuditRecord],
}

impl Filter {
    fn query(&self) -> AuditQuery {
        AuditQuery {
            event: self.event.clone(),
            since: self.since,
            until: self.until,
            run: self.run.clone(),
            agent: self.agent.clone(),
            skill: self.skill.clone(),
            severity: self.severity,
            limit: self.limit,
            ..AuditQuery::default()
        }
    }
}

fn tail(
    trail: &AuditTrail,
    limit: usize,
    follow: bool,
    format: Format,
    color: ColorChoice,
) -> Result<Exit, Failure> {
    let mut output = Output::new();
    let mut asked = AuditQuery { limit, ..AuditQuery::default() };
    loop {
        let mut records = trail.query(&asked).map_err(|error| unreadable(&error))?;
        records.reverse();
        let printed = match format {
            Format::Text => lines(&records, color),
            Format::Json => records.iter().map(|record| format!("{}\n", to_printable_json(record))).collect(),
        };
        if output.write(&printed).is_break() || output.flush().is_break() || !follow {
            return output.finish(Exit::Clean);
        }
        asked.behind = records.last().map(|record| record.id).or(asked.behind);
        asked.limit = MAX_QUERY;
        thread::sleep(PAUSE);
    }
}

fn verify(
    trail: &AuditTrail,
    expect: Option<&Head>,
    against: Option<&Path>,
    format: Format,
    color: ColorChoice,
) -> Result<Exit, Failure> {
    let verified = match against {
        None => trail.verify(expect),
        Some(file) => trail.verify_against(&Reference::read(file).map_err(|why| {
            Failure::incomplete(format_args!("cannot compare with {}: {why}", file.display()))
        })?),
    };
    let verified = verified.map_err(|error| unreadable(&error))?;
    let printed = match format {
        Format::Text => audit_text::verified(&verified, styles(color)),
        Format::Json => format!("{}\n", to_printable_json(&Answer::of(&verified))),
    };
    finish(&printed, if verified.intact() { Exit::Clean } else { Exit::Found })
}

/// What verify says, for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    intact: bool,
    records: u64,
    open_runs: usize,
    last: String,
    /// How many records the register of this user knows; none where it knows nothing of this trail.
    registered: Option<u64>,
    checkpoints: usize,
    faults: Vec<FaultRow>,
    faults_left_out: usize,
}

#[derive(Serialize)]
struct FaultRow {
    id: u64,
    reason: String,
}

impl Answer {
    fn of(verified: &Verified) -> Self {
        let row = |fault: &stockade_guard::audit::Fault| FaultRow { id: fault.id, reason: fault.to_string() };
        Self {
            intact: verified.intact(),
            records: verified.records,
            open_runs: verified.open_runs,
            last: audit_text::head(&verified.head),
            registered: match verified.registered {
                Registered::Known(records) => Some(records),
                _ => None,
            },
            checkpoints: verified.checkpoints,
            faults: verified.faults.iter().map(row).collect(),
            faults_left_out: verified.faults_left_out,
        }
    }
}

fn export(trail: &AuditTrail, form: Form) -> Result<Exit, Failure> {
    let (mut output, host) = (Output::new(), host());
    let mut waiting = Vec::new();
    let exported = trail.each(|record| {
        output.write(&match form {
            Form::Jsonl => format!("{}\n", to_printable_json(&record)),
            Form::Ocsf => format!("{}\n", to_printable_json(&to_ocsf(&record, &host))),
            Form::Otlp => {
                waiting.push(record);
                let request =
                    (waiting.len() == AT_ONCE).then(|| to_otlp(&std::mem::take(&mut waiting), &host));
                request.map(|request| format!("{}\n", to_printable_json(&request))).unwrap_or_default()
            }
        })
    });
    if !waiting.is_empty() {
        let _: ControlFlow<()> = output.write(&format!("{}\n", to_printable_json(&to_otlp(&waiting, &host))));
    }
    // What was exported before the damage is worth having.
    let exit = output.finish(Exit::Clean)?;
    exported.map(|()| exit).map_err(|error| unreadable(&error))
}

/// The name of this machine.
fn host() -> String {
    let named = ["/proc/sys/kernel/hostname", "/etc/hostname"].map(std::fs::read_to_string);
    let named = named.into_iter().flatten().map(|name| name.trim().to_owned()).find(|name| !name.is_empty());
    named.unwrap_or_else(|| "localhost".to_owned())
}

fn lines(records: &[AuditRecord], color: ColorChoice) -> String {
    let styles = styles(color);
    records.iter().map(|record| audit_text::line(record, styles)).collect()
}

fn finish(printed: &str, exit: Exit) -> Result<Exit, Failure> {
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(printed);
    output.finish(exit)
}

fn parse_when_now(text: &str) -> Result<Timestamp, String> {
    parse_when(text, SystemTime::now().into())
}

fn parse_severity(name: &str) -> Result<EventSeverity, String> {
    EventSeverity::from_name(name).ok_or_else(|| "expected info, warn or high".to_owned())
}

/// Reads what verify has printed.
fn parse_head(text: &str) -> Result<Head, String> {
    let head = || {
        let (id, hash) = text.split_once(':')?;
        let is_digest = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        Some(Head { id: id.parse().ok()?, hash: hash.to_owned(), ..Head::default() }).filter(|_| is_digest)
    };
    head().ok_or_else(|| "expected NUMBER:DIGEST, as `stockade audit verify` prints it".to_owned())
}
