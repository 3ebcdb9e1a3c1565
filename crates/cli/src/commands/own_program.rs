//! `stockade self update`: replaces the program, or names the package manager that does.
#![expect(
    clippy::disallowed_methods,
    reason = "looks for what installed this program, and starts the installer"
)]

mod owner;

use std::env;
use std::path::PathBuf;
use std::process::Command;

use clap::Subcommand;

use crate::args::HELP;
use crate::exit::Exit;
use crate::failure::Failure;

use owner::{Machine, Owner};

const EXAMPLES: &str = "\
Examples:
  stockade self update               install the latest release, or name the command that does
  stockade self update --dry-run     download and check it, and write nothing";

const MORE: &str = "\
Exit codes:
  0  the latest release is installed
  1  a package manager owns the program, or what installed it is unknown; nothing was changed
  3  the installer failed, and its message has the reason; the program is as before

A program that install.sh installed is replaced by the installer of its own archive, which checks the signature and the checksum
of the new one. Packages of dpkg, rpm, Homebrew, Nix, npm, pip and cargo are left to them.";

/// Update this program, or name the package manager that does
#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = MORE)]
pub(crate) struct SelfArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Install the latest release, or name the package manager that does
    Update {
        /// Download and check the release, and write nothing
        #[arg(long)]
        dry_run: bool,
    },
}

/// Runs the command.
pub(crate) fn run(args: &SelfArgs) -> Result<Exit, Failure> {
    let What::Update { dry_run } = args.what;
    let program = env::current_exe()
        .map_err(|error| Failure::incomplete(format!("cannot find the path of this program: {error}")))?;
    match owner::of(&program, &machine()) {
        Owner::Installer { directory, script } => update(&directory, &script, dry_run),
        Owner::Manager { name, update } => {
            Err(Failure::found(format!("{} belongs to {name}", program.display())).with_help(update))
        }
        Owner::Unknown => {
            let message =
                format!("{} was not installed by a package manager or install.sh", program.display());
            Err(Failure::found(message)
                .with_help("build it again, or install a release: stockade docs install"))
        }
    }
}

fn update(directory: &std::path::Path, script: &std::path::Path, dry_run: bool) -> Result<Exit, Failure> {
    let mut command = Command::new("/bin/sh");
    command.arg(script).args(["--version", "latest", "--dir"]).arg(directory);
    if dry_run {
        command.arg("--dry-run");
    }
    match command.status() {
        Ok(status) if status.success() => Ok(Exit::Clean),
        // The installer has printed the reason.
        Ok(_) => Ok(Exit::Incomplete),
        Err(error) => Err(Failure::incomplete(format!("cannot start {}: {error}", script.display()))),
    }
}

/// Where this machine keeps what installers record.
fn machine() -> Machine {
    let path = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = path("HOME");
    let below_home = |name: &str| home.as_ref().map(|home| home.join(name));
    Machine {
        root: "/".into(),
        data: path("XDG_DATA_HOME").or_else(|| below_home(".local/share")),
        cargo: path("CARGO_HOME").or_else(|| below_home(".cargo")),
        is_of_rpm: |program| {
            let asked = Command::new("/usr/bin/rpm").arg("-qf").arg(program).output();
            asked.is_ok_and(|answer| answer.status.success() && answer.stdout.starts_with(b"stockade-"))
        },
    }
}
