//! `stockade skill`: checks and locks skills, and prints them for a prompt.
#![expect(clippy::disallowed_methods, reason = "writes to standard error")]

mod check;
mod lock;

use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Subcommand, ValueEnum};
use serde::Serialize;
use stockade_guard::admission::lock::SkillLock;
use stockade_guard::admission::{
    Admission, AdmitOptions, Dialect, FileOptions, LoadedSkill, SkillReport, SkillSource, Source, admit,
    read_text,
};
use stockade_guard::admit_options;
use stockade_guard::scanner::Scanner;

use stockade_text::escape_path;

use crate::args::{Format, HELP};
use crate::exit::Exit;
use crate::failure::{Failure, with_causes};
use crate::output::{Output, styles};
use crate::render::skill_text;
use crate::render::style::{ColorChoice, Styles};
use crate::rule_files::Rules;
use stockade_state::command_rules::{configuration, of_agent};
use stockade_text::to_printable_json;

const EXAMPLES: &str = "\
Examples:
  stockade skill check skills/weather-helper      check one skill
  stockade skill check skills                     check all skills of a directory, one line each
  stockade skill check --dialect claude SKILL.md  check a skill written for Claude Code
  stockade skill admit skills/weather-helper      print the text that a model would get
  stockade skill admit skills/weather-helper --arguments 'Oslo tomorrow'
  stockade skill lock skills                      record the current skills in skills.lock
  stockade skill check --lock skills.lock         check that the skills are unchanged, and report what changed";

const EXIT_CODES: &str = "\
Exit codes:
  0  accepted; with admit --allow-flagged, flagged as well
  1  flagged, malformed or blocked, at least one; or the arguments were refused
  2  the command line or a rule file is wrong
  3  a skill could not be read

A directory with a SKILL.md is one skill with all of its files. Any other directory is a collection, and every skill in it is checked. A
file is a skill of its own, and - is standard input. A skill with files that could not be checked is never called accepted.

Blocked: a critical finding, or a command that would run on load, by a hook, a server or an installer, and that the built-in rules deny.
Malformed: front matter that cannot be parsed or violates the dialect, or an invalid name.
Flagged: a warning, missing front matter, a tool list that requests everything, hidden messages, files that could not be checked, and
everything that runs without being asked for: configured hooks and servers, installer scripts, Python startup code, machine code,
bytecode, archives, unverified downloads.
Notes have no effect, unless --strict is given. No code of a skill is run.";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct SkillArgs {
    #[command(subcommand)]
    command: SkillCommand,

    /// Agent whose configuration to use; --strict can only make it stricter
    #[arg(long, global = true, value_name = "ID", value_parser = stockade_state::agents::parse_name, conflicts_with = "dialect")]
    agent: Option<String>,

    /// Expected format of front matter
    #[arg(long, global = true, value_name = "DIALECT", default_value = "agentskills")]
    dialect: DialectName,

    /// Treat notes and unchecked files as errors
    #[arg(long, global = true)]
    strict: bool,

    /// Additional rule file (TOML, YAML or JSON); repeatable
    #[arg(long, global = true, value_name = "FILE")]
    rules: Vec<PathBuf>,

    /// Output format
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Debug, Subcommand)]
enum SkillCommand {
    /// Check whether skills may be used
    #[command(after_help = EXIT_CODES)]
    Check {
        /// Skills: directories with a SKILL.md, collections of them, or files [default: the skills of the lock file]
        #[arg(required_unless_present = "lock", value_name = "PATH")]
        paths: Vec<PathBuf>,

        /// Lock file: reject a skill that differs from it or is missing from it
        #[arg(long, value_name = "FILE")]
        lock: Option<PathBuf>,
    },
    /// Record the files and abilities of skills in a lock file
    #[command(after_help = lock::MORE)]
    Lock {
        /// Directories with a SKILL.md, or collections of them [default: the locked skills]
        #[arg(value_name = "PATH")]
        paths: Vec<PathBuf>,

        /// Lock file to write
        #[arg(long, value_name = "FILE", default_value = "skills.lock")]
        lock: PathBuf,
    },
    /// Print a skill as a model should get it: cleaned, and in a frame that its text cannot close
    #[command(after_help = EXIT_CODES)]
    Admit {
        /// Skill: a directory with a SKILL.md, or a file
        #[arg(value_name = "PATH")]
        path: PathBuf,

        /// Value of $ARGUMENTS, $1 and so on in its text
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        arguments: String,

        /// Also print a flagged skill
        #[arg(long)]
        allow_flagged: bool,

        /// Lock file: do not print a skill that differs from it
        #[arg(long, value_name = "FILE")]
        lock: Option<PathBuf>,
    },
}

/// Names of the supported front matter dialects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DialectName {
    /// The format of agentskills.io
    #[value(name = "agentskills")]
    AgentSkills,
    /// The dialect of Claude Code
    #[value(name = "claude")]
    Claude,
    /// The dialect of OpenClaw
    #[value(name = "openclaw")]
    OpenClaw,
    /// The dialect of Comis
    #[value(name = "comis")]
    Comis,
    /// Any front matter that can be parsed
    #[value(name = "lenient")]
    Lenient,
}

