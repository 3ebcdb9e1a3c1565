//! Hosts behind the proxy of this machine, which is a real one of each kind here.

use super::super::super::upstream_proxy::{UpstreamProxies, UpstreamProxy};
use super::*;

/// A proxy that sends what it was asked for, and lets everything lead to one port of this machine.
fn proxy(kind: &'static str, leads_to: u16) -> (u16, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (asked, asks) = channel();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (mut client, asked) = (client.unwrap(), asked.clone());
            std::thread::spawn(move || {
                let first = match kind {
                    "socks" => by_socks(&mut client),
                    _ => by_http(&mut client, kind),
                };
                asked.send(first.clone()).ok();
                if kind == "403" || kind == "407" {
                    return;
                }
                let mut server = TcpStream::connect(("127.0.0.1", leads_to)).unwrap();
                if first.starts_with("GET ") || first.starts_with("POST ") {
                    server.write_all(first.as_bytes()).unwrap();
                }
                let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                let back = std::thread::spawn(move || {
                    io::copy(&mut from, &mut to).ok();
                    to.shutdown(Shutdown::Write).ok();
                });
                io::copy(&mut client, &mut server).ok();
                server.shutdown(Shutdown::Write).ok();
                back.join().unwrap();
            });
        }
    });
    (port, asks)
}

fn by_http(client: &mut TcpStream, kind: &str) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if client.read(&mut byte).unwrap() == 0 {
            break;
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let answer = match kind {
        "403" => "HTTP/1.1 403 Not Here\r\n\r\n",
        "407" => "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n",
        // In pieces, with the first bytes of a host that speaks first behind the last.
        _ if head.starts_with("CONNECT ") => "HTTP/1.1 200 Connection established\r\nX: y\r\n\r\n",
        _ => "",
    };
    for piece in answer.as_bytes().chunks(19) {
        client.write_all(piece).unwrap();
        client.flush().unwrap();
    }
    head
}

fn by_socks(client: &mut TcpStream) -> String {
    let mut read = |length: usize| {
        let mut bytes = vec![0; length];
        client.read_exact(&mut bytes).unwrap();
        bytes
    };
    assert_eq!(read(4), [5, 2, 0, 2], "no login, or a password");
    client.write_all(&[5, 2]).unwrap();
    let mut read = |length: usize| {
        let mut bytes = vec![0; length];
        client.read_exact(&mut bytes).unwrap();
        bytes
    };
    assert_eq!(read(2 + 2 + 1 + 3), b"\x01\x02me\x03pwd");
    client.write_all(&[1, 0]).unwrap();
    let mut head = [0; 5];
    client.read_exact(&mut head).unwrap();
    assert_eq!(head[..4], [5, 1, 0, 3], "a name, which the proxy resolves");
    let mut rest = vec![0; usize::from(head[4]) + 2];
    client.read_exact(&mut rest).unwrap();
    client.write_all(&[5, 0, 0, 3, 2, b'x', b'y', 0, 80]).unwrap();
    let port = rest.split_off(rest.len() - 2);
    format!("{}:{}", String::from_utf8(rest).unwrap(), u16::from_be_bytes([port[0], port[1]]))
}

fn behind(url: &str, except: &str) -> BrokerOptions {
    let upstream = UpstreamProxies::through(UpstreamProxy::parse(url).unwrap()).without(except);
    BrokerOptions { upstream, ..BrokerOptions::default() }
}

#[test]
fn hosts_are_reached_through_a_proxy_of_this_machine() {
    let (server, hears) = server();
    let (port, asks) = proxy("http", server);
    let list = ["web.example", "inner.example", "raw.example:7/tcp", &format!("own.localhost:{server}")];
    let site = site(&list, behind(&format!("http://me:pwd@p.example:{port}"), ""));
    let plain = site.ask(b"GET http://web.example/x HTTP/1.1\r\nX-A: b\r\n\r\n");
    assert!(plain.ends_with("ok"), "{plain}");
    let asked = asks.recv().unwrap();
    let login = "Proxy-Authorization: Basic bWU6cHdk\r\n";
    assert!(asked.starts_with(&format!("GET http://web.example/x HTTP/1.1\r\n{login}")), "{asked}");
    assert!(asked.contains("\r\nHost: web.example\r\n"), "{asked}");
    hears.recv().unwrap();

    // A name that leads to a private address here is one that the proxy resolves, and no other is.
    let inner = site
        .ask(b"CONNECT inner.example:443 HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nHost: inner.example:443\r\n\r\n");
    assert!(inner.ends_with("ok"), "{inner}");
    let asked = asks.recv().unwrap();
    assert_eq!(
        asked,
        format!("CONNECT inner.example:443 HTTP/1.1\r\nHost: inner.example:443\r\n{login}\r\n")
    );
    let heard = hears.recv().unwrap();
    assert!(heard.starts_with("GET / HTTP/1.1\r\n") && !heard.contains("Proxy-"), "{heard}");
    assert!(site.ask(b"GET http://other.example/ HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 403 "));

    let direct = site.ask(format!("GET http://own.localhost:{server}/d HTTP/1.1\r\n\r\n").as_bytes());
    assert!(direct.ends_with("ok") && hears.recv().unwrap().starts_with("GET /d "), "{direct}");
    // Another protocol than HTTP does not use a proxy outside either: this one finds nothing at its port.
    site.ask(b"CONNECT raw.example:7 HTTP/1.1\r\n\r\n");
    assert!(asks.try_recv().is_err());
}

#[test]
fn socks_with_a_password_is_spoken_to_a_proxy() {
    let (server, hears) = server();
    let (port, asks) = proxy("socks", server);
    let site = site(&["web.example"], behind(&format!("socks5h://me:pwd@p.example:{port}"), ""));
    let answer = site.ask(b"GET http://web.example/x HTTP/1.1\r\n\r\n");
    assert!(answer.ends_with("ok"), "{answer}");
    assert_eq!(asks.recv().unwrap(), "web.example:80");
    let heard = hears.recv().unwrap();
    assert!(heard.starts_with("GET /x HTTP/1.1\r\nHost: web.example\r\n"), "{heard}");
}

#[test]
fn a_proxy_that_refuses_is_named() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for (port, why) in [
        (proxy("403", 0).0, "answered `HTTP/1.1 403 Not Here`"),
        (proxy("407", 0).0, "requires another login (407)"),
        (closed, "cannot be reached"),
    ] {
        let site = site(&["web.example"], behind(&format!("http://p.example:{port}"), ""));
        let answer = site.ask(b"CONNECT web.example:443 HTTP/1.1\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 502 Refused by stockade (cannot-connect)"), "{answer}");
        assert!(answer.contains("the upstream proxy `p.example:") && answer.contains(why), "{answer}");
    }
}
