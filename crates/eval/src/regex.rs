//! Regular expressions, in time that grows with the text and never explodes: what would need backtracking is refused.

mod translate;

use std::cell::RefCell;

use regex_automata::nfa::thompson;
use regex_automata::nfa::thompson::pikevm::{Cache, PikeVM};
use regex_automata::util::{captures::Captures, syntax};
use regex_automata::{Anchored, Input};

use crate::{ErrorKind, EvalError};

/// The most bytes of a compiled expression.
const MAX_SIZE: usize = 256 << 10;

/// A compiled regular expression.
#[derive(Debug)]
pub(crate) struct Regex {
    vm: PikeVM,
    cache: RefCell<Cache>,
    is_sticky: bool,
}

/// Where each group of a match stands, in bytes; the first is the whole.
pub(crate) type Groups = Vec<Option<(usize, usize)>>;

impl Regex {
    /// Compiles an expression with its flags.
    pub(crate) fn new(source: &str, flags: &str) -> Result<Self, EvalError> {
        check_flags(flags)?;
        let has = |flag| flags.contains(flag);
        let pattern = translate::translate(source, has('u') || has('v'), has('s'), has('m'))?;
        let syntax = syntax::Config::new()
            .case_insensitive(has('i'))
            .multi_line(has('m'))
            .nest_limit(100)
            .unicode(true);
        let vm = PikeVM::builder()
            .syntax(syntax)
            .thompson(thompson::Config::new().nfa_size_limit(Some(MAX_SIZE)))
            .build(&pattern)
            .map_err(|error| unfit(source, &error))?;
        let cache = RefCell::new(vm.create_cache());
        Ok(Self { vm, cache, is_sticky: has('y') })
    }

    /// How much it costs to look at one byte.
    pub(crate) fn weight(&self) -> usize {
        self.vm.get_nfa().states().len()
    }

    /// The names of the groups, where they have one.
    pub(crate) fn names(&self) -> impl Iterator<Item = Option<&str>> {
        self.vm.get_nfa().group_info().pattern_names(regex_automata::PatternID::ZERO)
    }

    /// The first match at or after a byte.
    pub(crate) fn find(&self, text: &str, start: usize) -> Option<Groups> {
        if start > text.len() {
            return None;
        }
        let mut cache = self.cache.try_borrow_mut().ok()?;
        let mut captures = Captures::all(self.vm.get_nfa().group_info().clone());
        let anchored = if self.is_sticky { Anchored::Yes } else { Anchored::No };
        let input = Input::new(text).span(start..text.len()).anchored(anchored);
        self.vm.search(&mut cache, &input, &mut captures);
        captures
            .is_match()
            .then(|| captures.iter().map(|span| span.map(|span| (span.start, span.end))).collect())
    }
}

fn check_flags(flags: &str) -> Result<(), EvalError> {
    let mut seen = String::new();
    for flag in flags.chars() {
        if !"dgimsuvy".contains(flag) || seen.contains(flag) {
            let message = format!("the flags `{flags}` of the regular expression are wrong at `{flag}`");
            return Err(EvalError::new(ErrorKind::Syntax, message).fix("the flags are g, i, m, s, u and y"));
        }
        seen.push(flag);
    }
    Ok(())
}

fn unfit(source: &str, error: &thompson::BuildError) -> EvalError {
    if error.size_limit().is_some() {
        return EvalError::new(ErrorKind::Memory, "the regular expression is too large when compiled")
            .fix("repeat less often: {1000} is a thousand copies");
    }
    let reason = error.to_string();
    let reason =
        reason.lines().rev().find_map(|line| line.strip_prefix("error: ")).unwrap_or("it cannot be read");
    let source: String = source.chars().take(60).collect();
    EvalError::new(ErrorKind::Syntax, format!("the regular expression /{source}/ is wrong: {reason}"))
}
