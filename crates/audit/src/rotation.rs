//! Setting a trail aside: because it has become long, or because it is not the one that was written any more.
#![expect(clippy::disallowed_methods, reason = "renames the files of a trail")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::AuditError;
use crate::opening::{BESIDE, WRITERS, beside, resolved};
use crate::record::Head;
use crate::register::{Known, Register, Rotation};
use crate::trail::{AuditOptions, AuditTrail};

/// What became of a trail that was set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rotated {
    /// The new name of the trail.
    pub to: PathBuf,
    /// Where it ended, as far as that is known: by itself where it was as it was written, else by the register.
    pub before: Head,
    /// Why it could not be gone on with, if it could not.
    pub wrong: Option<String>,
}

impl AuditTrail {
    /// Sets a trail aside, under another name, and begins a new one in its place, whose first record says so. A rotation that was
    /// interrupted is finished instead, under the name that it has.
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
        if let Some(rotated) = finish_interrupted(path, &options) {
            return Ok(rotated);
        }
        let rotated = state(path, to, &options).map_err(unusable)?;
        check_free(to).map_err(unusable)?;
        let (before, wrong) = (rotated.before.clone(), rotated.wrong.clone());
        let rotation = Rotation { to: to.clone(), before, wrong, is_moved: false };
        let Some(folder) = options.register.as_deref() else {
            move_files(path, to).map_err(unusable)?;
            return Self::open(path, options)?.append_draft(&rotation).map(|()| rotated);
        };
        let register = Register::open(folder, path).map_err(unusable)?;
        begin(path, &register, rotation).map_err(unusable)?;
        finish(folder, path, &register).map_err(unusable)?;
        Self::open(path, options)?.write_what_is_due()?;
        Ok(rotated)
    }
}

/// Finishes a rotation that was interrupted, if there is one and it can be.
fn finish_interrupted(path: &Path, options: &AuditOptions) -> Option<Rotated> {
    let register = Register::find(options.register.as_deref()?, path).ok().flatten()?;
    let Rotation { to, before, wrong, .. } = register.read().ok().flatten()?.rotation?;
    let trail = AuditTrail::open(path, options.clone()).ok()?;
    trail.write_what_is_due().ok()?;
    Some(Rotated { to, before, wrong })
}

/// Stores in the register that a trail is rotated. Whatever becomes of this process, the rotation is then finished.
fn begin(path: &Path, register: &Register, rotation: Rotation) -> io::Result<()> {
    let _locked = register.lock()?;
    // A register that cannot be read is one reason to rotate.
    let known = register.read().ok().flatten();
    let mut known = known.map_or_else(|| Known::new(path), Ok)?;
    known.rotation = Some(rotation);
    register.write(&mut known, true)
}

/// Finishes the rotation that a process has begun, up to the first record of the new trail, which the next that writes to it
/// puts before its own.
pub(crate) fn finish(folder: &Path, path: &Path, register: &Register) -> io::Result<()> {
    let begun = |known: Option<Known>| known.filter(Known::is_being_moved);
    if begun(register.read().ok().flatten()).is_none() {
        return Ok(());
    }
    let _locked = register.lock()?;
    let Some(mut known) = begun(register.read()?) else { return Ok(()) };
    let Some(rotation) = known.rotation.take() else { return Ok(()) };
    move_files(path, &rotation.to)?;
    // The archive stays known, so that `verify` finds what is changed in it.
    if known.head.id > 0 && fs::symlink_metadata(&rotation.to).is_ok() {
        Register::open(folder, &rotation.to)?.write(&mut known.at(&rotation.to), true)?;
    }
    let mut next = known.succeeded(Rotation { is_moved: true, ..rotation })?;
    register.write(&mut next, true)
}

/// Looks whether a trail is as it was written.
fn state(path: &Path, to: &Path, options: &AuditOptions) -> io::Result<Rotated> {
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
            Ok(Rotated { to: to.to_owned(), before: verified.head, wrong })
        }
        Err(error) => {
            let (before, wrong) = (known(path, options), Some(error.to_string()));
            Ok(Rotated { to: to.to_owned(), before, wrong })
        }
    }
}

/// The end of the trail according to the register.
fn known(path: &Path, options: &AuditOptions) -> Head {
    let found = options.register.as_deref().and_then(|folder| Register::find(folder, path).ok().flatten());
    found.and_then(|register| register.read().ok().flatten()).map_or_else(Head::default, |known| known.head)
}

/// The endings of all files that belong to a trail. Its writers stay: they may go on with the new one. The trail itself comes
/// first: without what lies beside it, it is not at its place any more.
fn endings() -> impl Iterator<Item = &'static str> {
    std::iter::once("").chain(BESIDE.iter().copied().filter(|ending| *ending != WRITERS))
}

/// Checks that nothing has one of the new names.
fn check_free(to: &Path) -> io::Result<()> {
    let mut names = endings().map(|ending| beside(to, ending));
    match names.find(|to| fs::symlink_metadata(to).is_ok()) {
        Some(taken) => Err(io::Error::other(format!("{} already exists", taken.display()))),
        None => Ok(()),
    }
}

/// Renames the files that were not renamed yet.
fn move_files(path: &Path, to: &Path) -> io::Result<()> {
    endings().map(|ending| (beside(path, ending), beside(to, ending))).try_for_each(|(from, to)| {
        if fs::symlink_metadata(&from).is_err() {
            return Ok(());
        }
        match fs::symlink_metadata(&to) {
            Ok(_) => Err(io::Error::other(format!("{} already exists", to.display()))),
            Err(_) => fs::rename(from, to),
        }
    })
}
