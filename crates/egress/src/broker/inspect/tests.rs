//! What is looked into over TLS, as clients and hosts find it: both are real, and so is the TLS between.

mod headers;
mod http_2;
mod leases;
mod operations;
mod rewriting;

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
    let rows = [
        "listed GET /v1/a",
        "not-listed GET /v2",
        "listed GET /v1/b",
        "listed POST /v1/up",
        "ambiguous-path GET /v1/a/../b",
        "too-much POST /v1/up",
    ];
    assert_eq!(site.rows(), rows, "each judged request has one row, without its query");
    drop(stream);
    let ends = site.ends(3);
    let began = ["record-1 GET /v1/a 200 ", "record-3 GET /v1/b 200 ", "record-4 POST /v1/up 200 "];
    assert!(ends.len() == 3 && ends.iter().zip(began).all(|(end, began)| end.starts_with(began)), "{ends:?}");
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
    // A host with an untrusted certificate, one with a certificate for another name, one without TLS.
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

/// An endless response streams as it arrives, and bytes beyond a limit are withheld.
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
    let site = looking(&host, "GET /ws upload=100000 websocket");
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

/// A silent client blocks no other client, and the end of the broker closes open connections.
#[test]
fn silent_clients_block_no_other_client() {
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
    let (handoff, trust) = (site.broker.handoff(), site.broker.shared.inspector.as_ref().unwrap().trust());
    assert!(trust.file("authorities.pem").exists());
    drop(site);
    assert!(!trust.file("authorities.pem").exists(), "a plan that still uses it: {handoff:?}");
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

/// The contents of a certificate, as a verifier sees them.
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
    assert!(HostList::compile(&["a.example inspect".to_owned()]).unwrap().may_inspect());
}
