//! What is true of every host, list and request, whatever the bytes are. Fuzz targets call these too.

/// Every text names a host, or is refused with a reason. What names one is read the same from what is shown of it, and
/// without help from a list it is let through by none.
pub(crate) fn net_target(data: &[u8]) {
    use stockade_egress::{Host, HostList, NetPolicy, NetTarget};

    let text = String::from_utf8_lossy(data);
    let target = match NetTarget::parse(&text) {
        Ok(target) => target,
        Err(refused) => {
            assert!(!refused.reason.is_empty() && ["disguised-address", "no-host"].contains(&refused.rule));
            return;
        }
    };
    if let Host::Name(name) = &target.host {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte);
        assert!(name.len() <= 253 && name.bytes().all(plain), "{name}");
        assert!(name.parse::<std::net::IpAddr>().is_err(), "{name}");
    }
    let again = NetTarget::parse(&target.to_string()).unwrap();
    assert_eq!((&again.host, again.port), (&target.host, target.port), "{text}");
    // In the letters of its script, a name is the same one.
    if let Some((shown, _)) = &target.shown
        && let Ok(again) = NetTarget::parse(shown)
    {
        assert_eq!(again.host, target.host, "{shown}");
    }
    assert!(!NetPolicy::None.decide(&target).is_allowed());
    let verdict = NetPolicy::Hosts(HostList::default()).decide(&target);
    assert!(!verdict.is_allowed());
    // What would let it through does, and lets nothing else of the same host through.
    if let Some(entry) = verdict.entry {
        let list = HostList::compile(&[entry]).unwrap();
        assert!(NetPolicy::Hosts(list).decide(&target).is_allowed(), "{text}");
    }
}

/// Every list is taken, or refused with the entry and what to write instead. Whatever it holds, no machine's own metadata
/// is let through, and no entry lets a host through whose name it does not end.
pub(crate) fn host_list(data: &[u8]) {
    use stockade_egress::{HostList, NetPolicy, NetTarget};

    let text = String::from_utf8_lossy(data);
    let list: Vec<String> = text.lines().map(str::to_owned).collect();
    let hosts = match HostList::compile(&list) {
        Ok(hosts) => hosts,
        Err(error) => {
            assert!(list.contains(&error.entry) && !error.why.is_empty() && !error.fix.is_empty());
            return;
        }
    };
    let policy = NetPolicy::Hosts(hosts);
    for asked in ["169.254.169.254", "metadata.google.internal", "[fd00:ec2::254]:80"] {
        assert!(!policy.decide(&NetTarget::parse(asked).unwrap()).is_allowed(), "{asked}");
    }
    for written in &list {
        let host = |entry: &str| {
            let first = entry.split(' ').find(|word| !word.is_empty()).unwrap_or_default().to_owned();
            let first = first.strip_suffix("/tcp").map(str::to_owned).unwrap_or(first);
            first.strip_prefix("*.").map(str::to_owned).unwrap_or(first)
        };
        let below = host(written);
        let Ok(named) = NetTarget::parse(&below) else { continue };
        let other = NetTarget::parse(&format!("not-{}", named.host));
        let Ok(other) = other else { continue };
        let is_listed = list.iter().any(|entry| {
            let end = NetTarget::parse(&host(entry));
            end.is_ok_and(|end| other.host.to_string().ends_with(&end.host.to_string()))
        });
        assert!(is_listed || !policy.decide(&other).is_allowed(), "{other}");
    }
}

