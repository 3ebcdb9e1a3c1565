//! `stockade audit`: shows, verifies and exports the audit trail.
#![expect(
    clippy::disallowed_methods,
    reason = "reads the clock, waits for new records, and asks in which folder it runs"
)]

mod receipts;
mod rotate;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use clap::{Subcommand, ValueEnum};
use serde::Serialize;
use stockade_guard::audit::{
    AuditError, AuditOptions, AuditQuery, AuditRecord, AuditTrail, EventSeverity, Head, MAX_QUERY, Reference,
    Registered, Timestamp, Verified, to_ocsf, to_otlp,
};
use stockade_guard::config::{Config, ConfigSources};

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
  stockade audit query                              show the last twenty records, newest first
  stockade audit query --event 'sandbox_%' --since 2h
  stockade audit query --skill builder --severity warn
  stockade audit tail --follow                      show records as they are written
  stockade audit verify                             detect edited, removed or reordered records
  stockade audit verify --against /mnt/other/audit.checkpoints
                                                    also compare with checkpoints stored elsewhere
  stockade audit receipt 42 > receipt.json          prove one record to a party without the trail
  stockade audit export --as ocsf > events.jsonl    export for a log collector";

const EXIT_CODES: &str = "\
Exit codes:
  0  with verify: the trail is intact
  1  with verify and check-receipt: the trail or the receipt was changed
  2  the command line is wrong
  3  the trail could not be read, or not all of it

The trail of this user is stockade/audit.db in $XDG_STATE_HOME or ~/.local/state. It is an SQLite database, which any tool can read even
during writes:

  SELECT * FROM audit_events WHERE event LIKE 'sandbox_%' ORDER BY timestamp DESC LIMIT 10;

The trail state beside it, in stockade/trails, records where each trail ends and seals each record with an evolving key; verify checks
it automatically. At the end of each run and after every 64 records, a signed checkpoint is written to FILE.checkpoints. Copy that file
to another machine regularly, or set `audit.anchors` in the configuration: verify, and each program that opens the trail, compare with
the anchors that can be read.";

/// Maximum number of records in one request to a collector.
const AT_ONCE: usize = 512;

/// Interval between checks for new records.
const PAUSE: Duration = Duration::from_millis(250);

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    command: AuditCommand,

    /// Audit trail: an SQLite database, or JSON lines in a file that ends in .jsonl [default: `audit.path`, or your own]
    #[arg(long, global = true, value_name = "FILE")]
    file: Option<PathBuf>,

    /// Output format
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Debug, Subcommand)]
enum AuditCommand {
    /// Show the newest matching records, newest first
    Query(Filter),
    /// Show the newest matching records, newest last
    Tail {
        /// Number of records
        #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
        limit: usize,

        /// Keep showing new records until interrupted
        #[arg(short, long)]
        follow: bool,
    },
    /// Verify that no record was edited, removed or reordered
    ///
    /// Also compares the trail with the anchors of `audit.anchors` that can be read.
    Verify {
        /// Also require this record, as printed by an earlier verify: NUMBER:DIGEST
        #[arg(long, value_name = "RECORD", value_parser = parse_head)]
        expect: Option<Head>,

        /// Also compare with checkpoints or an earlier copy of the trail, and report the first difference
        #[arg(long, value_name = "FILE", conflicts_with = "expect")]
        against: Option<PathBuf>,
    },
    /// Print a receipt that proves one record to others
    Receipt {
        /// Number of the record
        #[arg(value_name = "NUMBER")]
        id: u64,
    },
    /// Verify a receipt without access to its trail
    CheckReceipt {
        /// Receipt file
        #[arg(value_name = "RECEIPT")]
        receipt: PathBuf,

        /// Expected key of the checkpoint, obtained from its owner: NAME+ID+KEY
        #[arg(long, value_name = "KEY")]
        key: String,
    },
    /// Rename the trail, and start a new one that refers to it
    Rotate {
        /// New name of the old trail [default: its name and the time]
        #[arg(long, value_name = "NAME")]
        to: Option<PathBuf>,
    },
    /// Print every record as a JSON line, oldest first
    Export {
        /// Export format
        #[arg(long = "as", value_name = "FORM", default_value = "jsonl")]
        form: Form,
    },
}

/// Options that select records to show.
#[derive(Debug, clap::Args)]
struct Filter {
    /// Only this event; % matches any characters
    #[arg(long, visible_alias = "kind", value_name = "PATTERN")]
    event: Option<String>,

