//! Requests to the servers of others, over HTTP and TLS, and what is done about those that fail.

#![expect(clippy::disallowed_methods, reason = "waits before it asks again")]

use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use ureq::http::{Response, StatusCode};
use ureq::tls::TlsConfig;
use ureq::{Agent, Body, Timeout};

/// The longest answer that is read which is not a file or the output of a command.
const MAX_ANSWER: u64 = 1 << 20;
/// The longest that is waited before something is asked again, whatever the server says.
const MAX_WAIT: Duration = Duration::from_secs(30);
const FIRST_WAIT: Duration = Duration::from_millis(200);
/// How often the caller is asked meanwhile whether there is still a reason to wait.
const GLANCE: Duration = Duration::from_millis(50);

/// How a request is told from others, and what it brings.
pub(crate) struct Ask<'a> {
    pub(crate) method: &'static str,
    pub(crate) address: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: &'a [u8],
    /// How long it may take in all; as long as any other if nothing is said.
    pub(crate) time: Option<Duration>,
}

/// What is asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    /// What was certainly not carried out.
    #[cfg_attr(not(feature = "e2b"), expect(dead_code, reason = "E2B asks so"))]
    NotCarriedOut,
    /// Whatever failed on the way or in the server: every request names what it makes, so that to make it twice is refused.
    Whatever,
}

/// How patient a client is with a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// How long a request may take that says nothing of its own.
    pub(crate) request_time: Duration,
    /// How often a request is made again.
    pub(crate) retries: u32,
    pub(crate) again: Again,
}

/// Says whether there is no reason to wait any longer.
#[derive(Clone)]
pub(crate) struct Stop(Arc<dyn Fn() -> bool + Send + Sync>);

impl Stop {
    pub(crate) fn when(stop: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(stop))
    }

    pub(crate) fn never() -> Self {
        Self::when(|| false)
    }

    pub(crate) fn is_now(&self) -> bool {
        (self.0)()
    }

    /// Waits, and says whether it waited to the end.
    pub(crate) fn wait(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if self.is_now() || left.is_zero() {
                return left.is_zero();
            }
            std::thread::sleep(left.min(GLANCE));
        }
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stop({})", self.is_now())
    }
}

/// Why there is no answer that could be used. No message has anything of the request in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RemoteError {
    /// The server did not answer, or broke off.
    Away(String),
    /// The server answered, and not as it is documented.
    Unexpected(String),
    /// There was more than was wanted.
    TooLong(u64),
    /// It took too long.
    TimedOut(Duration),
    /// The caller has no reason to wait any longer.
    Stopped,
    /// That cannot be asked.
    Plain(&'static str),
    /// The server says no.
    Status(StatusCode, Vec<u8>),
}

/// Who asks the server, and how patiently.
#[derive(Debug, Clone)]
pub(crate) struct Remote {
    agent: Agent,
    patience: Patience,
    stop: Stop,
}

impl Remote {
    pub(crate) fn new(patience: Patience, tls: Option<TlsConfig>) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // What leads elsewhere would take the key along.
            .max_redirects(0)
            .timeout_connect(Some(Duration::from_secs(10).min(patience.request_time)))
            .user_agent(concat!("stockade/", env!("CARGO_PKG_VERSION")));
        let config = match tls {
            Some(tls) => config.tls_config(tls),
            None => config,
        };
        Self { agent: config.build().into(), patience, stop: Stop::never() }
    }

    /// The same client, which gives up when `stop` tells it to.
    #[cfg_attr(not(feature = "kube"), expect(dead_code, reason = "runs in a cluster are ended from outside"))]
    pub(crate) fn until(&self, stop: Stop) -> Self {
        Self { stop, ..self.clone() }
    }

    /// Makes a request, and again while there is reason to. Whatever else goes wrong is an error at once.
    pub(crate) fn ask(&self, ask: &Ask<'_>) -> Result<Response<Body>, RemoteError> {
        let mut wait = FIRST_WAIT;
        for attempt in 0..=self.patience.retries {
            let is_last = attempt == self.patience.retries;
            let named = match self.once(ask) {
                Ok(answer) if answer.status().is_success() => return Ok(answer),
                Ok(answer) if is_last || !self.is_asked_again(&answer) => return Err(refusal(answer)),
                Ok(answer) => named_wait(&answer),
                Err(error) if is_last || !self.is_tried_again(&error) => return Err(error),
                Err(_) => None,
            };
            if !self.stop.wait(named.unwrap_or(wait).min(MAX_WAIT)) {
                return Err(RemoteError::Stopped);
            }
            wait = wait.saturating_mul(2);
        }
        Err(RemoteError::Stopped)
    }

    fn once(&self, ask: &Ask<'_>) -> Result<Response<Body>, RemoteError> {
        let mut request = ureq::http::Request::builder().method(ask.method).uri(&ask.address);
        for (name, value) in &ask.headers {
            request = request.header(*name, value);
        }
        let time = ask.time.unwrap_or(self.patience.request_time);
        let request = request.body(ask.body).map_err(|_| RemoteError::Plain("invalid header"))?;
        let request = self.agent.configure_request(request).timeout_global(Some(time)).build();
        self.agent.run(request).map_err(|error| failure(&error, time))
    }

    /// Whether the server did not carry the request out and may the next time; or failed, where a request may be repeated.
    fn is_asked_again(&self, answer: &Response<Body>) -> bool {
        match answer.headers().get("should-retry").and_then(|value| value.to_str().ok()) {
            Some(said) => said.eq_ignore_ascii_case("true"),
            None => match answer.status().as_u16() {
                429 | 502..=504 => true,
                status => self.patience.again == Again::Whatever && status >= 500,
            },
        }
    }

    fn is_tried_again(&self, error: &RemoteError) -> bool {
        let failed =
            matches!(error, RemoteError::Away(_) | RemoteError::TimedOut(_) | RemoteError::Unexpected(_));
        failed && self.patience.again == Again::Whatever && !self.stop.is_now()
    }
}

