//! `stockade container`: verifies and runs signed container packages.

#[cfg(target_os = "linux")]
mod run;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Subcommand;
use stockade_guard::admission::{FileOptions, Source, TextFile, read_text};
use stockade_guard::container::{
    ContainerOptions, PackageError, PackageOptions, check_package, parse_manifest,
};
use stockade_text::escape_path;

use crate::args::{Format, HELP};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, styles};
use crate::render::container_text;
use crate::render::style::ColorChoice;
use crate::report::checked_package::CheckedPackage;
use crate::rule_files::Rules;
use stockade_text::to_printable_json;

const EXAMPLES: &str = "\
Examples:
  stockade container check packages/swap                     verify the signature and every file
  stockade container check packages/swap --copy-to build     also copy the verified files, to build an image from
  stockade container run packages/swap --image sha256:…      run the package as its manifest declares, and record it
  stockade container args packages/swap --image sha256:…     print the docker arguments, to run it by other means";

const EXIT_CODES: &str = "\
Exit codes:
  0  the signature is valid, every file is the signed one, and none contains an attack
  1  refused
  2  the command line or a rule file is wrong
  3  something could not be read or written

A package is a directory with a manifest.json, which lists every other file with its SHA-256 and is signed by the publisher's key. A
package is refused for a manifest that violates the schema, a signature of another key, a file that differs, is missing, is not listed
or is not a regular file, and a critical finding of the scanner. The signature only proves which key signed the package; it is up to you
whether to trust that publisher. For a file, or - for standard input, only the manifest is checked. `check` and `args` run no code of
the package.";

#[cfg(target_os = "linux")]
const RUNS: &str = "\
Only a package that passes `stockade container check` is run. Its verified files are mounted read-only, and the program starts in their
directory: COMMAND, or the entry point of the image. The container can reach only the API socket, write only to 64 MiB in /tmp, use half
a CPU, 64 processes, the memory and time of its manifest, and print 10 MiB. With `allowSpawn: false`, a launcher in the container
prevents further processes; threads are allowed. If the engine cannot enforce all of this, no container is created. The start and the
end are recorded in the audit trail.";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct ContainerArgs {
    #[command(subcommand)]
    command: ContainerCommand,

    /// Additional rule file (TOML, YAML or JSON); repeatable
    #[arg(long, global = true, value_name = "FILE")]
    rules: Vec<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum ContainerCommand {
    /// Verify the signature, manifest and files of a package
    #[command(after_help = EXIT_CODES)]
    Check {
        /// Package: a directory with a manifest.json; or only a manifest
        #[arg(value_name = "PATH")]
        path: PathBuf,

        /// Copy the verified files to a new directory, to build an image from
        #[arg(long, value_name = "FOLDER")]
        copy_to: Option<PathBuf>,

        /// Output format
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: Format,
    },
    /// Print the docker arguments that run a package, one per line
    #[command(after_help = EXIT_CODES)]
    Args {
        /// Package: a directory with a manifest.json
        #[arg(value_name = "FOLDER")]
        path: PathBuf,

        /// Image by digest: sha256:… or NAME@sha256:…
        #[arg(long, value_name = "IMAGE")]
        image: Option<String>,

        /// Unix socket of the API, the only connection of the container
        #[arg(long, value_name = "SOCKET")]
        api_socket: Option<PathBuf>,

        /// Suffix that distinguishes concurrent runs of the package
        #[arg(long, value_name = "WORD")]
        run: Option<String>,
    },
    /// Run a package in a container, as its manifest declares
    #[cfg(target_os = "linux")]
    #[command(after_help = super::exec::exit_codes(RUNS))]
    Run(run::RunArgs),
}

