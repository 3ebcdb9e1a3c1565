//! Results of checking a container package.

use serde::Serialize;
use stockade_guard::admission::SkillFinding;
use stockade_guard::container::{ContainerManifest, ManifestProblem, PackageProblem, PackageReport};

/// The result for a package or only a manifest.
#[derive(Debug)]
pub(crate) enum CheckedPackage {
    /// The manifest is invalid.
    Refused(Vec<ManifestProblem>),
    /// Only the manifest was checked.
    Manifest(Box<ContainerManifest>),
    /// The package was checked with all of its files.
    Package(Box<PackageReport>),
}

/// The result, for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CheckedRow<'a> {
    path: &'a str,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    manifest_hash: Option<String>,
    /// Address of the publisher's key.
    #[serde(skip_serializing_if = "Option::is_none")]
    signer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature_problem: Option<String>,
    errors: &'a [ManifestProblem],
    files: &'a [PackageProblem],
    findings: &'a [SkillFinding],
}

impl CheckedPackage {
    /// Whether every check passed.
    pub(crate) fn passed(&self) -> bool {
        match self {
            Self::Refused(_) => false,
            Self::Manifest(manifest) => manifest.signer().is_ok(),
            Self::Package(report) => report.passed(),
        }
    }

    pub(crate) fn verdict(&self) -> &'static str {
        match self {
            Self::Manifest(_) if self.passed() => "signed",
            Self::Package(_) if self.passed() => "verified",
            _ => "refused",
        }
    }

    pub(crate) fn manifest(&self) -> Option<&ContainerManifest> {
        match self {
            Self::Refused(_) => None,
            Self::Manifest(manifest) => Some(manifest),
            Self::Package(report) => Some(&report.package.manifest),
        }
    }

    /// Returns the result for programs.
    pub(crate) fn row<'a>(&'a self, path: &'a str) -> CheckedRow<'a> {
        let signer = self.manifest().map(ContainerManifest::signer);
        let (errors, report) = match self {
            Self::Refused(problems) => (problems.as_slice(), None),
            Self::Manifest(_) => ([].as_slice(), None),
            Self::Package(report) => ([].as_slice(), Some(report)),
        };
        CheckedRow {
            path,
            verdict: self.verdict(),
            name: self.manifest().map(ContainerManifest::name),
            manifest_hash: self.manifest().map(|manifest| manifest.hash().to_string()),
            signer: signer.and_then(Result::ok).map(|address| address.to_string()),
            signature_problem: signer.and_then(Result::err).map(|error| error.to_string()),
            errors,
            files: report.map_or(&[], |report| &report.package.problems),
            findings: report.map_or(&[], |report| &report.findings),
        }
    }
}
