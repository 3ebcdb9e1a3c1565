//! `cargo xtask setup [--check]`: what the checks need beside Rust, and how this machine gets it.

use std::path::Path;

use crate::checks::{Check, Verdict};
use crate::program::{Echo, Program};
use crate::stop::{Stop, no_more};
use crate::table::Table;
use crate::workspace::Workspace;

const GROUP: &str = "setup";

/// Something that a check needs.
struct Tool {
    name: &'static str,
    /// A command that succeeds where the tool is there.
    probe: &'static [&'static str],
    source: Source,
    needed_by: &'static str,
}

/// Where a tool comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// A Debian package.
    Apt(&'static str),
    /// A component of the Rust toolchain.
    Rustup(&'static str),
    /// The standard library for another system.
    Target(&'static str),
    /// A package of Python, into a folder of the repository that git passes over.
    Python(&'static str),
    /// A package of Node.js, likewise.
    Node(&'static str),
}

/// Where packages of Python and Node.js go. Tests look there.
const PYTHON_TOOLS: &str = "target/tools/python";
const NODE_TOOLS: &str = "target/tools/node";
const PYTHON: &str = "target/tools/python/bin/python";

#[rustfmt::skip]
const TOOLS: &[Tool] = &[
    tool("rustfmt", &["cargo", "fmt", "--version"], Source::Rustup("rustfmt"), "lint"),
    tool("clippy", &["cargo", "clippy", "--version"], Source::Rustup("clippy"), "lint"),
    tool("a C++ compiler", &["c++", "--version"], Source::Apt("g++"), "fuzz (it builds libFuzzer)"),
    tool("a Redis server", &["redis-server", "--version"], Source::Apt("redis-server"),
        "test (limits that machines share)"),
    tool("git", &["git", "--version"], Source::Apt("git"), "test (commits in a sandbox)"),
    tool("Python", &["/usr/bin/python3", "--version"], Source::Apt("python3"),
        "test (attempts to get out of a sandbox)"),
    tool("bubblewrap", &["bwrap", "--version"], Source::Apt("bubblewrap"),
        "oracle (the jail of the shells), bench (what the sandbox is compared with)"),
    tool("a daemon of Docker", &["dockerd", "--version"], Source::Apt("docker.io"),
        "test (packages in real containers)"),
    tool("Podman", &["podman", "--version"], Source::Apt("podman"), "test (commands in containers)"),
    tool("gVisor", &["runsc", "--version"], Source::Apt("runsc"), "test (containers with a kernel of their own)"),
    tool("zsh", &["zsh", "--version"], Source::Apt("zsh"), "oracle (it is one of the shells that are asked)"),
    tool("venv of Python", &["/usr/bin/python3", "-c", "import ensurepip"], Source::Apt("python3-venv"),
        "test (the client of E2B)"),
    tool("Node.js", &["node", "--version"], Source::Apt("nodejs"), "test (the client of E2B)"),
    tool("npm", &["npm", "--version"], Source::Apt("npm"), "test (the client of E2B)"),
    tool("E2B's SDK for Python", &[PYTHON, "-c", "import e2b"], Source::Python("e2b==2.63.0"),
        "test (the client of E2B)"),
    tool("OpenTelemetry's reader", &[PYTHON, "-c", "import opentelemetry.proto.logs"], Source::Python("opentelemetry-proto==1.45.2"),
        "test (what a collector of logs reads)"),
    tool("MCP's SDK for Python", &[PYTHON, "-c", "import mcp.client.client"], Source::Python("mcp==2.3.0"),
        "test (clients and servers of the Model Context Protocol)"),
    tool("MCP's SDK for JavaScript", &["test", "-d", "target/tools/node/node_modules/@modelcontextprotocol/sdk"],
        Source::Node("@modelcontextprotocol/sdk@1.32.2"), "test (clients and servers of the Model Context Protocol)"),
    tool("E2B's SDK for JavaScript", &["test", "-d", "target/tools/node/node_modules/e2b"], Source::Node("e2b@2.51.0"),
        "test (the client of E2B)"),
    tool("mypy", &["target/tools/python/bin/mypy", "--version"], Source::Python("mypy==2.4.1"), "test (types of the package)"),
    tool("TypeScript", &["test", "-e", "target/tools/node/node_modules/.bin/tsc"], Source::Node("typescript@7.0.2"),
        "test (types of the package)"),
    tool("types of Node.js", &["test", "-d", "target/tools/node/node_modules/@types/node"], Source::Node("@types/node@20.19.43"),
        "test (types of the package)"),
    tool("curl", &["curl", "--version"], Source::Apt("curl"), "test (clients of the network)"),
    tool("wget", &["wget", "--version"], Source::Apt("wget"), "test (clients of the network)"),
    tool("a server of SSH", &["test", "-x", "/usr/sbin/sshd"], Source::Apt("openssh-server"), "test (clients of the network)"),
    tool("Go", &["go", "version"], Source::Apt("golang-go"), "test (clients of the network)"),
    tool("Java", &["javac", "-version"], Source::Apt("default-jdk-headless"), "test (clients of the network)"),
    tool("requests for Python", &[PYTHON, "-c", "import requests"], Source::Python("requests==2.34.2"),
        "test (clients of the network)"),
    tool("httpx for Python", &[PYTHON, "-c", "import httpx"], Source::Python("httpx==0.28.1"), "test (clients of the network)"),
    tool("aiohttp for Python", &[PYTHON, "-c", "import aiohttp"], Source::Python("aiohttp==3.14.5"),
        "test (clients of the network)"),
    tool("the newest Node.js", &["target/tools/node/node_modules/node/bin/node", "--version"], Source::Node("node@26.10.0"),
        "test (clients of the network)"),
    tool("Chromium", &["chromium", "--version"], Source::Apt("chromium"), "test (pages for browsers, browsers in a sandbox)"),
    rust_for("Rust for Linux on ARM", "aarch64-unknown-linux-gnu"),
    rust_for("Rust for macOS", "aarch64-apple-darwin"),
];

const fn tool(
    name: &'static str,
    probe: &'static [&'static str],
    source: Source,
    needed_by: &'static str,
) -> Tool {
    Tool { name, probe, source, needed_by }
}

/// The row of the standard library for another system, which no command asks for: see [`Tool::is_there`].
const fn rust_for(name: &'static str, target: &'static str) -> Tool {
    tool(name, &[], Source::Target(target), "elsewhere")
}

/// Runs the command.
pub(crate) fn run(_: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    let (only_look, rest) = match arguments.split_first() {
        Some((first, rest)) if first == "--check" => (true, rest),
        _ => (false, arguments),
    };
    no_more(rest, "setup [--check]")?;
    print!("{}", table());
    let missing = missing();
    if missing.is_empty() {
        println!("nothing is missing");
        return Ok(());
    }
    if only_look {
        return Err(Stop::failed(advice(&missing)));
    }
    install(&missing)
}

/// What `ci` does about a missing tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Install it: the machine is there for nothing else.
    Install,
    /// Ask for it: the machine belongs to a person.
    Ask,
}

/// Returns the checks of this command: one, which comes first, so that the others find what they need.
pub(crate) fn checks(what_to_do: Missing) -> Vec<Check> {
    vec![Check::new(GROUP, "tools that the checks need", move |_| {
        let missing = missing();
        if missing.is_empty() {
            return Verdict::passed();
        }
        match what_to_do {
            Missing::Install => install(&missing).map_or_else(
                |stop| Verdict::cannot(format!("could not install what is missing: {}", stop.message())),
                |()| Verdict::passed(),
            ),
            Missing::Ask => Verdict::cannot(advice(&missing)),
        }
    })]
}

/// Returns why a group of checks cannot run on this machine, if it lacks a tool.
pub(crate) fn lacking(group: &str) -> Option<String> {
    lacking_one_of(|tool| tool.needed_by.split(' ').next() == Some(group))
}

/// Returns why nothing can be built for another system, if this machine lacks what that takes.
pub(crate) fn lacking_for(target: &'static str) -> Option<String> {
    lacking_one_of(|tool| tool.source == Source::Target(target))
}

fn lacking_one_of(needed: impl Fn(&Tool) -> bool) -> Option<String> {
    let missing = TOOLS.iter().find(|tool| needed(tool) && !tool.is_there())?;
    Some(format!("{} is missing: run `cargo xtask setup`", missing.name))
}

/// Returns the systems that there shall be a standard library for, besides this one.
pub(crate) fn targets() -> impl Iterator<Item = &'static str> {
    TOOLS.iter().filter_map(|tool| if let Source::Target(target) = tool.source { Some(target) } else { None })
}

/// Whether Rust has its standard library for a system.
fn has_library(target: &str) -> bool {
    let folder = Program::new("rustc").args(["--print", "target-libdir", "--target", target]).read();
    folder.is_ok_and(|folder| Path::new(folder.trim()).is_dir())
}

impl Tool {
    fn is_there(&self) -> bool {
        if let Source::Target(target) = self.source {
            return has_library(target);
        }
        let Some((program, arguments)) = self.probe.split_first() else { return false };
        let program = if *program == "cargo" { Program::cargo() } else { Program::new(program) };
        program.args(arguments).folder(root()).succeeds()
    }
}

/// The folder of the repository.
fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

fn missing() -> Vec<&'static Tool> {
    TOOLS.iter().filter(|tool| !tool.is_there()).collect()
}

