//! Explains refusals to commands in the sandbox, over plain HTTP at the proxy's own name. No request leaves this machine, and the
//! page is read-only.

use std::net::TcpStream;

use super::super::broker_hostname::WHY_URL;
use super::super::proxy_request::ProxyRequest;
use super::super::target::NetTarget;
use super::Shared;
use super::answer::{about, document, refuse, say_bytes};
use super::client_reader::{Incoming, head};

/// The path of [`WHY_URL`].
const PATH: &str = "/v1/why";

/// Serves a client that connected to the proxy's own name.
pub(super) fn converse(shared: &Shared, target: &NetTarget, mut incoming: Incoming<'_>) {
    let client = incoming.client();
    let Ok(Some(end)) = head(&mut incoming) else { return };
    let head = end.map(|end| incoming.bytes.get(..end).unwrap_or_default());
    match head.and_then(|head| ProxyRequest::read_at(target, head)) {
        Ok(request) => serve(client, shared, &request),
        Err(bad) => {
            let status = bad.status;
            refuse(client, shared, &about(bad), Some(status));
        }
    }
}

/// Serves a request to the proxy's own name.
pub(super) fn serve(client: &TcpStream, shared: &Shared, request: &ProxyRequest) {
    let Some((method, path)) = request.asked() else { return };
    let (status, text) = match method {
        "GET" | "HEAD" => told(shared, path.split('?').next().unwrap_or_default()),
        _ => ("405 Method Not Allowed", Err("it can only be read")),
    };
    let text = text.unwrap_or_else(|why| {
        let fix =
            format!("{WHY_URL} lists the latest refusals; append `/` and an id or a host to select one");
        serde_json::json!({ "by": "stockade", "error": why, "fix": fix }).to_string() + "\n"
    });
    let answer = document(status, "", &text);
    let shown = if method == "HEAD" { answer.len() - text.len() } else { answer.len() };
    say_bytes(client, answer.as_bytes().get(..shown).unwrap_or_default());
}

fn told(shared: &Shared, path: &str) -> (&'static str, Result<String, &'static str>) {
    let refusals = shared.refusals();
    let found = match path.strip_prefix(PATH) {
        Some("" | "/") => Ok(refusals.all()),
        Some(rest) => rest
            .strip_prefix('/')
            .and_then(|name| refusals.last_called(name))
            .ok_or("no recent refusal with this id or host"),
        None => Err("no such page"),
    };
    (if found.is_ok() { "200 OK" } else { "404 Not Found" }, found)
}
