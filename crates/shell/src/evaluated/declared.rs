//! Declarations: `export`, `declare`, `typeset`, `local`, `readonly`, `integer`, `float`.

use std::borrow::Cow;

use super::{Builtin, text};
use crate::actions::{Arg, AssignmentScope, HazardKind, VariableChange, WordCount};
use crate::options::Shell;
use crate::runs::{Set, Walk};
use crate::tree::{Piece, Word};
use crate::values::Holds;

/// Lists the assignments of a declaration, and records its attributes.
pub(super) fn declared<'t>(walk: &mut Walk<'t, '_>, builtin: Builtin<'_, 't>) {
    let Builtin { name, argv, span, context } = builtin;
    let said = Said::of(name, argv);
    for (at, arg) in argv.iter().enumerate().skip(said.operands) {
        text(walk, arg, span, context);
        let Some(variable) = name_of(arg) else {
            if !said.only_shows {
                walk.hazard(HazardKind::UnknownVariable, span);
            }
            continue;
        };
        if said.only_shows {
            continue;
        }
        walk.key(&variable, arg, span, context);
        if said.is_integer {
            walk.known.is_integer(&variable.name, span);
            // zsh converts the present value of a variable to a number at once.
            if context.shell == Shell::Zsh && variable.value.is_none() {
                let value = walk.known.of(&variable.name);
                walk.known.evaluate(&value, Holds::Number, span);
            }
        }
        walk.known.has_keys(&variable.name, said.has_keys);
        if said.is_tied {
            // `typeset -T NAME array`: both are set by either.
            walk.assign(Cow::Owned(variable.name.clone()), Arg::any(), AssignmentScope::Shell, span, context);
        }
        if said.is_reference {
            walk.references.insert(variable.name.clone());
        }
        let Some(length) = variable.value else {
            // The first value is the name of another variable.
            if said.is_reference {
                walk.hazard(HazardKind::UnknownVariable, span);
            }
            if let Some(change) = said.change(name) {
                walk.change(Cow::Owned(variable.name), change, AssignmentScope::Shell, span, context);
                walk.exports_last_if(said.exports);
            }
            continue;
        };
        let value = if variable.appends { Arg::any() } else { arg.without_prefix(length) };
        if said.is_reference {
            walk.shown
                .copy(&variable.name, &value.known().map(str::to_owned).into_iter().collect::<Vec<_>>());
            refers(walk, &value, builtin);
        }
        let known = walk.value_of_argument(builtin, at, length);
        walk.keys_of_argument(&variable.name, builtin, at);
        let set = Set { value: known, is_definite: true, scope: AssignmentScope::Shell };
        walk.set(Cow::Owned(variable.name), value, &set, span, context);
        walk.exports_last_if(said.exports);
    }
}

/// `declare -n r=PATH`: assignments to `r` are assignments to `PATH`.
fn refers<'t>(walk: &mut Walk<'t, '_>, value: &Arg<'t>, builtin: Builtin<'_, 't>) {
    let Builtin { span, context, .. } = builtin;
    text(walk, value, span, context);
    match value.known() {
        Some(name) => {
            let name = name.split('[').next().unwrap_or_default().to_owned();
            walk.assign(Cow::Owned(name), Arg::any(), AssignmentScope::Shell, span, context);
        }
        None => walk.hazard(HazardKind::UnknownVariable, span),
    }
}

/// Attributes set by the options of a declaration.
#[derive(Debug, Default)]
struct Said {
    operands: usize,
    is_integer: bool,
    is_reference: bool,
    has_keys: bool,
    is_tied: bool,
    /// Programs that are started see the variables.
    exports: bool,
    /// Programs no longer see them.
    hides: bool,
    /// Variables and functions are shown, none is set.
    only_shows: bool,
}

impl Said {
    fn of(name: &str, argv: &[Arg<'_>]) -> Self {
        let is_integer = matches!(name, "integer" | "float");
        let mut said = Self { operands: 1, is_integer, exports: name == "export", ..Self::default() };
        for word in argv.iter().skip(1) {
            let Some(letters) = word.known().filter(|text| text.starts_with(['-', '+'])) else { break };
            said.operands += 1;
            if letters == "--" {
                break;
            }
            let has = |letter: char| letters.starts_with('-') && letters.contains(letter);
            // `export -n` removes a variable from the environment.
            said.is_reference |= has('n') && name != "export";
            said.is_integer |= has('i') || has('E') || has('F') && name != "declare";
            said.has_keys |= has('A');
            said.is_tied |= has('T');
            said.exports |= has('x');
            said.hides |= letters.starts_with('+') && letters.contains('x') || has('n') && name == "export";
            said.only_shows |= has('p') || has('f') || has('F') && name == "declare";
        }
        said
    }
}

impl Said {
    /// Returns the change of a variable that is declared without a value. In a function it is a new, empty one; and a
    /// change of attributes may remove the value: without a `PATH`, programs are looked up in the current directory.
    fn change(&self, name: &str) -> Option<VariableChange> {
        match name {
            _ if self.hides => Some(VariableChange::Unset),
            "export" => Some(VariableChange::Exported),
            "readonly" => None,
            _ => Some(VariableChange::Unset),
        }
    }
}

/// The name in an argument that declares a variable.
#[derive(Debug)]
pub(crate) struct Declared {
    pub(crate) name: String,
    /// How long the name is with everything before the value, where there is one.
    value: Option<usize>,
    appends: bool,
}

/// Returns the variable that an argument names, when its name is certain.
pub(super) fn name_of(arg: &Arg<'_>) -> Option<Declared> {
    let (written, is_known) = match arg {
        Arg::Known(text) => (&**text, true),
        Arg::Unknown { prefix, .. } => (&**prefix, false),
    };
    let end = written.find(['=', '[']);
    if end.is_none() && !is_known {
        return None;
    }
    let name = written.get(..end.unwrap_or(written.len()))?;
    let value = written.find('=').map(|at| at + 1);
    // A split word may become several assignments: `export $x=1`, `export a=$x` in some shells.
    let is_several = matches!(arg, Arg::Unknown { count: WordCount::Any, .. }) && value.is_none();
    let appends = written.contains("+=");
    let name = name.strip_suffix('+').unwrap_or(name).to_owned();
    (!is_several).then_some(Declared { name, value, appends })
}

/// Returns the pieces of a word behind so many bytes of plain text.
pub(crate) fn behind<'t>(word: &Word<'t>, length: usize) -> Option<Vec<Piece<'t>>> {
    let mut left = length;
    let mut pieces = Vec::new();
    for piece in word.pieces() {
        match piece {
            Piece::Bare(text) | Piece::Quoted(text) if left > 0 => {
                let cut = left.min(text.len());
                left -= cut;
                pieces.push(Piece::Quoted(Cow::Owned(text.get(cut..)?.to_owned())));
            }
            Piece::Expansion(_) if left > 0 => return None,
            piece => pieces.push(piece.clone()),
        }
    }
    Some(pieces)
}
