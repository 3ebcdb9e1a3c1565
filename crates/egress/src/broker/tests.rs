//! A broker as its clients find it. The socket is one of this machine here; guard's `tests/it/broker.rs` goes through a sandbox.

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
    record: Arc<Mutex<Vec<String>>>,
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
    let record = Arc::new(Mutex::new(Vec::new()));
    let written = Arc::clone(&record);
    let witness = move |brokered: &Brokered| {
        let mut written = written.lock().unwrap();
        written.push(format!("{} {}", brokered.target, brokered.rule));
        let is_full = brokered.target.starts_with("unrecorded");
        if is_full { Err("the disk is full".to_owned()) } else { Ok(format!("record-{}", written.len())) }
    };
    let hosts: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
    let list = HostList::compile(&hosts).unwrap();
    let broker = Broker::with(list, options, rewrite, Box::new(witness), Box::new(resolve)).unwrap();
    let address = listen(&broker, "127.0.0.1:0", Served::Proxy);
    Site { broker, address, record }
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

    pub(super) fn record(&self) -> Vec<String> {
        self.record.lock().unwrap().clone()
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
        ("CONNECT a.example:443 HTTP/1.1", "403", "leads to 127.0.0.1, and that is this machine itself"),
        ("CONNECT inner.example:443 HTTP/1.1", "403", "leads to 10.0.0.1, and that is"),
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
        ("PRI * HTTP/2.0", "400", "none of HTTP/1"),
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
        ("reason", "no entry of the list names it"),
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
        assert!(body(&answer).contains("http://stockade.internal/v1/why tells"), "{answer}");
    }
    // Whoever asks is not put on record, and the broker answers nothing else under its name.
    assert_eq!(site.record(), on_record);
    assert!(ask("CONNECT stockade.internal:443 HTTP/1.1").contains("own-name"));
}

#[test]
fn one_plain_request_goes_through_and_none_behind_it() {
    let (port, hears) = server();
    let site = site(&[&format!("web.localhost:{port}")], BrokerOptions::default());
    let url = format!("http://web.localhost:{port}/x");
    for (request, heard) in [
        (format!("GET {url} HTTP/1.1\r\n\r\n"), ""),
        (format!("POST {url} HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody"), "body"),
        (format!("GET {url} HTTP/1.1\r\n\r\nGET http://evil.test/ HTTP/1.1\r\n\r\n"), ""),
        (
            format!("POST {url} HTTP/1.1\r\nContent-Length: 4\r\n\r\nbodyGET /smuggled HTTP/1.1\r\n\r\n"),
            "body",
        ),
    ] {
        let answer = site.ask(request.as_bytes());
        assert!(answer.ends_with("ok"), "{request}: {answer}");
        let said = hears.recv_timeout(Duration::from_secs(10)).unwrap();
        let (head, body) = said.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!(" /x HTTP/1.1\r\nHost: web.localhost:{port}\r\n")), "{head}");
        assert!(head.ends_with("Connection: close") && body == heard, "{request}: {said}");
    }
    assert_eq!(site.record(), vec![format!("web.localhost:{port} listed"); 4]);
}

