//! Measures how fast processes that share limits are granted calls:
//! `cargo run --profile fast --example limit_rates --features redis -- FILE|redis://…|unix://… [SECONDS] [CLIENTS…]`.
//!
//! Each client is a process. It admits and settles calls in forty executions of its own, so that the store has a history.
#![expect(clippy::disallowed_methods, reason = "starts processes and measures how long they take")]
#![expect(clippy::print_stdout, reason = "prints what was measured")]

use std::error::Error;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use stockade_limit_stores::{Forgetting, RedisOptions, RedisStore, SqliteStore};
use stockade_limits::breaker::CallOutcome;
use stockade_limits::budget::Allowance;
use stockade_limits::store::{AgentLimits, CallVerdict, LimitStore, SharedLimits};
use stockade_limits::{Cap, Usage};

type Failure = Box<dyn Error>;

/// Clients at once, unless the arguments say otherwise.
const CLIENTS: [u32; 3] = [1, 10, 50];
const EXECUTIONS: usize = 40;
/// Ticks of a processor in a second, as `/proc` counts them.
const TICKS: f64 = 100.0;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["--client", place, client, seconds] => one_client(place, client, seconds.parse()?),
        [place] => measure(place, 5, &CLIENTS),
        [place, seconds] => measure(place, seconds.parse()?, &CLIENTS),
        [place, seconds, clients @ ..] => {
            let clients: Result<Vec<u32>, _> = clients.iter().map(|count| count.parse()).collect();
            measure(place, seconds.parse()?, &clients?)
        }
        [] => Err("usage: limit_rates FILE|URL [SECONDS] [CLIENTS...]".into()),
    }
}

fn measure(place: &str, seconds: u64, clients: &[u32]) -> Result<(), Failure> {
    println!("clients  permits/s    p50 ms    p99 ms    max ms  client CPU/permit µs");
    for count in clients {
        let mut took = Vec::new();
        let mut processor = 0.0;
        for answer in run_clients(place, seconds, *count)? {
            let (ticks, times) = answer.split_at_checked(4).ok_or("a client ended without an answer")?;
            processor += f64::from(u32::from_le_bytes(ticks.try_into()?)) / TICKS;
            took.extend(times.as_chunks::<4>().0.iter().map(|time| u32::from_le_bytes(*time)));
        }
        took.sort_unstable();
        let permits = took.len() as f64;
        let at = |part: usize| {
            f64::from(took.get(took.len().saturating_sub(1) * part / 1_000).copied().unwrap_or(0)) / 1e3
        };
        println!(
            "{count:7} {:10.0} {:9.2} {:9.2} {:9.2} {:9.0}",
            permits / seconds as f64,
            at(500),
            at(990),
            at(1_000),
            processor * 1e6 / permits.max(1.0)
        );
    }
    Ok(())
}

/// Returns what each client wrote: its ticks, and the microseconds that each permit took.
fn run_clients(place: &str, seconds: u64, count: u32) -> Result<Vec<Vec<u8>>, Failure> {
    let program = std::env::current_exe()?;
    let start = |client: u32| {
        let mut command = Command::new(&program);
        command.args(["--client", place, &client.to_string(), &seconds.to_string()]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
    };
    let mut clients = (0..count).map(start).collect::<Result<Vec<_>, _>>()?;
    // All are connected before any of them begins.
    for client in &mut clients {
        client.stdout.as_mut().ok_or("no pipe")?.read_exact(&mut [0])?;
    }
    clients.iter_mut().for_each(|client| drop(client.stdin.take()));
    let answers = clients.into_iter().map(|client| Ok(client.wait_with_output()?.stdout));
    answers.collect()
}

fn one_client(place: &str, client: &str, seconds: u64) -> Result<(), Failure> {
    let limits = SharedLimits::new(wide(), store(place)?);
    std::io::stdout().write_all(b"r")?;
    std::io::stdout().flush()?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    let names: Vec<String> = (0..EXECUTIONS).map(|number| format!("client-{client}-task-{number}")).collect();
    let before = ticks()?;
    let began = Instant::now();
    let mut took = Vec::new();
    for name in names.iter().cycle() {
        if began.elapsed() >= Duration::from_secs(seconds) {
            break;
        }
        let asked = Instant::now();
        let CallVerdict::Granted(permit) = limits.admit("agent", name, Usage::tokens(30)) else {
            return Err("refused".into());
        };
        limits.settle(permit, Usage::tokens(20), CallOutcome::Success)?;
        took.push(u32::try_from(asked.elapsed().as_micros())?);
    }
    let answer = std::iter::once(ticks()? - before).chain(took).flat_map(u32::to_le_bytes);
    std::io::stdout().write_all(&answer.collect::<Vec<u8>>())?;
    Ok(())
}

/// Limits that no run reaches.
fn wide() -> AgentLimits {
    let unlimited = Allowance { tokens: Cap::AtMost(1 << 50), cost: Cap::Unlimited };
    let mut limits = AgentLimits::default();
    limits.budget.per_execution = unlimited;
    limits.budget.per_hour = unlimited;
    limits.budget.per_day = unlimited;
    limits
}

fn store(place: &str) -> Result<Arc<dyn LimitStore>, Failure> {
    if !place.contains("://") {
        return Ok(Arc::new(SqliteStore::open(Path::new(place))?));
    }
    let (timeout, forgetting) = (Duration::from_secs(60), Forgetting::Accepted);
    let options = RedisOptions { url: place.to_owned(), timeout, forgetting, ..RedisOptions::default() };
    Ok(Arc::new(RedisStore::connect(options)?))
}

/// Processor time of this process, of its user and of the kernel for it.
fn ticks() -> Result<u32, Failure> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let [user, system] = [11, 12].map(|field| fields.get(field).and_then(|text| text.parse::<u32>().ok()));
    Ok(user.zip(system).map(|(user, system)| user + system).ok_or("no times in /proc/self/stat")?)
}
