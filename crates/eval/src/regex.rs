//! Regular expressions of ECMA-262. Most need no backtracking and take linear time; the others count their steps, and
//! too many are refused.

mod classes;
mod emit;
mod machine;
mod names;
mod node;
mod parse;

use std::cell::RefCell;

use regex_automata::nfa::thompson;
use regex_automata::nfa::thompson::pikevm::{Cache, PikeVM};
use regex_automata::util::captures::Captures;
use regex_automata::{Anchored, Input};

use crate::limits::{Meter, past_deadline};
use crate::{ErrorKind, EvalError};
use classes::Case;
use node::Node;

/// The most bytes that an expression may be written with, as many as a program.
const MAX_PATTERN: usize = 64 << 10;

/// The most bytes of a compiled expression.
const MAX_SIZE: usize = 256 << 10;

/// Maximum steps of one backtracking search. The remaining budget may lower it.
const MAX_STEPS: usize = 4_000_000;

/// A compiled regular expression.
#[derive(Debug)]
pub(crate) struct Regex {
    engine: Engine,
    names: Vec<Option<String>>,
    is_sticky: bool,
    is_unicode: bool,
}

/// The two ways to search: one reads the text once, the other may go back.
#[derive(Debug)]
enum Engine {
    /// An engine without backtracking.
    Plain(Box<PikeVM>, RefCell<Cache>),
    /// It tries one way after the other.
    Trying(machine::Machine),
}

/// Ranges of the groups of a match, in bytes; the first is the whole match.
pub(crate) type Groups = Vec<Option<(usize, usize)>>;

/// Result of a search, and its number of steps.
pub(crate) struct Found {
    pub(crate) groups: Option<Groups>,
    pub(crate) steps: usize,
}

/// Checks an expression and its flags before the program runs. It costs as much as compiling.
pub(crate) fn check(source: &str, flags: &str, meter: &mut Meter<'_>) -> Result<(), EvalError> {
    check_flags(flags)?;
    read(source, flags, meter).map(|_| ())
}

/// Parses an expression. Everything is charged before it is made.
fn read(source: &str, flags: &str, meter: &mut Meter<'_>) -> Result<(parse::Pattern, Case), EvalError> {
    if source.len() > MAX_PATTERN {
        let message =
            format!("the regular expression has {} bytes, more than {MAX_PATTERN}, the limit", source.len());
        return Err(EvalError::new(ErrorKind::Memory, message).fix("match in several steps"));
    }
    meter.steps(source.len())?;
    let case = match (flags.contains('i'), flags.contains('u')) {
        (false, _) => Case::Kept,
        (true, false) => Case::Capitals,
        (true, true) => Case::Folded,
    };
    Ok((parse::parse(source, flags.contains('u'), flags.contains('s'), case, meter)?, case))
}

impl Regex {
    /// Compiles an expression with its flags. Everything is charged before it is made.
    pub(crate) fn new(source: &str, flags: &str, meter: &mut Meter<'_>) -> Result<Self, EvalError> {
        check_flags(flags)?;
        let (pattern, case) = read(source, flags, meter)?;
        meter.ask()?;
        let parse::Pattern { node, names } = pattern;
        let is_multi_line = flags.contains('m');
        let engine = if node.is_plain(is_multi_line, case) {
            plain_engine(node, &names, meter)?
        } else {
            meter.bytes(machine::Machine::bytes_of(&node))?;
            Engine::Trying(machine::Machine::new(node, names.len(), is_multi_line, case))
        };
        let regex = Self { engine, names, is_sticky: flags.contains('y'), is_unicode: flags.contains('u') };
        meter.steps(regex.weight())?;
        Ok(regex)
    }

    /// Returns the cost per byte of text: each state is visited, and keeps its groups.
    pub(crate) fn weight(&self) -> usize {
        match &self.engine {
            Engine::Plain(vm, _) => {
                let nfa = vm.get_nfa();
                nfa.states().len() * (1 + nfa.group_info().slot_len() / SLOTS_OF_A_STEP)
            }
            Engine::Trying(machine) => machine.len(),
        }
    }

    /// Whether the cost shows only when it has run.
    pub(crate) fn counts_itself(&self) -> bool {
        matches!(self.engine, Engine::Trying(_))
    }

    /// The names of the groups, where they have one.
    pub(crate) fn names(&self) -> impl Iterator<Item = Option<&str>> {
        self.names.iter().map(Option::as_deref)
    }

    /// Whether it sees a surrogate pair as two characters, as it does without the flag u.
    pub(crate) fn sees_halves(&self) -> bool {
        !self.is_unicode
    }

