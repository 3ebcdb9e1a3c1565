//! `stockade policy import` and `export`: conversion of rules from and to other formats.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;
use stockade_guard::admission::{FileOptions, Source, read_text};
use stockade_guard::command::rules::ImportedRules;
use stockade_guard::command::{CommandRule, Effect, Layer};
use stockade_text::{escape, escape_path};

use super::listed::RulesFrom;
use super::target::TargetArgs;
use crate::args::Format;
use crate::exit::Exit;
use crate::failure::Failure;
use stockade_state::command_rules::{layer_of, read};
use stockade_state::saved_rules::{ChangedRules, SavedRuleChange, SavedRules};
use stockade_text::to_printable_json;

/// Import rules from a rule file or the settings of Claude Code
#[derive(Debug, clap::Args)]
pub(super) struct ImportArgs {
    /// Rule file in TOML, YAML or JSON, or a settings.json of Claude Code with `permissions`
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    target: TargetArgs,
}

/// Print rules as a rule file
#[derive(Debug, clap::Args)]
pub(super) struct ExportArgs {
    #[command(flatten)]
    from: RulesFrom,
}

/// Result of an import.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Imported {
    place: String,
    dry_run: bool,
    added: Vec<Row>,
    /// Entries that are equal to an existing rule.
    was_there: Vec<Row>,
    /// Entries whose meaning differs between both programs.
    changed: Vec<Noted>,
    left_out: Vec<Noted>,
}

#[derive(Debug, Serialize)]
struct Row {
    id: String,
    decision: Effect,
    pattern: String,
}

#[derive(Debug, Serialize)]
struct Noted {
    entry: String,
    reason: String,
}

/// Returns the output and the exit code, which is 1 if something was omitted.
pub(super) fn import(args: &ImportArgs, format: Format) -> Result<(String, Exit), Failure> {
    let kept = args.target.kept()?;
    let from = foreign(&args.file)?;
    let done = kept.apply(&SavedRuleChange::Add(from.rules.clone()), !args.target.dry_run)?;
    let imported = Imported::of(&done, &from, &kept, args.target.dry_run);
    let exit = if imported.left_out.is_empty() { Exit::Clean } else { Exit::Found };
    let printed = match format {
        Format::Json => format!("{}\n", to_printable_json(&imported)),
        Format::Text => imported.text(&kept),
    };
    Ok((printed, exit))
}

/// Parses a rule file, or settings of another program.
fn foreign(file: &Path) -> Result<ImportedRules, Failure> {
    let (layer, path) = layer_of(file);
    let is_json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    if is_json {
        let text = read_text(&Source::Path(path.clone()), &FileOptions::default())
            .map_err(|gap| Failure::usage(format_args!("{}: {gap}", escape_path(&path))))?
            .text;
        if text.contains("\"permissions\"") {
            return ImportedRules::from_claude_settings(&text)
                .map_err(|error| Failure::usage(format_args!("{}: {error}", escape_path(&path))));
        }
    }
    let mut imported = ImportedRules::default();
    imported.rules = read(&path, layer)?.rules().to_vec();
    Ok(imported)
}

impl Imported {
    fn of(done: &ChangedRules, from: &ImportedRules, kept: &SavedRules, dry_run: bool) -> Self {
        let notes = |is_left_out| {
            let notes = from.notes.iter().filter(move |note| note.is_left_out == is_left_out);
            notes.map(|note| Noted { entry: note.entry.clone(), reason: note.reason.clone() })
        };
        let refused = done.refused.iter().map(|(rule, problem)| Noted {
            entry: format!("{} {}", rule.effect, rule.pattern),
            reason: problem.to_string(),
        });
        Self {
            place: kept.path().display().to_string(),
            dry_run,
            added: done.changed.iter().map(|rule| Row::of(rule, &rule.id)).collect(),
            was_there: done.there.iter().map(|(rule, id)| Row::of(rule, id)).collect(),
            changed: notes(false).collect(),
            left_out: notes(true).chain(refused).collect(),
        }
    }

    fn text(&self, kept: &SavedRules) -> String {
        let mut out = String::new();
        let verb = if self.dry_run { "would add" } else { "added" };
        for row in &self.added {
            writeln!(out, "{verb} {}: {} {}", escape(&row.id), row.decision, escape(&row.pattern)).ok();
        }
        for row in &self.was_there {
            writeln!(out, "already exists as {}: {} {}", escape(&row.id), row.decision, escape(&row.pattern))
                .ok();
        }
        for note in &self.changed {
            writeln!(out, "differs: {}: {}", escape(&note.entry), escape(&note.reason)).ok();
        }
        for note in &self.left_out {
            writeln!(out, "omitted: {}: {}", escape(&note.entry), escape(&note.reason)).ok();
        }
        let count = |number: usize| format!("{number} {}", if number == 1 { "rule" } else { "rules" });
        let left_out = self.left_out.len();
        writeln!(out, "{verb} {} to {}, omitted {left_out}", count(self.added.len()), kept.place()).ok();
        out
    }
}

impl Row {
    fn of(rule: &CommandRule, id: &str) -> Self {
        Self { id: id.to_owned(), decision: rule.effect, pattern: rule.pattern.to_string() }
    }
}

/// Returns the rules of a source as a rule file.
pub(super) fn export(args: &ExportArgs, format: Format) -> Result<(String, Exit), Failure> {
    let sources = args.from.sources()?;
    let written = || sources.policy.all_rules().rules().filter(|(layer, _)| *layer > Layer::BuiltIn);
    let toml = written().fold(String::from("version = 1\n"), |mut out, (layer, rule)| {
        write!(out, "\n# {layer}\n{}", rule.to_toml()).ok();
        out
    });
    if format == Format::Text {
        return Ok((toml, Exit::Clean));
    }
    // Converted from the TOML, so that both formats have the same content.
    let node = stockade_text::parse(&toml, stockade_text::Format::Toml, toml.len())
        .map_err(|error| Failure::incomplete(format_args!("cannot export the rules: {error}")))?;
    Ok((format!("{}\n", to_printable_json(&node.value.to_json())), Exit::Clean))
}
