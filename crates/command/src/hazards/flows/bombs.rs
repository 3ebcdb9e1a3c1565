//! Fork bombs: functions that start copies of themselves.

use std::collections::{HashMap, HashSet};

use super::table::FORK_BOMB;
use crate::hazards::Hazard;
use stockade_shell::{Actions, Arg, Run, Shell, Span};

/// Finds functions and scripts that start copies of themselves, directly or through others.
pub(super) fn find(actions: &Actions<'_>, found: &mut Vec<Hazard>) {
    let bomb = actions.runs.iter().find(|run| run.alongside && is_itself(run));
    found.extend(bomb.map(|run| FORK_BOMB.at(run.span)));
    if actions.functions.is_empty() {
        return;
    }
    let calls = calls(actions);
    let endless = endless(&calls);
    let is_bomb = |(name, called): (&&str, &Vec<Call<'_>>)| {
        endless.contains(*name) && called.iter().any(|call| call.alongside && endless.contains(call.name))
    };
    if let Some((name, _)) =
        calls.iter().filter(|(name, called)| is_bomb((name, called))).min_by_key(|(name, _)| **name)
    {
        let runs = actions.functions.iter().find(|function| function.name.as_deref() == Some(name));
        let span =
            runs.and_then(|function| actions.runs.get(function.runs.clone())?.first()).map(|run| run.span);
        found.push(FORK_BOMB.at(span.unwrap_or(Span::new(0, 0))));
    }
}

/// Whether a script runs itself again, without an argument that could end it: `$0`, `bash $0`.
fn is_itself(run: &Run<'_>) -> bool {
    let is_zero = |arg: &Arg<'_>| matches!(arg, Arg::Unknown { spelling, .. } if spelling == "${0}");
    match run.argv.as_slice() {
        [only] => is_zero(only),
        [shell, script] => shell.known().is_some_and(|name| Shell::named(name).is_some()) && is_zero(script),
        _ => false,
    }
}

/// A call without arguments, so that no argument can end the recursion.
struct Call<'a> {
    name: &'a str,
    alongside: bool,
}

fn calls<'a>(actions: &'a Actions<'_>) -> HashMap<&'a str, Vec<Call<'a>>> {
    let names: HashSet<&str> =
        actions.functions.iter().filter_map(|function| function.name.as_deref()).collect();
    let mut calls: HashMap<&str, Vec<Call<'_>>> = HashMap::new();
    for function in &actions.functions {
        let Some(name) = function.name.as_deref() else { continue };
        let runs = actions.runs.get(function.runs.clone()).unwrap_or_default();
        let plain = runs
            .iter()
            // An argument may end the recursion (`f $((n-1))`), and legitimate recursive functions have one.
            .filter(|run| run.argv.len() == 1)
            .filter_map(|run| Some((run.program()?, run.alongside)));
        let called =
            plain.filter(|(name, _)| names.contains(name)).map(|(name, alongside)| Call { name, alongside });
        calls.entry(name).or_default().extend(called);
    }
    calls
}

/// Returns the functions that eventually call themselves: those that remain when all without calls are removed repeatedly.
///
/// Kahn's topological sort, used for its remainder: the functions on a cycle of the call graph and those that reach one.
fn endless<'a>(calls: &HashMap<&'a str, Vec<Call<'a>>>) -> HashSet<&'a str> {
    let mut left: HashMap<&str, usize> = calls.iter().map(|(name, called)| (*name, called.len())).collect();
    let mut callers: HashMap<&str, Vec<&str>> = HashMap::new();
    for (name, called) in calls {
        called.iter().for_each(|call| callers.entry(call.name).or_default().push(name));
    }
    let mut done: Vec<&str> = left.iter().filter(|(_, count)| **count == 0).map(|(name, _)| *name).collect();
    let mut remaining: HashSet<&str> = calls.keys().copied().collect();
    while let Some(name) = done.pop() {
        remaining.remove(name);
        for caller in callers.get(name).into_iter().flatten() {
            if let Some(count) = left.get_mut(caller) {
                *count -= 1;
                if *count == 0 {
                    done.push(caller);
                }
            }
        }
    }
    remaining
}
