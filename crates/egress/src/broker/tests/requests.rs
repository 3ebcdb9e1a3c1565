//! Requests over plain HTTP: each is judged, bounded and carried alone.

use super::*;

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
        assert!(
            answer.contains("\r\nConnection: close\r\n"),
            "the next request would be sent in vain: {answer}"
        );
        let said = hears.recv_timeout(Duration::from_secs(10)).unwrap();
        let (head, body) = said.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!(" /x HTTP/1.1\r\nHost: web.localhost:{port}\r\n")), "{head}");
        assert!(head.ends_with("Connection: close") && body == heard, "{request}: {said}");
    }
    assert_eq!(site.record(), vec![format!("web.localhost:{port} listed"); 4]);
}

/// What is sent and how it ended can be told afterwards, whatever the client spoke.
#[test]
fn each_request_and_connection_is_recorded_with_its_end() {
    let (port, hears) = server();
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let host = format!("web.localhost:{port}");
    let list = [
        format!("{host} GET|POST /v1/**"),
        format!("raw.localhost:{port}/tcp"),
        format!("gone.localhost:{gone}"),
    ];
    let site = site(&list.each_ref().map(String::as_str), BrokerOptions::default());
    site.ask(format!("GET http://{host}/v1/a?key=x HTTP/1.1\r\n\r\n").as_bytes());
    site.ask(format!("GET http://{host}/v2 HTTP/1.1\r\n\r\n").as_bytes());
    let post = format!("POST /v1/b HTTP/1.1\r\nHost: {host}\r\nContent-Length: 4\r\n\r\nbody");
    site.ask(format!("CONNECT {host} HTTP/1.1\r\n\r\n{post}").as_bytes());
    site.ask(format!("CONNECT raw.localhost:{port} HTTP/1.1\r\n\r\n\x01\x02\x03").as_bytes());
    site.ask(format!("GET http://gone.localhost:{gone}/ HTTP/1.1\r\n\r\n").as_bytes());
    site.ask(format!("CONNECT gone.localhost:{gone} HTTP/1.1\r\n\r\n").as_bytes());
    assert_eq!(
        site.rows(),
        ["listed GET /v1/a", "not-listed GET /v2", "listed POST /v1/b", "listed", "listed GET /", "listed"]
    );
    let heard: Vec<String> = (0..3).map(|_| hears.recv().unwrap()).collect();
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".len();
    let expected = [
        format!("record-1 GET /v1/a 200 {}/{answer}", heard[0].len()),
        format!("record-3 POST /v1/b 200 {}/{answer}", heard[1].len()),
        format!("record-4 3/{answer}"),
        "record-5 GET / 0/0 failed".to_owned(),
        "record-6 0/0 failed".to_owned(),
    ];
    assert_eq!(site.ends(5), expected);
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
