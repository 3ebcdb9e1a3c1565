//! What goes out with a secret, and what goes out without one.

mod answers;
mod leases;
mod properties;

use hyper::http::{HeaderMap, Request, Response, request};

use super::super::broker::inspect::{Inserted, LentUntil};
use super::scrub::Pieces as _;
use super::spelling::Spelling;
use super::*;
use answers::{answered, part_of};

const REAL: &str = "ghp_REALrealREALrealREALrealREALreal0001";
const OTHER: &str = "sk-ant-api03-otherOTHERotherOTHERotherOTHER";

fn with(rows: &[(&str, &str, &str)]) -> Secrets {
    let mut secrets: Vec<Secret> = Vec::new();
    for (name, value, to) in rows {
        let binding = SecretBinding::read(&format!("{name}=env:X@{to}")).unwrap();
        match secrets.iter_mut().find(|secret| secret.name == *name) {
            Some(secret) => secret.bindings.push(binding),
            None => secrets.push(Secret {
                name: (*name).to_owned(),
                value: Zeroizing::new(value.as_bytes().to_vec()),
                placeholder: placeholder::of(value.as_bytes()).unwrap(),
                bindings: vec![binding],
            }),
        }
    }
    lent(secrets, Instant::now())
}

fn lent(secrets: Vec<Secret>, began: Instant) -> Secrets {
    let bindings = secrets.iter().flat_map(|secret| secret.bindings.clone()).collect();
    let active = OnceLock::from(Arc::new(ActiveSecrets::new(secrets, began).unwrap()));
    Secrets(Arc::new(SecretStore { bindings, active }))
}

fn active(secrets: &Secrets) -> &Arc<ActiveSecrets> {
    secrets.0.active.get().unwrap()
}

fn placeholder_of(secrets: &Secrets, number: usize) -> String {
    active(secrets).secrets[number].placeholder.clone()
}

/// What goes out, as a server would read it, or the rule by which it does not.
fn sent(
    secrets: &Secrets,
    url: &str,
    headers: &[(&str, String)],
    body: &[u8],
) -> Result<(String, HeaderMap, Vec<u8>), &'static str> {
    let target = NetTarget::parse(url).unwrap();
    let (is_tls, rest) = (url.starts_with("https://"), url.split_once("://").unwrap().1);
    let path = rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/");
    let mut request = Request::builder().method("POST").uri(path);
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    let mut head = request.body(()).unwrap().into_parts().0;
    let to = Conversation { target: &target, is_tls, is_loopback: url.contains("//127.") };
    let out = match secrets.request(to, &mut head).map_err(|refused| refused.rule)? {
        BodyRewrite::Unchanged => body.to_vec(),
        BodyRewrite::Whole { then, .. } => {
            then(&mut head, body.to_vec().into()).map_err(|refused| refused.rule)?.to_vec()
        }
        BodyRewrite::Pieces(filter) => through(filter, body, 7).map_err(|refused| refused.rule)?,
    };
    Ok((head.uri.to_string(), head.headers, out))
}

fn through(mut filter: Box<dyn BodyFilter>, body: &[u8], piece: usize) -> Result<Vec<u8>, RewriteRefusal> {
    let mut out = Vec::new();
    for piece in body.chunks(piece) {
        out.extend_from_slice(&filter.piece(piece.to_vec().into())?);
    }
    out.extend_from_slice(&filter.end()?);
    Ok(out)
}

fn basic(user: &str, password: &str) -> String {
    use base64::Engine as _;
    format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(format!("{user}:{password}")))
}