fn table() -> Table {
    let mut table = Table::new(&["tool", "comes from", "needed by", "here"]);
    for tool in TOOLS {
        let source = match tool.source {
            Source::Apt(package) => format!("Debian package {package}"),
            Source::Rustup(component) => format!("rustup component {component}"),
            Source::Target(target) => format!("rustup target {target}"),
            Source::Python(package) => format!("PyPI package {package}"),
            Source::Node(package) => format!("npm package {package}"),
        };
        let here = if tool.is_there() { "yes" } else { "MISSING" };
        table.row([tool.name.to_owned(), source, tool.needed_by.to_owned(), here.to_owned()]);
    }
    table
}

fn advice(missing: &[&Tool]) -> String {
    let commands: Vec<String> = commands(missing, "sudo ").iter().map(|(_, shown)| shown.clone()).collect();
    format!("missing: {}; run: {}", names(missing), commands.join(" && "))
}

fn names(tools: &[&Tool]) -> String {
    tools.iter().map(|tool| tool.name).collect::<Vec<_>>().join(", ")
}

/// What installs the tools: programs to run with and without a prefix for root's rights, and as a person types them.
fn commands(missing: &[&Tool], prefix: &str) -> Vec<(Vec<String>, String)> {
    let of_source = |name: fn(Source) -> Option<&'static str>| {
        missing.iter().filter_map(|tool| name(tool.source)).collect::<Vec<_>>()
    };
    let packages = of_source(|source| if let Source::Apt(package) = source { Some(package) } else { None });
    let components = of_source(|source| if let Source::Rustup(name) = source { Some(name) } else { None });
    let targets = of_source(|source| if let Source::Target(name) = source { Some(name) } else { None });
    let python = of_source(|source| if let Source::Python(name) = source { Some(name) } else { None });
    let node = of_source(|source| if let Source::Node(name) = source { Some(name) } else { None });
    let mut lines = Vec::new();
    if !packages.is_empty() {
        lines.push(format!("{prefix}apt-get update"));
        lines.push(format!("{prefix}apt-get install --yes --no-install-recommends {}", packages.join(" ")));
    }
    if !components.is_empty() {
        lines.push(format!("rustup component add {}", components.join(" ")));
    }
    if !targets.is_empty() {
        lines.push(format!("rustup target add {}", targets.join(" ")));
    }
    if !python.is_empty() {
        let pip = format!("{PYTHON_TOOLS}/bin/pip install --quiet --disable-pip-version-check");
        lines.push(format!("/usr/bin/python3 -m venv {PYTHON_TOOLS}"));
        lines.push(format!("{pip} {}", python.join(" ")));
    }
    if !node.is_empty() {
        let npm = format!("npm install --silent --no-fund --no-audit --prefix {NODE_TOOLS}");
        lines.push(format!("{npm} {}", node.join(" ")));
    }
    lines.into_iter().map(|line| (line.split_whitespace().map(str::to_owned).collect(), line)).collect()
}

