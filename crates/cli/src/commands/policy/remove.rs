//! `stockade policy remove`: removes rules by their ids.

use std::fmt::Write as _;

use serde::Serialize;
use stockade_text::{escape, nearest};

use super::listed::{RulesFrom, listed};
use super::target::TargetArgs;
use crate::args::Format;
use crate::exit::Exit;
use crate::failure::Failure;
use stockade_state::saved_rules::{SavedRuleChange, SavedRules};
use stockade_text::to_printable_json;

/// Remove rules by id
#[derive(Debug, clap::Args)]
pub(super) struct RemoveArgs {
    /// Id of a rule, as listed by `stockade policy list`
    #[arg(value_name = "NAME", required = true, num_args = 1..)]
    ids: Vec<String>,

    #[command(flatten)]
    target: TargetArgs,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Removed {
    place: String,
    dry_run: bool,
    removed: Vec<String>,
}

/// Returns the output and the exit code. With an unknown id, nothing is removed.
pub(super) fn run(args: &RemoveArgs, format: Format) -> Result<(String, Exit), Failure> {
    let kept = args.target.kept()?;
    let change = SavedRuleChange::Remove(args.ids.clone());
    let tried = kept.apply(&change, false)?;
    if let Some(id) = tried.unknown.first() {
        return Err(unknown(id, &kept));
    }
    if !args.target.dry_run {
        kept.apply(&change, true)?;
    }
    let ids: Vec<String> = tried.changed.iter().map(|rule| rule.id.clone()).collect();
    let printed = match format {
        Format::Json => {
            let place = kept.path().display().to_string();
            format!("{}\n", to_printable_json(&Removed { place, dry_run: args.target.dry_run, removed: ids }))
        }
        Format::Text => {
            let verb = if args.target.dry_run { "would remove" } else { "removed" };
            tried.changed.iter().fold(String::new(), |mut out, rule| {
                let what = format!("{}: {} {}", rule.id, rule.effect, rule.pattern);
                writeln!(out, "{verb} {} from {}", escape(&what), kept.place()).ok();
                out
            })
        }
    };
    Ok((printed, Exit::Clean))
}

fn unknown(id: &str, kept: &SavedRules) -> Failure {
    let there = listed(&RulesFrom::kept(kept)).unwrap_or_default();
    let ids = || there.iter().map(|one| one.id.as_str());
    let meant = nearest(id, ids()).map(|id| format!("; did you mean `{id}`?")).unwrap_or_default();
    Failure::usage(format_args!("no rule `{id}` in {}{meant}", kept.place()))
        .with_help("run `stockade policy list` to list all rules and their origins")
}
