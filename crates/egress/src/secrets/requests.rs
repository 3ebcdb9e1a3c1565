//! Requests: each placeholder is checked by its position, and replaced where it belongs.

mod body;
mod signing;

use hyper::http::header::{ACCEPT_ENCODING, AUTHORIZATION};
use hyper::http::uri::PathAndQuery;
use hyper::http::{HeaderMap, HeaderName, HeaderValue, request};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use super::super::broker::inspect::{
    BodyFilter, BodyRewrite, Conversation, Inserted, LentUntil, RewriteRefusal,
};
use super::super::header_table::{HeaderAt, HeaderFate, HeaderOf, headers_of};
use super::super::secret_binding::{SecretBinding, SecretPlace};
use super::scrub::filter;
use super::spelling::Spelling;
use super::websocket::WatchedFrames;
use super::windows::Found;
use super::{ActiveSecrets, Secret, credentials, parts, percent};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

/// Values that may accompany a token as user in `Authorization: Basic`.
const NO_PASSWORDS: &[&[u8]] = &[b"", b"x-oauth-basic", b"x"];

/// A request that is rewritten.
pub(super) struct Asked<'h> {
    active: &'h Arc<ActiveSecrets>,
    to: Conversation<'h>,
    /// Whether its host receives a secret, for any path.
    is_bound: bool,
    path: String,
    /// The earliest end of the secrets that were inserted.
    until: Cell<Option<Instant>>,
    /// The names of the secrets that were inserted.
    inserted: RefCell<BTreeSet<&'h str>>,
}

/// Inserts secrets into a request.
pub(super) fn rewrite(
    active: &Arc<ActiveSecrets>,
    to: Conversation<'_>,
    head: &mut request::Parts,
) -> Result<BodyRewrite, RewriteRefusal> {
    let whole = head.uri.path_and_query().map_or("/", PathAndQuery::as_str).to_owned();
    let (path, query) =
        whole.split_once('?').map_or((whole.as_str(), None), |(path, query)| (path, Some(query)));
    let is_bound = active.is_bound(to.target);
    let asked = Asked::new(active, to, is_bound, path.to_owned());
    // A host name or method with a placeholder would reach resolvers and logs that are outside of the binding.
    asked.holds_none(to.target.host.to_string().as_bytes(), "the name of the host")?;
    asked.holds_none(head.method.as_str().as_bytes(), "the method")?;
    asked.no_value_leaves(head)?;
    // A signed request is checked as a whole, and no secret is inserted into its URL.
    let signing = asked.signing()?;
    let path = asked.path(path)?;
    // Path and query are rewritten separately: a `?` in a secret must not start a query, so each is encoded for its
    // part.
    let query = query.map(|query| asked.query(query)).transpose()?;
    if path.is_some() || query.as_ref().is_some_and(Option::is_some) {
        let path = path.as_deref().map_or(asked.path.as_str(), String::as_str);
        let old = whole.split_once('?').map(|(_, query)| query.to_owned());
        let query = query.flatten().map(|query| query.to_string()).or(old);
        let new = Zeroizing::new(query.map_or_else(|| path.to_owned(), |query| format!("{path}?{query}")));
        let mut parts = std::mem::take(&mut head.uri).into_parts();
        parts.path_and_query = Some(new.parse().map_err(|_| unwritable("its address"))?);
        head.uri = parts.try_into().map_err(|_| unwritable("its address"))?;
    }
    // The signature of the client covers the headers as it sent them, so it is checked against these and not against
    // rewritten ones.
    let unsigned = signing.is_some().then(|| head.headers.clone());
    asked.headers(head, signing.is_some())?;
    // Only this host can echo the secret, so only its responses have to be readable. Others keep compression and
    // ranges.
    if let Some(shortest) = active.shortest_sent_to(to.target) {
        parts::judge(head, shortest)?;
        ask_for_readable(&mut head.headers);
    }
    if let (Some((secret, binding)), Some(unsigned)) = (signing, unsigned) {
        let signed = asked.sign(head, secret, binding, unsigned);
        asked.tell(head);
        return signed;
    }
    asked.tell(head);
    Ok(asked.body())
}

/// Returns the filter for what a command sends in a websocket.
pub(super) fn websocket(
    active: &Arc<ActiveSecrets>,
    to: Conversation<'_>,
    path: &str,
) -> Box<dyn BodyFilter> {
    let is_bound = active.is_bound(to.target);
    let asked = Asked::new(active, to, is_bound, path.to_owned());
    filter(WatchedFrames::new(asked.watched("a message"), is_bound))
}

/// Requests a response that can be scrubbed.
fn ask_for_readable(headers: &mut HeaderMap) {
    for name in headers_of(HeaderOf::Request, HeaderAt::SecretHost, HeaderFate::Rewritten) {
        headers.remove(name);
    }
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
}