/// What a failed request means, in words that have nothing of the request in them.
pub(crate) fn failure(error: &ureq::Error, time: Duration) -> RemoteError {
    match error {
        ureq::Error::Timeout(Timeout::Connect | Timeout::Resolve) => {
            RemoteError::Away("timeout of the connection".to_owned())
        }
        ureq::Error::Timeout(_) => RemoteError::TimedOut(time),
        ureq::Error::HostNotFound => RemoteError::Away("cannot resolve its host name".to_owned()),
        ureq::Error::ConnectionFailed => RemoteError::Away("cannot connect".to_owned()),
        ureq::Error::Io(error) => RemoteError::Away(error.kind().to_string()),
        ureq::Error::Rustls(error) => RemoteError::Away(error.to_string()),
        ureq::Error::Protocol(_) | ureq::Error::Http(_) => {
            RemoteError::Unexpected("the response is not HTTP".to_owned())
        }
        _ => RemoteError::Away("the request failed".to_owned()),
    }
}

/// What it means that an answer broke off.
pub(crate) fn broken(error: io::Error) -> RemoteError {
    match error.downcast::<ureq::Error>() {
        Ok(error) => failure(&error, Duration::ZERO),
        Err(error) if error.kind() == io::ErrorKind::TimedOut => RemoteError::TimedOut(Duration::ZERO),
        Err(error) => RemoteError::Away(error.kind().to_string()),
    }
}

/// How long the server asks to wait.
fn named_wait(answer: &Response<Body>) -> Option<Duration> {
    let seconds = answer.headers().get("retry-after")?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

fn refusal(answer: Response<Body>) -> RemoteError {
    let status = answer.status();
    RemoteError::Status(status, bytes(answer, MAX_ANSWER).unwrap_or_default())
}

/// What a server says, for a person: short, and without what a terminal obeys.
pub(crate) fn shown(said: &str) -> String {
    const MAX_SHOWN: usize = 300;
    said.chars().filter(|c| !c.is_control()).take(MAX_SHOWN).collect()
}

/// Reads an answer of JSON.
pub(crate) fn json<T: DeserializeOwned>(answer: Response<Body>) -> Result<T, RemoteError> {
    let text = bytes(answer, MAX_ANSWER)?;
    serde_json::from_slice(&text).map_err(|error| RemoteError::Unexpected(error.to_string()))
}

/// Reads an answer of no more than so many bytes.
pub(crate) fn bytes(answer: Response<Body>, most: u64) -> Result<Vec<u8>, RemoteError> {
    let mut read = Vec::new();
    let from = answer.into_body().into_reader();
    from.take(most.saturating_add(1)).read_to_end(&mut read).map_err(broken)?;
    if read.len() as u64 > most { Err(RemoteError::TooLong(most)) } else { Ok(read) }
}

/// Writes a body of JSON.
pub(crate) fn body(value: &impl Serialize) -> Result<Vec<u8>, RemoteError> {
    serde_json::to_vec(value).map_err(|_| RemoteError::Plain("cannot write it as JSON"))
}
