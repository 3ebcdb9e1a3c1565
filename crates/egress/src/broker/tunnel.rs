//! Connects a client to a host. The client's first bytes must be for that host; then both directions are relayed.

use std::io::{self, Write as _};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use super::super::broker_hostname;
use super::super::chunked::Chunked;
use super::super::conditions::Asked;
use super::super::host_list::{NOT_LISTED, Ruling};
use super::super::protocol_sniff::{Opening, Unbound};
use super::super::proxy_request::{ProxyRequest, RequestBody};
use super::super::socks::SocksReply;
use super::super::suggest_entry;
use super::super::target::{Host, NetTarget};
use super::super::upstream_proxy::UpstreamKind;
use super::answer::{about, refuse, say, say_bytes};
use super::client_reader::{Incoming, More, head};
use super::exchange::{BrokeredRequest, Exchange};
use super::inspect::{self, Begun, Wire};
use super::last_answer::LastAnswer;
use super::quotas::{Exhausted, Granted};
use super::refusals::Refused;
use super::relay::{AtEnd, Most, Over, Pulse, Upload, carry};
use super::resolve_check::Brokered;
use super::{Kept, Shared, upstream, why};

/// The protocol in which a client waits for the result of connecting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaks {
    Http,
    Socks,
}

/// The rule for a host that cannot be reached.
const CANNOT: &str = "cannot-connect";

/// The plaintext TLS alert `access_denied` (RFC 8446, section 6.2).
const DENIED_BY_ALERT: &[u8] = &[21, 3, 3, 0, 2, 2, 49];

/// The beginning of a response that switches protocols.
const SWITCHES: &[u8] = b"HTTP/1.1 101 ";

// A ClientHello with post-quantum key shares has about 2 KiB, and a head of a request up to 32 KiB.
/// Maximum number of bytes that are read to recognize the protocol.
const MAX_OPENING: usize = 32 << 10;

/// Serves a request with an absolute URL.
pub(super) fn plain(client: &TcpStream, shared: &Arc<Shared>, request: &ProxyRequest, rest: &[u8]) {
    if broker_hostname::answers_at(request.target()) {
        return why::serve(client, shared, request);
    }
    let brokered = shared.check.decide(request.target());
    if !brokered.is_allowed() {
        return refuse(client, shared, &brokered.about(recorded(request)), None);
    }
    let (
        Some(inspector),
        ProxyRequest::Plain { target, head, .. } | ProxyRequest::Websocket { target, head },
    ) = (shared.inspector_of(request.target(), Wire::Plain), request)
    else {
        return drop(one_request(client, None, (request, rest), (shared, &brokered)));
    };
    match connect(target, &brokered, shared) {
        Ok(server) => {
            let Some(_both) = shared.keep(&server) else { return };
            // The inspector gets the head that was written anew, not the bytes of the client, which may be ambiguous.
            let first = [head.as_bytes(), rest].concat();
            let wire = Wire::Plain;
            let begun = Begun { client, server: &server, target, brokered: &brokered, first, wire };
            inspect::converse(shared, inspector, begun).ok();
        }
        Err(refused) => say(client, &refused, None),
    }
}

/// Returns a request as it is recorded.
fn recorded(request: &ProxyRequest) -> BrokeredRequest {
    request.asked().map(|(method, path)| BrokeredRequest::new(method, path)).unwrap_or_default()
}

/// Serves a client that requested a tunnel, and that sends its first bytes only after the proxy has replied.
pub(super) fn tunnel(
    mut client: &TcpStream,
    shared: &Arc<Shared>,
    target: &NetTarget,
    speaks: Speaks,
    rest: Vec<u8>,
) {
    // Requests to the proxy's own name are answered here: no host outside has it.
    let is_own = broker_hostname::answers_at(target);
    // Connected before the reply, so that a client gets an error of connecting as such, and not as a broken tunnel.
    let server = if is_own { Ok(None) } else { way_to(target, shared).map(Some) };
    let server = match server {
        Ok(server) => server,
        Err((refused, reply)) => return speaks.refuses(client, &refused, reply),
    };
    let greeted = match speaks {
        Speaks::Http => client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n"),
        Speaks::Socks => client.write_all(&SocksReply::Connected.bytes()),
    };
    let mut incoming = Incoming::new(client, shared.options.patience, rest);
    if greeted.is_err() {
        return;
    }
    let Some((brokered, server)) = server else { return why::converse(shared, target, incoming) };
    let Some(_both) = shared.keep(&server) else { return };
    // In a tunnel, the first bytes name a host once more. A tunnel that was allowed for one host must not be used for
    // another.
    if shared.carries_anything(target) || opens(&mut incoming, shared, target) {
        conversation(shared, client, Some(&server), (target, &brokered), incoming).ok();
    }
}

