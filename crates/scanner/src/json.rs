//! JSON form of reports and rules for the command line and the server: camel case, in a fixed order.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::flow::Inflow;
use crate::report::{Finding, ScanReport, TextView};
use crate::rule::{Category, ExceptionBuf, PatternBuf, Region, Regions, RuleBuf, Severity};

/// The findings, in the order of the text.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Report"))]
struct ReportJson<'a> {
    /// Whether everything was scanned and nothing was found.
    clean: bool,
    /// The worst severity.
    worst: Option<Severity>,
    findings: &'a [Finding<'a>],
    /// Whether findings were omitted because of a limit, or parts of the input could not be read.
    truncated: bool,
    /// Rules that the configuration disables, each with the position of the setting.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    rules_off: Vec<String>,
}

/// A match of a rule.
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
    /// The fix.
    remediation: &'a str,
}

impl Serialize for ScanReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let report = ReportJson {
            clean: self.clean(),
            worst: self.worst(),
            findings: &self.findings,
            truncated: self.truncated,
            rules_off: self.rules_off.iter().map(ToString::to_string).collect(),
        };
        report.serialize(serializer)
    }
}

impl Serialize for Finding<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let finding = FindingJson {
            rule_id: self.rule_id,
            category: self.category,
            severity: self.severity,
            lowered_for: self.lowered,
            changed_by: self.changed,
            description: self.description,
            matched_text: self.matched_text,
            position: self.position,
            byte_offset: self.span.start,
            byte_end: self.span.end,
            line_number: self.line,
            column: self.column,
            view: self.view,
            decoded_from: self.view.decoded_from(),
            remediation: self.remedy,
        };
        finding.serialize(serializer)
    }
}

#[cfg(feature = "schema")]
mod schema {
    use std::borrow::Cow;

    use schemars::{JsonSchema, Schema, SchemaGenerator};

    use super::{Finding, FindingJson, ReportJson, ScanReport};

    impl JsonSchema for ScanReport<'_> {
        fn schema_name() -> Cow<'static, str> {
            ReportJson::schema_name()
        }

        fn json_schema(generator: &mut SchemaGenerator) -> Schema {
            ReportJson::json_schema(generator)
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
