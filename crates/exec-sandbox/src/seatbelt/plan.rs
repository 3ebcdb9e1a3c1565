//! The plan of a command on macOS.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::enforcement::Enforcement;
use crate::limits::ResourceLimits;

/// The program that applies a profile. It is on the sealed system volume, and never looked up in a search path.
pub const SANDBOX_EXEC: &str = "/usr/bin/sandbox-exec";

/// A planned command for macOS.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SeatbeltPlan {
    /// The profile.
    pub profile: String,
    /// The program, as the caller named it.
    pub program: OsString,
    /// The arguments, without the program.
    pub arguments: Vec<OsString>,
    /// The environment variables, sorted by name.
    pub environment: Vec<(OsString, OsString)>,
    /// The working directory.
    pub cwd: PathBuf,
    /// Resource limits.
    pub limits: ResourceLimits,
    /// What this plan enforces when it runs.
    pub enforcement: Enforcement,
}

impl SeatbeltPlan {
    /// Returns the arguments of [`SANDBOX_EXEC`], including the profile, which contains paths and no values of variables.
    #[must_use]
    pub fn sandbox_exec_arguments(&self) -> Vec<OsString> {
        let head = ["-p".into(), OsString::from(&self.profile), "--".into(), self.program.clone()];
        head.into_iter().chain(self.arguments.iter().cloned()).collect()
    }
}
