//! Makes the automata of conditions, which take exactly what their patterns do: from those of the regex engine.

use regex_automata::Anchored;
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::primitives::StateID;
use regex_automata::util::start;

use super::make::{BEFORE, MOST_WORDS, Made, Source};
use crate::exact::dialect;

/// The most memory for what the regex engine makes of one.
const DFA_BYTES: usize = 64 << 20;

/// Returns automata of which one takes a text if any of some patterns does: one, or if that is large, one for each pattern.
pub(super) fn conditions(patterns: &[String]) -> Vec<Made> {
    if patterns.is_empty() {
        return Vec::new();
    }
    match condition(patterns) {
        Some(made) if made.size() <= MOST_WORDS || patterns.len() == 1 => vec![made],
        _ => patterns.iter().flat_map(|pattern| conditions(std::slice::from_ref(pattern))).collect(),
    }
}

fn condition(patterns: &[String]) -> Option<Made> {
    let config = dense::Config::new()
        .start_kind(StartKind::Unanchored)
        .accelerate(false)
        .dfa_size_limit(Some(DFA_BYTES))
        .determinize_size_limit(Some(DFA_BYTES));
    let thompson = thompson::Config::new().utf8(false).which_captures(WhichCaptures::None);
    let mut builder = dense::Builder::new();
    builder.configure(config).thompson(thompson).syntax(dialect());
    Made::of(&Engine(builder.build_many(patterns).ok()?), true)
}

/// What the regex engine makes of patterns.
struct Engine(dense::DFA<Vec<u32>>);

impl Source for Engine {
    type State = StateID;
    type Kind = Option<u8>;

    fn idle(&self) -> [StateID; 4] {
        BEFORE.map(|before| {
            let config = start::Config::new().anchored(Anchored::No).look_behind(before);
            self.0.start_state(&config).expect("a start after any byte")
        })
    }

    fn kind(&self, letter: Option<u8>) -> Option<u8> {
        letter.map(|byte| self.0.byte_classes().get(byte))
    }

    fn step(&self, &state: &StateID, letter: Option<u8>, _: bool) -> Option<StateID> {
        let to = match letter {
            Some(byte) => self.0.next_state(state, byte),
            None => self.0.next_eoi_state(state),
        };
        // Behind the end comes nothing that would need another state.
        (!self.0.is_match_state(to)).then_some(if letter.is_some() { to } else { state })
    }
}
