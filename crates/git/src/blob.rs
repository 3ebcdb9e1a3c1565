//! Computes git's blob id, which depends on the content alone.

/// Initial digest and the constants of the four kinds of rounds: RFC 3174.
const BEGIN: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
const ROUNDS: [u32; 4] = [0x5a82_7999, 0x6ed9_eba1, 0x8f1b_bcdc, 0xca62_c1d6];

const BLOCK: usize = 64;

/// Returns the blob id of a content in a SHA-1 repository, the default: the SHA-1 of its length and the content.
///
/// An attacker can make two contents with one id (collision), but no content for the id of one that is unknown to
/// them (second preimage).
#[must_use]
pub fn blob_id(content: &[u8]) -> [u8; 20] {
    let mut bytes = format!("blob {}\0", content.len()).into_bytes();
    bytes.extend_from_slice(content);
    let bits = 8 * bytes.len() as u64;
    bytes.push(0x80);
    let filled = (bytes.len() + 8).next_multiple_of(BLOCK) - 8;
    bytes.resize(filled, 0);
    bytes.extend(bits.to_be_bytes());
    let words = bytes.chunks_exact(BLOCK).fold(BEGIN, digest);
    let mut id = [0; 20];
    id.chunks_exact_mut(4).zip(words).for_each(|(four, word)| four.copy_from_slice(&word.to_be_bytes()));
    id
}

/// Adds one block to the digest.
fn digest(state: [u32; 5], block: &[u8]) -> [u32; 5] {
    let word = |four: &[u8]| four.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
    let mut words: Vec<u32> = block.chunks_exact(4).map(word).collect();
    for at in 16..80 {
        let back = |by: usize| words.get(at - by).copied().unwrap_or_default();
        words.push((back(3) ^ back(8) ^ back(14) ^ back(16)).rotate_left(1));
    }
    let kinds = ROUNDS.iter().enumerate().flat_map(|round| [round; 20]);
    let [mut a, mut b, mut c, mut d, mut e] = state;
    for (word, (kind, constant)) in words.into_iter().zip(kinds) {
        let mixed = match kind {
            0 => b & c | !b & d,
            2 => b & c | b & d | c & d,
            _ => b ^ c ^ d,
        };
        let sum =
            [mixed, e, *constant, word].iter().fold(a.rotate_left(5), |sum, one| sum.wrapping_add(*one));
        (a, b, c, d, e) = (sum, a, b.rotate_left(30), c, d);
    }
    let [a0, b0, c0, d0, e0] = state;
    [a0.wrapping_add(a), b0.wrapping_add(b), c0.wrapping_add(c), d0.wrapping_add(d), e0.wrapping_add(e)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of `git hash-object`, with lengths around a block boundary.
    #[test]
    fn contents_are_named_as_git_names_them() {
        let cases = [
            (0, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),
            (1, "c1b0730e0133447badcfd47fd144e254807b06e1"),
            (46, "1d98a4e287acc725ef6f635b729014f7d49148da"),
            (47, "719ddd7888a02660234770b651274214ff7df239"),
            (48, "3b3abca28de4b8ce6ea9dac5da512120ed7c5a0c"),
            (55, "e329c5109ce10a7367561757d2f5a053c528f11e"),
            (56, "355e203863c368f0404d7fc7ae4761122c117dd2"),
            (110, "5b47a7823a0eb565ed152a5cfb1bf549955ef0f9"),
            (111, "caa12a76d1ee289e28788808afe369025e50a334"),
            (112, "1ddbbc32c1e5989311c400a360f1527fe343040e"),
            (1000, "14c7dfdd4258dec5c0e9d2e919bd249bd674be1f"),
            (70000, "2a19a886fed45ff5999d8c2a529ba35852fb32b8"),
        ];
        for (length, expected) in cases {
            let id: String = blob_id(&vec![b'x'; length]).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(id, expected, "{length}");
        }
    }
}
