//! The trail as the rest of the program sees it.
#![expect(
    clippy::disallowed_methods,
    reason = "reads the clock, resolves links, and asks the environment where states are kept"
)]

mod checking;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::SystemTime;

use crate::anchor::Anchor;
use crate::error::{AuditError, Disagreement};
use crate::event::AuditEvent;
use crate::field;
use crate::kind::{EventKind, EventPhase};
use crate::look_back::{Seals, look_back};
use crate::name::new_name;
use crate::opening::{BESIDE, WRITERS, beside, open_store, open_store_to_read, resolved};
use crate::query::AuditQuery;
use crate::receipt::{self, NoReceipt, Receipt};
use crate::record::{AuditRecord, Draft, Head};
use crate::register::{Known, Register, Rotation};
use crate::sealing::{Due, Sealing, check_unsealed};
use crate::store::{Seal, Store};
use crate::writers::{self, Writer};
use stockade_credentials::Redactor;
use stockade_files::real_path;
use stockade_text::Timestamp;

/// What writes to a trail.
type Write<'w, T> = &'w mut dyn FnMut(&mut dyn Store, Timestamp, Seal<'_>) -> Result<T, AuditError>;

/// How a trail is written.
#[derive(Debug, Clone, Default)]
pub struct AuditOptions {
    /// What is taken out of every event.
    pub redactor: Redactor,
    /// What becomes of an action that cannot be put on record.
    pub unrecorded: Unrecorded,
    /// The folder of the register, which knows where each trail ends and has the keys of its seals. Without one, records are
    /// not sealed; a trail that is sealed is then refused. It belongs where no command can write, see [`register_folder`].
    ///
    /// [`register_folder`]: crate::private::register_folder
    pub register: Option<PathBuf>,
    /// Where checkpoints are told besides.
    pub anchors: Vec<Anchor>,
}

impl AuditOptions {
    /// With the register of this user, see [`default_register_folder`]; without one where there is no place for it.
    ///
    /// [`default_register_folder`]: crate::private::default_register_folder
    #[must_use]
    pub fn of_user() -> Self {
        Self { register: crate::private::default_register_folder(), ..Self::default() }
    }
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
#[must_use = "with `Unrecorded::Warn`, the caller has to report what is not on record"]
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
/// use stockade_audit::{AuditEvent, AuditOptions, AuditQuery, AuditTrail, EventKind, field};
///
/// let folder = tempfile::tempdir()?;
/// let trail = AuditTrail::open(&folder.path().join("audit.jsonl"), AuditOptions::default())?;
/// let run = trail.start(AuditEvent::new(EventKind::SandboxStarted).with(field::COMMAND, "make test"))?;
/// run.end(AuditEvent { exit_code: Some(0), ..AuditEvent::new(EventKind::SandboxCompleted) })?;
///
/// assert_eq!(trail.query(&AuditQuery::default())?.len(), 2);
/// assert!(trail.verify(None)?.intact());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct AuditTrail(Arc<Inner>, Arc<Redactor>);

struct Inner {
    /// Where it is, without links.
    path: PathBuf,
    /// The path as the caller gave it.
    named: PathBuf,
    store: Mutex<Box<dyn Store>>,
    sealing: Option<Sealing>,
    writer: Option<Writer>,
    options: AuditOptions,
    clock: fn() -> SystemTime,
}

/// Something that began and is on record. Exactly one end follows: the one that is given, or, when this is dropped
/// without one, that the outcome was not recorded.
#[derive(Debug)]
#[must_use = "say how it ended"]
pub struct AuditedRun {
    trail: AuditTrail,
    /// Where the start could not be put on record and the action goes on, there is nothing to end.
    name: Option<String>,
    ended: bool,
}

impl AuditTrail {
    /// Leaves what was written in the journal of the database when the trail is closed, for a process that writes few records and
    /// ends soon, as the next one will. To move them into the database takes two waits for the disk, and making the journal anew
    /// one more; what is in the journal is as safe, and is moved when there is enough of it, or by the next process that closes
    /// the trail.
    pub fn keep_journal(&self) {
        // A trail that cannot be used says so where something is put on record.
        if let Ok(mut store) = self.store() {
            store.keep_journal();
        }
    }

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
        let unusable = |doing, source: std::io::Error| AuditError::Unusable {
            path: path.to_owned(),
            doing,
            source: source.into(),
        };
        let (named, path) = (path, &resolved(path).map_err(|error| unusable("opening it", error))?);
        let register = options.register.as_deref();
        let sealing =
            register.map(|folder| Sealing::find(folder, path, options.anchors.clone())).transpose()?;
        let store = open_store(named)?;
        match (&sealing, register) {
            (Some(sealing), Some(folder)) => sealing.enter(folder, &*store, clock().into())?,
            _ => check_unsealed(path, &*store)?,
        }
        let folder = beside(path, WRITERS);
        let is_alive = |name: &str| writers::is_alive(&folder, name);
        let seals = if sealing.is_some() { Seals::Required } else { Seals::Missing };
        let may_have_lost = store.at_once(&mut |store| {
            look_back(path, store, seals)?;
            store.may_have_lost(&is_alive)
        })?;
        let enter = |error| unusable("taking a place among its writers", error);
        let writer = Some(Writer::enter(&folder).map_err(enter)?);
        let (path, named) = (path.clone(), named.to_owned());
        let store = Mutex::new(store);
        let redactor = Arc::new(options.redactor.clone());
        let trail = Self(Arc::new(Inner { path, named, store, sealing, writer, options, clock }), redactor);
        // Usually nothing was cut off, and then no lock is waited for.
        if may_have_lost {
            trail.write(Due::Recovery, &mut |store, now, seal| {
                store.recover(&is_alive, now, seal).map(drop)
            })?;
        }
        writers::clear(&folder, trail.writer_name()).map_err(enter)?;
        Ok(trail)
    }

    /// Opens a trail that others write to, to read it. Nothing is created, repaired or recovered.
    ///
    /// # Errors
    /// When the trail does not exist.
    pub fn open_to_read(path: &Path) -> Result<Self, AuditError> {
        Self::open_to_read_beside(path, None)
    }

    /// As [`AuditTrail::open_to_read`], with the folder of the register, which [`AuditTrail::verify`] then asks.
    ///
    /// # Errors
    /// When the trail does not exist: [`AuditError::Disagrees`] where the register knows that there was one.
    pub fn open_to_read_beside(path: &Path, register: Option<&Path>) -> Result<Self, AuditError> {
        let register = register.map(Path::to_path_buf);
        Self::open_to_read_with(path, AuditOptions { register, ..AuditOptions::default() })
    }

    /// As [`AuditTrail::open_to_read_beside`], also with anchors, which [`AuditTrail::verify`] then asks.
    ///
    /// # Errors
    /// As [`AuditTrail::open_to_read_beside`].
    pub fn open_to_read_with(path: &Path, options: AuditOptions) -> Result<Self, AuditError> {
        let register = options.register.as_deref();
        // What is not there has no place either.
        let (named, path) = (path.to_owned(), resolved(path).unwrap_or_else(|_| path.to_owned()));
        let known = known(register, &path)?;
        let (records, rotation) = known.map_or((0, None), |known| (known.head.id, known.rotation));
        let store = match (open_store_to_read(&named), rotation) {
            // The new trail is missing, or not begun.
            (Err(_), Some(Rotation { to, .. })) => return Err(AuditError::Rotating { path, to }),
            (Err(_), None) if records > 0 && std::fs::symlink_metadata(&path).is_err() => {
                return Err(AuditError::Disagrees { path, why: Disagreement::Gone { records } });
            }
            (opened, _) => Mutex::new(opened?),
        };
        let inner =
            Inner { path, named, store, sealing: None, writer: None, options, clock: SystemTime::now };
        Ok(Self(Arc::new(inner), Arc::default()))
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
        let folder = crate::private::default_state_folder().map_err(homeless)?;
        let register = options.register.or_else(|| Some(crate::private::register_folder(&folder)));
        Self::open(&path, AuditOptions { register, ..options })
    }

    /// Where the trail of this user is: `stockade/audit.db` in `$XDG_STATE_HOME`, or in `~/.local/state`; nowhere when
    /// neither variable holds an absolute path.
    #[must_use]
    pub fn default_path() -> Option<PathBuf> {
        let name = if cfg!(feature = "sqlite") { "audit.db" } else { "audit.jsonl" };
        let folder = crate::private::state_folder(|name| std::env::var_os(name).map(PathBuf::from))?;
        Some(folder.join(name))
    }

    /// Returns the same trail, for what must not have the values of these variables on record: what a command gets for its
    /// environment, it may name and print.
    #[must_use]
    pub fn hiding<'v>(&self, variables: impl IntoIterator<Item = (&'v str, &'v str)>) -> Self {
        Self(Arc::clone(&self.0), Arc::new(Redactor::clone(&self.1).hide_variables(variables)))
    }

    /// Records an event that is complete by itself. It is on the disk when this returns.
    ///
    /// # Errors
    /// When it cannot be kept, unless [`Unrecorded::Warn`] was chosen. Whatever it allows must not be done then.
    pub fn record(&self, event: AuditEvent) -> Result<Recorded, AuditError> {
        self.record_all(vec![event])
    }

    /// Puts several events on record, all or none of them, in this order. It takes one wait for the disk.
    ///
    /// # Errors
    /// As [`AuditTrail::record`].
    pub fn record_all(&self, events: Vec<AuditEvent>) -> Result<Recorded, AuditError> {
        only_points(&events)?;
        self.append_all(events.into_iter().map(|event| (event, None)).collect())
    }

    /// Puts on record that something begins, before it does.
    ///
    /// # Errors
    /// As [`AuditTrail::record`].
    pub fn start(&self, event: AuditEvent) -> Result<AuditedRun, AuditError> {
        self.start_behind(Vec::new(), event)
    }

    /// As [`AuditTrail::start`], behind the decisions that led to it: all of them are put on record, or none. It takes one wait
    /// for the disk.
    ///
    /// # Errors
    /// As [`AuditTrail::record`].
    pub fn start_behind(
        &self,
        decisions: Vec<AuditEvent>,
        event: AuditEvent,
    ) -> Result<AuditedRun, AuditError> {
        only_points(&decisions)?;
        if event.kind.phase() != EventPhase::Start {
            return Err(misused(event.kind, "does not begin a run"));
        }
        let name = new_name().map_err(|source| self.nameless(source))?;
        let decisions = decisions.into_iter().map(|decision| (decision, None));
        let events = decisions.chain([(event, Some(name.as_str()))]).collect();
        let name = match self.append_all(events)? {
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

    /// Makes a receipt of one record: that it was on record when a checkpoint was made. It can be checked without
    /// the trail, see [`Receipt::check`].
    ///
    /// # Errors
    /// When the trail cannot be read.
    pub fn receipt(&self, id: u64) -> Result<Result<Receipt, NoReceipt>, AuditError> {
        let store = self.store()?;
        store.check_form()?;
        receipt::make(&**store, &self.0.path, id)
    }

    /// Checks that a process that may write to `may_write` cannot write to the trail, nor to its other files. `may_write`
    /// returns the writable part of a path, or of its surroundings.
    ///
    /// # Errors
    /// When it could: it might silence its own record.
    pub fn check_out_of_reach<'p>(
        &self,
        may_write: impl Fn(&Path) -> Option<&'p Path>,
    ) -> Result<(), AuditError> {
        let files = BESIDE.iter().map(|ending| beside(&self.0.path, ending)).chain(self.register());
        let within = std::iter::once(self.0.path.clone())
            .chain(files)
            .find_map(|path| may_write(&path).map(Path::to_path_buf));
        match within {
            None => Ok(()),
            Some(within) => Err(AuditError::WithinReach { path: self.0.path.clone(), within }),
        }
    }

    /// Where the register is, without links.
    fn register(&self) -> Option<PathBuf> {
        let folder = self.0.options.register.as_ref()?;
        Some(real_path(folder).unwrap_or_else(|_| folder.clone()))
    }

    fn append(&self, event: AuditEvent, run: Option<&str>) -> Result<Recorded, AuditError> {
        self.append_all(vec![(event, run)])
    }

    /// Puts events on record, each with the run that it belongs to.
    fn append_all(&self, events: Vec<(AuditEvent, Option<&str>)>) -> Result<Recorded, AuditError> {
        let kind = events.last().map_or(EventKind::TrailBegun, |(event, _)| event.kind);
        let writer = self
            .0
            .writer
            .as_ref()
            .ok_or_else(|| misused(kind, "cannot be written: the trail was opened to be read"))?;
        let due = if kind.phase() == EventPhase::End { Due::Now } else { Due::Sometimes };
        let draft = |(event, run): (AuditEvent, Option<&str>)| Draft {
            event: event.made_safe(&self.1),
            run: run.map(str::to_owned),
            writer: writer.name.clone(),
        };
        let drafts: Vec<Draft> = events.into_iter().map(draft).collect();
        let kept = self.write(due, &mut |store, now, seal| store.append(drafts.clone(), now, seal));
        match (kept, self.0.options.unrecorded) {
            (Ok(head), _) => Ok(Recorded::Kept(head)),
            (Err(error), Unrecorded::Warn) => Ok(Recorded::Lost(error)),
            (Err(error), Unrecorded::Refuse) => Err(error),
        }
    }

    /// Lets something write, to the file that is there now: the one that was opened may have been set aside meanwhile.
    fn write<T>(&self, due: Due, act: Write<'_, T>) -> Result<T, AuditError> {
        let mut store = self.store()?;
        match (self.write_once(&mut **store, due, act), &self.0.sealing, &self.0.options.register) {
            (Err(AuditError::Displaced { .. }), Some(sealing), Some(folder)) => {
                // Only the register distinguishes a new trail from a planted one.
                let found = Sealing::find(folder, &self.0.path, Vec::new());
                let found = found.and_then(|_| open_store(&self.0.named))?;
                sealing.enter(folder, &*found, (self.0.clock)().into())?;
                *store = found;
                self.write_once(&mut **store, due, act)
            }
            (written, ..) => written,
        }
    }

    /// Writes what another process could not put on record.
    pub(crate) fn write_what_is_due(&self) -> Result<(), AuditError> {
        self.write(Due::Now, &mut |_, _, _| Ok(()))
    }

    /// Puts the first record of a trail that no register knows on record.
    pub(crate) fn append_draft(&self, rotation: &Rotation) -> Result<(), AuditError> {
        self.write(Due::Now, &mut |store, now, seal| {
            store.append(vec![rotation.draft()], now, seal).map(drop)
        })
    }

    fn write_once<T>(&self, store: &mut dyn Store, due: Due, act: Write<'_, T>) -> Result<T, AuditError> {
        let now = (self.0.clock)().into();
        match &self.0.sealing {
            Some(sealing) => sealing.write(store, now, due, |store, seal| act(store, now, seal)),
            None => act(store, now, &mut |_| ()),
        }
    }

    fn store(&self) -> Result<MutexGuard<'_, Box<dyn Store>>, AuditError> {
        self.0.store.lock().map_err(|_| AuditError::Poisoned)
    }

    /// The name by which others know this writer; empty where the trail is only read.
    fn writer_name(&self) -> &str {
        self.0.writer.as_ref().map_or("", |writer| &writer.name)
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
        self.trail.append(event, self.name.as_deref())
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
        self.trail.append(event, start.as_deref())
    }
}

