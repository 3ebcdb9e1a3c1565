//! `stockade policy explain`: shows which rules were considered for a command, and why one of them decided.

use std::path::PathBuf;

use serde::Serialize;
use stockade_guard::admission::decide_on_disk;
use stockade_guard::command::{ConsideredRule, Part};

use super::listed::RulesFrom;
use crate::args::Format;
use crate::commands::check_command::{Checked, HowArgs, command, exit};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::command_text;
use crate::render::style::Styles;
use stockade_text::to_printable_json;

/// Decide about a command, and show the considered rules and which one decided
#[derive(Debug, clap::Args)]
pub(super) struct ExplainArgs {
    /// Command as one argument; - for standard input. It may follow a rule file
    #[arg(value_name = "COMMAND", required = true, num_args = 1..=2)]
    words: Vec<String>,

    #[command(flatten)]
    from: RulesFrom,

    /// Also show rules about the program that do not match
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    how: HowArgs,
}

#[derive(Debug, Serialize)]
struct Explained {
    #[serde(flatten)]
    checked: Checked,
    /// For each part, in the same order.
    considered: Vec<Vec<ExplainedRule>>,
}

#[derive(Debug, Serialize)]
struct ExplainedRule {
    rule: String,
    layer: &'static str,
    /// What the part does or would do.
    decision: &'static str,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// Returns the output and the exit code.
pub(super) fn run(args: &ExplainArgs, format: Format, styles: Styles) -> Result<(String, Exit), Failure> {
    let (file, text) = match args.words.as_slice() {
        [file, text] => (Some(PathBuf::from(file)), text),
        [text] => (None, text),
        _ => return Err(Failure::usage("expected one command, as one argument")),
    };
    let from = RulesFrom {
        rules: file.into_iter().chain(args.from.rules.iter().cloned()).collect(),
        agent: args.from.agent.clone(),
    };
    let sources = from.sources()?;
    let text = command(text)?;
    let options = args.how.read_options();
    let (decision, place) =
        decide_on_disk(args.how.place(), |place| sources.policy.decide(&text, &options, place));
    let suggestions = sources.policy.suggest(&decision, &options, &place);
    let considered = |part: &Part<'_, '_>| {
        part.run().map(|run| sources.policy.consider(&decision, run, &options, &place)).unwrap_or_default()
    };
    let printed = match format {
        Format::Text => {
            command_text::explanation(&decision, considered, args.all, &sources.places, &suggestions, styles)
        }
        Format::Json => {
            let rules = |part| considered(part).iter().map(ExplainedRule::of).collect();
            let considered = decision.parts.iter().map(rules).collect();
            let checked = Checked::of(&decision, &sources.places, &suggestions);
            format!("{}\n", to_printable_json(&Explained { checked, considered }))
        }
    };
    Ok((printed, exit(&decision)))
}

impl ExplainedRule {
    fn of(one: &ConsideredRule<'_>) -> Self {
        let (outcome, why) = (one.outcome.name(), one.outcome.why().map(str::to_owned));
        let (layer, decision) = (one.layer.name(), one.rule.effect.name());
        Self { rule: one.rule.id.clone(), layer, decision, outcome, why }
    }
}
