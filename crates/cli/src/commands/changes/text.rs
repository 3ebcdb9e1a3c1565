//! Text output about changes.

use std::fmt::Write as _;

use stockade_guard::exec::review::{ChangeState, FileChange, Merged, ResumedLayer, ReviewLayer};
use stockade_text::{escape, escape_path};

use stockade_state::changes::{ChangeDecision, DecidedChanges};

/// Formats a layer: its id and state, then its command, and the workspace.
pub(super) fn layer(layer: &ReviewLayer) -> String {
    let mut text = format!("{}  {}  {}\n", layer.id(), layer.state().name(), escape_path(layer.workspace()));
    let ago = layer.made().and_then(|made| made.elapsed().ok()).map(|ago| format!(", {} ago", about(ago)));
    writeln!(text, "    by {}{}", escape(layer.command()), ago.unwrap_or_default()).ok();
    if let Ok(changes) = layer.changes() {
        writeln!(text, "    {}", counted(&changes)).ok();
    }
    text
}

use super::super::quarantine::about;

fn counted(changes: &[FileChange]) -> String {
    let count = |is: &dyn Fn(&FileChange) -> bool| changes.iter().filter(|change| is(change)).count();
    let waiting = count(&|change| change.state == ChangeState::Waiting && change.refused.is_none());
    let applied = count(&|change| change.state == ChangeState::Applied);
    let refused = count(&|change| change.refused.is_some());
    format!("{waiting} pending, {applied} applied, {refused} never applied")
}

/// Formats a change: its kind, path and state, and why it is not applied.
pub(super) fn change(change: &FileChange, leads_to: Option<Vec<u8>>) -> String {
    let sign = change.kind.name();
    let mut text = format!("{sign:<9} {:<9} {}", change.state.name(), escape_path(&change.path));
    match leads_to {
        Some(to) => write!(text, " (link to {})", escape(&String::from_utf8_lossy(&to))),
        None if change.what() != "file" => write!(text, " ({})", change.what()),
        None => Ok(()),
    }
    .ok();
    match change.modes() {
        (Some(before), Some(after)) if before != after => write!(text, " [{before:04o} -> {after:04o}]"),
        _ => Ok(()),
    }
    .ok();
    if let Some(why) = &change.refused {
        write!(text, "\n    never applied: {}", escape(why)).ok();
    }
    text.push('\n');
    text
}

/// Formats the result of a decision.
pub(super) fn decided(layer: &ReviewLayer, decision: ChangeDecision, decided: &DecidedChanges) -> String {
    match decided {
        DecidedChanges::Merged(found) => merged(layer, decision.name(), found),
        DecidedChanges::Discarded(count) => format!("discarded {} of {}\n", paths(*count), layer.id()),
    }
}

/// Formats the result of completing an interrupted operation.
pub(super) fn resumed(resumed: &ResumedLayer) -> String {
    let id = &resumed.id;
    match &resumed.swept {
        Ok(swept) => {
            let begin = format!("note: {id} was interrupted, and is now completed\n");
            let rows = swept.iter();
            let rows = rows.map(|(path, why)| {
                format!("note: {id}: {} is missing: {}\n", escape_path(path), escape(why))
            });
            begin + &rows.collect::<String>()
        }
        Err(error) => {
            format!("note: {id} was interrupted, and cannot be completed: {}\n", escape(&error.to_string()))
        }
    }
}

/// Formats what was done and what was not.
fn merged(layer: &ReviewLayer, verb: &str, merged: &Merged) -> String {
    let mut text = format!("{verb} {} of {}\n", paths(merged.done.len()), layer.id());
    for conflict in &merged.conflicts {
        let group = match conflict.group.as_os_str().is_empty() {
            true => "the workspace".to_owned(),
            false => escape_path(&conflict.group),
        };
        let (path, why) = (escape_path(&conflict.path), escape(&conflict.why));
        writeln!(text, "conflict: {path}: {why}; nothing in {group} was {verb}").ok();
    }
    for (path, why) in &merged.refused {
        writeln!(text, "never {verb}: {}: {}", escape_path(path), escape(why)).ok();
    }
    if !merged.conflicts.is_empty() {
        let id = layer.id();
        writeln!(text, "  help: inspect it with `stockade changes diff {id}`, and name the paths to select")
            .ok();
    }
    text
}

fn paths(count: usize) -> String {
    if count == 1 { "1 path".to_owned() } else { format!("{count} paths") }
}
