//! Threads that read what a command sent hold no right that they do not need. What each holds is read back from the kernel while
//! it is at work.
#![expect(clippy::disallowed_methods, reason = "reads what threads hold, listens and connects")]

use std::fs;
use std::io::{IoSlice, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use stockade_egress::{Broker, BrokerGate, BrokerHandle, BrokerOptions, Brokered, Gatekeeper, HostList};

/// The four sets that can do something, or be handed on; and the one that bounds what a program could bring, which only
/// root can lower.
const SETS: &[&str] = &["CapInh", "CapPrm", "CapEff", "CapAmb"];
const BOUND: &str = "CapBnd";

/// CAP_CHOWN, CAP_DAC_OVERRIDE and CAP_FOWNER, to write records.
const BROKER: u64 = 1 | 1 << 1 | 1 << 3;

/// What a process or a thread may do by a set, as `/proc` says it.
fn set(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    u64::from_str_radix(line.unwrap().trim(), 16).unwrap()
}

/// Holds a status to these capabilities and no others.
fn holds_at_most(status: &str, allowed: u64, whose: &str) {
    for name in SETS {
        assert_eq!(set(status, name) & !allowed, 0, "{whose} has too much in {name}: {status}");
    }
    if rustix::process::geteuid().is_root() {
        assert_eq!(set(status, BOUND), 0, "{whose} is not bound: {status}");
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// The statuses of threads of this program by their name.
fn threads(name: &str) -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").unwrap().flatten().map(|task| task.path());
    let named = tasks.filter(|task: &PathBuf| read(&task.join("comm")).trim_end() == name);
    // One may end while it is looked at.
    named.map(|task| read(&task.join("status"))).filter(|status| status.contains(BOUND)).collect()
}

/// Hands a socket to a broker, as the first process of a sandbox does, and returns a connection to it.
fn connect(broker: &Broker) -> TcpStream {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let descriptors = [listener.as_fd()];
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut handed = SendAncillaryBuffer::new(&mut room);
    assert!(handed.push(SendAncillaryMessage::ScmRights(&descriptors)));
    let handoff = broker.handoff();
    sendmsg(handoff.end(), &[IoSlice::new(&[0])], &mut handed, SendFlags::empty()).unwrap();
    TcpStream::connect(listener.local_addr().unwrap()).unwrap()
}

#[test]
fn the_threads_of_a_broker_write_records_and_nothing_else() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&seen);
    // The witness runs in the thread that reads what the command sent.
    let broker = Broker::start(HostList::default(), BrokerOptions::default(), move |_: &Brokered| {
        notes.lock().unwrap().push(read(Path::new("/proc/thread-self/status")));
        Ok("a name".to_owned())
    })
    .unwrap();
    let mut client = connect(&broker);
    client.write_all(b"CONNECT host.example:443 HTTP/1.1\r\nHost: host.example:443\r\n\r\n").unwrap();
    let mut said = String::new();
    client.read_to_string(&mut said).unwrap();
    assert!(said.starts_with("HTTP/1.1 403"), "{said}");
    let seen = seen.lock().unwrap().clone();
    assert!(!seen.is_empty());
    for status in seen.into_iter().chain(threads("broker")) {
        holds_at_most(&status, BROKER, "the broker");
    }
}

#[test]
fn the_threads_of_a_gate_write_records_and_nothing_else() {
    #[derive(Default)]
    struct NoBrokers(Mutex<Vec<String>>);

    impl Gatekeeper for NoBrokers {
        fn knows(&self, _: u32) -> bool {
            true
        }

        fn broker(&self, _: &str) -> Option<BrokerHandle> {
            None
        }

        fn turned_away(&self, refused: &Brokered) -> Option<String> {
            assert_eq!(refused.rule, "no-token");
            self.0.lock().unwrap().push(read(Path::new("/proc/thread-self/status")));
            None
        }
    }

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b.sock");
    let seen = Arc::<NoBrokers>::default();
    let gate = BrokerGate::open(UnixListener::bind(&path).unwrap(), Arc::<NoBrokers>::clone(&seen)).unwrap();
    let mut client = UnixStream::connect(&path).unwrap();
    client.write_all(b"CONNECT host.example:443 HTTP/1.1\r\nHost: host.example:443\r\n\r\n").unwrap();
    let mut said = String::new();
    client.read_to_string(&mut said).unwrap();
    assert!(said.starts_with("HTTP/1.1 403"), "{said}");
    let seen = seen.0.lock().unwrap().clone();
    assert!(!seen.is_empty());
    for status in seen.into_iter().chain(threads("broker-gate")) {
        holds_at_most(&status, BROKER, "the gate of a broker");
    }
    drop(gate);
    // The gate is closed.
    let late = UnixStream::connect(&path).and_then(|mut late| late.read(&mut [0]));
    assert_eq!(late.unwrap_or_default(), 0);
}
