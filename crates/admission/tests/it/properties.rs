//! Properties of every input, however hostile. The fuzz target calls this function; ordinary tests replay the seeds
//! and random texts through it.

use stockade_admission::scanner::Scanner;
use stockade_admission::{Admission, AdmitOptions, Dialect, SkillSource, admit};

/// Every text has an answer. A block has a reason; an admitted text cannot leave its frame. The first byte chooses
/// the dialect, and arguments follow a NUL.
pub(crate) fn skill(data: &[u8]) {
    let (dialect, data) = data.split_first().unwrap_or((&0, &[]));
    let text = String::from_utf8_lossy(data);
    let (text, arguments) = text.split_once('\0').unwrap_or((&text, ""));
    let dialect = Dialect::ALL[usize::from(*dialect) % Dialect::ALL.len()];
    let options = AdmitOptions { dialect, ..AdmitOptions::default() };
    let scanner = Scanner::builtin();
    let admission = admit(&SkillSource::Text { name: "SKILL.md", text }, scanner, &options).unwrap();
    let report = admission.report();
    if !matches!(admission, Admission::Accepted(_)) {
        assert!(!report.problems.is_empty() || !report.findings.is_empty());
    }
    let lines = text.replace("\r\n", "\n").replace('\r', "\n").split('\n').count();
    for problem in &report.problems {
        assert!((1..=lines + 1).contains(&problem.line), "{problem:?} of {lines} lines");
    }
    let Some(skill) = admission.loaded() else { return };
    assert_eq!(skill.listing().matches("<skill>").count(), 1);
    if let Ok(prompt) = skill.prompt(arguments, scanner) {
        assert_eq!(prompt.matches("</skill_content>").count(), 1);
        assert_eq!(tags(&prompt, "<skill_content"), 1);
        assert!(prompt.ends_with("</skill_content>\n"));
    }
}

/// Counts the opening tags. `<skill_contents>` is a different tag, which frames nothing.
fn tags(text: &str, opening: &str) -> usize {
    text.split(opening)
        .skip(1)
        .filter(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || "_-.:".contains(c)))
        .count()
}
