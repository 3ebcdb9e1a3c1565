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

/// A client of JSON-RPC takes an error of HTTP for a broken connection, and an error of its protocol for a failed call.
#[test]
fn refused_calls_get_an_error_of_their_protocol() {
    let host = echoing_host();
    let site = looking(&host, "POST /mcp rpc=tools/list");
    let mut stream = through(&site, host.port, &[]);
    let call = |id: &str| format!(r#"{{"jsonrpc":"2.0",{id}"method":"tools/call","params":{{"name":"x"}}}}"#);
    let long = format!("\"id\":\"{}\",", "x".repeat(300));
    for (body, status, ids) in [
        (call("\"id\":7,"), 200, Some(vec!["7"])),
        (call("\"id\":-1.5,"), 200, Some(vec!["-1.5"])),
        (call("\"id\":\"a\\\"b\","), 200, Some(vec!["\"a\\\"b\""])),
        (format!("[{},{},{}]", call("\"id\":1,"), call(""), call("\"id\":2,")), 200, Some(vec!["1", "2"])),
        // Without an identifier, no answer is expected.
        (call(""), 403, None),
        (call("\"id\":null,"), 403, None),
        (call("\"id\":{\"a\":[1]},"), 403, None),
        (call(&long), 403, None),
        (r#"{"jsonrpc":"2.0","id":1,"result":{},"method":"x"}"#.to_owned(), 403, None),
        (r#"{"query":"{a}","id":1}"#.to_owned(), 403, None),
    ] {
        let (found, answer) = ask(&mut stream, &post("/mcp", JSON, &body));
        assert_eq!(found, status, "{body}: {answer}");
        let (_, document) = answer.split_once("\r\n\r\n").unwrap_or(("", &answer));
        let document: serde_json::Value = serde_json::from_str(document).unwrap();
        let Some(ids) = ids else {
            assert_eq!(document["by"], "stockade", "{body}: {document}");
            continue;
        };
        let answers = document.as_array().cloned().unwrap_or_else(|| vec![document.clone()]);
        assert_eq!(document.is_array(), body.starts_with('['), "{body}: {document}");
        let answered: Vec<_> = answers.iter().map(|answer| answer["id"].to_string()).collect();
        assert_eq!(answered, ids, "{body}: {document}");
        for answer in answers {
            assert_eq!((&answer["jsonrpc"], &answer["error"]["code"]), (&"2.0".into(), &(-32001).into()));
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(message.starts_with("refused by stockade: "), "{message}");
            assert_eq!(answer["error"]["data"]["effect"], "deny", "{answer}");
        }
    }
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
