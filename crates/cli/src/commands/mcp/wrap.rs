//! `stockade mcp wrap`: runs an untrusted MCP server in a sandbox.
#![expect(clippy::disallowed_methods, reason = "reads the current directory")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args as _, FromArgMatches as _};
use stockade_guard::RunRecord;
use tempfile::TempDir;

use super::address::Address;
use super::launchers::launched;
use crate::args::HELP;
use crate::commands::exec::{ExecArgs, NotPrepared, RULES_FIX, prepare, report, started};
use crate::failure::Failure;
use stockade_harness::call::Origin;
use stockade_harness::mcp_servers::is_server_name;
use stockade_mcp::judge::Judged;
use stockade_mcp::wrap;
use stockade_mcp::{ClientFeature, Terms};

const EXAMPLES: &str = "\
Examples:
  stockade mcp wrap --name fs -- npx -y @modelcontextprotocol/server-filesystem .
                                             start a server in a sandbox, with its tools checked
  stockade mcp wrap --name github --agent claude --allow-host api.github.com --env GITHUB_TOKEN -- github-mcp-server stdio
                                             allow one host, and pass one variable
  stockade mcp wrap --url https://mcp.example.com/mcp --secret 'TOKEN=env:MCP_TOKEN@mcp.example.com'
                                             connect to a remote server; only this host gets the token
  stockade mcp wrap --let elicitation -- ./server
                                             let the server ask the user, if the client supports it";

const MORE: &str = "\
Exit codes:
  that of the server; 128 plus the number of a signal that stopped this program, and the server with it
  125  the server could not be started
  126  the rules for commands deny it, or no sandbox can be created

In the settings of a client, set `command` to `stockade` and `args` to the other words. The server runs as with 'stockade exec': without
your credentials, and without network access except to the hosts of --allow-host.

Rules and hooks name a tool of the server `mcp__NAME__TOOL`. An agent may use none of them until its configuration allows them:
toolPolicy.allow = [\"mcp__NAME__*\"]. Tools that are not allowed are not listed, and tools that are not listed cannot be called. Texts of
the server are scanned and cleaned like tool results. Each tool definition is pinned when it is first seen ('stockade mcp pins'); a tool
whose definition changes later is refused, with the difference. Unknown messages are not forwarded. Every decision is recorded.";

/// Default time without a message after which a request fails. Tools may take long.
const PATIENCE: Duration = Duration::from_secs(600);

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = MORE)]
pub(crate) struct WrapArgs {
    /// Name of the server in rules [default: the name of its program]
    #[arg(long, value_name = "NAME", value_parser = name)]
    name: Option<String>,

    /// Connect to a remote server instead of starting one: https://HOST/PATH, or http for this machine
    #[arg(long, value_name = "URL", conflicts_with_all = ["command", "workspace", "read_only", "ro", "rw", "env", "home", "image", "allow_host"])]
    url: Option<String>,

    /// Header of each request to --url: 'NAME: VALUE', where $NAME refers to a --secret; repeatable
    #[arg(long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,

    /// Secret for --url that the bridge cannot read, as in 'stockade exec' [default place: the header `Authorization: Bearer`]
    #[arg(long = "secret", value_name = "NAME=SOURCE@HOST")]
    secrets: Vec<String>,

    /// Agent whose configuration to use
    #[arg(long, value_name = "ID", default_value = "default", value_parser = stockade_state::agents::parse_name)]
    agent: String,

    /// Request that the server may send to the client; all others are refused; repeatable
    #[arg(long = "let", value_name = "WHAT", value_parser = wishes())]
    lets: Vec<ClientFeature>,

    /// Seconds without a message after which a request fails
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    patience: Option<u32>,

    /// Workspace: the directory that the server runs in and may change [default: the current directory]
    #[arg(long, short, value_name = "DIR")]
    workspace: Option<PathBuf>,

    /// Forbid lasting changes
    #[arg(long)]
    read_only: bool,

    /// Additional path that the server may read; repeatable
    #[arg(long, value_name = "PATH")]
    ro: Vec<OsString>,

    /// Additional directory that the server may change; repeatable
    #[arg(long, value_name = "DIR")]
    rw: Vec<OsString>,

    /// Host that the server may connect to, as in 'stockade exec'; repeatable
    #[arg(long, value_name = "HOST[:PORT]")]
    allow_host: Vec<OsString>,

