//! What a package in a container is held to, row by row: what each tries, and what becomes of it.
//!
//! The numbers are those of the vectors `iscl-isolation.json`, so that a test tries all of them where the vectors are missing, and
//! the vectors find each of theirs here.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::fd::AsRawFd as _;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::daemon::Docker;
use super::packages::{Engine, MAIN, Packages, SECRET, document, printed};
use super::podman::{Podman, why_not};

/// What became of each row.
pub(crate) type Rows = BTreeMap<u32, Result<(), String>>;

/// What is tried in one run of a package that may start nothing, by `probe.c`.
#[rustfmt::skip]
const HELD: &[u32] = &[
    13, 14, 16, 18, 21, 22, 26, 27, 29, 30, 31, 32, 33, 35, 36, 37, 38, 39, 41, 42, 43, 44, 45, 47, 48, 49, 50, 51, 52, 53, 58, 60, 61, 62,
    65, 66, 69, 70, 71, 73, 74, 75, 76, 78, 80, 81, 83, 84, 85, 86, 90, 91, 92, 93, 94, 96, 98, 99, 100, 102, 104, 105, 106, 113, 114, 123,
    124, 129,
];

/// What is tried where it may start others.
const FREE: &[u32] = &[2, 3, 28, 68, 89];

/// What does not hold with Podman: it bounds the memory of a package that makes names, and not their number.
const NOT_PODMAN: &[u32] = &[91];

/// A run of its own for each.
type One = fn(&Packages<'_, Docker>) -> Result<(), String>;

#[rustfmt::skip]
const ALONE: &[(&[u32], One)] = &[
    (&[4], nothing_is_started_and_the_shell_did_start),
    (&[6, 10], time_ends_everything),
    (&[11], a_held_pipe_is_not_waited_for),
    (&[7, 132, 8, 152], a_clean_end_is_on_record),
    (&[24], a_script_begins_and_starts_nothing),
    (&[67], other_numbers_end_the_program),
    (&[119], memory_is_not_swapped),
    (&[125], a_flood_is_cut),
    (&[127, 128], bytes_are_shown_safely),
    (&[133, 138, 140], codes_are_told),
    (&[143, 144], an_image_is_the_one_that_was_named),
    (&[145, 148], what_is_not_as_signed_is_refused),
    (&[146], the_address_of_the_api_is_one_value),
    (&[147], the_files_are_those_that_were_checked),
    (&[150], nothing_is_left_for_the_next_run),
    (&[154], every_start_has_one_end),
    (&[159], questions_to_the_record_are_bounded),
];

/// Tries every row.
pub(crate) fn tried(docker: &Docker, stockade: &Path) -> Rows {
    let packages = Packages::new(docker, stockade);
    let mut rows = probed(&packages, &[]);
    for (numbers, alone) in ALONE {
        let outcome = alone(&packages);
        rows.extend(numbers.iter().map(|number| (*number, outcome.clone())));
    }
    rows
}

/// Tries what one run tries after another, where Podman makes the containers; or says why it makes none here.
pub(crate) fn tried_by_podman(podman: &Podman, stockade: &Path) -> Result<Rows, String> {
    let packages = Packages::new(podman, stockade);
    let ran = packages.run(&packages.package("first", &bounds(64, 60_000, false)), &[], &[]);
    if let Some(why) = why_not(&ran) {
        return Err(why);
    }
    Ok(probed(&packages, NOT_PODMAN))
}

fn bounds(memory: u64, timeout: u64, spawn: bool) -> Value {
    json!({ "memoryMb": memory, "timeoutMs": timeout, "allowSpawn": spawn })
}

fn check(holds: bool, otherwise: impl std::fmt::Display) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise.to_string().chars().take(1500).collect()) }
}

/// The rows of the two runs that try many, with listeners outside.
fn probed<E: Engine>(packages: &Packages<'_, E>, without: &[u32]) -> Rows {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    // Tests of other engines listen at the same time.
    let name = format!("stockade-{}-{}", std::process::id(), packages.engine.variable().0);
    let _abstract = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    // A socket that is open in the process that starts the package, and would stay open.
    let inherited = UnixStream::pair().unwrap().0;
    rustix::io::fcntl_setfd(&inherited, rustix::io::FdFlags::empty()).unwrap();
    assert!(inherited.as_raw_fd() > 2);
    let api = answering(packages);
    let home = baited(packages);
    let words = [
        format!("port={}", tcp.local_addr().unwrap().port()),
        format!("abstract={name}"),
        format!("runner={}", std::process::id()),
        format!("home={}", home.display()),
    ];
    let mut rows = Rows::new();
    for (numbers, spawn) in [(HELD, false), (FREE, true)] {
        let package = packages.package(if spawn { "free" } else { "held" }, &bounds(128, 60_000, spawn));
        let numbers: Vec<String> =
            numbers.iter().filter(|number| !without.contains(number)).map(u32::to_string).collect();
        let mut command = vec!["/probe"];
        command.extend(words.iter().chain(&numbers).map(String::as_str));
        let ran = packages.run(&package, &["--api-socket", api.to_str().unwrap()], &command);
        for number in numbers {
            let said = printed(&ran).lines().find(|line| line.split(' ').next() == Some(&number));
            let outcome = match said {
                Some(said) => check(said == format!("{number} held"), said),
                None => Err(format!("it said nothing: {}", printed(&ran))),
            };
            rows.insert(number.parse().unwrap(), outcome);
        }
    }
    rows
}

