//! What comes back from a host that has a secret.

use super::*;

pub(super) fn answered(
    secrets: &Secrets,
    url: &str,
    headers: &[(&str, &str)],
    body: &[u8],
    piece: usize,
) -> Result<(HeaderMap, Vec<u8>), RewriteRefusal> {
    let target = NetTarget::parse(url).unwrap();
    let mut answer = Response::builder();
    for (name, value) in headers {
        answer = answer.header(*name, *value);
    }
    let mut head = answer.body(()).unwrap().into_parts().0;
    let out = match secrets
        .answer(Conversation { target: &target, is_tls: true, is_loopback: false }, &mut head)?
    {
        BodyRewrite::Pieces(filter) => through(filter, body, piece)?,
        _ => panic!("an answer goes by in pieces"),
    };
    Ok((head.headers, out))
}

#[test]
fn what_comes_back_holds_no_secret() {
    let secrets = with(&[("T", REAL, "api.test")]);
    let echoed = |spelling: Spelling| spelling.of(REAL.as_bytes());
    let percent: String = REAL.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let json: String = REAL.bytes().map(|byte| format!("\\u{byte:04x}")).collect();
    let bodies: Vec<Vec<u8>> =
        [percent.into_bytes(), json.into_bytes(), REAL.to_lowercase().into_bytes(), echoed(Spelling::Plain)]
            .into_iter()
            .chain((0..3).map(|behind| echoed(Spelling::Base64 { behind, for_urls: false })))
            .chain([echoed(Spelling::Hex), echoed(Spelling::Utf16 { is_big_endian: true })])
            .collect();
    for body in bodies {
        let whole = [b"{\"echo\":\"", body.as_slice(), b"\"}"].concat();
        for piece in [1, 2, 3, 5, 16, 1 << 12] {
            let (_, out) = answered(&secrets, "api.test:443", &[], &whole, piece).unwrap();
            let shown = String::from_utf8_lossy(&out).into_owned();
            assert_eq!(out.len(), whole.len(), "{shown}");
            assert!(active(&secrets).scrubber_finds_nothing(&out), "{shown}");
            assert!(shown.starts_with("{\"echo\":\"") && shown.ends_with("\"}"), "{shown}");
        }
    }
    let (headers, out) = answered(
        &secrets,
        "api.test:443",
        &[("x-echo", &format!("Bearer {REAL}")), ("set-cookie", "a=b"), (&REAL.to_lowercase(), "name")],
        REAL.as_bytes(),
        90,
    )
    .unwrap();
    let placeholder = placeholder_of(&secrets, 0);
    assert_eq!(headers["x-echo"].to_str().unwrap(), format!("Bearer {placeholder}"));
    assert_eq!(headers["x-stockade-withheld"], "cookies");
    assert_eq!((headers.len(), out), (2, placeholder.into_bytes()));
}

impl ActiveSecrets {
    fn scrubber_finds_nothing(&self, text: &[u8]) -> bool {
        !self.scrubber.whole(&mut text.to_vec())
    }
}

