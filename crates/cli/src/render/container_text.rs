//! Text output about container packages.
#![expect(clippy::disallowed_methods, reason = "writes to standard error")]

use std::fmt::Write as _;
use std::io::{self, Write as _};

use stockade_guard::container::{ContainerArgs, ContainerManifest, PackageReport};

use stockade_text::escape;

use super::skill_text::push_finding;
use super::style::Styles;
use crate::report::checked_package::CheckedPackage;

/// Formats the verdict and its reasons.
pub(crate) fn report(path: &str, checked: &CheckedPackage, styles: Styles) -> String {
    let Styles { critical, good, strong, reset, .. } = styles;
    let color = if checked.passed() { good } else { critical };
    let name = checked.manifest().map(|manifest| format!(" {strong}{}{reset}", manifest.name()));
    let mut out = format!("{color}{}{reset}{} ({path})\n", checked.verdict(), name.unwrap_or_default());
    if let CheckedPackage::Refused(problems) = checked {
        for problem in problems {
            push_error(
                &mut out,
                &problem.message,
                &problem.fix,
                Some((problem.line, problem.column)),
                styles,
            );
        }
    }
    if let Some(manifest) = checked.manifest() {
        push_signer(&mut out, manifest, styles);
    }
    match checked {
        CheckedPackage::Refused(_) => {}
        CheckedPackage::Manifest(_) => {
            out.push_str("  files: not checked; use the directory of the package\n");
        }
        CheckedPackage::Package(report) => push_files(&mut out, report, styles),
    }
    out
}

/// Warns about properties that the arguments of `docker` cannot enforce.
pub(crate) fn tell_missing(args: &ContainerArgs) {
    for missing in &args.not_enforced {
        writeln!(io::stderr(), "note: {}: {}", missing.name(), missing.message()).ok();
    }
}

fn push_signer(out: &mut String, manifest: &ContainerManifest, styles: Styles) {
    let publisher = manifest.publisher();
    match manifest.signer() {
        Ok(address) => {
            let (name, contact) = (escape(&publisher.name), escape(&publisher.contact));
            writeln!(out, "  signed by {address}, which calls itself {name} <{contact}>").ok();
        }
        Err(error) => {
            let fix = "do not run it; have the publisher sign the current manifest";
            push_error(out, &error.to_string(), fix, None, styles);
        }
    }
}

fn push_files(out: &mut String, report: &PackageReport, styles: Styles) {
    for problem in &report.package.problems {
        let place = if problem.path.is_empty() { "the directory" } else { &problem.path };
        push_error(out, &format!("{place}: {}", problem.message), problem.fix, None, styles);
    }
    for finding in &report.findings {
        push_finding(out, finding, styles);
    }
    if report.truncated {
        out.push_str("  error: too many findings, some are omitted\n");
    }
    if report.package.problems.is_empty() {
        let count = report.package.manifest.files().len();
        let (s, are) = if count == 1 { ("", "is") } else { ("s", "are") };
        writeln!(out, "  {count} file{s}, which {are} as signed").ok();
    }
}

fn push_error(out: &mut String, message: &str, fix: &str, at: Option<(usize, usize)>, styles: Styles) {
    let Styles { critical, frame, reset, .. } = styles;
    writeln!(out, "  {critical}error{reset}: {}", escape(message)).ok();
    if let Some((line, column)) = at {
        writeln!(out, "    {frame}-->{reset} {line}:{column}").ok();
    }
    writeln!(out, "    {frame}={reset} fix: {}", escape(fix)).ok();
}