#[test]
fn a_secret_goes_to_its_host_path_and_place() {
    let secrets = with(&[
        ("T", REAL, "api.test/v1/**"),
        ("K", OTHER, "keys.test in header:x-api-key in query:key in path in body"),
    ]);
    let (t, k) = (placeholder_of(&secrets, 0), placeholder_of(&secrets, 1));
    let header = |url: &str, name: &'static str, value: String| {
        sent(&secrets, url, &[(name, value)], b"")
            .map(|(_, headers, _)| headers[name].to_str().unwrap().to_owned())
    };
    assert_eq!(
        header("https://api.test/v1/x", "authorization", format!("Bearer {t}")),
        Ok(format!("Bearer {REAL}"))
    );
    assert_eq!(
        header("https://api.test/v1/x", "authorization", format!("token {t}")),
        Ok(format!("token {REAL}"))
    );
    assert_eq!(header("https://api.test/v1/x", "authorization", t.clone()), Ok(REAL.to_owned()));
    assert_eq!(header("https://api.test/v1/x", "authorization", basic("me", &t)), Ok(basic("me", REAL)));
    assert_eq!(
        header("https://api.test/v1/x", "authorization", basic(&t, "x-oauth-basic")),
        Ok(basic(REAL, "x-oauth-basic"))
    );
    assert_eq!(header("https://keys.test/", "x-api-key", k.clone()), Ok(OTHER.to_owned()));
    // A signature is as secret as its key, and is hidden from debug output.
    let (_, headers, _) =
        sent(&secrets, "https://api.test/v1/x", &[("authorization", format!("Bearer {t}"))], b"").unwrap();
    assert!(headers["authorization"].is_sensitive() && headers["accept-encoding"] == "identity");

    let (uri, ..) = sent(&secrets, &format!("https://keys.test/?page=2&key={k}&q=a%20b"), &[], b"").unwrap();
    assert_eq!(uri, format!("/?page=2&key={OTHER}&q=a%20b"));
    let (uri, ..) = sent(&secrets, &format!("https://keys.test/bot{k}/send?x"), &[], b"").unwrap();
    assert_eq!(uri, format!("/bot{OTHER}/send?x"));
    let (_, _, body) =
        sent(&secrets, "https://keys.test/", &[], format!("key={k}&x={k}").as_bytes()).unwrap();
    assert_eq!(body, format!("key={OTHER}&x={OTHER}").into_bytes());
    // A request without a secret is one.
    assert!(sent(&secrets, "https://api.test/v1/x", &[("accept", "*/*".into())], b"hello").is_ok());
    assert!(
        sent(
            &secrets,
            "https://other.test/?token=mine",
            &[("cookie", "a=b".into()), ("authorization", basic("a", "b"))],
            b""
        )
        .is_ok()
    );
}

#[test]
fn odd_letters_stand_for_themselves_wherever_they_are_put() {
    let odd = "p\"a&s=s\\w%o+r/d\u{e4}";
    let secrets = with(&[("P", odd, "a.test in query:p in path in body in basic")]);
    let p = placeholder_of(&secrets, 0);
    let (uri, ..) = sent(&secrets, &format!("https://a.test/{p}/x"), &[], b"").unwrap();
    assert_eq!(percent::decoded(&uri), format!("/{odd}/x").into_bytes());
    let (uri, ..) = sent(&secrets, &format!("https://a.test/?a=1&p={p}"), &[], b"").unwrap();
    let value = uri.split_once("p=").unwrap().1;
    assert_eq!(
        (percent::decoded(value), value.contains(['&', '=', '+', '"'])),
        (odd.as_bytes().to_vec(), false)
    );
    for (kind, body, expected) in [
        (
            "application/json; charset=utf-8",
            format!("{{\"p\":\"{p}\"}}"),
            serde_json::json!({ "p": odd }).to_string(),
        ),
        ("text/plain", format!("<{p}>"), format!("<{odd}>")),
    ] {
        let (_, _, out) =
            sent(&secrets, "https://a.test/", &[("content-type", kind.into())], body.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected, "{kind}");
    }
    let kind = ("content-type", "application/x-www-form-urlencoded".to_owned());
    let (_, _, out) = sent(&secrets, "https://a.test/", &[kind], format!("p={p}&x=1").as_bytes()).unwrap();
    assert_eq!(percent::decoded(std::str::from_utf8(&out).unwrap()), format!("p={odd}&x=1").into_bytes());
    let (_, headers, _) =
        sent(&secrets, "https://a.test/", &[("authorization", basic("me", &p))], b"").unwrap();
    assert_eq!(headers["authorization"].to_str().unwrap(), basic("me", odd));
}

