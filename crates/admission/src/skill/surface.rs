//! Surfaces of a skill, judged as commands.

use std::sync::LazyLock;

use serde::Serialize;
use stockade_command::shell::ReadOptions;
use stockade_command::{CommandContext, CommandPolicy, Effect};
use stockade_scanner::{ScanOptions, Scanner, Syntax};
use stockade_skill::{
    FilePosition, MAX_SURFACE_CHARS, MAX_SURFACES, SkillProblems, SurfaceKind, first_chars, head_surfaces,
    load_commands,
};
use stockade_text::{TextPosition, Value};

use super::files::FileSurface;
use super::finding::{Findings, Reading};

/// A surface of a skill: something that runs, or lets something run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Surface {
    /// Its kind.
    pub kind: SurfaceKind,
    /// The file.
    pub path: String,
    /// The line, from 1.
    #[serde(rename = "lineNumber")]
    pub line: usize,
    /// The first characters of its text.
    pub text: String,
    /// Verdict of the built-in command rules, if it is a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
}

/// Judges the surfaces of a skill.
pub(crate) struct Surfaces<'s> {
    pub(crate) scanner: &'s Scanner,
    pub(crate) findings: &'s mut Findings,
    pub(crate) list: Vec<Surface>,
    pub(crate) commands: usize,
}

impl Surfaces<'_> {
    /// Judges the commands in a text that run when it is loaded.
    pub(crate) fn of_text(
        &mut self,
        text: &str,
        path: &str,
        lines_before: usize,
        problems: &mut SkillProblems,
    ) {
        for command in load_commands(text) {
            let line = command.line + lines_before;
            let seen = self
                .list
                .iter()
                .any(|one| one.kind == SurfaceKind::Command && one.text == first_chars(command.text));
            // The same text after cleaning.
            if !seen || command.text.chars().count() > MAX_SURFACE_CHARS {
                self.command(SurfaceKind::Command, command.text, path, line, problems);
            }
            if self.commands > MAX_SURFACES {
                return;
            }
        }
    }

    /// Judges the surfaces in front matter.
    pub(crate) fn of_head(&mut self, head: &Value, path: &str, problems: &mut SkillProblems) {
        head_surfaces(head, path, problems, &mut |found, problems| match found.is_command {
            true => self.command(found.kind, found.text, path, found.line, problems),
            false => self.push(found.kind, found.text, path, found.line, None),
        });
    }

    /// Records the surface of a file. Commands are judged.
    pub(crate) fn of_file(&mut self, surface: &FileSurface, problems: &mut SkillProblems) {
        surface.tell(problems);
        let FileSurface { kind, path, line, text, is_command, .. } = surface;
        match is_command {
            true => self.command(*kind, text, path, *line, problems),
            false => self.push(*kind, text, path, *line, None),
        }
    }

    /// Scans a command as code and applies the built-in rules to it.
    fn command(
        &mut self,
        kind: SurfaceKind,
        text: &str,
        path: &str,
        line: usize,
        problems: &mut SkillProblems,
    ) {
        static POLICY: LazyLock<CommandPolicy> = LazyLock::new(CommandPolicy::builtin);
        let position = FilePosition { path, at: TextPosition { line, column: 1 } };
        self.commands += 1;
        if self.commands > MAX_SURFACES {
            let message = format_args!("more than {MAX_SURFACES} commands run when the skill is loaded");
            problems.add("too-many-commands", position, message, "put them into a script");
            return;
        }
        let options = ScanOptions { syntax: Syntax::Shell, ..ScanOptions::default() };
        let report = self.scanner.scan_with(text, &options);
        self.findings.add(&report, path, line.saturating_sub(1), Reading::Command);
        let decision = POLICY.decide(text, &ReadOptions::default(), &CommandContext::default());
        let because = decision.decisive().next().map(|part| part.cause.to_string()).unwrap_or_default();

        match decision.effect {
            Effect::Deny => {
                let message = format_args!("a {} that must not run: {because}", kind.name());
                problems.add("command-refused", position, message, "remove the command");
            }
            Effect::Ask => {
                let message = format_args!("a {} that runs without a question: {because}", kind.name());
                let fix = "let the model run it, so that the user can be asked";
                problems.add("command-unanswered", position, message, fix);
            }
            Effect::Allow | Effect::Sandbox => {}
        }
        self.push(kind, text, path, line, Some(decision.effect));
    }

    fn push(&mut self, kind: SurfaceKind, text: &str, path: &str, line: usize, effect: Option<Effect>) {
        if self.list.len() < MAX_SURFACES {
            self.list.push(Surface { kind, path: path.to_owned(), line, text: first_chars(text), effect });
        }
    }
}
