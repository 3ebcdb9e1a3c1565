//! Standard output: colors, and closed pipes.
#![expect(
    clippy::disallowed_methods,
    reason = "writes to standard output and reads color settings of the environment"
)]

use std::env;
use std::io::{self, BufWriter, IsTerminal as _, Stdout, Write};
use std::ops::ControlFlow;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::style::{ColorChoice, Styles};

/// Buffered standard output that remembers its first error.
#[derive(Debug)]
pub(crate) struct Output {
    to: BufWriter<Stdout>,
    error: Option<io::Error>,
}

impl Output {
    pub(crate) fn new() -> Self {
        Self { to: BufWriter::with_capacity(64 << 10, io::stdout()), error: None }
    }

    /// Writes `text`. Returns `Break` after an error.
    pub(crate) fn write(&mut self, text: &str) -> ControlFlow<()> {
        match self.to.write_all(text.as_bytes()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.error.get_or_insert(error);
                ControlFlow::Break(())
            }
        }
    }

    /// Flushes the output, for readers that wait for it. Returns `Break` after an error.
    pub(crate) fn flush(&mut self) -> ControlFlow<()> {
        match self.to.flush() {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.error.get_or_insert(error);
                ControlFlow::Break(())
            }
        }
    }

    /// Returns `exit`, unless the output could not be written.
    ///
    /// A closed pipe (`stockade scan … | head`) is not reported as an error, but truncated output is not "clean" either.
    pub(crate) fn finish(mut self, exit: Exit) -> Result<Exit, Failure> {
        let outcome = match self.error.take() {
            Some(error) => Err(error),
            None => self.to.flush(),
        };
        match outcome {
            Ok(()) => Ok(exit),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe && exit == Exit::Found => Ok(exit),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Incomplete),
            Err(error) => Err(Failure::incomplete(format_args!("cannot write the output: {error}"))),
        }
    }
}

/// Returns the styles for standard output.
pub(crate) fn styles(choice: ColorChoice) -> Styles {
    let on = match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if is_set("NO_COLOR") => false,
        ColorChoice::Auto if is_set("CLICOLOR_FORCE") => true,
        ColorChoice::Auto => {
            io::stdout().is_terminal() && env::var_os("TERM").is_none_or(|term| term != "dumb")
        }
    };
    if on { Styles::COLOURED } else { Styles::PLAIN }
}

/// Whether a variable is set, by the conventions of no-color.org and bixense.com/clicolors.
fn is_set(name: &str) -> bool {
    env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0")
}
