//! What is looked into over TLS, as clients and hosts find it: both are real, and so is the TLS between.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use hyper::body::Bytes;
use hyper::http;
use hyper::http::HeaderMap;
use rustls::{ClientConnection, RootCertStore, ServerConnection, StreamOwned};
use rustls_pki_types::CertificateDer;

use super::super::tests::{Site, site_with, status};
use super::super::{BrokerOptions, HostList};
use super::rewrite::{BodyFilter, BodyRewrite, RewriteRefusal};
use super::whole::Room;
use super::*;

type ClientTls = StreamOwned<ClientConnection, TcpStream>;
type ServerTls = StreamOwned<ServerConnection, TcpStream>;

const HOST: &str = "t.localhost";

/// A host of its own authority, which answers each connection by `serve`.
struct TlsHost {
    port: u16,
    /// A file of its authority.
    roots: tempfile::NamedTempFile,
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn tls_host(name: &str, protocols: &[&[u8]], serve: impl Fn(ServerTls) + Send + Sync + 'static) -> TlsHost {
    let authority = Authority::new().unwrap();
    let certified = authority.for_host(&Host::Name(name.to_owned())).unwrap();
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(SingleCertAndKey::from((*certified).clone())));
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let serve = Arc::new(serve);
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (config, serve) = (Arc::clone(&config), Arc::clone(&serve));
            std::thread::spawn(move || {
                let connection = ServerConnection::new(config).unwrap();
                serve(StreamOwned::new(connection, client.unwrap()));
            });
        }
    });
    let mut roots = tempfile::NamedTempFile::new().unwrap();
    roots.write_all(files::pem(&[authority.certificate()]).as_bytes()).unwrap();
    TlsHost { port, roots }
}

/// A host that answers every request with its first line, as long as there are any, and tells what it heard.
fn telling_host() -> (TlsHost, Receiver<String>) {
    let (heard, hears) = channel();
    let heard = Mutex::new(heard);
    let host = tls_host(HOST, &[], move |stream| {
        let heard = heard.lock().unwrap().clone();
        tell(stream, &heard);
    });
    (host, hears)
}

fn tell(mut stream: ServerTls, heard: &Sender<String>) {
    while let Some((head, length)) = head_of(&mut stream) {
        let mut body = vec![0; length];
        if stream.read_exact(&mut body).is_err() {
            return;
        }
        let first = head.lines().next().unwrap().to_owned();
        heard.send(head).ok();
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{first}", first.len());
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

/// Reads a head, and how long its body is.
fn head_of(stream: &mut impl io::Read) -> Option<(String, usize)> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.extend(byte);
    }
    let head = String::from_utf8(head).unwrap();
    let length =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    Some((head, length.unwrap_or(0)))
}

fn looking(host: &TlsHost, words: &str) -> Site {
    looking_with(host, words, BrokerOptions::default(), None)
}

fn looking_with(
    host: &TlsHost,
    words: &str,
    options: BrokerOptions,
    rewrite: Option<Arc<dyn Rewrite>>,
) -> Site {
    let list: Vec<String> = words.split(" + ").map(|words| format!("{HOST}:{} {words}", host.port)).collect();
    let list: Vec<&str> = list.iter().map(|entry| entry.trim_end()).collect();
    site_with(&list, BrokerOptions { extra_roots: vec![host.roots.path().to_owned()], ..options }, rewrite)
}

/// Connects by way of the broker, and trusts its authority alone.
fn through(site: &Site, port: u16, protocols: &[&[u8]]) -> ClientTls {
    let stream = tunnel(site, port);
    let mut roots = RootCertStore::empty();
    let authority = site.broker.shared.inspector.as_ref().unwrap().authority.certificate().clone();
    roots.add(authority).unwrap();
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    let name = ServerName::try_from(HOST).unwrap();
    StreamOwned::new(ClientConnection::new(Arc::new(config), name).unwrap(), stream)
}

fn tunnel(site: &Site, port: u16) -> TcpStream {
    let mut stream = site.connect();
    write!(stream, "CONNECT {HOST}:{port} HTTP/1.1\r\n\r\n").unwrap();
    let (answer, _) = head_of(&mut stream).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    stream
}

