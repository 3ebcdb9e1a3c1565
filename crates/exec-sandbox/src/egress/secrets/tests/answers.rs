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
            assert!(held(&secrets).scrubber_finds_nothing(&out), "{shown}");
            assert!(shown.starts_with("{\"echo\":\"") && shown.ends_with("\"}"), "{shown}");
        }
    }
    let (headers, out) = answered(
        &secrets,
        "api.test:443",
        &[("x-echo", &format!("Bearer {REAL}")), ("set-cookie", "a=b"), (&REAL.to_lowercase(), "name")],
        REAL.as_bytes(),
        9,
    )
    .unwrap();
    let dummy = dummy_of(&secrets, 0);
    assert_eq!(headers["x-echo"].to_str().unwrap(), format!("Bearer {dummy}"));
    assert_eq!((headers.len(), out), (1, dummy.into_bytes()));
}

impl Held {
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
    let expected = text.replace(REAL, &dummy_of(&secrets, 0));
    for (coding, body) in
        [("gzip", &gzip), ("X-Gzip", &gzip), ("deflate", &zlib), ("identity", &text.clone().into_bytes())]
    {
        for piece in [1, 7, 4096] {
            let (headers, out) =
                answered(&secrets, "api.test:443", &[("content-encoding", coding)], body, piece).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{coding}");
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

/// In two parts of an answer, neither of which holds a secret, it would come back whole.
#[test]
fn no_part_of_an_answer_is_asked_for_or_let_through() {
    let secrets = with(&[("T", REAL, "api.test")]);
    let parts = ["range", "if-range", "request-range", "x-ms-range"];
    let headers = parts.map(|name| (name, "bytes=0-30".to_owned()));
    let (_, bound, _) = sent(&secrets, "https://api.test/x", &headers, b"").unwrap();
    assert!(parts.iter().all(|name| !bound.contains_key(*name)), "{bound:?}");
    let (_, other, _) = sent(&secrets, "https://other.test/x", &headers, b"").unwrap();
    assert!(parts.iter().all(|name| other.contains_key(*name)), "{other:?}");
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
    for (status, headers) in [
        (206, &[][..]),
        (206, &[("content-range", "bytes 0-30/200")]),
        (200, &[("content-range", "bytes 0-30/200")]),
        (200, &[("content-type", "Multipart/ByteRanges; boundary=x")]),
    ] {
        assert_eq!(rule("api.test:443", status, headers), Some("secret-unreadable"), "{status} {headers:?}");
        assert_eq!(rule("other.test:443", status, headers), None);
    }
    assert_eq!(rule("api.test:443", 416, &[("content-range", "bytes */200")]), None);
    assert_eq!(rule("api.test:443", 200, &[("content-type", "multipart/mixed")]), None);
}

#[test]
fn no_cookie_comes_back_where_a_secret_is_one() {
    let secrets = with(&[("T", REAL, "api.test in header:Cookie")]);
    let (headers, _) = answered(&secrets, "api.test:443", &[("set-cookie", "session=new")], b"", 1).unwrap();
    assert!(headers.is_empty(), "{headers:?}");
}
