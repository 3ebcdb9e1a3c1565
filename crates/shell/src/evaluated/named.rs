//! Builtins whose arguments name the variables that they set.

use std::borrow::Cow;

use super::declared::name_of;
use super::{Builtin, word};
use crate::actions::{Arg, AssignmentScope, HazardKind};
use crate::builtins::{Named, Setter};
use crate::getopt::{self, OptionOrder};
use crate::options::Shell;
use crate::runs::{Set, Walk};
use crate::values::{Holds, Value};

/// Lists the assignments of a builtin of the table.
pub(super) fn set_by_name<'t>(walk: &mut Walk<'t, '_>, builtin: Builtin<'_, 't>, setter: &Setter) {
    let Builtin { argv, span, context, .. } = builtin;
    let options = getopt::parse(argv, 1, &setter.options, OptionOrder::Strict);
    for (option, value) in &options.values {
        if setter.by_option.contains(&&**option) {
            named(walk, builtin, value);
            // zshmodules(1): a number of bytes, and the number of a descriptor.
            if let (Some(variable), "sysread" | "sysopen") = (value.known(), builtin.name) {
                walk.becomes_integer(variable, span, context);
            }
        }
        // zshbuiltins(1): numbers among the options are arithmetic. In bash they are not.
        if context.shell == Shell::Zsh
            && matches!(&**option, "-t" | "-k" | "-u" | "-n")
            && value.known().is_none()
        {
            walk.known.evaluate(&Value::DATA, Holds::Number, span);
        }
    }
    let operands = options.operands..argv.len();
    // `printf -v"$x" a`
    if options.unknown && argv.get(operands.start).is_some_and(|arg| !is_operand(arg)) {
        walk.hazard(HazardKind::UnknownVariable, span);
    }
    // `printf "$x" a`, where `$x` is `-vPATH`.
    if options.unknown && setter.named == Named::NoOperand && operands.len() > 1 {
        walk.known.evaluate(&Value::DATA, Holds::Number, span);
    }
    let takes = |at: usize| match setter.named {
        Named::NoOperand => false,
        Named::Operands | Named::BehindEquals => true,
        // An operand that expands to none or several words shifts those behind it.
        Named::Operand(place) => at == operands.start + place || options.unknown && at >= operands.start,
    };
    for at in operands.clone().filter(|at| takes(*at)) {
        if setter.named != Named::BehindEquals {
            word(walk, builtin, at, Holds::Word);
        }
        if let Some(arg) = argv.get(at) {
            operand(walk, builtin, arg, setter.named);
        }
    }
    for name in setter.always {
        // A value read without a name is irrelevant where the variable is set in another way.
        let set = Set { value: Value::DATA, is_definite: false, scope: AssignmentScope::Shell };
        if operands.is_empty() || setter.named == Named::Operand(1) {
            walk.set(Cow::Borrowed(name), Arg::any(), &set, span, context);
        } else {
            walk.known.assign(name, &set.value, false, span);
        }
    }
}

/// Whether a word does not begin like an option.
fn is_operand(arg: &Arg<'_>) -> bool {
    match arg {
        Arg::Known(text) | Arg::Unknown { prefix: text, .. } => !text.starts_with('-'),
    }
}

fn operand<'t>(walk: &mut Walk<'t, '_>, builtin: Builtin<'_, 't>, arg: &Arg<'t>, how: Named) {
    match (how, arg.known()) {
        (Named::BehindEquals, Some(text)) => {
            if let Some((_, name)) = text.rsplit_once('=') {
                named(walk, builtin, &Arg::Known(Cow::Owned(name.to_owned())));
            }
        }
        // zsh: `read 'name?prompt'`.
        (_, Some(text)) if text.contains('?') => {
            let name = text.split('?').next().unwrap_or_default();
            named(walk, builtin, &Arg::Known(Cow::Owned(name.to_owned())));
        }
        _ => named(walk, builtin, arg),
    }
}

/// Lists that the variable with this name is set to something.
fn named<'t>(walk: &mut Walk<'t, '_>, builtin: Builtin<'_, 't>, arg: &Arg<'t>) {
    let Builtin { span, context, .. } = builtin;
    super::text(walk, arg, span, context);
    match name_of(arg) {
        Some(variable) => {
            walk.key(&variable, arg, span, context);
            if crate::expansion::is_name(&variable.name) {
                walk.assign(Cow::Owned(variable.name), Arg::any(), AssignmentScope::Shell, span, context);
            }
        }
        None => walk.hazard(HazardKind::UnknownVariable, span),
    }
}

/// zsh: `set -A name value …`, also hidden in a cluster.
pub(super) fn set_array<'t>(walk: &mut Walk<'t, '_>, builtin: Builtin<'_, 't>) {
    for (at, arg) in builtin.argv.iter().enumerate().skip(1) {
        match arg.known() {
            Some(text) if text.starts_with(['-', '+']) && text.contains('A') => {
                let attached = text.split_once('A').map_or("", |(_, name)| name);
                let attached = Arg::Known(Cow::Owned(attached.to_owned()));
                let next = builtin.argv.get(at + 1).cloned();
                let name = Some(attached).filter(|name| name.known() != Some("")).or(next);
                return name.into_iter().for_each(|name| named(walk, builtin, &name));
            }
            Some(text) if text.starts_with(['-', '+']) && text != "--" => {}
            _ => return,
        }
    }
}

/// `hash name=path` in zsh, and `hash -p path name` in bash, assign a program to a name.
pub(super) fn remembered<'t>(walk: &mut Walk<'t, '_>, builtin: Builtin<'_, 't>) {
    let Builtin { argv, span, context, .. } = builtin;
    let says = |arg: &Arg<'_>| match arg {
        Arg::Known(text) if context.shell == Shell::Zsh => text.contains('='),
        Arg::Known(text) => text.starts_with('-') && text.contains('p'),
        Arg::Unknown { .. } => true,
    };
    if argv.iter().skip(1).any(says) {
        let name = if context.shell == Shell::Zsh { "commands" } else { "BASH_CMDS" };
        walk.assign(Cow::Borrowed(name), Arg::any(), AssignmentScope::Shell, span, context);
    }
}
