//! `stockade check net`: what a host is, and what the configuration of an agent says about it.
#![expect(clippy::disallowed_methods, reason = "asks in which folder it runs")]

use clap::builder::NonEmptyStringValueParser;
use stockade_guard::HostAnswer;
use stockade_guard::config::{Config, ConfigSources};
use stockade_guard::egress::NetPolicy;

use super::{Answer, Decision};
use crate::commands::config::{assignment, failure};
use crate::failure::Failure;
use stockade_state::command_rules::of_agent;

/// The key of the list of hosts.
const LIST: &str = "security.permission.allowedNetHosts";

/// What holds commands to a list of hosts.
const BROKER: &str =
    "commands reach it through a broker, which judges every address that a name leads to as well";

/// Say whether the commands of an agent may talk to hosts
///
/// Nothing is looked up or connected to. What a name leads to is not known before, so an answer about a name holds for the
/// name alone.
#[derive(Debug, clap::Args)]
pub(super) struct NetArgs {
    /// The hosts: a name or an address, perhaps with a port, or a URL
    #[arg(required = true, value_name = "HOST", value_parser = NonEmptyStringValueParser::new())]
    hosts: Vec<String>,

    /// The agent whose configuration holds
    #[arg(long, value_name = "ID", default_value = "default", value_parser = stockade_state::agents::parse_name)]
    agent: String,

    /// A value that goes before those of files and variables; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
}

pub(super) fn check(args: &NetArgs) -> Result<Vec<Answer>, Failure> {
    let folder = std::env::current_dir().unwrap_or_default();
    let sources = ConfigSources {
        flags: args.set.clone(),
        agents: vec![args.agent.clone()],
        ..ConfigSources::of_process(&folder)
    };
    let config = Config::load(&sources).map_err(|error| failure(&error))?;
    let policy = of_agent(&config, &args.agent)?
        .exec
        .net_policy()
        .map_err(|error| Failure::usage(format_args!("{LIST}: {error}")).with_help(error.fix))?;
    Ok(args.hosts.iter().map(|host| answer(&policy, host)).collect())
}

fn answer(policy: &NetPolicy, host: &str) -> Answer {
    let HostAnswer { is_allowed, rule, reason, fix, mut notes, .. } = HostAnswer::of(policy, host);
    if is_allowed && matches!(policy, NetPolicy::Hosts(_)) {
        notes.push(BROKER.to_owned());
    }
    Answer {
        name: host.to_owned(),
        decision: if is_allowed { Decision::Allow } else { Decision::Deny },
        reason: Some(rule),
        rule: reason,
        real_path: None,
        limits: notes,
        fixes: fix.into_iter().collect(),
    }
}
