//! Requests whose bodies decide.

use super::rewriting::Upper;
use super::*;

/// A host that answers every request with its body.
fn echoing_host() -> TlsHost {
    tls_host(HOST, &[], |mut stream| {
        while let Some((_, length)) = head_of(&mut stream) {
            let mut body = vec![0; length];
            if stream.read_exact(&mut body).is_err() {
                return;
            }
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
            if stream.write_all(&[head.as_bytes(), &body].concat()).is_err() {
                return;
            }
        }
    })
}

fn post(path: &str, kind: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: {HOST}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

const JSON: &str = "application/json; charset=utf-8";

#[test]
fn a_request_is_judged_by_its_operations() {
    let host = echoing_host();
    let site = looking(
        &host,
        "POST /graphql graphql=query|mutation:add* + POST /mcp rpc=tools/call:read_* upload=1K",
    );
    let call = |name: &str| format!(r#"{{"method":"tools/call","params":{{"name":"{name}"}}}}"#);
    let long = format!(
        r#"{{"method":"tools/call","params":{{"name":"read_x","arguments":"{}"}}}}"#,
        "x".repeat(2_000)
    );
    let mut stream = through(&site, host.port, &[]);
    for (path, kind, body, expected, told) in [
        ("/graphql", JSON, r#"{"query":"{a}"}"#, 200, r#"{"query":"{a}"}"#),
        ("/graphql", JSON, r#"{"query":"mutation{addStar}"}"#, 200, "addStar"),
        ("/graphql", JSON, r#"{"query":"mutation{removeStar}"}"#, 403, "graphql=mutation:removeStar"),
        ("/graphql", JSON, r#"{"query":"{"}"#, 403, "not valid GraphQL"),
        ("/graphql", "text/plain", r#"{"query":"{a}"}"#, 403, "not declared as JSON"),
        ("/mcp", JSON, &call("read_file"), 200, "read_file"),
        ("/mcp", JSON, &call("write_file"), 403, "rpc=tools/call:write_file"),
        ("/mcp", JSON, &long, 413, "too-much"),
        ("/other", JSON, &call("read_file"), 403, "not-listed"),
    ] {
        let (status, answer) = ask(&mut stream, &post(path, kind, body));
        assert_eq!(status, expected, "{path} {body}: {answer}");
        assert!(answer.contains(told), "{path} {body}: {answer}");
        if status == 413 {
            stream = through(&site, host.port, &[]);
        }
    }
    let rows = site.rows();
    assert_eq!(rows[0], "listed POST /graphql query:a");
    assert_eq!(rows[2], "not-listed POST /graphql mutation:removeStar", "also of a refused request");
}

/// A body in chunks, and one whose end never comes.
#[test]
fn a_body_is_read_to_its_end_before_it_goes() {
    let host = echoing_host();
    let patience = Duration::from_millis(300);
    let options = BrokerOptions { patience, ..BrokerOptions::default() };
    let site = looking_with(&host, "POST /mcp rpc=a", options, None);
    let mut stream = through(&site, host.port, &[]);
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {HOST}\r\nContent-Type: {JSON}\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    let (first, second) = (r#"{"method":"#, r#""a"}"#);
    let chunk = |text: &str| format!("{:x}\r\n{text}\r\n", text.len());
    let whole = format!("{head}{}{}0\r\n\r\n", chunk(first), chunk(second));
    assert_eq!(ask(&mut stream, &whole), (200, format!("{first}{second}")));
    let cut = format!("{head}{}", chunk(first));
    assert_eq!(ask(&mut stream, &cut).0, 408);
}

#[derive(Debug)]
struct Watching;

impl Rewrite for Watching {
    fn inspects(&self, _: &NetTarget, _: bool) -> bool {
        true
    }

    fn request(
        &self,
        _: Conversation<'_>,
        _: &mut http::request::Parts,
    ) -> Result<BodyRewrite, RewriteRefusal> {
        Ok(BodyRewrite::Pieces(Box::new(Upper("!"))))
    }

    fn answer(
        &self,
        _: Conversation<'_>,
        _: &mut http::response::Parts,
    ) -> Result<BodyRewrite, RewriteRefusal> {
        Ok(BodyRewrite::Unchanged)
    }
}

/// What looks for secrets looks at a body that was read before, too.
#[test]
fn a_body_that_was_read_is_filtered() {
    let host = echoing_host();
    let site = looking_with(&host, "POST rpc=a", BrokerOptions::default(), Some(Arc::new(Watching)));
    let mut stream = through(&site, host.port, &[]);
    let body = r#"{"method":"a"}"#;
    let filtered = format!("{}!", body.to_ascii_uppercase());
    assert_eq!(ask(&mut stream, &post("/", JSON, body)), (200, filtered));
}

/// A plain request as well.
#[test]
fn a_plain_request_is_judged_by_its_operations() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            while let Some((_, length)) = head_of(&mut client) {
                client.read_exact(&mut vec![0; length]).ok();
                client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").ok();
            }
        }
    });
    let entry = format!("{HOST}:{port} POST rpc=a");
    let site = site_with(&[&entry], BrokerOptions::default(), None);
    for (method, expected) in [("a", 200), ("b", 403)] {
        for is_tunnel in [true, false] {
            let mut stream = if is_tunnel { tunnel(&site, port) } else { site.connect() };
            let place = if is_tunnel { "/".to_owned() } else { format!("http://{HOST}:{port}/") };
            let body = format!(r#"{{"method":"{method}"}}"#);
            let request = post(&place, JSON, &body).replace(HOST, &format!("{HOST}:{port}"));
            let request = request.replace(&format!("{port}:{port}"), &port.to_string());
            stream.write_all(request.as_bytes()).unwrap();
            let (head, _) = head_of(&mut stream).unwrap();
            assert_eq!(status(&head), expected.to_string(), "{method} {is_tunnel}: {head}");
        }
    }
}
