//! The tree of RFC 6962 over the digests of the records: its root says all of them, and a few hashes show that one is among
//! them.

use sha2::{Digest as _, Sha256};

use crate::bytes::Bytes32;

/// The right edge of a tree: the roots of its full parts, the largest first. It grows by a record at a time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Frontier {
    pub(crate) size: u64,
    pub(crate) parts: Vec<Bytes32>,
}

impl Frontier {
    /// Takes in the digest of the next record.
    pub(crate) fn push(&mut self, digest: &Bytes32) {
        let mut hash = leaf(digest);
        let mut full = self.size;
        while full & 1 == 1 {
            hash = self.parts.pop().map_or(hash, |left| node(&left, &hash));
            full >>= 1;
        }
        self.parts.push(hash);
        self.size = self.size.saturating_add(1);
    }

    /// Returns the root of the tree.
    pub(crate) fn root(&self) -> Bytes32 {
        let parts = self.parts.iter().rev().copied();
        parts.reduce(|right, left| node(&left, &right)).unwrap_or_else(|| Sha256::digest([]).into())
    }
}

fn leaf(digest: &Bytes32) -> Bytes32 {
    Sha256::new().chain_update([0]).chain_update(digest).finalize().into()
}

fn node(left: &Bytes32, right: &Bytes32) -> Bytes32 {
    Sha256::new().chain_update([1]).chain_update(left).chain_update(right).finalize().into()
}

/// Returns the hashes that show that the record at this place, counted from 0, is among these.
pub(crate) fn proof(digests: &[Bytes32], place: usize) -> Vec<Bytes32> {
    let (mut digests, mut place) = (digests, place);
    let mut proof = Vec::new();
    while digests.len() > 1 {
        // The left part is the largest full tree that does not hold all.
        let (left, right) = digests.split_at(digests.len().next_power_of_two() / 2);
        if place < left.len() {
            proof.push(root(right));
            digests = left;
        } else {
            proof.push(root(left));
            place -= left.len();
            digests = right;
        }
    }
    proof.reverse();
    proof
}

fn root(digests: &[Bytes32]) -> Bytes32 {
    let mut frontier = Frontier::default();
    digests.iter().for_each(|digest| frontier.push(digest));
    frontier.root()
}

/// Returns the root of a tree of this size in which the record is at this place, by its proof (RFC 9162, 2.1.3.2); nothing
/// where the proof has another length than such a tree needs.
pub(crate) fn root_by_proof(digest: &Bytes32, place: u64, size: u64, proof: &[Bytes32]) -> Option<Bytes32> {
    let (mut place, mut last) = (place, size.checked_sub(1).filter(|last| place <= *last)?);
    let mut hash = leaf(digest);
    for other in proof {
        if last == 0 {
            return None;
        }
        if place & 1 == 1 || place == last {
            hash = node(other, &hash);
            while place & 1 == 0 && place != 0 {
                place >>= 1;
                last >>= 1;
            }
        } else {
            hash = node(&hash, other);
        }
        place >>= 1;
        last >>= 1;
    }
    (last == 0).then_some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stockade_text::to_hex;

    fn digests(count: u8) -> Vec<Bytes32> {
        (0..count).map(|number| Sha256::digest([number]).into()).collect()
    }

    /// The empty tree and that of one empty leaf, as the test vectors of Certificate Transparency have them.
    #[test]
    fn the_tree_is_the_one_of_the_standard() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(to_hex(&root(&[])), empty);
        let bare =
            |data: &[u8]| -> Bytes32 { Sha256::new().chain_update([0]).chain_update(data).finalize().into() };
        assert_eq!(to_hex(&bare(b"")), "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d");
        // Two leaves, `` and `00`, as there.
        let two = node(&bare(b""), &bare(&[0]));
        assert_eq!(to_hex(&two), "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125");
    }

    #[test]
    fn a_tree_that_grew_is_the_one_that_was_split() {
        fn by_definition(digests: &[Bytes32]) -> Bytes32 {
            match digests {
                [] => Sha256::digest([]).into(),
                [one] => leaf(one),
                all => {
                    let (left, right) = all.split_at(all.len().next_power_of_two() / 2);
                    node(&by_definition(left), &by_definition(right))
                }
            }
        }
        for count in 0..70 {
            assert_eq!(root(&digests(count)), by_definition(&digests(count)), "{count}");
        }
    }

    #[test]
    fn a_proof_shows_its_record_and_no_other() {
        for count in 1..40_u8 {
            let all = digests(count);
            for place in 0..usize::from(count) {
                let proof = proof(&all, place);
                let at = |place: usize, size: u8, proof: &[Bytes32]| {
                    root_by_proof(&all[place], place as u64, size.into(), proof)
                };
                assert_eq!(at(place, count, &proof), Some(root(&all)), "{place} of {count}");
                for other in (0..usize::from(count)).filter(|other| *other != place) {
                    let elsewhere = root_by_proof(&all[place], other as u64, count.into(), &proof);
                    assert_ne!(elsewhere, Some(root(&all)), "{place} as {other} of {count}");
                }
                let longer = [&proof[..], &[[7; 32]]].concat();
                assert_eq!(at(place, count, &longer), None);
                assert!(proof.is_empty() || at(place, count, &proof[1..]).is_none());
            }
            assert_eq!(root_by_proof(&all[0], count.into(), count.into(), &[]), None);
        }
    }
}
