//! Secrets that commands can use but not read: the sandbox has a placeholder, and the proxy replaces it with the secret.
//!
//! It does so in requests to the one host, path and place that the secret is bound to, where it inspects the connection. A
//! placeholder anywhere else is refused and recorded as an exfiltration attempt. A host that receives a secret receives no other
//! credential: one that an attacker planted in a command could otherwise act there as another account. Responses are scrubbed of
//! the secret, in every encoding that [`windows`] searches, before a process in the sandbox can read them; a response that cannot be
//! decoded for that is refused.
//!
//! A malicious host can send the secret back in an encoding of its own, or in two responses. So a secret is bound to a host that
//! is trusted with it.

#![expect(clippy::disallowed_methods, reason = "lends secrets for a while")]

mod answers;
mod credentials;
mod decoded;
mod numbers;
mod parts;
mod percent;
mod placeholder;
mod readings;
mod requests;
mod scrub;
mod sigv4;
pub(super) mod source;
mod spelling;
mod weak;
mod websocket;
mod windows;

use std::ffi::OsString;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use zeroize::Zeroizing;

use super::broker::inspect::{BodyFilter, BodyRewrite, Conversation, Rewrite, RewriteRefusal};
use super::host_list::HostList;
use super::login_bindings::UserLoginFile;
use super::secret_binding::{SecretBinding, SecretError, SecretPlace, SecretSource};
use super::target::NetTarget;
use credentials::HostKind;
use scrub::Part;
pub use scrub::{ScrubbedStream, Scrubber};
use windows::{Sought, Windows};

/// The secrets of a run, and their placeholders. They are not read before [`Secrets::get`]: a dry run, and a run that waits for
/// approval, have read none of them.
///
/// Their bytes are overwritten when the last copy of this is dropped. The search automaton is not, so core dumps of this process
/// are disabled.
#[derive(Clone)]
pub struct Secrets(Arc<SecretStore>);

struct SecretStore {
    bindings: Vec<SecretBinding>,
    active: OnceLock<Arc<ActiveSecrets>>,
}

struct ActiveSecrets {
    secrets: Vec<Secret>,
    placeholders: Windows,
    scrubber: Arc<Scrubber>,
    began: Instant,
}

/// A secret, with all its bindings.
struct Secret {
    name: String,
    value: Zeroizing<Vec<u8>>,
    placeholder: String,
    bindings: Vec<SecretBinding>,
}

impl Secret {
    fn login_file(&self) -> Option<&UserLoginFile> {
        self.bindings.iter().find_map(SecretBinding::login_file)
    }

    /// Returns where the command has its placeholder.
    fn placeholder_at(&self) -> String {
        match self.login_file() {
            Some(file) => format!("`~/{}`", file.below_home()),
            None => format!("`${}`", self.name),
        }
    }

    /// Returns the hosts and paths that receive it.
    fn destinations(&self) -> String {
        let bound: Vec<_> = self.bindings.iter().map(SecretBinding::destination).collect();
        bound.join(" and to ")
    }
}

impl Secrets {
    /// Checks that these secrets can reach their hosts, without reading them. `list` names the host list in errors, so that a
    /// user knows which setting to change.
    ///
    /// # Errors
    /// When one has no reachable host, or two have the same place.
    pub fn new(bindings: &[SecretBinding], hosts: &HostList, list: &str) -> Result<Self, SecretError> {
        SecretBinding::check(bindings, hosts, list)?;
        Ok(Self(Arc::new(SecretStore { bindings: bindings.to_vec(), active: OnceLock::new() })))
    }

