//! A broker as its clients find it. The socket is one of this machine here; guard's `tests/it/broker.rs` goes through a sandbox.

mod requests;
mod tunnels;
mod upstream;

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};

use super::super::target::NetTarget;
use super::accept::{Served, Taken};
use super::*;

/// A broker, where it listens, and what it has put on record: the target and the rule.
pub(super) struct Site {
    pub(super) broker: Broker,
    address: SocketAddr,
    record: Arc<Mutex<Vec<[String; 2]>>>,
    ends: Arc<Mutex<Vec<BrokeredEnd>>>,
}

/// Puts decisions and ends on record.
struct Notes {
    record: Arc<Mutex<Vec<[String; 2]>>>,
    ends: Arc<Mutex<Vec<BrokeredEnd>>>,
}

/// A request as a test compares it: its method, its path and the names of its secrets.
fn shown(request: Option<&BrokeredRequest>) -> String {
    let words = |request: &BrokeredRequest| {
        let known = [&request.secrets[..], &request.operations].concat().join(" ");
        format!(" {} {} {known}", request.method, request.path).trim_end().to_owned()
    };
    request.map(words).unwrap_or_default()
}

impl Witness for Notes {
    fn decided(&self, brokered: &Brokered) -> Result<String, String> {
        let mut written = self.record.lock().unwrap();
        let shown = shown(brokered.request.as_ref());
        written.push([brokered.target.clone(), format!("{}{shown}", brokered.rule)]);
        let is_full = brokered.target.starts_with("unrecorded");
        if is_full { Err("the disk is full".to_owned()) } else { Ok(format!("record-{}", written.len())) }
    }

    fn ended(&self, ends: &[BrokeredEnd]) {
        self.ends.lock().unwrap().extend_from_slice(ends);
    }
}

/// Every name leads to this machine here, but for one.
fn resolve(name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    let address = if name == "inner.example" { [10, 0, 0, 1] } else { [127, 0, 0, 1] };
    Ok(vec![(address, port).into()])
}

fn site(hosts: &[&str], options: BrokerOptions) -> Site {
    site_with(hosts, options, None)
}

pub(super) fn site_with(hosts: &[&str], options: BrokerOptions, rewrite: Option<Arc<dyn Rewrite>>) -> Site {
    let (record, ends) = <(Arc<Mutex<Vec<[String; 2]>>>, Arc<Mutex<Vec<BrokeredEnd>>>)>::default();
    let witness = Notes { record: Arc::clone(&record), ends: Arc::clone(&ends) };
    let hosts: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
    let list = HostList::compile(&hosts).unwrap();
    let broker = Broker::with(list, options, rewrite, Box::new(witness), Box::new(resolve)).unwrap();
    let address = listen(&broker, "127.0.0.1:0", Served::Proxy);
    Site { broker, address, record, ends }
}

/// Lets a broker serve at one more socket.
fn listen(broker: &Broker, at: &str, served: Served) -> SocketAddr {
    let listener = TcpListener::bind(at).unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let shared = Arc::clone(&broker.shared);
    spawn(&broker.shared, move || accept::all(&shared, vec![Taken::Stream(listener, served)])).unwrap();
    address
}

impl Site {
    pub(super) fn connect(&self) -> TcpStream {
        let client = TcpStream::connect(self.address).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        client
    }

    /// Sends bytes and returns all that comes back.
    pub(super) fn ask(&self, bytes: &[u8]) -> String {
        let mut client = self.connect();
        client.write_all(bytes).ok();
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).ok();
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Returns the target and the rule of each row.
    pub(super) fn record(&self) -> Vec<String> {
        let words = |[target, row]: &[String; 2]| format!("{target} {}", row.split(' ').next().unwrap());
        self.record.lock().unwrap().iter().map(words).collect()
    }

    /// Returns each row behind its target, with its request.
    pub(super) fn rows(&self) -> Vec<String> {
        self.record.lock().unwrap().iter().map(|[_, row]| row.clone()).collect()
    }

