//! Admits a skill, or explains why not: `cargo run --example admit_skill -- FOLDER`.
//!
//! A model's prompt is made from a `LoadedSkill`, which only admission can make: its type proves that the text was
//! scanned, cleaned and scanned again.
#![cfg_attr(
    not(test),
    expect(
        clippy::print_stdout,
        clippy::disallowed_methods,
        reason = "reads a directory from the arguments, and prints the result"
    )
)]

use std::error::Error;
use std::path::Path;

use stockade_admission::scanner::Scanner;
use stockade_admission::{Admission, AdmitOptions, SkillSource, admit};

#[cfg(not(test))]
fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: admit_skill FOLDER")?;
    print!("{}", say(Path::new(&path), "")?);
    Ok(())
}

/// Returns the prompt of a skill, or its problems.
pub(crate) fn say(skill: &Path, arguments: &str) -> Result<String, Box<dyn Error>> {
    let scanner = Scanner::builtin();
    let skill = match admit(&SkillSource::Path(skill), scanner, &AdmitOptions::default())? {
        Admission::Accepted(skill) => skill,
        // It can be used, but its findings should be reviewed before it is installed.
        Admission::Flagged(skill) => skill,
        Admission::Malformed(report) | Admission::Blocked(report) => {
            let problems = report.problems.iter().map(|problem| format!("{}\n", problem.message));
            let findings =
                report.findings.iter().map(|finding| format!("{}: {}\n", finding.rule_id, finding.remedy));
            return Ok(
                format!("not let in: {}\n", report.name) + &problems.chain(findings).collect::<String>()
            );
        }
        other => return Err(format!("not known to this program: {other:?}").into()),
    };
    // Arguments are untrusted too, and pass the same checks.
    Ok(skill.prompt(arguments, scanner)?)
}
