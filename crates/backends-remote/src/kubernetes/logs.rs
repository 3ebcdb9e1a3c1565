//! What a command prints, as the node writes it down: a stamp of time before each line. By the stamps, a stream that broke off
//! goes on where it was, without a byte twice or too few.

#![expect(clippy::disallowed_methods, reason = "reads on a thread of its own")]

use std::io::Read as _;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use super::KubernetesError;
use super::client::ClusterClient;
use crate::remote::broken;

/// How much is read at once.
const CHUNK: usize = 32 << 10;
/// How many pieces wait to be handed on. The reader of more waits.
const WAITING: usize = 4;
/// The longest stamp: `2026-11-25T16:00:00.123456789+00:00`.
const MAX_STAMP: usize = 40;

/// A stream of what is printed, which is read on another thread, so that a command that prints nothing delays no caller.
pub(super) struct LogStream(Receiver<Piece>);

/// A piece of a stream.
#[derive(Debug)]
pub(super) enum Piece {
    /// What is printed, with stamps.
    Bytes(Vec<u8>),
    /// The stream ended, in order or not.
    End(Result<(), KubernetesError>),
    /// Nothing came in this time.
    Nothing,
}

impl LogStream {
    /// Begins to read, for this time at most.
    pub(super) fn open(
        client: &ClusterClient,
        namespace: &str,
        pod: &str,
        since: Option<String>,
        time: Duration,
    ) -> Self {
        let (send, receive) = sync_channel(WAITING);
        let (client, namespace, pod) = (client.clone(), namespace.to_owned(), pod.to_owned());
        std::thread::spawn(move || {
            let end = client.log(&namespace, &pod, since.as_deref(), time).and_then(|mut stream| {
                let mut chunk = vec![0; CHUNK];
                loop {
                    let count = stream.read(&mut chunk).map_err(broken)?;
                    let piece = chunk.get(..count).unwrap_or_default().to_vec();
                    // The receiver is gone.
                    if count == 0 || send.send(Piece::Bytes(piece)).is_err() {
                        return Ok(());
                    }
                }
            });
            send.send(Piece::End(end)).ok();
        });
        Self(receive)
    }

    /// Waits for the next piece, for this time at most.
    pub(super) fn next(&self, time: Duration) -> Piece {
        match self.0.recv_timeout(time) {
            Ok(piece) => piece,
            Err(RecvTimeoutError::Timeout) => Piece::Nothing,
            Err(RecvTimeoutError::Disconnected) => {
                Piece::End(Err(KubernetesError::Away("reading its output ended".to_owned())))
            }
        }
    }
}

/// How far a log was handed on, and what is read of it.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// The stamp of the line that was handed on last, or of which a part was.
    at: String,
    /// How many lines with this stamp were handed on whole.
    lines: u64,
    /// How many bytes of the line after them.
    part: u64,
    /// What is to be passed over, until something new comes.
    catching_up: Option<CatchUp>,
    state: State,
}

/// What was handed on by an earlier stream.
#[derive(Debug, Clone)]
struct CatchUp {
    at: String,
    lines: u64,
    part: u64,
    /// How many lines with the same stamp came in this stream.
    met: u64,
}

/// Where in a line the reader is.
#[derive(Debug)]
enum State {
    /// In the stamp, of which this is read.
    Stamp(Vec<u8>),
    /// In a line that is handed on, from its start or behind so many bytes.
    Line { pass_over: u64 },
    /// In a line that was handed on before.
    Known,
}

impl Default for State {
    fn default() -> Self {
        Self::Stamp(Vec::new())
    }
}

impl Log {
    /// Gets ready for another stream, and returns the moment from which that is to begin.
    pub(super) fn begin(&mut self) -> Option<String> {
        self.state = State::default();
        if self.at.is_empty() {
            return None;
        }
        self.catching_up = Some(CatchUp { at: self.at.clone(), lines: self.lines, part: self.part, met: 0 });
        // Servers take whole seconds.
        let (second, rest) = self.at.split_at_checked(19)?;
        let zone = rest.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
        Some(format!("{second}{zone}"))
    }

    /// Takes a piece of a stream, and hands on what is new in it.
    pub(super) fn take(&mut self, mut piece: &[u8], print: &mut dyn FnMut(&[u8])) {
        while !piece.is_empty() {
            piece = match &mut self.state {
                State::Stamp(stamp) => {
                    let end = piece.iter().position(|byte| matches!(byte, b' ' | b'\n'));
                    let (more, rest) = piece.split_at(end.unwrap_or(piece.len()));
                    stamp.extend_from_slice(more);
                    if end.is_some() || stamp.len() > MAX_STAMP {
                        let stamp = std::mem::take(stamp);
                        self.begin_line(&stamp, rest, print)
                    } else {
                        rest
                    }
                }
                State::Line { .. } | State::Known => self.line(piece, print),
            };
        }
    }

