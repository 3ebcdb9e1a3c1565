//! `stockade config import`: the settings of another program, in the user's config file.
#![expect(clippy::disallowed_methods, reason = "looks up the home directory")]

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::PossibleValue;
use serde::Serialize;
use stockade_files::KeptFile;
use stockade_guard::admission::{FileOptions, Source, read_text};
use stockade_guard::config::{Config, ConfigLayer, ImportedSetting, ImportedSettings, OtherProgram};
use stockade_state::saved_rules::{
    MAX_CONFIG_BYTES, SavedRuleChange, SavedRules, SavedRulesError, config_with, format_of,
};
use stockade_text::{EditError, Editor, Format as FileFormat, escape, escape_path, to_printable_json};

use super::change::make_folder;
use crate::args::Format;
use crate::exit::Exit;
use crate::failure::Failure;

/// Import the settings of another program into your config file
#[derive(Debug, clap::Args)]
pub(super) struct ImportArgs {
    /// Program whose settings these are
    #[arg(value_name = "PROGRAM")]
    program: Program,

    /// Its file [default: the one at home, such as ~/.claude/settings.json]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// A program as an argument.
#[derive(Debug, Clone, Copy)]
struct Program(OtherProgram);

impl ValueEnum for Program {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [Program; 4] = {
            let [a, b, c, d] = OtherProgram::ALL;
            [Program(a), Program(b), Program(c), Program(d)]
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()).help(format!("~/{}", self.0.file())))
    }
}

/// What was done, for programs.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    place: String,
    dry_run: bool,
    set: Vec<Line>,
    rules: Vec<String>,
    /// What is so already.
    unchanged: Vec<Line>,
    differs: Vec<Line>,
    left_out: Vec<Line>,
}

#[derive(Debug, Serialize)]
struct Line {
    entry: String,
    text: String,
}

/// Returns the output, and exit code 1 if something is left out.
pub(super) fn run(args: &ImportArgs, agent: Option<&str>, format: Format) -> Result<(String, Exit), Failure> {
    let program = args.program.0;
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let file = args.file.clone().unwrap_or_else(|| home.join(program.file()));
    let agent = agent.unwrap_or(program.agent());
    let found = read(program, &file, agent, &home)?;
    let kept = SavedRules::of_agent(agent)?;
    let mut report =
        Report { place: kept.path().display().to_string(), dry_run: args.dry_run, ..Report::default() };
    for note in &found.notes {
        let line = Line { entry: note.entry.clone(), text: note.reason.clone() };
        if note.is_left_out { report.left_out.push(line) } else { report.differs.push(line) }
    }
    set(&found.settings, &kept, &mut report)?;
    let done = kept.apply(&SavedRuleChange::Add(found.rules), !args.dry_run)?;
    report.rules = done.changed.iter().map(|rule| format!("{} {}", rule.effect, rule.pattern)).collect();
    for (rule, id) in &done.there {
        let entry = format!("{} {}", rule.effect, rule.pattern);
        report.unchanged.push(Line { entry, text: format!("rule `{id}`") });
    }
    for (rule, problem) in &done.refused {
        let entry = format!("{} {}", rule.effect, rule.pattern);
        report.left_out.push(Line { entry, text: problem.to_string() });
    }
    let exit = if report.left_out.is_empty() { Exit::Clean } else { Exit::Found };
    let printed = match format {
        Format::Text => report.text(),
        Format::Json => format!("{}\n", to_printable_json(&report)),
    };
    Ok((printed, exit))
}

fn read(program: OtherProgram, file: &Path, agent: &str, home: &Path) -> Result<ImportedSettings, Failure> {
    let wrong = |why: &dyn std::fmt::Display| Failure::usage(format_args!("{}: {why}", escape_path(file)));
    let text = read_text(&Source::Path(file.to_owned()), &FileOptions::default()).map_err(|gap| {
        wrong(&gap).with_help(format!("name the file: stockade config import {} FILE", program.name()))
    })?;
    let format = FileFormat::of_path(file)
        .or_else(|| FileFormat::of_path(program.file()))
        .ok_or_else(|| wrong(&"unknown extension of a file of settings"))?;
    ImportedSettings::read(program, &text.text, format, agent, home).map_err(|error| wrong(&error))
}

