//! `stockade policy add`: adds a rule that is given in words or suggested.

use std::fmt::Write as _;

use clap::ArgGroup;
use serde::Serialize;
use serde_json::json;
use stockade_guard::admission::decide_on_disk;
use stockade_guard::command::rules::{
    CommandPattern, CommandRuleFileProblem, CommandRuleProblem, ImportedRules,
};
use stockade_guard::command::{CommandRule, Effect};
use stockade_text::{escape, nearest};

use super::target::TargetArgs;
use crate::args::Format;
use crate::commands::check_command::HowArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use stockade_state::saved_rules::{ChangedRules, SavedRuleChange, SavedRules};
use stockade_text::to_printable_json;

/// Add a rule that is given in words, or a suggested one
#[derive(Debug, Default, clap::Args)]
#[command(group = ArgGroup::new("words").args(["rule", "allow", "sandbox", "ask", "deny"]))]
pub(super) struct AddArgs {
    /// Rule in words, such as 'allow git push origin *'; with --for, the id of a suggestion
    #[arg(value_name = "RULE", num_args = 1..)]
    rule: Vec<String>,

    /// Allow commands that start with these words
    #[arg(long, value_name = "WORD", num_args = 1..)]
    allow: Vec<String>,

    /// Run commands that start with these words in a sandbox
    #[arg(long, value_name = "WORD", num_args = 1..)]
    sandbox: Vec<String>,

    /// Ask before running commands that start with these words
    #[arg(long, value_name = "WORD", num_args = 1..)]
    ask: Vec<String>,

    /// Deny commands that start with these words
    #[arg(long, value_name = "WORD", num_args = 1..)]
    deny: Vec<String>,

    /// Add the rules that are suggested for this command, or only the named suggestion
    #[arg(long = "for", value_name = "COMMAND", conflicts_with_all = ["allow", "sandbox", "ask", "deny"])]
    command: Option<String>,

    /// Id of the rule [default: made from its words]
    #[arg(long, value_name = "NAME")]
    id: Option<String>,

    /// Reason, which is shown when the rule asks or denies
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,

    /// Allow even a program that can run any other program
    #[arg(long)]
    i_know: bool,

    #[command(flatten)]
    target: TargetArgs,