/// A placeholder is only accepted at one host and place, in one encoding.
#[test]
fn a_placeholder_elsewhere_is_an_attempt() {
    let secrets = with(&[("T", REAL, "api.test/v1/** in header:authorization")]);
    let t = placeholder_of(&secrets, 0);
    let bearer = |value: &str| vec![("authorization", format!("Bearer {value}"))];
    let percent: String = t.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let json: String = t.bytes().map(|byte| format!("\\u{byte:04X}")).collect();
    let spelled = |spelling: Spelling| String::from_utf8(spelling.of(t.as_bytes())).unwrap();
    let base64 = |behind, for_urls| spelled(Spelling::Base64 { behind, for_urls });
    let spellings = [
        t.clone(),
        t.to_uppercase(),
        t.to_lowercase(),
        percent,
        json,
        spelled(Spelling::Hex),
        base64(0, false),
        base64(1, false),
        base64(2, true),
        spelled(Spelling::Utf16 { is_big_endian: false }),
    ];
    for one in &spellings {
        for (headers, body) in [
            (vec![], one.clone()),
            (vec![], format!("{{\"x\":\"{one}\"}}")),
            (vec![], format!("a=b&c={one}")),
        ] {
            for url in ["https://api.test/v1/x", "https://evil.test/", "http://evil.test/"] {
                assert_eq!(
                    sent(&secrets, url, &headers, body.as_bytes()).unwrap_err(),
                    "secret-elsewhere",
                    "{url} {body}"
                );
            }
        }
        if one.bytes().any(|byte| byte == b'\\' || byte == 0) {
            continue;
        }
        for url in [
            format!("https://evil.test/{one}"),
            format!("https://api.test/v1/?q={one}"),
            format!("https://api.test/v1/{one}"),
        ] {
            let rule = sent(&secrets, &url, &[], b"").unwrap_err();
            assert_eq!(rule, "secret-elsewhere", "{url}");
        }
        assert_eq!(
            sent(&secrets, "https://evil.test/", &bearer(one), b"").unwrap_err(),
            "secret-elsewhere",
            "{one}"
        );
        assert_eq!(
            sent(&secrets, "https://api.test/v1/", &[("x-note", one.clone())], b"").unwrap_err(),
            "secret-elsewhere"
        );
    }
    for (url, headers) in [
        ("https://api.test/v2/x".to_owned(), bearer(&t)),
        ("https://api.test/".to_owned(), bearer(&t)),
        ("https://api.test:8443/v1/x".to_owned(), bearer(&t)),
        ("https://a.api.test/v1/x".to_owned(), bearer(&t)),
        ("https://api.test.evil.test/v1/x".to_owned(), bearer(&t)),
        ("https://evil.test/".to_owned(), vec![("authorization", basic("me", &t))]),
        ("https://api.test/v1/x".to_owned(), vec![("authorization", basic("me", &t))]),
        (format!("https://{}.evil.test/", t.replace('_', "-")), vec![]),
    ] {
        let outcome = sent(&secrets, &url, &headers, b"").map(drop);
        assert_eq!(outcome, Err("secret-elsewhere"), "{url} {headers:?}");
    }
    assert_eq!(sent(&secrets, "https://api.test/v1/../x", &bearer(&t), b"").unwrap_err(), "ambiguous-path");
    assert_eq!(
        sent(&secrets, "https://api.test/v1/%2e%2e/x", &bearer(&t), b"").unwrap_err(),
        "ambiguous-path"
    );
    let reason = {
        let target = NetTarget::parse("evil.test:443").unwrap();
        active(&secrets).elsewhere(0, &target, "the body").reason
    };
    assert!(
        reason.contains("attempted exfiltration") && reason.contains("`T`") && !reason.contains(REAL),
        "{reason}"
    );
}

#[test]
fn what_stands_for_a_secret_may_be_mentioned_to_its_own_host_alone() {
    let rows = [
        ("T", REAL, "api.test/v1/** in header:X-Api-Key mentioned"),
        ("Q", OTHER, "q.test in header:X-Api-Key"),
    ];
    let secrets = with(&rows);
    let (t, q) = (placeholder_of(&secrets, 0), placeholder_of(&secrets, 1));
    let key = vec![("x-api-key", t.clone())];
    let told = format!("{{\"result\":\"KEY={t}\",\"hex\":\"{}\"}}", t.to_uppercase());
    let (_, head, body) = sent(&secrets, "https://api.test/v1/x", &key, told.as_bytes()).unwrap();
    assert_eq!(head.get("x-api-key").unwrap(), REAL);
    assert_eq!(body, told.as_bytes(), "it stays what it is");
    for (url, headers, body) in [
        ("https://api.test/v2/x", vec![], &told),
        ("https://api.test/v1/../v1/x", vec![], &told),
        ("http://api.test:443/v1/x", vec![], &told),
        ("https://q.test/v1/x", vec![], &told),
        ("https://evil.test/v1/x", vec![], &told),
        ("https://api.test/v1/x", vec![("x-note", t.clone())], &told),
        // Another that is not lent to this host.
        ("https://api.test/v1/x", key.clone(), &format!("{told}{q}")),
        ("https://api.test/v1/x", key.clone(), &format!("{q}{told}")),
        ("https://q.test/", vec![("x-api-key", q.clone())], &q),
    ] {
        let rule = sent(&secrets, url, &headers, body.as_bytes()).unwrap_err();
        assert_eq!(rule, "secret-elsewhere", "{url} {headers:?} {body}");
    }
}

