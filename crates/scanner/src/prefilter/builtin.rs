//! Tables of the built-in rules: constants, which `build.rs` derives from them.

use super::fingerprint::{OF_NONE, add};
use crate::rules::FAMILIES;

include!(concat!(env!("OUT_DIR"), "/prefilter.rs"));

// `build.rs` extracts the patterns from the source text. The build fails unless the compiler reads the same patterns.
const _: () = assert!(PATTERNS == patterns(), "build.rs misread a pattern: write it as one string literal");

/// Returns the fingerprint of the patterns of all rules.
const fn patterns() -> u64 {
    let mut hash = OF_NONE;
    let mut families = FAMILIES.as_slice();
    while let [rules, more @ ..] = families {
        let mut rules = *rules;
        while let [rule, more @ ..] = rules {
            let mut patterns = rule.patterns;
            while let [pattern, more @ ..] = patterns {
                hash = add(hash, pattern.regex);
                patterns = more;
            }
            rules = more;
        }
        families = more;
    }
    hash
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "writes a file of this crate")]

    use super::TABLES;
    use crate::prefilter::bucket::improve::improve;
    use crate::prefilter::fours::frequency_of_four;
    use crate::prefilter::{codegen, hints};
    use crate::rules;

    #[test]
    fn no_builtin_pattern_has_to_be_expected_everywhere() {
        assert_eq!(TABLES.always.as_ref(), []);
    }

    #[test]
    fn what_was_packed_can_be_unpacked() {
        assert_eq!(TABLES.with(|_| ()), TABLES);
    }

    #[test]
    #[ignore = "derives all tables once more, which the build has just done: some seconds"]
    fn tables_follow_from_the_rules_alone() {
        let patterns = rules::all().flat_map(|rule| rule.patterns);
        let patterns: Vec<String> = patterns.map(|pattern| pattern.regex.to_owned()).collect();
        let built = include_str!(concat!(env!("OUT_DIR"), "/prefilter.rs"));
        assert!(codegen::source(&patterns) == built);
    }

    #[test]
    fn buckets_can_be_remembered() {
        let homes = TABLES.homes();
        assert_eq!(hints::read(&hints::file(&homes), homes.keys()), homes);
    }

    #[test]
    #[ignore = "looks for better buckets for a minute and writes buckets.txt: run it after many changes to the rules"]
    fn look_for_better_buckets() {
        let patterns = rules::all().flat_map(|rule| rule.patterns).map(|pattern| pattern.regex);
        let homes = improve(&codegen::input(patterns).cores(), &TABLES.homes(), frequency_of_four);
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/prefilter/buckets.txt");
        std::fs::write(path, hints::file(&homes)).unwrap();
    }
}