/// Sends one request and reads its answer: the number, and the body.
fn ask(stream: &mut ClientTls, head: &str) -> (u16, String) {
    stream.write_all(head.as_bytes()).unwrap();
    answer(stream).unwrap_or((0, String::new()))
}

fn answer(stream: &mut ClientTls) -> Option<(u16, String)> {
    let (head, length) = head_of(stream)?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some((status(&head).parse().ok()?, String::from_utf8(body).unwrap()))
}

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: {HOST}\r\n\r\n")
}

#[test]
fn each_request_of_a_connection_is_judged() {
    let (host, hears) = telling_host();
    let site = looking(&host, "GET /v1/** + POST /v1/up upload=300");
    let port = host.port;
    let mut stream = through(&site, port, &[]);
    for (request, expected, told) in [
        (format!("GET /v1/a HTTP/1.1\r\nHost: {HOST}:{port}\r\n\r\n"), 200, "GET /v1/a HTTP/1.1"),
        (format!("GET /v2 HTTP/1.1\r\nHost: {HOST}:{port}\r\n\r\n"), 403, "not-listed"),
        (format!("GET /v1/b?x=1 HTTP/1.1\r\nHost: {HOST}:{port}\r\n\r\n"), 200, "GET /v1/b?x=1 HTTP/1.1"),
        (
            format!("POST /v1/up HTTP/1.1\r\nHost: {HOST}:{port}\r\nContent-Length: 2\r\n\r\nhi"),
            200,
            "POST /v1/up",
        ),
        (format!("GET /v1/a/../b HTTP/1.1\r\nHost: {HOST}:{port}\r\n\r\n"), 403, "ambiguous-path"),
    ] {
        let (status, body) = ask(&mut stream, &request);
        assert_eq!(status, expected, "{request} {body}");
        assert!(body.contains(told), "{request} {body}");
    }
    let long = format!("POST /v1/up HTTP/1.1\r\nHost: {HOST}:{port}\r\nContent-Length: 400\r\n\r\n");
    assert_eq!(ask(&mut through(&site, port, &[]), &long).0, 413);
    let heard: Vec<String> = hears.try_iter().map(|head| head.lines().next().unwrap().to_owned()).collect();
    assert_eq!(heard, ["GET /v1/a HTTP/1.1", "GET /v1/b?x=1 HTTP/1.1", "POST /v1/up HTTP/1.1"]);
    let record = site.record();
    let rules: Vec<&str> = record.iter().filter_map(|one| one.split(' ').nth(1)).collect();
    let let_through = rules.iter().filter(|rule| **rule == "listed").count();
    assert_eq!(let_through, 6, "each request is on record: {record:?}");
    assert!(
        rules.contains(&"not-listed") && rules.contains(&"ambiguous-path") && rules.contains(&"too-much")
    );
}

/// What a program could read differently never reaches the host.
#[test]
fn requests_are_not_smuggled() {
    let (host, hears) = telling_host();
    let site = looking(&host, "inspect");
    let head = format!("POST /a HTTP/1.1\r\nHost: {HOST}:{}\r\n", host.port);
    for (rest, expected) in [
        ("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /b HTTP/1.1\r\n\r\n", 411),
        ("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\nGET /b HTTP/1.1\r\n\r\n", 411),
        ("Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n", 411),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ("Content-Length: 0\r\nContent-Length: 30\r\n\r\n", 400),
        ("Content-Length: 0x3\r\n\r\nabc", 400),
        ("A: b\r\n folded\r\n\r\n", 400),
        ("A : b\r\n\r\n", 400),
        ("A: b\nC: d\r\n\r\n", 400),
        ("Host: evil.test\r\n\r\n", 400),
    ] {
        let (status, body) = ask(&mut through(&site, host.port, &[]), &format!("{head}{rest}"));
        assert_eq!(status, expected, "{rest:?}: {body}");
        assert!(body.contains("\"by\":\"stockade\""), "{body}");
    }
    // What is odd in the middle of a body comes to no end for the host.
    let odd = format!("{head}Transfer-Encoding: chunked\r\n\r\n1;x\r\na\r\n0\r\n\r\n");
    assert_eq!(ask(&mut through(&site, host.port, &[]), &odd).0, 400);
    for evil in [
        "GET http://evil.test/ HTTP/1.1\r\nHost: t.localhost\r\n\r\n",
        "CONNECT evil.test:443 HTTP/1.1\r\n\r\n",
    ] {
        assert_eq!(ask(&mut through(&site, host.port, &[]), evil).0, 400, "{evil}");
    }
    let other = "GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n";
    assert_eq!(ask(&mut through(&site, host.port, &[]), other).0, 403);
    std::thread::sleep(Duration::from_millis(100));
    let heard: Vec<String> =
        hears.try_iter().filter(|head| !head.to_lowercase().contains("chunked")).collect();
    assert!(heard.is_empty(), "{heard:?}");
    let before = site.record().len();
    assert!(site.record().iter().any(|one| one.ends_with("bad-request")), "{before}");
}