    /// Reads the secrets from their sources, and creates their placeholders. Their lifetime starts now.
    ///
    /// # Errors
    /// When one cannot be read.
    pub fn get(&self) -> Result<(), SecretError> {
        // Before the first secret is read.
        no_cores();
        let mut secrets: Vec<Secret> = Vec::new();
        for binding in &self.0.bindings {
            // Read once, although it has several bindings: a command such as `op read` may ask the user each time.
            if let Some(secret) = secrets.iter_mut().find(|secret| secret.name == binding.name) {
                secret.bindings.push(binding.clone());
                continue;
            }
            let value = source::read(binding)?;
            // Of the same form as the secret, because programs check the form of a key before they send it.
            let placeholder = placeholder::of(&value).ok_or_else(|| {
                SecretError::new(
                    &binding.name,
                    "gets no placeholder, because no random numbers are available",
                    "try again",
                )
            })?;
            secrets.push(Secret {
                name: binding.name.clone(),
                value,
                placeholder,
                bindings: vec![binding.clone()],
            });
        }
        let active = ActiveSecrets::new(secrets, Instant::now())?;
        // A second call keeps the first values: commands may already have their placeholders.
        self.0.active.get_or_init(|| Arc::new(active));
        Ok(())
    }

    /// Checks the sources without keeping what they contain. Commands and keyrings are not asked, because they may ask the user.
    ///
    /// # Errors
    /// When a variable or file is missing, or is not a secret.
    pub fn check_sources(&self) -> Result<(), SecretError> {
        let asks_nothing = |binding: &&SecretBinding| {
            matches!(
                binding.source,
                SecretSource::Environment(_)
                    | SecretSource::File(_)
                    | SecretSource::Json { .. }
                    | SecretSource::Login { .. }
            )
        };
        self.0.bindings.iter().filter(asks_nothing).try_for_each(|binding| source::read(binding).map(drop))
    }

    /// Returns their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.bindings.iter().map(|binding| binding.name.as_str())
    }

    /// Returns the files that contain secrets, with the names of the secrets.
    pub fn files(&self) -> impl Iterator<Item = (&str, &Path)> {
        self.0.bindings.iter().filter_map(|binding| Some((binding.name.as_str(), binding.read_from_file()?)))
    }

    /// Returns the variables with placeholders for the command.
    #[must_use]
    pub fn variables(&self) -> Vec<(OsString, OsString)> {
        let of = |secret: &Secret| ((&secret.name).into(), (&secret.placeholder).into());
        self.secrets().filter(|secret| secret.login_file().is_none()).map(of).collect()
    }

    /// Returns the paths below the home directory of the login files that the command gets copies of.
    #[must_use]
    pub fn login_files(&self) -> Vec<&str> {
        let mut paths: Vec<_> =
            self.0.bindings.iter().filter_map(|binding| Some(binding.login_file()?.below_home())).collect();
        paths.dedup();
        paths
    }

    /// Returns the copies of the login files, with placeholders for the secrets, and their paths below the home directory.
    ///
    /// # Errors
    /// When a file cannot be read again, or its copy would contain a secret.
    pub fn login_copies(&self) -> Result<Vec<(String, String)>, SecretError> {
        let mut files: Vec<_> = self.0.bindings.iter().filter_map(SecretBinding::login_file).collect();
        files.dedup();
        let placeholder = |name: &str, value: &[u8]| {
            let secret = self.secrets().find(|secret| secret.name == name && *secret.value == value)?;
            Some(secret.placeholder.as_str())
        };
        let copies = files.into_iter().map(|file| {
            let copy = file.copy(placeholder)?;
            match self.named_in(copy.as_bytes()) {
                Some(name) => {
                    let why = format!("is also in another part of `~/{}`", file.below_home());
                    Err(SecretError::new(name, why, "remove it there"))
                }
                None => Ok((file.below_home().to_owned(), copy)),
            }
        });
        copies.collect()
    }

    /// Returns the name of the first secret in an input of the command, in any known encoding.
    #[must_use]
    pub fn named_in(&self, text: &[u8]) -> Option<&str> {
        let active = self.0.active.get()?;
        let number = active.scrubber.first(text)?;
        active.secrets.get(number).map(|one| one.name.as_str())
    }

    fn secrets(&self) -> impl Iterator<Item = &Secret> {
        self.0.active.get().into_iter().flat_map(|active| &active.secrets)
    }

    /// Returns the active secrets; an error if a request arrives before the command runs.
    fn lent(&self) -> Result<&Arc<ActiveSecrets>, RewriteRefusal> {
        self.0.active.get().ok_or_else(|| RewriteRefusal {
            rule: "secret-not-lent",
            reason: "no command is running that uses secrets".to_owned(),
            fix: None,
        })
    }
}

