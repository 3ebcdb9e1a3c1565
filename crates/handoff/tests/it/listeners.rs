//! Sockets that pass from one end to the other.
#![expect(clippy::disallowed_methods, reason = "listens and connects")]

use std::io::{IoSlice, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd as _;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use stockade_handoff::{EgressSockets, HandedListeners, ListenerHandoff};

/// Hands a socket over, as the first process of a sandbox does.
fn hand_out(handoff: &ListenerHandoff, listener: &TcpListener) {
    let descriptors = [listener.as_fd()];
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut handed = SendAncillaryBuffer::new(&mut room);
    assert!(handed.push(SendAncillaryMessage::ScmRights(&descriptors)));
    sendmsg(handoff.end(), &[IoSlice::new(&[0])], &mut handed, SendFlags::empty()).unwrap();
}

#[test]
fn a_socket_that_is_handed_out_takes_connections() {
    let sockets = EgressSockets { observes: true, ..EgressSockets::default() };
    let (handoff, listeners) = HandedListeners::with(sockets).unwrap();
    assert!(handoff.observes());
    let inside = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = inside.local_addr().unwrap();
    hand_out(&handoff, &inside);
    drop(inside);
    let outside = listeners.next().unwrap().unwrap();
    TcpStream::connect(address).unwrap().write_all(b"hello").unwrap();
    let mut text = String::new();
    outside.accept().unwrap().0.read_to_string(&mut text).unwrap();
    assert_eq!(text, "hello");
}

#[test]
fn a_message_without_a_socket_is_an_error_and_a_closed_end_is_none() {
    let (handoff, listeners) = HandedListeners::new().unwrap();
    handoff.end().write_all(&[0]).unwrap();
    assert!(listeners.next_socket().is_err());
    listeners.close();
    assert!(listeners.next_socket().unwrap().is_none());
}

#[test]
fn an_end_is_equal_to_itself_alone() {
    let (one, _one) = HandedListeners::new().unwrap();
    let (other, _other) = HandedListeners::new().unwrap();
    assert_eq!(one, one.clone());
    assert_ne!(one, other);
}
