//! The names of runs, from which those of all their objects follow, and what they are found by.

#![expect(clippy::disallowed_methods, reason = "reads random numbers")]

use std::fmt;
use std::io::Read as _;

use super::KubernetesError;

/// What the backend is called.
pub(super) const NAME: &str = "kubernetes";
/// What the objects of a run are found by.
pub(super) const MANAGED: (&str, &str) = ("app.kubernetes.io/managed-by", "stockade");
/// The label with the name of a run.
pub(super) const RUN: &str = "stockade.dev/run";
/// The label with the name of a fleet.
pub(super) const FLEET: &str = "stockade.dev/fleet";
/// By this it is told whether two runs of one name are the same.
pub(super) const DIGEST: &str = "stockade.dev/digest";
/// Who waits for a run, to find it again when they are gone.
pub(super) const OWNER: &str = "stockade.dev/owner";
/// The name of the container in a pod.
pub(super) const CONTAINER: &str = "command";

/// The home of a command, which is gone with it.
pub(super) const HOME: &str = "/home/agent";

/// The name of a run. All its objects are called by it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunName(String);

impl RunName {
    /// Takes a text for the name of a run, if it can be one.
    ///
    /// # Errors
    /// When it is longer than 40 letters, or has more in it than lower-case letters, digits and `-`.
    pub fn new(text: &str) -> Result<Self, KubernetesError> {
        if is_label(text, 40) {
            Ok(Self(text.to_owned()))
        } else {
            Err(KubernetesError::Name(text.to_owned()))
        }
    }

    /// A random name, which no other run has.
    ///
    /// # Errors
    /// When no random numbers are available.
    pub fn unguessed() -> std::io::Result<Self> {
        let mut bytes = [0; 10];
        std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What its objects are called.
    pub(super) fn object(&self) -> String {
        format!("stockade-{}", self.0)
    }
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether this is a label of DNS, as the names of objects are.
pub(super) fn is_label(text: &str, most: usize) -> bool {
    let letter = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let ends_well = text.as_bytes().first().is_some_and(letter) && text.as_bytes().last().is_some_and(letter);
    ends_well && text.len() <= most && text.bytes().all(|byte| letter(&byte) || byte == b'-')
}

/// The key of a variable in the Secret of a run.
pub(super) fn variable_key(name: &str) -> String {
    format!("variable.{name}")
}

/// The key of a file in it.
pub(super) fn file_key(number: usize) -> String {
    format!("file.{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_runs_are_labels() {
        for name in ["a", "0", "a-b", "run-0001", &"a".repeat(40)] {
            assert!(RunName::new(name).is_ok(), "{name}");
        }
        for name in ["", "-", "a-", "-a", "A", "a.b", "a_b", "a/b", "a b", "\u{e4}", &"a".repeat(41)] {
            assert!(RunName::new(name).is_err(), "{name}");
        }
        let (one, other) = (RunName::unguessed().unwrap(), RunName::unguessed().unwrap());
        assert!(one != other && RunName::new(one.as_str()).is_ok());
    }
}