#[test]
fn a_tunnel_carries_both_ways_and_tells_the_end() {
    let (port, hears) = server();
    let site = site(&[&format!("127.0.0.1:{port}/tcp")], BrokerOptions::default());
    let mut client = site.connect();
    // What comes at once with the request belongs to the tunnel.
    client.write_all(format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\nfirst ").as_bytes()).unwrap();
    let mut established = [0; 39];
    client.read_exact(&mut established).unwrap();
    assert!(established.starts_with(b"HTTP/1.1 200 "));
    client.write_all(b"second").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(hears.recv_timeout(Duration::from_secs(10)).unwrap(), "first second");
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("ok"), "{answer}");
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
fn requests_have_no_bound_that_nobody_set() {
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

/// The first message of a client that asks for a name over TLS, in one record.
fn hello(name: &str) -> Vec<u8> {
    let counted = |bytes: &[u8]| [&(bytes.len() as u16).to_be_bytes()[..], bytes].concat();
    let names = counted(&[&[0][..], &counted(name.as_bytes())].concat());
    let extension = [&[0, 0][..], &counted(&names)].concat();
    let body = [&[3, 3][..], &[7; 32], &[0, 0, 2, 0x13, 1, 1, 0], &counted(&extension)].concat();
    [&[22, 3, 1][..], &counted(&[&[1, 0][..], &counted(&body)].concat())].concat()
}

#[test]
fn a_tunnel_is_bound_to_its_host() {
    let (port, hears) = server();
    let host = format!("web.localhost:{port}");
    let list = [host.as_str(), &format!("any.localhost:{port}/tcp")];
    let site = site(&list, BrokerOptions::default());
    let connect = |to: &str, says: &[u8]| {
        let mut client = site.connect();
        client.write_all(format!("CONNECT {to} HTTP/1.1\r\n\r\n").as_bytes()).unwrap();
        client.write_all(says).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).ok();
        assert!(answer.starts_with(b"HTTP/1.1 200 "), "{answer:?}");
        answer.split_off(39)
    };
    let denied = [21, 3, 3, 0, 2, 2, 49];
    let greeting = hello("WEB.localhost");
    assert!(connect(&host, &greeting).ends_with(b"ok"));
    assert!(hears.recv_timeout(Duration::from_secs(10)).unwrap().contains("WEB.localhost"));
    assert_eq!(connect(&host, &hello("evil.test")), denied);
    assert_eq!(connect(&host, b"\x00anything"), b"");
    assert_eq!(connect(&host, b"SSH-2.0-x\r\n"), b"");
    assert!(connect(&host, b"GET /in HTTP/1.1\r\nHost: evil.test\r\n\r\n").starts_with(b"HTTP/1.1 403 "));
    let request = format!("GET /in HTTP/1.1\r\nHost: {host}\r\n\r\n");
    assert!(connect(&host, request.as_bytes()).ends_with(b"ok"));
    assert!(connect(&format!("any.localhost:{port}"), b"\x00anything").ends_with(b"ok"));
    let heard: Vec<String> = (0..6).filter_map(|_| hears.recv_timeout(Duration::from_secs(2)).ok()).collect();
    assert_eq!(heard.iter().filter(|said| said.contains("evil")).count(), 0, "{heard:?}");
    assert_eq!(heard.iter().filter(|said| said.contains("anything")).count(), 1, "{heard:?}");
    let refused: Vec<String> = site.record().into_iter().filter(|line| !line.ends_with(" listed")).collect();
    let rules = ["other-host", "not-tls", "not-tls", "other-host"];
    assert_eq!(refused, rules.map(|rule| format!("{host} {rule}")));
}

#[test]
fn what_connects_to_an_address_is_taken_for_its_name() {
    let (port, hears) = server();
    let taken = |broker: &Broker| listen(broker, &format!("127.0.0.2:{port}"), Served::Host);
    let site = site(&[&format!("127.0.0.2:{port}")], BrokerOptions::default());
    // Whatever is listened at within stands for itself, if no name was told that address. Here, it is the broker's own.
    let within = taken(&site.broker);
    let ask = |says: &[u8]| {
        let mut client = TcpStream::connect(within).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        client.write_all(says).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).ok();
        String::from_utf8_lossy(&answer).into_owned()
    };
    assert!(ask(b"GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n").starts_with("HTTP/1.1 403 "));
    assert_eq!(ask(b"\x01"), "");
    assert_eq!(ask(b""), "");
    assert!(hears.try_recv().is_err());
    let host = format!("127.0.0.2:{port}");
    let record = site.record();
    assert_eq!(record, [format!("{host} listed"), format!("{host} other-host"), format!("{host} not-tls")]);
}

