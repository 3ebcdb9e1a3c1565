//! What a sandbox is told that was made before anybody knew what it would run.
//!
//! It is a piece of memory that this program and one sandbox share, at the same place in both. So what is written here is the
//! lists that `execve` wants, and nothing has to be copied or understood on the other side. It is gone from the command's
//! memory when that begins to run, as all memory is.

use std::ffi::{CStr, CString, c_char};
use std::io;

/// Longer commands start in a sandbox that is made for them.
const SIZE: usize = 256 << 10;

const WORD: usize = size_of::<usize>();

/// How many words say where the lists begin.
const HEAD: usize = 3;

/// The piece of memory, as this program holds it.
pub(crate) struct ArgvMailbox {
    place: ArgvAddress,
}

/// Where the shared piece lies, the same in both processes.
#[derive(Clone, Copy)]
pub(crate) struct ArgvAddress(usize);

impl ArgvMailbox {
    /// Takes one, in which nothing stands.
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

    /// Keeps it from every process that is made from now on: the sandbox that it is for has been made.
    pub(crate) fn share_no_more(&self) -> io::Result<()> {
        // SAFETY: the piece belongs to this value alone, and nothing about it changes in this process.
        let result = unsafe { libc::madvise(self.place.0 as *mut _, SIZE, libc::MADV_DONTFORK) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Writes where the program may be, its arguments and its variables. Says whether there was room.
    pub(crate) fn write(&mut self, lists: [&[CString]; 3]) -> bool {
        let words = HEAD + lists.iter().map(|list| list.len() + 1).sum::<usize>();
        let all = lists.iter().copied().flatten();
        let texts: usize = all.map(|text| text.as_bytes_with_nul().len()).sum();
        if words.saturating_mul(WORD).saturating_add(texts) > SIZE {
            return false;
        }
        // First the number of the word with which each list begins; then the lists, each with a null at its end.
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

    /// Where the program may be, in the mailbox in which to try.
    pub(super) fn programs<'p>(self) -> impl Iterator<Item = &'p CStr> {
        let places = (self.word(0)..).map(move |number| self.word(number)).take_while(|place| *place != 0);
        // SAFETY: each is the place of a text in the piece, which ends in 0 and stays until the program runs.
        places.map(|place| unsafe { CStr::from_ptr(place as *const c_char) })
    }

    /// The list of arguments.
    pub(super) fn arguments(self) -> *const *const c_char {
        (self.0 + self.word(1) * WORD) as *const _
    }

    /// The list of variables.
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
    fn what_is_too_long_is_not_written() {
        let mut mailbox = ArgvMailbox::new().unwrap();
        let long = |length: usize| texts(&["x".repeat(length).as_str()]);
        assert!(!mailbox.write([&[], &long(SIZE), &[]]) && !mailbox.write([&[], &[], &long(SIZE)]));
        assert!(!mailbox.write([&[], &vec![CString::default(); SIZE / WORD], &[]]));
        // Beside the text: where the lists begin, its own place, the end of each list, and the 0 at its end.
        let most = SIZE - (HEAD + 1 + 3) * WORD - 1;
        assert!(mailbox.write([&[], &long(most), &[]]) && !mailbox.write([&[], &long(most + 1), &[]]));
    }
}
