//! Collects what a search of a workspace finds.

use std::ffi::OsStr;
use std::path::Path;

use stockade_names::Name;

use super::found::Found;
use super::home_names::{has_secret, is_file};
use super::plans::plans_of;
use super::review_inputs::review_inputs;
use super::roots::Root;
use super::targets::{Targets, resolve};
use super::walk::Here;
use super::{MAX_EXPOSED, MAX_REMEMBERED, MAX_WATCHED, Sink, fold_os};
use crate::host::{Entry, Exposed, ProtectedEntry, Searched, Watched};
use crate::protect::{Answer, answer};

/// Collects the found files.
pub(super) struct Memory<'m, 'r> {
    pub(super) root: &'r Root,
    pub(super) found: &'m mut Found,
    pub(super) targets: &'m mut Targets<'r>,
}

impl Sink for Memory<'_, '_> {
    fn protected(&mut self, _: &Here<'_>, _: &Path, entry: ProtectedEntry) {
        if let Entry::Link { .. } = entry.kind {
            self.targets.of_a_link(&entry);
        }
        if self.found.protected.len() < MAX_REMEMBERED {
            self.found.protected.push(entry);
        } else {
            self.found.searched = Searched::TooMany;
        }
    }

    /// An existing stray symlink is only recorded: its target is the user's choice. The target of a hook is protected like a hook.
    fn stray(&mut self, here: &Here<'_>, _: &Path, entry: ProtectedEntry) {
        if here.path.file_name().is_some_and(|name| fold_os(name) == "hooks") {
            self.targets.of_a_link(&entry);
        }
        if self.found.protected.len() < MAX_REMEMBERED {
            self.found.protected.push(entry);
        } else {
            self.found.searched = Searched::TooMany;
        }
    }

    fn link(&mut self, here: &Here<'_>, name: &OsStr, to: &Path) {
        self.found.links.add(&self.root.name.join(here.path).join(name), to);
    }

    /// The file that it leads to is hidden, unless it is a template by its own name.
    fn linked_secret(&mut self, here: &Here<'_>, name: &Path, row: &'static Name) {
        let link = self.root.path.join(here.path).join(name);
        let Some(end) = resolve(&link).and_then(|path| path.end) else { return };
        let hides = match answer(row) {
            Some(Answer::Hide) => true,
            Some(Answer::HideWithSecret) => has_secret(&end),
            _ => false,
        };
        if is_file(&end) && hides && !row.excepts(end.file_name().map(OsStr::to_string_lossy)) {
            self.targets.of_a_secret(&end);
        }
    }

    fn watched(&mut self, watched: Watched) {
        if self.found.watched.len() < MAX_WATCHED {
            self.found.watched.push(watched);
        } else {
            self.found.searched = self.found.searched.max(Searched::InPart);
        }
    }

    fn exposed(&mut self, exposed: Exposed) {
        if self.found.exposed.len() < MAX_EXPOSED {
            self.found.exposed.push(exposed);
        } else {
            self.found.searched = self.found.searched.max(Searched::InPart);
        }
    }

    fn repository(&mut self, root: &Root, here: &Here<'_>) {
        self.targets.of_settings(root, here);
        let folder = root.name.join(here.path);
        plans_of(here, &folder, &mut self.found.plans);
        review_inputs(here, &folder).into_iter().for_each(|watched| self.watched(watched));
    }
}