/// Connects to a target if it is allowed.
fn way_to(
    target: &NetTarget,
    shared: &Arc<Shared>,
) -> Result<(Brokered, TcpStream), (Arc<Refused>, SocksReply)> {
    let brokered = shared.check.decide(target);
    if !brokered.is_allowed() {
        return Err((shared.refused(&brokered), SocksReply::NotAllowed));
    }
    match connect(target, &brokered, shared) {
        Ok(server) => Ok((brokered, server)),
        Err(refused) => Err((refused, SocksReply::NotReached)),
    }
}

impl Speaks {
    fn refuses(self, client: &TcpStream, refused: &Refused, reply: SocksReply) {
        match self {
            Self::Http => say(client, refused, None),
            Self::Socks => say_bytes(client, &reply.bytes()),
        }
    }
}

/// Serves a client that connected to the address of a host in the sandbox. Its first bytes are read before the name is resolved:
/// until then, it counts as silent.
pub(super) fn at_host(client: &TcpStream, shared: &Arc<Shared>, kept: &Kept<'_>) {
    // The local address of an accepted connection is the one that the program connected to.
    let Some(target) = client.local_addr().ok().and_then(|address| target_for(address, shared)) else {
        return;
    };
    let mut incoming = Incoming::new(client, shared.options.patience, Vec::new());
    // A protocol in which the server speaks first, such as that of MySQL, would wait forever for the client's first
    // bytes.
    let carries_anything = shared.carries_anything(&target);
    let opening = if carries_anything { None } else { opening(&mut incoming) };
    if opening.is_none() && !carries_anything {
        return;
    }
    kept.has_asked();
    if broker_hostname::answers_at(&target) && opening == Some(Opening::Http) {
        return why::converse(shared, &target, incoming);
    }
    let brokered = shared.check.decide(&target);
    if !brokered.is_allowed() {
        let refused = shared.refused(&brokered);
        return match opening {
            Some(Opening::Http) => say(client, &refused, None),
            Some(Opening::Tls { .. }) => say_bytes(client, DENIED_BY_ALERT),
            _ => {}
        };
    }
    if opening.is_some_and(|opening| !is_bound(&opening, &incoming, shared, &target)) {
        return;
    }
    // The client expects no reply of a proxy, so without HTTP a failure can only close the connection.
    conversation(shared, client, None, (&target, &brokered), incoming).ok();
}

/// Returns the target for an address that a program in the sandbox connected to.
fn target_for(address: SocketAddr, shared: &Shared) -> Option<NetTarget> {
    let named = |host| NetTarget { host, port: Some(address.port()), shown: None };
    let ip = address.ip().to_canonical();
    if let IpAddr::V4(four) = ip
        && let Some(name) =
            shared.virtual_addresses.lock().unwrap_or_else(PoisonError::into_inner).name_of(four)
    {
        return Some(named(Host::Name(name.to_owned())));
    }
    let (itself, loopback) = (named(Host::Address(ip)), named(Host::Name("localhost".to_owned())));
    // An unlisted loopback address is treated as `localhost`, by which name lists usually contain it.
    Some(if ip.is_loopback() && !shared.check.lists(&itself) { loopback } else { itself })
}

