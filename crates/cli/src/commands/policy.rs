//! `stockade policy`: adds, removes, lists, tests and explains rules for commands.

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

#[cfg(target_os = "linux")]
pub(super) use target::agent_or_all;

const EXAMPLES: &str = "\
Examples:
  stockade policy add 'deny git push' --rules team.toml
                                                  add a rule for all commands that start so
  stockade policy add 'allow npm run *' --agent bot
                                                  add a rule for an agent, in your configuration
  stockade policy add --for 'npm ci' --agent bot  add the rule that is suggested for a command
  stockade policy list --agent bot                list the effective rules and their origin
  stockade policy remove deny-git-push --rules team.toml
  stockade policy explain 'git push' --agent bot  show which rules matched, and which one decided
  stockade policy import .claude/settings.json --rules team.toml
  stockade policy test team.toml                  check the rules, and run their examples and tests
  stockade policy lint team.toml                  find rules that are probably mistakes";

const EXIT_CODES: &str = "\
Exit codes:
  0  done, without problems; with explain: the command is allowed
  1  lint found a problem; import omitted a rule; with explain: the command is not allowed unchanged
  2  the command line or the file is wrong, or one of its examples or tests failed
  3  something that is needed for the answer could not be read

A rule file in TOML (YAML and JSON have the same structure):

  version = 1

  [[rule]]
  id = \"git-read\"
  prefix = [\"git\", [\"status\", \"diff\"]]   # a list has alternatives; * and ? are wildcards
  decision = \"allow\"                     # allow, sandbox, ask or deny
  reason = \"only reads\"
  deny = [\"--output\", \"--ext-diff\"]      # options that must be absent; `require` for those that must be present
  match = [\"git status --short\"]         # tested when the file is loaded
  not_match = [\"git push\", \"git diff --outp=x\"]

  [[test]]
  command = \"git status && git push\"     # decided by all rules together
  expect = \"ask\"

Instead of prefix: exact = [..] without further words, glob = \"npm run {build,test}*\", or regex = \"..\" with over =
\"argv\", \"redirect\" or \"raw\", which can only make a decision stricter. More conditions: operands = 1, env = [\"GIT_*\"],
redirects = \"null\", \"workspace\" or \"any\", cwd and not_cwd = [\"workspace\", \"/srv\"], priority = 1, enabled = false.
The most specific matching rule decides. For commands that no rule matches: [defaults] unmatched = \"ask\".";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    command: PolicyCommand,

    /// Output format
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Debug, Subcommand)]
enum PolicyCommand {
    /// Check a rule file, and run its examples and tests
    Test {
        /// Rule file in TOML, YAML or JSON; admin:FILE and project:FILE set its layer
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Find rules that are probably mistakes: too wide, without effect, misspelt
    Lint {
        /// Rule file in TOML, YAML or JSON; admin:FILE and project:FILE set its layer
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

/// Reports a valid file: reading it has run all examples.
fn test(file: &Path, format: Format) -> Result<(String, Exit), Failure> {
    let (layer, path) = layer_of(file);
    let file = read(&path, layer)?;
    let examples = file.rules().iter().map(|rule| rule.matches.len() + rule.not_matches.len()).sum();
    let tested = Tested { rules: file.rules().len(), examples, tests: file.tests().len() };
    let printed = match format {
        Format::Json => format!("{}\n", to_printable_json(&tested)),
        Format::Text => format!(
            "{}: {}, {} and {}, all passed\n",
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
        Format::Text if lints.is_empty() => format!("{}: no problems\n", escape_path(&path)),
        Format::Text => lints.iter().map(line).collect(),
    };
    Ok((printed, if lints.is_empty() { Exit::Clean } else { Exit::Found }))
}