#[test]
fn answers_that_were_compressed_unasked_are_read_or_refused() {
    use std::io::Write as _;
    let secrets = with(&[("T", REAL, "api.test")]);
    let text = format!("hello {REAL} bye");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(text.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    zlib.write_all(text.as_bytes()).unwrap();
    let zlib = zlib.finish().unwrap();
    let expected = text.replace(REAL, &placeholder_of(&secrets, 0));
    for (coding, body) in
        [("gzip", &gzip), ("X-Gzip", &gzip), ("deflate", &zlib), ("identity", &text.clone().into_bytes())]
    {
        for piece in [1, 7, 4096] {
            let (headers, out) =
                answered(&secrets, "api.test:443", &[("content-encoding", coding)], body, piece).unwrap();
            let shown = String::from_utf8(out).unwrap();
            // In small pieces, its first bytes have gone before it is known what they begin.
            assert!(piece < text.len() || shown == expected, "{coding} {shown}");
            assert!(shown.len() == text.len() && !shown.contains(REAL), "{coding} {shown}");
            assert!(coding == "identity" || !headers.contains_key("content-encoding"));
        }
    }
    let refused = |headers: &[(&str, &str)], body: &[u8]| {
        answered(&secrets, "api.test:443", headers, body, 512).unwrap_err().rule
    };
    for coding in ["br", "zstd", "compress", "gzip, gzip", "\u{e4}", "gzip, br"] {
        assert_eq!(refused(&[("content-encoding", coding)], b"x"), "secret-unreadable", "{coding}");
        // Behind `HEAD` and 304 nothing comes.
        assert!(answered(&secrets, "api.test:443", &[("content-encoding", coding)], b"", 1).is_ok());
    }
    assert_eq!(
        refused(&[("content-encoding", "gzip")], b"no gzip at all, whatever it says"),
        "secret-unreadable"
    );
    assert_eq!(refused(&[("content-encoding", "gzip")], &gzip[..gzip.len() - 9]), "secret-unreadable");
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    bomb.write_all(&vec![0; 32 << 20]).unwrap();
    assert_eq!(refused(&[("content-encoding", "gzip")], &bomb.finish().unwrap()), "secret-unreadable");
}

/// Lets a part of an answer through.
pub(super) fn part_of(
    secrets: &Secrets,
    headers: &[(&str, &str)],
    body: &[u8],
    piece: usize,
) -> Result<Vec<u8>, RewriteRefusal> {
    let mut answer = Response::builder().status(206);
    for (name, value) in headers {
        answer = answer.header(*name, *value);
    }
    let mut head = answer.body(()).unwrap().into_parts().0;
    let target = NetTarget::parse("api.test:443").unwrap();
    let to = Conversation { target: &target, is_tls: true, is_loopback: false };
    match secrets.answer(to, &mut head)? {
        BodyRewrite::Pieces(filter) => through(filter, body, piece),
        _ => panic!("an answer goes by in pieces"),
    }
}

const ASKS: [&str; 4] = ["range", "if-range", "request-range", "x-ms-range"];

/// A download that is asked for in parts comes in those parts, or not at all: never as the whole.
#[test]
fn what_asks_for_a_part_goes_as_it_was_sent_or_not_at_all() {
    let rows = [
        ("T", REAL, "api.test"),
        ("S", "hunter22hunter22", "short.test in header:x-key"),
        ("K", OTHER, "s3.test in sigv4"),
    ];
    let secrets = with(&rows);
    let ask = |host: &str, range: &str| {
        let headers = ASKS.map(|name| (name, range.to_owned()));
        sent(&secrets, &format!("https://{host}/x"), &headers, b"").map(|(_, headers, _)| headers)
    };
    for host in ["api.test", "s3.test", "other.test"] {
        for range in ["bytes=0-30", "bytes=8388608-16777215", "bytes=-22", "bytes=500-", "items=0-9"] {
            let headers = ask(host, range).unwrap();
            assert!(ASKS.iter().all(|name| headers[*name] == range), "{host} {headers:?}");
        }
    }
    for (host, range) in [("api.test", "bytes=0-1,5-6"), ("short.test", "bytes=0-30")] {
        assert_eq!(ask(host, range).unwrap_err(), "secret-unreadable", "{host} {range}");
    }
    assert!(ask("s3.test", "bytes=0-1,5-6").is_ok(), "nothing that signs is sent");
    let twice = [("range", "bytes=0-1".to_owned()), ("range", "bytes=5-6".to_owned())];
    assert_eq!(sent(&secrets, "https://api.test/x", &twice, b"").unwrap_err(), "secret-unreadable");
}

#[test]
fn parts_of_answers_are_let_through_where_they_can_be_scrubbed() {
    let secrets = with(&[
        ("T", REAL, "api.test"),
        ("S", "hunter22hunter22", "short.test in header:x-key"),
        ("K", OTHER, "s3.test in sigv4"),
    ]);
    let rule = |host: &str, status: u16, headers: &[(&str, &str)]| {
        let mut answer = Response::builder().status(status);
        for (name, value) in headers {
            answer = answer.header(*name, *value);
        }
        let mut head = answer.body(()).unwrap().into_parts().0;
        let target = NetTarget::parse(host).unwrap();
        let to = Conversation { target: &target, is_tls: true, is_loopback: false };
        secrets.answer(to, &mut head).err().map(|refused| refused.rule)
    };
    let unreadable = Some("secret-unreadable");
    for (status, range, expected) in [
        (206, "bytes 0-30/200", None),
        (206, "bytes 0-0/200", None),
        (206, "bytes 178-199/200", None),
        (206, "bytes 100-163/200", None),
        (206, "bytes 100-163/*", None),
        (200, "bytes 100-163/200", None),
        (416, "bytes */200", None),
        (206, "bytes 100-162/200", unreadable),
        (206, "bytes 180-199/*", unreadable),
        (206, "bytes 5-5/200", unreadable),
        (206, "bytes 9-5/200", unreadable),
        (206, "bytes 0-18446744073709551615/*", None),
        (206, "bytes 0-18446744073709551616/*", unreadable),
        (206, "items 0-9/20", unreadable),
        (206, "", unreadable),
        (200, "bytes x", unreadable),
    ] {
        let headers = [("content-range", range)];
        assert_eq!(rule("api.test:443", status, &headers), expected, "{status} {range}");
        let of_short = if status == 416 { None } else { unreadable };
        assert_eq!(rule("short.test:443", status, &headers), of_short, "{status} {range}");
        for host in ["other.test:443", "s3.test:443"] {
            assert_eq!(rule(host, status, &headers), None);
        }
    }
    assert_eq!(rule("api.test:443", 206, &[]), unreadable);
    let several = [("content-type", "Multipart/ByteRanges; boundary=x")];
    assert_eq!(rule("api.test:443", 200, &several), unreadable);
    assert_eq!(rule("api.test:443", 200, &[("content-type", "multipart/mixed")]), None);
    let packed = [("content-range", "bytes 0-99/200"), ("content-encoding", "gzip")];
    assert_eq!(part_of(&secrets, &packed, b"x", 1).unwrap_err().rule, "secret-unreadable");
    let plain = [("content-range", "bytes 0-99/200")];
    assert_eq!(part_of(&secrets, &plain, &[7; 100], 9).unwrap(), [7; 100]);
}

/// What is signed is sent as it was signed, and comes back as it was sent: the key is in neither.
#[test]
fn nothing_of_a_signed_request_is_changed_but_its_signature() {
    let secrets = with(&[("K", OTHER, "s3.test in sigv4")]);
    let headers = [
        ("accept-encoding", "gzip, br".to_owned()),
        ("range", "bytes=5-9,20-30".to_owned()),
        ("grpc-accept-encoding", "gzip".to_owned()),
        ("sec-websocket-extensions", "permessage-deflate".to_owned()),
    ];
    let (_, out, _) = sent(&secrets, "https://s3.test/x", &headers, b"").unwrap();
    assert!(headers.iter().all(|(name, value)| out[*name] == value.as_str()), "{out:?}");
    let answer = [("content-encoding", "br"), ("content-range", "bytes 5-9/200")];
    let (headers, body) = answered(&secrets, "s3.test:443", &answer, b"packed", 2).unwrap();
    assert_eq!((headers.len(), body.as_slice()), (2, &b"packed"[..]));
}

/// Messages that are compressed one by one are not asked for, and not let through.
#[test]
fn compressed_messages_are_refused() {
    let secrets = with(&[("T", REAL, "api.test")]);
    for name in ["grpc-encoding", "connect-content-encoding"] {
        let refused = answered(&secrets, "api.test:443", &[(name, "gzip")], b"x", 1).unwrap_err();
        assert_eq!(refused.rule, "secret-unreadable");
        assert!(answered(&secrets, "api.test:443", &[(name, "identity")], b"x", 1).is_ok());
        assert!(answered(&secrets, "other.test:443", &[(name, "gzip")], b"x", 1).is_ok());
    }
    let headers = ["grpc-accept-encoding", "connect-accept-encoding", "sec-websocket-extensions"];
    let offered = headers.map(|name| (name, "gzip".to_owned()));
    let (_, out, _) = sent(&secrets, "https://api.test/x", &offered, b"").unwrap();
    assert!(headers.iter().all(|name| !out.contains_key(*name)) && out["accept-encoding"] == "identity");
}

/// A body that breaks off within a secret does not give its first half away.
#[test]
fn the_beginning_of_a_secret_is_not_the_end_of_an_answer() {
    let secrets = with(&[("T", REAL, "api.test")]);
    for length in 10..REAL.len() {
        let beginning = |length| REAL.get(..length).unwrap();
        let body = format!("ok {}", beginning(length));
        let (_, out) = answered(&secrets, "api.test:443", &[], body.as_bytes(), 5).unwrap();
        let shown = String::from_utf8(out).unwrap();
        assert_eq!(shown.len(), body.len());
        assert!(!shown.contains(beginning(10)), "{shown}");
    }
    let (_, out) = answered(&secrets, "api.test:443", &[], b"the word github_pat_", 5).unwrap();
    assert_eq!(out, b"the word github_pat_");
}

/// The frames of a websocket are scrubbed of what its host was sent, and left alone elsewhere.
#[test]
fn frames_of_a_host_without_a_secret_are_not_touched() {
    let secrets = with(&[("T", REAL, "api.test")]);
    for (host, is_scrubbed) in [("api.test:443", true), ("other.test:443", false)] {
        let mut head = Response::builder().status(101).body(()).unwrap().into_parts().0;
        let target = NetTarget::parse(host).unwrap();
        let to = Conversation { target: &target, is_tls: true, is_loopback: false };
        let rewrite = secrets.answer(to, &mut head).unwrap();
        assert_eq!(matches!(rewrite, BodyRewrite::Pieces(_)), is_scrubbed, "{host}");
    }
}

#[test]
fn no_cookie_comes_back_where_a_secret_is_one() {
    let secrets = with(&[("T", REAL, "api.test in header:Cookie")]);
    let (headers, _) = answered(&secrets, "api.test:443", &[("set-cookie", "session=new")], b"", 1).unwrap();
    assert_eq!(headers.len(), 1, "{headers:?}");
    assert_eq!(headers["x-stockade-withheld"], "cookies", "what is left out is told");
}
