//! Tunnels: CONNECT, addresses of hosts, SOCKS, and what a tunnel may carry.

use super::*;

#[test]
fn a_tunnel_carries_both_ways_and_tells_the_end() {
    let (port, hears) = server();
    let site = site(&[&format!("127.0.0.1:{port}/tcp")], BrokerOptions::default());
    let mut client = site.connect();
    // What comes at once with the request belongs to the tunnel.
    client.write_all(format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\nfirst ").as_bytes()).unwrap();
    let mut established = [0; 39];
    client.read_exact(&mut established).unwrap();
    assert!(established.starts_with(b"HTTP/1.1 200 "));
    client.write_all(b"second").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(hears.recv_timeout(Duration::from_secs(10)).unwrap(), "first second");
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("ok"), "{answer}");
}

/// The first message of a client that asks for a name over TLS, in one record.
fn hello(name: &str) -> Vec<u8> {
    let counted = |bytes: &[u8]| [&(bytes.len() as u16).to_be_bytes()[..], bytes].concat();
    let names = counted(&[&[0][..], &counted(name.as_bytes())].concat());
    let extension = [&[0, 0][..], &counted(&names)].concat();
    let body = [&[3, 3][..], &[7; 32], &[0, 0, 2, 0x13, 1, 1, 0], &counted(&extension)].concat();
    [&[22, 3, 1][..], &counted(&[&[1, 0][..], &counted(&body)].concat())].concat()
}

#[test]
fn a_tunnel_is_bound_to_its_host() {
    let (port, hears) = server();
    let host = format!("web.localhost:{port}");
    let list = [host.as_str(), &format!("any.localhost:{port}/tcp")];
    let site = site(&list, BrokerOptions::default());
    let connect = |to: &str, says: &[u8]| {
        let mut client = site.connect();
        client.write_all(format!("CONNECT {to} HTTP/1.1\r\n\r\n").as_bytes()).unwrap();
        client.write_all(says).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).ok();
        assert!(answer.starts_with(b"HTTP/1.1 200 "), "{answer:?}");
        answer.split_off(39)
    };
    let denied = [21, 3, 3, 0, 2, 2, 49];
    let greeting = hello("WEB.localhost");
    assert!(connect(&host, &greeting).ends_with(b"ok"));
    assert!(hears.recv_timeout(Duration::from_secs(10)).unwrap().contains("WEB.localhost"));
    assert_eq!(connect(&host, &hello("evil.test")), denied);
    assert_eq!(connect(&host, b"\x00anything"), b"");
    assert_eq!(connect(&host, b"SSH-2.0-x\r\n"), b"");
    assert!(connect(&host, b"GET /in HTTP/1.1\r\nHost: evil.test\r\n\r\n").starts_with(b"HTTP/1.1 403 "));
    let request = format!("GET /in HTTP/1.1\r\nHost: {host}\r\n\r\n");
    assert!(connect(&host, request.as_bytes()).ends_with(b"ok"));
    assert!(connect(&format!("any.localhost:{port}"), b"\x00anything").ends_with(b"ok"));
    let heard: Vec<String> = (0..6).filter_map(|_| hears.recv_timeout(Duration::from_secs(2)).ok()).collect();
    assert_eq!(heard.iter().filter(|said| said.contains("evil")).count(), 0, "{heard:?}");
    assert_eq!(heard.iter().filter(|said| said.contains("anything")).count(), 1, "{heard:?}");
    let refused: Vec<String> = site.record().into_iter().filter(|line| !line.ends_with(" listed")).collect();
    let rules = ["other-host", "not-tls", "not-tls", "other-host"];
    assert_eq!(refused, rules.map(|rule| format!("{host} {rule}")));
}

#[test]
fn what_connects_to_an_address_is_taken_for_its_name() {
    let (port, hears) = server();
    let taken = |broker: &Broker| listen(broker, &format!("127.0.0.2:{port}"), Served::Host);
    let site = site(&[&format!("127.0.0.2:{port}")], BrokerOptions::default());
    // An address that was never assigned to a name is the address itself. Here, it is the broker's own.
    let within = taken(&site.broker);
    let ask = |says: &[u8]| {
        let mut client = TcpStream::connect(within).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        client.write_all(says).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).ok();
        String::from_utf8_lossy(&answer).into_owned()
    };
    assert!(ask(b"GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n").starts_with("HTTP/1.1 403 "));
    assert_eq!(ask(b"\x01"), "");
    assert_eq!(ask(b""), "");
    assert!(hears.try_recv().is_err());
    let host = format!("127.0.0.2:{port}");
    let record = site.record();
    assert_eq!(record, [format!("{host} other-host"), format!("{host} not-tls")], "only what was refused");
}

#[test]
fn socks_is_spoken_as_well() {
    let (port, hears) = server();
    let site = site(&[&format!("web.localhost:{port}")], BrokerOptions::default());
    let ask = |name: &str, port: u16| {
        let mut client = site.connect();
        client.write_all(&[5, 2, 2, 0]).unwrap();
        let mut welcome = [0; 2];
        client.read_exact(&mut welcome).unwrap();
        assert_eq!(welcome, [5, 0]);
        let asked = [&[5, 1, 0, 3, name.len() as u8][..], name.as_bytes(), &port.to_be_bytes()].concat();
        client.write_all(&asked).unwrap();
        let mut reply = [0; 10];
        client.read_exact(&mut reply).unwrap();
        (client, reply[1])
    };
    assert_eq!(ask("evil.test", 443).1, 2);
    assert_eq!(ask("127.0.0.1", port).1, 2);
    let (mut client, reply) = ask("web.localhost", port);
    assert_eq!(reply, 0);
    client.write_all(format!("GET / HTTP/1.1\r\nHost: web.localhost:{port}\r\n\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("ok") && hears.recv_timeout(Duration::from_secs(10)).is_ok());
    let refused = ["evil.test:443 not-listed".to_owned(), format!("127.0.0.1:{port} not-listed")];
    assert_eq!(site.record()[..2], refused);
}

/// Who has said what it wants stays; those that are silent go when others wait.
#[test]
fn an_honest_request_waits_for_no_silent_one() {
    let site = site(&[], BrokerOptions::default());
    let silent: Vec<TcpStream> = (0..400).map(|_| site.connect()).collect();
    let began = Instant::now();
    assert_eq!(status(&site.ask(b"CONNECT evil.test:443 HTTP/1.1\r\n\r\n")), "403");
    println!("behind {} silent ones: {:?}", silent.len(), began.elapsed());
    // So long each of them might have stayed silent.
    assert!(began.elapsed() < site.broker.shared.options.patience / 2);
}
