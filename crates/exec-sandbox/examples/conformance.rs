//! Runs the test vectors in `FOLDER/vectors` that concern the sandbox and prints one score a file.
//!
//! A row counts when its expectation is a requirement on a plan. Rows that only record what another system happens to do
//! are run as well; where this crate decides otherwise, [`DECIDED_OTHERWISE`] says why. Kinds of rows that are about
//! something else than a plan are counted aloud as [`ELSEWHERE`].

#![expect(clippy::indexing_slicing, reason = "a row that lacks a member is null")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::Value;
use stockade_exec_sandbox::backends::EngineFacts;
use stockade_exec_sandbox::host::{Entry, HostFacts, Kernel};
use stockade_exec_sandbox::provider::Provider;
use stockade_exec_sandbox::seatbelt::seatbelt_plan;
use stockade_exec_sandbox::{
    Caches, Environment, HomeView, MountAccess, Network, OnUnavailable, Plan, Refusal, SandboxBackend,
    SandboxMode, SandboxSpec, bwrap_arguments, plan,
};
use testkit::vectors::{Deviations, Outcome, Vectors};

/// Rows of vectors that record another system's behaviour which this crate does not share.
const DECIDED_OTHERWISE: &[(&str, &str)] = &[
    ("detect1", "a bubblewrap that was tried and does not work is not kept: commands would fail one by one"),
    ("detect7", "a Mac is planned for by a function of its own, and never by the facts of Linux"),
    ("bw3", "a shared folder that is missing refuses, with the folder's name, before anything starts"),
    ("bw6", "folders with credentials of other programs are never let in"),
    ("bw8", "a command starts in a folder that it sees"),
    ("bw12", "terminals of the host are not let in; the sandbox has its own"),
    ("bw14", "~/.local would let credentials in below it; only programs in it are let in"),
    ("bw16", "a path that is named twice is mounted once"),
    ("bw27", "~/.local would let credentials in below it; only programs in it are let in"),
    ("bw29", "caches of the host are not writable: what one command leaves there, another program runs"),
    ("bw30", "caches of the host are not writable: what one command leaves there, another program runs"),
    ("bw31", "caches of the host are not writable: what one command leaves there, another program runs"),
    ("bw32", "caches of the host are not writable: what one command leaves there, another program runs"),
    ("bw34", "the filter of system calls belongs to the native launcher"),
    ("bw43", "a program is let in like any other path that may be read"),
    ("env3", "only names that are listed or asked for are handed on"),
    (
        "sbpl ~/.claude.json literal read AND write (HEAD), gone later",
        "logins, and servers that other programs start, stand in it; the other system took it out later as well",
    ),
    (
        "sbpl home reads: ~/Library, ~/Projects, ~/.local, ~/.nvm, ~/.claude when present (wide: ~/Library holds keychains and browser profiles)",
        "~/.claude holds logins, and hooks that other programs run; all else of the row holds",
    ),
    ("os-217", "a command keeps the place of its home, which is private"),
];

/// Kinds of rows that are not about a plan, and where they belong.
const ELSEWHERE: &[(&str, &str)] = &[
    (
        "landlock_abi_by_kernel",
        "the version of Landlock is asked of the kernel, never guessed from a release",
    ),
    ("native_flag", "settings are read by the guard"),
    ("mode_effect", "effects are tested live in tests/it"),
    ("mask_sockets", "effects are tested live in tests/it"),
    ("exec_rule", "effects are tested live in tests/it"),
    ("excluded_command", "no command is left out of the sandbox by its name"),
    ("domain_allow", "belongs to the broker"),
    ("registry", "tested with backends of its own, in src/backends/registry.rs"),
    ("docker_kill", "containers have a generated name for each run"),
    ("openshell", "belongs to a provider that runs elsewhere"),
    ("landlock_bits", "effects are tested live in tests/it"),
    ("env_value", "names decide; a value that looks like a secret has a name that is not listed"),
];