/// The result for one skill, for programs.
#[derive(Serialize)]
struct Row<'a> {
    path: &'a str,
    verdict: &'static str,
    #[serde(flatten)]
    report: &'a SkillReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<&'a str>,
}

/// Runs the command.
pub(crate) fn run(args: &SkillArgs, color: ColorChoice) -> Result<Exit, Failure> {
    let rules = Rules::load(&args.rules)?;
    let options = match &args.agent {
        Some(agent) => {
            let own = admit_options(&of_agent(&configuration(Some(agent))?, agent)?.skills);
            AdmitOptions { strict: own.strict || args.strict, ..own }
        }
        None => {
            let dialect = args.dialect.dialect();
            AdmitOptions { dialect, strict: args.strict, ..AdmitOptions::default() }
        }
    };
    let mut gate =
        SkillGate { scanner: rules.scanner(), options, format: args.format, styles: styles(color) };
    match &args.command {
        SkillCommand::Check { paths, lock } => {
            let held = gate.hold_to(lock.as_deref())?;
            if paths.is_empty() && held.is_empty() {
                return Err(Failure::usage("the lock file has no skills to check")
                    .with_help("lock your skills: stockade skill lock skills/"));
            }
            check::run(&gate, if paths.is_empty() { &held } else { paths })
        }
        SkillCommand::Lock { paths, lock } => lock::run(&gate, paths, lock),
        SkillCommand::Admit { path, arguments, allow_flagged, lock } => {
            gate.hold_to(lock.as_deref())?;
            gate.admit(path, arguments, *allow_flagged)
        }
    }
}

/// Reads the lock file, if one is given.
pub(super) fn lock_at(file: Option<&Path>) -> Result<Option<Arc<SkillLock>>, Failure> {
    let read = file.map(|file| SkillLock::read(file).map(Arc::new)).transpose();
    read.map_err(|error| Failure::usage(with_causes(&error)))
}

struct SkillGate<'d> {
    scanner: &'d Scanner,
    options: AdmitOptions,
    format: Format,
    styles: Styles,
}

impl SkillGate<'_> {
    /// Checks skills against a lock file from now on, if one is given, and returns its skills.
    fn hold_to(&mut self, file: Option<&Path>) -> Result<Vec<PathBuf>, Failure> {
        let lock = lock_at(file)?;
        let skills = lock.as_ref().map(|lock| lock.skills().map(|(path, _)| path).collect());
        self.options.locks.extend(lock);
        Ok(skills.unwrap_or_default())
    }

    fn admit(&self, path: &Path, arguments: &str, allow_flagged: bool) -> Result<Exit, Failure> {
        let admission = self.look(path)?;
        let shown = escape_path(path);
        let skill = match &admission {
            Admission::Accepted(skill) => Some(skill),
            Admission::Flagged(skill) if allow_flagged => Some(skill),
            _ => None,
        };
        let prompt = skill.map(|skill| self.prompt(skill, arguments)).transpose()?;
        let mut output = Output::new();
        match self.format {
            Format::Json => {
                let row = row(&shown, &admission, prompt.as_deref());
                let _: ControlFlow<()> = output.write(&format!("{row}\n"));
            }
            Format::Text => {
                let _: ControlFlow<()> = output.write(prompt.as_deref().unwrap_or_default());
                let report = skill_text::report(&shown, &admission, Styles::PLAIN);
                io::stderr().write_all(report.as_bytes()).ok();
                if prompt.is_none() && matches!(admission, Admission::Flagged(_)) {
                    let help = "  help: review the report; --allow-flagged prints the skill anyway\n";
                    io::stderr().write_all(help.as_bytes()).ok();
                }
            }
        }
        output.finish(if prompt.is_some() { Exit::Clean } else { Exit::Found })
    }

    fn prompt(&self, skill: &LoadedSkill, arguments: &str) -> Result<String, Failure> {
        skill.prompt(arguments, self.scanner).map_err(Failure::found)
    }

    fn look(&self, path: &Path) -> Result<Admission, Failure> {
        let unreadable = |error: &dyn std::fmt::Display| Failure::incomplete(error);
        if path == Path::new("-") {
            let source = Source::Stdin { name: "stdin".into() };
            let file = read_text(&source, &FileOptions::default()).map_err(|gap| unreadable(&gap))?;
            let source = SkillSource::Text { name: "stdin", text: &file.text };
            return admit(&source, self.scanner, &self.options).map_err(|error| unreadable(&error));
        }
        admit(&SkillSource::Path(path), self.scanner, &self.options).map_err(|error| {
            unreadable(&error).with_help("use a directory with a SKILL.md, or the file itself")
        })
    }
}

fn row(path: &str, admission: &Admission, prompt: Option<&str>) -> String {
    to_printable_json(&Row { path, verdict: admission.name(), report: admission.report(), prompt })
}

impl DialectName {
    const fn dialect(self) -> Dialect {
        match self {
            Self::AgentSkills => Dialect::AgentSkills,
            Self::Claude => Dialect::Claude,
            Self::OpenClaw => Dialect::OpenClaw,
            Self::Comis => Dialect::Comis,
            Self::Lenient => Dialect::Lenient,
        }
    }
}