/// Every head is refused with a reason, or is one request to one host: what is passed on says so once, and ends once.
pub(crate) fn proxy_request(data: &[u8]) {
    use stockade_egress::{ProxyRequest, RequestBody, proxy_token, to_whole_url};

    // What a proxy understands already stays as it is, and nothing becomes a tunnel.
    let whole = to_whole_url(data);
    assert!(whole == data || (ProxyRequest::read(data).is_err() && whole.len() > data.len()));
    assert_eq!(proxy_token(&whole), proxy_token(data));
    let request = match ProxyRequest::read(data) {
        Ok(request) => request,
        Err(bad) => {
            assert!((400..500).contains(&bad.status) && !bad.reason.is_empty() && !bad.rule.is_empty());
            return;
        }
    };
    assert!(request.target().port.is_some());
    let ProxyRequest::Plain { target, head, body } = &request else { return };
    assert_eq!(head.find("\r\n\r\n"), Some(head.len() - 4), "{head:?}");
    let lines: Vec<&str> = head.trim_end_matches("\r\n").split("\r\n").collect();
    assert!(lines.iter().all(|line| !line.contains(['\r', '\n', '\0'])), "{head:?}");
    let (first, headers) = lines.split_first().unwrap();
    assert!(first.split(' ').count() == 3 && first.split(' ').nth(1).unwrap().starts_with(['/']), "{first}");
    let values = |wanted: &str| -> Vec<&str> {
        let rows = headers.iter().filter_map(|line| line.split_once(':'));
        rows.filter(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim()).collect()
    };
    let host = values("host");
    assert!(host.len() == 1 && target.to_string().starts_with(host[0]), "{head:?}");
    assert_eq!(values("connection"), ["close"]);
    assert!(values("upgrade").is_empty());
    let (length, coding) = (values("content-length"), values("transfer-encoding"));
    match body {
        RequestBody::Length(body) => {
            assert!(length.len() <= 1 && length.iter().all(|length| length.parse() == Ok(*body)), "{head:?}");
            assert!(coding.is_empty() && (*body == 0 || length.len() == 1), "{head:?}");
        }
        RequestBody::Chunked => assert!(length.is_empty() && coding == ["chunked"], "{head:?}"),
    }
}

/// However the bytes of a connection come, the same goes on, and it is what came. Nothing goes on behind what was refused. The
/// first byte says how long the pieces are.
pub(crate) fn request_stream(data: &[u8]) {
    use stockade_egress::{NetTarget, RequestStream};

    let Some((size, data)) = data.split_first() else { return };
    let Ok(target) = NetTarget::parse("a.example:443") else { return };
    let read = |size: usize| {
        let (mut stream, mut passed) = (RequestStream::new(target.clone()), Vec::new());
        let taken = data.chunks(size).try_for_each(|piece| stream.take(piece, &mut passed));
        assert!(data.starts_with(&passed), "what goes on is what came");
        if taken.is_ok() && !stream.is_within_head() {
            assert_eq!(passed, data, "only what is not complete of a head is held back");
        }
        (taken.map_err(|bad| bad.rule), stream.is_between(), passed)
    };
    let (whole, pieces) = (read(data.len().max(1)), read(usize::from(*size).max(1)));
    assert_eq!((whole.0, whole.1), (pieces.0, pieces.1));
    // Of a body that turns out odd, more may have gone on already.
    assert!(pieces.2.starts_with(&whole.2) && (whole.0.is_err() || whole.2 == pieces.2));
}

/// Every beginning is one of TLS, or is refused. What is complete stays so whatever comes behind it, and was not complete one
/// byte before; the name that it asks for stands in it.
pub(crate) fn client_hello(data: &[u8]) {
    use stockade_egress::ClientHello;

    let read = ClientHello::read(data);
    if let ClientHello::Malformed(why) = &read {
        assert!(!why.is_empty());
        return;
    }
    if let ClientHello::Complete { server_name: Some(name), .. } = &read {
        assert!(!name.is_empty() && name.len() <= 255 && name.bytes().all(|byte| byte.is_ascii_graphic()));
        let letters = |bytes: &[u8]| {
            bytes.iter().filter(|byte| name.as_bytes().contains(&byte.to_ascii_lowercase())).count()
        };
        assert!(letters(data) >= name.len(), "{name}");
    }
    let longer = [data, b"behind"].concat();
    match read {
        ClientHello::Complete { .. } => assert_eq!(ClientHello::read(&longer), read),
        // What is missing cannot have been there with less.
        _ => {
            let half = data.get(..data.len() / 2).unwrap_or_default();
            assert_eq!(ClientHello::read(half), ClientHello::Incomplete);
        }
    }
}

