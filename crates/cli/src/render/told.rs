//! An attack in one line of plain text, for formats whose findings are one message.

use stockade_guard::scanner::{Finding, FindingGroup};

/// Returns the meaning of an attack, why it applies here, its chain, the other rules that tell of it, and the remedy.
pub(crate) fn told(group: &FindingGroup<'_, '_>) -> String {
    let finding = group.main;
    let mut parts = vec![match finding.why {
        "" => finding.description.to_owned(),
        why => format!("{} ({why})", finding.description),
    }];
    parts.extend(chain(finding));
    parts.push(finding.remedy.trim_end_matches('.').to_owned());
    if !group.others.is_empty() {
        parts.push(format!("Also: {}", others(group)));
    }
    parts.join(". ") + "."
}

/// Returns the steps of an attack that another command completes.
pub(crate) fn chain(finding: &Finding<'_>) -> Option<String> {
    let step = finding.completed_by.as_ref()?;
    Some(format!("Downloads in line {}, runs it in line {}: {}", finding.line, step.line, step.text))
}

/// Returns the other rules that tell of an attack, each once.
pub(crate) fn others(group: &FindingGroup<'_, '_>) -> String {
    let mut ids: Vec<&str> = Vec::new();
    for id in group.others.iter().map(|finding| finding.rule_id) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids.join(", ")
}
