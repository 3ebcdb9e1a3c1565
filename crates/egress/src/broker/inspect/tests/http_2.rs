//! Hosts and clients that speak HTTP/2.

use super::*;

/// A host that speaks HTTP/2 alone, and answers every request with nothing.
fn host_of_many() -> TlsHost {
    let authority = Authority::new().unwrap();
    let certified = authority.for_host(&Host::Name(HOST.to_owned())).unwrap();
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(SingleCertAndKey::from((*certified).clone())));
    config.alpn_protocols = vec![b"h2".to_vec()];
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            listener.set_nonblocking(true).unwrap();
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let Ok(stream) = acceptor.accept(stream).await else { continue };
                let service = service_fn(|mut request: http::Request<hyper::body::Incoming>| async move {
                    use hyper::body::Body as _;
                    let mut body = Pin::new(request.body_mut());
                    while std::future::poll_fn(|context| body.as_mut().poll_frame(context)).await.is_some() {}
                    Ok::<_, io::Error>(http::Response::new(body::Carried::whole("")))
                });
                let served = http2::Builder::new(TokioExecutor::new());
                tokio::spawn(served.serve_connection(TokioIo::new(stream), service));
            }
        });
    });
    let mut roots = tempfile::NamedTempFile::new().unwrap();
    roots.write_all(files::pem(&[authority.certificate()]).as_bytes()).unwrap();
    TlsHost { port, roots }
}

/// Several requests at a time over one connection of HTTP/2, each judged.
#[test]
fn http_2_is_judged_as_http_1_is() {
    let host = host_of_many();
    let site = looking(&host, "GET /v1/** + POST /v1/up upload=1000");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let port = host.port;
    let tunnel = tunnel(&site, port);
    let mut roots = RootCertStore::empty();
    roots.add(site.broker.shared.inspector.as_ref().unwrap().authority.certificate().clone()).unwrap();
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let answers = runtime.block_on(async {
        tunnel.set_nonblocking(true).unwrap();
        let stream = tokio::net::TcpStream::from_std(tunnel).unwrap();
        let name = ServerName::try_from(HOST).unwrap();
        let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        let (sender, connection) =
            to_many::Builder::new(TokioExecutor::new()).handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        let mut answers = Vec::new();
        for (method, authority, path, length) in [
            ("GET", format!("{HOST}:{port}"), "/v1/a", 0),
            ("GET", HOST.to_owned(), "/v1/b", 0),
            ("GET", format!("{HOST}:{port}"), "/v2", 0),
            ("GET", "evil.test".to_owned(), "/v1/a", 0),
            ("GET", format!("user@{HOST}:{port}"), "/v1/a", 0),
            ("GET", format!("{HOST}:{port}"), "/v1/../a", 0),
            ("POST", format!("{HOST}:{port}"), "/v1/up", 10),
            ("POST", format!("{HOST}:{port}"), "/v1/up", 3000),
        ] {
            let request = http::Request::builder().method(method).uri(format!("https://{authority}{path}"));
            let body = body::Carried::whole(vec![b'x'; length]);
            let answer = sender.clone().send_request(request.body(body).unwrap()).await;
            answers.push(answer.map_or(0, |answer| answer.status().as_u16()));
        }
        answers
    });
    assert_eq!(answers, [200, 200, 403, 403, 403, 403, 200, 413]);
    assert!(site.record().iter().any(|one| one.ends_with("other-host")), "{:?}", site.record());
}
