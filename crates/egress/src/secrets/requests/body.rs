//! Bodies of requests: a secret is inserted where it belongs, and every other placeholder is refused.

use std::collections::BTreeSet;
use std::sync::Arc;

use hyper::body::Bytes;
use hyper::http::header::CONTENT_TYPE;
use hyper::http::request;
use zeroize::Zeroizing;

use super::super::super::broker::inspect::{BodyRewrite, Conversation, RewriteRefusal};
use super::super::super::secret_binding::{SecretBinding, SecretPlace};
use super::super::super::target::NetTarget;
use super::super::scrub::{Part, Watched, through};
use super::super::{ActiveSecrets, percent};
use super::{Asked, is_as_given, unwritable};

/// Maximum length of a body that is read completely, to insert a secret or to sign it.
pub(super) const MAX_BODY: usize = 8 << 20;

/// Maximum number of placeholders in a body, because each costs the memory of the secret.
const MAX_TIMES: usize = 16;

/// Maximum number of matches in a body, in each way to decode it: more than [`MAX_TIMES`], whichever the parts of secrets are.
const MAX_FOUND: usize = 1 << 10;

/// A request whose body comes later.
struct Later {
    active: Arc<ActiveSecrets>,
    target: NetTarget,
    is_tls: bool,
    is_loopback: bool,
    is_bound: bool,
    path: String,
}

impl Later {
    fn asked(&self) -> Asked<'_> {
        let Self { target, is_tls, is_loopback, .. } = self;
        let to = Conversation { target, is_tls: *is_tls, is_loopback: *is_loopback };
        Asked::new(&self.active, to, self.is_bound, self.path.clone())
    }
}

impl Asked<'_> {
    fn later(&self) -> Later {
        let Conversation { target, is_tls, is_loopback } = self.to;
        let (active, target, path) = (Arc::clone(self.active), target.clone(), self.path.clone());
        Later { active, target, is_tls, is_loopback, is_bound: self.is_bound, path }
    }

    /// Returns the rewriting of the body.
    pub(super) fn body(&self) -> BodyRewrite {
        if let Some(number) = self.in_body() {
            let later = self.later();
            let finish = move |head: &mut request::Parts, body: Bytes| {
                let asked = later.asked();
                let body = asked.whole_body(head, body, number);
                asked.tell(head);
                body
            };
            return BodyRewrite::Whole { most: MAX_BODY, then: Box::new(finish) };
        }
        through(self.watched("the body"))
    }

    /// Returns the judge of what is sent behind the head.
    pub(super) fn watched(&self, place: &'static str) -> Watched {
        let later = self.later();
        let judge = move |part| {
            let asked = later.asked();
            match part {
                Part::Value(number) => asked.active.stays(number, asked.to.target, place),
                Part::Placeholder(number) if asked.is_mentioned(number) => Ok(()),
                Part::Placeholder(number) => Err(asked.elsewhere(number, place)),
            }
        };
        Watched::new(Arc::clone(self.active), Box::new(judge))
    }

    /// Whether the placeholder of this secret may occur in a body here. A host that gets the secret learns nothing from it.
    fn is_mentioned(&self, number: usize) -> bool {
        let Some(secret) = self.active.secrets.get(number) else { return false };
        secret.bindings.iter().any(|binding| {
            binding.is_mentioned
                && binding.host.holds(self.to.target)
                && binding.holds_path(&self.path) == Some(true)
                && self.active.may_go(secret, binding, self.to).is_ok()
        })
    }

    /// Returns the secret that belongs in the body.
    fn in_body(&self) -> Option<usize> {
        let goes = |binding: &SecretBinding| {
            binding.places.contains(&SecretPlace::Body)
                && binding.host.holds(self.to.target)
                && binding.holds_path(&self.path) != Some(false)
        };
        self.active.secrets.iter().position(|secret| secret.bindings.iter().any(goes))
    }

    /// Inserts a secret into a body, escaped for its content type.
    fn whole_body(&self, head: &request::Parts, body: Bytes, number: usize) -> Result<Bytes, RewriteRefusal> {
        let (active, target) = (self.active, self.to.target);
        // Searched only this far, because a body of 8 MiB could consist of placeholders, and most of them are refused.
        let values = active.scrubber.values().find_up_to(&body, MAX_FOUND);
        values.iter().try_for_each(|one| active.stays(one.value, target, "the body"))?;
        let found = active.placeholders.find_up_to(&body, MAX_FOUND);
        if found.is_empty() {
            return Ok(body);
        }
        // An encoded placeholder would be decoded after it left this proxy, where it cannot be replaced.
        if let Some(other) = found.iter().find(|one| one.value != number || !is_as_given(one)) {
            return Err(self.elsewhere(other.value, "the body"));
        }
        let Some((secret, _)) = self.belongs(number, |place| *place == SecretPlace::Body)? else {
            return Err(self.elsewhere(number, "the body"));
        };
        let kind = head.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let spelled = spelled(&secret.value, kind.unwrap_or_default());
        let places: BTreeSet<_> = found.iter().map(|one| (one.from, one.to)).collect();
        if places.len() > MAX_TIMES {
            return Err(too_often(&secret.name));
        }
        // Computed before allocating: the body may grow by the length of the secret at each place.
        let length = body.len().saturating_add(places.len().saturating_mul(spelled.len()));
        let length = length.saturating_sub(places.len().saturating_mul(secret.placeholder.len()));
        if length > MAX_BODY {
            return Err(unwritable(&format!(
                "its body, which may not be longer than {MAX_BODY} bytes with it"
            )));
        }
        let mut new = Vec::with_capacity(length);
        let mut at = 0;
        for (from, to) in places {
            let Some(before) = body.get(at..from) else { continue };
            new.extend_from_slice(before);
            new.extend_from_slice(&spelled);
            at = to;
        }
        new.extend_from_slice(body.get(at..).unwrap_or_default());
        Ok(new.into())
    }
}

fn too_often(name: &str) -> RewriteRefusal {
    RewriteRefusal {
        rule: "secret-unwritable",
        reason: format!(
            "the placeholder of the secret `{name}` occurs in its body more than {MAX_TIMES} times"
        ),
        fix: Some("send it once".to_owned()),
    }
}

/// Encodes a secret for a body of this content type.
fn spelled(value: &[u8], kind: &str) -> Zeroizing<Vec<u8>> {
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if kind == "application/x-www-form-urlencoded" {
        let mut text = String::with_capacity(3 * value.len());
        percent::encode(value, &mut text);
        return Zeroizing::new(text.into_bytes());
    }
    if kind == "application/json" || kind.ends_with("+json") {
        let quoted =
            Zeroizing::new(serde_json::to_string(&String::from_utf8_lossy(value)).unwrap_or_default());
        let inner = quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default();
        return Zeroizing::new(inner.as_bytes().to_vec());
    }
    Zeroizing::new(value.to_vec())
}
