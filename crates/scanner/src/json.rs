//! JSON form of reports and rules for the command line and the server: camel case, in a fixed order.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::flow::Inflow;
use crate::grouped::FindingGroup;
use crate::report::{ChainStep, Finding, ScanReport, TextView};
use crate::rule::{Category, ExceptionBuf, PatternBuf, Region, Regions, RuleBuf, Severity};

/// The attacks in a text, in its order.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Report"))]
struct ReportJson<'a> {
    /// Whether everything was scanned and nothing was found.
    clean: bool,
    /// The worst severity.
    worst: Option<Severity>,
    /// One for each attack.
    findings: Vec<FindingJson<'a>>,
    /// Whether findings were omitted because of a limit, or parts of the input could not be read.
    truncated: bool,
    /// Rules that the configuration disables, each with the position of the setting.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    rules_off: Vec<String>,
}

/// A match of a rule, with the matches of other rules that tell of the same attack.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Finding"))]
struct FindingJson<'a> {
    rule_id: &'a str,
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    category: Category,
    severity: Severity,
    /// Why it is a warning although its rule is critical: the sentence forbids or quotes the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    lowered_for: Option<&'a str>,
    /// The position in the configuration that changed the severity of the rule, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    changed_by: Option<&'a str>,
    /// The meaning of the finding.
    description: &'a str,
    /// The matched text, at most 100 characters.
    matched_text: &'a str,
    /// In characters, from 0.
    position: usize,
    byte_offset: usize,
    byte_end: usize,
    /// From 1.
    line_number: usize,
    /// In characters, from 1.
    column: usize,
    /// `raw`, `folded` if it was found after deobfuscation, or `decoded`.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    view: TextView,
    /// The kind of obfuscation: `disguise` for letters of other scripts, invisible characters and no-op quoting, or
    /// `encoding` for base64, hexadecimal digits, escapes, character codes and split strings.
    #[serde(skip_serializing_if = "Option::is_none")]
    decoded_from: Option<&'a str>,
    /// Why the rule applies here: the variant of the attack.
    #[serde(skip_serializing_if = "str::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    why: &'a str,
    /// The command that completes the attack, if another one does: it runs what the matched one downloads.
    #[serde(skip_serializing_if = "Option::is_none")]
    completed_by: Option<ChainStepJson<'a>>,
    /// The fix.
    remediation: &'a str,
    /// Findings of other rules about the same attack, none of them more severe.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    also: Vec<FindingJson<'a>>,
}

/// A command elsewhere in the text that belongs to an attack.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "ChainStep"))]
struct ChainStepJson<'a> {
    /// The command, at most 100 characters.
    text: &'a str,
    byte_offset: usize,
    byte_end: usize,
    /// From 1.
    line_number: usize,
    /// In characters, from 1.
    column: usize,
}

impl<'a> From<&'a ChainStep<'_>> for ChainStepJson<'a> {
    fn from(step: &'a ChainStep<'_>) -> Self {
        Self {
            text: step.text,
            byte_offset: step.span.start,
            byte_end: step.span.end,
            line_number: step.line,
            column: step.column,
        }
    }
}

impl<'a> From<&'a Finding<'_>> for FindingJson<'a> {
    fn from(finding: &'a Finding<'_>) -> Self {
        Self {
            rule_id: finding.rule_id,
            category: finding.category,
            severity: finding.severity,
            lowered_for: finding.lowered,
            changed_by: finding.changed,
            description: finding.description,
            matched_text: finding.matched_text,
            position: finding.position,
            byte_offset: finding.span.start,
            byte_end: finding.span.end,
            line_number: finding.line,
            column: finding.column,
            view: finding.view,
            decoded_from: finding.view.decoded_from(),
            why: finding.why,
            completed_by: finding.completed_by.as_ref().map(Into::into),
            remediation: finding.remedy,
            also: Vec::new(),
        }
    }
}

