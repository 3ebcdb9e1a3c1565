//! Packages that run in containers: a folder of files, and a signed manifest that names every one of them.
//!
//! [`parse_manifest`] reads the manifest. [`check_package`] reads a
//! folder and compares it with its manifest: a file that differs, is missing, is no plain file or is not listed refuses the
//! package, and so does a critical finding of the scanner. What passed is kept in memory, so that
//! [`VerifiedPackage::write_to`] gives a container what was checked and not what lies on the disk by then.

mod copy;
mod package;

use std::borrow::Cow;

pub use package::{
    PackageError, PackageOptions, PackageProblem, PackageReport, VerifiedPackage, check_package,
};
pub use stockade_exec_sandbox::container::{
    Address, ContainerArgs, ContainerManifest, ContainerOptions, ContainerOptionsError, DeclaredFile,
    MANIFEST, ManifestErrors, ManifestHash, ManifestProblem, NotEnforced, Permissions, Publisher,
    SandboxLimits, SignatureError,
};

/// Reads a manifest, and refuses names of files with characters that nobody sees.
///
/// # Errors
/// Everything that is wrong with it.
pub fn parse_manifest(text: &str) -> Result<ContainerManifest, ManifestErrors> {
    ContainerManifest::parse(text, |path| {
        matches!(stockade_sanitize::strip_invisible(path).text, Cow::Borrowed(_))
    })
}
