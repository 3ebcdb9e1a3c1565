//! The trail as the rest of the program sees it.
#![expect(
    clippy::disallowed_methods,
    reason = "reads the clock, resolves links, and asks the environment where states are kept"
)]

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::SystemTime;

use crate::error::AuditError;
use crate::event::AuditEvent;
use crate::json_lines::JsonLines;
use crate::kind::{EventKind, EventPhase};
use crate::name::new_name;
use crate::query::AuditQuery;
use crate::record::{AuditRecord, Draft, Head};
use crate::redact::Redactor;
use crate::store::Store;
use crate::verify::{Verified, verify};
use crate::writers::{self, Writer};

/// How a trail is written.
#[derive(Debug, Clone, Default)]
pub struct AuditOptions {
    /// What is taken out of every event.
    pub redactor: Redactor,
    /// What becomes of an action that cannot be put on record.
    pub unrecorded: Unrecorded,
}

/// What becomes of an action that cannot be put on record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Unrecorded {
    /// What cannot be recorded is refused.
    #[default]
    Refuse,
    /// It is done all the same, and the caller is told that it is not on record.
    Warn,
}

/// What became of an event.
#[derive(Debug)]
#[must_use = "with `Unrecorded::Warn`, somebody has to say what is not on record"]
pub enum Recorded {
    /// It is on record, and on the disk.
    Kept(Head),
    /// It is not. The action goes on, as was chosen.
    Lost(AuditError),
}

/// An audit trail: what was allowed, refused and run, in an order that cannot be changed unseen.
///
/// A file whose name ends in `.jsonl` holds lines of JSON; any other is an SQLite database. Clones share the file, and so
/// may other processes.
///
/// ```
/// use stockade_audit::{AuditEvent, AuditOptions, AuditQuery, AuditTrail, EventKind};
///
/// let folder = tempfile::tempdir()?;
/// let trail = AuditTrail::open(&folder.path().join("audit.jsonl"), AuditOptions::default())?;
/// let run = trail.start(AuditEvent::new(EventKind::SandboxStarted).with("command", "make test"))?;
/// run.end(AuditEvent { exit_code: Some(0), ..AuditEvent::new(EventKind::SandboxCompleted) })?;
///
/// assert_eq!(trail.query(&AuditQuery::default())?.len(), 2);
/// assert!(trail.verify(None)?.intact());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct AuditTrail(Arc<Inner>);

struct Inner {
    /// Where it is, without links.
    path: PathBuf,
    store: Mutex<Box<dyn Store>>,
    writer: Option<Writer>,
    options: AuditOptions,
    clock: fn() -> SystemTime,
}

/// Something that began and is on record. Exactly one end follows: the one that is given, or, when this is dropped
/// without one, that nobody said how it ended.
#[derive(Debug)]
#[must_use = "say how it ended"]
pub struct AuditedRun {
    trail: AuditTrail,
    /// Where the start could not be put on record and the action goes on, there is nothing to end.
    name: Option<String>,
    ended: bool,
}

impl AuditTrail {
    /// Opens a trail, or creates it, and puts an end on record for whatever a crash cut off. Its folder must exist.
    ///
    /// # Errors
    /// When the trail cannot be used. Nothing that must be on record may be done then.
    pub fn open(path: &Path, options: AuditOptions) -> Result<Self, AuditError> {
        Self::open_with_clock(path, options, SystemTime::now)
    }

    /// As [`AuditTrail::open`], with a clock of the caller's own.
    ///
    /// # Errors
    /// As [`AuditTrail::open`].
    pub fn open_with_clock(
        path: &Path,
        options: AuditOptions,
        clock: fn() -> SystemTime,
    ) -> Result<Self, AuditError> {
        let folder = beside(path, WRITERS);
        let unusable = |source| AuditError::Unusable {
            path: path.to_owned(),
            doing: "taking a place among its writers",
            source: Box::new(source),
        };
        let mut store = open_store(path)?;
        let writer = Writer::enter(&folder).map_err(unusable)?;
        store.recover(&|name| writers::is_alive(&folder, name), clock().into())?;
        writers::clear(&folder).map_err(unusable)?;
        let path = resolved(path).map_err(unusable)?;
        Ok(Self(Arc::new(Inner { path, store: Mutex::new(store), writer: Some(writer), options, clock })))
    }

    /// Opens a trail that others write to, to read it. Nothing is created, mended or recovered.
    ///
    /// # Errors
    /// When there is no such trail.
    pub fn open_to_read(path: &Path) -> Result<Self, AuditError> {
        let store = open_store_to_read(path)?;
        let (path, options) = (path.to_owned(), AuditOptions::default());
        Ok(Self(Arc::new(Inner {
            path,
            store: Mutex::new(store),
            writer: None,
            options,
            clock: SystemTime::now,
        })))
    }

