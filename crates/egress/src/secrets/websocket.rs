//! Messages of websockets: secrets are taken out of those of a host, and looked for in those of a command.

use std::collections::VecDeque;
use std::sync::Arc;

use hyper::http::HeaderMap;

use super::super::broker::inspect::RewriteRefusal;
use super::super::websocket_frames::{FrameEvent, FrameReader};
use super::scrub::{Pieces, ScrubbedStream, Scrubber, Watched, unreadable};

/// Frames of a host, whose messages are scrubbed. Their lengths stay, so that their headers do.
///
/// All messages are one text: a secret that is sent in parts is found across frames and messages.
#[derive(Debug)]
pub(super) struct ScrubbedFrames {
    frames: FrameReader,
    messages: ScrubbedStream,
    scrubber: Arc<Scrubber>,
    /// Headers and control frames, and the number of bytes of messages that precede each.
    waiting: VecDeque<(u64, Vec<u8>)>,
    /// Numbers of bytes of messages that came, and that were passed on.
    came: u64,
    gone: u64,
    /// The beginning of a control frame, whose payload is at most 125 bytes long.
    control: Vec<u8>,
    /// The length of the header of the control frame.
    of_head: usize,
}

impl ScrubbedFrames {
    pub(super) fn new(scrubber: &Arc<Scrubber>) -> Self {
        Self {
            frames: FrameReader::new(false),
            messages: ScrubbedStream::new(Arc::clone(scrubber)),
            scrubber: Arc::clone(scrubber),
            waiting: VecDeque::new(),
            came: 0,
            gone: 0,
            control: Vec::new(),
            of_head: 0,
        }
    }

    fn take(&mut self, event: FrameEvent, out: &mut Vec<u8>) {
        let mut passed = Vec::new();
        match event {
            FrameEvent::Head { head, is_control: true } => {
                self.of_head = head.len();
                self.control = head;
            }
            FrameEvent::Head { head, is_control: false } => self.waiting.push_back((self.came, head)),
            FrameEvent::Payload { plain, is_control: true } => self.control.extend(plain),
            FrameEvent::Payload { plain, is_control: false } => {
                self.came += plain.len() as u64;
                self.messages.push(&plain, &mut passed);
            }
            FrameEvent::End { is_control: true, .. } => {
                let mut control = std::mem::take(&mut self.control);
                self.scrubber.whole(control.get_mut(self.of_head..).unwrap_or_default());
                self.waiting.push_back((self.came, control));
            }
            // The other side may wait for a whole message before it sends anything.
            FrameEvent::End { ends_message: true, .. } => self.messages.finish(&mut passed),
            FrameEvent::End { .. } => {}
        }
        self.pass(&passed, out);
    }

    /// Appends bytes of messages, and what belongs between them.
    fn pass(&mut self, mut passed: &[u8], out: &mut Vec<u8>) {
        while let Some((at, _)) = self.waiting.front() {
            let before = usize::try_from(at - self.gone).unwrap_or(usize::MAX);
            let Some((first, rest)) = passed.split_at_checked(before) else { break };
            out.extend_from_slice(first);
            self.gone += first.len() as u64;
            passed = rest;
            out.extend(self.waiting.pop_front().into_iter().flat_map(|(_, bytes)| bytes));
        }
        out.extend_from_slice(passed);
        self.gone += passed.len() as u64;
    }
}

impl Pieces for ScrubbedFrames {
    fn push(&mut self, mut piece: &[u8], out: &mut Vec<u8>) -> Result<(), RewriteRefusal> {
        let wrong = |why: &str| unreadable(&format!("the websocket {why}"));
        while let Some(event) = self.frames.next(&mut piece).map_err(wrong)? {
            self.take(event, out);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<u8>) -> Result<(), RewriteRefusal> {
        let mut passed = Vec::new();
        self.messages.finish(&mut passed);
        self.pass(&passed, out);
        Ok(())
    }

    fn trailers(&mut self, _trailers: &mut HeaderMap) -> Result<(), RewriteRefusal> {
        Ok(())
    }
}

/// Frames of a command, whose messages are judged before they are passed on.
#[derive(Debug)]
pub(super) struct WatchedFrames {
    /// Absent once frames cannot be read: they are those of an extension, or of another protocol.
    frames: Option<FrameReader>,
    messages: Watched,
    /// Whether the host receives a secret. Its frames have no extension, and have to be readable.
    is_bound: bool,
}

impl WatchedFrames {
    pub(super) const fn new(messages: Watched, is_bound: bool) -> Self {
        Self { frames: Some(FrameReader::new(true)), messages, is_bound }
    }
}

impl Pieces for WatchedFrames {
    fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), RewriteRefusal> {
        let mut rest = piece;
        while let Some(frames) = &mut self.frames {
            match frames.next(&mut rest) {
                Ok(Some(FrameEvent::Payload { plain, .. })) => {
                    self.messages.push(&plain, &mut Vec::new())?;
                }
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(why) if self.is_bound => {
                    return Err(unreadable(&format!("the websocket of the command {why}")));
                }
                Err(_) => self.frames = None,
            }
        }
        out.extend_from_slice(piece);
        Ok(())
    }