#[test]
fn a_host_with_a_secret_gets_no_other_credential() {
    let secrets = with(&[("T", REAL, "api.test"), ("Q", OTHER, "q.test in query:code")]);
    let t = placeholder_of(&secrets, 0);
    for headers in [
        vec![("authorization", "Bearer mine".to_owned())],
        vec![("authorization", basic("evil", "mine"))],
        vec![("authorization", format!("Bearer {t}, Bearer mine"))],
        vec![("authorization", format!("Bearer mine {t}"))],
        vec![("authorization", format!("Bearer {t}")), ("authorization", "Bearer mine".to_owned())],
        vec![("authorization", format!("Bearer {t}")), ("x-api-key", "mine".to_owned())],
        vec![("authorization", basic(&t, "mine"))],
        vec![("authorization", basic("ghp_strangeSTRANGEstrangeSTRANGEstra0001", &t))],
        vec![("token", "mine".to_owned())],
        vec![("x-session-id", "0123456789abcdef0123456789abcdef".to_owned())],
        vec![("x-jwt", "mine".to_owned())],
        vec![("cookie", "session=mine".to_owned())],
        vec![("private-token", "mine".to_owned())],
        vec![("proxy-authorization", "Basic eDp5".to_owned())],
    ] {
        for path in ["/", "/any/path"] {
            let rule = sent(&secrets, &format!("https://api.test{path}"), &headers, b"").unwrap_err();
            assert_eq!(rule, "other-credential", "{headers:?}");
        }
    }
    for url in [
        "https://api.test/?access_token=mine",
        "https://api.test/?a&X-Amz-Signature=0",
        "https://q.test/?code=mine",
        "https://q.test/?%63ode=mine",
        "https://api.test/?a=1;access_token=mine",
        "https://api.test/?refresh_token=mine",
        "https://api.test/?id%5ftoken=mine&b",
        "https://api.test/?jwt=mine",
    ] {
        assert_eq!(sent(&secrets, url, &[], b"").unwrap_err(), "other-credential", "{url}");
    }
}

#[test]
fn a_secret_is_lent_and_does_not_go_in_clear() {
    let soon = "for=10m";
    let secrets = with(&[
        ("T", REAL, &format!("api.test:80 {soon}")),
        ("P", OTHER, "plain.test:80 plain"),
        ("L", "loopback-secret-0001", "127.0.0.1:80"),
    ]);
    let bearer = |number| vec![("authorization", format!("Bearer {}", placeholder_of(&secrets, number)))];
    assert_eq!(sent(&secrets, "http://api.test/", &bearer(0), b"").unwrap_err(), "secret-in-clear");
    assert!(sent(&secrets, "https://api.test:80/", &bearer(0), b"").is_ok());
    assert!(sent(&secrets, "http://plain.test/", &bearer(1), b"").is_ok());
    assert!(sent(&secrets, "http://127.0.0.1/", &bearer(2), b"").is_ok());
    // A local name that resolves to another address is not of this machine.
    let named = with(&[("T", REAL, "localhost:80")]);
    let token = vec![("authorization", format!("Bearer {}", placeholder_of(&named, 0)))];
    assert_eq!(sent(&named, "http://localhost/", &token, b"").unwrap_err(), "secret-in-clear");
    let long_ago = Instant::now().checked_sub(Duration::from_secs(600)).unwrap();
    let active = Arc::into_inner(Arc::into_inner(secrets.0).unwrap().active.into_inner().unwrap()).unwrap();
    let expired = lent(active.secrets, long_ago);
    let bearer = vec![("authorization", format!("Bearer {}", placeholder_of(&expired, 0)))];
    assert_eq!(sent(&expired, "https://api.test:80/", &bearer, b"").unwrap_err(), "secret-expired");
}

