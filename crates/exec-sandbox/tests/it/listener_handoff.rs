//! What listens in the network of a sandbox is heard outside, and nothing else leads out.

#![expect(clippy::disallowed_methods, reason = "hears what knocks, in a thread")]

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use stockade_exec_sandbox::{End, HandedListeners, Network, PROXY_ADDRESS, Property, SandboxBackend};

use super::live::Live;

/// Says something, then what it was told.
const KNOCK: &str = "exec 3<>/dev/tcp/127.0.0.1/3128 && echo knock >&3 && cat <&3";

#[test]
fn who_knocks_is_heard_outside() {
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
fn nothing_else_leads_out_and_nothing_of_it_is_held_inside() {
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

#[test]
fn who_cannot_open_one_refuses() {
    for backend in [SandboxBackend::Bwrap, SandboxBackend::Landlock] {
        let (handoff, _listeners) = HandedListeners::new().unwrap();
        let refused = Live::bare().run(&["touch", "ran"], |spec| {
            (spec.backend, spec.network) = (backend, Network::Proxy(handoff));
            spec.on_unavailable = stockade_exec_sandbox::OnUnavailable::Warn;
        });
        assert!(refused.is_err(), "{backend:?}");
    }
}
