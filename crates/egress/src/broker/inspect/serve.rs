//! An inspected connection: one to the client, one to its host, with a check of each request.
//!
//! Both sides use the same version of HTTP, so that messages need no translation. A connection of the client maps to exactly one
//! connection to the host. One thread serves both sides asynchronously.

use hyper::http;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use hyper::body::{Body as _, Bytes, Incoming};
use hyper::client::conn::{http1 as to_one, http2 as to_many};
use hyper::http::{HeaderValue, Request, Response, StatusCode, Uri, Version, header};

use super::super::super::conditions::Asked;
use super::super::super::header_table::overrides_request;
use super::super::super::host_list::Ruling;
use super::super::super::match_conditions::BODY_ON_READ;
use super::super::super::operations::{MAX_READ, Reading, RpcCalls};
use super::super::super::proxy_request::BadRequest;
use super::super::super::target::NetTarget;
use super::super::answer::{about, status_of};
use super::super::exchange::{BrokeredRequest, Exchange};
use super::super::quotas::Granted;
use super::super::refusals::Refused;
use super::super::relay::{End, Most, Over, Pulse};
use super::super::resolve_check::Brokered;
use super::super::tunnel::{granted_by, too_much};
use super::super::{Shared, answer};
use super::body::{Carried, Ended};
use super::heads;
use super::rewrite::{self, BodyRewrite, Inserted, LentUntil, Rewrite, RewriteRefusal};
use super::stream::{Checks, IN_PLACE_OF_BAD};
use super::watch::Watch;
use super::whole::{Coming, Room, WholeBodies, thrown_away};

/// Serves the client in its protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Wire {
    Tls,
    Plain,
}

impl Wire {
    pub(super) const fn scheme(self) -> &'static str {
        match self {
            Self::Tls => "https",
            Self::Plain => "http",
        }
    }
}

/// The connection to the host.
pub(super) enum Upstream {
    One(Mutex<to_one::SendRequest<Carried>>),
    Many(to_many::SendRequest<Carried>),
    /// The host refused the connection; each request is answered with the reason.
    Refused(Arc<Refused>),
}

/// Both connections, with their parameters.
pub(super) struct Inspected {
    pub(super) shared: Arc<Shared>,
    pub(super) rewrite: Option<Arc<dyn Rewrite>>,
    pub(super) bodies: Arc<WholeBodies>,
    pub(super) target: NetTarget,
    pub(super) brokered: Brokered,
    pub(super) wire: Wire,
    pub(super) upstream: Upstream,
    pub(super) checks: Checks,
    pub(super) pulse: Pulse,
    /// The sockets that are shut down to end it.
    pub(super) sockets: Vec<TcpStream>,
    pub(super) has_asked: AtomicBool,
    /// Whether the client requested a websocket, in which case the HTTP connection to the host ends when it is accepted.
    pub(super) may_become_raw: AtomicBool,
    pub(super) websocket: Mutex<Option<tokio::task::JoinHandle<()>>>,
}

/// Why a request is not answered by its host.
pub(super) enum Stop {
    /// A refusal to be recorded, and returned with this status code.
    Refused(Box<Brokered>, Option<u16>),
    /// A refusal that was already recorded.
    Recorded(Arc<Refused>),
}

/// A recorded request on its way to the host.
struct Sent {
    granted: Granted,
    ends: Option<End>,
    exchange: Arc<Exchange>,
    /// Without its query.
    path: String,
}

/// Why a host did not respond.
enum NotSent {
    Refused(Arc<Refused>),
    Failed(String),
}

impl From<Arc<Refused>> for Stop {
    fn from(refused: Arc<Refused>) -> Self {
        Self::Recorded(refused)
    }
}

impl From<Box<Brokered>> for Stop {
    fn from(refused: Box<Brokered>) -> Self {
        Self::Refused(refused, None)
    }
}

impl Watch for Inspected {
    fn beat(&self) {
        self.pulse.beat();
    }

