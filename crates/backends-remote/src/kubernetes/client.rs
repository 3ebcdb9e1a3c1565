//! Asks the server of a cluster: makes, reads, changes and removes objects, each by its name.

#![expect(clippy::disallowed_methods, reason = "waits until something is gone")]

use std::io::Read;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem};

use super::KubernetesError;
use super::kubeconfig::{ClusterAccess, ClusterLogin};
use super::name::{CONTAINER, DIGEST, MANAGED, OWNER, RUN, RunName};
use super::objects::RunObjects;
use super::pods::Pod;
use super::settings::Workload;
use crate::remote::{Again, Ask, Patience, Remote, Stop, body, bytes, json as read_json};

/// The longest list, or part of one, that is read.
const MAX_LIST: u64 = 16 << 20;
/// How many objects are listed at once.
const PAGE: usize = 100;
/// How many parts a list may have.
const MAX_PAGES: usize = 200;
/// How often a change is tried again that conflicts with another client's.
const MAX_CONFLICTS: usize = 8;

/// Asks the server of a cluster.
#[derive(Debug, Clone)]
pub struct ClusterClient {
    server: String,
    login: ClusterLogin,
    remote: Remote,
}

/// The kinds of objects that are asked for: what it is, where it is, and what is done with it, for the administrator who grants that.
pub(super) const KINDS: &[(Kind, &str, &str, &[&str])] = &[
    (Kind::Job, "batch/v1", "jobs", &["create", "get", "list", "patch", "delete"]),
    (Kind::Sandbox, "agents.x-k8s.io/v1alpha1", "sandboxes", &["create", "get", "list", "patch", "delete"]),
    (Kind::Secret, "v1", "secrets", &["create", "get", "delete"]),
    (Kind::Policy, "networking.k8s.io/v1", "networkpolicies", &["create", "get", "delete"]),
    (Kind::Pod, "v1", "pods", &["get", "list", "watch"]),
    (Kind::Event, "v1", "events", &["list"]),
];

/// A kind of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Job,
    Sandbox,
    Secret,
    Policy,
    Pod,
    Event,
}

impl Kind {
    fn path(self, namespace: &str) -> String {
        let row = KINDS.iter().find(|row| row.0 == self);
        let (version, plural) = row.map_or(("v1", "pods"), |row| (row.1, row.2));
        let root = if version.contains('/') { "apis" } else { "api" };
        format!("/{root}/{version}/namespaces/{namespace}/{plural}")
    }

    pub(super) const fn of(workload: Workload) -> Self {
        match workload {
            Workload::Job => Self::Job,
            Workload::Sandbox => Self::Sandbox,
        }
    }
}

/// Whether the workload of a run may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Suspension {
    /// Created suspended: no pod runs.
    Suspended,
    /// Resumed: pods may run.
    Resumed,
}

impl ClusterClient {
    /// Prepares to ask a server. Nothing is asked yet.
    ///
    /// # Errors
    /// When a certificate or a key is not valid.
    pub fn new(access: &ClusterAccess) -> Result<Self, KubernetesError> {
        let patience = Patience { request_time: Duration::from_secs(30), retries: 6, again: Again::Whatever };
        let remote = Remote::new(patience, Some(tls(access)?));
        Ok(Self { server: access.server.clone(), login: access.login.clone(), remote })
    }

    /// The same client, which gives up when `stop` tells it to.
    pub(super) fn until(&self, stop: Stop) -> Self {
        Self { remote: self.remote.until(stop), ..self.clone() }
    }