fn unwritable(place: &str) -> RewriteRefusal {
    RewriteRefusal {
        rule: "secret-unwritable",
        reason: format!("the secret cannot be inserted in {place}"),
        fix: Some("check that its source contains only the secret".to_owned()),
    }
}

impl<'h> Asked<'h> {
    fn new(active: &'h Arc<ActiveSecrets>, to: Conversation<'h>, is_bound: bool, path: String) -> Self {
        Self { active, to, is_bound, path, until: Cell::default(), inserted: RefCell::default() }
    }

    /// Returns the secret with this number, if it belongs to one of these places.
    fn belongs(
        &self,
        number: usize,
        is_place: impl Fn(&SecretPlace) -> bool,
    ) -> Result<Option<(&'h Secret, &'h SecretBinding)>, RewriteRefusal> {
        let Some(secret) = self.active.secrets.get(number) else { return Ok(None) };
        let to_host = |binding: &&SecretBinding| binding.host.holds(self.to.target);
        for binding in secret.bindings.iter().filter(to_host) {
            match binding.holds_path(&self.path) {
                // If servers disagree about the path, the secret could reach a handler outside of the bound path.
                None => return Err(self.ambiguous()),
                Some(true) if binding.places.iter().any(&is_place) => {
                    // The first matching binding decides, also with a refusal: an expired one must not fall through
                    // to a wider one.
                    self.active.may_go(secret, binding, self.to)?;
                    self.lent(binding);
                    self.inserted.borrow_mut().insert(&secret.name);
                    return Ok(Some((secret, binding)));
                }
                Some(_) => {}
            }
        }
        Ok(None)
    }

    /// Limits the request to the lifetime of an inserted secret.
    fn lent(&self, binding: &SecretBinding) {
        let until = self.active.lent_until(binding);
        self.until.set(self.until.get().into_iter().chain(until).min());
    }

    /// Tells the proxy which secrets a request contains, and until when it may be sent.
    fn tell(&self, head: &mut request::Parts) {
        // A body that is rewritten later must not extend the lifetime that the head already set.
        let before = head.extensions.get::<LentUntil>().map(|before| before.0);
        if let Some(until) = self.until.get().into_iter().chain(before).min() {
            head.extensions.insert(LentUntil(until));
        }
        let before = head.extensions.remove::<Inserted>().map(|Inserted(names)| names).unwrap_or_default();
        let mut all: BTreeSet<String> = before.into_iter().collect();
        all.extend(self.inserted.borrow().iter().map(|&name| name.to_owned()));
        head.extensions.insert(Inserted(all.into_iter().collect()));
    }

    fn ambiguous(&self) -> RewriteRefusal {
        RewriteRefusal {
            rule: "ambiguous-path",
            reason: "its path is ambiguous, and a secret is bound to a path".to_owned(),
            fix: None,
        }
    }

    fn elsewhere(&self, number: usize, place: &str) -> RewriteRefusal {
        self.active.elsewhere(number, self.to.target, place)
    }

    /// Refuses a placeholder where none ever belongs.
    fn holds_none(&self, text: &[u8], place: &str) -> Result<(), RewriteRefusal> {
        self.active.placeholders.first(text).map_or(Ok(()), |number| Err(self.elsewhere(number, place)))
    }

    /// Refuses a head with a secret itself that is not for this host.
    fn no_value_leaves(&self, head: &request::Parts) -> Result<(), RewriteRefusal> {
        let stays = |text: &[u8], place: &str| {
            let found = self.active.scrubber.values().find(text);
            found.iter().try_for_each(|one| self.active.stays(one.value, self.to.target, place))
        };
        stays(self.to.target.host.to_string().as_bytes(), "the name of the host")?;
        stays(head.uri.to_string().as_bytes(), "the address")?;
        head.headers.iter().try_for_each(|(name, value)| {
            stays(name.as_str().as_bytes(), "the name of a header")?;
            stays(value.as_bytes(), &format!("the header `{name}`"))
        })
    }

    fn other(&self, place: &str) -> RewriteRefusal {
        let bound = self.active.bindings().filter(|(_, binding)| binding.host.holds(self.to.target));
        let names: Vec<_> = bound.map(|(secret, _)| format!("`{}`", secret.name)).collect();
        RewriteRefusal {
            rule: "other-credential",
            reason: format!(
                "{place} contains another credential, and `{}` may only get the secret {}",
                self.to.target,
                names.join(" or ")
            ),
            fix: Some("remove it, or send only the placeholder of the secret".to_owned()),
        }
    }

