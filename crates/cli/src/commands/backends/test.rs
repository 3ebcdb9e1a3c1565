//! `stockade backends test`: conformance tests of a backend. Each test runs `stockade exec`, so that it covers the same path as
//! other commands.
#![expect(
    clippy::disallowed_methods,
    reason = "runs this program, and reads the command lines of other processes"
)]

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;
use stockade_guard::exec::SandboxBackend;
use stockade_guard::exec::backends::external_program;
use stockade_text::escape;

use crate::args::{Format, HELP};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, styles};
use crate::render::style::{ColorChoice, Styles};
use stockade_text::to_printable_json;

const EXAMPLES: &str = "\
Examples:
  stockade backends test mine                          test the program stockade-backend-mine
  stockade backends test docker --image NAME@sha256:…  test containers of this image, which needs `sh`";

const EXIT_CODES: &str = "\
Exit codes:
  0  all tests passed
  1  a test failed";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct TestArgs {
    /// Name of the backend
    #[arg(value_name = "NAME", value_parser = stockade_guard::exec::patch::BackendParser)]
    backend: SandboxBackend,

    /// Container image, for a container backend
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,

    /// Option for the backend; repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = crate::commands::exec::option)]
    backend_option: Vec<(String, String)>,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

/// Tests that every backend must pass.
type Check = (&'static str, fn(&Ground) -> Result<(), String>);

const CHECKS: &[Check] = &[
    ("runs a command and relays stdout and stderr", both_outputs),
    ("reports the exit code", exit_code),
    ("relays standard input and its end", standard_input),
    ("keeps values of variables off command lines", variables),
    ("stops a command and its children at the time limit", time_is_up),
    ("limits output to 10 MiB, and reports dropped bytes", much_output),
    ("reports a missing program", no_such_program),
    ("leaves nothing behind when stockade is killed", killed),
    ("rejects invalid requests", garbage),
];

/// Time limit of a command in a test.
const PATIENCE: &str = "60s";

/// How long a killed command may take to disappear.
const UNTIL_GONE: Duration = Duration::from_secs(15);

/// A test and its result.
#[derive(Debug, Serialize)]
struct Checked {
    check: &'static str,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

#[derive(Serialize)]
struct Report<'r> {
    backend: &'r str,
    ok: bool,
    checks: &'r [Checked],
}

/// Runs the command.
pub(super) fn run(args: &TestArgs, color: ColorChoice) -> Result<Exit, Failure> {
    let ground = Ground::new(args)
        .map_err(|error| Failure::incomplete(format_args!("cannot create a temporary directory: {error}")))?;
    let checked = |(check, test): &Check| {
        let why = test(&ground).err();
        Checked { check, ok: why.is_none(), why }
    };
    let checks: Vec<Checked> = CHECKS.iter().map(checked).collect();
    let ok = checks.iter().all(|check| check.ok);
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(&match args.format {
        Format::Json => {
            format!("{}\n", to_printable_json(&Report { backend: args.backend.name(), ok, checks: &checks }))
        }
        Format::Text => text(&checks, styles(color)),
    });
    output.finish(if ok { Exit::Clean } else { Exit::Found })
}

fn text(checks: &[Checked], styles: Styles) -> String {
    let Styles { good, critical, reset, .. } = styles;
    let row = |check: &Checked| {
        let (color, word) = if check.ok { (good, "ok  ") } else { (critical, "FAIL") };
        let why = check.why.as_ref().map(|why| format!("\n        {}", escape(why))).unwrap_or_default();
        format!("{color}{word}{reset}  {}{why}\n", check.check)
    };
    checks.iter().map(row).collect()
}

/// The fixture of the tests.
struct Ground {
    _folder: tempfile::TempDir,
    workspace: PathBuf,
    program: PathBuf,
    backend: SandboxBackend,
    options: Vec<OsString>,
    own: std::collections::BTreeMap<String, String>,
}

/// Owner of the workspace if root runs the tests.
const UNPRIVILEGED: u32 = 65534;

impl Ground {
    fn new(args: &TestArgs) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("stockade-backend-").tempdir()?;
        let place = fs::canonicalize(folder.path())?;
        fs::set_permissions(&place, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        let workspace = place.join("work");
        fs::create_dir(&workspace)?;
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&workspace, Some(UNPRIVILEGED), Some(UNPRIVILEGED))?;
        }
        let image = args.image.iter().flat_map(|image| ["--image".into(), image.into()]);
        let told = args.backend_option.iter();
        let told =
            told.flat_map(|(name, value)| ["--backend-option".into(), format!("{name}={value}").into()]);
        Ok(Self {
            _folder: folder,
            workspace,
            program: std::env::current_exe()?,
            backend: args.backend,
            options: image.chain(told).collect(),
            own: args.backend_option.iter().cloned().collect(),
        })
    }

    /// Returns `stockade exec` with these options and a script for `sh`.
    fn exec(&self, options: &[&str], script: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["exec", "--quiet", "--format", "json", "--no-rules", "--backend", self.backend.name()]);
        command.arg("--workspace").arg(&self.workspace).args(&self.options).args(options);
        if !options.contains(&"--timeout") {
            command.args(["--timeout", PATIENCE]);
        }
        command.args(["--", "sh", "-c", script]).current_dir(&self.workspace);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn ran(&self, options: &[&str], script: &str) -> Result<Value, String> {
        document(&self.exec(options, script).output().map_err(|error| error.to_string())?)
    }
}