/// Reads a client's first bytes; nothing if it sends none.
fn opening(incoming: &mut Incoming<'_>) -> Option<Opening> {
    loop {
        match Opening::read(&incoming.bytes) {
            Opening::Incomplete if incoming.bytes.len() <= MAX_OPENING => {}
            opening => return Some(opening),
        }
        match incoming.more().ok()? {
            More::Came => {}
            // Programs open spare connections and never use them. That is not a refusal to be recorded.
            More::Ended | More::TooSlow if incoming.bytes.is_empty() => return None,
            More::Ended | More::TooSlow => return Some(Opening::Incomplete),
        }
    }
}

/// Reads a client's first bytes, and checks that they are for the allowed host.
fn opens(incoming: &mut Incoming<'_>, shared: &Shared, target: &NetTarget) -> bool {
    opening(incoming).is_some_and(|opening| is_bound(&opening, incoming, shared, target))
}

/// Checks that the first bytes are for the allowed host. If not, the refusal is recorded and reported.
fn is_bound(opening: &Opening, incoming: &Incoming<'_>, shared: &Shared, target: &NetTarget) -> bool {
    let Err(Unbound { rule, reason, is_allowed_by_tcp }) = opening.is_bound_to(target) else { return true };
    let entry = is_allowed_by_tcp.then(|| format!("{target}/tcp"));
    shared.refused(&shared.check.advising(Brokered::refused(target, rule, reason), entry));
    if matches!(opening, Opening::Tls { .. }) {
        say_bytes(incoming.client(), DENIED_BY_ALERT);
    }
    false
}

/// Relays a connection: one HTTP request, or all bytes. A tunnel is connected already.
fn conversation(
    shared: &Arc<Shared>,
    client: &TcpStream,
    server: Option<&TcpStream>,
    (target, brokered): (&NetTarget, &Brokered),
    mut incoming: Incoming<'_>,
) -> io::Result<()> {
    let opening = Opening::read(&incoming.bytes);
    let is_http = opening == Opening::Http && !shared.carries_anything(target);
    let wire = match opening {
        Opening::Tls { .. } => Some(Wire::Tls),
        Opening::Http => Some(Wire::Plain),
        _ => None,
    };
    if let Some(wire) = wire.filter(|_| !shared.carries_anything(target))
        && let Some(inspector) = shared.inspector_of(target, wire)
    {
        let first = std::mem::take(&mut incoming.bytes);
        let own = (server.is_none()).then(|| connect(target, brokered, shared)).transpose();
        let Ok(own) = own else { return Ok(()) };
        let Some(server) = server.or(own.as_ref()) else { return Ok(()) };
        let Some(_both) = shared.keep(server) else { return Ok(()) };
        let begun = Begun { client, server, target, brokered, first, wire };
        return inspect::converse(shared, inspector, begun);
    }
    // An unknown protocol would be relayed unseen, although the list or a secret requires inspection for this host.
    if wire.is_none() && !shared.carries_anything(target) && shared.inspector_of(target, Wire::Tls).is_some()
    {
        let why = "requests to this host are inspected, and this connection is opaque".to_owned();
        shared.refused(&Brokered::refused(target, "unseen", why));
        return Ok(());
    }
    if !is_http {
        // Without a request, an entry with conditions can never be satisfied, so such a connection is refused here.
        let granted = match granted(shared, target, None) {
            Ok(granted) => granted,
            Err(refused) => {
                shared.refused(&refused);
                if matches!(Opening::read(&incoming.bytes), Opening::Tls { .. }) {
                    say_bytes(client, DENIED_BY_ALERT);
                }
                return Ok(());
            }
        };
        // Without a record the connection is closed: its protocol may have no form for a reason.
        let Ok(exchange) = Exchange::begin(shared, brokered) else { return Ok(()) };
        let own = match server {
            Some(_) => None,
            None => match try_addresses(target, brokered, shared) {
                Ok(own) => Some(own),
                Err(why) => {
                    exchange.fails(brokered, CANNOT, &why);
                    return Ok(());
                }
            },
        };
        let Some(server) = server.or(own.as_ref()) else { return Ok(()) };
        let Some(_both) = shared.keep(server) else { return Ok(()) };
        let (upload, at_end) = (Upload::all(), AtEnd::Tell);
        let talk = Talk { target, upload, at_end, answer: None, granted, exchange: &exchange };
        return both_ways(client, server, &incoming.bytes, talk, shared);
    }
    let Some(end) = head(&mut incoming)? else { return Ok(()) };
    let request = end.and_then(|end| {
        let rest = incoming.bytes.split_off(end);
        Ok((ProxyRequest::read_at(target, &incoming.bytes)?, rest))
    });
    match request {
        Ok((request, rest)) => one_request(client, server, (&request, &rest), (shared, brokered)),
        Err(bad) => {
            let status = bad.status;
            let refused = Brokered { target: target.to_string(), ..about(bad) };
            refuse(client, shared, &refused, Some(status));
            Ok(())
        }
    }
}

