//! The frames of a websocket (RFC 6455), read as they arrive.

/// Maximum length of the payload of a control frame.
const MAX_CONTROL: u64 = 125;

/// The kind of a frame in its header: a part of a message, or a control frame.
const CONTINUATION: u8 = 0;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PONG: u8 = 10;

/// A reader of one direction of a websocket without extensions.
#[derive(Debug)]
pub(super) struct FrameReader {
    /// Whether its frames are masked, as those of clients are.
    is_masked: bool,
    /// The beginning of a header.
    head: Vec<u8>,
    frame: Option<Frame>,
    /// Whether a message has begun whose last frame is still to come.
    is_in_message: bool,
}

/// A frame, behind its header.
#[derive(Debug, Clone, Copy)]
struct Frame {
    left: u64,
    mask: [u8; 4],
    /// The position of the next byte in the mask.
    at: usize,
    is_control: bool,
    ends_message: bool,
}

/// A step of reading: each frame is one header, its payload in any number of parts, and one end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FrameEvent {
    /// The header is complete; these are its bytes as they came.
    Head { head: Vec<u8>, is_control: bool },
    /// A part of the payload, without its mask.
    Payload { plain: Vec<u8>, is_control: bool },
    /// A frame is complete.
    End { is_control: bool, ends_message: bool },
}

impl FrameReader {
    pub(super) const fn new(is_masked: bool) -> Self {
        Self { is_masked, head: Vec::new(), frame: None, is_in_message: false }
    }

    /// Reads the next event at the beginning of these bytes, and takes what belongs to it; nothing if more have to come.
    ///
    /// # Errors
    /// With the reason, when the bytes are not frames, or have an extension.
    pub(super) fn next(&mut self, bytes: &mut &[u8]) -> Result<Option<FrameEvent>, &'static str> {
        let Some(frame) = &mut self.frame else { return self.read_head(bytes) };
        if frame.left == 0 {
            let Frame { is_control, ends_message, .. } = *frame;
            self.frame = None;
            return Ok(Some(FrameEvent::End { is_control, ends_message }));
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        let length = usize::try_from(frame.left).unwrap_or(usize::MAX).min(bytes.len());
        let (payload, rest) = bytes.split_at_checked(length).unwrap_or((bytes, &[]));
        *bytes = rest;
        let mut plain = payload.to_vec();
        if self.is_masked {
            let mask = frame.mask.iter().cycle().skip(frame.at);
            plain.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
        }
        frame.at = (frame.at + length) % frame.mask.len();
        frame.left -= length as u64;
        Ok(Some(FrameEvent::Payload { plain, is_control: frame.is_control }))
    }