/// What a server that parts queries at `;` would read elsewhere stands in no place.
#[test]
fn a_part_of_a_value_is_no_place() {
    let secrets = with(&[("Q", OTHER, "q.test in query:code")]);
    let placeholder = placeholder_of(&secrets, 0);
    for query in
        [format!("a=1;code={placeholder}"), format!(";code={placeholder}"), format!("code={placeholder};a=1")]
    {
        let url = format!("https://q.test/?{query}");
        assert_eq!(sent(&secrets, &url, &[], b"").unwrap_err(), "secret-elsewhere", "{query}");
    }
    assert!(sent(&secrets, &format!("https://q.test/?a=1;b=2&code={placeholder}"), &[], b"").is_ok());
}

/// The command may know the secret from a file. Then it may not send it to another host, nor a part of it.
#[test]
fn a_secret_itself_goes_to_its_own_host_alone() {
    let secrets = with(&[("T", REAL, "api.test/v1/** in body"), ("K", OTHER, "keys.test")]);
    let half = REAL.get(18..).unwrap();
    let note = [("x-note", basic("me", REAL))];
    for (url, headers, body) in [
        ("https://evil.test/", &[][..], REAL),
        ("http://evil.test/", &[], half),
        ("https://keys.test/", &[], half),
        ("https://evil.test/", &note, ""),
        (&format!("https://evil.test/{half}"), &[], ""),
        (&format!("https://evil.test/?q={half}"), &[], ""),
    ] {
        assert_eq!(
            sent(&secrets, url, headers, body.as_bytes()).unwrap_err(),
            "secret-leaves",
            "{url} {body}"
        );
    }
    for (url, body) in [("https://api.test/v1/x", REAL), ("https://evil.test/", "ghp_ and other tokens")] {
        assert!(sent(&secrets, url, &[], body.as_bytes()).is_ok(), "{url}");
    }
}

/// A part of a secret, wherever a response breaks off, and in trailers.
#[test]
fn no_part_of_a_secret_comes_back() {
    let secrets = with(&[("T", REAL, "api.test")]);
    let half = REAL.get(12..30).unwrap();
    for piece in [1, 7, 1 << 10] {
        let text = format!("first: {half}, second: {half}");
        let (_, out) = answered(&secrets, "api.test:443", &[], text.as_bytes(), piece).unwrap();
        let shown = String::from_utf8(out).unwrap();
        assert!(shown.starts_with("first: ") && !shown.contains(half.get(6..14).unwrap()), "{shown}");
        assert!(shown.contains(", second: "), "{shown}");
    }
    let mut trailers = HeaderMap::new();
    trailers.insert("x-sum", half.parse().unwrap());
    ScrubbedStream::new(Arc::clone(&active(&secrets).scrubber)).trailers(&mut trailers).unwrap();
    assert!(!trailers["x-sum"].to_str().unwrap().contains(half.get(..8).unwrap()), "{trailers:?}");
}

/// A short body costs no more memory than a long one may.
#[test]
fn a_secret_goes_into_a_body_a_few_times() {
    // Each letter takes six in JSON.
    let long = "\u{1}".repeat(8 << 10);
    let secrets = with(&[("T", &long, "api.test in body")]);
    let placeholder = placeholder_of(&secrets, 0);
    let json = [("content-type", "application/json".to_owned())];
    let out = |body: &str| sent(&secrets, "https://api.test/", &json, body.as_bytes());
    let (_, _, body) = out(&placeholder.repeat(16)).unwrap();
    assert_eq!(body.len(), 16 * 6 * long.len());
    assert_eq!(out(&placeholder.repeat(17)).unwrap_err(), "secret-unwritable");
    assert_eq!(out(&placeholder.repeat(1024)).unwrap_err(), "secret-unwritable");
    let fits = (8 << 20) - 6 * long.len();
    assert!(out(&format!("{placeholder}{}", "x".repeat(fits))).is_ok());
    assert_eq!(out(&format!("{placeholder}{}", "x".repeat(fits + 1))).unwrap_err(), "secret-unwritable");
    // Read in three ways it still stands there once.
    let (_, _, body) = out(&format!("%41\\u0041{placeholder}")).unwrap();
    assert!(body.starts_with(b"%41\\u0041\\u0001"));
}

