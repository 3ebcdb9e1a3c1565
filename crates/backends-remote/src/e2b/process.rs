//! Commands in a sandbox. What they print comes as it is printed, in messages of the Connect protocol: a byte of flags, a length, JSON.

use std::collections::BTreeMap;
use std::io::Read;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::http::{Ask, body, shown};
use super::{E2bError, E2bSandbox};
use crate::remote::{RemoteError, broken};

/// The longest message of a stream.
const MAX_MESSAGE: u32 = 4 << 20;
/// How long a command may go on after its time, until the connection is given up.
const GRACE: Duration = Duration::from_secs(5);

/// What is run, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct E2bCommand {
    /// The program and its arguments. No shell reads them.
    pub words: Vec<String>,
    /// Where it starts; the home of the sandbox's user if nothing is said.
    pub cwd: Option<String>,
    /// More variables.
    pub variables: BTreeMap<String, String>,
    /// How long it may take.
    pub time: Duration,
    /// Bytes that it may print. What goes beyond is dropped.
    pub output: u64,
}

impl E2bCommand {
    /// A command with a minute's time and ten million bytes of output.
    pub fn of(words: impl IntoIterator<Item = String>) -> Self {
        let variables = BTreeMap::new();
        Self {
            words: words.into_iter().collect(),
            cwd: None,
            variables,
            time: Duration::from_secs(60),
            output: 10_000_000,
        }
    }
}

/// Which of its two outputs a command has printed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum E2bStream {
    /// The one that a pipe behind it reads.
    Stdout,
    /// The one for messages.
    Stderr,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct E2bEnd {
    /// Its exit code; nothing where a signal ended it, or its time was up.
    pub code: Option<i32>,
    /// Whether its time was up.
    pub timed_out: bool,
    /// Bytes of its output that were dropped.
    pub dropped: u64,
}

#[derive(Serialize)]
struct Start<'c> {
    process: Process<'c>,
    stdin: bool,
}

