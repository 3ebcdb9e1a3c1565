//! `stockade config`: shows effective settings, their origin and documentation.
#![expect(clippy::disallowed_methods, reason = "reads the current directory")]

mod change;
mod import;

use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::Subcommand;
use serde::Serialize;
use stockade_guard::config::{Config, ConfigError, ConfigKey, ConfigSources, ConfigValue, config_schema};
use stockade_text::escape_lines;

use self::change::Change;
use crate::args::{Format, HELP};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, styles};
use crate::render::config_text;
use crate::render::style::{ColorChoice, Styles};
use stockade_state::StateError;
use stockade_text::to_printable_json;

const EXAMPLES: &str = "\
Examples:
  stockade config show --origin             show effective settings, with the file and line of each
  stockade config get agents.bot.maxSteps   print one value
  stockade config explain agents.bot.toolPolicy.profile
                                            show the documentation of a key, and how a project may change it
  stockade config set agents.bot.maxSteps 50
                                            change your config file
  stockade config import claude             take over the settings of Claude Code
  stockade config validate my.toml          check a file
  stockade config schema > stockade.schema.json
                                            print a JSON Schema for editors";

const EXIT_CODES: &str = "\
Exit codes:
  0  done; with validate: the configuration is valid
  1  with validate: the configuration is invalid; with import: something is left out
  2  the command line or the configuration is wrong

Layers, later ones override earlier ones: built-in defaults, /etc/stockade/config.*, your ~/.config/stockade/config.*, the project's
.stockade/config.* (which can only narrow), STOCKADE_* variables, --set, and /etc/stockade/managed.*, which overrides all others and must
be writable only by root. Files are TOML, YAML or JSON.";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,

    /// Setting that overrides files and variables; repeatable
    #[arg(long, global = true, value_name = "KEY=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,

    /// Agent to show in addition to the named ones, or to import settings for; repeatable
    #[arg(long, global = true, value_name = "ID")]
    agent: Vec<String>,

    /// Output format
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Show all effective settings
    Show {
        /// Also show the origin of each setting
        #[arg(long)]
        origin: bool,
    },
    /// Print the value of a key
    Get {
        /// Key, such as agents.bot.maxSteps
        #[arg(value_name = "KEY")]
        key: String,
    },
    /// Show the documentation, effective value and origin of a key
    Explain {
        /// Key; the agent can be `<id>` or `*`
        #[arg(value_name = "KEY")]
        key: String,
    },
    /// Set a value in your config file
    Set {
        /// Key, such as agents.bot.maxSteps
        #[arg(value_name = "KEY")]
        key: String,
        /// Value in TOML syntax; anything else is a string
        #[arg(value_name = "VALUE")]
        value: String,
    },
    /// Add a value to a list in your config file
    Add {
        /// Key of the list, such as agents.bot.skills.execSandbox.readOnlyAllowPaths
        #[arg(value_name = "KEY")]
        key: String,
        /// Value in TOML syntax; anything else is a string
        #[arg(value_name = "VALUE")]
        value: String,
    },
    /// Check a config file, or all layers together
    Validate {
        /// Config file
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
    Import(import::ImportArgs),
    /// Print a JSON Schema for config files
    Schema,
}

/// A value, for programs.
#[derive(Serialize)]
struct Row<'a> {
    key: &'a str,
    value: &'a serde_json::Value,
    layer: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<&'a str>,
}

/// Runs the command.
pub(crate) fn run(args: &ConfigArgs, color: ColorChoice) -> Result<Exit, Failure> {
    let styles = styles(color);
    let (printed, exit) = match &args.command {
        ConfigCommand::Schema => (format!("{:#}\n", config_schema()), Exit::Clean),
        ConfigCommand::Validate { file } => validate(args, file.as_ref(), styles),
        ConfigCommand::Show { origin } => (show(args, *origin, styles)?, Exit::Clean),
        ConfigCommand::Get { key } => {
            known(key)?;
            let config = load(args)?;
            let value = config.get(key).ok_or_else(|| unknown(key))?;
            let printed = match args.format {
                Format::Text => config_text::plain(&value.value),
                Format::Json => to_printable_json(&row(&value)),
            };
            (format!("{printed}\n"), Exit::Clean)
        }
        ConfigCommand::Explain { key } => (explain(args, key, styles)?, Exit::Clean),
        ConfigCommand::Set { key, value } => (change::run(Change::Set, key, value)?, Exit::Clean),
        ConfigCommand::Import(import) => {
            import::run(import, args.agent.first().map(String::as_str), args.format)?
        }
        ConfigCommand::Add { key, value } => (change::run(Change::Add, key, value)?, Exit::Clean),
    };
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(&escape_lines(&printed));
    output.finish(exit)
}

