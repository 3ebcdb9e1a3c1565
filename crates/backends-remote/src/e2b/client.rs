//! Makes sandboxes and ends them.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::http::{Ask, Http, body, json};
use super::{E2bError, E2bSettings};

/// What is asked of a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct E2bRequest {
    /// What it is made of.
    pub template: String,
    /// After so long the server ends it, whatever happens in it.
    pub lifetime: Duration,
    /// Whether it reaches the network.
    pub internet: bool,
    /// Variables of all its commands.
    pub variables: BTreeMap<String, String>,
    /// Metadata that is shown in the list of sandboxes of an account.
    pub metadata: BTreeMap<String, String>,
}

impl Default for E2bRequest {
    fn default() -> Self {
        let (variables, metadata) = Default::default();
        Self {
            template: "base".to_owned(),
            lifetime: Duration::from_secs(300),
            internet: false,
            variables,
            metadata,
        }
    }
}

/// Makes sandboxes for an account.
#[derive(Debug, Clone)]
pub struct E2bClient {
    settings: E2bSettings,
    api: String,
    http: Http,
}

/// A sandbox that exists until it is deleted or its time is up.
#[derive(Clone)]
pub struct E2bSandbox {
    id: String,
    pub(super) token: Option<String>,
    pub(super) service: String,
    pub(super) http: Http,
    client: E2bClient,
}

impl std::fmt::Debug for E2bSandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("E2bSandbox").field("id", &self.id).finish_non_exhaustive()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct New<'r> {
    #[serde(rename = "templateID")]
    template: &'r str,
    timeout: u64,
    #[serde(rename = "allow_internet_access")]
    internet: bool,
    secure: bool,
    metadata: &'r BTreeMap<String, String>,
    env_vars: &'r BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Made {
    #[serde(rename = "sandboxID")]
    id: String,
    envd_access_token: Option<String>,
    domain: Option<String>,
}

impl E2bClient {
    /// Prepares to ask a server. Nothing is asked yet.
    ///
    /// # Errors
    ///
    /// When the key would be sent where others can read it.
    pub fn new(settings: E2bSettings) -> Result<Self, E2bError> {
        let (api, http) = (settings.api()?, Http::new(&settings));
        Ok(Self { settings, api, http })
    }

    /// Makes a sandbox.
    ///
    /// # Errors
    ///
    /// When the server does not make it, or its answer cannot be used.
    pub fn create(&self, request: &E2bRequest) -> Result<E2bSandbox, E2bError> {
        let new = New {
            template: &request.template,
            timeout: request.lifetime.as_secs().max(1),
            internet: request.internet,
            secure: true,
            metadata: &request.metadata,
            env_vars: &request.variables,
        };
        let made: Made = json(self.ask("POST", "/v2/sandboxes", &body(&new)?)?)?;
        // Both become part of addresses.
        let plain =
            |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.'));
        if made.id.is_empty() || !plain(&made.id) || !made.domain.as_deref().is_none_or(plain) {
            return Err(E2bError::Unexpected("the name of the sandbox is not valid".to_owned()));
        }
        let service = self.settings.service(&made.id, made.domain.as_deref())?;
        Ok(E2bSandbox {
            id: made.id,
            token: made.envd_access_token,
            service,
            http: self.http.clone(),
            client: self.clone(),
        })
    }

    fn ask(
        &self,
        method: &'static str,
        path: &str,
        body: &[u8],
    ) -> Result<ureq::http::Response<ureq::Body>, E2bError> {
        let headers = vec![
            ("X-API-Key", self.settings.key.reveal().to_owned()),
            ("Content-Type", "application/json".to_owned()),
        ];
        self.http.ask(&Ask { method, address: format!("{}{path}", self.api), headers, body, time: None })
    }
}

impl E2bSandbox {
    /// Its name, by which the account lists it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Lets the server end it after this time from now on.
    ///
    /// # Errors
    ///
    /// When it is gone, or the server does not answer.
    pub fn keep_for(&self, lifetime: Duration) -> Result<(), E2bError> {
        #[derive(Serialize)]
        struct Lifetime {
            timeout: u64,
        }
        let timeout = lifetime.as_secs().max(1);
        self.client
            .ask("POST", &format!("/sandboxes/{}/timeout", self.id), &body(&Lifetime { timeout })?)
            .map(drop)
    }

    /// Whether it is still there.
    ///
    /// # Errors
    ///
    /// When the server does not answer.
    pub fn is_there(&self) -> Result<bool, E2bError> {
        match self.client.ask("GET", &format!("/sandboxes/{}", self.id), &[]) {
            Ok(_) => Ok(true),
            Err(E2bError::NotFound(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Ends it, with all that runs in it. One that is gone already is as good.
    ///
    /// # Errors
    ///
    /// When the server does not answer. It ends the sandbox when its time is up.
    pub fn delete(&self) -> Result<(), E2bError> {
        match self.client.ask("DELETE", &format!("/sandboxes/{}", self.id), &[]) {
            Ok(_) | Err(E2bError::NotFound(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// What each request to the service in it needs.
    pub(super) fn headers(&self, content: &str) -> Vec<(&'static str, String)> {
        let token = self.token.iter().map(|token| ("X-Access-Token", token.clone()));
        let rest = [
            ("E2b-Sandbox-Id", self.id.clone()),
            ("E2b-Sandbox-Port", "49983".to_owned()),
            // The user `user`, without a password.
            ("Authorization", "Basic dXNlcjo=".to_owned()),
            ("Connect-Protocol-Version", "1".to_owned()),
            ("Content-Type", content.to_owned()),
        ];
        token.chain(rest).collect()
    }
}