/// A relayed connection, with its limits.
struct Talk<'t> {
    target: &'t NetTarget,
    upload: Upload,
    at_end: AtEnd,
    /// What the host answers, where the connection ends with it.
    answer: Option<LastAnswer>,
    granted: Granted,
    exchange: &'t Exchange,
}

/// Applies the host list to a request that nothing is read of but its head, or to a connection whose requests are not visible,
/// and counts it.
fn granted(shared: &Shared, target: &NetTarget, asked: Option<Asked<'_>>) -> Result<Granted, Box<Brokered>> {
    let unseen =
        || Brokered::refused(target, "unseen", "an entry has conditions on bodies, which are not read here");
    granted_by(shared, target, asked)?.ok_or_else(|| Box::new(unseen()))
}

/// Applies the host list to a request or connection, and counts it. Nothing is returned if its body decides, and must be read
/// before.
pub(super) fn granted_by(
    shared: &Shared,
    target: &NetTarget,
    asked: Option<Asked<'_>>,
) -> Result<Option<Granted>, Box<Brokered>> {
    let Some(granted) = granted_by_list(shared, target, asked)? else { return Ok(None) };
    if shared.options.observes {
        shared.observations().see(target, asked);
    }
    Ok(Some(granted))
}

fn granted_by_list(
    shared: &Shared,
    target: &NetTarget,
    asked: Option<Asked<'_>>,
) -> Result<Option<Granted>, Box<Brokered>> {
    let refused = |rule, reason: String| Brokered::refused(target, rule, reason);
    match shared.check.rule_on(target, asked) {
        // Observing only adds what no entry covers: an entry that denies still denies.
        Ruling::Later => Ok(None),
        Ruling::Denied(NOT_LISTED, _) if shared.check.observes_at(target) => Ok(Some(Granted::default())),
        Ruling::Denied(rule, reason) => {
            let entry = Some(asked).filter(|_| rule == NOT_LISTED);
            let entry = entry.and_then(|asked| suggest_entry::entry_for(target, asked));
            Err(Box::new(shared.check.advising(refused(rule, reason), entry)))
        }
        Ruling::Allowed(entries) => {
            // Checked and counted under one lock, so that parallel requests cannot exceed a limit together.
            let mut quotas = shared.quotas.lock().unwrap_or_else(PoisonError::into_inner);
            let taken = quotas.take(&entries, asked.map_or(0, |asked| asked.uploaded()), Instant::now());
            taken.map(Some).map_err(|Exhausted { rule, reason }| Box::new(refused(rule, reason)))
        }
    }
}