#[test]
fn socks_is_spoken_as_well() {
    let (port, hears) = server();
    let site = site(&[&format!("web.localhost:{port}")], BrokerOptions::default());
    let ask = |name: &str, port: u16| {
        let mut client = site.connect();
        client.write_all(&[5, 2, 2, 0]).unwrap();
        let mut welcome = [0; 2];
        client.read_exact(&mut welcome).unwrap();
        assert_eq!(welcome, [5, 0]);
        let asked = [&[5, 1, 0, 3, name.len() as u8][..], name.as_bytes(), &port.to_be_bytes()].concat();
        client.write_all(&asked).unwrap();
        let mut reply = [0; 10];
        client.read_exact(&mut reply).unwrap();
        (client, reply[1])
    };
    assert_eq!(ask("evil.test", 443).1, 2);
    assert_eq!(ask("127.0.0.1", port).1, 2);
    let (mut client, reply) = ask("web.localhost", port);
    assert_eq!(reply, 0);
    client.write_all(format!("GET / HTTP/1.1\r\nHost: web.localhost:{port}\r\n\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("ok") && hears.recv_timeout(Duration::from_secs(10)).is_ok());
    let refused = ["evil.test:443 not-listed".to_owned(), format!("127.0.0.1:{port} not-listed")];
    assert_eq!(site.record()[..2], refused);
}

/// Who has said what it wants stays; those that are silent go when others wait.
#[test]
fn an_honest_request_waits_for_no_silent_one() {
    let site = site(&[], BrokerOptions::default());
    let silent: Vec<TcpStream> = (0..400).map(|_| site.connect()).collect();
    let began = Instant::now();
    assert_eq!(status(&site.ask(b"CONNECT evil.test:443 HTTP/1.1\r\n\r\n")), "403");
    println!("behind {} silent ones: {:?}", silent.len(), began.elapsed());
    // So long each of them might have stayed silent.
    assert!(began.elapsed() < site.broker.shared.options.patience / 2);
}

/// What a host hears of a request before its body of one digit's length.
fn head_of_a_post(host: &str) -> String {
    format!("POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 4\r\nConnection: close\r\n\r\n")
}

#[test]
fn requests_are_judged_one_by_one() {
    let (port, hears) = server();
    let at = |name: &str| format!("{name}.localhost:{port}");
    let list = [
        format!("{} GET|POST /v1/**", at("web")),
        format!("!{} GET /v1/secret", at("web")),
        format!("{} requests=2 upload={}", at("few"), head_of_a_post(&at("few")).len() + 4),
    ];
    let site = site(&list.each_ref().map(String::as_str), BrokerOptions::default());
    let proxied = |method: &str, host: &str, path: &str, body: &str| {
        let length = body.len();
        site.ask(
            format!("{method} http://{host}{path} HTTP/1.1\r\nContent-Length: {length}\r\n\r\n{body}")
                .as_bytes(),
        )
    };
    let tunnelled = |method: &str, host: &str, path: &str| {
        let head = format!("CONNECT {host} HTTP/1.1\r\n\r\n{method} {path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        let answer = site.ask(head.as_bytes());
        answer.split_once("\r\n\r\n").map(|(_, rest)| rest.to_owned()).unwrap_or_default()
    };
    for (method, host, path, body, expected) in [
        ("GET", at("web"), "/v1/x", "", "200"),
        ("GET", at("web"), "/v1/secret", "", "403"),
        ("GET", at("web"), "/v1/%73ecret", "", "403"),
        ("GET", at("web"), "/v1/x/../secret", "", "403"),
        ("DELETE", at("web"), "/v1/x", "", "403"),
        ("GET", at("web"), "/v2", "", "403"),
        ("POST", at("few"), "/", "1234", "200"),
        ("POST", at("few"), "/", "12345", "413"),
        ("POST", at("few"), "/", "1", "429"),
    ] {
        let answer = proxied(method, &host, path, body);
        assert_eq!(status(&answer), expected, "{method} {host}{path}: {answer}");
        if host == at("web") {
            assert_eq!(status(&tunnelled(method, &host, path)), expected, "{method} {host}{path}");
        }
    }
    assert!(proxied("PUT", &at("web"), "/v1/x?y", "").contains(&format!("add `{} PUT /v1/x ?y`", at("web"))));
    let heard: Vec<String> = (0..4).filter_map(|_| hears.recv_timeout(Duration::from_secs(2)).ok()).collect();
    assert!(
        heard.iter().all(|said| said.is_empty() || said.contains("/v1/x ") || said.ends_with("1234")),
        "{heard:?}"
    );
}

#[test]
fn what_an_entry_bounds_is_cut() {
    let (port, hears) = server();
    let at = |name: &str| format!("{name}.localhost:{port}");
    let list = [
        format!("{}/tcp upload=8", at("up")),
        format!("{}/tcp download=8", at("down")),
        format!("{}/tcp for=1s", at("short")),
    ];
    let site = site(&list.each_ref().map(String::as_str), BrokerOptions::default());
    let ask =
        |host: String, says: &str| site.ask(format!("CONNECT {host} HTTP/1.1\r\n\r\n{says}").as_bytes());
    let record = |name: &str, rule: &str| {
        let line = format!("{} {rule}", at(name));
        let is_there = || site.record().contains(&line);
        assert!(
            (0..100).any(|_| is_there() || (std::thread::sleep(Duration::from_millis(50)), false).1),
            "{line}"
        );
    };
    ask(at("up"), "12345678901234567890");
    record("up", "too-much");
    assert!(!ask(at("down"), "12345678901234567890").ends_with("ok"));
    record("down", "too-much");
    let began = Instant::now();
    let mut client = site.connect();
    client.write_all(format!("CONNECT {} HTTP/1.1\r\n\r\n", at("short")).as_bytes()).unwrap();
    while client.write_all(b"x").is_ok() && began.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(50));
    }
    record("short", "expired");
    assert!(began.elapsed() < Duration::from_secs(10));
    let answer = ask(at("short"), "x");
    assert!(!answer.contains("ok"), "{answer}");
    drop(hears);
}

/// A path, a query and headers tell as much as a body does.
#[test]
fn the_head_of_a_request_is_uploaded_too() {
    let (port, hears) = server();
    let host = format!("web.localhost:{port}");
    let most = head_of_a_post(&host).len() + 4;
    let site = site(&[&format!("{host} upload={most}")], BrokerOptions::default());
    let ask =
        |path: &str, more: &str| site.ask(format!("POST http://{host}{path} HTTP/1.1\r\n{more}").as_bytes());
    for (path, more, expected) in [
        ("/", "Content-Length: 4\r\n\r\n1234", "200"),
        ("/?abc", "Content-Length: 0\r\n\r\n", "200"),
        ("/", "Content-Length: 5\r\n\r\n12345", "413"),
        ("/?", "Content-Length: 4\r\n\r\n1234", "413"),
        ("/?abcd", "Content-Length: 0\r\n\r\n", "413"),
        ("/", "Content-Length: 0\r\nA: b\r\n\r\n", "413"),
        (&format!("/{}", "x".repeat(9_000)), "\r\n", "413"),
        ("/", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "413"),
    ] {
        let before = site.record().len();
        assert_eq!(status(&ask(path, more)), expected, "{path} {more}");
        let is_told = site.record()[before..].contains(&format!("{host} too-much"));
        assert_eq!(is_told, expected == "413", "{path} {more}");
    }
    let heard: Vec<String> = (0..8).filter_map(|_| hears.recv_timeout(Duration::from_secs(2)).ok()).collect();
    let said: Vec<&String> = heard.iter().filter(|said| !said.is_empty()).collect();
    assert!(said.len() == 2 && said.iter().all(|said| said.len() <= most), "{heard:?}");
}

/// A host that becomes a websocket if it is asked to, and then answers each byte by the next one.
fn websocket_host(agrees: bool) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                client.read_exact(&mut byte).unwrap();
                head.extend(byte);
            }
            let head = String::from_utf8(head).unwrap().to_lowercase();
            let is_asked =
                head.contains("\r\nupgrade: websocket\r\n") && head.contains("connection: upgrade");
            let answer = match agrees && is_asked {
                true => {
                    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
                }
                false => "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno",
            };
            client.write_all(answer.as_bytes()).unwrap();
            client.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
            let mut byte = [0];
            while client.read_exact(&mut byte).is_ok() {
                client.write_all(&[byte[0] + 1]).unwrap();
            }
        }
    });
    port
}

