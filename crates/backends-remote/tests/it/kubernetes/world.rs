//! What a cluster holds, and what its controllers and nodes do about it, as far as runs are concerned.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How many changes are remembered. A later request is told that they are forgotten.
const REMEMBERED: usize = 60;

#[derive(Default)]
pub(super) struct World {
    pub(super) state: Mutex<State>,
    pub(super) bell: Condvar,
}

#[derive(Default)]
pub(super) struct State {
    /// Objects by the plural of their kind and their name.
    pub(super) objects: BTreeMap<(String, String), Value>,
    pub(super) pods: BTreeMap<String, PodRecord>,
    /// Changes of pods: the version, what happened, the pod.
    pub(super) changes: Vec<(u64, &'static str, Value)>,
    pub(super) version: u64,
    /// How often the command of a run began.
    pub(super) began: BTreeMap<String, usize>,
    /// How many ran at a time, and the most.
    pub(super) running: (usize, usize),
    pub(super) violations: Vec<String>,
    /// Versions up to here are forgotten.
    pub(super) forgotten: u64,
}

#[derive(Clone)]
pub(super) struct PodRecord {
    pub(super) object: Value,
    pub(super) log: Vec<u8>,
    pub(super) is_closed: bool,
    pub(super) is_ending: bool,
}

impl World {
    pub(super) fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state.lock().unwrap();
        let made = change(&mut state);
        self.bell.notify_all();
        made
    }

    /// Does what the controller of Jobs does when one is let go: makes its pod, once.
    pub(super) fn let_go(self: &Arc<Self>, plural: &str, name: &str) {
        let world = Arc::clone(self);
        let (plural, name) = (plural.to_owned(), name.to_owned());
        std::thread::spawn(move || world.run(&plural, &name));
    }

    fn run(&self, plural: &str, name: &str) {
        let key = (plural.to_owned(), name.to_owned());
        let Some(owner) = self.with(|state| state.objects.get(&key).cloned()) else { return };
        let template =
            if plural == "jobs" { &owner["spec"]["template"] } else { &owner["spec"]["podTemplate"] };
        let pod = format!("{name}-x7k2p");
        let run = template["metadata"]["labels"]["stockade.dev/run"].as_str().unwrap().to_owned();
        let mut metadata = template["metadata"].clone();
        metadata["name"] = pod.as_str().into();
        let object =
            json!({ "metadata": metadata, "spec": template["spec"], "status": { "phase": "Pending" } });
        let is_new = self.with(|state| {
            let is_new = !state.pods.contains_key(&pod);
            if is_new {
                let record = PodRecord { object, log: Vec::new(), is_closed: false, is_ending: false };
                state.pods.insert(pod.clone(), record);
                state.change(&pod, "ADDED");
            }
            is_new
        });
        if !is_new {
            return;
        }
        let container = &template["spec"]["containers"][0];
        let words: Vec<String> = container["command"]
            .as_array()
            .unwrap()
            .iter()
            .map(|word| expanded(word.as_str().unwrap()))
            .collect();
        let variables = self.variables(container, name);
        std::thread::sleep(Duration::from_millis(2));
        Node { world: self, pod: &pod, run: &run, owner: &key, deadline: deadline(&owner) }
            .carry_out(&words, &variables);
    }

    /// The variables of a pod, out of the Secret that has to be there before it.
    fn variables(&self, container: &Value, name: &str) -> BTreeMap<String, String> {
        use base64::Engine as _;
        let secret = self.with(|state| state.objects.get(&("secrets".to_owned(), name.to_owned())).cloned());
        let Some(secret) = secret else {
            self.with(|state| state.violations.push(format!("{name} began without its Secret")));
            return BTreeMap::new();
        };
        let one = |variable: &Value| {
            let key = variable["valueFrom"]["secretKeyRef"]["key"].as_str().unwrap();
            let value = secret["data"][key].as_str().unwrap();
            let value = base64::engine::general_purpose::STANDARD.decode(value).unwrap();
            (variable["name"].as_str().unwrap().to_owned(), String::from_utf8(value).unwrap())
        };
        container["env"].as_array().unwrap().iter().map(one).collect()
    }
}

fn deadline(owner: &Value) -> Duration {
    Duration::from_secs(owner["spec"]["activeDeadlineSeconds"].as_u64().unwrap_or(3600))
}

/// What a cluster makes of the words of a command: two `$` are one, and names of variables are replaced.
fn expanded(word: &str) -> String {
    let mut rest = word;
    let mut made = String::new();
    while let Some((before, after)) = rest.split_once('$') {
        made.push_str(before);
        rest = match after.as_bytes().first() {
            Some(b'$') => {
                made.push('$');
                &after[1..]
            }
            Some(b'(') => {
                made.push_str("REPLACED");
                after.split_once(')').map_or("", |(_, rest)| rest)
            }
            _ => {
                made.push('$');
                after
            }
        };
    }
    made + rest
}

impl State {
    pub(super) fn change(&mut self, pod: &str, what: &'static str) {
        self.version += 1;
        let version = self.version;
        let Some(record) = self.pods.get_mut(pod) else { return };
        record.object["metadata"]["resourceVersion"] = version.to_string().into();
        let object = record.object.clone();
        self.changes.push((version, what, object));
        if self.changes.len() > REMEMBERED {
            let (first, ..) = self.changes.remove(0);
            self.forgotten = first;
        }
    }

