//! TLS inspection, for hosts whose requests are checked or changed.
//!
//! The client gets a certificate that only its sandbox trusts, and the host must present one that this machine trusts. In
//! between, each request is checked like a plain HTTP request. A connection that cannot be inspected is closed.
#![expect(clippy::disallowed_methods, reason = "looks how long a client may take")]

mod authority;
mod body;
mod files;
mod heads;
mod java;
mod rewrite;
mod roots;
mod serve;
mod stream;
mod watch;
mod websocket;
mod whole;

use std::future::Future as _;
use std::io;
use std::net::TcpStream;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::task::Context;
use std::time::Duration;

use hyper::client::conn::{http1 as to_one, http2 as to_many};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::crypto::ring;
use rustls::server::{Acceptor, NoServerSessionStorage};
use rustls::sign::SingleCertAndKey;
use rustls::{ClientConfig, ServerConfig};
use rustls_pki_types::ServerName;
use stockade_handoff::trust::{BUNDLE, RunTrust};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::{LazyConfigAcceptor, TlsConnector};

use super::super::proxy_request::MAX_HEAD;
use super::super::request_stream::RequestStream;
use super::super::target::{Host, NetTarget};
use super::Shared;
use super::exchange::Exchange;
use super::relay::Pulse;
use super::resolve_check::Brokered;
use authority::Authority;
pub(in super::super) use rewrite::{
    BodyFilter, BodyRewrite, Conversation, Inserted, LentUntil, Rewrite, RewriteRefusal,
};
use roots::Roots;
pub(super) use roots::has_own_authorities;
pub(super) use serve::Wire;
use serve::{Inspected, Upstream, with_cause};
use stream::{Checked, Checks, Prefixed};
use watch::Watch as _;
use whole::WholeBodies;

/// The supported protocols, in order of preference.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

// RFC 9113 recommends at least 100 streams. The windows bound the memory of a client that opens all of them and reads
// nothing.
/// Maximum number of concurrent requests of a connection, and of buffered bytes of each.
const MAX_STREAMS: u32 = 100;
const WINDOW: u32 = 256 << 10;
const CONNECTION_WINDOW: u32 = 1 << 20;

/// The inspector of a proxy's connections.
pub(super) struct Inspector {
    authority: Authority,
    to_hosts: ClientConfig,
    rewrite: Option<Arc<dyn Rewrite>>,
    trust: Arc<RunTrust>,
    _alive: files::Alive,
    bodies: Arc<WholeBodies>,
}

impl Inspector {
    /// Creates a certificate authority, and the files by which a sandbox trusts it.
    ///
    /// # Errors
    /// When certificates cannot be read, or files cannot be written.
    pub(super) fn start(extra: &[PathBuf], rewrite: Option<Arc<dyn Rewrite>>) -> io::Result<Self> {
        let authority = Authority::new()?;
        let roots = Roots::read(extra)?;
        let (trust, alive) = files::write(authority.certificate(), &roots.certificates)?;
        let to_hosts = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(roots.store)
            .with_no_client_auth();
        let bodies = Arc::default();
        Ok(Self { authority, to_hosts, rewrite, trust: Arc::new(trust), _alive: alive, bodies })
    }

    /// Returns the files by which a sandbox trusts the authority.
    pub(super) fn trust(&self) -> Arc<RunTrust> {
        Arc::clone(&self.trust)
    }

    /// Whether a connection is inspected in order to rewrite it.
    pub(super) fn rewrites(&self, target: &NetTarget, wire: Wire) -> bool {
        self.rewrite.as_ref().is_some_and(|rewrite| rewrite.inspects(target, wire == Wire::Tls))
    }

    /// Returns the TLS configuration for a client with these protocols.
    fn to_client(&self, target: &NetTarget, protocol: Option<&[u8]>) -> io::Result<ServerConfig> {
        let certified = self.authority.for_host(&target.host)?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_no_client_auth()
            // One certificate per host, independent of the requested name, which was compared with the target before.
            .with_cert_resolver(Arc::new(SingleCertAndKey::from((*certified).clone())));
        config.alpn_protocols = protocol.map(<[u8]>::to_vec).into_iter().collect();
        // A resumed session would skip the certificate, by which a client checks whom it talks to, and keeps keys in
        // memory longer.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(config)
    }
}

/// A connection to inspect: the client's first bytes, the target, and the connection to it.
pub(super) struct Begun<'b> {
    pub(super) client: &'b TcpStream,
    pub(super) server: &'b TcpStream,
    pub(super) target: &'b NetTarget,
    pub(super) brokered: &'b Brokered,
    pub(super) first: Vec<u8>,
    pub(super) wire: Wire,
}

