//! Requests, and what is done about those that fail.

#![expect(clippy::disallowed_methods, reason = "waits before it asks again")]

use std::io::Read;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use ureq::http::{Response, StatusCode};
use ureq::{Agent, Body, Timeout};

use super::{E2bError, E2bSettings};

/// The longest answer that is read which is not a file or the output of a command.
const MAX_ANSWER: u64 = 1 << 20;
/// The longest that is waited before something is asked again, whatever the server says.
const MAX_WAIT: Duration = Duration::from_secs(30);
const FIRST_WAIT: Duration = Duration::from_millis(200);

/// How a request is told from others, and what it brings.
pub(super) struct Ask<'a> {
    pub(super) method: &'static str,
    pub(super) address: String,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: &'a [u8],
    /// How long it may take in all; as long as any other if nothing is said.
    pub(super) time: Option<Duration>,
}

/// Who asks the server, and how patiently.
#[derive(Debug, Clone)]
pub(super) struct Http {
    agent: Agent,
    request_time: Duration,
    retries: u32,
}

impl Http {
    pub(super) fn new(settings: &E2bSettings) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // What leads elsewhere would take the key along.
            .max_redirects(0)
            .timeout_connect(Some(Duration::from_secs(10).min(settings.request_time)))
            .user_agent(concat!("stockade/", env!("CARGO_PKG_VERSION")));
        Self { agent: config.build().into(), request_time: settings.request_time, retries: settings.retries }
    }

    /// Makes a request, and again while the server says that it did nothing. Whatever else goes wrong is an error at once: it may
    /// have been carried out.
    pub(super) fn ask(&self, ask: &Ask<'_>) -> Result<Response<Body>, E2bError> {
        let mut wait = FIRST_WAIT;
        for attempt in 0.. {
            let answer = self.once(ask)?;
            if answer.status().is_success() {
                return Ok(answer);
            }
            if attempt >= self.retries || !is_asked_again(&answer) {
                return Err(refusal(answer));
            }
            std::thread::sleep(named_wait(&answer).unwrap_or(wait).min(MAX_WAIT));
            wait = wait.saturating_mul(2);
        }
        Err(E2bError::TooMany)
    }

    fn once(&self, ask: &Ask<'_>) -> Result<Response<Body>, E2bError> {
        let mut request = ureq::http::Request::builder().method(ask.method).uri(&ask.address);
        for (name, value) in &ask.headers {
            request = request.header(*name, value);
        }
        let time = ask.time.unwrap_or(self.request_time);
        let request =
            request.body(ask.body).map_err(|_| E2bError::Plain("a header cannot be made of that"))?;
        let request = self.agent.configure_request(request).timeout_global(Some(time)).build();
        self.agent.run(request).map_err(|error| failure(&error, time))
    }
}

/// What a failed request means, in words that have nothing of the request in them.
pub(super) fn failure(error: &ureq::Error, time: Duration) -> E2bError {
    match error {
        ureq::Error::Timeout(Timeout::Connect | Timeout::Resolve) => {
            E2bError::Away("no connection was made in time".to_owned())
        }
        ureq::Error::Timeout(_) => E2bError::TimedOut(time),
        ureq::Error::HostNotFound => E2bError::Away("its name leads nowhere".to_owned()),
        ureq::Error::ConnectionFailed => E2bError::Away("no connection could be made".to_owned()),
        ureq::Error::Io(error) => E2bError::Away(error.kind().to_string()),
        ureq::Error::Rustls(error) => E2bError::Away(error.to_string()),
        ureq::Error::Protocol(_) | ureq::Error::Http(_) => E2bError::Unexpected("that is no HTTP".to_owned()),
        _ => E2bError::Away("the request failed".to_owned()),
    }
}

/// Whether the server says that it did not do it, and may the next time.
fn is_asked_again(answer: &Response<Body>) -> bool {
    match answer.headers().get("should-retry").and_then(|value| value.to_str().ok()) {
        Some(said) => said.eq_ignore_ascii_case("true"),
        None => matches!(answer.status().as_u16(), 429 | 502..=504),
    }
}

/// How long the server asks to wait.
fn named_wait(answer: &Response<Body>) -> Option<Duration> {
    let seconds = answer.headers().get("retry-after")?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// What an answer means that is no success.
fn refusal(answer: Response<Body>) -> E2bError {
    #[derive(serde::Deserialize)]
    struct Said {
        message: String,
    }
    let status = answer.status();
    let said = json::<Said>(answer).map(|said| shown(&said.message)).unwrap_or_else(|_| status.to_string());
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => E2bError::Unauthorised,
        StatusCode::NOT_FOUND => E2bError::NotFound(said),
        StatusCode::TOO_MANY_REQUESTS => E2bError::TooMany,
        StatusCode::BAD_GATEWAY if said.contains("sandbox") => E2bError::Gone,
        StatusCode::INSUFFICIENT_STORAGE => E2bError::NoRoom,
        status if status.is_server_error() => E2bError::Away(said),
        status if status.is_client_error() => E2bError::Refused(said),
        _ => E2bError::Unexpected(said),
    }
}

/// What a server says, for a person: short, and without what a terminal obeys.
pub(super) fn shown(said: &str) -> String {
    const MAX_SHOWN: usize = 300;
    said.chars().filter(|c| !c.is_control()).take(MAX_SHOWN).collect()
}

/// Reads an answer of JSON.
pub(super) fn json<T: DeserializeOwned>(answer: Response<Body>) -> Result<T, E2bError> {
    let text = bytes(answer, MAX_ANSWER)?;
    serde_json::from_slice(&text).map_err(|error| E2bError::Unexpected(error.to_string()))
}

/// Reads an answer of no more than so many bytes.
pub(super) fn bytes(answer: Response<Body>, most: u64) -> Result<Vec<u8>, E2bError> {
    let mut read = Vec::new();
    let from = answer.into_body().into_reader();
    from.take(most.saturating_add(1))
        .read_to_end(&mut read)
        .map_err(|error| E2bError::Away(error.kind().to_string()))?;
    if read.len() as u64 > most { Err(E2bError::TooLong(most)) } else { Ok(read) }
}

/// Writes a body of JSON.
pub(super) fn body(value: &impl Serialize) -> Result<Vec<u8>, E2bError> {
    serde_json::to_vec(value).map_err(|_| E2bError::Plain("it cannot be written as JSON"))
}