const VECTORS: Vectors = Vectors {
    files: &[
        ("comis-bwrap", arguments),
        ("comis-bwrap-env", redirects),
        ("comis-detect", detection),
        ("cb-ossandbox", os_sandbox),
        ("comis-sbpl", profiles),
    ],
    decided_otherwise: DECIDED_OTHERWISE,
    deviations: Deviations::LeftOut,
};

fn main() -> ExitCode {
    VECTORS.main()
}

fn rows(file: &Value) -> impl Iterator<Item = &Value> {
    file.as_array().into_iter().flatten()
}

fn paths(list: &Value) -> Vec<PathBuf> {
    rows(list).filter_map(Value::as_str).map(PathBuf::from).collect()
}

/// A machine on which these paths exist; files are told from folders by their names, as vectors do not say.
fn machine(options: &Value, exists: &Value) -> HostFacts {
    let text = |name: &str| options[name].as_str().unwrap_or_default();
    let home = PathBuf::from(text("home"));
    let mut there = paths(exists);
    if exists == "*" {
        there.extend(SYSTEM.iter().map(PathBuf::from));
        there.extend(
            [".gitconfig", ".config/git", ".local", ".nvm", ".claude", ".claude.json"]
                .map(|name| home.join(name)),
        );
        there.extend(paths(&options["read_only_paths"]));
        there.extend(paths(&options["shared_paths"]));
    }
    // The workspace and the folder for spilled output are made before a command runs.
    there.extend([text("workspace"), text("temp_dir")].map(PathBuf::from));
    let mut facts = HostFacts { home, user: 1000, kernel: KERNEL, ..HostFacts::default() };
    facts.entries = there.into_iter().map(|path| (path, Entry::Folder)).collect();
    if let Some(socket) = options["network"]["broker_socket"].as_str() {
        facts.entries.insert(socket.into(), Entry::Socket);
    }
    facts
}

const KERNEL: Kernel = Kernel { namespaces: true, landlock: 7, seccomp: true, mediation: true };

const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
    "/lib32",
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/hostname",
    "/etc/ssl",
    "/etc/ca-certificates",
    "/etc/pki",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/localtime",
    "/etc/passwd",
    "/etc/group",
    "/etc/nsswitch.conf",
    "/etc/fonts",
];

fn sandbox(options: &Value) -> SandboxSpec {
    let text = |name: &str| options[name].as_str().map(PathBuf::from);
    let mut spec = SandboxSpec::new(text("workspace").unwrap_or_default(), ["/bin/bash", "-c", "true"]);
    spec.cwd = text("cwd");
    spec.spill = text("temp_dir").filter(|path| !path.as_os_str().is_empty());
    spec.shared = paths(&options["shared_paths"]);
    spec.read_only = paths(&options["read_only_paths"]);
    spec.home = if options["secure_credential_home"] == true { HomeView::Private } else { HomeView::Tools };
    spec.network = match options["network"]["broker_socket"].as_str() {
        Some(socket) => Network::Broker { socket: socket.into() },
        None => Network::Open,
    };
    spec
}

fn planned(options: &Value, exists: &Value) -> Result<Plan, Refusal> {
    plan(&sandbox(options), &machine(options, exists))
}

fn arguments(file: &Value) -> Vec<Outcome> {
    rows(file).map(|row| Outcome::of(row["id"].as_str().unwrap_or("?"), bwrap_row(row))).collect()
}