impl<'a> From<&FindingGroup<'a, '_>> for FindingJson<'a> {
    fn from(group: &FindingGroup<'a, '_>) -> Self {
        Self { also: group.others.iter().map(|finding| (*finding).into()).collect(), ..group.main.into() }
    }
}

impl Serialize for ScanReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let report = ReportJson {
            clean: self.clean(),
            worst: self.worst(),
            findings: self.groups().iter().map(Into::into).collect(),
            truncated: self.truncated,
            rules_off: self.rules_off.iter().map(ToString::to_string).collect(),
        };
        report.serialize(serializer)
    }
}

impl Serialize for FindingGroup<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        FindingJson::from(self).serialize(serializer)
    }
}

impl Serialize for Finding<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        FindingJson::from(self).serialize(serializer)
    }
}

#[cfg(feature = "schema")]
mod schema {
    use std::borrow::Cow;

    use schemars::{JsonSchema, Schema, SchemaGenerator};

    use super::{Finding, FindingGroup, FindingJson, ReportJson, ScanReport};

    impl JsonSchema for ScanReport<'_> {
        fn schema_name() -> Cow<'static, str> {
            ReportJson::schema_name()
        }

        fn json_schema(generator: &mut SchemaGenerator) -> Schema {
            ReportJson::json_schema(generator)
        }
    }

    impl JsonSchema for FindingGroup<'_, '_> {
        fn schema_name() -> Cow<'static, str> {
            FindingJson::schema_name()
        }

        fn json_schema(generator: &mut SchemaGenerator) -> Schema {
            FindingJson::json_schema(generator)
        }
    }

    impl JsonSchema for Finding<'_> {
        fn schema_name() -> Cow<'static, str> {
            FindingJson::schema_name()
        }

        fn json_schema(generator: &mut SchemaGenerator) -> Schema {
            FindingJson::json_schema(generator)
        }
    }
}

impl TextView {
    /// Returns what was removed before the rule matched; `None` for the original text.
    const fn decoded_from(self) -> Option<&'static str> {
        match self {
            Self::Raw => None,
            Self::Deobfuscated => Some("disguise"),
            Self::Decoded => Some("encoding"),
        }
    }
}

impl Serialize for TextView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Self::Raw => "raw",
            Self::Deobfuscated => "folded",
            Self::Decoded => "decoded",
        })
    }
}

impl Serialize for Severity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Serialize for Category {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Serialize for Regions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(
            Region::ALL.iter().filter(|&&region| self.contains(region)).map(|region| region.name()),
        )
    }
}

impl Serialize for RuleBuf {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rule = serializer.serialize_struct("Rule", 8)?;
        rule.serialize_field("id", &self.id)?;
        rule.serialize_field("category", &self.category)?;
        rule.serialize_field("severity", &self.severity)?;
        rule.serialize_field("summary", &self.summary)?;
        rule.serialize_field("remedy", &self.remedy)?;
        rule.serialize_field("shapes", &self.patterns)?;
        rule.serialize_field("matches", &self.matches)?;
        rule.serialize_field("clean", &self.clean)?;
        rule.end()
    }
}

impl Serialize for PatternBuf {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut pattern = serializer.serialize_struct("Pattern", 4)?;
        pattern.serialize_field("note", &self.note)?;
        pattern.serialize_field("pattern", &self.regex)?;
        pattern.serialize_field("regions", &self.regions)?;
        pattern.serialize_field("unless", &self.exceptions)?;
        pattern.end()
    }
}

impl Serialize for ExceptionBuf {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut exception = serializer.serialize_struct("Exception", 1)?;
        match self {
            Self::Match(pattern) => exception.serialize_field("match", pattern)?,
            Self::Before(pattern) => exception.serialize_field("before", pattern)?,
            Self::After(pattern) => exception.serialize_field("after", pattern)?,
            Self::Without(flows) => {
                let named = Inflow::ALL.iter().filter(|flow| flows.contains(**flow)).map(|flow| flow.name());
                exception.serialize_field("without", &named.collect::<Vec<_>>())?;
            }
        }
        exception.end()
    }
}