/// The home of the user that starts the package, with keys in it that every user may read.
fn baited<E: Engine>(packages: &Packages<'_, E>) -> std::path::PathBuf {
    let home = packages.folder.path().canonicalize().unwrap();
    fs::set_permissions(&home, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for bait in [".ssh/id_ed25519", ".iscl/keystore/key.json"].map(|bait| home.join(bait)) {
        fs::create_dir_all(bait.parent().unwrap()).unwrap();
        fs::write(bait, SECRET).unwrap();
    }
    home
}

/// A socket of the API, which answers every client.
fn answering<E: Engine>(packages: &Packages<'_, E>) -> std::path::PathBuf {
    let path = packages.folder.path().canonicalize().unwrap().join("api.sock");
    let listener = UnixListener::bind(&path).unwrap();
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let mut client = client;
            client.read_exact(&mut [0; 4]).ok();
            client.write_all(b"told\n").ok();
        }
    });
    path
}

fn nothing_is_started_and_the_shell_did_start(packages: &Packages<'_, Docker>) -> Result<(), String> {
    let ran = packages.run(
        &packages.package("p", &bounds(64, 10_000, false)),
        &[],
        &["sh", "-c", "echo started; cat /script"],
    );
    check(printed(&ran) == "started\n" && ran["exitCode"] != 0, ran)
}

/// One that ignores signals and starts another in a session of its own.
fn time_ends_everything(packages: &Packages<'_, Docker>) -> Result<(), String> {
    let package = packages.package("late", &bounds(64, 2_000, true));
    let script = "trap '' TERM INT HUP; (trap '' TERM HUP; while :; do sleep 0.1; done) & sleep 60";
    let ran = packages.run(&package, &[], &["sh", "-c", script, "stockade-late-mark"]);
    check(ran["end"] == "timed-out", &ran)?;
    check(packages.engine.says(&["ps", "--all", "--quiet"]).is_empty(), "a container is left")?;
    check(super::arguments_with("stockade-late-mark").is_empty(), "a process is left")
}

fn a_held_pipe_is_not_waited_for(packages: &Packages<'_, Docker>) -> Result<(), String> {
    let package = packages.package("late", &bounds(64, 30_000, true));
    // A caller that waits for the pipe runs out of time.
    let ran = packages.run(&package, &[], &["sh", "-c", "sleep 600 & echo over"]);
    check(ran["end"] == "exited" && printed(&ran) == "over\n" && ran["exitCode"] == 0, ran)
}

/// The image names the command that runs.
fn a_clean_end_is_on_record(packages: &Packages<'_, Docker>) -> Result<(), String> {
    let ran = packages.run(&packages.package("p", &bounds(64, 10_000, false)), &[], &[]);
    check(printed(&ran) == "hello-from-sandbox\n" && ran["exitCode"] == 0 && ran["end"] == "exited", &ran)?;
    let records = packages.records();
    let [end, start, ..] = records.as_slice() else { return Err(format!("{records:?}")) };
    let is_start = start["event"] == "sandbox_started" && start["skill"] == "demo";
    let is_end = end["event"] == "sandbox_completed" && end["skill"] == "demo" && end["exitCode"] == 0;
    let is_measured = end["durationMs"].is_u64() && end["run"].is_string() && end["run"] == start["run"];
    check(is_start && is_end && is_measured, format!("{start} {end}"))?;
    // An engine takes no less than six, and that is what is held.
    packages.run(&packages.package("small", &bounds(1, 10_000, false)), &[], &[]);
    let least = packages.records().into_iter().find(|record| record["event"] == "sandbox_started");
    check(
        start["data"]["memoryMb"] == 64
            && least.as_ref().is_some_and(|record| record["data"]["memoryMb"] == 6),
        format!("{least:?}"),
    )
}