    /// Returns the path with its secret; nothing without one.
    fn path(&self, path: &str) -> Result<Option<Zeroizing<String>>, RewriteRefusal> {
        let found = self.active.placeholders.find(path.as_bytes());
        let Some(first) = found.first() else { return Ok(None) };
        let elsewhere = || Err(self.elsewhere(first.value, "the path"));
        // A placeholder in base64 or escapes would be decoded by the server after this check, possibly in another
        // position.
        let is_one = found.iter().all(|one| one.value == first.value && is_as_given(one));
        let Some((secret, _)) = self.belongs(first.value, |place| *place == SecretPlace::Path)? else {
            return elsewhere();
        };
        // It occurs once, without escapes.
        // Searching ignores case, and this comparison does not: a placeholder in other letters is not replaced, but
        // refused.
        let Some((before, after)) = path.split_once(&secret.placeholder).filter(|_| is_one) else {
            return elsewhere();
        };
        if after.contains(&secret.placeholder) {
            return elsewhere();
        }
        let mut new = Zeroizing::new(String::with_capacity(path.len() + 3 * secret.value.len()));
        // Allocated for the worst case of percent-encoding, so that no growing buffer leaves a copy of the secret in
        // freed memory.
        new.push_str(before);
        percent::encode(&secret.value, &mut new);
        new.push_str(after);
        Ok(Some(new))
    }

    /// Returns the query with its secrets; nothing without one.
    fn query(&self, query: &str) -> Result<Option<Zeroizing<String>>, RewriteRefusal> {
        let mut new = Zeroizing::new(String::with_capacity(query.len() + 3 * MAX_SECRETS_IN_QUERY));
        let mut is_changed = false;
        for (number, pair) in query.split('&').enumerate() {
            if number > 0 {
                new.push('&');
            }
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match self.value_in_query(pair, name, value)? {
                None => new.push_str(pair),
                Some(secret) => {
                    new.push_str(name);
                    new.push('=');
                    percent::encode(&secret.value, &mut new);
                    is_changed = true;
                }
            }
        }
        Ok(is_changed.then_some(new))
    }

    fn value_in_query(
        &self,
        pair: &str,
        name: &str,
        value: &str,
    ) -> Result<Option<&'h Secret>, RewriteRefusal> {
        // Compared after decoding, as the server does: `%74oken=` is `token=`.
        let plain = String::from_utf8_lossy(&percent::decoded(name)).into_owned();
        let is_place = |place: &SecretPlace| *place == SecretPlace::Query(plain.clone());
        let Some(number) = self.active.placeholders.first(pair.as_bytes()) else {
            // Another value in the place of a secret would make the command act as another account at this host.
            let is_ours = self.active.bindings().any(|(_, binding)| {
                binding.host.holds(self.to.target) && binding.places.iter().any(is_place)
            });
            let other = Some(plain.clone()).filter(|_| is_ours).or_else(|| credential_in(pair));
            return match other.filter(|_| self.is_bound) {
                Some(other) => Err(self.other(&format!("`{}` of the query", other.escape_debug()))),
                None => Ok(None),
            };
        };
        let Some((secret, _)) = self.belongs(number, is_place)? else {
            return Err(self.elsewhere(number, "the query"));
        };
        // The whole value must be the placeholder. In a longer value, the host could return the part around the
        // secret as a marker for it.
        match percent::decoded(value) == secret.placeholder.as_bytes() {
            true => Ok(Some(secret)),
            false => Err(self.elsewhere(number, "the query, as a part of something else")),
        }
    }

    /// Inserts secrets into headers.
    fn headers(&self, head: &mut request::Parts, is_signed: bool) -> Result<(), RewriteRefusal> {
        let names: Vec<HeaderName> = head.headers.keys().cloned().collect();
        for name in names {
            // Intermediaries log unknown header names, and no binding allows a secret there.
            self.holds_none(name.as_str().as_bytes(), "the name of a header")?;
            if is_signed && name == AUTHORIZATION {
                let mut values = head.headers.get_all(&name).iter();
                values.try_for_each(|value| self.holds_none(value.as_bytes(), "`authorization`"))?;
                continue;
            }
            // Servers disagree about which of several equal headers counts, so one with a secret must be the only
            // one.
            let count = head.headers.get_all(&name).iter().count();
            let mut new = Vec::with_capacity(count);
            for value in head.headers.get_all(&name) {
                new.push(self.header(&name, value)?);
            }
            let has_secret = new.iter().any(Option::is_some);
            if has_secret && count > 1 {
                return Err(self.other(&format!("a second header `{name}`")));
            }
            if let (true, Some(Some(value))) = (has_secret, new.pop()) {
                head.headers.insert(&name, value);
            }
        }
        Ok(())
    }

    /// Returns the new value of a header; nothing if it is unchanged.
    fn header(&self, name: &HeaderName, value: &HeaderValue) -> Result<Option<HeaderValue>, RewriteRefusal> {
        let shown = format!("the header `{name}`");
        if let Some(basic) = (name == AUTHORIZATION).then(|| user_and_password(value)).flatten() {
            return self.basic(&basic);
        }
        let Some(number) = self.active.placeholders.first(value.as_bytes()) else {
            let kind = self.active.kind_of(self.to.target);
            // A credential that an attacker planted in the command would send its data to the attacker's account at a
            // trusted host.
            let is_credential = || credentials::is_header(name.as_str(), value.as_bytes(), kind);
            return match self.is_bound && is_credential() {
                true => Err(self.other(&shown)),
                false => Ok(None),
            };
        };
        let is_place = |place: &SecretPlace| *place == SecretPlace::Header(name.as_str().to_owned());
        let Some((secret, _)) = self.belongs(number, is_place)? else {
            return Err(self.elsewhere(number, &shown));
        };
        let text = value.to_str().unwrap_or_default();
        // Only a scheme may precede the secret. Other text could contain a second credential, which some servers
        // prefer.
        let Some(before) = text.strip_suffix(&secret.placeholder).filter(|before| is_word(before)) else {
            return Err(self.other(&shown));
        };
        sensitive(&[before.as_bytes(), &secret.value]).map(Some).ok_or_else(|| unwritable(&shown))
    }

    /// Returns the new value of `Authorization: Basic`.
    fn basic(&self, (user, password): &(Vec<u8>, Vec<u8>)) -> Result<Option<HeaderValue>, RewriteRefusal> {
        let shown = "the header `authorization` (`Basic`)";
        let (in_user, in_password) =
            (self.active.placeholders.first(user), self.active.placeholders.first(password));
        let Some(number) = in_password.or(in_user) else {
            return match self.is_bound {
                true => Err(self.other(shown)),
                false => Ok(None),
            };
        };
        let Some((secret, _)) = self.belongs(number, |place| *place == SecretPlace::Basic)? else {
            return Err(self.elsewhere(number, shown));
        };
        let placeholder = secret.placeholder.as_bytes();
        // The other half must not be a credential of its own: `attacker-token:<secret>` could act as the attacker.
        let value = match (user.as_slice(), password.as_slice()) {
            (user, password)
                if password == placeholder && in_user.is_none() && !credentials::is_token(user) =>
            {
                basic_header(user, &secret.value)
            }
            (user, password) if user == placeholder && NO_PASSWORDS.contains(&password) => {
                basic_header(&secret.value, password)
            }
            _ => return Err(self.other(shown)),
        };
        value.map(Some).ok_or_else(|| unwritable(shown))
    }
}

