//! Writes the tables of the built-in rules as Rust, for `build.rs`.

use std::fmt::{Debug, Write};

use super::fours::frequency_of_four;
use super::gram::Effort;
use super::input::{PatternId, PrefilterInput};
use super::tables::{GramKey, Tables};
use super::{fingerprint, hints};
use crate::deobfuscate::triggers::TRIGGERS;
use crate::fragments;

const HEAD: &str = "\
use std::borrow::Cow;

use super::byte_set::ByteSet;
use super::places::Lookup;
use super::input::PatternId::{self, Rule, Trigger};
use super::extent::{MatchExtent, Side};
use super::run::Run;
use super::tables::{Misses, PackedGram, GramKey, Tables};
use crate::deobfuscate::Obfuscation::{Comments, Letters, Markup, Quoting};
";

/// Returns the source of the tables for these patterns, in order.
pub(crate) fn source(patterns: &[String]) -> String {
    let number = patterns.iter().fold(fingerprint::OF_NONE, |hash, pattern| fingerprint::add(hash, pattern));
    let input = input(patterns.iter().map(String::as_str));
    let homes = hints::homes(&input.cores());
    write(&Tables::pack(input, &homes, frequency_of_four), number)
}

/// Returns the input of the tables: patterns, and triggers of the deobfuscated view.
pub(super) fn input<'p>(patterns: impl Iterator<Item = &'p str>) -> PrefilterInput {
    // A pattern that cannot be expanded cannot be compiled either, and is expected everywhere.
    let expand = |pattern: &str| fragments::expand(pattern).unwrap_or_default();
    let mut input = PrefilterInput::default();
    patterns.for_each(|pattern| input.add_pattern(&expand(pattern), frequency_of_four, &[Effort::FULL]));
    for (obfuscation, pattern) in TRIGGERS {
        input.add(PatternId::Trigger(*obfuscation), &expand(pattern), frequency_of_four, &[Effort::FULL]);
    }
    input
}

fn write(tables: &Tables, patterns: u64) -> String {
    let mut out = String::from(HEAD);
    let misses = tables.misses();
    let misses = misses.iter().map(|misses| format!("{misses:#x?}").replace(['\n', ' '], ""));
    list(&mut out, "const MISSES: Misses = [", misses, 1);
    let sketch =
        |GramKey { bits, certain }: &GramKey| format!("GramKey {{ bits: {bits:#x}, certain: {certain:#x} }}");
    list(&mut out, "static SKETCHES: &[GramKey] = &[", tables.sketches.iter().map(sketch), 1);
    list(&mut out, "static WINDOWS: &[PackedGram] = &[", rows(&tables.grams), 1);
    list(&mut out, "static FRAGMENTS: &[u16] = &[", rows(&tables.fragments), 20);
    list(&mut out, "static SETS: &[ByteSet] = &[", rows(&tables.sets), 1);
    list(&mut out, "static RUNS: &[(PatternId, Run)] = &[", rows(&tables.runs), 1);
    list(&mut out, "static ALWAYS: &[PatternId] = &[", rows(&tables.always), 1);
    list(&mut out, "static EXTENTS: &[Option<MatchExtent>] = &[", rows(&tables.extents), 1);
    let _ = write!(
        out,
        "
/// Fingerprint of the patterns that the tables were made from.
const PATTERNS: u64 = {patterns:#x};

pub(super) static LOOKUP: Lookup = Lookup::new(MISSES, {:?});

pub(super) const TABLES: Tables = Tables {{
    sketches: Cow::Borrowed(SKETCHES),
    grams: Cow::Borrowed(WINDOWS),
    bucket_ends: {:?},
    fragments: Cow::Borrowed(FRAGMENTS),
    sets: Cow::Borrowed(SETS),
    runs: Cow::Borrowed(RUNS),
    any_run: {:?},
    always: Cow::Borrowed(ALWAYS),
    extents: Cow::Borrowed(EXTENTS),
}};
",
        tables.run_bytes(),
        tables.bucket_ends,
        tables.any_run,
    );
    out
}

fn rows<T: Debug>(items: &[T]) -> impl Iterator<Item = String> {
    items.iter().map(|item| format!("{item:?}"))
}

/// Writes one table with `a_line` items per line.
fn list(out: &mut String, head: &str, items: impl Iterator<Item = String>, a_line: usize) {
    let items: Vec<String> = items.collect();
    let _ = writeln!(out, "\n{head}");
    for line in items.chunks(a_line) {
        let _ = writeln!(out, "    {},", line.join(", "));
    }
    let _ = writeln!(out, "];");
}
