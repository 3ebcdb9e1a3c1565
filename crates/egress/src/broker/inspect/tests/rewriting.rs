//! Requests and answers that are changed on their way.

use super::*;

/// Puts something into requests and takes it out of answers.
#[derive(Debug)]
struct Swap;

#[derive(Debug)]
pub(super) struct Upper(pub(super) &'static str);

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
    fn inspects(&self, target: &NetTarget, _: bool) -> bool {
        target.host == Host::Name(HOST.to_owned())
    }

    fn request(
        &self,
        to: Conversation<'_>,
        head: &mut http::request::Parts,
    ) -> Result<BodyRewrite, RewriteRefusal> {
        if head.uri.path() == "/no" {
            let reason = format!("it is {}", to.is_tls);
            return Err(RewriteRefusal {
                rule: "placeholder-elsewhere",
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
    assert!(body.contains("placeholder-elsewhere") && body.contains("it is true"), "{body}");
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
    fn inspects(&self, _: &NetTarget, _: bool) -> bool {
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
