//! Parser of server-sent events, as the HTML standard defines them: bytes in, events out.

use std::time::Duration;

/// One event: everything up to an empty line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    /// Its type, `message` by default.
    pub(super) name: String,
    pub(super) data: String,
}

/// Incremental parser of a stream.
#[derive(Debug, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    name: String,
    data: String,
    has_data: bool,
    /// Whether the last chunk ended with a carriage return, so that a following line feed does not end another line.
    is_after_return: bool,
    is_begun: bool,
    /// The id of the last event with one, from which the stream is resumed.
    pub(super) last_id: Option<String>,
    /// The delay before reconnecting, if the server sets one.
    pub(super) retry: Option<Duration>,
}

/// A line or an event exceeds its limit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// Maximum length of an event id, which is sent back in a header.
const MAX_ID: usize = 1024;

impl Events {
    /// Starts parsing another stream, which continues the previous one.
    pub(super) fn again(self) -> Self {
        Self { last_id: self.last_id, retry: self.retry, ..Self::default() }
    }

    /// Parses a chunk, and passes on each complete event. `max` limits a line and the data of an event.
    pub(super) fn read(
        &mut self,
        piece: &[u8],
        max: usize,
        mut take: impl FnMut(Event),
    ) -> Result<(), TooLong> {
        for byte in piece {
            let is_second = self.is_after_return && *byte == b'\n';
            self.is_after_return = *byte == b'\r';
            match byte {
                _ if is_second => {}
                b'\r' | b'\n' => {
                    let line = std::mem::take(&mut self.line);
                    let text = String::from_utf8_lossy(&line);
                    let text =
                        if self.is_begun { &*text } else { text.strip_prefix('\u{feff}').unwrap_or(&text) };
                    self.is_begun = true;
                    if let Some(event) = self.end_of_line(text, max)? {
                        take(event);
                    }
                }
                _ if self.line.len() > max => return Err(TooLong),
                byte => self.line.push(*byte),
            }
        }
        Ok(())
    }

    fn end_of_line(&mut self, line: &str, max: usize) -> Result<Option<Event>, TooLong> {
        if line.is_empty() {
            let (name, data) = (std::mem::take(&mut self.name), std::mem::take(&mut self.data));
            let name = if name.is_empty() { "message".to_owned() } else { name };
            return Ok(std::mem::take(&mut self.has_data).then_some(Event { name, data }));
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" => {
                if self.data.len().saturating_add(value.len()) > max {
                    return Err(TooLong);
                }
                if self.has_data {
                    self.data.push('\n');
                }
                self.data.push_str(value);
                self.has_data = true;
            }
            "id" if value.len() <= MAX_ID && value.bytes().all(|byte| (b' '..=b'~').contains(&byte)) => {
                self.last_id = (!value.is_empty()).then(|| value.to_owned());
            }
            "retry" if value.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.retry = value.parse().ok().map(Duration::from_millis);
            }
            _ => {}
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn event(name: &str, data: &str) -> Event {
        Event { name: name.to_owned(), data: data.to_owned() }
    }

    fn all(stream: &[u8], pieces: usize) -> (Vec<Event>, Events) {
        let (mut events, mut found) = (Events::default(), Vec::new());
        for piece in stream.chunks(pieces.max(1)) {
            events.read(piece, 1000, |event| found.push(event)).unwrap();
        }
        (found, events)
    }

    #[test]
    fn events_are_read_as_browsers_do() {
        let stream = "\u{feff}: a note\r\ndata: {\"a\":1}\r\n\r\nevent: other\rdata\r\rid: 7\nretry: 1500\ndata:x\ndata: y\n\n\
                      id: a\u{0}b\nid: é\nretry: soon\nnonsense: 1\n\ndata: not ended";
        for pieces in [1, 2, 7, 10_000] {
            let (found, events) = all(stream.as_bytes(), pieces);
            assert_eq!(found, [event("message", "{\"a\":1}"), event("other", ""), event("message", "x\ny")]);
            assert_eq!(
                (events.last_id.as_deref(), events.retry),
                (Some("7"), Some(Duration::from_millis(1500)))
            );
        }
    }

    #[test]
    fn lines_and_events_have_a_maximum_length() {
        let mut events = Events::default();
        let endless = std::iter::repeat_n(b'x', 2000).collect::<Vec<_>>();
        assert_eq!(events.read(&endless, 1000, |_| ()), Err(TooLong));
        let many = "data: 0123456789\n".repeat(200);
        assert_eq!(Events::default().read(many.as_bytes(), 1000, |_| ()), Err(TooLong));
    }

    proptest! {
        /// Chunk boundaries have no effect.
        #[test]
        fn event_streams_are_parsed_alike_in_any_pieces(stream in "(data: [a-z]{0,3}|id:1|event: e|:|\r\n|\n|\r){0,20}", pieces in 1..9_usize) {
            let (found, _) = all(stream.as_bytes(), pieces);
            prop_assert_eq!(found, all(stream.as_bytes(), 10_000).0);
        }
    }
}