fn bwrap_row(row: &Value) -> Result<(), String> {
    let planned = planned(&row["options"], &row["exists"]);
    if row.get("throws").is_some() {
        return if planned.is_err() { Ok(()) } else { Err("it was not refused".to_owned()) };
    }
    let words = bwrap_arguments(&planned.map_err(|refusal| refusal.to_string())?);
    // Ours take no note of how much fits into a folder in memory; the vectors do not.
    let mut words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    while let Some(at) = words.iter().position(|word| word == "--size") {
        words.drain(at..at + 2);
    }
    let options = words.iter().position(|word| word == "--").unwrap_or(words.len());
    words.truncate(options);
    let list = |value: &Value| rows(value).filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>();
    let place = |wanted: &[String]| words.windows(wanted.len().max(1)).position(|window| window == wanted);
    for wanted in rows(&row["must"]).map(list) {
        place(&wanted).ok_or_else(|| format!("{wanted:?} is missing in {words:?}"))?;
    }
    for unwanted in
        rows(&row["must_not"]).map(list).chain(list(&row["must_not_arg"]).into_iter().map(|word| vec![word]))
    {
        if place(&unwanted).is_some() {
            return Err(format!("{unwanted:?} is there"));
        }
    }
    for pair in rows(&row["before"]) {
        let (first, second) = (list(&pair[0]), list(&pair[1]));
        match (place(&first), place(&second)) {
            (Some(first), Some(second)) if first < second => {}
            found => return Err(format!("{first:?} is not before {second:?}: {found:?}")),
        }
    }
    if row.get("last").is_some() && !words.ends_with(&list(&row["last"])) {
        return Err(format!("the last are {:?}", &words[words.len() - 2..]));
    }
    Ok(())
}

fn redirects(file: &Value) -> Vec<Outcome> {
    let rows = rows(file).enumerate();
    rows.map(|(number, row)| Outcome::of(format!("env{number}"), redirect_row(row))).collect()
}

fn redirect_row(row: &Value) -> Result<(), String> {
    let workspace = row["workspace"].as_str().unwrap_or_default();
    let given = row["env"].as_object().cloned().unwrap_or_default();
    let environment: BTreeMap<OsString, OsString> =
        given.iter().map(|(name, value)| (name.into(), value.as_str().unwrap_or_default().into())).collect();
    let mut spec = SandboxSpec::new(workspace, ["true"]);
    spec.environment = Environment {
        pass: vec!["CUSTOM_VAR".into()],
        caches: Caches::Workspace { temporary: ".comis-tmp" },
        ..Environment::default()
    };
    let entries = [(workspace.into(), Entry::Folder)].into();
    let facts = HostFacts { environment, entries, user: 1000, kernel: KERNEL, ..HostFacts::default() };
    let plan = plan(&spec, &facts).map_err(|refusal| refusal.to_string())?;
    let found: BTreeMap<OsString, OsString> = plan.environment.into_iter().collect();
    for (name, value) in row["head"].as_object().into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        if found.get(&OsString::from(name)) != Some(&value.into()) {
            return Err(format!("{name} is {:?} and not {value}", found.get(&OsString::from(name))));
        }
    }
    let unwanted = rows(&row["must_be_absent"]).filter_map(Value::as_str);
    let there: Vec<&str> = unwanted.filter(|name| found.contains_key(&OsString::from(name))).collect();
    if there.is_empty() { Ok(()) } else { Err(format!("{there:?} are there")) }
}

fn detection(file: &Value) -> Vec<Outcome> {
    let rows = rows(file).enumerate();
    rows.map(|(number, row)| Outcome::of(format!("detect{number}"), detection_row(row))).collect()
}

/// Checks a row for a machine that has at most bubblewrap. Without it, nothing runs unless the request permits a run without a
/// sandbox; then the enforcement reports the gaps, on every kind of machine.
fn detection_row(row: &Value) -> Result<(), String> {
    let works = row["platform"] == "linux" && row["bwrap_on_path"] == true && row["smoke_ok"] == true;
    let mut spec = SandboxSpec::new("/ws", ["true"]);
    let facts = HostFacts {
        entries: [("/ws".into(), Entry::Folder)].into(),
        user: 1000,
        kernel: Kernel { seccomp: true, ..Kernel::default() },
        bubblewrap: works.then(|| "/usr/bin/bwrap".into()),
        ..HostFacts::default()
    };
    let strict = plan(&spec, &facts);
    spec.on_unavailable = OnUnavailable::Warn;
    let lax = plan(&spec, &facts).map_err(|refusal| refusal.to_string())?;
    match (row["provider"].as_str(), strict) {
        (Some(wanted), Ok(plan)) if plan.provider.name() == wanted && lax.provider == plan.provider => Ok(()),
        (None, Err(_)) if lax.provider == Provider::Nothing && !lax.enforcement.gaps.is_empty() => Ok(()),
        (wanted, found) => Err(format!("{wanted:?} is wanted; {:?}", found.map(|plan| plan.provider))),
    }
}

