//! What a host hears of a request, and a client of an answer, header by header.

use super::super::super::super::header_table::{HEADER_TABLE, HeaderAt, HeaderFate, HeaderOf, HeaderRow};
use super::super::super::super::secret_binding::SecretBinding;
use super::super::super::super::secrets::Secrets;
use super::*;

/// Headers that clients and servers know, and one of their own, with values that would show a change.
const OTHERS: &[(&str, &str)] = &[
    ("accept", "text/html;q=0.9, */*"),
    ("accept-language", "de, en;q=0.5"),
    ("accept-ranges", "bytes"),
    ("access-control-request-method", "PUT"),
    ("age", "7"),
    ("alt-svc", "h3=\":443\""),
    ("cache-control", "no-store, max-age=0"),
    ("content-disposition", "attachment; filename=\"a b\""),
    ("content-language", "de"),
    ("content-location", "/x"),
    ("content-type", "multipart/mixed; boundary=x"),
    ("digest", "sha-256=abc="),
    ("early-data", "1"),
    ("etag", "W/\"x\""),
    ("forwarded", "for=192.0.2.1"),
    ("if-match", "\"x\""),
    ("if-modified-since", "Wed, 21 Oct 2015 07:28:00 GMT"),
    ("if-none-match", "W/\"x\", \"y\""),
    ("if-range", "\"x\""),
    ("if-unmodified-since", "Wed, 21 Oct 2015 07:28:00 GMT"),
    ("last-event-id", "12"),
    ("link", "</x>; rel=next"),
    ("location", "/y?z"),
    ("max-forwards", "3"),
    ("origin", "null"),
    ("pragma", "no-cache"),
    ("prefer", "respond-async"),
    ("referer", "https://t.localhost/"),
    ("retry-after", "5"),
    ("sec-fetch-mode", "cors"),
    ("sec-websocket-protocol", "chat"),
    ("server", "x/1"),
    ("strict-transport-security", "max-age=1"),
    ("trailer", "x-sum"),
    ("user-agent", "x/1 (y; z)"),
    ("vary", "*"),
    ("via", "1.1 x"),
    ("warning", "199 - \"x\""),
    ("x-forwarded-for", "192.0.2.1"),
    ("x-own", "  kept,  as it is"),
];

/// A value that is sent with a header of the table, and which the proxy may read.
fn value_of(row: &HeaderRow) -> &'static str {
    match row.name {
        "connection" => "keep-alive, x-own",
        "upgrade" => "h2c",
        "expect" => "100-continue",
        "te" => "trailers, gzip",
        "range" | "request-range" | "x-ms-range" => "bytes=0-99",
        "grpc-encoding" | "connect-content-encoding" => "identity",
        _ => "some",
    }
}

/// Headers that frame a message, or make another one of it.
const NOT_SENT: &[&str] = &["host", "content-length", "transfer-encoding", "content-encoding"];

/// A host that answers with these headers, and tells what it heard.
fn host_that_says(headers: String) -> (TlsHost, Receiver<String>) {
    let (heard, hears) = channel();
    let heard = Mutex::new(heard);
    let host = tls_host(HOST, &[], move |mut stream| {
        while let Some((head, _)) = head_of(&mut stream) {
            heard.lock().unwrap().send(head).ok();
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n{headers}\r\nok");
            if stream.write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    });
    (host, hears)
}

fn sent_with(of: HeaderOf) -> Vec<(&'static str, &'static str)> {
    let rows = HEADER_TABLE.iter().filter(|row| row.of == of && !NOT_SENT.contains(&row.name));
    let rows = rows.filter(|row| (of, row.name) != (HeaderOf::Answer, "sec-websocket-extensions"));
    OTHERS.iter().copied().chain(rows.map(|row| (row.name, value_of(row)))).collect()
}

fn lines(headers: &[(&str, &str)]) -> String {
    headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect()
}

/// The value of a header in a head, without the blanks around it, which are no part of it.
fn said<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    let named = |line: &'h str| line.split_once(':').filter(|row| row.0.eq_ignore_ascii_case(name));
    head.lines().find_map(named).map(|row| row.1.trim())
}

fn secrets_for(port: u16) -> (Secrets, tempfile::NamedTempFile) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    write!(file, "ghp_REALrealREALrealREALrealREALreal0001").unwrap();
    let text = format!("T=file:{}@{HOST}:{port}", file.path().display());
    let hosts = HostList::compile(&[format!("{HOST}:{port}")]).unwrap();
    let secrets = Secrets::new(&[SecretBinding::read(&text).unwrap()], &hosts, "x").unwrap();
    secrets.get().unwrap();
    (secrets, file)
}

