//! Which paths may be touched: the part of a decision that no policy at run time can change, and the path policies.

pub(crate) mod boundary;
pub(crate) mod config;
pub(crate) mod facts;
mod fold;
pub(crate) mod globs;
pub(crate) mod jail;
pub(crate) mod lexical;
pub(crate) mod named;
mod presets;
pub(crate) mod rules;

pub use config::{AbsolutePaths, DangerousNames, HardLinks, Jail, PathPolicy, PathPolicyPatch, Preset};
pub use facts::{OtherNames, ResolveError, ResolvedPath, Target};
pub use globs::{GlobError, GlobErrorKind};
pub use jail::Case;
pub use lexical::{InvalidPath, TraversalError, safe_join};
pub use presets::STANDARD_FORBIDDEN_GLOBS;
