//! Many globs as one matcher. It reads a path once, however many globs there are and whatever is in them.

use std::path::Path;
use std::sync::Arc;

use regex_automata::hybrid::dfa::{self, Cache, DFA};
use regex_automata::nfa::thompson::pikevm::PikeVM;
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::util::pool::Pool;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};

/// How large the globs of a list may become, in bytes.
const MAX_NFA_BYTES: usize = 10 << 20;

/// Compiled globs, and which glob of the list each of them came from.
#[derive(Debug, Clone, Default)]
pub(super) struct Set {
    /// Nothing where there are no globs.
    matcher: Option<Arc<Matcher>>,
    owners: Vec<usize>,
}

/// An automaton whose states are made as paths need them, and kept in a cache of bounded size.
#[derive(Debug)]
struct Matcher {
    automaton: DFA,
    caches: Pool<Cache, MakeCache>,
    /// For a path that the automaton gives up on.
    slow: PikeVM,
}

type MakeCache = Box<dyn Fn() -> Cache + Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>;

/// The globs are too much to compile.
#[derive(Debug)]
pub(super) struct TooLarge;

/// Globs that are relative to the workspace, and absolute ones.
#[derive(Debug, Clone, Default)]
pub(super) struct Sets {
    relative: Set,
    absolute: Set,
}

/// Expressions that are to be compiled, each with its owner.
#[derive(Debug, Default)]
pub(super) struct Draft {
    relative: Vec<(usize, String)>,
    absolute: Vec<(usize, String)>,
}

impl Set {
    fn compile(patterns: Vec<(usize, String)>) -> Result<Self, TooLarge> {
        if patterns.is_empty() {
            return Ok(Self::default());
        }
        let (owners, patterns): (Vec<_>, Vec<_>) = patterns.into_iter().unzip();
        let matcher = Matcher::compile(&patterns, DFA::config())?;
        Ok(Self { matcher: Some(Arc::new(matcher)), owners })
    }

    /// Returns the owner of the first glob that matches.
    pub(super) fn find(&self, path: &[u8]) -> Option<usize> {
        let matcher = self.matcher.as_ref()?;
        #[cfg(test)]
        work::count(path.len());
        self.owners.get(matcher.find(path)?).copied()
    }
}

impl Matcher {
    fn compile(patterns: &[String], settings: dfa::Config) -> Result<Self, TooLarge> {
        let config = thompson::Config::new()
            // Names of files on Unix are bytes, and a glob that refuses must hold for all of them.
            .utf8(false)
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(MAX_NFA_BYTES));
        // A path may be no UTF-8.
        let syntax = syntax::Config::new().utf8(false);
        let nfa =
            NFA::compiler().configure(config).syntax(syntax).build_many(patterns).map_err(|_| TooLarge)?;
        let slow = PikeVM::new_from_nfa(nfa.clone()).map_err(|_| TooLarge)?;
        // A long list may need more than the default capacity for its first states: then it gets the least that works.
        let settings = settings.skip_cache_capacity_check(true);
        let automaton = DFA::builder().configure(settings).build_from_nfa(nfa).map_err(|_| TooLarge)?;
        let maker = automaton.clone();
        let make: MakeCache = Box::new(move || maker.create_cache());
        Ok(Self { automaton, caches: Pool::new(make), slow })
    }

    /// Returns the first pattern that matches.
    fn find(&self, path: &[u8]) -> Option<usize> {
        let input = Input::new(path).anchored(Anchored::Yes);
        let pattern = match self.automaton.try_search_fwd(&mut self.caches.get(), &input) {
            Ok(found) => found.map(|found| found.pattern()),
            Err(_gave_up) => self.slow.search_slots(&mut self.slow.create_cache(), &input, &mut []),
        };
        pattern.map(|pattern| pattern.as_usize())
    }
}

impl Sets {
    /// Looks a path up, as it is seen from the workspace and as it is seen from the root.
    pub(super) fn find(
        &self,
        relative: Option<&Path>,
        absolute: &Path,
        find: impl Fn(&Set, &Path) -> Option<usize>,
    ) -> Option<usize> {
        let find = |set: &Set, path| if set.owners.is_empty() { None } else { find(set, path) };
        relative.and_then(|path| find(&self.relative, path)).or_else(|| find(&self.absolute, absolute))
    }
}

impl Draft {
    pub(super) fn push(&mut self, is_absolute: bool, owner: usize, pattern: String) {
        if is_absolute { &mut self.absolute } else { &mut self.relative }.push((owner, pattern));
    }

    pub(super) fn compile(self) -> Result<Sets, TooLarge> {
        Ok(Sets { relative: Set::compile(self.relative)?, absolute: Set::compile(self.absolute)? })
    }
}

/// Counts the bytes that matchers are given, to show that deciding is linear.
#[cfg(test)]
pub(super) mod work {
    use std::cell::Cell;

    thread_local!(static BYTES: Cell<usize> = const { Cell::new(0) });

    pub(super) fn count(bytes: usize) {
        BYTES.set(BYTES.get() + bytes);
    }

    /// Returns how many bytes matchers are given meanwhile.
    pub(in crate::paths::globs) fn of(decide: impl FnOnce()) -> usize {
        BYTES.set(0);
        decide();
        BYTES.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_on_which_the_automaton_gives_up_is_decided_all_the_same() {
        let patterns = [r"\A(?s-u:.)*b[^/]{40}\z".to_owned(), r"\A(?s-u:.)*c\z".to_owned()];
        let gives_up = DFA::config().cache_capacity(0).minimum_cache_clear_count(Some(0));
        let (steady, hasty) = (
            Matcher::compile(&patterns, DFA::config()).unwrap(),
            Matcher::compile(&patterns, gives_up).unwrap(),
        );
        let long = "ab".repeat(100);
        let input = Input::new(&long).anchored(Anchored::Yes);
        assert!(hasty.automaton.try_search_fwd(&mut hasty.caches.get(), &input).is_err());
        for (path, expected) in [(long.clone(), Some(0)), (long + "c", Some(1)), ("a".repeat(300), None)] {
            assert_eq!(steady.find(path.as_bytes()), expected);
            assert_eq!(hasty.find(path.as_bytes()), expected);
        }
    }
}
