//! One client of a broker: its request is read, judged, put on record, and only then connected.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::super::proxy_request::{BadRequest, MAX_HEAD, ProxyRequest};
use super::Shared;
use super::answer::{about, answer};
use super::carry::{AtEnd, Pulse, carry, is_timeout};
use super::resolve_check::Brokered;

/// What the end of a head looks like.
const EMPTY_LINE: &[u8] = b"\r\n\r\n";

/// How long a client that was refused may take to read its answer.
const MOMENT: Duration = Duration::from_secs(1);

/// What a client asks for, or why that is not understood, and what came behind it.
type Head = (Result<ProxyRequest, BadRequest>, Vec<u8>);

/// Serves a client to its end.
pub(super) fn serve(client: &TcpStream, shared: &Shared) {
    // Who connects and says nothing has asked for nothing.
    let Ok(Some((request, rest))) = read(client, shared.options.patience) else { return };
    let request = match request {
        Ok(request) => request,
        Err(bad) => {
            let status = bad.status;
            return refuse(client, shared, &about(bad), Some(status));
        }
    };
    let brokered = shared.check.decide(request.target());
    if !brokered.is_allowed() {
        return refuse(client, shared, &brokered, None);
    }
    if let Err(why) = shared.told(&brokered) {
        return say(client, &no(&brokered, "unrecorded", why), None);
    }
    match connect(&brokered.addresses, shared.options.patience) {
        Ok(server) => {
            let Some(_both) = shared.keep(&server) else { return };
            go_between(client, &server, &request, &rest, shared.options.idle).ok();
        }
        Err(error) => say(client, &no(&brokered, "cannot-connect", error.to_string()), None),
    }
}

/// Reads a head and what came with it. All of it has to come within one time, however slowly it drips.
fn read(mut client: &TcpStream, patience: Duration) -> io::Result<Option<Head>> {
    let began = Instant::now();
    let mut bytes = Vec::new();
    let mut room = [0; 4 << 10];
    let mut searched = 0_usize;
    loop {
        let left = patience.saturating_sub(began.elapsed());
        if left.is_zero() {
            return Ok(Some((Err(too_slow()), Vec::new())));
        }
        client.set_read_timeout(Some(left))?;
        let read = match client.read(&mut room) {
            Ok(0) => return Ok(None),
            Ok(read) => read,
            Err(error) if is_timeout(&error) || error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        bytes.extend_from_slice(room.get(..read).unwrap_or_default());
        let tail = bytes.get(searched..).unwrap_or_default();
        if let Some(at) = memchr::memmem::find(tail, EMPTY_LINE) {
            let rest = bytes.split_off(searched + at + EMPTY_LINE.len());
            let request = if bytes.len() > MAX_HEAD { Err(too_long()) } else { ProxyRequest::read(&bytes) };
            return Ok(Some((request, rest)));
        }
        if bytes.len() > MAX_HEAD {
            return Ok(Some((Err(too_long()), Vec::new())));
        }
        // The end may have come in part.
        searched = bytes.len().saturating_sub(EMPTY_LINE.len() - 1);
    }
}

fn too_slow() -> BadRequest {
    let reason = "the request did not come in time".to_owned();
    BadRequest { status: 408, rule: "too-slow", reason, fix: None }
}

fn too_long() -> BadRequest {
    let reason = format!("its head is longer than {MAX_HEAD} bytes");
    BadRequest { status: 431, rule: "bad-request", reason, fix: None }
}

/// The first address that answers. No name is looked up again.
fn connect(addresses: &[SocketAddr], patience: Duration) -> io::Result<TcpStream> {
    let mut error = io::Error::other("it has no address");
    for address in addresses {
        match TcpStream::connect_timeout(address, patience) {
            Ok(server) => return Ok(server),
            Err(why) => error = why,
        }
    }
    Err(error)
}

fn go_between(
    mut client: &TcpStream,
    mut server: &TcpStream,
    request: &ProxyRequest,
    rest: &[u8],
    idle: Duration,
) -> io::Result<()> {
    client.set_write_timeout(Some(idle))?;
    server.set_write_timeout(Some(idle))?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (rest, left, at_end) = match request {
        ProxyRequest::Tunnel(_) => {
            client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
            (rest, u64::MAX, AtEnd::Tell)
        }
        ProxyRequest::Plain { head, body, .. } => {
            server.write_all(head.as_bytes())?;
            // What is behind the body would be another request, and goes nowhere.
            let of_body = usize::try_from(*body).unwrap_or(usize::MAX).min(rest.len());
            (rest.get(..of_body).unwrap_or_default(), body - of_body as u64, AtEnd::Keep)
        }
    };
    server.write_all(rest)?;
    let pulse = Pulse::new(idle);
    std::thread::scope(|scope| {
        let up = std::thread::Builder::new().stack_size(super::STACK);
        up.spawn_scoped(scope, || carry(client, server, left, at_end, &pulse))?;
        carry(server, client, u64::MAX, AtEnd::Tell, &pulse);
        if at_end == AtEnd::Keep {
            // The answer is complete, whatever was still to be sent.
            client.shutdown(Shutdown::Both).ok();
        }
        Ok(())
    })
}

fn no(brokered: &Brokered, rule: &'static str, reason: String) -> Brokered {
    Brokered { rule, reason, fix: None, addresses: Vec::new(), ..brokered.clone() }
}

/// Puts a refusal on record, and tells the client. What cannot be put on record is refused all the same.
fn refuse(client: &TcpStream, shared: &Shared, refused: &Brokered, status: Option<u16>) {
    shared.told(refused).ok();
    say(client, refused, status);
}

/// Tells a client why. What it still sends is read and thrown away for a moment, or it might not get to read its answer.
pub(super) fn say(mut client: &TcpStream, refused: &Brokered, status: Option<u16>) {
    let said = client
        .set_write_timeout(Some(MOMENT))
        .and_then(|()| client.write_all(answer(refused, status).as_bytes()))
        .and_then(|()| client.shutdown(Shutdown::Write));
    let began = Instant::now();
    let mut room = [0; 4 << 10];
    let mut still_sends = said.is_ok();
    while still_sends {
        let left = MOMENT.saturating_sub(began.elapsed());
        still_sends = !left.is_zero()
            && client.set_read_timeout(Some(left)).is_ok()
            && client.read(&mut room).is_ok_and(|read| read > 0);
    }
}
