//! `cargo xtask setup [--check] [--optional]`: the tools that the checks need beside Rust, and how this machine gets them.
//!
//! The heaviest tools are optional: without them `ci` skips the tests that need them, says so, and passes. With `CI=true` it
//! installs all of them.

use std::io::{IsTerminal, Write};
use std::path::Path;

use crate::checks::{Check, Verdict};
use testkit::{Echo, Program, Stop, Table, Workspace, no_more};

const GROUP: &str = "setup";

/// Something that a check needs.
struct Tool {
    name: &'static str,
    /// A command that succeeds where the tool is there.
    probe: &'static [&'static str],
    source: Source,
    needed_by: &'static str,
    need: Need,
}

/// Whether `ci` installs a tool for a person who did not ask for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    /// Many checks need it.
    Required,
    /// It is hundreds of megabytes, and few tests need it.
    Optional,
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
    tool("strace", &["strace", "--version"], Source::Apt("strace"), "test (what commands open, and what they wait for)"),
    tool("valgrind", &["valgrind", "--version"], Source::Apt("valgrind"), "budgets (instructions)"),
    tool("GNU time", &["/usr/bin/time", "--version"], Source::Apt("time"), "budgets (memory)"),
    tool("git", &["git", "--version"], Source::Apt("git"), "test (commits in a sandbox)"),
    tool("Python", &["/usr/bin/python3", "--version"], Source::Apt("python3"),
        "test (attempts to get out of a sandbox)"),
    tool("bubblewrap", &["bwrap", "--version"], Source::Apt("bubblewrap"),
        "oracle (the jail of the shells), bench (what the sandbox is compared with)"),
    optional("a daemon of Docker", &["dockerd", "--version"], Source::Apt("docker.io"),
        "test (packages in real containers)"),
    optional("Podman", &["podman", "--version"], Source::Apt("podman"), "test (commands in containers)"),
    optional("gVisor", &["runsc", "--version"], Source::Apt("runsc"), "test (containers with a kernel of their own)"),
    tool("zsh", &["zsh", "--version"], Source::Apt("zsh"), "oracle (it is one of the shells that are asked)"),
    tool("busybox", &["busybox", "--help"], Source::Apt("busybox"), "oracle (its shell is one of those that are asked)"),
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
    optional("TypeScript", &["test", "-e", "target/tools/node/node_modules/.bin/tsc"], Source::Node("typescript@7.0.2"),
        "test (types of the package)"),
    tool("types of Node.js", &["test", "-d", "target/tools/node/node_modules/@types/node"], Source::Node("@types/node@20.19.43"),
        "test (types of the package)"),
    optional("LangChain", &[PYTHON, "-c", "import langchain"], Source::Python("langchain==1.5.2"),
        "test (adapters for agent frameworks)"),
    optional("the OpenAI Agents SDK", &[PYTHON, "-c", "import agents"], Source::Python("openai-agents==0.24.0"),
        "test (adapters for agent frameworks)"),
    optional("Pydantic AI", &[PYTHON, "-c", "import pydantic_ai"], Source::Python("pydantic-ai-slim==2.68.0"),
        "test (adapters for agent frameworks)"),
    optional("the Claude Agent SDK", &[PYTHON, "-c", "import claude_agent_sdk"], Source::Python("claude-agent-sdk==0.2.189"),
        "test (adapters for agent frameworks)"),
    optional("the AI SDK", &["test", "-d", "target/tools/node/node_modules/ai"], Source::Node("ai@6.0.326"),
        "test (adapters for agent frameworks)"),
    optional("zod", &["test", "-d", "target/tools/node/node_modules/zod"], Source::Node("zod@4.6.7"),
        "test (adapters for agent frameworks)"),
    tool("openssl", &["openssl", "version"], Source::Apt("openssl"), "release (it signs the checksums)"),
    tool("minisign", &["minisign", "-v"], Source::Apt("minisign"), "release (it checks the signature)"),
    tool("rpmbuild", &["rpmbuild", "--version"], Source::Apt("rpm"), "release (the package for Fedora)"),
    tool("shellcheck", &["shellcheck", "--version"], Source::Apt("shellcheck"), "release (the scripts that users run)"),
    tool("curl", &["curl", "--version"], Source::Apt("curl"), "test (clients of the network)"),
    tool("wget", &["wget", "--version"], Source::Apt("wget"), "test (clients of the network)"),
    tool("a server of SSH", &["test", "-x", "/usr/sbin/sshd"], Source::Apt("openssh-server"), "test (clients of the network)"),
    optional("Go", &["go", "version"], Source::Apt("golang-go"), "test (clients of the network)"),
    optional("Java", &["javac", "-version"], Source::Apt("default-jdk-headless"), "test (clients of the network)"),
    tool("requests for Python", &[PYTHON, "-c", "import requests"], Source::Python("requests==2.34.2"),
        "test (clients of the network)"),
    tool("httpx for Python", &[PYTHON, "-c", "import httpx"], Source::Python("httpx==0.28.1"), "test (clients of the network)"),
    tool("aiohttp for Python", &[PYTHON, "-c", "import aiohttp"], Source::Python("aiohttp==3.14.5"),
        "test (clients of the network)"),
    optional("the newest Node.js", &["target/tools/node/node_modules/node/bin/node", "--version"], Source::Node("node@26.10.0"),
        "test (clients of the network)"),
    optional("Chromium", &["chromium", "--version"], Source::Apt("chromium"), "test (pages for browsers, browsers in a sandbox)"),
    rust_for("Rust for Linux on ARM", "aarch64-unknown-linux-gnu"),
    rust_for("Rust for macOS", "aarch64-apple-darwin"),
];

