//! What is opened with something that is lent ends with it.

use super::*;

/// Lends a value for a moment on each request.
#[derive(Debug)]
struct Lends;

impl Rewrite for Lends {
    fn inspects(&self, _: &NetTarget, _: bool) -> bool {
        true
    }

    fn request(
        &self,
        _: Conversation<'_>,
        head: &mut http::request::Parts,
    ) -> Result<BodyRewrite, RewriteRefusal> {
        let until = LentUntil(Instant::now() + Duration::from_millis(400));
        let lend = move |head: &mut http::request::Parts| {
            head.extensions.insert(until);
        };
        match head.uri.path() {
            "/whole" => Ok(BodyRewrite::Whole {
                most: 10,
                then: Box::new(move |head, bytes| {
                    lend(head);
                    Ok(bytes)
                }),
            }),
            "/free" => Ok(BodyRewrite::Unchanged),
            _ => {
                lend(head);
                Ok(BodyRewrite::Unchanged)
            }
        }
    }

    fn answer(
        &self,
        _: Conversation<'_>,
        _: &mut http::response::Parts,
    ) -> Result<BodyRewrite, RewriteRefusal> {
        Ok(BodyRewrite::Unchanged)
    }
}

/// A host that says something every now and then, for as long as anybody listens; as a websocket where that is asked for.
fn talking_host() -> TlsHost {
    tls_host(HOST, &[], |mut stream| {
        let Some((head, length)) = head_of(&mut stream) else { return };
        let mut body = vec![0; length];
        stream.read_exact(&mut body).ok();
        let answer = match head.to_lowercase().contains("upgrade: websocket") {
            true => {
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n"
            }
            false => "HTTP/1.1 200 OK\r\n\r\n",
        };
        stream.write_all(answer.as_bytes()).ok();
        while stream.write_all(b"tick").is_ok() {
            std::thread::sleep(Duration::from_millis(50));
        }
    })
}

#[test]
fn a_lease_that_ends_also_ends_what_it_opened() {
    let host = talking_host();
    let upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\n";
    for (request, is_lent) in [
        (format!("GET /stream HTTP/1.1\r\nHost: {HOST}\r\n\r\n"), true),
        (format!("POST /whole HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: 1\r\n\r\nx"), true),
        (format!("GET /ws HTTP/1.1\r\nHost: {HOST}\r\n{upgrade}\r\n"), true),
        (format!("GET /free HTTP/1.1\r\nHost: {HOST}\r\n\r\n"), false),
    ] {
        let site = looking_with(&host, "", BrokerOptions::default(), Some(Arc::new(Lends)));
        let mut stream = through(&site, host.port, &[]);
        stream.write_all(request.as_bytes()).unwrap();
        let (mut all, mut room, began) = (Vec::new(), [0; 1024], Instant::now());
        // What is not lent goes on for longer than that.
        while began.elapsed() < Duration::from_secs(if is_lent { 20 } else { 2 }) {
            match stream.read(&mut room) {
                Ok(read @ 1..) => all.extend_from_slice(&room[..read]),
                _ => break,
            }
        }
        let said = String::from_utf8_lossy(&all).into_owned();
        assert!(said.contains("tick"), "{request}: {said}");
        let expired = site.record().iter().any(|one| one.ends_with("secret-expired"));
        assert_eq!(expired, is_lent, "{request}: {:?}", site.record());
        assert_eq!(began.elapsed() < Duration::from_secs(2), is_lent, "{request}");
    }
}

/// A body that is read whole comes in pieces that come in time.
#[test]
fn a_whole_body_that_drips_is_too_slow() {
    let (host, hears) = telling_host();
    for (patience, idle) in [(600, 60_000), (60_000, 900)] {
        let options = BrokerOptions {
            patience: Duration::from_millis(patience),
            idle: Duration::from_millis(idle),
            ..BrokerOptions::default()
        };
        let site = looking_with(&host, "", options, Some(Arc::new(Lends)));
        let mut stream = through(&site, host.port, &[]);
        write!(stream, "POST /whole HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: 9\r\n\r\n").unwrap();
        // Each piece of the second comes in time, and all of them together do not.
        for _ in 0..if idle < patience { 6 } else { 1 } {
            stream.write_all(b"x").ok();
            stream.flush().ok();
            std::thread::sleep(Duration::from_millis(200));
        }
        let (status, body) = answer(&mut stream).unwrap();
        assert_eq!((status, body.contains("too-slow")), (408, true), "{body}");
    }
    assert!(hears.try_recv().is_err());
}