fn a_script_begins_and_starts_nothing(packages: &Packages<'_, Docker>) -> Result<(), String> {
    let ran = packages.run(&packages.package("p", &bounds(64, 10_000, false)), &[], &["/entry"]);
    check(printed(&ran) == "started\n" && ran["exitCode"] != 0, ran)
}

fn other_numbers_end_the_program(packages: &Packages<'_, Docker>) -> Result<(), String> {
    let package = packages.package("p", &bounds(64, 10_000, false));
    let ran = packages.run(&package, &[], &["/probe", "marker", "67"]);
    // SIGSYS is 31.
    check(printed(&ran) == "started\n" && ran["exitCode"] == 159, ran)
}

fn memory_is_not_swapped(packages: &Packages<'_, Docker>) -> Result<(), String> {
    let package = packages.package("p", &bounds(64, 20_000, false));
    let ran = packages.run(&package, &[], &["/probe", "marker", "memory", "96"]);
    check(printed(&ran) == "started\n" && ran["end"] == "out-of-memory" && ran["exitCode"] == 137, ran)?;
    let fits = packages.run(&package, &[], &["/probe", "memory", "32"]);
    check(printed(&fits) == "has it\n", fits)
}

/// The peak of this program's memory is looked at while it hands on what is printed.
fn a_flood_is_cut(packages: &Packages<'_, Docker>) -> Result<(), String> {
    let package = packages.package("flood", &bounds(64, 60_000, true));
    let mut command = packages.ready(&package, &[], &["head", "-c", "100000000", "/dev/zero"]);
    let mut child =
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let pid = child.id();
    let watch = std::thread::spawn(move || {
        let mut peak = 0;
        while let Ok(status) = fs::read_to_string(format!("/proc/{pid}/status")) {
            let words = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let Some(kilobytes) = words.and_then(|words| words.trim().split(' ').next()) else { break };
            peak = peak.max(kilobytes.parse::<u64>().unwrap());
            std::thread::sleep(Duration::from_millis(20));
        }
        peak
    });
    let kept = std::io::copy(&mut stdout, &mut std::io::sink()).unwrap();
    let said = child.wait_with_output().unwrap();
    let (peak, said) = (watch.join().unwrap(), String::from_utf8_lossy(&said.stderr).into_owned());
    let dropped = format!("{} bytes of output were dropped", 100_000_000 - (10 << 20));
    check(kept == 10 << 20 && said.contains(&dropped), format!("{kept}: {said}"))?;
    check(peak < 100_000, format!("{peak} kB"))
}

fn bytes_are_shown_safely(packages: &Packages<'_, Docker>) -> Result<(), String> {
    let package = packages.package("p", &bounds(64, 10_000, false));
    let output = packages.ready(&package, &["--format", "json"], &["/probe", "bytes"]).output().unwrap();
    let line = output.stdout.strip_suffix(b"\n").unwrap_or_default();
    check(!line.is_empty() && !line.iter().any(u8::is_ascii_control), "a control character is printed")?;
    let ran = document(&output);
    check(ran["stdout"]["isLossy"] == true && printed(&ran).contains("\0\u{1b}[2J"), ran)
}

fn codes_are_told(packages: &Packages<'_, Docker>) -> Result<(), String> {
    let package = packages.package("p", &bounds(64, 10_000, false));
    // An engine tells a signal by 128 and its number.
    for (words, code) in
        [(["sh", "-c", "exit 1"].as_slice(), 1), (&["sh", "-c", "exit 137"], 137), (&["/probe", "segv"], 139)]
    {
        let ran = packages.run(&package, &[], words);
        check(ran["exitCode"] == code && ran["end"] == "exited", ran)?;
        let record = packages.records().swap_remove(0);
        check(record["event"] == "sandbox_error" && record["exitCode"] == code, record)?;
    }
    Ok(())
}

fn an_image_is_the_one_that_was_named(packages: &Packages<'_, Docker>) -> Result<(), String> {
    let package = packages.package("p", &bounds(64, 10_000, false));
    let docker = packages.engine;
    let tag = "iscl-skill-demo:latest";
    docker.says(&["tag", &docker.image, tag]);
    let other = docker.other_image();
    docker.says(&["tag", &other, tag]);
    let ran = packages.run(&package, &[], &["/probe", "marker"]);
    check(printed(&ran) == "started\n", format!("a digest is always the same image: {ran}"))?;
    let gone = format!("sha256:{}", "d".repeat(64));
    for image in [gone.as_str(), "no-such@sha256:00", "alpine"] {
        // The last of an option counts for nothing: it may be given once.
        let ran = packages.run_of_image(&package, image);
        check(ran["end"] == "refused" && ran["help"].is_string(), ran)?;
    }
    docker.says(&["rmi", tag]);
    Ok(())
}

