//! JSON form of reports and rules for the command line and the server: camel case, in a fixed order.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::flow::Inflow;
use crate::report::{Finding, ScanReport, TextView};
use crate::rule::{Category, ExceptionBuf, PatternBuf, Region, Regions, RuleBuf, Severity};

impl Serialize for ScanReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let off = usize::from(!self.rules_off.is_empty());
        let mut report = serializer.serialize_struct("ScanReport", 4 + off)?;
        report.serialize_field("clean", &self.clean())?;
        report.serialize_field("worst", &self.worst())?;
        report.serialize_field("findings", &self.findings)?;
        report.serialize_field("truncated", &self.truncated)?;
        if !self.rules_off.is_empty() {
            let told: Vec<String> = self.rules_off.iter().map(ToString::to_string).collect();
            report.serialize_field("rulesOff", &told)?;
        }
        report.end()
    }
}

impl Serialize for Finding<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let decoded = self.view.decoded_from();
        let mut finding = serializer.serialize_struct(
            "Finding",
            12 + usize::from(decoded.is_some())
                + usize::from(self.lowered.is_some())
                + usize::from(self.changed.is_some()),
        )?;
        finding.serialize_field("ruleId", self.rule_id)?;
        finding.serialize_field("category", &self.category)?;
        finding.serialize_field("severity", &self.severity)?;
        if let Some(why) = self.lowered {
            finding.serialize_field("loweredFor", why)?;
        }
        if let Some(by) = self.changed {
            finding.serialize_field("changedBy", by)?;
        }
        finding.serialize_field("description", self.description)?;
        finding.serialize_field("matchedText", self.matched_text)?;
        finding.serialize_field("position", &self.position)?;
        finding.serialize_field("byteOffset", &self.span.start)?;
        finding.serialize_field("byteEnd", &self.span.end)?;
        finding.serialize_field("lineNumber", &self.line)?;
        finding.serialize_field("column", &self.column)?;
        finding.serialize_field("view", &self.view)?;
        if let Some(from) = decoded {
            finding.serialize_field("decodedFrom", from)?;
        }
        finding.serialize_field("remediation", self.remedy)?;
        finding.end()
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