    /// Opens the trail of this user, see [`AuditTrail::default_path`], or creates it.
    ///
    /// # Errors
    /// As [`AuditTrail::open`], and when there is no place for it.
    pub fn open_default(options: AuditOptions) -> Result<Self, AuditError> {
        let path = Self::default_path().unwrap_or_default();
        let homeless = |source: std::io::Error| AuditError::Unusable {
            path: path.clone(),
            doing: "finding its folder",
            source: source.into(),
        };
        crate::private::default_state_folder().map_err(homeless)?;
        Self::open(&path, options)
    }

    /// Where the trail of this user is: `stockade/audit.db` in `$XDG_STATE_HOME`, or in `~/.local/state`; nowhere when
    /// neither variable holds an absolute path.
    #[must_use]
    pub fn default_path() -> Option<PathBuf> {
        let name = if cfg!(feature = "sqlite") { "audit.db" } else { "audit.jsonl" };
        let folder = crate::private::state_folder(|name| std::env::var_os(name).map(PathBuf::from))?;
        Some(folder.join(name))
    }

    /// Puts an event on record that stands for itself. It is on the disk when this returns.
    ///
    /// # Errors
    /// When it cannot be kept, unless [`Unrecorded::Warn`] was chosen. Whatever it allows must not be done then.
    pub fn record(&self, event: AuditEvent) -> Result<Recorded, AuditError> {
        if event.kind.phase() != EventPhase::Point {
            return Err(misused(event.kind, "begins or ends a run: use `start` and `AuditedRun::end`"));
        }
        self.append(event, None)
    }

    /// Puts on record that something begins, before it does.
    ///
    /// # Errors
    /// As [`AuditTrail::record`].
    pub fn start(&self, event: AuditEvent) -> Result<AuditedRun, AuditError> {
        if event.kind.phase() != EventPhase::Start {
            return Err(misused(event.kind, "does not begin a run"));
        }
        let name = new_name().map_err(|source| self.nameless(source))?;
        let name = match self.append(event, Some(name.clone()))? {
            Recorded::Kept(_) => Some(name),
            Recorded::Lost(_) => None,
        };
        Ok(AuditedRun { trail: self.clone(), name, ended: false })
    }

    /// Returns the newest records that a question asks for, the newest first.
    ///
    /// # Errors
    /// When the trail cannot be read.
    pub fn query(&self, query: &AuditQuery) -> Result<Vec<AuditRecord>, AuditError> {
        let store = self.store()?;
        store.check_form()?;
        store.query(query)
    }

    /// Shows every record that can be read, the oldest first, until told to stop.
    ///
    /// # Errors
    /// When the trail cannot be read, or a record cannot.
    pub fn each(
        &self,
        mut see: impl FnMut(AuditRecord) -> std::ops::ControlFlow<()>,
    ) -> Result<(), AuditError> {
        let mut damaged = None;
        let store = self.store()?;
        store.check_form()?;
        store.each(&mut |entry| match entry {
            crate::store::Entry::Record(record) => see(*record),
            crate::store::Entry::Damaged { id, reason } => {
                damaged = Some((id, reason));
                std::ops::ControlFlow::Break(())
            }
        })?;
        match damaged {
            None => Ok(()),
            Some((id, reason)) => Err(AuditError::Damaged { path: PathBuf::new(), id, reason }),
        }
    }

    /// Returns where the trail ends. Kept in another place, it later proves that nothing before was changed.
    ///
    /// # Errors
    /// When the trail cannot be read.
    pub fn head(&self) -> Result<Head, AuditError> {
        let store = self.store()?;
        store.check_form()?;
        store.head()
    }

    /// Looks at every record and says what is not as it was written. `expected` is a [`Head`] that was kept elsewhere.
    ///
    /// # Errors
    /// When the trail cannot be read at all.
    pub fn verify(&self, expected: Option<&Head>) -> Result<Verified, AuditError> {
        verify(&**self.store()?, expected)
    }