/// Every message is a question, which is answered with itself and at most one address, or it gets no answer.
pub(crate) fn name_query(data: &[u8]) {
    use stockade_egress::{MAX_QUERY, NameAnswer, NameQuery, NetTarget};

    let Some(query) = NameQuery::read(data) else { return };
    assert!(data.len() <= MAX_QUERY && query.name.len() <= 253 && !query.name.is_empty());
    assert_eq!(query.name, query.name.to_lowercase());
    // Whatever is asked for, it is no address, or names one as a text would.
    drop(NetTarget::parse(&query.name));
    let address = std::net::Ipv4Addr::new(198, 18, 0, 1);
    let answers =
        [NameAnswer::Address(address), NameAnswer::Nothing, NameAnswer::NoSuchName, NameAnswer::Failed];
    for answer in answers {
        let message = query.answer(answer);
        assert!(
            message.len() <= data.len() + 16 && message.starts_with(&data[..2]) && message[2] & 0x80 != 0
        );
        assert_eq!(&message[4..8], &[0, 1, 0, u8::from(answer == answers[0] && query.wants_address)]);
        // An answer is no question.
        assert_eq!(NameQuery::read(&message), None);
    }
}

/// A response keeps its length, and shows no eight bytes of a secret that identify it: as they are, in hexadecimal digits or in
/// UTF-16, wherever it is cut into pieces. The first byte is the length of the pieces; `~` is replaced by the secret, and `^` by a
/// half of it.
#[cfg(target_os = "linux")]
pub(crate) fn scrubber(data: &[u8]) {
    use std::sync::{Arc, LazyLock};

    use stockade_egress::{ScrubbedStream, Scrubber};

    const SECRET: &[u8] = b"q7Zk2Vb9Lm4Wt8Rj3Hd6Ys1Pf5Gc0Nw";
    static SCRUBBER: LazyLock<Arc<Scrubber>> =
        LazyLock::new(|| Arc::new(Scrubber::new(&[(SECRET, "PLACEHOLDER-PLACEHOLDER-PLACEHO")]).unwrap()));

    let Some((size, rest)) = data.split_first() else { return };
    let text: Vec<u8> = rest
        .iter()
        .flat_map(|byte| match byte {
            b'~' => SECRET,
            b'^' => &SECRET[12..24],
            _ => std::slice::from_ref(byte),
        })
        .copied()
        .collect();
    let mut whole = text.clone();
    let is_found = SCRUBBER.whole(&mut whole);
    assert!(is_found || whole == text);
    let mut stream = ScrubbedStream::new(Arc::clone(&SCRUBBER));
    let mut pieces = Vec::new();
    for piece in text.chunks(usize::from(*size).max(1)) {
        stream.push(piece, &mut pieces);
        assert!(pieces.len() <= text.len());
    }
    stream.finish(&mut pieces);
    type Spell = fn(&[u8]) -> Vec<u8>;
    let spelled: [Spell; 4] = [
        <[u8]>::to_ascii_lowercase,
        |part| part.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect(),
        |part| part.iter().flat_map(|byte| [byte.to_ascii_lowercase(), 0]).collect(),
        |part| part.iter().flat_map(|byte| [0, byte.to_ascii_lowercase()]).collect(),
    ];
    let before = text.to_ascii_lowercase();
    for out in [&whole, &pieces] {
        assert_eq!(out.len(), text.len());
        let after = out.to_ascii_lowercase();
        for part in SECRET.windows(8) {
            for spell in spelled {
                let part = spell(part);
                // The zeros that hide one part can continue seven and a half bytes that were no part: only what the
                // host sent counts.
                let mut both = before.windows(part.len()).zip(after.windows(part.len()));
                assert!(
                    !both.any(|(sent, shown)| sent == part && shown == part),
                    "{}",
                    String::from_utf8_lossy(out)
                );
            }
        }
    }
}

/// Responses are scrubbed on Linux.
#[cfg(not(target_os = "linux"))]
pub(crate) fn scrubber(_data: &[u8]) {}
