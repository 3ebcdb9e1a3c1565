use proptest::prelude::*;
use regex_automata::Input;

use super::assemble::Programs;
use super::*;
use crate::exact::parse_one;
use crate::rule::{Exception, Rule};
use crate::rules;

/// Searches for all matches by the machine, without a limit, and by the regular expression.
fn both(pattern: &str, text: &[u8], within: Range<usize>) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let mut programs = Programs::default();
    programs.add(pattern, &parse_one(pattern)).unwrap_or_else(|_| panic!("{pattern}"));
    let program = Program::new(&programs.words, &programs.sets, &programs.prefixes);
    let regex = compile(pattern).unwrap();
    let each = |find: &dyn Fn(Range<usize>) -> Option<Range<usize>>| {
        let (mut at, mut found) = (within.start, Vec::new());
        while let Some(hit) = find(at..within.end).filter(|_| at <= within.end) {
            at = hit.end.max(at + 1);
            found.push(hit);
        }
        found
    };
    let by_program = |within| program.find(text, within, Begin::Anywhere, &mut usize::MAX.clone()).unwrap();
    let by_regex = |within| regex.search(&Input::new(text).range(within)).map(|hit| hit.range());
    (each(&by_program), each(&by_regex))
}

#[track_caller]
fn check(pattern: &str, text: &[u8]) {
    for within in [0..text.len(), text.len() / 3..text.len(), 0..text.len() - text.len() / 4] {
        let (program, regex) = both(pattern, text, within.clone());
        assert_eq!(program, regex, "{pattern} in {within:?} of {:?}", String::from_utf8_lossy(text));
    }
}

#[test]
fn every_kind_of_part_matches_as_the_regular_expression_does() {
    let patterns = [
        "a",
        "abc",
        "[a-c]",
        "a|b",
        "ab|a|abc",
        "(?:a|ab)(?:c|bcd)",
        "a*",
        "a*?",
        "a+b",
        "a+?b",
        "a{2,3}",
        "a{2,3}?",
        "(?:ab)*",
        "(?:ab)*?c",
        "(?:ab){1,2}",
        "(?:ab){1,2}?",
        "(?:a?b){0,3}",
        "(?:ab|c){2,}",
        "[^b]{0,4}b",
        "a[^\\n]{0,3}b[^\\n]{0,3}c",
        "^a",
        "a$",
        "\\Aa",
        "a\\z",
        "\\bab",
        "a\\Bb",
        "(?i)aB",
        "a(?:|b)c",
        "x*",
        "(?:a|b?)c",
        "a[bc]*bc",
        "[ab]+a",
        "(a)(b)?",
        "(?:a+|b+)+c",
        "[^a]b[^a]",
        "\\s*a\\s*",
    ];
    let texts = [
        "",
        "a",
        "b",
        "abc",
        "ab abc aab",
        "aaa",
        "ababab",
        "ababc\nabc",
        "aXbYc",
        "a\nb\nc",
        "abcabcabc",
        "xxab",
        "aabbaabbc",
        "AB ab aB",
        "éaéb",
        " a  a",
        "cab\n",
        "bbbab",
        "aaaaaaaab",
    ];
    for pattern in patterns {
        texts.iter().for_each(|text| check(pattern, text.as_bytes()));
    }
}

/// Every expression of a rule.
fn of_rule(rule: &'static Rule<'static>) -> impl Iterator<Item = &'static str> {
    let exception = |exception: &'static Exception<'static>| match exception {
        Exception::Match(pattern) | Exception::Before(pattern) | Exception::After(pattern) => Some(*pattern),
        Exception::Without(_) => None,
    };
    rule.patterns
        .iter()
        .flat_map(move |row| std::iter::once(row.regex).chain(row.exceptions.iter().filter_map(exception)))
}

