//! Pods as they change, for all who wait for one of them: one watch for many runs.
//!
//! ```text
//!  list ──► watch from there ──► its time is up: watch from the last change
//!    ▲          │
//!    └──────────┘ the server has forgotten that change, or the stream was cut
//! ```

#![expect(clippy::disallowed_methods, reason = "watches on a thread of its own")]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;

use super::KubernetesError;
use super::client::ClusterClient;
use super::error::Status;
use super::name::RUN;
use super::pods::{Pod, PodState};
use crate::remote::Stop;

/// How long the server lets a watch go on. Afterwards it goes on from where it was.
const WINDOW: Duration = Duration::from_secs(60);
/// The longest change of a pod: an object is no larger than some mebibytes.
const MAX_CHANGE: u64 = 4 << 20;
/// How long is waited after a watch that broke off.
const PAUSE: Duration = Duration::from_millis(200);

/// A pod, and how far it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) pod: String,
    pub(super) state: PodState,
    /// Whether it is gone. What was last seen of it stays.
    pub(super) is_gone: bool,
}

/// Pods that are watched until this is dropped.
pub(super) struct Pods(Arc<Shared>);

#[derive(Default)]
struct Shared {
    seen: Mutex<BTreeMap<String, Seen>>,
    bell: Condvar,
    changes: AtomicU64,
    failed: Mutex<Option<KubernetesError>>,
    is_over: AtomicBool,
}

impl Pods {
    /// Begins to watch the pods that a selector finds.
    pub(super) fn watch(client: &ClusterClient, namespace: &str, selector: &str) -> Self {
        let shared = Arc::new(Shared::default());
        let (namespace, selector) = (namespace.to_owned(), selector.to_owned());
        let watcher = Arc::clone(&shared);
        let over = Arc::clone(&shared);
        let stop = Stop::when(move || over.is_over.load(Ordering::SeqCst));
        let client = client.until(stop.clone());
        std::thread::spawn(move || {
            let watch = Watch { client, namespace, selector, stop, shared: &watcher };
            if let Err(error) = watch.go_on() {
                *lock(&watcher.failed) = Some(error);
            }
            watcher.ring();
        });
        Self(shared)
    }

    /// The last known state of the pod of a run, if it has one.
    pub(super) fn of(&self, run: &str) -> Result<Option<Seen>, KubernetesError> {
        if let Some(error) = &*lock(&self.0.failed) {
            return Err(error.clone());
        }
        Ok(lock(&self.0.seen).get(run).cloned())
    }

    /// Waits until something changes, or this time is up.
    pub(super) fn wait(&self, time: Duration) {
        let before = self.0.changes.load(Ordering::SeqCst);
        let guard = lock(&self.0.seen);
        let is_same = |_: &mut BTreeMap<_, _>| self.0.changes.load(Ordering::SeqCst) == before;
        drop(self.0.bell.wait_timeout_while(guard, time, is_same));
    }

    /// Forgets a run that is over.
    pub(super) fn forget(&self, run: &str) {
        lock(&self.0.seen).remove(run);
    }
}

impl Drop for Pods {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::SeqCst);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn ring(&self) {
        let _guard = lock(&self.seen);
        self.changes.fetch_add(1, Ordering::SeqCst);
        self.bell.notify_all();
    }

    fn see(&self, pod: &Pod, is_gone: bool) {
        let Some(run) = pod.metadata.labels.get(RUN) else { return };
        let mut seen = Seen { pod: pod.metadata.name.clone(), state: pod.state(), is_gone };
        let mut all = lock(&self.seen);
        if let Some(before) = all.get(run).filter(|before| before.pod != seen.pod) {
            // A command may have begun in both.
            let why = format!("the cluster made a second pod, {}, beside {}", seen.pod, before.pod);
            seen.state = PodState::Lost(why);
        }
        all.insert(run.clone(), seen);
        drop(all);
        self.ring();
    }

    /// What is not listed any more is gone.
    fn keep_only(&self, pods: &[Pod]) {
        let names: Vec<&str> = pods.iter().map(|pod| pod.metadata.name.as_str()).collect();
        for seen in lock(&self.seen).values_mut().filter(|seen| !names.contains(&seen.pod.as_str())) {
            seen.is_gone = true;
        }
        pods.iter().for_each(|pod| self.see(pod, false));
        self.ring();
    }
}

struct Watch<'w> {
    client: ClusterClient,
    namespace: String,
    selector: String,
    stop: Stop,
    shared: &'w Shared,
}

/// One change, as the server writes it.
#[derive(Deserialize)]
struct Change {
    #[serde(rename = "type")]
    kind: String,
    object: serde_json::Value,
}

/// How a watch broke off.
enum Broken {
    /// It may go on from here.
    After(String),
    /// The server has forgotten what was before.
    Forgotten,
}

impl Watch<'_> {
    /// Watches until all runs are over. Only a lasting failure is an error.
    fn go_on(&self) -> Result<(), KubernetesError> {
        while !self.stop.is_now() {
            match self.client.pods(&self.namespace, &self.selector) {
                Ok((pods, version)) => {
                    self.shared.keep_only(&pods);
                    self.from(version)?;
                }
                Err(error) => passes(error)?,
            }
            self.stop.wait(PAUSE);
        }
        Ok(())
    }

    fn from(&self, mut version: String) -> Result<(), KubernetesError> {
        while !self.stop.is_now() {
            match self.client.watch(&self.namespace, &self.selector, &version, WINDOW) {
                Ok(stream) => match self.read(stream, version) {
                    Broken::After(last) => version = last,
                    Broken::Forgotten => return Ok(()),
                },
                Err(KubernetesError::Expired) => return Ok(()),
                Err(error) => passes(error)?,
            }
            self.stop.wait(PAUSE);
        }
        Ok(())
    }

    /// Takes changes until the stream ends. A line that is cut off is ignored: it comes again.
    fn read(&self, stream: impl Read, mut version: String) -> Broken {
        let mut lines = BufReader::new(stream);
        let mut line = Vec::new();
        while !self.stop.is_now() {
            line.clear();
            match (&mut lines).take(MAX_CHANGE).read_until(b'\n', &mut line) {
                Ok(count) if count > 0 && line.ends_with(b"\n") => {}
                // It ended in order, and goes on from here.
                Ok(0) => break,
                // It broke off, perhaps in a change that would break it off again.
                Ok(_) | Err(_) => return Broken::Forgotten,
            }
            let Ok(change) = serde_json::from_slice::<Change>(&line) else { return Broken::Forgotten };
            if change.kind == "ERROR" {
                let status: Status = serde_json::from_value(change.object).unwrap_or_default();
                let is_old = status.code == 410 || status.reason == "Expired";
                return if is_old { Broken::Forgotten } else { Broken::After(version) };
            }
            let said = change.object.pointer("/metadata/resourceVersion").and_then(serde_json::Value::as_str);
            version = said.unwrap_or(&version).to_owned();
            if change.kind == "BOOKMARK" {
                continue;
            }
            let Ok(pod) = serde_json::from_value::<Pod>(change.object) else { return Broken::Forgotten };
            self.shared.see(&pod, change.kind == "DELETED");
        }
        Broken::After(version)
    }
}

/// Who may not watch, never may; all else passes.
fn passes(error: KubernetesError) -> Result<(), KubernetesError> {
    match error {
        KubernetesError::Unauthorised
        | KubernetesError::Forbidden(_)
        | KubernetesError::NotFound(_)
        | KubernetesError::Refused(_)
        | KubernetesError::Config { .. } => Err(error),
        _ => Ok(()),
    }
}