    fn end(&mut self, _out: &mut Vec<u8>) -> Result<(), RewriteRefusal> {
        Ok(())
    }

    fn trailers(&mut self, _trailers: &mut HeaderMap) -> Result<(), RewriteRefusal> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::websocket_frames::tests::frame;
    use super::*;

    const REAL: &str = "ghp_q7Zk2Vb9Lm4Wt8Rj3Hd6Xc1Nf5Ps0Gy2Ka";
    const PLACEHOLDER: &str = "ghp_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

    fn scrubber() -> Arc<Scrubber> {
        Arc::new(Scrubber::new(&[(REAL.as_bytes(), PLACEHOLDER)]).unwrap())
    }

    /// Sends bytes through in pieces, with what had come out behind each.
    fn through(frames: &mut ScrubbedFrames, bytes: &[u8], piece: usize) -> (Vec<u8>, Vec<usize>) {
        let (mut out, mut lengths) = (Vec::new(), Vec::new());
        for piece in bytes.chunks(piece) {
            frames.push(piece, &mut out).unwrap();
            lengths.push(out.len());
        }
        (out, lengths)
    }

    /// Returns all payloads of messages behind each other.
    fn payloads(mut bytes: &[u8]) -> Vec<u8> {
        let (mut reader, mut all) = (FrameReader::new(false), Vec::new());
        while let Some(event) = reader.next(&mut bytes).unwrap() {
            if let FrameEvent::Payload { plain, is_control: false } = event {
                all.extend(plain);
            }
        }
        all
    }

    proptest! {
        /// However a message is divided into frames and pieces, its frames stay, no window of the secret passes, and a complete
        /// message is passed on at once.
        #[test]
        fn a_secret_in_any_frames_is_scrubbed(
            before in "[a-z ]{0,12}",
            cuts in prop::collection::vec(0_usize..60, 0..6),
            piece in 1_usize..40,
            has_ping in any::<bool>(),
        ) {
            let message = format!("{before}{REAL}, done");
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(message.len())).collect();
            cuts.push(message.len());
            cuts.sort_unstable();
            let (mut bytes, mut from) = (Vec::new(), 0);
            for (number, to) in cuts.iter().enumerate() {
                let is_last = number + 1 == cuts.len();
                let code = u8::from(number == 0) | if is_last { 0x80 } else { 0 };
                bytes.extend(frame(code, None, &message.as_bytes()[from..*to]));
                if has_ping && !is_last {
                    bytes.extend(frame(0x89, None, REAL.as_bytes()));
                }
                from = *to;
            }
            let mut frames = ScrubbedFrames::new(&scrubber());
            let (out, _) = through(&mut frames, &bytes, piece);
            prop_assert_eq!(out.len(), bytes.len());
            let text = payloads(&out);
            prop_assert!(scrubber().first(&text).is_none(), "{}", String::from_utf8_lossy(&text));
            prop_assert!(text.starts_with(before.as_bytes()) && text.ends_with(b", done"));
            prop_assert!(scrubber().first(&out).is_none());
        }
    }

    #[test]
    fn each_message_arrives_before_the_next() {
        let mut frames = ScrubbedFrames::new(&scrubber());
        for message in
            [&b"hello"[..], b"", &[0; 300], &REAL.as_bytes()[..20], REAL.as_bytes(), b"ghp_q7Zk2Vb"]
        {
            let bytes = frame(0x82, None, message);
            let (out, _) = through(&mut frames, &bytes, 1);
            assert_eq!(out.len(), bytes.len(), "{message:?}");
            assert!(scrubber().first(&out).is_none());
        }
        // A secret in two messages is one secret.
        let (first, second) = REAL.as_bytes().split_at(18);
        let out = [first, second].map(|part| through(&mut frames, &frame(0x81, None, part), 9).0).concat();
        let text = payloads(&out);
        assert!(
            text.ends_with(b"AAAA") && scrubber().first(&text).is_none(),
            "{}",
            String::from_utf8_lossy(&text)
        );
    }

    #[test]
    fn what_cannot_be_read_of_a_host_is_refused() {
        for bytes in [frame(0xc1, None, b"deflated"), frame(0x81, Some([1; 4]), b"masked")] {
            let mut frames = ScrubbedFrames::new(&scrubber());
            let refused = frames.push(&bytes, &mut Vec::new()).unwrap_err();
            assert_eq!(refused.rule, "secret-unreadable");
        }
    }
}
