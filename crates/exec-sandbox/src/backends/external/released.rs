//! Backends whose programs come with a release: where they lie, and what they are told beside their requests.

#![expect(clippy::disallowed_methods, reason = "asks where this program lies")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{env, io};

use crate::choices::BackendName;
use crate::env::{BESIDE_PROXY, PROXY};

/// A backend whose program is made from the same sources as this one.
#[derive(Debug)]
pub(super) struct Released {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// The variables of this program that its program gets, because they say where its service is or hold its key.
    variables: &'static [&'static str],
    /// Why it cannot be used without its program.
    pub(super) missing: &'static str,
}

pub(super) const RELEASED: &[Released] = &[
    Released {
        name: "e2b",
        about: "Virtual machine at E2B, with a copy of the workspace; never auto-selected",
        variables: &["E2B_API_KEY"],
        missing: "its program, stockade-backend-e2b, is not installed",
    },
    Released {
        name: "kubernetes",
        about: "Kubernetes Job in the cluster of your kubeconfig, from --image; never auto-selected",
        variables: &["KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"],
        missing: "its program, stockade-backend-kubernetes, is not installed",
    },
];

/// Where a distribution puts the programs, if not beside `stockade`. It belongs to root, and no variable moves it.
const SYSTEM: &str = "/usr/lib/stockade";

impl Released {
    pub(super) fn of(name: BackendName) -> Option<&'static Self> {
        RELEASED.iter().find(|row| row.name == name.as_str())
    }

    /// The variables that its program gets beside those of every helper: its own, and those that name a proxy.
    pub(super) fn variables(&self) -> impl Iterator<Item = &'static str> {
        let beside = BESIDE_PROXY.iter().map(|(name, _)| name);
        self.variables.iter().chain(PROXY).chain(beside).copied()
    }

    /// Returns how to install the program.
    pub(super) fn fix(&self) -> String {
        format!(
            "install `stockade-backend-{}` of the same release beside `stockade`: `cargo install --locked --path \
             crates/backends-remote`",
            self.name
        )
    }

    /// Returns where its program lies: beside this one, or where distributions put it. The search path is not asked, since a
    /// project can set it.
    pub(super) fn find(&self) -> Option<PathBuf> {
        let beside = this_program().ok().and_then(|path| path.parent().map(Path::to_owned));
        let folders = beside.into_iter().chain([PathBuf::from(SYSTEM)]);
        folders
            .map(|folder| folder.join(format!("stockade-backend-{}", self.name)))
            .find(|path| path.is_file())
    }
}

/// Returns which file this program is.
pub(super) fn this_program() -> io::Result<PathBuf> {
    env::current_exe()?.canonicalize()
}

/// How many different texts of programs are kept.
const MAX_TEXTS: usize = 512;

/// Returns a text of a released program for as long as this program runs, as reasons and means are.
pub(super) fn lasting(text: &str) -> &'static str {
    static TEXTS: Texts = Texts(Mutex::new(BTreeSet::new()));
    TEXTS.keep(text)
}

/// Texts that are kept for as long as this program runs. A release has a fixed list of them; the bound is for a program that makes
/// up new ones without an end.
struct Texts(Mutex<BTreeSet<&'static str>>);

impl Texts {
    fn keep(&self, text: &str) -> &'static str {
        let mut texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = texts.get(text) {
            return known;
        }
        if texts.len() >= MAX_TEXTS {
            return "its program reported too many different reasons";
        }
        let kept: &'static str = Box::leak(text.to_owned().into_boxed_str());
        texts.insert(kept);
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_stored_once_and_limited() {
        let texts = Texts(Mutex::default());
        assert!(std::ptr::eq(texts.keep("a reason"), texts.keep("a reason")));
        let last = (0..2 * MAX_TEXTS).map(|number| texts.keep(&format!("reason {number}"))).last();
        assert_eq!(last, Some("its program reported too many different reasons"));
        assert_eq!(texts.keep("a reason"), "a reason");
    }

    #[test]
    fn every_released_backend_has_a_name_and_names_its_program() {
        for row in RELEASED {
            let name = BackendName::new(row.name).unwrap();
            assert!(Released::of(name).is_some_and(|found| found.name == row.name));
            let program = format!("stockade-backend-{}", row.name);
            assert!(row.missing.contains(&program) && row.fix().contains(&program));
        }
    }
}
