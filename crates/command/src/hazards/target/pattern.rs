//! Path patterns, parsed once, because most words with globs are compared with all of them.

use super::names::{self, Likeness};

/// A path pattern: `/etc/**`, `~/.ssh/**`, `**/.env`.
#[derive(Debug, Clone)]
pub(in crate::hazards) struct PathPattern {
    pub(super) start: Start,
    /// The components without `**`, which is at the start or the end.
    pub(super) parts: Box<[&'static str]>,
    /// Whether it also matches everything below.
    pub(super) ends_below: bool,
}

/// The location of the first component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    Anywhere,
    Home,
    Root,
}

/// Directories with files of so many programs that their names do not indicate secrets.
const GENERAL: &[&str] = &[".config", ".local", ".cache"];

impl PathPattern {
    pub(in crate::hazards) fn read(pattern: &'static str) -> Self {
        let (start, rest) = match (pattern.strip_prefix("**/"), pattern.strip_prefix("~/")) {
            (Some(rest), _) => (Start::Anywhere, rest),
            (_, Some(rest)) => (Start::Home, rest),
            _ => (Start::Root, pattern.strip_prefix('/').unwrap_or(pattern)),
        };
        let parts = rest.split('/').filter(|part| *part != "**").collect();
        Self { start, parts, ends_below: rest.ends_with("**") }
    }

    /// Returns how likely components match it. It is likely if a component indicates the file or the directory of a single tool;
    /// otherwise, a match is only possible.
    pub(super) fn along(&self, names: &[String]) -> Likeness {
        let count = self.parts.len();
        if names.len() < count || (names.len() > count && !self.ends_below) {
            return Likeness::Other;
        }
        let mut is_meant = false;
        for (at, (name, part)) in names.iter().zip(&self.parts).enumerate() {
            // The first and last letters exclude nearly every name.
            if name != "**" && !names::may_be(name, part) {
                return Likeness::Other;
            }
            let mut near = names::likeness(name, part, self.start != Start::Anywhere);
            // The root has only a dozen directories, and hidden files of a home are mostly settings and keys.
            let is_few = at == 0
                && (self.start == Start::Root || (self.start == Start::Home && name.starts_with('.')));
            if near == Likeness::Possible && is_few {
                near = Likeness::Meant;
            }
            let speaks = at + 1 == count || (part.starts_with('.') && !GENERAL.contains(part));
            match near {
                Likeness::Other => return Likeness::Other,
                Likeness::Possible => {}
                Likeness::Meant => is_meant |= speaks,
            }
        }
        match is_meant {
            true => Likeness::Meant,
            // A directory that could have this name contains other files too.
            false if names.len() > count => Likeness::Other,
            false => Likeness::Possible,
        }
    }
}