#[derive(Serialize)]
struct Process<'c> {
    cmd: &'c str,
    args: &'c [String],
    envs: &'c BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<&'c str>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Message {
    event: Event,
    error: Option<Fault>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Event {
    start: Option<Started>,
    data: Option<Printed>,
    end: Option<Ended>,
}

#[derive(Deserialize)]
struct Started {
    pid: u32,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Printed {
    stdout: Option<String>,
    stderr: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Ended {
    exit_code: i32,
    exited: bool,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Fault {
    code: String,
    message: String,
}

impl E2bSandbox {
    /// Runs a command and waits for its end. What it prints is handed on as it comes.
    ///
    /// # Errors
    ///
    /// When it could not be started, or the stream broke off: then it may still run, and
    /// [`E2bSandbox::delete`] ends it.
    pub fn run(
        &self,
        command: &E2bCommand,
        print: &mut dyn FnMut(E2bStream, &[u8]),
    ) -> Result<E2bEnd, E2bError> {
        let Some((program, arguments)) =
            command.words.split_first().filter(|(program, _)| !program.is_empty())
        else {
            return Err(E2bError::Plain("missing program"));
        };
        if command.words.iter().any(|word| word.contains('\0')) {
            return Err(E2bError::Plain("an argument contains a NUL byte"));
        }
        let process =
            Process { cmd: program, args: arguments, envs: &command.variables, cwd: command.cwd.as_deref() };
        let start = message(&body(&Start { process, stdin: false })?);
        let mut headers = self.headers("application/connect+json");
        headers.push(("Connect-Timeout-Ms", command.time.as_millis().to_string()));
        let time = command.time + GRACE;
        let address = format!("{}/process.Process/Start", self.service);
        let answer =
            self.http.ask(&Ask { method: "POST", address, headers, body: &start, time: Some(time) })?;
        let mut run = Running { print, left: command.output, dropped: 0, process: None, end: None };
        let stopped = run.read(&mut answer.into_body().into_reader());
        let timed_out = matches!(stopped, Err(E2bError::TimedOut(_)));
        if timed_out && let Some(process) = run.process {
            // Should the server not have ended it, its time is up all the same.
            self.end_process(process);
        }
        match (stopped, run.end) {
            (Ok(()), Some(end)) => {
                Ok(E2bEnd { code: end.exited.then_some(end.exit_code), timed_out, dropped: run.dropped })
            }
            (Ok(()), None) => {
                Err(E2bError::Away("the connection closed before the command ended".to_owned()))
            }
            _ if timed_out => Ok(E2bEnd { code: None, timed_out, dropped: run.dropped }),
            (Err(error), _) => Err(error),
        }
    }

    /// Ends a process, if it is there.
    fn end_process(&self, process: u32) {
        let signal =
            serde_json::json!({ "process": { "pid": process }, "signal": "SIGNAL_SIGKILL" }).to_string();
        let (address, headers) =
            (format!("{}/process.Process/SendSignal", self.service), self.headers("application/json"));
        self.http.ask(&Ask { method: "POST", address, headers, body: signal.as_bytes(), time: None }).ok();
    }
}

fn message(json: &[u8]) -> Vec<u8> {
    let length = u32::try_from(json.len()).unwrap_or(u32::MAX);
    [&[0], &length.to_be_bytes()[..], json].concat()
}

/// A command that runs, as far as its messages tell.
struct Running<'p> {
    print: &'p mut dyn FnMut(E2bStream, &[u8]),
    left: u64,
    dropped: u64,
    process: Option<u32>,
    end: Option<Ended>,
}

impl Running<'_> {
    /// Reads messages up to the last one.
    fn read(&mut self, from: &mut impl Read) -> Result<(), E2bError> {
        /// This flag is on the last message.
        const LAST: u8 = 2;
        loop {
            let mut head = [0; 5];
            exactly(from, &mut head)?;
            let [flags, length @ ..] = head;
            let length = u32::from_be_bytes(length);
            if length > MAX_MESSAGE {
                return Err(E2bError::Unexpected("a message is too long".to_owned()));
            }
            let mut json = vec![0; length as usize];
            exactly(from, &mut json)?;
            let message: Message =
                serde_json::from_slice(&json).map_err(|error| E2bError::Unexpected(error.to_string()))?;
            self.take(message)?;
            if flags & LAST != 0 {
                return Ok(());
            }
        }
    }

    fn take(&mut self, message: Message) -> Result<(), E2bError> {
        if let Some(fault) = message.error {
            return Err(meaning(&fault));
        }
        if let Some(started) = message.event.start {
            self.process = Some(started.pid);
        }
        let printed = message.event.data.unwrap_or_default();
        for (stream, text) in [(E2bStream::Stdout, printed.stdout), (E2bStream::Stderr, printed.stderr)] {
            let Some(text) = text else { continue };
            let bytes =
                STANDARD.decode(text).map_err(|_| E2bError::Unexpected("invalid base64".to_owned()))?;
            self.hand_on(stream, &bytes);
        }
        self.end = message.event.end.or(self.end.take());
        Ok(())
    }

    fn hand_on(&mut self, stream: E2bStream, bytes: &[u8]) {
        let fits = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
        self.left -= fits as u64;
        self.dropped += (bytes.len() - fits) as u64;
        if fits > 0 {
            (self.print)(stream, bytes.get(..fits).unwrap_or_default());
        }
    }
}

fn exactly(from: &mut impl Read, room: &mut [u8]) -> Result<(), E2bError> {
    from.read_exact(room).map_err(|error| match broken(error) {
        RemoteError::Away(_) => E2bError::Away("the connection closed before the command ended".to_owned()),
        error => error.into(),
    })
}

fn meaning(fault: &Fault) -> E2bError {
    let said = shown(&fault.message);
    match fault.code.as_str() {
        "deadline_exceeded" => E2bError::TimedOut(Duration::ZERO),
        "not_found" => E2bError::NotFound(said),
        "unauthenticated" | "permission_denied" => E2bError::Unauthorised,
        "resource_exhausted" => E2bError::TooMany,
        "invalid_argument" | "failed_precondition" => E2bError::Refused(said),
        "unavailable" => E2bError::Gone,
        _ => E2bError::Unexpected(said),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(stream: &[u8]) -> (Result<(), E2bError>, Vec<u8>, u64) {
        let mut printed = Vec::new();
        let mut print = |_, bytes: &[u8]| printed.extend_from_slice(bytes);
        let mut run = Running { print: &mut print, left: 4, dropped: 0, process: None, end: None };
        let outcome = run.read(&mut &*stream);
        let dropped = run.dropped;
        (outcome, printed, dropped)
    }

    #[test]
    fn output_beyond_the_limit_is_dropped_and_counted() {
        let said = message(br#"{"event":{"data":{"stdout":"aGVsbG8="}}}"#);
        let mut last = message(b"{}");
        last[0] = 2;
        assert_eq!(read(&[said, last].concat()), (Ok(()), b"hell".to_vec(), 1));
    }

    proptest! {
        #[test]
        fn whatever_a_server_sends_has_an_answer(stream in proptest::collection::vec(any::<u8>(), 0..200), length in 0_u32..60) {
            read(&stream).0.ok();
            read(&[&[0], &length.to_be_bytes()[..], &stream].concat()).0.ok();
        }

        #[test]
        fn a_truncated_stream_is_an_error(cut in 0_usize..46) {
            let said = message(br#"{"event":{"end":{"exitCode":0,"exited":true}}}"#);
            prop_assert!(read(&said[..cut]).0.is_err());
        }
    }
}