/// Profiles for macOS, by the lines that must and must not be in them.
fn profiles(file: &Value) -> Vec<Outcome> {
    let id = |row: &Value| format!("sbpl {}", row["title"].as_str().unwrap_or("?"));
    rows(file).map(|row| Outcome::of(id(row), profile_row(row))).collect()
}

fn profile_row(row: &Value) -> Result<(), String> {
    let options = &row["options"];
    let text = |name: &str| PathBuf::from(options[name].as_str().unwrap_or_default());
    let mut facts = HostFacts { home: text("home"), user: 501, ..HostFacts::default() };
    facts.entries.extend(paths(&row["exists"]).into_iter().map(|path| (path, Entry::Folder)));
    for (link, to) in row["realpath"].as_object().into_iter().flatten() {
        let resolved = to.as_str().map(PathBuf::from);
        facts.entries.insert(link.into(), Entry::Link { to: None, resolved });
    }
    let mut spec = SandboxSpec::new(text("workspace"), ["/usr/bin/true"]);
    spec.shared = paths(&options["shared_paths"]);
    spec.read_only = paths(&options["read_only_paths"]);
    spec.home = HomeView::Tools;
    // The other system shares the temporary folders of the machine anyway.
    spec.spill = Some(text("temp_dir")).filter(|folder| folder != Path::new("/private/tmp"));
    let profile = seatbelt_plan(&spec, &facts).map_err(|refusal| refusal.to_string())?.profile;
    for wanted in rows(&row["must"]).filter_map(Value::as_str) {
        if !profile.contains(wanted) {
            return Err(format!("{wanted} is missing"));
        }
    }
    if let Some(unwanted) = rows(&row["must_not"]).filter_map(Value::as_str).find(|it| profile.contains(it)) {
        return Err(format!("{unwanted} is there"));
    }
    for count in rows(&row["count"]) {
        let words: Vec<&str> = rows(&count[0]).filter_map(Value::as_str).collect();
        let lines = profile.lines().filter(|line| {
            words.iter().all(|word| {
                line.contains(&format!("{word} (subpath \"")) || line.contains(&format!("\"{word}\""))
            })
        });
        let found = lines.count() as u64;
        if Some(found) != count[1].as_u64() {
            return Err(format!("{words:?}: {found} lines"));
        }
    }
    Ok(())
}

fn os_sandbox(file: &Value) -> Vec<Outcome> {
    rows(file).map(os_sandbox_row).collect()
}

fn os_sandbox_row(row: &Value) -> Outcome {
    let id = row["id"].as_str().unwrap_or("?");
    let kind = row["kind"].as_str().unwrap_or_default();
    if let Some((_, why)) = ELSEWHERE.iter().find(|(name, _)| *name == kind) {
        return Outcome::elsewhere(id, why);
    }
    let result = match kind {
        "writable_root_refused" => root_row(row),
        "env_blocked" | "env_secret" | "env_kept" => variable_row(row),
        "env_forced" => forced_row(row),
        "mode" => mode_row(row),
        "docker_image_refused" => image_row(row),
        "docker_mount_refused" => container_row(row["workspace"].as_str().unwrap_or_default(), "i:1"),
        _ => Err(format!("no rule for rows of the kind {kind}")),
    };
    Outcome::of(id, result)
}

