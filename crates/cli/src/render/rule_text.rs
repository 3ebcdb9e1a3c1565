//! Text output about scanner rules.

use std::fmt::Write as _;

use stockade_guard::scanner::{
    ExceptionBuf, Inflow, PatternBuf, Region, Regions, RuleBuf, RuleChange, Scanner,
};

use stockade_text::escape;

use super::scan_text::severity_style;
use super::style::Styles;

/// Formats one line for each rule, and one for each configured change.
pub(crate) fn list(scanner: &Scanner, styles: Styles) -> String {
    let rules = scanner.rules();
    let width = rules.iter().map(|rule| rule.id.len()).max().unwrap_or_default();
    let rows = rules.iter().fold(String::new(), |mut out, rule| {
        let (colour, Styles { strong, reset, .. }) = (severity_style(rule.severity, styles), styles);
        let (id, severity, category) = (&rule.id, rule.severity, rule.category);
        let summary = escape(&rule.summary);
        let columns =
            format_args!("{strong}{id:width$}{reset}  {colour}{severity:8}{reset}  {category:20}  {summary}");
        writeln!(out, "{columns}").ok();
        out
    });
    let changes = scanner.changes().map(changed);
    rows + &changes.collect::<String>()
}

/// Formats the configured change of a rule.
fn changed(change: &RuleChange) -> String {
    format!("changed by the configuration: {}\n", escape(&change.to_string()))
}

/// Formats a full description of a rule.
pub(crate) fn show(rule: &RuleBuf, scanner: &Scanner, styles: Styles) -> String {
    let (colour, Styles { strong, reset, .. }) = (severity_style(rule.severity, styles), styles);
    let mut out = format!("{strong}{}{reset}: {}\n\n", rule.id, escape(&rule.summary));
    let facts = [
        ("severity", format!("{colour}{}{reset}", rule.severity)),
        ("category", rule.category.to_string()),
        ("fix", escape(&rule.remedy).into_owned()),
    ];
    for (name, value) in facts {
        writeln!(out, "{name:9} {value}").ok();
    }
    scanner.changes().filter(|change| change.rule == rule.id).for_each(|one| out.push_str(&changed(one)));
    writeln!(out, "\n{strong}Looks for{reset}").ok();
    for (number, pattern) in (1..).zip(&rule.patterns) {
        push_pattern(&mut out, number, pattern);
    }
    push_examples(&mut out, "Examples that match", &rule.matches, styles);
    push_examples(&mut out, "Examples that do not match", &rule.clean, styles);
    out
}

fn push_pattern(out: &mut String, number: usize, pattern: &PatternBuf) {
    let texts = [&pattern.note, &pattern.regex].into_iter().filter(|text| !text.is_empty());
    for (at, text) in texts.enumerate() {
        let number = if at == 0 { format!("{number:3}. ") } else { "     ".to_owned() };
        writeln!(out, "{number}{}", escape(text)).ok();
    }
    if let Some(places) = places(pattern.regions) {
        writeln!(out, "     only in {places}").ok();
    }
    for exception in &pattern.exceptions {
        let (place, regex) = match exception {
            ExceptionBuf::Match(regex) => ("in the match", regex),
            ExceptionBuf::Before(regex) => ("before it on the line", regex),
            ExceptionBuf::After(regex) => ("after it on the line", regex),
            ExceptionBuf::Without(flows) => {
                let named = Inflow::ALL.iter().filter(|flow| flows.contains(**flow)).map(|flow| flow.name());
                writeln!(out, "     unless none of these flows in: {}", named.collect::<Vec<_>>().join(", "))
                    .ok();
                continue;
            }
        };
        writeln!(out, "     unless {place}: {}", escape(regex)).ok();
    }
}

/// Returns the regions of a pattern; `None` if it applies everywhere.
fn places(regions: Regions) -> Option<String> {
    if regions == Regions::ANY {
        return None;
    }
    let named = Region::ALL.iter().filter(|region| regions.contains(**region)).map(|region| region.name());
    Some(named.collect::<Vec<_>>().join(", "))
}

/// Marks texts of several lines with bars.
fn push_examples(out: &mut String, heading: &str, examples: &[String], styles: Styles) {
    if examples.is_empty() {
        return;
    }
    let Styles { strong, frame, reset, .. } = styles;
    writeln!(out, "\n{strong}{heading}{reset}").ok();
    for example in examples {
        for (at, line) in example.lines().enumerate() {
            let mark = if at == 0 { "-" } else { "|" };
            writeln!(out, "  {frame}{mark}{reset} {}", escape(line)).ok();
        }
    }
}

/// Formats the passed tests of each rule. Loading a file fails if a test of it fails.
pub(crate) fn tested(rules: &[RuleBuf], styles: Styles) -> String {
    let Styles { good, strong, reset, .. } = styles;
    rules.iter().fold(String::new(), |mut out, rule| {
        let (id, patterns) = (&rule.id, rule.patterns.len());
        let (matches, clean) = (rule.matches.len(), rule.clean.len());
        let counts = format_args!(
            "patterns {patterns}, {matches} of {matches} matched, {clean} of {clean} not matched"
        );
        writeln!(out, "{good}ok{reset} {strong}{id}{reset}: {counts}").ok();
        out
    })
}
