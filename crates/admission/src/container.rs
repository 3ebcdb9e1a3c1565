//! Packages that run in containers: a directory of files, and a signed manifest that lists all of them.
//!
//! [`parse_manifest`] parses the manifest. [`check_package`] reads a directory and compares it with its manifest: a
//! file that differs, is missing, is not a regular file or is not listed rejects the package, and so does a critical
//! finding of the scanner. The checked bytes are kept in memory, so that [`VerifiedPackage::write_to`] writes what
//! was checked, not what is on the disk by then.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use stockade_scanner::{ScanOptions, Scanner, Severity};

use crate::scan_files::scan_bytes;
use crate::skill::{Findings, Reading, SkillFinding};

use stockade_package::read_package;
pub use stockade_package::{
    Address, CheckedPackage, ContainerArgs, ContainerManifest, ContainerOptions, ContainerOptionsError,
    DeclaredFile, MANIFEST, ManifestErrors, ManifestHash, ManifestProblem, NotEnforced, PackageError,
    PackageOptions, PackageProblem, PackageRun, Permissions, Publisher, SandboxLimits, SignatureError,
};

/// Report on a package.
#[derive(Debug)]
#[non_exhaustive]
pub struct PackageReport {
    /// The manifest, and the result of its checks.
    pub package: CheckedPackage,
    /// The scanner's findings in the files, worst first.
    pub findings: Vec<SkillFinding>,
    /// Whether there are more findings than are kept.
    pub truncated: bool,
}

/// A package that was signed by its publisher, whose files are the signed ones, and which contains no attack.
#[derive(Debug)]
pub struct VerifiedPackage<'r>(&'r CheckedPackage);

/// Reads a directory with a `manifest.json`, compares every file with the list, and scans it.
///
/// Files are opened relative to their directory and never through a link. A directory without listed files is not
/// entered.
///
/// # Errors
/// When no manifest could be read. Everything else is in the report.
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
    /// Whether the signature and all files match, and no critical finding was made.
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
    /// Returns the manifest.
    #[must_use]
    pub const fn manifest(&self) -> &ContainerManifest {
        &self.0.manifest
    }

    /// Iterates over the files with their checked content.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.files()
    }

    /// Writes the files into a new directory, as [`CheckedPackage::write_to`] does.
    ///
    /// # Errors
    /// When the directory exists, or a file could not be written; files that were written remain.
    pub fn write_to(&self, folder: &Path) -> io::Result<()> {
        self.0.write_to(folder)
    }
}

/// Parses a manifest, and rejects file names with invisible characters.
///
/// # Errors
/// Everything that is wrong with it.
pub fn parse_manifest(text: &str) -> Result<ContainerManifest, ManifestErrors> {
    ContainerManifest::parse(text, is_visible)
}

fn is_visible(path: &str) -> bool {
    matches!(stockade_sanitize::strip_invisible(path).text, Cow::Borrowed(_))
}