    /// Returns the first match at or after a byte.
    pub(crate) fn find(
        &self,
        text: &str,
        start: usize,
        limits: SearchLimits<'_>,
    ) -> Result<Found, EvalError> {
        if start > text.len() {
            return Ok(Found { groups: None, steps: 0 });
        }
        match &self.engine {
            Engine::Plain(vm, cache) => {
                Ok(Found { groups: self.find_plain(vm, cache, text, start), steps: 0 })
            }
            Engine::Trying(machine) => {
                let limit = limits.max_steps.min(MAX_STEPS);
                machine
                    .find(text, start, self.is_sticky, SearchLimits { max_steps: limit, ..limits })
                    .map(|(groups, steps)| Found { groups, steps })
                    .map_err(|stopped| match stopped {
                        machine::Stopped::Steps => too_long(limit),
                        machine::Stopped::Deadline => past_deadline(),
                        machine::Stopped::Ways(limit) => too_many_ways(limit),
                    })
            }
        }
    }

    fn find_plain(&self, vm: &PikeVM, cache: &RefCell<Cache>, text: &str, start: usize) -> Option<Groups> {
        let mut cache = cache.try_borrow_mut().ok()?;
        let mut captures = Captures::all(vm.get_nfa().group_info().clone());
        let anchored = if self.is_sticky { Anchored::Yes } else { Anchored::No };
        let input = Input::new(text).span(start..text.len()).anchored(anchored);
        vm.search(&mut cache, &input, &mut captures);
        captures
            .is_match()
            .then(|| captures.iter().map(|span| span.map(|span| (span.start, span.end))).collect())
    }
}

/// How many slots of groups are copied in the time of one step.
const SLOTS_OF_A_STEP: usize = 64;

/// Compiles an expression without backtracking. Expanding repetitions never takes more than the remaining budget.
fn plain_engine(node: Node, names: &[Option<String>], meter: &mut Meter<'_>) -> Result<Engine, EvalError> {
    let whole = regex_syntax::hir::Capture { index: 0, name: None, sub: Box::new(emit::emit(node, names)) };
    let limit = MAX_SIZE.min(meter.bytes_left());
    let compiled = thompson::Compiler::new()
        .configure(thompson::Config::new().nfa_size_limit(Some(limit)))
        .build_from_hir(&regex_syntax::hir::Hir::capture(whole));
    let vm = compiled.ok().and_then(|nfa| PikeVM::builder().build_from_nfa(nfa).ok());
    let Some(vm) = vm else {
        return Err(EvalError::new(ErrorKind::Memory, "the regular expression is too large when compiled")
            .fix("repeat less often: {1000} is a thousand copies"));
    };
    meter.bytes(vm.get_nfa().memory_usage().saturating_add(bytes_of_cache(&vm)))?;
    let cache = RefCell::new(vm.create_cache());
    Ok(Engine::Plain(Box::new(vm), cache))
}

/// Returns the size of an engine's cache: two sets of states, each state with its groups; and a stack of states.
fn bytes_of_cache(vm: &PikeVM) -> usize {
    const BYTES_OF_STATE: usize = 64;
    let (states, slots) = (vm.get_nfa().states().len() + 1, vm.get_nfa().group_info().slot_len() + 1);
    states.saturating_mul(slots.saturating_mul(2 * size_of::<usize>()).saturating_add(BYTES_OF_STATE))
}

/// Limits of one search, of which those on steps and on bytes are for backtracking.
#[derive(Clone, Copy)]
pub(crate) struct SearchLimits<'a> {
    pub(crate) max_steps: usize,
    pub(crate) max_bytes: usize,
    pub(crate) deadline: Option<&'a dyn Fn() -> bool>,
}

fn too_long(limit: usize) -> EvalError {
    let message = format!("stopped after {limit} steps within one regular expression");
    EvalError::new(ErrorKind::Timeout, message)
        .fix("leave out what looks ahead, behind or back at groups: without it, nothing is tried twice")
}

fn too_many_ways(limit: usize) -> EvalError {
    let message = format!("one regular expression kept more than {limit} ways open, the limit");
    EvalError::new(ErrorKind::Memory, message)
        .fix("match shorter texts, or repeat less before what looks ahead or behind")
}

/// Flags that JavaScript knows, and this does not.
const ABSENT_FLAGS: &[(char, &str)] = &[
    ('d', "the places of groups are not told"),
    ('v', "classes hold no classes and no texts; use the flag u"),
];

fn check_flags(flags: &str) -> Result<(), EvalError> {
    let mut seen = String::new();
    for flag in flags.chars() {
        if !"dgimsuvy".contains(flag) || seen.contains(flag) {
            let message = format!("the flags `{flags}` of the regular expression are wrong at `{flag}`");
            return Err(EvalError::new(ErrorKind::Syntax, message).fix("the flags are g, i, m, s, u and y"));
        }
        seen.push(flag);
    }
    if seen.contains('u') && seen.contains('v') {
        let message = "the flags u and v of a regular expression do not go together";
        return Err(EvalError::new(ErrorKind::Syntax, message));
    }
    match ABSENT_FLAGS.iter().find(|(flag, _)| flags.contains(*flag)) {
        Some((flag, why)) => {
            let message = format!("the flag {flag} of regular expressions does not exist here: {why}");
            Err(EvalError::new(ErrorKind::Forbidden, message))
        }
        None => Ok(()),
    }
}
