//! A refusal as JSON: how a program of a release refuses a request, as this crate would itself.

use serde::{Deserialize, Serialize};

use super::printable::printable;
use super::released::lasting;
use crate::choices::SandboxBackend;
use crate::enforcement::Property;
use crate::refusal::{Refusal, SandboxRule, What};

/// A request that a backend refuses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefusedRequest {
    what: RefusedPart,
    /// The name of the rule, where it is one of [`RULES`]; the reason of any other is `why`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    why: String,
    fix: String,
}

/// The part of a request that is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RefusedPart {
    Write(String),
    Read(String),
    Cwd(String),
    Command,
    Variable(String),
    Property(String),
    Backend,
}

/// Rules without a text of their own.
const RULES: &[(&str, SandboxRule)] = &[
    ("plain-path", SandboxRule::PlainPath),
    ("exists", SandboxRule::Exists),
    ("no-links", SandboxRule::NoLinks),
    ("visible-cwd", SandboxRule::VisibleCwd),
    ("plain-command", SandboxRule::PlainCommand),
    ("plain-variable", SandboxRule::PlainVariable),
];

impl RefusedRequest {
    /// Returns a refusal as it is written.
    #[must_use]
    pub fn of(refusal: &Refusal) -> Self {
        let path = |path: &std::path::Path| path.to_string_lossy().into_owned();
        let what = match &refusal.what {
            What::Write(at) => RefusedPart::Write(path(at)),
            What::Read(at) => RefusedPart::Read(path(at)),
            What::Cwd(at) => RefusedPart::Cwd(path(at)),
            What::Command => RefusedPart::Command,
            What::Variable(name) => RefusedPart::Variable(name.clone()),
            What::Property(property) => RefusedPart::Property(property.name().to_owned()),
            What::Backend(_) => RefusedPart::Backend,
        };
        let rule = RULES.iter().find(|row| row.1 == refusal.rule).map(|row| row.0.to_owned());
        Self { what, rule, why: refusal.rule.to_string(), fix: refusal.fix.clone() }
    }

    /// Returns the refusal that was written, by a backend of this name.
    pub(super) fn refusal(&self, backend: SandboxBackend) -> Refusal {
        let what = match &self.what {
            RefusedPart::Write(path) => What::Write(path.into()),
            RefusedPart::Read(path) => What::Read(path.into()),
            RefusedPart::Cwd(path) => What::Cwd(path.into()),
            RefusedPart::Command => What::Command,
            RefusedPart::Variable(name) => What::Variable(name.clone()),
            RefusedPart::Property(name) => Property::all()
                .find(|property| property.name() == name)
                .map_or(What::Backend(backend), What::Property),
            RefusedPart::Backend => What::Backend(backend),
        };
        let rule = RULES.iter().find(|row| self.rule.as_deref() == Some(row.0)).map(|row| row.1);
        let rule = rule.unwrap_or_else(|| SandboxRule::CannotEnforce(lasting(&printable(&self.why))));
        Refusal::new(what, rule, printable(&self.fix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_survives_the_round_trip_through_json() {
        let backend = SandboxBackend::from_name("e2b").unwrap();
        let why = SandboxRule::CannotEnforce("it has no such option");
        for (what, rule) in [
            (What::Backend(backend), why),
            (What::Cwd("/srv/w".into()), SandboxRule::VisibleCwd),
            (What::Write("/srv/w".into()), SandboxRule::NoLinks),
            (What::Read("/srv/w".into()), SandboxRule::Exists),
            (What::Command, SandboxRule::PlainCommand),
            (What::Variable("A".to_owned()), SandboxRule::PlainVariable),
            (What::Property(Property::Network), why),
        ] {
            let refusal = Refusal::new(what, rule, "remove it");
            let json = serde_json::to_string(&RefusedRequest::of(&refusal)).unwrap();
            let read: RefusedRequest = serde_json::from_str(&json).unwrap();
            assert_eq!(read.refusal(backend), refusal, "{json}");
        }
    }

    #[test]
    fn a_refusal_keeps_the_text_of_its_rule() {
        let refusal = Refusal::new(What::Command, SandboxRule::SystemFolder("/etc"), "no\u{1b}[2J");
        let read = RefusedRequest::of(&refusal).refusal(SandboxBackend::Auto);
        assert_eq!(read.rule.to_string(), refusal.rule.to_string());
        assert_eq!(read.fix, "no[2J");
    }
}