fn mode_row(row: &Value) -> Result<(), String> {
    let name = row["mode"].as_str().unwrap_or_default();
    let mode = SandboxMode::from_name(name).ok_or("unknown mode")?;
    let mut spec = SandboxSpec::new("/ws", ["true"]);
    mode.apply(&mut spec);
    let entries = [("/ws".into(), Entry::Folder)].into();
    let facts =
        HostFacts { entries, home: "/home/u".into(), user: 1000, kernel: KERNEL, ..HostFacts::default() };
    let plan = plan(&spec, &facts).map_err(|refusal| refusal.to_string())?;
    let is_held = plan.provider != Provider::Nothing;
    let found = [
        ("write_workspace", plan.may_write(Path::new("/ws/x")).is_some()),
        ("write_root", plan.may_write(Path::new("/x")).is_some()),
        ("network", !is_held || plan.network == Network::Open),
        ("unsandboxed_fallback", spec.on_unavailable == OnUnavailable::Warn),
    ];
    let wrong = found
        .iter()
        .find(|(what, is_so)| row["expect"][what].as_bool().is_some_and(|wanted| wanted != *is_so));
    wrong.map_or(Ok(()), |(what, is_so)| Err(format!("{what} is {is_so}")))
}

fn image_row(row: &Value) -> Result<(), String> {
    container_row("/ws", row["image"].as_str().unwrap_or_default())
}

/// An engine that has every image, so that what is refused is refused by its name.
fn container_row(workspace: &str, image: &str) -> Result<(), String> {
    let mut spec = SandboxSpec::new(workspace, ["true"]);
    spec.backend = SandboxBackend::Docker;
    spec.container.image = Some(image.to_owned());
    let engine = EngineFacts::complete(format!("sha256:{}", "c".repeat(64)));
    let entries = [(workspace.into(), Entry::Folder)].into();
    let facts = HostFacts {
        entries,
        home: "/home/u".into(),
        user: 1000,
        kernel: KERNEL,
        engine: Some(Ok(engine)),
        ..HostFacts::default()
    };
    plan(&spec, &facts).map_or(Ok(()), |_| Err("it was not refused".to_owned()))
}

fn root_row(row: &Value) -> Result<(), String> {
    let folder = row["workdir"].as_str().unwrap_or_default().replace("$HOME", "/home/u");
    let mut spec = SandboxSpec::new(&folder, ["true"]);
    spec.workspace_access = MountAccess::ReadWrite;
    let entries = [(folder.into(), Entry::Folder)].into();
    let facts =
        HostFacts { entries, home: "/home/u".into(), user: 1000, kernel: KERNEL, ..HostFacts::default() };
    match plan(&spec, &facts) {
        Err(_) => Ok(()),
        Ok(_) => Err("it may be written".to_owned()),
    }
}

fn variables(host: &[(&str, &str)]) -> Result<BTreeMap<OsString, OsString>, String> {
    let environment = host.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let entries = [("/ws".into(), Entry::Folder)].into();
    let facts = HostFacts {
        environment,
        entries,
        home: "/home/u".into(),
        user: 1000,
        kernel: KERNEL,
        ..HostFacts::default()
    };
    let plan = plan(&SandboxSpec::new("/ws", ["true"]), &facts).map_err(|refusal| refusal.to_string())?;
    Ok(plan.environment.into_iter().collect())
}

fn variable_row(row: &Value) -> Result<(), String> {
    let name = row["name"].as_str().unwrap_or_default();
    let there = variables(&[(name, "/value")])?.contains_key(&OsString::from(name));
    if there != (row["expect_removed"] == true) { Ok(()) } else { Err(format!("{name} is there: {there}")) }
}

fn forced_row(row: &Value) -> Result<(), String> {
    let found = variables(&[])?;
    for (name, value) in row["expect"].as_object().into_iter().flatten() {
        if found.get(&OsString::from(name)).and_then(|found| found.to_str()) != value.as_str() {
            return Err(format!("{name} is not {value}"));
        }
    }
    Ok(())
}
