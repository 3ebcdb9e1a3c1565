//! A server that is told to end lets nothing begin, ends what runs, and puts each end on record.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{Serving, sleep};

fn tell(serving: &Serving, signal: Signal) {
    kill_process(Pid::from_child(&serving.child), signal).unwrap();
}

fn kinds(serving: &mut Serving) -> Vec<String> {
    let found = serving.call("audit.query", &json!({"limit": 100}));
    // There is no trail before anything is on record.
    let events = found["result"]["events"].as_array().cloned().unwrap_or_default();
    events.iter().rev().map(|event| event["event"].as_str().unwrap().to_owned()).collect()
}

/// Waits until a command has begun: its start is on record.
fn begin(serving: &mut Serving, seconds: f64) {
    let workspace = serving.workspace();
    serving.send("exec", 7, &sleep(seconds, &workspace));
    for _ in 0..500 {
        if kinds(serving).contains(&"sandbox_started".to_owned()) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("the command did not begin");
}

#[test]
fn a_second_signal_ends_and_records_running_commands() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut serving = Serving::start(&[]);
        begin(&mut serving, 60.0);
        tell(&serving, signal);
        let pinged = loop {
            let answer = serving.call("ping", &json!({}));
            if answer["result"]["ready"] == false {
                break answer;
            }
        };
        assert!(pinged["error"].is_null());
        let workspace = serving.workspace();
        let late = serving.call("exec", &sleep(0.0, &workspace));
        assert_eq!(late["error"]["code"], -32000, "{late}");
        tell(&serving, signal);
        let answer = serving.next();
        assert_eq!((&answer["id"], &answer["result"]["end"]), (&json!(7), &json!("cancelled")), "{answer}");
        assert_eq!(serving.child.wait().unwrap().code(), Some(0));
        let mut later = serving.again();
        assert_eq!(kinds(&mut later), ["sandbox_started", "sandbox_error"]);
    }
}

#[test]
fn a_command_that_soon_ends_may_end() {
    let mut serving = Serving::start(&[]);
    begin(&mut serving, 1.0);
    tell(&serving, Signal::TERM);
    let answer = serving.next();
    assert_eq!((&answer["id"], &answer["result"]["exitCode"]), (&json!(7), &json!(0)), "{answer}");
    assert_eq!(serving.child.wait().unwrap().code(), Some(0));
    let mut later = serving.again();
    assert_eq!(kinds(&mut later), ["sandbox_started", "sandbox_completed"]);
    let versioned = later.call("version", &json!({}))["result"].clone();
    assert_eq!(versioned["version"], env!("CARGO_PKG_VERSION"), "{versioned}");
    assert!(versioned["methods"].as_array().unwrap().contains(&Value::from("ping")));
}
