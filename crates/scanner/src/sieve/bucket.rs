//! Which windows are looked for together.
//!
//! The first step of the sieve asks sixty-four questions at every place of the text, one a bucket: is each of the next four
//! bytes one that some window of the bucket has there? So a bucket takes more than its windows do, and windows share
//! a bucket well when they are alike.

use super::byte_set::ByteSet;
use super::frequency::frequency;
use super::window::WIDTH;

/// How many buckets there are.
pub(crate) const BUCKETS: usize = 64;

/// The neighbouring sets of bytes that a bucket takes.
pub(super) type Core = [ByteSet; WIDTH];

/// A bucket while it is being filled.
#[derive(Debug, Clone)]
pub(super) struct Bucket {
    /// The windows in it, by their number.
    pub(super) windows: Vec<usize>,
    /// What it takes.
    pub(super) core: Core,
    /// How often that is expected, per byte of text.
    expected: f64,
}

/// Puts the windows with these cores into at most [`BUCKETS`] buckets: the common ones first, each where it costs least.
/// The first windows may be in buckets already.
pub(super) fn fill(mut buckets: Vec<Bucket>, cores: &[Core]) -> Vec<Bucket> {
    let done = buckets.iter().map(|bucket| bucket.windows.len()).sum();
    let mut order: Vec<(f64, usize)> = cores.iter().map(|core| frequency(core)).zip(0..).skip(done).collect();
    order.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    for (_, window) in order {
        if let Some(core) = cores.get(window) {
            put(&mut buckets, window, core);
        }
    }
    buckets
}

fn put(buckets: &mut Vec<Bucket>, window: usize, core: &Core) {
    let alone = Bucket { windows: vec![window], core: *core, expected: frequency(core) };
    let joined = buckets.iter().map(|bucket| bucket.joined(&alone));
    let added: Vec<f64> =
        joined.zip(&*buckets).map(|(joined, bucket)| joined.expected - bucket.expected).collect();
    let full = buckets.len() == BUCKETS;
    let best = added.iter().zip(buckets.iter_mut()).min_by(|one, other| one.0.total_cmp(other.0));
    match best {
        Some((&added, bucket)) if full || added < alone.expected => *bucket = bucket.joined(&alone),
        _ => buckets.push(alone),
    }
}

impl Bucket {
    /// Returns the bucket of some windows.
    pub(super) fn of(windows: Vec<usize>, cores: impl Iterator<Item = Core>) -> Self {
        let mut taken = Core::default();
        for core in cores {
            taken = union(&taken, &core);
        }
        Self { windows, core: taken, expected: frequency(&taken) }
    }

    fn joined(&self, other: &Self) -> Self {
        let core = union(&self.core, &other.core);
        let windows = [self.windows.as_slice(), &other.windows].concat();
        Self { windows, core, expected: frequency(&core) }
    }
}

fn union(one: &Core, other: &Core) -> Core {
    std::array::from_fn(|place| {
        one.get(place).copied().unwrap_or_default() | other.get(place).copied().unwrap_or_default()
    })
}
