//! Handoff of a shared proxy to the program that creates sandboxes.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use serde::{Deserialize, Serialize};
use stockade_handoff::{EgressSockets, ListenerHandoff, RunTrust, receive_descriptor};

/// The serialized part of a handoff. The descriptor to which the sandbox's first process passes its sockets is sent separately:
/// [`PassedHandoff::send`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PassedHandoff {
    addresses: Vec<(IpAddr, u8)>,
    streams: Vec<SocketAddr>,
    datagrams: Vec<SocketAddr>,
    answers_names: bool,
    observes: bool,
    /// The directory with the certificates of the proxy's authority.
    trust: Option<PathBuf>,
    socket: Option<PathBuf>,
}

impl PassedHandoff {
    /// Returns the serialized part of a handoff, for sandboxes that also mount this socket.
    #[must_use]
    pub fn of(handoff: &ListenerHandoff, socket: Option<PathBuf>) -> Self {
        let EgressSockets { addresses, streams, datagrams, answers_names, observes, trust, .. } =
            handoff.sockets().clone();
        let trust = trust.map(|trust| trust.folder.clone());
        Self { addresses, streams, datagrams, answers_names, observes, trust, socket }
    }

    /// Returns the directory with the certificates of the proxy's authority, if it inspects TLS.
    #[must_use]
    pub const fn trust(&self) -> Option<&PathBuf> {
        self.trust.as_ref()
    }

    /// Sends the descriptor, after the serialized part.
    ///
    /// # Errors
    /// When the other end is closed.
    pub fn send(handoff: &ListenerHandoff, over: &UnixStream) -> io::Result<()> {
        let descriptors = [handoff.end().as_fd()];
        let mut room = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut handed = SendAncillaryBuffer::new(&mut room);
        if !handed.push(SendAncillaryMessage::ScmRights(&descriptors)) {
            return Err(io::Error::other("the message has no room for a descriptor"));
        }
        let byte = [io::IoSlice::new(&[0])];
        rustix::io::retry_on_intr(|| sendmsg(over, &byte, &mut handed, SendFlags::NOSIGNAL))?;
        Ok(())
    }

    /// Receives the descriptor, and returns the complete handoff.
    ///
    /// # Errors
    /// When no descriptor is received.
    pub fn receive(self, over: &UnixStream) -> io::Result<ListenerHandoff> {
        let Some(descriptor) = receive_descriptor(over)? else {
            return Err(io::Error::other("the egress proxy ended before it passed its socket"));
        };
        let Self { addresses, streams, datagrams, answers_names, observes, trust, socket } = self;
        let trust = trust.map(|folder| Arc::new(RunTrust::of_another(folder)));
        let sockets = EgressSockets { addresses, streams, datagrams, answers_names, observes, trust, socket };
        Ok(ListenerHandoff::from_parts(descriptor.into(), sockets))
    }
}
