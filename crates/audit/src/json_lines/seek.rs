//! Finds a record among lines without reading all of them: their numbers ascend.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

/// How every record begins.
const START: &[u8] = b"{\"id\":";

/// How much is read at once, in search of the end of a line.
const CHUNK: usize = 4 << 10;

/// Returns where the first record behind this number begins, or the file ends; nothing where a line is no record.
pub(super) fn behind(file: &File, id: u64, length: u64) -> io::Result<Option<u64>> {
    let (mut low, mut high) = (0, length);
    while low < high {
        let middle = low + (high - low) / 2;
        let start = line_from(file, middle, length)?;
        if start >= high {
            high = middle;
            continue;
        }
        let Some(number) = number_at(file, start)? else { return Ok(None) };
        if number > id {
            high = middle;
        } else {
            low = start + 1;
        }
    }
    line_from(file, low, length).map(Some)
}

/// Returns where the first line begins at or behind a byte.
fn line_from(file: &File, at: u64, length: u64) -> io::Result<u64> {
    let Some(mut searched) = at.checked_sub(1) else { return Ok(0) };
    let mut chunk = vec![0; CHUNK];
    while searched < length {
        let read = file.read_at(&mut chunk, searched)?;
        let found = chunk.get(..read).unwrap_or_default();
        if let Some(end) = found.iter().position(|byte| *byte == b'\n') {
            return Ok(searched + end as u64 + 1);
        }
        if read == 0 {
            break;
        }
        searched += read as u64;
    }
    Ok(length)
}

/// Returns the number of the record that begins here.
fn number_at(file: &File, start: u64) -> io::Result<Option<u64>> {
    let mut bytes = [0; 32];
    let read = file.read_at(&mut bytes, start)?;
    let digits = bytes.get(..read).and_then(|line| line.strip_prefix(START));
    let digits = digits.and_then(|rest| rest.split(|byte| *byte == b',').next());
    Ok(digits.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok()))
}
