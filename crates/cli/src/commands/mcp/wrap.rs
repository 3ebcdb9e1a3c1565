//! `stockade mcp wrap`: a server of somebody else's, in the sandbox.
#![expect(clippy::disallowed_methods, reason = "asks which folder this is")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args as _, FromArgMatches as _};
use stockade_guard::RunRecord;
use tempfile::TempDir;

use super::address::Address;
use crate::args::HELP;
use crate::commands::exec::{ExecArgs, NotPrepared, RULES_FIX, prepare, started};
use crate::failure::Failure;
use stockade_harness::call::Origin;
use stockade_harness::mcp_servers::is_server_name;
use stockade_mcp::judge::Judged;
use stockade_mcp::wrap;
use stockade_mcp::{ClientFeature, Terms};

const EXAMPLES: &str = "\
Examples:
  stockade mcp wrap --name fs -- npx -y @modelcontextprotocol/server-filesystem .
                                             what a client starts in the place of the server
  stockade mcp wrap --name github --agent claude --allow-host api.github.com --env GITHUB_TOKEN -- github-mcp-server stdio
                                             it may talk to this host, and has this variable
  stockade mcp wrap --url https://mcp.example.com/mcp --secret 'TOKEN=env:MCP_TOKEN@mcp.example.com'
                                             a server behind an address, which gets the token and nobody else
  stockade mcp wrap --let elicitation -- ./server
                                             it may ask the person something, where the client can";

const MORE: &str = "\
Exit codes:
  that of the server; 128 and the number of a signal that has ended this program, and the server with it
  125  the server could not be started
  126  the rules for commands deny it, or there is no sandbox for it

In the settings of a client, `command` is `stockade`, and `args` are these words. The server runs as under 'stockade exec': without a
network, but for the hosts of --allow-host, and without your credentials.

The rules call a tool of the server `mcp__NAME__TOOL`, as they do where a harness asks. The agent has none of them until its configuration
says so: toolPolicy.allow = [\"mcp__NAME__*\"]. What it does not have is not listed; what was not listed is not called. Texts of the server
are scanned and cleaned as results of tools are. A definition is kept when it is first seen ('stockade mcp pins'), and a tool that is
another one later is refused, with the difference. Whatever is not understood does not pass. Each decision is on record.";

/// How long nothing may be heard of a request: tools may take their time.
const PATIENCE: Duration = Duration::from_secs(600);

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = MORE)]
pub(crate) struct WrapArgs {
    /// What the rules call the server [default: the name of its program]
    #[arg(long, value_name = "NAME", value_parser = name)]
    name: Option<String>,

    /// The server is behind this address, and is not begun here: https://HOST/PATH, or http for this machine itself
    #[arg(long, value_name = "URL", conflicts_with_all = ["command", "workspace", "read_only", "ro", "rw", "env", "home", "image", "allow_host"])]
    url: Option<String>,

    /// What goes with each request to --url: 'NAME: VALUE'. $NAME in it is a --secret; may be repeated
    #[arg(long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,

    /// A secret that --url is sent, and that nobody sees on the way there, as for 'stockade exec'; without --header it is the token of
    /// `Authorization: Bearer`
    #[arg(long = "secret", value_name = "NAME=SOURCE@HOST")]
    secrets: Vec<String>,

    /// The agent whose configuration holds
    #[arg(long, value_name = "ID", default_value = "default", value_parser = stockade_state::agents::parse_name)]
    agent: String,

    /// What the server may ask the client for; it gets nothing of it without; may be repeated
    #[arg(long = "let", value_name = "WHAT", value_parser = wishes())]
    lets: Vec<ClientFeature>,

    /// How long nothing may be heard of a request before it fails, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    patience: Option<u32>,

    /// The folder that the server works in and may change, if not this one
    #[arg(long, short, value_name = "DIR")]
    workspace: Option<PathBuf>,

    /// It changes nothing that outlasts it
    #[arg(long)]
    read_only: bool,

    /// Something more that it may read; may be repeated
    #[arg(long, value_name = "PATH")]
    ro: Vec<OsString>,

    /// A folder more that it may change; may be repeated
    #[arg(long, value_name = "DIR")]
    rw: Vec<OsString>,

