//! Requests to E2B, in its own words for what fails.

use serde::Serialize;
use serde::de::DeserializeOwned;
use ureq::Body;
use ureq::http::{Response, StatusCode};

use super::{E2bError, E2bSettings};
use crate::remote::{self, Again, Patience, Remote, RemoteError};
pub(super) use crate::remote::{Ask, shown};

/// Who asks the server, and how patiently.
#[derive(Debug, Clone)]
pub(super) struct Http(Remote);

impl Http {
    pub(super) fn new(settings: &E2bSettings) -> Self {
        let (request_time, retries) = (settings.request_time, settings.retries);
        Self(Remote::new(Patience { request_time, retries, again: Again::NotCarriedOut }, None))
    }

    pub(super) fn ask(&self, ask: &Ask<'_>) -> Result<Response<Body>, E2bError> {
        Ok(self.0.ask(ask)?)
    }
}

impl From<RemoteError> for E2bError {
    fn from(error: RemoteError) -> Self {
        match error {
            RemoteError::Away(why) => Self::Away(why),
            RemoteError::Unexpected(why) => Self::Unexpected(why),
            RemoteError::TooLong(most) => Self::TooLong(most),
            RemoteError::TimedOut(time) => Self::TimedOut(time),
            RemoteError::Stopped => Self::Away("cancelled".to_owned()),
            RemoteError::Plain(why) => Self::Plain(why),
            RemoteError::Status(status, said) => refusal(status, &said),
        }
    }
}

/// What an answer means that is no success.
fn refusal(status: StatusCode, said: &[u8]) -> E2bError {
    #[derive(serde::Deserialize)]
    struct Said {
        message: String,
    }
    let said = serde_json::from_slice::<Said>(said);
    let said = said.map(|said| shown(&said.message)).unwrap_or_else(|_| status.to_string());
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

/// Reads an answer of JSON.
pub(super) fn json<T: DeserializeOwned>(answer: Response<Body>) -> Result<T, E2bError> {
    Ok(remote::json(answer)?)
}

/// Reads an answer of no more than so many bytes.
pub(super) fn bytes(answer: Response<Body>, most: u64) -> Result<Vec<u8>, E2bError> {
    Ok(remote::bytes(answer, most)?)
}

/// Writes a body of JSON.
pub(super) fn body(value: &impl Serialize) -> Result<Vec<u8>, E2bError> {
    Ok(remote::body(value)?)
}