/// A websocket over plain HTTP is one on both sides, and nothing rides behind a request that did not become one.
#[test]
fn a_plain_websocket_is_carried() {
    for (agrees, asks) in [(true, true), (false, true), (true, false)] {
        let port = websocket_host(agrees);
        let site = site(&[&format!("t.localhost:{port}")], BrokerOptions::default());
        let upgrade = if asks { "Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n" } else { "" };
        let mut client = site.connect();
        write!(client, "GET http://t.localhost:{port}/ws HTTP/1.1\r\n{upgrade}\r\n").unwrap();
        let mut answer = vec![0; 9 + 3];
        client.read_exact(&mut answer).unwrap();
        let becomes = agrees && asks;
        assert_eq!(&answer, if becomes { b"HTTP/1.1 101" } else { b"HTTP/1.1 200" });
        client.write_all(b"a").ok();
        let mut rest = Vec::new();
        client.set_read_timeout(Some(Duration::from_millis(600))).unwrap();
        client.read_to_end(&mut rest).ok();
        assert_eq!(
            rest.ends_with(b"\r\n\r\nb"),
            becomes,
            "{agrees} {asks} {}",
            String::from_utf8_lossy(&rest)
        );
    }
    let site = site(&["t.localhost:80"], BrokerOptions::default());
    let other = "GET http://t.localhost/ HTTP/1.1\r\nUpgrade: tcp\r\nConnection: Upgrade\r\n\r\n";
    let answer = site.ask(other.as_bytes());
    assert!(answer.starts_with("HTTP/1.1 501") && answer.contains("other-protocol"), "{answer}");
}