    /// A host that it may talk to, as for 'stockade exec'; may be repeated
    #[arg(long, value_name = "HOST[:PORT]")]
    allow_host: Vec<OsString>,

    /// A variable to hand on, NAME, or to set, NAME=VALUE; may be repeated
    #[arg(long, value_name = "NAME[=VALUE]")]
    env: Vec<OsString>,

    /// What it sees of your home, as for 'stockade exec'
    #[arg(long, value_name = "WHAT")]
    home: Option<OsString>,

    /// How much memory it may use: 512M, 2G
    #[arg(long, value_name = "SIZE")]
    memory: Option<OsString>,

    /// How many processes and threads it may have at once
    #[arg(long, value_name = "N")]
    processes: Option<OsString>,

    /// What makes the sandbox, as for 'stockade exec'
    #[arg(long, value_name = "WHAT")]
    backend: Option<OsString>,

    /// The image of the container, for --backend docker or podman
    #[arg(long, value_name = "IMAGE")]
    image: Option<OsString>,

    /// What must be enforced, as for 'stockade exec'; may be repeated
    #[arg(long, value_name = "PROPERTY")]
    require: Vec<OsString>,

    /// Run it even if the rules for commands deny it, so that the sandbox alone holds it
    #[arg(long)]
    no_rules: bool,

    /// The server and its arguments
    #[arg(last = true, required_unless_present = "url", value_name = "SERVER")]
    command: Vec<OsString>,
}

fn wishes() -> impl TypedValueParser<Value = ClientFeature> {
    let possible = ClientFeature::ALL.iter().map(|wish| PossibleValue::new(wish.name()).help(wish.meaning()));
    let find = |word: String| ClientFeature::ALL.iter().copied().find(|wish| wish.name() == word);
    PossibleValuesParser::new(possible).try_map(move |word| find(word).ok_or("there is no such word"))
}

/// Reads the name of a server.
pub(super) fn name(text: &str) -> Result<String, &'static str> {
    match is_server_name(text) {
        true => Ok(text.to_owned()),
        false => Err(
            "a server is called by 1 to 64 letters, digits, `-` and single `_`, and begins and ends with none of these",
        ),
    }
}

/// Runs the server, and ends as it ends.
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
        return Err(Failure::usage("--header and --secret are for a server behind an address")
            .with_help("name the address: --url https://HOST/PATH"));
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
    // A configuration that cannot be used is told now, and not to a client that shows nothing of it.
    let trail = judged.open().map_err(Failure::incomplete)?.session.trail().clone();
    // The bridge to an address has nothing to work in.
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
    let ended = ended.map_err(|error| Failure::incomplete(format_args!("cannot go on: {error}")))?;
    if let (Err(error), _) = &ended {
        crate::agent_run::say(&format!("stockade: {}\n", stockade_text::escape(&error.to_string())));
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
        _ => {
            Err(Failure::usage("the name of this program is none for a server")
                .with_help("name it: --name NAME"))
        }
    }
}

/// The same as somebody would have typed it for `stockade exec`, read by the same code.
fn exec_args(
    args: &WrapArgs,
    address: Option<&Address>,
    nothing: Option<&Path>,
) -> Result<ExecArgs, Failure> {
    let mut typed: Vec<OsString> = vec!["exec".into()];
    let mut add = |option: &str, values: &mut dyn Iterator<Item = &OsString>| {
        // In one word, so that no value is taken for an option.
        typed.extend(values.map(|value| {
            let mut word = OsString::from(format!("--{option}="));
            word.push(value);
            word
        }));
    };
    let workspace = args.workspace.as_deref().or(nothing).map(|folder| folder.as_os_str().to_owned());
    let command = address.map_or_else(|| Ok(args.command.clone()), Address::command)?;
    if let Some(address) = address {
        add("allow-host", &mut [OsString::from(address.host())].iter());
        add("secret", &mut args.secrets.iter().map(OsString::from).collect::<Vec<_>>().iter());
        add("ro", &mut command.first().into_iter());
    }
    add("workspace", &mut workspace.iter());
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
        // The rules are for commands of others, and this is the bridge.
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
