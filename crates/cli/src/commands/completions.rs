//! `stockade completions` and `stockade man`: generated from the command-line definition.
#![expect(clippy::disallowed_methods, reason = "writes manual pages into a directory")]

mod names;

use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::CommandFactory as _;
use clap_complete::Shell;
use clap_mangen::Man;

use stockade_text::escape_path;

use crate::args::{Args, HELP};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

const COMPLETIONS: &str = "\
Examples:
  stockade completions bash > ~/.local/share/bash-completion/completions/stockade
  stockade completions zsh > ~/.zfunc/_stockade
  stockade completions fish > ~/.config/fish/completions/stockade.fish";

const MAN: &str = "\
Examples:
  stockade man | man -l -                        view the manual page
  stockade man --out ~/.local/share/man/man1     write a page for every command";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = COMPLETIONS)]
pub(crate) struct CompletionsArgs {
    /// Shell
    shell: Shell,
}

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = MAN)]
pub(crate) struct ManArgs {
    /// Directory to write the pages to
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Prints completions.
pub(crate) fn complete(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut names::with_names(Args::command()), "stockade", &mut script);
    print(&script)
}

/// Prints or writes manual pages.
pub(crate) fn man(args: &ManArgs) -> Result<Exit, Failure> {
    let unwritable =
        |error: &io::Error| Failure::incomplete(format_args!("cannot write the manual: {error}"));
    match &args.out {
        None => {
            let mut page = Vec::new();
            Man::new(Args::command()).render(&mut page).map_err(|error| unwritable(&error))?;
            print(&page)
        }
        Some(folder) => {
            let written =
                fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Args::command(), folder));
            written.map_err(|error| unwritable(&error))?;
            print(format!("wrote the pages to {}\n", escape_path(folder)).as_bytes())
        }
    }
}

fn print(text: &[u8]) -> Result<Exit, Failure> {
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(&String::from_utf8_lossy(text));
    output.finish(Exit::Clean)
}