/// Reads the login of a proxy, `USER:PASSWORD`, from a source of secrets: `env:NAME`, `file:/PATH`, `cmd:PROGRAM` …
///
/// # Errors
/// When the source is not valid, or cannot be read.
pub fn read_login_source(source: &str) -> Result<Zeroizing<String>, SecretError> {
    // A binding to a host that does not exist: the login goes to the proxy only, and not into a request.
    let binding = SecretBinding::read(&format!("LOGIN={source}@proxy.example"))?;
    let bytes = source::read(&binding)?;
    Ok(Zeroizing::new(String::from_utf8_lossy(&bytes).into_owned()))
}

impl ActiveSecrets {
    fn new(secrets: Vec<Secret>, began: Instant) -> Result<Self, SecretError> {
        let too_many = |why: String| {
            let fix = "remove some of them";
            SecretError::new("?", format!("exceeds the limit of secrets to search for: {why}"), fix)
        };
        let sought = |value| Sought { value, public: placeholder::public_part(value) };
        let placeholders = Windows::new(secrets.iter().map(|secret| sought(secret.placeholder.as_bytes())))
            .map_err(too_many)?;
        let pairs: Vec<_> =
            secrets.iter().map(|secret| (secret.value.as_slice(), secret.placeholder.as_str())).collect();
        let scrubber = Scrubber::new(&pairs).map_err(too_many)?;
        Ok(Self { secrets, placeholders, scrubber: Arc::new(scrubber), began })
    }
}

/// Disables core dumps of this process, which would contain secrets. The limit is one byte, less than any core dump, because a
/// limit of 0 does not apply to core dumps that the kernel pipes to a program: core(5).
fn no_cores() {
    let limit = getrlimit(Resource::Core);
    if limit.current != Some(1) {
        // Fails only if the hard limit is 0.
        setrlimit(Resource::Core, Rlimit { current: Some(1), ..limit }).ok();
    }
}

impl ActiveSecrets {
    /// Returns whether a host receives a secret.
    fn is_bound(&self, target: &NetTarget) -> bool {
        self.bindings().any(|(_, binding)| binding.host.holds(target))
    }

    /// Returns the kind of a host: one with `mentioned` is that of a model.
    fn kind_of(&self, target: &NetTarget) -> HostKind {
        let is_model =
            |(_, binding): (&Secret, &SecretBinding)| binding.is_mentioned && binding.host.holds(target);
        if self.bindings().any(is_model) { HostKind::Model } else { HostKind::Other }
    }

    /// Returns the length of the shortest secret that is sent to a host, if any. Keys for signatures are never sent.
    fn shortest_sent_to(&self, target: &NetTarget) -> Option<usize> {
        // A host that never receives a secret cannot echo it, so its responses need no scrubbing and keep
        // compression.
        let is_sent =
            |binding: &SecretBinding| binding.places.iter().any(|place| *place != SecretPlace::SigV4);
        let sent = self.bindings().filter(|(_, binding)| binding.host.holds(target) && is_sent(binding));
        sent.map(|(secret, _)| secret.value.len()).min()
    }

    fn bindings(&self) -> impl Iterator<Item = (&Secret, &SecretBinding)> {
        self.secrets.iter().flat_map(|secret| secret.bindings.iter().map(move |binding| (secret, binding)))
    }

    /// Returns which secrets and placeholders a text contains, or parts of them.
    fn parts_in(&self, text: &[u8]) -> impl Iterator<Item = Part> {
        let placeholders =
            self.placeholders.find(text).into_iter().map(|found| Part::Placeholder(found.value));
        let values = self.scrubber.values().find(text).into_iter().map(|found| Part::Value(found.value));
        placeholders.chain(values)
    }

