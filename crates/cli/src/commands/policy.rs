//! `stockade policy`: rules on commands, added, removed, listed, checked and explained.

mod add;
mod explain;
mod listed;
mod remove;
mod target;
mod transfer;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde::Serialize;
use stockade_guard::command::rules::{Lint, lint_rules};
use stockade_text::{escape, escape_path};

use crate::args::{Format, HELP};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, styles};
use crate::render::style::{ColorChoice, Styles};
use stockade_state::command_rules::{layer_of, read};
use stockade_text::to_printable_json;

const EXAMPLES: &str = "\
Examples:
  stockade policy add 'deny git push' --rules team.toml
                                                  one rule more, for all commands that begin so
  stockade policy add 'allow npm run *' --agent bot
                                                  the same for an agent, in your configuration
  stockade policy add --for 'npm ci' --agent bot  what is suggested for a command
  stockade policy list --agent bot                the rules that hold, and where each stands
  stockade policy remove deny-git-push --rules team.toml
  stockade policy explain 'git push' --agent bot  say which rules were considered, and which decided
  stockade policy import .claude/settings.json --rules team.toml
  stockade policy test team.toml                  check its rules, run their examples and its tests
  stockade policy lint team.toml                  find rules that are probably not meant";

const EXIT_CODES: &str = "\
Exit codes:
  0  nothing is wrong, or it is done; for explain: the command is allowed
  1  lint found something; import left something out; for explain: the command is not allowed as it is
  2  the command line or the file is wrong, or an example or a test of it has another outcome
  3  something that is needed to answer could not be read

A file of rules, in TOML (YAML and JSON hold the same):

  version = 1

  [[rule]]
  id = \"git-read\"
  prefix = [\"git\", [\"status\", \"diff\"]]   # a list is alternatives; * and ? stand for characters
  decision = \"allow\"                     # allow, sandbox, ask or deny
  reason = \"only reads\"
  deny = [\"--output\", \"--ext-diff\"]      # options that must not be there; `require` for those that must
  match = [\"git status --short\"]         # tried when the file is read
  not_match = [\"git push\", \"git diff --outp=x\"]

  [[test]]
  command = \"git status && git push\"     # decided with all rules together
  expect = \"ask\"

Instead of prefix: exact = [..] for no further words, glob = \"npm run {build,test}*\", or regex = \"..\" with over =
\"argv\", \"redirect\" or \"raw\", which can only make a decision stricter. More conditions: operands = 1, env = [\"GIT_*\"],
redirects = \"null\", \"workspace\" or \"any\", cwd and not_cwd = [\"workspace\", \"/srv\"], priority = 1, enabled = false.
Of the rules that match, the most specific decides. For what no rule matches: [defaults] unmatched = \"ask\".";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    command: PolicyCommand,

    /// How to print
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Debug, Subcommand)]
enum PolicyCommand {
    /// Check a file of rules: every example is tried, and every test is decided
    Test {
        /// A rule file in TOML, YAML or JSON; admin:FILE and project:FILE say whose it is
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Find rules that can be used but are probably not meant: too wide, never deciding, misspelt
    Lint {
        /// A rule file in TOML, YAML or JSON; admin:FILE and project:FILE say whose it is
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    Explain(explain::ExplainArgs),
    Add(add::AddArgs),
    Remove(remove::RemoveArgs),
    List(listed::ListArgs),
    Import(transfer::ImportArgs),
    Export(transfer::ExportArgs),
}

/// Runs the command.
pub(crate) fn run(args: &PolicyArgs, color: ColorChoice) -> Result<Exit, Failure> {
    let format = args.format;
    let (printed, exit) = match &args.command {
        PolicyCommand::Test { file } => test(file, format)?,
        PolicyCommand::Lint { file } => lint(file, format, styles(color))?,
        PolicyCommand::Explain(args) => explain::run(args, format, styles(color))?,
        PolicyCommand::Add(args) => add::run(args, format)?,
        PolicyCommand::Remove(args) => remove::run(args, format)?,
        PolicyCommand::List(args) => listed::run(args, format, styles(color))?,
        PolicyCommand::Import(args) => transfer::import(args, format)?,
        PolicyCommand::Export(args) => transfer::export(args, format)?,
    };
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(&printed);
    output.finish(exit)
}

#[derive(Debug, Serialize)]
struct Tested {
    rules: usize,
    examples: usize,
    tests: usize,
}

/// A file that can be read has passed everything.
fn test(file: &Path, format: Format) -> Result<(String, Exit), Failure> {
    let (layer, path) = layer_of(file);
    let file = read(&path, layer)?;
    let examples = file.rules().iter().map(|rule| rule.matches.len() + rule.not_matches.len()).sum();
    let tested = Tested { rules: file.rules().len(), examples, tests: file.tests().len() };
    let printed = match format {
        Format::Json => format!("{}\n", to_printable_json(&tested)),
        Format::Text => format!(
            "{}: {}, {} and {}, all as they should be\n",
            escape_path(&path),
            count(tested.rules, "rule"),
            count(tested.examples, "example"),
            count(tested.tests, "test")
        ),
    };
    Ok((printed, Exit::Clean))
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn lint(file: &Path, format: Format, styles: Styles) -> Result<(String, Exit), Failure> {
    #[derive(Serialize)]
    struct Found<'l> {
        rule: &'l str,
        message: &'l str,
    }
    #[derive(Serialize)]
    struct List<'l> {
        results: Vec<Found<'l>>,
    }
    let (layer, path) = layer_of(file);
    let lints = lint_rules(read(&path, layer)?.rules());
    let Styles { warn, strong, reset, .. } = styles;
    let line = |Lint { rule, message, .. }: &Lint| {
        format!("{warn}warning{reset} {strong}{}{reset}: {}\n", escape(rule), escape(message))
    };
    let printed = match format {
        Format::Json => {
            let results =
                lints.iter().map(|lint| Found { rule: &lint.rule, message: &lint.message }).collect();
            format!("{}\n", to_printable_json(&List { results }))
        }
        Format::Text if lints.is_empty() => format!("{}: nothing to say\n", escape_path(&path)),
        Format::Text => lints.iter().map(line).collect(),
    };
    Ok((printed, if lints.is_empty() { Exit::Clean } else { Exit::Found }))
}