    /// Only since: 2026-11-21, 2026-11-21T09:30, or an age such as 90s, 30m, 2h or 7d
    #[arg(long, value_name = "WHEN", value_parser = parse_when_now)]
    since: Option<Timestamp>,

    /// Only before this time, in the same formats
    #[arg(long, value_name = "WHEN", value_parser = parse_when_now)]
    until: Option<Timestamp>,

    /// Only this run
    #[arg(long, value_name = "RUN")]
    run: Option<String>,

    /// Only this agent
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,

    /// Only this skill
    #[arg(long, value_name = "SKILL")]
    skill: Option<String>,

    /// Minimum severity: info, warn or high
    #[arg(long, value_name = "SEVERITY", value_parser = parse_severity)]
    severity: Option<EventSeverity>,

    /// Maximum number of records, up to 1000
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

/// Format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// The records as they are stored, one JSON object per line
    Jsonl,
    /// Events of the Open Cybersecurity Schema Framework (OCSF)
    Ocsf,
    /// OpenTelemetry logs: each line is a request for /v1/logs of a collector
    Otlp,
}

/// Runs the command.
pub(crate) fn run(args: &AuditArgs, color: ColorChoice) -> Result<Exit, Failure> {
    let (format, trail) = (args.format, || open(args.file.clone()));
    match &args.command {
        AuditCommand::Query(filter) => query(&trail()?, filter, format, color),
        AuditCommand::Tail { limit, follow } => tail(&trail()?, *limit, *follow, format, color),
        AuditCommand::Verify { expect, against } => {
            let config = configuration()?;
            let file = args.file.clone().or_else(|| stockade_state::trail::path(&config));
            let trail = opened(file, stockade_state::trail::options(Some(config.audit())))?;
            verify(&trail, expect.as_ref(), against.as_deref(), format, color)
        }
        AuditCommand::Receipt { id } => receipts::print(&trail()?, *id),
        AuditCommand::CheckReceipt { receipt, key } => receipts::check(receipt, key, format),
        AuditCommand::Rotate { to } => rotate::rotate(&path(args.file.clone())?, to.as_deref(), format),
        AuditCommand::Export { form } => export(&trail()?, *form),
    }
}

/// Returns the trail to read: the named file, or the one that the agents write.
pub(super) fn path(file: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let configured = || {
        let config = configuration().map_err(|failure| failure.with_help("repair it, or use --file"))?;
        Ok::<_, Failure>(stockade_state::trail::path(&config))
    };
    file.map_or_else(configured, |file| Ok(Some(file)))?.ok_or_else(|| {
        Failure::usage("cannot find your audit trail: neither XDG_STATE_HOME nor HOME is set")
            .with_help("set one of them, or use --file")
    })
}

pub(super) fn open(file: Option<PathBuf>) -> Result<AuditTrail, Failure> {
    opened(file, AuditOptions::of_user())
}

fn configuration() -> Result<Config, Failure> {
    let folder = std::env::current_dir().unwrap_or_default();
    Config::load(&ConfigSources::of_process(&folder)).map_err(|error| super::config::failure(&error))
}

fn opened(file: Option<PathBuf>, options: AuditOptions) -> Result<AuditTrail, Failure> {
    let path = path(file)?;
    let opened = AuditTrail::open_to_read_with(&path, options);
    if let Err(error @ AuditError::Disagrees { .. }) = &opened {
        return Err(Failure::found(error));
    }
    if let Err(error @ AuditError::Rotating { .. }) = &opened {
        return Err(Failure::incomplete(error));
    }
    if !path.exists() {
        let nothing = Failure::incomplete(format_args!("no audit trail in {}", path.display()));
        return Err(nothing.with_help(
            "it is created by 'stockade run', 'serve' or 'exec --audit'; to read another trail, use --file",
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
        Format::Text if records.is_empty() => "no matching records\n".to_owned(),
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

/// Result of verify, for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    intact: bool,
    records: u64,
    open_runs: usize,
    last: String,
    /// Number of records in this user's trail state; `None` if it does not know this trail.
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
    // Records before the damage are still exported.
    let exit = output.finish(Exit::Clean)?;
    exported.map(|()| exit).map_err(|error| unreadable(&error))
}

/// Returns the host name of this machine.
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

/// Parses a record as verify prints it.
fn parse_head(text: &str) -> Result<Head, String> {
    let head = || {
        let (id, hash) = text.split_once(':')?;
        let is_digest = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        Some(Head { id: id.parse().ok()?, hash: hash.to_owned(), ..Head::default() }).filter(|_| is_digest)
    };
    head().ok_or_else(|| "expected NUMBER:DIGEST, as printed by `stockade audit verify`".to_owned())
}
