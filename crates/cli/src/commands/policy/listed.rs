//! `stockade policy list`: lists all rules in the order of precedence, with their origins.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;
use stockade_guard::command::{CommandRule, Effect, Layer};
use stockade_text::escape;

use super::target::agent_or_all;
use crate::args::Format;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::style::Styles;
use stockade_state::command_rules::{self, RuleSources};
use stockade_state::saved_rules::SavedRules;
use stockade_text::to_printable_json;

/// List the effective rules, and their origin
#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    #[command(flatten)]
    from: RulesFrom,

    /// Also list the built-in rules
    #[arg(long)]
    all: bool,
}

/// The source of rules to list.
#[derive(Debug, Default, clap::Args)]
pub(super) struct RulesFrom {
    /// Rule file; admin:FILE and project:FILE set its layer; repeatable
    #[arg(long, value_name = "FILE")]
    pub(super) rules: Vec<PathBuf>,

    /// Agent whose configured rules to list; '*' for those of all agents
    #[arg(long, value_name = "ID", value_parser = agent_or_all)]
    pub(super) agent: Option<String>,
}

impl RulesFrom {
    /// The rules of one source.
    pub(super) fn kept(kept: &SavedRules) -> Self {
        match kept {
            SavedRules::File { layer, path } => {
                let mut named = std::ffi::OsString::from(format!("{layer}:"));
                named.push(path);
                Self { rules: vec![named.into()], agent: None }
            }
            SavedRules::Agent { agent, .. } => Self { rules: Vec::new(), agent: Some(agent.clone()) },
        }
    }

    /// Without options, the rules for all agents in the configuration.
    pub(super) fn sources(&self) -> Result<RuleSources, Failure> {
        let sources = match &self.agent {
            None if !self.rules.is_empty() => command_rules::sources_of(&self.rules),
            agent => command_rules::sources_for(agent.as_deref().unwrap_or("*"), &self.rules),
        };
        Ok(sources?)
    }
}

/// A rule in the list.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListedRule {
    pub(super) id: String,
    layer: &'static str,
    decision: Effect,
    pattern: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    reason: String,
    enabled: bool,
    /// Whether it has conditions other than its words.
    has_conditions: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
    /// The rule that always takes precedence over it.
    #[serde(skip_serializing_if = "Option::is_none")]
    shadowed_by: Option<String>,
}

#[derive(Debug, Serialize)]
struct List<'l> {
    rules: &'l [ListedRule],
}

/// Returns the output and the exit code.
pub(super) fn run(args: &ListArgs, format: Format, styles: Styles) -> Result<(String, Exit), Failure> {
    let mut rules = listed(&args.from)?;
    rules.retain(|rule| args.all || rule.layer != Layer::BuiltIn.name());
    let printed = match format {
        Format::Json => format!("{}\n", to_printable_json(&List { rules: &rules })),
        Format::Text if rules.is_empty() => {
            "no rules except the built-in ones, which --all shows; to add one, use 'stockade policy add'\n"
                .to_owned()
        }
        Format::Text => rules.iter().fold(String::new(), |mut out, rule| {
            push(&mut out, rule, styles);
            out
        }),
    };
    Ok((printed, Exit::Clean))
}

/// Returns the rules, those of the highest layer first.
pub(super) fn listed(from: &RulesFrom) -> Result<Vec<ListedRule>, Failure> {
    let sources = from.sources()?;
    let policy = sources.policy.all_rules();
    let shadowed: HashMap<(Layer, String), String> = policy
        .shadowed()
        .into_iter()
        .map(|one| ((one.layer, one.id), format!("{} {}", one.by_layer, one.by)))
        .collect();
    let row = |(layer, rule): (Layer, &CommandRule)| ListedRule {
        id: rule.id.clone(),
        layer: layer.name(),
        decision: rule.effect,
        pattern: rule.pattern.to_string(),
        reason: rule.reason.clone(),
        enabled: rule.enabled,
        has_conditions: rule.guards != Default::default(),
        place: sources.places.find(layer, &rule.id).map(str::to_owned),
        shadowed_by: shadowed.get(&(layer, rule.id.clone())).cloned(),
    };
    let mut rules: Vec<(Layer, &CommandRule)> = policy.rules().collect();
    rules.sort_by_key(|(layer, _)| std::cmp::Reverse(*layer));
    Ok(rules.into_iter().map(row).collect())
}

fn push(out: &mut String, rule: &ListedRule, styles: Styles) {
    let Styles { strong, frame, warn, reset, .. } = styles;
    let conditions = if rule.has_conditions { " (with conditions)" } else { "" };
    let off = if rule.enabled { "" } else { " (disabled)" };
    writeln!(
        out,
        "{strong}{}{reset} {} {} {}{conditions}{off}",
        escape(&rule.id),
        rule.layer,
        rule.decision,
        escape(&rule.pattern)
    )
    .ok();
    if let Some(place) = &rule.place {
        writeln!(out, "  {frame}={reset} {}", escape(place)).ok();
    }
    if let Some(by) = &rule.shadowed_by {
        writeln!(out, "  {frame}={reset} {warn}never decides{reset}: {} takes precedence", escape(by)).ok();
    }
}