    /// Returns this many ends once they have come: what ended, its status, and whether bytes went and came.
    pub(super) fn ends(&self, count: usize) -> Vec<String> {
        let began = Instant::now();
        while self.ends.lock().unwrap().len() < count && began.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let mut ends = self.ends.lock().unwrap().clone();
        ends.sort_by_key(|end| end.id.trim_start_matches("record-").parse::<u64>().unwrap());
        let shown = |end: &BrokeredEnd| {
            let request = shown(end.request.as_ref());
            let status = end.status.map(|status| format!(" {status}")).unwrap_or_default();
            let error = end.error.as_ref().map(|_| " failed").unwrap_or_default();
            format!("{}{request}{status} {}/{}{error}", end.id, end.sent, end.received)
        };
        ends.iter().map(shown).collect()
    }
}

/// A server that sends what each connection said before it paused, and answers it.
fn server() -> (u16, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (heard, hears) = channel();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            client.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
            let mut bytes = Vec::new();
            client.read_to_end(&mut bytes).ok();
            client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").ok();
            heard.send(String::from_utf8_lossy(&bytes).into_owned()).ok();
        }
    });
    (port, hears)
}

pub(super) fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or("none")
}

#[test]
fn what_is_refused_is_told_why_and_is_on_record() {
    let list = ["a.example:443", "inner.example", "*.b.example:80", "unrecorded.localhost:80", "127.0.0.1:9"];
    let site = site(&list, BrokerOptions::default());
    for (request, expected, told) in [
        (
            "CONNECT evil.test:443 HTTP/1.1",
            "403",
            "add `evil.test:443` to `security.permission.allowedNetHosts`",
        ),
        ("CONNECT a.example:22 HTTP/1.1", "403", "with another port"),
        ("CONNECT a.example:443 HTTP/1.1", "403", "resolves to 127.0.0.1, which is this machine itself"),
        ("CONNECT inner.example:443 HTTP/1.1", "403", "resolves to 10.0.0.1, which is"),
        ("CONNECT 93.184.216.34:443 HTTP/1.1", "403", "not-listed"),
        ("CONNECT 169.254.169.254:80 HTTP/1.1", "403", "(metadata)"),
        ("CONNECT metadata.google.internal:80 HTTP/1.1", "403", "(metadata)"),
        ("CONNECT localhost:80 HTTP/1.1", "403", "this machine itself"),
        ("CONNECT [::1]:80 HTTP/1.1", "403", "this machine itself"),
        ("CONNECT 198.18.0.9:80 HTTP/1.1", "403", "not-listed"),
        ("CONNECT stockade.internal:443 HTTP/1.1", "403", "(own-name)"),
        ("CONNECT 2130706433:80 HTTP/1.1", "403", "write it as `127.0.0.1`"),
        ("CONNECT 0x7f.1:80 HTTP/1.1", "403", "(disguised-address)"),
        ("CONNECT a.example:443\u{0}.evil.test HTTP/1.1", "400", "control character"),
        ("GET http://b.example/ HTTP/1.1", "403", "not-listed"),
        ("GET http://x.b.example:81/ HTTP/1.1", "403", "another port"),
        ("GET http://evil.test/ HTTP/1.1\r\nHost: x.b.example", "403", "(other-host)"),
        ("GET http://x.b.example/ HTTP/1.1\r\nHost: evil.test", "403", "(other-host)"),
        ("GET / HTTP/1.1\r\nHost: x.b.example", "400", "the whole URL"),
        ("PRI * HTTP/2.0", "400", "not HTTP/1"),
        ("GET http://127.0.0.1:9/ HTTP/1.1", "502", "(cannot-connect)"),
        ("GET http://unrecorded.localhost/ HTTP/1.1", "503", "the disk is full"),
    ] {
        let before = site.record().len();
        let answer = site.ask(format!("{request}\r\n\r\n").as_bytes());
        assert_eq!(status(&answer), expected, "{request}: {answer}");
        assert!(answer.contains(told), "{request}: {answer}");
        let refused: serde_json::Value = serde_json::from_str(body(&answer)).unwrap();
        if let Some(entry) = refused["entry"].as_str() {
            let target = NetTarget::parse(refused["subject"].as_str().unwrap()).unwrap();
            let advised = HostList::compile(&[entry.to_owned()]).unwrap();
            assert!(advised.entry_for(&target).is_some(), "{request}: {entry}");
        }
        assert_eq!(site.record().len(), before + 1, "{request}: {:?}", site.record());
    }
    let long = format!("GET http://evil.test/ HTTP/1.1\r\nA: {}", "a".repeat(1 << 20));
    assert_eq!(status(&site.ask(long.as_bytes())), "431");
}

