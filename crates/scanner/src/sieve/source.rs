//! Writes the tables of the built-in rules as Rust, and holds that `builtin.rs` is what it writes.

#![expect(clippy::disallowed_methods, reason = "compares and writes a file of this crate")]

use std::fmt::{Debug, Write};
use std::{env, fs};

use super::bucket::improve::improve;
use super::frequency::fours::frequency_of_four;
use super::tables::{Sketch, Tables};
use super::{builtin, derive, fingerprint, pack};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/sieve/builtin.rs");

const HEAD: &str = "\
//! What the sieve looks for on behalf of the built-in rules. Generated: `cargo xtask generate` writes it anew.
#![cfg_attr(rustfmt, rustfmt_skip)]

use std::borrow::Cow;

use super::byte_set::ByteSet;
use super::places::{Lookup, Misses};
use super::quarry::Goal::{Fold, Shape};
use super::reach::{Reach, Side};
use super::run::Run;
use super::tables::{Packed, Sketch, Tables};
use crate::fold::Disguise::{Comments, Letters, Quoting};
";

fn source(tables: &Tables) -> String {
    let mut out = String::from(HEAD);
    list(
        &mut out,
        "MISSES",
        "Misses",
        tables.lookup.misses.iter().map(|misses| format!("{misses:#x?}").replace(['\n', ' '], "")),
        1,
    );
    list(
        &mut out,
        "SKETCHES",
        "&[Sketch]",
        tables
            .sketches
            .iter()
            .map(|Sketch { bits, certain }| format!("Sketch {{ bits: {bits:#x}, certain: {certain:#x} }}")),
        1,
    );
    list(&mut out, "WINDOWS", "&[Packed]", rows(&tables.windows), 1);
    list(&mut out, "FRAGMENTS", "&[u16]", rows(&tables.fragments), 20);
    list(&mut out, "SETS", "&[ByteSet]", rows(&tables.sets), 1);
    list(&mut out, "RUNS", "&[(super::quarry::Goal, Run)]", rows(&tables.runs), 1);
    list(&mut out, "ALWAYS", "&[super::quarry::Goal]", rows(&tables.always), 1);
    list(&mut out, "REACHES", "&[Option<Reach>]", rows(&tables.reaches), 1);
    let _ = write!(
        out,
        "
/// The rules that the tables were made from.
pub(super) const RULES: u64 = {:#x};

static LOOKUP: Lookup = Lookup::new(MISSES, {:?});

pub(super) const TABLES: Tables = Tables {{
    lookup: Cow::Borrowed(&LOOKUP),
    sketches: Cow::Borrowed(SKETCHES),
    windows: Cow::Borrowed(WINDOWS),
    bucket_ends: {:?},
    fragments: Cow::Borrowed(FRAGMENTS),
    sets: Cow::Borrowed(SETS),
    runs: Cow::Borrowed(RUNS),
    any_run: {:?},
    always: Cow::Borrowed(ALWAYS),
    reaches: Cow::Borrowed(REACHES),
}};
",
        fingerprint::RULES,
        tables.lookup.run_bytes,
        tables.bucket_ends,
        tables.any_run,
    );
    out
}

fn rows<T: Debug>(items: &[T]) -> impl Iterator<Item = String> {
    items.iter().map(|item| format!("{item:?}"))
}

/// Writes one table, so many items a line.
fn list(out: &mut String, name: &str, kind: &str, items: impl Iterator<Item = String>, a_line: usize) {
    let items: Vec<String> = items.collect();
    let reference = if kind.starts_with('&') { "&" } else { "" };
    let _ = writeln!(out, "\nstatic {name}: {kind} = {reference}[");
    for line in items.chunks(a_line) {
        let _ = writeln!(out, "    {},", line.join(", "));
    }
    let _ = writeln!(out, "];");
}

#[test]
fn tables_are_fresh() {
    let quarry = derive(frequency_of_four);
    let is_fresh = fs::read_to_string(PATH).unwrap() == source(&pack(quarry.clone(), frequency_of_four));
    if !is_fresh && env::var_os("STOCKADE_BLESS").is_some_and(|value| value == "1") {
        let homes = improve(&quarry.cores(), &builtin::TABLES.homes(), frequency_of_four);
        fs::write(PATH, source(&Tables::pack(quarry, &homes, frequency_of_four))).unwrap();
        return;
    }
    assert!(is_fresh, "sieve/builtin.rs is not fresh: run `cargo xtask generate`");
}

#[test]
fn no_builtin_shape_has_to_be_expected_everywhere() {
    assert_eq!(builtin::TABLES.always.as_ref(), []);
}

#[test]
fn what_was_packed_can_be_unpacked() {
    let tables = builtin::TABLES;
    assert_eq!(tables.with(|_| ()), tables);
    let text = source(&tables);
    assert!(text.is_ascii() && text.lines().count() > 300);
}
