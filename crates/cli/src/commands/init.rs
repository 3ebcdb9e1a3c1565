//! `stockade init`: creates a config file that documents every key and its default.
#![expect(
    clippy::disallowed_methods,
    reason = "writes a config file, and looks up the user's config directory"
)]

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use stockade_guard::config::{Config, ConfigKey};
use stockade_state::saved_rules::{format_of, user_file};
use stockade_text::{Format, escape_path};

use crate::args::HELP;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  stockade init           create the configuration of this project, .stockade/config.toml
  stockade init --user    create your own, for all projects";

const HEAD: &str = "\
# Configuration of Stockade. Every line shows a default: remove its `#` to change it. `\"*\"` applies to all agents; a table with an
# agent's id takes precedence.
#
# `stockade config validate` checks this file, and `stockade config show --origin` shows the effective settings and their origin.
";

/// Additional comment in a project's file.
const OF_PROJECT: &str = "#\n# A project can only narrow what the user and the machine allow.\n";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES)]
pub(crate) struct InitArgs {
    /// Create your own config file, for all projects, instead of that of the current project
    #[arg(long)]
    user: bool,
}

/// Runs the command.
pub(crate) fn run(args: &InitArgs) -> Result<Exit, Failure> {
    let path = match args.user {
        false => PathBuf::from(".stockade/config.toml"),
        true => user_file()?,
    };
    let shown = escape_path(&path);
    if format_of(&path) != Format::Toml && !path.exists() {
        return Err(Failure::usage(format_args!("{shown}: the commented file is written in TOML"))
            .with_help("use a file with the extension .toml"));
    }
    write_new(&path, &text(args.user)).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Failure::usage(format_args!("{shown} already exists"))
            .with_help("edit it; 'stockade config explain KEY' documents a key"),
        _ => Failure::incomplete(format_args!("cannot write {shown}: {error}")),
    })?;
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(&format!("wrote {shown}; every setting in it is commented out\n"));
    output.finish(Exit::Clean)
}

/// Creates a file, unless it exists.
fn write_new(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
}

/// Returns a config file in which everything is commented out.
fn text(for_user: bool) -> String {
    let mut out = HEAD.to_owned();
    if !for_user {
        out.push_str(OF_PROJECT);
    }
    let mut tables: Vec<&str> = Vec::new();
    for key in Config::keys() {
        let (table, _) = split(key);
        // TOML allows a table only once, so its keys are grouped.
        if !tables.contains(&table) {
            tables.push(table);
        }
    }
    for table in tables {
        write!(
            out,
            "\n[{}]\n",
            table.replace("<id>", "\"*\"").replace("<tool>", "bash").replace("<rule>", "EXEC_PIPE_BASH")
        )
        .ok();
        let own =
            Config::keys().iter().map(|key| (key, split(key))).filter(|(_, (parent, _))| *parent == table);
        own.for_each(|(key, (_, name))| push(&mut out, key, name));
    }
    out
}

/// Splits a key into its table and its name.
fn split(key: &ConfigKey) -> (&str, &str) {
    key.path.rsplit_once('.').unwrap_or(("", key.path))
}

fn push(out: &mut String, key: &ConfigKey, name: &str) {
    writeln!(out, "# {}", key.doc).ok();
    // TOML has no null, so the key is listed without a value.
    match key.default {
        "null" => writeln!(out, "# {name} =   # {}", key.holds()).ok(),
        default => writeln!(out, "# {name} = {default}").ok(),
    };
}

#[cfg(test)]
mod tests {
    use super::text;
    use stockade_guard::config::Config;

    #[test]
    fn the_new_configuration_contains_every_key() {
        for for_user in [true, false] {
            let text = text(for_user);
            for key in Config::keys() {
                let name = key.path.rsplit('.').next().unwrap();
                assert!(text.contains(&format!("\n# {name} = ")), "{}", key.path);
                assert!(text.contains(key.doc), "{}", key.path);
            }
        }
    }
}
