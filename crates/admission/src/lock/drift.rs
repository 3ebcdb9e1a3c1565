//! Differences between a skill and its lock.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use super::LockedSkill;

/// Maximum number of items per list in the text for people; programs get all of them.
const MAX_LISTED: usize = 5;

/// The difference between a skill and its lock.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SkillDrift {
    /// Whether the skill is missing in the lock.
    pub is_new: bool,
    /// Permissions that it gained.
    pub may_now: Vec<String>,
    /// Permissions that it lost.
    pub may_no_more: Vec<String>,
    /// Results of its admission, before and now, if they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<(String, String)>,
    /// Its authors, before and now, if they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publisher: Option<(Option<String>, Option<String>)>,
    /// New files.
    pub files_added: Vec<String>,
    /// Changed files.
    pub files_changed: Vec<String>,
    /// Removed files.
    pub files_removed: Vec<String>,
}

impl SkillDrift {
    pub(super) fn unknown() -> Self {
        Self { is_new: true, ..Self::default() }
    }

    /// Returns the differences of `now`.
    pub(super) fn between(before: Option<&LockedSkill>, now: &LockedSkill) -> Self {
        let Some(before) = before else {
            return Self { may_now: now.may.iter().cloned().collect(), ..Self::unknown() };
        };
        let beyond =
            |one: &BTreeSet<String>, other: &BTreeSet<String>| one.difference(other).cloned().collect();
        let differ = |one: &String, other: &String| (one != other).then(|| (one.clone(), other.clone()));
        Self {
            is_new: false,
            may_now: beyond(&now.may, &before.may),
            may_no_more: beyond(&before.may, &now.may),
            verdict: differ(&before.verdict, &now.verdict),
            publisher: (before.publisher != now.publisher)
                .then(|| (before.publisher.clone(), now.publisher.clone())),
            files_added: without(&now.files, &before.files),
            files_changed: changed(&before.files, &now.files),
            files_removed: without(&before.files, &now.files),
        }
    }

    /// Returns the first differing file, for a position.
    pub(crate) fn first_file(&self) -> Option<&str> {
        let lists = [&self.files_changed, &self.files_added, &self.files_removed];
        lists.into_iter().flatten().next().map(String::as_str)
    }

    /// Whether there is no difference.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

fn without(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> Vec<String> {
    one.keys().filter(|name| !other.contains_key(*name)).cloned().collect()
}

fn changed(before: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Vec<String> {
    let is_other = |(name, digest): &(&String, &String)| now.get(*name).is_some_and(|now| now != *digest);
    before.iter().filter(is_other).map(|(name, _)| name.clone()).collect()
}

impl fmt::Display for SkillDrift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_new {
            return f.write_str("not in the lock");
        }
        let mut parts = Vec::new();
        for (what, list) in [
            ("new", &self.may_now),
            ("lost", &self.may_no_more),
            ("files changed", &self.files_changed),
            ("files added", &self.files_added),
            ("files removed", &self.files_removed),
        ] {
            if !list.is_empty() {
                let more = match list.len().saturating_sub(MAX_LISTED) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                let first: Vec<_> = list.iter().take(MAX_LISTED).map(String::as_str).collect();
                parts.push(format!("{what}: {}{more}", first.join(", ")));
            }
        }
        if let Some((before, now)) = &self.verdict {
            parts.push(format!("it was {before} and is {now}"));
        }
        if let Some((before, now)) = &self.publisher {
            let name = |publisher: &Option<String>| publisher.clone().unwrap_or_else(|| "unknown".to_owned());
            parts.push(format!("its publisher was {} and is {}", name(before), name(now)));
        }
        f.write_str(&parts.join("; "))
    }
}