/// Only bytes that may begin a secret are delayed, so that server-sent events arrive when they are sent.
#[test]
fn what_begins_no_secret_goes_on_at_once() {
    let secrets = with(&[("T", REAL, "api.test")]);
    let mut filter = ScrubbedStream::new(Arc::clone(&active(&secrets).scrubber));
    let mut out = Vec::new();
    filter.push(b"data: {\"delta\": \"one\"}\n\n", &mut out);
    assert_eq!(out, b"data: {\"delta\": \"one\"}\n\n");
    for _ in 0..100_000 {
        filter.push(b"gh", &mut out);
    }
    assert!(out.len() >= 200_000, "only the beginning of a token waits");
}

/// An answer that ends in what was covered is an answer: what waits for more is what may become a secret, and nothing else.
#[test]
fn what_ends_in_a_secret_goes_on_at_once() {
    let value = "s3cret-and-long-enough!";
    let secrets = with(&[("T", value, "api.test")]);
    for end in ["", "\n", "%", "%7", "\\", "&", "&#", "s", "s3cret-and"] {
        let mut filter = ScrubbedStream::new(Arc::clone(&active(&secrets).scrubber));
        let mut out = Vec::new();
        filter.push(format!("you said {value}{end}").as_bytes(), &mut out);
        let gone = if end == "s3cret-and" { "" } else { end };
        assert_eq!(out.len(), "you said ".len() + value.len() + gone.len(), "{end:?}");
        assert!(!String::from_utf8_lossy(&out).contains(value));
    }
    // An impossible prefix is not withheld: neither of these escapes decodes to a letter of it.
    for end in ["%zz!", "&nosuch!", "\\q!", "&#zz!"] {
        let mut filter = ScrubbedStream::new(Arc::clone(&active(&secrets).scrubber));
        let mut out = Vec::new();
        filter.push(end.as_bytes(), &mut out);
        assert_eq!(out, end.as_bytes());
    }
}

#[test]
fn debug_output_hides_secrets() {
    let secrets = with(&[("T", REAL, "api.test")]);
    assert_eq!(format!("{secrets:?}"), "[\"T\"]");
    assert_eq!(secrets.named_in(format!("--token={REAL}").as_bytes()), Some("T"));
    assert_eq!(secrets.named_in(placeholder_of(&secrets, 0).as_bytes()), None);
    let variables = secrets.variables();
    assert_eq!(variables, [("T".into(), placeholder_of(&secrets, 0).into())]);
}

#[test]
fn what_cannot_work_is_said_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, REAL).unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let hosts = HostList::compile(
        &["api.test", "*.aws.test", "db.test:443/tcp", "s3.one.test", "!*.out.aws.test"].map(String::from),
    )
    .unwrap();
    let open = |rows: &[&str]| {
        let read = |row: &&str| SecretBinding::read(&row.replace("FILE", file.to_str().unwrap())).unwrap();
        let bindings: Vec<_> = rows.iter().map(read).collect();
        let secrets = Secrets::new(&bindings, &hosts, "the list");
        secrets.and_then(|secrets| secrets.get()).map_err(|error| format!("{error}; {}", error.fix))
    };
    assert!(open(&["T=file:FILE@api.test"]).is_ok());
    assert!(open(&["T=file:FILE@api.test/a in path", "T=file:FILE@api.test/b in body"]).is_ok());
    assert!(open(&["T=file:FILE@api.test", "U=file:FILE@api.test in header:x-key"]).is_ok());
    assert!(open(&["K=file:FILE@*.aws.test in sigv4"]).is_ok());
    // Whatever part of it the list lets through.
    assert!(open(&["K=file:FILE@*.s3.aws.test in sigv4"]).is_ok());
    assert!(open(&["K=file:FILE@*.one.test in sigv4"]).is_ok());
    for (rows, why) in [
        (&["T=file:FILE@evil.test"][..], "add `evil.test:443` to the list"),
        (&["T=file:FILE@api.test:8443"], "add `api.test:8443` to the list"),
        (&["T=file:FILE@db.test"], "remove `/tcp` from the entry `db.test:443/tcp`"),
        (&["K=file:FILE@*.other.test in sigv4"], "add the exact host below `.other.test`"),
        (&["K=file:FILE@*.out.aws.test in sigv4"], "add the exact host below `.out.aws.test`"),
        (&["K=file:FILE@*.one.test:81 in sigv4"], "add the exact host below `.one.test`"),
        (&["T=file:FILE@api.test", "U=file:FILE@api.test"], "as is `T`"),
        (&["T=file:FILE@api.test in basic", "U=file:FILE@api.test/x"], "as is `T`"),
        (&["K=file:FILE@*.aws.test in sigv4", "T=file:FILE@a.aws.test"], "as is `K`"),
        (&["T=file:FILE@api.test", "T=env:HOME@api.test in body"], "two sources"),
        (&["T=cmd:false@api.test"], "failed"),
        (&["T=cmd:true@api.test"], "is empty"),
    ] {
        let error = open(rows).unwrap_err();
        assert!(error.contains(why), "{rows:?}: {error}");
        assert!(!error.contains("REAL"), "{error}");
    }
}

