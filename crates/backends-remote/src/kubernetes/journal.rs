//! How far the runs of a fleet are, in a file that outlives the client: a line of JSON for each step, written before the step is
//! taken.

#![expect(clippy::disallowed_methods, reason = "keeps a file")]

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::KubernetesError;
use super::name::RunName;
use super::run::ClusterEnd;
use stockade_exec_sandbox::End;

/// The longest line that is read back.
const MAX_LINE: u64 = 16 << 10;

/// How far a run of a fleet is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FleetStep {
    /// It is about to be made, so that it does not begin. Nothing of it ran.
    Making,
    /// It is about to be let go. It may have run.
    Starting,
    /// Its command ended and was followed to its end.
    Ended {
        /// How, by the stable name of an end: `exited`, `timed-out`, `out-of-memory`.
        end: String,
        /// The exit code of a program that ran it in its own place.
        code: u8,
        /// Whether some of what it printed could not be read.
        lost_output: bool,
    },
    /// It never began, or how it ended is unknown.
    Failed {
        /// Why.
        why: String,
        /// Whether it may have run.
        may_have_run: bool,
    },
}

impl FleetStep {
    pub(super) fn of(end: &ClusterEnd) -> Self {
        let code = match end.end {
            End::Exited(code) => u8::try_from(code).unwrap_or(u8::MAX),
            end => end.exit_code(),
        };
        Self::Ended { end: end.end.name().to_owned(), code, lost_output: end.lost_output }
    }

    /// Whether nothing more is to be done.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        matches!(self, Self::Ended { .. } | Self::Failed { .. })
    }
}

#[derive(Serialize, Deserialize)]
struct Line {
    run: String,
    #[serde(flatten)]
    record: FleetStep,
}

#[derive(Serialize, Deserialize)]
struct Head {
    fleet: String,
    version: u32,
}

/// How far the runs of a fleet are. Only one program has it open.
#[derive(Debug)]
pub struct FleetJournal {
    fleet: RunName,
    kept: Mutex<Kept>,
}

#[derive(Debug)]
struct Kept {
    file: File,
    runs: BTreeMap<RunName, FleetStep>,
}

impl FleetJournal {
    /// Opens the journal of a fleet, or begins one.
    ///
    /// # Errors
    /// When the file is not a journal, another program is using it, or it is that of another fleet.
    pub fn open(path: &Path, fleet: &RunName) -> Result<Self, KubernetesError> {
        let wrong = |why: String| KubernetesError::Journal(format!("{}: {why}", path.display()));
        let failed = |error: std::io::Error| wrong(error.to_string());
        let mut options = OpenOptions::new();
        let mut file = options.read(true).append(true).create(true).mode(0o600).open(path).map_err(failed)?;
        file.try_lock().map_err(|_| wrong("another program is using it".to_owned()))?;
        let (runs, length) = read(&mut file, fleet).map_err(wrong)?;
        // A line that was being written when the client was killed is no step.
        file.set_len(length).map_err(failed)?;
        let journal = Self { fleet: fleet.clone(), kept: Mutex::new(Kept { file, runs }) };
        if length == 0 {
            let head = Head { fleet: fleet.to_string(), version: 1 };
            journal.append(&head).map_err(|error| wrong(error.to_string()))?;
        }
        Ok(journal)
    }

    /// The name of the fleet.
    #[must_use]
    pub const fn fleet(&self) -> &RunName {
        &self.fleet
    }

    /// How far each run is that was begun.
    #[must_use]
    pub fn runs(&self) -> BTreeMap<RunName, FleetStep> {
        self.kept().runs.clone()
    }

    pub(super) fn of(&self, run: &RunName) -> Option<FleetStep> {
        self.kept().runs.get(run).cloned()
    }

    /// Writes down a step, and returns when it is on disk.
    pub(super) fn write(&self, run: &RunName, record: FleetStep) -> Result<(), KubernetesError> {
        let line = Line { run: run.to_string(), record };
        self.append(&line).map_err(|error| KubernetesError::Journal(error.to_string()))?;
        self.kept().runs.insert(run.clone(), line.record);
        Ok(())
    }

    fn append(&self, line: &impl Serialize) -> std::io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        let mut kept = self.kept();
        kept.file.write_all(&text)?;
        kept.file.sync_data()
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type Runs = BTreeMap<RunName, FleetStep>;

/// Reads what was written down, and how many bytes of it are whole lines.
fn read(file: &mut File, fleet: &RunName) -> Result<(Runs, u64), String> {
    file.seek(SeekFrom::Start(0)).map_err(|error| error.to_string())?;
    let mut lines = BufReader::new(file);
    let (mut runs, mut length, mut line) = (Runs::new(), 0, Vec::new());
    for number in 1.. {
        line.clear();
        let from = std::io::Read::take(&mut lines, MAX_LINE);
        let count = {
            let mut from = from;
            from.read_until(b'\n', &mut line)
        }
        .map_err(|error| error.to_string())?;
        if count == 0 || !line.ends_with(b"\n") {
            let is_cut = count < MAX_LINE as usize;
            return if is_cut { Ok((runs, length)) } else { Err(format!("line {number} is too long")) };
        }
        if number == 1 {
            let head: Head =
                serde_json::from_slice(&line).map_err(|_| "it is not the journal of a fleet".to_owned())?;
            if head.fleet != fleet.as_str() || head.version != 1 {
                return Err(format!("it belongs to the fleet {}", stockade_text::escape(&head.fleet)));
            }
        } else {
            let wrong = || format!("line {number} is invalid");
            let read: Line = serde_json::from_slice(&line).map_err(|_| wrong())?;
            runs.insert(RunName::new(&read.run).map_err(|_| wrong())?, read.record);
        }
        length += count as u64;
    }
    Ok((runs, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> RunName {
        RunName::new(text).unwrap()
    }

    #[test]
    fn journal_steps_are_read_back_without_a_truncated_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let journal = FleetJournal::open(&path, &name("f")).unwrap();
        assert!(FleetJournal::open(&path, &name("f")).is_err(), "one program has it open");
        journal.write(&name("a"), FleetStep::Making).unwrap();
        journal.write(&name("a"), FleetStep::Starting).unwrap();
        journal.write(&name("b"), FleetStep::Making).unwrap();
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
        for length in last..whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            let journal = FleetJournal::open(&path, &name("f")).unwrap();
            assert_eq!(journal.runs(), [(name("a"), FleetStep::Starting)].into());
            journal
                .write(&name("c"), FleetStep::Failed { why: "x\ny".to_owned(), may_have_run: true })
                .unwrap();
            drop(journal);
            assert_eq!(FleetJournal::open(&path, &name("f")).unwrap().runs().len(), 2);
        }
    }

    #[test]
    fn an_invalid_journal_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        for text in
            ["x\n", "{}\n", "{\"fleet\":\"g\",\"version\":1}\n", "{\"fleet\":\"f\",\"version\":1}\nx\n"]
        {
            std::fs::write(&path, text).unwrap();
            let error = FleetJournal::open(&path, &name("f")).unwrap_err();
            assert!(matches!(error, KubernetesError::Journal(_)), "{text}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "it is let be");
        }
    }
}