/// Returns the body of an answer.
fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").map_or("", |(_, body)| body)
}

#[test]
fn what_was_refused_is_explained_within() {
    let site = site(&["a.example:80 GET /x"], BrokerOptions::default());
    let tunnelled = site.ask(b"CONNECT evil.test:443 HTTP/1.1\r\n\r\n");
    let refused: serde_json::Value = serde_json::from_str(body(&tunnelled)).unwrap();
    for (member, expected) in [
        ("by", "stockade"),
        ("id", "record-1"),
        ("layer", "network"),
        ("effect", "deny"),
        ("subject", "evil.test:443"),
        ("rule", "not-listed"),
        ("reason", "no entry of the list matches it"),
        ("fix", "add `evil.test:443` to `security.permission.allowedNetHosts`"),
        ("entry", "evil.test:443"),
        ("why", "http://stockade.internal/v1/why/record-1"),
    ] {
        assert_eq!(refused[member], expected, "{member}");
    }
    assert!(
        tunnelled.contains("X-Stockade-Why: http://stockade.internal/v1/why/record-1\r\n"),
        "{tunnelled}"
    );
    site.ask(b"\x05\x01\x00\x05\x01\x00\x03\x0aother.test\x01\xbb");
    site.ask(b"CONNECT a.example:22 HTTP/1.1\r\n\r\n");
    let on_record = site.record();
    assert_eq!(
        on_record,
        ["evil.test:443 not-listed", "other.test:443 not-listed", "a.example:22 not-listed"]
    );

    let ask = |request: &str| site.ask(format!("{request}\r\n\r\n").as_bytes());
    let asked = |path: &str| ask(&format!("GET http://stockade.internal{path} HTTP/1.1"));
    let within = "GET /v1/why/evil.test HTTP/1.1\r\nHost: stockade.internal";
    let through_a_tunnel = ask(&format!("CONNECT stockade.internal:80 HTTP/1.1\r\n\r\n{within}"));
    assert!(through_a_tunnel.starts_with("HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 OK"));
    assert!(through_a_tunnel.ends_with(body(&tunnelled)), "{through_a_tunnel}");
    for path in ["/v1/why/record-1", "/v1/why/evil.test", "/v1/why/evil.test:443?x=1"] {
        let answer = asked(path);
        assert_eq!((status(&answer), body(&answer)), ("200", body(&tunnelled)), "{path}");
    }
    let all: serde_json::Value = serde_json::from_str(body(&asked("/v1/why"))).unwrap();
    let subjects = [0, 1, 2, 3].map(|at| all["refused"][at]["subject"].clone());
    assert_eq!(
        subjects.map(|one| one.as_str().unwrap_or("none").to_owned()),
        ["evil.test:443", "other.test:443", "a.example:22", "none"]
    );
    assert_eq!(body(&ask("HEAD http://stockade.internal/v1/why HTTP/1.1")), "");
    for (request, expected) in [
        ("GET http://stockade.internal/v1/why/record-9 HTTP/1.1", "404"),
        ("GET http://stockade.internal/v1/whynot HTTP/1.1", "404"),
        ("GET http://stockade.internal/ HTTP/1.1", "404"),
        ("POST http://stockade.internal/v1/why HTTP/1.1", "405"),
    ] {
        let answer = ask(request);
        assert_eq!(status(&answer), expected, "{request}");
        assert!(body(&answer).contains("http://stockade.internal/v1/why lists"), "{answer}");
    }
    // A request for the reason is not recorded, and the broker answers nothing else under its name.
    assert_eq!(site.record(), on_record);
    assert!(ask("CONNECT stockade.internal:443 HTTP/1.1").contains("own-name"));
}