/// There is no way around: what cannot be looked into does not go through.
#[test]
fn nothing_goes_through_blindly() {
    let (host, hears) = telling_host();
    let site = looking(&host, "inspect");
    let mut raw = tunnel(&site, host.port);
    raw.write_all(b"\x00\x01anything").unwrap();
    let mut rest = Vec::new();
    raw.read_to_end(&mut rest).ok();
    assert!(rest.is_empty(), "{rest:?}");
    assert!(site.record().iter().any(|one| one.ends_with("not-tls")), "{:?}", site.record());
    // One that goes with an entry for anything is not let through by that one either.
    let both = format!("{HOST}:{}/tcp", host.port);
    let looked_into = format!("{HOST}:{} inspect", host.port);
    let options =
        BrokerOptions { extra_roots: vec![host.roots.path().to_owned()], ..BrokerOptions::default() };
    let site = site_with(&[&both, &looked_into], options, None);
    let mut raw = tunnel(&site, host.port);
    raw.write_all(b"\x00\x01anything").unwrap();
    raw.read_to_end(&mut rest).ok();
    assert!(rest.is_empty() && hears.try_recv().is_err(), "{rest:?}");
    assert_eq!(ask(&mut through(&site, host.port, &[]), &get("/x")).0, 200);
}

#[test]
fn a_host_has_to_show_who_it_is() {
    let (host, _) = telling_host();
    let other = tls_host("other.localhost", &[], |mut stream| drop(head_of(&mut stream)));
    let plain = TcpListener::bind("127.0.0.1:0").unwrap();
    let at_plain = plain.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in plain.incoming() {
            let mut client = client.unwrap();
            client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").ok();
        }
    });
    let list = [host.port, other.port, at_plain].map(|port| format!("{HOST}:{port} inspect"));
    let list: Vec<&str> = list.iter().map(String::as_str).collect();
    // One certified by nobody, one certified for another name, one that speaks no TLS.
    let extra_roots = vec![other.roots.path().to_owned()];
    let site = site_with(&list, BrokerOptions { extra_roots, ..BrokerOptions::default() }, None);
    let not_the_host: &[&str] = &["not-the-host"];
    for (port, rules) in [
        (host.port, not_the_host),
        (other.port, not_the_host),
        // It depends on who is the first to give up.
        (at_plain, &["not-the-host", "cannot-connect"]),
    ] {
        let (status, body) = ask(&mut through(&site, port, &[]), &get("/"));
        assert_eq!(status, 502, "{body}");
        assert!(rules.iter().any(|rule| body.contains(rule)), "{body}");
    }
}

