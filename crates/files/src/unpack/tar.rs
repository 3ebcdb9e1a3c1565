//! Tar: blocks of 512 bytes, each member with a header. The size may be in the header or in a preceding record, and
//! programs disagree about which to believe; so every block is tested for being a header.

use super::Opening;

const BLOCK: usize = 512;
const MARK: usize = 257;

/// Record types that are files: an ordinary one in three spellings, and the records for long names and notes, which
/// some programs show as well.
const FILES: &[u8] = b"\x0007xgLKSM";

pub(super) fn open(bytes: &[u8], opening: &mut Opening<'_>) {
    for at in (0..bytes.len()).step_by(BLOCK) {
        let Some(head) = bytes.get(at..at + BLOCK).filter(|head| is_head(head)) else { continue };
        let kind = head.get(156).copied().unwrap_or_default();
        if FILES.contains(&kind) {
            let rest = bytes.get(at + BLOCK..).unwrap_or_default();
            let size = head.get(124..136).and_then(number).unwrap_or(usize::MAX);
            let is_cut = size > rest.len();
            opening.stored(&name(head), rest.get(..size).unwrap_or(rest));
            if is_cut {
                opening.miss(crate::gap::Unopened::Damaged);
            }
        }
    }
}

/// Whether a block is a header: its checksum matches, computed with blanks in place of the sum.
fn is_head(block: &[u8]) -> bool {
    if !block.get(MARK..).is_some_and(|rest| rest.starts_with(b"ustar")) {
        return false;
    }
    let sum: usize = block
        .iter()
        .enumerate()
        .map(|(at, byte)| if (148..156).contains(&at) { 32 } else { usize::from(*byte) })
        .sum();
    block.get(148..156).and_then(number) == Some(sum)
}

/// Parses a number: octal digits, or binary if the highest bit is set.
fn number(field: &[u8]) -> Option<usize> {
    if let [first, rest @ ..] = field
        && *first & 0x80 != 0
    {
        let begin = usize::from(*first & 0x7f);
        return rest
            .iter()
            .try_fold(begin, |sum, byte| sum.checked_mul(256)?.checked_add(usize::from(*byte)));
    }
    let digits =
        field.iter().skip_while(|byte| **byte == b' ').take_while(|byte| matches!(byte, b'0'..=b'7'));
    digits.copied().try_fold(0_usize, |sum, digit| sum.checked_mul(8)?.checked_add(usize::from(digit - b'0')))
}

fn name(head: &[u8]) -> Vec<u8> {
    let until_nul = |field: Option<&[u8]>| -> Vec<u8> {
        field.unwrap_or_default().iter().copied().take_while(|byte| *byte != 0).collect()
    };
    let (prefix, name) = (until_nul(head.get(345..500)), until_nul(head.get(..100)));
    if prefix.is_empty() { name } else { [prefix, name].join(&b'/') }
}
