//! Conditions of the shell: `[[ … ]]`, and what conditions compare.

use super::{Context, Walk};
use crate::actions::Comparison;
use crate::braces::single;
use crate::evaluated;
use crate::shown::Named;
use crate::span::Span;
use crate::tree::{Operand, Role};
use crate::values::Holds;

impl<'t> Walk<'t, '_> {
    /// Walks over the operands of `[[ … ]]`, and lists what they compare. Returns the variables that they name.
    pub(super) fn test(
        &mut self,
        operands: &[Operand<'t>],
        span: Span,
        context: Context<'_, 't>,
    ) -> Vec<String> {
        let (mut all, mut compared) = (Vec::new(), Vec::new());
        for operand in operands {
            let around = self.shown.begin();
            self.operand(operand, context);
            let Named { names, parts } = self.shown.end(around);
            compared.extend(if operand.role == Role::Alone { parts } else { names.clone() });
            all.extend(names);
        }
        self.compared(compared, span);
        all
    }

    /// Lists that a condition compares the values of variables.
    pub(super) fn compared(&mut self, names: Vec<String>, span: Span) {
        if !names.is_empty() {
            self.actions.comparisons.push(Comparison { names, span });
        }
    }

    fn operand(&mut self, operand: &Operand<'t>, context: Context<'_, 't>) {
        let word = &operand.word;
        self.word(word, context);
        let most = match operand.role {
            Role::Text | Role::Alone => return,
            Role::Number => Holds::Number,
            Role::Name => Holds::Word,
        };
        self.evaluates_names = true;
        evaluated::text(self, &single(word.pieces()), word.span, context);
        self.evaluated_word(word.pieces(), most, word.span, context);
    }
}
