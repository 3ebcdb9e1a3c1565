//! What is lent is lent until its time is over, whatever has begun by then.

use super::*;

/// Secrets that are lent for ten minutes, two seconds before the end of that.
fn nearly_over(to: &str) -> Secrets {
    let before = with(&[("T", REAL, &format!("{to} for=10m"))]);
    let active = Arc::into_inner(Arc::into_inner(before.0).unwrap().active.into_inner().unwrap()).unwrap();
    lent(active.secrets, Instant::now().checked_sub(Duration::from_secs(598)).unwrap())
}

/// What becomes of a request, and until when it is lent.
fn begun(secrets: &Secrets, headers: &[(&str, String)]) -> (request::Parts, BodyRewrite) {
    let target = NetTarget::parse("api.test:443").unwrap();
    let mut request = Request::builder().method("POST").uri("/");
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    let mut head = request.body(()).unwrap().into_parts().0;
    let to = Conversation { target: &target, is_tls: true, is_loopback: false };
    let rewritten = secrets.request(to, &mut head).unwrap();
    (head, rewritten)
}

#[test]
fn a_body_that_takes_its_time_gets_and_signs_nothing_when_that_is_over() {
    let signature = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260101/us-east-1/service/aws4_request, \
                     SignedHeaders=host;x-amz-date, Signature="
        .to_owned()
        + &"0".repeat(64);
    let signed = [("authorization", signature), ("x-amz-date", "20260101T000000Z".to_owned())];
    for (to, headers) in [("api.test in sigv4", &signed[..]), ("api.test in body", &[])] {
        let secrets = nearly_over(to);
        let (mut head, rewritten) = begun(&secrets, headers);
        let BodyRewrite::Whole { then, .. } = rewritten else { panic!("{to} waits for the whole body") };
        std::thread::sleep(Duration::from_millis(2_100));
        let body = if headers.is_empty() { placeholder_of(&secrets, 0) } else { String::new() };
        assert_eq!(then(&mut head, body.into()).unwrap_err().rule, "secret-expired", "{to}");
    }
}

#[test]
fn whatever_holds_a_secret_says_until_when() {
    let until = |head: &request::Parts| head.extensions.get::<LentUntil>().copied();
    let secrets = nearly_over("api.test");
    let bearer = format!("Bearer {}", placeholder_of(&secrets, 0));
    let (head, _) = begun(&secrets, &[("authorization", bearer)]);
    let end = until(&head).unwrap().0;
    assert!(end <= Instant::now() + Duration::from_secs(2), "{end:?}");
    // What holds none is not bound to it.
    assert_eq!(until(&begun(&secrets, &[]).0), None);
    let secrets = nearly_over("api.test in body");
    let (mut head, rewritten) = begun(&secrets, &[]);
    assert_eq!(until(&head), None);
    let BodyRewrite::Whole { then, .. } = rewritten else { panic!("the body is read whole") };
    then(&mut head, placeholder_of(&secrets, 0).into()).unwrap();
    assert!(until(&head).is_some());
}
