//! Requests of a browser: bytes in, what is wanted or why it is refused out. Everything that this page's own links and forms do not
//! send is refused.

use std::str;

use stockade_state::questions::QuestionAnswer;

use super::page::Notice;

/// Maximum size of a request in bytes.
pub(super) const MAX_REQUEST: usize = 16 << 10;

/// Maximum size of the content of a form in bytes.
const MAX_BODY: usize = 256;

/// Maximum number of header fields.
const MAX_FIELDS: usize = 64;

/// A request for the page or with an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request<'r> {
    method: &'r str,
    target: &'r str,
    host: &'r str,
    origin: Option<&'r str>,
    body: &'r str,
}

/// What a request wants.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Page(Option<Notice>),
    Answer { question: String, answer: QuestionAnswer },
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// It is not one that this page's links and forms send.
    Invalid,
    /// Another name than that of this machine may belong to an attacker's page (DNS rebinding).
    Host,
    Token,
    /// The form belongs to another page.
    Origin,
    Path,
    Method,
}

impl<'r> Request<'r> {
    /// Whether all bytes of a request have arrived, or it is invalid anyway.
    pub(super) fn is_whole(bytes: &[u8]) -> bool {
        let Some((head, body)) = split(bytes) else { return false };
        let length = str::from_utf8(head).ok().map(|head| body_length(&fields(head)));
        length.is_none_or(|length| length.is_none_or(|length| body.len() >= length))
    }

    /// Parses a request.
    pub(super) fn parse(bytes: &'r [u8]) -> Result<Self, Refused> {
        if bytes.len() > MAX_REQUEST {
            return Err(Refused::Invalid);
        }
        let (head, body) = split(bytes).ok_or(Refused::Invalid)?;
        let head = str::from_utf8(head).map_err(|_| Refused::Invalid)?;
        let first = head.lines().next().unwrap_or_default();
        let mut words = first.split(' ');
        let (Some(method), Some(target), Some("HTTP/1.1"), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(Refused::Invalid);
        };
        let fields = fields(head);
        let length = body_length(&fields).filter(|length| *length == body.len() && *length <= MAX_BODY);
        length.ok_or(Refused::Invalid)?;
        let host = one(&fields, "host")?.ok_or(Refused::Host)?;
        let body = str::from_utf8(body).map_err(|_| Refused::Invalid)?;
        Ok(Self { method, target, host, origin: one(&fields, "origin")?, body })
    }

    /// Returns what is wanted, if the request comes from this page on this machine.
    pub(super) fn wanted(&self, token: &str, port: u16) -> Result<Wanted, Refused> {
        let names = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        if !names.iter().any(|name| name == self.host) {
            return Err(Refused::Host);
        }
        let (path, query) = self.target.split_once('?').unwrap_or((self.target, ""));
        let (named, rest) =
            path.strip_prefix('/').and_then(|path| path.split_once('/')).ok_or(Refused::Token)?;
        if !is_same(named, token) {
            return Err(Refused::Token);
        }
        match (self.method, rest) {
            ("GET", "") => {
                Ok(Wanted::Page(Notice::from_name(query.strip_prefix("said=").unwrap_or_default())))
            }
            ("POST", "answer") => {
                let is_ours =
                    self.origin.and_then(|origin| origin.strip_prefix("http://")) == Some(self.host);
                if is_ours { self.answer() } else { Err(Refused::Origin) }
            }
            (_, "" | "answer") => Err(Refused::Method),
            _ => Err(Refused::Path),
        }
    }

    fn answer(&self) -> Result<Wanted, Refused> {
        let (first, second) = self.body.split_once('&').ok_or(Refused::Invalid)?;
        let question = first.strip_prefix("question=").ok_or(Refused::Invalid)?;
        let answer = match second {
            "answer=allow" => QuestionAnswer::Allow,
            "answer=deny" => QuestionAnswer::Deny,
            _ => return Err(Refused::Invalid),
        };
        Ok(Wanted::Answer { question: question.to_owned(), answer })
    }
}

/// Splits a request at the empty line behind its head.
fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    Some((bytes.get(..end)?, bytes.get(end + 4..)?))
}

fn fields(head: &str) -> Vec<(String, &str)> {
    let lines = head.split("\r\n").skip(1).take(MAX_FIELDS);
    let named = lines.filter_map(|line| line.split_once(':'));
    named.map(|(name, value)| (name.to_ascii_lowercase(), value.trim())).collect()
}

/// Returns the length of the body; nothing if it is ambiguous.
fn body_length(fields: &[(String, &str)]) -> Option<usize> {
    if fields.iter().any(|(name, _)| name == "transfer-encoding") {
        return None;
    }
    match one(fields, "content-length").ok()? {
        None => Some(0),
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok(),
        Some(_) => None,
    }
}

/// Returns the value of a field. Two of the same name are an error.
fn one<'f>(fields: &[(String, &'f str)], name: &str) -> Result<Option<&'f str>, Refused> {
    let mut values = fields.iter().filter(|(one, _)| one == name).map(|(_, value)| *value);
    let first = values.next();
    if values.next().is_some() { Err(Refused::Invalid) } else { Ok(first) }
}

