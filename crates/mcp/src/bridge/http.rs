//! HTTP requests to the server's address, through the egress proxy of the sandbox, which checks the host.
#![expect(clippy::disallowed_methods, reason = "reads the certificates that programs of the sandbox trust")]

use std::env;
use std::fs;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ureq::http::{Request, Response};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body, Proxy};

/// Default locations of certificates, after the file that a variable names.
const ROOTS: &[&str] =
    &["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// Maximum number of idle clients.
const KEPT: usize = 8;

const CONNECT: Duration = Duration::from_secs(30);

/// Timeout of operations that need no computation by the server.
pub(super) const SHORT: Duration = Duration::from_secs(60);

/// The address, and the headers of each request.
#[derive(Debug)]
pub(super) struct Http {
    address: String,
    headers: Vec<(String, String)>,
    proxy: Proxy,
    tls: TlsConfig,
    idle: Mutex<Vec<Agent>>,
}

/// A header of a request.
pub type Header = (String, String);

impl Http {
    pub(super) fn new(address: &str, headers: Vec<Header>) -> Result<Self, String> {
        let proxy = env::var("HTTPS_PROXY").map_err(|_| {
            "no egress proxy in this environment; start this program with `stockade mcp wrap --url URL`"
                .to_owned()
        })?;
        let proxy = Proxy::new(&proxy)
            .map_err(|error| format!("HTTPS_PROXY is not the address of a proxy: {error}"))?;
        let tls = TlsConfig::builder().root_certs(roots()).build();
        Ok(Self { address: address.to_owned(), headers, proxy, tls, idle: Mutex::new(Vec::new()) })
    }

    /// Returns a client that serves one request at a time, so that a request can be aborted by dropping it.
    pub(super) fn agent(&self) -> Agent {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.unwrap_or_else(|| {
            let config = Agent::config_builder()
                .http_status_as_error(false)
                // A redirect would send the message to another address.
                .max_redirects(0)
                .timeout_connect(Some(CONNECT))
                .proxy(Some(self.proxy.clone()))
                .tls_config(self.tls.clone())
                .user_agent(concat!("stockade/", env!("CARGO_PKG_VERSION")));
            config.build().into()
        })
    }

    /// Keeps the client of a finished request, with its connection.
    pub(super) fn done(&self, agent: Agent) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < KEPT {
            idle.push(agent);
        }
    }

    /// Sends a request. `time` limits its duration; without it, the caller has to abort.
    pub(super) fn send(
        &self,
        agent: &Agent,
        method: &str,
        headers: &[Header],
        body: &str,
        time: Option<Duration>,
    ) -> Result<Response<Body>, String> {
        let mut request = Request::builder().method(method).uri(&self.address);
        for (name, value) in self.headers.iter().chain(headers) {
            request = request.header(name, value);
        }
        let plain = |_| "invalid header name or value".to_owned();
        let answer = if method == "POST" {
            let request =
                request.header("Content-Type", "application/json").body(body.to_owned()).map_err(plain)?;
            agent.run(agent.configure_request(request).timeout_global(time).build())
        } else {
            let request = request.body(()).map_err(plain)?;
            agent.run(agent.configure_request(request).timeout_global(time).build())
        };
        answer.map_err(|error| failure(&error))
    }
}

fn failure(error: &ureq::Error) -> String {
    match error {
        ureq::Error::ConnectProxyFailed(said) => {
            let said: String = said.chars().take(200).flat_map(char::escape_default).collect();
            format!(
                "the egress proxy refused the connection ({said}); run `stockade audit query` to find the reason"
            )
        }
        ureq::Error::Timeout(_) => "the server did not answer in time".to_owned(),
        error => format!("cannot connect to the server: {error}"),
    }
}

/// Returns the certificates that programs of this sandbox trust, which include that of a proxy that inspects TLS.
fn roots() -> RootCerts {
    let named = env::var("SSL_CERT_FILE").ok();
    let files = named.as_deref().into_iter().chain(ROOTS.iter().copied());
    let found = files.filter_map(|file| fs::read(file).ok()).find_map(|text| {
        let items = parse_pem(&text).filter_map(Result::ok);
        let certificates: Vec<Certificate<'static>> = items
            .filter_map(|item| match item {
                PemItem::Certificate(certificate) => Some(certificate),
                _ => None,
            })
            .collect();
        (!certificates.is_empty()).then_some(certificates)
    });
    found.map_or(RootCerts::WebPki, |certificates| RootCerts::new_with_certs(&certificates))
}
