//! The properties on random bytes, on every seed of the fuzzer, and on the examples of every rule.
#![expect(clippy::disallowed_methods, reason = "reads the committed seeds")]

use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, proptest};
use stockade_scanner::{Method, ScanOptions, Scanner};

use crate::{hostile, properties};

type Property = fn(&[u8]);

const TARGETS: [(&str, Property); 4] = [
    ("finds_all", properties::finds_all),
    ("facts_hold", properties::facts_hold),
    ("reports_hold", properties::reports_hold),
    ("finds_all_of_a_users_rule", properties::finds_all_of_a_users_rule),
];

#[test]
fn seeds_hold() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds");
    for (target, property) in TARGETS {
        let files: Vec<_> =
            std::fs::read_dir(seeds.join(target)).unwrap().map(|file| file.unwrap().path()).collect();
        assert!(!files.is_empty(), "{target} has no seeds");
        for file in files {
            property(&std::fs::read(file).unwrap());
        }
    }
}

#[test]
fn the_prefilter_loses_no_example_of_any_rule() {
    for rule in Scanner::builtin().rules() {
        for example in rule.matches.iter().chain(&rule.clean) {
            for text in
                [example.clone(), format!("x {example} x"), format!("\n\n{example}\n"), example.repeat(2)]
            {
                properties::finds_all(&[b"\x01", text.as_bytes()].concat());
            }
        }
    }
}

#[test]
fn the_prefilter_loses_nothing_of_hostile_texts() {
    let options = ScanOptions::default();
    for (name, generate) in hostile::GENERATORS {
        let text = generate(2_000);
        let by = |method| Scanner::builtin().scan_by(&text, &options, method).0;
        let slow = by(Method::Exhaustive);
        let fast = by(Method::Prefiltered);
        assert_eq!(fast.findings, slow.findings, "{name}");
        assert_eq!(fast.truncated, slow.truncated, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_prefilter_loses_nothing_of_random_texts(data in vec(any::<u8>(), 0..60)) {
        properties::finds_all(&data);
    }

    #[test]
    fn reports_of_random_texts_hold(data in vec(any::<u8>(), 0..80)) {
        properties::reports_hold(&data);
        properties::facts_hold(&data);
    }

    #[test]
    fn the_prefilter_loses_nothing_of_random_rules(data in vec(any::<u8>(), 0..60)) {
        properties::finds_all_of_a_users_rule(&data);
    }
}