/// Runs the command.
pub(crate) fn run(args: &ContainerArgs, color: ColorChoice) -> ExitCode {
    let ended = match &args.command {
        // Exits like the package, with any code.
        #[cfg(target_os = "linux")]
        ContainerCommand::Run(run) => return run::run(run, &args.rules),
        ContainerCommand::Check { path, copy_to, format } => {
            Rules::load(&args.rules).and_then(|rules| check(path, &rules, copy_to.as_deref(), *format, color))
        }
        ContainerCommand::Args { path, image, api_socket, run } => {
            let options = ContainerOptions {
                image: image.clone(),
                api_socket: api_socket.clone(),
                run: run.clone(),
                runtime: None,
            };
            Rules::load(&args.rules).and_then(|rules| arguments(path, &rules, &options))
        }
    };
    ended.unwrap_or_else(|failure| failure.report()).into()
}

/// Checks a package, and copies its files if it passes.
fn check(
    path: &Path,
    rules: &Rules,
    copy_to: Option<&Path>,
    format: Format,
    color: ColorChoice,
) -> Result<Exit, Failure> {
    let checked = look(path, rules)?;
    if let Some(folder) = copy_to {
        copy(&checked, folder)?;
    }
    let shown = escape_path(path);
    let text = match format {
        Format::Text => container_text::report(&shown, &checked, styles(color)),
        Format::Json => format!("{}\n", to_printable_json(&checked.row(&shown))),
    };
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(&text);
    output.finish(if checked.passed() { Exit::Clean } else { Exit::Found })
}

/// Prints the docker arguments of a package that passes.
fn arguments(path: &Path, rules: &Rules, options: &ContainerOptions) -> Result<Exit, Failure> {
    let checked = look(path, rules)?;
    let CheckedPackage::Package(report) = &checked else {
        return Err(Failure::found(format_args!("{} is not a package", escape_path(path)))
            .with_help("use a directory with a manifest.json; run `stockade container check` for details"));
    };
    let Some(package) = report.verified() else {
        return Err(Failure::found(format_args!("{} is refused", escape_path(path)))
            .with_help("run `stockade container check` for details"));
    };
    let args = package.manifest().docker_args(options).map_err(Failure::usage)?;
    let mut output = Output::new();
    for argument in &args.docker {
        let _: ControlFlow<()> = output.write(&format!("{argument}\n"));
    }
    container_text::tell_missing(&args);
    output.finish(Exit::Clean)
}

fn look(path: &Path, rules: &Rules) -> Result<CheckedPackage, Failure> {
    let source = match path == Path::new("-") {
        true => Source::Stdin { name: "stdin".into() },
        false => Source::Path(path.to_owned()),
    };
    let is_folder = matches!(&source, Source::Path(path) if is_folder(path));
    let checked = if is_folder {
        check_package(path, rules.scanner(), &PackageOptions::default())
            .map(|report| CheckedPackage::Package(report.into()))
    } else {
        let TextFile { text, .. } = read_text(&source, &FileOptions::default()).map_err(|gap| {
            Failure::incomplete(format_args!("cannot read {}: {gap}", escape_path(path)))
                .with_help("use a directory with a manifest.json, or the manifest itself")
        })?;
        parse_manifest(&text).map(|manifest| CheckedPackage::Manifest(manifest.into())).map_err(Into::into)
    };
    match checked {
        Ok(checked) => Ok(checked),
        Err(PackageError::Manifest(errors)) => Ok(CheckedPackage::Refused(errors.problems)),
        Err(error) => Err(Failure::incomplete(error)
            .with_help("a package is a directory with a manifest.json; make both readable")),
    }
}

#[expect(clippy::disallowed_methods, reason = "checks whether a path is a directory")]
fn is_folder(path: &Path) -> bool {
    path.is_dir()
}

fn copy(checked: &CheckedPackage, folder: &Path) -> Result<(), Failure> {
    let CheckedPackage::Package(report) = checked else {
        return Err(Failure::usage("--copy-to needs a package, but only a manifest was given")
            .with_help("use the directory of the package"));
    };
    // A refused package is not copied; the report explains why.
    let Some(package) = report.verified() else { return Ok(()) };
    package.write_to(folder).map_err(|error| {
        Failure::incomplete(format_args!("cannot write to {}: {error}", escape_path(folder)))
            .with_help("use a new directory whose parent exists")
    })
}