#[test]
fn a_client_that_does_not_trust_is_told_of() {
    let (host, _) = telling_host();
    let site = looking(&host, "inspect");
    let config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let name = ServerName::try_from(HOST).unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut stream = StreamOwned::new(connection, tunnel(&site, host.port));
    assert!(stream.write_all(get("/").as_bytes()).is_err());
    let began = Instant::now();
    while !site.record().iter().any(|one| one.ends_with("not-trusted")) {
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", site.record());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// An answer that never ends is there as it comes, and what stands behind a bound is not.
#[test]
fn answers_are_streamed_and_bounded() {
    let (go_on, wait) = channel::<()>();
    let wait = Mutex::new(wait);
    let host = tls_host(HOST, &[], move |mut stream| {
        let Some((head, _)) = head_of(&mut stream) else { return };
        if head.starts_with("GET /long") {
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").ok();
            while stream.write_all(&[b'x'; 8192]).is_ok() {}
            return;
        }
        stream
            .write_all(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
            )
            .ok();
        for _ in 0..3 {
            stream.write_all(b"9\r\ndata: 1\n\n\r\n").ok();
            stream.flush().ok();
            wait.lock().unwrap().recv().ok();
        }
        stream.write_all(b"0\r\n\r\n").ok();
    });
    let site = looking(&host, "GET / + GET /long download=100000");
    let mut stream = through(&site, host.port, &[]);
    stream.write_all(get("/").as_bytes()).unwrap();
    let (head, _) = head_of(&mut stream).unwrap();
    assert!(head.contains("text/event-stream"), "{head}");
    for _ in 0..3 {
        let mut event = [0; 14];
        stream.read_exact(&mut event).unwrap();
        assert_eq!(&event, b"9\r\ndata: 1\n\n\r\n");
        go_on.send(()).unwrap();
    }
    let mut stream = through(&site, host.port, &[]);
    stream.write_all(get("/long").as_bytes()).unwrap();
    let mut all = Vec::new();
    assert!(stream.read_to_end(&mut all).is_err() || all.len() < 110_000);
    assert!((50_000..110_000).contains(&all.len()), "{}", all.len());
    assert!(site.record().iter().any(|one| one.ends_with("too-much")), "{:?}", site.record());
}

#[test]
fn a_websocket_is_carried() {
    let host = tls_host(HOST, &[], |mut stream| {
        let Some((head, _)) = head_of(&mut stream) else { return };
        assert!(head.to_lowercase().contains("upgrade: websocket"), "{head}");
        let answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n";
        stream.write_all(answer.as_bytes()).unwrap();
        let mut room = [0; 1024];
        while let Ok(read @ 1..) = stream.read(&mut room) {
            stream.write_all(&room[..read]).unwrap();
        }
    });
    let site = looking(&host, "GET /ws upload=100000");
    let mut stream = through(&site, host.port, &[]);
    let upgrade = "Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Key: x\r\n";
    write!(stream, "GET /ws HTTP/1.1\r\nHost: {HOST}\r\n{upgrade}\r\n").unwrap();
    let (head, _) = head_of(&mut stream).unwrap();
    assert!(head.starts_with("HTTP/1.1 101") && head.contains("x\r\n"), "{head}");
    for frame in [&b"\x81\x00"[..], b"GET / HTTP/1.1\r\n\r\n", &[0; 900]] {
        stream.write_all(frame).unwrap();
        let mut back = vec![0; frame.len()];
        stream.read_exact(&mut back).unwrap();
        assert_eq!(back, frame);
    }
    drop(stream);
    // Elsewhere it is judged as any request is.
    let mut stream = through(&site, host.port, &[]);
    let other = format!("GET /other HTTP/1.1\r\nHost: {HOST}\r\n{upgrade}\r\n");
    assert_eq!(ask(&mut stream, &other).0, 403);
}

/// Puts something into requests and takes it out of answers.
#[derive(Debug)]
struct Swap;

#[derive(Debug)]
struct Upper(&'static str);

impl BodyFilter for Upper {
    fn keeps_length(&self) -> bool {
        false
    }

    fn piece(&mut self, bytes: Bytes) -> Result<Bytes, RewriteRefusal> {
        if bytes.starts_with(b"leak") {
            return Err(RewriteRefusal { rule: "leak", reason: "it leaks".to_owned(), fix: None });
        }
        Ok(bytes.to_ascii_uppercase().into())
    }

    fn end(&mut self) -> Result<Bytes, RewriteRefusal> {
        Ok(self.0.into())
    }

    fn trailers(&mut self, _: &mut HeaderMap) -> Result<(), RewriteRefusal> {
        Ok(())
    }
}

impl Rewrite for Swap {
    fn inspects(&self, to: Conversation<'_>) -> bool {
        to.target.host == Host::Name(HOST.to_owned())
    }

    fn request(
        &self,
        to: Conversation<'_>,
        head: &mut http::request::Parts,
    ) -> Result<BodyRewrite, RewriteRefusal> {
        if head.uri.path() == "/no" {
            let reason = format!("it is {}", to.is_tls);
            return Err(RewriteRefusal {
                rule: "dummy-elsewhere",
                reason,
                fix: Some("send none".to_owned()),
            });
        }
        head.headers.insert("x-secret", "real".parse().unwrap());
        Ok(match head.uri.path() {
            "/whole" => BodyRewrite::Whole {
                most: 10,
                then: Box::new(|head, bytes| {
                    head.headers.insert("x-length", bytes.len().into());
                    Ok(bytes)
                }),
            },
            _ => BodyRewrite::Unchanged,
        })
    }

    fn answer(
        &self,
        _: Conversation<'_>,
        _: &mut http::response::Parts,
    ) -> Result<BodyRewrite, RewriteRefusal> {
        Ok(BodyRewrite::Pieces(Box::new(Upper("!"))))
    }
}

#[test]
fn requests_and_answers_are_changed_on_their_way() {
    let (host, hears) = telling_host();
    let site = looking_with(&host, "", BrokerOptions::default(), Some(Arc::new(Swap)));
    let mut stream = through(&site, host.port, &[]);
    stream.write_all(get("/x").as_bytes()).unwrap();
    let (head, _) = head_of(&mut stream).unwrap();
    assert!(head.contains("transfer-encoding: chunked"), "{head}");
    let mut body = [0; 27];
    stream.read_exact(&mut body).unwrap();
    assert_eq!(&body, b"F\r\nGET /X HTTP/1.1\r\n1\r\n!\r\n0");
    assert!(hears.recv().unwrap().contains("x-secret: real"));
    let (status, body) = ask(&mut through(&site, host.port, &[]), &get("/no"));
    assert_eq!(status, 403);
    assert!(body.contains("dummy-elsewhere") && body.contains("it is true"), "{body}");
    for (length, expected) in [(5, 200), (11, 413)] {
        let whole = format!("POST /whole HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: {length}\r\n\r\n");
        let mut stream = through(&site, host.port, &[]);
        stream.write_all((whole + &"x".repeat(length)).as_bytes()).unwrap();
        let (head, _) = head_of(&mut stream).unwrap();
        assert!(head.starts_with(&format!("HTTP/1.1 {expected}")), "{head}");
    }
    assert!(hears.recv().unwrap().contains("x-length: 5"));
    assert!(hears.try_recv().is_err());
}

/// All connections together hold no more of what is read whole than a broker may.
#[test]
fn whole_bodies_take_up_so_much_and_no_more() {
    let (host, hears) = telling_host();
    let site = looking_with(&host, "", BrokerOptions::default(), Some(Arc::new(Long)));
    let (length, begun) = (8 << 20, (8 << 20) - 1);
    let head = format!("POST /x HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: {length}\r\n\r\n");
    let mut waiting: Vec<ClientTls> = (0..4).map(|_| through(&site, host.port, &[])).collect();
    for stream in &mut waiting {
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&vec![b'x'; begun]).unwrap();
        stream.flush().unwrap();
    }
    let bodies = Arc::clone(&site.broker.shared.inspector.as_ref().unwrap().bodies);
    let began = Instant::now();
    while Room::new(&bodies).is_for(1 << 10) && began.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut one_more = through(&site, host.port, &[]);
    let short =
        format!("POST /x HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: 2048\r\n\r\n{}", "x".repeat(2048));
    let (status, body) = ask(&mut one_more, &short);
    assert_eq!((status, body.contains("too-many-bodies")), (503, true), "{body}");
    let mut first = waiting.remove(0);
    assert_eq!(ask(&mut first, "x").0, 200);
    assert!(hears.recv().unwrap().contains(&format!("content-length: {length}")));
    drop(waiting);
    assert_eq!(ask(&mut through(&site, host.port, &[]), &short).0, 200);
}

/// Reads long bodies whole.
#[derive(Debug)]
struct Long;

impl Rewrite for Long {
    fn inspects(&self, _: Conversation<'_>) -> bool {
        true
    }

    fn request(
        &self,
        _: Conversation<'_>,
        _: &mut http::request::Parts,
    ) -> Result<BodyRewrite, RewriteRefusal> {
        Ok(BodyRewrite::Whole { most: 8 << 20, then: Box::new(|_, bytes| Ok(bytes)) })
    }

    fn answer(
        &self,
        _: Conversation<'_>,
        _: &mut http::response::Parts,
    ) -> Result<BodyRewrite, RewriteRefusal> {
        Ok(BodyRewrite::Unchanged)
    }
}

#[test]
fn plain_requests_to_a_host_that_is_changed_go_the_same_way() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let Some((head, _)) = head_of(&mut client) else { continue };
            let has = if head.contains("x-secret: real") { "with" } else { "none" };
            write!(client, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n{has}").ok();
        }
    });
    let list = format!("{HOST}:{port} GET /x");
    let site = site_with(&[&list], BrokerOptions::default(), Some(Arc::new(Swap)));
    let answer = site.ask(format!("GET http://{HOST}:{port}/x HTTP/1.1\r\n\r\n").as_bytes());
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("WITH"), "{answer}");
    let answer = site.ask(format!("GET http://{HOST}:{port}/y HTTP/1.1\r\n\r\n").as_bytes());
    assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("not-listed"), "{answer}");
}

