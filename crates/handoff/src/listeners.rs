//! Hands sockets out of a sandbox that has a network of its own, so that a proxy outside hears what connects.
//!
//! A socket belongs to the network that it was made in, whichever process holds it. So the first process of a sandbox makes those
//! that listen there, and hands them out; a proxy outside takes what connects. Nothing of the proxy runs inside, no file is
//! shared, and programs find what they know: a proxy at an address and a port. Those that know of no proxy find the addresses
//! of [`EgressSockets`], which are the sandbox's own, and are heard there.

#[cfg(target_os = "linux")]
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;

use crate::trust::RunTrust;

/// Where the proxy listens, seen from within.
pub const PROXY_ADDRESS: &str = "127.0.0.1:3128";

/// The port of [`PROXY_ADDRESS`], which proxies are usually at.
pub const PROXY_PORT: u16 = 3128;

/// What the network of a sandbox has beside its proxy, so that programs work that know of none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EgressSockets {
    /// Addresses that are the sandbox's own, and how many of their bits count.
    pub addresses: Vec<(IpAddr, u8)>,
    /// Where it is listened for connections.
    pub streams: Vec<SocketAddr>,
    /// Where messages are received.
    pub datagrams: Vec<SocketAddr>,
    /// Whether names are looked up at one of these sockets, and so nowhere else.
    pub answers_names: bool,
    /// Whether the proxy lets every public host be reached, so that it is seen which are needed.
    pub observes: bool,
    /// What makes programs trust the proxy where it looks into TLS; nothing if it does so nowhere.
    pub trust: Option<Arc<RunTrust>>,
    /// A socket that the proxy serves too, which the sandbox has at the same path; nothing if it serves none.
    pub socket: Option<PathBuf>,
}

/// Where the first process of a sandbox hands out its sockets. One may serve many sandboxes.
#[derive(Debug, Clone)]
pub struct ListenerHandoff(Arc<Handoff>);

#[derive(Debug)]
struct Handoff {
    to: UnixStream,
    sockets: EgressSockets,
}

impl PartialEq for ListenerHandoff {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for ListenerHandoff {}

impl ListenerHandoff {
    /// The descriptor to send to. It is open as long as any plan names this.
    #[must_use]
    pub fn number(&self) -> RawFd {
        self.0.to.as_raw_fd()
    }

    /// An end whose other one another program has, and what is made inside beside the proxy's socket.
    #[must_use]
    pub fn from_parts(to: UnixStream, sockets: EgressSockets) -> Self {
        Self(Arc::new(Handoff { to, sockets }))
    }

    /// The socket that descriptors are sent to.
    #[must_use]
    pub fn end(&self) -> &UnixStream {
        &self.0.to
    }

    /// Returns whether the proxy lets every public host be reached, so that it is seen which are needed.
    #[must_use]
    pub fn observes(&self) -> bool {
        self.0.sockets.observes
    }

    /// What is made inside beside the proxy's socket.
    #[must_use]
    pub fn sockets(&self) -> &EgressSockets {
        &self.0.sockets
    }
}

/// The sockets of sandboxes, as they are handed out.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub struct HandedListeners(UnixStream);

#[cfg(target_os = "linux")]
impl HandedListeners {
    /// Returns both ends: one for the plan of a sandbox, and one for the proxy, which is all that is listened at.
    ///
    /// # Errors
    /// When no socket can be made.
    pub fn new() -> io::Result<(ListenerHandoff, Self)> {
        Self::with(EgressSockets::default())
    }

    /// The same, with more sockets beside the proxy's. They come after it, in the order in which they are named.
    ///
    /// # Errors
    /// When no socket can be made.
    pub fn with(sockets: EgressSockets) -> io::Result<(ListenerHandoff, Self)> {
        let (to, outside) = UnixStream::pair()?;
        Ok((ListenerHandoff(Arc::new(Handoff { to, sockets })), Self(outside)))
    }

    /// Waits for the next listening socket; nothing when there will be no more.
    ///
    /// # Errors
    /// When the kernel hands over no socket.
    pub fn next(&self) -> io::Result<Option<std::net::TcpListener>> {
        Ok(receive_descriptor(&self.0)?.map(Into::into))
    }

    /// Waits for the next socket, of whatever kind; nothing when there will be no more.
    ///
    /// # Errors
    /// When the kernel hands over no socket.
    pub fn next_socket(&self) -> io::Result<Option<std::os::fd::OwnedFd>> {
        receive_descriptor(&self.0)
    }

    /// Lets [`HandedListeners::next`] return nothing from now on, whichever thread waits there.
    pub fn close(&self) {
        self.0.shutdown(std::net::Shutdown::Both).ok();
    }
}

#[cfg(target_os = "linux")]
impl std::os::fd::AsFd for HandedListeners {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Waits for a descriptor that is handed over; nothing when there will be no more.
///
/// # Errors
/// When the kernel hands over none, or a message comes without one.
#[cfg(target_os = "linux")]
pub fn receive_descriptor(from: &UnixStream) -> io::Result<Option<std::os::fd::OwnedFd>> {
    use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

    let mut room = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut handed = RecvAncillaryBuffer::new(&mut room);
    let mut byte = [0];
    let message = rustix::io::retry_on_intr(|| {
        recvmsg(from, &mut [io::IoSliceMut::new(&mut byte)], &mut handed, RecvFlags::CMSG_CLOEXEC)
    })?;
    if message.bytes == 0 {
        return Ok(None);
    }
    let descriptor = handed.drain().find_map(|part| match part {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    descriptor.map(Some).ok_or_else(|| io::Error::other("a sandbox handed out no descriptor"))
}
