//! Values of variables, and places where they are evaluated.

use std::borrow::Cow;

use super::{Context, Walk};
use crate::actions::{Arg, AssignmentScope, HazardKind};
use crate::arithmetic_text::{self, Event};
use crate::braces::arguments;
use crate::evaluated::{Builtin, Declared, behind};
use crate::numeric_output::prints_a_number;
use crate::options::Shell;
use crate::span::Span;
use crate::tree::{Action, AssignedValue, Expansion, ExpansionKind, ParameterResult, Piece, Word};
use crate::values::{Holds, Value, of_text};

impl<'t> Walk<'t, '_> {
    /// Returns the value of a word in an assignment, where it is not matched against file names.
    pub(crate) fn value_of(&self, pieces: &[Piece<'t>]) -> Value {
        let mut value = Value::NUMBER;
        for piece in pieces {
            value.join(match piece {
                Piece::Bare(text) | Piece::Quoted(text) => Value::written(of_text(text)),
                Piece::Expansion(expansion) => self.value_of_expansion(expansion),
            });
        }
        value
    }

    fn value_of_expansion(&self, expansion: &Expansion<'t>) -> Value {
        match &expansion.kind {
            ExpansionKind::Arithmetic { .. } => Value::NUMBER,
            ExpansionKind::Command(list) | ExpansionKind::Backtick(list) if prints_a_number(list) => {
                Value::NUMBER
            }
            ExpansionKind::Parameter { result: ParameterResult::Count, .. } => Value::NUMBER,
            ExpansionKind::Parameter {
                name, action: Action::Value, result: ParameterResult::Whole, ..
            } => self.known.of(name),
            _ => Value::DATA,
        }
    }

    /// Returns the values that a loop or an array assigns to a variable.
    pub(crate) fn value_of_words(&self, words: &[Word<'t>], shell: Shell) -> Value {
        let mut value = Value::NUMBER;
        for word in words {
            let mut found = Vec::new();
            arguments(word, shell, &mut found);
            let known: Option<Vec<&str>> = found.iter().map(Arg::known).collect();
            value.join(match known {
                Some(known) => Value::written(known.into_iter().map(of_text).max().unwrap_or(Holds::Number)),
                // File names, which an attacker may choose.
                None if has_pattern(word.pieces()) => Value::DATA,
                None => self.value_of(word.pieces()),
            });
        }
        value
    }

    /// Notes that a word is evaluated: as arithmetic, or as the name of a variable, which may have a subscript.
    pub(crate) fn evaluated_word(
        &mut self,
        pieces: &[Piece<'t>],
        most: Holds,
        span: Span,
        context: Context<'_, 't>,
    ) {
        let has_subscript = pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Bare(text) | Piece::Quoted(text) if text.contains('[')));
        let most = if has_subscript { Holds::Number } else { most };
        for piece in pieces {
            match piece {
                Piece::Bare(text) | Piece::Quoted(text) if most == Holds::Number => {
                    self.arithmetic(text, span, context);
                }
                Piece::Bare(_) | Piece::Quoted(_) => {}
                Piece::Expansion(expansion) => {
                    let value = self.value_of_expansion(expansion);
                    self.known.evaluate(&value, most, span);
                }
            }
        }
    }

    /// Records the variables that arithmetic reads and sets.
    pub(crate) fn arithmetic(&mut self, text: &str, span: Span, context: Context<'_, 't>) {
        let is_definite = !arithmetic_text::is_conditional(text);
        self.arithmetic_events(text, is_definite, span, context);
    }

    pub(super) fn arithmetic_events(
        &mut self,
        text: &str,
        is_definite: bool,
        span: Span,
        context: Context<'_, 't>,
    ) {
        for event in arithmetic_text::events(text) {
            match event {
                Event::Reads(name) => {
                    let value = self.known.of(name);
                    self.known.evaluate(&value, Holds::Number, span);
                }
                Event::Sets(name) => {
                    let set = Set { value: Value::NUMBER, is_definite, scope: AssignmentScope::Shell };
                    self.set(Cow::Owned(name.to_owned()), Arg::any(), &set, span, context);
                    self.becomes_integer(name, span, context);
                }
                Event::Data => self.known.evaluate(&Value::DATA, Holds::Number, span),
            }
        }
    }

    /// Records that the shell itself sets a variable to a number. zshparam(1): an undeclared variable becomes an
    /// integer by this, and evaluates every later value.
    pub(crate) fn becomes_integer(&mut self, name: &str, span: Span, context: Context<'_, 't>) {
        if context.shell == Shell::Zsh {
            self.known.is_integer(name, span);
        }
    }

    /// Records the evaluations in a subscript, unless the keys of the array are strings.
    pub(crate) fn subscript(&mut self, name: &str, written: &str, span: Span, context: Context<'_, 't>) {
        if !self.known.is_associative(name) && !matches!(written, "" | "[@]" | "[*]") {
            self.arithmetic(written, span, context);
        }
    }

    /// Notes the keys that elements of an array are written with: `a=([x]=1)`.
    pub(super) fn keys(&mut self, name: &str, value: &AssignedValue<'t>, context: Context<'_, 't>) {
        let AssignedValue::Array(words) = value else { return };
        if self.known.is_associative(name) {
            return;
        }
        for word in words {
            let begins = matches!(word.pieces().first(), Some(Piece::Bare(text)) if text.starts_with('['));
            if begins {
                self.evaluated_word(word.pieces(), Holds::Number, word.span, context);
            }
        }
    }

    /// Notes that an argument of a builtin is evaluated.
    pub(crate) fn evaluated_argument(&mut self, builtin: Builtin<'_, 't>, at: usize, most: Holds) {
        let Builtin { argv, span, context, .. } = builtin;
        let from_end = argv.len().saturating_sub(at);
        match (argv.get(at), context.written(from_end)) {
            (Some(Arg::Known(text)), _) if most == Holds::Number || text.contains('[') => {
                self.arithmetic(text, span, context);
            }
            (Some(Arg::Unknown { .. }), Some(word)) => {
                self.evaluated_word(word.pieces(), most, span, context);
            }
            (Some(Arg::Unknown { .. }), None) => self.known.evaluate(&Value::DATA, most, span),
            _ => {}
        }
    }

    /// Returns the value of a builtin's argument behind this many bytes of plain text.
    pub(crate) fn value_of_argument(&self, builtin: Builtin<'_, 't>, at: usize, length: usize) -> Value {
        let Some(arg) = builtin.argv.get(at) else { return Value::DATA };
        if let Some(text) = arg.without_prefix(length).known() {
            return Value::written(of_text(text));
        }
        let written = builtin.context.written(builtin.argv.len().saturating_sub(at));
        let pieces = written.and_then(|word| behind(word, length));
        pieces.map_or(Value::DATA, |pieces| self.value_of(&pieces))
    }

    /// Notes the keys in `declare a=([x]=1)`.
    pub(crate) fn keys_of_argument(&mut self, name: &str, builtin: Builtin<'_, 't>, at: usize) {
        let written = builtin.context.written(builtin.argv.len().saturating_sub(at));
        let Some(word) = written.filter(|_| !self.known.is_associative(name)) else { return };
        for piece in word.pieces() {
            if let Piece::Bare(text) = piece
                && text.starts_with('(')
                && text.contains('[')
            {
                self.arithmetic(text, word.span, builtin.context);
            }
        }
    }

    /// Records the evaluations in the subscript behind a name.
    pub(crate) fn key(&mut self, variable: &Declared, arg: &Arg<'t>, span: Span, context: Context<'_, 't>) {
        if self.known.is_associative(&variable.name) {
            return;
        }
        match arg {
            Arg::Known(text) => {
                let subscript =
                    text.split_once('[').map(|(_, rest)| rest.split(']').next().unwrap_or_default());
                subscript.into_iter().for_each(|subscript| self.arithmetic(subscript, span, context));
            }
            Arg::Unknown { prefix, .. } if prefix.contains('[') && !prefix.contains("]=") => {
                self.known.evaluate(&Value::DATA, Holds::Number, span);
            }
            Arg::Unknown { .. } => {}
        }
    }

    /// Records that a variable may have the value from before the text.
    pub(crate) fn forget(&mut self, name: &str, span: Span) {
        self.known.assign(name, &Value::DATA, false, span);
    }

    /// Lists places where unknown values are evaluated.
    pub(super) fn data_that_is_evaluated(&mut self) {
        for span in std::mem::take(&mut self.known).hazards() {
            self.hazard(HazardKind::EvaluatedData, span);
        }
    }
}

/// The value and scope of an assignment.
#[derive(Debug)]
pub(crate) struct Set {
    pub(crate) value: Value,
    /// Whether it is set on every path from here.
    pub(crate) is_definite: bool,
    pub(crate) scope: AssignmentScope,
}

fn has_pattern(pieces: &[Piece<'_>]) -> bool {
    pieces.iter().any(|piece| matches!(piece, Piece::Bare(text) if text.contains(['*', '?', '[', '(', '~'])))
}
