//! Hands a listening socket out of a sandbox that has a network of its own, so that a proxy outside hears what connects.
//!
//! A socket belongs to the network that it was made in, whoever holds it. So the first process of a sandbox makes one that
//! listens on the loopback there, and hands it out; a proxy outside takes what connects. Nothing of the proxy runs
//! inside, no file is shared, and programs find what they know: a proxy at an address and a port.

use std::io;
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// Where the proxy listens, seen from within.
pub const PROXY_ADDRESS: &str = "127.0.0.1:3128";

/// The port of [`PROXY_ADDRESS`], which proxies are usually at.
#[cfg(target_os = "linux")]
pub(crate) const PORT: u16 = 3128;

/// Where the first process of a sandbox hands out its listening socket. One may serve many sandboxes.
#[derive(Debug, Clone)]
pub struct ListenerHandoff(Arc<UnixStream>);

impl PartialEq for ListenerHandoff {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for ListenerHandoff {}

impl ListenerHandoff {
    /// The descriptor to send to. It is open as long as any plan names this.
    #[cfg(target_os = "linux")]
    pub(crate) fn number(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// The listening sockets of sandboxes, as they are handed out.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub struct HandedListeners(UnixStream);

#[cfg(target_os = "linux")]
impl HandedListeners {
    /// Returns both ends: one for the plan of a sandbox, and one for the proxy.
    ///
    /// # Errors
    /// When no socket can be made.
    pub fn new() -> io::Result<(ListenerHandoff, Self)> {
        let (inside, outside) = UnixStream::pair()?;
        Ok((ListenerHandoff(Arc::new(inside)), Self(outside)))
    }

    /// Waits for the next listening socket; nothing when there will be no more.
    ///
    /// # Errors
    /// When the kernel hands over no socket.
    pub fn next(&self) -> io::Result<Option<std::net::TcpListener>> {
        Ok(receive(&self.0)?.map(Into::into))
    }

    /// Lets [`HandedListeners::next`] return nothing from now on, whichever thread waits there.
    pub fn close(&self) {
        self.0.shutdown(std::net::Shutdown::Both).ok();
    }
}

/// Waits for a descriptor that is handed over; nothing when there will be no more.
#[cfg(target_os = "linux")]
pub(crate) fn receive(from: &UnixStream) -> io::Result<Option<std::os::fd::OwnedFd>> {
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
