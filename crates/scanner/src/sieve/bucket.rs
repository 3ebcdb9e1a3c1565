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

/// How often each window is put elsewhere, once all have a place. What more rounds change is not worth their time.
const ROUNDS: usize = 4;

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

/// Puts the windows with these cores into at most [`BUCKETS`] buckets: the common ones first, each where it costs least, and
/// again where it costs least beside those that came after it. The first windows may be in buckets already, and then all
/// stay where they came first.
pub(super) fn fill(mut buckets: Vec<Bucket>, cores: &[Core]) -> Vec<Bucket> {
    let done = buckets.iter().map(|bucket| bucket.windows.len()).sum();
    let mut order: Vec<(f64, usize)> = cores.iter().map(|core| frequency(core)).zip(0..).skip(done).collect();
    order.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let rounds = if done == 0 { ROUNDS } else { 0 };
    for (_, window) in std::iter::repeat_n(&order, 1 + rounds).flatten() {
        take_out(&mut buckets, *window, cores);
        if let Some(core) = cores.get(*window) {
            put(&mut buckets, *window, core);
        }
    }
    buckets
}

/// Takes a window out of its bucket, if it is in one.
fn take_out(buckets: &mut Vec<Bucket>, window: usize, cores: &[Core]) {
    if let Some(bucket) = buckets.iter_mut().find(|bucket| bucket.windows.contains(&window)) {
        bucket.windows.retain(|&other| other != window);
        let left = std::mem::take(&mut bucket.windows);
        let left_cores: Vec<Core> = left.iter().filter_map(|&left| cores.get(left)).copied().collect();
        *bucket = Bucket::of(left, left_cores.into_iter());
        buckets.retain(|bucket| !bucket.windows.is_empty());
    }
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