/// Serves a client until its end.
///
/// # Errors
/// When the runtime for its connections cannot be created.
pub(super) fn converse(shared: &Arc<Shared>, inspector: &Arc<Inspector>, begun: Begun<'_>) -> io::Result<()> {
    // One thread per connection: a connection that is stuck or panics affects no other, and capabilities are dropped
    // per thread.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // Duplicates, because tokio takes ownership and the caller still has to be able to shut the sockets down.
    let (client, server) = (begun.client.try_clone()?, begun.server.try_clone()?);
    let ends = vec![client.try_clone()?, server.try_clone()?];
    for side in [&client, &server] {
        side.set_nonblocking(true)?;
        // Fails for a Unix socket, which has no such option.
        side.set_nodelay(true).ok();
    }
    runtime.block_on(async {
        let client = tokio::net::TcpStream::from_std(client)?;
        let server = tokio::net::TcpStream::from_std(server)?;
        let client = Prefixed::new(begun.first, client);
        let talk = Talk {
            shared,
            inspector,
            target: begun.target,
            brokered: begun.brokered,
            wire: begun.wire,
            ends,
        };
        match begun.wire {
            Wire::Tls => talk.over_tls(client, server).await,
            Wire::Plain => {
                let (upstream, ends) = talk.to_one(server).await;
                talk.serve_one(client, upstream, ends).await;
            }
        }
        Ok(())
    })
}

/// The parameters of a connection.
struct Talk<'t> {
    shared: &'t Arc<Shared>,
    inspector: &'t Arc<Inspector>,
    target: &'t NetTarget,
    brokered: &'t Brokered,
    wire: Wire,
    ends: Vec<TcpStream>,
}

/// Resources that end with the connection to the host.
type Ends = Option<tokio::task::JoinHandle<()>>;

/// A stream of either side of a connection.
trait Side: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin + 'static> Side for S {}

