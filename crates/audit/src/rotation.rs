//! Setting a trail aside: because it has become long, or because it is not the one that was written any more.
#![expect(clippy::disallowed_methods, reason = "renames the files of a trail")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::AuditError;
use crate::event::AuditEvent;
use crate::field;
use crate::kind::{EventKind, EventSeverity};
use crate::opening::{BESIDE, WRITERS, beside, resolved};
use crate::record::Head;
use crate::register::Register;
use crate::trail::{AuditOptions, AuditTrail, Recorded};

/// What became of a trail that was set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rotated {
    /// Where it ended, as far as that is known: by itself where it was as it was written, else by the register.
    pub before: Head,
    /// Why it could not be gone on with, if it could not.
    pub wrong: Option<String>,
}

impl AuditTrail {
    /// Sets a trail aside, under another name, and begins a new one in its place, whose first record says so.
    ///
    /// # Errors
    /// When a run is under way in it, when something has the other name already, or when it cannot be renamed.
    pub fn rotate(path: &Path, options: AuditOptions, to: &Path) -> Result<Rotated, AuditError> {
        let unusable = |source: io::Error| AuditError::Unusable {
            path: path.to_owned(),
            doing: "archiving it",
            source: source.into(),
        };
        let (path, to) = (&resolved(path).map_err(unusable)?, &resolved(to).map_err(unusable)?);
        let rotated = state(path, &options).map_err(unusable)?;
        let register = options.register.as_deref();
        let register = register.map(|folder| Register::open(folder, path)).transpose().map_err(unusable)?;
        {
            let _locked = register.as_ref().map(Register::lock).transpose().map_err(unusable)?;
            set_aside(path, to).map_err(unusable)?;
            register.as_ref().map(Register::forget).transpose().map_err(unusable)?;
        }
        let event =
            AuditEvent::new(EventKind::TrailBegun).with(field::SET_ASIDE, to.to_string_lossy().into_owned());
        let event =
            event.with(field::RECORDS, rotated.before.id).with(field::LAST, rotated.before.hash.clone());
        let event = match &rotated.wrong {
            None => event,
            Some(wrong) => {
                AuditEvent { severity: Some(EventSeverity::High), ..event }.with(field::WRONG, wrong.as_str())
            }
        };
        match Self::open(path, options)?.record(event)? {
            Recorded::Kept(_) => Ok(rotated),
            Recorded::Lost(error) => Err(error),
        }
    }
}

/// Looks whether a trail is as it was written.
fn state(path: &Path, options: &AuditOptions) -> io::Result<Rotated> {
    // What there is of one that is gone is all gone: opening it would make a new one.
    let opened = match fs::symlink_metadata(path) {
        Ok(_) => AuditTrail::open(path, options.clone()).and_then(|trail| trail.verify(None)),
        Err(error) => {
            Err(AuditError::Unusable { path: path.to_owned(), doing: "opening it", source: error.into() })
        }
    };
    match opened {
        Ok(verified) if verified.open_runs > 0 => {
            Err(io::Error::other("a run is in progress; wait until it ends, or stop it"))
        }
        Ok(verified) => {
            let wrong = verified.faults.first().map(ToString::to_string);
            Ok(Rotated { before: verified.head, wrong })
        }
        Err(error) => Ok(Rotated { before: known(path, options), wrong: Some(error.to_string()) }),
    }
}

/// The end of the trail according to the register.
fn known(path: &Path, options: &AuditOptions) -> Head {
    let found = options.register.as_deref().and_then(|folder| Register::find(folder, path).ok().flatten());
    found.and_then(|register| register.read().ok().flatten()).map_or_else(Head::default, |known| known.head)
}

/// Renames all that belongs to the trail but the folder of its writers, who may go on with the new one.
fn set_aside(path: &Path, to: &Path) -> io::Result<()> {
    let files = || BESIDE.iter().filter(|ending| **ending != WRITERS).chain(&[""]);
    if let Some(taken) = files().map(|ending| beside(to, ending)).find(|to| fs::symlink_metadata(to).is_ok())
    {
        let there: PathBuf = taken;
        return Err(io::Error::other(format!("{} already exists", there.display())));
    }
    files().try_for_each(|ending| match fs::rename(beside(path, ending), beside(to, ending)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    })
}
