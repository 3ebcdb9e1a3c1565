//! Packages that run in containers: a folder of files, and a signed manifest that names every one of them.
//!
//! [`parse_manifest`] reads the manifest. [`check_package`] reads a
//! folder and compares it with its manifest: a file that differs, is missing, is no plain file or is not listed refuses the
//! package, and so does a critical finding of the scanner. What passed is kept in memory, so that
//! [`VerifiedPackage::write_to`] gives a container what was checked and not what lies on the disk by then.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use stockade_scanner::{ScanOptions, Scanner, Severity};

use crate::scan_files::scan_bytes;
use crate::skill::{Findings, Reading, SkillFinding};

use stockade_exec_sandbox::container::read_package;
pub use stockade_exec_sandbox::container::{
    Address, CheckedPackage, ContainerArgs, ContainerManifest, ContainerOptions, ContainerOptionsError,
    DeclaredFile, MANIFEST, ManifestErrors, ManifestHash, ManifestProblem, NotEnforced, PackageError,
    PackageOptions, PackageProblem, PackageRun, Permissions, Publisher, SandboxLimits, SignatureError,
};

/// What was found out about a package.
#[derive(Debug)]
#[non_exhaustive]
pub struct PackageReport {
    /// What it says that it is, and whether it is.
    pub package: CheckedPackage,
    /// What the scanner found in the files, the worst first.
    pub findings: Vec<SkillFinding>,
    /// Whether there are more findings than are kept.
    pub truncated: bool,
}

/// A package that its publisher signed, whose files are those that were signed, and in which nothing attacks.
#[derive(Debug)]
pub struct VerifiedPackage<'r>(&'r CheckedPackage);

/// Reads a folder with a `manifest.json`, compares every file with what is listed, and scans it.
///
/// Files are opened from folder to folder and never through a link. A folder that nothing is listed in is not entered.
///
/// # Errors
/// There is no manifest that could be read. Everything else is in the report.
pub fn check_package(
    folder: &Path,
    scanner: &Scanner,
    options: &PackageOptions,
) -> Result<PackageReport, PackageError> {
    let mut findings = Findings::default();
    let package = read_package(folder, options, is_visible, &mut |path, bytes| {
        scan_bytes(Path::new(path), bytes, scanner, &ScanOptions::default(), |scan| {
            findings.add(&scan.report, path, 0, Reading::Written);
        });
    })?;
    let (findings, truncated) = findings.end();
    Ok(PackageReport { package, findings, truncated })
}

impl PackageReport {
    /// Whether the publisher signed it, every file is the one that was signed, and nothing critical was found in them.
    #[must_use]
    pub fn passed(&self) -> bool {
        let critical = self.findings.iter().any(|finding| finding.severity == Severity::Critical);
        self.package.is_as_signed() && !critical && !self.truncated
    }

    /// Returns the package, if it passed.
    #[must_use]
    pub fn verified(&self) -> Option<VerifiedPackage<'_>> {
        self.passed().then_some(VerifiedPackage(&self.package))
    }
}

impl VerifiedPackage<'_> {
    /// Returns what the manifest says.
    #[must_use]
    pub const fn manifest(&self) -> &ContainerManifest {
        &self.0.manifest
    }

    /// Returns each file with what is in it, as it was checked.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.files()
    }

    /// Writes the files into a new folder, as [`CheckedPackage::write_to`] does.
    ///
    /// # Errors
    /// The folder is there already, or something could not be written; then what was written stays.
    pub fn write_to(&self, folder: &Path) -> io::Result<()> {
        self.0.write_to(folder)
    }
}

/// Reads a manifest, and refuses names of files with characters that nobody sees.
///
/// # Errors
/// Everything that is wrong with it.
pub fn parse_manifest(text: &str) -> Result<ContainerManifest, ManifestErrors> {
    ContainerManifest::parse(text, is_visible)
}

fn is_visible(path: &str) -> bool {
    matches!(stockade_sanitize::strip_invisible(path).text, Cow::Borrowed(_))
}
