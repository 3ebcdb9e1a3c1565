//! The plan of a command on macOS.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::enforcement::Enforcement;
use crate::limits::ResourceLimits;

/// The program that applies a profile. It is part of the system, and of the sealed volume: never one that a search path
/// leads to.
pub const SANDBOX_EXEC: &str = "/usr/bin/sandbox-exec";

/// What will be run on macOS, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SeatbeltPlan {
    /// The rules that the kernel decides by.
    pub profile: String,
    /// The program, as it was named.
    pub program: OsString,
    /// Its arguments, without the program.
    pub arguments: Vec<OsString>,
    /// Its variables, sorted by name.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it starts.
    pub cwd: PathBuf,
    /// What it may use up.
    pub limits: ResourceLimits,
    /// What this plan enforces once it runs.
    pub enforcement: Enforcement,
}

impl SeatbeltPlan {
    /// Returns the arguments of [`SANDBOX_EXEC`]. The profile is one of them: it names paths and no values of variables.
    #[must_use]
    pub fn sandbox_exec_arguments(&self) -> Vec<OsString> {
        let head = ["-p".into(), OsString::from(&self.profile), "--".into(), self.program.clone()];
        head.into_iter().chain(self.arguments.iter().cloned()).collect()
    }
}