fn show(args: &ConfigArgs, origin: bool, styles: Styles) -> Result<String, Failure> {
    let config = load(args)?;
    let values = config.values();
    Ok(match args.format {
        Format::Text => config_text::values(&values, config.notices(), origin, styles),
        Format::Json => {
            let rows: Vec<_> = values.iter().map(row).collect();
            let notices: Vec<String> = config.notices().iter().map(ToString::to_string).collect();
            format!("{}\n", to_printable_json(&serde_json::json!({ "values": rows, "notices": notices })))
        }
    })
}

fn explain(args: &ConfigArgs, path: &str, styles: Styles) -> Result<String, Failure> {
    let key = known(path)?;
    let config = load(args)?;
    let value = config.get(&path.replace("<id>", "*")).ok_or_else(|| unknown(path))?;
    Ok(match args.format {
        Format::Text => config_text::explanation(key, &value, styles),
        Format::Json => {
            let json = serde_json::json!({
                "key": key.path, "holds": key.holds(), "default": key.default, "description": key.doc,
                "project": key.project(), "current": row(&value),
            });
            format!("{}\n", to_printable_json(&json))
        }
    })
}

fn validate(args: &ConfigArgs, file: Option<&PathBuf>, styles: Styles) -> (String, Exit) {
    let sources = match file {
        Some(file) => ConfigSources { file: Some(file.clone()), ..ConfigSources::default() },
        None => sources(args),
    };
    match (Config::load(&sources), args.format) {
        (Ok(config), Format::Text) => (config_text::valid(config.notices(), styles), Exit::Clean),
        (Ok(_), Format::Json) => {
            (format!("{}\n", to_printable_json(&serde_json::json!({ "valid": true }))), Exit::Clean)
        }
        (Err(error), Format::Text) => (config_text::problems(&error, styles), Exit::Found),
        (Err(error), Format::Json) => {
            let problem = |problem: &stockade_guard::config::ConfigProblem| serde_json::json!({ "place": problem.place, "message": problem.message, "remediation": problem.fix });
            let problems: Vec<_> = error.problems.iter().map(problem).collect();
            let json = serde_json::json!({ "valid": false, "problems": problems });
            (format!("{}\n", to_printable_json(&json)), Exit::Found)
        }
    }
}

fn row(value: &ConfigValue) -> Row<'_> {
    Row {
        key: &value.path,
        value: &value.value,
        layer: value.origin.layer.name(),
        place: value.origin.place.as_deref(),
    }
}

fn sources(args: &ConfigArgs) -> ConfigSources {
    let folder = std::env::current_dir().unwrap_or_default();
    ConfigSources {
        flags: args.set.clone(),
        agents: args.agent.clone(),
        ..ConfigSources::of_process(&folder)
    }
}

fn load(args: &ConfigArgs) -> Result<Config, Failure> {
    Config::load(&sources(args)).map_err(|error| failure(&error))
}

/// Reports the first problem; `config validate` reports all.
pub(crate) fn failure(error: &ConfigError) -> Failure {
    StateError::from(error).into()
}

fn known(path: &str) -> Result<&'static ConfigKey, Failure> {
    Config::key(path).ok_or_else(|| unknown(path))
}

fn unknown(path: &str) -> Failure {
    let failure = Failure::usage(format_args!("unknown key `{path}`"));
    match meant(path) {
        Some(near) => failure.with_help(format!("did you mean `{near}`?")),
        None => failure.with_help("run `stockade config show` to list the keys"),
    }
}

/// Returns the key that is most similar to a mistyped one, for the same agent.
fn meant(path: &str) -> Option<String> {
    let of_agent = path.strip_prefix("agents.").and_then(|rest| rest.split_once('.'));
    match of_agent {
        Some((agent, rest)) => {
            Config::nearest_key(&format!("agents.<id>.{rest}")).map(|near| near.replace("<id>", agent))
        }
        None => Config::nearest_key(path).map(str::to_owned),
    }
}

pub(super) fn assignment(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE, such as agents.bot.maxSteps=20")?;
    Ok((key.to_owned(), value.to_owned()))
}
