//! Shared memory that passes the command line to a sandbox that was prepared before its command was known.
//!
//! The memory is shared with one sandbox, at the same address in both processes. So this program writes the pointer lists of
//! execve(2) directly, and the other side neither copies nor parses anything. Exec removes it from the command's memory.

use std::ffi::{CStr, CString, c_char};
use std::io;

/// Capacity in bytes. Longer commands start in a new sandbox.
const SIZE: usize = 256 << 10;

const WORD: usize = size_of::<usize>();

/// Number of header words, which contain the start of each list.
const HEAD: usize = 3;

/// The owner of the mapping in this program.
pub(crate) struct ArgvMailbox {
    place: ArgvAddress,
}

/// The address of the mapping, the same in both processes.
#[derive(Clone, Copy)]
pub(crate) struct ArgvAddress(usize);

impl ArgvMailbox {
    /// Maps an empty mailbox.
    pub(crate) fn new() -> io::Result<Self> {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: the kernel chooses a place where nothing is.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), SIZE, access, kind, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { place: ArgvAddress(start as usize) })
    }

    pub(crate) fn place(&self) -> ArgvAddress {
        self.place
    }

    /// Excludes it from later forks, after its sandbox was created: no other sandbox may see the command line.
    pub(crate) fn share_no_more(&self) -> io::Result<()> {
        // SAFETY: the piece belongs to this value alone, and nothing about it changes in this process.
        let result = unsafe { libc::madvise(self.place.0 as *mut _, SIZE, libc::MADV_DONTFORK) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Writes the candidate paths of the program, its arguments and its environment. Returns false if they do not fit.
    pub(crate) fn write(&mut self, lists: [&[CString]; 3]) -> bool {
        let words = HEAD + lists.iter().map(|list| list.len() + 1).sum::<usize>();
        let all = lists.iter().copied().flatten();
        let texts: usize = all.map(|text| text.as_bytes_with_nul().len()).sum();
        if words.saturating_mul(WORD).saturating_add(texts) > SIZE {
            return false;
        }
        // The header contains the index of the first word of each list; each list is null-terminated.
        let [programs, arguments, _] = lists.map(|list| list.len() + 1);
        let mut list = vec![HEAD, HEAD + programs, HEAD + programs + arguments];
        let mut next = self.place.0 + words * WORD;
        let mut bytes = Vec::with_capacity(texts);
        for texts in lists {
            for text in texts {
                list.push(next);
                next += text.as_bytes_with_nul().len();
                bytes.extend_from_slice(text.as_bytes_with_nul());
            }
            list.push(0);
        }
        let start = self.place.0 as *mut u8;
        // SAFETY: both parts fit, see above, and lie side by side. The other side reads only after it is told to.
        unsafe {
            std::ptr::copy_nonoverlapping(list.as_ptr(), start.cast(), words);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), start.add(words * WORD), bytes.len());
        }
        true
    }
}

impl Drop for ArgvMailbox {
    fn drop(&mut self) {
        // SAFETY: the piece belongs to this value alone; the sandbox has its own view of it.
        unsafe { libc::munmap(self.place.0 as *mut _, SIZE) };
    }
}

impl ArgvAddress {
    fn word(self, number: usize) -> usize {
        // SAFETY: words are read only after they were written, and each list ends in a null.
        unsafe { *(self.0 as *const usize).add(number) }
    }

    /// Returns the candidate paths of the program, in order.
    pub(super) fn programs<'p>(self) -> impl Iterator<Item = &'p CStr> {
        let places = (self.word(0)..).map(move |number| self.word(number)).take_while(|place| *place != 0);
        // SAFETY: each is the place of a text in the piece, which ends in 0 and stays until the program runs.
        places.map(|place| unsafe { CStr::from_ptr(place as *const c_char) })
    }

    /// Returns the argument list.
    pub(super) fn arguments(self) -> *const *const c_char {
        (self.0 + self.word(1) * WORD) as *const _
    }

    /// Returns the environment list.
    pub(super) fn environment(self) -> *const *const c_char {
        (self.0 + self.word(2) * WORD) as *const _
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(words: &[&str]) -> Vec<CString> {
        words.iter().map(|word| CString::new(*word).unwrap()).collect()
    }

    #[test]
    fn what_is_written_is_read() {
        let mut mailbox = ArgvMailbox::new().unwrap();
        let rows: [[&[&str]; 3]; 2] =
            [[&["/bin/a", "/b"], &["a", "", "long word"], &["A=", "B=b c"]], [&[], &["x"], &[]]];
        for [programs, arguments, variables] in rows {
            assert!(mailbox.write([&texts(programs), &texts(arguments), &texts(variables)]));
            let place = mailbox.place();
            assert!(place.programs().map(CStr::to_bytes).eq(programs.iter().map(|text| text.as_bytes())));
            for (list, words) in [(place.arguments(), arguments), (place.environment(), variables)] {
                for (number, word) in words.iter().enumerate() {
                    // SAFETY: the list was just written and is as long as its words.
                    let text = unsafe { CStr::from_ptr(*list.add(number)) };
                    assert_eq!(text.to_bytes(), word.as_bytes());
                }
                // SAFETY: as above; a null stands at the end.
                assert!(unsafe { *list.add(words.len()) }.is_null());
            }
        }
    }

    #[test]
    fn arguments_that_are_too_long_are_rejected() {
        let mut mailbox = ArgvMailbox::new().unwrap();
        let long = |length: usize| texts(&["x".repeat(length).as_str()]);
        assert!(!mailbox.write([&[], &long(SIZE), &[]]) && !mailbox.write([&[], &[], &long(SIZE)]));
        assert!(!mailbox.write([&[], &vec![CString::default(); SIZE / WORD], &[]]));
        // Beside the text: where the lists begin, its own place, the end of each list, and the 0 at its end.
        let most = SIZE - (HEAD + 1 + 3) * WORD - 1;
        assert!(mailbox.write([&[], &long(most), &[]]) && !mailbox.write([&[], &long(most + 1), &[]]));
    }
}
