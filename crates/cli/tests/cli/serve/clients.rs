//! The packages for Python and Node.js: made, installed where nothing else is, and tried there.
#![expect(clippy::disallowed_methods, reason = "makes, installs and runs packages")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{STOCKADE, repository};

/// What the tours of both print. Python and JavaScript write a truth value and a text each in their own way.
const TOUR: &str = "\
sanitize: Say hi.
scan: EXEC_PIPE_BASH
evaluate: deny
path: deny
error: -32602 unknown field `txt`, expected `text` or `maxBodyLength`; did you mean `text`?
session: true
side by side: 60
stream: stdout \"tick\\n\"
cancel: cancelled
";

/// Where interpreters are, and no other `stockade`.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A folder in which a package is installed, with a home of its own.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        for name in ["home", "made", "app"] {
            fs::create_dir(place.path(name)).unwrap();
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// Runs a program, which must succeed, and returns what it printed.
    fn run(&self, program: impl AsRef<Path>, arguments: &[&str]) -> String {
        let mut command = Command::new(program.as_ref());
        command.args(arguments).current_dir(self.path("app")).env("HOME", self.path("home"));
        command.env("PYTHONDONTWRITEBYTECODE", "1").env_remove("STOCKADE_BINARY");
        // The only copy of the program itself is the one in the package.
        let output = command.env("PATH", PATH).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        let printed = String::from_utf8(output.stdout).unwrap();
        let program = program.as_ref().display();
        assert!(output.status.success(), "{program} {arguments:?}: {printed}\n{told}");
        printed
    }
}

