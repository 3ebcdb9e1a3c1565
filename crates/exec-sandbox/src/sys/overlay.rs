//! A detached read-only overlay of two directories for this program, accessed by a descriptor.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, IntoRawFd as _, OwnedFd, RawFd};

use super::raw::{self, ALL_SIGNALS, Errno, MountAttributes, Result, Side};

/// Maximum length of a descriptor's path in procfs.
const PATH: usize = 32;

/// The prefix of these paths.
const OWN: &[u8] = b"/proc/self/fd/";

/// The mount option for overlays in user namespaces: xattrs in the `user.` namespace.
pub(super) const USERS: (&CStr, &CStr) = (c"userxattr", c"");

/// Returns a read-only overlay of these directories. Without the right to mount, it is created in a new user namespace, which
/// ends when the descriptor is closed.
pub(crate) fn read_view(lower: &CStr, upper: &CStr) -> io::Result<OwnedFd> {
    let error = |errno: Errno| io::Error::from_raw_os_error(errno);
    if let Ok(view) = mounted(lower, upper) {
        return Ok(view);
    }
    let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    let mask = raw::set_signal_mask(ALL_SIGNALS).map_err(error)?;
    let flags = (libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_FILES) as u64;
    // SAFETY: the child makes a few calls, all safe there. What it opens is open here as well.
    let side = unsafe { raw::clone_process(flags) };
    if let Ok(Side::Child) = side {
        let _abort = raw::AbortOnUnwind;
        let (number, errno) = match mounted(lower, upper) {
            Ok(view) => (view.into_raw_fd(), 0),
            Err(errno) => (-1, errno),
        };
        raw::write_words(write.as_raw_fd(), &[number, errno, 0, 0, 0, 0, 0, 0]);
        raw::exit(0);
    }
    raw::set_signal_mask(mask).ok();
    let Side::Parent { pid, .. } = side.map_err(error)? else { return Err(error(libc::EINVAL)) };
    // The child shares the descriptor table, so its result must not be closed before it has ended.
    raw::wait_for(pid).map_err(error)?;
    let mut words = [0u8; 32];
    let is_said = raw::is_readable_within(read.as_raw_fd(), 0);
    let length = if is_said { raw::read(read.as_raw_fd(), &mut words) } else { Err(libc::EIO) };
    let word =
        |at: usize| words.get(at..at + 4).and_then(|word| word.try_into().ok()).map(i32::from_ne_bytes);
    match (length, word(0), word(1)) {
        (Ok(32), Some(number), _) if number >= 0 => {
            // SAFETY: the child opened it in the table that both had, and is gone.
            Ok(unsafe { OwnedFd::from_raw_fd(number) })
        }
        (Ok(32), _, Some(errno)) => Err(error(errno)),
        _ => Err(error(libc::EIO)),
    }
}

/// Creates the overlay in the current namespace. It must not allocate.
fn mounted(lower: &CStr, upper: &CStr) -> Result<OwnedFd> {
    let open = |path| raw::open_path(libc::AT_FDCWD, path, libc::O_PATH | libc::O_DIRECTORY, false);
    let (lower, upper) = (open(lower)?, open(upper)?);
    let mut room = [0; 2 * PATH];
    let layers = layers(&mut room, upper.as_raw_fd(), lower.as_raw_fd()).ok_or(libc::EINVAL)?;
    let attributes = MountAttributes::READ_ONLY
        | MountAttributes::NOSUID
        | MountAttributes::NODEV
        | MountAttributes::NOEXEC;
    raw::new_filesystem(c"overlay", &[(c"lowerdir", layers), USERS], attributes)
}

/// Formats the paths of two descriptors as an option value.
fn layers(room: &mut [u8; 2 * PATH], first: RawFd, second: RawFd) -> Option<&CStr> {
    let mut at = 0;
    for (number, before) in [(first, &b""[..]), (second, b":")] {
        let mut digits = [0; 10];
        let digits = in_digits(u32::try_from(number).ok()?, &mut digits);
        for part in [before, OWN, digits] {
            room.get_mut(at..at + part.len())?.copy_from_slice(part);
            at += part.len();
        }
    }
    CStr::from_bytes_until_nul(room).ok()
}

fn in_digits(mut number: u32, room: &mut [u8; 10]) -> &[u8] {
    let mut at = room.len();
    for place in room.iter_mut().rev() {
        *place = b'0' + (number % 10) as u8;
        number /= 10;
        at -= 1;
        if number == 0 {
            break;
        }
    }
    room.get(at..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_paths() {
        let mut room = [0; 2 * PATH];
        assert_eq!(layers(&mut room, 7, 1_024), Some(c"/proc/self/fd/7:/proc/self/fd/1024"));
        let mut room = [0; 2 * PATH];
        assert_eq!(layers(&mut room, i32::MAX, 0), Some(c"/proc/self/fd/2147483647:/proc/self/fd/0"));
        assert_eq!(layers(&mut room, -1, 0), None);
    }
}
