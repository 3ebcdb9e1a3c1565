//! What a command prints comes while it runs, in order and bounded; and a command can be ended, before it begins and after.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use serde_json::{Value, json};

use super::{PATIENCE, Serving, sleep};

fn bytes(base64: &Value) -> Vec<u8> {
    base64::engine::general_purpose::STANDARD.decode(base64.as_str().unwrap()).unwrap()
}

/// All that comes for a request: both streams as they were put together, and the answer.
fn heard(server: &Serving, id: &Value) -> ([Vec<u8>; 2], Value) {
    let (mut streams, mut seq) = ([Vec::new(), Vec::new()], 0_u64);
    loop {
        let next = server.next();
        if next["method"].is_null() {
            assert_eq!(&next["id"], id, "{next}");
            assert_eq!(next["result"]["pieces"], seq, "{next}");
            return (streams, next);
        }
        let piece = &next["params"];
        assert_eq!(
            (&next["method"], &piece["id"], &piece["seq"]),
            (&json!("exec.output"), id, &json!(seq)),
            "{next}"
        );
        seq += 1;
        let data = bytes(&piece["dataBase64"]);
        assert!(!data.is_empty() && data.len() <= 32 << 10);
        streams[usize::from(piece["stream"] == "stderr")].extend(data);
    }
}

fn exec(server: &Serving, extra: &Value) -> Value {
    let mut params = json!({"spec": {"workspace": server.workspace()}, "stream": true});
    params.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    params
}

#[test]
fn output_is_streamed_completely_and_in_order() {
    let mut server = Serving::start(&[]);
    let script = "seq 200000; printf '\\377\\000\\303' ; seq 5 >&2; exit 3";
    for (id, agent) in [(json!(7), json!(null)), (json!("x\ny"), json!("default"))] {
        fs::write(Path::new(&server.workspace()).join("print.sh"), script).unwrap();
        let params = exec(&server, &json!({"argv": ["sh", "print.sh"], "agent": agent}));
        server.send("exec", id.clone(), &params);
        let ([stdout, stderr], answer) = heard(&server, &id);
        let mut wanted: Vec<u8> = (1..=200_000).flat_map(|line| format!("{line}\n").into_bytes()).collect();
        wanted.extend([0xff, 0, 0xc3]);
        assert!(stdout == wanted, "{} bytes of {}", stdout.len(), wanted.len());
        assert_eq!(stderr, b"1\n2\n3\n4\n5\n");
        let result = &answer["result"];
        assert_eq!((&result["exitCode"], &result["truncated"]), (&json!(3), &json!(false)), "{answer}");
        assert_eq!((&result["stdoutBase64"], &result["droppedBytes"]), (&json!(""), &json!(0)), "{answer}");
    }
}

#[test]
fn output_arrives_during_the_run_and_the_command_can_be_cancelled() {
    let mut server = Serving::start(&["--max-commands", "1"]);
    let params = exec(&server, &json!({"command": "echo begun; exec sleep 600", "timeoutMs": 600_000}));
    server.send("exec", "long", &params);
    let first = server.next();
    assert_eq!(bytes(&first["params"]["dataBase64"]), b"begun\n", "{first}");
    // Another one waits for its turn, and is ended before that comes.
    let second = sleep(0.0, &server.workspace());
    server.send("exec", "waits", &second);
    for (id, was_there) in [("other", false), ("waits", true), ("long", true)] {
        server.send("cancel", "c", &json!({ "id": id }));
        loop {
            let answer = server.next();
            if answer["id"] == "c" {
                assert_eq!(answer["result"]["cancelled"], was_there, "{answer}");
                break;
            }
        }
    }
    let answers = [server.next(), server.next()];
    let of =
        |id: &str| answers.iter().find(|answer| answer["id"] == id).unwrap_or_else(|| panic!("{answers:?}"));
    assert_eq!(of("waits")["error"]["code"], -32005);
    let ended = &of("long")["result"];
    assert_eq!(
        (&ended["end"], &ended["exitCode"], &ended["signal"]),
        (&json!("cancelled"), &json!(137), &json!(9)),
        "{ended}"
    );
    assert_eq!(server.call("cancel", &json!({"id": "long"}))["result"]["cancelled"], false, "it is answered");
}

#[test]
fn truncated_output_is_reported() {
    let mut server = Serving::start(&[]);
    let params = exec(&server, &json!({"command": "seq 100000", "maxOutputBytes": 1000}));
    server.send("exec", 1, &params);
    let ([stdout, _], answer) = heard(&server, &json!(1));
    assert_eq!((stdout.len(), &answer["result"]["truncated"]), (1000, &json!(true)), "{answer}");
    assert_eq!(answer["result"]["droppedBytes"], 588_895 - 1000, "{answer}");
}

/// A client that does not read makes the command wait: nothing piles up in the server.
#[test]
fn a_client_that_does_not_read_holds_nothing_but_its_own_command() {
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    let home = tempfile::tempdir().unwrap();
    let work = home.path().canonicalize().unwrap().join("work");
    fs::create_dir(&work).unwrap();
    let mut child = Command::new(crate::support::STOCKADE)
        .arg("serve")
        .env_clear()
        .env("HOME", home.path())
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let params = json!({
        "command": "yes", "stream": true, "spec": {"workspace": work}, "timeoutMs": 3000, "maxOutputBytes": 1 << 30,
    });
    let line = json!({"jsonrpc": "2.0", "id": 1, "method": "exec", "params": params});
    writeln!(child.stdin.as_mut().unwrap(), "{line}").unwrap();
    thread::sleep(Duration::from_secs(2));
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    let kilobytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kilobytes < 100 << 10, "{line}");
    // Once no client can ever read, there is nothing left to do.
    drop(child.stdout.take());
    drop(child.stdin.take());
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < PATIENCE, "it goes on although no client is there");
        thread::sleep(Duration::from_millis(20));
    }
}
