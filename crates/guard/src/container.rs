//! Packages that run in containers: a folder of files, and a signed manifest that names every one of them.
//!
//! [`ContainerManifest::parse`] reads a manifest and refuses whatever is not written as the schema wants it, with the
//! place and the remedy. [`ContainerManifest::signer`] says whose key signed it. [`check_package`] reads a folder and
//! compares it with its manifest: a file that differs, is missing, is no plain file or is not listed refuses the
//! package, and so does a critical finding of the scanner. What passed is kept in memory, so that
//! [`VerifiedPackage::write_to`] gives a container what was checked and not what lies on the disk by then.
//!
//! [`ContainerManifest::docker_args`] says how to run it. A valid manifest is no proof: look at the signature, and
//! decide which publishers to trust.
//!
//! ```
//! use stockade_guard::container::ContainerManifest;
//!
//! let wrong = ContainerManifest::parse(r#"{"version": "1", "sandbox": {"memoryMB": 128}}"#).unwrap_err();
//! let unknown = wrong.problems.iter().find(|problem| problem.path == "sandbox.memoryMB").unwrap();
//! assert_eq!(unknown.fix, "write `memoryMb`");
//! ```

mod copy;
mod docker;
mod field;
mod manifest;
mod package;
mod path;
mod problem;
mod read;
mod signature;

pub use docker::{ContainerArgs, ContainerOptions, ContainerOptionsError, NotEnforced};
pub use manifest::{ContainerManifest, DeclaredFile, ManifestHash, Permissions, Publisher, SandboxLimits};
pub use package::{
    PackageError, PackageOptions, PackageProblem, PackageReport, VerifiedPackage, check_package,
};
pub use problem::{ManifestErrors, ManifestProblem};
pub use signature::{Address, SignatureError};
