//! Effects of expansions in words: they run commands, and evaluate values of variables.

use std::borrow::Cow;

use super::{Context, Walk};
use crate::actions::{Arg, AssignmentScope, HazardKind, Substitution, SubstitutionForm};
use crate::evaluated;
use crate::options::Shell;
use crate::span::Span;
use crate::tree::{Action, Expansion, ExpansionKind, List, ParameterResult, Piece, Word};
use crate::values::{Holds, Value};

/// Number of parts of a word that are searched for the end of a subscript: a longer subscript is unknown.
const MAX_SUBSCRIPT: usize = 8;

impl<'t> Walk<'t, '_> {
    pub(super) fn words(&mut self, words: &[Word<'t>], context: Context<'_, 't>) {
        words.iter().for_each(|word| self.word(word, context));
    }

    pub(super) fn word(&mut self, word: &Word<'t>, context: Context<'_, 't>) {
        self.pieces(word.pieces(), context);
    }

    pub(crate) fn pieces(&mut self, pieces: &[Piece<'t>], context: Context<'_, 't>) {
        for (at, piece) in pieces.iter().enumerate() {
            if let Piece::Expansion(expansion) = piece {
                self.expansion(expansion, context);
                if context.shell == Shell::Zsh {
                    let behind = pieces.get(at + 1..).unwrap_or_default();
                    self.subscript_behind(expansion, behind, context);
                }
            }
        }
    }

    /// zsh reads a bracket behind `$a` as a subscript, also within quotes: `"$a[x]"`.
    fn subscript_behind(
        &mut self,
        expansion: &Expansion<'t>,
        behind: &[Piece<'t>],
        context: Context<'_, 't>,
    ) {
        let text = |piece: &Piece<'t>| match piece {
            Piece::Bare(text) | Piece::Quoted(text) => Some(text.clone()),
            Piece::Expansion(_) => None,
        };
        let is_parameter = matches!(expansion.kind, ExpansionKind::Parameter { .. });
        if !is_parameter || !behind.first().and_then(text).is_some_and(|text| text.starts_with('[')) {
            return;
        }
        let near = behind.get(..behind.len().min(MAX_SUBSCRIPT)).unwrap_or_default();
        match near.iter().position(|piece| text(piece).is_some_and(|text| text.contains(']'))) {
            Some(end) => {
                let inside = near.get(..=end).unwrap_or_default();
                self.evaluated_word(inside, Holds::Number, expansion.span, context);
            }
            None => self.known.evaluate(&Value::DATA, Holds::Number, expansion.span),
        }
    }

    pub(super) fn expansions(&mut self, expansions: &[Expansion<'t>], context: Context<'_, 't>) {
        expansions.iter().for_each(|expansion| self.expansion(expansion, context));
    }

    fn expansion(&mut self, expansion: &Expansion<'t>, context: Context<'_, 't>) {
        match &expansion.kind {
            ExpansionKind::Command(list) => {
                self.substitution(SubstitutionForm::Dollar, list, expansion.span, context);
            }
            ExpansionKind::Backtick(list) => {
                self.substitution(SubstitutionForm::Backtick, list, expansion.span, context);
            }
            ExpansionKind::Process(list) => {
                self.substitution(SubstitutionForm::Process, list, expansion.span, context);
            }
            ExpansionKind::Arithmetic { evaluates_names, text, inside } => {
                self.evaluates_names |= evaluates_names;
                self.expansions(inside, context);
                self.arithmetic(text, expansion.span, context);
            }
            ExpansionKind::Parameter { name, action, result, evaluated, inside } => {
                self.var_sources.mention(name);
                match result {
                    ParameterResult::Count => self.shown.count(name),
                    ParameterResult::Changed => self.shown.part(name),
                    _ => self.shown.name(name),
                }
                if *action == Action::Reference {
                    self.shown.name_by_reference();
                }
                if let Some(evaluated) = evaluated {
                    self.subscript(name, &evaluated.subscript, expansion.span, context);
                    self.arithmetic(&evaluated.offset, expansion.span, context);
                }
                match (*action, *result) {
                    (Action::Reference, ParameterResult::Assigned) => {
                        self.hazard(HazardKind::UnknownVariable, expansion.span);
                    }
                    (Action::Reference, _) => {
                        let value = self.known.of(name);
                        self.known.evaluate(&value, Holds::Word, expansion.span);
                    }
                    (_, ParameterResult::Assigned) => {
                        let name = Cow::Owned(name.to_string());
                        self.assign(name, Arg::any(), AssignmentScope::Shell, expansion.span, context);
                    }
                    _ => {}
                }
                self.evaluates_names |= matches!(*action, Action::Indirect | Action::Reference);
                if *action == Action::Prompt {
                    self.expands_prompts = true;
                    self.hazard(HazardKind::PromptText, expansion.span);
                }
                self.expansions(inside, context);
            }
        }
    }

    fn substitution(
        &mut self,
        form: SubstitutionForm,
        list: &List<'t>,
        span: Span,
        context: Context<'_, 't>,
    ) {
        self.actions.substitutions.push(Substitution { form, span });
        self.separate(list, Context { alongside: false, ..context });
    }

    /// A value with a substitution runs it when arithmetic, an indirection or a prompt evaluates the value.
    pub(super) fn values_that_are_evaluated(&mut self, context: Context<'_, 't>) {
        for (text, span) in std::mem::take(&mut self.values) {
            let value = Arg::Known(Cow::Owned(text));
            if self.expands_prompts {
                evaluated::prompt(self, &value, span, context);
            } else if self.evaluates_names {
                evaluated::text(self, &value, span, context);
            }
        }
    }
}
