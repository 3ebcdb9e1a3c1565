//! `stockade check net`: checks hosts against the configuration of an agent.
#![expect(clippy::disallowed_methods, reason = "reads the current directory")]

use clap::builder::NonEmptyStringValueParser;
use stockade_guard::HostAnswer;
use stockade_guard::config::{Config, ConfigSources};
use stockade_guard::egress::NetPolicy;

use super::{Answer, Decision};
use crate::commands::config::{assignment, failure};
use crate::failure::Failure;
use stockade_state::command_rules::of_agent;

/// Key of the host list.
const LIST: &str = "security.permission.allowedNetHosts";

/// How the host list is enforced.
const BROKER: &str = "commands connect through an egress proxy, which also checks every resolved address";

/// Check whether an agent's commands may connect to hosts
///
/// No name is resolved and no connection is made. The addresses of a name are checked on connection, so the answer is about the
/// name alone.
#[derive(Debug, clap::Args)]
pub(super) struct NetArgs {
    /// Hosts: a name or an address, optionally with a port, or a URL
    #[arg(required = true, value_name = "HOST", value_parser = NonEmptyStringValueParser::new())]
    hosts: Vec<String>,

    /// Agent whose configuration to use
    #[arg(long, value_name = "ID", default_value = "default", value_parser = stockade_state::agents::parse_name)]
    agent: String,

    /// Setting that overrides files and variables; repeatable
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
    Ok(args.hosts.iter().map(|host| answer(&policy, &args.agent, host)).collect())
}

fn answer(policy: &NetPolicy, agent: &str, host: &str) -> Answer {
    let HostAnswer { is_allowed, rule, reason, fix, mut notes, .. } = HostAnswer::of(policy, agent, host);
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
