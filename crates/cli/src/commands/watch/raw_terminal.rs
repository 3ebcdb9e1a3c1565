//! A terminal without line editing, on a screen of its own. Both are taken back in any case: at the end, on errors, panics and signals.
#![expect(clippy::disallowed_methods, reason = "changes the mode of the terminal, and reads keys")]

use std::io::{self, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::stdio;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

/// Enters the alternate screen, hides the cursor, and cuts lines at the right edge.
const BEGIN: &str = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l";
const END: &str = "\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l";

/// Size of a terminal that does not tell it.
const USUAL: (usize, usize) = (80, 24);

/// A key that has a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Allow,
    Deny,
    Next,
    Previous,
    Quit,
}

/// The terminal of this process.
pub(super) struct RawTerminal {
    saved: Termios,
    /// Gets a byte for each signal that ends this process.
    signals: UnixStream,
}

impl RawTerminal {
    pub(super) fn open() -> io::Result<Self> {
        let (signals, told) = UnixStream::pair()?;
        for signal in [SIGTERM, SIGINT, SIGHUP, SIGQUIT] {
            signal_hook::low_level::pipe::register(signal, told.try_clone()?)?;
        }
        let saved = tcgetattr(stdio::stdin())?;
        let mut raw = saved.clone();
        raw.make_raw();
        tcsetattr(stdio::stdin(), OptionalActions::Flush, &raw)?;
        let terminal = Self { saved, signals };
        let mut out = io::stdout();
        out.write_all(BEGIN.as_bytes()).and_then(|()| out.flush())?;
        Ok(terminal)
    }

    /// Returns the number of columns and rows.
    pub(super) fn size(&self) -> (usize, usize) {
        match tcgetwinsize(stdio::stdout()) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col.into(), size.ws_row.into()),
            _ => USUAL,
        }
    }

    /// Waits for a key. A signal that ends this process and a closed terminal are the key that quits.
    pub(super) fn key(&self, time: Duration) -> io::Result<Option<Key>> {
        let (input, mut bytes) = (stdio::stdin(), [0_u8; 32]);
        let mut ready = [PollFd::new(&input, PollFlags::IN), PollFd::new(&self.signals, PollFlags::IN)];
        let time = Timespec { tv_sec: 0, tv_nsec: i64::from(time.subsec_nanos()) };
        match poll(&mut ready, Some(&time)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [input_ready, signal] = ready.map(|one| !one.revents().is_empty());
        if signal {
            return Ok(Some(Key::Quit));
        }
        if !input_ready {
            return Ok(None);
        }
        let read = rustix::io::read(input, &mut bytes)?;
        Ok(bytes.get(..read).map_or(Some(Key::Quit), key_of))
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        let mut out = io::stdout();
        out.write_all(END.as_bytes()).and_then(|()| out.flush()).ok();
        tcsetattr(stdio::stdin(), OptionalActions::Flush, &self.saved).ok();
    }
}

/// Returns the key that these bytes are. Of keys that were typed at once, only a single one is meant as an answer.
fn key_of(bytes: &[u8]) -> Option<Key> {
    match bytes {
        // The end of input, Ctrl-C and Ctrl-D.
        [] | [b'q' | 3 | 4] => Some(Key::Quit),
        [b'a'] => Some(Key::Allow),
        [b'd'] => Some(Key::Deny),
        [b'j'] | b"\x1b[B" => Some(Key::Next),
        [b'k'] | b"\x1b[A" => Some(Key::Previous),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read() {
        let rows: &[(&[u8], Option<Key>)] = &[
            (b"", Some(Key::Quit)),
            (b"q", Some(Key::Quit)),
            (b"\x03", Some(Key::Quit)),
            (b"a", Some(Key::Allow)),
            (b"d", Some(Key::Deny)),
            (b"\x1b[A", Some(Key::Previous)),
            // A text that was pasted is no answer.
            (b"aa", None),
            (b"add", None),
            (b"\x1b", None),
            (b"A", None),
        ];
        for (bytes, key) in rows {
            assert_eq!(key_of(bytes), *key, "{bytes:?}");
        }
    }
}