/// Whether a header passes as it came, by the table alone.
fn passes(of: HeaderOf, name: &str, has_secret: bool) -> bool {
    let holds = |row: &&HeaderRow| match row.at {
        HeaderAt::AnyHost => true,
        HeaderAt::SecretHost => has_secret,
        // The entry of this test has neither a method nor a path.
        HeaderAt::RuledHost => false,
    };
    let mut rows = HEADER_TABLE.iter().filter(|row| row.of == of && row.name == name).filter(holds);
    // What is judged passes here, since nothing of it is to be refused, but for what only a connection has.
    rows.all(|row| row.fate == HeaderFate::Judged && row.at == HeaderAt::SecretHost)
}

/// What is in no table passes as it came; what is in one is not passed on, or refused.
#[test]
fn headers_pass_as_they_came_or_stand_in_the_table() {
    for has_secret in [false, true] {
        let answered = sent_with(HeaderOf::Answer);
        let (host, hears) = host_that_says(lines(&answered));
        let secrets = has_secret.then(|| secrets_for(host.port));
        let rewrite = secrets.as_ref().map(|(secrets, _)| Arc::new(secrets.clone()) as Arc<dyn Rewrite>);
        let site = looking_with(&host, "inspect", BrokerOptions::default(), rewrite);
        let asked = sent_with(HeaderOf::Request);
        let mut stream = through(&site, host.port, &[]);
        let request = format!("GET /x HTTP/1.1\r\nHost: {HOST}:{}\r\n{}\r\n", host.port, lines(&asked));
        stream.write_all(request.as_bytes()).unwrap();
        let (told, _) = head_of(&mut stream).unwrap();
        assert!(told.starts_with("HTTP/1.1 200"), "{told}");
        let heard = hears.recv().unwrap();
        for (of, sent, arrived) in [(HeaderOf::Request, asked, &heard), (HeaderOf::Answer, answered, &told)] {
            for (name, value) in sent {
                let is_same = said(arrived, name) == Some(value.trim());
                assert_eq!(is_same, passes(of, name, has_secret), "{of:?} {name} {has_secret}:\n{arrived}");
            }
        }
        assert_eq!(said(&heard, "te"), Some("trailers"));
        let coding = if has_secret { "identity" } else { "some" };
        assert_eq!(said(&heard, "accept-encoding"), Some(coding));
        assert_eq!(said(&told, "date"), None, "nothing is added that the host did not say");
        assert_eq!(said(&told, "x-stockade-withheld"), has_secret.then_some("cookies"));
    }
}

/// What cannot be passed on with its meaning is refused with why, and reaches no host.
#[test]
fn what_would_mean_something_else_is_refused() {
    let (host, hears) = telling_host();
    let site = looking(&host, "inspect");
    for (headers, status, rule) in [
        ("Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n", 501, "other-protocol"),
        ("Connection: Upgrade\r\nUpgrade: tcp\r\n", 501, "other-protocol"),
        ("Connection: Upgrade\r\nUpgrade: h2c, foo\r\n", 501, "other-protocol"),
        ("Connection: Upgrade\r\nUpgrade: websocket, foo\r\n", 501, "other-protocol"),
        ("Upgrade: websocket\r\n", 501, "other-protocol"),
        ("Expect: 200-ok\r\n", 417, "bad-request"),
    ] {
        let request = format!("GET / HTTP/1.1\r\nHost: {HOST}\r\n{headers}\r\n");
        let (told, body) = ask(&mut through(&site, host.port, &[]), &request);
        assert_eq!((told, body.contains(rule)), (status, true), "{headers} {body}");
    }
    // Where an entry has a method or a path, no other way to name one counts.
    let site = looking(&host, "GET /x");
    let rows = HEADER_TABLE.iter().filter(|row| row.at == HeaderAt::RuledHost);
    let overrides = rows.map(|row| (format!("{}: DELETE\r\n", row.name), "overridden-request"));
    let body = ("Content-Length: 2\r\n\r\nhi".to_owned(), "body-on-read");
    let chunked = ("Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n".to_owned(), "body-on-read");
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n".to_owned();
    for (headers, rule) in overrides.chain([body, chunked, (upgrade, "websocket")]) {
        let request = format!("GET /x HTTP/1.1\r\nHost: {HOST}\r\n{headers}\r\n");
        let (told, body) = ask(&mut through(&site, host.port, &[]), &request);
        assert_eq!((told, body.contains(rule)), (403, true), "{headers} {body}");
    }
    assert!(hears.try_recv().is_err());
    for coding in ["gzip, chunked", "gzip", "identity, chunked"] {
        let host = tls_host(HOST, &[], move |mut stream| {
            while head_of(&mut stream).is_some() {
                let head = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: {coding}\r\n\r\n");
                stream.write_all((head + "2\r\nok\r\n0\r\n\r\n").as_bytes()).ok();
            }
        });
        let site = looking(&host, "inspect");
        let (status, body) = ask(&mut through(&site, host.port, &[]), &get("/"));
        assert!(status == 502 && body.contains("unreadable-answer"), "{coding} {status} {body}");
    }
}