#[test]
fn who_drips_or_idles_is_let_go() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let options = BrokerOptions {
        patience: Duration::from_millis(300),
        idle: Duration::from_millis(300),
        ..BrokerOptions::default()
    };
    let site = site(&[&format!("127.0.0.1:{port}/tcp")], options);
    let mut drips = site.connect();
    let began = Instant::now();
    while drips.write_all(b"G").is_ok() && began.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!(site.record(), ["the request too-slow"]);

    let mut idles = site.connect();
    idles.write_all(format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n").as_bytes()).unwrap();
    let _server = listener.accept().unwrap();
    let mut all = Vec::new();
    idles.read_to_end(&mut all).ok();
    assert!(all.starts_with(b"HTTP/1.1 200 ") && began.elapsed() < Duration::from_secs(20));
}

#[test]
fn connections_and_requests_are_bounded() {
    let options = BrokerOptions { connections: 4, requests: Some(10), ..BrokerOptions::default() };
    let site = site(&[], options);
    let most = Arc::new(AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..5 {
                    let answer = site.ask(b"CONNECT evil.test:443 HTTP/1.1\r\n\r\n");
                    assert!(["403", "429"].contains(&status(&answer)), "{answer}");
                    most.fetch_max(site.broker.shared.lock().clients, Ordering::Relaxed);
                }
            });
        }
    });
    assert!(most.load(Ordering::Relaxed) <= 4, "{most:?}");
    let record = site.record();
    let refused = record.iter().filter(|line| *line == "evil.test:443 not-listed").count();
    assert_eq!((refused, record.len()), (10, 11), "{record:?}");
    assert!(record.contains(&"the request too-many".to_owned()));
}

/// A day's work of an agent has no end that nothing names.
#[test]
fn requests_are_unlimited_by_default() {
    let site = site(&[], BrokerOptions::default());
    site.broker.shared.lock().requests = 1 << 40;
    assert_eq!(status(&site.ask(b"CONNECT evil.test:443 HTTP/1.1\r\n\r\n")), "403");
    assert_eq!(site.record(), ["evil.test:443 not-listed"]);
}

/// A burst of honest clients is served to the last, a few at a time.
#[test]
fn a_burst_waits_and_is_served() {
    let (port, _hears) = server();
    let options = BrokerOptions { connections: 4, ..BrokerOptions::default() };
    let site = site(&[&format!("web.localhost:{port}")], options);
    let request = format!("GET http://web.localhost:{port}/ HTTP/1.1\r\n\r\n");
    std::thread::scope(|scope| {
        let ask = || scope.spawn(|| site.ask(request.as_bytes()));
        let burst: Vec<_> = (0..24).map(|_| ask()).collect();
        for one in burst {
            let answer = one.join().unwrap();
            assert!(answer.ends_with("ok"), "{answer}");
        }
    });
}

#[test]
fn ten_thousand_that_say_nothing_do_no_harm() {
    let site = site(&[], BrokerOptions::default());
    for _ in 0..10_000 {
        let mut client = site.connect();
        client.shutdown(Shutdown::Write).unwrap();
        assert_eq!(client.read(&mut [0]).unwrap(), 0);
    }
    assert_eq!(status(&site.ask(b"CONNECT evil.test:443 HTTP/1.1\r\n\r\n")), "403");
    assert_eq!(site.record(), ["evil.test:443 not-listed"]);
    assert!(site.broker.shared.lock().threads <= DEFAULT_CONNECTIONS + 2);
}

#[test]
fn the_end_cuts_everything() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let site = site(&[&format!("127.0.0.1:{port}")], BrokerOptions::default());
    let mut tunnel = site.connect();
    tunnel.write_all(format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n").as_bytes()).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    let silent = site.connect();
    let (shared, address) = (Arc::clone(&site.broker.shared), site.address);
    assert!(shared.lock().threads >= 3);
    let began = Instant::now();
    drop(site);
    assert!(began.elapsed() < MAX_WAIT_AT_THE_END, "{:?}", began.elapsed());
    assert_eq!(shared.lock().threads, 0);
    let mut rest = Vec::new();
    for mut socket in [&tunnel, &silent] {
        socket.read_to_end(&mut rest).ok();
    }
    server.read_to_end(&mut rest).ok();
    assert!(TcpStream::connect(address).is_err());
}
