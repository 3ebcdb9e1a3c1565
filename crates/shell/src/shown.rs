//! Variables whose values a command receives: in its words, in a here-document, or through another variable.
//!
//! A may-analysis as all of the walk: a copy is never forgotten, and beyond a bound anything may have been copied.

use std::collections::HashMap;

/// The name of a variable that another variable names: `${!x}`. No variable is called so.
const BY_REFERENCE: &str = "${!…}";

/// The name of any variable, where there were more than are noted.
const ANY: &str = "${…}";

/// More variables than anyone names in a command, or copies into one variable.
const MAX_NAMES: usize = 64;

/// The variables named in a part of a text.
#[derive(Debug, Default)]
pub(crate) struct Named {
    /// Their names.
    pub(crate) names: Vec<String>,
    /// Those of them of which a part may be inserted: `${x%a}`, or a copy, which may be of a part.
    pub(crate) parts: Vec<String>,
}

/// The variables named in the current part, and those whose values others contain.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    named: Named,
    copies: HashMap<String, Vec<String>>,
}

impl Shown {
    /// Starts a collection. Returns the surrounding one.
    pub(crate) fn begin(&mut self) -> Named {
        std::mem::take(&mut self.named)
    }

    /// Returns the names collected since, and restores the surrounding collection.
    pub(crate) fn end(&mut self, around: Named) -> Named {
        std::mem::replace(&mut self.named, around)
    }

    /// Notes that the value of a variable is inserted.
    pub(crate) fn name(&mut self, name: &str) {
        add(&mut self.named.names, name);
        self.count(name);
    }

    /// Notes that the length of a value is inserted. It tells no more than that, unless the value is a part of others: `${#x}` after
    /// `x=${y##a*}` tells whether `y` begins so.
    pub(crate) fn count(&mut self, name: &str) {
        for copied in self.copies.get(name).into_iter().flatten() {
            add(&mut self.named.names, copied);
            add(&mut self.named.parts, copied);
        }
    }

    /// Notes that a part of the value of a variable is inserted, or a modified value.
    pub(crate) fn part(&mut self, name: &str) {
        self.name(name);
        add(&mut self.named.parts, name);
    }

    /// Records an indirection: the value of a variable is inserted whose name is in another variable.
    pub(crate) fn name_by_reference(&mut self) {
        add(&mut self.named.names, BY_REFERENCE);
        add(&mut self.named.parts, BY_REFERENCE);
    }

    /// Records that a variable may contain the values of others.
    pub(crate) fn copy(&mut self, into: &str, names: &[String]) {
        if names.is_empty() {
            return;
        }
        let copies = self.copies.entry(into.to_owned()).or_default();
        names.iter().filter(|name| *name != into).for_each(|name| add(copies, name));
    }
}

fn add(names: &mut Vec<String>, name: &str) {
    let name = if names.len() < MAX_NAMES { name } else { ANY };
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}
