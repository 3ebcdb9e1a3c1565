//! `stockade allow`: lets an agent run a command, use a tool, a host or a path, from now on.

use std::ops::ControlFlow;
use std::time::Duration;

use stockade_guard::admission::answers::AnswerTerms;
use stockade_guard::exec::patch::duration;
use stockade_state::approvals::ApprovalKind;

use super::approval::{self, ApprovalArgs, ApprovalTime};
use crate::args::HELP;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  stockade allow claude git push origin main      allow this command
  stockade allow claude WebSearch                 allow a tool of Claude Code
  stockade allow claude 'mcp__github__*'          allow all tools of an MCP server
  stockade allow claude registry.npmjs.org        allow a host: for web pages, and for commands in the sandbox
  stockade allow --path claude ~/data             allow to read a directory outside of the workspace
  stockade allow --write claude .github/ci.yml    allow to read and write a file of the workspace
  stockade allow --once claude npm publish        allow this command the next time, in this directory
  stockade allow --for 1h claude docs.rs          allow it for an hour
  stockade allow --session claude docs.rs         allow it until this session of Claude Code ends
  stockade allow --project claude make deploy     allow it in this directory and below, and nowhere else
  stockade allow --last                           allow what was asked about or refused last, after confirmation
  stockade allow --dry-run codex npm ci           show what would change";

pub(super) const MORE: &str = "\
Exit codes:
  0  done, or nothing to do
  1  not confirmed
  2  the command line or the configuration is wrong, the agent is unknown, or a fixed limit takes precedence; nothing was changed
  3  a file could not be read or written

Your own configuration is changed, which applies in all projects unless you say --project, and 'stockade undo' takes the last
change back. The kind of WHAT is
recognised by its form: a tool of a harness or an MCP server, a URL or a host name that no file and no program has, an existing directory
that begins with / ./ ../ or ~/, and otherwise a command. --tool, --command, --host and --path select it. 'allow' and 'deny' have
the same extent, and the later one replaces the earlier one.";

/// Allow an agent a command, tool, host or path
#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = MORE)]
pub(crate) struct AllowArgs {
    #[command(flatten)]
    approval: ApprovalArgs,

    /// Allow it only for this time: 90s, 30m, 1h; at most 720h. A command is allowed in this directory alone
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    time: Option<Duration>,

    /// Allow a command only the next time, within an hour or the time of --for
    #[arg(long)]
    once: bool,
}

/// Runs the command.
pub(crate) fn run(args: &AllowArgs) -> Result<Exit, Failure> {
    if let Some(time) = args.time.filter(|time| time.is_zero() || *time > AnswerTerms::MAX_TERMS.always) {
        let message = format_args!("--for {} s: an approval for a time takes at most 720h", time.as_secs());
        return Err(Failure::usage(message).with_help("allow it without --for"));
    }
    let time = ApprovalTime { time: args.time, once: args.once };
    let printed = approval::decide(&args.approval, ApprovalKind::Allow, time)?;
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(&printed);
    output.finish(Exit::Clean)
}