impl Drop for AuditedRun {
    fn drop(&mut self) {
        if let Some(name) = self.name.take().filter(|_| !self.ended) {
            let event =
                AuditEvent::new(EventKind::SandboxError).with(field::ERROR, "the outcome was not recorded");
            // If this fails, the run stays open, and the next to open the trail ends it.
            self.trail.append(event, Some(&name)).ok();
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

/// Whether no event begins or ends a run, which has a name and an end.
fn only_points(events: &[AuditEvent]) -> Result<(), AuditError> {
    match events.iter().find(|event| event.kind.phase() != EventPhase::Point) {
        Some(event) => Err(misused(event.kind, "begins or ends a run: use `start` and `AuditedRun::end`")),
        None => Ok(()),
    }
}

fn misused(kind: EventKind, rule: &'static str) -> AuditError {
    AuditError::Misused { event: kind.name(), rule }
}

/// What the register knows of a trail.
fn known(register: Option<&Path>, path: &Path) -> Result<Option<Known>, AuditError> {
    let unusable = |error: std::io::Error| AuditError::Unusable {
        path: path.to_owned(),
        doing: "reading its register",
        source: error.into(),
    };
    let found = register.map(|folder| Register::find(folder, path)).transpose().map_err(unusable)?.flatten();
    found.map(|register| register.read()).transpose().map(Option::flatten).map_err(unusable)
}