    /// Environment variable to pass (NAME) or to set (NAME=VALUE); repeatable
    #[arg(long, value_name = "NAME[=VALUE]")]
    env: Vec<OsString>,

    /// Visible part of your home directory, as in 'stockade exec'
    #[arg(long, value_name = "WHAT")]
    home: Option<OsString>,

    /// Memory limit: 512M, 2G
    #[arg(long, value_name = "SIZE")]
    memory: Option<OsString>,

    /// Maximum number of concurrent processes and threads
    #[arg(long, value_name = "N")]
    processes: Option<OsString>,

    /// Sandbox backend, as in 'stockade exec'
    #[arg(long, value_name = "WHAT")]
    backend: Option<OsString>,

    /// Container image for --backend docker or podman
    #[arg(long, value_name = "IMAGE")]
    image: Option<OsString>,

    /// Property that must be enforced, as in 'stockade exec'; repeatable
    #[arg(long, value_name = "PROPERTY")]
    require: Vec<OsString>,

    /// Run the server even if the rules for commands deny it; only the sandbox restricts it
    #[arg(long)]
    no_rules: bool,

    /// Start the program of the package in DIR that `npx` or `uvx` would download; 'stockade install --mcp' sets it
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    installed: Option<PathBuf>,

    /// Server program and its arguments
    #[arg(last = true, required_unless_present = "url", value_name = "SERVER")]
    command: Vec<OsString>,
}

fn wishes() -> impl TypedValueParser<Value = ClientFeature> {
    let possible = ClientFeature::ALL.iter().map(|wish| PossibleValue::new(wish.name()).help(wish.meaning()));
    let find = |word: String| ClientFeature::ALL.iter().copied().find(|wish| wish.name() == word);
    PossibleValuesParser::new(possible).try_map(move |word| find(word).ok_or("unknown value"))
}

/// Parses the name of a server.
pub(super) fn name(text: &str) -> Result<String, &'static str> {
    match is_server_name(text) {
        true => Ok(text.to_owned()),
        false => Err(
            "a server name has 1 to 64 letters, digits, `-` or single `_`, and starts and ends with a letter or digit",
        ),
    }
}

/// Runs the server, and exits like it.
pub(super) fn run(args: &WrapArgs) -> ExitCode {
    match try_run(args) {
        Ok(code) => code,
        Err(failure) => {
            failure.report();
            crate::args::NOTHING_RAN.into()
        }
    }
}

fn try_run(args: &WrapArgs) -> Result<ExitCode, Failure> {
    if args.url.is_none() && !(args.headers.is_empty() && args.secrets.is_empty()) {
        return Err(
            Failure::usage("--header and --secret require --url").with_help("add --url https://HOST/PATH")
        );
    }
    let address =
        args.url.as_ref().map(|url| Address::read(url, &args.headers, &args.secrets)).transpose()?;
    let server = server_name(args, address.as_ref())?;
    let here = std::env::current_dir().map_err(Failure::incomplete)?;
    let workspace = args.workspace.as_ref().map_or_else(|| here.clone(), |folder| here.join(folder));
    let workspace = workspace.canonicalize().unwrap_or(workspace);
    let origin = Origin { session: String::new(), cwd: workspace.clone(), workspace };
    let words = match &address {
        Some(address) => address.words(),
        None => args.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
    };
    let judged = Judged::new(&args.agent, &server, words, origin).map_err(Failure::incomplete)?;
    // An invalid configuration is reported here, since a client would hide it.
    let trail = judged.open().map_err(Failure::incomplete)?.session.trail().clone();
    // The bridge needs no workspace.
    let nothing = address.as_ref().map(|_| tempfile::tempdir()).transpose().map_err(Failure::incomplete)?;
    let exec = exec_args(args, address.as_ref(), nothing.as_ref().map(TempDir::path))?;
    let record = RunRecord { trail: Some(trail), agent: Some(args.agent.clone()) };
    let prepared = match prepare(&exec, || Ok(record)) {
        Ok(prepared) => prepared,
        Err(NotPrepared::Denied(why)) => {
            Failure::incomplete(why).with_help(RULES_FIX).report();
            return Ok(ExitCode::from(126));
        }
        Err(NotPrepared::Failed(why)) => return Err(Failure::incomplete(why)),
    };
    let patience = args.patience.map_or(PATIENCE, |seconds| Duration::from_secs(seconds.into()));
    let terms = Terms { lets: args.lets.clone(), patience };
    let ended = wrap::run(&judged, terms, prepared, started(&exec));
    let ended = ended.map_err(|error| Failure::incomplete(format_args!("cannot continue: {error}")))?;
    if let (Err(error), _) = &ended {
        crate::agent_run::say(&format!("stockade: {}\n", stockade_text::escape(&error.to_string())));
    }
    if let (Ok(report), None) = &ended {
        report::server_not_found(report);
    }
    Ok(wrap::exit(&ended))
}

