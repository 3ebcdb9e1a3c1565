//! Comparing a trail with what is known of it elsewhere: the register, checkpoints, anchors and what a caller kept.

use std::path::Path;

use super::{AuditTrail, known};
use crate::anchor::Told;
use crate::error::AuditError;
use crate::marks::{Mark, Reference};
use crate::record::Head;
use crate::register::{Known, Register};
use crate::sealing;
use crate::store::Store;
use crate::trail_file;
use crate::verify::{Beside, Verified, verify};

impl AuditTrail {
    /// Checks every record and reports those that were changed. `expected` is a [`Head`] that was kept elsewhere.
    ///
    /// # Errors
    /// When the trail cannot be read at all.
    pub fn verify(&self, expected: Option<&Head>) -> Result<Verified, AuditError> {
        self.compared(expected, None)
    }

    /// As [`AuditTrail::verify`], against what was kept elsewhere: the first record that is another one is named.
    ///
    /// # Errors
    /// As [`AuditTrail::verify`].
    pub fn verify_against(&self, reference: &Reference) -> Result<Verified, AuditError> {
        self.compared(None, Some(reference))
    }

    fn compared(
        &self,
        expected: Option<&Head>,
        reference: Option<&Reference>,
    ) -> Result<Verified, AuditError> {
        let register = self.0.options.register.as_deref();
        // What is known comes first: what is written meanwhile then follows from it.
        let is_compared = expected.is_some() || reference.is_some();
        let is_asked = register.is_some();
        let mut beside = Beside { expected, is_compared, is_asked, ..Beside::default() };
        match known(register, &self.0.path) {
            Ok(known) => beside.known = known,
            Err(error) => beside.unsound.push(error.to_string()),
        }
        sealing::checkpoints(&self.0.path, &mut beside);
        beside.unsound.extend(trail_file::writable(&self.0.path));
        let store = self.store()?;
        if beside.known.is_none() && beside.is_asked {
            beside.known = moved(register, &**store)?;
        }
        let anchored = self.anchored(&mut beside, reference);
        beside.reference = anchored.as_ref().or(reference);
        verify(&**store, beside)
    }

    /// Adds what the anchors were told of the trail to what it is compared with.
    fn anchored(&self, beside: &mut Beside<'_>, reference: Option<&Reference>) -> Option<Reference> {
        let origin = beside.known.as_ref().map(|known| known.origin.clone());
        let first = || beside.checkpoints.as_ref()?.checkpoints().next();
        let origin = origin.or_else(|| first().map(|checkpoint| checkpoint.origin))?;
        let mut all = reference.cloned().unwrap_or_default();
        for anchor in &self.0.options.anchors {
            match anchor.told(&origin) {
                Ok(Told::Checkpoints(told)) => all.marks.extend(told.iter().map(Mark::of)),
                Ok(Told::Unreadable) => {}
                Err(error) => beside.unsound.push(format!("the anchor {anchor} cannot be read: {error}")),
            }
        }
        Some(all)
    }
}

/// What the register knows of a trail that was moved, and not opened to write to it since.
fn moved(register: Option<&Path>, store: &dyn Store) -> Result<Option<Known>, AuditError> {
    let first = sealing::first_digest(store).ok().flatten();
    let found =
        first.zip(register).and_then(|(first, folder)| Register::find_moved(folder, &first).ok().flatten());
    Ok(found.map(|(_, known)| known))
}