    fn ended_by(&self, over: Over, exchange: &Exchange) -> Arc<Refused> {
        self.shared.refused(&exchange.about(too_much(&self.target, over)))
    }

    fn cut_by(&self, refused: RewriteRefusal, exchange: &Exchange) -> Arc<Refused> {
        self.shared.refused(&exchange.about(self.because(refused)))
    }

    fn cut(&self) {
        self.sockets.iter().for_each(|socket| drop(socket.shutdown(Shutdown::Both)));
    }
}

impl Inspected {
    fn watch(self: &Arc<Self>) -> Arc<dyn Watch> {
        Arc::<Self>::clone(self)
    }

    fn to(&self) -> rewrite::Conversation<'_> {
        let addresses = &self.brokered.addresses;
        rewrite::Conversation {
            target: &self.target,
            is_tls: self.wire == Wire::Tls,
            is_loopback: !addresses.is_empty()
                && self.brokered.upstream.is_none()
                && addresses.iter().all(|one| one.ip().to_canonical().is_loopback()),
        }
    }

    pub(super) fn may_become_raw(&self) -> bool {
        self.may_become_raw.load(Ordering::Relaxed)
    }

    /// Waits for the rest after HTTP on the client's connection ended, and records its error.
    pub(super) async fn over(&self) {
        let websocket = lock(&self.websocket).take();
        if let Some(websocket) = websocket {
            websocket.await.ok();
        }
        if let Some(bad) = self.checks.bad() {
            self.shared.refused(&self.bad(bad));
        }
    }

    fn because(&self, RewriteRefusal { rule, reason, fix }: RewriteRefusal) -> Brokered {
        Brokered { fix, ..Brokered::refused(&self.target, rule, reason) }
    }

    pub(super) fn bad(&self, bad: BadRequest) -> Brokered {
        Brokered { target: self.target.to_string(), ..about(bad) }
    }

    /// Answers a request, by its host or with a refusal.
    pub(super) async fn answer(
        self: Arc<Self>,
        mut request: Request<Incoming>,
    ) -> io::Result<Response<Carried>> {
        self.beat();
        // Taken before the request is split, because the extension for the upgrade is in its head.
        let on_client = hyper::upgrade::on(&mut request);
        let (head, body) = request.into_parts();
        let mut asked = BrokeredRequest::new(head.method.as_str(), heads::path(&head.uri));
        let mut calls = None;
        let looked = self.is_sound(&head).and_then(|()| self.grant(&head, !body.is_end_stream(), None));
        let answered = match looked {
            Ok(Some(granted)) => {
                self.pass((head, Coming::Stream(body)), &mut asked, granted, on_client).await
            }
            Ok(None) => self.pass_as_read((head, body), (&mut asked, &mut calls), on_client).await,
            Err(stop) => {
                // Remaining bytes are read for a moment, so that the client gets to read the response.
                tokio::spawn(tokio::time::timeout(answer::MOMENT, thrown_away(body)));
                Err(stop)
            }
        };
        let (refused, status) = match answered {
            Ok(answer) => return Ok(answer),
            Err(Stop::Recorded(refused)) => (refused, None),
            Err(Stop::Refused(refused, status)) => (self.shared.refused(&refused.about(asked)), status),
        };
        Ok(told(&refused, status, calls.as_ref()))
    }

    /// Reads the body of a request, checks its operations, and sends it.
    async fn pass_as_read(
        self: &Arc<Self>,
        (head, body): (http::request::Parts, Incoming),
        (asked, calls): (&mut BrokeredRequest, &mut Option<RpcCalls>),
        on_client: hyper::upgrade::OnUpgrade,
    ) -> Result<Response<Carried>, Stop> {
        let (bytes, room) = self.whole(body, MAX_READ, None).await?;
        let reading = Reading::of(heads::declares_json(&head.headers), &bytes);
        asked.operations = reading.shown();
        let granted = self.grant(&head, !bytes.is_empty(), Some(&reading)).inspect_err(|_| {
            *calls = reading.into_calls();
        })?;
        match granted {
            Some(granted) => self.pass((head, Coming::Whole(bytes, room)), asked, granted, on_client).await,
            // Nothing is left that could decide.
            None => Err(Box::new(Brokered::refused(&self.target, "unseen", "its body was not read")).into()),
        }
    }

    /// Checks that a request is one, and that it is for this host.
    fn is_sound(&self, head: &http::request::Parts) -> Result<(), Stop> {
        // The strict reader replaces a head that it refuses by a placeholder request, so that hyper parses nothing
        // ambiguous.
        if head.method.as_str() == IN_PLACE_OF_BAD
            && let Some(bad) = self.checks.bad()
        {
            return Err(self.malformed(bad));
        }
        // Counted before the checks, so that a flood of refused requests also ends at `--max-requests`.
        self.count()?;
        if let Upstream::Refused(refused) = &self.upstream {
            return Err(Stop::Recorded(Arc::clone(refused)));
        }
        heads::is_for(&self.target, self.wire.scheme(), head).map_err(|bad| self.malformed(bad))?;
        heads::is_passed_on_whole(head).map_err(|bad| self.malformed(bad))
    }

    /// Applies the host list to a request. Nothing is returned if its body decides, and must be read before.
    fn grant(
        &self,
        head: &http::request::Parts,
        may_have_body: bool,
        reading: Option<&Reading>,
    ) -> Result<Option<Granted>, Stop> {
        let asked = Asked {
            overrides: head.headers.keys().any(|name| overrides_request(name.as_str())),
            has_body: heads::declares_body(head),
            upgrades: heads::asks_for_websocket(head),
            head: heads::length(head),
            reading,
            ..Asked::new(head.method.as_str(), heads::path(&head.uri))
        };
        let Some(mut granted) = granted_by(&self.shared, &self.target, Some(asked))? else { return Ok(None) };
        let mut most = Most { bytes: granted.upload, bound: Over::Upload };
        // A declared length above the limit is refused at once, before any byte of it is uploaded.
        let is_longer = |most| heads::content_length(&head.headers).is_some_and(|length| length > most);
        // The head can exfiltrate data like the body can, so it counts as upload.
        if !most.take(heads::length(head)) || most.bytes.is_some_and(is_longer) {
            return Err(Box::new(too_much(&self.target, Over::Upload)).into());
        }
        granted.upload = most.bytes;
        let with_body = Asked { has_body: true, ..asked };
        // Clients of HTTP/2 may end an empty body later. Where none is allowed, its first byte is refused.
        let is_refused = || {
            matches!(
                self.shared.check.rule_on(&self.target, Some(with_body)),
                Ruling::Denied(BODY_ON_READ, _)
            )
        };
        if may_have_body && !asked.has_body && is_refused() {
            granted.upload = Some(0);
        }
        Ok(Some(granted))
    }

    pub(super) fn malformed(&self, bad: BadRequest) -> Stop {
        let status = bad.status;
        Stop::Refused(Box::new(self.bad(bad)), Some(status))
    }

    /// Counts a request. The first one was counted when the connection was accepted.
    fn count(&self) -> Result<(), Stop> {
        if !self.has_asked.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        match self.shared.too_many() {
            None => Ok(()),
            Some(before) => Err(Stop::Recorded(self.shared.refused_as_too_many(before))),
        }
    }

    /// Records an allowed request in its final form, with the names of its secrets.
    fn begin(
        &self,
        asked: &mut BrokeredRequest,
        head: &mut http::request::Parts,
    ) -> Result<Arc<Exchange>, Stop> {
        asked.secrets = head.extensions.remove::<Inserted>().map(|Inserted(names)| names).unwrap_or_default();
        let exchange = Exchange::begin(&self.shared, &self.brokered.clone().about(asked.clone()))?;
        exchange.carried(Over::Upload, heads::length(head));
        Ok(Arc::new(exchange))
    }

    /// Sends an allowed request, and returns the response.
    async fn pass(
        self: &Arc<Self>,
        (mut head, body): (http::request::Parts, Coming),
        asked: &mut BrokeredRequest,
        granted: Granted,
        on_client: hyper::upgrade::OnUpgrade,
    ) -> Result<Response<Carried>, Stop> {
        let is_websocket = matches!(self.upstream, Upstream::One(_)) && heads::asks_for_websocket(&head);
        if is_websocket {
            self.may_become_raw.store(true, Ordering::Relaxed);
        }
        heads::pass_on(&mut head.headers, is_websocket);
        head.extensions.clear();
        // Set before secrets are inserted, so that they are inserted into the request that is really sent.
        self.address(&mut head)?;
        let is_head = head.method == http::Method::HEAD;
        let ended = Ended::default();
        let (request, sent) = self.prepare((head, body), asked, granted, &ended).await?;
        // If the body was cut short, the failure is not the host's.
        let response = self.send(request).await.map_err(|stop| match (lock(&ended).take(), stop) {
            (Some(refused), _) => Stop::Recorded(refused),
            (None, NotSent::Refused(refused)) => Stop::Recorded(refused),
            (None, NotSent::Failed(why)) => match self.checks.bad() {
                Some(bad) => self.malformed(bad),
                None => self.not_answered(&sent.exchange, &why),
            },
        })?;
        self.beat();
        sent.exchange.answered(response.status().as_u16());
        self.pass_back(response, sent, (is_websocket, is_head), on_client)
    }

    /// Inserts the secrets of a request, and records it.
    async fn prepare(
        self: &Arc<Self>,
        (mut head, body): (http::request::Parts, Coming),
        asked: &mut BrokeredRequest,
        granted: Granted,
        ended: &Ended,
    ) -> Result<(Request<Carried>, Sent), Stop> {
        let rewritten = match &self.rewrite {
            Some(rewrite) => rewrite.request(self.to(), &mut head).map_err(|why| self.against(why))?,
            None => BodyRewrite::Unchanged,
        };
        let until = |head: &mut http::request::Parts| {
            let lent = head.extensions.remove::<LentUntil>().map(|LentUntil(until)| until);
            End::first(granted.until, lent)
        };
        let filter = match rewritten {
            BodyRewrite::Whole { most, then } => {
                let most = most.min(granted_bytes(granted));
                let (bytes, room) = match body {
                    Coming::Stream(body) => self.whole(body, most, granted.until).await?,
                    Coming::Whole(bytes, room) => (bytes, room),
                };
                // The body took time to arrive: this checks lifetimes again, and may shorten them.
                let bytes = then(&mut head, bytes).map_err(|why| self.against(why))?;
                let ends = until(&mut head);
                return self.prepare_whole((head, bytes, room), asked, (granted, ends));
            }
            // A missing body needs no filter, and keeps its framing.
            BodyRewrite::Pieces(_) if body.is_empty() => None,
            BodyRewrite::Pieces(filter) => Some(filter),
            BodyRewrite::Unchanged => None,
        };
        let body = match body {
            Coming::Stream(body) => body,
            Coming::Whole(bytes, room) => {
                let bytes = filter.map_or(Ok(bytes.clone()), |filter| rewrite::filtered(bytes, filter));
                let bytes = bytes.map_err(|why| self.against(why))?;
                let ends = until(&mut head);
                return self.prepare_whole((head, bytes, room), asked, (granted, ends));
            }
        };
        // A filter that changes the length needs chunked framing, because the length is not known before the end.
        if filter.as_ref().is_some_and(|filter| !filter.keeps_length()) {
            head.headers.remove(header::CONTENT_LENGTH);
        }
        let (ends, exchange) = (until(&mut head), self.begin(asked, &mut head)?);
        let most = Most { bytes: granted.upload, bound: Over::Upload };
        let known = (self.watch(), Arc::clone(&exchange), Arc::clone(ended));
        let request = Request::from_parts(head, Carried::stream(body, most, ends, filter, known));
        Ok((request, Sent { granted, ends, exchange, path: asked.path.clone() }))
    }

    /// Records a request whose body is complete.
    fn prepare_whole(
        &self,
        (mut head, bytes, mut room): (http::request::Parts, Bytes, Room),
        asked: &mut BrokeredRequest,
        (granted, ends): (Granted, Option<End>),
    ) -> Result<(Request<Carried>, Sent), Stop> {
        // Inserted secrets count as upload as well.
        if bytes.len() > granted_bytes(granted) {
            return Err(Box::new(too_much(&self.target, Over::Upload)).into());
        }
        if !room.is_for(bytes.len()) {
            return Err(self.no_room());
        }
        if !bytes.is_empty() || head.headers.contains_key(header::CONTENT_LENGTH) {
            head.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(bytes.len()));
        }
        let exchange = self.begin(asked, &mut head)?;
        exchange.carried(Over::Upload, bytes.len());
        let request = Request::from_parts(head, Carried::whole(room.with(bytes)));
        Ok((request, Sent { granted, ends, exchange, path: asked.path.clone() }))
    }

    /// Checks and rewrites a response.
    fn pass_back(
        self: &Arc<Self>,
        mut response: Response<Incoming>,
        Sent { granted, ends, exchange, path }: Sent,
        (is_websocket, is_head): (bool, bool),
        on_client: hyper::upgrade::OnUpgrade,
    ) -> Result<Response<Carried>, Stop> {
        let becomes_websocket = response.status() == StatusCode::SWITCHING_PROTOCOLS;
        // A 101 without a request for it would turn the rest of the connection into uninspected bytes.
        if becomes_websocket && !is_websocket {
            return Err(self.not_answered(&exchange, "it switched to a protocol that was not requested"));
        }
        // `gzip, chunked` or an unknown coding ends the body at another byte for other clients, and could hide a
        // secret from scrubbing.
        if !heads::is_framed_plainly(response.headers()) {
            let why = "its response has a transfer coding other than `chunked`".to_owned();
            return Err(Box::new(Brokered::refused(&self.target, "unreadable-answer", why)).into());
        }
        let on_server = hyper::upgrade::on(&mut response);
        let (mut head, body) = response.into_parts();
        // This also drops the host's own reason phrase.
        head.extensions.clear();
        head.version = Version::default();
        heads::pass_on(&mut head.headers, becomes_websocket);
        let rewritten = match &self.rewrite {
            Some(rewrite) => rewrite.answer(self.to(), &mut head).map_err(|why| self.against(why))?,
            None => BodyRewrite::Unchanged,
        };
        let filter = match rewritten {
            BodyRewrite::Unchanged => None,
            BodyRewrite::Pieces(filter) => Some(filter),
            // A response may be endless, such as server-sent events, so it is never buffered.
            BodyRewrite::Whole { .. } => {
                return Err(self.not_answered(&exchange, "responses are not buffered completely"));
            }
        };
        if becomes_websocket {
            let filter_of = |rewrite: &Arc<dyn Rewrite>| rewrite.websocket(self.to(), &path);
            let up_filter = self.rewrite.as_ref().map(filter_of).transpose();
            let up_filter = up_filter.map_err(|why| self.against(why))?.flatten();
            // From now on, the strict reader must not parse frames as HTTP heads.
            self.checks.become_raw();
            let both = super::websocket::Both {
                on_client,
                on_server,
                granted,
                until: ends,
                up_filter,
                filter,
                exchange,
            };
            let carried = tokio::spawn(super::websocket::carry(self.watch(), both));
            *self.websocket.lock().unwrap_or_else(PoisonError::into_inner) = Some(carried);
            return Ok(Response::from_parts(head, Carried::Whole(None)));
        }
        if filter.as_ref().is_some_and(|filter| !filter.keeps_length()) && !is_head {
            head.headers.remove(header::CONTENT_LENGTH);
        }
        let most = Most { bytes: granted.download, bound: Over::Download };
        let known = (self.watch(), exchange, Ended::default());
        Ok(Response::from_parts(head, Carried::stream(body, most, ends, filter, known)))
    }

    /// Sets the path and host of a head in the form in which it is checked and rewritten.
    fn address(&self, head: &mut http::request::Parts) -> Result<(), Stop> {
        let unwritable = |why: http::Error| Brokered::refused(&self.target, "bad-request", why.to_string());
        let host = HeaderValue::try_from(heads::authority(&self.target, self.wire.scheme()));
        let host = host.map_err(|why| Box::new(unwritable(why.into())))?;
        head.headers.insert(header::HOST, host);
        head.version = Version::HTTP_11;
        let path = heads::path(&head.uri).to_owned();
        let uri = Uri::builder().path_and_query(path).build();
        head.uri = uri.map_err(|why| Box::new(unwritable(why)))?;
        Ok(())
    }

    /// Sets them as HTTP/2 pseudo-headers.
    fn address_many(&self, head: &mut http::request::Parts) -> Result<(), String> {
        // HTTP/2 has `:authority` instead. A `host` beside it could differ, and some servers prefer it.
        head.headers.remove(header::HOST);
        head.version = Version::HTTP_2;
        let authority = heads::authority(&self.target, self.wire.scheme());
        let path = heads::path(&head.uri).to_owned();
        let uri = Uri::builder().scheme(self.wire.scheme()).authority(authority).path_and_query(path);
        head.uri = uri.build().map_err(|why| why.to_string())?;
        Ok(())
    }

    async fn send(&self, request: Request<Carried>) -> Result<Response<Incoming>, NotSent> {
        let failed = |why: hyper::Error| NotSent::Failed(with_cause(&why));
        match &self.upstream {
            Upstream::One(sender) => {
                let ready = |context: &mut std::task::Context<'_>| lock(sender).poll_ready(context);
                std::future::poll_fn(ready).await.map_err(failed)?;
                let answer = lock(sender).send_request(request);
                answer.await.map_err(failed)
            }
            Upstream::Many(sender) => {
                let (mut head, body) = request.into_parts();
                self.address_many(&mut head).map_err(NotSent::Failed)?;
                // A clone for each request: the streams of an HTTP/2 connection are independent.
                let mut sender = sender.clone();
                sender.ready().await.map_err(failed)?;
                sender.send_request(Request::from_parts(head, body)).await.map_err(failed)
            }
            Upstream::Refused(refused) => Err(NotSent::Refused(Arc::clone(refused))),
        }
    }

    fn against(&self, why: RewriteRefusal) -> Stop {
        Box::new(self.because(why)).into()
    }

    /// Returns the refusal of a request that was allowed and recorded, and failed afterwards.
    fn not_answered(&self, exchange: &Exchange, why: &str) -> Stop {
        Stop::Recorded(exchange.fails(&self.brokered, "cannot-connect", &format!("no response: {why}")))
    }
}