fn install(missing: &[&Tool]) -> Result<(), Stop> {
    let needs_root = missing.iter().any(|tool| matches!(tool.source, Source::Apt(_)));
    let prefix = if needs_root { root_prefix() } else { Some("") };
    let Some(prefix) = prefix else {
        return Err(Stop::failed(format!("this needs root's rights. {}", advice(missing))));
    };
    // One by one: a package that cannot be had takes no other one with it.
    let mut begun = Vec::new();
    for (words, shown) in missing.iter().flat_map(|tool| commands(&[tool], prefix)) {
        let Some((program, arguments)) = words.split_first().filter(|_| !begun.contains(&shown)) else {
            continue;
        };
        println!("$ {shown}");
        let program =
            Program::new(program).args(arguments).env("DEBIAN_FRONTEND", "noninteractive").folder(root());
        match program.run(Echo::Live) {
            Ok(output) if output.success => {}
            Ok(_) => println!("`{shown}` failed"),
            Err(error) => println!("`{shown}`: {error}"),
        }
        begun.push(shown);
    }
    let still: Vec<&Tool> = missing.iter().copied().filter(|tool| !tool.is_there()).collect();
    if still.is_empty() { Ok(()) } else { Err(Stop::failed(advice(&still))) }
}

/// How root's rights are got here: nothing to add for root itself, sudo where it asks no password, otherwise not.
fn root_prefix() -> Option<&'static str> {
    let is_root = Program::new("id").arg("-u").read().is_ok_and(|id| id.trim() == "0");
    if is_root {
        return Some("");
    }
    Program::new("sudo").args(["-n", "true"]).succeeds().then_some("sudo -n ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn of(name: &'static str, source: Source) -> Tool {
        tool(name, &["true"], source, "fuzz (for an example)")
    }

    const COMPILER: Tool = of("a compiler", Source::Apt("g++"));
    const LINTER: Tool = of("a linter", Source::Rustup("clippy"));
    const ELSEWHERE: Tool = of("another system", Source::Target("riscv64gc"));

    #[test]
    fn the_advice_is_a_command_that_can_be_pasted() {
        assert_eq!(
            advice(&[&LINTER, &COMPILER]),
            "missing: a linter, a compiler; run: sudo apt-get update && \
             sudo apt-get install --yes --no-install-recommends g++ && rustup component add clippy"
        );
        assert_eq!(advice(&[&LINTER]), "missing: a linter; run: rustup component add clippy");
        assert!(!has_library("another-system") && !ELSEWHERE.is_there());
        assert_eq!(advice(&[&ELSEWHERE]), "missing: another system; run: rustup target add riscv64gc");
    }

    #[test]
    fn packages_of_a_kind_are_installed_by_one_command() {
        let (one, other) = (of("one", Source::Python("one==1")), of("other", Source::Python("other==2")));
        assert_eq!(
            advice(&[&one, &other]),
            "missing: one, other; run: /usr/bin/python3 -m venv target/tools/python && \
             target/tools/python/bin/pip install --quiet --disable-pip-version-check one==1 other==2"
        );
    }

    #[test]
    fn root_needs_no_prefix() {
        let (words, _) = &commands(&[&COMPILER], "")[0];
        assert_eq!(words, &["apt-get", "update"]);
    }
}
