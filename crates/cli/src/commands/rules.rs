//! `stockade rules`: documents the scanner's rules, and tests the user's own.

use std::path::PathBuf;

use clap::Subcommand;
use serde::Serialize;
use stockade_guard::scanner::{RuleBuf, RuleFile, RuleFormat};
use stockade_text::nearest;

use crate::args::{Format, HELP};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, styles};
use crate::render::rule_text;
use crate::render::style::ColorChoice;
use crate::rule_files::Rules;
use stockade_text::to_printable_json;

const EXAMPLES: &str = "\
Examples:
  stockade rules                           list all rules
  stockade rules show NET_REVERSE_SHELL    explain one rule
  stockade rules new TEAM_HOST > team.toml create a file for your own rules
  stockade rules test team.toml            test it";

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  2  unknown rule, or a rule file is wrong";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct RulesArgs {
    #[command(subcommand)]
    command: Option<RulesCommand>,

    /// Output format
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    format: Format,

    /// Additional rule file; repeatable
    #[arg(long, global = true, value_name = "FILE")]
    rules: Vec<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum RulesCommand {
    /// List the rules, one per line
    List,
    /// Explain a rule: its meaning, its patterns, and its examples
    Show {
        /// Id of the rule
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Print a rule file with one valid example rule, for you to edit
    New {
        /// Id of the rule, in capital letters
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Test a rule file: compile every pattern and run every example
    Test {
        /// Rule file in TOML, YAML or JSON
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

/// Runs the command.
pub(crate) fn run(args: &RulesArgs, color: ColorChoice) -> Result<Exit, Failure> {
    let mut output = Output::new();
    let printed = match &args.command {
        None | Some(RulesCommand::List) => {
            let rules = Rules::load(&args.rules)?;
            match args.format {
                Format::Text => rule_text::list(rules.scanner(), styles(color)),
                Format::Json => list_json(rules.scanner().rules()),
            }
        }
        Some(RulesCommand::Show { id }) => {
            let rules = Rules::load(&args.rules)?;
            let rule = find(rules.scanner().rules(), id)?;
            match args.format {
                Format::Text => rule_text::show(rule, rules.scanner(), styles(color)),
                Format::Json => format!("{}\n", to_printable_json(rule)),
            }
        }
        Some(RulesCommand::New { id }) => begun(id)?,
        Some(RulesCommand::Test { file }) => {
            let tested = Rules::test(file, &args.rules)?;
            match args.format {
                Format::Text => rule_text::tested(&tested, styles(color)),
                Format::Json => list_json(&tested),
            }
        }
    };
    let _: std::ops::ControlFlow<()> = output.write(&printed);
    output.finish(Exit::Clean)
}

/// An example rule, with texts that must and must not match beside its pattern.
const BEGUN: &str = r#"# 'stockade rules test FILE' compiles every pattern and tries every example.
[[rule]]
id = "ID"
category = "custom"
severity = "WARN"
summary = "an address of the old gateway"
remedy = "Use gateway.example instead."
# Expressions over bytes, of which one must match. Fragments such as {shell} expand to more: see 'stockade rules show EXEC_PIPE_BASH'.
patterns = ['(?i)\bold-gateway\.example\b']
# Where in a document it counts; leave this out for everywhere.
# regions = ["prose", "inline_code", "code", "shell"]
matches = ["Ask https://old-gateway.example/v1 first.", "curl OLD-GATEWAY.example", "`old-gateway.example`"]
clean = ["gateway.example", "my-old-gateway.examples", "the old gateway"]
"#;

/// Returns a rule file with an example rule.
fn begun(id: &str) -> Result<String, Failure> {
    let text = BEGUN.replace("\"ID\"", &format!("\"{id}\""));
    match RuleFile::parse(&text, RuleFormat::Toml) {
        Ok(_) => Ok(text),
        Err(error) => Err(Failure::usage(format_args!("{}", error.problem))
            .with_help("use capital letters, such as TEAM_HOST")),
    }
}

/// Returns the rule with this id, ignoring case.
fn find<'r>(rules: &'r [RuleBuf], id: &str) -> Result<&'r RuleBuf, Failure> {
    rules.iter().find(|rule| rule.id.eq_ignore_ascii_case(id)).ok_or_else(|| {
        let help = match meant(rules, id) {
            Some(near) => format!("did you mean {near}? Run 'stockade rules' to list all rules"),
            None => "run 'stockade rules' to list all rules".to_owned(),
        };
        Failure::usage(format_args!("unknown rule {id}")).with_help(help)
    })
}

fn meant<'r>(rules: &'r [RuleBuf], id: &str) -> Option<&'r str> {
    nearest(id, rules.iter().map(|rule| rule.id.as_str()))
}

fn list_json(rules: &[RuleBuf]) -> String {
    #[derive(Serialize)]
    struct List<'r> {
        rules: &'r [RuleBuf],
    }
    format!("{}\n", to_printable_json(&List { rules }))
}

#[cfg(test)]
mod tests {
    use super::{begun, meant};
    use stockade_guard::scanner::Scanner;

    #[test]
    fn the_initial_configuration_is_valid() {
        let text = begun("TEAM_HOST").map_err(|error| format!("{error:?}")).unwrap();
        assert!(text.contains("id = \"TEAM_HOST\""));
        for id in ["", "team host", "A\"\nx = \"B"] {
            assert!(begun(id).is_err(), "{id:?}");
        }
    }

    #[test]
    fn misspelled_words_are_suggested() {
        let rules = Scanner::builtin().rules();
        let cases = [
            ("NET_REVERSE_SHEL", Some("NET_REVERSE_SHELL")),
            ("net_reverse_shell", Some("NET_REVERSE_SHELL")),
            ("qqqq", None),
        ];
        for (id, near) in cases {
            assert_eq!(meant(rules, id), near, "{id}");
        }
    }
}
