//! Requests that are signed with a placeholder, and are signed anew with the secret.

use std::sync::Arc;

use hyper::body::Bytes;
use hyper::http::header::AUTHORIZATION;
use hyper::http::{HeaderMap, request};

use super::super::super::broker::inspect::{BodyRewrite, Conversation, RewriteRefusal};
use super::super::super::secret_binding::{SecretBinding, SecretPlace};
use super::super::scrub::Part;
use super::super::{Secret, sigv4};
use super::Asked;
use super::body::MAX_BODY;

impl<'h> Asked<'h> {
    /// Returns the key that signs requests to this host.
    pub(super) fn signing(&self) -> Result<Option<(&'h Secret, &'h SecretBinding)>, RewriteRefusal> {
        let signs = |secret: &Secret| {
            secret
                .bindings
                .iter()
                .any(|one| one.places.contains(&SecretPlace::SigV4) && one.host.holds(self.to.target))
        };
        let Some(number) = self.active.secrets.iter().position(signs) else { return Ok(None) };
        self.belongs(number, |place| *place == SecretPlace::SigV4)
    }

    /// Signs a request anew that was signed with the placeholder.
    pub(super) fn sign(
        &self,
        head: &mut request::Parts,
        secret: &'h Secret,
        binding: &SecretBinding,
        unsigned: HeaderMap,
    ) -> Result<BodyRewrite, RewriteRefusal> {
        let Some(authorization) = unsigned.get(AUTHORIZATION) else { return Ok(self.body()) };
        let host = self.to.target.clone();
        let name = secret.name.clone();
        let refused = move |why: String| RewriteRefusal {
            rule: "other-credential",
            reason: format!(
                "`{host}` only gets requests that are signed with the secret `{name}`, and {why}"
            ),
            fix: Some(
                "sign it with the placeholder of the secret, in a header (AWS4-HMAC-SHA256)".to_owned(),
            ),
        };
        let signed = sigv4::Signed::read(authorization.as_bytes()).map_err(|why| refused(why.to_owned()))?;
        if let Some(hash) = sigv4::payload_hash(&unsigned).map_err(|why| refused(why.to_owned()))? {
            let new =
                signed.anew(&unsigned, head, self.to.target, &hash, (&secret.placeholder, &secret.value));
            let new = new.map_err(|why| refused(why.to_owned()))?;
            head.headers.insert(AUTHORIZATION, new);
            return Ok(self.body());
        }
        let (active, number) = (Arc::clone(self.active), self.number_of(secret));
        let (target, binding) = (self.to.target.clone(), binding.clone());
        let (is_tls, is_loopback) = (self.to.is_tls, self.to.is_loopback);
        let finish = move |head: &mut request::Parts, body: Bytes| {
            active.parts_in(&body).try_for_each(|part| match part {
                Part::Placeholder(found) => Err(active.elsewhere(found, &target, "the body")),
                Part::Value(found) => active.stays(found, &target, "the body"),
            })?;
            let Some(secret) = active.secrets.get(number) else {
                return Err(refused("it is gone".to_owned()));
            };
            // The body took its time.
            let to = Conversation { target: &target, is_tls, is_loopback };
            active.may_go(secret, &binding, to)?;
            let hash = sigv4::hash(&body);
            let new = signed.anew(&unsigned, head, &target, &hash, (&secret.placeholder, &secret.value));
            head.headers.insert(AUTHORIZATION, new.map_err(|why| refused(why.to_owned()))?);
            Ok(body)
        };
        Ok(BodyRewrite::Whole { most: MAX_BODY, then: Box::new(finish) })
    }

    fn number_of(&self, secret: &Secret) -> usize {
        self.active.secrets.iter().position(|one| one.name == secret.name).unwrap_or(usize::MAX)
    }
}
