//! Packages that run in containers: what their manifest says, who signed it, and how Docker runs them.
//!
//! [`ContainerManifest::parse`] reads a manifest and refuses whatever is not written as the schema wants it, with the
//! place and the remedy. [`ContainerManifest::signer`] says whose key signed it, [`ContainerManifest::package_run`] what a
//! sandbox is asked for that runs it, and [`ContainerManifest::docker_args`] how Docker runs it without one. A valid manifest is
//! no proof: look at the signature, and decide which publishers to trust. [`read_package`] compares a folder with its manifest;
//! what is in the files is for the caller to inspect.
//!
//! ```
//! use stockade_package::ContainerManifest;
//!
//! let wrong = ContainerManifest::parse(r#"{"version": "1", "sandbox": {"memoryMB": 128}}"#, |_| true).unwrap_err();
//! let unknown = wrong.problems.iter().find(|problem| problem.path == "sandbox.memoryMB").unwrap();
//! assert_eq!(unknown.fix, "write `memoryMb`");
//! ```

#![forbid(unsafe_code)]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod copy;
mod docker;
mod field;
mod launch;
mod manifest;
mod package;
mod package_path;
mod problem;
mod read;
mod signature;

pub use docker::{ContainerArgs, ContainerOptions, ContainerOptionsError, NotEnforced};
pub use launch::PackageRun;
pub use manifest::{ContainerManifest, DeclaredFile, ManifestHash, Permissions, Publisher, SandboxLimits};
pub use package::{CheckedPackage, PackageError, PackageOptions, PackageProblem, read_package};
pub use package_path::MANIFEST;
pub use problem::{ManifestErrors, ManifestProblem};
pub use signature::{Address, SignatureError};