    /// Refuses a secret itself in a request to another host than its own. The command has it from elsewhere: a file, or another
    /// program.
    fn stays(&self, number: usize, to: &NetTarget, place: &str) -> Result<(), RewriteRefusal> {
        let Some(secret) = self.secrets.get(number) else { return Ok(()) };
        if secret.bindings.iter().any(|binding| binding.host.holds(to)) {
            return Ok(());
        }
        let name = &secret.name;
        Err(RewriteRefusal {
            rule: "secret-leaves",
            reason: format!(
                "attempted exfiltration: the secret `{name}` itself, or a part of it, was sent to `{to}` in {place}, but it is for {} \
                 alone",
                secret.destinations()
            ),
            fix: Some(format!(
                "remove the secret from what the command can read; it needs only the placeholder in {}",
                secret.placeholder_at()
            )),
        })
    }

    /// Returns the refusal of a placeholder in the wrong place.
    fn elsewhere(&self, number: usize, to: &NetTarget, place: &str) -> RewriteRefusal {
        let secret = self.secrets.get(number);
        let name = secret.map(|secret| secret.name.as_str()).unwrap_or_default();
        RewriteRefusal {
            rule: "secret-elsewhere",
            reason: format!(
                "attempted exfiltration: the placeholder of the secret `{name}` was sent to `{to}` in {place}, but it is for {} \
                 alone",
                secret.map(Secret::destinations).unwrap_or_default()
            ),
            fix: None,
        }
    }

    /// Returns when a secret expires, if it has a lifetime.
    fn lent_until(&self, binding: &SecretBinding) -> Option<Instant> {
        binding.lifetime.and_then(|lifetime| self.began.checked_add(lifetime))
    }

    /// Checks that a secret may be inserted into a request now.
    fn may_go(
        &self,
        secret: &Secret,
        binding: &SecretBinding,
        to: Conversation<'_>,
    ) -> Result<(), RewriteRefusal> {
        let refused =
            |rule, reason, fix: &str| Err(RewriteRefusal { rule, reason, fix: Some(fix.to_owned()) });
        let name = &secret.name;
        // Measured by a monotonic clock, which a command cannot change.
        if binding.lifetime.is_some_and(|lifetime| self.began.elapsed() >= lifetime) {
            let seconds = binding.lifetime.unwrap_or(Duration::ZERO).as_secs();
            let reason = format!("the secret `{name}` was lent for {seconds} s, and they are over");
            return refused(
                "secret-expired",
                reason,
                "run the command again, or use a longer time limit (`for=`)",
            );
        }
        // On the loopback, no other machine can read it. A name counts only if all of its addresses are loopback
        // addresses.
        if !to.is_tls && !binding.is_plain && !to.is_loopback {
            let reason = format!("the secret `{name}` would go to `{}` over plain HTTP", to.target);
            return refused(
                "secret-in-clear",
                reason,
                "use `https://`; `plain` after the secret allows plain HTTP",
            );
        }
        Ok(())
    }
}

impl Rewrite for Secrets {
    /// Plain requests to all hosts are inspected, so that a placeholder in one is refused.
    fn inspects(&self, target: &NetTarget, is_tls: bool) -> bool {
        // TLS to other hosts is not inspected, because that needs a certificate which some programs reject.
        !is_tls || self.0.bindings.iter().any(|binding| binding.host.holds(target))
    }

    fn request(
        &self,
        to: Conversation<'_>,
        head: &mut hyper::http::request::Parts,
    ) -> Result<BodyRewrite, RewriteRefusal> {
        requests::rewrite(self.lent()?, to, head)
    }

    fn websocket(
        &self,
        to: Conversation<'_>,
        path: &str,
    ) -> Result<Option<Box<dyn BodyFilter>>, RewriteRefusal> {
        Ok(Some(requests::websocket(self.lent()?, to, path)))
    }

    fn answer(
        &self,
        to: Conversation<'_>,
        head: &mut hyper::http::response::Parts,
    ) -> Result<BodyRewrite, RewriteRefusal> {
        answers::rewrite(self.lent()?, to, head)
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.bindings.iter().map(|binding| &binding.name)).finish()
    }
}

impl fmt::Debug for ActiveSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.secrets.iter().map(|secret| &secret.name)).finish()
    }
}

#[cfg(test)]
mod tests;
