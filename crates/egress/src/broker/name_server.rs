//! Answers name queries in the sandbox with virtual addresses. No query leaves this machine: names outside of the host list do
//! not exist, so data cannot be exfiltrated in names.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpStream, UdpSocket};
use std::time::Instant;

use super::super::broker_hostname;
use super::super::name_query::{MAX_QUERY, NameAnswer, NameQuery};
use super::Shared;

/// The port of DNS queries.
pub(super) const PORT: u16 = 53;

/// Maximum number of messages answered before other sockets are served.
const AT_ONCE: usize = 64;

/// Maximum number of recorded names that are not in the list.
const MAX_RECORDED: usize = 256;

/// Answers pending queries over UDP.
pub(super) fn answer_all(socket: &UdpSocket, shared: &Shared) {
    let mut room = [0; MAX_QUERY];
    for _ in 0..AT_ONCE {
        let Ok((length, from)) = socket.recv_from(&mut room) else { return };
        if let Some(answer) = room.get(..length).and_then(|message| answer(message, shared)) {
            socket.send_to(&answer, from).ok();
        }
    }
}

/// Answers name queries over TCP.
pub(super) fn serve(client: &TcpStream, shared: &Shared) {
    let began = Instant::now();
    while let Ok(true) = serve_one(client, shared) {
        if began.elapsed() > shared.options.patience {
            return;
        }
    }
}

fn serve_one(mut client: &TcpStream, shared: &Shared) -> io::Result<bool> {
    client.set_read_timeout(Some(shared.options.patience))?;
    client.set_write_timeout(Some(shared.options.patience))?;
    let mut length = [0; 2];
    client.read_exact(&mut length)?;
    let mut room = [0; MAX_QUERY];
    let Some(message) = room.get_mut(..usize::from(u16::from_be_bytes(length))) else { return Ok(false) };
    client.read_exact(message)?;
    let Some(answer) = answer(message, shared) else { return Ok(false) };
    let length = u16::try_from(answer.len()).unwrap_or_default();
    client.write_all(&[&length.to_be_bytes()[..], &answer].concat())?;
    Ok(true)
}

fn answer(message: &[u8], shared: &Shared) -> Option<Vec<u8>> {
    let query = NameQuery::read(message)?;
    if query.name != broker_hostname::NAME && !shared.check.has_name(&query.name) {
        put_on_record(&query.name, shared);
        return Some(query.answer(NameAnswer::NoSuchName));
    }
    if !query.wants_address {
        return Some(query.answer(NameAnswer::Nothing));
    }
    let mut virtual_addresses =
        shared.virtual_addresses.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    Some(
        query.answer(
            virtual_addresses.address_of(&query.name).map_or(NameAnswer::Failed, NameAnswer::Address),
        ),
    )
}

/// Records each unlisted name once, up to a limit.
fn put_on_record(name: &str, shared: &Shared) {
    // Reverse lookups and service records (`_https._tcp.HOST`) of allowed hosts are routine queries, not attempts to reach
    // another host.
    let host = name.split('.').skip_while(|label| label.starts_with('_')).collect::<Vec<_>>().join(".");
    if name.ends_with(".arpa") || (host != name && shared.check.has_name(&host)) {
        return;
    }
    let mut state = shared.lock();
    let is_new = state.unknown_names.len() < MAX_RECORDED && state.unknown_names.insert(name.to_owned());
    drop(state);
    if is_new {
        shared.refused(&shared.check.unknown(name));
    }
}