/// Who says nothing keeps nobody else waiting, and the end of the broker ends what is under way.
#[test]
fn silent_clients_are_in_nobodys_way() {
    let (host, _) = telling_host();
    let options =
        BrokerOptions { connections: 16, patience: Duration::from_secs(60), ..BrokerOptions::default() };
    let site = looking_with(&host, "inspect", options, None);
    let mut slow: Vec<ClientTls> = Vec::new();
    for _ in 0..12 {
        let mut stream = through(&site, host.port, &[]);
        stream.write_all(b"GET / HT").unwrap();
        slow.push(stream);
    }
    let silent: Vec<TcpStream> = (0..100).map(|_| site.connect()).collect();
    let began = Instant::now();
    assert_eq!(ask(&mut through(&site, host.port, &[]), &get("/x")).0, 200);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    drop(silent);
    let mut stream = through(&site, host.port, &[]);
    assert_eq!(ask(&mut stream, &get("/x")).0, 200);
    let began = Instant::now();
    let (network, trust) = (site.broker.network(), site.broker.shared.inspector.as_ref().unwrap().trust());
    assert!(trust.file("authorities.pem").exists());
    drop(site);
    assert!(!trust.file("authorities.pem").exists(), "whoever still plans with it: {network:?}");
    assert!(stream.read(&mut [0]).map_or(true, |read| read == 0));
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_head_that_drips_is_too_slow() {
    let (host, _) = telling_host();
    let options = BrokerOptions { patience: Duration::from_millis(600), ..BrokerOptions::default() };
    let site = looking_with(&host, "inspect", options, None);
    let mut stream = through(&site, host.port, &[]);
    stream.write_all(b"GET / HTTP/1.1\r\nHost: t.loc").unwrap();
    let (status, body) = answer(&mut stream).unwrap();
    assert_eq!((status, body.contains("too-slow")), (408, true), "{body}");
}

/// A host that speaks HTTP/2 alone, and answers every request with nothing.
fn host_of_many() -> TlsHost {
    let authority = Authority::new().unwrap();
    let certified = authority.for_host(&Host::Name(HOST.to_owned())).unwrap();
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(SingleCertAndKey::from((*certified).clone())));
    config.alpn_protocols = vec![b"h2".to_vec()];
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            listener.set_nonblocking(true).unwrap();
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let Ok(stream) = acceptor.accept(stream).await else { continue };
                let service = service_fn(|mut request: http::Request<hyper::body::Incoming>| async move {
                    use hyper::body::Body as _;
                    let mut body = Pin::new(request.body_mut());
                    while std::future::poll_fn(|context| body.as_mut().poll_frame(context)).await.is_some() {}
                    Ok::<_, io::Error>(http::Response::new(body::Carried::whole("")))
                });
                let served = http2::Builder::new(TokioExecutor::new());
                tokio::spawn(served.serve_connection(TokioIo::new(stream), service));
            }
        });
    });
    let mut roots = tempfile::NamedTempFile::new().unwrap();
    roots.write_all(files::pem(&[authority.certificate()]).as_bytes()).unwrap();
    TlsHost { port, roots }
}

