//! Regular expressions of ECMA-262. Most need no going back and take time in proportion to the text; the others count their
//! steps, and what would take too many is refused.

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

use crate::text::Text;
use crate::{ErrorKind, EvalError};
use classes::Case;
use node::Node;

/// The most bytes of a compiled expression.
const MAX_SIZE: usize = 256 << 10;

/// The most steps of one search that goes back. Where fewer are left, it is fewer.
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
    /// It never goes back.
    Plain(Box<PikeVM>, RefCell<Cache>),
    /// It tries one way after the other.
    Trying(machine::Machine),
}

/// Where each group of a match stands, in bytes; the first is the whole.
pub(crate) type Groups = Vec<Option<(usize, usize)>>;

/// What a search found, and how many steps it took.
pub(crate) struct Found {
    pub(crate) groups: Option<Groups>,
    pub(crate) steps: usize,
}

/// Says whether an expression with its flags is one, before the program runs.
pub(crate) fn check(source: &str, flags: &str) -> Result<(), EvalError> {
    check_flags(flags)?;
    read(source, flags).map(|_| ())
}

fn read(source: &str, flags: &str) -> Result<(parse::Pattern, Case), EvalError> {
    let case = match (flags.contains('i'), flags.contains('u')) {
        (false, _) => Case::Kept,
        (true, false) => Case::Capitals,
        (true, true) => Case::Folded,
    };
    Ok((parse::parse(source, flags.contains('u'), flags.contains('s'), case)?, case))
}

impl Regex {
    /// Compiles an expression with its flags.
    pub(crate) fn new(source: &str, flags: &str) -> Result<Self, EvalError> {
        check_flags(flags)?;
        let (pattern, case) = read(source, flags)?;
        let is_multi_line = flags.contains('m');
        let engine = if pattern.node.is_plain(is_multi_line, case) {
            plain_engine(&pattern.node, &pattern.names)?
        } else {
            Engine::Trying(machine::Machine::new(&pattern.node, pattern.names.len(), is_multi_line, case))
        };
        let is_unicode = flags.contains('u');
        Ok(Self { engine, names: pattern.names, is_sticky: flags.contains('y'), is_unicode })
    }

    /// How much it costs to look at one byte.
    pub(crate) fn weight(&self) -> usize {
        match &self.engine {
            Engine::Plain(vm, _) => vm.get_nfa().states().len(),
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

    /// The text as this expression sees it: without the flag u, a character of two halves is two.
    pub(crate) fn view(&self, text: &Text) -> Text {
        if self.is_unicode { text.clone() } else { text.in_halves() }
    }

    /// The first match at or after a byte.
    pub(crate) fn find(&self, text: &str, start: usize, max_steps: usize) -> Result<Found, EvalError> {
        if start > text.len() {
            return Ok(Found { groups: None, steps: 0 });
        }
        match &self.engine {
            Engine::Plain(vm, cache) => {
                Ok(Found { groups: self.find_plain(vm, cache, text, start), steps: 0 })
            }
            Engine::Trying(machine) => {
                let limit = max_steps.min(MAX_STEPS);
                machine
                    .find(text, start, self.is_sticky, limit)
                    .map(|(groups, steps)| Found { groups, steps })
                    .map_err(|machine::TooLong| too_long(limit))
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

fn plain_engine(node: &Node, names: &[Option<String>]) -> Result<Engine, EvalError> {
    let whole = regex_syntax::hir::Capture { index: 0, name: None, sub: Box::new(emit::emit(node, names)) };
    let compiled = thompson::Compiler::new()
        .configure(thompson::Config::new().nfa_size_limit(Some(MAX_SIZE)))
        .build_from_hir(&regex_syntax::hir::Hir::capture(whole));
    let vm = compiled.ok().and_then(|nfa| PikeVM::builder().build_from_nfa(nfa).ok());
    let Some(vm) = vm else {
        return Err(EvalError::new(ErrorKind::Memory, "the regular expression is too large when compiled")
            .fix("repeat less often: {1000} is a thousand copies"));
    };
    let cache = RefCell::new(vm.create_cache());
    Ok(Engine::Plain(Box::new(vm), cache))
}

fn too_long(limit: usize) -> EvalError {
    let message = format!("stopped after {limit} steps within one regular expression");
    EvalError::new(ErrorKind::Timeout, message)
        .fix("leave out what looks ahead, behind or back at groups: without it, nothing is tried twice")
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