/// Returns the JSON document of a finished run.
fn document(output: &std::process::Output) -> Result<Value, String> {
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    let document: Value = serde_json::from_slice(&output.stdout).map_err(|_| said.clone())?;
    if document.get("end").is_none_or(Value::is_null) {
        return Err(if said.is_empty() { document.to_string() } else { said });
    }
    Ok(document)
}

/// Whether a document has this value at this place.
fn is(document: &Value, place: &str, wanted: &Value) -> Result<(), String> {
    match document.pointer(place) {
        Some(found) if found == wanted => Ok(()),
        found => Err(format!("{place} is {}, expected {wanted}", found.unwrap_or(&Value::Null))),
    }
}

fn both_outputs(ground: &Ground) -> Result<(), String> {
    let ran = ground.ran(&[], "echo out; echo err >&2")?;
    is(&ran, "/stdout/text", &"out\n".into())?;
    is(&ran, "/stderr/text", &"err\n".into())?;
    is(&ran, "/sandbox", &ground.backend.name().into())?;
    is(&ran, "/exitCode", &0.into())
}

fn exit_code(ground: &Ground) -> Result<(), String> {
    let ran = ground.ran(&[], "exit 7")?;
    is(&ran, "/end", &"exited".into())?;
    is(&ran, "/exitCode", &7.into())
}

fn standard_input(ground: &Ground) -> Result<(), String> {
    let mut child =
        ground.exec(&[], "cat | wc -c").stdin(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
    let stdin = child.stdin.take();
    let writer = std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&[b'x'; 1_000_000])));
    let ran = document(&child.wait_with_output().map_err(|error| error.to_string())?)?;
    writer.join().ok();
    let printed = ran.pointer("/stdout/text").and_then(Value::as_str).unwrap_or_default().trim();
    if printed == "1000000" { Ok(()) } else { Err(format!("`{printed}` of 1000000 bytes arrived")) }
}

/// A word that occurs nowhere else on this machine.
fn marker(what: &str) -> String {
    format!("stockade-{what}-{}", std::process::id())
}

/// Whether a process of this machine has a word on its command line.
fn on_a_command_line(word: &str) -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.into_iter().any(|line| line.windows(word.len()).any(|part| part == word.as_bytes()))
}

fn variables(ground: &Ground) -> Result<(), String> {
    let value = marker("value");
    let mut command = ground.exec(&["--env", "STOCKADE_CHECK"], "echo \"$STOCKADE_CHECK\"; sleep 2");
    let mut child = command.env("STOCKADE_CHECK", &value).spawn().map_err(|error| error.to_string())?;
    let mut is_seen = false;
    while child.try_wait().map_err(|error| error.to_string())?.is_none() {
        is_seen |= on_a_command_line(&value);
        std::thread::sleep(Duration::from_millis(20));
    }
    let ran = document(&child.wait_with_output().map_err(|error| error.to_string())?)?;
    is(&ran, "/stdout/text", &format!("{value}\n").into())?;
    if is_seen { Err("the value of a variable was on a command line".to_owned()) } else { Ok(()) }
}