fn server_name(args: &WrapArgs, address: Option<&Address>) -> Result<String, Failure> {
    if let Some(name) = args.name.clone().or_else(|| address.and_then(Address::name)) {
        return Ok(name);
    }
    let program = args.command.first().map(PathBuf::from).unwrap_or_default();
    let of_program = program.file_stem().and_then(|stem| stem.to_str()).map(name);
    match of_program {
        Some(Ok(name)) => Ok(name),
        _ => Err(Failure::usage("the name of the program is not a valid server name")
            .with_help("set one with --name NAME")),
    }
}

/// Returns the command of the server: the given one, or that of the installed package that it would download.
fn started_by(args: &WrapArgs) -> Result<Vec<OsString>, Failure> {
    let Some(folder) = &args.installed else { return Ok(args.command.clone()) };
    let words: Vec<String> = args.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let launched = words.split_first().and_then(|(program, rest)| launched(program, rest));
    let launched = launched.ok_or_else(|| {
        Failure::usage("--installed is for `npx PACKAGE` and `uvx PACKAGE` alone")
            .with_help("leave out --installed")
    })?;
    launched.command(folder).map_err(Failure::incomplete)
}

/// Returns the equivalent arguments of `stockade exec`, parsed by the same code.
fn exec_args(
    args: &WrapArgs,
    address: Option<&Address>,
    nothing: Option<&Path>,
) -> Result<ExecArgs, Failure> {
    let mut typed: Vec<OsString> = vec!["exec".into()];
    let mut add = |option: &str, values: &mut dyn Iterator<Item = &OsString>| {
        // One word, so that a value is never parsed as an option.
        typed.extend(values.map(|value| {
            let mut word = OsString::from(format!("--{option}="));
            word.push(value);
            word
        }));
    };
    let workspace = args.workspace.as_deref().or(nothing).map(|folder| folder.as_os_str().to_owned());
    let command = address.map_or_else(|| started_by(args), Address::command)?;
    if let Some(address) = address {
        add("allow-host", &mut [OsString::from(address.host())].iter());
        add("secret", &mut args.secrets.iter().map(OsString::from).collect::<Vec<_>>().iter());
        add("ro", &mut command.first().into_iter());
    }
    add("workspace", &mut workspace.iter());
    add(
        "ro",
        &mut args.installed.iter().map(|folder| folder.as_os_str().to_owned()).collect::<Vec<_>>().iter(),
    );
    add("ro", &mut args.ro.iter());
    add("rw", &mut args.rw.iter());
    add("allow-host", &mut args.allow_host.iter());
    add("env", &mut args.env.iter());
    add("home", &mut args.home.iter());
    add("memory", &mut args.memory.iter());
    add("processes", &mut args.processes.iter());
    add("backend", &mut args.backend.iter());
    add("image", &mut args.image.iter());
    add("require", &mut args.require.iter());
    for (option, is_given) in [
        ("--read-only", args.read_only || address.is_some()),
        // The rules judge the untrusted command, but here the command is the bridge.
        ("--no-rules", args.no_rules || address.is_some()),
    ] {
        typed.extend(is_given.then(|| OsString::from(option)));
    }
    typed.push("--".into());
    typed.extend(command);
    let read = ExecArgs::augment_args(clap::Command::new("stockade mcp wrap")).try_get_matches_from(typed);
    read.and_then(|matches| ExecArgs::from_arg_matches(&matches)).map_err(|error| {
        let said = error.to_string();
        let first = said.lines().next().unwrap_or_default();
        Failure::usage(first.strip_prefix("error: ").unwrap_or(first))
    })
}
