//! The lines that a backend writes.

use std::io::{self, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use stockade_exec_sandbox::backends::protocol::{
    BackendLine, EndCause, NamedGap, NamedMeans, RefusedRequest, WorkspaceSeen,
};
use stockade_exec_sandbox::{Denial, End, Enforcement, Outcome, RunError};

/// Standard output, on which several threads write whole lines.
#[derive(Debug, Clone, Default)]
pub(super) struct Lines(Arc<Mutex<()>>);

impl Lines {
    /// Writes a line at once.
    pub(super) fn write(&self, line: &BackendLine) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        let _one_at_a_time = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut stdout = io::stdout().lock();
        stdout.write_all(&text)?;
        stdout.flush()
    }

    /// Tells a person something.
    pub(super) fn tell(text: &str) {
        writeln!(io::stderr(), "{text}").ok();
    }
}

/// What holds for a request, with the means and the gaps.
pub(super) fn capabilities(enforcement: &Enforcement) -> BackendLine {
    let enforced = enforcement
        .enforced
        .iter()
        .map(|(property, by)| NamedMeans { property: property.name().to_owned(), by: (*by).to_owned() });
    let gaps = enforcement
        .gaps
        .iter()
        .map(|gap| NamedGap { property: gap.property.name().to_owned(), why: gap.why.to_owned() });
    BackendLine::Capabilities {
        holds: enforcement.enforced.iter().map(|(property, _)| property.name().to_owned()).collect(),
        workspace: WorkspaceSeen::Copy,
        enforced: enforced.collect(),
        gaps: gaps.collect(),
    }
}

/// How a command ended.
pub(super) fn ended(outcome: &Outcome) -> BackendLine {
    let (cause, code) = match outcome.end {
        End::Exited(code) => (EndCause::Exited, Some(code)),
        End::Signalled(signal) => (EndCause::Signalled, Some(signal)),
        End::OutOfMemory => (EndCause::OutOfMemory, None),
        End::NotFound => (EndCause::NotFound, None),
        End::NotExecutable => (EndCause::NotExecutable, None),
        End::TimedOut => (EndCause::TimedOut, None),
        End::OutOfDisk => (EndCause::OutOfDisk, None),
        // No remote backend ends a command for another reason.
        _ => (EndCause::Cancelled, None),
    };
    BackendLine::End { cause, code, memory_ran_out: outcome.denials.contains(&Denial::Memory) }
}

/// Why a command did not run to its end.
pub(super) fn failed(error: &RunError) -> BackendLine {
    match error {
        RunError::Refused(refusal) => BackendLine::Refused(RefusedRequest::of(refusal)),
        RunError::Setup { doing, source } => {
            BackendLine::Error { message: source.to_string(), doing: Some(doing.clone()) }
        }
        RunError::Watch(source) => BackendLine::Error { message: source.to_string(), doing: None },
        other => BackendLine::Error { message: other.to_string(), doing: None },
    }
}
