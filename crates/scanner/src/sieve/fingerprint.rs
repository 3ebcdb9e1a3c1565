//! Whether the committed tables belong to the rules of this very program.

use crate::fold::TRIGGERS;
use crate::fragments::FRAGMENTS;
use crate::rule::Unless;
use crate::rules::FAMILIES;

/// Stands for everything that the tables are made from. Computed by the compiler.
pub(super) const RULES: u64 = of_rules();

/// The offset basis and the prime of the 64-bit FNV-1a hash.
const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

const fn of_rules() -> u64 {
    let mut hash = BASIS;
    let mut families = FAMILIES.as_slice();
    while let [rules, more @ ..] = families {
        let mut rules = *rules;
        while let [rule, more @ ..] = rules {
            let mut shapes = rule.shapes;
            while let [shape, more @ ..] = shapes {
                hash = add(hash, shape.pattern);
                let mut conditions = shape.unless;
                while let [condition, more @ ..] = conditions {
                    hash = match *condition {
                        Unless::Match(pattern) => add(add(hash, "match"), pattern),
                        Unless::Before(pattern) => add(add(hash, "before"), pattern),
                        Unless::After(pattern) => add(add(hash, "after"), pattern),
                    };
                    conditions = more;
                }
                shapes = more;
            }
            rules = more;
        }
        families = more;
    }
    let mut fragments = FRAGMENTS;
    while let [fragment, more @ ..] = fragments {
        hash = add(add(hash, fragment.name), fragment.pattern);
        fragments = more;
    }
    let mut triggers = TRIGGERS;
    while let [(disguise, pattern), more @ ..] = triggers {
        hash = add(hash ^ *disguise as u64, pattern);
        triggers = more;
    }
    hash
}

const fn add(mut hash: u64, text: &str) -> u64 {
    let mut bytes = text.as_bytes();
    while let [byte, more @ ..] = bytes {
        hash = (hash ^ *byte as u64).wrapping_mul(PRIME);
        bytes = more;
    }
    // No pattern holds this byte, so two texts never run together.
    (hash ^ 0xff).wrapping_mul(PRIME)
}
