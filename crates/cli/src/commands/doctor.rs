//! `stockade doctor`: tests what works on this machine, and suggests fixes.

mod hooks;
mod machine;
mod sandboxes;

use std::fmt::Write as _;
use std::ops::ControlFlow;

use serde::Serialize;
use stockade_text::escape;

use crate::args::{Format, HELP};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, styles};
use crate::render::style::{ColorChoice, Styles};
use stockade_text::to_printable_json;

const EXAMPLES: &str = "\
Examples:
  stockade doctor                  show what works, and how to fix the rest
  stockade doctor --format json    print the same as JSON";

const EXIT_CODES: &str = "\
Exit codes:
  0  commands can run in a sandbox; warnings suggest improvements
  1  something required does not work

Everything is tested for real: sandboxes are created and commands run in them, in a temporary directory that is removed afterwards.";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct DoctorArgs {
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

/// Result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Health {
    Ok,
    Warn,
    Fail,
}

/// The result of one check, with a fix if there is one.
#[derive(Debug, Serialize)]
struct Finding {
    what: &'static str,
    status: Health,
    /// What was found.
    found: String,
    /// The command that fixes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

impl Finding {
    fn ok(what: &'static str, found: impl Into<String>) -> Self {
        Self { what, status: Health::Ok, found: found.into(), fix: None }
    }

    fn warn(what: &'static str, found: impl Into<String>, fix: &str) -> Self {
        Self { what, status: Health::Warn, found: found.into(), fix: Some(fix.to_owned()) }
    }

    fn fail(what: &'static str, found: impl Into<String>, fix: &str) -> Self {
        Self { status: Health::Fail, ..Self::warn(what, found, fix) }
    }
}

/// Runs the command.
pub(crate) fn run(args: &DoctorArgs, color: ColorChoice) -> Result<Exit, Failure> {
    let mut findings = vec![machine::kernel()];
    findings.extend(sandboxes::look().map_err(|error| {
        Failure::incomplete(format_args!("cannot create a temporary directory to test sandboxes: {error}"))
    })?);
    findings.extend([machine::containers("docker"), machine::containers("podman"), machine::audit()]);
    findings.extend(hooks::look());
    let worst = findings.iter().map(|finding| finding.status).max().unwrap_or(Health::Ok);
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(&match args.format {
        Format::Json => format!("{}\n", to_printable_json(&Report { status: worst, checks: &findings })),
        Format::Text => text(&findings, styles(color)),
    });
    output.finish(if worst == Health::Fail { Exit::Found } else { Exit::Clean })
}

#[derive(Serialize)]
struct Report<'f> {
    status: Health,
    checks: &'f [Finding],
}

fn text(findings: &[Finding], styles: Styles) -> String {
    let Styles { good, warn, critical, reset, .. } = styles;
    let mut out = String::new();
    for finding in findings {
        let (color, word) = match finding.status {
            Health::Ok => (good, "ok  "),
            Health::Warn => (warn, "warn"),
            Health::Fail => (critical, "fail"),
        };
        writeln!(out, "{color}{word}{reset}  {:16}  {}", finding.what, escape(&finding.found)).ok();
        if let Some(fix) = &finding.fix {
            writeln!(out, "      {:16}  fix: {}", "", escape(fix)).ok();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_doctor_include_a_fix() {
        let findings = [Finding::ok("a", "fine"), Finding::fail("b", "broken \u{1b}[2J", "mend b")];
        assert_eq!(
            text(&findings, Styles::PLAIN),
            "ok    a                 fine\n\
             fail  b                 broken \\u{1b}[2J\n\
             \u{20}                       fix: mend b\n",
        );
    }
}
