//! What the automata must take, and what they must not.

use super::condition::conditions;
use super::outline::outline;
use super::pack::{excuses, read, shapes, written};
use super::{Automaton, Role, Words, of_builtin};
use crate::exact::compile;
use crate::rules;

fn may_match(automaton: Automaton, text: &str) -> bool {
    automaton.may_match(text.as_bytes(), 0..text.len(), |_| true, &mut 0)
}

fn of(pattern: &str) -> Automaton {
    read(vec![outline(pattern, false)])
}

/// The examples of all rules, and the lines of which they consist.
fn texts() -> Vec<&'static str> {
    let examples = rules::all().flat_map(|rule| rule.matches.iter().chain(rule.clean).copied());
    let mut texts: Vec<&str> = examples.flat_map(|text| std::iter::once(text).chain(text.lines())).collect();
    texts.push("");
    texts.sort_unstable();
    texts.dedup();
    texts
}

#[test]
fn an_outline_tells_matches_from_what_looks_like_one() {
    let rows = [
        (r"curl[^\n]{0,20}\|\s*(?:ba|z)?sh\b", "x curl y | jq .", false),
        (r"curl[^\n]{0,20}\|\s*(?:ba|z)?sh\b", "x curl y | bash", true),
        (r"curl[^\n]{0,20}\|\s*(?:ba|z)?sh\b", "x curl y | shift", false),
        (r"curl[^\n]{0,20}\|\s*(?:ba|z)?sh\b", "curl 123456789012345678901 | sh", false),
        (r"^eval$", "eval", true),
        (r"^eval$", "x\neval\ny", true),
        (r"^eval$", "x eval", false),
        (r"(?i)\bsk\B", "SKy", true),
        (r"(?i)\bsk\B", "sk y", false),
    ];
    for (pattern, text, expected) in rows {
        assert_eq!(may_match(of(pattern), text), expected, "{pattern} in {text:?}");
    }
}

/// `a[ab]{9}c` has been in hundreds of states at the end of these texts.
#[test]
fn a_long_walk_ends_where_the_regular_expression_does() {
    let automaton = of("a[ab]{9}c");
    let letters: String = (0..600_u32).map(|i| if (i * i / 7) % 3 == 0 { 'a' } else { 'b' }).collect();
    let regex = regex::Regex::new("a[ab]{9}c").unwrap();
    for end in 0..letters.len() {
        let (before, after) = letters.split_at(end);
        let text = format!("{before}c{after}");
        assert_eq!(may_match(automaton, &text), regex.is_match(&text), "{text}");
    }
}

/// What begins with a rare byte, with a rare pair of bytes, with a line, and with anything.
#[test]
fn whatever_a_walk_waits_for_it_ends_where_the_regular_expression_does() {
    let mut seed = 7_u32;
    let mut dice = |sides: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 16) as usize % sides
    };
    for pattern in [r"@a+\b", r"\bea\b|aea$", r"^a@", r"^$", r"[a-e ]{3}@", r"a\z"] {
        let regex = compile(pattern).unwrap();
        let (outline, condition) = (of(pattern), read(conditions(&[pattern.to_owned()])));
        for _ in 0..3_000 {
            let text: String = (0..dice(9)).map(|_| ["a", "e", " ", "@", "\n"][dice(5)]).collect();
            assert_eq!(condition.matches(text.as_bytes()), regex.is_match(&text), "{pattern} in {text:?}");
            // No shape matches nothing.
            if pattern != "^$" {
                assert!(may_match(outline, &text) || !regex.is_match(&text), "{pattern} in {text:?}");
            }
        }
    }
}

#[test]
fn a_match_must_lie_within_the_stretch_but_looks_around_it() {
    let text = b"ab ab xab";
    for anywhere in [true, false] {
        let automaton = read(vec![outline(r"\bab\b", anywhere)]);
        for (within, expected) in [(0..2, true), (1..5, true), (1..4, false), (6..9, false), (7..9, false)] {
            let mut looked = 0;
            let may_match = automaton.may_match(text, within.clone(), |_| true, &mut looked);
            assert_eq!(may_match, expected, "{within:?}");
            assert!(looked <= within.len(), "{within:?}");
        }
    }
}

