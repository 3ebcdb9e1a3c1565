//! A server of the Kubernetes API, as far as runs need one, and as strict: it holds every object against the schemas, and does not
//! take what is not said as it should be. What goes wrong is planned.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::schema;
use super::world::World;

pub(super) const TOKEN: &str = "a-token-of-a-test";

/// How often, of a hundred requests, something goes wrong, each kind as often as any other.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Faults {
    pub(super) percent: u64,
    /// Streams break off after so many bytes.
    pub(super) cut_streams: Option<usize>,
    pub(super) seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Status(u16),
    TooMany,
    ResetBefore,
    ResetAfter,
    HalfWritten,
    Slow,
}

const FAULTS: [Fault; 7] = [
    Fault::Status(500),
    Fault::Status(503),
    Fault::TooMany,
    Fault::ResetBefore,
    Fault::ResetAfter,
    Fault::HalfWritten,
    Fault::Slow,
];

pub(super) struct Server {
    pub(super) world: Arc<World>,
    pub(super) port: u16,
}

struct Request {
    method: String,
    path: String,
    query: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Server {
    pub(super) fn start(faults: Faults) -> Self {
        Self::start_on(TcpListener::bind("127.0.0.1:0").unwrap(), faults)
    }

    fn start_on(listener: TcpListener, faults: Faults) -> Self {
        let world = Arc::new(World::default());
        let port = listener.local_addr().unwrap().port();
        let (serving, number) = (Arc::clone(&world), Arc::new(AtomicU64::new(faults.seed)));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (world, number) = (Arc::clone(&serving), Arc::clone(&number));
                std::thread::spawn(move || Connection { world, faults, number }.serve(stream));
            }
        });
        Self { world, port }
    }

    /// The kubeconfig that leads here.
    pub(super) fn kubeconfig(&self) -> String {
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: here\ncontexts:\n- name: here\n  context: {{cluster: one, user: me, namespace: agents}}\nclusters:\n- name: one\n  cluster: {{server: 'http://127.0.0.1:{}'}}\nusers:\n- name: me\n  user: {{token: {TOKEN}}}\n",
            self.port
        )
    }

    pub(super) fn violations(&self) -> Vec<String> {
        self.world.with(|state| state.violations.clone())
    }
}

struct Connection {
    world: Arc<World>,
    faults: Faults,
    number: Arc<AtomicU64>,
}

impl Connection {
    fn serve(&self, mut stream: TcpStream) {
        let Some(request) = read(&stream) else { return };
        let fault = self.fault();
        match fault {
            Some(Fault::ResetBefore) => return reset(&stream),
            Some(Fault::Status(code)) => {
                return answer(&mut stream, code, &failure("InternalError", code), "");
            }
            Some(Fault::TooMany) => {
                return answer(&mut stream, 429, &failure("TooManyRequests", 429), "Retry-After: 0\r\n");
            }
            Some(Fault::Slow) => std::thread::sleep(Duration::from_millis(30)),
            _ => {}
        }
        let is_stream = request.query.contains("watch=1") || request.path.ends_with("/log");
        if is_stream {
            return self.stream(&mut stream, &request);
        }
        let (code, said) = self.carry_out(&request);
        match fault {
            // It was done, and no client learns of it.
            Some(Fault::ResetAfter) => reset(&stream),
            Some(Fault::HalfWritten) => {
                let text = said.to_string();
                let half = &text[..text.len() / 2];
                write!(
                    stream,
                    "HTTP/1.1 {code} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{half}",
                    text.len()
                )
                .ok();
            }
            _ => answer(&mut stream, code, &said, ""),
        }
    }

    fn fault(&self) -> Option<Fault> {
        let random = mix(self.number.fetch_add(1, Ordering::SeqCst));
        (random % 100 < self.faults.percent).then(|| FAULTS[(random >> 32) as usize % FAULTS.len()])
    }

    fn violation(&self, what: String) -> (u16, Value) {
        self.world.with(|state| state.violations.push(what));
        (400, failure("BadRequest", 400))
    }

    fn carry_out(&self, request: &Request) -> (u16, Value) {
        if request.header("authorization") != Some(&format!("Bearer {TOKEN}")) {
            return (401, failure("Unauthorized", 401));
        }
        let parts: Vec<&str> = request.path.trim_matches('/').split('/').collect();
        let place = match parts.as_slice() {
            ["api", "v1", "namespaces", "agents", rest @ ..] => Some(rest),
            ["apis", "batch" | "networking.k8s.io", "v1", "namespaces", "agents", rest @ ..] => Some(rest),
            ["apis", "agents.x-k8s.io", "v1alpha1", "namespaces", "agents", rest @ ..] => Some(rest),
            _ => None,
        };
        match (request.method.as_str(), place) {
            ("POST", Some([plural])) => self.make(plural, request),
            ("GET", Some(["pods"])) => self.list(request),
            ("GET", Some(["events"])) => {
                (200, json!({ "kind": "EventList", "items": [{ "message": "exceeded quota: compute" }] }))
            }
            ("GET", Some([plural])) => self.list_owners(plural),
            ("GET", Some([plural, name])) => {
                let key = ((*plural).to_owned(), (*name).to_owned());
                match self.world.with(|state| state.objects.get(&key).cloned()) {
                    Some(object) => (200, object),
                    None => (404, failure("NotFound", 404)),
                }
            }
            ("PATCH", Some([plural, name])) => self.change(plural, name, request),
            ("DELETE", Some([plural, name])) => match self.world.with(|state| state.remove(plural, name)) {
                true => (200, json!({ "kind": "Status", "status": "Success" })),
                false => (404, failure("NotFound", 404)),
            },
            _ => {
                self.violation(format!("{} {} is nothing that a run asks for", request.method, request.path))
            }
        }
    }

