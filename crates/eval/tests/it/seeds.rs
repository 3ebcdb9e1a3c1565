//! The seeds of the fuzz targets, and everything that ever crashed one, as ordinary tests.

#[cfg(test)]
#[path = "../../../../fuzz/replay.rs"]
mod replay;

use proptest::prelude::*;

use crate::{language, properties};
use replay::{Property, replay};

const TARGETS: &[(&str, Property)] = &[
    ("source", properties::source),
    ("template", properties::template),
    ("regex", properties::regex),
    ("json", properties::json),
];

#[test]
fn every_seed_passes() {
    replay(TARGETS);
}

#[test]
fn every_row_of_the_language_passes() {
    for (source, _) in language::rows() {
        properties::source(source.as_bytes());
        properties::template(format!("a {{{{{source}}}}} b").as_bytes());
    }
}

/// Rows with a part cut out or put in elsewhere.
#[test]
fn broken_rows_pass() {
    let rows = language::rows();
    for (at, (source, _)) in rows.iter().enumerate() {
        let other = &rows[at * 7 % rows.len()].0;
        let middle = source.char_indices().nth(source.chars().count() / 2).map_or(0, |(at, _)| at);
        properties::source(&source.as_bytes()[..middle]);
        properties::source(format!("{}{other}", &source[..middle]).as_bytes());
        properties::source(format!("{other}{}", &source[middle..]).as_bytes());
    }
}

proptest! {
    #[test]
    fn any_text_passes(text in ".{0,60}") {
        for (_, property) in TARGETS {
            property(text.as_bytes());
        }
    }

    #[test]
    fn anything_that_looks_like_a_source_passes(text in r#"([a-z0-9 (){}\[\].,;:?=<>+*/!'"`$&|-]|=>|\?\.|\.\.\.|let |const |for|of|if|new |function |async |await |return |typeof ){0,30}"#) {
        properties::source(text.as_bytes());
    }

    #[test]
    fn anything_that_looks_like_a_regex_passes(text in r"([ab()\[\]{}^$.*+?|\\1-3wdsDWSbB-]|\(\?:|\n){0,20}") {
        properties::regex(text.as_bytes());
    }
}