/// Sets what the user has not set, and adds to lists.
fn set(settings: &[ImportedSetting], kept: &SavedRules, report: &mut Report) -> Result<(), Failure> {
    let (path, is_dry) = (kept.path(), report.dry_run);
    let file = KeptFile::new(path, MAX_CONFIG_BYTES);
    let states = if is_dry {
        let text = file.read().map_err(SavedRulesError::from)?;
        edited(settings, path, text.as_deref()).map(|(_, states)| states)
    } else {
        make_folder(path)?;
        let edit =
            |text: Option<&str>| edited(settings, path, text).map(|(text, states)| (Some(text), states));
        file.change(edit).map_err(SavedRulesError::from)?
    };
    for (state, setting) in states?.into_iter().zip(settings) {
        let text = format!("{} = {}", setting.path, setting.value);
        let line = Line { entry: setting.entry.clone(), text };
        match state {
            State::Unset => report.set.push(line),
            State::Equal => report.unchanged.push(line),
            State::Other => {
                let text = format!("you set `{}` to another value, which stays", setting.path);
                report.left_out.push(Line { text, ..line });
            }
        }
    }
    Ok(())
}

/// Returns the config file with these settings, and the state of each before.
fn edited(
    settings: &[ImportedSetting],
    path: &Path,
    text: Option<&str>,
) -> Result<(String, Vec<State>), SavedRulesError> {
    let mut text = text.unwrap_or_default().to_owned();
    let (mut states, mut seen) = (Vec::new(), HashSet::new());
    let before = config_with(path, &text)?;
    for setting in settings {
        let is_new = seen.insert((&setting.path, setting.value.to_string()));
        let state = if is_new { State::of(&before, setting) } else { State::Equal };
        if state == State::Unset {
            text = with(text, format_of(path), setting)
                .map_err(|why| SavedRulesError::Said(format!("{}: {why}", setting.path)))?;
        }
        states.push(state);
    }
    config_with(path, &text)?;
    Ok((text, states))
}

fn with(text: String, format: FileFormat, setting: &ImportedSetting) -> Result<String, EditError> {
    let path: Vec<&str> = setting.path.split('.').collect();
    let Some(list) = setting.value.as_array() else {
        return Editor::new(&text, format).set_value(&path, &setting.value.to_string());
    };
    list.iter().try_fold(text, |text, one| Editor::new(&text, format).append_value(&path, &one.to_string()))
}

/// What a setting is before the import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Unset,
    /// It is so already.
    Equal,
    /// The user set another value.
    Other,
}

impl State {
    fn of(config: &Config, setting: &ImportedSetting) -> Self {
        let Some(now) = config.get(&setting.path) else { return Self::Unset };
        match (now.value.as_array(), setting.value.as_array()) {
            (Some(now), Some(new)) if new.iter().all(|one| now.contains(one)) => Self::Equal,
            (Some(_), Some(_)) => Self::Unset,
            _ if now.value == setting.value => Self::Equal,
            _ if now.origin.layer == ConfigLayer::Default => Self::Unset,
            _ => Self::Other,
        }
    }
}

impl Report {
    fn text(&self) -> String {
        let mut out = String::new();
        let verb = if self.dry_run { "would set" } else { "set" };
        for line in &self.set {
            writeln!(out, "{verb} {}  (from {})", escape(&line.text), escape(&line.entry)).ok();
        }
        let verb = if self.dry_run { "would add the rule" } else { "added the rule" };
        for rule in &self.rules {
            writeln!(out, "{verb} {}", escape(rule)).ok();
        }
        for (name, lines) in
            [("is so already", &self.unchanged), ("differs", &self.differs), ("left out", &self.left_out)]
        {
            for line in lines {
                writeln!(out, "{name}: {}: {}", escape(&line.entry), escape(&line.text)).ok();
            }
        }
        let imported = self.set.len() + self.rules.len();
        let place = escape(&self.place);
        writeln!(out, "{imported} imported into {place}, {} left out", self.left_out.len()).ok();
        out
    }
}