    fn make(&self, plural: &str, request: &Request) -> (u16, Value) {
        let object: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let wrong = schema::wrong(&object);
        if !wrong.is_empty() || !request.query.contains("fieldValidation=Strict") {
            return self.violation(format!("{plural}: {wrong:?}"));
        }
        if object["metadata"]["namespace"] != "agents" {
            return self.violation("it is made in another namespace than it names".to_owned());
        }
        if object["metadata"]["name"].as_str().unwrap().contains("quota") {
            return (403, failure("Forbidden", 403));
        }
        let key = (plural.to_owned(), object["metadata"]["name"].as_str().unwrap().to_owned());
        self.world.with(|state| {
            if state.objects.contains_key(&key) {
                return (409, failure("AlreadyExists", 409));
            }
            state.version += 1;
            let mut object = object;
            object["metadata"]["uid"] = format!("uid-{}", state.version).into();
            if !request.query.contains("dryRun=All") {
                state.objects.insert(key, object.clone());
            }
            (201, object)
        })
    }

    fn change(&self, plural: &str, name: &str, request: &Request) -> (u16, Value) {
        if request.header("content-type") != Some("application/merge-patch+json") {
            return self.violation("a change is of no kind that is known".to_owned());
        }
        if mix(self.number.fetch_add(1, Ordering::SeqCst)) % 100 < self.faults.percent {
            return (409, failure("Conflict", 409));
        }
        let change: Value = serde_json::from_slice(&request.body).unwrap();
        let key = (plural.to_owned(), name.to_owned());
        let changed = self.world.with(|state| {
            let object = state.objects.get_mut(&key)?;
            for (field, value) in change["spec"].as_object()? {
                object["spec"][field] = value.clone();
            }
            Some(object.clone())
        });
        let Some(object) = changed else { return (404, failure("NotFound", 404)) };
        self.world.let_go(plural, name);
        (200, object)
    }

    fn list_owners(&self, plural: &str) -> (u16, Value) {
        let items: Vec<Value> = self.world.with(|state| {
            state
                .objects
                .iter()
                .filter(|(key, _)| key.0 == plural)
                .map(|(_, object)| object.clone())
                .collect()
        });
        (200, json!({ "metadata": { "resourceVersion": "1" }, "items": items }))
    }

    /// Lists pods in parts, the rest of which is forgotten now and then.
    fn list(&self, request: &Request) -> (u16, Value) {
        let limit: usize = request.value("limit").and_then(|limit| limit.parse().ok()).unwrap_or(usize::MAX);
        let from: usize = request.value("continue").and_then(|at| at.parse().ok()).unwrap_or_default();
        if from > 0 && mix(self.number.fetch_add(1, Ordering::SeqCst)) % 100 < self.faults.percent {
            return (410, failure("Expired", 410));
        }
        let wanted = request.selector();
        self.world.with(|state| {
            let pods = state.pods.values().map(|pod| &pod.object).filter(|pod| selects(&wanted, pod));
            let pods: Vec<Value> = pods.cloned().collect();
            let part: Vec<Value> = pods.iter().skip(from).take(limit).cloned().collect();
            let more = if from + part.len() < pods.len() { (from + part.len()).to_string() } else { String::new() };
            let items = if part.is_empty() { Value::Null } else { part.into() };
            (200, json!({ "metadata": { "resourceVersion": state.version.to_string(), "continue": more }, "items": items }))
        })
    }

    fn stream(&self, stream: &mut TcpStream, request: &Request) {
        let mut out = Chunks { stream, left: self.faults.cut_streams };
        if request.query.contains("watch=1") {
            self.watch(&mut out, request);
        } else {
            self.log(&mut out, request);
        }
    }