    #[command(flatten)]
    how: HowArgs,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Added {
    place: String,
    dry_run: bool,
    rules: Vec<AddedRule>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AddedRule {
    id: String,
    decision: Effect,
    pattern: String,
    /// Whether the same rule existed already.
    was_there: bool,
    /// The rule, in TOML.
    rule: String,
}

/// Returns the output and the exit code.
pub(super) fn run(args: &AddArgs, format: Format) -> Result<(String, Exit), Failure> {
    let kept = args.target.kept()?;
    let mut rules = match &args.command {
        Some(command) => suggested(args, &kept, command)?,
        None => vec![said(args)?],
    };
    for rule in &mut rules {
        rule.id = args.id.clone().unwrap_or_else(|| rule.id.clone());
        rule.reason = args.reason.clone().unwrap_or_else(|| rule.reason.clone());
        rule.i_know = args.i_know;
    }
    // An id that the user chose is used unchanged, or the rule is not added.
    if let Some(id) = &args.id {
        let free = kept.apply(&SavedRuleChange::Add(rules.clone()), false)?;
        if free.changed.first().is_some_and(|rule| rule.id != *id) {
            return Err(Failure::usage(format_args!("rule `{id}` already exists in {}", kept.place())));
        }
    }
    // All or nothing: an error must not leave half of the rules added.
    let tried = kept.apply(&SavedRuleChange::Add(rules.clone()), false)?;
    if let Some((rule, problem)) = tried.refused.first() {
        return Err(refused(rule, problem, args));
    }
    let done = if args.target.dry_run { tried } else { kept.apply(&SavedRuleChange::Add(rules), true)? };
    let printed = match format {
        Format::Text => text(&done, &kept, args.target.dry_run),
        Format::Json => format!("{}\n", to_printable_json(&Added::of(&done, &kept, args.target.dry_run))),
    };
    Ok((printed, Exit::Clean))
}

/// Returns the rule that is given in words.
fn said(args: &AddArgs) -> Result<CommandRule, Failure> {
    let options = [
        (Effect::Allow, &args.allow),
        (Effect::Sandbox, &args.sandbox),
        (Effect::Ask, &args.ask),
        (Effect::Deny, &args.deny),
    ];
    let wrong = |error: &dyn std::fmt::Display| {
        Failure::usage(error).with_help("stockade policy add 'deny git push' --rules team.toml")
    };
    if let Some((effect, words)) = options.into_iter().find(|(_, words)| !words.is_empty()) {
        // --deny and its kin take the words that a command starts with.
        let words = words.iter().cloned().chain(["**".to_owned()]).collect();
        return CommandRule::of_words(effect, words).map_err(|error| wrong(&error));
    }
    match args.rule.as_slice() {
        [] => Err(wrong(&"no rule was given")),
        [line] if is_claude_entry(line) => of_claude_entry(line),
        [line] => CommandRule::from_words(line).map_err(|error| wrong(&error)),
        [effect, words @ ..] => match Effect::from_name(effect) {
            Some(effect) => CommandRule::of_words(effect, words.to_vec()).map_err(|error| wrong(&error)),
            None => CommandRule::from_words(&args.rule.join(" ")).map_err(|error| wrong(&error)),
        },
    }
}

/// Whether a rule is spelled as in the permissions of Claude Code: `allow Bash(npm run test:*)`.
fn is_claude_entry(line: &str) -> bool {
    let Some((effect, entry)) = line.split_once(' ') else { return false };
    let tool = entry.trim().strip_suffix(')').and_then(|entry| Some(entry.split_once('(')?.0));
    let is_tool = |tool: &str| {
        tool.starts_with(|c: char| c.is_ascii_uppercase()) && tool.chars().all(|c| c.is_ascii_alphanumeric())
    };
    Effect::from_name(effect).is_some() && tool.is_some_and(is_tool)
}

/// Returns the rule of an entry of the permissions of Claude Code.
fn of_claude_entry(line: &str) -> Result<CommandRule, Failure> {
    let (effect, entry) = line.split_once(' ').unwrap_or((line, ""));
    let settings = json!({"permissions": {(effect): [entry.trim()]}}).to_string();
    let imported = ImportedRules::from_claude_settings(&settings).map_err(|_| {
        Failure::usage(format_args!("{} has no list in the permissions of Claude Code", escape(effect)))
            .with_help("the lists are allow, ask and deny")
    })?;
    match (imported.rules.into_iter().next(), imported.notes.first()) {
        (Some(rule), None) => Ok(rule),
        (_, Some(note)) => Err(Failure::usage(format_args!("{}: {}", escape(&note.entry), note.reason))
            .with_help("write it in words: stockade policy add 'allow npm run test **' --agent AGENT")),
        (None, None) => Err(Failure::usage("the entry has no command")),
    }
}

/// Returns suggestions for a command, under the rules to which they would be added.
fn suggested(args: &AddArgs, kept: &SavedRules, command: &str) -> Result<Vec<CommandRule>, Failure> {
    let policy = kept.policy()?;
    let options = args.how.read_options();
    let (decision, place) = decide_on_disk(args.how.place(), |place| policy.decide(command, &options, place));
    let rules: Vec<CommandRule> =
        policy.suggest(&decision, &options, &place).into_iter().map(|one| one.rule).collect();
    if rules.is_empty() {
        let reason = decision.decisive().next().map(|part| part.cause.to_string()).unwrap_or_default();
        let message = match decision.effect {
            Effect::Allow => "the command is already allowed".to_owned(),
            effect => format!("no single rule can change the decision {effect}: {reason}"),
        };
        return Err(Failure::usage(message)
            .with_help("run `stockade policy explain COMMAND` to see what decides, or add a rule in words"));
    }
    let Some(id) = args.rule.first() else { return Ok(rules) };
    let named: Vec<CommandRule> = rules.iter().filter(|rule| rule.id == *id).cloned().collect();
    if named.is_empty() {
        let ids: Vec<&str> = rules.iter().map(|rule| rule.id.as_str()).collect();
        let meant =
            nearest(id, ids.iter().copied()).map(|id| format!("; did you mean `{id}`?")).unwrap_or_default();
        let message = format_args!("no suggestion `{id}` for this command{meant}");
        return Err(Failure::usage(message).with_help(format!("suggestions: {}", ids.join(", "))));
    }
    Ok(named)
}

fn refused(rule: &CommandRule, problem: &CommandRuleFileProblem, args: &AddArgs) -> Failure {
    let failure = Failure::usage(problem);
    let program = match problem {
        CommandRuleFileProblem::Rule(error) => match &error.problem {
            CommandRuleProblem::TooBroad { program } => program,
            CommandRuleProblem::AnyProgram => {
                return failure
                    .with_help("add one rule for each program, or use --i-know to add it unchanged");
            }
            _ => return failure,
        },
        _ => return failure,
    };
    let narrow = format!("{} {program} WORD", rule.effect);
    failure.with_help(format!(
        "restrict what it may run: stockade policy add '{narrow}' {}; or use --for COMMAND to allow one command, or --i-know to \
        add the rule unchanged",
        args.target.options()
    ))
}

fn text(done: &ChangedRules, kept: &SavedRules, dry_run: bool) -> String {
    let mut out = String::new();
    let verb = if dry_run { "would add" } else { "added" };
    for rule in &done.changed {
        let what = format!("{}: {} {}", rule.id, rule.effect, rule.pattern);
        writeln!(out, "{verb} {} to {}", escape(&what), kept.place()).ok();
        if rule.effect == Effect::Allow && matches!(rule.pattern, CommandPattern::Exact(_)) {
            writeln!(out, "  = it matches exactly these words; add `**` to match longer commands, too").ok();
        }
        if dry_run {
            rule.to_toml().lines().for_each(|line| {
                writeln!(out, "    {}", escape(line)).ok();
            });
        }
    }
    for (_, id) in &done.there {
        writeln!(out, "nothing to add: rule {} in {} is the same", escape(id), kept.place()).ok();
    }
    out
}

impl Added {
    fn of(done: &ChangedRules, kept: &SavedRules, dry_run: bool) -> Self {
        let added = done.changed.iter().map(|rule| AddedRule::of(rule, &rule.id, false));
        let there = done.there.iter().map(|(rule, id)| AddedRule::of(rule, id, true));
        Self { place: kept.path().display().to_string(), dry_run, rules: added.chain(there).collect() }
    }
}

impl AddedRule {
    fn of(rule: &CommandRule, id: &str, was_there: bool) -> Self {
        Self {
            id: id.to_owned(),
            decision: rule.effect,
            pattern: rule.pattern.to_string(),
            was_there,
            rule: rule.to_toml(),
        }
    }
}