impl Talk<'_> {
    fn patience(&self) -> Duration {
        self.shared.options.patience
    }

    async fn over_tls(self, client: impl Side, server: tokio::net::TcpStream) {
        let hello = LazyConfigAcceptor::new(Acceptor::default(), client);
        // A client that sends half a ClientHello must not keep its slot.
        let Ok(Ok(start)) = tokio::time::timeout(self.patience(), hello).await else { return };
        let offered: Vec<Vec<u8>> =
            start.client_hello().alpn().into_iter().flatten().map(<[u8]>::to_vec).collect();
        let is_offered = |protocol: &&[u8]| offered.iter().any(|one| one == protocol);
        let wanted: Vec<&[u8]> = PROTOCOLS.into_iter().filter(is_offered).collect();
        // The host is connected first, because its choice of protocol determines what the client is offered: nothing
        // is translated.
        let (upstream, ends) = self.connect(server, &wanted).await;
        let many = matches!(upstream, Upstream::Many(_));
        let protocol = match (&upstream, wanted.as_slice()) {
            // An error response can be sent in either protocol.
            (Upstream::Refused(_), wanted) => wanted.first().copied(),
            (Upstream::Many(_), _) => Some(PROTOCOLS[0]),
            (Upstream::One(_), wanted) => wanted.iter().copied().find(|protocol| *protocol == PROTOCOLS[1]),
        };
        let Ok(config) = self.inspector.to_client(self.target, protocol) else { return };
        match tokio::time::timeout(self.patience(), start.into_stream(Arc::new(config))).await {
            Ok(Ok(client)) if many || protocol == Some(PROTOCOLS[0]) => {
                self.serve_many(client, upstream, ends).await;
            }
            Ok(Ok(client)) => self.serve_one(client, upstream, ends).await,
            Ok(Err(why)) => drop(self.shared.refused(&self.untrusting(&with_cause(&why)))),
            Err(_) => drop(self.shared.refused(&self.untrusting("it did not respond in time"))),
        }
    }

    /// Returns the refusal for a client that rejects the certificate.
    fn untrusting(&self, why: &str) -> Brokered {
        let reason = format!(
            "the program rejected the certificate of this run, which is needed to inspect requests: {why}"
        );
        let fix = format!(
            "the program ignores the system's certificates and variables such as `SSL_CERT_FILE`: pass `{BUNDLE}` \
             to it with its own option, or remove the conditions and secrets that require inspecting this host"
        );
        Brokered { fix: Some(fix), ..Brokered::refused(self.target, "not-trusted", reason) }
    }

    /// Starts TLS with the host, and verifies its certificate.
    async fn connect(&self, server: tokio::net::TcpStream, wanted: &[&[u8]]) -> (Upstream, Ends) {
        let name = match &self.target.host {
            Host::Name(name) => ServerName::try_from(name.clone()).ok(),
            Host::Address(address) => Some(ServerName::from(*address)),
        };
        let Some(name) = name else { return self.lost("no certificate can be issued for it") };
        let mut config = self.inspector.to_hosts.clone();
        config.alpn_protocols = wanted.iter().map(|protocol| protocol.to_vec()).collect();
        let connected = TlsConnector::from(Arc::new(config)).connect(name, server);
        let server = match tokio::time::timeout(self.patience(), connected).await {
            Ok(Ok(server)) => server,
            // Distinguished from a lost connection: a wrong certificate can be an attack, and retrying does not help.
            Ok(Err(why)) if why.get_ref().is_some_and(is_of_tls) => {
                let reason =
                    format!("the certificate of the host is not valid for `{}`: {why}", self.target.host);
                let refused = Brokered::refused(self.target, "not-the-host", reason);
                return (Upstream::Refused(self.shared.refused(&refused)), None);
            }
            Ok(Err(why)) => return self.lost(&why.to_string()),
            Err(_) => return self.lost("timeout of the TLS handshake"),
        };
        if server.get_ref().1.alpn_protocol() == Some(PROTOCOLS[0]) {
            return self.to_many(server).await;
        }
        self.to_one(server).await
    }

    async fn to_one(&self, server: impl Side) -> (Upstream, Ends) {
        let shaken = to_one::Builder::new().max_buf_size(MAX_BUFFER).handshake(TokioIo::new(server)).await;
        match shaken {
            Ok((sender, connection)) => {
                let ends = tokio::spawn(async { drop(connection.with_upgrades().await) });
                (Upstream::One(Mutex::new(sender)), Some(ends))
            }
            Err(why) => self.lost(&why.to_string()),
        }
    }

    async fn to_many(&self, server: impl Side) -> (Upstream, Ends) {
        let shaken = to_many::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .handshake(TokioIo::new(server))
            .await;
        match shaken {
            Ok((sender, connection)) => {
                let ends = tokio::spawn(async { drop(connection.await) });
                (Upstream::Many(sender), Some(ends))
            }
            Err(why) => self.lost(&why.to_string()),
        }
    }

    fn lost(&self, why: &str) -> (Upstream, Ends) {
        (Upstream::Refused(Exchange::failed(self.shared, self.brokered, "cannot-connect", why)), None)
    }

    fn conversation(self, upstream: Upstream, checks: Checks) -> Arc<Inspected> {
        let conversation = Arc::new(Inspected {
            shared: Arc::clone(self.shared),
            rewrite: self.inspector.rewrite.clone(),
            bodies: Arc::clone(&self.inspector.bodies),
            target: self.target.clone(),
            brokered: self.brokered.clone(),
            wire: self.wire,
            upstream,
            checks,
            pulse: Pulse::new(self.shared.options.idle, None),
            sockets: self.ends,
            has_asked: AtomicBool::new(false),
            may_become_raw: AtomicBool::new(false),
            websocket: Mutex::default(),
        });
        tokio::spawn(cut_when_idle(Arc::clone(&conversation)));
        conversation
    }

    async fn serve_one(self, client: impl Side, upstream: Upstream, mut ends: Ends) {
        let checks = Checks::default();
        let reader = RequestStream::new(self.target.clone());
        let client = Checked::new(client, reader, checks.clone(), self.patience());
        let conversation = self.conversation(upstream, checks);
        let for_requests = Arc::clone(&conversation);
        let service = service_fn(move |request| Arc::clone(&for_requests).answer(request));
        let served = http1::Builder::new()
            .auto_date_header(false)
            .max_buf_size(MAX_BUFFER)
            .serve_connection(TokioIo::new(client), service)
            .with_upgrades();
        let mut served = std::pin::pin!(served);
        std::future::poll_fn(|context| {
            if has_ended(&mut ends, context) && !conversation.may_become_raw() {
                served.as_mut().graceful_shutdown();
            }
            served.as_mut().poll(context).map(drop)
        })
        .await;
        conversation.over().await;
    }

    async fn serve_many(self, client: impl Side, upstream: Upstream, mut ends: Ends) {
        let conversation = self.conversation(upstream, Checks::default());
        let for_requests = Arc::clone(&conversation);
        let service = service_fn(move |request| Arc::clone(&for_requests).answer(request));
        let served = http2::Builder::new(TokioExecutor::new())
            .auto_date_header(false)
            .timer(TokioTimer::new())
            .max_concurrent_streams(MAX_STREAMS)
            .max_header_list_size(u32::try_from(MAX_HEAD).unwrap_or(u32::MAX))
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_send_buf_size(usize::try_from(WINDOW).unwrap_or(usize::MAX))
            .serve_connection(TokioIo::new(client), service);
        let mut served = std::pin::pin!(served);
        std::future::poll_fn(|context| {
            if has_ended(&mut ends, context) && !conversation.may_become_raw() {
                served.as_mut().graceful_shutdown();
            }
            served.as_mut().poll(context).map(drop)
        })
        .await;
        conversation.over().await;
    }
}

/// Whether the connection to the host has just ended. Later requests of the client could not be sent.
fn has_ended(ends: &mut Ends, context: &mut Context<'_>) -> bool {
    let is_ready = ends.as_mut().is_some_and(|task| Pin::new(task).poll(context).is_ready());
    if is_ready {
        *ends = None;
    }
    is_ready
}

/// Whether TLS failed, and not the connection below it.
fn is_of_tls(error: &(dyn std::error::Error + Send + Sync + 'static)) -> bool {
    error.is::<rustls::Error>()
}

/// Maximum length of a head for the library; longer ones were refused before.
const MAX_BUFFER: usize = 2 * MAX_HEAD;

/// Ends a connection that is idle in both directions for too long.
async fn cut_when_idle(conversation: Arc<Inspected>) {
    while !conversation.pulse.is_over() {
        tokio::time::sleep(conversation.pulse.wait()).await;
    }
    conversation.cut();
}

#[cfg(test)]
mod tests;
