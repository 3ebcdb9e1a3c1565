//! Counts byte sequences in the texts of a folder, for the models by which the prefilter chooses its grams. Duplicate
//! texts count once.
//!
//! ```console
//! $ cargo run --release --example frequencies -- pairs FOLDER > src/prefilter/pairs.txt
//! $ cargo run --release --example frequencies -- fours FOLDER > src/prefilter/fours.bin
//! ```

#![expect(clippy::disallowed_methods, reason = "reads the folder that it counts")]

use std::collections::{HashMap, HashSet};
use std::io::Write as _;
use std::path::Path;
use std::{env, fs, io};

#[path = "../src/prefilter/byte_kind.rs"]
mod byte_kind;

use byte_kind::{KINDS, kind};

/// How many sequences of four bytes are kept.
const FOURS: usize = 32_768;

fn main() -> io::Result<()> {
    let mut args = env::args_os().skip(1);
    let what = args.next().unwrap_or_default();
    let mut texts = HashSet::new();
    for folder in args {
        read_folder(Path::new(&folder), &mut texts)?;
    }
    let model = match what.to_str() {
        Some("pairs") => pairs(&texts),
        Some("fours") => fours(&texts),
        _ => return Err(io::Error::other("say `pairs FOLDER` or `fours FOLDER`")),
    };
    io::stdout().write_all(&model)
}

fn read_folder(folder: &Path, texts: &mut HashSet<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read_folder(&path, texts)?;
        } else if let Ok(text) = String::from_utf8(fs::read(&path)?) {
            texts.insert(text);
        }
    }
    Ok(())
}

/// A line for each kind of byte, with a character for each kind of following byte.
fn pairs(texts: &HashSet<String>) -> Vec<u8> {
    let mut counts = vec![[0.25; KINDS]; KINDS];
    for &[first, second] in texts.iter().flat_map(|text| text.as_bytes().array_windows()) {
        if let Some(count) = counts.get_mut(kind(first)).and_then(|line| line.get_mut(kind(second))) {
            *count += 1.0;
        }
    }
    let total: f64 = counts.iter().flatten().sum();
    let line = |line: &[f64; KINDS]| [&line.map(|count| symbol(count / total)), b"\n".as_slice()].concat();
    counts.iter().flat_map(line).collect()
}

/// The most common sequences of four bytes in order, each with its frequency.
fn fours(texts: &HashSet<String>) -> Vec<u8> {
    let mut counts = HashMap::<[u8; 4], f64>::new();
    for &four in texts.iter().flat_map(|text| text.as_bytes().array_windows()) {
        *counts.entry(four).or_default() += 1.0;
    }
    let total: f64 = counts.values().sum();
    let mut fours: Vec<([u8; 4], f64)> = counts.into_iter().collect();
    fours.sort_by(|(one, often), (other, seldom)| seldom.total_cmp(often).then(one.cmp(other)));
    fours.truncate(FOURS);
    fours.sort_by_key(|(four, _)| *four);
    fours.iter().flat_map(|&([a, b, c, d], count)| [a, b, c, d, symbol(count / total)]).collect()
}

/// A probability as one character, in quarters of a bit.
fn symbol(probability: f64) -> u8 {
    let quarters = (-4.0 * probability.log2()).round().clamp(0.0, f64::from(b'~' - b'!'));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a few dozen")]
    {
        b'!' + quarters as u8
    }
}
