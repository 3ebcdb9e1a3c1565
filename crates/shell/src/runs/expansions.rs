//! What expansions in words do: run commands, and evaluate what variables hold.

use std::borrow::Cow;

use super::{Place, Walk};
use crate::actions::{Arg, HazardKind, Substitution, SubstitutionForm};
use crate::evaluated;
use crate::span::Span;
use crate::tree::{Action, Expansion, ExpansionKind, List, Piece, Word};

impl<'t> Walk<'t, '_> {
    pub(super) fn words(&mut self, words: &[Word<'t>], place: Place<'_, 't>) {
        words.iter().for_each(|word| self.word(word, place));
    }

    pub(super) fn word(&mut self, word: &Word<'t>, place: Place<'_, 't>) {
        self.pieces(word.pieces(), place);
    }

    pub(crate) fn pieces(&mut self, pieces: &[Piece<'t>], place: Place<'_, 't>) {
        for piece in pieces {
            if let Piece::Expansion(expansion) = piece {
                self.expansion(expansion, place);
            }
        }
    }

    pub(super) fn expansions(&mut self, expansions: &[Expansion<'t>], place: Place<'_, 't>) {
        expansions.iter().for_each(|expansion| self.expansion(expansion, place));
    }

    fn expansion(&mut self, expansion: &Expansion<'t>, place: Place<'_, 't>) {
        match &expansion.kind {
            ExpansionKind::Command(list) => {
                self.substitution(SubstitutionForm::Dollar, list, expansion.span, place);
            }
            ExpansionKind::Backtick(list) => {
                self.substitution(SubstitutionForm::Backtick, list, expansion.span, place);
            }
            ExpansionKind::Process(list) => {
                self.substitution(SubstitutionForm::Process, list, expansion.span, place);
            }
            ExpansionKind::Arithmetic { evaluates_names, inside } => {
                self.evaluates_names |= evaluates_names;
                self.expansions(inside, place);
            }
            ExpansionKind::Parameter { name, action, inside } => {
                self.held.mention(name);
                self.evaluates_names |= *action == Action::Indirect;
                if *action == Action::Prompt {
                    self.expands_prompts = true;
                    self.hazard(HazardKind::PromptText, expansion.span);
                }
                self.expansions(inside, place);
            }
        }
    }

    fn substitution(&mut self, form: SubstitutionForm, list: &List<'t>, span: Span, place: Place<'_, 't>) {
        self.actions.substitutions.push(Substitution { form, span });
        self.separate(list, Place { alongside: false, ..place });
    }

    /// A value that holds a substitution runs it when arithmetic, an indirection or a prompt evaluates the value.
    pub(super) fn values_that_are_evaluated(&mut self, place: Place<'_, 't>) {
        for (text, span) in std::mem::take(&mut self.values) {
            let value = Arg::Known(Cow::Owned(text));
            if self.expands_prompts {
                evaluated::prompt(self, &value, span, place);
            } else if self.evaluates_names {
                evaluated::text(self, &value, span, place);
            }
        }
    }
}