/// Whether a placeholder is as the command was given it: complete, and in no encoding.
fn is_as_given(found: &Found) -> bool {
    found.is_whole && found.spelling == Spelling::Plain
}

/// The name of a credential in a part of a query. Some servers part queries at `;` as well.
fn credential_in(pair: &str) -> Option<String> {
    let names = pair.split(';').map(|part| part.split_once('=').map_or(part, |(name, _)| name));
    let plain = names.map(|name| String::from_utf8_lossy(&percent::decoded(name)).into_owned());
    plain.into_iter().find(|name| stockade_credentials::is_credential_parameter(name))
}

/// Room for what a query grows by.
const MAX_SECRETS_IN_QUERY: usize = 1 << 10;

/// The user and the password of `Basic …`; nothing if it is something else.
fn user_and_password(value: &HeaderValue) -> Option<(Vec<u8>, Vec<u8>)> {
    // Header values may contain any bytes, and `Basic` credentials are ASCII (RFC 7617).
    let text = value.to_str().ok()?;
    let (scheme, encoded) = text.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let mut bytes = STANDARD.decode(encoded.trim()).ok()?;
    let colon = bytes.iter().position(|byte| *byte == b':')?;
    let password = bytes.split_off(colon + 1);
    bytes.pop();
    Some((bytes, password))
}

fn basic_header(user: &[u8], password: &[u8]) -> Option<HeaderValue> {
    let mut plain = Zeroizing::new(Vec::with_capacity(user.len() + password.len() + 1));
    plain.extend_from_slice(user);
    plain.push(b':');
    plain.extend_from_slice(password);
    let encoded = Zeroizing::new(STANDARD.encode(&*plain));
    sensitive(&[b"Basic ", encoded.as_bytes()])
}

/// Builds a header value that debug output hides.
fn sensitive(parts: &[&[u8]]) -> Option<HeaderValue> {
    let whole = Zeroizing::new(parts.concat());
    let mut value = HeaderValue::from_bytes(&whole).ok()?;
    // HTTP/2 header compression must not index it, and debug output must not print it.
    value.set_sensitive(true);
    Some(value)
}

/// Whether the text before a secret is only a scheme or a name: empty, `Bearer `, `session=`.
fn is_word(text: &str) -> bool {
    let word = text.strip_suffix([' ', '=']).unwrap_or(text);
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    text.is_empty() || (word != text && !word.is_empty() && word.bytes().all(is_letter))
}