/// An expression that was not translated would be compiled whenever a text needs it.
#[test]
fn every_expression_of_the_rules_has_a_program() {
    let missing: Vec<_> =
        rules::all().flat_map(of_rule).filter(|pattern| program_of(pattern).is_none()).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn every_program_matches_as_its_expression_does_in_the_examples() {
    for rule in rules::all() {
        for pattern in of_rule(rule) {
            let expression = Expression::new(pattern);
            let regex = compile(pattern).unwrap();
            let program = expression.program().unwrap();
            for text in rule.matches.iter().chain(rule.clean) {
                for (at, _) in text.char_indices() {
                    let within = at..text.len();
                    let input = Input::new(text).range(within.clone());
                    let found =
                        program.find(text.as_bytes(), within, Begin::Anywhere, &mut usize::MAX.clone());
                    assert_eq!(
                        found,
                        Ok(regex.search(&input).map(|hit| hit.range())),
                        "{pattern} in {text:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_search_that_takes_too_long_is_given_up_and_finds_the_same() {
    let pattern = "(?:a|ab|b)*c[^\\n]{0,200}[^\\n]{0,200}x";
    let text = "ab".repeat(2000) + "c" + &"y".repeat(300);
    let mut programs = Programs::default();
    programs.add(pattern, &parse_one(pattern)).expect("a program");
    let program = Program::new(&programs.words, &programs.sets, &programs.prefixes);
    let mut steps = 100_000;
    let found = program.find(text.as_bytes(), 0..text.len(), Begin::Anywhere, &mut steps);
    assert!(found.is_err() && steps < 100_000);
    let expression = Expression::new("a pattern that no rule has: [0-9]+");
    assert!(!expression.has_program());
    assert!(expression.is_match("a pattern that no rule has: 7") && expression.is_compiled());
}

/// The first bytes of a match exclude most places, whatever the number of alternatives, and so do those behind a run.
#[test]
fn few_steps_are_taken_in_ordinary_text() {
    let text = "Some prose that sends no keys, with a few reads and takes in it; and a path/to/a_file.\n"
        .repeat(100);
    let patterns = [
        r"(?i)\b(?:send|post|upload|forward|transmit|submit|deliver)\b[^\n]{0,80}?\b(?:keys?|tokens?)\b",
        r"\b(?:b16|b32|b64|a85|b85)decode\(|\batob\(|\bBuffer\.from\(|\bunescape\(|\bmap\([ \t]*chr\b|\.decrypt\(",
        r"(?:^|[;&|({][ \t]{0,8}|[ \t])eval[ \t]|\b(?:ba|z)?sh[ \t]{1,8}-c[ \t]|\|[ \t]{0,8}(?:ba|z)?sh\b",
        r"(?i)^Some[^\n]{0,100}?\b(?:ssh[ \t]{1,8}keys?|private[ \t]|api[ \t]|passwords?)",
    ];
    for pattern in patterns {
        let mut programs = Programs::default();
        programs.add(pattern, &parse_one(pattern)).unwrap();
        let program = Program::new(&programs.words, &programs.sets, &programs.prefixes);
        let mut steps = usize::MAX;
        assert_eq!(program.find(text.as_bytes(), 0..text.len(), Begin::Anywhere, &mut steps), Ok(None));
        let spent = usize::MAX - steps;
        assert!(spent < text.len() / 4, "{pattern}: {spent} of {}", text.len());
    }
}

#[test]
fn what_is_searched_for_long_is_compiled() {
    let pattern = rules::all().flat_map(of_rule).next().unwrap();
    let expression = Expression::new(pattern);
    let text = "x ".repeat(10_000);
    assert!(!expression.is_match(&text) && !expression.is_compiled(), "once is not often");
    for _ in 0..PATIENCE {
        if expression.is_compiled() {
            return;
        }
        expression.spent.fetch_add(PATIENCE / 8, Ordering::Relaxed);
        assert!(!expression.is_match(&text));
    }
    panic!("never compiled");
}

proptest! {
    /// Random texts of the words that the rules look for, by which more is matched than by random bytes.
    #[test]
    fn every_program_matches_as_its_expression_does_in_any_text(
        picks in prop::collection::vec((any::<prop::sample::Index>(), 0..40_usize, 0..40_usize), 1..6),
        which in any::<prop::sample::Index>(),
    ) {
        let rules: Vec<_> = rules::all().collect();
        let examples: Vec<&str> = rules.iter().flat_map(|rule| rule.matches.iter().chain(rule.clean)).copied().collect();
        let text: Vec<u8> = picks
            .iter()
            .flat_map(|(index, from, length)| {
                let example = examples[index.index(examples.len())].as_bytes();
                let from = (*from).min(example.len());
                example[from..example.len().min(from + length)].to_vec()
            })
            .collect();
        let patterns: Vec<&str> = rules.iter().copied().flat_map(of_rule).collect();
        let first = which.index(patterns.len());
        for pattern in patterns.iter().cycle().skip(first).take(8) {
            let expression = Expression::new(pattern);
            let regex = compile(pattern).unwrap();
            let found = expression.program().unwrap().find(&text, 0..text.len(), Begin::Anywhere, &mut usize::MAX.clone());
            prop_assert_eq!(found, Ok(regex.search(&Input::new(&text)).map(|hit| hit.range())), "{}", pattern);
        }
    }
}