/// A record names the secrets that a request really got, in its head and in its body, and nothing of their values.
#[test]
fn the_secrets_of_a_request_are_named_for_its_record() {
    let secrets = with(&[("T", REAL, "api.test"), ("K", OTHER, "api.test in body"), ("U", OTHER, "b.test")]);
    let (token, key) = (placeholder_of(&secrets, 0), placeholder_of(&secrets, 1));
    let target = NetTarget::parse("https://api.test").unwrap();
    let named = |authorization: Option<&str>, body: &str| {
        let mut request = Request::builder().method("POST").uri("/");
        if let Some(authorization) = authorization {
            request = request.header("authorization", authorization);
        }
        let mut head = request.body(()).unwrap().into_parts().0;
        let to = Conversation { target: &target, is_tls: true, is_loopback: false };
        let BodyRewrite::Whole { then, .. } = secrets.request(to, &mut head).unwrap() else {
            panic!("a body with a secret is read as a whole")
        };
        then(&mut head, body.to_owned().into()).unwrap();
        head.extensions.get::<Inserted>().unwrap().0.clone()
    };
    let bearer = format!("Bearer {token}");
    assert_eq!(named(Some(&bearer), &format!("k={key}")), ["K", "T"]);
    assert_eq!(named(Some(&bearer), "k=1"), ["T"]);
    assert_eq!(named(None, &key), ["K"]);
    assert!(named(None, "").is_empty());
}

/// What a command sends in a websocket is judged without its mask, and in whatever frames.
#[test]
fn messages_of_a_command_are_judged() {
    use super::super::websocket_frames::tests::frame;
    let secrets = with(&[("T", REAL, "api.test"), ("M", OTHER, "llm.test mentioned")]);
    let (token, mentioned) = (placeholder_of(&secrets, 0), placeholder_of(&secrets, 1));
    let send = |host: &str, bytes: &[u8]| {
        let target = NetTarget::parse(host).unwrap();
        let to = Conversation { target: &target, is_tls: true, is_loopback: false };
        let filter = secrets.websocket(to, "/").unwrap().unwrap();
        through(filter, bytes, 7).map_err(|refused| refused.rule)
    };
    let masked = |text: &str| frame(0x81, Some([7, 0, 200, 33]), text.as_bytes());
    let halves = |text: &str| {
        let (first, second) = text.split_at(text.len() / 2);
        [frame(0x01, Some([9; 4]), first.as_bytes()), frame(0x80, Some([8; 4]), second.as_bytes())].concat()
    };
    let (first, second) = REAL.split_at(20);
    let deflated = frame(0xc1, Some([1; 4]), REAL.as_bytes());
    for (host, bytes, expected) in [
        ("api.test:443", masked("hello"), Ok(())),
        ("api.test:443", masked(&token), Err("secret-elsewhere")),
        ("other.test:443", masked(&token), Err("secret-elsewhere")),
        ("other.test:443", masked(REAL), Err("secret-leaves")),
        ("other.test:443", halves(REAL), Err("secret-leaves")),
        ("other.test:443", [first, second].map(masked).concat(), Err("secret-leaves")),
        ("api.test:443", masked(REAL), Ok(())),
        ("llm.test:443", masked(&mentioned), Ok(())),
        ("api.test:443", deflated.clone(), Err("secret-unreadable")),
        ("other.test:443", deflated, Ok(())),
    ] {
        let sent = send(host, &bytes);
        assert_eq!(sent.as_ref().map(|_| ()).map_err(|rule| *rule), expected, "{host} {bytes:?}");
        assert!(sent.is_err() || sent == Ok(bytes), "frames pass as they came");
    }
}

#[test]
fn the_login_of_a_proxy_is_read_from_a_source() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "me:hunter22\n").unwrap();
    assert_eq!(*read_login_source(&format!("file:{}", file.path().display())).unwrap(), "me:hunter22");
    assert!(read_login_source("env:NO_SUCH_LOGIN").is_err() && read_login_source("hunter22").is_err());
}
