//! `stockade container`: whether a package for containers is what its publisher signed, how Docker runs it, and to run it.

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
  stockade container check packages/swap                     is every file the one that was signed?
  stockade container check packages/swap --copy-to build     and write what was checked, to build an image from
  stockade container run packages/swap --image sha256:…      run it as its manifest says, and put it on record
  stockade container args packages/swap --image sha256:…     what docker would be told, for whoever runs it otherwise";

const EXIT_CODES: &str = "\
Exit codes:
  0  signed by its publisher, every file is the one that was signed, and nothing in them attacks
  1  refused
  2  the command line or a rule file is wrong
  3  something could not be read or written

A package is a folder with a manifest.json. It lists every other file with its SHA-256, and the publisher's key signs it.
What refuses a package: a manifest that the schema does not permit, a signature of somebody else, a file that differs, is
missing, is not listed or is no plain file, and a critical finding of the scanner. A signature says whose key it was;
whether to trust that publisher is for you to say. Of a file, or of - for standard input, the manifest alone is looked at.
`check` and `args` run nothing of a package.";

#[cfg(target_os = "linux")]
const RUNS: &str = "\
Only a package that `stockade container check` passes is run. Its files are mounted read-only as they were checked, and the
program starts in their folder: what the image says that it starts, or COMMAND. It reaches nothing but the socket of the API,
writes to nothing but 64 MiB in /tmp, gets half of a processor, 64 processes, and the memory and the time of its manifest,
and prints 10 MiB at most. With `allowSpawn: false` nothing else is started, by a launcher in the container; threads may be
made. An engine that does not hold this makes no container. Its start and its end are put on record.";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct ContainerArgs {
    #[command(subcommand)]
    command: ContainerCommand,

    /// A file of your own rules (TOML, YAML or JSON), added to the built-in ones; may be repeated
    #[arg(long, global = true, value_name = "FILE")]
    rules: Vec<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum ContainerCommand {
    /// Say whether a package is what its publisher signed, and why not
    #[command(after_help = EXIT_CODES)]
    Check {
        /// A folder with a manifest.json; or a manifest alone
        #[arg(value_name = "PATH")]
        path: PathBuf,

        /// Write the files that were checked into a new folder, to build an image from
        #[arg(long, value_name = "FOLDER")]
        copy_to: Option<PathBuf>,

        /// How to print
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: Format,
    },
    /// Print the arguments of docker that run a package, one a line
    #[command(after_help = EXIT_CODES)]
    Args {
        /// A folder with a manifest.json
        #[arg(value_name = "FOLDER")]
        path: PathBuf,

        /// The image by its digest: sha256:… or NAME@sha256:…
        #[arg(long, value_name = "IMAGE")]
        image: Option<String>,

        /// A unix socket of the API, the only way out of the container
        #[arg(long, value_name = "SOCKET")]
        api_socket: Option<PathBuf>,

        /// A word that tells this run from others of the package at the same time
        #[arg(long, value_name = "WORD")]
        run: Option<String>,
    },
    /// Run a package in a container, as its manifest says
    #[cfg(target_os = "linux")]
    #[command(after_help = super::exec::exit_codes(RUNS))]
    Run(run::RunArgs),
}

/// Runs the command.
pub(crate) fn run(args: &ContainerArgs, color: ColorChoice) -> ExitCode {
    let ended = match &args.command {
        // It ends as the package ends, with any code.
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

/// Says whether a package passes, and copies its files where it does.
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

/// Prints the arguments of a package that passes.
fn arguments(path: &Path, rules: &Rules, options: &ContainerOptions) -> Result<Exit, Failure> {
    let checked = look(path, rules)?;
    let CheckedPackage::Package(report) = &checked else {
        return Err(Failure::found(format_args!("{} is no package", escape_path(path))).with_help(
            "name a folder with a manifest.json; `stockade container check` says what is wrong with it",
        ));
    };
    let Some(package) = report.verified() else {
        return Err(Failure::found(format_args!("{} is refused", escape_path(path)))
            .with_help("`stockade container check` says why"));
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
                .with_help("name a folder with a manifest.json, or the manifest itself")
        })?;
        parse_manifest(&text).map(|manifest| CheckedPackage::Manifest(manifest.into())).map_err(Into::into)
    };
    match checked {
        Ok(checked) => Ok(checked),
        Err(PackageError::Manifest(errors)) => Ok(CheckedPackage::Refused(errors.problems)),
        Err(error) => Err(Failure::incomplete(error)
            .with_help("a package is a folder with a manifest.json, both readable to you")),
    }
}

#[expect(clippy::disallowed_methods, reason = "asks whether a folder was named")]
fn is_folder(path: &Path) -> bool {
    path.is_dir()
}

fn copy(checked: &CheckedPackage, folder: &Path) -> Result<(), Failure> {
    let CheckedPackage::Package(report) = checked else {
        return Err(Failure::usage("of a manifest alone there are no files to copy")
            .with_help("name the folder of the package"));
    };
    // What is refused is not copied; the report says why.
    let Some(package) = report.verified() else { return Ok(()) };
    package.write_to(folder).map_err(|error| {
        Failure::incomplete(format_args!("cannot write to {}: {error}", escape_path(folder)))
            .with_help("name a folder that is not there yet, in one that is")
    })
}