#[test]
fn a_match_begins_only_where_it_may() {
    let may_match = |place| of("ab").may_match(b"ab ab ab", 0..8, |at| at == place, &mut 0);
    assert!(may_match(0) && may_match(3) && may_match(6) && !may_match(1) && !may_match(5));
}

#[test]
fn what_is_outside_of_the_text_may_match() {
    assert!(of("ab").may_match(b"x", 0..9, |_| true, &mut 0));
}

#[test]
fn a_large_outline_counts_no_longer() {
    let automaton = of(r"(?:a[^\n]{0,300}b){2}c");
    let text = format!("a{0}ba{0}bc", "x".repeat(400));
    assert!(may_match(automaton, &text), "the pattern itself does not match");
    assert!(!may_match(automaton, &text.replace('c', "d")));
}

#[test]
fn conditions_may_match_nothing() {
    for (pattern, text, expected) in [
        (r"^\s*$", "", true),
        (r"^\s*$", "  ", true),
        (r"^\s*$", " x", false),
        (r"x\b$", "a x", true),
        (r"^x|y$", "zy", true),
        (r"^x|y$", "zyx", false),
    ] {
        let automaton = read(conditions(&[pattern.to_owned()]));
        assert_eq!(automaton.matches(text.as_bytes()), expected, "{pattern} in {text:?}");
    }
}

#[test]
fn a_file_that_was_cut_off_is_not_read() {
    let words = written(vec![outline("abc", true), outline("abd", false)]);
    let [first, second] = words.automata(0).unwrap().collect::<Vec<_>>().try_into().unwrap();
    assert!(may_match(first, "xabc") && !may_match(first, "xabd") && may_match(second, "xabd"));
    assert!(words.automata(1).is_none() && words.automata(60_000).is_none());
    for length in 0..words.0.len() {
        assert!(Words(&words.0[..length]).automata(0).is_none(), "cut off at {length}");
    }
}

/// Every shape on every example of every rule: an outline may take too much, but never too little.
#[test]
fn no_outline_misses_what_its_shape_matches() {
    let (mut right, mut wrong) = (0, 0);
    for (number, shape) in shapes().enumerate() {
        let regex = compile(shape.pattern).unwrap();
        let automaton = of_builtin(number, Role::Outline).unwrap().next().unwrap();
        for text in texts() {
            let (matches, may_match) = (regex.is_match(text), may_match(automaton, text));
            assert!(may_match || !matches, "shape {number} in {text:?}");
            *(if may_match == matches { &mut right } else { &mut wrong }) += 1;
        }
    }
    assert!(wrong * 1000 < right, "{wrong} wrong, {right} right");
}

/// Every condition on every example of every rule, and on what stands before and behind its middle.
#[test]
fn conditions_hold_where_their_patterns_match() {
    let texts = texts();
    for (number, shape) in shapes().enumerate() {
        for role in [Role::Match, Role::Before, Role::After] {
            let patterns: Vec<_> =
                excuses(shape, role).iter().map(|pattern| compile(pattern).unwrap()).collect();
            let automata: Vec<_> = of_builtin(number, role).unwrap().collect();
            assert_eq!(patterns.is_empty(), automata.is_empty(), "shape {number}");
            for text in &texts {
                let (before, after) = text.split_at(text.floor_char_boundary(text.len() / 2));
                for text in [before, after, text] {
                    let matches = patterns.iter().any(|pattern| pattern.is_match(text));
                    let holds = automata.iter().any(|automaton| automaton.matches(text.as_bytes()));
                    assert_eq!(holds, matches, "shape {number}, {role:?}, {text:?}");
                }
            }
        }
    }
}

/// What leads nowhere would be the end of a match, and excuse what nothing excuses.
#[test]
fn every_state_leads_to_a_state() {
    for number in 0..shapes().count() {
        for role in Role::ALL {
            for automaton in of_builtin(number, role).unwrap() {
                assert!(automaton.leads_to_states(), "shape {number}, {role:?}");
            }
        }
    }
}