/// Sends one request, and relays the response.
fn one_request(
    client: &TcpStream,
    server: Option<&TcpStream>,
    (request, rest): (&ProxyRequest, &[u8]),
    (shared, brokered): (&Arc<Shared>, &Brokered),
) -> io::Result<()> {
    let (target, head, body) = match request {
        ProxyRequest::Plain { target, head, body } => (target, head, *body),
        ProxyRequest::Websocket { target, head } => (target, head, RequestBody::Length(0)),
        ProxyRequest::Tunnel(_) => return Ok(()),
    };
    let asked = request.asked().map(|(method, path)| Asked {
        overrides: request.is_overridden(),
        has_body: body != RequestBody::Length(0),
        upgrades: matches!(request, ProxyRequest::Websocket { .. }),
        head: head.len(),
        ..Asked::new(method, path)
    });
    let mut granted = match granted(shared, target, asked) {
        Ok(granted) => granted,
        Err(refused) => {
            refuse(client, shared, &refused.about(recorded(request)), None);
            return Ok(());
        }
    };
    let mut most = Most { bytes: granted.upload, bound: Over::Upload };
    let is_longer = |most: u64| matches!(body, RequestBody::Length(length) if length > most);
    // The head can exfiltrate data like the body can, so it counts as upload.
    if !most.take(head.len()) || most.bytes.is_some_and(is_longer) {
        refuse(client, shared, &too_much(target, Over::Upload).about(recorded(request)), None);
        return Ok(());
    }
    granted.upload = most.bytes;
    // Recorded before it is connected and sent: the trail must not lack a request that a host got.
    let begun = Exchange::begin(shared, &brokered.clone().about(recorded(request)));
    let exchange = match begun {
        Ok(exchange) => exchange,
        Err(refused) => {
            say(client, &refused, None);
            return Ok(());
        }
    };
    // A proxy gets a plain request itself: many refuse to be a tunnel to port 80.
    let direct = brokered.upstream.as_ref().filter(|proxy| {
        let is_plain = matches!(request, ProxyRequest::Plain { .. });
        server.is_none() && is_plain && proxy.kind == UpstreamKind::Http
    });
    let head = match direct {
        Some(proxy) => upstream::whole_head(proxy, head),
        None => head.as_bytes().to_vec(),
    };
    let own = match (server, direct) {
        (Some(_), _) => None,
        (None, None) => Some(try_addresses(target, brokered, shared)),
        (None, Some(_)) => Some(first_address(brokered, shared)),
    };
    let own = match own.transpose() {
        Ok(own) => own,
        Err(why) => {
            say(client, &exchange.fails(brokered, CANNOT, &why), None);
            return Ok(());
        }
    };
    let Some(mut server) = server.or(own.as_ref()) else { return Ok(()) };
    let Some(_both) = shared.keep(server) else { return Ok(()) };
    let upload = match body {
        RequestBody::Length(length) => Upload::Length(length),
        RequestBody::Chunked => Upload::Chunked(Chunked::BEGIN),
    };
    // A host that reads nothing would block this thread, and keep its slot, forever.
    server.set_write_timeout(Some(shared.options.idle))?;
    server.write_all(&head)?;
    exchange.carried(Over::Upload, head.len());
    let answer = Some(LastAnswer::default());
    let talk = Talk { target, upload, at_end: AtEnd::Keep, answer, granted, exchange: &exchange };
    match request {
        ProxyRequest::Websocket { .. } => websocket(client, server, rest, talk, shared),
        _ => both_ways(client, server, rest, talk, shared),
    }
}

/// Relays a websocket once the host has accepted it. Until then no more bytes are sent, because the host could parse them as
/// another request.
fn websocket(
    mut client: &TcpStream,
    server: &TcpStream,
    rest: &[u8],
    mut talk: Talk<'_>,
    shared: &Shared,
) -> io::Result<()> {
    // The host's answer decides whether the protocol changes, so it is read before it is relayed.
    let mut answered = Incoming::new(server, shared.options.patience, Vec::new());
    let is_complete = matches!(head(&mut answered)?, Some(Ok(_)));
    let mut most = Most { bytes: talk.granted.download, bound: Over::Download };
    if !most.take(answered.bytes.len()) {
        shared.refused(&too_much(talk.target, Over::Download));
        return Ok(());
    }
    talk.granted.download = most.bytes;
    talk.exchange.carried(Over::Download, answered.bytes.len());
    client.set_write_timeout(Some(shared.options.idle))?;
    // Only a 101 makes the rest of the connection a websocket. After any other response, the next bytes could be a
    // request.
    if is_complete && answered.bytes.starts_with(SWITCHES) {
        talk.exchange.answered(101);
        talk = Talk { upload: Upload::all(), at_end: AtEnd::Tell, answer: None, ..talk };
    }
    match &mut talk.answer {
        Some(answer) => {
            client.write_all(&answer.pass(&answered.bytes))?;
            answer.status.into_iter().for_each(|status| talk.exchange.answered(status));
        }
        None => client.write_all(&answered.bytes)?,
    }
    both_ways(client, server, rest, talk, shared)
}