/// Several requests at a time over one connection of HTTP/2, each judged.
#[test]
fn http_2_is_judged_as_http_1_is() {
    let host = host_of_many();
    let site = looking(&host, "GET /v1/** + POST /v1/up upload=1000");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let port = host.port;
    let tunnel = tunnel(&site, port);
    let mut roots = RootCertStore::empty();
    roots.add(site.broker.shared.inspector.as_ref().unwrap().authority.certificate().clone()).unwrap();
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let answers = runtime.block_on(async {
        tunnel.set_nonblocking(true).unwrap();
        let stream = tokio::net::TcpStream::from_std(tunnel).unwrap();
        let name = ServerName::try_from(HOST).unwrap();
        let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        let (sender, connection) =
            to_many::Builder::new(TokioExecutor::new()).handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        let mut answers = Vec::new();
        for (method, authority, path, length) in [
            ("GET", format!("{HOST}:{port}"), "/v1/a", 0),
            ("GET", HOST.to_owned(), "/v1/b", 0),
            ("GET", format!("{HOST}:{port}"), "/v2", 0),
            ("GET", "evil.test".to_owned(), "/v1/a", 0),
            ("GET", format!("user@{HOST}:{port}"), "/v1/a", 0),
            ("GET", format!("{HOST}:{port}"), "/v1/../a", 0),
            ("POST", format!("{HOST}:{port}"), "/v1/up", 10),
            ("POST", format!("{HOST}:{port}"), "/v1/up", 3000),
        ] {
            let request = http::Request::builder().method(method).uri(format!("https://{authority}{path}"));
            let body = body::Carried::whole(vec![b'x'; length]);
            let answer = sender.clone().send_request(request.body(body).unwrap()).await;
            answers.push(answer.map_or(0, |answer| answer.status().as_u16()));
        }
        answers
    });
    assert_eq!(answers, [200, 200, 403, 403, 403, 403, 200, 413]);
    assert!(site.record().iter().any(|one| one.ends_with("other-host")), "{:?}", site.record());
}

/// What a certificate holds, as whoever checks it finds it.
#[test]
fn certificates_are_of_one_authority_and_all_different() {
    let authority = Authority::new().unwrap();
    let name = |name: &str| Host::Name(name.to_owned());
    let one = authority.for_host(&name("a.example")).unwrap();
    assert!(Arc::ptr_eq(&one, &authority.for_host(&name("a.example")).unwrap()));
    let other = authority.for_host(&name("b.example")).unwrap();
    assert_ne!(one.cert[0], other.cert[0]);
    assert_eq!(&one.cert[1], authority.certificate());
    for address in ["127.0.0.1", "2606:4700::1"] {
        authority.for_host(&Host::Address(address.parse().unwrap())).unwrap();
    }
    assert_ne!(Authority::new().unwrap().certificate(), authority.certificate());
    let found = roots::certificates(files::pem(&[authority.certificate()]).as_bytes()).unwrap();
    let expected: Vec<CertificateDer<'static>> = vec![authority.certificate().clone()];
    assert_eq!(found, expected);
    assert!(HostList::compile(&["a.example inspect".to_owned()]).unwrap().may_look_into_tls());
}