    fn read_head(&mut self, bytes: &mut &[u8]) -> Result<Option<FrameEvent>, &'static str> {
        loop {
            let wanted = self.length_of_head()?;
            let missing = wanted.saturating_sub(self.head.len());
            if missing == 0 {
                break;
            }
            if bytes.is_empty() {
                return Ok(None);
            }
            let (taken, rest) = bytes.split_at_checked(missing).unwrap_or((bytes, &[]));
            self.head.extend_from_slice(taken);
            *bytes = rest;
        }
        let head = std::mem::take(&mut self.head);
        let frame = self.frame_of(&head)?;
        self.frame = Some(frame);
        Ok(Some(FrameEvent::Head { head, is_control: frame.is_control }))
    }

    /// Returns the length of the header that has begun, as far as it is known.
    fn length_of_head(&self) -> Result<usize, &'static str> {
        let Some(second) = self.head.get(1) else { return Ok(2) };
        if (second & 0x80 != 0) != self.is_masked {
            return Err("has a frame with the mask of the other side");
        }
        let of_length = match second & 0x7f {
            126 => 2,
            127 => 8,
            _ => 0,
        };
        Ok(2 + of_length + if self.is_masked { 4 } else { 0 })
    }

    fn frame_of(&mut self, head: &[u8]) -> Result<Frame, &'static str> {
        let (first, second) = (head.first().copied().unwrap_or(0), head.get(1).copied().unwrap_or(0));
        let (is_last, code) = (first & 0x80 != 0, first & 0x0f);
        if first & 0x70 != 0 {
            return Err("has a frame of an extension, which was not offered");
        }
        let is_control = (CLOSE..=PONG).contains(&code);
        let (length, behind) = match second & 0x7f {
            126 => (head.get(2..4), 4),
            127 => (head.get(2..10), 10),
            short => (None, if short > 125 { 0 } else { 2 }),
        };
        let left = match length {
            None => u64::from(second & 0x7f),
            Some(bytes) => bytes.iter().fold(0_u64, |sum, byte| (sum << 8) | u64::from(*byte)),
        };
        match code {
            CONTINUATION if self.is_in_message => {}
            TEXT | BINARY if !self.is_in_message => {}
            _ if is_control && is_last && left <= MAX_CONTROL => {}
            _ => return Err("has a frame that does not belong there"),
        }
        if !is_control {
            self.is_in_message = !is_last;
        }
        let mask = head.get(behind..).and_then(|mask| mask.try_into().ok()).unwrap_or_default();
        Ok(Frame { left, mask, at: 0, is_control, ends_message: is_last && !is_control })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a frame.
    pub(in super::super) fn frame(first: u8, mask: Option<[u8; 4]>, payload: &[u8]) -> Vec<u8> {
        let masked = if mask.is_some() { 0x80 } else { 0 };
        let mut bytes = vec![first];
        match payload.len() {
            short @ 0..126 => bytes.push(masked | u8::try_from(short).unwrap()),
            middle @ 126..65_536 => {
                bytes.push(masked | 126);
                bytes.extend_from_slice(&u16::try_from(middle).unwrap().to_be_bytes());
            }
            long => {
                bytes.push(masked | 127);
                bytes.extend_from_slice(&(long as u64).to_be_bytes());
            }
        }
        bytes.extend_from_slice(&mask.unwrap_or_default()[..if mask.is_some() { 4 } else { 0 }]);
        let key = mask.unwrap_or_default();
        bytes.extend(payload.iter().zip(key.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        bytes
    }

    /// Reads bytes in pieces: the payloads of messages and of control frames, each closed by a bar.
    fn read(is_masked: bool, bytes: &[u8], piece: usize) -> Result<String, &'static str> {
        let mut reader = FrameReader::new(is_masked);
        let (mut messages, mut controls, mut carried) = (Vec::new(), Vec::new(), 0);
        for mut piece in bytes.chunks(piece) {
            while let Some(event) = reader.next(&mut piece)? {
                match event {
                    FrameEvent::Head { head, .. } => carried += head.len(),
                    FrameEvent::Payload { plain, is_control } => {
                        carried += plain.len();
                        if is_control { controls.extend(plain) } else { messages.extend(plain) }
                    }
                    FrameEvent::End { is_control: true, .. } => controls.push(b'|'),
                    FrameEvent::End { ends_message: true, .. } => messages.push(b'|'),
                    FrameEvent::End { .. } => {}
                }
            }
            assert!(piece.is_empty(), "bytes are left");
        }
        assert_eq!(carried, bytes.len());
        Ok(String::from_utf8([messages, controls].concat()).unwrap())
    }

    #[test]
    fn messages_are_read_in_whatever_pieces() {
        for mask in [None, Some([1, 2, 3, 4])] {
            let long = vec![b'x'; 70_000];
            let bytes = [
                frame(0x01, mask, b"he"),
                frame(0x89, mask, b"ping"),
                frame(0x00, mask, b""),
                frame(0x80, mask, b"llo"),
                frame(0x82, mask, &long[..300]),
                frame(0x81, mask, &long),
                frame(0x88, mask, b""),
            ]
            .concat();
            let expected = format!("hello|{}|{}|ping||", "x".repeat(300), "x".repeat(70_000));
            for piece in [1, 2, 3, 7, 1000, 1 << 20] {
                assert_eq!(read(mask.is_some(), &bytes, piece).as_deref(), Ok(expected.as_str()), "{piece}");
            }
        }
    }

    #[test]
    fn what_is_not_a_frame_is_refused() {
        let mask = Some([0; 4]);
        for (bytes, is_masked) in [
            (frame(0xc1, None, b"deflated"), false),
            (frame(0x81, mask, b"masked"), false),
            (frame(0x81, None, b"plain"), true),
            (frame(0x80, None, b"nothing to continue"), false),
            ([frame(0x01, None, b"a"), frame(0x01, None, b"b")].concat(), false),
            (frame(0x83, None, b"unknown"), false),
            (frame(0x8b, None, b"unknown"), false),
            (frame(0x09, None, b"in parts"), false),
            (frame(0x89, None, &[0; 126]), false),
        ] {
            assert!(read(is_masked, &bytes, 5).is_err(), "{bytes:?}");
        }
    }
}
