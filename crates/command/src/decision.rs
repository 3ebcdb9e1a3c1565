//! Decides whether a command may run: each part separately, with the strictest effect for the whole.

pub(crate) mod explain;
mod judge;
#[cfg(test)]
mod monotonicity_tests;
pub(crate) mod part;
pub(crate) mod policy;
pub(crate) mod suggest;
#[cfg(test)]
mod suggested;

use std::path::PathBuf;

use part::Part;
use stockade_shell::{Actions, Script, Span};
use stockade_text::shown_within;

use super::context::NamedPath;
use super::rules::effect::Effect;

/// What was decided about a command, and why.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CommandDecision<'t, 'p> {
    /// The text that was judged.
    pub text: &'t str,
    /// The strictest effect of all parts.
    pub effect: Effect,
    /// What the text does, in the order in which it is written, each with its own verdict.
    pub parts: Vec<Part<'t, 'p>>,
    script: Option<Script<'t>>,
    substitutions: Vec<Span>,
    git_folders: Vec<PathBuf>,
    paths: Vec<NamedPath>,
}

impl<'t, 'p> CommandDecision<'t, 'p> {
    fn new(
        text: &'t str,
        mut parts: Vec<Part<'t, 'p>>,
        script: Option<Script<'t>>,
        actions: Option<Actions<'t>>,
    ) -> Self {
        // What runs another program stands before it, where both are written in the same place.
        parts.sort_by_key(|part| (part.span, part.run().map_or(0, |run| run.call_chain.len())));
        let effect = parts.iter().map(|part| part.effect).max().unwrap_or(Effect::Ask);
        let substitutions = actions
            .map(|actions| actions.substitutions.iter().map(|substitution| substitution.span).collect())
            .unwrap_or_default();
        Self { text, effect, parts, script, substitutions, git_folders: Vec::new(), paths: Vec::new() }
    }

    fn asking_of(mut self, mut folders: Vec<PathBuf>, paths: Vec<NamedPath>) -> Self {
        folders.sort_unstable();
        folders.dedup();
        self.git_folders = folders;
        self.paths = paths;
        self
    }

    /// Returns the directories in which git would look for a repository and that the context does not describe. A caller that can
    /// read the disk adds what git finds there to [`CommandContext::repositories`](crate::CommandContext::repositories) and
    /// decides again; without that, git is trusted at the top of the workspace alone.
    #[must_use]
    pub fn git_folders(&self) -> &[PathBuf] {
        &self.git_folders
    }

    /// Returns the paths that its words may name. A caller that can read the disk adds where links lead to [`CommandContext::links`](crate::CommandContext::links) and decides again; without that, a
    /// path is judged by its name.
    #[must_use]
    pub fn paths(&self) -> &[NamedPath] {
        &self.paths
    }

    /// Returns whether it may run as it is, without a sandbox and without a question.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        self.effect == Effect::Allow
    }

    /// Returns the parts that are as strict as the whole: those that have to change for it to become milder.
    pub fn decisive(&self) -> impl Iterator<Item = &Part<'t, 'p>> {
        self.parts.iter().filter(|part| part.effect == self.effect)
    }

    /// Returns the text as a person is to see it who decides on it, in one line: nothing in it is hidden by padding, by line
    /// ends or by characters that have no shape. Of a text much longer than `most` characters, what decides is kept.
    #[must_use]
    pub fn shown(&self, most: usize) -> String {
        let decisive = self.decisive().next().map_or(0..0, |part| part.span.start..part.span.end);
        shown_within(self.text, &decisive, most)
    }

    /// Returns at most so many parts, in the order in which they are written; of more, the strictest.
    #[must_use]
    pub fn strictest(&self, most: usize) -> Vec<&Part<'t, 'p>> {
        let mut parts: Vec<(usize, &Part<'t, 'p>)> = self.parts.iter().enumerate().collect();
        if parts.len() > most {
            parts.sort_by_key(|(_, part)| std::cmp::Reverse(part.effect));
            parts.truncate(most);
            parts.sort_by_key(|(place, _)| *place);
        }
        parts.into_iter().map(|(_, part)| part).collect()
    }

    /// Returns the same commands in one canonical spelling, where every word is certain. Run this instead of the
    /// original text, and what runs is what was judged.
    #[must_use]
    pub fn rendered(&self) -> Option<String> {
        self.script.as_ref().and_then(Script::rendered)
    }

    /// Returns whether something in it deletes or overwrites by its nature; what could not be read counts as such.
    #[must_use]
    pub fn destroys(&self) -> bool {
        self.actions().is_none_or(|actions| actions.runs.iter().any(super::hazards::destroys))
    }

    /// Returns what the text does, where all of it was read.
    pub(super) fn actions(&self) -> Option<Actions<'t>> {
        self.script.as_ref().map(Script::actions)
    }

    /// Returns the program and its arguments, when the text is one plain command that needs no shell.
    #[must_use]
    pub fn argv(&self) -> Option<Vec<String>> {
        self.script.as_ref().and_then(Script::argv)
    }

    /// Returns what leads to a part, the outermost first: substitutions, then programs that run programs.
    #[must_use]
    pub fn call_chain(&self, part: &Part<'_, '_>) -> Vec<String> {
        let holds =
            |span: &&Span| span.start <= part.span.start && part.span.end <= span.end && **span != part.span;
        let around = self.substitutions.iter().filter(holds);
        let mut outer: Vec<(Span, String)> =
            around.map(|span| (*span, self.opening(*span).to_owned())).collect();
        outer.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
        outer.dedup();
        let programs = part.run().map(|run| run.call_chain.as_slice()).unwrap_or_default();
        outer
            .into_iter()
            .map(|(_, opening)| opening)
            .chain(programs.iter().map(ToString::to_string))
            .collect()
    }

    /// Returns how a substitution is written: `$(…)`.
    fn opening(&self, span: Span) -> &'static str {
        match span.of(self.text) {
            text if text.starts_with('`') => "`…`",
            text if text.starts_with('<') => "<(…)",
            text if text.starts_with('>') => ">(…)",
            _ => "$(…)",
        }
    }
}