    fn ask(
        &self,
        method: &'static str,
        path: &str,
        content: Option<(&'static str, &Value)>,
        time: Option<Duration>,
    ) -> Result<ureq::http::Response<ureq::Body>, KubernetesError> {
        let mut headers = vec![("Accept", "application/json".to_owned())];
        if let Some(token) = self.login.token()? {
            headers.push(("Authorization", format!("Bearer {token}")));
        }
        let body = match content {
            Some((kind, value)) => {
                headers.push(("Content-Type", kind.to_owned()));
                body(value)?
            }
            None => Vec::new(),
        };
        let address = format!("{}{path}", self.server);
        Ok(self.remote.ask(&Ask { method, address, headers, body: &body, time })?)
    }

    /// Asks whether everything that a run is made of would be taken, by all rules of the cluster, and makes nothing.
    ///
    /// # Errors
    /// When it would not be, or the server does not answer.
    pub fn would_take(&self, objects: &RunObjects) -> Result<(), KubernetesError> {
        let mut owner = objects.owner.clone();
        // Names are taken only once; whether this one is, is no matter.
        if let Some(name) = owner.pointer_mut("/metadata/name") {
            *name = format!("{}-trial", objects.name.object()).into();
        }
        let beside = [(Kind::Secret, Some(&objects.secret)), (Kind::Policy, objects.policy.as_ref())];
        self.post(Kind::of(objects.workload), &objects.namespace, &owner, "&dryRun=All")?;
        for (kind, object) in beside {
            let Some(object) = object else { continue };
            match self.post(kind, &objects.namespace, object, "&dryRun=All") {
                Ok(_) | Err(KubernetesError::Exists(_)) => {}
                Err(error) => return Err(error),
            }
        }
        self.pods(&objects.namespace, &format!("{RUN}={}", objects.name)).map(drop)
    }

    fn post(
        &self,
        kind: Kind,
        namespace: &str,
        object: &Value,
        more: &str,
    ) -> Result<Value, KubernetesError> {
        // A field that the server does not know would be left out in silence.
        let path = format!("{}?fieldValidation=Strict&fieldManager=stockade{more}", kind.path(namespace));
        Ok(read_json(self.ask("POST", &path, Some(("application/json", object)), None)?)?)
    }

    fn get(&self, kind: Kind, namespace: &str, name: &str) -> Result<Option<Value>, KubernetesError> {
        match self.ask("GET", &format!("{}/{name}", kind.path(namespace)), None, None) {
            Ok(answer) => Ok(Some(read_json(answer)?)),
            Err(KubernetesError::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Makes a run, so that it does not begin: the Job first, and what belongs to it beside it, so that the cluster removes it with the
    /// Job. One that was made before is taken for this one if it is the same.
    pub(super) fn make(&self, objects: &RunObjects) -> Result<Suspension, KubernetesError> {
        let (kind, namespace, name) =
            (Kind::of(objects.workload), objects.namespace.as_str(), objects.name.object());
        let owner = match self.post(kind, namespace, &objects.owner, "") {
            Err(KubernetesError::Exists(said)) => {
                let there = self.get(kind, namespace, &name)?;
                there.ok_or_else(|| KubernetesError::Away(format!("{said}, and it was deleted")))?
            }
            made => made?,
        };
        let digest = owner.pointer("/metadata/annotations").and_then(|all| all.get(DIGEST));
        if digest.and_then(Value::as_str) != Some(objects.digest()) {
            return Err(KubernetesError::AnotherRun(objects.name.to_string()));
        }
        let suspension = suspension(&owner);
        if suspension == Suspension::Suspended {
            self.beside(Kind::Secret, objects, &objects.secret, &owner)?;
            objects
                .policy
                .as_ref()
                .map_or(Ok(()), |policy| self.beside(Kind::Policy, objects, policy, &owner))?;
        }
        Ok(suspension)
    }

    /// Makes what belongs to a run. What is there of a run that is gone is removed first.
    fn beside(
        &self,
        kind: Kind,
        objects: &RunObjects,
        object: &Value,
        owner: &Value,
    ) -> Result<(), KubernetesError> {
        let said = |key: &str| owner.pointer(key).and_then(Value::as_str).unwrap_or_default();
        let uid = said("/metadata/uid");
        let reference = json!({
            "apiVersion": said("/apiVersion"),
            "kind": said("/kind"),
            "name": objects.name.object(),
            "uid": uid,
            "controller": true,
            "blockOwnerDeletion": false,
        });
        let mut object = object.clone();
        if let Some(Value::Object(metadata)) = object.pointer_mut("/metadata") {
            metadata.insert("ownerReferences".to_owned(), json!([reference]));
        }
        let (namespace, name) = (objects.namespace.as_str(), objects.name.object());
        for _ in 0..MAX_CONFLICTS {
            match self.post(kind, namespace, &object, "") {
                Err(KubernetesError::Exists(_)) => {}
                made => return made.map(drop),
            }
            let Some(there) = self.get(kind, namespace, &name)? else { continue };
            let its = there.pointer("/metadata/ownerReferences/0/uid").and_then(Value::as_str);
            if its == Some(uid) {
                return Ok(());
            }
            self.delete(kind, namespace, &name, "Background")?;
        }
        Err(KubernetesError::Exists(name))
    }

    /// Lets a run go that was made. To do so twice is the same.
    pub(super) fn let_go(&self, objects: &RunObjects) -> Result<(), KubernetesError> {
        let kind = Kind::of(objects.workload);
        let change = match objects.workload {
            Workload::Job => json!({ "spec": { "suspend": false } }),
            Workload::Sandbox => json!({ "spec": { "replicas": 1 } }),
        };
        let path = format!(
            "{}/{}?fieldValidation=Strict&fieldManager=stockade",
            kind.path(&objects.namespace),
            objects.name.object()
        );
        for _ in 0..MAX_CONFLICTS {
            match self.ask("PATCH", &path, Some(("application/merge-patch+json", &change)), None) {
                Err(KubernetesError::Conflict(_)) => {}
                Ok(answer) => return read_json::<Value>(answer).map(drop).map_err(Into::into),
                Err(error) => return Err(error),
            }
        }
        Err(KubernetesError::TooMany)
    }

    /// What the server holds of a run; nothing if it is gone.
    pub(super) fn suspension(&self, objects: &RunObjects) -> Result<Option<Suspension>, KubernetesError> {
        let owner = self.get(Kind::of(objects.workload), &objects.namespace, &objects.name.object())?;
        Ok(owner.map(|owner| suspension(&owner)))
    }

    /// Whether the cluster ended a run because its time was up.
    pub(super) fn is_past_its_time(&self, objects: &RunObjects) -> Result<bool, KubernetesError> {
        let owner = self.get(Kind::of(objects.workload), &objects.namespace, &objects.name.object())?;
        let conditions = owner.as_ref().and_then(|owner| owner.pointer("/status/conditions"));
        let is_late = |one: &Value| one.get("reason").and_then(Value::as_str) == Some("DeadlineExceeded");
        Ok(conditions.and_then(Value::as_array).is_some_and(|all| all.iter().any(is_late)))
    }

    fn delete(&self, kind: Kind, namespace: &str, name: &str, how: &str) -> Result<(), KubernetesError> {
        let path = format!("{}/{name}?propagationPolicy={how}", kind.path(namespace));
        match self.ask("DELETE", &path, None, None) {
            Ok(_) | Err(KubernetesError::NotFound(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Removes a run, and returns when it and its pod are gone: a node says so only when nothing of it runs any more.
    ///
    /// # Errors
    /// When the server does not answer, or it is still there after all that time.
    pub fn remove(&self, objects: &RunObjects, patience: Duration) -> Result<(), KubernetesError> {
        self.remove_by_name(Kind::of(objects.workload), &objects.namespace, &objects.name, patience)
    }

    pub(super) fn remove_by_name(
        &self,
        kind: Kind,
        namespace: &str,
        name: &RunName,
        patience: Duration,
    ) -> Result<(), KubernetesError> {
        self.delete(kind, namespace, &name.object(), "Foreground")?;
        let until = Instant::now() + patience;
        loop {
            let is_gone = self.get(kind, namespace, &name.object())?.is_none()
                && self.pods(namespace, &format!("{RUN}={name}"))?.0.is_empty();
            if is_gone {
                return Ok(());
            }
            if Instant::now() >= until {
                return Err(KubernetesError::StillThere);
            }
            Stop::never().wait(Duration::from_millis(200));
        }
    }

    /// The runs that a selector finds.
    pub(super) fn runs(
        &self,
        namespace: &str,
        workload: Workload,
        selector: &str,
    ) -> Result<Vec<RunName>, KubernetesError> {
        let (owners, _): (Vec<Named>, _) = self.list(Kind::of(workload), namespace, selector)?;
        Ok(owners.iter().filter_map(|one| RunName::new(one.metadata.labels.get(RUN)?).ok()).collect())
    }

    /// Removes the runs whose starter is gone, and says how many there were.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub(super) fn remove_orphans(
        &self,
        namespace: &str,
        workload: Workload,
        is_orphan: impl Fn(&str) -> bool,
    ) -> Result<usize, KubernetesError> {
        let kind = Kind::of(workload);
        let selector = format!("{}={}", MANAGED.0, MANAGED.1);
        let (owners, _): (Vec<Named>, _) = self.list(kind, namespace, &selector)?;
        let orphans = owners
            .into_iter()
            .filter(|one| one.metadata.annotations.get(OWNER).is_some_and(|owner| is_orphan(owner)));
        let names = orphans.filter_map(|one| RunName::new(one.metadata.labels.get(RUN)?).ok());
        Ok(names
            .filter(|name| self.remove_by_name(kind, namespace, name, Duration::from_secs(20)).is_ok())
            .count())
    }

    /// The pods that a selector finds, and where a watch goes on from there.
    pub(super) fn pods(
        &self,
        namespace: &str,
        selector: &str,
    ) -> Result<(Vec<Pod>, String), KubernetesError> {
        self.list(Kind::Pod, namespace, selector)
    }

    /// Lists objects, in parts. A list that changed too much meanwhile is begun anew.
    fn list<T: for<'d> Deserialize<'d>>(
        &self,
        kind: Kind,
        namespace: &str,
        selector: &str,
    ) -> Result<(Vec<T>, String), KubernetesError> {
        let mut all = Vec::new();
        let mut more = String::new();
        let mut begun = 0;
        for _ in 0..MAX_PAGES {
            let query =
                format!("?labelSelector={}&limit={PAGE}&continue={}", quoted(selector), quoted(&more));
            let answer = match self.ask("GET", &format!("{}{query}", kind.path(namespace)), None, None) {
                Err(KubernetesError::Expired) if begun < MAX_CONFLICTS => {
                    begun += 1;
                    (all, more) = (Vec::new(), String::new());
                    continue;
                }
                answer => bytes(answer?, MAX_LIST)?,
            };
            let part: List<T> = serde_json::from_slice(&answer)
                .map_err(|error| KubernetesError::Unexpected(error.to_string()))?;
            all.extend(part.items);
            more = part.metadata.more;
            if more.is_empty() {
                return Ok((all, part.metadata.version));
            }
        }
        Err(KubernetesError::Unexpected("a list is too long".to_owned()))
    }

    /// Begins to watch pods. The server ends it after this time.
    pub(super) fn watch(
        &self,
        namespace: &str,
        selector: &str,
        version: &str,
        time: Duration,
    ) -> Result<impl Read + Send + use<>, KubernetesError> {
        let query = format!(
            "?watch=1&allowWatchBookmarks=true&labelSelector={}&resourceVersion={}&timeoutSeconds={}",
            quoted(selector),
            quoted(version),
            time.as_secs()
        );
        let path = format!("{}{query}", Kind::Pod.path(namespace));
        // Once: a watch begins anew in another way than by repeating the request.
        let answer = self.ask("GET", &path, None, Some(time + Duration::from_secs(10)))?;
        Ok(answer.into_body().into_reader())
    }

    /// Begins to read what a command prints, from a moment on, until it ends or this time is up.
    pub(super) fn log(
        &self,
        namespace: &str,
        pod: &str,
        since: Option<&str>,
        time: Duration,
    ) -> Result<impl Read + Send + use<>, KubernetesError> {
        let since = since.map(|since| format!("&sinceTime={}", quoted(since))).unwrap_or_default();
        let query = format!("?container={CONTAINER}&follow=true&timestamps=true{since}");
        let path = format!("{}/{}/log{query}", Kind::Pod.path(namespace), quoted(pod));
        let answer = self.ask("GET", &path, None, Some(time))?;
        Ok(answer.into_body().into_reader())
    }

    /// What the cluster says last of an object, for a person.
    pub(super) fn said_of(&self, objects: &RunObjects) -> Option<String> {
        #[derive(Deserialize)]
        struct Event {
            #[serde(default)]
            message: String,
        }
        let selector = format!("involvedObject.name={}", objects.name.object());
        let path =
            format!("{}?fieldSelector={}&limit=20", Kind::Event.path(&objects.namespace), quoted(&selector));
        let answer = bytes(self.ask("GET", &path, None, None).ok()?, MAX_LIST).ok()?;
        let events: List<Event> = serde_json::from_slice(&answer).ok()?;
        let last = events.items.into_iter().rev().find(|event| !event.message.is_empty())?;
        Some(crate::remote::shown(&last.message))
    }
}

fn suspension(owner: &Value) -> Suspension {
    let is_suspended = owner.pointer("/spec/suspend").and_then(Value::as_bool) == Some(true);
    let has_none = owner.pointer("/spec/replicas").and_then(Value::as_i64) == Some(0);
    if is_suspended || has_none { Suspension::Suspended } else { Suspension::Resumed }
}

/// A part of a list.
#[derive(Deserialize)]
#[serde(bound = "T: Deserialize<'de>")]
struct List<T> {
    #[serde(default)]
    metadata: ListMetadata,
    // An empty list may be written as null.
    #[serde(default, deserialize_with = "nothing_is_empty")]
    items: Vec<T>,
}

fn nothing_is_empty<'d, D: serde::Deserializer<'d>, T: Deserialize<'d>>(from: D) -> Result<Vec<T>, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ListMetadata {
    #[serde(rename = "resourceVersion")]
    version: String,
    #[serde(rename = "continue")]
    more: String,
}

#[derive(Deserialize)]
struct Named {
    metadata: super::pods::Metadata,
}

/// Writes a text so that it stands in a query and means itself.
fn quoted(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let one = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(one).collect()
}

fn tls(access: &ClusterAccess) -> Result<TlsConfig, KubernetesError> {
    const WRITE: &str = "write a new kubeconfig: `kubectl config view --flatten --minify`";
    let wrong = |why: &str| KubernetesError::Config { why: why.to_owned(), fix: WRITE };
    let mut config = TlsConfig::builder();
    if let Some(pem) = &access.authority {
        let certificates = certificates(pem);
        if certificates.is_empty() {
            return Err(wrong("the certificate authority of the cluster contains no certificate"));
        }
        config = config.root_certs(RootCerts::new_with_certs(&certificates));
    }
    if let ClusterLogin::Certificate { certificate, key } = &access.login {
        let chain = certificates(certificate);
        if chain.is_empty() {
            return Err(wrong("the certificate of the user is not valid"));
        }
        let key = PrivateKey::from_pem(key).map_err(|_| wrong("the key of the user is not valid"))?;
        config = config.client_cert(Some(ClientCert::new_with_certs(&chain, key)));
    }
    Ok(config.build())
}

fn certificates(pem: &[u8]) -> Vec<Certificate<'static>> {
    let items = parse_pem(pem).filter_map(Result::ok);
    items
        .filter_map(|item| match item {
            PemItem::Certificate(certificate) => Some(certificate),
            _ => None,
        })
        .collect()
}