/// Returns the refusal for a connection that a limit ended.
pub(super) fn too_much(target: &NetTarget, over: Over) -> Brokered {
    let (rule, reason) = match over {
        Over::Upload => ("too-much", "the upload limit of its entry was exceeded (`upload`)"),
        Over::Download => ("too-much", "the download limit of its entry was exceeded (`download`)"),
        Over::Lifetime => ("expired", "the time limit of its entry was reached (`for`)"),
        Over::Lease => ("secret-expired", "the time limit of its secret was reached (`for`)"),
    };
    Brokered::refused(target, rule, reason)
}

fn both_ways(
    client: &TcpStream,
    mut server: &TcpStream,
    rest: &[u8],
    Talk { target, mut upload, at_end, answer, granted, exchange }: Talk<'_>,
    shared: &Shared,
) -> io::Result<()> {
    let idle = shared.options.idle;
    client.set_write_timeout(Some(idle))?;
    server.set_write_timeout(Some(idle))?;
    // Fails for a Unix socket, which has no such option.
    client.set_nodelay(true).ok();
    // Nagle's algorithm would delay small messages of interactive protocols by up to 40 ms per hop.
    server.set_nodelay(true)?;
    // Bytes after the body would be another request, which was not checked, so they are dropped.
    let of_body = upload.take(rest)?;
    let mut up_most = Most { bytes: granted.upload, bound: Over::Upload };
    let down_most = Most { bytes: granted.download, bound: Over::Download };
    if !up_most.take(of_body) {
        shared.refused(&too_much(target, Over::Upload));
        return Ok(());
    }
    server.write_all(rest.get(..of_body).unwrap_or_default())?;
    exchange.carried(Over::Upload, of_body);
    let pulse = Pulse::new(idle, granted.until);
    // One thread per direction: either side may send at any time, and blocking writes limit the memory.
    std::thread::scope(|scope| {
        let up = std::thread::Builder::new().stack_size(super::STACK);
        up.spawn_scoped(scope, || {
            carry(client, server, (upload, up_most), (at_end, None), (&pulse, exchange));
        })?;
        carry(server, client, (Upload::all(), down_most), (AtEnd::Tell, answer), (&pulse, exchange));
        // A client that keeps its connection open would otherwise hold both threads until the idle timeout.
        if at_end == AtEnd::Keep {
            // The response is complete, so the rest of the request is not needed.
            client.shutdown(Shutdown::Both).ok();
        }
        Ok::<(), io::Error>(())
    })?;
    if let Some(over) = pulse.over() {
        shared.refused(&too_much(target, over));
    }
    Ok(())
}

/// Connects to an allowed target. The attempt is recorded if it fails; otherwise, what is sent is.
fn connect(target: &NetTarget, brokered: &Brokered, shared: &Arc<Shared>) -> Result<TcpStream, Arc<Refused>> {
    try_addresses(target, brokered, shared).map_err(|why| Exchange::failed(shared, brokered, CANNOT, &why))
}

/// Connects to an allowed target, directly or through the proxy of this machine.
fn try_addresses(target: &NetTarget, brokered: &Brokered, shared: &Shared) -> Result<TcpStream, String> {
    let server = first_address(brokered, shared)?;
    if let Some(proxy) = &brokered.upstream {
        upstream::connect(&server, proxy, target, shared.options.patience)?;
    }
    Ok(server)
}

/// Connects to the first address that answers. These addresses were checked: resolving the name again could return others.
fn first_address(brokered: &Brokered, shared: &Shared) -> Result<TcpStream, String> {
    let mut error = "it has no address".to_owned();
    // The kernel tries only one address per call. The first may be IPv6 on a machine without an IPv6 route.
    for address in &brokered.addresses {
        match TcpStream::connect_timeout(address, shared.options.patience) {
            Ok(server) => return Ok(server),
            Err(why) => error = why.to_string(),
        }
    }
    match &brokered.upstream {
        Some(proxy) => Err(format!("the upstream proxy `{proxy}` cannot be reached: {error}")),
        None => Err(error),
    }
}
