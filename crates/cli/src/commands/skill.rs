//! `stockade skill`: whether a skill may be used, and what of it reaches a prompt.
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
  stockade skill check skills/weather-helper      may this skill be used?
  stockade skill check skills                     may these skills be used? A line for each
  stockade skill check --dialect claude SKILL.md  the same, for a skill of Claude Code
  stockade skill admit skills/weather-helper      print what a model gets to read of it
  stockade skill admit skills/weather-helper --arguments 'Oslo tomorrow'
  stockade skill lock skills                      hold on to what these skills are now, in skills.lock
  stockade skill check --lock skills.lock         are they still what they were? Says what of them is another";

const EXIT_CODES: &str = "\
Exit codes:
  0  accepted; with admit --allow-flagged, flagged as well
  1  flagged, malformed or blocked, at least one; or the arguments were refused
  2  the command line or a rule file is wrong
  3  a skill could not be read

A folder with a SKILL.md is one skill with all its files; a file is a skill by itself, and - is standard input. A folder
without one is a collection: every skill below it is checked, and nothing that nobody could look at is called accepted.
What blocks a skill: a critical finding, or a command on load, of a hook, a server or an installer that the built-in rules
deny. What makes it malformed: a head that cannot be read or that its dialect does not permit, or a name that is none. What
flags it: a suspicious finding, a missing head, a list of tools that asks for everything, hidden messages, files that nobody
could look at or into, and whatever runs unasked: hooks and servers of tools that settings name, scripts of installers, code at
the start of Python, machine code, bytecode, archives, downloads that nothing verifies. Notes do none of it, unless --strict
is given. Nothing of a skill is run.";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct SkillArgs {
    #[command(subcommand)]
    command: SkillCommand,

    /// The agent whose configuration says how skills are let in; --strict only makes it stricter
    #[arg(long, global = true, value_name = "ID", value_parser = stockade_state::agents::parse_name, conflicts_with = "dialect")]
    agent: Option<String>,

    /// What is expected of the head of a skill
    #[arg(long, global = true, value_name = "DIALECT", default_value = "agentskills")]
    dialect: DialectName,

    /// Take what is merely noted for an error, and what nobody looked at
    #[arg(long, global = true)]
    strict: bool,

    /// A file of your own rules (TOML, YAML or JSON), added to the built-in ones; may be repeated
    #[arg(long, global = true, value_name = "FILE")]
    rules: Vec<PathBuf>,

    /// How to print
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Debug, Subcommand)]
enum SkillCommand {
    /// Say whether skills may be used, and why not
    #[command(after_help = EXIT_CODES)]
    Check {
        /// Folders with a SKILL.md or with skills below them, or files [default: those of the lock, and no others that may have come]
        #[arg(required_unless_present = "lock", value_name = "PATH")]
        paths: Vec<PathBuf>,

        /// A lock: a skill that is another than it holds, or that it does not hold, is turned away
        #[arg(long, value_name = "FILE")]
        lock: Option<PathBuf>,
    },
    /// Hold on to what skills are: every file of them, and what they may do
    #[command(after_help = lock::MORE)]
    Lock {
        /// Folders with a SKILL.md or with skills below them [default: those that are locked]
        #[arg(value_name = "PATH")]
        paths: Vec<PathBuf>,

        /// The lock to write
        #[arg(long, value_name = "FILE", default_value = "skills.lock")]
        lock: PathBuf,
    },
    /// Print what a model gets to read of a skill: cleaned, and in a frame that it cannot leave
    #[command(after_help = EXIT_CODES)]
    Admit {
        /// A folder with a SKILL.md, or a file
        #[arg(value_name = "PATH")]
        path: PathBuf,

        /// What stands for $ARGUMENTS, $1 and so on in its text
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        arguments: String,

        /// Print a flagged skill, too
        #[arg(long)]
        allow_flagged: bool,

        /// A lock: a skill that is another than it holds is not printed
        #[arg(long, value_name = "FILE")]
        lock: Option<PathBuf>,
    },
}

/// The dialects by their names.
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
    /// Whatever can be made sense of
    #[value(name = "lenient")]
    Lenient,
}

/// The answer about one skill, for programs.
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
    let mut door = Door { scanner: rules.scanner(), options, format: args.format, styles: styles(color) };
    match &args.command {
        SkillCommand::Check { paths, lock } => {
            let held = door.hold_to(lock.as_deref())?;
            if paths.is_empty() && held.is_empty() {
                return Err(Failure::usage("the lock holds no skill, so there is nothing to check")
                    .with_help("lock your skills: stockade skill lock skills/"));
            }
            check::run(&door, if paths.is_empty() { &held } else { paths })
        }
        SkillCommand::Lock { paths, lock } => lock::run(&door, paths, lock),
        SkillCommand::Admit { path, arguments, allow_flagged, lock } => {
            door.hold_to(lock.as_deref())?;
            door.admit(path, arguments, *allow_flagged)
        }
    }
}

/// Reads a lock, if one is named.
pub(super) fn lock_at(file: Option<&Path>) -> Result<Option<Arc<SkillLock>>, Failure> {
    let read = file.map(|file| SkillLock::read(file).map(Arc::new)).transpose();
    read.map_err(|error| Failure::usage(with_causes(&error)))
}

struct Door<'d> {
    scanner: &'d Scanner,
    options: AdmitOptions,
    format: Format,
    styles: Styles,
}

impl Door<'_> {
    /// Holds skills to a lock from now on, if one is named, and returns those that are in it.
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
                    let help = "  help: read the report; --allow-flagged prints the skill all the same\n";
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
            unreadable(&error).with_help("name a folder that has a SKILL.md, or the file itself")
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