fn what_is_not_as_signed_is_refused(packages: &Packages<'_, Docker>) -> Result<(), String> {
    for (from, to) in
        [("\"demo\"", "\"--privileged\""), ("\"demo\"", "\"a/b\""), (":64,", ":65,"), ("false", "true")]
    {
        let package = packages.package("changed", &bounds(64, 10_000, false));
        let path = package.join("manifest.json");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let ran = packages.run(&package, &[], &["/probe", "marker"]);
        check(ran["end"] == "refused" && ran["exitCode"] == 126, format!("{to}: {ran}"))?;
    }
    Ok(())
}

fn the_address_of_the_api_is_one_value(packages: &Packages<'_, Docker>) -> Result<(), String> {
    let package = packages.package("p", &bounds(64, 10_000, false));
    for socket in ["/no/such\nLD_PRELOAD=/x", "/no,readonly=false", "core.sock", "/no/such.sock"] {
        let ran = packages.run(&package, &["--api-socket", socket], &["/probe", "marker"]);
        check(ran["end"] == "refused" && ran["help"].is_string(), ran)?;
    }
    Ok(())
}

fn the_files_are_those_that_were_checked(packages: &Packages<'_, Docker>) -> Result<(), String> {
    let package = packages.package("p", &bounds(64, 10_000, true));
    let script = "cat main.sh; (echo x > main.sh) 2>/dev/null && echo changed; (echo x > more) 2>/dev/null && echo changed; exit 0";
    let ran = packages.run(&package, &[], &["sh", "-c", script]);
    check(printed(&ran) == MAIN, ran)?;
    fs::write(package.join("main.sh"), "echo other\n").unwrap();
    let ran = packages.run(&package, &[], &[]);
    check(ran["end"] == "refused" && ran["stdout"].is_null(), ran)
}

fn nothing_is_left_for_the_next_run(packages: &Packages<'_, Docker>) -> Result<(), String> {
    let package = packages.package("p", &bounds(64, 10_000, true));
    let script = "cat /tmp/mark 2>/dev/null; echo mark > /tmp/mark && cat /tmp/mark";
    for _ in 0..2 {
        let ran = packages.run(&package, &[], &["sh", "-c", script]);
        check(printed(&ran) == "mark\n", ran)?;
    }
    Ok(())
}

/// Also of one whose runner was killed.
fn every_start_has_one_end(packages: &Packages<'_, Docker>) -> Result<(), String> {
    let package = packages.package("p", &bounds(64, 60_000, true));
    let silent = std::process::Stdio::null;
    let mut child =
        packages.ready(&package, &[], &["sleep", "600"]).stdout(silent()).stderr(silent()).spawn().unwrap();
    super::until(|| !packages.engine.says(&["ps", "--quiet"]).is_empty(), "it never began");
    child.kill().unwrap();
    check(child.wait().unwrap().signal() == Some(9), "it ended by itself")?;
    super::until(|| packages.engine.says(&["ps", "--all", "--quiet"]).is_empty(), "the container is left");
    packages.run(&package, &[], &[]);
    let mut ends: BTreeMap<String, i32> = BTreeMap::new();
    for record in packages.records() {
        let Some(run) = record["run"].as_str() else { continue };
        *ends.entry(run.to_owned()).or_default() += if record["event"] == "sandbox_started" { 10 } else { 1 };
    }
    // The one that was killed, and the one after it.
    check(ends.len() >= 2 && ends.values().all(|sum| *sum == 11), format!("{ends:?}"))?;
    let text = format!("{:?}", packages.records());
    check(!text.contains(SECRET), "a secret is on record")
}

fn questions_to_the_record_are_bounded(packages: &Packages<'_, Docker>) -> Result<(), String> {
    let package = packages.package("p", &bounds(64, 10_000, false));
    packages.run(&package, &[], &[]);
    let trail = packages.trail();
    let ask = |limit: &str| {
        let limit = format!("--limit={limit}");
        packages.stockade(&["audit", "query", "--format", "json", &limit, "--file", trail.to_str().unwrap()])
    };
    for (limit, least, most) in [("0", 1, 1), ("1000000000", 2, 1000)] {
        let output = ask(limit);
        let lines = document(&output)["events"].as_array().map_or(0, Vec::len);
        check((least..=most).contains(&lines), format!("{limit}: {lines} {output:?}"))?;
    }
    // What is no number is told, and nothing is answered.
    let output = ask("-5");
    check(output.stdout.is_empty() && output.status.code() == Some(2), format!("{output:?}"))
}