#[test]
fn the_python_package_works_as_documented() {
    let python = "/usr/bin/python3";
    if !succeeds(python, &["-c", "import ensurepip"]) {
        return println!("skipped: the package for Python: there is no {python} with venv");
    }
    let (place, package) = (Place::new(), repository().join("packages/python").canonicalize().unwrap());
    let within = |path: &str| package.join(path).display().to_string();
    place.run(python, &["-m", "venv", "../venv"]);
    let python = place.path("venv/bin/python");
    // What cargo built stands in for what is released.
    let build = "import sys; sys.path.insert(0, sys.argv[1]); import build_wheel; print(build_wheel.build_wheel('../made'))";
    let made = Command::new(&python)
        .args(["-B", "-c", build, &within("")])
        .current_dir(place.path("app"))
        .env("STOCKADE_BINARY", STOCKADE)
        .output()
        .unwrap();
    let name = String::from_utf8(made.stdout).unwrap();
    assert!(name.starts_with("stockade-") && name.ends_with(".whl\n"), "{name}{:?}", made.stderr);
    let wheel = format!("../made/{}", name.trim_end());
    place.run(&python, &["-m", "pip", "install", "--quiet", "--no-index", "--no-deps", &wheel]);

    let version = format!("stockade {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(place.run(place.path("venv/bin/stockade"), &["--version"]), version);
    assert_eq!(place.run(&python, &["-m", "stockade", "--version"]), version);
    let tour = place.run(&python, &[&within("examples/tour.py")]);
    assert_eq!(tour.replace("True", "true").replace("b'tick\\n'", "\"tick\\n\""), TOUR);
    place.run(&python, &[&within("tests/test_client.py")]);
    place.run(&python, &[&within("tests/test_adapters.py")]);

    let mypy = repository().join("target/tools/python/bin/mypy");
    if !mypy.exists() {
        return println!("skipped: the types of the package for Python: `cargo xtask setup` fetches mypy");
    }
    let python = python.display().to_string();
    for what in [vec![within("examples/tour.py")], vec!["--package".to_owned(), "stockade".to_owned()]] {
        let mut arguments = vec!["--strict", "--python-executable", &python];
        arguments.extend(what.iter().map(String::as_str));
        place.run(&mypy, &arguments);
    }
}

/// The frameworks themselves, with scripted models.
#[test]
fn the_adapters_for_python_work_with_the_real_frameworks() {
    let python = repository().join("target/tools/python/bin/python");
    let frameworks = ["langchain", "agents", "pydantic_ai", "claude_agent_sdk"];
    let has = |module: &&str| {
        let import = format!("import {module}");
        Command::new(&python).args(["-c", &import]).output().is_ok_and(|output| output.status.success())
    };
    let (there, missing): (Vec<&str>, Vec<&str>) = frameworks.into_iter().partition(has);
    for module in missing {
        println!("skipped: the adapter for `{module}`: `cargo xtask setup --optional` installs it");
    }
    if there.is_empty() {
        return;
    }
    let (place, package) = (Place::new(), repository().join("packages/python").canonicalize().unwrap());
    let mut command = Command::new(&python);
    command.arg("-B").arg(package.join("tests/test_adapters.py")).current_dir(place.path("app"));
    command.env("PYTHONPATH", &package).env("STOCKADE_BINARY", STOCKADE).env("HOME", place.path("home"));
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn the_node_packages_work_as_documented() {
    if !succeeds("npm", &["--version"]) || !succeeds("node", &["--version"]) {
        return println!("skipped: the packages for Node.js: there is no node, or no npm");
    }
    let (place, package) = (Place::new(), repository().join("packages/node").canonicalize().unwrap());
    let within = |path: &str| package.join(path).display().to_string();
    place.run("node", &[&within("scripts/platform.mjs"), STOCKADE, "../platform"]);
    place.run("npm", &["pack", "--silent", "--pack-destination", "../made", "../platform", &within("")]);
    fs::write(place.path("app/package.json"), "{\"private\": true}\n").unwrap();
    let made: Vec<String> = fs::read_dir(place.path("made"))
        .unwrap()
        .map(|entry| format!("../made/{}", entry.unwrap().file_name().into_string().unwrap()))
        .collect();
    let mut install = vec!["install", "--offline", "--silent", "--no-audit", "--no-fund"];
    install.extend(made.iter().map(String::as_str));
    place.run("npm", &install);

    has_licences(&place, "client");
    has_licences(&place, &platform());
    let version = format!("stockade {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(place.run("node_modules/.bin/stockade", &["--version"]), version);
    let tests = place.run("node", &["--test", "--test-reporter=tap", &within("tests/client.test.mjs")]);
    assert!(tests.contains("# fail 0") && tests.contains("# skipped 0"), "{tests}");

    let tools = repository().join("target/tools/node/node_modules").canonicalize().unwrap_or_default();
    let has_ai = ["ai", "zod"].iter().all(|name| {
        let link = place.path("app/node_modules").join(name);
        tools.join(name).exists() && std::os::unix::fs::symlink(tools.join(name), link).is_ok()
    });
    let tests = place.run("node", &["--test", "--test-reporter=tap", &within("tests/adapters.test.mjs")]);
    assert!(tests.contains("# fail 0") && tests.contains("# skipped 0") == has_ai, "{tests}");
    if !has_ai {
        println!("skipped: the adapter for the AI SDK: `cargo xtask setup --optional` installs it");
    }
    if !tools.join(".bin/tsc").exists() || !tools.join("@types/node").exists() {
        return println!("skipped: the types of the package for Node.js: `cargo xtask setup` fetches tsc");
    }
    for name in ["tour.mts", "common.cts"] {
        fs::copy(within(&format!("examples/{name}")), place.path("app").join(name)).unwrap();
    }
    let types = tools.join("@types").display().to_string();
    let strict =
        ["--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes", "--module", "nodenext"];
    let other = ["--target", "es2022", "--typeRoots", &types, "--types", "node", "tour.mts", "common.cts"];
    place.run(tools.join(".bin/tsc"), &[strict.as_slice(), other.as_slice()].concat());
    assert_eq!(place.run("node", &["tour.mjs"]), TOUR);
    assert_eq!(place.run("node", &["common.cjs"]), "allow\n");
}

/// The plugin with a host of ours; `cargo xtask harnesses openclaw` has the real one.
#[test]
fn the_openclaw_plugin_works_as_documented() {
    if !succeeds("npm", &["--version"]) || !succeeds("node", &["--version"]) {
        return println!("skipped: the plugin for OpenClaw: there is no node, or no npm");
    }
    let place = Place::new();
    let packages = ["node", "openclaw"].map(|name| {
        let package = repository().join("packages").join(name).canonicalize().unwrap().display().to_string();
        let made = place.run("npm", &["pack", "--silent", "--pack-destination", "../made", &package]);
        format!("../made/{}", made.trim_end())
    });
    fs::write(place.path("app/package.json"), "{\"private\": true}\n").unwrap();
    let install = ["install", "--offline", "--omit=optional", "--silent", "--no-audit", "--no-fund"];
    place.run("npm", &[install.as_slice(), &packages.each_ref().map(String::as_str)].concat());
    has_licences(&place, "openclaw");
    // The program stands where the package for this platform would be.
    let program = place.path("app/node_modules/@stockade").join(platform());
    fs::create_dir(&program).unwrap();
    std::os::unix::fs::symlink(STOCKADE, program.join("stockade")).unwrap();
    let tests = repository().join("packages/openclaw/tests/plugin.test.mjs").canonicalize().unwrap();
    let tests = place.run("node", &["--test", "--test-reporter=tap", &tests.display().to_string()]);
    assert!(tests.contains("# fail 0") && tests.contains("# skipped 0"), "{tests}");
}

/// What is installed may be passed on as it is, which its licences ask for.
fn has_licences(place: &Place, package: &str) {
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        let there =
            fs::read_to_string(place.path("app/node_modules/@stockade").join(package).join(name)).ok();
        assert_eq!(there, fs::read_to_string(repository().join(name)).ok(), "{package}: {name}");
    }
}

/// The name of the package with the program for this machine, as Node.js calls systems and processors.
fn platform() -> String {
    let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    let processor = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    format!("cli-{system}-{processor}")
}

/// What the action is told, and how it ends. Nothing that it is told is run.
#[test]
fn the_action_ends_as_the_scan_ended() {
    let script = repository().join("packages/action/scan.sh").canonicalize().unwrap();
    let skills = repository().join("examples/skills").canonicalize().unwrap().display().to_string();
    for (variables, code) in [
        (&[("PATHS", "clean.md")][..], 0),
        (&[("PATHS", "clean.md\n\n."), ("EXCLUDE", "x y\n*.bin")][..], 0),
        (&[("PATHS", skills.as_str())][..], 1),
        (&[("PATHS", skills.as_str()), ("SARIF", "out.sarif")][..], 1),
        (&[("PATHS", skills.as_str()), ("EXCLUDE", "prereq-installer")][..], 0),
        (&[("PATHS", skills.as_str()), ("EXCLUDE_FROM", "globs")][..], 0),
        (&[("PATHS", "clean.md"), ("EXCLUDE_FROM", "nowhere")][..], 2),
        (&[("PATHS", "clean.md"), ("SUPPRESSIONS", "nowhere.toml")][..], 2),
        (&[("PATHS", "clean.md"), ("BASELINE", "nowhere.json")][..], 2),
        (&[("PATHS", "clean.md"), ("SKILLS", skills.as_str())][..], 1),
        (&[("PATHS", "")][..], 2),
        (&[("PATHS", "\n")][..], 2),
        (&[("PATHS", "clean.md"), ("FAIL_ON", "sometimes")][..], 2),
        (&[("PATHS", "--help")][..], 3),
        (&[("PATHS", "$(touch made)"), ("EXCLUDE", "`touch made`")][..], 3),
        (&[("PATHS", "clean.md"), ("BINARY", "/nowhere/stockade")][..], 127),
    ] {
        let place = Place::new();
        fs::write(place.path("app/clean.md"), "hello\n").unwrap();
        fs::write(place.path("app/globs"), "prereq-installer\n").unwrap();
        let mut command = Command::new("bash");
        command.arg(&script).current_dir(place.path("app")).env_clear().env("PATH", PATH);
        command
            .envs([("FAIL_ON", "critical"), ("BINARY", STOCKADE)])
            .env("GITHUB_OUTPUT", place.path("made/output"));
        let ended = command.envs(variables.iter().copied()).output().unwrap();
        assert_eq!(
            ended.status.code(),
            Some(code),
            "{variables:?}: {}",
            String::from_utf8_lossy(&ended.stderr)
        );
        assert!(!place.path("app/made").exists(), "{variables:?}");
        assert!(!variables.iter().any(|(name, _)| *name == "SARIF") || place.path("app/out.sarif").exists());
    }
}

#[test]
fn the_packages_have_the_version_of_the_program() {
    let quoted = format!("\"{}\"", env!("CARGO_PKG_VERSION"));
    for (package, places) in [("node", 5), ("openclaw", 2)] {
        let manifest = repository().join("packages").join(package).join("package.json");
        let manifest = fs::read_to_string(manifest).unwrap();
        let versions =
            manifest.lines().filter(|line| line.contains("\"version\"") || line.contains("@stockade/cl"));
        assert_eq!(versions.filter(|line| line.contains(&quoted)).count(), places, "{manifest}");
    }
}

fn succeeds(program: &str, arguments: &[&str]) -> bool {
    Command::new(program)
        .args(arguments)
        .env("PATH", PATH)
        .output()
        .is_ok_and(|output| output.status.success())
}