    fn watch(&self, out: &mut Chunks<'_>, request: &Request) {
        let mut version: u64 =
            request.value("resourceVersion").and_then(|one| one.parse().ok()).unwrap_or_default();
        let wanted = request.selector();
        out.head();
        let until = Instant::now() + Duration::from_secs(5);
        while Instant::now() < until {
            let (is_forgotten, changes) = {
                let mut state = self.world.state.lock().unwrap();
                if state.version <= version {
                    state = self.world.bell.wait_timeout(state, Duration::from_millis(100)).unwrap().0;
                }
                let changes: Vec<_> =
                    state.changes.iter().filter(|change| change.0 > version).cloned().collect();
                (state.forgotten > version, changes)
            };
            if is_forgotten {
                let error = json!({ "type": "ERROR", "object": failure("Expired", 410) });
                out.write(format!("{error}\n").as_bytes());
                break;
            }
            for (at, what, pod) in changes {
                version = at;
                let line = match selects(&wanted, &pod) {
                    true => json!({ "type": what, "object": pod }),
                    false => {
                        json!({ "type": "BOOKMARK", "object": { "metadata": { "resourceVersion": at.to_string() } } })
                    }
                };
                if !out.write(format!("{line}\n").as_bytes()) {
                    return;
                }
            }
        }
        out.end();
    }

    fn log(&self, out: &mut Chunks<'_>, request: &Request) {
        let pod = request.path.trim_end_matches("/log").rsplit('/').next().unwrap().to_owned();
        let is_waiting = |state: &mut super::world::State| {
            state.pods.get(&pod).map(|pod| pod.object["status"]["phase"] == "Pending")
        };
        match self.world.with(is_waiting) {
            None => return answer(out.stream, 404, &failure("NotFound", 404), ""),
            Some(true) => return answer(out.stream, 400, &failure("BadRequest", 400), ""),
            Some(false) => {}
        }
        out.head();
        let since = request.value("sinceTime").map(|since| since.replace("%3A", ":")).unwrap_or_default();
        let mut at = self.world.with(|state| {
            let log = state.pods.get(&pod).map(|pod| pod.log.clone()).unwrap_or_default();
            let lines = log.split_inclusive(|byte| *byte == b'\n');
            let before = lines.take_while(|line| line[..19] < since.as_bytes()[..since.len().min(19)]);
            before.map(<[u8]>::len).sum()
        });
        loop {
            let record = self.world.with(|state| state.pods.get(&pod).cloned());
            let Some(record) = record else { return };
            if !out.write(record.log.get(at..).unwrap_or_default()) {
                return;
            }
            at = record.log.len();
            if record.is_closed {
                return out.end();
            }
            std::thread::sleep(Duration::from_millis(3));
        }
    }
}

/// A stream in chunks, that may break off.
struct Chunks<'c> {
    stream: &'c mut TcpStream,
    left: Option<usize>,
}

impl Chunks<'_> {
    fn head(&mut self) {
        self.stream
            .write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
            .ok();
    }

    fn write(&mut self, bytes: &[u8]) -> bool {
        if bytes.is_empty() {
            return true;
        }
        if let Some(left) = &mut self.left {
            if bytes.len() > *left {
                let part = &bytes[..*left];
                write!(self.stream, "{:x}\r\n", bytes.len()).ok();
                self.stream.write_all(part).ok();
                return false;
            }
            *left -= bytes.len();
        }
        let chunk = [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat();
        self.stream.write_all(&chunk).is_ok()
    }

    fn end(&mut self) {
        self.stream.write_all(b"0\r\n\r\n").ok();
    }
}

impl Request {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|header| header.0 == name).map(|header| header.1.as_str())
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .find(|pair| pair.0 == name)
            .map(|pair| pair.1)
    }

    /// The label that is wanted.
    fn selector(&self) -> (String, String) {
        let text = self.value("labelSelector").unwrap_or_default().replace("%2F", "/").replace("%3D", "=");
        let (name, value) = text.split_once('=').unwrap_or_default();
        (name.to_owned(), value.to_owned())
    }
}

fn selects(wanted: &(String, String), pod: &Value) -> bool {
    pod["metadata"]["labels"][&wanted.0] == wanted.1.as_str()
}

fn failure(reason: &str, code: u16) -> Value {
    json!({ "kind": "Status", "status": "Failure", "reason": reason, "code": code, "message": format!("it is {reason}") })
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut from = BufReader::new(stream);
    let mut line = String::new();
    from.read_line(&mut line).ok()?;
    let mut words = line.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let (path, query) = (path.to_owned(), query.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        from.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let length =
        headers.iter().find(|header| header.0 == "content-length").and_then(|header| header.1.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    from.read_exact(&mut body).ok()?;
    Some(Request { method, path, query, headers, body })
}

fn answer(stream: &mut TcpStream, code: u16, said: &Value, more: &str) {
    let text = said.to_string();
    let head =
        format!("HTTP/1.1 {code} X\r\nContent-Length: {}\r\n{more}Connection: close\r\n\r\n", text.len());
    stream.write_all([head.as_bytes(), text.as_bytes()].concat().as_slice()).ok();
}

/// Has the other side see that the connection broke.
fn reset(stream: &TcpStream) {
    let linger = rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO));
    linger.ok();
}

/// Numbers that look random, the same for the same seed: splitmix64.
fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