    /// Decides by its timestamp whether a line is new. A line without a timestamp is printed unchanged.
    fn begin_line<'p>(&mut self, stamp: &[u8], rest: &'p [u8], print: &mut dyn FnMut(&[u8])) -> &'p [u8] {
        let text =
            std::str::from_utf8(stamp).ok().filter(|stamp| is_stamp(stamp) && rest.first() == Some(&b' '));
        let Some(text) = text.map(str::to_owned) else {
            print(stamp);
            self.state = State::Line { pass_over: 0 };
            return rest;
        };
        let rest = rest.get(1..).unwrap_or_default();
        self.state = match &mut self.catching_up {
            Some(known) if moment(&text) < moment(&known.at) => State::Known,
            Some(known) if text == known.at && known.met < known.lines => {
                known.met += 1;
                State::Known
            }
            Some(known) if text == known.at && known.part > 0 => State::Line { pass_over: known.part },
            _ => State::Line { pass_over: 0 },
        };
        if let State::Line { pass_over } = self.state {
            self.catching_up = None;
            if self.at != text {
                (self.at, self.lines) = (text, 0);
            }
            self.part = pass_over;
        }
        rest
    }

    fn line<'p>(&mut self, piece: &'p [u8], print: &mut dyn FnMut(&[u8])) -> &'p [u8] {
        let end = piece.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
        let (mut line, rest) = piece.split_at(end.unwrap_or(piece.len()));
        if let State::Line { pass_over } = &mut self.state {
            let known = usize::try_from(*pass_over).unwrap_or(usize::MAX).min(line.len());
            *pass_over -= known as u64;
            line = line.get(known..).unwrap_or_default();
            self.part += line.len() as u64;
            if !line.is_empty() {
                print(line);
            }
            if end.is_some() {
                self.lines += 1;
                self.part = 0;
            }
        }
        if end.is_some() {
            self.state = State::default();
        }
        rest
    }
}

fn is_stamp(text: &str) -> bool {
    let digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    text.len() >= 20 && digit(0) && digit(18) && text.as_bytes().get(10) == Some(&b'T')
}

/// A stamp in parts that can be compared: the second, and what is behind its point.
fn moment(stamp: &str) -> (&str, String) {
    let (second, rest) = stamp.split_at_checked(19).unwrap_or((stamp, ""));
    let fraction: String =
        rest.strip_prefix('.').unwrap_or_default().chars().take_while(char::is_ascii_digit).collect();
    (second, format!("{fraction:0<9}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What a node has written down: lines with stamps, several of which may be the same.
    fn written(lines: &[(u32, String)]) -> (Vec<u8>, Vec<u8>) {
        let (mut log, mut printed) = (Vec::new(), Vec::new());
        let mut lines = lines.to_vec();
        lines.sort_by_key(|line| line.0);
        for (moment, text) in lines {
            let stamp = format!("2026-11-25T16:00:{:02}.{:09}Z", moment / 10, (moment % 10) * 100);
            log.extend(format!("{stamp} {text}\n").as_bytes());
            printed.extend(format!("{text}\n").as_bytes());
        }
        (log, printed)
    }

    /// What a server sends from a moment on.
    fn since<'l>(log: &'l [u8], since: Option<&str>) -> &'l [u8] {
        let Some(since) = since.and_then(|since| since.get(..19)) else { return log };
        let mut at = 0;
        for line in log.split_inclusive(|byte| *byte == b'\n') {
            if &line[..19] >= since.as_bytes() {
                break;
            }
            at += line.len();
        }
        &log[at..]
    }

    proptest! {
        #[test]
        fn an_interrupted_log_stream_is_resumed_at_any_position(
            lines in proptest::collection::vec((0_u32..30, "[a-z \\u{e4}]{0,12}"), 0..12),
            cuts in proptest::collection::vec((0_usize..400, 1_usize..9), 0..6),
        ) {
            let (log, printed) = written(&lines);
            let (mut reader, mut out) = (Log::default(), Vec::new());
            for (cut, chunk) in cuts.into_iter().chain([(usize::MAX, 7)]) {
                let from = reader.begin();
                let sent = since(&log, from.as_deref());
                for piece in sent[..cut.min(sent.len())].chunks(chunk) {
                    reader.take(piece, &mut |bytes| out.extend_from_slice(bytes));
                }
            }
            prop_assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(&printed));
        }

        #[test]
        fn whatever_a_server_sends_has_an_answer(pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..60), 0..6)) {
            let mut reader = Log::default();
            let mut count = 0;
            for piece in &pieces {
                reader.begin();
                reader.take(piece, &mut |bytes| count += bytes.len());
            }
            prop_assert!(count <= pieces.iter().map(Vec::len).sum());
        }
    }

    #[test]
    fn log_lines_without_a_timestamp_pass_unchanged() {
        let (mut reader, mut out) = (Log::default(), Vec::new());
        reader.take(b"no stamp\n\n2026-11-25T16:00:00Z yes\n", &mut |bytes| out.extend_from_slice(bytes));
        assert_eq!(String::from_utf8(out).unwrap(), "no stamp\n\nyes\n");
    }
}
