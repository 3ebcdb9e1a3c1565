//! Serves clients of the proxy's own port: reads their request, by HTTP or SOCKS, and decides on it.

use std::io::{self, Write as _};
use std::net::TcpStream;
use std::sync::Arc;

use super::super::proxy_request::{BadRequest, ProxyRequest};
use super::super::socks::{self, Socks, SocksReply};
use super::super::target::NetTarget;
use super::answer::{MOMENT, about, refuse};
use super::client_reader::{Incoming, More, head};
use super::tunnel::{self, Speaks};
use super::{Kept, Shared};

/// Maximum length of a SOCKS greeting or request.
const MAX_SOCKS: usize = 512;

/// Serves a client until its end.
pub(super) fn serve(client: &TcpStream, shared: &Arc<Shared>, kept: &Kept<'_>) {
    asked(client, shared, kept, Incoming::new(client, shared.options.patience, Vec::new()));
}

/// Serves a client whose first bytes may already be read.
pub(super) fn asked(client: &TcpStream, shared: &Arc<Shared>, kept: &Kept<'_>, mut incoming: Incoming<'_>) {
    // A client that sends nothing has requested nothing, so there is nothing to record.
    if incoming.bytes.is_empty() && !matches!(incoming.more(), Ok(More::Came)) {
        return;
    }
    // 5 is a control character, which no HTTP request starts with, so both protocols can share a port.
    if incoming.bytes.first() == Some(&socks::VERSION) {
        serve_socks(client, shared, kept, incoming).ok();
        return;
    }
    let Ok(Some(end)) = head(&mut incoming) else { return };
    let request = end.and_then(|end| {
        let rest = incoming.bytes.split_off(end);
        Ok((ProxyRequest::read(&incoming.bytes)?, rest))
    });
    kept.has_asked();
    match request {
        Err(bad) => {
            let status = bad.status;
            refuse(client, shared, &about(bad), Some(status));
        }
        Ok((ProxyRequest::Tunnel(target), rest)) => {
            tunnel::tunnel(client, shared, &target, Speaks::Http, rest);
        }
        Ok((request, rest)) => tunnel::plain(client, shared, &request, &rest),
    }
}

/// Serves a client that speaks SOCKS 5.
fn serve_socks(
    mut client: &TcpStream,
    shared: &Arc<Shared>,
    kept: &Kept<'_>,
    mut incoming: Incoming<'_>,
) -> io::Result<()> {
    client.set_write_timeout(Some(MOMENT))?;
    match complete(&mut incoming, socks::greeting)? {
        Ok(true) => client.write_all(&socks::WELCOME)?,
        Ok(false) => return client.write_all(&socks::NO_WAY),
        Err((reply, why)) => return refuse_socks(client, shared, reply, why),
    }
    asked_by_socks(client, shared, kept, incoming)
}

/// Serves a SOCKS client after the greeting.
pub(super) fn asked_by_socks(
    client: &TcpStream,
    shared: &Arc<Shared>,
    kept: &Kept<'_>,
    mut incoming: Incoming<'_>,
) -> io::Result<()> {
    let target: NetTarget = match complete(&mut incoming, socks::request)? {
        Ok(target) => target,
        Err((reply, why)) => return refuse_socks(client, shared, reply, why),
    };
    kept.has_asked();
    tunnel::tunnel(client, shared, &target, Speaks::Socks, std::mem::take(&mut incoming.bytes));
    Ok(())
}

/// Reads until a message is complete, and removes it from the buffer.
fn complete<T>(
    incoming: &mut Incoming<'_>,
    read: fn(&[u8]) -> Socks<T>,
) -> io::Result<Result<T, (SocksReply, &'static str)>> {
    loop {
        match read(&incoming.bytes) {
            Socks::Complete(read, length) => {
                incoming.bytes.drain(..length.min(incoming.bytes.len()));
                return Ok(Ok(read));
            }
            Socks::Malformed(reply, why) => return Ok(Err((reply, why))),
            // The longest request has 262 bytes: a name of 255, and its framing.
            Socks::Incomplete if incoming.bytes.len() > MAX_SOCKS => {
                return Ok(Err((SocksReply::Failed, "it is longer than a SOCKS 5 request can be")));
            }
            Socks::Incomplete => {}
        }
        if incoming.more()? != More::Came {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

fn refuse_socks(mut client: &TcpStream, shared: &Shared, reply: SocksReply, why: &str) -> io::Result<()> {
    let bad = BadRequest { status: 400, rule: "bad-request", reason: why.to_owned(), fix: None };
    shared.refused(&about(bad));
    client.write_all(&reply.bytes())
}
