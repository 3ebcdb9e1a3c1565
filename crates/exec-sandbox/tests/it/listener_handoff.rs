//! What listens in the network of a sandbox is heard outside, and nothing else leads out.

#![expect(clippy::disallowed_methods, reason = "hears what knocks, in a thread")]

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use stockade_exec_sandbox::handoff::{EgressSockets, HandedListeners, PROXY_ADDRESS};
use stockade_exec_sandbox::{End, Network, Property, SandboxBackend};

use super::live::Live;

/// Says something, then what it was told.
const KNOCK: &str = "exec 3<>/dev/tcp/127.0.0.1/3128 && echo knock >&3 && cat <&3";

#[test]
fn connections_in_the_sandbox_reach_the_proxy() {
    let Some(live) = Live::new() else { return };
    let (handoff, listeners) = HandedListeners::new().unwrap();
    let proxy = thread::spawn(move || {
        let mut heard = Vec::new();
        while let Some(listener) = listeners.next().unwrap() {
            let (mut client, from) = listener.accept().unwrap();
            assert!(from.ip().is_loopback() && listener.local_addr().unwrap().to_string() == PROXY_ADDRESS);
            let mut word = [0; 6];
            client.read_exact(&mut word).unwrap();
            client.write_all(b"come in\n").unwrap();
            heard.push(word);
        }
        heard
    });
    for _ in 0..2 {
        let outcome =
            live.run(&["bash", "-c", KNOCK], |spec| spec.network = Network::Proxy(handoff.clone())).unwrap();
        assert_eq!((outcome.end, outcome.output.stdout.as_slice()), (End::Exited(0), &b"come in\n"[..]));
        assert!(outcome.enforcement.holds(Property::Network));
    }
    // The last plan that names it is gone.
    drop(handoff);
    assert_eq!(proxy.join().unwrap(), [*b"knock\n"; 2]);
}

#[test]
fn the_proxy_socket_is_the_only_way_out_and_not_inherited() {
    let Some(live) = Live::new() else { return };
    let outside = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = outside.local_addr().unwrap().port();
    let (handoff, _listeners) = HandedListeners::new().unwrap();
    let script = format!(
        "(exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null && echo reached
         (exec 3<>/dev/tcp/1.1.1.1/53) 2>/dev/null && echo reached
         for fd in /proc/self/fd/*; do readlink $fd; done | grep -c socket
         echo $https_proxy $HTTP_PROXY $NO_PROXY"
    );
    let outcome = live.run(&["bash", "-c", &script], |spec| spec.network = Network::Proxy(handoff)).unwrap();
    let printed = String::from_utf8_lossy(&outcome.output.stdout).into_owned();
    assert_eq!(printed, "0\nhttp://127.0.0.1:3128 http://127.0.0.1:3128 localhost,127.0.0.1,::1\n");
}

/// Every address that is named is the sandbox's own, and what is listened at there is heard outside.
#[test]
fn connections_to_other_addresses_reach_the_proxy() {
    let Some(live) = Live::new() else { return };
    let sockets = EgressSockets {
        addresses: vec![("198.18.0.0".parse().unwrap(), 15), ("93.184.216.34".parse().unwrap(), 32)],
        streams: vec!["0.0.0.0:443".parse().unwrap(), "93.184.216.34:8080".parse().unwrap()],
        datagrams: vec!["127.0.0.1:53".parse().unwrap()],
        answers_names: true,
        ..EgressSockets::default()
    };
    let (handoff, listeners) = HandedListeners::with(sockets).unwrap();
    let heard = thread::spawn(move || {
        let mut heard = Vec::new();
        for expected in ["", "198.19.255.254:443", "93.184.216.34:8080"] {
            let listener = listeners.next().unwrap().unwrap();
            if !expected.is_empty() {
                let (client, _) = listener.accept().unwrap();
                heard.push((client.local_addr().unwrap().to_string(), expected));
            }
        }
        // The last is for messages.
        let names = std::net::UdpSocket::from(std::os::fd::OwnedFd::from(listeners.next().unwrap().unwrap()));
        let mut room = [0; 16];
        let (length, _) = names.recv_from(&mut room).unwrap();
        (heard, room[..length].to_vec())
    });
    let script = "exec 3<>/dev/tcp/198.19.255.254/443 4<>/dev/tcp/93.184.216.34/8080 && printf name > /dev/udp/127.0.0.1/53
         (exec 3<>/dev/tcp/93.184.216.34/8081) 2>/dev/null && echo reached
         (exec 3<>/dev/tcp/93.184.216.35/443) 2>/dev/null && echo reached
         (printf x > /dev/udp/93.184.216.35/53) 2>/dev/null && echo sent
         cat /etc/resolv.conf; grep hosts: /etc/nsswitch.conf";
    let outcome = live.run(&["bash", "-c", script], |spec| spec.network = Network::Proxy(handoff)).unwrap();
    let printed = String::from_utf8_lossy(&outcome.output.stdout).into_owned();
    assert_eq!(printed, "nameserver 127.0.0.1\nhosts: files dns\n");
    let (heard, message) = heard.join().unwrap();
    assert!(heard.iter().all(|(at, expected)| at == expected) && heard.len() == 2, "{heard:?}");
    assert_eq!(message, b"name");
}

#[test]
fn a_failed_listener_handoff_is_an_error() {
    for backend in [SandboxBackend::Bwrap, SandboxBackend::Landlock] {
        let (handoff, _listeners) = HandedListeners::new().unwrap();
        let refused = Live::bare().run(&["touch", "ran"], |spec| {
            (spec.backend, spec.network) = (backend, Network::Proxy(handoff));
            spec.on_unavailable = stockade_exec_sandbox::OnUnavailable::Warn;
        });
        assert!(refused.is_err(), "{backend:?}");
    }
}