    /// Removes an object and all that belongs to it. A pod is gone when its node says so.
    pub(super) fn remove(&mut self, plural: &str, name: &str) -> bool {
        let Some(owner) = self.objects.remove(&(plural.to_owned(), name.to_owned())) else { return false };
        let uid = owner["metadata"]["uid"].clone();
        self.objects.retain(|_, object| object["metadata"]["ownerReferences"][0]["uid"] != uid);
        if let Some(pod) = self.pods.get_mut(&format!("{name}-x7k2p")) {
            pod.is_ending = true;
        }
        true
    }

    fn pod_is_gone(&mut self, pod: &str) {
        self.change(pod, "DELETED");
        self.pods.remove(pod);
    }
}

/// A node with a pod.
struct Node<'n> {
    world: &'n World,
    pod: &'n str,
    run: &'n str,
    owner: &'n (String, String),
    deadline: Duration,
}

impl Node<'_> {
    fn carry_out(&self, words: &[String], variables: &BTreeMap<String, String>) {
        let argument = words.get(1).map(String::as_str).unwrap_or_default();
        let number: u64 = argument.parse().unwrap_or_default();
        match words[0].as_str() {
            "missing" => {
                return self.ended(
                    128,
                    "StartError",
                    "exec: \"missing\": executable file not found in $PATH",
                );
            }
            "unschedulable" => return self.until_removed(),
            "bad-image" => {
                self.status(json!({ "phase": "Pending", "containerStatuses": [{ "state": { "waiting": { "reason": "InvalidImageName", "message": "couldn't parse it" } } }] }));
                return self.until_removed();
            }
            _ => {}
        }
        self.world.with(|state| {
            *state.began.entry(self.run.to_owned()).or_default() += 1;
            state.running.0 += 1;
            state.running.1 = state.running.1.max(state.running.0);
        });
        self.status(json!({ "phase": "Running", "containerStatuses": [{ "state": { "running": { "startedAt": "2026-11-25T16:00:00Z" } } }] }));
        let (code, reason) = match words[0].as_str() {
            "echo" => {
                self.print(&words[1..].join(" "));
                (0, "Completed")
            }
            "env" => {
                self.print(variables.get(argument).map_or("", String::as_str));
                (0, "Completed")
            }
            "exit" => (number, "Error"),
            "print" => {
                for line in 0..number {
                    self.print(&format!("line {line} of {}", self.run));
                }
                (0, "Completed")
            }
            "sleep" => match self.sleep(Duration::from_millis(number)) {
                true => (0, "Completed"),
                false => (137, "Error"),
            },
            "oom" => (137, "OOMKilled"),
            "oom-beside" => (0, "OOMKilled"),
            "evicted" => {
                self.close(json!({ "phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory.", "containerStatuses": [] }));
                return self.until_removed();
            }
            "full" => {
                self.close(json!({ "phase": "Failed", "reason": "Evicted", "message": "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi." }));
                return self.until_removed();
            }
            other => panic!("{other}"),
        };
        self.ended(code, reason, "");
    }

    fn print(&self, text: &str) {
        self.world.with(|state| {
            if let Some(pod) = state.pods.get_mut(self.pod) {
                // Three lines a second, of which two have the same stamp.
                let count = pod.log.iter().filter(|byte| **byte == b'\n').count();
                let (minute, second, part) = (count / 180, count / 3 % 60, count % 3 / 2);
                let stamp = format!("2026-11-25T16:{minute:02}:{second:02}.{part}00000000Z");
                pod.log.extend(format!("{stamp} {text}\n").as_bytes());
            }
        });
    }

    /// Sleeps, unless the pod is to end or its time is up.
    fn sleep(&self, time: Duration) -> bool {
        let (until, late) = (Instant::now() + time, Instant::now() + self.deadline);
        while Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
            if self.world.with(|state| state.pods.get(self.pod).is_none_or(|pod| pod.is_ending)) {
                return false;
            }
            if Instant::now() > late {
                // The controller of Jobs says why, and removes the pod.
                self.world.with(|state| {
                    if let Some(owner) = state.objects.get_mut(self.owner) {
                        owner["status"] = json!({ "conditions": [{ "type": "Failed", "status": "True", "reason": "DeadlineExceeded" }] });
                    }
                    if let Some(pod) = state.pods.get_mut(self.pod) {
                        pod.is_ending = true;
                    }
                });
                return false;
            }
        }
        true
    }

    fn status(&self, status: Value) {
        self.world.with(|state| {
            if let Some(pod) = state.pods.get_mut(self.pod) {
                pod.object["status"] = status;
                state.change(self.pod, "MODIFIED");
            }
        });
    }

    fn close(&self, status: Value) {
        self.world.with(|state| {
            state.running.0 = state.running.0.saturating_sub(1);
            if let Some(pod) = state.pods.get_mut(self.pod) {
                pod.is_closed = true;
            }
        });
        self.status(status);
    }

    fn ended(&self, code: u64, reason: &str, message: &str) {
        let terminated = json!({ "exitCode": code, "reason": reason, "message": message });
        let phase = if code == 0 { "Succeeded" } else { "Failed" };
        let is_ending = self.world.with(|state| state.pods.get(self.pod).is_some_and(|pod| pod.is_ending));
        if !is_ending || reason == "StartError" {
            self.close(
                json!({ "phase": phase, "containerStatuses": [{ "state": { "terminated": terminated } }] }),
            );
        } else {
            self.world.with(|state| state.running.0 = state.running.0.saturating_sub(1));
        }
        self.until_removed();
    }

    /// Keeps the pod until it is removed.
    fn until_removed(&self) {
        while self.world.with(|state| state.pods.get(self.pod).is_some_and(|pod| !pod.is_ending)) {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.world.with(|state| state.pod_is_gone(self.pod));
    }
}
