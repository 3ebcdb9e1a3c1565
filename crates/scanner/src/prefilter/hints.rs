//! Bucket assignments from an earlier long search, so that no build has to search.
//!
//! `buckets.txt` has a line per bucket with a number for each core. A core without an entry goes where it costs
//! least, so the file need not change with the rules: an outdated one costs a little time but never a match.

use std::collections::HashMap;

use super::bucket::{Core, Homes};
use super::byte_set::ByteSet;

const FILE: &str = include_str!("buckets.txt");

/// Returns the known buckets of these cores.
pub(super) fn homes(cores: &[Core]) -> Homes {
    read(FILE, cores.iter())
}

/// Returns the assignments in a file.
pub(super) fn read<'c>(file: &str, cores: impl Iterator<Item = &'c Core>) -> Homes {
    let numbers = |(line, bucket): (&'_ str, usize)| {
        line.split_ascii_whitespace().map(|number| (number.to_owned(), bucket)).collect::<Vec<_>>()
    };
    let buckets: HashMap<String, usize> = file.lines().zip(0..).flat_map(numbers).collect();
    cores.filter_map(|core| Some((*core, *buckets.get(&number(core))?))).collect()
}

/// Returns the file with these assignments.
#[cfg(test)]
pub(super) fn file(homes: &Homes) -> String {
    let mut lines = vec![Vec::new(); super::bucket::BUCKETS];
    homes.iter().for_each(|(core, &bucket)| lines[bucket].push(number(core)));
    let line = |mut numbers: Vec<String>| {
        numbers.sort_unstable();
        numbers.join(" ") + "\n"
    };
    lines.into_iter().map(line).collect()
}

/// The FNV-1a hash of a core, with its two halves xored.
fn number(core: &Core) -> String {
    let bytes = core.iter().flat_map(|ByteSet(words)| words).flat_map(|word| word.to_le_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{:08x}", (hash >> 32) ^ (hash & 0xffff_ffff))
}