/// Waits until no command line contains a word.
fn gone(word: &str) -> Result<(), String> {
    let late = Instant::now() + UNTIL_GONE;
    while on_a_command_line(word) {
        if Instant::now() > late {
            return Err("the command is still running".to_owned());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn time_is_up(ground: &Ground) -> Result<(), String> {
    let word = marker("time");
    let begun = Instant::now();
    let script = format!("(sleep 300; : {word}) & sleep 300; : {word}");
    let ran = ground.ran(&["--timeout", "1s"], &script)?;
    let took = begun.elapsed();
    is(&ran, "/end", &"timed-out".into())?;
    gone(&word)?;
    if took < Duration::from_secs(30) { Ok(()) } else { Err(format!("it took {} s", took.as_secs())) }
}

fn much_output(ground: &Ground) -> Result<(), String> {
    let ran = ground.ran(&["--max-output", "10M"], "yes | head -c 12582912")?;
    is(&ran, "/droppedBytes", &(2 << 20).into())?;
    let kept = ran.pointer("/stdout/text").and_then(Value::as_str).map_or(0, str::len);
    if kept == 10 << 20 { Ok(()) } else { Err(format!("{kept} bytes were kept")) }
}

fn no_such_program(ground: &Ground) -> Result<(), String> {
    let ran = ground.ran(&[], "exec /no/such/program")?;
    is(&ran, "/exitCode", &127.into())
}

fn killed(ground: &Ground) -> Result<(), String> {
    let word = marker("killed");
    let script = format!("sleep 300; : {word}");
    let mut child = ground.exec(&[], &script).spawn().map_err(|error| error.to_string())?;
    let is_there = until_it_runs(&mut child, &word);
    child.kill().ok();
    child.wait().ok();
    is_there?;
    gone(&word)
}

/// Waits until the command itself runs, or some seconds if it runs on another machine, where it cannot be observed.
fn until_it_runs(child: &mut Child, word: &str) -> Result<(), String> {
    let late = Instant::now() + Duration::from_secs(5);
    let is_it = |line: &[u8]| {
        line.starts_with(b"sh\0") && line.windows(word.len()).any(|part| part == word.as_bytes())
    };
    while Instant::now() < late {
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let mut lines = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
        if lines.any(|line| is_it(&line)) {
            return Ok(());
        }
        if child.try_wait().map_err(|error| error.to_string())?.is_some() {
            return Err("it ended before it could be killed".to_owned());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Only backend programs speak JSON; built-in backends pass.
fn garbage(ground: &Ground) -> Result<(), String> {
    let SandboxBackend::Added(name) = ground.backend else { return Ok(()) };
    let Some(program) = external_program(name, &ground.own) else { return Ok(()) };
    for line in [
        "hello\n",
        "{\"stockade\":1,\"request\":\"sudo\",\"options\":{}}\n",
        "{\"stockade\":999,\"request\":\"probe\"}\n",
    ] {
        let said = answered(&program, line).map_err(|error| error.to_string())?;
        if said.trim().is_empty() || !said.lines().all(is_error) {
            return Err(format!("`{}` was answered with `{}`", line.trim(), said.trim()));
        }
    }
    Ok(())
}

fn is_error(line: &str) -> bool {
    let event = serde_json::from_str::<Value>(line);
    event.is_ok_and(|event| event.get("event").is_some_and(|kind| kind == "error"))
}

/// Returns the answer to a line, with a timeout.
fn answered(program: &Path, line: &str) -> io::Result<String> {
    let mut child =
        Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(line.as_bytes()).ok();
    }
    let late = Instant::now() + Duration::from_secs(10);
    while child.try_wait()?.is_none() && Instant::now() < late {
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().ok();
    child.wait()?;
    let mut said = String::new();
    child.stdout.take().map(|stdout| stdout.take(1 << 20).read_to_string(&mut said)).transpose()?;
    Ok(said)
}