const fn tool(
    name: &'static str,
    probe: &'static [&'static str],
    source: Source,
    needed_by: &'static str,
) -> Tool {
    Tool { name, probe, source, needed_by, need: Need::Required }
}

const fn optional(
    name: &'static str,
    probe: &'static [&'static str],
    source: Source,
    needed_by: &'static str,
) -> Tool {
    Tool { name, probe, source, needed_by, need: Need::Optional }
}

/// The row of the standard library for another system, which no command asks for: see [`Tool::is_there`].
const fn rust_for(name: &'static str, target: &'static str) -> Tool {
    tool(name, &[], Source::Target(target), "elsewhere")
}

/// The command that installs what is optional.
const INSTALL_OPTIONAL: &str = "cargo xtask setup --optional";

/// Runs the command.
pub(crate) fn run(_: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    let has = |flag: &str| arguments.iter().any(|word| word == flag);
    let (only_look, with_optional) = (has("--check"), has("--optional"));
    let unknown: Vec<String> =
        arguments.iter().filter(|word| !FLAGS.contains(&word.as_str())).cloned().collect();
    no_more(&unknown, "setup [--check] [--optional]")?;
    print!("{}", table());
    let missing = missing();
    let (required, optional): (Vec<_>, Vec<_>) =
        missing.into_iter().partition(|tool| with_optional || tool.need == Need::Required);
    if !optional.is_empty() {
        println!("optional: {}; install: {INSTALL_OPTIONAL}", names(&optional));
    }
    match required.as_slice() {
        [] => {
            println!("nothing that is required is missing");
            Ok(())
        }
        missing if only_look => Err(Stop::failed(advice(missing))),
        missing => install(missing, root_prefix()),
    }
}

const FLAGS: &[&str] = &["--check", "--optional"];

/// What `ci` does about missing tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Install all of them: the machine is there for nothing else.
    InstallAll,
    /// Install what is required, with `sudo` where that takes root's rights.
    Install,
    /// Install what is required as root, or after a question where that takes `sudo`.
    Ask,
}

/// Returns the checks of this command, which come first, so that the others find what they need.
pub(crate) fn checks(what_to_do: Missing) -> Vec<Check> {
    let is_wanted = move |tool: &&Tool| what_to_do == Missing::InstallAll || tool.need == Need::Required;
    let required = Check::new(GROUP, "tools that the checks need", move |_| {
        let missing: Vec<&Tool> = missing().into_iter().filter(is_wanted).collect();
        if missing.is_empty() {
            return Verdict::passed();
        }
        install(&missing, prefix(what_to_do, &missing)).map_or_else(
            |stop| Verdict::cannot(format!("could not install all that is missing: {}", stop.message())),
            |()| Verdict::passed(),
        )
    });
    let optional = Check::new(GROUP, "optional tools", |_| {
        let missing: Vec<&Tool> = missing().into_iter().filter(|tool| tool.need == Need::Optional).collect();
        match missing.as_slice() {
            [] => Verdict::passed(),
            missing => Verdict::cannot(format!(
                "missing: {}; tests that need them are skipped; install them: {INSTALL_OPTIONAL}",
                names(missing)
            )),
        }
    });
    vec![required, optional]
}

/// How to get root's rights for a list of tools, if that is possible and wanted.
fn prefix(what_to_do: Missing, missing: &[&Tool]) -> Option<&'static str> {
    let has_sudo = || Program::new("sudo").arg("--version").succeeds();
    match root_prefix() {
        Some(prefix) => Some(prefix),
        None if what_to_do == Missing::Install && has_sudo() => Some("sudo "),
        None if what_to_do == Missing::Ask && has_sudo() && is_confirmed(missing) => Some("sudo "),
        None => None,
    }
}

/// Asks the person at the terminal, once. Without a terminal the answer is no.
fn is_confirmed(missing: &[&Tool]) -> bool {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return false;
    }
    print!("missing: {}. Install with sudo? [y/N] ", names(missing));
    let mut answer = String::new();
    let was_read = std::io::stdout().flush().and_then(|()| std::io::stdin().read_line(&mut answer));
    was_read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
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
        let here = match (tool.is_there(), tool.need) {
            (true, _) => "yes",
            (false, Need::Required) => "MISSING",
            (false, Need::Optional) => "missing, optional",
        };
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

/// Installs tools. Those of Debian are left out where no root's rights can be had, and so fail at the end.
fn install(missing: &[&Tool], prefix: Option<&str>) -> Result<(), Stop> {
    let can_be_installed = |tool: &&&Tool| prefix.is_some() || !matches!(tool.source, Source::Apt(_));
    let chosen: Vec<&Tool> = missing.iter().filter(can_be_installed).copied().collect();
    // One by one: a package that cannot be had takes no other one with it.
    let mut begun = Vec::new();
    for (words, shown) in chosen.iter().flat_map(|tool| commands(&[tool], prefix.unwrap_or_default())) {
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
    fn what_needs_root_is_left_out_without_it() {
        let absent = tool("a server", &["false"], Source::Apt("server"), "test");
        let stop = install(&[&absent], None).unwrap_err();
        assert!(stop.message().starts_with("missing: a server; run: sudo apt-get"), "{}", stop.message());
    }

    #[test]
    fn the_heaviest_tools_are_optional() {
        let optional: Vec<&str> =
            TOOLS.iter().filter(|tool| tool.need == Need::Optional).map(|tool| tool.name).collect();
        assert_eq!(optional.len(), 14, "{optional:?}");
        assert!(optional.contains(&"Chromium") && !optional.contains(&"bubblewrap"));
    }

    #[test]
    fn root_needs_no_prefix() {
        let (words, _) = &commands(&[&COMPILER], "")[0];
        assert_eq!(words, &["apt-get", "update"]);
    }
}
