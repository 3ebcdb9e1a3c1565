//! Connections to hosts through the proxy of this machine: HTTP `CONNECT`, and SOCKS 5.

use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, TcpStream};
use std::time::Duration;

use memchr::memmem;

use super::super::socks;
use super::super::target::{Host, NetTarget};
use super::super::upstream_proxy::{UpstreamKind, UpstreamProxy};

/// Maximum length of the head of a proxy's response.
const MAX_HEAD: usize = 16 << 10;

/// The end of a head.
const END: &[u8] = b"\r\n\r\n";

/// Lets a proxy connect to a target. From then on, the connection is that of the target.
///
/// # Errors
/// With the reason, when the proxy refuses it or responds with something else.
pub(super) fn connect(
    server: &TcpStream,
    proxy: &UpstreamProxy,
    target: &NetTarget,
    patience: Duration,
) -> Result<(), String> {
    let connected = timeouts(server, Some(patience)).and_then(|()| match proxy.kind {
        UpstreamKind::Http => by_connect(server, proxy, target),
        UpstreamKind::Socks => by_socks(server, proxy, target),
    });
    let connected = connected.and_then(|answer| timeouts(server, None).map(|()| answer));
    match connected {
        Ok(Ok(())) => Ok(()),
        Ok(Err(why)) => Err(format!("the upstream proxy `{proxy}` {why}")),
        Err(error) => Err(format!("the upstream proxy `{proxy}` does not respond: {error}")),
    }
}

fn timeouts(server: &TcpStream, patience: Option<Duration>) -> io::Result<()> {
    server.set_read_timeout(patience)?;
    server.set_write_timeout(patience)
}

/// Returns the head of a plain request as a proxy gets it: with an absolute URL and the login.
pub(super) fn whole_head(proxy: &UpstreamProxy, head: &str) -> Vec<u8> {
    let whole = super::super::to_whole_url(head.as_bytes());
    let line = memmem::find(&whole, b"\r\n").map_or(whole.len(), |at| at + 2);
    let (first, rest) = whole.split_at_checked(line).unwrap_or((&whole, &[]));
    [first, proxy.authorization().as_bytes(), rest].concat()
}

type Answer = Result<(), String>;

fn by_connect(mut server: &TcpStream, proxy: &UpstreamProxy, target: &NetTarget) -> io::Result<Answer> {
    let login = proxy.authorization();
    let asked = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{}\r\n", *login);
    server.write_all(zeroize::Zeroizing::new(asked).as_bytes())?;
    let head = head(server)?;
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let status = line.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5));
    Ok(match status {
        Some(status) if status.starts_with('2') => Ok(()),
        Some("407") => Err("requires another login (407): set it in the URL of the proxy".to_owned()),
        Some(_) => Err(format!("answered `{}`", line.escape_debug())),
        None => Err("does not speak HTTP".to_owned()),
    })
}

/// Reads a head and no byte behind it: those are of the host.
fn head(mut server: &TcpStream) -> io::Result<Vec<u8>> {
    let (mut head, mut room) = (Vec::new(), [0; 1024]);
    while head.len() < MAX_HEAD {
        let seen = server.peek(&mut room)?;
        let before = head.len();
        head.extend_from_slice(room.get(..seen).unwrap_or_default());
        let end = memmem::find(&head, END).map(|at| at + END.len());
        head.truncate(end.unwrap_or(head.len()));
        let taken = head.len() - before;
        server.read_exact(room.get_mut(..taken).unwrap_or_default())?;
        if seen == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if end.is_some() {
            return Ok(head);
        }
    }
    Err(io::ErrorKind::InvalidData.into())
}

fn by_socks(mut server: &TcpStream, proxy: &UpstreamProxy, target: &NetTarget) -> io::Result<Answer> {
    // No authentication, or a password (RFC 1929).
    let greeting: &[u8] =
        if proxy.login().is_some() { &[socks::VERSION, 2, 0, 2] } else { &[socks::VERSION, 1, 0] };
    server.write_all(greeting)?;
    let mut chosen = [0; 2];
    server.read_exact(&mut chosen)?;
    match (chosen, proxy.login()) {
        ([socks::VERSION, 0], _) => {}
        ([socks::VERSION, 2], Some((user, password))) => {
            let mut login = zeroize::Zeroizing::new(vec![1]);
            for word in [user, password] {
                login.push(u8::try_from(word.len()).unwrap_or(u8::MAX));
                login.extend_from_slice(word.as_bytes());
            }
            server.write_all(&login)?;
            server.read_exact(&mut chosen)?;
            if chosen != socks::RIGHT_PASSWORD {
                return Ok(Err("rejected the login".to_owned()));
            }
        }
        ([socks::VERSION, _], _) => {
            return Ok(Err("requires another login: set it in the URL of the proxy".to_owned()));
        }
        _ => return Ok(Err("does not speak SOCKS 5".to_owned())),
    }
    server.write_all(&request(target))?;
    let mut reply = [0; 4];
    server.read_exact(&mut reply)?;
    let bound = match reply {
        [socks::VERSION, 0, _, 1] => 4,
        [socks::VERSION, 0, _, 4] => 16,
        [socks::VERSION, 0, _, 3] => {
            let mut length = [0];
            server.read_exact(&mut length)?;
            usize::from(length[0])
        }
        [socks::VERSION, code, ..] => return Ok(Err(format!("refused the connection (SOCKS reply {code})"))),
        _ => return Ok(Err("does not speak SOCKS 5".to_owned())),
    };
    let mut room = [0; 255 + 2];
    server.read_exact(room.get_mut(..bound + 2).unwrap_or_default())?;
    Ok(Ok(()))
}

/// Returns the request to connect to a target.
fn request(target: &NetTarget) -> Vec<u8> {
    let mut bytes = vec![socks::VERSION, 1, 0];
    match &target.host {
        Host::Address(IpAddr::V4(address)) => {
            bytes.push(1);
            bytes.extend_from_slice(&address.octets());
        }
        Host::Address(IpAddr::V6(address)) => {
            bytes.push(4);
            bytes.extend_from_slice(&address.octets());
        }
        Host::Name(name) => {
            // A name has at most 253 bytes.
            bytes.extend_from_slice(&[3, u8::try_from(name.len()).unwrap_or(u8::MAX)]);
            bytes.extend_from_slice(name.as_bytes());
        }
    }
    bytes.extend_from_slice(&target.port.unwrap_or(0).to_be_bytes());
    bytes
}