/// Compares in a time that does not depend on where they differ.
fn is_same(named: &str, token: &str) -> bool {
    let differs = named.bytes().zip(token.bytes()).fold(0, |sum, (one, other)| sum | (one ^ other));
    named.len() == token.len() && differs == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TOKEN: &str = "0123456789abcdef";

    fn wanted(text: &str) -> Result<Wanted, Refused> {
        let text = text.replace("TOKEN", TOKEN).replace('\n', "\r\n");
        assert!(Request::is_whole(text.as_bytes()), "{text}");
        Request::parse(text.as_bytes())?.wanted(TOKEN, 80)
    }

    #[test]
    fn only_own_links_and_forms_are_answered() {
        let post = |origin: &str, body: &str| {
            let length = body.len();
            wanted(&format!(
                "POST /TOKEN/answer HTTP/1.1\nHost: localhost:80\n{origin}Content-Length: {length}\n\n{body}"
            ))
        };
        let answer = |answer| Ok(Wanted::Answer { question: "1f".to_owned(), answer });
        let ours = "Origin: http://localhost:80\n";
        assert_eq!(wanted("GET /TOKEN/ HTTP/1.1\nHost: 127.0.0.1:80\n\n"), Ok(Wanted::Page(None)));
        assert_eq!(
            wanted("GET /TOKEN/?said=expired HTTP/1.1\nHost: 127.0.0.1:80\n\n"),
            Ok(Wanted::Page(Some(Notice::Expired)))
        );
        assert_eq!(post(ours, "question=1f&answer=allow"), answer(QuestionAnswer::Allow));
        assert_eq!(post(ours, "question=1f&answer=deny"), answer(QuestionAnswer::Deny));
        for origin in [
            "",
            "Origin: null\n",
            "Origin: http://evil.example\n",
            "Origin: http://127.0.0.1:80\n",
            "Origin: https://localhost:80\n",
        ] {
            assert_eq!(post(origin, "question=1f&answer=allow"), Err(Refused::Origin), "{origin}");
        }
        for body in [
            "",
            "question=1f",
            "answer=allow&question=1f",
            "question=1f&answer=yes",
            "question=1f&answer=allow&x=1",
        ] {
            assert_eq!(post(ours, body), Err(Refused::Invalid), "{body}");
        }
        for (text, refused) in [
            ("GET / HTTP/1.1\nHost: 127.0.0.1:80\n\n", Refused::Token),
            ("GET /TOKEN HTTP/1.1\nHost: 127.0.0.1:80\n\n", Refused::Token),
            ("GET /0123456789abcdee/ HTTP/1.1\nHost: 127.0.0.1:80\n\n", Refused::Token),
            ("GET /TOKEN0/ HTTP/1.1\nHost: 127.0.0.1:80\n\n", Refused::Token),
            ("GET /TOKEN/ HTTP/1.1\nHost: evil.example:80\n\n", Refused::Host),
            ("GET /TOKEN/ HTTP/1.1\nHost: 127.0.0.1\n\n", Refused::Host),
            ("GET /TOKEN/ HTTP/1.1\n\n", Refused::Host),
            ("GET /TOKEN/ HTTP/1.1\nHost: 127.0.0.1:80\nhost: evil.example\n\n", Refused::Invalid),
            ("GET /TOKEN/x HTTP/1.1\nHost: 127.0.0.1:80\n\n", Refused::Path),
            ("GET /TOKEN/answer HTTP/1.1\nHost: 127.0.0.1:80\n\n", Refused::Method),
            ("PUT /TOKEN/ HTTP/1.1\nHost: 127.0.0.1:80\n\n", Refused::Method),
            ("GET /TOKEN/ HTTP/1.0\nHost: 127.0.0.1:80\n\n", Refused::Invalid),
            ("GET  /TOKEN/ HTTP/1.1\nHost: 127.0.0.1:80\n\n", Refused::Invalid),
            (
                "GET /TOKEN/ HTTP/1.1\nHost: 127.0.0.1:80\nTransfer-Encoding: chunked\n\n0\n\n",
                Refused::Invalid,
            ),
            ("GET /TOKEN/ HTTP/1.1\nHost: 127.0.0.1:80\nContent-Length: +1\n\nx", Refused::Invalid),
        ] {
            assert_eq!(wanted(text), Err(refused), "{text}");
        }
        let long =
            [b"GET / HTTP/1.1\r\nHost: x\r\nA: ".as_slice(), &[b'a'; MAX_REQUEST], b"\r\n\r\n"].concat();
        assert_eq!(Request::parse(&long), Err(Refused::Invalid));
    }

    proptest! {
        /// Whatever arrives, it is parsed or refused, and nothing without the token is answered.
        #[test]
        fn no_bytes_panic_or_pass(bytes in prop::collection::vec(any::<u8>(), 0..400), text in "(?s).{0,200}") {
            for bytes in [bytes.as_slice(), text.as_bytes(), format!("GET {text} HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n").as_bytes()] {
                let _: bool = Request::is_whole(bytes);
                let wanted = Request::parse(bytes).and_then(|request| request.wanted(TOKEN, 80));
                prop_assert!(wanted.is_err() || String::from_utf8_lossy(bytes).contains(TOKEN));
            }
        }
    }
}
