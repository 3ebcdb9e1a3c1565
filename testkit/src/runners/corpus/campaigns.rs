//! Leave one campaign out: what each rule finds outside the campaign in which it finds most.
//!
//! A rule that was written from the samples of one campaign finds these and no others. Its recall outside is the figure that
//! carries over to attacks that were never seen.

use std::collections::BTreeMap;

use testkit::Table;

use super::skill::{Found, Skill};

/// Number of blocked skills from which the recall of a rule is judged. Fewer are chance.
const ENOUGH: usize = 3;

/// Rules that may find one campaign alone, with the reason. Rows are only removed.
const ONE_CAMPAIGN: &[(&str, &str)] = &[
    ("CRYPTO_STRATUM", "one source has miners; the scheme is the protocol's own name"),
    ("FAKE_PREREQ_SITE", "the other campaigns of this kind use archives and commands to paste"),
    ("IMPACT_TRACES", "one source removes records"),
    ("PRIV_ESCALATION", "one source escalates"),
];

/// The blocked skills of a rule, by campaign.
type ByCampaign<'s> = BTreeMap<&'s str, usize>;

/// Returns the blocked skills of each rule, by campaign. A skill counts once for each of its rules.
fn by_rule<'s>(
    skills: &'s [Skill],
    found: &'s BTreeMap<String, Vec<Found>>,
) -> BTreeMap<&'s str, ByCampaign<'s>> {
    let mut rules: BTreeMap<&str, ByCampaign<'_>> = BTreeMap::new();
    for skill in skills.iter().filter(|skill| skill.attacks() && !skill.campaign.is_empty()) {
        let critical = found.get(&skill.folder).into_iter().flatten().filter(|one| one.is_critical);
        let mut ids: Vec<&str> = critical.map(|one| one.rule.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        for id in ids {
            *rules.entry(id).or_default().entry(&skill.campaign).or_default() += 1;
        }
    }
    rules
}

/// Returns the number of blocked skills, and of those outside the campaign with most.
fn outside(campaigns: &ByCampaign<'_>) -> (usize, usize) {
    let all: usize = campaigns.values().sum();
    (all, all - campaigns.values().max().copied().unwrap_or_default())
}

/// Returns the table, and a line for each rule that finds one campaign alone.
pub(super) fn judge(skills: &[Skill], found: &BTreeMap<String, Vec<Found>>) -> (Table, Vec<String>) {
    let mut table = Table::new(&["\nrule", "campaigns", "blocked", "outside its own"]);
    let mut missed = Vec::new();
    for (rule, campaigns) in by_rule(skills, found) {
        let (all, rest) = outside(&campaigns);
        table.row([rule.to_owned(), campaigns.len().to_string(), all.to_string(), rest.to_string()]);
        if all >= ENOUGH && rest == 0 && !ONE_CAMPAIGN.iter().any(|(known, _)| *known == rule) {
            missed.push(format!("{rule}: blocks {all} skills of one campaign, and none of any other"));
        }
    }
    (table, missed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_for_one_campaign_is_named() {
        let skill = |folder: &str, campaign: &str| Skill {
            folder: format!("malicious/{folder}"),
            tier: "wild".to_owned(),
            campaign: campaign.to_owned(),
            ..Skill::default()
        };
        let skills = [skill("1", "a"), skill("2", "a"), skill("3", "a"), skill("4", "b")];
        let one = |rule: &str, is_critical| Found {
            is_critical,
            rule: rule.to_owned(),
            file: "SKILL.md".to_owned(),
            line: 1,
        };
        let fitted = |folder: &str| {
            let rules = vec![one("FITTED", true), one("FITTED", true), one("GENERAL", true)];
            (format!("malicious/{folder}"), rules)
        };
        let last = vec![one("GENERAL", true), one("FITTED", false)];
        let found =
            [fitted("1"), fitted("2"), fitted("3"), ("malicious/4".to_owned(), last)].into_iter().collect();
        let (_, missed) = judge(&skills, &found);
        assert_eq!(missed, ["FITTED: blocks 3 skills of one campaign, and none of any other"]);
        assert_eq!(outside(&by_rule(&skills, &found)["GENERAL"]), (4, 1));
    }
}