fn granted_bytes(granted: Granted) -> usize {
    granted.upload.and_then(|most| most.try_into().ok()).unwrap_or(usize::MAX)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Formats an error with its sources.
pub(super) fn with_cause(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", with_cause(cause)),
        None => error.to_string(),
    }
}

/// Returns the response to a refused request. Refused calls of JSON-RPC get an error of that protocol: its clients take an error
/// of HTTP for a broken connection.
fn told(refused: &Refused, status: Option<u16>, calls: Option<&RpcCalls>) -> Response<Carried> {
    let (text, status) = match calls {
        Some(calls) => (calls.refused(refused.reason(), &refused.told()), Some(200)),
        None => (refused.told(), status),
    };
    let length = text.len();
    let mut response = Response::new(Carried::whole(text));
    let status = status.unwrap_or_else(|| status_of(refused));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::FORBIDDEN);
    let reason = format!("Refused by stockade ({})", refused.rule());
    if let Ok(reason) = hyper::ext::ReasonPhrase::try_from(reason.into_bytes()) {
        response.extensions_mut().insert(reason);
    }
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-stockade-rule", HeaderValue::from_static(refused.rule()));
    if let Some(url) = refused.url().and_then(|url| HeaderValue::try_from(url).ok()) {
        headers.insert("x-stockade-why", url);
    }
    response
}