    /// Whether whoever may write what `may_write` says cannot write to the trail, nor to what belongs to it. `may_write`
    /// returns what of a path, or of what is around it, may be written.
    ///
    /// # Errors
    /// When it could: it might silence its own record.
    pub fn check_out_of_reach<'p>(
        &self,
        may_write: impl Fn(&Path) -> Option<&'p Path>,
    ) -> Result<(), AuditError> {
        let files = BESIDE.iter().map(|ending| beside(&self.0.path, ending));
        let within = std::iter::once(self.0.path.clone())
            .chain(files)
            .find_map(|path| may_write(&path).map(Path::to_path_buf));
        match within {
            None => Ok(()),
            Some(within) => Err(AuditError::WithinReach { path: self.0.path.clone(), within }),
        }
    }

    fn append(&self, event: AuditEvent, run: Option<String>) -> Result<Recorded, AuditError> {
        let writer = self
            .0
            .writer
            .as_ref()
            .ok_or_else(|| misused(event.kind, "cannot be written: the trail was opened to be read"))?;
        let event = event.made_safe(&self.0.options.redactor);
        let draft = Draft { event, run, writer: writer.name.clone() };
        let kept = self.store().and_then(|mut store| store.append(vec![draft], (self.0.clock)().into()));
        match (kept, self.0.options.unrecorded) {
            (Ok(head), _) => Ok(Recorded::Kept(head)),
            (Err(error), Unrecorded::Warn) => Ok(Recorded::Lost(error)),
            (Err(error), Unrecorded::Refuse) => Err(error),
        }
    }

    fn store(&self) -> Result<MutexGuard<'_, Box<dyn Store>>, AuditError> {
        self.0.store.lock().map_err(|_| AuditError::Poisoned)
    }

    fn nameless(&self, source: std::io::Error) -> AuditError {
        let path = PathBuf::new();
        AuditError::Unusable { path, doing: "naming a run", source: source.into() }
    }
}

impl AuditedRun {
    /// The name of the run, by which its records are found; none where its start could not be put on record.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Puts on record what happened in between.
    ///
    /// # Errors
    /// As [`AuditTrail::record`].
    pub fn record(&self, event: AuditEvent) -> Result<Recorded, AuditError> {
        if event.kind.phase() != EventPhase::Point {
            return Err(misused(event.kind, "begins or ends a run"));
        }
        self.trail.append(event, self.name.clone())
    }

    /// Puts on record how it ended.
    ///
    /// # Errors
    /// As [`AuditTrail::record`]. The run then stays open, and its end is put on record when the trail is opened next.
    pub fn end(mut self, event: AuditEvent) -> Result<Recorded, AuditError> {
        if event.kind.phase() != EventPhase::End {
            return Err(misused(event.kind, "does not end a run"));
        }
        self.ended = true;
        let start = self.name.take();
        if start.is_none() {
            let never_begun = misused(event.kind, "ends a run whose start is not on record");
            return Ok(Recorded::Lost(never_begun));
        }
        self.trail.append(event, start)
    }
}

impl Drop for AuditedRun {
    fn drop(&mut self) {
        if let Some(name) = self.name.take().filter(|_| !self.ended) {
            let event = AuditEvent::new(EventKind::SandboxError).with("error", "nobody said how it ended");
            // If this fails, the run stays open, and the next to open the trail ends it.
            self.trail.append(event, Some(name)).ok();
        }
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditTrail")
            .field("writer", &self.writer)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

fn misused(kind: EventKind, rule: &'static str) -> AuditError {
    AuditError::Misused { event: kind.name(), rule }
}

/// What lies beside a trail and belongs to it.
const BESIDE: &[&str] = &[WRITERS, "-wal", "-shm", "-journal", ".head"];
const WRITERS: &str = ".writers";

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Where a file is, whatever links lead to its folder. The file itself is none: it was opened as such.
fn resolved(path: &Path) -> std::io::Result<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = std::fs::canonicalize(folder)?;
    Ok(path.file_name().map_or_else(|| folder.clone(), |name| folder.join(name)))
}

fn has_lines(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "jsonl")
}

fn open_store(path: &Path) -> Result<Box<dyn Store>, AuditError> {
    if has_lines(path) {
        return Ok(Box::new(JsonLines::open(path)?));
    }
    #[cfg(feature = "sqlite")]
    return Ok(Box::new(crate::sqlite::SqliteTrail::open(path)?));
    #[cfg(not(feature = "sqlite"))]
    Err(no_database(path))
}

fn open_store_to_read(path: &Path) -> Result<Box<dyn Store>, AuditError> {
    if has_lines(path) {
        return Ok(Box::new(JsonLines::open_to_read(path)?));
    }
    #[cfg(feature = "sqlite")]
    return Ok(Box::new(crate::sqlite::SqliteTrail::open_to_read(path)?));
    #[cfg(not(feature = "sqlite"))]
    Err(no_database(path))
}

#[cfg(not(feature = "sqlite"))]
fn no_database(path: &Path) -> AuditError {
    AuditError::Unusable {
        path: path.to_owned(),
        doing: "opening it",
        source: "this program was built without SQLite; name a file that ends in .jsonl".into(),
    }
}
